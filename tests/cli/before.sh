#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What can be said before a run is said before it: names of metrics, jobs and nodes that never find
# each other, what jobs ask for against what is there; and no file goes without a word. Tables fit
# the width that there is.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >jobs.yaml <<'Y'
schema: 2
name: jobs
horizon: 100 h
cluster:
  nodes:
    - {name: a, count: 2, cpus: 64, gpus: {a100-80: 8}}
    - {name: t, count: 3, cpus: 2, gpus: {t4: 4}}
jobs:
  - name: w
    arrivals: {rate: 2 /h}
    classes:
      - {name: any, weight: 3, request: {cpus: 8, gpus: 1}, run_time: exp(2 h)}
      - {name: own, weight: 1, request: {cpus: 8, gpus: 4}, run_time: 3 h}
compare: [{label: one}, {label: two, set: {sched.queueing: fcfs}}]
Y
expect 2 "$WEIR_BIN" compare jobs.yaml --metric througput
has stderr "did you mean 'throughput'?"
[ ! -e jobs.db ] || fail 'something was run'
expect 0 "$WEIR_BIN" compare jobs.yaml --metric 'wait mean' -q -n 1
has stdout 'wait mean'

# 200 jobs come: 150 of 2 GPU hours, 50 of 12; 28 GPUs are there for 100 h.
expect 0 "$WEIR_BIN" show jobs.yaml --format json
has stderr "no stage and no job fits the nodes 't' (3 of them)"
python3 - <<'PY' || fail 'the arithmetic of jobs'
import json
(row,) = json.load(open("stdout"))["jobs"]
assert abs(row["gpu_hours_asked"] - 900) < 1e-6 and abs(row["gpu_hours_there"] - 2800) < 1e-6, row
assert row["gpu_types"] == "any" and row["jobs"] == 200 and row["least_nodes"] == 2, row
PY
# Rows that name a model nobody has do not keep nodes in use.
printf 'id,submit,run,gpus,model\na,0,60,1,a100-80\nb,9,60,1,h10O\n' >rows.csv
cat >rows.json <<'J'
{"name": "rows", "fields": {"name": {"column": "id"}, "submit": {"column": "submit", "unit": "s"},
 "run": {"column": "run", "unit": "s"}, "gpus": {"column": "gpus", "unit": "gpu"}, "models": {"column": "model"}}}
J
sed '/^jobs:/,$d' jobs.yaml >rows.yaml
echo 'jobs: [{name: t, trace: rows.csv, columns: rows.json}]' >>rows.yaml
expect 0 "$WEIR_BIN" check rows.yaml
has stderr "1 of 2 jobs can never run: they accept only GPU models that no node has, as 'h10O'"
has stderr "no stage and no job fits the nodes 't' (3 of them)"
expect 0 "$WEIR_BIN" check "$WEIR_SOURCE_DIR/scenarios/new/jobs.yaml"
[ ! -s stderr ] || fail 'there is nothing to say of it'

# A percent sign that was left out.
expect 0 "$WEIR_BIN" check "$WEIR_SOURCE_DIR/scenarios/new/jobs.yaml" --set jobs.train.arrivals.load=70
has stderr 'is 7000 % of what the GPUs can do; a load of 70 % is written 70%'

# Nothing is replaced without a word.
spans=$WEIR_SOURCE_DIR/scenarios/examples/incident/spans.csv
cp jobs.yaml mine.yaml
expect 3 "$WEIR_BIN" import "$spans" -o mine.yaml
has stderr 'mine.yaml is there already: --force replaces it'
same jobs.yaml mine.yaml
expect 0 "$WEIR_BIN" import "$spans" -o mine.yaml --force
hasnt mine.yaml 'name: jobs'

# Narrow tables: the same cells, in lines of the terminal.
for columns in 80 100; do
    expect 0 env COLUMNS=$columns "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/reference/xenna_plain_n2.yaml"
    sed -n '/^stage/,/^$/p;/^change/,/^$/p' stdout | LC_ALL=C.UTF-8 awk -v most=$columns \
        'length > most { print; bad = 1 } END { exit bad }' || fail "wider than $columns"
    hasnt stdout 'NVENC s'
    has stdout '[best]'
    # Sentences too.
    [ $columns -eq 100 ] || continue
    for scenario in examples/video_pipeline examples/mixed_cluster reference/openb_like; do
        expect 0 env COLUMNS=$columns "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/$scenario.yaml"
        LC_ALL=C.UTF-8 awk -v most=$columns 'length > most { print; bad = 1 } END { exit bad }' stdout ||
            fail "$scenario: wider than $columns"
        tr -s ' \n' '  ' <stdout >narrow
        expect 0 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/$scenario.yaml"
        last=$(tail -n 1 stdout)
        has narrow "$last"
    done
done

# Of a codec engine what a program gets is said, and what that is of the rate in the note.
cat >codec.yaml <<'Y'
schema: 2
name: codec
cluster: {nodes: [{name: n, cpus: 4, gpus: {l40s: 1}}]}
pipelines:
  p:
    input: {items: 1}
    stages: [{name: a, cpus: 1, nvdecs: 1, service: {decode: {codec: h264, frames: 1000}}}]
Y
expect 0 "$WEIR_BIN" show codec.yaml
tr -s ' \n' ' ' <stdout >words
has words 'an engine of l40s decodes 587 frames/s of h264 at 1920 x 1080: the 65 % that a program attains of'
