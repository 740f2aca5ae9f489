#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Placement policies side by side: fgd fills four nodes at least five points fuller than random
# before it refuses a job, fuller than any other policy too, and neither is chance.
# covers: S0.30 S1.10 S1.14 S1.15, S1.69
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

scenario=$WEIR_SOURCE_DIR/scenarios/examples/pack_density.yaml
expect 0 "$WEIR_BIN" compare "$scenario" --check --metric pack.density -q -o density.db
python3 - density.db <<'PY'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "select variant, replication, value from v_result where metric = 'pack.density' and label = ''").fetchall()
by = {}
for variant, replication, value in rows:
    by.setdefault(variant, {})[replication] = value
assert len(by) == 10, by.keys()
for other in by:
    if other == "fgd":
        continue
    differences = [by["fgd"][r] - by[other][r] for r in by[other]]
    mean = sum(differences) / len(differences)
    deviation = (sum((d - mean) ** 2 for d in differences) / (len(differences) - 1)) ** 0.5
    low = mean - 2.05 * deviation / len(differences) ** 0.5
    assert len(differences) == 30, len(differences)
    wanted = 0.05 if other == "random" else 0
    assert low > wanted, f"fgd is only {mean:.3f} denser than {other}, at least {low:.3f}"
PY

# Rules of one policy side by side: the chart names the spread inside it and between policies.
sed '/^compare:/,$d' "$scenario" >rules.yaml
cat >>rules.yaml <<'YAML'
compare:
  - {label: fgd}
  - {label: "fgd spread", set: {sched.placement.steps: 1, sched.placement.tie: most_free}}
  - {label: worst_fit, set: {sched.placement: worst_fit}}
YAML
expect 0 "$WEIR_BIN" compare rules.yaml -q -n 3 -o rules.db
expect 0 "$WEIR_BIN" plot rules.db families --folder chart -o families.svg
matches chart/families.gp 'Rules inside fgd move its result by [0-9.]+ points, the choice of policy by [0-9.]+'
matches chart/families.dat '^0 [0-9.]+ 1 "fgd" $'

# Where GPUs are not shared, four workers of half a GPU take four GPUs and use half of each.
cat >exclusive.yaml <<'YAML'
schema: 1
name: exclusive
description: half GPUs on GPUs that are not shared
horizon: 1 h
cluster:
  share: exclusive
  nodes: [{name: node, cpus: 64, gpus: {h100: 4}}]
sched: {scaling: {policy: fixed, interval: 60 s}}
pipelines:
  - name: p
    semantics: runtime
    input: {items: 100000}
    stages:
      - {name: infer, cpus: 1, gpus: 0.5, workers: 4, service: 1 s, source: guess}
YAML
expect 0 "$WEIR_BIN" validate exclusive.yaml
has stderr 'exclusive.yaml:14:38: warning: pipelines[0].stages[0].gpus: asks for 0.5 of a GPU and takes a whole one: share is exclusive'
expect 0 "$WEIR_BIN" run exclusive.yaml -q -o exclusive.db
expect 0 "$WEIR_BIN" run exclusive.yaml -q -S cluster.share=fraction -o fraction.db
hasnt stderr 'takes a whole one'
for pair in exclusive:0.5 fraction:0; do
    python3 - "${pair%:*}.db" "${pair#*:}" <<'PY'
import sqlite3, sys
wasted = sqlite3.connect(sys.argv[1]).execute(
    "select value from result where metric = 'waste.alloc_unused'").fetchone()[0]
assert abs(wasted - float(sys.argv[2])) < 1e-9, wasted
PY
done
expect 2 "$WEIR_BIN" validate exclusive.yaml -S pipelines.p.stages.infer.workers=5

# Where nobody says it, GPUs are exclusive until somebody asks for a part of one, which he gets.
sed '/^  share:/d' exclusive.yaml >unsaid.yaml
share_is() {
    expect 0 "$WEIR_BIN" show unsaid.yaml -f json "${@:2}"
    hasnt stderr 'warning'
    has stdout "\"share\": \"$1\""
}
share_is fraction
share_is exclusive -S pipelines.p.stages.infer.gpus=1
share_is exclusive -S pipelines.p.stages.infer.gpus=0
share_is fraction -S pipelines.p.stages.infer.gpus=0 -S pipelines.p.stages.infer.nvdecs=1
share_is fraction -S pipelines.p.stages.infer.gpus=1 -S cluster.share=fraction
share_is timeslice -S cluster.share=timeslice
expect 0 "$WEIR_BIN" run unsaid.yaml -q -o unsaid.db
cmp <(sqlite3 fraction.db 'select metric, label, value from result') \
    <(sqlite3 unsaid.db 'select metric, label, value from result')
expect 0 "$WEIR_BIN" validate unsaid.yaml -S pipelines.p.stages.infer.workers=8

# Nodes say it alike; those that are cut may go beside them.
sed 's/^  share: exclusive/  share: fraction/; s/nodes: .*/nodes:\n    - {name: a, cpus: 8, gpus: {h100: 1}, share: exclusive}\n    - {name: b, cpus: 8, gpus: {h100: 4}}/' \
    exclusive.yaml >mixed.yaml
expect 2 "$WEIR_BIN" validate mixed.yaml
has stderr 'GPUs are exclusive all or none (but for share: mig)'
expect 0 "$WEIR_BIN" validate mixed.yaml -S cluster.share=exclusive
has stderr 'takes a whole one'
expect 0 "$WEIR_BIN" validate mixed.yaml -S cluster.nodes.a.share=mig
hasnt stderr 'takes a whole one'
expect 2 "$WEIR_BIN" validate exclusive.yaml -S cluster.share_mode=exclusive # its name before
has stderr "there is no 'share_mode'"

# A gang that takes turns is warned of; one task, or whole GPUs, are not.
cat >gang.yaml <<'YAML'
schema: 2
name: gang
horizon: 1 h
cluster: {share: timeslice, nodes: [{name: n, cpus: 64, gpus: {h100: 8}}]}
jobs:
  - name: jobs
    run_time: 10 min
    arrivals: {process: poisson, rate: 0.01}
    classes:
      - {name: train, members: 4, request: {cpus: 1, gpus: 0.5}}
YAML
expect 0 "$WEIR_BIN" validate gang.yaml
has stderr 'gang.yaml:10:9: warning: jobs[0].classes[0]: a gang of 4 takes turns on GPUs'
cat >>gang.yaml <<'YAML'
pipelines:
  - {name: p, input: {items: 10}, stages: [{name: s, service: 3 s}]}
YAML
expect 0 "$WEIR_BIN" validate gang.yaml
has stderr 'gang.yaml:10:9: warning: jobs[0].classes[0]: a gang of 4 takes turns on GPUs'
expect 0 "$WEIR_BIN" validate gang.yaml -S jobs.jobs.classes.train.members=1
hasnt stderr 'takes turns'
expect 0 "$WEIR_BIN" validate gang.yaml -S jobs.jobs.classes.train.request.gpus=1
hasnt stderr 'takes turns'

# Pipelines and jobs share the cluster.
expect 0 "$WEIR_BIN" run gang.yaml --no-db
has stdout ' jobs '
