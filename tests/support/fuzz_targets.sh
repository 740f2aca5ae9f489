#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz_targets.sh ROOT: whatever weir reads from others has a fuzz target; each target has a corpus, the
# time it was fuzzed, and a dictionary that libFuzzer can read when it has one; ./dev uses all of it.
set -euo pipefail
cd "$1/tests/fuzz"
status=0
fail() {
    echo "$1"
    status=1
}

# scenarios, results, shards, traces, maps, logs, documents, answers of programs, pages of modules,
# calls of a host, plans, whole runs
for name in scenario database resume trace swf columns csv decide replay answer told host plan_check \
    run event_queue; do
    [ -f "fuzz_$name.c" ] || fail "$name: there is no target for it"
done
for source in fuzz_*.c; do
    name=${source#fuzz_}
    name=${name%.c}
    [ -n "$(find "corpus/$name" -type f 2>/dev/null | head -n 1)" ] || fail "$name: no corpus"
    grep -qxE '[1-9][0-9]*' "corpus/$name.seconds" 2>/dev/null || fail "$name: how long was it fuzzed?"
    grep -q 'fuzz_reached()' "$source" || fail "$name: does not say what it reaches"
done
for beside in corpus/* ./*.dict; do
    name=$(basename "$beside")
    [ -f "fuzz_${name%.*}.c" ] || fail "$beside: is of no target"
done
# What is read as words has the words of its grammar.
for name in scenario database resume run trace swf columns csv decide replay answer told; do
    [ -f "$name.dict" ] || fail "$name: no dictionary"
done
for dictionary in ./*.dict; do
    grep -qvE '^(#|$)' "$dictionary" || fail "$dictionary: is empty"
    ! grep -nvE '^(#.*|[A-Za-z_0-9]*=?"(\\x[0-9a-fA-F]{2}|\\\\|\\"|[^"\\])+")?$' "$dictionary" ||
        fail "$dictionary: libFuzzer does not read that"
done
# shellcheck disable=SC2016
grep -qF -- '-dict="tests/fuzz/$name.dict"' ../../dev || fail './dev does not give dictionaries to targets'
exit $status
