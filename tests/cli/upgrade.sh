#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A database of version 1 is read by every command that reads databases, charts of what it could not
# hold say so, `weir upgrade` tells what it lacks, and nothing is ever added to it. A scenario of
# schema 1 is put into the words of today, comments and all, and gives the same results.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >old.yaml <<'END'
schema: 1 # the first
name: words
cluster: {nodes: [{name: n, count: 2, cpus: 32, gpus: {h100: 4}}]}
sched: {placement: best_fit, groups: ray}
workloads:
  # two classes
  - name: w
    kind: generated
    mode: time # they end
    service: exp(60 s)
    classes:
      - {name: a, count: 40, every: 5 s, group: pack, request: {gpus: 1}, models: h100}
      - name: b
        count: 9
        service: 3 s # short
compare:
  - {label: base}
  - {label: fit, set: {sched.placement: worst_fit, 'workloads[0].classes.a.service': 9 s}}
END
cat >today.yaml <<'END'
schema: 2 # the first
name: words
cluster: {nodes: [{name: n, count: 2, cpus: 32, gpus: {h100: 4}}]}
sched: {placement: {policy: best_fit, measure: amounts}, placement_groups: ray}
jobs:
  # two classes
  - name: w
    run_time: exp(60 s)
    classes:
      - {name: a, count: 40, every: 5 s, placement_group: pack, request: {gpus: 1}, gpu_types: h100}
      - name: b
        count: 9
        run_time: 3 s # short
compare:
  - {label: base}
  - {label: fit, set: {sched.placement: worst_fit, sched.placement.measure: amounts, 'jobs[0].classes.a.run_time': 9 s}}
END
expect 1 "$WEIR_BIN" upgrade old.yaml
has stdout 'scenario 1'
has stdout 'weir check --write puts it into the words of today'
"$WEIR_BIN" run old.yaml --no-db --format json --quiet | grep result_digest >before
expect 0 "$WEIR_BIN" upgrade --write old.yaml
has stdout 'scenario 2'
same old.yaml today.yaml
"$WEIR_BIN" run old.yaml --no-db --format json --quiet | grep result_digest >after
same before after

# A file with a mistake stays as it is.
sed 's/schema: 2/schema: 1/; s/gpu_types: h100/models: h10/' today.yaml >old.yaml
cp old.yaml kept.yaml
expect 2 "$WEIR_BIN" upgrade --write old.yaml
same old.yaml kept.yaml
command -v sqlite3 >/dev/null || skip 'no sqlite3'

sqlite3 v1.db <"$WEIR_SOURCE_DIR/tests/golden/old/v1.sql"
cp v1.db kept.db
[ "$(sqlite3 v1.db 'PRAGMA user_version')" = 1 ] || fail 'not a file of version 1'

expect 0 "$WEIR_BIN" compare v1.db
has stdout 'Verdict'
expect 0 "$WEIR_BIN" compare v1.db --format json
expect 0 "$WEIR_BIN" explain v1.db --worker 1
has stdout 'worker 1'
expect 0 "$WEIR_BIN" explain v1.db --worker 1 --format json
hasnt stdout '"places"'
"$WEIR_BIN" rerun v1.db -o new.db >stdout 2>stderr || [ $? -eq 1 ] # the model may have changed
[ "$(sqlite3 new.db 'PRAGMA user_version')" = 10 ] || fail 'not made anew'

expect 1 "$WEIR_BIN" upgrade v1.db
has stdout 'database 1'
has stdout 'takes no more runs and lacks: candidates of placements, jobs in time'
expect 0 "$WEIR_BIN" upgrade new.db
has stdout 'database 10'
sqlite3 new.db 'PRAGMA user_version = 11'
expect 1 "$WEIR_BIN" upgrade new.db
has stdout 'needs a newer program'
expect 3 "$WEIR_BIN" compare new.db
has stderr 'was written by a newer program'

