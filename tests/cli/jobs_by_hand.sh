# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Small job scenarios with starts, ends and measures worked out by hand, read back from the database.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# run NAME NODE CLASSES [OPTION...]: runs the jobs of the classes on a node; what became of them is in
# the file NAME: "class submit start end outcome attempts", one a line, in the order of submission.
run() {
    local name=$1
    cat >"$name.yaml" <<YAML
schema: 1
name: $name
cluster: {nodes: [$2]}
sched: {placement: first_fit, queueing: fcfs}
workloads:
  - name: w
    kind: generated
    mode: time
    classes:
$3
YAML
    shift 3
    expect 0 "$WEIR_BIN" run "$name.yaml" -q --force -o "$name.db" "$@"
    python3 - "$name.db" >"$name" <<'PY'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "select label_name, submit_s, start_s, end_s, outcome, attempts from v_job order by submit_s, job")
for row in rows:
    print(*(f"{x:g}" if isinstance(x, float) else x for x in row))
PY
}

wants() {
    printf '%s\n' "${@:2}" >wanted
    same "$1" wanted
}

# Slowdown is that of jobs of at least 10 s: 4 s after 0, 4 and 8 s of waiting count 1, 1 and 1.2,
# 20 s after 12 s 1.6.
bounded_slowdown() {
    run slowdown '{name: n, cpus: 1}' '
      - {name: short, count: 3, at: 0 s, service: const(4 s), request: {cpus: 1}}
      - {name: long, count: 1, at: 0 s, service: const(20 s), request: {cpus: 1}}'
    wants slowdown 'short 0 0 4 done 1' 'short 0 4 8 done 1' 'short 0 8 12 done 1' \
        'long 0 12 32 done 1'
    value slowdown.db slowdown.mean '' 1.2
    value slowdown.db slowdown.max '' 1.6
}

# The head is away from 10 to 110 s: what runs ends, who waits starts when it is back, and who comes
# tries again after 10, 20 and 40 s.
nobody_decides_while_the_head_is_down() {
    run headless '{name: n, cpus: 2}' '
      - {name: before, count: 1, at: 0 s, service: const(20 s), request: {cpus: 1}}
      - {name: waits, count: 1, at: 1 s, service: const(5 s), request: {cpus: 2}}
      - {name: comes, count: 1, at: 15 s, service: const(5 s), request: {cpus: 1}}
      - {name: late, count: 1, at: 90 s, service: const(5 s), request: {cpus: 1}}' \
        -S 'timeline=[{at: 10 s, action: head_down, for: 100 s}]' -S workloads.w.retries=3 \
        -S 'workloads.w.retry_delay=const(10 s)' -S workloads.w.retry_growth=2
    wants headless 'before 0 0 20 done 1' 'waits 1 110 115 done 1' 'comes 15 None 85 refused 0' \
        'late 90 120 125 done 1'
    run patient '{name: n, cpus: 2}' '
      - {name: before, count: 1, at: 0 s, service: const(20 s), request: {cpus: 1}}
      - {name: waits, count: 1, at: 1 s, service: const(5 s), request: {cpus: 2}}' \
        -S 'timeline=[{at: 10 s, action: head_down, for: 100 s}]'
    wants patient 'before 0 0 20 done 1' 'waits 1 110 115 done 1'
    expect 1 "$WEIR_BIN" run patient.yaml -q --no-db -S 'timeline=[{at: 10 s, action: head_down}]'
    has stderr 'work waits, but nothing will start it'
    asked headless 'head_down sched 10.0 110.0' 'SELECT kind, target, t_s, until_s FROM happening'
}

