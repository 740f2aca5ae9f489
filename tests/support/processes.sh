# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whether a command leaves processes behind, to be sourced after cli.sh. Whatever a command starts
# inherits its environment, also what leaves its session or loses its parents: a word in it is looked
# for in all processes.
tag=weir-test-$$-$RANDOM

tagged() { env WEIR_TAG="$tag" "$@"; }

# Their numbers, one a line. Processes that end meanwhile, and those of others, cannot be read.
tagged_processes() {
    { grep -slzxF "WEIR_TAG=$tag" /proc/[0-9]*/environ || true; } | tr -cd '0-9\n'
}

nobody_left() {
    local left
    left=$(tagged_processes)
    [ -z "$left" ] || { # shellcheck disable=SC2086
        ps -o pid,ppid,stat,args -p "${left//$'\n'/,}" || true
        kill -9 $left
        fail "$1: processes are left"
    }
}

# Their keeper has to notice first.
nobody_left_soon() {
    local i
    for ((i = 0; i < 100; i++)); do
        [ -n "$(tagged_processes)" ] || return 0
        sleep 0.1
    done
    nobody_left "$1"
}

# Until a command and at least two more processes of it are there.
await_anybody() {
    local i
    for ((i = 0; i < 100; i++)); do
        [ "$(tagged_processes | wc -l)" -lt 3 ] || return 0
        sleep 0.1
    done
    fail 'nothing was started'
}

# A line for ./dev test --hostile.
counted() { [ -z "${WEIR_COUNTS:-}" ] || echo "$1" >>"$WEIR_COUNTS"; }
