#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Points that are not all combinations: one value changed at a time (--vary: the table, its chart),
# the k-th value of every axis, a Latin hypercube.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
unset WEIR_CHECK_INVARIANTS

cat >small.yaml <<'Y'
schema: 2
name: small
replications: 4
cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 2}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
compare: [{label: other, set: {sched.placement: best_fit}}]
pipelines:
  - name: p
    input: {items: 60}
    stages:
      - {name: a, cpus: 1, service: exp(1 s)}
      - {name: b, cpus: 1, gpus: 0.25, service: exp(2 s)}
Y
compare() { "$WEIR_BIN" compare small.yaml -q "$@"; }
b=pipelines.p.stages.b

# A count goes to the next whole number, a law keeps its form, a default can be varied; the widest first.
vary=(--vary "$b.gpus=0.5,1" --vary cluster.nodes.n.count=+-20% --vary "$b.service=-20%,+20%"
      --vary pipelines.p.slots_per_worker=+-50%)
expect 0 compare -o vary.db "${vary[@]}"
matches stdout '^[a-z0-9._]+ moves throughput most: from [0-9.]+/s to [0-9.]+/s, [0-9.]+/s as it is\.$'
has stdout 'One value at a time, the widest first; 4 paired replications, Holm over all changes.'
cp stdout paper
expect 0 "$WEIR_BIN" compare vary.db --format csv
python3 - <<'PY' || fail 'the table of what was varied is another one'
import csv, re, sqlite3
rows = list(csv.DictReader(open('stdout')))
values = {}
for r in rows:
    values.setdefault(r['path'], []).append((r['from'], r['to']))
assert values == {'cluster.nodes.n.count': [('2', '1'), ('2', '3')],
                  'pipelines.p.stages.b.gpus': [('0.25', '0.5'), ('0.25', '1')],
                  'pipelines.p.stages.b.service': [('exp(2)', 'exp(1.6)'), ('exp(2)', 'exp(2.4)')],
                  'pipelines.p.slots_per_worker': [('2', '1'), ('2', '3')]}, values
db = sqlite3.connect('vary.db')
means = {v: x for v, x in db.execute("""select variant, avg(value) from v_point join result using (run_id)
    where metric = 'thr.pipeline' group by 1""")}
base = means['as it is']
assert len(means) == 9, means
width = {}
for r in rows:
    mean = means[r['path'].split('.')[-1] + '=' + r['to']]
    assert abs(float(r['mean']) - mean) < 1e-9 and abs(float(r['difference']) - (mean - base)) < 1e-9, r
    seen = width.setdefault(r['path'], [base, base])
    seen[:] = [min(seen[0], mean), max(seen[1], mean)]
widths = [high - low for low, high in width.values()]
assert widths == sorted(widths, reverse=True), widths
# The sentence: the widest bar, and its figures.
path, low, high, as_it_is = re.search(r'(\S+) moves throughput most: from (\S+)/s to (\S+)/s, (\S+)/s as', open('paper').read()).groups()
assert path == list(width)[0], path
for said, true in zip((low, high, as_it_is), width[path] + [base]):
    assert abs(float(said) - true) <= 0.006 * true, (said, true)
columns = db.execute('select distinct variant, "cluster.nodes.n.count" from v_point').fetchall()
assert dict(columns)['as it is'] == 2 and dict(columns)['count=3'] == 3, columns
PY
# A variant is the run of that scenario alone.
expect 0 "$WEIR_BIN" run small.yaml -q -n 1 -o one.db --set "$b.service=exp(1.6 s)"
python3 - <<'PY' || fail 'what was varied is another run than its scenario'
import sqlite3
digest = lambda path, more='': sqlite3.connect(path).execute('select result_digest from run where replication = 0' + more).fetchone()
assert digest('one.db') == digest('vary.db', " and variant = 'service=exp(1.6)'")
PY
if command -v gnuplot >/dev/null; then
    expect 0 "$WEIR_BIN" plot vary.db tornado --folder kept -o vary.svg
    has vary.svg 'cluster.nodes.n.count'
    has vary.svg "$(grep -o '^.* moves throughput most: .* as it is' paper)"
    python3 - <<'PY' || fail 'the chart has other bars than the table'
import shlex
drawn = [shlex.split(line) for line in open('kept/tornado.dat') if line[:1].isdigit()]
assert len(drawn) == 8 and [int(d[0]) for d in drawn] == [0, 0, 1, 1, 2, 2, 3, 3], drawn
PY
    expect 0 "$WEIR_BIN" plot one.db tornado -o none.svg
    has none.svg 'nothing was varied'
