#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Wrong usage ends every command with code 2 and a sentence that names the option or word, what was
# found and what may stand there.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# refuse 'SENTENCE' WORD...: the command line ends with code 2 and says so.
refuse() {
    local sentence=$1
    shift
    expect 2 "$WEIR_BIN" "$@"
    has stderr "weir $1: $sentence"
}

refuse 'which scenario?' run
refuse "one file at a time; weir compare takes several; found 'b' too" run a b
refuse "--set: 'x' is not PATH=VALUE" run a --set x
refuse "--seed: '-1' is not a whole number from 0 to 18446744073709551615" run a --seed -1
refuse "--seed: '18446744073709551616' is not a whole number" run a --seed 18446744073709551616
refuse "--replications: '100001' is not a whole number from 1 to 100000" compare a -n 100001
refuse "--decide: '0' is not a whole number from 1 to" explain a --at 1h --decide=0
refuse "--max-procs: '0' is not a whole number from 1 to" trace convert a --max-procs 0
refuse "--format: 'jsn' is none of table, json, csv, md, latex; did you mean 'json'?" show a -f jsn
refuse "--at: expected a time as 90, 15m, 1h30m, 14:05:00 or 2026-03-01T14:05:00Z, found '1q'" snapshot a --at 1q
refuse '--at is missing' snapshot a
refuse "unknown option '--fromat'; did you mean '--format'?" run a --fromat json
refuse 'which two databases?' diff a
refuse "two databases; found 'c' too" diff a b c
refuse "takes no arguments, found 'x'" schema x
refuse "what to do: 'read' is none of formats, fields, map, info, convert" trace read
refuse 'formats needs no' trace formats a
refuse 'check what?' policies check
refuse "one policy at a time; found 'b' too" policies fgd b

# Lists are cut at commas, an option that may lack its argument has one all the same.
expect 2 "$WEIR_BIN" import a --columns start=x,b=c
has stderr "'b=c' is not OUR_COLUMN=YOUR_COLUMN"
expect 2 "$WEIR_BIN" explain a --decide --at 1h --worker 3
has stderr 'explain what: one of'

# A value of blanks is none, as in a file; and what a run says it took is not more than passed.
cat >blank.yaml <<'Y'
schema: 2
name: blank
horizon: 1 h
cluster: {nodes: [{name: n, cpus: 2}]}
jobs: [{name: w, run_time: 1 s, classes: [{name: a, count: 1, request: {cpus: 1}}]}]
Y
for value in '' ' ' '  '; do
    expect 2 "$WEIR_BIN" validate blank.yaml --set "name=$value"
    has stderr "key 'name' is missing"
done
begin=$(date +%s)
expect 0 "$WEIR_BIN" run blank.yaml -q -o blank.db
python3 - "$(($(date +%s) - begin + 2))" <<'PY' || fail 'a run took longer than passed'
import sqlite3, sys
(wall, cpu), = sqlite3.connect('blank.db').execute('select wall_s, cpu_s from run_wall')
assert 0 < wall <= int(sys.argv[1]) and 0 <= cpu <= 4 * wall + 1, (wall, cpu)
PY
