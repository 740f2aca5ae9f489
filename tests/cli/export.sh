#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# weir export, weir.py and the Grafana board: what other tools read says what the database says.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
tools=$WEIR_SOURCE_DIR/analysis/tools
docs=$WEIR_SOURCE_DIR/docs/export.md

two_variants 3000 >small.yaml
expect 0 "$WEIR_BIN" compare small.yaml -n 2 -o run.db --quiet
cat >jobs.yaml <<'Y'
schema: 2
name: jobs
description: one, two and "three"
start_time: 2026-04-12T11:00:00Z
cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 8}}], power: {gpu: used}}
sched: {placement: fgd, queueing: easy}
metrics: {keep: all}
timeline: [{at: 10 min, action: node_down, node: n-1, for: 5 min}]
jobs:
  - name: day
    count: 60
    arrivals: {rate: 0.02}
    classes: [{name: a b, request: {gpus: 2, cpus: 4}, run_time: exp(10 min)}]
Y
expect 0 "$WEIR_BIN" run jobs.yaml -o jobs.db --quiet

# CSV: every row of a view, values that read back.
expect 0 "$WEIR_BIN" export run.db --to csv --view v_stage -o stage.csv.gz
expect 0 "$WEIR_BIN" export jobs.db --to csv --view experiment -o experiment.csv
expect 0 "$WEIR_BIN" export run.db --to csv --view v_result --variant two --replication 1
python3 - <<'P'
import csv, gzip, io, sqlite3
db = sqlite3.connect("run.db")
def same(text, sql, least=5, db=db):
    rows = list(csv.reader(io.StringIO(text, newline="")))
    wanted = list(map(list, db.execute(sql)))
    assert len(rows) - 1 == len(wanted) > least, (len(rows), len(wanted))
    for ours, theirs in zip(rows[1:], wanted):
        for a, b in zip(ours, theirs):
            assert a == ("" if b is None else b) if isinstance(b, (str, type(None))) else float(a) == b, (a, b)
same(gzip.open("stage.csv.gz", "rt").read(), "SELECT * FROM v_stage")
same(open("experiment.csv", newline="").read(), "SELECT * FROM experiment", 0, sqlite3.connect("jobs.db"))
same(open("stdout").read(), "SELECT * FROM v_result WHERE variant = 'two' AND replication = 1")
P

# OpenMetrics: series together, in time, with the values of the database.
expect 0 "$WEIR_BIN" export run.db --to openmetrics -o run.om
expect 0 "$WEIR_BIN" export jobs.db --to openmetrics -o jobs.om
python3 - <<'P'
import re, sqlite3
def read(name):
    series, families, ended = {}, [], False
    for line in open(name):
        assert not ended
        if line == "# EOF\n":
            ended = True
        elif line.startswith("# TYPE "):
            families.append(line.split()[2])
        elif not line.startswith("#"):
            found = re.fullmatch(r'(\w+)(\{(?:\w+="(?:[^"\\\n]|\\.)*",?)*\}) (\S+) (\d+\.\d{3})\n', line)
            assert found and found[1] == families[-1], line
            key = found[1] + found[2]
            if key not in series:
                series[key] = []
                last = key
            assert key == last, "a series in two parts"
            assert not series[key] or series[key][-1][0] < float(found[4]), line
            series[key].append((float(found[4]), float(found[3])))
    assert ended and len(set(families)) == len(families)
    return series, families
series, families = read("run.om")
db = sqlite3.connect("run.db")
for state, sql in (("USED", "gpu_assigned"), ("AVAILABLE", "gpu_capacity - gpu_assigned")):
    ours = series[f'ray_resources{{Name="GPU",State="{state}",scenario="small",variant="one",replication="0"}}']
    theirs = list(db.execute(f"SELECT time, {sql} FROM v_cluster WHERE variant = 'one' AND replication = 0 ORDER BY time"))
    assert len(ours) == len(theirs) and all(abs(a[1] - b[1]) < 1e-9 for a, b in zip(ours, theirs))
done = series['ray_pipeline_finished_tasks{stage="p/a",scenario="small",variant="one",replication="0"}']
assert done[-1][1] == 3000, done[-1]
actors = [series[f'ray_actors{{Name="p/b",State="{state}",scenario="small",variant="one",replication="0"}}']
          for state in ("ALIVE_IDLE", "ALIVE_RUNNING_TASKS", "PENDING_CREATION")]
