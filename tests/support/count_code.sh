#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# count_code.sh ROOT [LIMIT]: lines of code in the .c and .h files of each room, without comments and
# blank lines, and lines of comment in .c for each line of code there. With LIMIT it fails when the
# rooms together hold more. A line that has both code and comment counts as code. Tests are not
# counted: more of them is no burden on the reader of the program.
set -euo pipefail
cd "$1"
limit=${2:-0}

# A comment sign inside a text or a character is none; neither are quotes inside a comment.
find sched sim workloads analysis -name '*.[ch]' -type f | LC_ALL=C sort | xargs awk -v limit="$limit" '
    # Sets has_code and has_comment of a line; in_comment carries over to the next one.
    function look(line,   i, n, c, two, quote) {
        has_code = 0; has_comment = 0; quote = ""
        n = length(line)
        for (i = 1; i <= n; i++) {
            c = substr(line, i, 1); two = substr(line, i, 2)
            if (in_comment) {
                if (c != " " && c != "\t") has_comment = 1
                if (two == "*/") { in_comment = 0; i++ }
            } else if (quote != "") {
                if (c == "\\") i++
                else if (c == quote) quote = ""
            } else if (two == "/*") {
                in_comment = 1; has_comment = 1; i++
            } else if (two == "//") {
                has_comment = 1
                return
            } else if (c != " " && c != "\t") {
                has_code = 1
                if (c == "\"" || c == "\047") quote = c
            }
        }
    }
    FNR == 1 { in_comment = 0; room = FILENAME; sub(/\/.*/, "", room); is_c = FILENAME ~ /[.]c$/ }
    {
        look($0)
        if (has_code) { code[room]++; all++; c_code += is_c }
        else if (has_comment && is_c) comments++
    }
    END {
        for (room in code) printf "%6d  %s\n", code[room], room | "LC_ALL=C sort -k2"
        close("LC_ALL=C sort -k2")
        printf "%6d  lines of code; %.3f lines of comment a line of code in .c\n", all, comments / c_code
        if (limit > 0 && all > limit) {
            printf "above the limit of %d: take something out first\n", limit
            exit 1
        }
    }'
