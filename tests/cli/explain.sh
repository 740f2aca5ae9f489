# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Why a job waited, who held what it asked for, and what became of it; by the worker rows, which know
# nothing of the denials, the holders were where they are said to be.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'

# json FILE EXPRESSION: a value of the document `d`, by Python.
json() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}

# ask DB SQL
ask() {
    python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")' "$@"
}

# Every holder lived on that node, and GPU, when the denial was made, or was started by the decision.
holders_are_real() {
    python3 - "$1" <<'PY' || fail "holders of $1"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
rows = db.execute("""SELECT v.t_s, v.node_name, v.gpu, w.created_s, w.ended_s, n.name, w.gpu_mask,
    EXISTS (SELECT 1 FROM action s WHERE s.decision = v.decision AND s.worker = w.worker
            AND s.verb = 'start'), v.workload, v.job, w.workload, w.job FROM v_denial v
    JOIN worker w ON w.worker = v.holder JOIN node n ON n.node = w.node""").fetchall()
for t, node, gpu, since, until, where, mask, fresh, *owners in rows:
    assert node == where and (gpu is None or mask >> gpu & 1), (t, node, gpu, where, mask)
    assert fresh or since <= t and (until is None or until >= t), (t, since, until)
    assert owners[1] is None or owners[:2] != owners[2:], owners
assert len(rows) > 10, rows
PY
}

# The mixed cluster: a gang of four waits for GPUs that stages hold, a single job for one that
# notebooks hold.
mixed() {
    local job
    expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/examples/mixed_cluster.yaml" -q -o mixed.db \
        --set catalog.gpu_types.h100.speed=1 --set catalog.gpu_types.t4.speed=1
    holders_are_real mixed.db
    job=$(ask mixed.db "SELECT 'train/' || name FROM v_job WHERE label_name = 'train/gang'
        AND wait_s > 60 ORDER BY submit_s LIMIT 1")
    expect 0 "$WEIR_BIN" explain mixed.db --job "$job"
    has stdout "job $job (number "
    has stdout 'asks for 4 × (4 CPU + 2 GPU)'
    has stdout '; lacks: GPU'
    matches stdout '^    nearest to room: [aht]-[0-9] GPU [0-9], held by$'
    matches stdout '^      (stage|job) [a-z]+/[a-z0-9-]+: [0-9.]+ GPUs? since [0-9:]+ \(worker [0-9]+\)$'
    matches stdout '^  started at .*: rank 0 on .* rank 3 on '
    expect 0 "$WEIR_BIN" explain mixed.db --job "$job" --format json
    [ "$(json stdout 'len(d["attempts"][0]["ranks"]), d["waits"][0]["device"]')" = "(4, 'GPU')" ] ||
        fail 'not four ranks, or not GPUs'
    [ "$(json stdout 'len(d["waits"][0]["holders"]) > 0 and all(h["gpus"] > 0 and
        h["since_s"] <= d["waits"][0]["to_s"] for h in d["waits"][0]["holders"])')" = True ] ||
        fail 'no holders'
    # One that lost its node comes back on another one.
    expect 0 "$WEIR_BIN" explain mixed.db --job train/single-10
    matches stdout '^  ended at .*: node lost \(rank 0 on a-1\)$'
    [ "$(grep -c '^  started at' stdout)" -ge 2 ] || fail 'not two attempts'

    # Of pipelines that are over nobody asks for workers, whose plans would take room from jobs.
    [ "$(ask mixed.db "SELECT count(*) FROM action a JOIN decision d USING (run_id, decision)
        WHERE a.verb = 'start' AND a.stage IS NOT NULL AND d.t_s >
        (SELECT max(ended_s) FROM worker WHERE stage IS NOT NULL)")" = 0 ] ||
        fail 'workers of a pipeline that is over'

    # Decisions in a row that change nothing are told once; the rows and these are all there are.
    expect 0 "$WEIR_BIN" explain mixed.db --stage speech
    matches stdout '^  [0-9]+ more until 05:57:00: the same$'
    [ "$(awk '/ more until /{n += $1} /^  [0-9:]+ +[0-9]+ /{n++} END {print n}' stdout)" = \
        "$(ask mixed.db "SELECT count(*) FROM decision_stage d JOIN stage USING (run_id, stage)
            WHERE name = 'speech'")" ] || fail 'not all decisions'
    # As JSON with what the sentences above the table say.
    mv stdout table
    expect 0 "$WEIR_BIN" explain mixed.db --stage speech --format json
    has table "  starts: $(json stdout \
        '"{planned} planned, {started} started, {refused} refused".format(**d["starts"])') by"
    has table "  no room: denied $(json stdout 'sum(n["times"] for n in d["denied"])') times: $(json \
        stdout '", ".join("%s on %d nodes" % n for n in
            max(d["denied"], key=lambda n: n["times"])["nodes"].items())')"

    # While it waits, at a time.
    expect 0 "$WEIR_BIN" explain mixed.db --pending --at 1826.04
    has stdout '1 job waits for 4 CPU + 1 GPU, train/single-1 since 00:30:26'
    has stdout '      job notebooks/small-'
    has stdout 'stage audio/speech has '
    has stdout '      stage video/caption: 0.5 GPU since '
    expect 0 "$WEIR_BIN" explain mixed.db --pending --at 1826.04 --format json
    [ "$(json stdout '[j["who"] for j in d["jobs"]], [s["who"] for s in d["stages"]]')" = \
        "(['train/single-1'], ['video/caption', 'audio/speech'])" ] || fail 'not who waits'
    [ "$(json stdout '{h["who"][:4] for h in d["jobs"][0]["holders"]}')" = "{'job '}" ] ||
        fail 'not the jobs that hold'
    # At the end the pipelines are over and no job waits.
    expect 0 "$WEIR_BIN" explain mixed.db --pending
    has stdout 'nothing waits at 06:00:00'

    expect 0 "$WEIR_BIN" explain mixed.db --worker \
        "$(ask mixed.db "SELECT worker FROM v_job_member WHERE job_name = 'single-1'")"
    has stdout 'of job train/single-1 ran on '
    expect 2 "$WEIR_BIN" explain mixed.db --job singel-1
    has stderr "there is no job 'singel-1' among 71; did you mean 'single-1'?"
    expect 2 "$WEIR_BIN" explain mixed.db --job 1
    has stderr "2 jobs are called '1': notebooks/1 (small-1), train/1 (single-1); say workload/number"
    expect 2 "$WEIR_BIN" explain mixed.db --job 1 --pending
}

