#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of docs/tutorial-incident.md, run in its order: what stands behind each is what it
# prints, "..." being any number of lines.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

page=$WEIR_SOURCE_DIR/docs/tutorial-incident.md
command -v gnuplot >/dev/null || skip 'no gnuplot'
ln -s "$WEIR_SOURCE_DIR/scenarios" scenarios
mkdir bin
ln -s "$WEIR_BIN" bin/weir
export PATH="$PWD/bin:$PATH"

# Every line of the page in its order; without "..." between two they follow each other.
compare() { # COMMAND; ./wanted, ./stdout
    awk -v name="$1" '
        BEGIN { count = next_line = 0 }
        NR == FNR { if ($0 == "...") gap[count] = 1; else wanted[count++] = $0; next }
        { sub(/[ \t]+$/, ""); is_next = next_line < count && $0 == wanted[next_line]
          if (is_next) { next_line++; next }
          if (!(next_line in gap)) { print "not on the page: " $0; bad = 1; exit 1 } }
        END { if (bad) exit 1; if (next_line < count) { print name ": not printed: " wanted[next_line]; exit 1 } }
        ' wanted stdout || fail "$1 prints something else than the page says"
}

count=0
while IFS= read -r command; do
    count=$((count + 1))
    awk -v n="$count" '/^```console$/ { in_block = 1; next }
        /^```$/ { in_block = 0 }
        in_block && /^\$ / { k++; next }
        in_block && k == n { sub(/[ \t]+$/, ""); print }' "$page" >wanted
    read -ra words <<<"$command"
    expect 0 "${words[@]}"
    compare "$command"
done < <(sed -n '/^```console$/,/^```$/s/^\$ //p' "$page")
[ "$count" -eq 6 ] || fail "the page has $count commands"

# What the page says of the page.
sentence=$(sed -n 's/^> //p' "$page")
has incident.html "${sentence%.}"
for id in happened why saw over fix by-window windows; do
    has incident.html "id=\"$id\""
done
