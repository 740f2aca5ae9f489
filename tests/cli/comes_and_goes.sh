#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The page of a cluster whose nodes come and go: they are counted by group, faults stay faults, and
# what is said of devices says of which.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v gnuplot >/dev/null || skip 'no gnuplot'

cat >spot.yaml <<'YAML'
schema: 2
name: comes_and_goes
horizon: 72 h
warmup: 6 h
cluster:
  nodes:
    - {name: n, count: 2, cpus: 64, gpus: {h100: 8}, supply: {max: 6, boot: const(5 min), spot: {hazard: 0.125/h}}}
    - {name: fixed, count: 2, cpus: 64, gpus: {h100: 8}}
  failures: {node_between: exp(3 h), node_repair: exp(5 min)}
sched: {placement: first_fit, queueing: first_fit, capacity: {policy: demand}}
jobs:
  - name: train
    arrivals: {process: poisson, rate: 0.6/h}
    checkpoint: {interval: 30 min, cost: 1 min, restart: 2 min}
    classes: [{name: node, run_time: exp(6 h), request: {gpus: 8}}]
compare:
  - {label: none}
  - {label: two minutes, set: {cluster.nodes.n.supply.spot.notice: 2 min}}
YAML
expect 0 "$WEIR_BIN" compare spot.yaml -q -o spot.db
expect 0 "$WEIR_BIN" report spot.db --variant none -o spot.html
sed '/failures:/d' spot.yaml >well.yaml
expect 0 "$WEIR_BIN" compare well.yaml -q -o well.db
expect 0 "$WEIR_BIN" report well.db --variant none -o well.html

# A row a group and kind instead of hundreds, sixty plain rows at most with where the others are, and
# marks that count faults and losses alone.
python3 - <<'PY' || fail 'what happened'
import re, sqlite3
for name in "spot", "well":
    page = open(name + ".html", encoding="utf-8").read()
    db = sqlite3.connect(name + ".db")
    run = "run_id = (SELECT run_id FROM run WHERE variant = 'none')"
    kinds = dict(db.execute(f"SELECT kind, count(*) FROM happening WHERE {run} GROUP BY 1"))
    table = page[page.index('<h2 id="supply">'):]
    told = re.findall(r'<tr><td>(.*?)</td><td class="text">(.*?)</td><td>(\d+)</td>', table[:table.index("</table>")])
    words = {"asked for": "node_requested", "came": "node_came", "given back": "node_released",
             "taken back by its owner": "node_reclaimed"}
    assert {words[what]: int(count) for _, what, count in told} == {k: kinds[k] for k in words.values()}, told
    assert {group for group, _, _ in told} == {"n"}
    taken = "%d nodes taken back by their owner" % kinds["node_reclaimed"]
    marks = re.search(r'"marks":(\[.*?\]\])', page).group(1)
    assert "taken back" in marks and "is there" not in marks and "given back" not in marks, marks
    if name == "well":
        assert 'id="happened"' not in page and ">dashed: " + taken + "<" in page
        continue
    table = page[page.index('<h2 id="happened">'):]
    assert table[:table.index("</table>")].count("<tr>") == 61
    assert "<p class=\"note\">And %d more; all of them: <code>weir export spot.db --to csv --view happening" % (
        kinds["node_fail"] - 60) in table
    assert "%d faults, repairs, changes, %s" % (kinds["node_fail"] + kinds["node_repair"], taken) in page
PY

# Curves and the figures beside them are shares of what all nodes have; the title is of the nodes that
# are up, and says so. Where all are up all the time there is one kind of share.
expect 0 "$WEIR_BIN" plot spot.db alloc-vs-used --variant none --folder kept
sed -e '/supply:/s/, supply: .*/}/' -e '/failures:/d' -e 's/, capacity: {policy: demand}//' \
    -e '/^compare:/,$d' spot.yaml >still.yaml
expect 0 "$WEIR_BIN" run still.yaml -q -o still.db
expect 0 "$WEIR_BIN" plot still.db alloc-vs-used --folder still
python3 - <<'PY' || fail 'shares of what'
import re, sqlite3
for name, folder in ("spot", "kept"), ("still", "still"):
    script = open(folder + "/alloc-vs-used.gp", encoding="utf-8").read().replace("\u00a0", " ")
    figures = sqlite3.connect(name + ".db").execute(
        "SELECT sum(gpu_capacity * dt_s), sum(gpu_assigned * dt_s), sum(gpu_active * dt_s), sum(dt_s) *"
        " (SELECT sum(gpus) FROM node n WHERE n.run_id = c.run_id) FROM cluster_sample c JOIN run USING"
        " (run_id) WHERE t_s >= warmup_s AND variant_order = 0 GROUP BY run_id").fetchone()
    up, assigned, used = [round(100 * figure / figures[3]) for figure in figures[:3]]
    def beside(word):
        return [round(float(x)) for x in re.findall(r"%s ([\d.]+) %%" % word, script)]
    assert beside("assigned")[-1] == assigned and beside("used")[-1] == used, (name, script)
    title = "hold %.0f %% of the GPUs" % (100 * figures[1] / figures[0])
    assert title in script, (name, title)
    assert (beside("up")[-1:] == [up]) == (name == "spot") == ("GPUs of nodes that are up" in script), name
    top = float(re.findall(r"TOP = (\S+) /", script)[-1])
    assert top == (64 if name == "spot" else 32), top
