#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the points of an experiment say together: pooled paired differences with one degree of freedom
# less than blocks, Holm over all pairs, ranks, for people, programs and papers; the nine lists of the
# table in docs/placement-weir.md come out as they stand there.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
unset WEIR_CHECK_INVARIANTS

cat >jobs.yaml <<'Y'
schema: 2
name: suite
replications: 2
horizon: 12 h
cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 4}}]}
sched: {placement: fgd}
jobs:
  - name: work
    arrivals: {load: 90%}
    classes:
      - {name: one, weight: 4, run_time: exp(20 min), request: {cpus: 1, gpus: 1}}
      - {name: four, run_time: exp(60 min), request: {cpus: 1, gpus: 4}}
Y
suite=(--axis seed=1..5 --axis sched.queueing=fcfs,first_fit,sjf --metric 'wait mean')
expect 0 "$WEIR_BIN" compare jobs.yaml -q -o suite.db "${suite[@]}" --pool
cp stdout paper
has paper 'A block is a point: one observation, whatever the replications behind it; t with 4 degrees of freedom'
expect 0 "$WEIR_BIN" compare suite.db --pool --metric 'wait mean' --format csv
cp stdout pooled.csv
# Against one of them there are fewer pairs, and Holm is over those.
expect 0 "$WEIR_BIN" compare suite.db --pool --baseline first_fit --metric 'wait mean' --format csv
cp stdout against.csv
expect 0 "$WEIR_BIN" compare suite.db --pool --metric 'wait mean' --format latex
has stdout '\begin{tabular}{lllrrrrrrl}'
has stdout 'wait mean & first\_fit & fcfs & 5 &'
has stdout '\bottomrule'
# What fonts of TeX do not have is mathematics, and sentences beside a table are passed over.
expect 0 "$WEIR_BIN" compare suite.db --metric 'wait p95' --metric 'wait mean' --format latex
python3 - <<'PY' || fail 'TeX cannot read the table'
text = open('stdout').read()
table, rest = text.split('\\end{tabular}\n')
assert table.isascii(), [c for c in table if not c.isascii()]
assert '$\\geq$ ' in table and '<' not in table.replace('$<$', ''), table
assert rest.startswith('\\iffalse\n') and rest.endswith('\\fi\n') and '5 points' in rest, rest
PY
python3 - <<'PY' || fail 'the pooled differences are other ones'
import csv, math, re, sqlite3
db = sqlite3.connect('suite.db')
mean = {(p, v): x for p, v, x in db.execute("""select point, variant, avg(value) from v_point join result using (run_id)
    where metric = 'wait.job.mean' and label = '' group by 1, 2""")}
rows = list(csv.DictReader(open('pooled.csv')))
names = [v for v in ('fcfs', 'first_fit', 'sjf')]
assert [(r['variant'], r['against']) for r in rows] == [('first_fit', 'fcfs'), ('sjf', 'fcfs'), ('sjf', 'first_fit')], rows
for r in rows:
    d = [mean[p, r['variant']] - mean[p, r['against']] for p in range(5)]
    m = sum(d) / 5
    sd = math.sqrt(sum((x - m) ** 2 for x in d) / 4)
    near = lambda text, wanted: abs(float(text) - wanted) <= 6e-3 * abs(wanted)
    assert near(r['difference'], m) and near(r['half_width'], 2.7764451 * sd / math.sqrt(5)) and near(r['effect'], m / sd), (r, m, sd)
    assert r['blocks'] == '5' and 0 < float(r['p_wilcoxon']) <= 1 and float(r['p_holm']) <= 1
against = list(csv.DictReader(open('against.csv')))
assert len(against) == 2, against
against = {r['variant']: r for r in against}
pairs = {(r['variant'], r['against']): r for r in rows}
assert sorted(against) == ['fcfs', 'sjf'] and all(r['against'] == 'first_fit' for r in against.values()), against
assert float(against['fcfs']['difference']) == -float(pairs['first_fit', 'fcfs']['difference'])
assert against['sjf']['difference'] == pairs['sjf', 'first_fit']['difference']
for name, pair in (('fcfs', ('first_fit', 'fcfs')), ('sjf', ('sjf', 'first_fit'))):
    assert against[name]['p_wilcoxon'] == pairs[pair]['p_wilcoxon']
    assert float(against[name]['p_holm']) <= float(pairs[pair]['p_holm']), (name, against, pairs)
