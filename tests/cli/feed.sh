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
catalog: {node_types: {dgx: {cpus: 20, ram: 1 TB, gpus: {h100: 2}}}}
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

# One scenario over another, in another folder: keys, entries by name, what is removed; its data files
# are found from there. Who extends whom is an input of the run; what is resolved stands for itself.
mkdir base
cp events.csv base
printf 'value\n1\n2\n3\n' >base/sample.csv
{ head_of base; echo 'timeline: {file: events.csv}'; } |
    sed 's/exp(2 s)/"empirical(sample.csv, value)"/' >base/base.yaml
cat >over.yaml <<'YAML'
extends: base/base.yaml
name: over
cluster: {nodes: [{type: dgx, count: 3}]}
pipelines:
  p:
    stages: {a: null, b: {gpus: 0.5}, c: {cpus: 2, service: 1 s}}
YAML
{ head_of over; echo 'timeline: {file: base/events.csv}'; } | sed -e 's/count: 4/count: 3/' -e '/name: a,/d' \
    -e 's/gpus: 1, service: exp(2 s)}/gpus: 0.5, service: "empirical(base\/sample.csv, value)"}/' >whole.yaml
echo '      - {name: c, cpus: 2, service: 1 s}' >c
sed -i '/name: b,/r c' whole.yaml
expect 0 "$WEIR_BIN" validate --resolved whole.yaml
cp stdout whole.resolved
expect 0 "$WEIR_BIN" validate --resolved over.yaml
same whole.resolved stdout
printf 'extends: over.yaml\nname: third\ntimeline: null\npipelines: {p: {stages: {c: null}}}\n' >third.yaml
expect 0 "$WEIR_BIN" run third.yaml -q -o third.db
[ "$(sqlite3 third.db "SELECT group_concat(path) FROM (SELECT path FROM input_file ORDER BY path)")" = \
    base/base.yaml,base/sample.csv,over.yaml,third.yaml ] || fail "the bases are not noted as inputs"
[ "$(sqlite3 third.db 'SELECT count(*) FROM happening')" = 0 ] || fail "the timeline is still there"
expect 0 "$WEIR_BIN" rerun third.db

# A circle, what is not there to remove, and a mistake in the base.
echo 'extends: there.yaml' >back.yaml
echo 'extends: back.yaml' >there.yaml
expect 2 "$WEIR_BIN" validate back.yaml
has stderr 'there.yaml:1:10: error: extends: extends itself: the files go round in a circle'
sed 's/c: null/cc: null/' third.yaml >fourth.yaml
expect 2 "$WEIR_BIN" validate fourth.yaml
has stderr "fourth.yaml:4:26: error: pipelines.p.stages.cc: there is nothing to remove: the base has no 'cc'"
sed -i 's/interval: 60 s/intervall: 60 s/' base/base.yaml
expect 2 "$WEIR_BIN" validate over.yaml
has stderr "base/base.yaml:7:50: error: sched.scaling.intervall: unknown key; did you mean 'interval'?"
# A base that is no scenario, one of the first schema, one that is not there.
echo '- a' >bare.yaml
printf 'schema: 1\nname: old\n' >old.yaml
while IFS='|' read -r base said; do
    printf "schema: 2\nextends: %s\n" "$base" >fifth.yaml
    expect 2 "$WEIR_BIN" validate fifth.yaml
    has stderr "$said"
done <<'T'
bare.yaml|bare.yaml:1:1: error: a scenario is a mapping of keys
old.yaml|fifth.yaml:2:10: error: 'old.yaml' is of another schema: weir check --write
nothere.yaml|fifth.yaml:2:10: error: extends: nothere.yaml: No such file or directory
T
sed -i 's/intervall: 60 s/interval: 60 s/' base/base.yaml

# Variants from the command line, which may take things away; compare blocks may as well.
expect 0 "$WEIR_BIN" compare list.yaml -q -o line.db --variant 'calm: timeline=-' \
    --variant 'small: cluster.nodes=[{type: dgx, count: 3}], timeline[1]=-, sched.scaling.interval=-'
{ cat list.yaml; cat <<'YAML'; } >block.yaml
compare:
  - {label: base, set: {}}
  - {label: calm, set: {timeline: null}}
  - {label: small, set: {cluster.nodes: [{type: dgx, count: 3}], 'timeline[1]': null, sched.scaling.interval: null}}
