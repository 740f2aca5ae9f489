#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every comparison under scenarios/capacity meets its expectations.
# covers: S1.74
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

for file in "$WEIR_SOURCE_DIR"/scenarios/capacity/*.yaml; do
    name=$(basename "$file" .yaml)
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "capacity/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -o "$name.db"
done

# What was cut, when and into what is in the database.
if command -v sqlite3 >/dev/null; then
    sqlite3 mig_repartition.db "SELECT text FROM happening WHERE kind = 'mig_cut'" >events
    has events 'GPU 0 cut into 1g.10gb'
    has events 'GPU 0 cut into 7g.80gb'
fi