ranks = re.search(r'fcfs ([\d.]+), first_fit ([\d.]+), sjf ([\d.]+); Friedman', open('paper').read())
for name, text in zip(names, ranks.groups()):
    wanted = sum(1 + sum(mean[p, o] < mean[p, name] for o in names) for p in range(5)) / 5
    assert abs(float(text) - wanted) < .01, (name, text, wanted)
PY
expect 0 "$WEIR_BIN" compare jobs.yaml -q -o one.db --axis sched.queueing=fcfs,sjf --axis seed=1,2 --axis cluster.nodes.n.count=2 -n 1
expect 2 "$WEIR_BIN" compare jobs.yaml -q -o two.db --axis sched.queueing=fcfs,sjf -n 1 --pool
has stderr '--pool needs two points with all variants, found 1'

# What is too small to matter is told from what cannot be told apart.
expect 0 "$WEIR_BIN" compare suite.db --pool --metric 'GPU used' --min-effect 20%
matches stdout '^GPU used +sjf +fcfs +5 .* too small to matter$'
expect 0 "$WEIR_BIN" compare suite.db --pool --metric 'GPU used'
matches stdout '^GPU used +sjf +fcfs +5 .* not distinguishable$'

# As one file: scenarios and values as blocks, of which the mean of the points counts.
mkdir -p files
sed 's/name: suite/name: few/;s/weight: 4/weight: 2/' jobs.yaml >files/few.yaml
cat >all.suite <<'Y'
# blocks: two scenarios, two loads
suite: all
scenario: jobs.yaml
set: {horizon: 6 h}
policies: {sched.queueing: [fcfs, first_fit]}
blocks:
  - {scenario: jobs.yaml, jobs.work.arrivals.load: 80%, seed: [1, 2]}
  - {scenario: files/few.yaml, jobs.work.arrivals.load: 70%, seed: [1, 2, 3]}
metrics: [wait mean]
min_effect: 20%
replications: 1
Y
expect 0 "$WEIR_BIN" compare all.suite -q -o all.db
matches stdout '^wait mean +first_fit +fcfs +2 .* open$'
has stdout 'A block is the mean of its points'
expect 0 "$WEIR_BIN" compare all.db --pool --block scenario --metric 'wait mean' --format csv
python3 - <<'PY' || fail 'a block is not the mean of its points'
import csv, sqlite3
row, = csv.DictReader(open('stdout'))
db = sqlite3.connect('all.db')
mean = {(s, v): x for s, v, x in db.execute("""select scenario, variant, avg(value) from v_point join result using (run_id)
    where metric = 'wait.job.mean' and label = '' group by 1, 2""")}
files = sorted({s for s, _ in mean})
d = [mean[f, 'first_fit'] - mean[f, 'fcfs'] for f in files]
assert len(d) == 2 and abs(float(row['difference']) - sum(d) / 2) <= 6e-6 * abs(sum(d)), (row, d)
names = {r[0] for r in db.execute('select distinct variant from run')}
assert 'fcfs, scenario=few, load=70%, seed=3' in names, names
digests = {r[0] for r in db.execute("select scenario_digest from run where variant like '%seed=1'")}
assert len(digests) == 4, digests
PY
expect 0 "$WEIR_BIN" run files/few.yaml -q -n 1 -o few.db --set 'horizon=6 h' --set jobs.work.arrivals.load=70% --set seed=3 --set sched.queueing=fcfs
python3 - <<'PY' || fail 'a point of a suite is another run than its scenario'
import sqlite3
digest = lambda path, more='': sqlite3.connect(path).execute('select result_digest from run' + more).fetchone()
assert digest('few.db') == digest('all.db', " where variant = 'fcfs, scenario=few, load=70%, seed=3'")
PY
# Blocks of one scenario are told apart by what differs, and one that differs in no value is refused.
sed 's/few.yaml/jobs.yaml/;s/files.jobs.yaml/jobs.yaml/' all.suite >loads.suite
expect 0 "$WEIR_BIN" compare loads.suite -q -o loads.db
matches stdout '^wait mean +first_fit +fcfs +2 '
sed '/scenario: files/{p;s/70%, seed: .1, 2, 3./70%, seed: [4]/}' all.suite >wrong.suite
expect 2 "$WEIR_BIN" compare wrong.suite -q -o wrong.db
has stderr 'blocks are told apart by a path that has a value of its own, and no list, in each of them'
sed 's/^policies.*/policies: {jobs.work.count: [20, 40]}/' all.suite >wrong.suite
expect 2 "$WEIR_BIN" compare wrong.suite -q -o wrong.db
has stderr 'policies.jobs.work.count: is no policy, as sched.placement or services.NAME.batching'
expect 2 "$WEIR_BIN" compare all.suite -q -o wrong.db --axis cluster.nodes.n.count=2,3
has stderr 'what is run stands in the suite'
# A variant that failed somewhere takes its block; a mean without the rest decides nothing; blocks that
# are alike in all show no difference.
python3 - <<'PY'
import shutil, sqlite3
def change(name, *statements):
    shutil.copy('suite.db', name)
    db = sqlite3.connect(name)
    for sql in statements: db.execute(sql)
    db.commit()
