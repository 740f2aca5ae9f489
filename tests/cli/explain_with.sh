#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What other policies would have decided at a moment: the plan as it was is the recorded one, that of
# another is what `weir decide` answers to the same state.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

cat >w.yaml <<'YAML'
schema: 2
name: w
seed: 3
horizon: 400 s
cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 4}}]}
sched: {placement: spread, scaling: {policy: equal_split, interval: 100 s}}
pipelines:
  - name: p
    input: {items: 100000}
    stages:
      - {name: read, cpus: 1, service: 1 s}
      - {name: infer, cpus: 1, gpus: 1, service: 9 s}
      - {name: embed, cpus: 1, gpus: 0.5, service: 1 s}
YAML
expect 0 "$WEIR_BIN" run w.yaml -o w.db
expect 0 "$WEIR_BIN" explain w.db --at 100 --with xenna,fgd+inverse_speed --format json
mv stdout plans.json

ask() {
    sqlite3 -readonly w.db "$1"
}
plan() { # POLICY: stage, workers after, of each stage
    ask "SELECT json_extract(s.value, '\$.name'), json_extract(s.value, '\$.workers_after')
        FROM json_each(readfile('plans.json'), '\$.plans') p, json_each(p.value, '\$.answer.stages') s
        WHERE json_extract(p.value, '\$.policy') = '$1'"
}
[ "$(plan 'as it was')" = "$(ask "SELECT g.name, s.workers_after FROM decision_stage s JOIN decision d
        USING (run_id, decision) JOIN stage g USING (run_id, stage) WHERE d.t_s = (SELECT min(t_s)
        FROM decision WHERE t_s >= 100) ORDER BY g.stage")" ] || fail 'the plan as it was'
[ "$(plan xenna)" != "$(plan 'as it was')" ] || fail 'xenna decides as equal_split does'
expect 0 "$WEIR_BIN" explain w.db --at 100 --decide
ask "SELECT json_remove(json_set(readfile('stdout'), '\$.policy.scaling', 'xenna'),
    '\$.policy.scaling_params', '\$.policy.scaling_memory')" >state.json
expect 0 "$WEIR_BIN" decide state.json
[ "$(plan xenna)" = "$(ask "SELECT json_extract(s.value, '\$.name'),
    json_extract(s.value, '\$.workers_after') FROM json_each(readfile('stdout'), '\$.stages') s")" ] ||
    fail 'the plan of xenna'

expect 0 "$WEIR_BIN" explain w.db --at 100 --with xenna
matches stdout '^infer +as it was +[0-9]+ +[0-9]+'
matches stdout '^ +xenna +[0-9]+ +[0-9]+'
# Several kinds may have a policy of one name.
expect 2 "$WEIR_BIN" explain w.db --at 100 --with weir
has stderr "policies of several kinds are called 'weir': write placement=weir"
expect 0 "$WEIR_BIN" explain w.db --at 100 --with scaling=xenna,placement=weir+scaling=xenna
matches stdout '^ +scaling=xenna +[0-9]+ +[0-9]+'
expect 2 "$WEIR_BIN" explain w.db --at 100 --with queueing=xenna
has stderr "there is no policy 'queueing=xenna'"
expect 2 "$WEIR_BIN" explain w.db --at 100 --with xena
has stderr "did you mean 'xenna'"
expect 2 "$WEIR_BIN" explain w.db --at 100 --with sjf
has stderr 'this decision is about no jobs that wait'
expect 2 "$WEIR_BIN" explain w.db --stage infer --with xenna
has stderr "--with belongs to --at"
expect 2 "$WEIR_BIN" explain w.db --at 2h --with xenna
has stderr "no decision at or after"
