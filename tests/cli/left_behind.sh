#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that decide and leave something behind, or turn on who started them: nothing is left, also
# when weir itself is killed; the program is named, and the database opens.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
. "$WEIR_SOURCE_DIR/tests/support/processes.sh"

scenario=$WEIR_SOURCE_DIR/scenarios/examples/python_policy.yaml
count=0
program() { # exit code, sentence, shell text; seconds
    printf '%s\n' "$3" >program.sh
    expect "$1" tagged timeout 60 "$WEIR_BIN" run "$scenario" -o "run$count.db" \
        --set "sched.scaling.timeout=${4:-20} s" --set "sched.scaling.argv=[bash, '$PWD/program.sh']"
    nobody_left "$3"
    [ "$1" -eq 0 ] || has stderr "bash $PWD/program.sh"
    has stderr "$2"
    if command -v sqlite3 >/dev/null; then
        [ "$(sqlite3 "run$count.db" 'PRAGMA integrity_check')" = ok ] || fail "$3: broken database"
    fi
    count=$((count + 1))
}
end='echo nonsense; cat >/dev/null'
program 4 'no JSON' "read -r line; sleep 1000 & $end"
program 4 'no JSON' "read -r line; setsid sleep 1000 & $end"
program 4 'no JSON' "read -r line; (setsid bash -c 'sleep 1000 & sleep 1000' &) ; $end"
program 4 'no JSON' "read -r line; for i in {1..200}; do sleep 1000 & done; $end"
program 4 'no JSON' "read -r line; for i in {1..50}; do setsid sleep 1000 & done; $end"
program 4 'no JSON' "read -r line; bash -c 'trap \"\" TERM HUP INT; sleep 1000' & $end"
program 4 'no JSON' "read -r line; nohup setsid sleep 1000 >/dev/null 2>&1 & $end"
program 4 'ended with code 3' 'setsid sleep 1000 & exit 3'
program 4 'no answer within 0.3 s' 'setsid sleep 1000 & sleep 1000' 0.3
program 4 'no answer within 0.3 s' 'kill -STOP $$' 0.3
program 4 'no answer within 0.3 s' "trap '' TERM HUP INT; while :; do :; done" 0.3
program 4 'ended by signal 9' 'kill -9 0'
program 4 'ended by signal 31' 'kill -9 $PPID'
program 4 'ended by signal 31' 'kill -0 -1'
program 4 'ended by signal 31' 'kill -9 "$(sed -n "s/^PPid:[^0-9]*//p" "/proc/$PPID/status")"'
program 4 'larger than 64 MiB' "read -r line; tr '\0' x </dev/zero"
program 4 'more than one line' "env printf '{\"stages\": []}\\nnonsense\\n'; cat >/dev/null" # one write: the shell's own writes line by line
program 4 'ended with code 0' 'exec <&- >&-; exit 0'
program 4 'ended by signal 9' 'exec 1>&0; echo x; sleep 1000' 0.3
# Ways to signal who started it that name no process: what stands open of it in /proc, a file that
# tells its owner; and answers that are none.
program 4 'ended by signal 31' 'exec /bin/kill -s KILL -q 1 $PPID'
program 4 'no answer within 0.3 s' "read -r line; while :; do printf ' '; sleep 0.05; done" 0.3
program 4 'maximum parsing depth' "read -r line; head -c 200000 /dev/zero | tr '\\0' '['; echo; cat >/dev/null"
program 4 'no JSON' "read -r line; head -c 1000000 /dev/urandom | tr -d '\\n'; echo; cat >/dev/null"
program 4 'no JSON' "read -r line; printf '{\"stages\": [{\"name\": \"\\377\\376\"}]}\\n'; cat >/dev/null"
# Programs that do not listen, do not wait to be asked, or say what only looks like an answer.
program 4 'no answer within 0.3 s' 'exec <&-; sleep 1000' 0.3
program 4 'more than one line' "yes '{\"stages\": []}'"
program 4 "'}' expected" "read -r line; printf '{\"stages\": []\\0}\\n'; cat >/dev/null"
program 4 'real number overflow' "read -r line; printf '{\"stages\": [{\"workers\": 1e999}]}\\n'; cat >/dev/null"
program 4 'duplicate object key' "read -r line; printf '{\"stages\": [], \"stages\": []}\\n'; cat >/dev/null"
program 4 'ended with code 0' "read -r line; printf '{\"stages\": ['"
wanted=30
if command -v python3 >/dev/null; then
    program 4 'ended with code 1' "exec python3 -c 'import os, signal
there = os.open(\"/proc/%d\" % os.getppid(), os.O_RDONLY)
signal.pidfd_send_signal(there, 9)'"
    program 4 'ended with code 1' "exec python3 -c 'import fcntl, os, socket
here, there = socket.socketpair()
fcntl.fcntl(here, fcntl.F_SETOWN, os.getppid())
fcntl.fcntl(here, 10, 9) # F_SETSIG
fcntl.fcntl(here, fcntl.F_SETFL, os.O_ASYNC)
there.send(b\"x\")'"
    [ "$(uname -m)" != x86_64 ] || program 4 'ended by signal 31' "exec python3 -c 'import ctypes, os, struct
ctypes.CDLL(None).syscall(297, os.getppid(), os.getppid(), 9, struct.pack(\"iii\", 9, 0, -1) + bytes(116))'"
    wanted=32
fi
[ "$count" -ge "$wanted" ] || fail "only $count programs"

# Whoever ends weir ends its program and what that has started.
echo 'setsid sleep 1000 & read -r line; setsid sleep 1000 & sleep 1000' >program.sh
env WEIR_TAG="$tag" "$WEIR_BIN" run "$scenario" --no-db \
    --set "sched.scaling.argv=[bash, '$PWD/program.sh']" >stdout 2>stderr &
weir=$! # weir itself: a function would be a shell around it
await_anybody
kill -9 "$weir"
wait "$weir" || true
nobody_left_soon 'weir was killed'

# A program that is sound may leave what it likes, too.
if command -v python3 >/dev/null; then
    cp "$scenario" "${scenario%/*}/policy.py" .
    printf 'setsid sleep 1000 &\nexec python3 policy.py\n' >program.sh
    expect 0 tagged "$WEIR_BIN" run python_policy.yaml -o sound.db \
        --set "sched.scaling.argv=[bash, '$PWD/program.sh']"
    nobody_left 'a sound program'
    count=$((count + 1))
fi
counted "$count programs: 0 databases damaged, 0 processes left"
