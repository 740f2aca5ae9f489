#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A box with one GPU and a manager of its work: the example, its page, and the questions that such a
# manager is asked, put to `weir decide` (tests/support/box.py).
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
export PYTHONPATH=$WEIR_SOURCE_DIR/tests/support
lab=$WEIR_SOURCE_DIR/scenarios/examples/homelab.yaml

triton=$WEIR_SOURCE_DIR/scenarios/services/homelab_triton.yaml

# A day of the box, without Triton and with it, in less than two seconds of the processor.
# covers: S3.1, S3.21
expect 0 "$WEIR_BIN" compare "$lab" --check -o lab.db
expect 0 "$WEIR_BIN" compare "$triton" --check -o triton.db
for database in lab.db triton.db; do
    [ "$(sqlite3 $database "SELECT max(cpu_s) < 2 AND count(*) >= 3 FROM run_wall")" -eq 1 ] || fail 'too slow'
done
[ "$(sqlite3 lab.db "SELECT count(*), min(dt_s), max(dt_s) FROM v_cluster WHERE variant = 'base'")" = '17280|5.0|5.0' ] ||
    fail 'not a sample every 5 s'

# The page: build, copy, run; and what it shows.
# covers: S3.4
if command -v gnuplot >/dev/null; then
    (
        mkdir page
        cd page
        . "$WEIR_SOURCE_DIR/tests/support/tutorial.sh"
        ln -s "$WEIR_SOURCE_DIR/scenarios" scenarios
        has "$WEIR_SOURCE_DIR/docs/homelab.md" './dev build'
        tutorial docs/homelab.md 4
    )
fi

# ---- the scheduler ----

# covers: S3.6, S3.7
# The rule written down a second time, beside the answers; asking twice changes nothing.
python3 - <<'P' || fail 'who must go'
import random
from box import *
three = [(20, task(gpu=4000)), (30, task(gpu=4000)), (40, task(gpu=4000))]
urgent, idle = box(three, [(100, task(gpu=8000))]), box(three, [(25, task(gpu=8000))])
first, second, again = decide(urgent, idle, urgent)
assert (of(first, "preempt"), of(first, "start")) == ([0, 1], [3]), first
assert second["actions"] == [{"verb": "deny", "workload": 0, "job": 3, "reason": "too little GPU memory"}], second
assert first["actions"] == again["actions"]

def rule(running, priority, need, size):
    free = size - sum(held for _, held in running)
    least = sorted((p, -n, held) for n, (p, held) in enumerate(running) if p < priority)
    gone = []
    while free < need and least:
        p, n, held = least.pop(0)
        gone.append((-n, held))
        free += held
    if free < need:
        return None
    for n, held in reversed(gone):
        if free - held >= need:
            gone.remove((n, held))
            free -= held
    return sorted(n for n, _ in gone)

draw = random.Random(7)
questions, wanted = [], []
for _ in range(300):
    size, running = 12288, []
    while (held := draw.randrange(500, 5000, 250)) <= size - sum(h for _, h in running):
        running.append((draw.choice((10, 20, 20, 30, 50)), held))
    priority, need = draw.choice((15, 25, 40, 60)), draw.randrange(1000, 12000, 250)
    questions.append(box([(p, task(gpu=h)) for p, h in running], [(priority, task(gpu=need))]))
    wanted.append(rule(running, priority, need, size))
for question, answer, victims in zip(questions, decide(*questions), wanted):
    gone = sorted(of(answer, "preempt"))
    assert of(answer, "start") == ([] if victims is None else [len(question["workers"])]), (question, answer)
    assert gone == (victims or []), (question, gone, victims)
assert sum(v is None for v in wanted) > 30 and sum(bool(v) for v in wanted) > 100
P

