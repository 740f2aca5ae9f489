#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `weir rerun` repeats stored runs from the database alone and names what changed since; `weir diff`
# says where two runs first part.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

scenario() { # seconds
    cat <<Y
schema: 1
name: small
cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 8}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 3000}
    stages:
      - {name: a, cpus: 1, service: exp($1 s)}
      - {name: b, cpus: 1, gpus: 0.25, service: 2 s}
Y
}
scenario 1 >small.yaml
expect 0 "$WEIR_BIN" run small.yaml -n 2 -o a.db --quiet
rm small.yaml
expect 0 "$WEIR_BIN" rerun a.db -o b.db
has stderr 'small.yaml is not there any more'
[ "$(grep -c same stdout)" -eq 2 ] || fail "not both runs are the same"
# What was compared is said, and that figures were not.
has stdout 'digests of all events and of all transitions of items, workers, jobs and nodes; the figures stored are not.'
expect 0 "$WEIR_BIN" rerun a.db --replication 1 --format json
has stdout '"verdict": "same"'
expect 2 "$WEIR_BIN" rerun a.db --variant nobody
expect 2 "$WEIR_BIN" rerun a.db -o a.db
expect 3 "$WEIR_BIN" rerun missing.db

# The same, and not.
expect 0 "$WEIR_BIN" diff a.db b.db
has stdout 'the same'
scenario 1.5 >small.yaml
expect 0 "$WEIR_BIN" run small.yaml -n 2 -o c.db --quiet
expect 1 "$WEIR_BIN" diff a.db c.db
matches stdout '^at [0-9.]+ s, decision [0-9]+, stage [a-z]: .* in a\.db, .* in c\.db \(result digests '
expect 1 "$WEIR_BIN" diff a.db c.db --format json --replication 1
has stdout '"same": false'
expect 0 "$WEIR_BIN" diff b.db a.db --format json
has stdout '"first_difference_s": null'
expect 3 "$WEIR_BIN" diff a.db missing.db

# Of the differences in decisions and in workers the earliest is told, whichever comes first.
# changed DB DECISION WORKER: a copy of a.db whose decision of that rank and worker differ.
changed() {
    cp a.db "$1"
    python3 - "$@" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
decisions = [row[0] for row in db.execute("select decision from decision where run_id = 1 order by 1")]
db.execute("update decision_stage set slots = slots + 1 where run_id = 1 and decision = ?",
           (decisions[int(sys.argv[2])],))
db.execute("update worker set tasks = tasks + 1 where rowid = (select rowid from worker where "
           "run_id = 1 and ended_s not null order by ended_s limit 1)")
db.execute("update run set result_digest = '0123456789abcdef' where run_id = 1")
db.commit()
print(db.execute("select t_s from decision where run_id = 1 and decision = ?",
                 (decisions[int(sys.argv[2])],)).fetchone()[0],
      db.execute("select min(ended_s) from worker where run_id = 1").fetchone()[0])
PY
}
for decision in 0 -1; do
    changed changed.db "$decision" >times
    expect 1 "$WEIR_BIN" diff a.db changed.db --format json
    python3 - <<'PY' || fail "not the earliest difference: $(cat times stdout)"
import json, sys
sys.exit(abs(json.load(open("stdout"))["first_difference_s"] - min(map(float, open("times").read().split()))) > 1e-9)
PY
done
# What one of them lacks is told of the other, whichever is named first.
cp a.db gone.db
sqlite3 gone.db "DELETE FROM worker WHERE rowid = (SELECT rowid FROM worker WHERE run_id = 1 AND
    ended_s IS NOT NULL ORDER BY ended_s LIMIT 1); UPDATE run SET result_digest = '0123456789abcdef' WHERE run_id = 1"
for pair in 'a.db gone.db' 'gone.db a.db'; do
    # shellcheck disable=SC2086 # two files
    expect 1 "$WEIR_BIN" diff $pair
    matches stdout '^at [0-9.]+ s, worker [^:]*: .* in a\.db, not in gone\.db'
done
expect 2 "$WEIR_BIN" diff a.db

# A module is loaded again from where it was, and named when it is another one.
scenario 1 >small.yaml
cp "$WEIR_PLUGINS/template.so" mine.so
expect 0 "$WEIR_BIN" run small.yaml -o d.db --plugin ./mine.so --set horizon=1h \
    --set sched.scaling.policy=template_queue_chaser
expect 0 "$WEIR_BIN" rerun d.db
hasnt stderr 'changed'
printf '\0' >>mine.so
expect 0 "$WEIR_BIN" rerun d.db
has stderr 'module ./mine.so changed since'

# Variants of policies with parameters of their own: what one of them sets is none of another's keys.
scenario 1 >two.yaml
cat >>two.yaml <<'Y'
compare:
  - {label: base}
  - {label: early, set: {sched.scaling.overallocation: 1.2}}
  - {label: full, set: {sched.scaling: {policy: raydata, interval: 60 s, up: 1.5}}}
expect:
  - {metric: invariant.violations, variant: early, op: eq, value: 0}
Y
expect 0 "$WEIR_BIN" check two.yaml
expect 0 "$WEIR_BIN" compare two.yaml -q -o two.db
for variant in base early full; do
    expect 0 "$WEIR_BIN" rerun two.db --variant $variant
    has stdout 'same'
    expect 0 "$WEIR_BIN" export two.db --to decision --variant $variant --at 60s
    expect 0 "$WEIR_BIN" explain two.db --variant $variant --at 60s --with equal_split
done

# Another policy in the timeline has its own defaults, not what the first calls by the same name.
scenario 1 >other.yaml
cat >>other.yaml <<'Y'
jobs:
  - {name: w, arrivals: {rate: 0.1/s}, run_time: exp(100 s),
     classes: [{name: k, members: 2, request: {gpus: 1}, elastic: {least: 1, most: 4}}]}
timeline: [{at: 500 s, action: set, set: {sched.queueing: themis}}]
horizon: 2000 s
Y
expect 0 "$WEIR_BIN" run other.yaml -q -o other.db --set sched.queueing=optimus
expect 0 "$WEIR_BIN" rerun other.db
has stdout 'same'
