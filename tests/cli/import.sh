# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Logs into a scenario that is there: what is kept, what changes, and whether it is true.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

truth() {
    cat <<YAML
schema: 2
name: truth
horizon: 30 min
catalog: {node_types: {dgx: {cpus: 30, ram: 1 TB, gpus: {h100: 4}}}}
cluster: {nodes: [{type: dgx, count: 2}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 1000000$1}
    stages:
      - {name: read, cpus: 1, service: exp(2 s)}
      - {name: decode, cpus: 2, service: "gamma(5, 0.5)", setup: 10 s}
      - {name: caption, cpus: 1, gpus: 0.25, service: "lognormal(20, 0.4)", setup: 30 s}
YAML
}
cat >guess.yaml <<'YAML'
# our cluster: two nodes behind one switch
schema: 2
name: guess
horizon: 30 min
catalog: {node_types: {dgx: {cpus: 30, ram: 1 TB, gpus: {h100: 4}}}} # as bought
cluster: {nodes: [{type: dgx, count: 2}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 1000000, arrivals: exp(3 s)} # to be measured
    stages:
      - {name: read, cpus: 1, service: 1 s} # a guess
      - name: decode
        cpus: 2          # counted by hand
        service:
          law: 1 s
          source: guess
      - {name: caption, cpus: 1, gpus: 0.25, service: 1 s, setup: 1 s} # four to a GPU
      - {name: upload, cpus: 1, service: 1 s}
YAML
truth "" >backlog.yaml
truth ", arrivals: exp(0.62 s)" >overload.yaml
truth ", arrivals: exp(1.2 s)" >arrivals.yaml
for name in backlog arrivals overload; do
    expect 0 "$WEIR_BIN" run $name.yaml -q --no-db --spans $name.csv
done

# Items taken from a backlog by a main loop: no arrivals. Comments and requests stay, laws are those
# that the log was drawn from, and a run with them does what the rest of the log says.
expect 0 "$WEIR_BIN" import backlog.csv --into guess.yaml -o measured.yaml --format json
python3 - <<'PY' || fail "the check of a backlog is not as it should be"
import json, re, sys
said = json.load(open("stdout"))
text = open("measured.yaml").read()
number = r"([0-9.]+)"
laws = re.search(rf'exp\({number} s\).*gamma\({number} s, {number}\).*lognormal\({number} s, {number}\)', text, re.S)
near = all(abs(float(a) / b - 1) < 0.05 for a, b in zip(laws.groups(), (2, 5, 0.5, 20, 0.4)))
rows = {row["stage"]: row for row in said["held_out"]}
held = all(abs(row["throughput_off_pct"]) < 6 for row in rows.values()) and len(rows) == 3
limit = rows["caption"]["busy_log_pct"] > 95 and rows["caption"]["queue_log"] > 20
queue = abs(rows["caption"]["queue_run"] / rows["caption"]["queue_log"] - 1) < 0.25
sys.exit(not (near and held and limit and queue and said["is_capacity_model"]))
PY
has stderr 'guess.yaml:19:16: warning: pipelines[0].stages[3].name: is not in the log: stays as it is'
has measured.yaml '# our cluster: two nodes behind one switch'
has measured.yaml 'count: 2}]}'
has measured.yaml 'cpus: 2          # counted by hand'
has measured.yaml 'source: measured'
has measured.yaml 'input: {items: 1000000} # to be measured'
has measured.yaml 'gpus: 0.25'
has measured.yaml '# four to a GPU'
expect 0 "$WEIR_BIN" validate measured.yaml

# Arrivals: a law of them, and no model of capacity, however well the throughput agrees.
expect 0 "$WEIR_BIN" import arrivals.csv --into guess.yaml -o slow.yaml --held-out 40
has stdout 'Held out: a run with the laws of the first 60 % of the log'
has stdout 'This is no model of capacity: arrivals limit the log, and '
has stdout 'was not seen: caption, the busiest stage, worked '
has slow.yaml 'arrivals: "exp(1.'
has slow.yaml "# Laws measured in arrivals.csv: $(grep -c ',task$' arrivals.csv) tasks of 3 stages (weir import). Arrivals limit that log"

# More arrives than caption can do: it works all the time, and items still come by themselves. Windows
# behind the end of the log, and a goal about one, are in nobody's way.
sed 's/^horizon: .*/horizon: 3 h/' guess.yaml >windows.yaml
printf 'windows: {early: "..2 h", late: "2 h.."}\ngoal: {min: "late: latency p95"}\nexpect: ["late: latency p95 >= 1 s"]\n' >>windows.yaml
expect 0 "$WEIR_BIN" import overload.csv --into windows.yaml -o fast.yaml
has stdout 'Items came by themselves: caption, the busiest stage, worked '
has stdout 'so that the log shows what the cluster can do.'
has fast.yaml 'arrivals: "exp(0.6'
has fast.yaml 'windows: {early: "..2 h", late: "2 h.."}'
hasnt fast.yaml 'no model of capacity'

# Events with it, from another folder than the output; the clock comes with the stamps of the log.
mkdir out
python3 - <<'PY'
import csv, datetime
start = datetime.datetime(2026, 4, 12, 11)
rows = list(csv.DictReader(open("backlog.csv")))
out = csv.DictWriter(open("stamps.csv", "w"), rows[0].keys())
out.writeheader()
for row in rows:
    for key in "queued_at", "start", "end":
        if row[key]:
            row[key] = (start + datetime.timedelta(seconds=float(row[key]))).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    out.writerow(row)
PY
printf 'time,event,node\n11:20,down,dgx-1\n2026-04-12T11:25:00Z,up,dgx-1\n' >events.csv
expect 0 "$WEIR_BIN" import stamps.csv events.csv --into guess.yaml -o out/incident.yaml --no-check
hasnt stderr 'another zone'
has out/incident.yaml 'start_time: 2026-04-12T11:00:00Z'
expect 0 "$WEIR_BIN" validate --resolved out/incident.yaml
has stdout 'at: 1200 s'
has stdout 'at: 1500 s'
expect 0 "$WEIR_BIN" import events.csv --into out/incident.yaml
has stdout 'timeline: {file: '
[ "$(grep -c timeline stdout)" = 1 ] || fail "two timelines"

# What cannot be: a stage that the pipeline has not, two logs, events without a scenario, schema 1, a
# result that is no scenario.
sed -i 's/name: caption/name: captions/' guess.yaml
expect 2 "$WEIR_BIN" import backlog.csv --into guess.yaml -o bad.yaml
has stderr "guess.yaml:11:5: error: pipelines[0].stages: the log has a stage 'caption' that the pipeline has not"
has stderr "did you mean 'captions'?"
[ ! -e bad.yaml ] || fail "a file was written all the same"
expect 2 "$WEIR_BIN" import backlog.csv arrivals.csv --into guess.yaml
has stderr 'backlog.csv and arrivals.csv are both spans: one log at a time'
expect 2 "$WEIR_BIN" import events.csv
has stderr 'events happen in a scenario: say which, with --into SCENARIO'
expect 0 "$WEIR_BIN" run backlog.yaml -q -o backlog.db
expect 2 "$WEIR_BIN" import backlog.db
has stderr 'backlog.db: is a result database, and no log; weir show and weir export read it'
expect 2 "$WEIR_BIN" import backlog.csv --into guess.yaml --pipeline q
has stderr "there is no pipeline 'q'"
printf 'schema: 1\nname: old\n' >old.yaml
expect 2 "$WEIR_BIN" import backlog.csv --into old.yaml
has stderr 'is of schema 1: weir check --write'
expect 3 "$WEIR_BIN" import backlog.csv --into nowhere.yaml
expect 2 "$WEIR_BIN" import backlog.csv --held-out 99
sed 's/dgx-1/dgx-9/' events.csv >far.csv
expect 2 "$WEIR_BIN" import far.csv --into backlog.yaml
has stderr "far.csv:2:12: error: timeline[0].node: there is no node 'dgx-9'"

# A scenario that was wrong before is wrong in its own lines; one that would become wrong is not
# written, and its lines are not said to be in a file.
sed 's/placement: fgd/placement: fgdd/' backlog.yaml >wrong.yaml
expect 2 "$WEIR_BIN" import backlog.csv --into wrong.yaml -o bad.yaml
has stderr "wrong.yaml:6:20: error: sched.placement: there is no placement policy 'fgdd'"
hasnt stderr 'bad.yaml'
awk -F, 'BEGIN { OFS = "," } NR > 1 && $1 == "caption" { $9 = $8 } { print }' backlog.csv >none.csv
expect 2 "$WEIR_BIN" import none.csv --into backlog.yaml -o bad.yaml
matches stderr '^what bad.yaml would be \(not written\):[0-9]+:[0-9]+: error: .*service: mean must be > 0'
hasnt stderr '^bad.yaml:'
[ ! -e bad.yaml ] || fail "a file was written all the same"

# Quotes go with the value they held; a timeline that gives way to another is not lost unsaid.
sed "s/exp(2 s)/'exp(2 s)'/" backlog.yaml >quoted.yaml
expect 0 "$WEIR_BIN" import backlog.csv --into quoted.yaml -o unquoted.yaml --no-check
expect 0 "$WEIR_BIN" validate unquoted.yaml
printf 'timeline: [{at: 5 min, action: node_fail, node: dgx-0}]\n' >>quoted.yaml
printf 'time,event,node\n20 min,down,dgx-1\n' >later.csv
expect 0 "$WEIR_BIN" import later.csv --into quoted.yaml -o happens.yaml
matches stderr 'quoted.yaml:14:.* warning: timeline: gives way to later.csv'

# The older name.
expect 0 "$WEIR_BIN" fit arrivals.csv --input arrivals
hasnt stderr 'is called' # people are told, programs are not

# From what an incident leaves behind to the answer, in three commands: a list of stages with their
# seconds, spans with stamps, an event file; 12 nodes of 8 H100, of which two were lost for 40 minutes.
incident=$WEIR_SOURCE_DIR/scenarios/examples/incident
expect 0 "$WEIR_BIN" import "$incident/spans.csv" "$incident/events.csv" --into "$incident/production.yaml" -o incident.yaml
has stdout 'Work was always waiting: caption, the busiest stage, worked 100 % of its time'
! grep -q 'returns:' incident.yaml || fail 'a fan-out that the log does not say'
expect 0 "$WEIR_BIN" run incident.yaml -q -o incident.db
expect 0 "$WEIR_BIN" explain incident.db --stage caption --from 11:03 --to 11:43
has stdout 'between 11:03:00 and 11:43:00'
has stdout 'too few free GPUs'
[ "$(sqlite3 incident.db "SELECT group_concat(kind || ' ' || target || ' ' || t_s) FROM (SELECT * FROM happening ORDER BY t_s, target)")" = \
    'node_down h100-3 1080.0,node_down h100-7 1080.0,node_up h100-3 3480.0,node_up h100-7 3480.0' ] ||
    fail "other events than those of the file"
# The laws are those of the log, no longer those of the design; caption lost workers and got none.
python3 - <<'PY' || fail "the incident is not in the run"
import re, sqlite3, sys
text = open("incident.yaml").read()
means = [float(x) for x in re.findall(r'service: "[a-z]+\(([0-9.]+) s', text)]
near = all(abs(a / b - 1) < 0.05 for a, b in zip(means, (30, 14, 80))) and len(means) == 3
db = sqlite3.connect("incident.db")
def workers(low, high):
    return db.execute("""SELECT sum(workers * dt_s) / sum(dt_s) FROM stage_sample JOIN stage USING (run_id, stage)
        WHERE name = 'caption' AND t_s >= ? AND t_s + dt_s <= ?""", (low, high)).fetchone()[0]
before, during, after = workers(600, 1080), workers(1200, 3400), workers(4200, 5400)
sys.exit(not (near and during < 0.9 * before and after > 0.95 * before))
PY

# Headers as other programs write them; events in no order; a store that is out and back. What is
# neither spans nor events is said to be neither.
cat >filer.yaml <<'YAML'
schema: 2
name: filer
start_time: 2026-11-20T08:00:00+01:00
horizon: 10 min
cluster: {nodes: [{name: n, count: 2, cpus: 8}], stores: {nfs: 1 GB/s}}
pipelines:
  - name: p
    input: {arrivals: {process: poisson, rate: 1/s}, bytes_per_item: 100 MB, store: nfs}
    stages: [{name: tag, cpus: 1, workers: 6, service: 1 s}]
windows: {before: "..store_down nfs", outage: "store_down nfs", after: "store_down nfs.."}
YAML
python3 - <<'PY'
import datetime
at = lambda s: (datetime.datetime(2026, 11, 20, 8, 0) + datetime.timedelta(seconds=s)).isoformat(timespec="milliseconds") + "+01:00"
rows = [f"tag;w{i % 6};{at(i)};{at(i + 0.5)}" for i in range(300)]
open("odd.csv", "w").write("Stage Name;worker-id;Began;finished_at\n" + "\n".join(reversed(rows)) + "\n")
open("odd_events.csv", "w").write("When,store,host,what,reason\n2026-11-20T08:05:00+01:00,nfs,,up,\n"
    "2026-11-20T08:02:00+01:00,nfs,,down,failover\n2026-11-20T08:03:00+01:00,,n-1,down,\n"
    "2026-11-20T08:04:00+01:00,,n-1,up,\n")
open("neither.csv", "w").write("colour,size\nred,1\n")
PY
expect 0 "$WEIR_BIN" import odd.csv odd_events.csv --into filer.yaml -o fed.yaml
has fed.yaml 'timeline: {file: odd_events.csv}'
has stderr 'the log has stamps of another zone than UTC: times of day in scenarios'
expect 0 "$WEIR_BIN" run fed.yaml -q -o fed.db
[ "$(sqlite3 fed.db "SELECT group_concat(kind || ' ' || target || ' ' || t_s, ', ') FROM (SELECT * FROM
    happening ORDER BY t_s)")" = 'store_down nfs 120.0, node_down n-1 180.0, node_up n-1 240.0, store_up nfs 300.0' ] ||
    fail 'the events did not become what they say'
expect 2 "$WEIR_BIN" import odd.csv neither.csv --into filer.yaml -o none.yaml
has stderr 'neither.csv:1:1: neither spans (stage, start, end) nor events (time, event): it has the columns colour, size'

# A log of a backlog says how much there was, where the scenario has arrivals alone.
python3 - <<'PY'
rows = [f"tag,w{i % 3},{i // 3},{i // 3 + 1}" for i in range(300)]
open("full.csv", "w").write("stage,worker,start,end\n" + "\n".join(rows) + "\n")
PY
sed 's/input: .*/input: {arrivals: {process: poisson, rate: 1\/s}, bytes_per_item: 100 MB}/; /^windows/d' filer.yaml >mapped.yaml
sed 's/input: .*/input:\n      arrivals: exp(1 s)/; /^windows/d' filer.yaml >plain.yaml
for name in mapped plain; do
    expect 0 "$WEIR_BIN" import full.csv --into $name.yaml -o ${name}_full.yaml
    has ${name}_full.yaml 'items: 300'
    hasnt ${name}_full.yaml 'arrivals:'
    expect 0 "$WEIR_BIN" validate ${name}_full.yaml
done