# covers: S3.8
# Between question and allocation somebody else comes: refused, asked again, and nothing is held twice.
python3 - <<'P' || fail 'allocated on an old answer'
from box import *
three = [(20, task(gpu=4000)), (30, task(gpu=4000)), (40, task(gpu=4000))]
asked, = decide(box(three, [(35, task(gpu=8000))]))
assert (of(asked, "preempt"), of(asked, "start")) == ([0, 1], [3]), asked
manager = Session(box(three, []))
assert of(manager.next(submit=(10, 90, task(gpu=4000))), "preempt") == [0]
late = manager.next(submit=(11, 35, task(gpu=8000)))["actions"]
assert [(a["verb"], a["reason"]) for a in late] == [("deny", "too little GPU memory")], late
assert of(manager.next(ended=[2]), "start") == [11]
assert of(manager.next(refuse=[11]), "start") == [11] # the box refused it: once more
manager.next()
assert manager.held == {10: 4000 * MB, 11: 8000 * MB}, manager.held
P

# covers: S3.9
# The most urgent first, of equals the one that came first; three retries are counted, the fourth start
# that is lost is the last.
python3 - <<'P' || fail 'the order'
from box import *
tasks = [(50, task(gpu=100)), (90, task(gpu=100)), (20, task(gpu=100)), (90, task(gpu=100)), (50, task(gpu=100))]
answer, = decide(box([], tasks))
assert of(answer, "start") == [1, 3, 0, 4, 2], answer
P
sqlite3 lab.db "SELECT sum(attempts > 4), sum(outcome = 'exhausted' AND attempts = 4), sum(outcome = 'exhausted'),
    sum(attempts - 1) FROM v_job WHERE variant = 'base' AND workload_name IN ('nightly', 'finetune')" >retries
read -r many last given_up again < <(tr '|' ' ' <retries)
{ [ "$many" -eq 0 ] && [ "$last" -eq "$given_up" ] && [ "$given_up" -ge 20 ]; } || fail "retries: $(cat retries)"
value lab.db retry.count '' "$again"
value lab.db retry.exhausted '' "$given_up"

# covers: S3.10, S3.17, S3.18
# All three resources at once; CPUs alone while the GPU is full.
python3 - <<'P' || fail 'three resources'
from box import *
job = (80, task(cpus=2, ram=8000, gpu=4000))
fits, cpus, ram, gpu = decide(box([], [job], cpus=2, ram=8000, gpu=4000), box([], [job], cpus=1.5, ram=8000, gpu=4000),
                              box([], [job], cpus=2, ram=7999, gpu=4000), box([], [job], cpus=2, ram=8000, gpu=3999))
assert of(fits, "start") == [0]
assert [of(a, "start") for a in (cpus, ram, gpu)] == [[], [], []]
assert [of(a, "deny", "reason") for a in (cpus, ram, gpu)] == [["too few CPUs"], ["too little memory"], ["too little GPU memory"]]
full = [(100, task(cpus=1, gpu=12288))]
assert of(decide(box(full, [(80, task(cpus=1)), (90, task(gpu=1))]))[0], "start") == [1]
P

# covers: S3.11
# Who waits for a result starts when the other is over: done, or given up after its retries.
cat >result.yaml <<'Y'
schema: 2
name: result
cluster: {nodes: [{name: box, cpus: 4}]}
sched: {queueing: strict_priority}
jobs:
  - name: tasks
    run_time: 10 min
    max_attempts: 2
    classes:
      - {name: asked, count: 2, every: 1 h, request: {cpus: 4}}
      - {name: waiter, after: asked, priority: 5, run_time: 1 min, request: {cpus: 1}}
  - name: urgent
    run_time: 1 min
    classes:
      - {name: urgent, count: 2, at: 1 min, every: 4 min, priority: 9, request: {cpus: 4}}
Y
expect 0 "$WEIR_BIN" run result.yaml -o result.db
sqlite3 result.db "SELECT name, outcome, attempts, end_s, first_start_s FROM v_job WHERE workload_name = 'tasks' ORDER BY name" >results
printf '%s\n' 'asked-0|exhausted|2|300.0|0.0' 'asked-1|done|1|4200.0|3600.0' 'waiter-0|done|1|420.0|360.0' \
    'waiter-1|done|1|4260.0|4200.0' >wanted
