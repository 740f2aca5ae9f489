#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `weir snapshot` writes a state from which a scenario goes on with the same workers and work.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >small.yaml <<'Y'
schema: 1
name: small
cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 4}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 20000}
    stages:
      - {name: a, cpus: 1, service: exp(1 s)}
      - {name: b, cpus: 1, gpus: 0.25, service: 2 s}
      - {name: c, cpus: 1, gpus: 1, service: 0.2 s}
Y
expect 0 "$WEIR_BIN" run small.yaml -o a.db --quiet
expect 0 "$WEIR_BIN" snapshot a.db --at 5m
cp stdout state.yaml
left=$(sed -n 's/^# pipelines.p.input.items: \([0-9]*\) are.*/\1/p' state.yaml)
[ "$left" -gt 0 ] || fail 'nothing is left to come'
matches state.yaml 'speed: [0-9.]+'

# What the scenario begins with is what there was: snapshot of the continuation at its start. Its
# first decision comes later than that moment.
{ sed "s/items: 20000/items: $left/" small.yaml; cat state.yaml; } >on.yaml
expect 0 "$WEIR_BIN" validate on.yaml
expect 0 "$WEIR_BIN" run on.yaml -o b.db --quiet --set sched.latency.base=30s
expect 0 "$WEIR_BIN" snapshot b.db --at 1
sed -n '/workers:/,/queues:/p' stdout >now
sed -n '/workers:/,/queues:/p' state.yaml >then
same then now
[ "$(grep -c count then)" -ge 3 ] || fail 'too few workers to say anything'

# No item is lost: those that left by then and the rest are all there were.
expect 0 "$WEIR_BIN" run on.yaml --no-db
rest=$(sed -n 's/.* \([0-9]*\) items  .*/\1/p' stdout)
waiting=$(sed -n '/queues:/,/estimates:/s/.*: \([0-9]\{1,\}\)$/\1/p' state.yaml | awk "{ sum += \$1 } END { print sum }")
[ "$rest" -eq $((left + waiting)) ] || fail "$rest items, not $left + $waiting"

expect 2 "$WEIR_BIN" snapshot a.db --at 100h
has stderr 'the run is over'
expect 2 "$WEIR_BIN" snapshot a.db
expect 2 "$WEIR_BIN" snapshot a.db --at 1m --variant nobody
expect 3 "$WEIR_BIN" snapshot missing.db --at 1m

# Of a mixed run the scheduler's view has the jobs: some wait and some run, and it can be decided.
expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/examples/mixed_cluster.yaml" -o mixed.db --quiet
expect 0 "$WEIR_BIN" snapshot mixed.db --at 3h
has stdout '# jobs are left out'
expect 0 "$WEIR_BIN" snapshot mixed.db --at 3h --format json
cp stdout mixed.json
matches mixed.json '"state": "running"'
matches mixed.json '"stage": "caption"'
expect 0 "$WEIR_BIN" decide mixed.json
matches stdout '"status": "ok"'
expect 2 "$WEIR_BIN" snapshot mixed.db --at 3h --format xml