# What came, started, was done, was refused and left in each interval adds up to what the run says.
samples_add_up() {
    run sampled '{name: n, cpus: 1}' '
      - {name: a, count: 6, at: 0 s, every: 3 s, service: const(5 s), request: {cpus: 1}}' \
        -S workloads.w.queue_limit=2 -S 'workloads.w.patience=const(4 s)' -S metrics.sample=1s
    wants sampled 'a 0 0 5 done 1' 'a 3 5 10 done 1' 'a 6 None 10 left 0' 'a 9 10 15 done 1' \
        'a 12 15 20 done 1' 'a 15 None 19 left 0'
    sqlite3 sampled.db 'SELECT sum(arrived), sum(started), sum(done), sum(refused), sum(gave_up),
        sum(waiting * dt_s), sum(running * dt_s), max(gpus) FROM job_sample' >sums
    wants sums '6.0|4.0|4.0|0.0|2.0|14.0|20.0|0.0'
}

# The node is down from 10 to 20 s; of its 15 s until the last job ends 11 are used.
a_failed_node_is_no_capacity() {
    run failed '{name: n, cpus: 1, gpus: {l4: 1}}' '
      - {name: a, count: 1, at: 0 s, service: const(8 s), request: {gpus: 1}}
      - {name: b, count: 1, at: 21 s, service: const(4 s), request: {gpus: 1}}' \
        -S "cluster.failures={node_between: const(10 s), node_repair: const(10 s)}"
    wants failed 'a 0 0 8 done 1' 'b 21 21 25 done 1'
    value failed.db util.gpu.assigned '' 0.8
}

# Refused at 1 s, it comes again at 11 s and leaves at 16 s, 15 s after its submission, not at 26 s.
patience_counts_from_the_submission() {
    run patience '{name: n, cpus: 1}' '
      - {name: busy, count: 1, at: 0 s, service: const(20 s), request: {cpus: 1}}
      - {name: first, count: 1, at: 0 s, service: const(1 s), request: {cpus: 1}, patience: const(5 s)}
      - {name: again, count: 1, at: 1 s, service: const(1 s), request: {cpus: 1}, patience: const(15 s)}' \
        -S workloads.w.queue_limit=1 -S workloads.w.retries=1 -S workloads.w.retry_delay="const(10 s)"
    wants patience 'busy 0 0 20 done 1' 'first 0 None 5 left 0' 'again 1 None 16 left 0'
}

# Of four that come at 1 s one waits, and the others come again at 3 s as they came: the first of them
# waits when the other one starts.
who_is_refused_comes_again_in_order() {
    run order '{name: n, cpus: 1}' '
      - {name: busy, count: 1, at: 0 s, service: const(2 s), request: {cpus: 1}}
      - {name: many, count: 4, at: 1 s, service: const(5 s), request: {cpus: 1}}' \
        -S workloads.w.queue_limit=1 -S workloads.w.retries=1 -S workloads.w.retry_delay="const(2 s)"
    wants order 'busy 0 0 2 done 1' 'many 1 2 7 done 1' 'many 1 7 12 done 1' \
        'many 1 None 3 refused 0' 'many 1 None 3 refused 0'
}

# Priority 10 that grows by 0.01 a second passes a fresh 50 after 4 000 s of waiting.
# covers: S1.116
priority_grows_with_waiting() {
    local at
    for at in 3999 4001; do
        run "age$at" '{name: n, cpus: 1}' "
      - {name: busy, count: 1, at: 0 s, service: const(5000 s), request: {cpus: 1}, priority: 90}
      - {name: low, count: 1, at: 0 s, service: const(10 s), request: {cpus: 1}, priority: 10}
      - {name: high, count: 1, at: $at s, service: const(10 s), request: {cpus: 1}, priority: 50}" \
            -S "sched.queueing={policy: priority, ageing: 0.01}"
    done
    wants age3999 'busy 0 0 5000 done 1' 'low 0 5010 5020 done 1' 'high 3999 5000 5010 done 1'
    wants age4001 'busy 0 0 5000 done 1' 'low 0 5000 5010 done 1' 'high 4001 5010 5020 done 1'
}

# A gang of four with a GPU each asks for more than one job with two.
a_gang_is_as_large_as_its_members() {
    run smallest '{name: n, cpus: 8, gpus: {l4: 4}}' '
      - {name: busy, count: 1, at: 0 s, service: const(10 s), request: {gpus: 4}}
      - {name: gang, count: 1, at: 1 s, service: const(10 s), members: 4, request: {gpus: 1}}
      - {name: pair, count: 1, at: 2 s, service: const(10 s), request: {gpus: 2}}' \
        -S sched.queueing=smallest
    wants smallest 'busy 0 0 10 done 1' 'gang 1 20 30 done 1' 'pair 2 10 20 done 1'
}