same results wanted

# ---- watching it ----

# covers: S3.14, S3.15, S3.16
# What is used, there, and how much of it; tasks that wait, run, are done and were given up; and the
# alert of Prometheus at the moment when the GPU was busy for a minute.
cat >busy.yaml <<'Y'
schema: 2
name: busy
horizon: 10 min
cluster: {nodes: [{name: box, cpus: 4, gpus: {l4: 1}}]}
sched: {queueing: strict_priority}
metrics: {sample: 5 s}
jobs:
  - name: tasks
    max_attempts: 1
    classes:
      - {name: short, count: 1, at: 10 s, run_time: 50 s, request: {gpus: 1}}
      - {name: long, count: 1, at: 100 s, run_time: 200 s, request: {gpus: 1}}
      - {name: lost, count: 1, at: 400 s, run_time: 100 s, request: {gpus: 1}}
      - {name: urgent, count: 1, at: 430 s, priority: 9, run_time: 20 s, request: {gpus: 1}}
      - {name: last, count: 1, at: 580 s, run_time: 20 s, request: {gpus: 1}}
Y
expect 0 "$WEIR_BIN" run busy.yaml -o busy.db
has stdout 'GPUs'
expect 0 "$WEIR_BIN" export busy.db --to openmetrics -o busy.om
expect 0 "$WEIR_BIN" show busy.yaml
has stdout 'box'
python3 - "$WEIR_SOURCE_DIR/analysis/tools/alerts.yaml" <<'P' || fail 'the monitor'
import json, re, sys
series = {}
for line in open("busy.om"):
    if not line.startswith("#"):
        found = re.fullmatch(r'(\w+\{.*\}) (\S+) (\S+)\n', line)
        assert found, line # the grammar of the format
        series.setdefault(re.sub(r',?(scenario|variant|replication)="[^"]*"', "", found[1]), []).append((float(found[3]), float(found[2])))
def at(name, time):
    return dict(series[name])[time]
for time in (0, 30, 150, 420, 595):
    used, free = (at('ray_resources{Name="GPU",State="%s"}' % s, time) for s in ("USED", "AVAILABLE"))
    assert used + free == 1 and at('DCGM_FI_DEV_GPU_UTIL{Hostname="box",modelName="l4"}', time) == 100 * used, time
def tasks(state, time):
    return [at('weir_jobs{label="%s",state="%s"}' % (name, state), time) for name in ("short", "long", "lost", "urgent")]
assert tasks("running", 200) == [0, 1, 0, 0] and tasks("done", 200) == [1, 0, 0, 0]
assert tasks("failed", 420) == [0, 0, 0, 0] and tasks("failed", 595) == [0, 0, 1, 0]
assert tasks("done", 595) == [1, 1, 0, 1] and tasks("waiting", 595) == [0, 0, 0, 0]
util = series['DCGM_FI_DEV_GPU_UTIL{Hostname="box",modelName="l4"}']
assert len(util) == 120
def alerts(time, fires):
    return {"eval_time": f"{time}s", "alertname": "GpuBusy",
            "exp_alerts": [{"exp_labels": {"Hostname": "box"}, "exp_annotations": {"summary": "box: GPUs above 90 % for a minute"}}] if fires else []}
test = {"rule_files": [sys.argv[1]], "evaluation_interval": "5s",
        "tests": [{"interval": "5s",
                   "input_series": [{"series": 'DCGM_FI_DEV_GPU_UTIL{Hostname="box"}', "values": " ".join("%g" % v for _, v in util)}],
                   "alert_rule_test": [alerts(*x) for x in ((55, False), (155, False), (160, True), (295, True), (305, False), (455, False))]}]}
