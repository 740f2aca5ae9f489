#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Plans and news that come late are about jobs and nodes that may be gone: the truth refuses what a
# plan does not know yet, and the run goes on. And passes that end, whatever waits.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# scenario NODES SCHED [LINE...]: its classes on standard input.
scenario() {
    printf '%s\n' 'schema: 2' 'name: late' 'horizon: 3000 s' "cluster: {nodes: [$1]}" "sched: {$2}"
    shift 2
    printf '%s\n' "$@" 'jobs:' '  - name: w' '    classes:'
    sed 's/^/      - /'
}
one='{name: n, cpus: 16, gpus: {h100: 1}}'

# A plan made at 12 s is there at 14 s, and who it starts has lost patience at 12.5 s.
for queueing in fcfs easy srtf; do
    scenario "$one" "queueing: $queueing, latency: 2 s" >left.yaml <<'EOF2'
{name: x, count: 1, request: {gpus: 1}, run_time: 10 s}
{name: y, count: 1, at: 1 s, request: {gpus: 1}, run_time: 10 s, patience: 11.5 s}
{name: z, count: 1, at: 2 s, request: {gpus: 1}, run_time: 10 s}
EOF2
    expect 0 "$WEIR_BIN" run left.yaml -o left.db --force
    value left.db jobs.left '' 1
    value left.db jobs.done '' 2
    value left.db wait.job.max z 14 # decided when that plan has come, there 2 s later
done

# Two of three nodes go, one after the other. The scheduler gives a member to a run that is over
# meanwhile: that is refused, and the job starts anew with both members when a node is back.
elastic='elastic: {least: 1, on_loss: heal}'
for late in 'view_age: 3 s' 'latency: 3 s'; do
    scenario '{name: n, count: 3, cpus: 16, gpus: {h100: 1}}' \
        "queueing: fcfs, placement: first_fit, $late" \
        'timeline:' '  - {at: 20 s, action: node_down, node: n-0, for: 60 s}' \
        '  - {at: 21 s, action: node_down, node: n-1, for: 60 s}' >members.yaml <<EOF2
{name: x, count: 1, members: 2, request: {gpus: 1}, run_time: 100 s, $elastic}
EOF2
    expect 0 "$WEIR_BIN" run members.yaml -o members.db --force
    value members.db jobs.done '' 1
    value members.db makespan '' 183 # 80 s, 3 s late, and 100 s of work
done

# The node is back at 54 s, the job done at 55 s, the plan that gives it a member there at 56 s.
scenario '{name: n, count: 3, cpus: 16, gpus: {h100: 2}}' 'queueing: fcfs, latency: 2 s' \
    'timeline: [{at: 49 s, action: node_down, node: n-0, for: 5 s}]' >done.yaml <<EOF2
{name: a, count: 1, members: 2, request: {gpus: 2}, run_time: 50 s, $elastic}
{name: b, count: 1, members: 2, request: {gpus: 1}, run_time: 100 s, $elastic}
EOF2
expect 0 "$WEIR_BIN" run done.yaml -o done.db
value done.db jobs.done '' 2

# A spot node is taken back with a job on it, which is told late; it comes again and again.
scenario '{name: n, cpus: 16, gpus: {h100: 1}, supply: {max: 1, spot: {hazard: 0.02/s}}}' \
    'queueing: fcfs, view_age: 3 s, capacity: demand' >spot.yaml <<'EOF2'
{name: x, count: 1, request: {gpus: 1}, run_time: 3000 s}
EOF2
expect 0 "$WEIR_BIN" run spot.yaml -o spot.db
expect 0 python3 - <<'PY'
import sqlite3
base = sqlite3.connect("spot.db")
value = lambda metric: base.execute("SELECT value FROM v_result WHERE metric = ? AND label = ''", (metric,)).fetchone()[0]
assert value("jobs.restarted") >= 20 and value("sched.refused") == 0, (value("jobs.restarted"), value("sched.refused"))
PY

# A gang that holds what it finds is kept out by a limit as its time ends: others go on.
scenario '{name: n, cpus: 16, gpus: {h100: 4}}' 'queueing: {policy: hold, hold: 60 s, silent: 60 s}' \
    'tenants: {c: {quota: {hard: 2}}}' >hold.yaml <<'EOF2'
{name: f, count: 1, request: {gpus: 3}, run_time: 1000 s}
{name: g, count: 1, at: 1 s, tenant: c, members: 2, request: {gpus: 1}, run_time: 50 s}
{name: u, count: 1, at: 10 s, tenant: c, priority: 9, request: {gpus: 1}, run_time: 500 s}
EOF2
expect 0 "$WEIR_BIN" run hold.yaml -o hold.db
value hold.db wait.job.max g 999

# Jobs that outran their estimates are lost, and go on from checkpoints: no plan for every ns.
scenario '{name: n, count: 3, cpus: 16, gpus: {h100: 2}}' 'queueing: conservative, placement: spread' \
    >outran.yaml <<'EOF2'
{name: a, count: 6, at: 20 s, every: 5 s, members: 2, request: {gpus: 2}, run_time: 100 s, estimate: 0.5}
{name: b, count: 6, every: 5 s, members: 2, request: {gpus: 1}, run_time: 100 s, estimate: 0.3}
{name: c, count: 6, at: 10 s, every: 5 s, members: 3, request: {gpus: 2}, run_time: 50 s, estimate: 0.9}
{name: d, count: 6, at: 20 s, every: 5 s, request: {gpus: 1}, run_time: 100 s, estimate: 0.3}
EOF2
failures='{gpu_between: exp(300 s), gpu_repair: exp(30 s), detection: const(5)}'
expect 0 timeout 60 "$WEIR_BIN" run outran.yaml -o outran.db --seed 12 --set 'horizon=400 s' \
    --set 'jobs.w.checkpoint={interval: 20 s, cost: 1 s}' --set "cluster.failures=$failures"
expect 0 python3 -c 'import sqlite3; count = sqlite3.connect("outran.db").execute("SELECT count(*) FROM decision").fetchone()[0]; assert count < 1000, count'

# Where members are placed by themselves nobody is preempted for a gang: others would take what one
# leaves, and one of them be preempted for it, without end.
scenario '{name: n, count: 2, cpus: 16, gpus: {h100: 2}}' \
    'queueing: strict_priority, hold_mode: members' >members.yaml <<'EOF2'
{name: a, count: 1, at: 5 s, priority: 1, request: {gpus: 0.5}, run_time: 100 s}
{name: b, count: 1, priority: 1, request: {gpus: 1}, run_time: 50 s}
{name: c, count: 1, at: 5 s, members: 2, request: {gpus: 1}, run_time: 50 s}
{name: d, count: 1, at: 10 s, priority: 2, request: {gpus: 2}, run_time: 50 s}
{name: e, count: 1, at: 10 s, members: 2, priority: 3, request: {gpus: 1}, run_time: 100 s}
EOF2
expect 0 timeout 60 "$WEIR_BIN" run members.yaml -o members.db --force
value members.db jobs.done '' 5

# Policies that choose how many ranks a job has ask for it several times in a pass: it holds nothing.
for queueing in elastic optimus sia themis tesserae; do
    for hold in reserve members; do
        expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/training/ranks.yaml" --no-db -n 1 \
            --set sched.queueing="$queueing" --set sched.hold_mode="$hold"
    done
done
