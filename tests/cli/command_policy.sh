#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The policy `command`: a program decides as a module with the same rule does, and whatever it does
# wrong ends the run with code 4 and its command line.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

examples=$WEIR_SOURCE_DIR/scenarios/examples
scenario=$examples/python_policy.yaml
expect 0 "$WEIR_BIN" validate "$scenario"
expect 0 "$WEIR_BIN" policies command
has stdout timeout
sed 's/, argv: \[.*\], timeout/, timeout/' "$scenario" >bad.yaml
expect 2 "$WEIR_BIN" validate bad.yaml
has stderr 'needs argv'

# Mistakes, without Python.
wrong() { # sentence, shell text of the program, seconds
    printf '%s\n' "$2" >wrong.sh
    expect 4 "$WEIR_BIN" run "$scenario" --no-db --set "sched.scaling.timeout=${3:-20} s" \
        --set "sched.scaling.argv=[bash, '$PWD/wrong.sh']"
    has stderr "bash $PWD/wrong.sh"
    has stderr "$1"
}
wrong 'ended with code 7' 'exit 7'
wrong 'ended by signal 9' 'read -r line; kill -9 $$'
wrong 'no answer within 0.3 s' 'sleep 60 & wait' 0.3
wrong 'no JSON' 'read -r line; echo hello; cat >/dev/null'
wrong 'stages[] is missing' 'read -r line; echo "{}"; cat >/dev/null'
wrong 'more than one line' 'read -r line; printf "{}\n{}\n" >"$0.out"; cat "$0.out" -'
wrong 'there is no stage' 'read -r line; echo "{\"stages\": [{\"name\": \"x\"}]}"; cat >/dev/null'
wrong 'no more ideas' \
    'read -r line; echo "{\"status\": \"error\", \"error_message\": \"no more ideas\"}"; cat >/dev/null'
# The host checks the plan: more CPUs than the node has; a worker that is not there.
wrong 'action 0' 'read -r line
echo "{\"stages\": [{\"name\": \"load\", \"new\": [{\"node\": \"0\", \"cpus\": 65}]}]}"
cat >/dev/null'
wrong '99' 'read -r line
echo "{\"stages\": [{\"name\": \"load\", \"deleted\": [99]}]}"
cat >/dev/null'
expect 4 "$WEIR_BIN" run "$scenario" --no-db --set 'sched.scaling.argv=./no-such-program'
has stderr 'cannot be started'

command -v python3 >/dev/null || skip 'no python3'
digest() {
    sed -n 's/^digest .*result //p' stdout
}
expect 0 "$WEIR_BIN" run "$scenario" --check -o python.db
program=$(digest)
expect 0 "$WEIR_BIN" run "$scenario" --no-db --plugin "$WEIR_PLUGINS/requested.so" \
    --set sched.scaling=requested
[ -n "$program" ] && [ "$program" = "$(digest)" ] || fail "$program is not $(digest)"
expect 0 "$WEIR_BIN" run "$scenario" --no-db -s 2
[ "$program" != "$(digest)" ] || fail 'the digest says nothing'

# It is found again beside the scenario, from anywhere.
mkdir elsewhere
cp "$scenario" "$examples/policy.py" elsewhere
expect 0 "$WEIR_BIN" run elsewhere/python_policy.yaml --quiet -o copy.db
expect 0 "$WEIR_BIN" rerun copy.db
hasnt stderr 'not there'
echo '# changed' >>elsewhere/policy.py
expect 0 "$WEIR_BIN" rerun copy.db
has stderr 'input file policy.py changed since'

# Taking over in the middle of a run.
{
    sed 's/scaling: {policy: command.*/scaling: {policy: fixed, interval: 60 s}/' "$scenario"
    echo 'timeline:'
    echo '  - {at: 2 min, action: set, set: {sched.scaling.policy: command, sched.scaling.argv: [python3, policy.py]}}'
} >elsewhere/swap.yaml
expect 0 "$WEIR_BIN" run elsewhere/swap.yaml --no-db

# Placement and queueing: the state once, then what changed; the rule of a built-in policy gives its
# decisions, each kind alone and both at once. Nodes go down, a tenant's limit keeps jobs waiting.
command -v sqlite3 >/dev/null || skip 'no sqlite3'
cat >jobs.yaml <<'Y'
schema: 2
name: jobs
horizon: 4 d
tenants: [{name: a, quota: {hard: {gpus: 12}}}, {name: b}]
cluster: {nodes: [{name: n, count: 3, cpus: 64, gpus: {h100: 8}}, {name: c, count: 1, cpus: 96}]}
timeline:
  - {at: 1 d, action: node_down, node: n-1, for: 6 h}
  - {at: 2 d, action: node_down, node: n-0, for: 1 h}
sched: {placement: first_fit, queueing: fcfs}
jobs:
  - name: day
    arrivals: {rate: 0.002}
    classes:
      - {name: one, weight: 4, tenant: a, request: {gpus: 1, cpus: 4}, run_time: exp(1 h)}
      - {name: part, weight: 3, tenant: b, request: {gpus: 0.3, cpus: 2}, run_time: exp(1 h)}
      - {name: node, weight: 2, tenant: b, request: {gpus: 8, cpus: 8}, run_time: exp(2 h)}
      - {name: gang, weight: 1, tenant: a, members: 3, request: {gpus: 4, cpus: 8}, run_time: exp(1 h)}
