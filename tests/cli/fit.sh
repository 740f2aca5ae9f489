# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Spans out of a run, a scenario out of spans, from the command line.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
mm1=$WEIR_SOURCE_DIR/scenarios/queueing/mm1.yaml
short=(--set horizon=2000 --set warmup=0)

# The same rows plain and compressed; a scenario that is valid and runs; a report on standard output.
expect 0 "$WEIR_BIN" run "$mm1" "${short[@]}" -n 1 -q --no-db --spans spans.csv
[ "$(head -n 1 spans.csv)" = stage,item,attempt,worker,node,gpu,queued_at,start,end,size,batch,n_out,failed,kind ] ||
    fail "another header"
expect 0 "$WEIR_BIN" run "$mm1" "${short[@]}" -n 2 -j 2 -q --no-db --spans spans.csv.gz
zcat spans.csv.gz >again.csv
same spans.csv again.csv
expect 0 "$WEIR_BIN" import spans.csv.gz -o fitted.yaml --fixed-workers
has stdout 'not rejected'
has fitted.yaml 'arrivals: "exp('
has fitted.yaml 'workers: 1'
expect 0 "$WEIR_BIN" validate fitted.yaml
expect 0 "$WEIR_BIN" run fitted.yaml --no-db
has stdout 'throughput'

# Without -o the scenario itself is on standard output, and it is the same.
expect 0 "$WEIR_BIN" import spans.csv.gz --fixed-workers
same stdout fitted.yaml
has stderr 'not rejected'
expect 0 "$WEIR_BIN" import spans.csv -o auto.yaml --format json
has stdout '"law": "exp('
# What a law says lies within its intervals, one a parameter.
if command -v python3 >/dev/null; then
    python3 - <<'E' || fail 'intervals do not hold what they are of'
import json, re

rows = json.load(open("stdout"))["rows"]
for row in rows:
    said = [float(number) for number in re.findall(r"[\d.]+", row["law"].split("(")[1])]
    within = [(float(low), float(high)) for low, high in re.findall(r" ([\d.e+-]+)\.\.([\d.e+-]+)", row["intervals"])]
    assert row["law"].startswith("const") or len(said) == len(within), row
    assert all(low < number < high for number, (low, high) in zip(said, within)), row
assert len(rows) == 3, rows
E
fi
has auto.yaml '# workers: 1 #'
expect 0 "$WEIR_BIN" validate auto.yaml

# A Chrome trace is JSON, one event a task; the limit is said.
expect 0 "$WEIR_BIN" run "$mm1" "${short[@]}" -n 1 -q --no-db --spans trace.json --spans-limit 10
has stderr 'trace.json: the first 10 of'
has trace.json '"ph":"X"'
[ "$(grep -o '"ph":"X"' trace.json | wc -l)" -eq 10 ] || fail "not ten events"
[ "$(tail -c 3 trace.json)" = ']}' ] || fail "the trace is not closed"
expect 3 "$WEIR_BIN" run "$mm1" -n 1 -q --no-db --spans no/such/folder/x.csv
has stderr 'no/such/folder/x.csv'
expect 2 "$WEIR_BIN" run "$mm1" --spans x.csv --resume

# Two humps stay a sample in a file beside the scenario.
awk 'BEGIN { print "stage,start,end"; for (i = 0; i < 400; i++) print "s," i * 100 "," i * 100 + (i % 2 ? 1 : 30) + i / 1000 }' >humps.csv
mkdir out
expect 0 "$WEIR_BIN" import humps.csv -o out/humps.yaml --name humps
has out/humps.yaml 'empirical(humps.1-s.csv, value)'
[ "$(wc -l <out/humps.1-s.csv)" -eq 401 ] || fail "not 400 values"
has stderr 'no queued_at'
expect 0 "$WEIR_BIN" validate out/humps.yaml

# Bad rows: the place, or a count. Names of others and units. Wrong usage.
printf 'stage;begin;end\na;0;10\na;10;5\na;x;5\na;10;22\n' >bad.csv
expect 3 "$WEIR_BIN" import bad.csv --columns start=begin
has stderr "bad.csv:3:3: column 'end'"
expect 0 "$WEIR_BIN" import bad.csv --columns start=begin --on-bad-row skip --time-unit ms -o bad.yaml
has stderr 'bad.csv: 2 of 4 rows skipped'
has stderr 'only 2 values'
expect 3 "$WEIR_BIN" import bad.csv # "begin" is known
has stderr "bad.csv:3:3: column 'end'"
sed 's/begin/from here/' bad.csv >worse.csv
expect 3 "$WEIR_BIN" import worse.csv
has stderr "no column 'start'"
expect 3 "$WEIR_BIN" import missing.csv
expect 2 "$WEIR_BIN" fit
expect 2 "$WEIR_BIN" import bad.csv --on-bad-row keep
expect 2 "$WEIR_BIN" import spans.csv --stages a,b

