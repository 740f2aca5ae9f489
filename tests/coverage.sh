#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# coverage.sh [--check]: writes docs/coverage.md, which says for every requirement of
# tests/requirements.txt whether it is shown, from the labels above tests and in scenarios:
#
#   covers: S0.19 S0.22                         this shows the rows
#   covers: S0.29 partly (memory), S0.30        and of the first one something is still missing
#
# A row is "shown" when it has labels and none of them says partly, "partly" when one does, else "not
# yet". In C and shell files the function below the comment is the place, elsewhere the file. A label
# with an unknown id, or with none, is an error. With --check nothing is written, and a kept table
# that is out of date fails.
set -euo pipefail
cd "$(dirname "$0")/.."
table=docs/coverage.md
rows=tests/requirements.txt

labelled_files() {
    local folders=(tests)
    [ ! -d scenarios ] || folders+=(scenarios)
    find "${folders[@]}" \( -name '*.c' -o -name '*.sh' -o -name '*.yaml' \) -type f \
        -not -path tests/coverage.sh | LC_ALL=C sort
}

# Prints "id<tab>place<tab>what is missing", one a line, and "!<tab>complaint" for a bad label.
# shellcheck disable=SC2016 # the dollar signs are awk's
find_labels() {
    labelled_files | xargs -r awk '
        # The ids stand first in a label; they end where another word begins.
        function read_label(text,   id, missing, found) {
            gsub(/[ \t]+/, " ", text)
            found = count
            for (;;) {
                sub(/^[ ,;.]+/, "", text)
                if (!match(text, /^[A-Z]+[0-9]+([.][0-9]+)*/)) break
                id = substr(text, 1, RLENGTH); text = substr(text, RLENGTH + 1)
                missing = ""
                if (text ~ /^ ?partly/) {
                    if (!match(text, /^ ?partly ?[(][^()]+[)]/)) {
                        print "!\t" FILENAME ": " id " partly: say in brackets what is missing"
                        return
                    }
                    missing = substr(text, 1, RLENGTH - 1); sub(/^[^(]*[(]/, "", missing)
                    text = substr(text, RLENGTH + 1)
                }
                ids[++count] = id; lacks[count] = missing
            }
            if (count == found) print "!\t" FILENAME ": a label without an id: " substr(text, 1, 40)
        }
        function flush(place,   i) {
            for (i = 1; i <= count; i++) print ids[i] "\t" place "\t" lacks[i]
            count = 0
        }
        function close_label() {
            if (is_open) read_label(label)
            is_open = 0
        }
        # Adds a line of a comment; the comment ends with it or goes on.
        function add(text,   is_last) {
            is_last = text ~ /[*]\//
            sub(/[*]\/.*/, "", text); sub(/^[ \t]*([*]|#+|\/\/)/, "", text)
            label = label " " text
            if (is_last) close_label()
        }
        FNR == 1 { last_file_is_done(); previous = FILENAME }
        function last_file_is_done() { close_label(); flush(previous) }
        is_open && !/^[ \t]*([*#]|\/\/)/ && FILENAME !~ /[.]c$/ { close_label() }
        /(\/[*]|^[ \t]*[*#]|\/\/).*covers:/ {
            close_label()
            is_open = 1; label = ""
            text = $0; sub(/.*covers:/, "", text)
            add(text)
            next
        }
        is_open { add($0); next }
        count && FILENAME ~ /[.]c$/ && /^[A-Za-z_].*[A-Za-z0-9_]+[(]/ {
            name = $0; sub(/[(].*/, "", name); sub(/.*[ *]/, "", name)
            flush(FILENAME " `" name "`")
        }
        count && FILENAME ~ /[.]sh$/ && /^[a-z_0-9]+[(][)]/ {
            name = $0; sub(/[(].*/, "", name)
            flush(FILENAME " `" name "`")
        }
        END { last_file_is_done() }'
}

# The table on standard output; complaints on standard error, and then it fails.
# shellcheck disable=SC2016
write_table() {
    find_labels | LC_ALL=C sort -u | awk -F '\t' -v rows="$rows" '
        function complain(text) { print text >"/dev/stderr"; is_bad = 1 }
        BEGIN {
            while ((getline line <rows) > 0) {
                if (line !~ /^S/) continue
                id = title = line
                sub(/ .*/, "", id); sub(/^[^ ]* /, "", title)
                order[++count] = id; titles[id] = title
            }
            if (count == 0) complain(rows ": no requirements")
        }
        $1 == "!" { complain($2); next }
        !($1 in titles) { complain($2 ": " $1 " is none of the requirements in " rows); next }
        {
            if (!(($1, $2) in seen)) places[$1] = places[$1] (places[$1] != "" ? "<br>" : "") $2
            seen[$1, $2] = 1
            if ($3 != "" && index("; " missing[$1] "; ", "; " $3 "; ") == 0) missing[$1] = missing[$1] (missing[$1] != "" ? "; " : "") $3
        }
        function state_of(id) {
            return missing[id] != "" ? "partly" : places[id] != "" ? "shown" : "not yet"
        }
        END {
            for (i = 1; i <= count; i++) sums[state_of(order[i])]++
            print "<!-- Generated by ./dev docs from tests/requirements.txt and the \"covers:\" labels; do not edit. -->"
            print "# Where each requirement is shown\n"
            printf "%d requirements: %d shown, %d partly, %d not yet.\n\n", count, sums["shown"], sums["partly"], sums["not yet"]
            print "| id | requirement | state | shown by |\n|---|---|---|---|"
            for (i = 1; i <= count; i++) {
                id = order[i]
                print "| " id " | " titles[id] " | " state_of(id) (missing[id] != "" ? ", missing: " missing[id] : "") " | " places[id] " |"
            }
            exit is_bad
        }'
}

case ${1:-} in
'')
    mkdir -p docs
    write_table >"$table.new" || { rm -f "$table.new"; exit 1; }
    mv "$table.new" "$table"
    sed -n '4s/^/docs\/coverage.md: /p' "$table"
    ;;
--check)
    made=$(mktemp)
    trap 'rm -f "$made"' EXIT
    write_table >"$made" || exit 1
    diff -u "$table" "$made" || { echo "$table is out of date: run ./dev docs"; exit 1; }
    ;;
*)
    echo "usage: coverage.sh [--check]" >&2
    exit 2
    ;;
esac
