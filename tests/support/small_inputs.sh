# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Small inputs of every command, made in the current folder: what tests/support/faults.py disturbs and
# tests/golden/printed prints. To be sourced after cli.sh.
cp "$WEIR_SOURCE_DIR"/scenarios/examples/jobs_table.* .
{ two_variants 200; printf 'expect:\n  - {metric: thr.pipeline, op: gt, value: 0}\n'; } >small.yaml
expect 0 "$WEIR_BIN" run small.yaml -n 3 -o whole.db -q
expect 0 "$WEIR_BIN" compare small.yaml -n 2 -o two.db -q
expect 0 "$WEIR_BIN" run jobs_table.yaml -n 1 -o jobs.db -q
expect 0 "$WEIR_BIN" run small.yaml -n 1 -o other.db -q --seed 7
expect 0 "$WEIR_BIN" run small.yaml -n 1 --no-db -q --spans spans.csv
expect 0 "$WEIR_BIN" explain whole.db --at 0s --decide
cp stdout state.json
cp small.yaml guess.yaml
expect 0 "$WEIR_BIN" upgrade --write guess.yaml
sed 's/service: exp(1 s)/servise: exp(-1 s)/' small.yaml >wrong.yaml
for part in 1 2; do
    expect 0 "$WEIR_BIN" compare small.yaml -n 2 -q --shard $part/2 -o half$part.db
done
printf '%s\n' 'schema: 2' 'name: fill' 'cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 2}}]}' \
    'fill: [{name: w, classes: [{name: one, count: 12, request: {cpus: 1, gpus: 0.5}}]}]' >fill.yaml
# What a review, a search and a suite are made of, a program that decides, and a session of decisions.
cat >plan.yaml <<'Y'
schema: 2
name: plan
horizon: 8 h
growth: 3%/month
prices: {billing: nodes, cpu: 1}
cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 4}}]}
sched: {placement: fgd, queueing: fcfs}
metrics: {keep: jobs}
goal: {min: wait p95, while: ["wait p95 <= 20 min"]}
jobs:
  - name: work
    arrivals: {rate: 8/h}
    classes: [{name: one, run_time: exp(40 min), request: {cpus: 1, gpus: 1}}]
Y
sed 's/queueing: fcfs/queueing: {policy: command, argv: [python3, order.py], passes: true}/' plan.yaml >asked.yaml
cp "$WEIR_SOURCE_DIR/sched/template/queueing.py" order.py
cat >plan.suite <<'Y'
suite: plan
scenario: plan.yaml
policies: {sched.queueing: [fcfs, sjf]}
blocks:
  - {jobs.work.arrivals.rate: 8/h, seed: [1, 2]}
  - {jobs.work.arrivals.rate: 9/h, seed: [1, 2]}
metrics: [wait mean]
replications: 1
Y
printf '# Why\n\n- one\n' >notes.md
printf 'time,metric,stage,value\n1 s,throughput,,3\n4 s,throughput,,20\n' >observed.csv
expect 0 "$WEIR_BIN" compare plan.yaml -n 2 -q --axis cluster.nodes.n.count=1..3 -o sizes.db
expect 0 "$WEIR_BIN" compare plan.suite -q -o suite.db
next='{"format":"weir-decision","version":3,"command":"next"'
{ tr -d '\n' <state.json; printf '\n%s,"time_ns":60000000000,"carried_out":true}\n%s,"nodes":1}\n' "$next" "$next"; } >lines.jsonl