json.dump(test, open("alerts_test.yaml", "w")) # YAML, too
P
if command -v promtool >/dev/null; then
    expect 0 promtool test rules alerts_test.yaml
    sed 's/"160s"/"155s"/' alerts_test.yaml >early.yaml
    expect 1 promtool test rules early.yaml
else
    skip_part 'no promtool'
fi

# covers: S3.29, S3.34
# Why a task waits: what it lacks, and who has it. What became of a task, by its name.
expect 0 "$WEIR_BIN" explain lab.db --variant nopreempt --pending --at 39min
matches stdout 'jobs wait for 2 CPU \+ 0\.15 GPU \+ 8 GB \+ 4 GB of GPU memory'
has stdout 'lacks: GPU memory'
has stdout 'job models/llama2_7b-0'
expect 0 "$WEIR_BIN" explain lab.db --job nightly/embed-0
for said in 'submitted at' 'started at' 'preempted, its work saved' 'denied as embed-0 by decision'; do
    has stdout "$said"
done
[ "$(sqlite3 lab.db "SELECT count(DISTINCT verb) FROM action JOIN v_job USING (run_id, workload, job)
    WHERE variant = 'base' AND name = 'embed-0'")" -ge 3 ] || fail 'no log of a task'

# ---- what may be switched ----

# covers: S3.24
# Four models of 5 GB share 24 GB; each on a GPU of its own, one runs at a time.
cat >models.yaml <<'Y'
schema: 2
name: models
cluster: {nodes: [{name: box, cpus: 16, share: fraction, gpus: {rtx4090: 1}}]}
jobs:
  - name: models
    run_time: 1 h
    classes: [{name: model, count: 6, request: {gpus: 0.1, gpu_memory: 5 GB}}]
compare:
  - {label: fractional}
  - {label: dedicated, set: {jobs.models.classes.model.request: {gpus: 1, gpu_memory: 5 GB}}}
expect:
  - {metric: makespan, variant: fractional, op: eq, value: 7200}
  - {metric: makespan, variant: dedicated, op: eq, value: 21600}
  - {metric: invariant.violations, op: eq, value: 0}
Y
expect 0 "$WEIR_BIN" compare models.yaml --check -o models.db
[ "$(sqlite3 models.db "SELECT group_concat(variant || max, ' ') FROM (SELECT variant, max(running) AS max FROM job_sample
    JOIN run USING (run_id) GROUP BY variant ORDER BY 1 DESC)")" = 'fractional4.0 dedicated1.0' ] || fail 'models beside one another'

# covers: S3.38
# Limits below the machine hold at all times, and a task that takes longer than it may is ended.
cat >limits.yaml <<'Y'
schema: 2
name: limits
metrics: {sample: 1 min}
cluster: {nodes: [{name: box, cpus: 16, ram: 64 GB}]}
tenants: [{name: lab, quota: {hard: {cpus: 14, ram: 60 GB}}}]
jobs:
  - name: tasks
    tenant: lab
    timeout: 2 h
    classes:
      - {name: short, count: 9, run_time: 1 h, request: {cpus: 2, ram: 4 GB}}
      - {name: endless, count: 1, at: 10 min, run_time: 300 d, request: {cpus: 1}}
      - {name: large, count: 2, at: 4 h, run_time: 2 h, request: {cpus: 1, ram: 31 GB}}
Y
expect 0 "$WEIR_BIN" run limits.yaml -o limits.db
[ "$(sqlite3 limits.db "SELECT max(cpu_assigned), round(max(ram_assigned_bytes)) FROM cluster_sample")" = '14.0|31000000000.0' ] ||
    fail 'limits are exceeded, or not reached'
sqlite3 limits.db "SELECT name, outcome, end_s - start_s FROM v_job WHERE label_name <> 'short' ORDER BY name" >ends
printf '%s\n' 'endless-0|overrun|7200.0' 'large-0|done|7200.0' 'large-1|done|7200.0' >wanted
same ends wanted
expect 0 "$WEIR_BIN" explain limits.db --job endless-0
has stdout 'its timeout was over'

