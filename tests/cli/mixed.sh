# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Pipelines and jobs on one cluster: all invariants at every event, rows of every kind of work in the
# same tables, and names of workloads on the screen.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

file=$WEIR_SOURCE_DIR/scenarios/examples/mixed_cluster.yaml
expect 0 "$WEIR_BIN" run "$file" --set horizon=3h --check-invariants -o mixed.db
has stdout 'video '
has stdout 'train '
has stdout 'notebooks '
cp stdout summary
command -v sqlite3 >/dev/null || skip 'no sqlite3'
count() { sqlite3 mixed.db "SELECT count(*) FROM $1"; }
[ "$(count 'job WHERE workload = 0')" -gt 5 ] || fail 'no rows of the first workload'
[ "$(count 'job WHERE workload = 1')" -gt 5 ] || fail 'no rows of the second workload'
[ "$(count "action WHERE verb = 'start' AND job IS NOT NULL")" -gt 10 ] || fail 'no starts of jobs'
[ "$(count "action WHERE verb = 'start' AND stage IS NOT NULL")" -gt 10 ] || fail 'no starts of stages'
[ "$(count 'worker WHERE (stage IS NULL) = (job IS NULL)')" -eq 0 ] || fail 'a worker of nobody, or of two'
# A gang of four has a rank on some node each, all of one job, started together.
[ "$(count '(SELECT workload, job, created_s FROM worker WHERE job IS NOT NULL
    GROUP BY 1, 2, 3 HAVING count(*) = 4)')" -gt 0 ] || fail 'no gang of four'

# Intervals of the cluster add up to what came and went, of all pipelines.
cat >two.yaml <<'Y'
schema: 2
name: two
cluster: {nodes: [{name: n, cpus: 8}]}
pipelines:
  a: {input: {items: 30, arrivals: exp(1 s)}, stages: [{name: x, cpus: 1, service: exp(2 s)}]}
  b: {input: {items: 50, arrivals: exp(1 s)}, stages: [{name: y, cpus: 1, service: exp(1 s)}]}
Y
expect 0 "$WEIR_BIN" run two.yaml -q -o two.db
[ "$(sqlite3 two.db 'SELECT sum(items_arrived) || "/" || sum(items_done) FROM cluster_sample')" = 80.0/80.0 ] ||
    fail 'the intervals are not the whole'

# The same words give the same results; a fill has no clock and stands alone.
digest() { "$WEIR_BIN" run "$file" --set horizon=1h --no-db | grep -o 'result .*'; }
[ "$(digest)" = "$(digest)" ] || fail 'two runs differ'

# The report of both: ranks of jobs are in the picture of the GPUs, and what is said of waiting jobs
# is of jobs alone.
expect 0 "$WEIR_BIN" report mixed.db -o mixed.html

# What the page and the summary say of each kind of work, computed anew from the rows of workers,
# jobs and stages.
python3 - <<'PY' || fail 'a sentence of the page is not true'
import math, re, sqlite3
db = sqlite3.connect("mixed.db")
page = re.sub("<[^>]*>", "", open("mixed.html").read())
summary = open("summary").read()
end_s, = db.execute("select end_s from run").fetchone()

def number(x):
    return f"{x:.3g}"
