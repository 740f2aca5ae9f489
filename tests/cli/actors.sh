#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who is where at the end of a run of actors, what of the cluster is in use, who waits for what.
# covers: S4.20 S4.21 S4.22
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >few.yaml <<'Y'
schema: 2
name: few
horizon: 10 min
cluster: {nodes: [{name: a, cpus: 8, gpus: {h100: 2}}, {name: b, cpus: 4}]}
sched: {placement: first_fit, scaling: fixed}
actors:
  - name: s
    roles: {learner: {count: 1, cpus: 4, gpus: 1}, worker: {count: 3, cpus: 3}}
    calls: [{from: worker, to: learner, think: 10 s, cpu: 0.1 s}]
Y
expect 0 "$WEIR_BIN" run few.yaml -o few.db
has stdout '13 CPUs and 1 GPUs asked for   1 actors pending'

# What each role asks for, before anything runs: the plan.
expect 0 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/examples/nexrl_small.yaml"
has stdout 'rl      rollout_worker  1 CPU               8            100     8     0'
has stdout 'rl      trainer         4 CPU + 1 GPU       1              1     4     1'
has stdout 'rl      main            2 CPU               1             10     2     0'

# Used, total and available; total less used is available.
expect 0 "$WEIR_BIN" show few.db
has stdout 'base     CPU         10     12          2'
has stdout 'base     GPU          1      2          1'
has stdout 'base     a     learner       1  4 CPU + 1 GPU'
has stdout 'base     a     worker        1  3 CPU'
has stdout 'base     b     worker        1  3 CPU'
has stdout 'base     worker        1  3 CPU' # pending

# A row an actor, with node and device.
expect 0 "$WEIR_BIN" show few.db --format csv
[ "$(wc -l <stdout)" -eq 4 ] || fail 'not a row an actor'
grep -q '^base,learner,[0-9]*,a,.*4 CPU + 1 GPU' stdout || fail 'the learner is not there'
[ "$(grep -c '^base,worker,' stdout)" -eq 2 ] || fail 'not two workers'

# Why a trainer leaves its GPU idle: three causes.
for cause in gpus=0:'it asked for no GPU' visible_gpus=0:'it sees none of the GPUs that it holds (CUDA_VISIBLE_DEVICES)' \
    uses.gpus=0:'it sees its GPU, and its model lies in the memory of the node'; do
    expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/incidents/i10_gpu_idle.yaml" -o idle.db --force \
        --set actors.rl.roles.trainer.gpus=1 --set "actors.rl.roles.trainer.${cause%%:*}"
    expect 0 "$WEIR_BIN" explain idle.db --stage trainer
    has stdout "trainer computes on CPUs, a step takes 30 times as long: ${cause#*:}"
done

# A rank that cannot join.
expect 1 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/incidents/i15_env_bloat.yaml" -o rank.db \
    --set actors.rl.roles.trainer.needs=LOCAL_RANK --set 'actors.rl.environment=1 KB' --set 'expect=[]'
has stderr 'no variable is called LOCAL_RANK: a process of it will end the system'
has stderr 'trainer 0 has no LOCAL_RANK in its environment'

# Why one is pending.
expect 0 "$WEIR_BIN" explain few.db --pending
has stdout 'worker'
has stdout 'CPU'

# No bound is known of a role: its row says none, not 0.
python3 - <<'P' || fail 'a role has a bound'
import sqlite3, sys
sys.exit(sqlite3.connect("few.db").execute("SELECT count(*), count(bound_workers) FROM stage").fetchone() != (2, 0))
P
