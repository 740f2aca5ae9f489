# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks for tests/cli/*.sh, to be sourced. A failed check prints what it saw and ends the script.
#
#   expect 0 "$WEIR_BIN" run x.yaml     runs it, wants that exit code; output in ./stdout, ./stderr
#   has stdout 'throughput'             the file contains the text; hasnt: it does not
#   matches stdout '^p99 +[0-9]+'       the file has a line that matches the extended expression
#   same a.txt b.txt                    equal bytes
#   value run.db thr.stage infer 8      the value of a metric with that label, to nine digits; a fifth
#                                       argument is the relative error allowed instead
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

value() {
    python3 - "$@" <<'PY' || fail "$2 '$3' of $1"
import sqlite3, sys
name, metric, label, expected = sys.argv[1:5]
allowed = float(sys.argv[5]) if len(sys.argv) > 5 else 1e-9
found = sqlite3.connect(name).execute(
    "select value from v_result where metric = ? and label = ?", (metric, label)).fetchone()
if found is None or found[0] is None or not abs(found[0] - float(expected)) <= allowed * abs(float(expected)):
    sys.exit(f"{metric} '{label}' is {found and found[0]}, expected {expected}")
PY
}

# A small scenario of two stages and two variants: two_variants ITEMS >small.yaml
two_variants() {
    cat <<Y
schema: 1
name: small
cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 8}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: $1}
    stages:
      - {name: a, cpus: 1, service: exp(1 s)}
      - {name: b, cpus: 1, gpus: 0.25, service: exp(2 s)}
compare:
  - {label: one}
  - {label: two, set: {sched.placement: best_fit}}
Y
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
