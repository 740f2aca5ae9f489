#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The page of a capacity review: which value of an axis is enough for certain, which by its mean, for
# how much, until when. Everything is worked out anew from the rows of the database; sizes are the
# same in text, table and chart.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
command -v gnuplot >/dev/null || skip 'no gnuplot'
unset WEIR_CHECK_INVARIANTS

cat >plan.yaml <<'Y'
schema: 2
name: plan
replications: 6
warmup: 2 h
horizon: 26 h
growth: 3%/month
catalog: {gpu_types: {h100: {price: 3.5}, a100-80: {price: 1}}}
prices: {billing: nodes}
cluster: {nodes: [{name: n, count: 2, cpus: 32, gpus: {h100: 4}}]}
metrics: {keep: jobs}
jobs:
  - name: work
    measured_on: h100
    arrivals: {process: poisson, rate: 8/h}
    classes:
      - {name: one, run_time: exp(40 min), request: {cpus: 1, gpus: 1}}
      - {name: two, weight: 0.5, run_time: exp(1 h), request: {cpus: 1, gpus: 2}}
goal: {min: wait p95, while: ["wait p95 <= 20 min"]}
compare:
  - {label: H100}
  - {label: A100, set: {cluster.nodes.n.gpus: {a100-80: 4}}}
Y
cat >judge.py <<'PY'
# Sizes by option from the rows: (value, mean, high, cost, runs); what is safe and what is likely.
import math, re, sqlite3, sys
T = {5: 2.5705818356363146, 2: 4.302652729749464}
BOUND = 1200.0
def sizes(path, column, reverse=False):
    db = sqlite3.connect(path)
    found = {}
    for variant, value in db.execute(f'select distinct variant, "{column}" from v_point'):
        rows = db.execute(f'''select r.value, r.is_lower_bound, c.value from v_point p
            join result r using (run_id) join result c using (run_id) where p.variant = ? and
            p."{column}" = ? and r.metric = 'wait.job.p95' and r.label = '' and
            c.metric = 'cost.total' and c.label = '' ''', (variant, value)).fetchall()
        n, x = len(rows), [r[0] for r in rows]
        mean = sum(x) / n
        half = T[n - 1] * math.sqrt(sum((v - mean) ** 2 for v in x) / (n - 1) / n)
        bound = any(r[1] for r in rows)
        found.setdefault(variant, []).append(dict(value=value, mean=mean, high=mean + half,
            low=mean - half, bound=bound, cost=sum(r[2] for r in rows) / n, runs=n))
    for option in found.values():
        option.sort(key=lambda s: float(str(s['value']).rstrip('%')), reverse=reverse)
        for s in option:
            s['likely'] = s['mean'] <= BOUND and not s['bound']
            s['hold'] = not s['bound'] and s['high'] <= BOUND
            s['open'] = s['bound'] and s['mean'] <= BOUND
            s['fail'] = s['low'] > BOUND
    return found
def chosen(option):
    likely = len(option)
    while likely > 0 and option[likely - 1]['likely']: likely -= 1
    safe = next((i for i in range(likely, len(option)) if option[i]['hold']), len(option))
    return safe, likely
PY

# ---- sizes ----
expect 0 "$WEIR_BIN" compare plan.yaml -q --axis cluster.nodes.n.count=3..11:1 -o sizes.db
expect 0 "$WEIR_BIN" report sizes.db --as review --format md
cp stdout sizes.md
printf '# Why\n\nOne & two\nlines <b>.\n\n- a\n- b\n' >notes.md
expect 0 "$WEIR_BIN" report sizes.db --as review --notes notes.md -o sizes.html
python3 - <<'PY' || fail 'the review of sizes says something else than its rows'
import re
from judge import *
text, page = open('sizes.md').read(), open('sizes.html').read()
rows = [[c.strip() for c in l.split('|')[1:8]] for l in text.splitlines() if l.startswith('|') and 'option' not in l and '---' not in l]
found = sizes('sizes.db', 'cluster.nodes.n.count')
assert len(rows) == 18 and len(found) == 2, rows
words = lambda s: ('holds' if s['hold'] else 'fails' if s['fail'] else
                   'not known: some wait at the end' if s['open'] else
                   ('holds' if s['likely'] else 'fails') + ' by its mean, not for certain')
