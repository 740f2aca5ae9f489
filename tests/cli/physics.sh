#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every scenario under scenarios/physics meets its expectations; what was assumed is said everywhere.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

for file in "$WEIR_SOURCE_DIR"/scenarios/physics/*.yaml; do
    name=$(basename "$file" .yaml)
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "physics/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -o "$name.db"
done

speeds="$WEIR_SOURCE_DIR/scenarios/physics/speeds.yaml"
said='h100 does dense work 2.4 times as fast as a100-80'
expect 0 "$WEIR_BIN" validate "$speeds"
has stdout "assumed: $said"
expect 0 "$WEIR_BIN" show "$speeds"
has stdout "$said"
expect 0 "$WEIR_BIN" report speeds.db -o page.html
has page.html "Assumed: $said"
