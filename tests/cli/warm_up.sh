#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The chart of the warm-up says where MSER-5 cuts the mean of all replications: computed once more here
# from the samples of the database. Loads that need a warm-up, have one, grow until the end.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v gnuplot >/dev/null || skip 'no gnuplot'

cat >jobs.yaml <<'Y'
schema: 2
name: jobs
horizon: 10 d
replications: 3
cluster: {nodes: [{name: n, count: 4, cpus: 64, gpus: {h100: 8}}]}
jobs:
  - name: w
    run_time: exp(6 h)
    classes: [{name: a, count: 400, every: 1 h, request: {gpus: 2}}]
Y
cat >items.yaml <<'Y'
schema: 2
name: items
horizon: 4 h
warmup: 30 min
cluster: {nodes: [{name: n, cpus: 8}]}
pipelines:
  - name: p
    input: {arrivals: exp(2 s)}
    stages: [{name: s, cpus: 1, service: exp(10 s), workers: 8}]
Y

# drawn NAME WORDS...: a run of it, and its chart.
drawn() {
    local name=$1
    shift
    expect 0 "$WEIR_BIN" run "$@" --force -q -o "$name.db"
    expect 0 "$WEIR_BIN" plot "$name.db" warm-up --folder "$name" -o "$name.svg"
}
drawn none jobs.yaml
drawn covered jobs.yaml --set 'warmup=2 d'
drawn hardly jobs.yaml --set 'warmup=1 h'
drawn grows jobs.yaml --set 'jobs.w.classes.a.request.gpus=8' --set 'jobs.w.run_time=exp(1 d)'
drawn items items.yaml -n 2
python3 - <<'P' || fail 'a title is not what the samples say'
import re, sqlite3
UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}

def seconds(text):
    return sum(float(n) * UNITS[u] for n, u in re.findall(r"([\d.]+) ?([dhms])", text))

def mser(values):
    batches = [sum(values[i:i + 5]) / 5 for i in range(0, len(values) // 5 * 5, 5)]
    k, best, cut = len(batches), None, 0
    for d in range(k // 2 + 1):
        rest = batches[d:]
        mean = sum(rest) / len(rest)
        score = sum((y - mean) ** 2 for y in rest) / len(rest) ** 2
        if best is None or score < best * (1 - 1e-12):
            best, cut = score, d
    return 5 * cut, cut == k // 2

def means(rows, end, bins):
    step, sums, weights = end / bins, [0.0] * bins, [0.0] * bins
    for t, dt, value in rows:
        for b in range(min(int(t / step), bins - 1), bins):
            share = min(t + dt, (b + 1) * step) - max(t, b * step)
            if share <= 0 and b * step >= t + dt:
                break
            sums[b] += value * max(share, 0)
            weights[b] += max(share, 0)
    return [s / w if w > 0 else None for s, w in zip(sums, weights)]

said = set()
for name in ("none", "covered", "hardly", "grows", "items"):
    db = sqlite3.connect(name + ".db")
    runs = db.execute("SELECT run_id, end_s, warmup_s FROM run ORDER BY run_id").fetchall()
    sql = ("SELECT t_s, dt_s, items_done / dt_s, sum(items_arrived - items_done) OVER (ORDER BY t_s) "
           "FROM cluster_sample WHERE run_id = ? ORDER BY t_s" if name == "items" else
           "SELECT t_s, dt_s, sum(waiting), sum(gpus) FROM job_sample WHERE run_id = ? GROUP BY t_s "
           "ORDER BY t_s")
    samples = [db.execute(sql, run[:1]).fetchall() for run in runs]
    end, warmup, bins = runs[0][1], runs[0][2], min(len(samples[0]), 240)
    cuts = []
    for column in (2, 3):
        each = [means([(r[0], r[1], r[column]) for r in rows], end, bins) for rows in samples]
        line = [[v for v in values if v is not None] for values in zip(*each)]
        cuts.append(mser([sum(v) / len(v) for v in line if v]))
    cut, short = max(c for c, _ in cuts) * end / bins, any(s for _, s in cuts)
    title = re.search(r"Bold (.*?)}' at", open(f"{name}/warm-up.gp").read()).group(1)
    print(name, title, cut, short)
    if short:
        said.add("short")
        assert title == "The run is too short to tell its start from the rest", title
    elif cut == 0:
        said.add("none")
        assert title == "Nothing tells the start from the rest", title
    else:
        told = seconds(re.search(r"(?:after|lasts) ([^,]*),", title).group(1))
        assert abs(told - cut) <= 0.06 * cut, (title, cut)
        word = "covers" if cut <= warmup else "hold some" if warmup > 0 else "hold all"
        said.add(word)
        assert word in title, (title, cut, warmup)
assert {"short", "covers", "hold some", "hold all"} <= said, said
P
# What ends with its work has no start to leave out.
expect 0 "$WEIR_BIN" run items.yaml --set 'warmup=0 s' --set 'pipelines.p.input={items: 50}' -q -o over.db
expect 0 "$WEIR_BIN" plot over.db warm-up --folder over -o over.svg
has over/warm-up.gp 'the run ends with its work, and all of it counts'
# A warm-up that the run does not outlast leaves nothing to count, and nothing is said of the time
# before it but that the work was done.
expect 0 "$WEIR_BIN" run items.yaml --set 'pipelines.p.input={items: 50}' -o outlasted.db
matches stdout '^throughput +–   50 items   complete in [0-9.]+ s$'
has stdout 'warm-up        30 min, all of the run: nothing is left to count'
hasnt stdout nan
expect 0 "$WEIR_BIN" report outlasted.db -o outlasted.html
has outlasted.html 'all of it warm-up: no mean counts any of it.'
has outlasted.html '<h1>items: the run ended within its warm-up, nothing is left to count</h1>'
hasnt outlasted.html 'are finished on average'
hasnt outlasted.html 'items finished, after warm-up'
hasnt outlasted.html 'Means after warm-up'
expect 0 "$WEIR_BIN" run jobs.yaml --set jobs.w.classes.a.count=3 --set 'warmup=9 d' -q -n 1 -o outlasted_jobs.db
expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/examples/nexrl_small.yaml" -q -n 1 \
    --set actors.rl.training.steps=3 --set 'warmup=5 h' -o outlasted_actors.db
python3 - <<'P' || fail 'something before the warm-up counts'
import sqlite3
for name in ("outlasted", "outlasted_jobs", "outlasted_actors"):
    found = dict(sqlite3.connect(name + ".db").execute("SELECT metric, value FROM result WHERE label = ''"))
    assert found["makespan" if name != "outlasted_actors" else "rl.steps"] > 0, found
    for metric in ("thr.pipeline", "util.cpu.active", "queue.len.mean", "jobs.running.mean", "lat.e2e.mean",
                   "rl.rollout_util", "rl.barrier_idle_s", "rl.pool.mean"):
        assert metric not in found, (name, metric, found[metric])
    for metric in ("sched.decisions", "queue.len.max", "work.lost_s"):
        assert not found.get(metric), (name, metric, found[metric])
P
