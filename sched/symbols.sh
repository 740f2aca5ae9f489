#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh exported|undefined LIBRARY: the names a shared library offers or asks for, sorted.
set -eu
case "$1" in
exported) filter=--defined-only ;;
undefined) filter=--undefined-only ;;
*) echo "usage: symbols.sh exported|undefined LIBRARY" >&2; exit 2 ;;
esac
# Type A: the version itself.
nm --dynamic --format=posix "$filter" "$2" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' |
    LC_ALL=C sort -u
