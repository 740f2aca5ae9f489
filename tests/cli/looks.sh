#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Pages of every kind of work in a browser: texts can be read, are not cut, do not lie on each other and
# say nothing odd, on dark at 1 280 px and on light at 400; with names that are long and alike.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v gnuplot >/dev/null || skip 'no gnuplot'
command -v python3 >/dev/null || skip 'no python3'
. "$WEIR_SOURCE_DIR/tests/support/browser.sh"
unset WEIR_CHECK_INVARIANTS

cat >pipeline.yaml <<'Y'
schema: 2
name: pipeline
horizon: 1 h
replications: 2
cluster: {nodes: [{name: ip-10-0-12-machine, count: 3, cpus: 16, gpus: {h100: 4}}]}
sched: {scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: curation
    input: {items: 4000}
    stages:
      - {name: TranscodeOfLongVideosFirstHalfStage, cpus: 1, service: exp(2 s)}
      - {name: TranscodeOfLongVideosSecondHalfStage, cpus: 1, service: exp(3 s)}
      - {name: InternVideo2EmbeddingCreationStage, cpus: 1, gpus: 0.25, service: exp(6 s), setup: 30 s}
      - {name: WWWWWWWWWWWWWWWWWWWW, cpus: 1, service: exp(1 s)}
timeline:
  - {at: 20 min, for: 10 min, action: node_down, node: ip-10-0-12-machine-1}
compare:
  - {label: xenna with a reserve of ten percent}
  - {label: equal split with a reserve of ten percent, set: {sched.scaling.policy: equal_split}}
Y
cat >jobs.yaml <<'Y'
schema: 2
name: jobs
horizon: 2 d
warmup: 2 h
replications: 2
cluster: {nodes: [{name: dgx, count: 4, cpus: 64, gpus: {h100: 8}}]}
jobs:
  train:
    arrivals: {load: 110%}
    run_time: exp(2 h)
    classes:
      fine_tuning_of_small_models_a: {weight: 4, request: {gpus: 1}}
      fine_tuning_of_small_models_b: {weight: 2, request: {gpus: 4}}
      pretraining: {weight: 1, request: {gpus: 8}}
compare:
  - {label: first come first served}
  - {label: easy, set: {sched.queueing: easy}}
Y
cat >fill.yaml <<'Y'
schema: 2
name: fill
replications: 2
cluster: {nodes: [{name: dgx, count: 4, cpus: 64, gpus: {h100: 8}}]}
fill:
  mix:
    demand: 120%
    classes:
      half: {weight: 3, request: {cpus: 4, gpus: 0.5}}
      two: {weight: 2, request: {cpus: 8, gpus: 2}}
      eight: {weight: 1, request: {cpus: 16, gpus: 8}}
compare:
  - {label: fgd}
  - {label: best_fit, set: {sched.placement: best_fit}}
  - {label: random, set: {sched.placement: random}}
Y
page() { # NAME ARGUMENT...: compares, and looks at the page
    local name=$1
    shift
    expect 0 "$WEIR_BIN" compare "$@" -q -o "$name.db"
    expect 0 "$WEIR_BIN" report "$name.db" -o "$name.html"
    judged "$name.html"
    looked "$name-dark" 1280 --blink-settings=preferredColorScheme=0
    looked "$name-narrow" 400
}
page pipeline pipeline.yaml
page jobs jobs.yaml
page fill fill.yaml
# A review: its charts name the option and the value.
expect 0 "$WEIR_BIN" compare jobs.yaml -q --axis cluster.nodes.dgx.count=5,7 -o review.db \
    --set 'goal={min: wait p95, while: ["wait p95 <= 9 h"]}'
expect 0 "$WEIR_BIN" report review.db --as review -o review.html
judged review.html
looked review-narrow 400
page axis jobs.yaml --axis jobs.train.arrivals.load=50%,80%,110%
