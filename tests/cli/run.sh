#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh SCRIPT: runs one command-line test in an empty folder of its own, which is removed
# afterwards. The script finds WEIR_BIN, WEIR_SOURCE_DIR, WEIR_SHARED and WEIR_TMP (that folder,
# also the current one) and fails by a non-zero exit code, of which 77 says that it was skipped. Checks to source at its top:
#     . "$WEIR_SOURCE_DIR/tests/support/cli.sh"
set -euo pipefail
script=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
export WEIR_SOURCE_DIR=${WEIR_SOURCE_DIR:-$(cd "$here/../.." && pwd)}
export WEIR_BIN=${WEIR_BIN:-$WEIR_SOURCE_DIR/build/release/weir}
export WEIR_SHARED=${WEIR_SHARED:-$WEIR_SOURCE_DIR/../shared}
WEIR_TMP=$(mktemp -d)
export WEIR_TMP LC_ALL=C NO_COLOR=1
trap 'rm -rf "$WEIR_TMP"' EXIT
cd "$WEIR_TMP"
status=0
bash "$script" || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || echo "FAILED with exit code $status: repeat with  bash tests/cli/run.sh $1"
exit "$status"
