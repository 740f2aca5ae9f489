#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every incident shows its signature in the variant `broken` and loses it in `fix`.
# covers: S0.32
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
for file in "$WEIR_SOURCE_DIR"/scenarios/incidents/*.yaml; do
    name=$(basename "$file" .yaml)
    has "$file" 'label: broken'
    has "$file" 'label: fix'
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "incidents/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -o "$name.db"
done

# The table of the page is that of these runs; at least 80 % of a symptom goes, but of two by part.
expect 0 bash "$WEIR_SOURCE_DIR/tests/support/incident_table.sh" .
sed -n '/^| incident | symptom/,/^$/p' "$WEIR_SOURCE_DIR/scenarios/README.md" | sed '/^$/d' | diff - stdout ||
    fail 'scenarios/README.md has another table'
[ "$(grep -c '%' stdout)" -ge "$(find "$WEIR_SOURCE_DIR/scenarios/incidents" -name '*.yaml' | wc -l)" ] ||
    fail 'an incident has no row in tests/support/incidents.table'
[ "$(grep -c '(part: ' stdout)" -le 2 ] || fail 'more than two fixes remove a part alone'
! grep -v '(part: ' stdout | grep -E '\| -?([0-9]|[1-7][0-9]) % \|' || fail 'a fix removes too little'
