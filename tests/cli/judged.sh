#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A tolerance widens a bound, on its own side, and what just reaches a bound meets it: four jobs of
# 10 s one after the other take 40 s.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# judge CODE OP VALUE TOLERANCE: the code of a run whose makespan of 40 s is expected to be so.
judge() {
    cat >judged.yaml <<END
schema: 1
name: judged
cluster: {nodes: [{name: n, cpus: 1}]}
workloads:
  - name: w
    kind: generated
    mode: time
    classes:
      - {name: a, count: 4, at: 0 s, service: const(10 s), request: {cpus: 1}}
expect:
  - {metric: makespan, op: $2, value: $3, tol: "$4"}
END
    expect "$1" "$WEIR_BIN" run judged.yaml --check --no-db
}

judge 0 le 40 0
judge 0 le 38 2
judge 0 le 32 25%
judge 1 le 37 2
judge 0 ge 40 0
judge 0 ge 42 2
judge 1 ge 43 2
judge 0 lt 40 1
judge 1 lt 40 0
judge 0 gt 40 1
judge 1 gt 40 0
judge 0 eq 40 0
judge 0 near 41 1
judge 1 near 42 1
judge 0 near 50 20%
judge 1 near 30 20%

# The long form names a metric as the short one does.
judge_metric() {
    sed "s/metric: makespan/metric: $2/" judged.yaml >named.yaml
    expect "$1" "$WEIR_BIN" run named.yaml --check --no-db
}
judge 0 near 50 20%
judge_metric 0 'makespan'
sed -i 's/op: near, value: 50/op: le, value: 30/' judged.yaml
judge_metric 0 'wait mean'
judge_metric 2 'waiting'
has stderr "expect[0].metric: there is no metric 'waiting'"
