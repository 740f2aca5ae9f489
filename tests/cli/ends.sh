#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A run that ended before its work was done is seen wherever a person or a program looks, and fails
# the command unless the scenario expects it. No scenario that comes with weir ends early unsaid.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >dead.yaml <<'EOF'
schema: 2
name: dead
horizon: 600 s
replications: 3
cluster:
  nodes: [{name: n, cpus: 2, count: 2}]
sched: {placement: first_fit, scaling: {policy: fixed, interval: 30 s}}
pipelines:
  - name: p
    restart: decide
    input: {items: 100000}
    stages: [{name: a, cpus: 1, workers: 2, service: exp(4 s)}]
timeline:
  - {at: 100 s, action: node_down, node: n-0}
compare:
  - {label: asked}
  - {label: back, set: {pipelines.p.restart: same_place}}
  - {label: plan, set: {pipelines.p.restart: next_plan}}
EOF
why='pipeline p at 100.03 s: tasks wait, but every worker was given up'

# One run: on the screen, in JSON, in the exit code.
dead=(dead.yaml --no-db --set pipelines.p.restart=same_place)
expect 1 "$WEIR_BIN" run "${dead[@]}" -n 1
has stdout "ended early: $why"
has stderr "variant base ended early: $why"
expect 1 "$WEIR_BIN" run "${dead[@]}" --format json
has stdout '"status": "ended early"'
has stdout "\"message\": \"$why\""
has stdout '"ended_early_s": 100.03'
has stdout '"unexpected_ends": 3'
expect 0 "$WEIR_BIN" run dead.yaml --no-db --format json
has stdout '"ended_early_s": null'

# A comparison: means, and neither a rank nor a verdict; the same of a database.
expect 1 "$WEIR_BIN" compare dead.yaml -o dead.db
has stderr "variant back ended early in 3 of 3 runs: $why"
[ "$(grep -c 'ended early' stderr)" = 1 ] || fail 'another variant is said to have ended early'
matches stdout '^ +back +0\.[0-9]+/s ± [0-9.]+/s +ended early$'
has stdout "; back ended early in 3 of 3 runs: $why."
expect 1 "$WEIR_BIN" compare dead.db --format csv
[ "$(grep -c ',back,.*,ended early$' stdout)" -eq "$(grep -c ',back,' stdout)" ] || fail 'back is judged'
grep ',back,' stdout | grep -q ',,,,,' || fail 'back has a difference'
# The best is the best of those that lived: least churn is that of the dead.
expect 1 "$WEIR_BIN" compare dead.db --format json
python3 - <<'PY' || fail 'ranks'
import json
page = json.load(open("stdout"))
assert [early["variant"] for early in page["ended_early"]] == ["back"], page["ended_early"]
for row in page["metrics"]:
    cells = {cell["variant"]: cell for cell in row["variants"]}
    assert not cells["back"]["is_best"] and not cells["back"]["is_tied_with_best"], row
    living = [cells[name]["mean"] for name in ("asked", "plan")]
    if row["better"] != "neither" and None not in living:
        best = max(living) if row["better"] == "more" else min(living)
        assert any(c["is_best"] and c["mean"] == best for c in cells.values()), row
churn = next(row for row in page["metrics"] if row["metric"] == "worker.churn")
means = {cell["variant"]: cell["mean"] for cell in churn["variants"]}
assert means["back"] < min(means["asked"], means["plan"]), means
PY
expect 1 "$WEIR_BIN" compare dead.db --baseline back
has stdout '(asked is the baseline instead)'

# What is kept of a finished run is kept of one that ended early.
cp dead.db again.db
expect 1 "$WEIR_BIN" compare dead.yaml -o again.db -n 3 --resume
has stdout "back ended early in 3 of 3 runs: $why"

# Said beforehand it is no failure; said in vain it is.
cat >>dead.yaml <<'EOF'
expect:
  - {metric: run.ended_early, variant: back, op: eq, value: 1}
EOF
expect 0 "$WEIR_BIN" compare dead.yaml -o said.db --check
has stdout 'back ended early in 3 of 3 runs'
expect 0 "$WEIR_BIN" compare said.db
sed 's/value: 1}/value: 0.5}/' dead.yaml >half.yaml
expect 1 "$WEIR_BIN" compare half.yaml -o half.db -n 1

# Wherever it stands among the variants, and whatever is expected of another one.
sed '/label: back/d; s/^compare:/&\n  - {label: back, set: {pipelines.p.restart: same_place}}/' \
    dead.yaml | sed '/^expect:/,$d' >first.yaml
expect 1 "$WEIR_BIN" compare first.yaml -o first.db
has stderr "variant back ended early in 3 of 3 runs: $why"
[ "$(grep -c 'ended early' stderr)" = 1 ] || fail 'another variant is said to have ended early'
sed 's/variant: back, op: eq, value: 1/variant: asked, op: lt, value: 2/' dead.yaml >other.yaml
expect 1 "$WEIR_BIN" compare other.yaml -o other.db
has stderr "variant back ended early in 3 of 3 runs: $why"
expect 0 "$WEIR_BIN" rerun dead.db --variant back
[ "$(grep -c same stdout)" -eq 3 ] || fail 'not all runs were repeated'

