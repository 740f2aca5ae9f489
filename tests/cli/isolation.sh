#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A module in a process of its own decides as it does in the process of the run: every row of the
# database is the same but those of the wall clock, and so are documents of decisions; with pipelines,
# jobs, gangs that reserve, jobs that are turned away, GPUs cut anew, late views, faults, groups and
# schedulers that take over in the middle, workers that are there at the start; whatever runs at the
# same time.
# covers: S1.4
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'

cat >jobs.yaml <<'Y'
schema: 2
name: jobs
seed: 3
horizon: 6 h
cluster:
  nodes:
    - {name: a, count: 3, cpus: 32, gpus: {h100: 8}}
    - {name: b, count: 2, cpus: 16, gpus: {h100: 4}}
sched: {placement: template_fullest_first, explain: full}
jobs:
  - name: batch
    queue_limit: 6
    classes:
      - {name: one, count: 150, every: 60 s, run_time: exp(900), request: {cpus: 4, gpus: 1}}
      - {name: gang, count: 40, every: 240 s, run_time: exp(1200), members: 6, request: {cpus: 2, gpus: 1}}
      - {name: bundle, count: 20, every: 500 s, run_time: exp(600), members: 3, placement_group: spread, request: {cpus: 1, gpus: 2}}
timeline:
  - {at: 1 h, action: node_down, node: a-1}
  - {at: 90 min, action: node_up, node: a-1}
