# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of a page of docs/, run in its order, in the present folder: what stands behind each
# is what it prints, "..." being any number of lines. To be sourced behind cli.sh.
#
#   tutorial docs/x.md 6          runs and compares all of them, and wants six
#   tutorial docs/x.md 6 2        the first two alone
# `code_NUMBER=1` before it: the NUMBER-th ends with that exit code.
mkdir -p bin
ln -s "$WEIR_BIN" bin/weir
export PATH="$PWD/bin:$PATH"

# Every line of the page in its order; without "..." between two they follow each other.
compare_page() { # COMMAND; ./wanted, ./stdout
    awk -v name="$1" '
        BEGIN { count = next_line = 0 }
        NR == FNR { if ($0 == "...") gap[count] = 1; else wanted[count++] = $0; next }
        { sub(/[ \t]+$/, ""); is_next = next_line < count && $0 == wanted[next_line]
          if (is_next) { next_line++; next }
          if (!(next_line in gap)) { print "not on the page: " $0; bad = 1; exit 1 } }
        END { if (bad) exit 1; if (next_line < count) { print name ": not printed: " wanted[next_line]; exit 1 } }
        ' wanted stdout || fail "$1 prints something else than the page says"
}

tutorial() {
    local page=$WEIR_SOURCE_DIR/$1 all=$2 first=${3:-$2} count=0 command code
    local -a words
    while IFS= read -r command; do
        count=$((count + 1))
        [ "$count" -le "$first" ] || continue
        awk -v n="$count" '/^```console$/ { in_block = 1; next }
            /^```$/ { in_block = 0 }
            in_block && /^\$ / { k++; next }
            in_block && k == n { sub(/[ \t]+$/, ""); print }' "$page" >wanted
        eval "words=($command)"
        code=code_$count
        expect "${!code:-0}" "${words[@]}"
        compare_page "$command"
    done < <(sed -n '/^```console$/,/^```$/s/^\$ //p' "$page")
    [ "$count" -eq "$all" ] || fail "$1 has $count commands"
}
