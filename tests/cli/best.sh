#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# weir search --best drops what is behind and names what is left, as Kim and Nelson's procedure reckoned
# anew from the results; equals are called equal; what is not decided is left open; it goes on where it
# was ended.
# covers: S1.138
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'

cat >shop.yaml <<'Y'
schema: 2
name: shop
replications: 3
cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 4}}]}
sched: {placement: best_fit}
jobs:
  - name: work
    count: 60
    arrivals: {process: poisson, load: 0.8}
    run_time: lognormal(20 min, 1)
    classes:
      - {name: one, weight: 7, request: {gpus: 1}}
      - {name: all, weight: 1, request: {gpus: 4}}
compare:
  - {label: first_fit, set: {sched.queueing: first_fit}}
  - {label: fcfs, set: {sched.queueing: fcfs}}
  - {label: sjf, set: {sched.queueing: sjf}}
  - {label: easy, set: {sched.queueing: easy}}
goal: {min: wait.job.mean}
Y

# anew DB WORTH MOST: the table that the results of DB make.
cat >anew.py <<'PY'
import math, sqlite3, sys
db, worth, most = sqlite3.connect(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
names = [v for v, in db.execute('select variant from run group by variant order by min(variant_order)')]
values = {v: [-x for x, in db.execute("""select value from result join run using (run_id)
    where metric = 'wait.job.mean' and label = '' and variant = ? order by replication""", (v,))]
    for v in names}
first = min(10, most)
delta = worth * abs(sum(values[names[0]][:first])) / first
h2 = ((2 * .05 / (len(names) - 1)) ** (-2 / (first - 1)) - 1) * (first - 1)
def variance(a, b):
    d = [x - y for x, y in zip(values[a][:first], values[b][:first])]
    return sum((x - sum(d) / first) ** 2 for x in d) / (first - 1)
left, dropped, r = list(names), {}, first
while True:
    behind = [i for i in left if any(k != i and sum(values[i][:r]) < sum(values[k][:r]) - max(
        0, delta / 2 * (h2 * variance(i, k) / delta ** 2 - r)) for k in left)]
    dropped.update({i: r for i in behind})
    left = [i for i in left if i not in behind]
    if len(left) == 1 or r == most:
        break
    r += 1
for v in names:
    word = 'dropped' if v in dropped else 'best' if len(left) == 1 else 'left'
    mean = -sum(values[v]) / len(values[v])
    print(f'{v},{len(values[v])},{mean:.9g},{dropped.get(v, "-")},{word}')
PY
# reckoned DB WORTH MOST: what was printed as CSV is that.
reckoned() {
    python3 anew.py "$@" >anew
    python3 - <<'PY' || fail "another table than of Kim and Nelson: $(cat stdout) for $(cat anew)"
import csv
printed = [[r['variant'], r['runs'], '%.9g' % float(r['mean']), r['dropped'], r['verdict']]
           for r in csv.DictReader(open('stdout'))]
assert printed == list(csv.reader(open('anew'))), printed
PY
}

expect 0 "$WEIR_BIN" search shop.yaml --best --worth 30% -q -f csv -o best.db
reckoned best.db .3 100
has stdout ',best'
has stdout ',dropped'
least=$(sort -t, -k2n anew | head -n 1 | cut -d, -f2)
[ "$(sqlite3 best.db 'select min(n) from (select count(*) n from run group by variant)')" = "$least" ] || fail "another number of runs"
# What was there before is not run again, and says the same; so does what was ended after some runs.
cp stdout whole
sqlite3 best.db 'update run set start_unix_s = 777'
expect 0 "$WEIR_BIN" search shop.yaml --best --worth 30% -q -f csv -o best.db --resume
same whole stdout
[ "$(sqlite3 best.db 'select count(*) from run where start_unix_s <> 777')" = 0 ] || fail "another number of runs"
sqlite3 best.db 'delete from run where replication > 6 or variant_order = 2'
expect 0 "$WEIR_BIN" search shop.yaml --best --worth 30% -q -f csv -o best.db --resume
same whole stdout

# The sentence: who, by what, and from which lead on.
expect 0 "$WEIR_BIN" search shop.yaml --best --worth 30% -q -o best.db --resume
name=$(grep ',best$' anew | cut -d, -f1)
has stdout "Best by wait mean (less): $name; right with 95 % where the best leads by"
python3 - <<'PY' || fail "another lead, or other runs: $(cat stdout)"
import re, sqlite3
text, db = open('stdout').read(), sqlite3.connect('best.db')
lead, = db.execute("""select avg(value) * .3 from result join run using (run_id) where label = '' and
    metric = 'wait.job.mean' and variant_order = 0 and replication < 10""").fetchone()
said = re.search(r'leads by (?:(\d+)m)?([\d.]+)\s?s or more \(Kim and Nelson 2001; 30 % of', text)
assert abs(60 * int(said.group(1) or 0) + float(said.group(2)) - lead) <= .01 * lead, (text, lead)
assert f"{db.execute('select count(*) from run').fetchone()[0]} runs." in text
PY

# Compared is what all of them ran: the difference of the first two variants, reckoned anew.
expect 0 "$WEIR_BIN" compare best.db --format json --metric wait.job.mean
has stdout 'A search for the best: compared are the first 10 replications, which all ran.'
python3 - <<'PY' || fail 'other runs are compared'
import json, sqlite3
cells = json.load(open('stdout'))['metrics'][0]['variants']
mean, = sqlite3.connect('best.db').execute("""select avg(value) from result join run using (run_id)
    where label = '' and metric = 'wait.job.mean' and variant = 'sjf' and replication < 10""").fetchone()
said = next(c for c in cells if c['variant'] == 'sjf')['mean']
assert abs(said - mean) < 1e-6 * mean, (said, mean)
PY

# What differs by less than matters takes long, and is left open.
expect 1 "$WEIR_BIN" search shop.yaml --best --worth 0.1% -n 12 -q -f csv -o open.db \
    --variant 'other: sched.placement=first_fit' --variant 'wide: sched.queueing=first_fit'
reckoned open.db .001 12
has stdout ',left'
expect 1 "$WEIR_BIN" search shop.yaml --best --worth 0.1% -n 12 -q -o open.db --resume \
    --variant 'other: sched.placement=first_fit' --variant 'wide: sched.queueing=first_fit'
has stdout 'Not decided after 12 replications of those that are left; by wait mean (less) '
has stdout 'It takes a larger --worth than 0.1 %'

# Equals are equal, at once; who has no result takes no part; more is better where the goal says so.
expect 0 "$WEIR_BIN" search shop.yaml --best -q -f csv -o equal.db --set compare=- \
    --variant 'one: sched.queueing=first_fit' --variant 'none: horizon=1 s'
matches stdout '^base,10,.*,best'
has stdout ',as good'
has stdout ',runs without a result'
expect 1 "$WEIR_BIN" search shop.yaml --best -q -o alone.db --set compare=- --variant 'none: horizon=1 s'
has stdout 'One variant alone has a result on all of the first replications'
hasnt stdout 'right with 95 %'
expect 0 "$WEIR_BIN" search shop.yaml --best -q -f csv -o more.db --set 'goal={max: util.gpu.assigned}'
has stdout ',best'

expect 0 "$WEIR_BIN" search shop.yaml --best --worth 30% -q -o held.db \
    --set 'goal={min: wait.job.mean, while: ["GPU assigned <= 99 %"]}'
matches stdout "^The goal's conditions with [a-z_]+: holds \(GPU assigned [0-9.]+ % \["

# Who breaks a condition for certain is none to choose: fcfs, whose jobs wait for longest.
expect 0 "$WEIR_BIN" search shop.yaml --best --worth 30% -q -o broken.db \
    --set 'goal={max: wait.job.mean, while: ["wait mean <= 5 min"]}'
matches stdout '^fcfs +10 .* breaks a condition$'
has stdout '1 variant breaks a condition of the goal for certain on the first 10 replications.'
hasnt stdout 'Best by wait mean (more): fcfs'
matches stdout "^The goal's conditions with [a-z_]+: (holds|fails) by its mean, not for certain \(wait mean "
python3 - <<'PY' || fail 'another variant breaks it'
import sqlite3, statistics
for label, broken in ('fcfs', True), ('first_fit', False), ('sjf', False), ('easy', False):
    x = [v for v, in sqlite3.connect('broken.db').execute("""select value from result join run using
        (run_id) where label = '' and metric = 'wait.job.mean' and variant = ? and replication < 10""",
        (label,))]
    half = 2.262157 * statistics.stdev(x) / len(x) ** .5
    assert (statistics.mean(x) - half > 300) == broken, (label, statistics.mean(x), half)
PY
expect 1 "$WEIR_BIN" search shop.yaml --best --worth 30% -q -o none.db \
    --set 'goal={max: wait.job.mean, while: ["wait mean <= 1 s"]}'
has stdout 'No variant has a result on all of the first replications and breaks no condition:'
has stdout '4 variants break a condition'

# What is wrong is said before anything runs.
expect 2 "$WEIR_BIN" search shop.yaml --best --worth 0 -o no.db
has stderr "weir: --worth: expected a share above 0 as 2% or 0.02, found '0'"
expect 2 "$WEIR_BIN" search shop.yaml --best --set compare=- -o no.db
has stderr 'weir: --best chooses among variants'
expect 2 "$WEIR_BIN" search shop.yaml --best -n 1 -o no.db
has stderr '--best needs two replications'
expect 2 "$WEIR_BIN" search shop.yaml --best --front --axis sched.queueing=sjf -o no.db
has stderr 'say one of --smallest, --largest, --best, --front and --tune'
[ ! -e no.db ] || fail 'a refused search leaves a database'
