#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh exported|undefined LIBRARY: the names a shared library offers or asks for, sorted.
set -eu
case "$1" in
exported) filter=--defined-only ;;
undefined) filter=--undefined-only ;;
*) echo "usage: symbols.sh exported|undefined LIBRARY" >&2; exit 2 ;;
esac
nm --dynamic --format=posix "$filter" "$2" | sed 's/[@ ].*//' | LC_ALL=C sort -u
