#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Modules that lie, crash, hang, over-commit, eat memory, multiply and turn on who started them: each
# run ends with a sentence and exit code 4, its database opens and says that the run failed, no
# process is left; the checker refuses each of them too. Modules that are rude alone do no harm.
# covers: S1.4
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
. "$WEIR_SOURCE_DIR/tests/support/processes.sh"
# A module that crashes dies of its signal, also where a sanitizer would report it and exit.
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigfpe=0:${ASAN_OPTIONS:-}

cat >two.yaml <<'Y'
schema: 1
name: two
horizon: 1 h
cluster: {nodes: [{name: n, count: 2, cpus: 64, ram: 1 TiB, gpus: {h100: 8}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 500}
    stages:
      - {name: a, cpus: 1, gpus: 0.5, nvdecs: 1, service: 1 s}
Y
expect 0 "$WEIR_BIN" run two.yaml -o two.db --quiet
cat >jobs.yaml <<'Y'
schema: 2
name: jobs
horizon: 1 h
cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 8}}]}
sched: {placement: fgd}
jobs: [{name: day, count: 60, arrivals: {rate: 60/h}, classes: [{name: one, run_time: exp(20 min), request: {cpus: 1, gpus: 1}}]}]
Y
sed 's/^name: jobs/name: nodes/; s/h100: 8}}/h100: 8}, supply: {min: 1, max: 4}}/' jobs.yaml >nodes.yaml

mode=$(stat -c %a two.yaml)
count=0 skipped=0
for module in "$WEIR_PLUGINS"/hostile_*.so; do
    name=$(basename "$module" .so)
    # A sanitizer's allocator writes a report when there is no memory or it is misused (a plan that was
    # given back is), and the address space has no limit there.
    if [[ $name =~ _(hog|allocator|rlimits|late_plan|tls)$ ]] && ldd "$WEIR_BIN" | grep libasan >/dev/null; then
        skip_part "$name, under the sanitizer"
        skipped=$((skipped + 1))
        continue
    fi
    kind=scaling file=two.yaml
    case $name in
    hostile_p_*) kind=placement ;;
    hostile_q_*) kind=queueing file=jobs.yaml ;;
    hostile_c_*) kind=capacity file=nodes.yaml ;;
    esac
    more=()
    case $name in
    *_loop | *_hang | *_p_less | *_sleep | *_alarm | *_stopped | *_atexit | *_longjmp | *_spinners | *_blocked | *_segv_loop | *_thread_exit) more=(--policy-timeout 1) ;;
    *_hog | *_actions | *_memory | *_tls) more=(--policy-memory 600) ;;
    esac
    expect 4 tagged timeout 120 "$WEIR_BIN" run $file --plugin "$module" \
        --set "sched.$kind=hostile" -o "$name.db" "${more[@]}"
    nobody_left "$name"
    matches stderr '^weir: .{30,}'
    [ "$name" = hostile_p_nan ] || matches stderr "policy hostile: |--plugin .*$name" # it places nothing
    [ "$(wc -l <stderr)" -le 2 ] || fail "$name: more than a sentence"
    # Who gives away what is not there is named, with the device, and by how much it is too much.
    case $name in
    hostile_cpu) has stderr 'scaling policy hostile: ' && has stderr 'node 0: needs 128 CPU, 64 free, 64 too much' ;;
    hostile_gpu_fraction) has stderr 'GPU 0 of node 0: needs 2 GPU, 1 free, 1 too much' ;;
    hostile_kill | hostile_thread_signal | hostile_clone | hostile_old_calls) has stderr 'killed by signal 31' ;;
    hostile_owner) has stderr 'it may have no sockets' ;;
    hostile_output) has stderr '?[2Jxxx' && hasnt stderr $'\033' ;;
    hostile_modes) has stderr 'it may not change what it reads' ;;
    hostile_newer) has stderr 'it knows no newer calls' ;;
    hostile_locks) has stderr 'it may lock no file' ;;
    hostile_ipc) has stderr 'it may not touch what others share' ;;
    hostile_memfd) has stderr 'at 0 s, seed 1, replication 0: scaling policy hostile: it may have no files of memory' ;;
    hostile_namespaces) has stderr 'it may have no world of its own' ;;
    hostile_undefined) has stderr 'undefined symbol: weir_that_never_was' ;;
    hostile_late_plan) has stderr 'node 0: needs 1000 CPU, 64 free, 936 too much' ;;
    hostile_starving) has stderr 'scaling policy hostile: stage a: its first worker fits nowhere' ;;
    hostile_past) matches stderr 'killed by signal (11|7)' ;;
    hostile_devices_steered) has stderr 'it may steer no device' ;;
    hostile_ring) has stderr 'it finds no ring' ;;
    hostile_processes_memory) has stderr "it may write into nobody's memory" ;;
    hostile_int80) matches stderr 'killed by signal (31|11)' ;;
    hostile_c_verb) has stderr 'it asks for nodes and gives them back, and says annotate' && hasnt stderr 'hostile: capacity policy' ;;
    hostile_codec) has stderr 'GPU 0 of node 0: takes NVDEC 0, which is held by another' ;;
    esac
    if [ -e "$name.db" ] && command -v sqlite3 >/dev/null; then
        state=$(sqlite3 "file:$name.db?mode=ro" 'SELECT status, length(message) > 20 FROM run')
        [ "$state" = 'failed|1' ] || fail "$name: its run says '$state'"
        [ "$(sqlite3 "$name.db" 'PRAGMA integrity_check')" = ok ] || fail "$name: broken database"
    else
        hasnt stderr ' run 1 ' # refused while loading: there was no run
    fi
    if compgen -G "*.part*" >/dev/null; then fail "$name: left a part behind"; fi
    count=$((count + 1))
