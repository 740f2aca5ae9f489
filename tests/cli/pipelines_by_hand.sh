# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Small pipelines with times and measures worked out by hand, read back from the database.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# run NAME NODE INPUT STAGES [OPTION...]: the pipeline on a node, as many workers as its stages say.
run() {
    local name=$1
    cat >"$name.yaml" <<YAML
schema: 1
name: $name
catalog: {gpu_types: {half: {speed: 0.5}}}
cluster: {nodes: [$2]}
sched: {placement: first_fit, scaling: {policy: fixed, interval: 10 s}}
pipelines:
  - name: p
    semantics: event
    backpressure: none
    input: {$3}
    stages:
$4
YAML
    shift 4
    rm -f "$name.db"
    expect 0 "$WEIR_BIN" run "$name.yaml" -q -o "$name.db" "$@"
}

# 25 tasks of 4 items take 25 s and turn 100 items into 1 000, of which b works off 5 a second, for
# 200 s since 1 s. Item n of b comes with its group of 40 at floor(n / 40) + 1 and starts at 1 + n / 5:
# it waits n / 5 - floor(n / 40), which is 167 s for the 950th and 158 s for the 900th.
what_a_line_measures() {
    run line '{name: n, cpus: 4, gpus: {a100-80: 1}}' 'items: 100' '
      - {name: a, cpus: 1, workers: 1, service: 1 s, batch: 4, returns: const(10)}
      - {name: b, gpus: 1, gpu_memory: 20 GB, workers: 1, service: 0.2 s}'
    value line.db makespan '' 201
    value line.db thr.bound '' 5 1e-6 # what b does
    value line.db thr.plan_bound '' 5 1e-6
    value line.db thr.of_bound '' 0.99502487562189 1e-6 # 200 / 201
    value line.db thr.stage a 0.497512437810945 1e-12 # 100 / 201
    value line.db thr.stage b 4.97512437810945 1e-12
    value line.db wait.stage.mean b 87.9
    value line.db wait.stage.p95 b 166.9 0.01
    value line.db util.gpumem.assigned '' 0.25
    value line.db util.gpumem.active '' 0.248756218905473 1e-12 # a quarter of 200 / 201
}

# Ten items of b stand for one of the source: its 5 a second are 0.5, the 4 of a are 4. Speeds are
# known from 10 s on.
fan_out_moves_the_bottleneck() {
    run line '{name: n, cpus: 4}' 'items: 100' '
      - {name: a, cpus: 1, workers: 1, service: 1 s, batch: 4, returns: const(10)}
      - {name: b, cpus: 1, workers: 1, service: 0.2 s}'
    value line.db bottleneck.stage '' 1
    value line.db bottleneck.share b 0.950248756218905 1e-12 # 191 / 201
    value line.db bottleneck.share a 0
}

# One comes a second from 1 s on; the first four are in hand while six wait. 4, 4 and 2 are worked on
# since 4, 104 and 204 s; b takes 3 and 3, and at 304 s 3 and the last one, until 306 s.
bytes_at_the_source_and_the_last_short_batches() {
    run short '{name: n, cpus: 4}' 'items: 10, arrivals: const(1 s), bytes_per_item: 1 MB' '
      - {name: a, cpus: 1, workers: 1, service: 100 s, batch: 4}
      - {name: b, cpus: 1, workers: 1, service: 1 s, batch: 3}'
    value short.db queue.bytes.max a 6e6
    value short.db makespan '' 305
    value short.db thr.pipeline '' 0.0326797385620915 1e-12 # all ten
}

# Half of the items end in a, so some of the runs end with one; what c has then gathered, fewer than
# seven, goes all the same, though nothing comes any more from b.
the_end_of_the_input_reaches_all_stages() {
    local seed
    for seed in 1 2 3 4 5 6; do
        run ends '{name: n, cpus: 4}' 'items: 43' '
      - {name: a, cpus: 1, workers: 1, service: 1 s, returns: const(0.5)}
      - {name: b, cpus: 1, workers: 1, service: 0.1 s}
      - {name: c, cpus: 1, workers: 1, service: 0.1 s, batch: 7}' -S seed=$seed
        value ends.db makespan '' 43.2 0.006 # at once, not at the decision of 50 s
    done
}

