#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of docs/tutorial-policies.md print what the page says, and end as it says.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
. "$WEIR_SOURCE_DIR/tests/support/tutorial.sh"
unset WEIR_CHECK_INVARIANTS # some 200 runs
command -v python3 >/dev/null || skip 'no python3'
command -v gnuplot >/dev/null || skip 'no gnuplot'

code_5=1
tutorial docs/tutorial-policies.md 9
[ "$code_5" -eq 1 ] && [ "$(wc -l <order.py)" -le 25 ] || fail 'not a rule of 25 lines'
has mine.html 'mine'
