#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that are large or deep: what is nested without end is refused with its place, and reading is
# linear in what a file lists. Limits of processor time are far above what linear work takes (0.3 and
# 1.9 s) and below the time that all pairs took (10 and more than 14 s).
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# nested OPENING COUNT: a file with so many levels.
nested() {
    awk -v opening="$1" -v count="$2" 'BEGIN {
        printf "schema: 2\nname: "; for (i = 0; i < count; i++) printf "%s", opening; print "" }' >deep.yaml
}
for opening in '[' '{a: '; do
    nested "$opening" 1000000
    expect 2 "$WEIR_BIN" validate deep.yaml
    matches stderr '^deep.yaml:2:[0-9]+: error: is nested more than 64 levels deep$'
done

lines() { seq 100000 | sed "$1"; }
{
    printf 'schema: 2\nname: t\ncluster:\n  nodes:\n'
    lines 's/.*/    - {name: n&, cpus: 4}/'
    printf 'pipelines: [{name: p, input: {items: 1}, stages: [{name: s, cpus: 1, service: 1 s}]}]\n'
} >groups.yaml
{
    printf 'schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 200000}]}\n'
    printf 'pipelines:\n  - name: p\n    input: {items: 1}\n    stages:\n'
    lines 's/.*/      - {name: s&, cpus: 1, service: 1 s}/'
} >stages.yaml
{
    printf 'schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 8}]}\n'
    printf 'pipelines: [{name: p, input: {items: 1}, stages: [{name: s, cpus: 1, service: 1 s}]}]\ncompare:\n'
    seq 20000 | sed 's/.*/  - {label: v&, set: {pipelines.p.input.items: &}}/'
    printf 'expect: [{metric: makespan, variant: v2, op: gt, than_variant: v1}, "makespan < +2%%"]\n'
} >variants.yaml

# listed COUNT WHAT: so many classes of jobs, or tenants.
listed() {
    printf 'schema: 2\nname: t\nhorizon: 1 h\ncluster: {nodes: [{name: n, cpus: 4}]}\n'
    [ "$2" = classes ] || { printf 'tenants:\n' && seq "$1" | sed 's/.*/  - {name: t&}/'; }
    printf 'jobs:\n  - name: j\n    count: 5\n    arrivals: {rate: 20/h}\n    classes:\n'
    seq "$([ "$2" = classes ] && echo "$1" || echo 1)" |
        sed 's/.*/      - {name: c&, run_time: 1 min, request: {cpus: 1}}/'
}
listed 100000 classes >classes.yaml
listed 100000 tenants >tenants.yaml
listed 8000 classes >fewer.yaml

# within SECONDS FILE: it is valid, and found so in that time of the processor.
within() {
    (ulimit -t "$1"; exec "$WEIR_BIN" validate "$2") >stdout 2>stderr ||
        fail "$2 takes more than $1 s of the processor, or is refused: $(head -c 200 stderr)"
}
within 5 groups.yaml
within 12 stages.yaml
within 12 classes.yaml
within 5 tenants.yaml
# A variant is tried without the list of all of them, which it cannot change (2 s; 2 000 took 20).
within 20 variants.yaml
sed 's/set: {pipelines.p.input.items: 2}/set: {"compare[0].label": x}/' variants.yaml >renamed.yaml
(ulimit -t 20; exec "$WEIR_BIN" validate renamed.yaml) >stdout 2>stderr && fail 'a variant may rename another'
has stderr 'error: compare[1].set.compare[0].label: the list of variants is the same in all of them'
# What a run keeps of a class is little until it has many jobs (0.1 GB; it was 1.9).
if ! ldd "$WEIR_BIN" | grep libasan >/dev/null; then
    (ulimit -v 1000000; exec "$WEIR_BIN" run fewer.yaml --no-db -q) >stdout 2>stderr || fail "$(head -c 200 stderr)"
    # The group of a node is found without a walk over all groups (2 s of the program's own; it was 20).
    took=$( (TIMEFORMAT=%U; time WEIR_CHECK_INVARIANTS=0 "$WEIR_BIN" run groups.yaml --no-db -q >stdout 2>stderr) 2>&1) || fail "$(head -c 200 stderr)"
    [ "${took%.*}" -lt 11 ] || fail "running groups.yaml takes $took s of the processor"
fi

# Everything that names a stage finds it without a walk over all of them (2 s; the walk took minutes),
# what it could do at best is found pipeline by pipeline, and a sentence about very many stages names
# the first (1 s; naming all of them took minutes).
# many PIPELINES STAGES: so many, with so many stages each.
many() {
    printf 'schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 200000}]}\npipelines:\n'
    awk -v pipelines="$1" -v stages="$2" 'BEGIN { for (p = 1; p <= pipelines; p++) {
        printf " - name: p%d\n   input: {items: 1}\n   stages:\n", p
        for (s = 1; s <= stages; s++) printf "   - {name: s%d,cpus: 1,service: 1 s}\n", s } }'
}
{
    many 250 320
    printf 'initial:\n  queues:\n'
    awk 'BEGIN { for (i = 0; i < 80000; i++) printf "    p%d.s%d: 1\n", i / 320 + 1, i % 320 + 1 }'
} >named.yaml
within 40 named.yaml
sed 's/cpus: 200000/cpus: 8/' stages.yaml >unfit.yaml
(ulimit -t 20; exec "$WEIR_BIN" validate unfit.yaml) >stdout 2>stderr && fail 'unfit.yaml is valid'
matches stderr 'need 100000 CPUs \(s1 1, s2 1, .*, s12 1, and 99988 more\)'

# More pipelines than a run can hold are refused where they are read, by all who read them.
many 256 1 >crowd.yaml
for command in validate show run; do
    expect 2 "$WEIR_BIN" $command crowd.yaml
    has stderr 'crowd.yaml:5:2: error: pipelines: 256 pipelines, lists of jobs and actor systems in one scenario, 255 are possible'
done
many 255 1 >full.yaml
expect 0 env WEIR_CHECK_INVARIANTS=0 "$WEIR_BIN" run full.yaml --no-db -q
many 255 100 >wide.yaml
(ulimit -t 20; exec "$WEIR_BIN" show wide.yaml) >stdout || fail 'showing 255 pipelines takes more than 20 s of the processor'

# A suite of more points than an experiment may have is refused before they are made.
{
    printf 'suite: many\nscenario: none.yaml\npolicies: {sched.queueing: [fcfs, sjf]}\nblocks:\n  - {'
    for path in a b c d e f g h; do printf '%s: [%s], ' "$path" "$(seq -s , 100)"; done
    printf 'seed: 1}\n'
} >many.suite
(ulimit -t 10; exec "$WEIR_BIN" compare many.suite) >stdout 2>stderr && fail 'many.suite is run'
has stderr 'many.suite:5:5: error: blocks[0]: makes more than 4096 points'
