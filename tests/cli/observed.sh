#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Measured curves beside simulated ones: how far off each is, recomputed by another way, on the page,
# in the charts and in a comparison; and every mistake of the file with its place.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
command -v gnuplot >/dev/null || skip 'no gnuplot'

cat >o.yaml <<'YAML'
schema: 2
name: o
start_time: 2026-03-02T09:00:00Z
horizon: 1000 s
cluster: {nodes: [{name: n, cpus: 16}]}
pipelines:
  - name: p
    input: {items: 100000, arrivals: exp(2 s)}
    stages:
      - {name: read, cpus: 1, service: 1 s, workers: 2}
      - {name: encode, cpus: 1, service: exp(9 s), workers: 5}
metrics: {sample: 10 s}
compare:
  - {label: base}
  - {label: more, set: {pipelines.p.stages.encode.workers: 6}}
YAML
expect 0 "$WEIR_BIN" compare o.yaml -q -o o.db

# A tenth more than was simulated, as time of day and since the start; one point is after the end.
sqlite3 -readonly o.db "SELECT 'time,metric,stage,value' UNION ALL SELECT * FROM (
    SELECT strftime('%H:%M:%S', 32400 + c.t_s + 3, 'unixepoch') || ',throughput,,' || (1.1 * c.items_done / c.dt_s)
    FROM cluster_sample c WHERE c.run_id = 1 AND c.t_s < 800 ORDER BY c.t_s)" >observed.csv
sqlite3 -readonly o.db "SELECT t_s || ' s,queue,encode,' || (queue_items + 2) FROM stage_sample
    WHERE run_id = 1 AND stage = 1 AND t_s BETWEEN 100 AND 500 ORDER BY t_s" | sed 's/ s,/s,/' >>observed.csv
echo '2026-03-02T09:30:00Z,queue,encode,7' >>observed.csv
expect 0 "$WEIR_BIN" compare o.db --observed observed.csv --format json
python3 - <<'PY' || fail 'another error than by hand'
import csv, json, re, sqlite3
db = sqlite3.connect("o.db")
said = {(row["metric"], row["variant"]): row for row in json.load(open("stdout"))["observed"]}
assert len(said) == 4, said
rows = [row for row in csv.DictReader(open("observed.csv"))]
def seconds(text):
    if text.endswith("s"):
        return float(text[:-1])
    h, m, s = text[11:19].split(":") if "T" in text else text.split(":")
    return 3600 * int(h) + 60 * int(m) + int(s) - 32400
ask = {"throughput": "SELECT items_done / dt_s FROM cluster_sample WHERE run_id = ? AND t_s <= ? AND t_s + dt_s > ?",
       "queue": "SELECT queue_items FROM stage_sample WHERE stage = 1 AND run_id = ? AND t_s <= ? AND t_s + dt_s > ?"}
for (metric, variant), row in said.items():
    run = db.execute("SELECT run_id FROM run WHERE variant = ? AND replication = 0", (variant,)).fetchone()[0]
    pairs = []
    for point in rows:
        t = seconds(point["time"])
        there = db.execute(ask[metric], (run, t, t)).fetchone()
        if point["metric"] == metric and there:
            pairs.append((float(point["value"]), there[0]))
    wanted = sum(abs(a - b) for a, b in pairs) / sum(a for a, _ in pairs)
    assert row["points"] == len(pairs) and abs(row["error"] - wanted) < 1e-9, (metric, variant, row, wanted)
assert abs(said["throughput", "base"]["error"] - 0.1 / 1.1) < 1e-9
assert said["queue", "base"]["points"] == 41
for (metric, variant), row in said.items():
    percent = 100 * row["error"]
    told = re.match(r"(\w+)(?: of encode)?: simulated ([\d.]+)\S*(?: items)?, measured ([\d.]+)\S*(?: items)? on "
                    r"average; ([\d.]+)\D*% off at (\d+) points?$", row["sentence"])
    assert told and told.group(1) == metric and int(told.group(5)) == row["points"], row
    for text, value in zip(told.groups()[1:4], (row["simulated"], row["measured"], percent)):
        assert abs(float(text) / value - 1) < 0.06, (text, value)
PY

# The page and the charts have them, nothing else does.
expect 0 "$WEIR_BIN" report o.db --observed observed.csv -o page.html
has page.html '<li>throughput: simulated'
has page.html '9.1'
[ "$(grep -c 'measured' page.html)" -ge 2 ] || fail 'no curve in the charts'
expect 0 "$WEIR_BIN" plot o.db queues --observed observed.csv --folder kept
has kept/queues.dat 'measured'
expect 0 "$WEIR_BIN" plot o.db queues --folder without
hasnt without/queues.dat 'measured'

wrong() {
    printf '%b' "$1" >wrong.csv
    expect 3 "$WEIR_BIN" compare o.db --observed wrong.csv
    has stderr "$2"
}
wrong 'time,metric,value\n10,throghput,1\n' "wrong.csv:2:2: column 'metric': expected throughput, queue or workers, found 'throghput'; did you mean 'throughput'?"
wrong 'time,value\nnoon,1\n' "wrong.csv:2:1: column 'time': expected a time"
wrong 'time,metric,value\n10,queue,1\n' 'queue is of a stage: which?'
wrong 'time,stage,metric,value\n10,read,throughput,1\n' 'of the whole run'
wrong 'time,value\n10,1\n10,2\n' 'is not later than the point before it'
wrong 'time,value\n10,-1\n' 'expected 0 or more, found -1'
wrong 'time,value\n10,x\n' "wrong.csv:2:2: column 'value'"
wrong 'time,value\n' 'holds no point'
wrong 'metric,value\n' 'time'
printf 'time,stage,value\n10,raed,1\n' >wrong.csv
expect 2 "$WEIR_BIN" compare o.db --observed wrong.csv
has stderr "no samples of a stage 'raed'"
