# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks for tests/cli/*.sh, to be sourced. A failed check prints what it saw and ends the script.
#
#   expect 0 "$WEIR_BIN" run x.yaml     runs it, wants that exit code; output in ./stdout, ./stderr
#   has stdout 'throughput'             the file contains the text; hasnt: it does not
#   matches stdout '^p99 +[0-9]+'       the file has a line that matches the extended expression
#   same a.txt b.txt                    equal bytes
#   skip 'no gnuplot'                   ends the script, which counts as skipped and not as passed
#   skip_part 'no locale'               goes on; what is left out counts as one skipped
set -euo pipefail

fail() {
    printf 'FAILED %s:%s: %s\n' "${BASH_SOURCE[-1]##*/}" "${BASH_LINENO[1]}" "$1"
    exit 1
}

expect() {
    local wanted=$1 status=0
    shift
    "$@" >stdout 2>stderr || status=$?
    [ "$status" -eq "$wanted" ] && return 0
    printf '%s\n--- stdout\n' "$*"
    head -n 40 stdout
    echo '--- stderr'
    head -n 40 stderr
    fail "exit code $status, expected $wanted"
}

has() {
    grep -qF -- "$2" "$1" && return 0
    head -n 40 "$1"
    fail "$1 lacks the text '$2'"
}

hasnt() {
    grep -nF -- "$2" "$1" || return 0
    fail "$1 has the text '$2'"
}

matches() {
    grep -qE -- "$2" "$1" && return 0
    head -n 40 "$1"
    fail "$1 has no line that matches '$2'"
}

same() {
    cmp -s "$1" "$2" && return 0
    diff "$1" "$2" | head -n 40
    fail "$1 and $2 differ"
}

log_case() { [ -z "${WEIR_CASE_LOG:-}" ] || echo "$1" >>"$WEIR_CASE_LOG"; }

skip() {
    echo "SKIPPED: $1"
    log_case "SKIPPED: ${0##*/}: $1"
    exit 77
}

skip_part() {
    echo "SKIPPED: $1"
    log_case "SKIPPED: ${0##*/}: $1"
    log_case PART
}