# scenario NAME CLUSTER JOBS
scenario() {
    cat >"$1.yaml" <<YAML
schema: 2
name: $1
cluster: {nodes: [$2]}
sched: {placement: first_fit, queueing: ${QUEUEING:-first_fit}}
${4:-}
jobs:
$3
YAML
}

# Three jobs wait, for three causes: too little is free, the only node that could serve is down,
# nothing could ever serve. Each has a reason of its own; the third is told at once, and not only to
# those who ask why it waits.
# covers: S4.31
three_causes() {
    scenario causes '{name: a, cpus: 8, gpus: {a100-80: 2}}, {name: h, cpus: 8, gpus: {h100: 2}}' '
  - name: w
    run_time: const(1 h)
    classes:
      - {name: busy, count: 2, at: 0 s, request: {gpus: 1}, gpu_types: a100-80}
      - {name: short, count: 3, at: 1 min, request: {gpus: 2}, gpu_types: a100-80}
      - {name: lost, count: 1, at: 10 min, request: {gpus: 1}, gpu_types: h100}
      - {name: large, count: 1, at: 11 min, request: {gpus: 4}}' 'horizon: 30 min
timeline: [{at: 5 min, for: 2 h, action: node_down, node: h}]'
    expect 0 "$WEIR_BIN" run causes.yaml -q -o causes.db
    expect 0 "$WEIR_BIN" explain causes.db --pending
    has stdout '3 jobs wait for 1 CPU + 2 GPU on a100-80, the longest w/short-0 since 00:01:00'
    has stdout ': too few free GPUs; lacks: GPU'
    has stdout '      job w/busy-1: 1 GPU since 00:00:00'
    has stdout '1 job waits for 1 CPU + 1 GPU on h100, w/lost-0 since 00:10:00'
    has stdout ': node is down or cordoned; lacks: node'
    has stdout 'h is down since 00:05:00'
    expect 0 "$WEIR_BIN" explain causes.db --pending --at 2min
    hasnt stdout 'is down'
    expect 0 "$WEIR_BIN" explain causes.db --pending --format json
    [ "$(json stdout 'd["nodes_down"]')" = "[{'node': 'h', 'since_s': 300.0}]" ] || fail "$(cat stdout)"
    expect 0 "$WEIR_BIN" explain causes.db --job large-0
    has stdout 'it would not fit, even if all nodes were up and empty'
    has stdout 'refused at 00:11:00'
    local job reasons=()
    for job in short-1 lost-0 large-0; do
        expect 0 "$WEIR_BIN" explain causes.db --job "$job" --format json
        reasons+=("$(json stdout 'd["waits"][0]["reason"]')")
    done
    [ "${reasons[*]}" = 'too few free GPUs node is down or cordoned it would not fit, even if all nodes were up and empty' ] ||
        fail "the reasons are ${reasons[*]}"
    # What there is to do: fewer GPUs a job, the node back, more of them on a node.
    expect 0 "$WEIR_BIN" run causes.yaml -q -o mended.db -S "timeline=[]" \
        -S "cluster.nodes=[{name: a, count: 4, cpus: 8, gpus: {a100-80: 4}}, {name: h, cpus: 8, gpus: {h100: 2}}]"
    expect 0 "$WEIR_BIN" explain mended.db --pending
    has stdout 'nothing waits at 00:30:00'
    expect 0 "$WEIR_BIN" explain causes.db --job w/short-2
    has stdout '  waits since 00:01:00'
    has stdout '    denied as short-0 by decision '
    # What one that waits behind another asks for was never tried, and nobody says it was denied.
    QUEUEING=fcfs scenario behind '{name: n, cpus: 4}' '
  - name: w
    run_time: const(1 h)
    classes:
      - {name: busy, count: 1, at: 0 s, run_time: const(5 min), request: {cpus: 3}}
      - {name: head, count: 1, at: 1 s, request: {cpus: 2}}
      - {name: small, count: 1, at: 2 s, request: {cpus: 1}}
      - {name: leaver, count: 1, at: 3 s, patience: const(5 s), request: {cpus: 2}}' 'horizon: 10 min'
    expect 0 "$WEIR_BIN" run behind.yaml -q -o behind.db
    expect 0 "$WEIR_BIN" explain behind.db --job small-0
    has stdout 'no denial of what it asks for was recorded: others came first'
    # Nor of one that is held back because the service that it calls cannot be reached.
    scenario held '{name: n, cpus: 4}' '
  - name: w
    run_time: const(1 min)
    calls: {service: s, timeout: 10 s, gate: true}
    classes:
      - {name: late, count: 1, at: 20 s, request: {cpus: 1}}' 'horizon: 10 min
services: [{name: s, requests: {arrivals: const(5 s)}, replicas: 1, service: 1 s}]
timeline:
  - {at: 10 s, action: service_down, service: s, for: 30 s}
  - {at: 15 s, action: service_down, service: s, for: 30 s}'
    expect 0 "$WEIR_BIN" run held.yaml -q -o held.db
    expect 0 "$WEIR_BIN" explain held.db --pending --at 30
    has stdout 'no denial of what they ask for was recorded: others came first, they are held back, or'
    has stdout 's is out of reach since 00:00:10: jobs that call it with a gate are held back'
    expect 0 "$WEIR_BIN" explain held.db --pending --at 30 --format json
    [ "$(json stdout 'd["services_down"]')" = "[{'service': 's', 'since_s': 10.0}]" ] || fail "$(cat stdout)"
    # Who asks for the same as the head is denied with it, as long as it waits.
    expect 0 "$WEIR_BIN" explain behind.db --job leaver-0
    has stdout '    denied as head-0 by decision 1 at 00:00:01: too few CPUs'
    has stdout 'left at 00:00:08'
    expect 0 "$WEIR_BIN" explain behind.db --job head-0
    has stdout ': too few CPUs; lacks: CPU'
    has stdout '      job w/busy-0: 3 CPUs since 00:00:00'
}

