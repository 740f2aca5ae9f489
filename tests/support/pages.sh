#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pages.sh ROOT: every link from a page of the documentation leads to a file, and to a heading where
# it names one; no paragraph, item of a list or cell of a table is above 80 words (texts in fences, and
# pages that are made, are left out).
set -euo pipefail
cd "$1"
faults=0
fault() {
    echo "$1"
    faults=$((faults + 1))
}

# Headings of a page as links name them: lower case, blanks are dashes, punctuation goes.
anchors() {
    sed -n 's/^#\{1,6\} //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

pages=$(find README.md CONTRIBUTING.md CHANGELOG.md docs scenarios -name '*.md' | LC_ALL=C sort)
links=0
for page in $pages; do
    while IFS= read -r link; do
        links=$((links + 1))
        target=${link%%#*}
        anchor=
        case $link in *\#*) anchor=${link#*\#} ;; esac
        if [ -n "$target" ]; then target=$(dirname "$page")/$target; else target=$page; fi
        if [ ! -e "$target" ]; then
            fault "$page: $link: no such file"
        elif [ -n "$anchor" ] && ! anchors "$target" | grep -qxF -- "$anchor"; then
            fault "$page: $link: no such heading"
        fi
    done < <({ grep -oE '\]\([^)]+\)' "$page" || true; } | sed 's/^](//; s/)$//' |
        grep -vE '^(https?|mailto):' || true)
done

long=$(awk -v limit=80 '
    function count(text,   words) {
        words = split(text, part, " ")
        if (words > limit)
            print name ": " words " words, at most " limit ": " substr(text, 1, 60)
    }
    function close_paragraph() { count(paragraph); paragraph = "" }
    FNR == 1 { close_paragraph(); is_fenced = 0; name = FILENAME }
    /^ *```/ { close_paragraph(); is_fenced = !is_fenced; next }
    is_fenced { next }
    /^$|^#|^ {4}|^</ { close_paragraph(); next }
    /^\|/ { close_paragraph(); n = split($0, cells, "|"); for (c = 1; c <= n; c++) count(cells[c]); next }
    /^ *([-*]|[0-9]+[.]) / { close_paragraph() }
    { paragraph = paragraph " " $0 }
    END { close_paragraph() }' $(echo "$pages" | grep -vxE "docs/(coverage|database|scenario)[.]md"))
[ -z "$long" ] || fault "$long"

[ "$faults" -eq 0 ] || exit 1
echo "$links links lead somewhere"