of = "(select run_id from run where variant like 'sjf%')"
change('failed.db', "update run set status = 'failed', message = 'it broke' where variant = 'sjf, seed=1'")
change('bound.db', "update result set value = 600 where metric = 'wait.job.mean' and run_id not in " + of,
       "update result set n = 90, censored = 10, value = 300 where metric = 'wait.job.mean' and run_id in " + of)
change('alike.db', "update result set censored = 0", "update result set value = 600 where metric = 'wait.job.mean' and run_id not in " + of,
       "update result set value = 900 where metric = 'wait.job.mean' and run_id in " + of)
PY
expect 0 "$WEIR_BIN" compare failed.db --pool --metric 'wait mean'
matches stdout '^wait mean +sjf +first_fit +4 '
has stdout 'Lost: sjf, seed=1 is left out, it failed in 2 of 2 runs: it broke'
expect 0 "$WEIR_BIN" compare bound.db --pool --metric 'wait mean'
matches stdout '^wait mean +sjf +fcfs +5 .* open$'
has stdout 'not all work was done: bounds, and means without the rest, are ranked as they are.'
expect 0 "$WEIR_BIN" compare alike.db --pool --metric 'wait mean'
matches stdout '^wait mean +first_fit +fcfs +5 .* no difference$'
matches stdout '^wait mean +sjf +fcfs +5 +300 +- +- +0[.]0625 +- +worse$'
sed 's/polices/policies/;s/blocks:/block:/' all.suite >wrong.suite
expect 2 "$WEIR_BIN" compare wrong.suite
has stderr "did you mean 'blocks'?"
sed 's/seed: \[1, 2\]/seeds: 1/' all.suite >wrong.suite
expect 2 "$WEIR_BIN" compare wrong.suite
has stderr 'has no seeds, as the first block has'
for key in set policies; do
    sed "s/^$key:.*/$key: [fcfs, sjf]/" all.suite >wrong.suite
    expect 2 "$WEIR_BIN" compare wrong.suite
    has stderr 'expected {PATH: VALUE, ...}'
done
sed 's/^metrics:.*/metrics: {wait: 1}/' all.suite >wrong.suite
expect 2 "$WEIR_BIN" compare wrong.suite
has stderr 'expected a metric or a list of them'
expect 2 "$WEIR_BIN" compare suite.db --pool --block cluster
has stderr "--block: there is no axis 'cluster'"

lists=("${WEIR_SHARED:-}"/traces/openb/openb_pod_list_*)
if [ -n "${WEIR_SLOW:-}" ] && [ -f "${lists[0]}" ]; then
    expect 0 "$WEIR_BIN" compare "$WEIR_SOURCE_DIR/scenarios/reference/weir_vs_fgd.yaml" -q -o nine.db --set compare=- \
        --axis sched.placement=fgd,weir --axis "fill[0].trace=$(IFS=,; echo "${lists[*]}")" --pool --metric alloc.gpu_pct
    matches stdout '^GPU allocated +weir +fgd +9 .* better$'
    # As published: the orders of those runs.
    expect 0 "$WEIR_BIN" compare "$WEIR_SOURCE_DIR/scenarios/suites/openb_lists.suite" -q -o lists.db
    has "$WEIR_SOURCE_DIR/docs/placement-weir.md" '| **openb lists** | | published | | | **+0.95 ± 0.19**'
    has "$WEIR_SOURCE_DIR/docs/placement-weir.md" '| **openb lists, to tuned FGD** | | published | | | **+0.91 ± 0.23**'
    matches stdout '^GPU allocated +weir +fgd +9 +0\.94(5|6|7|8|9)[0-9]* +0\.1(8[5-9]|9[0-4]?) '
    matches stdout '^GPU allocated +weir +fgd, tie: best_fit +9 +0\.9(0[5-9]|1[0-4])[0-9]* +0\.2(2[5-9]|3[0-4]?) '
else
    skip_part 'the nine lists take a minute and need the openb traces: WEIR_SLOW=1'
fi
