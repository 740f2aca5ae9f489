#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gallery.sh WEIR [--check]: docs/gallery.md, every chart that weir draws with the question it answers,
# and pictures of those that small runs of `weir new` fill, in docs/pictures/gallery. With --check
# nothing is written: the page has to name all charts with their questions, and no others.
set -euo pipefail
weir=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/docs/gallery.md
charts() {
    "$weir" list charts --format json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["name"] + "\t" + row["question"])'
}

if [ "${2:-}" = --check ]; then
    diff <(charts) <(sed -n 's/^### `\([a-z-]*\)`: \(.*\)$/\1\t\2/p' "$page") ||
        { echo 'docs/gallery.md is out of date: ./dev gallery'; exit 1; }
    echo "$(charts | wc -l) charts"
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
least=6000 most=64000 # bytes: less is a chart that says that there is nothing, more is no picture for a page
for kind in pipeline jobs incident; do
    "$weir" new "$kind" "$kind.yaml" >/dev/null
    "$weir" compare "$kind.yaml" -n 3 -q -o "$kind.db" >/dev/null
done
"$weir" compare jobs.yaml -n 3 -q --set compare=- --axis sched.queueing=fcfs,easy \
    --axis jobs.train.arrivals.load=40%..80%:10% -o axis.db >/dev/null
"$weir" compare jobs.yaml -n 3 -q --vary 'jobs.train.arrivals.load=+-20%' \
    --vary 'cluster.nodes.dgx.count=+-25%' -o vary.db >/dev/null
"$weir" run "$root/scenarios/examples/jobs_in_time.yaml" -n 1 -q -o time.db >/dev/null || true
"$weir" compare "$root/scenarios/capacity/step.yaml" -n 1 -q -o supply.db >/dev/null
rm -rf "$root/docs/pictures/gallery"
mkdir -p "$root/docs/pictures/gallery"

{
    echo '<!-- SPDX-License-Identifier: GPL-3.0-or-later -->'
    echo '<!-- Made by ./dev gallery. -->'
    echo '# Gallery'
    echo
    echo 'Every chart, and the question that it answers. `weir plot DB NAME` draws one, `weir report DB` puts those that have something to say on one page, `weir plot DB` lists them. The pictures are of the files of `weir new` (pipeline, jobs, incident), variations of them, and two of scenarios/; a chart without one here is about something that those do not have, or is large.'
    while IFS=$'\t' read -r name question; do
        best='' size=$most
        for kind in incident jobs pipeline axis vary time supply; do
            [ -f "$kind.db" ] && "$weir" plot "$kind.db" "$name" -o "$kind.svg" >/dev/null 2>&1 || continue
            now=$(stat -c %s "$kind.svg")
            if [ "$now" -gt $least ] && [ "$now" -lt "$size" ]; then best=$kind size=$now; fi
        done
        printf '\n### `%s`: %s\n' "$name" "$question"
        [ -n "$best" ] || continue
        cp "$best.svg" "$root/docs/pictures/gallery/$name.svg"
        printf '![%s](pictures/gallery/%s.svg)\n' "$question" "$name"
    done < <(charts)
} >page
mv page "$page"
echo "docs/gallery.md: $(grep -c '^###' "$page") charts, $(grep -c '^!' "$page") pictures"