# A gang of 16 on 16 GPUs, of which the small jobs before it free one a second from 20 s on: it takes
# none of them until it takes all at 34 s, and whoever comes later waits behind it, or under first_fit
# starts before it. With hold_mode: reserve it holds what is free, one GPU from 15 s, two from 20 s,
# three from 21 s .. 15 from 33 s on, which makes 124 GPU seconds: later ones find nothing.
# covers: S1.17
a_gang_holds_nothing_while_it_waits() {
    local sixteen='
      - {name: early, count: 15, at: 0 s, every: 1 s, service: const(20 s), request: {gpus: 1}}
      - {name: gang, count: 1, at: 15 s, members: 16, service: const(50 s), request: {gpus: 1}}
      - {name: late, count: 1, at: 16 s, service: const(5 s), request: {gpus: 1}}'
    local nodes='{name: n, count: 2, cpus: 64, gpus: {l4: 8}}'
    run passed "$nodes" "$sixteen" -S sched.queueing=first_fit
    grep -v early passed >waiting
    wants waiting 'gang 15 34 84 done 1' 'late 16 16 21 done 1'
    value passed.db gang.partial_holds '' 0
    run held "$nodes" "$sixteen" -S sched.queueing=first_fit -S sched.hold_mode=reserve
    grep -v early held >waiting
    wants waiting 'gang 15 34 84 done 1' 'late 16 84 89 done 1'
    value held.db gang.partial_holds '' 124
    run sixteen "$nodes" "$sixteen"
    grep -v early sixteen >waiting
    wants waiting 'gang 15 34 84 done 1' 'late 16 84 89 done 1'
    value sixteen.db gang.partial_holds '' 0
    python3 - sixteen.db <<'PY' || fail "GPUs held in part"
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "select count(*), sum(gpu_amount), min(created_s), max(created_s) from worker where job = 15").fetchall()
if rows != [(16, 16.0, 34.0, 34.0)]:
    sys.exit(f"the ranks of the gang: {rows}")
PY
}

# Three shares of a quarter with 30 GB each on one GPU of 80 GB: two fit. In time the third waits for
# memory, and the database says so; at once it is refused, half of the GPU is left, of which a quarter
# was asked for, and no scheduler could do better. covers: S1.11
gpu_memory_is_the_limit() {
    local request='request: {cpus: 1, gpus: 0.25, gpu_memory: 30 GB}'
    run memory '{name: n, cpus: 8, gpus: {h100: 1}}' "
      - {name: a, count: 3, at: 0 s, service: const(10 s), $request}"
    wants memory 'a 0 0 10 done 1' 'a 0 0 10 done 1' 'a 0 10 20 done 1'
    python3 - memory.db <<'PY' || fail "the reason of the job that waits"
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "select job, outcome, reasons from action where decision = 0 and verb = 'deny'").fetchall()
if rows != [(2, "denied: too little GPU memory", '{"too little GPU memory":1}')]:
    sys.exit(f"stored: {rows}")
PY
    cat >fill.yaml <<YAML
schema: 2
name: fill
cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 1}}]}
sched: {placement: fgd}
fill:
  - name: w
    count: 3
    classes: [{name: a, $request}]
YAML
    expect 0 "$WEIR_BIN" run fill.yaml -o fill.db
    has stdout 'unallocated    50.00 %   GPU memory short 25.00 %   not asked for 25.00 %'
    value fill.db alloc.gpu_pct '' 50
    expect 0 "$WEIR_BIN" run fill.yaml --check --no-db -S 'expect=["alloc.gpu_pct >= 49%", "alloc.gpu_pct <= 51%"]'
    value fill.db frag.gpu.fgd '' 0.5
    value fill.db alloc.bound_pct '' 50
    value fill.db unalloc.gpumem_pct '' 25
    value fill.db unalloc.policy_pct '' 0
}

