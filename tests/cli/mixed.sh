# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Pipelines and jobs on one cluster: all invariants at every event, rows of every kind of work in the
# same tables, and names of workloads on the screen.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

file=$WEIR_SOURCE_DIR/scenarios/examples/mixed_cluster.yaml
expect 0 "$WEIR_BIN" run "$file" --set horizon=3h --check-invariants -o mixed.db
has stdout 'video '
has stdout 'train '
has stdout 'notebooks '
command -v sqlite3 >/dev/null || skip 'no sqlite3'
count() { sqlite3 mixed.db "SELECT count(*) FROM $1"; }
[ "$(count 'job WHERE workload = 0')" -gt 5 ] || fail 'no rows of the first workload'
[ "$(count 'job WHERE workload = 1')" -gt 5 ] || fail 'no rows of the second workload'
[ "$(count "action WHERE verb = 'start' AND job IS NOT NULL")" -gt 10 ] || fail 'no starts of jobs'
[ "$(count "action WHERE verb = 'start' AND stage IS NOT NULL")" -gt 10 ] || fail 'no starts of stages'
[ "$(count 'worker WHERE (stage IS NULL) = (job IS NULL)')" -eq 0 ] || fail 'a worker of nobody, or of two'
# A gang of four has a rank on some node each, all of one job, started together.
[ "$(count '(SELECT workload, job, created_s FROM worker WHERE job IS NOT NULL
    GROUP BY 1, 2, 3 HAVING count(*) = 4)')" -gt 0 ] || fail 'no gang of four'

# The same words give the same results; a fill has no clock and stands alone.
digest() { "$WEIR_BIN" run "$file" --set horizon=1h --no-db | grep -o 'result .*'; }
[ "$(digest)" = "$(digest)" ] || fail 'two runs differ'

# The report of both: ranks of jobs are in the picture of the GPUs, and what is said of waiting jobs
# is of jobs alone.
expect 0 "$WEIR_BIN" report mixed.db -o mixed.html
expect 0 "$WEIR_BIN" plot mixed.db placement -o placement.svg --at 2h
grep -q '>jobs [0-9.]* GPUs<' placement.svg || fail 'no jobs among the holders of GPUs'
waiting=$(sqlite3 mixed.db "SELECT printf('%.3g', sum(waiting * dt_s) / 10800) FROM job_sample")
expect 0 "$WEIR_BIN" plot mixed.db job-queue -o queue.svg
grep -q ">$waiting jobs wait on average" queue.svg || fail "not $waiting jobs that wait"
