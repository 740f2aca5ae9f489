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
has "$WEIR_SOURCE_DIR/docs/scaling-weir.md" '<!-- ./dev tables scaling -->'
for kind in placement static loss hard queue waits; do
    has "$WEIR_SOURCE_DIR/docs/placement-weir.md" "<!-- ./dev tables $kind -->"
done

# Of the matrix one mix, filled: who is compared with the judged one, and by how much.
[ -f "$WEIR_SHARED/traces/openb/openb_node_list_gpu_node.csv" ] || exit 0
sed 's/"policy: fgd",/"policy: random",/; /"best_fit": "policy/d; /"gpu_packing": "policy/d; /"dot_product"/d
    s/"points": .60, 80, 100, 110, 130.*/"points": [30, 130], "set": ["cluster.nodes_every=64"]},/' \
    "$suite" >matrix.json
printf '<!-- ./dev tables static -->\n<!-- end of static -->\n' >page.md
expect 0 bash -c "cd '$WEIR_SOURCE_DIR' && python3 tests/support/policy_tables.py '$PWD/matrix.json' \
    static '$WEIR_BIN' x '$PWD/page.md' 2 pairs"
has page.md '| 30% | 2 | 2 | 0 | +0.00 | pairs at 30% to'
has page.md '| 130% | 2 | '
has page.md '2 replications from seed 2001 on; pairs;'

# Jobs that end: of a list without run times nothing is asked.
sed 's/"cluster.nodes_every=32"/"cluster.nodes_every=64", "horizon=6 h", "warmup=1 h"/
    s/"loads": ."70%", "90%"\(, "110%"\)*./"loads": ["90%"]/' matrix.json >ends.json
printf '<!-- ./dev tables loss -->\n<!-- end of loss -->\n' >page.md
expect 0 bash -c "cd '$WEIR_SOURCE_DIR' && python3 tests/support/policy_tables.py '$PWD/ends.json' \
    loss '$WEIR_BIN' x '$PWD/page.md' 2 multigpu20,pairs"
has page.md '| 90% | 2 | '
has page.md '2 replications from seed 2001 on; pairs;'

# Of jobs that are hard to place: of types nobody asks for here.
sed 's/"against": "best_fit"/"against": "first_fit"/' ends.json >hard.json
printf '<!-- ./dev tables hard -->\n<!-- end of hard -->\n' >page.md
expect 0 bash -c "cd '$WEIR_SOURCE_DIR' && python3 tests/support/policy_tables.py '$PWD/hard.json' \
    hard '$WEIR_BIN' x '$PWD/page.md' 2 pairs"
has page.md '| of 8 GPUs | 90% | 1 | '
hasnt page.md 'insist on a type'

# How long jobs take: who wins is ahead, though his number is lower.
printf '<!-- ./dev tables waits -->\n<!-- end of waits -->\n' >page.md
expect 0 bash -c "cd '$WEIR_SOURCE_DIR' && python3 tests/support/policy_tables.py '$PWD/ends.json' \
    waits '$WEIR_BIN' x '$PWD/page.md' 2 pairs"
has page.md '| 90% | 2 | '