money = lambda v: re.sub(r'\D', '', v)
verdicts, costs = set(), {}
for name, option in found.items():
    mine = [r for r in rows if r[0] == name]
    safe, likely = chosen(option)
    for row, s in zip(mine, option):
        verdicts.add(words(s))
        assert row[1] == str(s['value']) and row[5] == words(s), (row, s)
        assert row[2] == str(4 * s['value']) and abs(float(money(row[3])) / s['cost'] - 1) < 0.006, (row, s)
        spare = '' if safe == len(option) or option.index(s) < safe else str(s['value'] - option[safe]['value'])
        assert row[6] == spare, (row, spare)
    if safe < len(option):
        harder = f'{option[safe - 1]["value"]} {words(option[safe - 1])}, wait p95 ' if safe else ''
        risk = f'- {name}: {option[safe]["value"]} has nothing to spare: {harder}' if safe else f'- {name}: {option[safe]["value"]} is the hardest'
        assert risk in text[text.index('## Risks'):], (risk, text)
        costs[name] = (option[safe]['cost'], option[safe]['value'])
        assert f'- {name}: cluster.nodes.n.count {option[safe]["value"]} is the least that keeps wait p95 <= 20m for certain: wait p95 ' in text
        assert f'- {name}: {option[safe]["value"]} costs ' in text
    says = f'- {name}: cluster.nodes.n.count {option[likely]["value"]} keeps wait p95 <= 20m by its mean' if likely < len(option) else f'- {name}: no value'
    assert (says in text) == (likely < safe or likely == len(option)), (name, likely, safe)
assert len(verdicts) >= 3, verdicts
(first, (cost, value)), (second, (more, other)) = sorted(costs.items(), key=lambda c: c[1][0])
assert f'- {first} at {value} is cheaper than {second} at {other}: ' in text, text
assert text.startswith(f'# plan: {first}: count {value} keeps wait p95 <= 20m\n'), text[:90]
# The page: headline, the marked row, the run that it shows, the chart.
assert f'<h1>{first}: count {value} keeps wait p95 &lt;= 20m</h1>' in page
marked = re.findall(r'<tr class="chosen"><td>([^<]*)</td><td>(\d+)</td>', page)
assert [m[1] for m in marked] == [str(costs[n][1]) for n in found], (marked, costs)
assert f'{value} nodes, {4 * value} GPUs' in page
assert all(f'data-claim="review.{c}"' in page for c in ('safe', 'cost', 'cheaper', 'loss'))
chart = page[page.index('<figure id="axis">'):]
assert chart.index('id="headroom"') > 0
data = chart[:chart.index('</details>')]
for name, option in found.items():
    for s in option:
        assert f'>{s["value"]}<' in data
assert '<h3>Why</h3>' in page and '<p>One &amp; two\nlines &lt;b&gt;.\n</p>' in page and '<ul>\n<li>a</li>\n<li>b</li>\n</ul>' in page
assert '://' not in re.sub(r'http://www.w3.org/[a-zA-Z0-9/]*', '', page)
PY

# Where nothing is safe the headline says what comes nearest, and the page is about that; the chart has
# the condition as a line, and counts the points that were run.
expect 0 "$WEIR_BIN" compare plan.yaml -q -n 3 --axis cluster.nodes.n.count=2..4:1 -o open.db
expect 0 "$WEIR_BIN" report open.db --as review -o open.html
python3 - <<'PY' || fail 'the review without a safe size says something else than its rows'
from judge import *
page = open('open.html').read()
found = sizes('open.db', 'cluster.nodes.n.count')
near = {n: o[chosen(o)[1]]['value'] for n, o in found.items() if chosen(o)[1] < len(o)}
assert near == {'H100': 4} and all(chosen(o)[0] == len(o) for o in found.values()), found
assert '<h1>H100: count 4 keeps wait p95 &lt;= 20m by its mean, not for certain</h1>' in page and '4 nodes, 16 GPUs' in page
chart = page[page.index('<figure id="axis">'):]
assert '<figcaption>3 points over' in chart and 'wait p95 &lt;= 20m' in chart[:chart.index('</figure>')]
PY
expect 0 "$WEIR_BIN" compare plan.yaml -q -n 3 --axis cluster.nodes.n.count=2,3 -o none.db
expect 0 "$WEIR_BIN" report none.db --as review --format md
has stdout '# plan: No count that was run keeps wait p95 <= 20m'
# A search that leaves values out and keeps results alone: no tables of nothing, no empty column.
expect 0 "$WEIR_BIN" new pipeline video.yaml
expect 0 "$WEIR_BIN" search video.yaml -q --set compare=- --smallest cluster.nodes.node.count=1..9:1 --such-that 'throughput >= 2/s' -o video.db
expect 0 "$WEIR_BIN" report video.db --as review -o video.html
runs=$(python3 -c 'import sqlite3; print(*sqlite3.connect("video.db").execute("SELECT count(DISTINCT variant) FROM run").fetchone())')
has video.html "<figcaption>$runs of 9 points over"
has video.html 'results alone were kept'
hasnt video.html '<h2 id="stages">'
hasnt video.html '<th>Option</th>'

