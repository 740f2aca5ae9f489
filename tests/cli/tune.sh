#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The front of cost and goal is what a look at all means finds, and is confirmed on replications that
# nobody has seen. Policies are tuned with one budget by successive halving, and judged on what was not
# seen; the audit of it is in every report.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
unset WEIR_CHECK_INVARIANTS

cat >shop.yaml <<'Y'
schema: 2
name: shop
replications: 3
horizon: 4 h
prices: {billing: nodes, cpu: 1}
cluster: {nodes: [{name: n, count: 4, cpus: 8, gpus: {h100: 4}}]}
sched: {placement: fgd, queueing: fcfs}
goal: {min: slowdown mean}
jobs:
  - name: work
    arrivals: {load: 90%}
    classes:
      - {name: one, weight: 3, run_time: exp(20 min), request: {cpus: 1, gpus: 1}}
      - {name: four, run_time: exp(40 min), request: {cpus: 1, gpus: 4}}
Y
sed 's/name: shop/name: busy/;s/90%/110%/' shop.yaml >busy.yaml
sed 's/name: shop/name: quiet/;s/90%/60%/' shop.yaml >quiet.yaml
search() { "$WEIR_BIN" search shop.yaml -q "$@"; }

expect 0 search -o front.db --front --axis cluster.nodes.n.count=2..6 --axis sched.queueing=fcfs,first_fit,sjf --format csv
python3 - <<'PY' || fail 'the front is another one'
import csv, sqlite3
rows = {r['variant']: r for r in csv.DictReader(open('stdout'))}
db = sqlite3.connect('front.db')
def means(first):
    return {v: (c, g) for v, c, g in db.execute("""select variant,
        avg(case when metric = 'cost.total' then value end), avg(case when metric = 'slowdown.mean' then value end)
        from run join result using (run_id) where replication between ? and ? and label = '' group by 1""", (first, first + 2))}
def best(of):
    return {v for v, (c, g) in of.items() if not any(a <= c and b <= g and (a < c or b < g) for a, b in of.values())}
seen, fresh = means(0), means(3)
assert len(rows) == len(seen) == 15
front = best(seen)
assert {v for v, r in rows.items() if r['front'] == 'yes'} == front and 3 <= len(front) < 15, front
assert set(fresh) == front, fresh
assert {v for v, r in rows.items() if r['confirmed'].startswith('confirmed')} == best(fresh)
for v, r in rows.items():
    assert abs(float(r['cost']) - seen[v][0]) < 1e-6 and abs(float(r['goal']) - seen[v][1]) < 1e-6 * seen[v][1], r
PY
expect 0 search --resume -o front.db --front --axis cluster.nodes.n.count=2..6 --axis sched.queueing=fcfs,first_fit,sjf
matches stdout '^[0-9]+ of 15 combinations are on the front of .* \(less\) and .* \(less\), [0-9]+ of them still on 3 fresh replications; [0-9]+ runs\.$'
matches stdout '^Of [0-9]+ of them not all work was done: ≥ is a bound from below'
matches stdout ' [0-9.]+ so far '
matches stdout ' confirmed so far$'
# What misses a condition of the goal is on no front, and beats nobody: two nodes are cheaper and
# better than three here, and used too much.
held=(-o held.db --front --axis cluster.nodes.n.count=2..6 --set 'goal.while=["GPU assigned <= 52 %"]')
expect 0 search "${held[@]}" --format csv
python3 - <<'PY' || fail 'the front knows no condition'
import csv, sqlite3
rows = {r['variant']: r for r in csv.DictReader(open('stdout'))}
db = sqlite3.connect('held.db')
def means(first):
    return {v: (c, g, u) for v, c, g, u in db.execute("""select variant,
        avg(case when metric = 'cost.total' then value end), avg(case when metric = 'slowdown.mean' then value end),
        avg(case when metric = 'util.gpu.assigned' then value end)
        from run join result using (run_id) where replication between ? and ? and label = '' group by 1""",
        (first, first + 2))}
def best(of):
    keep = {v: m for v, m in of.items() if m[2] <= 0.52}
    return {v for v, (c, g, u) in keep.items()
            if not any(a <= c and b <= g and (a < c or b < g) for a, b, w in keep.values())}
seen, fresh = means(0), means(3)
front = best(seen)
two, three = (seen[f'count={n}'] for n in (2, 3))
assert two[2] > 0.52 and two[0] < three[0] and two[1] < three[1] and 'count=3' in front, seen
assert {v for v, r in rows.items() if r['front'] == 'yes'} == front, front
assert {v for v, r in rows.items() if r['confirmed'].startswith('confirmed')} == best(fresh)
assert rows['count=2']['confirmed'] == 'misses the conditions'
PY
expect 0 search --resume "${held[@]}"
matches stdout '^1 of the others misses a condition of the goal\.$'
expect 2 search --front --axis seed=1,2 --cost 'cost totl'
has stderr "--cost: there is no metric 'cost totl'"
expect 2 search --front
has stderr '--front goes along one --axis or more'

