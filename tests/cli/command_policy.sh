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
