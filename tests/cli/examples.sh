#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every section of docs/scenario.md has an example, and weir check accepts each, over the scenarios
# that the page speaks of.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
page=$WEIR_SOURCE_DIR/docs/scenario.md

cat >work.yaml <<'Y'
schema: 2
name: base
horizon: 6 d
cluster:
  nodes: [{name: node, count: 4, cpus: 128, ram: 1 TiB, gpus: {h100: 8}}]
sched: {queueing: fcfs}
pipelines:
  - name: video
    input: {items: 20000}
    stages:
      - {name: decode, cpus: 2, service: exp(1 s)}
      - {name: caption, cpus: 1, gpus: 0.25, service: exp(3 s), setup: 30 s}
jobs:
  - name: train
    arrivals: {load: 40%}
    classes:
      - {name: small, weight: 6, request: {cpus: 8, gpus: 1}, run_time: exp(2 h)}
      - {name: large, weight: 1, request: {cpus: 64, gpus: 8}, run_time: exp(4 h)}
Y
cat >fill.yaml <<'Y'
schema: 2
name: base
cluster:
  nodes: [{name: node, count: 4, cpus: 128, gpus: {h100: 8}}]
fill:
  - name: static
    count: 300
    classes:
      - {name: small, weight: 6, request: {cpus: 8, gpus: 0.5}}
      - {name: large, weight: 1, request: {cpus: 64, gpus: 8}}
Y
awk '/^## `/ { name = $2; gsub(/`/, "", name); sections++; file = "" }
    /^```yaml$/ { file = sprintf("example-%03d.yaml", ++count); has[name] = 1; print "# " name >file; next }
    /^```$/ { file = "" }
    /^## `/ { names[sections] = name }
    file != "" { print >file }
    END { for (i = 1; i <= sections; i++) if (!(names[i] in has)) print names[i] }' "$page" >without
[ ! -s without ] || fail "no example: $(tr '\n' ' ' <without)"
[ "$(find . -name 'example-*.yaml' | wc -l)" -gt 60 ] || fail 'too few examples'
for file in example-*.yaml; do
    base=work.yaml
    ! grep -q '^fill:' "$file" || base=fill.yaml
    {
        cat "$file"
        echo "extends: $base"
        grep -q '^name:' "$file" || echo 'name: example'
    } >tried.yaml
    expect 0 "$WEIR_BIN" check tried.yaml
    [ "$("$WEIR_BIN" check --resolved tried.yaml)" != "$("$WEIR_BIN" check --resolved $base --set name=example)" ] ||
        fail "$(head -1 "$file"): changes nothing"
done
