#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `weir policies check` and `weir policies new`: the checker passes sound modules and names what is
# wrong with others; a new module builds with the printed command, passes and runs.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
# A module that crashes dies of its signal, also where a sanitizer would report it and exit.
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigfpe=0:${ASAN_OPTIONS:-}

expect 0 "$WEIR_BIN" policies check "$WEIR_PLUGINS/template.so"
hasnt stdout FAILED
hasnt stdout allox # it is weir's own
matches stdout 'p50 .* us, p99 .* us'
expect 0 "$WEIR_BIN" policies check "$WEIR_PLUGINS/template.so" --format json
has stdout '"result": "ok"'
# The sanitizer's allocator does not tell how large the process is.
if ! ldd "$WEIR_BIN" | grep libasan >/dev/null; then
    expect 4 "$WEIR_BIN" policies check "$WEIR_PLUGINS/broken_leak.so"
    matches stdout 'no growth +FAILED'
fi
expect 4 "$WEIR_BIN" policies check "$WEIR_PLUGINS/broken_memory.so"
matches stdout 'same plan +FAILED'
expect 4 "$WEIR_BIN" policies check "$WEIR_PLUGINS/capacities.so"
matches stdout '^patient +plans fit +ok +40 hosts, [1-9][0-9]* nodes asked for'
hasnt stdout 'patient .*FAILED'
matches stdout '^counted +plans fit +FAILED +equal inputs: gave two different plans'
expect 4 "$WEIR_BIN" policies check "$WEIR_PLUGINS/queueings.so"
[ "$(grep -c '^widest_first .* ok ' stdout)" -eq 7 ] || fail 'a sound queueing policy is refused'
matches stdout '^estimate_or_nothing +keys are numbers +FAILED +.*gives job [0-9]+ no key'
matches stdout '^by_calls +same job, same key +FAILED'
matches stdout '^by_wait +same job, same key +ok'
matches stdout '^by_wait +ageing is told +FAILED .*WEIR_QUEUEING_AGES'
# A sanitizer may see it first, and exits.
matches stdout '^fastest_first +keys are numbers +FAILED .*(signal 11|exit code 1)'
for module in "$WEIR_PLUGINS"/hostile_*.so; do
    case $module in
    *_loop.so | *_sleep.so | *_alarm.so | *_stopped.so | *_atexit.so | *_longjmp.so) continue ;; # 20 s each
    *_hog.so | *_actions.so | *_memory.so) continue ;;
    *_tls.so) ! ldd "$WEIR_BIN" | grep libasan >/dev/null || continue ;; # no limit on the address space
    esac
    expect 4 timeout 30 "$WEIR_BIN" policies check "$module"
done
expect 4 "$WEIR_BIN" policies check "$WEIR_PLUGINS/hostile_q_nobody.so"
matches stdout '^hostile +plans fit +FAILED .*job 987654321'
expect 4 "$WEIR_BIN" policies check missing.so
expect 2 "$WEIR_BIN" policies check
expect 0 "$WEIR_BIN" policies xenna

expect 0 "$WEIR_BIN" policies new mine
cp stdout steps
expect 3 "$WEIR_BIN" policies new mine # it is there
expect 2 "$WEIR_BIN" policies new ../mine
command -v gcc >/dev/null || skip 'no gcc'
bash -c "$(sed -n 1p steps)" || fail 'the new module does not build'
expect 0 "$WEIR_BIN" policies check ./mine.so
expect 0 "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/examples/video_pipeline.yaml" -n 1 --no-db \
    --plugin ./mine.so --set sched.scaling=mine_queue_chaser --set horizon=1h --set warmup=1min