YAML
expect 0 "$WEIR_BIN" compare block.yaml -q -o block.db
digests='SELECT variant, event_digest FROM run ORDER BY run_id'
[ "$(sqlite3 line.db "$digests")" = "$(sqlite3 block.db "$digests")" ] || fail "other variants"
[ "$(sqlite3 line.db 'SELECT count(*) FROM happening WHERE run_id = 2')" = 0 ] || fail "calm has a timeline"
expect 0 "$WEIR_BIN" run list.yaml -q -o one.db --variant 'calm: timeline=-'
[ "$(sqlite3 one.db 'SELECT event_digest FROM run')" = "$(sqlite3 line.db 'SELECT event_digest FROM run WHERE run_id = 2')" ] ||
    fail "run takes another variant than compare"
expect 2 "$WEIR_BIN" compare list.yaml -q --variant 'calm: timeline=-' --variant 'calm: seed=2'
has stderr "there is a variant 'calm' already"
expect 2 "$WEIR_BIN" run list.yaml --variant 'calm'
has stderr "'calm' has no label"
expect 2 "$WEIR_BIN" run list.yaml --variant 'calm: goal=-'
has stderr "path 'goal': there is nothing to remove"

# Before and after: two scenarios, two databases, one of each say the same; what changed is said.
sed 's/count: 4/count: 3/; s/^name: list/name: fewer/' list.yaml | grep -v '^ *- {at' | sed '/^timeline/d' >fewer.yaml
sed 's/count: 3/count: 4/; s/^name: fewer/name: more/' fewer.yaml >more.yaml
for name in fewer more; do
    expect 0 "$WEIR_BIN" run $name.yaml -q -n 2 -o $name.db
done
expect 0 "$WEIR_BIN" compare fewer.yaml more.yaml -q -n 2 --format json
cp stdout scenarios.json
expect 0 "$WEIR_BIN" compare fewer.db more.db --format json
same scenarios.json stdout
expect 0 "$WEIR_BIN" compare fewer.db more.yaml -q --format json
same scenarios.json stdout
expect 0 "$WEIR_BIN" compare fewer.yaml more.db -q --format json -o both.db
same scenarios.json stdout
python3 - <<'PY' || fail "the change of throughput is not explained"
import json, sqlite3, sys
said = json.load(open("scenarios.json"))
stages = {s["stage"]: s for s in said["change"]["stages"]}
db = sqlite3.connect("both.db")
rows = db.execute("""SELECT r.variant, g.name, sum(s.workers * s.dt_s) / sum(s.dt_s) FROM stage_sample s
    JOIN run r USING (run_id) JOIN stage g ON g.run_id = s.run_id AND g.stage = s.stage
    WHERE r.replication = 0 GROUP BY 1, 2""").fetchall()
sides = {"fewer": "workers_before", "more": "workers_after"}
same = all(abs(stages[stage][sides[variant]] - mean) < 1e-6 for variant, stage, mean in rows)
words = "b has" in said["change"]["limit"] and "b limits before and after" in said["change"]["limit"]
pairs = db.execute("SELECT count(*) FROM run a JOIN run b USING (replication, seed) WHERE a.variant = 'fewer' AND b.variant = 'more'").fetchone()[0]
sys.exit(not (len(rows) == 4 and same and words and pairs == 2 and "GPUs bind" in said["change"]["device"]))
PY
expect 0 "$WEIR_BIN" compare fewer.db more.db
has stdout 'Stage  Workers'
has stdout 'b limits before and after'
expect 0 "$WEIR_BIN" compare both.db --baseline more
[ "$(sqlite3 fewer.db 'SELECT count(*) FROM run')" = 2 ] || fail "an operand was written to"

# What differs is named; --force compares without a word of chance.
expect 0 "$WEIR_BIN" run more.yaml -q -n 2 -s 9 -o seed.db
expect 2 "$WEIR_BIN" compare fewer.db seed.db
has stderr 'not comparable: seed differs within a replication'
expect 0 "$WEIR_BIN" compare fewer.db seed.db --force
has stderr 'weir: --force: compared although seed differs; one run of each, since none are paired'
has stdout '1 replication: no statement about chance'
expect 0 "$WEIR_BIN" run more.yaml -q -n 2 --set horizon=20min -o short.db
expect 2 "$WEIR_BIN" compare fewer.db short.db
has stderr 'not comparable: horizon_s differs'
sed 's/name: a,/name: x,/; s/name: b,/name: y,/' fewer.yaml >other.yaml
expect 2 "$WEIR_BIN" compare fewer.db other.yaml -q
has stderr 'not comparable: stages differ: a, b and x, y'
expect 2 "$WEIR_BIN" compare fewer.db more.db other.yaml
expect 2 "$WEIR_BIN" compare fewer.db more.db --variant 'x: seed=2'
expect 3 "$WEIR_BIN" compare fewer.db more.db -o both.db
has stderr 'both.db is there already: --force replaces it'
