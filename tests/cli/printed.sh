#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Commands print what they printed when somebody last read it: every word, on standard output and
# error. WEIR_UPDATE_GOLDEN=1 keeps what they print now; read the difference before you commit it.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3 program'
. "$WEIR_SOURCE_DIR/tests/support/small_inputs.sh"

export WEIR_PLUGINS=${WEIR_PLUGINS:-${WEIR_BIN%/*}/plugins}
mkdir program && ln -s "$WEIR_BIN" program/weir
export PATH="$PWD/program:$PATH" COLUMNS=100
write=()
[ -z "${WEIR_UPDATE_GOLDEN:-}" ] || write=(--write)
python3 "$WEIR_SOURCE_DIR/tests/support/printed.py" ${write[@]+"${write[@]}"} \
    "$WEIR_SOURCE_DIR"/tests/golden/printed/*.txt || fail 'something else is printed'
