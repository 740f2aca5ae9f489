#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every incident shows its signature in the variant `broken` and loses it in `fix`.
# covers: S0.32
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

for file in "$WEIR_SOURCE_DIR"/scenarios/incidents/*.yaml; do
    name=$(basename "$file" .yaml)
    has "$file" 'label: broken'
    has "$file" 'label: fix'
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "incidents/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -o "$name.db"
done
