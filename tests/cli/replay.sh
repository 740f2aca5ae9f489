#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program that replays known decisions, and what weir decide says of what it no longer reads.
# shellcheck source=tests/support/cli.sh
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
replay="$(dirname "$WEIR_BIN")/tests/replay"
golden="$WEIR_SOURCE_DIR/tests/golden"

expect 0 "$replay" "$golden"/xenna/*.json
matches stdout '^all: 48 ok .48 of them exact., 0 by a stated rule, 0 failed$'
expect 0 "$replay" "$golden"/xenna-codec/*.json "$golden/xenna-codec/bulk.jsonl"
matches stdout '^all: .* 0 failed$'

question='"input": {"command": "slots", "num_workers": [1], "current_slots": [2], "speeds": [3]}'
echo "{$question, \"output\": {\"status\": \"ok\", \"slots\": [7]}}" >wrong.json
expect 1 "$replay" wrong.json
matches stdout '^FAIL -1 slots: slots.0.: we say 6, reference 7$'
echo "{$question, \"output\": {\"status\": \"ok\", \"slots\": [6]}}" >right.json
expect 0 "$replay" - <right.json
expect 1 "$replay" right.json wrong.json
matches stdout '^right.json: 1 ok .1 of them exact., 0 by a stated rule, 0 failed$'

expect 2 "$replay"
expect 2 "$replay" --fast
expect 2 "$replay" missing.json
matches stderr 'missing.json: No such file'
echo '{"id": "x", "input": {"op": "fly"}, "expected": {}}' >unknown.json
expect 2 "$replay" unknown.json right.json
matches stderr 'unknown.json:1: case x: input: unknown op fly'
echo '{"id": 1' >broken.json
expect 2 "$replay" broken.json

# The product has one format.
expect 3 "$WEIR_BIN" decide right.json
matches stderr '^right.json:1:1: error: format must be weir-decision'
echo '{"format": "weir-decision", "version": 3, "command": "autoscale", "nodes": [], "stages": [],
 "polcy": {}}' | expect 3 "$WEIR_BIN" decide
matches stderr "^-:2:2: error: polcy: unknown key; did you mean 'policy'"
echo '{"format": "weir-decision", "version": 2, "command": "autoscale"}' |
    expect 3 "$WEIR_BIN" decide
matches stderr '^-:1:1: error: version must be 3, .* got 2$'