# takes SECONDS BATCH SERVICE: ten items of size 3 on one GPU of half the speed.
takes() {
    run service '{name: n, cpus: 4, gpus: {half: 1}}' 'items: 10, classes: [{name: long, size: const(3)}]' \
        "      - {name: a, gpus: 1, workers: 1, batch: $2, service: $3}"
    value service.db makespan '' "$1"
}

what_a_task_takes() {
    printf 'gpu_type,batch,size,seconds\nhalf,1,3,1\nhalf,5,3,4\n' >table.csv
    takes 60 1 '1 s'                                # 10 x 1 s x 3 / 0.5
    takes 20 1 '{law: 1 s, scale_by_size: false}'   # 10 x 1 s / 0.5
    takes 120 1 '{law: 1 s, class_factor: {long: 2}}'
    takes 30 1 '{law: 1 s, gpu_factor: {half: 1}}'  # stated for the type: its speed does not count
    takes 80 1 '{base: 1 s, per_size: 1 s}'         # 10 x (1 + 3) / 0.5
    takes 64 5 '{base: 1 s, per_size: 1 s}'         # 2 x (1 + 5 x 3) / 0.5
    takes 44 5 '{base: 1 s, per_item: 2 s}'         # 2 x (1 + 5 x 2) / 0.5
    takes 10 1 '{table: table.csv}'
    takes 8 5 '{table: table.csv}'
}

set_up_can_be_slow() {
    local stage='      - {name: a, cpus: 1, workers: 1, service: 1 s, setup: 10 s}'
    run slow '{name: n, cpus: 4}' 'items: 10' "$stage"
    value slow.db makespan '' 20
    run slow '{name: n, cpus: 4}' 'items: 10' "$stage
timeline: [{at: 0 s, action: setup_slow, stage: a, factor: 3}]"
    value slow.db makespan '' 40
}

# Every time a node is up, and is away, is a draw of its own. With a law of mean 300 s hardly any of
# those of an hour lie within a second of one another: here no two of a node.
every_failure_is_drawn_anew() {
    local jobs='workloads: [{name: w, kind: generated, mode: time, classes: [
  {name: a, count: 3500, every: 1 s, service: const(1 s), request: {cpus: 1}}]}]'
    run pipeline '{name: n, cpus: 4, count: 2}' 'items: 1000000' \
        '      - {name: a, cpus: 1, workers: 2, service: 1 s}' -S horizon=1h \
        -S 'cluster.failures={node_between: exp(300 s), node_repair: exp(60 s)}'
    sed '/^pipelines:/,$d' pipeline.yaml >jobs.yaml
    echo "$jobs" >>jobs.yaml
    expect 0 "$WEIR_BIN" run jobs.yaml -q -o jobs.db -S horizon=1h \
        -S 'cluster.failures={node_between: exp(300 s), node_repair: exp(60 s)}'
    python3 - pipeline.db jobs.db <<'PY'
import sqlite3, sys
for name in sys.argv[1:]:
    spans, since = {}, {}
    for t, kind, node in sqlite3.connect(name).execute(
            "select t_s, kind, target from happening where kind in ('node_fail', 'node_repair') order by t_s"):
        spans.setdefault((kind, node), []).append(t - since.get(node, 0))
        since[node] = t
    assert len(spans) == 4, (name, spans)
    for key, times in spans.items():
        assert len(times) >= 4, (name, key, times)
        assert len({round(x, 3) for x in times}) == len(times), (name, key, times)
    firsts = [times[0] for key, times in spans.items() if key[0] == "node_fail"]
    assert firsts[0] != firsts[1], firsts
PY
}

