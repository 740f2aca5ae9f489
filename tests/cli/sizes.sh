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

# within SECONDS FILE: it is valid, and found so in that time of the processor.
within() {
    (ulimit -t "$1"; exec "$WEIR_BIN" validate "$2") >stdout 2>stderr ||
        fail "$2 takes more than $1 s of the processor, or is refused: $(head -c 200 stderr)"
}
within 5 groups.yaml
within 12 stages.yaml

# Everything that names a stage finds it without a walk over all of them (4 s; the walk took minutes),
# and a sentence about very many stages names the first (1 s; naming all of them took minutes).
{
    printf 'schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 200000}]}\npipelines:\n'
    seq 80000 | sed 's/.*/ - {name: p&,input: {items: 1},stages: [{name: s,cpus: 1,service: 1 s}]}/'
    printf 'initial:\n  queues:\n'
    seq 80000 | sed 's/.*/    p&.s: 1/'
} >named.yaml
within 40 named.yaml
sed 's/cpus: 200000/cpus: 8/' stages.yaml >unfit.yaml
(ulimit -t 20; exec "$WEIR_BIN" validate unfit.yaml) >stdout 2>stderr && fail 'unfit.yaml is valid'
matches stderr 'need 100000 CPUs \(s1 1, s2 1, .*, s12 1, and 99988 more\)'
