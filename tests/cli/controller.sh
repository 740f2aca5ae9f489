#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The controller of docs/embed.md, which links libweir alone, decides a recorded day as the
# simulator did: every plan starts the same ranks of the same jobs on the same nodes.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 to read the recorded day with"; exit 77; }

day() {
    cat <<Y
schema: 2
name: day
cluster: {nodes: [{name: n, count: 6, cpus: 64, gpus: {h100: 8}}]}
sched: {placement: $2, queueing: $1}
tenants:
  - {name: vision, quota: 24}
  - {name: speech, quota: 32}
  - {name: lab}
metrics: {keep: all}
jobs:
  - name: day
    count: 400
    arrivals: {rate: 0.0046}
    classes:
      - {name: small, tenant: lab, weight: 6, request: {gpus: 1, cpus: 4}, run_time: exp(20 min)}
      - {name: gang, tenant: vision, weight: 3, members: 4, request: {gpus: 4, cpus: 16}, run_time: exp(40 min)}
      - {name: node, tenant: speech, weight: 2, members: 2, request: {gpus: 8, cpus: 32}, run_time: exp(30 min)}
Y
}

# What came, and how long it ran: all that the controller is told.
told() {
    for _ in 1 2 3 4 5 6; do echo 'node 64 8'; done
    printf 'tenant vision 24\ntenant speech 32\ntenant lab -1\n'
    sqlite3 "$1" "SELECT printf('job %d %d %d %d %d %d %d', round(submit_s * 1e9),
        round((end_s - start_s) * 1e9), round((end_s - start_s) * 1e9),
        CASE tenant WHEN 'vision' THEN 1 WHEN 'speech' THEN 2 ELSE 3 END,
        members, cpus / members, gpus / members) FROM job ORDER BY job"
}

# What every plan started: time, job, rank, node.
planned() {
    sqlite3 -separator ' ' "$1" "SELECT CAST(round(d.t_s * 1e9) AS INTEGER), a.job,
        row_number() OVER (PARTITION BY a.decision, a.job ORDER BY a.seq) - 1, a.node
        FROM action a JOIN decision d ON d.decision = a.decision
        WHERE a.verb = 'start' ORDER BY a.decision, a.seq"
}

# lines UNTIL: of code, without comments, up to that one.
lines() {
    awk -v until="$1" '/^\/\*/ { inside = 1 } !inside && index($0, until) == 1 { exit }
        !inside && NF { lines++ } /\*\// { inside = 0 } END { print lines }' \
        "$WEIR_SOURCE_DIR/sched/template/controller.c"
}
for code in "$(lines 'static int play_next')" "$(lines 'no such line')"; do
    for page in sched/template/controller.c docs/embed.md; do
        grep -q " $code lines " "$WEIR_SOURCE_DIR/$page" || fail "$page: the controller has $code lines of code"
    done
done

while read -r queueing placement; do
    day "$queueing" "$placement" >day.yaml
    expect 0 "$WEIR_BIN" run day.yaml -o "$queueing.db" --quiet
    told "$queueing.db" >day.txt
    "$WEIR_CONTROLLER" "$queueing" "$placement" <day.txt >ours.txt || fail "the controller failed"
    planned "$queueing.db" >theirs.txt
    [ "$(wc -l <theirs.txt)" -gt 700 ] || fail "$queueing: the day has too few starts"
    cmp ours.txt theirs.txt || fail "$queueing: the controller decides otherwise"
done <<'P'
fcfs first_fit
easy best_fit
drf first_fit
fair_share topology
P

# The day is not one that any policy decides alike.
! cmp -s <(planned fcfs.db) <(planned easy.db) || fail "fcfs and easy start the same"
