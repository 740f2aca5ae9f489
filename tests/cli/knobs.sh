#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every knob of every policy that comes with weir (thresholds, cool-downs, weights of queues, shares that
# are reserved) can be set from the command line, stands in the resolved scenario, and has a range
# outside of which it is refused.
# covers: S1.137
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3 program'

cat >knobs.yaml <<'Y'
schema: 2
name: knobs
horizon: 1 h
cluster: {nodes: [{name: n, count: 1, cpus: 8, gpus: {h100: 1}, supply: {max: 4}}]}
pipelines: [{name: p, input: {items: 10}, stages: [{name: a, cpus: 1, service: 1 s}]}]
services: [{name: s, requests: {count: 9, arrivals: exp(1 s), classes: [{name: c, timeout: 9 s}]}, replicas: 1, service: 1 s}]
jobs: [{name: j, classes: [{name: c, count: 1, run_time: 60 s, request: {cpus: 1}}]}]
Y
cat >knobs.py <<'PY'
import json, os, subprocess
weir = os.environ['WEIR_BIN']
def documents(*words):
    text = subprocess.run([weir, 'policies', *words, '--format', 'json'], check=True, capture_output=True, text=True).stdout.strip()
    while text:
        document, end = json.JSONDecoder().raw_decode(text)
        text = text[end:].strip()
        yield document['rows']
def validate(*sets):
    words = [word for one in sets for word in ('--set', one)]
    done = subprocess.run([weir, 'validate', '--resolved', 'knobs.yaml', *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr
knobs = refused = 0
seen = []
for policy in next(documents()):
    kind, name = policy['kind'], policy['policy']
    seen.append(name)
    if name == 'command': continue  # needs a program
    found = list(documents(name))[seen.count(name) - 1]  # of one name in several kinds, in their order
    sets, wrong = [], []
    for knob in found:
        low, _, high = knob['range'].partition(' to ')
        if knob['kind'] == 'choice': value, outside = knob['range'].split()[-1], 'nonsense'
        elif knob['kind'] == 'flag': value, outside = str(knob['default'] != 'true').lower(), 'perhaps'
        elif knob['kind'] in ('number', 'count', 'duration'):
            value, outside = knob['default'] if knob['default'] != 'none' else low, repr(float(high) * 2 + 1)
        else: continue
        sets.append((knob['parameter'], value))
        wrong.append((knob['parameter'], outside))
    prefix = 'services.s.batching' if kind == 'batching' else f'sched.{kind}'
    # One after the other: some need another value of a neighbour, and that is said.
    code, out, err = validate(f'{prefix}={name}', *(f'{prefix}.{k}={v}' for k, v in sets))
    if code != 0:
        for k, v in sets:
            code, out, err = validate(f'{prefix}={name}', f'{prefix}.{k}={v}')
            assert code == 0 or k in err, (name, k, v, err)
    else:
        for k, v in sets: assert f'{k}: ' in out, (name, k, out)
    knobs += len(sets)
    code, out, err = validate(f'{prefix}={name}', *(f'{prefix}.{k}={v}' for k, v in wrong))
    assert not wrong or code == 2, (name, wrong)
    for k, v in wrong: assert f'{k}' in err, (name, k, v, err)
    refused += len(wrong)
assert knobs > 150, knobs
print(f'{knobs} knobs set, {refused} refused outside of their ranges')
PY
expect 0 python3 knobs.py
cat stdout