workers = [row[0] for row in db.execute("SELECT workers FROM v_stage WHERE stage_name = 'b' AND variant = 'one' AND replication = 0 ORDER BY t_s")]
assert all(abs(sum(a[i][1] for a in actors) - w) < 1e-9 for i, w in enumerate(workers))
jobs, names = read("jobs.om")
assert {"weir_jobs", "weir_job_gpus", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_UTIL"} <= set(names), names
assert min(points[0][0] for points in jobs.values()) == 1775991600.0, "start_time"
assert any('label="a b"' in key for key in jobs), [k for k in jobs if "weir_jobs" in k]
P
# Each name stands on the page with its source, and no other.
sed -n 's/^# TYPE \([^ ]*\).*/\1/p' run.om jobs.om | sort -u >names
while read -r name; do matches "$docs" "^\| \`$name\`"; done <names
if command -v promtool >/dev/null; then
    for name in run jobs; do
        expect 0 promtool tsdb create-blocks-from openmetrics $name.om "data_$name"
        expect 0 promtool tsdb list "data_$name"
        matches stdout '^01'
    done
else
    skip_part 'no promtool'
fi

# A trace: events that a viewer takes, tasks on the lives of their workers.
expect 0 "$WEIR_BIN" export run.db --to perfetto -o run.json.gz
expect 0 "$WEIR_BIN" export jobs.db --to perfetto -o jobs.json
python3 - <<'P'
import gzip, json, sqlite3
def read(text):
    trace = json.loads(text)
    for event in trace["traceEvents"]:
        assert event["ph"] in "XMCi" and isinstance(event["pid"], int) and event["name"], event
        assert event["ph"] == "M" or event["ts"] >= 0
        assert event["ph"] != "X" or event["dur"] >= 0
        assert event["ph"] != "C" or set(event["args"]) == {"value"}
    return trace["traceEvents"]
events = read(gzip.open("run.json.gz", "rt").read())
tasks = [e for e in events if e.get("cat") == "task"]
lives = {(e["pid"], e["tid"]): e for e in events if e.get("cat") == "worker"}
assert len(tasks) == 6000, len(tasks)
for task in tasks:
    life = lives[task["pid"], task["tid"]]
    assert life["ts"] <= task["ts"] + 1e-3 and task["ts"] + task["dur"] <= life["ts"] + life["dur"] + 1e-3
assert {"queue of p/a", "GPUs held"} <= {e["name"] for e in events if e["ph"] == "C"}
events = read(open("jobs.json").read())
done = sqlite3.connect("jobs.db").execute("SELECT count(*) FROM worker").fetchone()[0]
assert sum(e.get("cat") == "worker" for e in events) == done > 50
assert any(e["ph"] == "i" and "n-1" in e["name"] for e in events), "what happened"
P
# Every pool has a name, whoever's it is: of actors "system.role".
cat >beside.yaml <<'Y'
schema: 2
name: beside
horizon: 20 s
cluster: {nodes: [{name: n, count: 1, cpus: 16}]}
services: [{name: v, requests: {arrivals: const(5 s)}, replicas: 1, setup: 2 s, service: 1 s}]
actors:
  - name: sys
    roles: {w: {count: 2, creation: 3 s}, api: {count: 1, creation: 1 s}}
    calls: [{from: w, to: api, think: 2 s, service: 2 s}]
Y
expect 0 "$WEIR_BIN" run beside.yaml -o beside.db --quiet
expect 0 "$WEIR_BIN" export beside.db --to perfetto -o beside.json
grep -o '"name":"[^"]* set-up"' beside.json | sort | uniq -c | awk '{print $1, $2}' >setups
printf '%s\n' '1 "name":"sys.api' '2 "name":"sys.w' '1 "name":"v' >setups.want
same setups setups.want
expect 0 "$WEIR_BIN" export run.db --to perfetto --spans-limit 100 -o few.json
matches stderr 'the first 100 of [6-9][0-9]{3} spans'
[ "$(grep -o '"ph":"[XCi]"' few.json | wc -l)" -eq 100 ] || fail 'not 100 events'

# What belongs to another form is refused, not passed over.
while IFS='|' read -r more said; do
    # shellcheck disable=SC2086
    expect 2 "$WEIR_BIN" export run.db $more
    has stderr "$said"
done <<'T'
|--to is missing
--to csv --spans-limit 9|--spans-limit is of --to perfetto
--to csv --at 60|--at is of --to state and --to decision
--to openmetrics --view v_run|--view is of --to csv
--to state|--at is missing: the moment of the state
--to decision|--at is missing: the moment of the decision
--to perfetto|a trace is a file
--to perfetto -o trace.txt|a trace is called NAME.json
T

# State and decision are those of the commands that had them before.
expect 0 "$WEIR_BIN" export run.db --to state --at 60 -o state.yaml
expect 0 "$WEIR_BIN" snapshot run.db --at 60
same stdout state.yaml
expect 0 "$WEIR_BIN" export run.db --to decision --at 60 -o decision.json
expect 0 "$WEIR_BIN" decide decision.json
has stdout '"status": "ok"'

# The board: every panel finds its rows.
python3 - "$tools/grafana.json" <<'P'
import json, sqlite3, sys
board = json.load(open(sys.argv[1]))
queries = [t["rawQueryText"] for p in board["panels"] for t in p["targets"]]
assert len(queries) == len(board["panels"]) >= 8
found = dict.fromkeys(queries, 0)
for name in ("run.db", "jobs.db"):
    db = sqlite3.connect(name)
    variable = [v for v in board["templating"]["list"] if v["name"] == "run"][0]["query"]
    run = db.execute(variable).fetchone()[0]
    for annotation in board["annotations"]["list"]:
        db.execute(annotation["target"]["rawQueryText"].replace("$run", str(run))).fetchall()
    for query in queries:
        rows = db.execute(query.replace("$run", str(run)))
        assert rows.description[0][0] == "time", query
        found[query] += len(rows.fetchall())
assert all(found.values()), found
P

# weir.py
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tools expect 0 python3 - <<'P'
import csv, os, weir
with weir.open("run.db", program=os.environ["WEIR_BIN"]) as db:
    assert len(db.runs()) == 4
    both = [db.result("thr.pipeline", variant="one", replication=r) for r in (0, 1)]
    assert abs(db.result("thr.pipeline", variant="one") - sum(both) / 2) < 1e-12
    t, queue = db.series("v_stage", "queue_items", variant="two", replication=1, stage_name="a")
    assert len(t) == len(queue) > 5 and t == sorted(t)
    db.to_csv("v_stage", "mine.csv", variant="two", replication=1)
    with open("mine.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(db.rows("v_stage", variant="two", replication=1))
    def fails(sentence, call, *arguments, **named):
        try:
            call(*arguments, **named)
        except weir.Error as error:
            assert sentence in str(error), error
        else:
            assert False, sentence
    fails("did you mean 'v_stage'", db.rows, "v_stages")
    # A metric has the name that tables print, too.
    assert db.result("throughput") == db.result("thr.pipeline")
    fails("did you mean 'thr.pipeline'", db.result, "thr.pipelin")
    fails("did you mean 'throughput'", db.result, "throughputs")
    fails("no run has a result 'thr.jobs_h'", db.result, "jobs done")
    fails("did you mean 'queue_items'", db.series, "v_stage", "queue_item")
    fails("did you mean 'one'", db.rows, "v_stage", variant="on")
    fails("no such file", weir.open, "nothing.db")
    fails("no result database", weir.open, "small.yaml")
    try:
        db.to_csv("v_stage", "mine.csv")
        assert False, "a file was overwritten"
    except FileExistsError:
        pass
with weir.open("run.db", program="no-such-program") as db: # ids alone are known then
    assert db.result("thr.pipeline") > 0
    fails("asked of no-such-program, which cannot be run", db.result, "throughput")
with weir.run("small.yaml", "new.db", program=os.environ["WEIR_BIN"]) as db:
    assert db.result("thr.pipeline") > 0 and db.runs()[0]["status"] == "complete", db.runs()
P

# Mistakes, and the way out of each.
mistake() {
    local code=$1 sentence=$2
    shift 2
    expect "$code" "$WEIR_BIN" export "$@"
    has stderr "$sentence"
}
mistake 2 '--to is missing: csv, perfetto, openmetrics, state or decision' run.db
mistake 2 "'openmetric' is none of" run.db --to openmetric
mistake 2 "there is no view 'v_stages'; did you mean 'v_stage'?" run.db --to csv --view v_stages
mistake 2 'a trace is a file: -o NAME.json.gz' run.db --to perfetto
mistake 2 "a trace is called NAME.json or NAME.json.gz, not 'x.txt'" run.db --to perfetto -o x.txt
mistake 2 '--at is missing: the moment of the state' run.db --to state
mistake 2 '--at is of --to state and --to decision' run.db --to csv --at 5
mistake 2 '--view is of --to csv' run.db --to openmetrics --view v_stage
mistake 3 'nothing.db' nothing.db --to csv
mistake 2 'which database?' --to csv
mistake 2 'thre' run.db --to csv --variant thre

# What fails leaves the file that was there.
echo before >kept
mistake 2 'the run is over' run.db --to state --at 1000d -o kept --force
echo before >wanted
same kept wanted

# What a spreadsheet would take for a formula is none, as in every table of the program.
cp run.db formula.db && chmod u+w formula.db
python3 -c 'import sqlite3
db = sqlite3.connect("formula.db")
db.execute("UPDATE node SET type = ?", ("=HYPERLINK(1)",))
db.commit()'
expect 0 "$WEIR_BIN" export formula.db --to csv --view node
has stdout "'=HYPERLINK(1)"
hasnt stdout ',=HYPERLINK'