# What fails of a GPU is drawn by the counts of the Llama 3 run, 268 in all: the share of each cause
# lies within five standard deviations.
causes_of_gpu_failures_come_by_their_counts() {
    run causes '{name: n, cpus: 4, gpus: {h100: 8}, count: 8}' 'arrivals: const(400 h)' \
        '      - {name: a, cpus: 1, workers: 1, service: 1 s}' -S horizon=500h -S sched.scaling.interval=1000h \
        -S 'cluster.failures={gpu_between: exp(10 h), gpu_repair: const(1 min)}'
    python3 - causes.db <<'PY'
import sqlite3, sys
counts = {"faulty GPU": 148, "HBM3 memory": 72, "SRAM memory": 19, "GPU system processor": 17,
          "silent data corruption": 6, "thermal interface or sensor": 6}
found = dict(sqlite3.connect(sys.argv[1]).execute(
    "select substr(text, instr(text, ': ') + 2) as cause, count(*) from happening"
    " where kind = 'gpu_fail' group by cause"))
total = sum(found.values())
assert total > 2000 and set(found) <= set(counts), found
for cause, count in counts.items():
    share = count / 268
    error = (share * (1 - share) / total) ** 0.5
    assert abs(found.get(cause, 0) / total - share) < 5 * error, (cause, found)
PY
}

# RAM holds 5 workers of 10 GB and 5 of 1 GB; six of each are 66 GB. CPUs would hold 32 of each.
the_pool_optimum_knows_memory() {
    run optimum '{name: n, cpus: 64, ram: 64 GB}' 'items: 100000' '
      - {name: a, cpus: 1, ram: 10 GB, service: 1 s, speed_hint: 1}
      - {name: b, cpus: 1, ram: 1 GB, service: 1 s, speed_hint: 1}' \
        -S horizon=100s -S sched.scaling.policy=pool_optimum
    python3 - optimum.db <<'PY'
import sqlite3, sys
workers = sqlite3.connect(sys.argv[1]).execute(
    "select stage_name, count(*) from v_worker group by 1 order by 1").fetchall()
assert workers == [("a", 5), ("b", 5)], workers
PY
}

