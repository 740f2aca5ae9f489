#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The page in a browser: what its script does, what it weighs, that it loads nothing, that texts can
# be read on light and dark and do not lie on each other, and that nothing is cut at 400 px.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v gnuplot >/dev/null || skip 'no gnuplot'
source=$WEIR_SOURCE_DIR

# What the page may weigh.
[ "$(wc -c <"$source/analysis/report/report.js")" -le 15000 ] || fail 'the script is above 15 KB'
hasnt "$source/analysis/report/report.js" 'http://www.w3.org/1999' # only the name of SVG, which is no address
[ "$(grep -c 'fetch(\|XMLHttpRequest\|import(\|eval(\|innerHTML' "$source/analysis/report/report.js")" = 0 ] ||
    fail 'the script loads, runs or writes text as a page'

# Two kinds of work, a node that fails, and a second variant whose demand is higher.
cat >page.yaml <<'YAML'
schema: 2
name: page
horizon: 2 h
cluster: {nodes: [{name: n, cpus: 16, count: 3}]}
pipelines:
  - name: p
    input: {arrivals: {process: poisson, rate: 0.5/s}}
    stages:
      - {name: fetch, cpus: 1, workers: 4, service: exp(3 s)}
      - {name: encode, cpus: 1, workers: 6, service: exp(9 s)}
timeline:
  - {at: 40 min, action: set, set: {sched.placement: best_fit}}
  - {at: 1 h, action: node_down, node: n-1, for: 20 min}
windows: {before: "..1h", outage: "1h..80min", after: "80min.."}
compare:
  - {label: base}
  - {label: fewer, set: {pipelines.p.stages.encode.workers: 5}}
YAML
expect 0 "$WEIR_BIN" validate page.yaml
expect 0 "$WEIR_BIN" compare page.yaml -n 2 -o page.db
expect 0 "$WEIR_BIN" report page.db -o page.html
[ "$(wc -c <page.html)" -le 1500000 ] || fail 'the page is above 1.5 MB'
python3 - <<'PY' || fail 'what the page embeds is wrong, above 60 KB a chart or 400 points'
import json, re, sqlite3
page = open("page.html", encoding="utf-8").read()
figures = re.findall(r'<figure id="([^"]+)">(.*?)</figure>', page, re.S)
assert len(figures) >= 8, len(figures)
for name, figure in figures:
    svg = re.search(r"<svg.*?</svg>", figure, re.S).group(0)
    assert len(svg.encode()) <= 60000, (name, len(svg))
    sets = re.search(r'<script type="application/json">(.*?)</script>', figure, re.S)
    assert sets is None or len(sets.group(1)) <= 120000, name
    for panels in json.loads(sets.group(1)) if sets else []:
        for panel in panels:
            for series in panel["s"]:
                assert len(series[1]) <= 400, (name, len(series[1]))
sets = json.loads(re.search(r'json">(.*?)</script>', dict(figures)["throughput"], re.S).group(1))
for panels, variant in zip(sets, ("base", "fewer")):
    finished = panels[0]["s"][0]
    done = sqlite3.connect("page.db").execute("SELECT sum(items_done) FROM v_cluster WHERE "
        "variant = ? AND replication = 0", (variant,)).fetchone()[0]
    told = sum(value for value in finished[1] if value is not None) * panels[0]["t"][1]
    assert finished[0] == "finished" and abs(told / done - 1) < 0.01, (variant, told, done)
    first = sqlite3.connect("page.db").execute("SELECT items_done / dt_s, items_arrived / dt_s FROM "
        "v_cluster WHERE variant = ? AND replication = 0 ORDER BY t_s LIMIT 1", (variant,)).fetchone()
    for series, value in zip(panels[0]["s"], first):
        assert abs(series[1][0] - value) < 1e-3, (variant, series[0], series[1][0], value)
run = json.loads(re.search(r'id="weir-run">(.*?)</script>', page, re.S).group(1))
assert run["variants"] == ["fewer"], run["variants"]
assert any("n-1" in mark[2] for mark in run["marks"]), run["marks"]
assert any("best_fit" in mark[2] for mark in run["marks"]), run["marks"]
assert run["decisions"], run
PY

