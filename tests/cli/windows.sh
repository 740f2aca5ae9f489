#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Windows: their moments, what is measured in each against other ways to the same numbers, conditions
# about them, tables by window, and every mistake with its place.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >w.yaml <<'YAML'
schema: 2
name: w
start_time: 2026-03-02T09:00:00Z
seed: 3
replications: 2
horizon: 1000 s
warmup: 50 s
cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 2}}]}
sched: {placement: spread, scaling: {policy: fixed, interval: 10 s}}
pipelines:
  - name: p
    input: {items: 100000, arrivals: exp(4 s)}
    stages:
      - {name: read, cpus: 1, service: 1 s, workers: 2}
      - {name: infer, cpus: 1, gpus: 1, service: "lognormal(12 s, 0.3)", workers: 4}
timeline:
  - {at: 300 s, for: 200 s, action: node_down, node: n-1}
metrics: {sample: 1 s}
windows: {before: "..09:05", outage: "09:05..09:08:20", after: "500.."}
goal: {min: latency p95, while: ["latency p95 <= 1 min"]}
compare:
  - {label: broken}
  - {label: fix, set: {timeline: []}}
expect:
  - "before: throughput > 0.1/s"
  - "fix: outage: latency p95 < broken"
  - "broken: outage: backlog.max > 10"
  - {metric: backlog.recover@outage, variant: broken, op: gt, value: 1}
YAML
expect 0 "$WEIR_BIN" compare w.yaml -o w.db --check
has stdout 'before, 09:00:50 to 09:05:00'
has stdout 'after, 09:08:20 to the end'
has stdout 'time to recover'
# Who has no backlog to work off finishes what comes, which is less: nobody is worse by that.
expect 0 "$WEIR_BIN" compare w.db --metric thr.pipeline@after --format json
has stdout '"verdict": "neutral"'
has stdout '"better": "neither"'
sed -e 's/^goal:.*/goal: {max: throughput}/' -e '/^expect:/,$d' w.yaml >most.yaml
expect 0 "$WEIR_BIN" compare most.yaml -o most.db
expect 0 "$WEIR_BIN" compare most.db --metric thr.pipeline@after --format json
has stdout '"better": "more"'

ask() {
    sqlite3 -readonly "$1" "$2"
}

# The same from samples of one second, whose edges are those of the windows.
[ "$(ask w.db "SELECT count(*), sum(abs(v.value - s.value) > 1e-9) FROM v_window v JOIN
        (SELECT w.run_id, w.window, sum(c.items_done) / sum(c.dt_s) AS value
         FROM (SELECT DISTINCT run_id, window, from_s, to_s FROM v_window) w
         JOIN cluster_sample c ON c.run_id = w.run_id AND c.t_s >= w.from_s AND c.t_s < w.to_s
         GROUP BY w.run_id, w.window) s USING (run_id, window)
        WHERE v.metric = 'thr.pipeline'")" = '12|0' ] || fail 'throughput of windows'
[ "$(ask w.db "SELECT count(*), sum(abs(v.value - s.value) > 1e-9) FROM v_window v JOIN
        (SELECT w.run_id, w.window, sum(c.gpu_active * c.dt_s) / sum(c.gpu_capacity * c.dt_s) AS value
         FROM (SELECT DISTINCT run_id, window, from_s, to_s FROM v_window) w
         JOIN cluster_sample c ON c.run_id = w.run_id AND c.t_s >= w.from_s AND c.t_s < w.to_s
         GROUP BY w.run_id, w.window) s USING (run_id, window)
        WHERE v.metric = 'util.gpu.active'")" = '12|0' ] || fail 'GPU use of windows'
[ "$(ask w.db "SELECT count(*), sum(abs(v.value - s.value) > 1e-6) FROM v_window v JOIN
        (SELECT w.run_id, w.window, c.stage_name, sum(c.queue_items * c.dt_s) / sum(c.dt_s) AS value
         FROM (SELECT DISTINCT run_id, window, from_s, to_s FROM v_window) w
         JOIN v_stage c ON c.run_id = w.run_id AND c.t_s >= w.from_s AND c.t_s < w.to_s
         GROUP BY w.run_id, w.window, c.stage) s
        ON s.run_id = v.run_id AND s.window = v.window AND s.stage_name = v.label
        WHERE v.metric = 'queue.len.mean'")" = '24|0' ] || fail 'queues of windows'
