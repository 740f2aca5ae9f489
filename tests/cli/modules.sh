#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Modules and the interface: one of version 1 is told what to do, wishes that nobody can fulfil are
# refused and no error.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >small.yaml <<'Y'
schema: 1
name: small
horizon: 10 min
cluster: {nodes: [{name: n, count: 2, cpus: 8}]}
sched: {placement: fgd, scaling: {policy: wants_nodes, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 500}
    stages:
      - {name: a, cpus: 1, service: 1 s}
Y

expect 4 "$WEIR_BIN" run small.yaml --plugin "$WEIR_PLUGINS/hostile_version_1.so" -o old.db --quiet
has stderr 'was built for interface version 1, this is version 2: build it anew'

expect 0 "$WEIR_BIN" run small.yaml --plugin "$WEIR_PLUGINS/wants_nodes.so" -o wants.db --quiet