# The page says it first, in the table, and nowhere praises what is dead.
if command -v gnuplot >/dev/null; then
    expect 0 "$WEIR_BIN" report dead.db -o dead.html --variant back
    has dead.html "<p class=\"early\">back ended early in 3 of 3 runs: $why"
    has dead.html '<h1>asked is not beaten at throughput'
    expect 0 "$WEIR_BIN" report dead.db -o living.html
    has living.html '<h1>asked is not beaten at throughput'
    has living.html "<p class=\"early\">back ended early in 3 of 3 runs: $why"
    has dead.html '<small>ended early'
    expect 0 "$WEIR_BIN" plot dead.db policies -o policies.svg
    has policies.svg 'ended early'
    expect 0 "$WEIR_BIN" plot dead.db latency -o latency.svg
    has latency.svg 'ended early'
    hasnt latency.svg 'back is fastest'

    # What is drawn leaves no folder behind, whether the program is told to stop or gnuplot fails.
    mkdir -p slow broken
    printf '#!/bin/sh\n: >"%s/drawing"\nexec sleep 600\n' "$PWD" >slow/gnuplot
    printf '#!/bin/sh\nexit 1\n' >broken/gnuplot
    chmod +x slow/gnuplot broken/gnuplot
    for signal in INT HUP TERM; do
        rm -f drawing
        PATH="$PWD/slow:$PATH" "$WEIR_BIN" report dead.db -o stopped.html >stdout 2>stderr &
        pid=$!
        until [ -e drawing ]; do kill -0 "$pid" 2>/dev/null && sleep 0.02 || break; done
        kill -s "$signal" "$pid"
        wait "$pid" && status=0 || status=$?
        [ "$status" -eq 130 ] || fail "exit code $status after $signal"
        has stderr 'interrupted'
    done
    PATH="$PWD/broken:$PATH" expect 3 "$WEIR_BIN" report dead.db -o stopped.html
    [ -z "$(find . -name 'stopped.html*')" ] || fail 'something was left behind'
else
    skip_part 'no gnuplot'
fi

# A burst is work to come: nobody is done before it, a stage that is a barrier as little as a batch.
cat >burst.yaml <<'EOF'
schema: 2
name: burst
horizon: 200 s
cluster: {nodes: [{name: n, cpus: 8}]}
sched: {scaling: fixed}
pipelines:
  - name: p
    semantics: event
    execution: streaming
    input: {items: 3}
    stages: [{name: a, workers: 1, service: 1 s}, {name: b, workers: 1, batch: 2, service: 1 s}]
  - name: q
    execution: batch
    input: {items: 2}
    stages: [{name: a, workers: 1, service: 1 s}]
services: [{name: v, requests: {count: 1, arrivals: const(1 s)}, replicas: 1, service: 1 s}]
jobs:
  - name: j
    count: 1
    arrivals: {process: renewal, gap: const(1 s)}
    classes: [{name: c, request: {cpus: 1}, run_time: 5 s}]
timeline:
  - {at: 50 s, action: burst, pipeline: p, items: 1}
  - {at: 60 s, action: burst, pipeline: q, items: 2}
  - {at: 70 s, action: burst, pipeline: v, items: 3}
  - {at: 80 s, action: burst, jobs: j, items: 2}
EOF
expect 0 "$WEIR_BIN" run burst.yaml -o burst.db
has stdout '85 s simulated'
has stdout '3 arrived   3 done   0 refused   complete'
expect 0 python3 -c 'import sqlite3; print(sqlite3.connect("burst.db").execute(
    "SELECT group_concat(tasks) FROM (SELECT sum(tasks_done) AS tasks FROM stage_sample WHERE stage < 3 GROUP BY stage)").fetchone()[0])'
has stdout '4.0,2.0,4.0'

# Every shipped scenario with a clock, as far as its trace is there. What the slow checks after every
# event find is found where the same scenarios are compared with what they came to (tests/golden).
export WEIR_CHECK_INVARIANTS=0
count=0
while read -r file; do
    grep -qE '^(fill:| +mode: static)' "$file" && continue
    if grep -q '\.\./shared/' "$file" && [ ! -d "$WEIR_SHARED/traces" ]; then
        skip_part "$(basename "$file"): its trace is not here"
        continue
    fi
    status=0
    command=run
    grep -q '^compare:' "$file" && command=compare
    "$WEIR_BIN" "$command" "$file" -n 1 -o shipped.db --force --quiet >stdout 2>stderr || status=$?
    [ "$status" -eq 0 ] || fail "$file: exit code $status: $(head -n 3 stderr)"
    count=$((count + 1))
done < <(find "$WEIR_SOURCE_DIR/scenarios" -name '*.yaml' | sort)
[ "$count" -ge 30 ] || fail "only $count scenarios ran"

# Jobs that wait for ever: since the last of them came, and with a horizon on to it, so that means
# cover the same time; without one the run stops.
cat >stuck.yaml <<'EOF'
schema: 2
name: stuck
horizon: 2 h
cluster: {nodes: [{name: n, cpus: 4}]}
sched: {queueing: fcfs, infeasible: wait}
jobs:
  - name: w
    classes:
      - {name: large, count: 1, request: {cpus: 8}, run_time: 1 min}
      - {name: late, count: 2, at: 10 min, every: 1 min, request: {cpus: 8}, run_time: 1 min}
EOF
for horizon in '2 h' -; do
    expect 1 "$WEIR_BIN" run stuck.yaml -o stuck.db --force --set "horizon=$horizon"
    has stdout 'ended early: jobs w at 660 s: work waits, but nothing will start it'
    expect 0 python3 -c 'import sqlite3; print(sqlite3.connect("stuck.db").execute("SELECT end_s FROM run").fetchone()[0])'
    has stdout "$([ "$horizon" = - ] && echo 660.0 || echo 7200.0)"
done