# The backlog at its peak is what came less what went, at the second of the peak and nowhere more.
[ "$(ask w.db "SELECT count(*), sum(most > value + 1e-6 OR most < value - 3) FROM
        (SELECT v.run_id, v.window, v.value, (SELECT max(n) FROM (SELECT t_s,
           sum(items_arrived - items_done) OVER (ORDER BY t_s) AS n FROM cluster_sample c
           WHERE c.run_id = v.run_id) WHERE t_s >= v.from_s AND t_s < v.to_s) AS most
         FROM v_window v WHERE v.metric = 'backlog.max')")" = '12|0' ] || fail 'backlog of windows'
# Every item belongs to one window or to the warm-up.
[ "$(ask w.db "SELECT sum(v.n + v.censored) <= (SELECT sum(items_arrived) FROM cluster_sample c
        WHERE c.run_id = v.run_id AND c.t_s >= 50) FROM v_window v WHERE v.metric = 'lat.e2e.mean'
        GROUP BY v.run_id" | sort -u)" = 1 ] || fail 'items of windows'
# The fix, which loses no node, is measured over the same moments.
[ "$(ask w.db "SELECT count(DISTINCT from_s || ' ' || to_s) FROM v_window
        WHERE window <> 'after'")" = 2 ] || fail 'moments of variants'
[ "$(ask w.db "SELECT count(*) FROM v_window WHERE metric = 'work.lost_s' AND window = 'outage'
        AND variant = 'broken' AND label = 'node or GPU lost' AND value > 0")" = 2 ] ||
    fail 'what was lost with the node'
[ "$(ask w.db "SELECT count(*) FROM v_window WHERE metric = 'backlog.recover' AND window = 'before'")" = 0 ] ||
    fail 'nothing was before the first window'

# A run that ends before the backlog is back says so.
expect 0 "$WEIR_BIN" run w.yaml -n 1 --set horizon=510s -o short.db
has stdout 'not within the run'
expect 0 "$WEIR_BIN" compare w.db --metric 'outage: latency p95'
has stdout 'outage: latency p95'
expect 0 "$WEIR_BIN" show w.yaml
matches stdout '^outage +09:05:00 +09:08:20$'

# The page answers after the incident, every sentence of it a claim of the run.
if command -v gnuplot >/dev/null; then
    expect 0 "$WEIR_BIN" report w.db
    for claim in faults latency binding; do
        has w.html "data-claim=\"incident.$claim\""
        text=$("$WEIR_BIN" report w.db --format json |
            sed -n "/\"incident.$claim\"/{n;s/.*\"sentence\": \"\(.*\)\",/\1/p;}")
        has w.html "$text"
    done
    has w.html '--at 09:05:00 --with POLICY'
    has w.html '<h2 id="by-window">By window</h2>'
    has w.html '<figure id="windows">'
    expect 0 "$WEIR_BIN" report w.db --as run -o run.html
    hasnt run.html 'data-claim="incident.'
    expect 0 "$WEIR_BIN" run w.yaml -n 1 --set windows={} --set expect=[] -o none.db
    expect 2 "$WEIR_BIN" report none.db --as incident
    has stderr 'needs windows in the scenario'
else
    skip_part 'no gnuplot'
fi

# Only results are kept: windows are there all the same, and a run repeats from its database.
expect 0 "$WEIR_BIN" run w.yaml -n 1 --set metrics.keep=results -o results.db
[ "$(ask results.db "SELECT count(*) FROM v_window WHERE metric = 'lat.e2e.p95'")" = 3 ] ||
    fail 'windows without samples'
expect 0 "$WEIR_BIN" rerun w.db

# By entries of the timeline.
expect 0 "$WEIR_BIN" show w.yaml --set 'windows={before: ".. node_down", outage: node_down n-1, after: "timeline .."}'
matches stdout '^before +09:00:50 +09:05:00$'
matches stdout '^outage +09:05:00 +09:08:20$'
matches stdout '^after +09:08:20 +the end$'

