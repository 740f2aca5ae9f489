#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An experiment with axes: every combination of values is a point, comparisons are made within one,
# points are columns of the database; what failed loses its point alone; what is there is not run
# again; as many replications as an interval needs; a gate that fails, passes or is undecided.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
unset WEIR_CHECK_INVARIANTS

cat >small.yaml <<'Y'
schema: 2
name: small
replications: 2
cluster: {nodes: [{name: n, count: 1, cpus: 8, gpus: {h100: 2}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 60}
    stages:
      - {name: a, cpus: 1, service: exp(1 s)}
      - {name: b, cpus: 1, gpus: 0.25, service: exp(2 s)}
Y
query() {
    python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print("|".join(map(str, row)))' "$@"
}
compare() { "$WEIR_BIN" compare small.yaml -q "$@"; }
axes=(--axis cluster.nodes.n.count=1..2 --axis pipelines.p.input.items=60,90
      --axis sched.placement=fgd,best_fit)

# Nothing is run by --dry-run: 2 x 2 points of two variants.
expect 0 compare "${axes[@]}" --dry-run
has stdout '8 variants x 2 replications = 16 runs; none was made.'
matches stdout '^ *4  best_fit, count=2, items=90 +2 '
[ ! -e small.db ] || fail 'a dry run wrote a database'

# Points are columns; a variant is compared with the first of its own point alone.
expect 0 compare "${axes[@]}"
matches stdout '^1 +60 +fgd .*baseline$'
matches stdout '^2 +90 +fgd .*baseline$'
has stdout '4 points, 2 replications each'
[ "$(query small.db 'select count(*), count(distinct point), count(distinct variant), min("cluster.nodes.n.count"), max("pipelines.p.input.items") from v_point')" = '16|4|2|1|90' ] ||
    fail 'v_point has other columns'
# One point is no several.
expect 0 compare --axis sched.placement=fgd,best_fit -o point.db
has stdout '1 point, 2 replications each'
hasnt stdout 'at 1 of 1'
hasnt stdout 'at 0 of 1'
# A bound above the best leaves it the best, a bound below all others leaves nobody known to be it.
cp small.db bounds.db
python3 - <<'PY'
import sqlite3
db = sqlite3.connect('bounds.db')
db.execute("""update result set is_lower_bound = 1, value = iif(run_id in
    (select run_id from v_point where point = 0), 500 + value, 0.1 * value) where metric = 'lat.e2e.p95'
    and run_id in (select run_id from run where variant like 'best_fit%')""")
db.commit()
PY
expect 0 "$WEIR_BIN" compare bounds.db --metric lat.e2e.p95
matches stdout '^1 +60 +fgd +[^≥]* ✓ +baseline$'
[ "$(grep -c ✓ stdout)" = 1 ] || fail "another than the best of the first point is best"
has stdout 'fgd is best, or not distinguishable from the best, at 1 of 1 point; best_fit is best, or not distinguishable from the best, at 0 of 1 point.'
has stdout 'Nobody is known to be best at 3 points.'
# The same seeds at every point.
[ "$(query small.db 'select count(distinct seed) from run group by replication' | sort -u)" = 1 ] ||
    fail 'points have seeds of their own'
# The table's figure is the mean of the runs of that point and variant.
expect 0 "$WEIR_BIN" compare small.db --format csv
python3 - <<'PY' || fail 'a row of the table is not about its point'
import csv, sqlite3
db = sqlite3.connect('small.db')
rows = [r for r in csv.DictReader(open('stdout')) if r['metric'] == 'thr.pipeline']
assert len(rows) == 8, len(rows)
for r in rows:
    mean, = db.execute('''select avg(x.value) from v_point p join result x using (run_id)
        where "cluster.nodes.n.count" = ? and "pipelines.p.input.items" = ? and variant = ?
        and metric = 'thr.pipeline' ''', (int(r['cluster.nodes.n.count']),
        int(r['pipelines.p.input.items']), r['variant'])).fetchone()
    assert abs(float(r['mean']) - mean) < 1e-9 * mean, (r, mean)
PY
# A run at a point is the run of that scenario alone.
expect 0 "$WEIR_BIN" run small.yaml -q -n 1 -o one.db --set cluster.nodes.n.count=2 --set pipelines.p.input.items=90
[ "$(query one.db 'select result_digest from run')" = \
  "$(query small.db "select result_digest from run where variant = 'fgd, count=2, items=90' and replication = 0")" ] ||
    fail 'a point is another run than its scenario'
# Of many points results alone are kept.
[ "$(query small.db 'select count(*) from cluster_sample')" = 0 ] || fail 'samples were kept'

# What is there is not run again; what is missing is.
python3 - <<'PY'
import sqlite3
db = sqlite3.connect('small.db'); db.execute("update run set status = 'running' where run_id = 6")
db.execute("update run_wall set wall_s = 12345"); db.commit()
PY
expect 0 compare "${axes[@]}" --resume
[ "$(query small.db 'select count(*) from run_wall where wall_s = 12345')" = 15 ] || fail 'resume ran more than what was missing'

# A chart of the goal along the first axis, and a page of one point.
expect 0 "$WEIR_BIN" plot small.db axis -o axis.svg
has axis.svg 'cluster.nodes.n.count'
if command -v gnuplot >/dev/null; then
    expect 0 "$WEIR_BIN" plot small.db axis --folder kept -o axis.svg
    python3 - <<'PY' || fail 'the title of the chart over an axis is not so'
import re, sqlite3
title = re.search(r'fgd, items 60: throughput ([\d.]+)/s at count 1, ([\d.]+)/s at 2', open("kept/axis.gp").read())
means = [row[0] for row in sqlite3.connect("small.db").execute(
    '''select avg(x.value) from v_point p join result x using (run_id) where metric = 'thr.pipeline'
       and variant = 'fgd' and "pipelines.p.input.items" = 60 group by "cluster.nodes.n.count"
       order by "cluster.nodes.n.count" ''')]
assert title and len(means) == 2, title
assert all(abs(float(a) / b - 1) < 0.006 for a, b in zip(title.groups(), means)), (title, means)
assert means[1] > 1.5 * means[0], means
PY
    has kept/axis.gp 'set xtics 1 format' # nobody has half a node
    expect 0 "$WEIR_BIN" plot small.db axis --format csv
    # A series has its line in its name: no two have the same.
    [ "$(grep -c '^series' stdout)" = "$(grep '^"' stdout | sed 's/",.*//' | sort -u | wc -l)" ] ||
        fail 'two series have one name'
    has stdout '"throughput (1/s), best_fit, items 60",'
fi

# How a service takes its batches is a policy as well.
cat >batching.yaml <<'Y'
schema: 2
name: batching
horizon: 100 s
cluster: {nodes: [{name: n, cpus: 16}]}
services: [{name: a, requests: {arrivals: exp(1 s)}, replicas: 2, batching: dynamic, service: exp(1 s)}]
Y
expect 0 "$WEIR_BIN" compare batching.yaml -n 2 -o batching.db --axis services.a.batching=dynamic,fixed
has stdout '1 point, 2 replications each'
hasnt stdout 'Nothing is compared across points'

# Mistakes.
expect 2 compare --axis cluster.nodes.n.coutn=1,2
has stderr "did you mean 'count'?"
expect 2 compare --axis cluster.nodes.n.count=1,1
has stderr 'has the value 1 twice'
expect 2 compare --axis cluster.nodes.n.count=4..1
has stderr 'does not go up'
expect 2 compare --axis cluster.nodes.n.count=1..x
has stderr 'an end that is no number'
expect 2 compare --axis jobs
has stderr 'has no values'
expect 2 compare --axis cluster.nodes.n.count=1,2 --axis cluster.nodes.n.count=3
has stderr 'is the path of two axes'
expect 2 compare --variant 'big: cluster.nodes.n.count=9' --axis cluster.nodes.n.count=1,2
has stderr 'an axis is what all variants go along'

# A policy that crashes loses its variant at its points; what it printed and how to repeat it stay.
if [ -f "$WEIR_PLUGINS/hostile_p_crash.so" ]; then
    expect 4 compare --in-process --plugin "$WEIR_PLUGINS/hostile_p_crash.so" -n 1 -o crash.db \
        --axis cluster.nodes.n.count=1,2 --axis sched.placement=fgd,hostile
    has stdout 'Lost: hostile, count=2 is left out'
    matches stdout '^2 +fgd .*'
    has stderr "repeat it: weir run crash.db --variant 'hostile, count=1' --replication 0"
    ls crash.db.part* 2>/dev/null && fail 'files were left behind'
else
    skip_part 'no modules'
fi

# A point that needs more time or memory than it may loses itself alone, and says how to repeat it.
long=(--set pipelines.p.slots_per_worker=8 --axis pipelines.p.input.items=60,60000000 -n 1)
expect 6 compare -o long.db "${long[@]}" --limit run_cpu=1
has stderr "run 2 (items=60000000, replication 0): over its limit: it took more than 1 s on the processor (--limit run_cpu); repeat it: weir run long.db --variant 'items=60000000' --replication 0"
has stdout 'Lost: point items=60000000'
[ "$(query long.db 'select group_concat(status) from run')" = complete,failed ] || fail 'another point was lost too'
jobs=(--axis jobs.train.arrivals.rate=12/h,9000000/h --axis seed=1 -n 1)
cat >many.yaml <<'Y'
schema: 2
name: many
horizon: 1 h
cluster: {nodes: [{name: n, count: 1, cpus: 8, gpus: {h100: 2}}]}
jobs:
  - name: train
    arrivals: {rate: 12/h}
    classes: [{name: a, weight: 1, request: {gpus: 1}, run_time: 30 min}]
Y
if ! ldd "$WEIR_BIN" | grep libasan >/dev/null; then # its shadow takes terabytes of addresses
    expect 6 "$WEIR_BIN" compare many.yaml -q -o many.db "${jobs[@]}" --limit run_memory=150
    has stderr 'over its limit: it wanted more than 150 MiB (--limit run_memory); it printed: weir: out of memory'
    has stderr '; repeat it: weir run many.db'
    [ "$(query many.db 'select group_concat(status) from run')" = horizon,failed ] || fail 'another point was lost too'
fi
expect 2 compare --limit run_memory=1
has stderr "'run_memory=1' is not run_memory=N with N from 16"

# As many replications as the interval needs, no more than the cap, which is said.
expect 0 compare -n auto --ci-rel 9% --most 24 -o auto.db --axis cluster.nodes.n.count=1,2
matches stdout '^Replications: until .* within 9 % .*, ([0-9]+ to )?[0-9]+ of at most 24'
python3 - <<'PY' || fail 'the number of replications does not follow the rule'
import math, sqlite3
db = sqlite3.connect('auto.db')
t = {10: 2.262, 11: 2.228, 12: 2.201, 13: 2.179, 14: 2.160, 15: 2.145, 16: 2.131, 17: 2.120, 18: 2.110,
     19: 2.101, 20: 2.093, 21: 2.086, 22: 2.080, 23: 2.074, 24: 2.069}
for point in (0, 1):
    x = [v for v, in db.execute('''select value from v_point join result using (run_id)
        where point = ? and metric = 'thr.pipeline' ''', (point,))]
    n = len(x); mean = sum(x) / n
    half = t[n] * math.sqrt(sum((v - mean) ** 2 for v in x) / (n - 1) / n)
    assert 10 < n <= 24 and (n == 24 or half / mean <= .09 / 1.09 + 1e-6), (n, half / mean)
PY
expect 2 compare --ci-rel 2%
has stderr '--ci-rel and --most belong to -n auto'
expect 2 "$WEIR_BIN" run small.yaml -n auto
has stderr '-n auto belongs to compare'

# The gate. Four times the CPUs for a stage is worse by far; the same thing again is not worse; one
# replication cannot tell.
slow=(--variant 'slow: pipelines.p.stages.a.cpus=4' --force)
expect 1 compare "${slow[@]}" -n 4 --fail-if 'throughput < -2%'
matches stdout '^Gate: worse: slow, throughput -[0-9.]+ % \[.*\] in 4 runs; it fails if throughput < -2%\.$'
expect 0 compare --variant 'same: cluster.nodes.n.count=1' --force --fail-if 'throughput < -2%' --min-effect 1%
has stdout 'Gate: not worse: same, throughput +0.00 % in 2 runs'
expect 1 compare "${slow[@]}" -n 1 --fail-if 'throughput < -2%'
has stdout 'Gate: undecided: slow'
expect 0 compare "${slow[@]}" -n 4 --fail-if 'throughput < -99%'
has stdout 'Gate: not worse: slow'
# Of a database, too; with a value; the wrong names.
expect 1 "$WEIR_BIN" compare small.db --fail-if 'slow: makespan > 1 s'
has stdout 'Gate: worse: slow, makespan'
expect 0 "$WEIR_BIN" compare small.db --fail-if 'slow: makespan > 10 h'
expect 2 compare "${slow[@]}" --fail-if 'througput < -2%'
has stderr "did you mean 'throughput'?"
expect 2 compare "${slow[@]}" --fail-if 'solw: throughput < -2%'
has stderr "did you mean 'slow'?"
expect 2 compare "${slow[@]}" --fail-if 'throughput = 3'
has stderr 'expected < or >'
expect 2 compare "${slow[@]}" --fail-if 'throughput < -2%' --min-effect 3
has stderr 'expected a share'

# Who failed passed nothing, whatever the others did.
python3 - <<'PY'
import sqlite3
db = sqlite3.connect('small.db')
db.execute("update run set status = 'failed', message = 'it broke' where replication = 1 and variant = 'slow'")
db.commit()
PY
expect 1 "$WEIR_BIN" compare small.db --fail-if 'throughput < -99%' --fail-if 'base: makespan > 10 h'
has stdout 'Gate: worse: slow failed in 1 of 4 runs; it fails if throughput < -99%.'
has stdout 'Gate: not worse: base, makespan '

# A mean without the jobs that are not done says so over an axis, too.
cat >open.yaml <<'Y'
schema: 2
name: open
horizon: 1 h
catalog: {node_types: {n: {cpus: 8, ram: 64 GB, gpus: {h100: 2}}}}
cluster: {nodes: [{type: n, count: 1}]}
jobs:
  - name: train
    arrivals: {rate: 12/h}
    classes: [{name: a, weight: 1, request: {gpus: 1}, run_time: 30 min}]
Y
expect 0 "$WEIR_BIN" compare open.yaml --axis cluster.nodes.n.count=1..3 -n 2 -q -o open.db
expect 0 "$WEIR_BIN" plot open.db axis -o axis.svg
has axis.svg 'so far'
# A gate decides nothing by a mean without the rest, and by a bound that lies on its good side; on the
# bad side a bound is enough.
late() { "$WEIR_BIN" compare open.yaml --force -o late.db -q -n 4 --variant 'more: cluster.nodes.n.count=2' "$@"; }
expect 1 late --fail-if 'base: wait mean > 10 h'
matches stdout '^Gate: undecided: base, wait mean .*; more than 5 % was unfinished and is not in it: a later horizon would tell\.$'
expect 1 late --fail-if 'base: wait mean > 1 s'
has stdout 'Gate: undecided: base, wait mean'
expect 1 late --fail-if 'more: wait mean < -1%'
matches stdout '^Gate: undecided: more, wait mean [0-9]'
hasnt stdout 'nan'
expect 1 late --fail-if 'base: wait p95 > 10 h'
matches stdout '^Gate: undecided: base, wait p95 .* not all work was done, so that it is a bound: a later horizon would tell\.$'
expect 1 late --fail-if 'base: wait p95 > 1 s'
has stdout 'Gate: worse: base, wait p95'
expect 1 late --fail-if 'base: wait mean < 10 h'
has stdout 'Gate: undecided: base, wait mean'
expect 0 late --fail-if 'more: jobs done < -1%'
has stdout 'Gate: not worse: more, jobs done +'
# Against nothing there is no percentage.
expect 1 late --set cluster.nodes.n.count=8 --fail-if 'wait mean > +1%'
hasnt stdout 'inf'
hasnt stdout 'nan'
