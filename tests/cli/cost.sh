#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The ledger: parts add up to the whole and are what workers held, by tenant too; a search names the
# cheapest way to a target, which is the one that trying everything finds; goals in use and money.
# covers: S1.101 S1.104 S1.36
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
unset WEIR_CHECK_INVARIANTS

cat >mixed.yaml <<'Y'
schema: 2
name: mixed
horizon: 2 h
warmup: 10 min
catalog: {gpu_types: {h100: {price: 3.9}, t4: {price: 0.35}}}
prices: {cpu: 0.04, storage: 0.09, network: 0.02}
cluster:
  nodes:
    - {name: h, count: 2, cpus: 32, nic: 1 GB/s, gpus: {h100: 4}}
    - {name: t, count: 2, cpus: 16, nic: 1 GB/s, gpus: {t4: 4}}
  stores: {disk: {bandwidth: 1 GB/s}}
sched: {placement: spread, scaling: fixed, queueing: first_fit}
tenants: [{name: all}, {name: lab, parent: all}, {name: shop, parent: all}]
pipelines:
  - name: video
    semantics: event
    input: {items: 500, arrivals: exp(4 s), store: disk, bytes_per_item: 1 GB}
    stages:
      - {name: decode, workers: 3, cpus: 2, service: exp(8 s), bytes_out: 1 GB}
      - {name: caption, workers: 3, cpus: 1, gpus: 1, service: exp(6 s)}
jobs:
  - name: work
    deadline: 20 min
    late_price: 1/h
    arrivals: {rate: 0.4/min}
    classes:
      - {name: one, tenant: lab, run_time: exp(20 min), request: {cpus: 2, gpus: 1}}
      - {name: two, tenant: shop, run_time: exp(9 min), request: {cpus: 1, gpus: 0.5}}
Y
for billing in use nodes; do
    for unit in second hour; do
        expect 0 "$WEIR_BIN" run mixed.yaml -q --force -o $billing.db --set prices.billing=$billing --set prices.granularity=$unit
        python3 - $billing $unit <<'PY' || fail "the ledger of $billing by the $unit"
import math, sqlite3, sys
billing, unit = sys.argv[1:]
db = sqlite3.connect(billing + '.db')
cost = {(m, l): v for m, l, v in db.execute("select metric, label, value from result where metric like 'cost.%'")}
def near(a, b): assert abs(a - b) <= 1e-9 * max(abs(a), abs(b)), (a, b)
# The parts of the total, all there is something of.
kinds = [cost['cost.' + k, ''] for k in ('compute', 'storage', 'network', 'sla')]
assert min(kinds) > 0, kinds
near(sum(kinds), cost['cost.total', ''])
owners = {l: v for (m, l), v in cost.items() if m == 'cost.compute' and l}
assert len(owners) == 4 and min(owners.values()) > 0, owners
near(sum(owners.values()) + cost.get(('cost.idle', ''), 0), cost['cost.compute', ''])
near(cost['cost.tenant', 'lab'] + cost['cost.tenant', 'shop'], cost['cost.tenant', 'all'])
near(cost['cost.tenant', 'lab'], owners['one'])
# What every worker held, for how long, by another way.
end, = db.execute('select max(coalesce(ended_s, 7200)) from worker').fetchone()
step = 3600 if unit == 'hour' else 1
paid = dict.fromkeys(owners, 0.0)
for node, gpu, born, died, stage, owner in db.execute("""
        select n.name, w.gpu_amount, w.created_s, w.ended_s, s.name, l.name from worker w
        join node n using (run_id, node) left join stage s on s.stage = w.stage
        left join job j on j.workload = w.workload and j.job = w.job
        left join job_label l on l.label = j.label"""):
    name = stage or owner
    cpus = {'decode': 2, 'caption': 1, 'one': 2, 'two': 1}[name]
    life = 7200 - born if died is None else died - born
    if died is not None and billing == 'use':
        life = math.ceil(round(life / step, 9)) * step
    paid[name] += (gpu * (3.9 if node[0] == 'h' else .35) + cpus * .04) * life / 3600
for name in owners:
    assert abs(paid[name] - owners[name]) < 1e-6 * owners[name], (name, paid[name], owners[name])
