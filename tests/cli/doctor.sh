#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `weir doctor` lists what it found and fails when something that is needed is missing.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

mkdir tools
printf '#!/bin/sh\n' >tools/gnuplot
chmod +x tools/gnuplot
expect 0 env PATH="$PWD/tools:$PATH" "$WEIR_BIN" doctor
matches stdout "gnuplot +ok +$PWD/tools/gnuplot"
matches stdout 'write permission +ok'
[ -z "$(find . -name 'weir-doctor*')" ] || fail 'the probe stayed'
expect 1 env PATH=/nowhere "$WEIR_BIN" doctor
matches stdout 'gnuplot +MISSING'
expect 0 env PATH="$PWD/tools" "$WEIR_BIN" doctor --format json
has stdout '"what": "SQLite"'