# covers: S3.5
# Whatever is set wrong has its place and a word for it; what is left out has a default.
wrong() {
    sed "$1" "$lab" >wrong.yaml
    cmp -s "$lab" wrong.yaml && fail "no such line: $1"
    expect 2 "$WEIR_BIN" check wrong.yaml
    matches stderr "^wrong.yaml:[0-9]+:[0-9]+: error: $2"
}
wrong 's/hard: {cpus: 14/hard: {cpus: -1/' 'tenants\[0\].quota.hard.cpus: must be at least 0'
wrong 's/ram: 60 GB}}/rum: 60 GB}}/' "tenants\\[0\\].quota.hard.rum: unknown key; did you mean 'ram'"
wrong 's/timeout: 2 h/timeout: soon/' 'jobs\[1\].timeout: '
wrong 's/priority: 100, request: {cpus: 2/priority: 101, request: {cpus: 2/' 'jobs\[1\].classes\[0\].priority: priority 101 lies in none of the bands'
wrong 's/priority: 20/priority: 9/' 'jobs\[4\].classes\[0\].priority: priority 9 lies in none'
wrong 's/gpu_memory: 12 GB/gpu_memory: 12 cats/' 'jobs\[0\].classes\[0\].request.gpu_memory: '
wrong 's/sample: 5 s/sample: 0 s/' 'metrics.sample: '
wrong 's/strict_priority/strict_prioritie/' "sched.queueing.policy: .*did you mean 'strict_priority'"
wrong 's/grace: 10 s/grace: -10 s/' 'sched.queueing.grace: '
wrong 's/rtx4090: 1/rtx4091: 1/' ".*did you mean 'rtx4090'"
expect 0 "$WEIR_BIN" check --resolved "$lab"
for said in 'max_attempts: ' 'timeout: 7200' 'policy: fgd'; do
    has stdout "$said"
done

# covers: S3.2
# Without any one of its parts the box still works: bands and limits of its configuration, memory of the
# GPU, priorities, the monitor, the file that others read, Triton or one of its models.
without() {
    expect 0 "$WEIR_BIN" run "$lab" --set expect=- --set horizon=2h --no-db "$@"
    matches stdout '^held +CPUs'
}
without --set priority_bands=-
without --set 'tenants=[{name: lab}]'
without --set jobs.models.classes.llama2_7b.request='{cpus: 1}'
without --set sched.queueing=first_fit
without --set sched=-
without --set metrics=-
without --set metrics.keep=results
part() {
    expect 0 "$WEIR_BIN" run "$triton" --set expect=- --set compare=- --set horizon=2h --set timeline=- --no-db "$@"
}
part --set services=- --set sched.scaling=-
part --set services.stable_diffusion=-
part --set jobs=- --set sched.queueing=- --set priority_bands=-

# covers: S3.36
# A module of one's own in the place of the scheduler of the box: made from the template, built, and run.
if command -v gcc >/dev/null; then
    expect 0 "$WEIR_BIN" new policy mine.c --kind queueing
    expect 0 gcc -std=c17 -shared -fPIC -I "$WEIR_SOURCE_DIR/sched/include" -o mine.so mine.c
    expect 0 "$WEIR_BIN" check ./mine.so
    name=$(sed -n 's/.*\.name = "\([a-z_]*\)".*/\1/p' mine.c | head -n 1)
    expect 0 "$WEIR_BIN" run "$lab" --plugin ./mine.so --set expect=- --set horizon=2h --set sched.queueing="$name" -o mine.db
    [ "$(sqlite3 mine.db "SELECT count(*) > 100 FROM v_job WHERE outcome = 'done'")" -eq 1 ] || fail 'it does nothing'
else
    skip_part 'no gcc'
fi

# covers: S3.40
has "$WEIR_SOURCE_DIR/CONTRIBUTING.md" './dev test'