# Stamps: the same laws as of the numbers they stand for, time 0 is the second of the earliest, and a
# zone counts. A log has one kind of times.
python3 - <<'PY'
import csv, datetime
rows = list(csv.DictReader(open("spans.csv")))
start = datetime.datetime(2026, 4, 12, 11, 0, tzinfo=datetime.timezone.utc)
zone = datetime.timezone(datetime.timedelta(hours=2))
def stamp(text, to):
    if not text: return ""
    whole, fraction = text.split(".")
    at = start + datetime.timedelta(seconds=int(whole))
    return at.astimezone(to).strftime("%Y-%m-%dT%H:%M:%S.") + fraction + ("Z" if to is datetime.timezone.utc else "")
for name, to in ("stamps.csv", datetime.timezone.utc), ("local.csv", zone):
    out = csv.DictWriter(open(name, "w"), rows[0].keys())
    out.writeheader()
    for row in rows:
        out.writerow({k: stamp(v, to) if k in ("queued_at", "start", "end") else v for k, v in row.items()})
PY
expect 0 "$WEIR_BIN" import stamps.csv -o stamps.yaml --fixed-workers
has stamps.yaml 'start_time: 2026-04-12T11:0'
grep -v '^start_time\|^#\|^description' stamps.yaml | sed 's/stamps\./fitted./' >a
grep -v '^#\|^description' fitted.yaml >b
same a b
expect 0 "$WEIR_BIN" import local.csv -o local.yaml --fixed-workers --zone +02:00
grep start_time stamps.yaml >a
grep start_time local.yaml >b
same a b
printf 'stage,start,end\na,0,10\na,2026-04-12T11:00:00Z,2026-04-12T11:00:09Z\n' >mixed.csv
expect 3 "$WEIR_BIN" import mixed.csv
has stderr "mixed.csv:3:2: column 'start': '2026-04-12T11:00:00Z' is a stamp, and the log has numbers too"
expect 2 "$WEIR_BIN" import stamps.csv --zone Paris
has stderr "'Paris' is no zone"

# Twenty workers with a GPU on one node: no machine has as many, so that they share.
awk 'BEGIN { print "stage,start,end,worker,node,gpu"; for (i = 0; i < 200; i++) print "s," int(i / 20) * 10 "," int(i / 20) * 10 + 5 + i % 7 ",w" i % 20 ",n-1,h100" }' >shared.csv
expect 2 "$WEIR_BIN" import shared.csv -o shared.yaml
has stderr '20 workers had a GPU (h100) at once on node n-1: GPUs are shared'

# What no scenario can be is refused, and nothing is written: a name with a slash, tasks without time.
printf 'stage,start,end\nvideo/decode,0,2\nvideo/decode,2,5\n' >slash.csv
expect 2 "$WEIR_BIN" import slash.csv -o slash.yaml
has stderr 'what slash.yaml would be (not written):17:16: error: pipelines[0].stages[0].name: a name has none of /'
printf 'stage,start,end\na,0,0\na,1,1\n' >instant.csv
expect 2 "$WEIR_BIN" import instant.csv
has stderr 'what the scenario would be (not written):'
has stderr 'mean must be > 0, got 0'
[ ! -s stdout ] && [ ! -e slash.yaml ] || fail "a scenario that does not run was written"

command -v gnuplot >/dev/null || skip 'no gnuplot'
expect 0 "$WEIR_BIN" import spans.csv -o plots.yaml --plots plots
[ "$(ls plots/*.svg | wc -l)" -eq 2 ] || fail "not two QQ plots"
has plots/qq-01-arrivals.svg '<svg'
# Both axes end 3 % behind the largest value of either.
python3 - <<'PY' || fail "other ends of the axes"
import re, sys
values = [float(x) for line in open("plots/qq-01-arrivals.dat") if line[0] != "#" for x in line.split()]
ends = [float(x) for x in re.findall(r"set [xy]range \[0:([^]]*)\]", open("plots/qq-01-arrivals.gp").read())]
sys.exit(len(ends) != 2 or any(abs(end - 1.03 * max(values)) > 1e-6 * end for end in ends))
PY

# Points of the plot lie at (i + 1/2) / n: those of an exponential law are in proportion to -ln(1 - p).
python3 - <<'PY' || fail "other quantiles than those of the middles"
import math, sys
rows = [float(line.split()[0]) for line in open("plots/qq-01-arrivals.dat") if line[0] != "#"]
laws = [-math.log1p(-(i + 0.5) / len(rows)) for i in range(len(rows))]
mean = rows[-1] / laws[-1]
sys.exit(len(rows) < 100 or any(abs(row - mean * law) > 1e-6 * row for row, law in zip(rows, laws)))
PY