done
[ $((count + skipped)) -ge 109 ] || fail "only $count hostile modules"
[ "$(echo ./*.yaml ./core*)" = './jobs.yaml ./nodes.yaml ./two.yaml ./core*' ] && [ "$(stat -c %a two.yaml)" = "$mode" ] || fail 'a module has written files'

# The same where every place is asked for, without a clock.
cat >fill.yaml <<'Y'
schema: 2
name: fill
cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 8}}]}
sched: {placement: hostile}
fill: [{name: jobs, classes: [{name: one, count: 40, request: {cpus: 1, gpus: 0.5}}]}]
Y
fills=0
for module in "$WEIR_PLUGINS"/hostile_p_*.so; do
    name=$(basename "$module" .so)
    [ "$name" != hostile_p_nan ] || continue # a score like any other where nothing else is asked
    expect 4 tagged timeout 60 "$WEIR_BIN" run fill.yaml --plugin "$module" --policy-timeout 1 \
        -o "fill_$name.db"
    nobody_left "$name"
    has stderr 'arrival 0: placement policy hostile'
    [ "$(wc -l <stderr)" -le 2 ] || fail "$name: more than a sentence"
    if command -v sqlite3 >/dev/null; then
        [ "$(sqlite3 "fill_$name.db" 'SELECT status FROM run')" = failed ] || fail "$name: not failed"
        [ "$(sqlite3 "fill_$name.db" 'PRAGMA integrity_check')" = ok ] || fail "$name: broken"
    fi
    fills=$((fills + 1))
done
[ "$fills" -ge 6 ] || fail "only $fills hostile placements of a fill"

# What they do harms nobody: the run is complete, and gives what it gives without the rudeness. Those
# that write into the talk of others, or spoil what is copied in their process, may be caught at it:
# then the run has failed, and says so. Who writes into the talk may turn one plan into another, which
# holds as well.
rude=0
for module in "$WEIR_PLUGINS"/rude_*.so; do
    name=$(basename "$module" .so)
    status=0 wanted=complete
    tagged timeout 120 "$WEIR_BIN" run two.yaml --plugin "$module" --set sched.scaling=hostile \
        --policy-timeout 5 -o "$name.db" >stdout 2>stderr || status=$?
    nobody_left "$name"
    digest=$(sed -n 's/^digest .*result //p' stdout)
    [ "$name" != rude_destructor ] || good=$digest
    case $name:$status in
    rude_turns:4 | rude_direction:4) has stderr 'policy hostile: ' && wanted=failed ;;
    rude_turns:0) expect 0 "$WEIR_BIN" check "$name.db" ;;
    *:0) [ -n "$digest" ] && [ "$digest" = "${good:-$digest}" ] || fail "$name: result $digest" ;;
    *) cat stderr && fail "$name: exit code $status" ;;
    esac
    if command -v sqlite3 >/dev/null; then
        [ "$(sqlite3 "$name.db" 'SELECT status FROM run')" = "$wanted" ] || fail "$name: not $wanted"
        [ "$(sqlite3 "$name.db" 'PRAGMA integrity_check')" = ok ] || fail "$name: broken database"
    fi
    rude=$((rude + 1))
done
[ "$rude" -ge 16 ] || fail "only $rude rude modules"

# What it says that it remembers is asked for when a decision is written.
expect 4 tagged timeout 60 "$WEIR_BIN" explain rude_save.db --at 60s --decide --plugin "$WEIR_PLUGINS/rude_save.so"
nobody_left rude_save

# Limits of the process of a policy are options, as all others.
expect 4 tagged timeout 60 "$WEIR_BIN" run two.yaml --plugin "$WEIR_PLUGINS/hostile_loop.so" \
    --set sched.scaling=hostile --no-db --limit policy_cpu=1
