#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A run that is killed at any moment leaves a database that opens and says that it is not finished;
# a disk that is full ends a run with a sentence and exit code 3.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
scenario=$WEIR_SOURCE_DIR/scenarios/examples/video_pipeline.yaml

seen=0
for turn in $(seq 100); do
    rm -f x.db*
    "$WEIR_BIN" run "$scenario" -n 1 -o x.db --quiet --set horizon=400h >/dev/null 2>&1 &
    pid=$!
    sleep "0.$(printf '%03d' $((RANDOM % 120)))"
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    [ -e x.db ] || continue # not even begun
    seen=$((seen + 1))
    state=$(sqlite3 'file:x.db?mode=ro' 'SELECT status FROM run' 2>&1) ||
        fail "turn $turn: $state"
    case $state in '' | running | complete | horizon) ;; *) fail "turn $turn: status '$state'" ;; esac
    [ "$(sqlite3 'file:x.db?mode=ro' 'PRAGMA integrity_check')" = ok ] || fail "turn $turn: broken"
done
[ "$seen" -ge 50 ] || fail "only $seen of 100 runs had begun"

# A limit on the size of files stands for a full disk.
status=0
(
    trap '' XFSZ
    ulimit -f 200
    "$WEIR_BIN" run "$scenario" -n 1 -o full.db --quiet >stdout 2>stderr
) || status=$?
[ "$status" -eq 3 ] || fail "a full disk gives exit code $status"
has stderr 'full.db'