# The only GPU that is free is the gang's, which waits for the other one: who comes later is told so.
who_reserved_it() {
    scenario reserved '{name: n, cpus: 8, gpus: {h100: 2}}' '
  - name: w
    run_time: const(1 h)
    classes:
      - {name: short, count: 1, at: 0 s, run_time: const(30 s), request: {gpus: 1}}
      - {name: busy, count: 1, at: 0 s, request: {gpus: 1}}
      - {name: gang, count: 1, at: 1 min, members: 2, request: {gpus: 1}}
      - {name: late, count: 1, at: 2 min, request: {gpus: 1}}' 'horizon: 30 min'
    expect 0 "$WEIR_BIN" run reserved.yaml -q -o reserved.db -S sched.hold_mode=reserve
    expect 0 "$WEIR_BIN" explain reserved.db --job late-0
    has stdout '    nearest to room: n GPU 0, reserved for job w/gang-0'
    expect 0 "$WEIR_BIN" run reserved.yaml -q -o free.db
    expect 0 "$WEIR_BIN" explain free.db --job late-0
    has stdout '  started at 00:02:00'
}

# A gang of four on four nodes: its node is lost at 10 s, all ranks end then, and it starts again at
# once on what is left, for there is a spare; the worker rows say where.
# With a decision that takes 5 s to have an effect it runs again after 5 s.
# covers: S1.125
a_gang_comes_back_on_other_nodes() {
    scenario spare '{name: n, count: 5, cpus: 8, gpus: {h100: 2}}' '
  - name: w
    run_time: const(60 s)
    classes: [{name: gang, count: 1, at: 0 s, members: 4, request: {gpus: 2}}]' \
        'timeline: [{at: 10 s, for: 1 h, action: node_down, node: n-1}]'
    expect 0 "$WEIR_BIN" run spare.yaml -q -o spare.db
    [ "$(ask spare.db "SELECT group_concat(DISTINCT outcome) FROM v_job_member WHERE attempt = 1
        AND node_name = 'n-1'")" = 'node lost' ] || fail 'the loss has no row'
    [ "$(ask spare.db "SELECT attempt, start_s, end_s, group_concat(rank || ' ' || node_name, ', ')
        FROM (SELECT * FROM v_job_member ORDER BY attempt, rank) GROUP BY attempt")" = \
        '1|0.0|10.0|0 n-0, 1 n-1, 2 n-2, 3 n-3
2|10.0|70.0|0 n-0, 1 n-2, 2 n-3, 3 n-4' ] || fail 'not on the spare'
    value spare.db restart.latency.max '' 0
    expect 0 "$WEIR_BIN" run spare.yaml -q -o late.db --set sched.latency.base=5s
    value late.db restart.latency.p95 '' 5
    [ "$(ask spare.db 'SELECT outcome, attempts, first_start_s, start_s, wait_s FROM v_job')" = \
        'done|2|0.0|10.0|0.0' ] || fail 'wait_s is not the wait for the first start'
}

# What a trace says of a job is in its row.
names_of_a_trace() {
    printf '%s\n' 'job,who,vc,at,run,gpus' '7001,ann,lab,0,60,1' '7002,bob,lab,1,60,2' >jobs.csv
    cat >map.json <<'JSON'
{"fields": {"name": {"column": "job"}, "user": {"column": "who"}, "group": {"column": "vc"},
  "submit": {"column": "at"}, "run": {"column": "run"}, "gpus": {"column": "gpus"}}}
JSON
    scenario named '{name: n, cpus: 8, gpus: {l4: 2}}' '
  - {name: t, trace: jobs.csv, format: table, columns: map.json}'
    expect 0 "$WEIR_BIN" run named.yaml -q -o named.db
    [ "$(ask named.db "SELECT name, tenant, user, gpus, outcome FROM v_job ORDER BY job")" = \
        '7001|lab|ann|1.0|done
7002|lab|bob|2.0|done' ] || fail 'names are lost'
    expect 0 "$WEIR_BIN" explain named.db --job 7002
    has stdout 'job t/7002 (number 1) of bob in lab asks for 2 GPU'
    has stdout '      job t/7001: 1 GPU since 00:00:00'
}

# Hundreds wait for a GPU that one job holds, while others come and go: the denial is told once.
rows_do_not_grow_with_the_queue() {
    scenario long '{name: n, cpus: 8, gpus: {l4: 1}}' '
  - name: w
    run_time: const(1 s)
    classes:
      - {name: holder, count: 1, at: 0 s, run_time: const(1 h), request: {cpus: 1, gpus: 1}}
      - {name: waits, count: 300, at: 1 s, request: {cpus: 1, gpus: 1}}
      - {name: passes, count: 300, at: 1 s, every: 2 s, request: {cpus: 1}}' 'horizon: 30 min'
    expect 0 "$WEIR_BIN" run long.yaml -q -o long.db
    [ "$(ask long.db 'SELECT sum(denied) > 300 FROM decision')" = 1 ] || fail 'nothing is denied'
    [ "$(ask long.db 'SELECT job_name, holder_name FROM v_denial')" = 'waits-0|job w/holder-0' ] ||
        fail 'not one denial'
    expect 0 "$WEIR_BIN" explain long.db --pending
    has stdout '300 jobs wait for 1 CPU + 1 GPU, the longest w/waits-'
    has stdout '      job w/holder-0: 1 GPU since 00:00:00'
}

mixed
# A limit that keeps a job waiting is on no node: who uses it up is told with all that he holds, and
# no node is nearest to having room.
limits_are_on_no_node() {
    local job reason
    scenario limits '{name: n, count: 2, cpus: 16, gpus: {h100: 4}}' '
  - name: w
    run_time: 50 s
    classes:
      - {name: a, tenant: a, count: 2, members: 2, request: {cpus: 1, gpus: 2}}
      - {name: b, count: 2, request: {cpus: 1}, licences: {solver: 1}}' 'tenants: {a: {quota: {hard: {gpus: 4}}}}
licences: {solver: 1}'
    expect 0 "$WEIR_BIN" run limits.yaml -q -o limits.db
    for job in 'a:a limit of its tenant is reached:2 GPUs and 1 CPU' 'b:too few of a licence are left:1 CPU'; do
        reason=${job#*:}
        expect 0 "$WEIR_BIN" explain limits.db --job "w/${job%%:*}-1"
        matches stdout "^    denied as .*: ${reason%:*}\$"
        has stdout '    used up by ranks that hold'
        matches stdout "^      job w/${job%%:*}-0: ${reason#*:} since 00:00:00 \(worker [0-9]+\)\$"
        hasnt stdout 'nearest to room'
    done
    [ "$(ask limits.db "SELECT count(*), count(node) FROM action WHERE verb = 'deny'")" = '2|0' ] || fail 'a limit has a node'
}

# Where no decision comes any more that is said, also between the last one and the horizon.
no_decision_any_more() {
    cat >between.yaml <<'Y'
schema: 2
name: between
horizon: 60 s
cluster: {nodes: [{name: n, cpus: 8}]}
sched: {scaling: {policy: xenna, interval: 90 s}}
pipelines: [{name: p, input: {items: 500}, stages: [{name: a, cpus: 1, service: 1 s}]}]
Y
    expect 0 "$WEIR_BIN" run between.yaml -q -o between.db
    for words in '--at 60s --decide' '--at 1s --decide=2' '--at 59s --with best_fit'; do
        # shellcheck disable=SC2086
        expect 2 "$WEIR_BIN" explain between.db $words
        matches stderr '^weir: there was no decision at or after [0-9]+ s; the run ended at 60 s$'
        [ ! -s stdout ] || fail "$words: says something all the same"
    done
    expect 2 "$WEIR_BIN" export between.db --to decision --at 60s -o between.json
    [ ! -e between.json ] || fail 'a decision that was not made is written'
    expect 0 "$WEIR_BIN" explain between.db --at 0s --decide=5
    [ "$(wc -l <stdout)" -eq 1 ] || fail 'not the one decision that there was'
}

three_causes
who_reserved_it
a_gang_comes_back_on_other_nodes
names_of_a_trace
rows_do_not_grow_with_the_queue
no_decision_any_more
limits_are_on_no_node
