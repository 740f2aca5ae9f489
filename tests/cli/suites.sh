#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each of the four suites (algorithms, dynamics, tenants, isolation) and whatever else lies under
# scenarios/suites has four policies or more, five seeds or more, meets its expectations and makes one
# database and its chart.
# covers: S1.1
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
unset WEIR_CHECK_INVARIANTS

for file in "$WEIR_SOURCE_DIR"/scenarios/{suites/*,training/tenant,training/isolation}.yaml; do
    name=$(basename "$file" .yaml)
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -q -o "$name.db" --format json
    python3 - "$name" <<'PY' || fail "$name has fewer than four policies or five seeds"
import sqlite3, sys
runs = sqlite3.connect(sys.argv[1] + '.db').execute('select variant, count(*) from run group by 1').fetchall()
assert len(runs) >= 4 and all(n >= 5 for _, n in runs), runs
PY
    command -v gnuplot >/dev/null || continue
    expect 0 "$WEIR_BIN" plot "$name.db" policies -o "$name.svg"
    hasnt "$name.svg" 'No data'
done
