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

# Tables of the level that have rows, among those that a run writes.
filled() {
    for table in $results $series $jobs $all arrival_sample arrival_part placement_change defrag_move; do
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