PY

matches spot.html '<h2>none: .*jobs wait.*of the GPUs of nodes that are up are held</h2>'

# Chart `nodes`: what is there and on its way at any time, what the jobs ask for where nothing else
# works, and what the owner takes; nothing where no node comes or goes.
expect 0 "$WEIR_BIN" plot spot.db nodes --variant none --folder kept
sed -e '/name: fixed/d' -e '/failures:/d' spot.yaml >alone.yaml
expect 0 "$WEIR_BIN" compare alone.yaml -q -o alone.db
expect 0 "$WEIR_BIN" plot alone.db nodes --variant none --folder alone
has alone/nodes.gp 'solid line: what jobs that wait or run ask for, in nodes of 8 GPUs'
hasnt kept/nodes.gp 'solid line'
expect 0 "$WEIR_BIN" plot still.db nodes --folder still
has still/nodes.gp 'no node of this run is asked for or given back'
has spot.html '<a href="#nodes">'
python3 - <<'PY' || fail 'nodes over time'
import sqlite3
for name, folder in ("spot", "kept"), ("alone", "alone"):
    db = sqlite3.connect(name + ".db")
    blocks = open(folder + "/nodes.dat", encoding="utf-8").read().split("\n\n\n")
    rows = [[float(x) for x in line.split()] for line in blocks[0].splitlines() if line[:1].isdigit()]
    end = rows[-1][0]
    def area(column):
        return sum((b[0] - a[0]) * a[column] for a, b in zip(rows[::2], rows[1::2]))
    def near(a, b):
        assert abs(a - b) <= 2e-4 * max(a, b), (name, a, b)
    runs = [run for run, in db.execute("SELECT run_id FROM run ORDER BY variant_order")]
    for column, run in (1, runs[0]), (4, runs[1]):
        near(area(column), db.execute("SELECT value FROM result WHERE run_id = ? AND metric = 'as.nodes'",
                                      (run,)).fetchone()[0] * end)
    # All boots take five minutes.
    asked = [t for t, in db.execute("SELECT t_s FROM happening WHERE run_id = ? AND kind = 'node_requested'", runs[:1])]
    near(area(2), sum(min(300, end - t) for t in asked))
    near(area(3), 0 if name == "spot" else db.execute("SELECT sum((coalesce(end_s, ?) - submit_s) * gpus / 8) FROM job"
                                                      " WHERE run_id = ?", (end, runs[0])).fetchone()[0])
    step = min(b[0] - a[0] for a, b in zip(rows[::2], rows[1::2]))
    lost = [[float(x) for x in line.split()] for line in blocks[1].splitlines() if line[:1].isdigit()]
    lost = sum(round((b[0] - a[0]) / step) * a[1] for a, b in zip(lost[::2], lost[1::2]))
    assert lost == db.execute("SELECT count(*) FROM happening WHERE run_id = ? AND kind = 'node_reclaimed'",
                              runs[:1]).fetchone()[0], lost
PY

# With another variant the same nodes may be there for good.
expect 0 "$WEIR_BIN" compare "$WEIR_SOURCE_DIR/scenarios/capacity/threshold.yaml" -n 1 -q -o always.db
expect 0 "$WEIR_BIN" plot always.db nodes -o always.svg
has always.svg '4 always'

# A node that is given back is away; one that fails is down, and one that does both is both.
title() { sed -n '/<figure id="node-heat">/s/.*<h2>\(.*\)<\/h2>.*<figcaption>\(.*\)<\/figcaption>.*/\1 | \2/p' "$1" | tr '\302\240' '  '; }
title spot.html >spot.txt
title well.html >well.txt
matches spot.txt '; 6 nodes were away at times, 8 down .*grey: node away or down$'
matches well.txt '; 6 nodes were away at times .*grey: node away$'
sed -e '/supply:/s/, supply: .*/}/' -e 's/, capacity: {policy: demand}//' -e '/^compare:/,$d' spot.yaml >fail.yaml
expect 0 "$WEIR_BIN" run fail.yaml -q -o fail.db
expect 0 "$WEIR_BIN" report fail.db -o fail.html
title fail.html >fail.txt
matches fail.txt '; 4 nodes were down at times .*grey: node down$'