# Without prices, of options that are safe at one size the better one is chosen.
expect 0 "$WEIR_BIN" new jobs jobs.yaml
expect 0 "$WEIR_BIN" search jobs.yaml -q --smallest cluster.nodes.dgx.count=2..6:1 \
    --such-that 'wait mean <= 1 h' -o jobs.db
expect 0 "$WEIR_BIN" report jobs.db --as review --format md
matches stdout '^- in order: cluster.nodes.dgx.count 4 is the least that keeps wait mean <= 1h for certain'
matches stdout '^# jobs: backfill: count 4 keeps wait mean <= 1h$'

# A long line stays whole, and nothing in it steers the page.
{ printf 'x%.0s' {1..1500} && printf '\x1b[1m<b>\n'; } >long.md
expect 0 "$WEIR_BIN" report sizes.db --as review --notes long.md -o long.html
grep -q "<p>x\{1500\}?\[1m&lt;b&gt;" long.html || fail 'a long line of notes is cut'

# Of what costs the same the better one is chosen, and neither is cheaper.
expect 0 "$WEIR_BIN" compare plan.yaml -q -n 3 --set compare=- --set 'sched.queueing=fcfs' \
    --variant 'in order: seed=1' --variant 'first fit: sched.queueing=first_fit' \
    --axis cluster.nodes.n.count=8,10 -o same.db
expect 0 "$WEIR_BIN" report same.db --as review --format md
matches stdout '^- [a-z ]* at ([0-9]*) and [a-z ]* at [0-9]* cost the same, [0-9 ]* [$]\.$'
hasnt stdout 'is cheaper'

# ---- when the GPUs are used up ----
cat >weeks.py <<'PY'
# weeks.py DB PAGE: the title of the chart, from the rows of the jobs.
import math, re, sqlite3, sys
page = open(sys.argv[2]).read()
db = sqlite3.connect(sys.argv[1])
variant = re.search(r'<title>plan · ([^<]*)</title>', page).group(1)
run, = db.execute('select run_id from run where variant = ? and replication = 0', (variant,)).fetchone()
there, = db.execute('select sum(gpus) from node where run_id = ?', (run,)).fetchone()
edges = []
for submit, end, gpus in db.execute("select submit_s, end_s, gpus from job where run_id = ? and outcome <> 'refused'", (run,)):
    edges += [(submit, gpus), (26 * 3600 if end is None else end, -gpus)]
edges.sort()
level, last, held = 0, 0, {}
for t, change in edges + [(26 * 3600, 0)]:
    t = min(t, 26 * 3600)
    held[level] = held.get(level, 0) + max(0, t - max(last, 7200))
    level, last = level + change, t
total, share = sum(held.values()), 0
assert abs(total - 24 * 3600) < 1e-6, total
for gpus in sorted(held):
    share += held[gpus] / total
    if share >= 0.95: break
weeks = 30 / 7 * math.log(there / gpus) / math.log(1.03)
sentence = (f'Growing 3 % a month, one hour in twenty asks for all {there:.0f} GPUs within {math.ceil(weeks)} weeks'
    if weeks > 0 else f'One hour in twenty asks for {gpus:.0f} GPUs or more already; there are {there:.0f}')