# What was expected reads as the tables do, in units of people.
sed -e '/^compare:/,$d' page.yaml >expected.yaml
cat >>expected.yaml <<'YAML'
expect:
  - "outage: latency p95 >= 61 min"
YAML
"$WEIR_BIN" run expected.yaml -q -o expected.db >expected.txt 2>&1 || true
expect 0 "$WEIR_BIN" report expected.db -o expected.html
has expected.html '<td class="text">outage: latency p95 &gt;= 1h1m</td>'
has expected.html '✗ missed'

# Faults that come by chance are named, each beside its repair.
sed -e 's/^cluster: .*/cluster: {nodes: [{name: n, cpus: 16, count: 3}], failures: {node_between: exp(1 h), node_repair: exp(5 min)}}/' \
    -e '/^timeline:/,/^windows:/d' -e '/^compare:/,$d' page.yaml >chance.yaml
expect 0 "$WEIR_BIN" run chance.yaml -q -o chance.db
expect 0 "$WEIR_BIN" report chance.db -o chance.html
python3 - <<'PY' || fail 'a fault of chance is not told'
import re, sqlite3
page = open("chance.html", encoding="utf-8").read()
table = page[page.index('<h2 id="happened">'):]
rows = re.findall(r'<tr><td>(.*?)</td><td class="text">(.*?)</td><td class="text">(.*?)</td>',
                  table[:table.index("</table>")])
faults = sqlite3.connect("chance.db").execute(
    "SELECT target, kind FROM happening WHERE kind IN ('node_fail', 'node_repair')").fetchall()
failed = [node for node, kind in faults if kind == "node_fail"]
told = [(what.split(":")[0], until) for _, until, what in rows if what.endswith(": node failed")]
assert len(failed) > 2 and sorted(failed) == sorted(node for node, _ in told), (failed, told)
assert sum(until == "-" for _, until in told) == len(failed) * 2 - len(faults), (told, faults)
assert "repaired" not in table[:table.index("</table>")]
PY

. "$source/tests/support/browser.sh"
judged page.html "$source/tests/support/page_judge.js"
looked light 1280
has light.txt 'theme light'
looked dark 1280 --blink-settings=preferredColorScheme=0
has dark.txt 'theme dark'
# Printed, a page of paper holds two charts or more, and stands upright.
if command -v gs >/dev/null; then
    HOME=$PWD timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" \
        --print-to-pdf=page.pdf --no-pdf-header-footer "file://$PWD/page.html" >pdf.log 2>&1
    [ -s page.pdf ] || fail 'the page is not printed'
    gs -q -dNOSAFER -dNODISPLAY -c "(page.pdf) (r) file runpdfbegin pdfpagecount =
        1 pdfgetpage /MediaBox get == quit" >pdf.txt
    python3 - <<'PY' || fail 'on paper the page is too long, or lies'
pages, box = open("pdf.txt").read().split("\n")[:2]
width, height = [float(x) for x in box.strip("[] ").split()[2:]]
charts = open("page.html", encoding="utf-8").read().count("<figure id=")
assert height > width, box
assert charts >= 2 * (int(pages) - 3), (charts, pages)
PY
fi
# The narrowest window a browser opens may be wider; what matters is that nothing widens the page.
looked narrow 400

# Of a service the page does not say that it is the slowest stage of itself.
expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/services/access.yaml" -n 1 -q -o access.db
expect 0 "$WEIR_BIN" report access.db -o access.html
hasnt access.html 'slowest stage of model'
cat >doors.yaml <<'Y'
schema: 2
name: doors
horizon: 10 min
cluster: {nodes: [{name: n, cpus: 16}]}
services:
  - {name: left, requests: {arrivals: exp(1 s)}, replicas: 1, service: {law: 500 ms, source: guess}}
  - {name: right, requests: {arrivals: exp(2 s)}, replicas: 1, service: {law: 500 ms, source: guess}}
Y
expect 0 "$WEIR_BIN" run doors.yaml -q -o doors.db
expect 0 "$WEIR_BIN" report doors.db -o doors.html
has doors.html 'Its workers are busy'
hasnt doors.html 'slowest stage'

# Items that are through within an interval of the samples have no time that counts could tell.
expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/examples/node_affinity.yaml" -q -o soon.db
expect 0 "$WEIR_BIN" plot soon.db wait-time -o soon.svg
has soon.svg 'through within an interval'
