#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every scenario under scenarios/physics and scenarios/training meets its expectations; what was assumed
# is said everywhere.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

for file in "$WEIR_SOURCE_DIR"/scenarios/{physics,training}/*.yaml; do
    name=$(basename "$file" .yaml)
    folder=$(dirname "$file")
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "$(basename "$folder")/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -o "$name.db"
    # The chart that the header names shows something; the page of the folder has finding and chart.
    chart=$(sed -n 's/^# Chart: weir plot DB //p' "$file")
    [ -n "$chart" ] || fail "$name names no chart in its header"
    has "$folder/README.md" "| \`weir plot $name.db $chart\` |"
    command -v gnuplot >/dev/null || continue
    eval "set -- $chart"
    expect 0 "$WEIR_BIN" plot "$name.db" "$@" -o "$name.svg"
    hasnt "$name.svg" 'No data'
done

# The same rows with other values, each worked out by hand: sizes, GPU types, sharers, bandwidths.
count=0
for file in "$WEIR_SOURCE_DIR"/tests/golden/physics/*.yaml; do
    verb=compare
    grep -q '^compare:' "$file" || verb=run
    expect 0 "$WEIR_BIN" $verb "$file" --check --force --quiet -o values.db
    count=$((count + 1))
done
[ "$count" -ge 40 ] || fail "only $count scenarios with other values"

# What can never be is an error of the file: encoders a type lacks, parts no instance has, instances that
# find no place side by side. covers: S0.13 S1.71 S1.73
never() { # never SENTENCE GPUS REQUEST [PARTITION]
    local share=''
    [[ $3 != mig:* ]] || share=', share: mig'
    cat >never.yaml <<YAML
schema: 2
name: never
cluster: {nodes: [{name: n, cpus: 64, gpus: {$2}$share${4:+, partition: [$4]}}]}
pipelines:
  p: {input: {items: 1}, stages: [{name: a, cpus: 1, $3, service: 1 s}]}
YAML
    if [ -z "$1" ]; then
        expect 0 "$WEIR_BIN" validate never.yaml
    else
        expect 2 "$WEIR_BIN" validate never.yaml
        has stderr "$1"
    fi
}

# Of jobs it is a warning at the place of the request: a run refuses them one by one and counts them, which
# is what some experiments are about.
refused() { # refused SENTENCE COLUMN CLASS: what stands after the line and column
    cat >refused.yaml <<YAML
schema: 2
name: refused
cluster: {nodes: [{name: n, count: 3, cpus: 64, ram: 1TiB, gpus: {a100-80: 4}}]}
jobs:
  - name: w
    run_time: 10 s
    classes: [{name: a, count: 3, $3}]
YAML
    expect 0 "$WEIR_BIN" run refused.yaml --force --quiet -o refused.db
    if [ -z "$1" ]; then
        hasnt stderr 'can never run'
        value refused.db jobs.done a 3
        return
    fi
    has stderr "refused.yaml:7:$2: warning: jobs[0].classes[0].request: can never run: $1"
    value refused.db jobs.infeasible a 3
}
refused 'needs 5 GPUs in one node, the largest node has 4' 44 'request: {gpus: 5}'
refused 'needs 80 CPUs in one node, the largest node has 64' 44 'request: {cpus: 80}'
refused 'needs 13 members at once, there is room for 12' 57 'members: 13, request: {gpus: 1}'
refused 'needs 193 members at once, there is room for 192' 58 'members: 193, request: {cpus: 1}'
refused 'needs 25 members at once, there is room for 24' 57 'members: 25, request: {gpus: 0.5, cpus: 1}'
refused 'needs 5 members at once on one node, there is room for 4' 86 \
    'members: 5, placement_group: strict_pack, request: {gpus: 1}'
refused 'needs 4 members at once on a node each, there is room for 3' 88 \
    'members: 4, placement_group: strict_spread, request: {gpus: 1}'
refused 'needs 65 CPUs in one node' 44 'request: {gpus: 1}, groups: [{name: b, request: {cpus: 65}}]'
refused '' 0 'members: 12, request: {gpus: 1}'
refused '' 0 'members: 24, request: {gpus: 0.5, cpus: 1}'
refused '' 0 'members: 4, placement_group: strict_pack, request: {gpus: 1}'
refused '' 0 'members: 3, placement_group: strict_spread, request: {gpus: 1}'

for type in h100 h200 a100-40 a100-80 a30; do
    never "can never run: needs 1 NVENC on one" "$type: 4" 'nvencs: 1'
done
never '' 'l4: 1' 'nvencs: 2'
never 'can never run: needs 7 NVENC on one node' 'l4: 3' 'nvencs: 7'
never '' 'rtx4090: 3' 'nvencs: 6'
for part in 1/7 2/7 3/7 4/7 7/7 1; do never '' 'h200: 1' "mig: $part"; done
for part in 1/4 1/2 2/4 1; do never '' 'a30: 1' "mig: $part"; done
for part in 1/2 5/7 3/4; do never "has no MIG profile '$part'" 'a100-80: 1' "mig: $part"; done
for part in 1/7 3/4; do never "has no MIG profile '$part'" 'a30: 1' "mig: $part"; done
for cut in '4g, 3g' '4g, 2g, 1g' '3g, 2g, 2g' '3g, 1g, 1g, 1g, 1g' '2g, 2g, 2g, 1g'; do
    never '' 'b200: 1' "mig: ${cut##*, }" "$cut"
done
for cut in '3g, 3g, 1g' '3g, 3g, 1g.35gb' '1g.35gb, 1g.35gb, 1g.35gb, 1g.35gb, 1g.35gb'; do
    never 'no place side by side' 'h200: 1' 'mig: 1g' "$cut"
done
never '8 slices are asked for, h200 has 7' 'h200: 1' 'mig: 1g' '4g, 4g'
never '5 slices are asked for, a30 has 4' 'a30: 1' 'mig: 1g' '2g, 2g, 1g'

# Titles, recomputed: from the tables, not from what the charts ask.
title() {
    grep -A1 "<figure id=\"$2\">" "$1" | grep -o '<h2>[^<]*' | sed 's/<h2>//; s/\xc2\xa0/ /g'
}
is() {
    [ "$1" = "$2" ] || fail "the title '$1' should be '$2'"
}
if command -v gnuplot >/dev/null && command -v sqlite3 >/dev/null; then
    expect 0 "$WEIR_BIN" report model_loads.db -o page.html
    full=$(sqlite3 model_loads.db "SELECT printf('%.0f', 100 * total(dt_s) / 306) FROM v_link WHERE
        variant = 'together' AND link_name = 'nfs' AND use >= 0.99")
    mean=$(sqlite3 model_loads.db "SELECT printf('%.1f', value / 306e9) FROM result WHERE run_id = 1 AND
        metric = 'store.read_bytes'")
    is "$(title page.html link-use)" "Store nfs is full $full % of the time; mean $mean GB/s of 20 GB/s"
    expect 0 "$WEIR_BIN" report memory.db --variant half -o page.html
    killed=$(sqlite3 memory.db "SELECT printf('%g', value) FROM v_result WHERE variant = 'half' AND metric =
        'oom.host.count'")
    is "$(title page.html memory)" "Memory ran out: $killed workers were killed, all on n-0"
    expect 0 "$WEIR_BIN" report power.db --variant capped -o page.html
    speed=$(sqlite3 power.db "SELECT printf('%.0f', 100 * value) FROM v_result WHERE variant = 'capped' AND
        metric = 'gpu.throttle'")
    is "$(title page.html power)" "GPUs of dgx that compute have $speed % of their speed; capped at 4 kW"
fi

speeds="$WEIR_SOURCE_DIR/scenarios/physics/speeds.yaml"
said='h100 does dense work 2.4 times as fast as a100-80'
expect 0 "$WEIR_BIN" validate "$speeds"
has stdout "assumed: $said"
expect 0 "$WEIR_BIN" show "$speeds"
has stdout "$said"
expect 0 "$WEIR_BIN" report speeds.db -o page.html
has page.html "Assumed: $said"
