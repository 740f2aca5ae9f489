#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# metrics.keep: each level has the tables it says and no other, results are the same at all; without
# it a file of many jobs keeps no single ones and says so.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

command -v sqlite3 >/dev/null || skip 'no sqlite3'

results='run run_wall node stage result result_wall job_label histogram'
series='cluster_sample node_sample stage_sample job_sample happening'
jobs='job worker decision decision_wall decision_stage'
all='action candidate'
# Only where the scenario has such a thing.
physics='link link_sample memory_sample power_sample'

# Tables of the level that have rows, among those that a run writes.
filled() {
    for table in $results $series $jobs $all $physics job_pace arrival_sample arrival_part placement_change defrag_move; do
        [ "$(sqlite3 "$1" "SELECT count(*) FROM $table")" -eq 0 ] || echo "$table"
    done
}
facts() {
    sqlite3 "$1" "SELECT metric, label, value, unit, n, censored, is_lower_bound FROM result ORDER BY
        rowid; SELECT event_digest, result_digest, events, items_done FROM run;
        SELECT metric, label, low, count FROM histogram ORDER BY rowid"
}

wanted=
for level in results series jobs all; do
    expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/examples/mixed_cluster.yaml" -n 1 -q \
        -o $level.db --set horizon=2h --set sched.explain=full --set metrics.keep=$level
    wanted="$wanted ${!level}"
    [ "$(filled $level.db | sort)" = "$(printf '%s\n' $wanted | sort)" ] ||
        fail "$level has $(filled $level.db | tr '\n' ' ')"
    facts $level.db >$level.txt
    same $level.txt results.txt
done

# What is not kept is not said to be nothing.
expect 2 "$WEIR_BIN" explain series.db --at 30m
has stderr 'decisions of this run are not in the file: run it with metrics.keep: all'

# A fill: curves over the arrived demand are series, moves are rows a job.
cat >fill.yaml <<'EOF'
schema: 2
name: fill
cluster: {nodes: [{name: n, cpus: 16, gpus: {h100: 2}, count: 8}]}
sched: {placement: spread}
fill:
  - name: w
    count: 40
    defrag: {rule: batch, budget: 100%}
    classes:
      - {name: a, request: {cpus: 2, gpus: 0.6}}
      - {name: b, request: {cpus: 4, gpus: 1}}
EOF
wanted='run run_wall node result result_wall placement_change'
for level in results series jobs all; do
    expect 0 "$WEIR_BIN" run fill.yaml -q -o fill_$level.db --set metrics.keep=$level
    [ $level != series ] || wanted="$wanted arrival_sample arrival_part"
    [ $level != jobs ] || wanted="$wanted defrag_move"
    [ "$(filled fill_$level.db | sort)" = "$(printf '%s\n' $wanted | sort)" ] ||
        fail "$level of a fill has $(filled fill_$level.db | tr '\n' ' ')"
    facts fill_$level.db >fill_$level.txt
    same fill_$level.txt fill_results.txt
done

# Links, memory in time and power: names at the first level, samples at the second.
cat >machine.yaml <<'EOF'
schema: 2
name: machine
horizon: 100 s
cluster:
  nodes: [{name: n, cpus: 4, nic: 1 GB/s, ram: 32 GB, gpus: {h100: 1}}]
  stores: {s: {bandwidth: 1 GB/s}}
  memory: oom_killer
  power: {gpu: used}
sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}
pipelines:
  - name: p
    semantics: event
    backpressure: none
    input: {items: 4, bytes_per_item: 1 GB, store: s}
    stages: [{name: a, cpus: 1, gpus: 1, workers: 1, service: 2 s}]
EOF
for level in results series; do
    expect 0 "$WEIR_BIN" run machine.yaml -q -o machine_$level.db --set metrics.keep=$level
    filled machine_$level.db >filled.txt
    for table in $physics; do
        if [ $level = series ] || [ $table = link ]; then
            matches filled.txt "^$table$"
        else
            hasnt filled.txt "$table"
        fi
    done
done
# The views of before have their columns, and the new ones at the end.
[ "$(sqlite3 machine_series.db 'SELECT min(gpu_throttle) = 1 AND max(ram_in_use_max_bytes) = 1e9 AND
    max(ram_limit_bytes) = 32e9 AND max(gpu_active_pct) > 99 FROM v_node')" = 1 ] || fail 'v_node'
[ "$(sqlite3 machine_series.db "SELECT max(use) > 0.99 AND max(use) <= 1 + 1e-9 AND
    max(capacity_bytes_per_s) = 1e9 FROM v_link WHERE link_name = 's'")" = 1 ] || fail 'v_link'

# Many jobs: 60 000 come in a run, 120 000 in two.
cat >many.yaml <<'EOF'
schema: 2
name: many
horizon: 60000 s
cluster: {nodes: [{name: n, cpus: 64, count: 1}]}
jobs: [{name: w, run_time: 1 s, arrivals: {rate: 1}, classes: [{name: a, request: {cpus: 1}}]}]
EOF
expect 0 "$WEIR_BIN" run many.yaml -n 1 -o one.db
hasnt stdout 'no single jobs'
[ "$(sqlite3 one.db 'SELECT count(*) FROM job')" -gt 50000 ] || fail "no jobs are kept"
expect 0 "$WEIR_BIN" run many.yaml -n 2 -o two.db
has stdout 'series, but no single jobs, of about 1.2e+05 jobs in all runs: metrics.keep decides'
[ "$(sqlite3 two.db 'SELECT count(*) FROM job')" -eq 0 ] || fail "jobs are kept"
[ "$(sqlite3 two.db 'SELECT count(*) FROM job_sample')" -gt 0 ] || fail "no series are kept"
expect 0 "$WEIR_BIN" run many.yaml -n 2 -o said.db --set metrics.keep=jobs
hasnt stdout 'no single jobs'
[ "$(sqlite3 said.db 'SELECT count(*) FROM job')" -gt 100000 ] || fail "jobs are not kept"