# Twice as much as three GPUs can do: where jobs are lost 25 of 61 parts at most, 1 - 36 / (1 + 6 + 18
# + 36) by Erlang's formula, and one pool the same; where they wait a half. Two parts of 0.6 are on two
# GPUs, the third one of three is on the other node.
# covers: S1.16
what_a_load_gets_at_most() {
    cat >load.yaml <<YAML
schema: 2
name: load
horizon: 40 h
cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 3}}]}
sched: {placement: fgd}
jobs:
  - name: w
    queue_limit: 0
    arrivals: {rate: 6/h}
    classes: [{name: a, run_time: exp(1 h), request: {gpus: 1}}]
YAML
    expect 0 "$WEIR_BIN" show load.yaml
    has stdout 'any scheduler accepts at most 41.0 % of the GPU time asked for (one pool of GPUs without nodes 41.0 %, no bound)'
    expect 0 "$WEIR_BIN" run load.yaml -o load.db
    has stdout 'at most 41.0 % in the long run'
    value load.db jobs.gpu_time_bound '' 0.40983606557377 1e-9
    value load.db jobs.gpu_time_pool '' 0.40983606557377 1e-9
    expect 0 "$WEIR_BIN" report load.db -o load.html
    has load.html 'in the long run any scheduler accepts 41'
    expect 0 "$WEIR_BIN" show load.yaml --set jobs.w.queue_limit=1000
    has stdout 'at most 50.0 % of the GPU time asked for can run'
    cat >full.yaml <<YAML
schema: 2
name: full
cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 1}}, {name: m, cpus: 8, gpus: {h100: 2}}]}
sched: {placement: fgd}
fill:
  - name: w
    classes: [{name: a, count: 2, request: {gpus: 0.6}}, {name: b, count: 1, request: {gpus: 2}}]
YAML
    expect 0 "$WEIR_BIN" show full.yaml
    has stdout 'ask for 3.2 GPUs; any scheduler allocates at most 2.6 of the 3 there are (86.7 %)'
}

# Of 8 GPU hours 2 + 1.5 + 1 are used, and of 2 hours of 80 GB one hour of 40.
# covers: S1.131 S1.132
use_of_gpus_and_their_memory() {
    run used '{name: n, cpus: 8, gpus: {l4: 4}}' '
      - {name: a, count: 1, at: 0 s, service: const(2 h), request: {gpus: 1}}
      - {name: b, count: 1, at: 10 min, service: const(90 min), request: {gpus: 1}}
      - {name: c, count: 1, at: 1 h, service: const(30 min), request: {gpus: 2}}'
    value used.db util.gpu.active '' 0.5625
    value used.db util.gpu.seed '' 0.5625
    run memory '{name: n, cpus: 8, gpus: {a100-80: 1}}' '
      - {name: half, count: 1, at: 30 min, service: const(1 h),
         request: {gpus: 0.5, gpu_memory: 40 GB}}
      - {name: later, count: 1, at: 90 min, service: const(30 min), request: {cpus: 1}}'
    value memory.db util.gpumem.assigned '' 0.25
}

# Six jobs of 10 min on one GPU, all there at 0: they wait 0, 10 .. 50 min, and those that end at 30
# min and later are late. The queue holds 5, 4 .. 0.
# covers: S1.133
queues_waits_rates_and_late_ones() {
    run six '{name: n, cpus: 8, gpus: {l4: 1}}' '
      - {name: a, count: 6, at: 0 s, service: const(10 min), request: {gpus: 1}}' \
        -S workloads.w.deadline=25min
    value six.db queue.len.mean '' 2.5
    value six.db wait.job.mean '' 1500
    value six.db thr.jobs_h '' 6
    value six.db sla.violation_rate '' 0.666666666666667 1e-12
    value six.db sla.violation_rate a 0.666666666666667 1e-12
}

