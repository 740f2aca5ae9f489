#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Placement policies side by side: fgd fills four nodes at least five points fuller than random
# before it refuses a job, and the difference is no chance.
# covers: S0.30 S1.14
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

scenario=$WEIR_SOURCE_DIR/scenarios/examples/pack_density.yaml
expect 0 "$WEIR_BIN" compare "$scenario" --check --metric pack.density -q -o density.db
python3 - density.db <<'PY'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "select variant, replication, value from v_result where metric = 'pack.density' and label = ''").fetchall()
by = {}
for variant, replication, value in rows:
    by.setdefault(variant, {})[replication] = value
differences = [by["fgd"][r] - by["random"][r] for r in by["random"]]
mean = sum(differences) / len(differences)
deviation = (sum((d - mean) ** 2 for d in differences) / (len(differences) - 1)) ** 0.5
low = mean - 2.05 * deviation / len(differences) ** 0.5
assert len(differences) == 30, len(differences)
assert low >= 0.05, f"fgd is only {mean:.3f} denser than random, at least {low:.3f}"
PY
