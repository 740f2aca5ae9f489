#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh WEIR FOLDER: the first five minutes in three acts and at most 25 lines. Every number is
# taken from what the commands print; databases and pages go to FOLDER. Run it in the project's root.
set -euo pipefail
unset COLUMNS
weir=$1 out=$2
share=scenarios/examples/buy_or_share.yaml dies=scenarios/incidents/two_nodes_die.yaml
mkdir -p "$out"
"$weir" compare "$share" --force -q -o "$out/share.db" --metric throughput >"$out/share.txt"
"$weir" compare "$dies" --force -q -o "$out/dies.db" >"$out/dies.txt"
"$weir" show "$share" >"$out/show.txt"

echo "1  What limits it?                   weir show $share"
tail -n 1 "$out/show.txt" | sed 's/\([a-z0-9]\)Stage\>/\1/g' | fold -s -w 96 | sed 's/^/   /; s/ *$//'

# arithmetic TEXT: bound and gain of a change; simulation VARIANT: mean, and what it is against today.
arithmetic() { awk -F '  +' -v text="$1" 'index($1, text) { print $2 "/s  " $3 " %"; exit }' "$out/show.txt"; }
simulation() {
    awk -F '  +' -v variant="$1" '{ if (!sub(/^ +/, "")) sub(/^[a-z]+ +/, ""); if (index($0, variant) == 1) {
        mean = $2; sub(/ ±.*/, "", mean); print mean "  " $4; exit } }' "$out/share.txt"
}
bound=$(sed -n 's/.* divided at will, \([0-9.]*\) source items.*/\1/p' "$out/show.txt")
echo
echo "2  Buy a node, or share GPUs?        weir compare $share"
printf '   %-20s%-22s%s\n' '' arithmetic 'simulation, change with 95 % interval' \
    today "$bound/s" "$(simulation today | sed 's/ *$//')" \
    'four models share' "$(arithmetic ' 0.25 each')" "$(simulation 'four models share')" \
    'a third node' "$(arithmetic 'one more ')" "$(simulation 'a third node')"
gain() { grep -o '[+-][0-9.]* %' <<<"$1" | head -n 1; }
echo "   Sharing: $(gain "$(arithmetic ' 0.25 each')") by arithmetic, $(gain "$(simulation 'four models share')") in the simulation. The difference is why one simulates."

# window METRIC VARIANT COLUMN: a cell of the table by window.
window() {
    awk -F '  +' -v metric="$1" -v variant="$2" -v column="$3" '/^by window/ { inside = 1 }
        inside && /^[a-z]/ { name = $1; shift_by = 1 } inside && /^ / { shift_by = 1 }
        inside && name == metric && $2 == variant { cell = $(column + 2); sub(/ (±|\[|better|worse).*/, "", cell); print cell; exit }' "$out/dies.txt"
}
echo
echo "3  Two nodes die at 11:03            weir compare $dies"
"$weir" explain "$out/dies.db" --stage caption --from 11:03 --to 11:43 |
    sed -n '/no room: /s/^ *no room: /   Captioning gets no worker more: /p' | sed 's/, too few CPUs on [^,]*//'
"$weir" explain "$out/dies.db" --pending --at 11:30 |
    sed -n '/^stage/,$s/^ *job \(.*\) (worker.*/   Who holds what it lacks: job \1/p' | head -n 1
printf '   %-20s%-22s%s\n' '' 'p95 after 11:43' 'time to recover' \
    'as it was' "$(window 'latency p95' broken 3)" "$(window 'time to recover' broken 2)" \
    'fix: a hard quota' "$(window 'latency p95' fix 3)" "$(window 'time to recover' fix 2)"
if command -v gnuplot >/dev/null; then
    echo
    echo "The page of the incident: $("$weir" report "$out/dies.db" -o "$out/report.html")"
fi
echo "Yours: $weir new pipeline my.yaml"