late = sum(max(0, e - s - 1200) for s, e in db.execute("select submit_s, end_s from job where outcome = 'done'"))
assert abs(late / 3600 - cost['cost.sla', '']) < 1e-6, (late / 3600, cost['cost.sla', ''])
if billing == 'nodes':
    near(cost['cost.compute', ''], 2 * (2 * (4 * 3.9 + 32 * .04) + 2 * (4 * .35 + 16 * .04)))
PY
    done
done

# Each time that a node is up is a bill of its own, and what is up at the end has none yet: 100 min
# of one node, of the other 10 min that cost an hour, and the 40 min since it is back.
cat >bills.yaml <<'Y'
schema: 2
name: bills
horizon: 100 min
prices: {billing: nodes, granularity: hour, cpu: 1}
cluster: {nodes: [{name: n, count: 2, cpus: 6}]}
jobs: [{name: work, run_time: 30 min, arrivals: {rate: 2/h}, classes: [{name: one, request: {cpus: 1}}]}]
timeline: [{at: 10 min, action: node_down, node: n-1, for: 50 min}]
Y
expect 0 "$WEIR_BIN" run bills.yaml -q -o bills.db
value bills.db cost.compute '' 20

# The cheapest of two kinds of nodes, each as many as the target takes: all of the grid says the same.
cat >buy.yaml <<'Y'
schema: 2
name: buy
replications: 2
horizon: 8 h
catalog: {gpu_types: {h100: {price: 3.9}, a100-80: {price: 1.1}}}
prices: {billing: nodes}
cluster: {nodes: [{name: n, count: 1, cpus: 8, gpus: {h100: 1}}]}
sched: {placement: fgd}
jobs:
  - name: work
    arrivals: {rate: 0.6/min}
    measured_on: h100
    classes: [{name: one, run_time: exp(10 min), request: {cpus: 1, gpus: 1}}]
compare:
  - {label: h100}
  - {label: a100, set: {cluster.nodes.n.gpus: {a100-80: 1}}}
Y
expect 0 "$WEIR_BIN" search buy.yaml -q -o found.db --such-that 'wait mean <= 5 min' --smallest cluster.nodes.n.count=6..24:2
cp stdout answer
expect 0 "$WEIR_BIN" compare buy.yaml -q -o grid.db -n 2 --axis cluster.nodes.n.count=6..24:2
python3 - <<'PY' || fail 'another way is cheaper'
import re, sqlite3
db = sqlite3.connect('grid.db')
mean = {}
for m, v, c, x in db.execute("""select metric, variant, "cluster.nodes.n.count", avg(value) from v_point
        join result using (run_id) where metric in ('wait.job.mean', 'cost.total') and label = '' group by 1, 2, 3"""):
    mean[m, v, int(c)] = x
fit = {(v, c): mean['cost.total', v, c] for (m, v, c) in mean if m == 'wait.job.mean' and mean[m, v, c] <= 300}
best = min(fit, key=fit.get)
text = open('answer').read()
found = re.search(r'Cheapest: (\S+) at (\d+) costs ([0-9.]+) \$, (\S+) at (\d+) costs ([0-9.]+) \$', text)
assert found, text
assert found.group(1) == best[0] and abs(int(found.group(2)) - best[1]) <= 2, (best, text)
assert found.group(1) != found.group(4) and float(found.group(3)) < float(found.group(6))
PY

# What decides may be money, or use.
expect 0 "$WEIR_BIN" compare buy.yaml -q -o money.db -n 3 --set cluster.nodes.n.count=14 --set 'goal={min: cost}'
has stdout 'Verdict: a100'
expect 0 "$WEIR_BIN" compare buy.yaml -q -o util.db -n 3 --set compare=- --set cluster.nodes.n.count=12 --set 'goal={max: util.gpu.active}' --variant 'few: cluster.nodes.n.count=8' \
    --variant 'many: cluster.nodes.n.count=16'
has stdout 'Verdict: few'

# Prices that nothing reckons with are refused.
expect 2 "$WEIR_BIN" validate buy.yaml --set prices=-
has stderr 'belongs to prices, which the scenario does not have'
expect 2 "$WEIR_BIN" validate buy.yaml --set jobs.work.late_price=1/h
has stderr 'acts with deadline alone'
