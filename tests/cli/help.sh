#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The front door: eleven commands in three groups and five under them, at most 12 options each; what
# was a command before goes on working, and people are told; `weir help WORD` knows every name, and
# what others call it.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
# argp loses two bytes when it prints the help of a table without options.
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}

expect 0 "$WEIR_BIN" --help
sed -n '/^look$/,/^and under them$/s/^  \([a-z]*\) .*/\1/p' stdout >first
sed -n '/^and under them$/,$s/^  \([a-z]*\) .*/\1/p' stdout >under
[ "$(wc -l <first)" -le 11 ] || fail "$(wc -l <first) commands in three groups"
[ "$(wc -l <under)" -le 5 ] || fail "$(wc -l <under) commands under them"
[ "$(grep -cE '^(look|ask|tell)$' stdout)" -eq 3 ] || fail 'not three groups'
! awk 'length > 108' stdout | grep . || fail 'the help is wide'
cat first under >commands

# options FILE: those of a help.
options() {
    sed -nE 's/^  (-., |    )--([a-z-]+).*/\2/p' "$1" | grep -vxE 'help|usage' || true
}
while read -r command; do
    expect 0 "$WEIR_BIN" "$command" --help
    [ "$(options stdout | wc -l)" -le 12 ] || fail "$command shows $(options stdout | wc -l) options"
    options stdout | sort >shown
    grep -q 'More options' stdout && more=yes || more=
    expect 0 "$WEIR_BIN" "$command" --help-all
    options stdout | sort >all
    [ -z "$(comm -23 shown all)" ] || fail "$command: --help-all has fewer"
    [ "$(comm -13 shown all | wc -l)" -eq 0 ] || [ -n "$more" ] || fail "$command does not say that there are more"
    [ -z "$more" ] || [ "$(comm -13 shown all | wc -l)" -gt 0 ] || fail "$command says that there are more"
    expect 0 "$WEIR_BIN" help "$command"
    has stdout "Usage: weir $command"
done <commands

# Every name of every kind.
for kind in metrics policies charts gpus traces laws; do
    expect 0 "$WEIR_BIN" list "$kind" --format json
    python3 -c '
import json
for row in json.load(open("stdout"))["rows"]:
    for key in ("label", "id", "policy", "name", "map", "law"):
        if row.get(key):
            print(row[key])
' | sort -u >names
    [ "$(wc -l <names)" -gt 3 ] || fail "$kind: $(wc -l <names) names"
    shuf -n 8 --random-source=<(yes) names >some
    while IFS= read -r name; do
        expect 0 "$WEIR_BIN" help "$name"
        [ -s stdout ] || fail "nothing about $name"
    done <some
done
expect 0 "$WEIR_BIN" help cluster.nodes.count
matches stdout '^cluster.nodes\[\].count: whole number'
[ "$(grep -c '^[a-z]' stdout)" -eq 1 ] || fail 'a path is one key'
expect 0 "$WEIR_BIN" help latency p95
has stdout 'id lat.e2e.p95'
expect 0 "$WEIR_BIN" list metrics
mv stdout metrics
expect 0 "$WEIR_BIN" list metric # the word in the singular is the same door
cmp stdout metrics || fail "weir list metric is not weir list metrics"
expect 0 "$WEIR_BIN" list keys
has stdout '# Scenario files'

# What others say.
while read -r word ours; do
    expect 0 "$WEIR_BIN" help "$word"
    has stdout "$word is called $ours here"
done <<'WORDS'
memory ram
scheduler sched
H100 h100
tasks items
jct job time mean
lint check
LATENCY_P95 latency p95
latency-p95 latency p95
p99 latency p99
queue queues
stage stages
Gang gangs
poisson exp
csv export
PDF report
SLO goal
WORDS
expect 0 "$WEIR_BIN" help GPU utilization
has stdout 'GPU utilization is called GPU used here'
expect 0 "$WEIR_BIN" help load # a key of ours, and what others call a command
has stdout 'jobs[].arrivals.load'
has stdout 'load is called import here'
expect 0 "$WEIR_BIN" help lognormal
has stdout 'lognormal(mean, cv)'
expect 0 "$WEIR_BIN" help 'timeline[]'
has stdout 'keys: at, for, action'
for kind in commands laws; do
    expect 0 "$WEIR_BIN" list $kind
    matches <(head -1 stdout) "^${kind%s} +summary$"
done
cat >others.yaml <<'Y'
schema: 2
name: others
horizon: 1 h
cluster: {nodes: [{name: n, cpus: 2, memory: 10 GB, gpus: {H100: 8}}]}
scheduler: {placement: fgd}
pipelines: [{name: p, input: {tasks: 5}, stages: [{name: s, cores: 1, time: 1 s, replicas: 2}]}]
Y
expect 2 "$WEIR_BIN" check others.yaml
for ours in ram h100 items cpus service workers; do
    has stderr "did you mean '$ours'?"
done
hasnt stderr 'scheduler: unknown'

expect 2 "$WEIR_BIN" help thruoghput
has stderr "the metric 'throughput'"
expect 2 "$WEIR_BIN" list polices
has stderr "did you mean 'policies'?"
expect 2 "$WEIR_BIN" simulate
has stderr "did you mean 'run'?"

# Old names: they work, and say so on a terminal alone.
scenario=$WEIR_SOURCE_DIR/scenarios/queueing/mm1.yaml
expect 0 "$WEIR_BIN" validate "$scenario"
[ ! -s stderr ] || fail 'a program is told'
expect 0 "$WEIR_BIN" doctor --format json
expect 0 "$WEIR_BIN" policies fgd
python3 - "$WEIR_BIN" "$scenario" <<'PY' || fail 'people are not told'
import os, pty, sys
said = b""
def read(fd):
    global said
    data = os.read(fd, 4096)
    said += data
    return b""
for words, today in ((["validate", sys.argv[2]], b"validate is called weir check FILE today"),
                     (["trace", "formats"], b"trace formats is called weir list traces today"),
                     (["trace", "info", "none.csv"], b"trace info is called weir show FILE today"),
                     (["snapshot", "none.db"], b"snapshot is called weir export DB --to state today"),
                     (["schema"], b"schema is called weir list keys today"),
                     (["schema", "--format", "json"], b""), (["trace", "convert", "x.csv"], b"")):
    said = b""
    pty.spawn([sys.argv[1], *words], read)
    first = said.split(b"\n")[0]
    assert (b"is called" in first) == (today != b"") and today in first, (words, first)
PY

# check does what validate, upgrade and policies check did; run repeats a database; show reads traces.
expect 0 "$WEIR_BIN" check --resolved --set seed=9 "$scenario"
has stdout 'seed: 9'
expect 0 "$WEIR_BIN" run "$scenario" -q -n 2 -o a.db --set pipelines.0.input.items=500
expect 0 "$WEIR_BIN" run a.db
[ "$(grep -c ' same' stdout)" -eq 2 ] || fail 'not both are the same'
expect 0 "$WEIR_BIN" run a.db --replication 1 -o b.db
[ "$(grep -c ' same' stdout)" -eq 1 ] || fail 'not one'
expect 2 "$WEIR_BIN" run a.db --set seed=3
has stderr 'is of a scenario, and this is a result database'
expect 0 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/examples/jobs_table.csv" \
    --map "$WEIR_SOURCE_DIR/scenarios/examples/jobs_table.json"
has stdout 'jobs'