def duration(s):
    if s < 99.5:
        return f"{number(s)}\u00a0s"
    whole = int(s + 0.5)
    parts = [(whole // 3600, "h"), (whole // 60 % 60, "m"), (whole % 60, "s")]
    while parts[0][0] == 0:
        parts.pop(0)
    return "".join(f"{n}{unit}" for n, unit in parts[:2] if n > 0)
def percent(x):
    return f"{100 * x:.1f}".replace(".0", "") if 0.05 <= 100 * x < 9.95 else f"{100 * x:.0f}"
def rank(values, p):
    return sorted(values)[math.ceil(p * len(values)) - 1]

rates = {}
for pipeline, first in db.execute("select pipeline, min(stage) from stage group by 1 order by 2"):
    last, = db.execute("select max(stage) from stage where pipeline = ?", (pipeline,)).fetchone()
    done, = db.execute("select sum(tasks_done) from stage_sample where stage = ?", (last,)).fetchone()
    rates[pipeline] = done / end_s
    name, share, stage = db.execute(
        "select g.name, sum(x.is_bottleneck * x.dt_s) / ?, g.stage from stage_sample x join stage g using"
        " (stage) where g.pipeline = ? group by g.stage order by 2 desc", (end_s, pipeline)).fetchone()
    busy, = db.execute("select sum(busy_s) / sum(coalesce(ended_s, ?) - created_s) from worker where"
                       " stage = ?", (end_s, stage)).fetchone()
    claim = (f"{pipeline} finishes {number(rates[pipeline])} items per second; "
             r"(95 % of them take at most|one in twenty of them takes at least) [^.]*(\.\d+ s)?\. "
             rf"Its slowest stage is {name}, for {percent(share)}.%.of the time; its workers are busy "
             rf"{percent(busy)}.%.of theirs")
    assert re.search(claim.replace(" ", "."), page), (claim, page[:3000])
    assert re.search(rf"slowest +{name} {100 * share:.0f} %", summary), summary

hours = end_s / 3600
waits = {}
for workload, source in enumerate(("train", "notebooks")):
    jobs = db.execute("select j.submit_s, j.outcome, j.end_s, min(w.created_s) from job j left join"
                      " worker w using (workload, job) where workload = ? group by j.job",
                      (workload,)).fetchall()
    count = {key: sum(job[1] == key for job in jobs) for key in ("done", "running", "waiting")}
    wait = [first - submit for submit, outcome, _, first in jobs if first is not None]
    lost, = db.execute("select count(distinct job) from worker where workload = ? and end_reason ="
                       " 'node lost'", (workload,)).fetchone()
    run, rest = count["running"], count["waiting"]
    text = (f"{source}: {len(jobs)} job{'s' * (len(jobs) != 1)} came and {count['done']} "
            f"{'is' if count['done'] == 1 else 'are'} done; at the end {run} run{'s' * (run == 1)} "
            f"and {rest} wait{'s' * (rest == 1)}")
    text += f"; runs lost: {lost}" if lost else ""
    text += f". Jobs that started waited {duration(sum(wait) / len(wait))} on average"
    assert text in page, (text, page[:3000])
    waits[source] = rank(wait + [math.inf] * count["waiting"], 0.95)
    if math.isfinite(waits[source]):
        text = f"95 % of these and those that still wait do so for at most {duration(waits[source])}."
        assert text in page, (text, page[:3000])
    # Of a lower bound it is those above it that something is said of.
    assert not re.search("95 %[^.]*at least", page)
    rates[source] = count["done"] / hours
heading = (f"mixed_cluster: video finishes {number(rates['video'])} items per second, audio "
           f"{number(rates['audio'])}; train finishes {number(rates['train'])} jobs per hour, "
           f"notebooks {number(rates['notebooks'])}")
assert heading in page, (heading, page[:1500])
most = max(waits, key=waits.get)
assert f"is the longest wait of 95 % of the jobs of {most}, which wait longest" in page, page[:3000]
PY
expect 0 "$WEIR_BIN" plot mixed.db placement -o placement.svg --at 2h
grep -q '>jobs [0-9.]* GPUs<' placement.svg || fail 'no jobs among the holders of GPUs'
waiting=$(sqlite3 mixed.db "SELECT printf('%.3g', sum(waiting * dt_s) / 10800) FROM job_sample")
expect 0 "$WEIR_BIN" plot mixed.db job-queue -o queue.svg
grep -q ">$waiting jobs wait on average" queue.svg || fail "not $waiting jobs that wait"

# Of several kinds of work each is told by what happened to it alone. No node is lost here: a service
# does not answer, and the runs that called it are over.
cat >kinds.yaml <<'Y'
schema: 2
name: kinds
horizon: 1000 s
cluster: {nodes: [{name: n, cpus: 16}]}
sched: {scaling: fixed}
pipelines:
  drops:
    execution: streaming
    input: {items: 3}
    stages: [{name: fails, cpus: 1, workers: 1, service: 1 s, process_failure: 1, max_attempts: 1, on_failure: ignore}]
  stays: {execution: streaming, input: {items: 3}, stages: [{name: long, cpus: 1, workers: 1, service: 2000 s}]}
services: {s: {requests: {count: 10, arrivals: const(1 s)}, cpus: 1, replicas: 1, service: 0.1 s}}
jobs:
  - {name: calls, run_time: 100 s, calls: {service: s, timeout: 5 s, attempts: 1}, classes: {one: {count: 1, request: {cpus: 1}}}}
  - {name: plain, run_time: 100 s, classes: {one: {count: 1, request: {cpus: 1}}}}
timeline: [{at: 20 s, for: 20 s, action: service_down, service: s}]
Y
expect 0 "$WEIR_BIN" run kinds.yaml -o kinds.db
matches stdout '^calls +1 arrived   1 done   0 refused   3 runs lost   up to the horizon$'
matches stdout '^plain +1 arrived   1 done   0 refused   up to the horizon$'
matches stdout '^stays +0 items/s   latency p95 ≥ 0 s$' # unfinished ones reach into it
matches stdout '^s +0\.01 items/s   latency p95 0\.1 s$'
expect 0 "$WEIR_BIN" report kinds.db -o kinds.html
# told WORK: the page's sentence of it.
told() { sed -n '/What became of each kind/,/<\/ul>/p' kinds.html | sed -n "s|<li><b>$1</b>||p"; }
[[ "$(told calls)" == *'; runs lost: 3.'* ]] || fail "$(told calls)"
[[ "$(told plain)" == *' wait. Jobs that started '* ]] || fail "$(told plain)"
[ "$(told drops)" = ' finishes 0 items per second.</li>' ] || fail "$(told drops)"
[ "$(sqlite3 kinds.db "SELECT group_concat(label) FROM (SELECT label FROM result WHERE metric = 'thr.pipeline'
    ORDER BY label)")" = ',drops,s,stays' ] || fail 'jobs are items'

# One makespan, of all work: items come at 0 and are over at 30.01 s, jobs at 51 s.
cat >over.yaml <<'Y'
schema: 2
name: over
cluster: {nodes: [{name: n, cpus: 8}]}
sched: {scaling: fixed}
pipelines: {p: {input: {items: 10}, stages: [{name: a, cpus: 1, workers: 1, service: 3 s}]}}
jobs: {x: {run_time: 50 s, classes: {one: {count: 2, at: 1 s, request: {cpus: 2}}}}}
expect: ["makespan <= 40 s"]
Y
expect 1 "$WEIR_BIN" run over.yaml --check -o over.db
matches stderr 'makespan <= 40.*, got 51'
value over.db makespan '' 51 1e-3
[ "$(sqlite3 over.db "SELECT count(*) FROM result WHERE metric = 'makespan'")" = 1 ] || fail 'two makespans'

# What is the slowest for moments alone is the slowest stage of nobody.
cp mixed.db moments.db
sqlite3 moments.db 'UPDATE stage_sample SET is_bottleneck = 1e-5 * is_bottleneck'
expect 0 "$WEIR_BIN" report moments.db -o moments.html
has mixed.html 'Its slowest stage is'
hasnt moments.html 'Its slowest stage is'
hasnt moments.html 'slowest stage of'