# A main loop that turns once a second must hand out 30 tasks of 33 ms at a time: with the slots of the
# rule the worker is idle for less than 1 %, with one slot for all but 33 ms of a second.
# covers: S0.14
slots_keep_a_worker_busy() {
    local period active
    for period in 1:1 0.001:0.033; do
        active=${period#*:}
        run "slots$active" '{name: n, cpus: 1}' 'items: 1000000' \
            '      - {name: a, cpus: 1, service: 0.033 s}' -S horizon=30min -S warmup=5min \
            -S pipelines.p.semantics=runtime -S pipelines.p.loop_hz=1 \
            -S pipelines.p.slots_per_worker=1 \
            -S "sched.scaling={policy: xenna, interval: 30 s, slots_min: 1, loop_period: ${period%:*}}"
        value "slots$active.db" util.cpu.active '' "$active" 0.01
    done
}

# The second task dies with its worker at 3 s and is done again by the one of the plan at 10 s.
a_task_whose_worker_died_is_tried_again() {
    run died '{name: n, cpus: 1}' 'items: 2' \
        '      - {name: a, cpus: 1, workers: 1, service: 2 s, worker_between: const(3)}'
    value died.db makespan '' 12
    value died.db retry.count '' 1
    value died.db work.lost_s '' 1
}

# Full of its own tasks is not held back: only the stage before a slower one is.
only_what_stands_behind_blocks() {
    run blocked '{name: n, cpus: 4}' 'items: 100000' '
      - {name: a, cpus: 1, workers: 1, service: 1 s}
      - {name: b, cpus: 1, workers: 1, service: 4 s}' -S horizon=3h -S warmup=1h \
        -S pipelines.p.semantics=runtime -S pipelines.p.backpressure=slots
    value blocked.db bp.blocked_frac a 0.75 0.05
    value blocked.db bp.blocked_frac b 0
}

# One timer runs: another interval counts from the last decision on, and so does one that came late.
an_interval_is_between_decisions() {
    run timer '{name: n, cpus: 4}' 'items: 100' '
      - {name: a, cpus: 1, workers: 1, service: 1 s}' -S horizon=80s \
        -S 'timeline=[{at: 14 s, action: set, set: {sched.scaling.interval: 2 s}}, {at: 19 s, action: set, set: {sched.scaling.interval: 10 s}}, {at: 45 s, for: 7 s, action: head_down}]'
    expect 0 python3 -c 'import sqlite3; print(*(int(row[0]) for row in sqlite3.connect("timer.db").execute("SELECT t_s FROM decision")))'
    has stdout '0 10 14 16 18 28 38 52 62 72'
}

# 80 s of a task of 100 s are work of its worker, too. Alone it has all turns of a GPU of which it holds
# a quarter: 25 s in use for each 6.25 s held are no over-allocation.
work_in_hand_at_the_end() {
    run hand '{name: n, cpus: 4, gpus: {a100-80: 1}}' 'items: 4' '
      - {name: a, gpus: 0.25, workers: 1, service: 100 s}' -S horizon=80s -S cluster.share=timeslice
    expect 0 python3 -c 'import sqlite3; print(*sqlite3.connect("hand.db").execute("SELECT busy_s, tasks FROM worker").fetchone())'
    has stdout '80.0 0'
    value hand.db util.gpu.assigned '' 0.25
    value hand.db util.gpu.active '' 1 0.01
    expect 0 python3 -c 'import sqlite3; print(*sqlite3.connect("hand.db").execute("SELECT count(*) FROM result WHERE metric = ?", ("waste.alloc_unused",)).fetchone())'
    has stdout '0'
    run whole '{name: n, cpus: 4, gpus: {a100-80: 1}}' 'items: 1' '
      - {name: a, gpus: 1, workers: 1, service: 40 s}
      - {name: b, cpus: 1, workers: 1, service: 40 s}'
    value whole.db waste.alloc_unused '' 0.5
}

# One a second comes on average, and here 59 in 50 s.
more_than_plans_give_came_by_chance() {
    cat >lucky.yaml <<'YAML'
schema: 2
name: lucky
seed: 7
horizon: 50 s
cluster: {nodes: [{name: n, cpus: 16}]}
services: [{name: a, requests: {arrivals: {rate: 1}}, replicas: 8, service: 1 s}]
YAML
    expect 0 "$WEIR_BIN" run lucky.yaml -o lucky.db
    has stdout 'bound          1 finished items/s for plans that change over time   1 for one that stands still   on average: by chance there were more'
    command -v gnuplot >/dev/null || return 0
    expect 0 "$WEIR_BIN" report lucky.db -o lucky.html
    has lucky.html 'by chance more than the 1/s that plans give on average'
    hasnt lucky.html 'plans could give'
}

# A file beside the scenario, found from another folder, is kept with its digest.
recorded_items_are_an_input() {
    expect 0 "$WEIR_BIN" compare "$WEIR_SOURCE_DIR/scenarios/examples/recorded_items.yaml" --check \
        -o recorded.db
    python3 - recorded.db "$WEIR_SOURCE_DIR/scenarios/examples/recorded_items.csv" <<'PY'
import os, sqlite3, sys
kept = [row for row in sqlite3.connect(sys.argv[1]).execute(
    "select path, bytes, digest from input_file") if row[0].endswith("recorded_items.csv")]
assert len({row[2] for row in kept}) == 1, kept
assert kept[0][1] == os.path.getsize(sys.argv[2]), kept
PY
}

recorded_items_are_an_input
an_interval_is_between_decisions
work_in_hand_at_the_end
more_than_plans_give_came_by_chance
what_a_line_measures
a_task_whose_worker_died_is_tried_again
only_what_stands_behind_blocks
fan_out_moves_the_bottleneck
bytes_at_the_source_and_the_last_short_batches
the_end_of_the_input_reaches_all_stages
what_a_task_takes
set_up_can_be_slow
every_failure_is_drawn_anew
causes_of_gpu_failures_come_by_their_counts
the_pool_optimum_knows_memory
slots_keep_a_worker_busy
