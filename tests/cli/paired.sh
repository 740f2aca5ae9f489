# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A change is tried on equal demands before it is rolled out: two equal arms differ in nothing at all,
# and an arm that serves 5 % more slowly is found in 20 replications, which differ among themselves.
# covers: S1.138
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >arms.yaml <<'YAML'
schema: 1
name: arms
description: one change before it is rolled out
horizon: 2 h
warmup: 10 min
cluster: {nodes: [{name: n, cpus: 16, gpus: {l4: 4}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 180 s}}
pipelines:
  - name: p
    input: {items: 100000}
    stages:
      - {name: read, cpus: 1, service: exp(1 s), setup: 5 s, source: guess}
      - {name: infer, cpus: 1, gpus: 1, service: "lognormal(2 s, 2)", setup: 20 s, source: guess}
compare:
  - {label: as it is}
  - {label: the same}
  - {label: slower, set: {pipelines.p.stages.infer.service: "lognormal(2.1 s, 2)"}}
YAML
expect 0 "$WEIR_BIN" compare arms.yaml -n 20 -q -o arms.db
matches stdout '^ +the same .* no difference$'
matches stdout '^ +slower .* -[45][.][0-9]+ % .* worse p<0[.]001$'
expect 0 "$WEIR_BIN" report arms.db -o arms.html
matches arms.html '</td><td class="[a-z]*">[^<]*<small>no difference</small></td>'
hasnt arms.html '<small>tie</small>'
python3 - arms.db <<'PY'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "select variant, metric, label, replication, value from v_result").fetchall()
arms = {}
for variant, metric, label, replication, value in rows:
    arms.setdefault(variant, {})[metric, label, replication] = value
same, base, slower = arms["the same"], arms["as it is"], arms["slower"]
assert len(base) > 1000 and base.keys() == same.keys()
different = [key for key in base if base[key] != same[key]]
assert not different, f"equal arms differ in {different[:5]}"
rates = [base["thr.pipeline", "", r] for r in range(20)]
assert len(set(rates)) >= 15, rates
# 20 differences of one sign: the slower arm loses under each of the demands.
assert all(slower["thr.pipeline", "", r] < rates[r] for r in range(20))
PY

# Equal draws save replications: of the mean time in M/M/1 at load .8 the difference between services of
# mean 1 and 1 / 1.05 varies a fifth or less of what it would between runs with draws of their own.
expect 0 "$WEIR_BIN" compare "$WEIR_SOURCE_DIR/scenarios/queueing/mm1.yaml" -n 40 -q -o mm1.db --set 'horizon=20000 s' \
    --set 'warmup=2000 s' --variant 'faster: pipelines.queue.stages.server.service=exp(0.952380952 s)'
python3 - mm1.db <<'PY'
import sqlite3, statistics, sys
arms = {}
for variant, replication, value in sqlite3.connect(sys.argv[1]).execute(
        "select variant, replication, value from v_result where metric = 'lat.e2e.mean' and label = ''"):
    arms.setdefault(variant, {})[replication] = value
base, faster = arms["base"], arms["faster"]
apart = statistics.variance(base.values()) + statistics.variance(faster.values())
paired = statistics.variance([faster[r] - base[r] for r in base])
assert len(base) == 40 and apart >= 5 * paired, (apart, paired)
PY
