#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# report, plot and explain on the invented database: outputs, formats and exit codes.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 program to build the database with'
sqlite3 review.db <"$WEIR_SOURCE_DIR/sim/record/schema.sql"
sqlite3 review.db <"$WEIR_SOURCE_DIR/tests/support/fixture_db.sql"

expect 0 "$WEIR_BIN" plot review.db
has stdout 'alloc-vs-used'
matches stdout '^placement +What does the cluster look like'
expect 0 "$WEIR_BIN" plot review.db --format json
has stdout '"name": "queues"'

expect 2 "$WEIR_BIN" plot review.db no-such-chart
has stderr 'there is no chart "no-such-chart"'
expect 2 "$WEIR_BIN" report
expect 3 "$WEIR_BIN" report nothing.db
has stderr 'nothing.db'
expect 2 "$WEIR_BIN" report review.db --variant nobody
has stderr 'equal_split, best_fit, xenna'
expect 2 "$WEIR_BIN" report review.db --replication x
echo 'not a database, but long enough to be looked at as one' >text.db
expect 3 "$WEIR_BIN" plot text.db queues

expect 0 "$WEIR_BIN" explain review.db --worker 41 --variant xenna
has stdout 'worker 41 of caption ran on dgx-1 (gpu0) from 00:03:00'
expect 0 "$WEIR_BIN" explain review.db --stage caption --from 10m --to 01:00:00 --variant xenna
has stdout 'no worker was added to caption between 00:12:00 and 01:00:00'
expect 0 "$WEIR_BIN" explain review.db --at 1h20m --format json
has stdout '"decision":26'
expect 2 "$WEIR_BIN" explain review.db
expect 2 "$WEIR_BIN" explain review.db --at noon
expect 2 "$WEIR_BIN" explain review.db --worker 41 --stage caption
expect 2 "$WEIR_BIN" explain review.db --stage nobody

# A caption says the width of the points that are drawn: several samples each in a long run.
if command -v gnuplot >/dev/null; then
    cat >wide.yaml <<'Y'
schema: 2
name: wide
horizon: 7 d
cluster: {nodes: [{name: n, cpus: 8}]}
jobs: {w: {run_time: 5 h, count: 30, arrivals: {rate: 0.2/h}, classes: {one: {request: {cpus: 2}}}}}
Y
    expect 0 "$WEIR_BIN" run wide.yaml -q -o wide.db
    expect 0 "$WEIR_BIN" plot wide.db alloc-vs-used --folder wide -o wide.svg
    sample=$(sqlite3 wide.db 'select sample_s from run')
    width=$(awk '/^[0-9]/ { if ($1 > last && (least == "" || $1 - last < least)) least = $1 - last; last = $1 }
        END { print least }' wide/alloc-vs-used.dat)
    [ "${width%.*}" -gt "${sample%.*}" ] || fail "points of $width s, samples of $sample s: no test"
    said=$(grep -o '[0-9hms]* means' wide/alloc-vs-used.gp)
    [ "$said" = "$((width / 60))m means" ] || fail "points are $width s wide, the caption says $said"
fi

expect 0 "$WEIR_BIN" compare review.db
matches stdout 'Verdict: xenna 0\.[0-9]+/s throughput, [0-9.]+x'
expect 0 "$WEIR_BIN" compare review.db --format json
has stdout '"verdict": "better"'
expect 0 "$WEIR_BIN" compare review.db --format csv
has stdout 'metric,unit,variant,n,mean'

command -v gnuplot >/dev/null || skip 'no gnuplot'
expect 0 "$WEIR_BIN" plot review.db throughput --variant xenna --folder kept
[ -s throughput.svg ] && [ -s kept/throughput.gp ] && [ -s kept/throughput.dat ] || fail 'files lack'
hasnt throughput.svg 'font-family="Inter"'
(cd kept && gnuplot throughput.gp 2>gnuplot.txt) || fail "the kept script does not run"
for ending in png pdf; do
    expect 0 "$WEIR_BIN" plot review.db queues -o "queues.$ending"
    [ -s "queues.$ending" ] || fail "no queues.$ending"
done
expect 2 "$WEIR_BIN" plot review.db queues -o queues.bmp
has stderr 'a picture ends in .svg, .png or .pdf'
expect 0 "$WEIR_BIN" plot review.db throughput --term
has stdout 'items per second'

expect 0 "$WEIR_BIN" report review.db --variant xenna -o page.html
has stdout 'page.html'
has page.html '<h1>xenna is better than equal_split at throughput: 9.73x'
[ "$(grep -c "default-src 'none'" page.html)" = 1 ] || fail 'the page may load something'
[ "$(grep -c '<svg' page.html)" -ge 8 ] || fail 'fewer than eight charts'
expect 0 "$WEIR_BIN" report review.db --variant xenna -o again.html
sed 's/again/page/g' again.html >again-page.html
same page.html again-page.html
[ -z "$(find . -name 'page.html.*')" ] || fail 'the folder of the charts was left behind'
expect 0 "$WEIR_BIN" report review.db
[ -s review.html ] || fail 'no review.html'
expect 3 "$WEIR_BIN" report review.db -o /nowhere/page.html

# A slowdown is of the run time that a job came with, not of what was left of it at its last attempt:
# the chart goes as far as the result does.
cat >again.yaml <<'Y'
schema: 2
name: again
cluster: {nodes: [{name: n, cpus: 4}]}
jobs:
  w:
    run_time: 300 s
    checkpoint: {interval: 50 s, cost: 1 s, restart: 1 s}
    classes: {one: {count: 3, every: 10 s, request: {cpus: 2}}}
timeline: [{at: 290 s, for: 60 s, action: node_down, node: n}]
Y
expect 0 "$WEIR_BIN" run again.yaml -q -o again.db
expect 0 "$WEIR_BIN" plot again.db cdf --folder again -o again.svg
most=$(sqlite3 again.db "SELECT printf('%.6g', value) FROM result WHERE metric = 'slowdown.max' AND label = ''")
[ "$(awk 'NF == 2 && /^[0-9]/ { last = $1 } END { print last }' again/cdf.dat)" = "$most" ] ||
    fail "slowdowns up to $most: $(tail -n 5 again/cdf.dat)"
