#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Nothing is overwritten silently: whatever an option names, a file of somebody's is refused with the
# way out, before any work; --force replaces it; a page and a chart of weir's own are renewed.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v gnuplot >/dev/null || skip 'no gnuplot'

two_variants 500 >small.yaml
expect 0 "$WEIR_BIN" run small.yaml -q -o small.db
expect 0 "$WEIR_BIN" run small.yaml -q -o other.db
for i in 1 2 3; do echo "$i $((i * 3000)) 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1"; done >jobs.swf

# kept FILE COMMAND...: mine stays without --force, and is replaced with it; twice.
kept() {
    local file=$1
    shift
    mkdir -p "$(dirname "$file")"
    echo mine >"$file"
    expect 3 "$@"
    has stderr "$file is there already: --force replaces it"
    [ ! -s stdout ] || fail "$* said more"
    [ "$(cat "$file")" = mine ] || fail "$* replaced $file"
    expect 0 "$@" --force
    [ "$(head -c 4 "$file")" != mine ] || fail "$* --force left $file"
    : >"$file"
    expect 0 "$@"
    [ -s "$file" ] || fail "$*: an empty file was in its way"
}
kept page.html "$WEIR_BIN" report small.db -o page.html
kept small.html "$WEIR_BIN" report small.db
kept workers.svg "$WEIR_BIN" plot small.db workers
kept w.png "$WEIR_BIN" plot small.db workers -o w.png
kept ./again/workers.gp "$WEIR_BIN" plot small.db workers -o w.svg --folder ./again
kept run.csv "$WEIR_BIN" export small.db --to csv -o run.csv
kept run.om "$WEIR_BIN" export small.db --to openmetrics -o run.om
kept run.json "$WEIR_BIN" export small.db --to perfetto -o run.json
kept state.yaml "$WEIR_BIN" export small.db --to state --at 10 -o state.yaml
kept spans.csv "$WEIR_BIN" run small.yaml -q --no-db --spans spans.csv
kept both.db "$WEIR_BIN" compare small.db other.db -o both.db
kept arrivals.svg "$WEIR_BIN" show jobs.swf --plot arrivals.svg
kept jobs.csv "$WEIR_BIN" trace convert jobs.swf -o jobs.csv

# Of one database nothing is written.
expect 2 "$WEIR_BIN" compare small.db -o both.db
has stderr '--output is of what is run: small.db is compared where it lies'

# A scenario is no result database, whatever it is called.
for command in run compare; do
    cp small.yaml mine.yaml
    expect 3 "$WEIR_BIN" $command small.yaml -q -o mine.yaml
    has stderr 'mine.yaml: exists and is not a result database; not touched'
    same small.yaml mine.yaml
done

# What weir made is made again without a word, and stays what it is to weir.
expect 0 "$WEIR_BIN" report other.db -o page.html
expect 0 "$WEIR_BIN" report small.db -o page.html
has stdout page.html
expect 0 "$WEIR_BIN" plot small.db throughput -o w.svg
expect 0 "$WEIR_BIN" plot small.db workers -o w.svg
# What goes to standard output is in nobody's way.
echo mine >small.html
expect 0 "$WEIR_BIN" report small.db --format json
[ "$(cat small.html)" = mine ] || fail 'claims went to a page'
