#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `weir run`: output, exit codes, expectations, interruption, kill, resume.
# covers: S0.1 S0.36 S0.37 S0.6
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
scenarios=$WEIR_SOURCE_DIR/scenarios

# JSON has what programs need.
expect 0 "$WEIR_BIN" run "$scenarios/reference/xenna_nvdec_n2.yaml" -o ref.db --format json
for key in digest result_digest simulated_s completion_s items_done throughput_per_s events wall_s \
    cpu_s peak_rss_mib metrics decisions stages; do
    has stdout "\"$key\":"
done
matches stdout '"completion_s": 13089\.'
[ ! -s stderr ] || fail "something on standard error in a pipe"

# One screen for a person, and nothing with --quiet.
expect 0 "$WEIR_BIN" run "$scenarios/reference/xenna_nvdec_n2.yaml" -o ref.db --force
has stdout 'slowest stage'
[ "$(wc -l <stdout)" -le 12 ] || fail "more than a screen"
expect 0 "$WEIR_BIN" run "$scenarios/reference/xenna_nvdec_n2.yaml" --no-db --quiet
[ ! -s stdout ] || fail "--quiet printed something"

# Nothing is said of a steady state where no worker ever was ready.
expect 0 "$WEIR_BIN" run "$scenarios/examples/video_pipeline.yaml" --no-db --set horizon=1s --set warmup=0s
matches stdout '^throughput +0 items/s   0 items '
hasnt stdout nan

# A percentile that unfinished items reach into is a lower bound.
expect 0 "$WEIR_BIN" run "$scenarios/examples/video_pipeline.yaml" --no-db --set horizon=1s --set warmup=0s
matches stdout '^latency +p50 ≥ 1 s   p95 ≥ 1 s   p99 ≥ 1 s$'

# Infeasible work ends with a sentence and the code of an invalid scenario; nothing is written.
cat >nine.yaml <<'Y'
schema: 1
name: nine
cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 8}}]}
sched: {placement: fgd, scaling: xenna}
pipelines:
  - name: p
    input: {items: 10}
    stages:
      - {name: a, cpus: 1, gpus: 1, workers: 9, service: 1 s}
Y
expect 2 "$WEIR_BIN" run nine.yaml -o nine.db
has stderr 'GPU'
[ ! -e nine.db ] || fail "an invalid scenario left a database"

# Wrong usage.
expect 2 "$WEIR_BIN" run nine.yaml --sead 3
has stderr "did you mean '--seed'"
expect 2 "$WEIR_BIN" rum nine.yaml
has stderr "did you mean 'run'"
expect 3 "$WEIR_BIN" run missing.yaml
has stderr 'missing.yaml'

# Expectations decide the exit code with --check only.
sed 's/workers: 9/workers: 2/; s/items: 10/items: 100/' nine.yaml >expect.yaml
printf 'expect:\n  - {metric: thr.pipeline, op: gt, value: 5}\n' >>expect.yaml
expect 0 "$WEIR_BIN" run expect.yaml --no-db
has stderr 'expected throughput > 5/s, got 2/s'
expect 1 "$WEIR_BIN" run expect.yaml --no-db --check

# An unusable place for the database.
expect 3 "$WEIR_BIN" run expect.yaml -o "no/such/folder/x.db"
has stderr 'no/such/folder/x.db'
echo 'not a database' >precious.txt
expect 3 "$WEIR_BIN" run expect.yaml -o precious.txt
has precious.txt 'not a database'

# Many runs, of which only the rows are compared: without the slow checks after every event.
export WEIR_CHECK_INVARIANTS=0

# Ctrl-C keeps what is finished, says how to go on, and --resume does.
long=(compare "$scenarios/examples/video_pipeline.yaml" -n 4 -o long.db -j 2)
"$WEIR_BIN" "${long[@]}" >stdout 2>stderr &
pid=$!
until [ "$(sqlite3 -readonly long.db "SELECT count(*) > 1 FROM run WHERE status = 'complete'" 2>/dev/null)" = 1 ] ||
    ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
kill -INT "$pid" 2>/dev/null || true
status=0
wait "$pid" || status=$?
if [ "$status" -eq 130 ]; then
    has stderr '--resume'
    expect 0 "$WEIR_BIN" "${long[@]}" --resume
else
    [ "$status" -eq 0 ] || fail "interrupted run ended with $status"
fi
expect 0 "$WEIR_BIN" "${long[@]}" -o whole.db
if command -v sqlite3 >/dev/null; then
    for db in long whole; do
        sqlite3 "$db.db" 'SELECT run_id, status, result_digest FROM run ORDER BY 1' >"$db.txt"
    done
    same long.txt whole.txt
fi