Y
cat >place.py <<'PY'
import json, sys
nodes, lines = {}, 0
for line in map(json.loads, sys.stdin):
    assert ("format" in line) == (lines == 0) and (lines or len(line["nodes"]) == 4)
    lines += 1
    nodes.update((n["id"], n) for n in line["nodes"])
    shape = line["shape"]
    def fits(n):  # its picture of the nodes says the same as the list
        return n["up"] and n["cpus"] > shape["cpus"] - 1e-9 and (
            sum(g > shape["gpus"] - 1e-9 for g in n["gpus"]) >= shape["gpu_count"])
    assert [i for i, n in nodes.items() if fits(n)] == line["fits"], (line, nodes)
    node = line["fits"][0]  # as it was told, or as a number
    print(json.dumps({"node": node if lines % 2 else int(node)}), flush=True)
PY
cat >order.py <<'PY'
import json, sys
waiting, gone = {}, 0
for line in map(json.loads, sys.stdin):
    for job in line["gone"]:
        del waiting[job]
    gone += len(line["gone"])
    waiting.update((job["id"], job) for job in line["jobs"])
    key = {"sjf": "estimate_s", "smallest": "gpus", "first_fit": "submit_s"}[sys.argv[1]]
    print(json.dumps({"keys": {job["id"]: job[key] for job in line["jobs"]}}), flush=True)
print("gone:", gone, "left:", len(waiting), file=sys.stderr)
PY
sed 's/, quota: {[^}]*}}//' jobs.yaml >free.yaml
decided() { # FILE SETS...
    local set sets=()
    for set in "${@:2}"; do sets+=(--set "$set"); done
    expect 0 "$WEIR_BIN" run "$1" --force -q -o decided.db "${sets[@]}"
    sqlite3 decided.db "SELECT t_s, verb, job, worker, node FROM action JOIN decision
        USING (run_id, decision) WHERE verb IN ('start', 'preempt') ORDER BY decision, seq"
    [ "$1" = jobs.yaml ] || sqlite3 decided.db 'SELECT event_digest, result_digest FROM run'
}
place='sched.placement={policy: command, argv: [python3, place.py]}'
for rule in sjf smallest first_fit; do
    passes=
    [ $rule = sjf ] || passes=', passes: true'
    order="sched.queueing={policy: command, argv: [python3, order.py, $rule]$passes}"
    # In strict order fcfs and its like keep a job that found no room at the head, also when a limit
    # of its tenant would now let others by: the program is asked about all anew.
    for file in $([ $rule = sjf ] || echo jobs.yaml) free.yaml; do
        decided $file sched.queueing=$rule >built_in
        [ "$(wc -l <built_in)" -gt 300 ] || fail "$(wc -l <built_in) decisions"
        decided $file "$order" "$place" >program
        same built_in program
    done
    decided free.yaml sched.queueing=$rule "$place" >program
    same built_in program
    decided free.yaml "$order" >program
    same built_in program
    matches stderr '^gone: [3-9][0-9][0-9] left: [0-9]*$'
    # Who has gone is told of, but for those of the last pass.
    never=$(sqlite3 decided.db 'SELECT count(*) FROM job WHERE first_start_s IS NULL')
    [ "$(sed -n 's/.* left: //p' stderr)" -le $((never + 4)) ] || fail 'not all are told that are gone'
done
expect 0 "$WEIR_BIN" check --resolved jobs.yaml --set "$place" --set "$order"
has stdout order.py

# What a program does wrong ends the run, and which program it was is said.
wrong_kind() { # sentence, kind
    expect 4 "$WEIR_BIN" run jobs.yaml --no-db --set "$place" --set "$order" \
        --set "sched.$2={policy: command, argv: [bash, wrong.sh]}"
    has stderr 'bash wrong.sh'
    has stderr "$1"
}
wrong() { # sentence, kind, what it answers
    printf 'while read -r line; do printf "%%s\\n" %q; done\n' "$3" >wrong.sh
    wrong_kind "$1" "$2"
}
wrong 'node is no id of a node' placement '{}'
wrong 'node is no id of a node' placement '{"node": "77"}'
wrong 'does not fit on node 3' placement '{"node": "3"}'
wrong 'no JSON' placement 'n-0'
wrong 'keys{} is missing' queueing '{}'
wrong 'keys{} is no number' queueing '{"keys": {"0/0": "first"}}'
wrong "lacks job '0/0'" queueing '{"keys": {}}'
wrong "no job '9/9' waits" queueing '{"keys": {"9/9": 1}}'
wrong "no job '0/0x' waits" queueing '{"keys": {"0/0x": 1}}'
echo 'exit 7' >wrong.sh
wrong_kind 'ended with code 7' queueing
wrong_kind 'ended with code 7' placement
expect 2 "$WEIR_BIN" validate jobs.yaml --set sched.queueing=command
has stderr 'needs argv'
# To take none of the places is an answer: the job waits.
printf 'while read -r line; do echo "{\\"node\\": null}"; done\n' >wrong.sh
decided jobs.yaml 'sched.placement={policy: command, argv: [bash, wrong.sh]}' >none
[ ! -s none ] || fail 'jobs started nowhere'
