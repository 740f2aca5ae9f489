#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The README shows what the program prints: the three acts of `./dev demo`, which have at most 25
# lines, and the commands of its three doors.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v gnuplot >/dev/null || skip 'no gnuplot'
unset WEIR_CHECK_INVARIANTS
. "$WEIR_SOURCE_DIR/tests/support/tutorial.sh"
ln -s "$WEIR_SOURCE_DIR/scenarios" scenarios

expect 0 bash "$WEIR_SOURCE_DIR/tests/support/demo.sh" bin/weir build/demo
[ "$(wc -l <stdout)" -le 22 ] || fail "./dev demo has more than 25 lines with those of the build"
sed 's,bin/weir,build/release/weir,' stdout >shown
sed -n '/^\$ \.\/dev demo$/,/^```$/{/^\$/d;/^```/d;p}' "$WEIR_SOURCE_DIR/README.md" >wanted
same wanted shown
grep -q '<html' build/demo/report.html || fail 'no page'

tutorial README.md 6