title = re.search(r'<figure id="headroom"><h2>([^<]*)</h2>', page).group(1)
assert title.replace('\xa0', ' ') == sentence, (title, sentence)
PY
python3 weeks.py sizes.db sizes.html || fail 'the weeks are others'
has sizes.html 'Growing 3'
hasnt sizes.html '1e-09' # the axis of waits that are all 0
expect 0 "$WEIR_BIN" run plan.yaml -q -n 1 -o full.db
expect 0 "$WEIR_BIN" report full.db --as review -o full.html
python3 weeks.py full.db full.html || fail 'what is asked for already is something else'
has full.html 'GPUs or more already'
cat >busy.py <<'PY'
# busy.py DB PAGE: the title of the chart, from the samples of the pipeline.
import math, re, sqlite3, sys
db, page = sqlite3.connect(sys.argv[1]), open(sys.argv[2]).read()
warm, = db.execute('select warmup_s from run where run_id = 1').fetchone()
least = None
for name in 'gpu', 'cpu', 'nvdec', 'nvenc':
    rows = sorted(db.execute(f'select {name}_active, dt_s, {name}_capacity from cluster_sample'
        ' where run_id = 1 and t_s >= ?', (warm,)))
    there, total, share = max(r[2] for r in rows), sum(r[1] for r in rows), 0
    if there == 0: continue
    for used, dt, _ in rows:
        share += dt / total
        if share >= 0.95 - 1e-12: break
    if least is None or used / there > least[0]:
        least = used / there, there, name.upper() + 's'
weeks = math.ceil(30 / 7 * math.log(1 / least[0]) / math.log(1.03))
title = re.search(r'<figure id="headroom"><h2>([^<]*)</h2>', page).group(1).replace('\xa0', ' ')
sentence = (f'Growing 3 % a month, one hour in twenty keeps all {least[1]:.0f} {least[2]} busy within {weeks} weeks'
    if weeks > 0 else f'One hour in twenty keeps all {least[1]:.0f} {least[2]} busy already')
assert title == sentence, (title, sentence)
PY
expect 0 "$WEIR_BIN" new pipeline film.yaml
echo 'growth: 3%/month' >>film.yaml
for work in seed=1 'pipelines.video.input.arrivals=exp(1 s)'; do
    expect 0 "$WEIR_BIN" run film.yaml -q -n 1 --force --set compare=- --set metrics.keep=series \
        --set "$work" -o film.db
    expect 0 "$WEIR_BIN" report film.db --as review -o film.html --force
    python3 busy.py film.db film.html || fail 'the weeks of a pipeline are others'
done
has film.html 'Growing 3'
expect 0 "$WEIR_BIN" run plan.yaml -q --set growth=- -o still.db
expect 0 "$WEIR_BIN" report still.db --as review -o still.html
hasnt still.html 'figure id="headroom"'
has still.html 'Nothing was sized here'

# ---- how much more work ----
expect 0 "$WEIR_BIN" compare plan.yaml -q --set compare=- --set cluster.nodes.n.count=5 \
    --axis jobs.work.arrivals.scale=0.8..2:0.2 -o scale.db
expect 0 "$WEIR_BIN" report scale.db --as review --format md
cp stdout scale.md
python3 - <<'PY' || fail 'the review of the work says something else than its rows'
from judge import *
text = open('scale.md').read()
(option,) = sizes('scale.db', 'jobs.work.arrivals.scale', reverse=True).values()
safe, likely = chosen(option)
value = option[safe]['value']
assert 0 < safe < len(option) and value > 1, option
weeks = 30 / 7 * math.log(value) / math.log(1.03)
assert f'- jobs.work.arrivals.scale {value} is the most work that keeps wait p95 <= 20m for certain' in text, text
assert re.search(rf'- at 3.% more work a month that is reached in {math.floor(weeks)} weeks', text), (weeks, text)
PY
# The same nodes under two policies: what carries more is chosen.
expect 0 "$WEIR_BIN" compare plan.yaml -q -n 6 --set compare=- --set cluster.nodes.n.count=5 \
    --variant 'worse: sched.queueing=fcfs' --variant 'better: sched.queueing=first_fit' \
    --axis jobs.work.arrivals.scale=0.4..1.6:0.2 -o carry.db
