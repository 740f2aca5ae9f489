#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every comparison under scenarios/capacity meets its expectations.
# covers: S1.74
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

for file in "$WEIR_SOURCE_DIR"/scenarios/capacity/*.yaml; do
    name=$(basename "$file" .yaml)
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "capacity/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -o "$name.db"
done

# What was cut, when and into what is in the database.
if command -v sqlite3 >/dev/null; then
    sqlite3 mig_repartition.db "SELECT text FROM happening WHERE kind = 'mig_cut'" >events
    has events 'GPU 0 cut into 1g.10gb'
    has events 'GPU 0 cut into 7g.80gb'
fi

# Features: a row a sample, all five groups in it, none of them always 0. Planning reads them.
# covers: S1.60 S1.61
expect 0 "$WEIR_BIN" export features.db --to csv --view v_feature -o features.csv
for column in gpus_asked gpus_asked_hour gpus_asked_day cpus_asked jobs_waiting gpus_waiting \
    jobs_running tasks_waiting day_sin day_cos half_day_sin half_day_cos week_sin week_cos \
    teams_active team_share team_spread job_gpus job_cpus job_gpu_gib; do
    matches features.csv "(^|,)$column(,|$)"
done
if command -v sqlite3 >/dev/null; then
    for column in gpus_asked_day gpus_waiting day_sin team_share job_gpus; do
        [ "$(sqlite3 features.db "SELECT count(DISTINCT $column) > 10 FROM feature_sample")" = 1 ] ||
            fail "$column is always the same"
    done
    [ "$(sqlite3 features.db 'SELECT count(*) FROM feature_sample WHERE run_id = 1')" = 720 ] ||
        fail 'not a row a sample'
fi
expect 0 "$WEIR_BIN" show features.db --ahead 14
matches stdout '^regression +14 +[0-9.]+ +[0-9]+ +60$'
has stdout 'Level, trend and week'
expect 0 "$WEIR_BIN" show features.db --ahead 1 --format json
has stdout '"gpus_most"'
expect 2 "$WEIR_BIN" show features.db --ahead 15
expect 3 "$WEIR_BIN" show step.db --ahead 2
has stderr 'no features were kept'

# Who is sent away from a node is so in the decision that gives it back, by the capacity policy.
if command -v sqlite3 >/dev/null; then
    away="SELECT a.*, (SELECT count(*) FROM v_action r WHERE r.run_id = a.run_id AND r.decision = a.decision
        AND r.verb = 'release_node' AND r.node = a.node AND r.outcome = 'applied') AS given
        FROM v_action a WHERE a.variant = 'kubernetes' AND a.verb = 'preempt'"
    [ "$(sqlite3 ray_autoscaler.db "SELECT count(*) > 20 AND min(given) = 1 AND min(level) = 'capacity' FROM ($away)")" = 1 ] ||
        fail 'somebody is sent away from a node that stays'
    # Decided again from a document: how long the node was not needed is in it.
    when=$(sqlite3 ray_autoscaler.db "SELECT min(t_s) FROM v_action WHERE variant = 'kubernetes' AND verb = 'preempt'")
    expect 0 "$WEIR_BIN" export ray_autoscaler.db --to decision --variant kubernetes --at "${when}s"
    cp stdout document
    expect 0 "$WEIR_BIN" decide document
    has stdout '"preempt"'
    has stdout '"release_node"'
    sed 's/"capacity_memory": *\[[^]]*\]/"capacity_memory": []/' document >forgets
    expect 0 "$WEIR_BIN" decide forgets
    hasnt stdout '"release_node"'
fi

# A notice comes so long before the node goes, and nobody starts there after it.
if command -v sqlite3 >/dev/null; then
    gone="SELECT n.run_id, n.t_s, n.target, (SELECT min(r.t_s) FROM happening r WHERE r.run_id = n.run_id
        AND r.kind = 'node_reclaimed' AND r.t_s >= n.t_s AND r.target = n.target) AS gone_s
        FROM happening n JOIN run USING (run_id) WHERE n.kind = 'node_notice' AND variant = 'two minutes'"
    [ "$(sqlite3 spot_notice.db "SELECT count(*) > 100 AND sum(abs(gone_s - t_s - 120) > 1e-6) <= 3 FROM ($gone)")" = 1 ] ||
        fail 'a notice is not two minutes before'
    [ "$(sqlite3 spot_notice.db "SELECT count(*) FROM ($gone) g JOIN node n ON n.run_id = g.run_id AND n.name = g.target
        JOIN worker w ON w.run_id = g.run_id AND w.node = n.node AND w.created_s > g.t_s + 1e-6 AND w.created_s < g.gone_s")" = 0 ] ||
        fail 'somebody starts on a node that is about to go'
fi

# Nodes that come and go: settings that make them oscillate are warned of, what acts on nothing is
# refused.
# covers: S1.96 S1.100
cp "$WEIR_SOURCE_DIR/scenarios/capacity/threshold.yaml" nodes.yaml
expect 0 "$WEIR_BIN" check nodes.yaml
hasnt stdout 'warning'
expect 0 "$WEIR_BIN" check nodes.yaml --set sched.capacity.t_down='5 min'
has stderr 't_down (300 s) is below 3 x t_up (120 s)'
for setting in cooldown_out=4 cooldown_out=16 cooldown_in=9 cooldown_in=31; do
    expect 0 "$WEIR_BIN" check nodes.yaml --set "sched.capacity.${setting%=*}=${setting#*=} min"
    has stderr "${setting%=*} is ${setting#*=} min"
done
expect 2 "$WEIR_BIN" check nodes.yaml --set cluster.nodes.n.supply=-
has stderr 'no group of cluster.nodes has a supply'
expect 2 "$WEIR_BIN" check nodes.yaml --set cluster.nodes.n.count=5
has stderr '5 nodes at the start, the supply has 4 at most'
expect 2 "$WEIR_BIN" check nodes.yaml --set cluster.nodes.n.count=0
has stderr '0 nodes at the start, the supply has 1 at least'

# Of both: waits no longer than reactive nodes and idles less than foreseen ones, in every replication.
# covers: S1.64
if command -v sqlite3 >/dev/null; then
    of() { echo "SELECT value FROM result JOIN run USING (run_id) WHERE metric = '$1' AND label = '' AND variant = '$2' ORDER BY replication"; }
    for pair in 'wait.job.p95 reactive' 'cost.idle proactive'; do
        set -- $pair
        sqlite3 modes.db "$(of "$1" hybrid)" >hybrid
        sqlite3 modes.db "$(of "$1" "$2")" >other
        paste hybrid other | awk '{ met += $1 <= $2 } END { exit !(NR == 5 && met >= 4) }' ||
            fail "$1 of hybrid and $2 by replication: $(paste -s hybrid other)"
    done
fi

# What was asked for is told, decided again from a document, and the same with a module in a process of
# its own, which the policy of capacity then is in, too.
expect 0 "$WEIR_BIN" run nodes.yaml -q --set compare=- --set expect=- -o nodes.db
expect 0 "$WEIR_BIN" explain nodes.db --at 3720
has stdout 'of nodes it asked for 1 and gave back 0'
expect 0 "$WEIR_BIN" explain nodes.db --at 8520
has stdout 'of nodes it asked for 0 and gave back 2'
expect 0 "$WEIR_BIN" export nodes.db --to decision --at 3720
cp stdout document
has document '"capacity_memory"'
expect 0 "$WEIR_BIN" decide document
has stdout '"request_node"'
sed 's/"up": *1/"up": 4/' document >full
expect 0 "$WEIR_BIN" decide full
hasnt stdout '"request_node"'
for where in '' --in-process; do
    # shellcheck disable=SC2086 # one option, or none
    expect 0 "$WEIR_BIN" run nodes.yaml --set compare=- --set expect=- --set sched.queueing=widest_first \
        --plugin "$WEIR_PLUGINS/queueings.so" $where -o module.db --force
    grep '^digest' stdout >"digest$where"
done
same digest digest--in-process
expect 0 "$WEIR_BIN" explain nodes.db --at 3720 --with none,forecast
matches stdout '^nodes +as it was +- +- +1 +0'
matches stdout '^ +none +- +- +0 +0'
expect 2 "$WEIR_BIN" explain nodes.db --at 3720 --with xenna
has stderr 'this decision is about no stages'

# A module that empties nodes says nothing of whom it may not send away.
expect 0 "$WEIR_BIN" check "$WEIR_PLUGINS/empties_nodes.so"
matches stdout 'plans fit +ok'
