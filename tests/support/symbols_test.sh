#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# symbols_test.sh SYMBOLS.SH exported|undefined LIBRARY LIST
# exported: the names must be exactly the list. undefined: each name must stand in the list.
set -eu
lister=$1 kind=$2 library=$3 list=$4
actual=$(mktemp) known=$(mktemp)
trap 'rm -f "$actual" "$known"' EXIT
sh "$lister" "$kind" "$library" >"$actual"
sed -e 's/#.*//' -e 's/[[:space:]]*$//' "$list" | sed '/^$/d' | LC_ALL=C sort -u >"$known"

extra=$(LC_ALL=C comm -23 "$actual" "$known")
missing=
[ "$kind" = undefined ] || missing=$(LC_ALL=C comm -13 "$actual" "$known")
[ -n "$extra$missing" ] || { wc -l <"$actual" | sed "s/\$/ $kind symbols, all as listed/"; exit 0; }

[ -z "$extra" ] || printf '%s and not in %s:\n%s\n' "$kind" "$list" "$extra"
[ -z "$missing" ] || printf 'in %s and not %s:\n%s\n' "$list" "$kind" "$missing"
[ "$kind" = undefined ] || echo "If this is meant: cmake --build BUILD --target update-symbols"
exit 1