expect 0 "$WEIR_BIN" report carry.db --as review --format md
cp stdout carry.md
python3 - <<'PY' || fail 'less work was chosen'
from judge import *
text = open('carry.md').read()
safe = {n: float(o[chosen(o)[0]]['value']) for n, o in sizes('carry.db', 'jobs.work.arrivals.scale', reverse=True).items() if chosen(o)[0] < len(o)}
most = max(safe.values())
assert any(text.startswith(f'# plan: {n}: scale {v:g} keeps') for n, v in safe.items() if v == most), (safe, text[:200])
PY
# A rate is no multiple of today's.
expect 0 "$WEIR_BIN" compare plan.yaml -q --set compare=- --set cluster.nodes.n.count=5 -n 2 \
    --axis jobs.work.arrivals.rate=6/h,9/h -o rate.db
expect 0 "$WEIR_BIN" report rate.db --as review --format md
hasnt stdout 'that is reached in'

# ---- nothing is enough, nothing was asked ----
expect 0 "$WEIR_BIN" compare plan.yaml -q --set compare=- --axis cluster.nodes.n.count=1..2:1 -o small.db
expect 0 "$WEIR_BIN" report small.db --as review --format md
has stdout '- no value of cluster.nodes.n.count that was run keeps wait p95 <= 20m; at 2, the easiest, wait p95 '
hasnt stdout 'is the least'
expect 0 "$WEIR_BIN" compare plan.yaml -q --set goal.while=- --axis cluster.nodes.n.count=1..2:1 -n 2 -o free.db
expect 0 "$WEIR_BIN" report free.db --as review -o free.html
has free.html 'the goal of the scenario has no condition to meet'

# ---- the series of a chart ----
expect 0 "$WEIR_BIN" plot sizes.db axis --format csv
[ ! -e axis.svg ] || fail 'a picture was drawn that nobody asked for'
python3 - <<'PY' || fail 'the series are no tables of the database'
import csv
from judge import *
tables = [list(csv.DictReader(t.splitlines())) for t in open('stdout').read().split('\n\n')]
waits = [{float(r['x']): float(r['mean']) for r in t} for t in tables if t[0]['series'].startswith('wait p95')]
found = sizes('sizes.db', 'cluster.nodes.n.count')
assert len(waits) == len(found) == 2, tables
for option in found.values():
    wanted = {float(s['value']): s['mean'] for s in option}
    factors = [[wanted[x] / t[x] for x in wanted if t[x] > 0] for t in waits if set(t) == set(wanted)]
    assert any(f and max(f) - min(f) < 1e-5 * max(f) for f in factors), (wanted, waits)
PY
expect 2 "$WEIR_BIN" plot sizes.db axis --format json

# ---- mistakes ----
expect 2 "$WEIR_BIN" report sizes.db --notes notes.md
has stderr '--notes belongs to a page of --as review'
expect 2 "$WEIR_BIN" report sizes.db --format md
expect 2 "$WEIR_BIN" report sizes.db --as review --format md -o sizes.md
has stderr 'goes to standard output: > sizes.md'
expect 2 "$WEIR_BIN" report sizes.db -o sizes.docx
has stderr 'a page ends in .html or .pdf'
[ ! -e sizes.docx ] || fail 'a page that is no document was written'
expect 3 "$WEIR_BIN" report sizes.db --as review --notes missing.md -o none.html
has stderr 'missing.md'
head -c 1048576 /dev/zero >large.md
expect 3 "$WEIR_BIN" report sizes.db --as review --notes large.md -o none.html
has stderr 'large.md: larger than 1 MiB'
printf 'one\0two\n' >cut.md
expect 3 "$WEIR_BIN" report sizes.db --as review --notes cut.md -o none.html
has stderr 'cut.md: is no text: a byte 0'
[ ! -e none.html ] || fail 'a page without its notes was written'
for growth in 3 3% 3%/fortnight -1%/month x%/month 2000%/day; do
    expect 2 "$WEIR_BIN" run plan.yaml -q --no-db --set "growth=$growth"
    has stderr 'expected growth above 0% and at most 1000% a day, week, month or year, as 3%/month'
done