# What the model of then computed otherwise, a sentence a change; the form, what is lacking.
expect 1 "$WEIR_BIN" check v1.db
has stdout 'database 1  can be read, and lacks: candidates of placements'
has stdout 'contention was looked at once'
has stdout 'took no time: no interface, uplink or store was ever full'
has stdout 'all GPU types were equally fast'
[ "$(grep -c 'v1.db  model 1 ' stdout)" -ge 5 ] || fail 'too few changes'
hasnt stdout 'if of model 1'
"$WEIR_BIN" rerun v1.db -o today.db >stdout 2>stderr || [ $? -eq 1 ]
[ "$(sqlite3 today.db "SELECT value FROM meta WHERE key = 'model_version'")" = 2 ] || fail 'no model'
expect 0 "$WEIR_BIN" check today.db --format json
has stdout '"version": "model 2"'
has stdout '"finding": "computed as today"'
sqlite3 today.db "UPDATE meta SET value = 1 WHERE key = 'model_version'"
expect 1 "$WEIR_BIN" check today.db
has stdout 'contention was looked at once'
sqlite3 today.db "UPDATE meta SET value = 3 WHERE key = 'model_version'"
expect 1 "$WEIR_BIN" check today.db
has stdout 'computed by a newer program'
expect 0 "$WEIR_BIN" check today.yaml
has stdout 'today.yaml: ok'
expect 2 "$WEIR_BIN" check kept.yaml
expect 3 "$WEIR_BIN" check nowhere.yaml
expect 3 "$WEIR_BIN" check today.yaml nowhere.yaml

# One of version 5 could be of either model. It has no series of links, memory and power.
sqlite3 v5.db <"$WEIR_SOURCE_DIR/tests/golden/old/v5.sql"
expect 1 "$WEIR_BIN" check v5.db
has stdout 'database 5    can be read, and lacks: links, stores, memory'
has stdout 'model 1 or 2  if of model 1: contention was looked at once'
expect 0 "$WEIR_BIN" compare v5.db
has stdout 'Verdict'

# Nothing is added to it, and nothing taken away.
sqlite3 v1.db 'SELECT resolved_yaml FROM experiment' >old.yaml
expect 3 "$WEIR_BIN" run old.yaml --resume -o v1.db
has stderr 'has schema version 1, this program writes 10; runs can only be added to files of that'
same v1.db kept.db

command -v gnuplot >/dev/null || skip 'no gnuplot'
expect 0 "$WEIR_BIN" report v1.db -o report.html
has report.html 'a file of version 1'
for chart in queues unallocated frag-arrival; do
    expect 0 "$WEIR_BIN" plot v1.db "$chart" -o "$chart.svg"
done
has unallocated.svg 'No data'
expect 0 "$WEIR_BIN" report v5.db -o v5.html
for chart in link-use memory power; do
    expect 0 "$WEIR_BIN" plot v5.db "$chart" -o "$chart.svg"
    has "$chart.svg" 'a file of version 5 has no table'
done
# Were the table of a chart one that came later, the chart would say that.
sqlite3 v1.db 'DROP VIEW v_arrival; DROP TABLE arrival_sample'
expect 0 "$WEIR_BIN" plot v1.db frag-arrival -o frag.svg
has frag.svg 'a file of version 1 has no table arrival_sample'
expect 0 "$WEIR_BIN" report v1.db -o report.html

# A file of version 6 does not say what links could give in time; all else of it is read.
expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/physics/handover.yaml" -n 1 -q -o v6.db
sqlite3 v6.db 'DROP VIEW v_link; ALTER TABLE link_sample DROP COLUMN capacity_bytes_per_s;
    DROP VIEW v_audit; DROP TABLE audit; PRAGMA user_version = 6'
expect 1 "$WEIR_BIN" check v6.db
has stdout 'database 6  can be read, and lacks: what links could give in time'
expect 0 "$WEIR_BIN" report v6.db -o v6.html
expect 0 "$WEIR_BIN" compare v6.db

# One of version 7 does not say who did what to a model.
expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/services/access.yaml" -n 1 -q -o v7.db
sqlite3 v7.db 'DROP VIEW v_audit; DROP TABLE audit; PRAGMA user_version = 7'
expect 1 "$WEIR_BIN" check v7.db
has stdout 'database 7  can be read, and lacks: who did what to which model'
expect 0 "$WEIR_BIN" explain v7.db --stage model

# One of version 9 does not say how long jobs run: its chart has no slowdowns, and all else is read.
expect 0 "$WEIR_BIN" run today.yaml -n 1 -q -o v9.db --force
sqlite3 v9.db 'ALTER TABLE job DROP COLUMN run_s; PRAGMA user_version = 9'
expect 1 "$WEIR_BIN" check v9.db
has stdout 'database 9  can be read, and lacks: run times of jobs'
hasnt stdout null
expect 0 "$WEIR_BIN" explain v9.db --job a-0
has stdout 'ended at'
expect 0 "$WEIR_BIN" report v9.db -o v9.html
expect 0 "$WEIR_BIN" plot v9.db cdf --folder v9 -o v9.svg
hasnt v9/cdf.gp 'by slowdown'