has stderr 'it took more time on the processor than --limit policy_cpu allows'
expect 0 tagged timeout 60 "$WEIR_BIN" run two.yaml --plugin "$WEIR_PLUGINS/hostile_files.so" \
    --set sched.scaling=hostile --no-db --limit policy_files=200
expect 4 tagged timeout 60 "$WEIR_BIN" run two.yaml --plugin "$WEIR_PLUGINS/hostile_files.so" \
    --set sched.scaling=hostile --no-db --limit policy_files=20
matches stderr 'it may not open more than 1[0-9] files'

# Whoever ends weir ends a policy that does not return.
env WEIR_TAG="$tag" "$WEIR_BIN" run two.yaml --plugin "$WEIR_PLUGINS/hostile_sleep.so" --no-db \
    --set sched.scaling=hostile >stdout 2>stderr &
weir=$! # weir itself: a function would be a shell around it
await_anybody
kill -9 "$weir"
wait "$weir" || true
nobody_left_soon 'weir was killed'

# Whoever ends the keeper of a policy ends the policy, and weir says so at once. The code is the
# process of which none is the parent, the keeper its parent.
env WEIR_TAG="$tag" "$WEIR_BIN" run two.yaml --plugin "$WEIR_PLUGINS/hostile_sleep.so" --no-db \
    --set sched.scaling=hostile >stdout 2>stderr &
weir=$!
await_anybody
sleep 1
# shellcheck disable=SC2046 # numbers
keeper=$(ps -o pid=,ppid= -p "$(tagged_processes | paste -sd,)" |
    awk '{ parent[$1] = $2; is_parent[$2] = 1 } END { for (p in parent) if (!is_parent[p]) print parent[p] }')
began=$SECONDS
kill -9 "$keeper"
status=0
wait "$weir" || status=$?
[ "$status" -eq 4 ] && [ $((SECONDS - began)) -lt 30 ] || fail "the keeper was killed: $status, $((SECONDS - began)) s"
has stderr 'it was killed by signal 9'
nobody_left_soon 'its keeper was killed'

# The variants that did not fail are compared all the same, by the command that ran them and later.
sed 's/^horizon.*/horizon: 10 min/' two.yaml >both.yaml
printf 'compare:\n  - {label: bad, set: {sched.scaling.policy: hostile}}\n  - {label: good}\n  - {label: best, set: {sched.placement: best_fit}}\n' >>both.yaml
expect 4 "$WEIR_BIN" compare both.yaml --plugin "$WEIR_PLUGINS/hostile_cpu.so" -n 2 -o both.db
has stdout 'bad is left out, it failed in 2 of 2 runs: '
matches stdout '^throughput +good .*baseline'
matches stdout '^ +best '
expect 0 "$WEIR_BIN" compare both.db --format json
has stdout '"left_out": "bad is left out'
hasnt stdout '"variant": "bad"'

# Commands that repeat a run keep a crash out of the program, too.
expect 0 "$WEIR_BIN" rerun hostile_segfault.db -o again.db # it fails again: the same result
has stdout same
matches stderr '^weir: run 1 .*signal 11'
if command -v sqlite3 >/dev/null; then
    [ "$(sqlite3 again.db 'SELECT status FROM run')" = failed ] || fail 'again.db: not failed'
fi
expect 4 "$WEIR_BIN" explain hostile_segfault.db --at 60s --decide
matches stderr '^weir: .*signal 11'

# The other runs of an experiment are not touched, and a good module works as ever.
expect 0 "$WEIR_BIN" run two.yaml --plugin "$WEIR_PLUGINS/template.so" -o good.db \
    --set sched.scaling=template_queue_chaser --set horizon=1h
expect 0 "$WEIR_BIN" rerun good.db -o good2.db
has stdout same
expect 0 "$WEIR_BIN" explain good.db --at 60s --decide
cp stdout state.json
expect 3 "$WEIR_BIN" decide state.json
has stderr 'unknown policy template_queue_chaser'
expect 0 "$WEIR_BIN" decide state.json --plugin "$WEIR_PLUGINS/template.so"
has stdout '"status": "ok"'
sed -i 's/template_queue_chaser/hostile/' state.json
expect 4 "$WEIR_BIN" decide state.json --plugin "$WEIR_PLUGINS/hostile_segfault.so"
matches stderr '^weir decide: .*signal 11'

# With --in-process a crash ends the run's process, and the run says how it was made.
expect 4 "$WEIR_BIN" run two.yaml --plugin "$WEIR_PLUGINS/hostile_segfault.so" --in-process \
    --set sched.scaling=hostile -o inside.db
matches stderr '^weir: .*the process of the run: .*signal 11'
counted "$((count + rude)) modules: 0 databases damaged, 0 processes left"