fi
# Of what chance may have done nothing is said to move, nor where all is the same.
python3 - <<'PY'
import shutil, sqlite3
for name, sql in (("chance", "update result set value = 2 + 0.1 * ((run_id * run_id * 31 + 7 * run_id) % 13) where metric = 'thr.pipeline'"),
                  ("same", "update result set value = 2 where metric = 'thr.pipeline'")):
    shutil.copy('vary.db', name + '.db')
    db = sqlite3.connect(name + '.db')
    db.execute(sql)
    db.commit()
PY
expect 0 "$WEIR_BIN" compare chance.db
matches stdout '^No value that was tried moves throughput, which is [0-9.]+/s, for certain; [a-z0-9._]+ most: from [0-9.]+/s to [0-9.]+/s\.$'
expect 0 "$WEIR_BIN" compare same.db
has stdout 'Nothing that was varied moves throughput, which is 2/s.'
expect 2 compare --vary cluster.nodes.n.coutn=+-20%
has stderr "did you mean 'count'?"
expect 2 compare --vary cluster.nodes.n.count=-80%
has stderr 'say the values: --vary cluster.nodes.n.count=LOW,HIGH'
expect 2 compare --vary "$b.gpus=1" --axis seed=1,2
has stderr 'there is no --axis and no --variant beside it'

# The k-th value of every axis; policies at every point.
expect 0 compare --set compare=- -o list.db -n 1 --design list --axis cluster.nodes.n.count=1,2,4 \
    --axis pipelines.p.input.items=60,90,30 --axis sched.placement=fgd,best_fit
cat >points.py <<'PY'
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute('''select group_concat(x, ' ') from (select distinct point, "cluster.nodes.n.count" || ','
    || "pipelines.p.input.items" || ':' || count(*) as x from v_point group by point)''').fetchone()[0])
PY
[ "$(python3 points.py list.db)" = '1,60:2 2,90:2 4,30:2' ] || fail 'a list makes other points'
expect 2 compare --set compare=- --design list --axis cluster.nodes.n.count=1,2 --axis pipelines.p.input.items=60,90,30
has stderr '--design list takes the k-th value of every axis'

# A Latin hypercube: every part of every range once, values that are listed equally often; again the same.
for name in lhs again; do
    expect 0 compare -o $name.db --set compare=- -n 1 --design lhs --points 8 --axis pipelines.p.input.items=40..119:1 \
        --axis "$b.setup=1 s..3 s" --axis 'sched.scaling.interval=30 s,60 s'
done
python3 - <<'PY' || fail 'it is no Latin hypercube'
import sqlite3
def rows(path):
    return sqlite3.connect(path).execute('''select "pipelines.p.input.items", "pipelines.p.stages.b.setup",
        "sched.scaling.interval" from v_point order by point''').fetchall()
found = rows('lhs.db')
assert found == rows('again.db') and len(found) == 8
assert sorted((items - 40) // 10 for items, _, _ in found) == list(range(8)), found
assert sorted(int((float(s[:-2]) - 1) / .25) for _, s, _ in found) == list(range(8)), found
assert sorted(i for _, _, i in found) == ['30 s'] * 4 + ['60 s'] * 4, found
assert [i for i, _, _ in found] != sorted(i for i, _, _ in found), 'the points lie on a line'
PY
# Where only whole numbers can stand those are drawn, also without a step; elsewhere any.
expect 0 compare -o whole.db --set compare=- -n 1 --design lhs --points 8 --axis pipelines.p.input.items=40..119 \
    --axis "$b.gpus=0.1..0.9" --axis sched.placement=fgd,best_fit
python3 - <<'PY' || fail 'other numbers are drawn than can stand there'
import sqlite3
found = sqlite3.connect('whole.db').execute('select distinct "pipelines.p.input.items", "pipelines.p.stages.b.gpus" from v_point').fetchall()
assert len(found) == 8 and sorted((items - 40) // 10 for items, _ in found) == list(range(8)), found
assert all(isinstance(items, int) for items, _ in found) and sorted(int((g - .1) / .1) for _, g in found) == list(range(8)), found
PY
expect 2 compare --set compare=- --design lhs --axis seed=1..9
has stderr '--design lhs and --points N belong together'
expect 2 compare --set compare=- --design lhs --points 9 --axis seed=1..3:1
has stderr 'two of 9 points are the same'