# Eight settings each, sixteen of twenty runs; the default and the winner are judged on what was not seen.
expect 0 search -o tune.db --tune multifactor,gittins --budget 20 --test busy.yaml,quiet.yaml -n 4 --format csv
cp stdout tuned.csv
python3 - <<'PY' || fail 'the budget was used in another way'
import csv, re, sqlite3
rows = {r['policy']: r for r in csv.DictReader(open('tuned.csv'))}
db = sqlite3.connect('tune.db')
assert set(rows) == {'multifactor', 'gittins'}
runs = {}
for variant, replication, value in db.execute("""select variant, replication, value from run join result using (run_id)
        where metric = 'slowdown.mean' and label = ''"""):
    arm, file = variant.split(', scenario=')
    policy, number = arm.rsplit(' ', 1)
    runs.setdefault((policy, file), {}).setdefault(int(number), {})[replication] = value
mean = lambda of: sum(of) / len(of)
for policy, row in rows.items():
    train = runs[policy, 'shop']
    settings = int(row['tried'])
    assert settings == 8 and set(train) == set(range(settings)), (policy, train.keys())
    assert sum(map(len, train.values())) == int(row['runs']) == 16, row
    left, seen = set(train), 1
    while len(left) > 1:
        assert all(set(range(seen)) <= set(train[s]) for s in left)
        order = sorted(left, key=lambda s: (mean([train[s][r] for r in range(seen)]), s))
        left = set(order[:(len(left) + 1) // 2])
        seen *= 2
    winner, = left
    assert all(max(of) < 4 for of in train.values())
    for file in ('busy', 'quiet'):
        judged = runs[policy, file]
        assert set(judged) == {0, winner} and all(set(of) == {4, 5, 6, 7} for of in judged.values()), (policy, judged.keys())
    test = mean([mean(runs[policy, f][winner].values()) for f in ('busy', 'quiet')])
    assert abs(float(row['test']) - test) < 1e-6 * test, (row, test)
# The first of the settings has the defaults, the others lie from a quarter of them to four times.
limits = [float(re.search(r'limit_1: ([0-9.]+)', text)[1]) for _, text in sorted(db.execute(
    "select distinct variant, resolved_yaml from run where variant like 'gittins%=shop'"))]
assert limits[0] == 3250 and len(set(limits)) == 8 and all(3250 / 4 <= of <= 3250 * 4 for of in limits), limits
PY
audit='by successive halving with at most 16 of 20 runs each, on replications 0 to 3 of shop.yaml. Judged on replications 4 to 7 of busy.yaml, quiet.yaml, which were not seen.'
expect 0 search --resume -o tune.db --tune multifactor,gittins --budget 20 --test busy.yaml,quiet.yaml -n 4
has stdout "$audit"
for policy in multifactor gittins; do
    matches stdout "^$policy .* 8 +16 "
done
expect 0 "$WEIR_BIN" compare tune.db
has stdout "$audit"
hasnt stdout 'shop.yaml  '
if command -v gnuplot >/dev/null; then
    expect 0 "$WEIR_BIN" report tune.db -o tune.html
    has tune.html 'Comparison of the variants' # of the runs that judge
    hasnt tune.html 'not comparable'
    expect 0 search -o own.db --tune multifactor,gittins --budget 8 -n 2
    expect 0 "$WEIR_BIN" report own.db -o own.html
    has own.html ' of the same, which were not seen and differ in arrivals, kinds of jobs drawn and service times.'
    hasnt own.html 'not comparable'
    has tune.html "$audit"
fi
expect 2 search --tune multifactor,gitins --budget 20
has stderr "--tune: there is no policy 'gitins'"
expect 2 search --tune multifactor
has stderr '--tune needs a --budget'

# What was tuned on judges nothing: the same scenario under another name, jobs of the same trace, and
# other replications of what draws nothing.
echo 'id,submit,run,gpus' >jobs.csv
for ((i = 0; i < 60; i++)); do echo "j$i,$((i * 240)),$((600 + i * 37 % 1800)),$((1 + i % 4))" >>jobs.csv; done
cp jobs.csv copy.csv
echo '{"name": "jobs", "summary": "jobs", "fields": {"name": {"column": "id"}, "gpus": {"column": "gpus"},
    "submit": {"column": "submit", "unit": "s"}, "run": {"column": "run", "unit": "s"}}}' >jobs.json
cat >first.yaml <<'Y'
schema: 2
name: first
replications: 2
cluster: {nodes: [{name: n, count: 1, cpus: 8, gpus: {h100: 4}}]}
sched: {placement: fgd, queueing: fcfs}
goal: {min: slowdown mean}
jobs: [{name: work, trace: jobs.csv, columns: jobs.json, count: 30}]
Y
sed 's/name: first/name: same/;s/jobs.csv/copy.csv/;s/count: 30/first_row: 21/' first.yaml >same.yaml
sed 's/name: first/name: rest/;s/count: 30/first_row: 31/' first.yaml >rest.yaml
tune() { "$WEIR_BIN" search first.yaml -q --force -o first.db --tune multifactor,gittins --budget 4 "$@"; }
expect 2 tune
has stderr "--tune: replications of first.yaml differ in only the policies' own draws: what judges would be what was tuned on"
expect 2 tune --test first.yaml
has stderr '--test: first.yaml is the scenario that is tuned on'
expect 2 tune --test ./first.yaml
has stderr '--test: ./first.yaml is the scenario that is tuned on'
expect 2 tune --test rest.yaml,same.yaml
has stderr '--test: 10 of the 40 jobs and items of same.yaml are such of first.yaml, which is tuned on'
expect 0 tune --test rest.yaml
matches stdout '^slowdown mean: .* is best where nothing was tuned; less is better\.'
