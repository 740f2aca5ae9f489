#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of docs/tutorial-incident.md print what the page says.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

page=$WEIR_SOURCE_DIR/docs/tutorial-incident.md
command -v gnuplot >/dev/null || skip 'no gnuplot'
. "$WEIR_SOURCE_DIR/tests/support/tutorial.sh"
ln -s "$WEIR_SOURCE_DIR/scenarios" scenarios
tutorial docs/tutorial-incident.md 6

# What the page says of the page.
sentence=$(sed -n 's/^> //p' "$page")
has incident.html "${sentence%.}"
for id in happened why saw over fix by-window windows; do
    has incident.html "id=\"$id\""
done
