#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The captioning examples meet the times that can be computed by hand, in every way of execution.
# covers: S2.1 S2.2 S2.3 S2.4 S2.5 S2.12 S2.13 S2.14 S2.16 S2.34 S2.35 S2.36 S2.37
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

examples=$WEIR_SOURCE_DIR/scenarios/examples
expect 0 "$WEIR_BIN" compare "$examples/caption2.yaml" --check -o caption2.db
expect 0 "$WEIR_BIN" compare "$examples/caption4.yaml" --check -o caption4.db
expect 0 "$WEIR_BIN" run "$examples/spmd.yaml" --check --no-db

# Peak memory and throughput of one pipeline under both executors, side by side.
expect 0 "$WEIR_BIN" compare "$examples/raydata.yaml" --check -o raydata.db \
    --metric materialised.bytes --metric thr.pipeline
has stdout "raydata_2"
has stdout "xenna"

# The bound of a batch adds the times of its stages up: 10 000 x 0.6 / 8 = 750 s.
expect 0 "$WEIR_BIN" show "$examples/caption2.yaml" --set pipelines.p.execution=batch
has stdout "13.33 source items/s with whole"

# 5 MB an item: 40 GB are full after 8 000 items (and those under way).
expect 1 "$WEIR_BIN" run "$examples/caption2.yaml" --no-db --set pipelines.p.execution=batch \
    --set pipelines.p.store=40GB
grep -q "the store is full: 80[0-9][0-9] items wait for t5" stderr || fail "the store was not full"

# Stages with codec engines alone belong to no GPU pool of the old rule.
expect 0 "$WEIR_BIN" validate "$examples/video4.yaml"
hasnt stderr 'as a CPU stage'
expect 0 "$WEIR_BIN" validate "$examples/video4.yaml" --set sched.scaling=inverse_speed
has stderr 'counts a stage with codec engines alone as a CPU stage'