# From the first submission at 5 s to the last end at 25 s; of an unfinished run nobody knows.
makespan_is_of_what_is_over() {
    local jobs='
      - {name: a, count: 2, at: 5 s, every: 1 s, service: const(10 s), request: {cpus: 1}}'
    run over '{name: n, cpus: 1}' "$jobs"
    value over.db makespan '' 20
    run unfinished '{name: n, cpus: 1}' "$jobs" -S horizon=20s
    [ "$(python3 -c 'import sqlite3
print(sqlite3.connect("unfinished.db").execute("select count(*) from result where metric = ?",
                                               ("makespan",)).fetchone()[0])')" = 0 ] ||
        fail 'an unfinished run has a makespan'
}

# One each 10 s: the next at 10 s; from 15 to 115 s none comes, then what is left of the gap passes.
# Two of a burst come beyond the three, when nothing else is there: the run waits for those held.
arrivals_are_held_and_added() {
    cat >held.yaml <<'YAML'
schema: 2
name: held
cluster: {nodes: [{name: n, cpus: 1}]}
sched: {placement: first_fit, queueing: fcfs}
jobs:
  - name: w
    run_time: 2 s
    count: 3
    arrivals: {process: renewal, gap: const(10 s)}
    classes: [{name: a, request: {cpus: 1}}]
timeline:
  - {at: 15 s, for: 100 s, action: arrivals, factor: 0}
  - {at: 40 s, action: burst, items: 2}
YAML
    expect 0 "$WEIR_BIN" run held.yaml -q --force -o held.db
    python3 - held.db >held <<'PY'
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(
        "select submit_s, start_s, end_s from v_job order by submit_s, job"):
    print(*(f"{x:g}" for x in row))
PY
    wants held '10 10 12' '40 40 42' '40 42 44' '120 120 122' '130 130 132'
}

# 100 steps of 1 s have a row each, by their ends, also when half of them go at half the speed; of a
# job that loses its node at 30 s the 30 steps that it had done are done anew.
# covers: S1.43
steps_have_a_row_each() {
    run steps '{name: n, cpus: 8, gpus: {l4: 1}}' '
      - {name: job, count: 1, at: 0 s, service: const(100 s), request: {gpus: 1}, step: {time: 1 s}}' \
        -S 'timeline=[{at: 50 s, action: node_slow, node: n, factor: 2}]'
    asked steps '100 1 1.0 50.0 150.0' \
        "SELECT count(*), min(step), min(step_s), max(end_s) FILTER (WHERE step = 50), max(end_s)
         FROM v_job_step"
    run again '{name: n, cpus: 8, gpus: {l4: 1}}' '
      - {name: job, count: 1, at: 0 s, service: const(100 s), request: {gpus: 1}, step: {time: 1 s}}' \
        -S 'timeline=[{at: 30.5 s, for: 10 s, action: node_down, node: n}]'
    asked again '1 30 30.0|2 100 140.5' \
        "SELECT attempt, count(*), max(end_s) FROM v_job_step GROUP BY attempt ORDER BY attempt"
}
# What decisions took is told by the wall clock, apart from what is the same in every run.
decisions_take_time() {
    asked again 'sched.cpu_ms.mean|sched.cpu_ms.p99|sched.wall_max' \
        "SELECT metric FROM result_wall WHERE metric LIKE 'sched.%' AND value > 0 ORDER BY metric"
}
asked() {
    [ "$(sqlite3 -separator ' ' -newline '|' "$1.db" "$3" | sed 's/|$//')" = "$2" ] ||
        fail "$1: $(sqlite3 "$1.db" "$3"), expected $2"
}

bounded_slowdown
samples_add_up
nobody_decides_while_the_head_is_down
arrivals_are_held_and_added
use_of_gpus_and_their_memory
queues_waits_rates_and_late_ones
makespan_is_of_what_is_over
a_failed_node_is_no_capacity
patience_counts_from_the_submission
who_is_refused_comes_again_in_order
priority_grows_with_waiting
steps_have_a_row_each
decisions_take_time
a_gang_is_as_large_as_its_members
a_gang_holds_nothing_while_it_waits
gpu_memory_is_the_limit
what_a_load_gets_at_most
