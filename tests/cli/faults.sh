#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The n-th allocation, or the n-th call that writes or reads a file, fails: a command then ends with a sentence
# and a code that is documented, or it finds what it finds undisturbed. It never crashes, and what it
# leaves can be read. Undisturbed, it gives all memory back and closes all files. WEIR_FAULTS=all
# (./dev test --faults) for every n, else some of them.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# What cannot be printed is an error, of every command.
scenario=$WEIR_SOURCE_DIR/scenarios/examples/video_pipeline.yaml
for words in "show $scenario" "validate $scenario" "schema" "trace formats" "run $scenario --no-db" \
    "--help" "--version" "run --help" "upgrade" "doctor"; do
    status=0
    # shellcheck disable=SC2086
    "$WEIR_BIN" $words >/dev/full 2>stderr || status=$?
    [ "$status" -eq 3 ] || fail "$words: a full standard output gives exit code $status"
    has stderr 'weir: cannot write all of the output'
done

# A file that cannot be filled is another one: the disk is full.
cp "$WEIR_SOURCE_DIR"/scenarios/examples/jobs_table.* .
for words in 'trace convert jobs_table.csv --map jobs_table.json --to swf -o /dev/full' \
    'trace convert jobs_table.csv --map jobs_table.json --to weir -o /dev/full' \
    'run jobs_table.yaml -n 1 --no-db -q --spans /dev/full'; do
    # shellcheck disable=SC2086
    expect 6 "$WEIR_BIN" $words
    has stderr '/dev/full: cannot be written to: No space left on device'
done

