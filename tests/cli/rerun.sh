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
matches stdout '^at [0-9.]+ s, .* in a.db, '
expect 1 "$WEIR_BIN" diff a.db c.db --format json --replication 1
has stdout '"same": false'
expect 0 "$WEIR_BIN" diff b.db a.db --format json
has stdout '"first_difference_s": null'
expect 3 "$WEIR_BIN" diff a.db missing.db
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
