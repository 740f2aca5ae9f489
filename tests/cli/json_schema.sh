#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The JSON Schema of scenarios: every shipped file passes, a broken one fails where one key and its
# value tell; policies of modules are known when they are named.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
python3 -c 'import jsonschema, yaml' 2>/dev/null || skip 'no python3-jsonschema, python3-yaml'
broken=$WEIR_SOURCE_DIR/tests/golden/broken
judge() { python3 -W ignore "$WEIR_SOURCE_DIR/tests/support/json_schema.py" "$@" >judged; }

expect 0 "$WEIR_BIN" schema --format json
cp stdout weir.schema.json
mapfile -t shipped < <(find "$WEIR_SOURCE_DIR/scenarios" "$WEIR_SOURCE_DIR/docs" -name '*.yaml')
judge weir.schema.json "${shipped[@]}"
! grep -v '^accepts' judged || fail 'a shipped scenario is refused'
[ "$(wc -l <judged)" -gt 100 ] || fail "$(wc -l <judged) scenarios"

# Broken files whose sentence is about one key or value alone.
tells='unknown key|\(choose from|is missing \(|there is no (placement|scaling|queueing) policy|must be at least [0-9.e+]+,|expected (a whole number|true or false)'
mapfile -t told < <(grep -lE "$tells" "$broken"/*.expected | xargs grep -LF .csv: | sed 's/expected$/yaml/' | xargs grep -lE '^schema: 2')
[ "${#told[@]}" -gt 30 ] || fail "${#told[@]} broken scenarios"
judge weir.schema.json "${told[@]}"
! grep '^accepts' judged || fail 'a broken scenario passes'

# One value at a time: what `weir check` accepts passes, what it refuses does not.
count=0
base() {
    cat <<Y
schema: 2
name: a
cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 8}}]}
sched: {placement: ${placement:-fgd}, scaling: ${scaling:-xenna}}
pipelines:
  - name: p
    input: {items: ${items:-100}}
    stages: [{name: ${name:-s}, cpus: ${cpus:-1}, service: ${service:-exp(1 s)}, setup: ${setup:-2 s}}]
horizon: ${horizon:-2 d}
start_time: ${start:-2026-03-02T10:00:00Z}
Y
}
right() {
    count=$((count + 1))
    base >right-$count.yaml
    expect 0 "$WEIR_BIN" check right-$count.yaml
}
wrong() {
    count=$((count + 1))
    base >wrong-$count.yaml
    expect 2 "$WEIR_BIN" check wrong-$count.yaml
}
right
for service in 3 '3.5 s' '"pareto(1 s, 2)"' '"pareto(1 s, 2, 3 s)"' 'const(2 s)' '"lognormal(2 min, 0.5)"' '{value: exp(2 s), source: guess}' '"mixture(1: exp(1 s), 2: const(3 s))"'; do right; done
for service in '"norml(2 s, 1)"' '"gamma(2 s)"' '"exp(2 s, 1)"' '"pareto(1 s)"' 'exp()' '-1' '[1]' '{value: exp(2 s), source: gues}' '"exp(2 s"'; do wrong; done
service=
for setup in 90 '"2 min"' '{time: 2 s}'; do right; done
for setup in '2 parsecs' '"h"' '{tim: 2 s}'; do wrong; done
setup=
for horizon in 1h30m '1 h 30 m' 7200 '"2 h"'; do right; done
for horizon in '2 parsecs' '"h"' '[2 h]' 1h30; do wrong; done
horizon=
for start in '"2026-03-02T10:00:00+01:00"'; do right; done
for start in yesterday 11:03; do wrong; done
start=
for cpus in 0.5 '"2"' 64; do right; done
for cpus in -1 two '[2]'; do wrong; done
cpus=
for items in 1 '"7"'; do right; done
for items in 1.5 -4 07x; do wrong; done
items=
for name in 'a b' 7 '"x+y"'; do right; done
for name in a/b '"-a"' '"$x"' '""'; do wrong; done
name=
for placement in best_fit '{policy: command, argv: [python3, 7]}'; do right; done
for placement in bestfit '{policy: command}' '{policy: best_fit, argv: x}' '{policy: fgd, intervl: 3}'; do wrong; done
placement=
for scaling in '{policy: xenna, interval: 60 s, overallocation: 2}' '{interval: 60 s}'; do right; done
for scaling in '{policy: xenna, overallocation: -2}' '{policy: fixed, overallocation: 2}' '{interval: 0}'; do wrong; done
scaling=
judge weir.schema.json right-*.yaml wrong-*.yaml
! grep -E '^refuses right|^accepts wrong' judged || fail 'weir check says otherwise'
[ "$(grep -c '^accepts' judged)" -gt 20 ] && [ "$(grep -c '^refuses' judged)" -gt 20 ] || fail 'too few values'

# Of a module.
scaling=requested
base >module.yaml
judge weir.schema.json module.yaml
has judged 'refuses module.yaml'
expect 0 "$WEIR_BIN" schema --format json --plugin "$WEIR_PLUGINS/requested.so"
cp stdout weir.schema.json
judge weir.schema.json module.yaml
has judged 'accepts module.yaml'
