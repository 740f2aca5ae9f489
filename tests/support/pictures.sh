#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pictures.sh FOLDER [NAME...]: a page of every kind of work in FOLDER, and pictures of each: at 1280
# and 400 px, on light and dark, and as it is printed on A4. For eyes: tests/cli/page.sh judges what a
# machine can. Needs chromium, ImageMagick and Ghostscript; WEIR_BIN says which program.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
scenarios=$here/scenarios
weir=${WEIR_BIN:-$here/build/release/weir}
folder=$1
shift
mkdir -p "$folder"
cd "$folder"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
# A window is opened higher than any page; what is left below it is cut off. ImageMagick takes 16000,
# the border included.
highest=15900

# The pages: name | what makes NAME.db | options of the report.
pages() {
    cat <<TXT
batch|compare $scenarios/examples/caption2.yaml|
streaming|compare $scenarios/examples/video_pipeline.yaml -n 3|
jobs|compare $scenarios/examples/jobs_in_time.yaml -n 3|
replay|compare $scenarios/examples/jobs_table.yaml|
fill|compare $scenarios/examples/pack_density.yaml -n 3|
tenants|compare $scenarios/training/tenant.yaml|
gangs|compare $scenarios/incidents/i30_gang_trouble.yaml|
elastic|compare $scenarios/training/elasticity.yaml|
power|compare $scenarios/physics/power.yaml|
memory|compare $scenarios/physics/memory.yaml|
links|compare $scenarios/physics/model_loads.yaml|
steps|compare $scenarios/physics/steps.yaml|
incident|compare $scenarios/incidents/two_nodes_die.yaml -n 3|--what-if
mixed|run $scenarios/examples/mixed_cluster.yaml|
early|compare $scenarios/incidents/death_loop.yaml|
cost|compare $scenarios/capacity/cost.yaml|
spot|compare $scenarios/capacity/spot_notice.yaml -n 3|
capacity|compare $scenarios/capacity/modes.yaml -n 3|
services|compare $scenarios/services/homelab_triton.yaml -n 3|
actors|compare $scenarios/examples/nexrl_medium.yaml -n 3|
affinity|compare $scenarios/examples/node_affinity.yaml -n 3|
axis|compare $scenarios/examples/jobs_in_time.yaml --axis cluster.nodes[0].count=12,16,20 -n 2|
suite|compare $scenarios/suites/algorithms.yaml|
before_after|compare $scenarios/reference/xenna_plain_n2.yaml --variant 'after: cluster.nodes[0].count=3'|
TXT
}

shoot() { # NAME WIDTH HOW [FLAG...]: the page, cut where it ends
    local name=$1 width=$2 how=$3
    shift 3
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$PWD/.profile" --virtual-time-budget=3000 \
        --window-size="$width,$highest" "$@" >/dev/null 2>&1
    [ ! -f shot.png ] || convert shot.png -bordercolor "$(convert shot.png -format \
        '%[pixel:p{0,'$((highest - 1))'}]' info:)" -border 1 -trim +repage "$name.$width.$how.png"
    rm -f shot.png
}

picture() {
    local name=$1 page=file://$PWD/$1.html
    # A window is never narrower than 500 px or so; a frame is.
    printf '<body style="margin:0"><iframe src="%s.html" style="border:0;width:400px;height:%spx">' \
        "$name" "$highest" >narrow.html
    shoot "$name" 1280 light --screenshot=shot.png "$page"
    shoot "$name" 1280 dark --blink-settings=preferredColorScheme=0 --screenshot=shot.png "$page"
    shoot "$name" 400 light --screenshot=shot.png "file://$PWD/narrow.html"
    shoot "$name" 400 dark --blink-settings=preferredColorScheme=0 --screenshot=shot.png \
        "file://$PWD/narrow.html"
    shoot "$name" 1280 print --print-to-pdf=shot.pdf --no-pdf-header-footer "$page"
    gs -q -dNOPAUSE -dBATCH -sDEVICE=png16m -r72 -sOutputFile="$name.a4.%d.png" shot.pdf
    rm -f shot.pdf narrow.html
}

pages | while IFS='|' read -r name command options; do
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    [ -f "$name.db" ] || (eval "'$weir' $command -q -o '$name.db'" >/dev/null 2>"$name.log") ||
        echo "$name: $(tail -n 1 "$name.log")" >&2
    [ -f "$name.db" ] || continue
    "$weir" report "$name.db" $options -o "$name.html" >/dev/null </dev/null
    picture "$name" </dev/null
    echo "$name"
done
