#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What would have helped: each change that is said is repeated by hand with the same numbers, one
# fewer does not help, the page says the same, and where nothing got worse nothing is said. Beside
# the jobs, conservative backfilling and saturation_aware decide together.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 program'

cat >i.yaml <<'YAML'
schema: 2
name: i
horizon: 1000 s
cluster: {nodes: [{name: n, count: 8, cpus: 2}]}
sched: {placement: spread, scaling: {policy: saturation_aware, interval: 10 s, window: 20 s}, queueing: first_fit}
pipelines:
  - name: p
    input: {items: 100000, arrivals: exp(1 s)}
    stages:
      - {name: encode, cpus: 1, service: exp(9 s)}
jobs:
  - name: w
    classes: [{name: c, count: 4, at: 0 s, every: 100 s, request: {cpus: 1}, run_time: 200 s}]
timeline:
  - {at: 300 s, for: 400 s, action: node_down, node: n-0}
  - {at: 300 s, for: 400 s, action: node_down, node: n-1}
  - {at: 300 s, for: 400 s, action: node_down, node: n-2}
  - {at: 300 s, for: 400 s, action: node_down, node: n-3}
  - {at: 300 s, for: 400 s, action: node_down, node: n-4}
  - {at: 300 s, for: 400 s, action: node_down, node: n-5}
  - {at: 300 s, for: 400 s, action: node_down, node: n-6}
windows: {before: "..300", outage: "300..700", after: "700.."}
YAML
expect 0 "$WEIR_BIN" run i.yaml -q -o i.db
expect 0 "$WEIR_BIN" explain i.db --what-if
cp stdout said
matches stdout '^  queueing conservative +≥ [0-9]'
matches stdout '^  as it was +≥ 5m54s$' # the last window reaches into items that are not through
matches stdout '^The smallest change tried that helps: 3 nodes n more, 11 in all\. latency p95 is'
more=$(sed -n 's/^The smallest.*: \([1-4]\) node.*/\1/p' said)

# p95 COUNT: the worst window from the outage on, with so many nodes.
p95() {
    "$WEIR_BIN" run i.yaml -q --force -o one.db --set "cluster.nodes.n.count=$1" >/dev/null
    sqlite3 -readonly one.db "SELECT max(value) FROM v_window WHERE metric = 'lat.e2e.p95' AND window <> 'before'"
}
usual=$(sqlite3 -readonly i.db "SELECT value FROM v_window WHERE metric = 'lat.e2e.p95' AND window = 'before'")
was=$(p95 8) now=$(p95 $((8 + more))) fewer=$(p95 $((7 + more)))
python3 - "$was" "$now" "$fewer" "$usual" <<'PY' || fail 'the change does not do what is said'
import re, sys
was, now, fewer, usual = map(float, sys.argv[1:])
assert 1 - (now - usual) / (was - usual) >= 0.8 > 1 - (fewer - usual) / (was - usual), (was, now, fewer, usual)
said = re.search(r"latency p95 is (?:≥ )?(\S+)(?:\s(s))? at worst instead of (?:≥ )?(\S+)", open("said").read())
def seconds(text):
    return sum(float(n) * {"h": 3600, "m": 60, "s": 1, "": 1}[u] for n, u in re.findall(r"([\d.]+)\s?([hms]?)", text))
assert abs(seconds(said[1]) - now) < 1, (said[0], now)
assert abs(seconds(said[3]) - was) < 1, (said[0], was)
PY

command -v gnuplot >/dev/null && {
    expect 0 "$WEIR_BIN" report i.db --what-if -o page.html
    has page.html 'What would have helped'
    has page.html "$(sed -n 's/^The smallest/The smallest/p' said | tail -1)"
    expect 0 "$WEIR_BIN" report i.db -o page.html
    hasnt page.html 'What would have helped'
}

# Without windows in the file they are given; without trouble nothing is said.
sed '/^windows:/d' i.yaml >j.yaml
expect 0 "$WEIR_BIN" run j.yaml -q -o j.db
expect 2 "$WEIR_BIN" explain j.db --what-if
has stderr 'what helps is judged by windows'
expect 0 "$WEIR_BIN" explain j.db --what-if --from 300 --to 700
[ "$(tail -1 stdout)" = "$(tail -1 said)" ] || fail 'another answer with windows that were asked for'
sed '/^timeline:/,/n-6/d' i.yaml >k.yaml
expect 0 "$WEIR_BIN" run k.yaml -q -o k.db
expect 0 "$WEIR_BIN" explain k.db --what-if
matches stdout '^Nothing is tried: latency p95, which is all that is looked at, got no worse by a tenth \(.* at worst, before it '
expect 2 "$WEIR_BIN" explain k.db --what-if --pending
has stderr '--what-if stands alone'
