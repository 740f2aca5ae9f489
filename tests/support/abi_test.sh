#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# abi_test.sh LIBRARY HEADERS KEPT.gz [--write]
# The binary interface of the library against the kept description of its first release: functions,
# their arguments, and the types they reach through the public HEADERS. What only adds is no change:
# functions, and fields at the end of structs (those begin with `size`, or are given out by the
# library). With --write the description is made anew.
set -eu
library=$1 headers=$2 kept=$3
command -v abidiff >/dev/null || { echo 'no abidiff'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
abidw --headers-dir "$headers" --drop-private-types --no-show-locs --no-corpus-path \
    --no-comp-dir-path --no-elf-needed --no-parameter-names --type-id-style hash "$library" \
    >"$work/now.abi"
if [ "${4-}" = --write ]; then
    gzip -9nc "$work/now.abi" >"$kept"
    exit
fi
gzip -dc "$kept" >"$work/kept.abi"
cat >"$work/additions" <<'SUPPRESS'
[suppress_type]
  type_kind = struct
  has_data_member_inserted_at = end
SUPPRESS
if ! abidiff --no-architecture --no-added-syms --suppressions "$work/additions" \
    "$work/kept.abi" "$work/now.abi"; then
    echo 'Controllers and modules that were built before would break: WEIR_ABI_MAJOR must grow.'
    exit 1
fi
echo "the interface is the kept one of $(grep -c '<elf-symbol' "$work/kept.abi") functions, or more"
