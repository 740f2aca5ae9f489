#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Which nodes work is on: node_selector, node_preference, nodes that are kept.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

examples=$WEIR_SOURCE_DIR/scenarios/examples
on_nodes() { # DB VARIANT: group of nodes, role, workers
    sqlite3 "$1" "SELECT g || ' ' || role || ' ' || count(*) FROM (
        SELECT rtrim(rtrim(n.name, '0123456789'), '-') AS g, s.name AS role
        FROM worker w JOIN run r USING (run_id) JOIN node n USING (run_id, node)
        JOIN stage s ON s.run_id = w.run_id AND s.stage = w.stage WHERE r.variant = '$2')
        GROUP BY g, role ORDER BY g, role"
}

command -v sqlite3 >/dev/null || exit 77

# Loaders and validators on GPU nodes, rollouts on CPU nodes: 48 of 256 CPUs there, 256 of 512 here, and
# 8 of 64 GPUs.
# covers: S4.14
expect 0 "$WEIR_BIN" compare "$examples/nexrl_large.yaml" --check -o large.db
sqlite3 large.db "SELECT n.type, sum(s.cpu_assigned), sum(s.gpu_assigned)
    FROM node_sample s JOIN node n USING (run_id, node) JOIN run r USING (run_id)
    WHERE r.variant = 'selected' AND s.t_s = (SELECT max(t_s) FROM node_sample) GROUP BY n.type" >held
printf 'cpu|256.0|0.0\ngpu|48.0|8.0\n' >expected
same held expected
on_nodes large.db selected >there
printf 'cpu rollout_worker 256\ngpu data_loader 8\ngpu train 8\ngpu validator 8\n' >expected
same there expected

# An actor whose only node is lost fails; one that prefers it goes elsewhere.
# covers: S4.26
expect 0 "$WEIR_BIN" compare "$examples/node_affinity.yaml" --check -o affinity.db
has stdout 'actors of keeper may be on store alone, which is down'
on_nodes affinity.db soft_dead >there
printf 'work client 2\nwork keeper 4\n' >expected
same there expected
on_nodes affinity.db soft_busy >there
printf 'store keeper 4\nwork client 2\n' >expected
same there expected
expect 0 "$WEIR_BIN" explain affinity.db --pending --variant soft_busy
has stdout 'stage bound/keeper has 4 workers and is to have more of 1 CPU, rather on store'

# One node of a group, by its name.
expect 0 "$WEIR_BIN" run "$examples/node_affinity.yaml" -o one.db \
    --set actors.bound.roles.keeper.node_selector='[work-1]'
[ "$(sqlite3 one.db "SELECT group_concat(DISTINCT n.name) FROM worker w JOIN node n USING (run_id, node)
    JOIN stage s USING (run_id, stage) WHERE s.name = 'keeper'")" = work-1 ] || fail 'keepers are elsewhere'

# Nobody who does not ask is ever on kept nodes, and who borrows is there last.
# covers: S4.37
expect 0 "$WEIR_BIN" compare "$examples/node_pools.yaml" --check -o pools.db
on_nodes pools.db apart >there
printf 'cpu evaluator 1\ncpu rollout 63\ndisks store 6\ngpu trainer 4\n' >expected
same there expected
on_nodes pools.db lent >there
printf 'cpu rollout 64\ndisks evaluator 2\ndisks store 6\ngpu trainer 4\n' >expected
same there expected
expect 0 "$WEIR_BIN" show "$examples/node_pools.yaml"
has stdout '1 CPU on storage'

# Whoever finds no node but kept ones, or none with his labels, is told so.
cp "$examples/node_pools.yaml" walls.yaml
expect 0 "$WEIR_BIN" run walls.yaml -o walls.db --set cluster.nodes.cpu.kept=true \
    --set actors.train.roles.store.cpus=9
has stderr 'waits for ever: no node with the labels of its node_selector (storage) has room for it'
expect 0 "$WEIR_BIN" explain walls.db --pending
has stdout 'node is kept for others; lacks: a node that is not kept for others'

# A module that looks at CPUs alone is found out, whichever way it errs.
expect 4 "$WEIR_BIN" run "$examples/node_affinity.yaml" -o heedless.db --plugin "$WEIR_PLUGINS/anywhere.so" \
    --set sched.placement=hostile --set actors.bound.roles.keeper.node_selector='[store]'
has stderr 'node 0 has no label 0'
expect 4 "$WEIR_BIN" run "$examples/node_affinity.yaml" -o heedless.db --plugin "$WEIR_PLUGINS/anywhere.so" \
    --set sched.placement=hostile --set cluster.nodes.work.kept=true --force
has stderr 'node 0 is kept for others'
