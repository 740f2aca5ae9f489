#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tables of policies: a suite with unequal budgets, or that tries on what it trained on, is
# refused; what is measured takes the place of the table that stood on the page.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

command -v python3 >/dev/null || skip 'no python3'
bench=$(dirname "$WEIR_BIN")/bench
[ -x "$bench/bench_scaling_quality" ] || skip 'no benchmarks built'
suite=$WEIR_SOURCE_DIR/tests/bench/policies.json
tables() { python3 "$WEIR_SOURCE_DIR/tests/support/policy_tables.py" "$1" scaling "$WEIR_BIN" "$bench" page.md; }

sed 's/"problems": 200/"problems": 2/; s/"weir", "xenna", "xenna_n"/"xenna"/' "$suite" >small.json
printf 'before\n<!-- ./dev tables scaling -->\nwhat stood there\n<!-- end of scaling -->\nafter\n' >page.md
expect 0 tables small.json
has page.md '| xenna | cold | '
has page.md '| pool_optimum | warm | '
hasnt page.md 'what stood there'
has page.md 'after'

sed 's/"policy: weir, scarce: 1", //' "$suite" >unequal.json
expect 1 tables unequal.json
has stderr 'weir has 3 settings, not the budget of 4'
sed 's/"policy: weir, scarce: 1"/"policy: weir"/' "$suite" >twice.json
expect 1 tables twice.json
sed 's/"lists": \["gpushare80"/"lists": ["default"/' "$suite" >lists.json
expect 1 tables lists.json
has stderr 'share lists'
sed 's/"seed": 1001/"seed": 1/' "$suite" >seeds.json
expect 1 tables seeds.json
has stderr 'share seeds'
printf 'a page without marks\n' >page.md
expect 1 tables small.json
has stderr 'has no marks for scaling'
for kind in scaling placement; do
    has "$WEIR_SOURCE_DIR/docs/$kind-weir.md" "<!-- ./dev tables $kind -->"
done
