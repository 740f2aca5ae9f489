#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every command of docs/questions.md runs, on the files of `weir new` that the page names; smaller
# here, so that all of them take seconds. What needs files of one's own has tests elsewhere.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v gnuplot >/dev/null || skip 'no gnuplot'
unset WEIR_CHECK_INVARIANTS
weir() { "$WEIR_BIN" "$@"; }

expect 0 weir new pipeline my.yaml
expect 0 weir new jobs jobs.yaml
expect 0 weir new incident inc.yaml
sed -i 's/^horizon: 14 d/horizon: 6 d/; s/^warmup: 2 d/warmup: 1 d/' jobs.yaml
sed -i 's/items: 50000/items: 9000/; s/^horizon: 4 h/horizon: 1 h/; s/^warmup: 30 min/warmup: 5 min/' my.yaml
grep -q 'horizon: 6 d' jobs.yaml && grep -q 'items: 9000' my.yaml || fail 'the files of weir new are others'
for file in my jobs inc; do expect 0 weir run "$file.yaml" -q -n 1 -o "$file.db"; done
for file in a b; do expect 0 weir run my.yaml -q -n 1 -o "$file.db"; done
printf '%s\n' job_id,submit_time,run_time,gpus 1,0,60,1 2,30,90,2 >jobs.csv
expect 0 weir export my.db --to decision --at 30m -o state.json

# Each with results of its own, so that none is asked about another's file.
elsewhere='spans\.csv|curves\.csv|mine\.|jobs\.csv|weir new|weir merge|a paper|--ahead'
count=0
while IFS= read -r line; do
    case $line in
    'weir compare my.db'*) ;; # is looked at where it lies
    'weir run my.yaml' | 'weir compare '* | 'weir search '*) line="$line -q -o results$count.db" ;;
    'weir decide'*) line="${line%%<*} <state.json" ;;
    esac
    case $line in 'weir compare '*'-n auto'* | 'weir compare '*.db*) ;; 'weir compare '* | 'weir search '*) line="$line -n 2" ;; esac
    status=0
    eval "timeout 100 \"\$WEIR_BIN\" ${line#weir }" >stdout 2>stderr </dev/null || status=$?
    # 1: a check that fails, a target that is met nowhere and a best that is not known are answers.
    [ "$status" -le 1 ] || { cat stderr && fail "exit code $status: $line"; }
    [ "$status" = 0 ] || grep -qE 'fail-if|such-that|--best|weir diff' <<<"$line" || { cat stderr && fail "exit code 1: $line"; }
    count=$((count + 1))
done < <(sed -n '/^|/s/`/\n/gp' "$WEIR_SOURCE_DIR/docs/questions.md" | grep '^weir ' | grep -vE "$elsewhere")
[ "$count" -ge 30 ] || fail "only $count commands"
