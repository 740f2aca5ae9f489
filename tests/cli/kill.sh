#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A run that is killed at any moment leaves a database that opens and says that it is not finished,
# or that none had begun; its processes end with it. A disk that is full ends a run with a sentence
# and exit code 3.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
scenario=$WEIR_SOURCE_DIR/scenarios/examples/video_pipeline.yaml

# Moments from the start of a program to about three times what it takes to have its file, however
# busy the machine is and whatever the program was built with.
"$WEIR_BIN" run "$scenario" -o x.db --quiet --set horizon=4000h >/dev/null 2>&1 &
pid=$!
start_ms=$(date +%s%3N)
until [ -e x.db ]; do sleep 0.005; done
window_ms=$((3 * ($(date +%s%3N) - start_ms) + 30))
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true

# One run stays in the process, two have processes and files of their own.
seen=0 begun=0
for turn in $(seq 100); do
    rm -f x.db*
    runs=$((1 + turn % 2))
    "$WEIR_BIN" run "$scenario" -n $runs -o x.db --quiet --set horizon=4000h >/dev/null 2>&1 &
    pid=$!
    delay_ms=$((RANDOM % window_ms))
    sleep "$((delay_ms / 1000)).$(printf '%03d' $((delay_ms % 1000)))"
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    [ -e x.db ] || continue # its file has its name from the first commit on
    seen=$((seen + 1))
    # Whoever was killed while writing lets go of the file within an instant.
    state=$(sqlite3 -cmd '.timeout 5000' x.db 'SELECT DISTINCT status FROM run' 2>&1) ||
        fail "turn $turn: $state"
    [ "$(sqlite3 x.db 'PRAGMA integrity_check')" = ok ] || fail "turn $turn: broken"
    case $state in
    running) begun=$((begun + 1)) ;;
    '')
        "$WEIR_BIN" report x.db >/dev/null 2>said && fail "turn $turn: a report of no run"
        has said 'none had begun when its program ended'
        ;;
    *) fail "turn $turn: status '$state'" ;;
    esac
done
[ "$seen" -ge 50 ] || fail "only $seen of 100 programs had got as far as their file"
[ "$begun" -ge $((seen / 2)) ] || fail "only $begun of $seen files hold a run"

# What was killed can be run again, and a comparison refuses what is not finished.
rm -f x.db*
"$WEIR_BIN" run "$scenario" -n 2 -o x.db --quiet --set horizon=4000h >/dev/null 2>&1 &
pid=$!
until [ "$(sqlite3 x.db 'SELECT count(*) FROM run' 2>/dev/null)" = 2 ]; do :; done
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
"$WEIR_BIN" compare x.db >/dev/null 2>said && fail 'runs that were killed are compared'
has said 'is running'
"$WEIR_BIN" run "$scenario" -n 2 -o x.db --quiet --resume >/dev/null || fail 'cannot resume'
[ "$(sqlite3 x.db "SELECT count(*) FROM run WHERE status IN ('complete', 'horizon')")" = 2 ] ||
    fail 'not complete after all'
[ "$(echo x.db*)" = x.db ] || fail "more files than one are left: $(echo x.db*)"

# A limit on the size of files stands for a full disk.
status=0
(
    trap '' XFSZ
    ulimit -f 200
    "$WEIR_BIN" run "$scenario" -n 1 -o full.db --quiet >stdout 2>stderr
) || status=$?
[ "$status" -eq 3 ] || fail "a full disk gives exit code $status"
has stderr 'full.db'
