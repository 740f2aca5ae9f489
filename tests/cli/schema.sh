# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# weir schema, policies and show. docs/scenario.md is what the program prints.
# covers: S0.2 S0.6 S2.15 S2.25
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

expect 0 "$WEIR_BIN" schema --format markdown
[ -z "${UPDATE_GOLDENS:-}" ] || cp stdout "$WEIR_SOURCE_DIR/docs/scenario.md"
same stdout "$WEIR_SOURCE_DIR/docs/scenario.md"
expect 0 "$WEIR_BIN" schema --format json
python3 -c 'import json; assert "pipelines" in open("stdout").read() and json.load(open("stdout"))["definitions"]' ||
    fail 'the JSON Schema lacks pipelines'

expect 0 "$WEIR_BIN" policies
matches stdout '^placement +fgd '
matches stdout '^scaling +xenna '
expect 0 "$WEIR_BIN" policies xenna
matches stdout '^overallocation +number +1\.5 '
expect 2 "$WEIR_BIN" policies fdg
has stderr "did you mean 'fgd'?"
expect 0 "$WEIR_BIN" policies --format json
python3 -c 'import json; assert len(json.load(open("stdout"))["rows"]) > 5' || fail 'too few policies'

plain=$WEIR_SOURCE_DIR/scenarios/reference/xenna_plain_n2.yaml
expect 0 "$WEIR_BIN" show "$plain"
has stdout 'Throughput bound 1.06 source items/s with workers divided at will, 0.7792 source items/s with whole workers: rounding loses 26 %'
expect 0 "$WEIR_BIN" show --format json "$plain"
python3 - <<'PYTHON' || fail 'the bounds are not the known ones'
import json
pipeline = json.load(open('stdout'))['pipelines'][0]
assert abs(pipeline['integer_per_s'] - 6 / 7.7) < 1e-9
best = [c for c in pipeline['changes'] if c['change'].endswith('each')][0]
assert abs(best['gain_percent'] - 50) < 0.1, best
PYTHON
expect 0 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/examples/video4.yaml"
matches stdout '^NVENC +24 +3 +8$'
matches stdout '^NVDEC +24 +2 +12$'
matches stdout '^GPU +8 +0\.5 +16$'
matches stdout '^CPU +64 +6\.5 +9\.846$'
has stdout 'The NVENC limits the pipeline to 8 items/s'
expect 2 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/tests/golden/broken/nvenc_on_h100.yaml"
expect 0 "$WEIR_BIN" show --format csv "$plain"
expect 0 "$WEIR_BIN" show --format md "$plain"

# Services are called so.
expect 0 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/services/access.yaml"
matches stdout '^Services$'
hasnt stdout 'Stages'

# Numbers of workers are a question only when stages compete for something.
expect 0 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/queueing/mm1.yaml"
has stdout 'Sizing: trivial'
hasnt stdout 'Transfers: not modelled'
expect 0 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/examples/caption2.yaml"
has stdout 'Sizing: shared. Stages compete for GPU'
has stdout 'Transfers: not modelled'
expect 0 "$WEIR_BIN" show "$WEIR_SOURCE_DIR/scenarios/examples/caption2.yaml" --set pipelines.0.execution=batch --set pipelines.0.store_bandwidth=1GB
hasnt stdout 'Transfers: not modelled'
cat >disjoint.yaml <<'YAML'
schema: 1
name: disjoint
cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 8}}]}
pipelines:
  - name: p
    input: {items: 100}
    stages:
      - {name: decode, cpus: 0, nvdecs: 1, service: 1 s}
      - {name: infer, cpus: 1, gpus: 1, service: 1 s}
YAML
expect 0 "$WEIR_BIN" show disjoint.yaml --format json
has stdout '"sizing": "trivial"'
# 56 x 1.1 + 8 CPUs are more than 64.
expect 0 "$WEIR_BIN" show disjoint.yaml --set pipelines.p.stages.decode.cpus=1.1
has stdout 'Sizing: shared. Stages compete for CPU'