command -v python3 >/dev/null || skip 'no python3 program'
shim=${WEIR_BIN%/*}/tests/fail_shim.so
[ -e "$shim" ] || skip 'no library that lets calls fail (a sanitizer?)'
export WEIR_CHECK_INVARIANTS=0

. "$WEIR_SOURCE_DIR/tests/support/small_inputs.sh"
mkdir bin && printf '#!/bin/sh\necho 7\n' >bin/sbatch && chmod +x bin/sbatch # takes whatever it is given
export PATH="$PWD/bin:$PATH"
cp whole.db part.db
sqlite3 part.db "DELETE FROM run WHERE run_id = 2"

# A disk that is full, from some call on: the code says so, what was finished is kept.
for n in 5 60 130; do
    for runs in 1 3; do
        rm -f full.db*
        expect 6 env LD_PRELOAD="$shim" WEIR_FAIL="write:$n:on:enospc" "$WEIR_BIN" run small.yaml -n "$runs" -o full.db -q
        has stderr 'weir: out of memory or disk: ' # when the file is written, or when it is merged
        has stderr 'full.db'
    done
done
expect 0 "$WEIR_BIN" run small.yaml -n 3 -o full.db -q --resume
# A window of a database is measured in a copy of it, whose disk may be full, too.
words='explain whole.db --from 1s --to 15s'
# shellcheck disable=SC2086
expect 0 env LD_PRELOAD="$shim" WEIR_FAIL=write:0:once WEIR_FAIL_COUNT=calls "$WEIR_BIN" $words
calls=$(head -n 1 calls)
for n in $((calls / 2)) $((calls - 70)) $((calls - 50)) $((calls - 30)); do
    # shellcheck disable=SC2086
    expect 6 env LD_PRELOAD="$shim" WEIR_FAIL="write:$n:on:enospc" "$WEIR_BIN" $words
done
rm calls
# A table that cannot be looked for is not one that a file does not have, nor are results that cannot be
# read none.
for words in 'explain whole.db --worker 1 --format json' \
    'search small.yaml -n 1 -j 1 --such-that throughput>0 --smallest cluster.nodes.n.count=1..2 -o x.db' \
    'report sizes.db --as review --notes notes.md -o x.html'; do
    # shellcheck disable=SC2086
    expect 0 env LD_PRELOAD="$shim" WEIR_FAIL=read:0:once WEIR_FAIL_COUNT=calls "$WEIR_BIN" $words
    cp stdout good
    [ ! -e x.html ] || cp x.html good.html
    calls=$(head -n 1 calls)
    for n in $(seq $((calls - 12)) "$calls"); do
        status=0
        rm -f x.*
        # shellcheck disable=SC2086
        LD_PRELOAD="$shim" WEIR_FAIL="read:$n:once:eio" "$WEIR_BIN" $words >stdout 2>stderr || status=$?
        [ "$status" -ne 0 ] || cmp -s stdout good || fail "read $n fails, and the answer is another one: $(cat stdout)"
        [ ! -e x.html ] || cmp -s x.html good.html || fail "read $n fails, and the page is another one"
    done
    rm -f calls good* x.*
done
# Without a locale tables are drawn otherwise, and never in escapes.
expect 0 env LD_PRELOAD="$shim" WEIR_FAIL=map:1:once:enomem "$WEIR_BIN" compare two.db
has stdout '| variant |'
hasnt stdout '\x'
# A file that parts were put together in is all of them, or is not there.
expect 0 env LD_PRELOAD="$shim" WEIR_FAIL=write:0:once WEIR_FAIL_COUNT=calls "$WEIR_BIN" merge half1.db half2.db -o all.db
for n in $(seq $(($(head -n 1 calls) / 2)) 12 "$(head -n 1 calls)"); do
    rm -f all.db*
    LD_PRELOAD="$shim" WEIR_FAIL="write:$n:once:kill" "$WEIR_BIN" merge half1.db half2.db -o all.db >/dev/null 2>&1 || true
    [ ! -e all.db ] || [ "$(sqlite3 all.db 'SELECT count(*) FROM experiment')" = 1 ] ||
        fail "killed at $n, it leaves a file without what it is of"
done
rm -f calls all.db*
# What a finished run had printed goes with it, also when its program was killed before it was merged:
# at some of these calls that is so.
words='search small.yaml -n 1 -j 1 -q --such-that throughput>0 --smallest cluster.nodes.n.count=1..2 -o found.db'
adopted=0
for n in $(seq 94 8 150) $(seq 152 2 170) 182 190; do # closer where the run ends
    rm -f found.db*
    # shellcheck disable=SC2086
    expect 137 env LD_PRELOAD="$shim" WEIR_FAIL="write:$n:once:kill" "$WEIR_BIN" $words
    for printed in found.db.part?.stderr; do
        [ ! -e "$printed" ] || echo 'said before' >"$printed"
    done
    # shellcheck disable=SC2086
    expect 0 "$WEIR_BIN" $words --resume
    [ "$(echo found.db*)" = found.db ] || fail "left beside the result: $(echo found.db*)"
    ! grep -q 'said before' stderr || adopted=$((adopted + 1))
done
[ "$adopted" -ge 1 ] || fail 'no finished run was left to be merged'
# The last calls end the log, without which others cannot read the file: that is an error, too.
rm -f full.db*
expect 0 env LD_PRELOAD="$shim" WEIR_FAIL=write:0:once WEIR_FAIL_COUNT=calls "$WEIR_BIN" run small.yaml -n 1 -o full.db -q
rm full.db
expect 3 env LD_PRELOAD="$shim" WEIR_FAIL="write:$(($(head -n 1 calls) - 6)):on:eio" "$WEIR_BIN" run small.yaml -n 1 -o full.db -q
has stderr 'full.db: cannot end the log'
expect 0 "$WEIR_BIN" compare full.db -q
rm calls
# The same of every other file that is written: when it is made, and when it is filled.
cp small.yaml old.yaml
sed -i 's/,h100,/,,/' spans.csv # its workers share GPUs, of which no cluster can be made
for words in 'trace convert jobs_table.csv --map jobs_table.json -o x.swf' \
    'trace convert jobs_table.csv --map jobs_table.json -o x.csv.gz' 'import spans.csv -o x.yaml' \
    'policies new mine' 'upgrade --write old.yaml' 'report two.db -o x.html' \
    'export whole.db --to state --at 3s -o x.yaml' 'export two.db --to csv -o x.csv' \
    'compare small.yaml -n 2 -q --engine slurm -o y.db' 'run small.yaml -n 1 --no-db -q --spans x.csv.gz'; do
    for n in 1 2; do
        # shellcheck disable=SC2086
        expect 6 env LD_PRELOAD="$shim" WEIR_FAIL="write:$n:on:enospc" "$WEIR_BIN" $words
        has stderr 'weir'
    done
done
[ ! -e mine.c ] || fail 'half a module is left'
same old.yaml small.yaml
rm -f old.yaml x.*
# No memory: the same code.
expect 6 env LD_PRELOAD="$shim" WEIR_FAIL=alloc:300:once "$WEIR_BIN" run small.yaml -o none.db -q
has stderr 'weir: out of memory: '
# In the process of a run it is that, too, and not an invariant.
expect 0 env LD_PRELOAD="$shim" WEIR_FAIL=alloc:0:once WEIR_FAIL_COUNT=calls "$WEIR_BIN" run small.yaml -n 2 -j 2 -o none.db -q
for part in 3 4 5 6; do
    expect 6 env LD_PRELOAD="$shim" WEIR_FAIL="alloc:$(($(head -n 1 calls) * part / 8)):once" "$WEIR_BIN" run small.yaml -n 2 -j 2 -o none.db -q --force
    has stderr 'weir: out of memory: '
done
rm -f calls none.db*
# A module in a process of its own has no part in it.
words="run small.yaml -n 1 --no-db -q --plugin $WEIR_PLUGINS/template.so --set sched.scaling=template_queue_chaser"
# shellcheck disable=SC2086
expect 0 env LD_PRELOAD="$shim" WEIR_FAIL=alloc:0:once WEIR_FAIL_COUNT=calls "$WEIR_BIN" $words
for part in 3 5 6 7; do
    # shellcheck disable=SC2086
    expect 6 env LD_PRELOAD="$shim" WEIR_FAIL="alloc:$(($(head -n 1 calls) * part / 8)):once" "$WEIR_BIN" $words
done
rm -f calls
for n in 1 3 9; do
    expect 6 env LD_PRELOAD="$shim" WEIR_FAIL=lines:$n:once "$WEIR_BIN" rerun whole.db
    has stderr 'weir: out of memory: '
done

IFS=, read -ra only <<<"${WEIR_FAULT_ONLY:-}" # names of commands, with commas
python3 "$WEIR_SOURCE_DIR/tests/support/faults.py" "$shim" "${WEIR_FAULTS:-1}" \
    "${WEIR_FAULT_SEED:-1}" ${only[@]+"${only[@]}"} || fail 'faults'
