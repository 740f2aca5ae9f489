# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Three levels decide: who of the waiting jobs is next (queueing), where something goes (placement), how
# the work of one pipeline is spread over its stages (scaling). Each is exchanged alone, and changes what
# it decides and nothing of what the others do. Jobs take GPUs alone, stages CPUs alone, so that no level
# is seen through another one's room.
# covers: S1.24
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >levels.yaml <<'YAML'
schema: 2
name: levels
horizon: 10 min
cluster: {nodes: [{name: n, count: 2, cpus: 16, gpus: {l4: 4}}]}
sched: {placement: first_fit, queueing: fcfs, scaling: {policy: equal_split, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 100000}
    stages:
      - {name: fast, cpus: 1, service: 1 s}
      - {name: slow, cpus: 1, service: 3 s}
jobs:
  - name: w
    classes:
      - {name: all, count: 1, at: 0 s, run_time: const(60 s), members: 8, request: {cpus: 0, gpus: 1}}
      - {name: large, count: 1, at: 1 s, run_time: const(60 s), members: 6, request: {cpus: 0, gpus: 1}}
      - {name: small, count: 1, at: 2 s, run_time: const(30 s), members: 3, request: {cpus: 0, gpus: 1}}
YAML
for level in same queueing=smallest placement=spread scaling.policy=inverse_speed; do
    more=(-S "sched.$level")
    [ "$level" = same ] && more=()
    expect 0 "$WEIR_BIN" run levels.yaml -q -o "${level%%[.=]*}.db" "${more[@]}"
done

# What each level decided (of scaling: all workers there ever were, 8 of the slow stage being started
# in the place of as many of the fast one), and that every row of an action says whose it is.
python3 - <<'PY'
import sqlite3

def decided(name):
    db = sqlite3.connect(name + ".db")
    rows = db.execute("SELECT level, verb, stage IS NULL, job IS NULL, placement IS NULL, nodes_seen IS NULL"
                      " FROM v_action").fetchall()
    assert rows
    for level, verb, no_stage, no_job, no_placement, nobody_looked in rows:
        assert level == ("queueing" if no_stage else "scaling"), (level, verb)
        assert no_stage != no_job and no_placement == nobody_looked, (level, verb)
    assert {row[:2] for row in rows} >= {("queueing", "start"), ("queueing", "deny"), ("scaling", "start")}
    of = lambda sql: sorted(db.execute(sql).fetchall())
    return {"queueing": of("SELECT name, round(start_s) FROM job"),
            "placement": of("SELECT DISTINCT job, node FROM worker WHERE job = 2"),
            "scaling": of("SELECT stage, count(*) FROM worker WHERE stage IS NOT NULL GROUP BY stage")}

base = decided("same")
assert base["queueing"] == [("all-0", 0.0), ("large-0", 60.0), ("small-0", 120.0)], base
assert base["placement"] == [(2, 0)] and base["scaling"] == [(0, 16), (1, 16)], base
for level, wanted in (("queueing", [("all-0", 0.0), ("large-0", 90.0), ("small-0", 60.0)]),
                      ("placement", [(2, 0), (2, 1)]), ("scaling", [(0, 16), (1, 24)])):
    seen = decided(level)
    assert seen[level] == wanted, (level, seen[level])
    for other in base:
        assert other == level or seen[other] == base[other], (level, other, seen[other])
PY