Y
cat >pipes.yaml <<'Y'
schema: 2
name: pipes
horizon: 40 min
cluster: {nodes: [{name: n, count: 2, cpus: 32, gpus: {h100: 4}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}, explain: top}
pipelines:
  - name: p
    input: {items: 4000}
    stages:
      - {name: a, cpus: 1, service: exp(2 s)}
      - {name: b, cpus: 1, gpus: 0.25, service: exp(4 s)}
initial:
  workers: [{stage: a, node: n-1, count: 2}, {stage: b, node: n-1, count: 3}]
  estimates: {b: {speed: 0.3/s}}
timeline:
  - {at: 5 min, action: set, set: {sched.scaling.policy: template_queue_chaser}}
  - {at: 12 min, action: set, set: {sched.scaling.policy: xenna, sched.placement: template_fullest_first}}
  - {at: 20 min, action: set, set: {sched.placement: fgd}}
Y
cat >fill.yaml <<'Y'
schema: 2
name: fill
cluster:
  nodes:
    - {name: a, count: 12, cpus: 32, ram: 256 GiB, gpus: {h100: 8}}
    - {name: b, count: 6, cpus: 64, gpus: {h100: 4}}
sched: {placement: template_fullest_first}
fill:
  - name: batch
    defrag: {rule: greedy, budget: 5 %}
    classes:
      - {name: share, count: 300, request: {cpus: 1, gpus: 0.3, ram: 1 GiB}}
      - {name: one, count: 60, request: {cpus: 4, gpus: 1}}
      - {name: gang, count: 10, members: 3, request: {cpus: 2, gpus: 2}}
      - {name: bundle, count: 4, members: 3, placement_group: spread, request: {cpus: 1, gpus: 2}}
Y
modules=(--plugin "$WEIR_PLUGINS/template.so" --plugin "$WEIR_PLUGINS/queueings.so" --plugin "$WEIR_PLUGINS/capacities.so")

differing() { # what differs in two databases
    python3 - "$@" <<'P'
import sqlite3, sys
one, other = (sqlite3.connect(f"file:{name}?mode=ro", uri=True) for name in sys.argv[1:3])
names = [name for (name,) in one.execute(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%_wall' "
    "AND name NOT IN ('meta', 'experiment') ORDER BY name")]
rows = 0
for name in names:
    both = [sorted(map(repr, db.execute(f'SELECT * FROM "{name}"'))) for db in (one, other)]
    rows += len(both[0])
    if both[0] != both[1]:
        print(f"{name}: {len(both[0])} and {len(both[1])} rows, first",
              next((pair for pair in zip(*both) if pair[0] != pair[1]), ""))
if rows < 100:
    print(f"{rows} rows")
P
}
count=0
both() { # scenario, more options
    expect 0 "$WEIR_BIN" run "$1" "${modules[@]}" --quiet --force -n 2 -o apart.db "${@:2}"
    expect 0 "$WEIR_BIN" run "$1" "${modules[@]}" --quiet --force -n 2 -o inside.db --in-process "${@:2}"
    differing apart.db inside.db >different
    [ ! -s different ] || { head -c 2000 different && fail "$*: other rows"; }
    count=$((count + 1))
}
both jobs.yaml
both jobs.yaml --set sched.hold_mode=reserve
both jobs.yaml --set sched.queueing=widest_first -j 2
both jobs.yaml --set sched.queueing=widest_first --set sched.hold_mode=reserve --set sched.view_age=90s
both jobs.yaml --set sched.queueing=srtf
both jobs.yaml --set sched.placement=fgd --set sched.queueing=widest_first
both "$WEIR_SOURCE_DIR/scenarios/capacity/mig_repartition.yaml" --set sched.placement=template_fullest_first
both "$WEIR_SOURCE_DIR/scenarios/capacity/mig_repartition.yaml" --set sched.queueing=widest_first
both "$WEIR_SOURCE_DIR/scenarios/examples/mixed_cluster.yaml" --set sched.placement=template_fullest_first
both pipes.yaml -j 2
both "$WEIR_SOURCE_DIR/scenarios/training/quota.yaml" --set sched.placement=template_fullest_first
both "$WEIR_SOURCE_DIR/scenarios/training/quota.yaml" --set sched.queueing=widest_first
both "$WEIR_SOURCE_DIR/scenarios/capacity/threshold.yaml" --set compare=- --set expect=- --set sched.capacity=patient
both "$WEIR_SOURCE_DIR/scenarios/capacity/features.yaml" --set compare=- --set expect=- --set 'horizon=4 d' --set sched.queueing=widest_first
# Placement without a clock, with moves at the end.
both "$WEIR_SOURCE_DIR/scenarios/examples/pack_density.yaml" --set sched.placement=template_fullest_first
both fill.yaml
[ "$count" -ge 16 ] || fail "only $count scenarios"

# The database says where the module ran, and what it has begun is gone on with in the same place.
expect 0 "$WEIR_BIN" run pipes.yaml "${modules[@]}" --quiet -n 2 -o apart.db --force
python3 -c "import sqlite3, sys
print(*sqlite3.connect('apart.db').execute(\"SELECT value FROM meta WHERE value LIKE '%process%'\"))" >place
has place 'a process of their own'
expect 3 "$WEIR_BIN" run pipes.yaml "${modules[@]}" --quiet -n 2 -o apart.db --resume --in-process
has stderr 'place of modules'
expect 0 "$WEIR_BIN" rerun apart.db
has stdout same

# What a decision starts from, and what came of it.
for way in '' --in-process; do
    # shellcheck disable=SC2086 # nothing, or one word
    expect 0 "$WEIR_BIN" explain apart.db --at 6min --decide "${modules[@]}" $way
    cp stdout "document$way"
    # shellcheck disable=SC2086
    expect 0 "$WEIR_BIN" snapshot apart.db --at 6min --format json "${modules[@]}" $way
    cp stdout "snapshot$way"
done
same document document--in-process
same snapshot snapshot--in-process
expect 0 "$WEIR_BIN" decide document --plugin "$WEIR_PLUGINS/template.so"
has stdout '"status": "ok"'

# One that would have to start the program of another one is refused with a sentence.
sed 's/sched.scaling.policy: xenna, /sched.scaling.policy: command, sched.scaling.argv: [cat], /' \
    pipes.yaml >program.yaml
expect 4 "$WEIR_BIN" run program.yaml "${modules[@]}" --no-db
has stderr 'give --in-process'