# Mistakes.
wrong() {
    expect 2 "$WEIR_BIN" validate w.yaml --set expect=[] --set "$1"
    has stderr "$2"
}
wrong 'windows={a: noon..}' "no entry of the timeline is called 'noon'"
wrong 'windows={a: node_dwn..}' "did you mean 'node_down'"
wrong 'windows={a: 11:61:00:1..}' 'expected a time since the start'
wrong 'windows={a: 100..2h}' 'lies outside the run, which ends at 1000 s'
wrong 'windows={a: 20..100}' 'begins in the warm-up'
wrong 'windows={a: 200..100}' 'ends before it begins'
wrong 'windows={a: 100..300, b: 200..400}' "overlaps 'a'"
wrong 'windows={b: 300..400, a: 100..200}' 'windows are listed in the order of time'
wrong 'windows={fix: 100..300}' "a variant is called 'fix' too"
wrong 'windows={a: "100"}' 'is a moment; a window is a span'
wrong 'windows={a: ".."}' 'expected a span as'
wrong 'compare=[{label: broken}, {label: fix, set: {windows.outage: 1..2}}]' 'windows are the same in all'
wrong 'expect=["outge: throughput > 1"]' "did you mean 'outage'"
wrong 'expect=["fix: outge: throughput > 1"]' "there is no window 'outge'; did you mean 'outage'"
wrong 'expect=[{metric: thr.pipeline@outge, op: gt, value: 1}]' "did you mean 'outage'"
wrong 'goal={min: "outge: latency p95"}' "did you mean 'outage'"

# Windows that somebody asks for afterwards are measured as those of the scenario: the same claims,
# the same values, and the file stays as it was. `without` is what was run without any.
sed '/^windows:/d; /^expect:/,$d' w.yaml >without.yaml
expect 0 "$WEIR_BIN" compare without.yaml -q -o without.db
sed 's/^windows: .*/windows: {before: "..09:05", window: "09:05..09:08:20", after: "09:08:20.."}/; /^expect:/,$d' \
    w.yaml >with.yaml
expect 0 "$WEIR_BIN" compare with.yaml -q -o with.db
before=$(sha256sum <without.db)
expect 0 "$WEIR_BIN" compare with.db
cp stdout said
expect 0 "$WEIR_BIN" compare without.db --from 09:05 --to 500
diff said stdout || fail 'other values by window than with windows in the scenario'
# Those of the scenario go where others are asked for.
expect 0 "$WEIR_BIN" compare without.db --from 09:04 --to 420 --format csv
cp stdout said_csv
expect 0 "$WEIR_BIN" compare with.db --from 09:04 --to 420 --format csv
diff said_csv stdout || fail 'windows of the scenario are mixed with those that were asked for'
expect 0 "$WEIR_BIN" report with.db --format json
cp stdout said
expect 0 "$WEIR_BIN" report without.db --from 5m --to 2026-03-02T09:08:20Z --format json
diff said stdout || fail 'other claims than with windows in the scenario'
expect 0 "$WEIR_BIN" explain without.db --from 09:05 --to 500
has stdout 'What happened'
matches stdout '^Why +infer was the slowest stage'
expect 0 "$WEIR_BIN" report without.db --from 09:05 -o page.html
has page.html 'weir explain without.db'
[ "$(sha256sum <without.db)" = "$before" ] || fail 'a question changed the file'
expect 0 "$WEIR_BIN" compare without.yaml --from 300 --to 500 -q -o given.db
diff <(ask given.db 'SELECT value FROM v_window ORDER BY 1') \
    <(ask with.db 'SELECT value FROM v_window ORDER BY 1') || fail 'windows as a setting'
expect 2 "$WEIR_BIN" report without.db --from 2000
has stderr 'lies outside the run'
expect 2 "$WEIR_BIN" report without.db --from 500 --to 300
has stderr 'ends before it begins'
expect 2 "$WEIR_BIN" compare without.db --to noon
has stderr "found 'noon'"
expect 2 "$WEIR_BIN" explain without.db --from 300 --pending
has stderr 'go with --stage, or stand alone'
sqlite3 without.db "UPDATE run SET event_digest = event_digest + 1 WHERE run_id = 2"
expect 3 "$WEIR_BIN" report without.db --from 300
has stderr 'does not come out the same again'
