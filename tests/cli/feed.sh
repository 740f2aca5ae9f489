# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What production leaves behind, as input: an event file as a timeline.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# head NAME [KEY: VALUE]: a scenario of four nodes with a timeline that follows.
head_of() {
    cat <<YAML
schema: 2
name: $1
start_time: 2026-04-12T11:00:00Z
horizon: 30 min
catalog: {node_types: {dgx: {cpus: 240, ram: 1 TB, gpus: {h100: 8}}}}
cluster: {nodes: [{type: dgx, count: 4}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 100000}
    stages:
      - {name: a, cpus: 1, service: 3 s}
      - {name: b, cpus: 1, gpus: 1, service: exp(2 s)}
YAML
}

# The rows of a file are the entries of a list: by time of day, by stamp of another zone, since the
# start; a row about two nodes is two entries; the words of logs; what is for people is passed over.
{ head_of list; cat <<'YAML'; } >list.yaml
timeline:
  - {at: 180, action: node_down, node: dgx-1}
  - {at: 180, action: node_down, node: dgx-2}
  - {at: 600.5, action: node_up, node: dgx-1}
  - {at: 900, action: stage_slow, stage: b, factor: 2, for: 2 min}
  - {at: 960, action: set, set: {sched.placement: best_fit, sched.scaling.interval: 30 s}}
YAML
{ head_of list; echo 'timeline: {file: events.csv}'; } >file.yaml
cat >events.csv <<'CSV'
time;event;node;stage;factor;for;set;note
11:03;lost;dgx-1 dgx-2;;;;;"a fuse; both on it"
2026-04-12T13:10:00.5+02:00;up;dgx-1;;;;;
900;slow;;b;2;2 min;;
16m;policy;;;;;"sched.placement = best_fit; sched.scaling.interval = 30 s";
CSV
expect 0 "$WEIR_BIN" validate --resolved list.yaml
cp stdout list.resolved
expect 0 "$WEIR_BIN" validate --resolved file.yaml
same list.resolved stdout
expect 0 "$WEIR_BIN" run file.yaml -q -o file.db
[ "$(sqlite3 file.db "SELECT path FROM input_file WHERE path LIKE '%.csv'")" = events.csv ] ||
    fail "the event file is not noted as an input"
[ "$(sqlite3 file.db "SELECT count(*) FROM happening WHERE t_s IN (180, 600.5, 900, 960)")" -ge 5 ] ||
    fail "not all of the rows happened"

# A time of day in a list, and one before the start: the next day, behind the horizon.
expect 0 "$WEIR_BIN" validate --resolved --set 'timeline[0].at=11:03' list.yaml
same list.resolved stdout
expect 2 "$WEIR_BIN" validate --set 'timeline[0].at=10:59' list.yaml
has stderr 'is not before the horizon'
grep -v start_time file.yaml >floating.yaml
expect 2 "$WEIR_BIN" validate floating.yaml
has stderr 'events.csv:3:1: error: timeline[2].at: the run has no start time (start_time)'
# Every row that is wrong is said in one go: tests/golden/broken/timeline_file.yaml.
