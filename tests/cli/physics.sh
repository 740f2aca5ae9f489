#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every chapter under scenarios/physics meets its expectations.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

for file in "$WEIR_SOURCE_DIR"/scenarios/physics/*.yaml; do
    name=$(basename "$file" .yaml)
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "physics/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -o "$name.db"
done
