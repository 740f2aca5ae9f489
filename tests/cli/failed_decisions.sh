#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every decision call has a number of its own, failed ones too, and its own notes; with best effort
# no call fails when half of the cluster is lost.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

command -v sqlite3 >/dev/null || skip "no sqlite3 program"
cat >loss.yaml <<'EOF'
schema: 1
name: loss
horizon: 30 min
cluster: {nodes: [{name: n, cpus: 8, gpus: {l4: 2}, count: 2}]}
sched: {placement: first_fit, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 1000000}
    stages:
      - {name: a, cpus: 1, gpus: 1, service: 1 s}
      - {name: b, cpus: 1, gpus: 1, service: 5 s}
timeline:
  - {at: 610, action: node_down, node: n-0}
  - {at: 1210, action: node_up, node: n-0}
EOF
ask() { # database, query
    sqlite3 "$1" "$2"
}

"$WEIR_BIN" run loss.yaml --quiet --set sched.scaling.on_shortage=fail -o whole.db
failed=$(ask whole.db "SELECT count(*) FROM decision WHERE status <> 'ok'")
[ "$failed" -ge 5 ] || fail "only $failed decisions failed as a whole"
[ "$(ask whole.db "SELECT count(*) FROM decision WHERE status <> 'ok' AND message LIKE
                   'stage _: its first worker fits nowhere: too few free GPUs'")" = "$failed" ] ||
    fail "a failed decision does not say why"
[ "$(ask whole.db 'SELECT count(*) - count(DISTINCT decision) FROM decision')" = 0 ] ||
    fail "two decisions have one number"
[ "$(ask whole.db "SELECT count(*) FROM decision JOIN decision_stage USING (run_id, decision)
                   WHERE status <> 'ok'")" = 0 ] || fail "a failed decision has another one's notes"

"$WEIR_BIN" run loss.yaml --quiet -o effort.db
[ "$(ask effort.db "SELECT count(*) FROM decision WHERE status <> 'ok'")" = 0 ] ||
    fail "a decision failed"
[ "$(ask effort.db "SELECT count(*) FROM action WHERE verb = 'deny' AND outcome LIKE '%down%'")" = 0 ] ||
    fail "the node that is down is blamed while another one is full"
