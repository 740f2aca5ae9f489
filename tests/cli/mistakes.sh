#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Mistakes of a first hour: every message names the way out.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

expect 0 "$WEIR_BIN" new pipeline p.yaml
expect 0 "$WEIR_BIN" new jobs j.yaml
expect 0 "$WEIR_BIN" run p.yaml -q -n 1 -o p.db

count=0
# mistake 'WAY OUT' WORD...: the command line fails, and says so.
mistake() {
    local way=$1 code=0
    shift
    "$WEIR_BIN" "$@" >stdout 2>stderr || code=$?
    count=$((count + 1))
    [ "$code" -gt 0 ] && [ "$code" -lt 4 ] || fail "$*: exit code $code"
    cat stdout >>stderr
    grep -qF -e "$way" stderr || fail "$*: no '$way' in: $(head -n 5 stderr)"
}
# file 'WAY OUT' 'SED': the pipeline with this change.
file() { # 'WAY OUT' 'SED' [FILE]
    sed -E "$2" "${3:-p.yaml}" >bad.yaml
    ! cmp -s "${3:-p.yaml}" bad.yaml || fail "$2 changes nothing"
    mistake "$1" check bad.yaml
}

mistake "did you mean 'run'?" rnu p.yaml
mistake "did you mean 'report'?" html p.db
mistake 'weir new pipeline my.yaml' run
mistake 'No such file' run pp.yaml
mistake '--force replaces' run p.yaml -q -n 1 -o p.db
mistake "did you mean '--output'?" run p.yaml --ouput x.db
mistake "did you mean 'throughput'?" compare p.yaml --metric througput
mistake "did you mean 'caption'?" check p.yaml --set pipelines.video.stages.captoin.gpus=1
mistake 'is not PATH=VALUE' run p.yaml --set seed
mistake "did you mean 'xenna'?" check p.yaml --set sched.scaling=xena
mistake "did you mean 'json'?" show p.yaml -f jsn
mistake 'weir plot' plot p.db queus
mistake 'there are: decode, caption, store' explain p.db --stage capton --from 10m --to 20m
mistake 'is there already' new pipeline p.yaml
mistake 'small letters' new policy My-Policy
mistake "did you mean 'h100'?" check j.yaml --set 'cluster.nodes=[{name: n, cpus: 8, gpus: {H100: 8}}]'
file "did you mean 'stages'?" 's/stages:/stage:/'
file "did you mean 'service'?" 's/service: 2 s/time: 2 s/'
file 'use const, exp' 's/service: 2 s/service: two/'
file 's, m, min, h or d' 's/horizon: 4 h/horizon: 4 hours/'
file "did you mean 'exp'?" 's/exp\(15 s\)/expo(15 s)/'
file "ask for fewer cpus" 's/cpus: 2,/cpus: 200,/'
file "key 'service' is missing" 's/, service: 2 s//'
file "did you mean 'throughput'?" 's/max: throughput/max: thruoghput/'
mistake "did you mean 'policies'?" list policy_s
# Of a second hour.
expect 0 "$WEIR_BIN" new incident i.yaml
expect 0 "$WEIR_BIN" run j.yaml -q -n 1 -o j.db
file 'GPUs of one node by type: {h100: 8}' 's/gpus: \{h100: 8\}/gpus: 8/'
file 'there are: max, min, of, while' 's/max: throughput/target: throughput/'
file 'there are: max, min, of, while' 's/goal: .*/goal: throughput/'
file "did you mean 'max'?" 's/max: throughput/maximize: throughput/'
file 'there are: label, set' 's/set: \{(cluster.nodes.node.count: 3)\}/\1/'
file 'a share below 1, or a whole number' 's/gpus: 0.5/gpus: {h100: 1}/'
file 'there are: placement, scaling, queueing' 's/^sched: .*/sched: fgd/' j.yaml
file 'there are: policy, metric, tie' 's/^sched: .*/sched: {placement: {policy: fgd, threshold: 3}}/' j.yaml
file "did you mean 'for'?" 's/for: 40 min/duration: 40 min/' i.yaml
file 'there are: at, for, action' 's/for: 40 min/lasts: 40 min/' i.yaml
file 'start_time, which is not given' 's/^goal: .*/timeline: [{at: "11:03", action: node_down, node: node-1}]/'
file 'weir list keys' 's/^schema/flavour: red\nschema/'
mistake 'weir run SCENARIO makes one' report p.yaml
mistake 'a decision is a JSON document' decide p.yaml
mistake 'weir show and weir export read it' import p.db
mistake 'mkdir -p makes it' run p.yaml -q -n 1 -o results/p.db
mistake '--job and --pending' explain j.db --stage caption
mistake "the first of which is 'train/" explain j.db --job nobodys-job-99999999
mistake '--force compares them' compare p.db j.db
mistake 'weir compare takes several' run p.yaml j.yaml
mistake 'weir diff a.db b.db' diff p.db
mistake 'weir merge -o all.db a.db b.db' merge
mistake "did you mean 'openmetrics'?" export p.db --to prometheus
mistake 'a page ends in .html or .pdf' report p.db -o p.docx
[ "$count" -ge 49 ] || fail "only $count mistakes"

# Of a third hour: what stands elsewhere, what others call it, files of another kind.
echo hello | tee mod.c mod.py >notes.txt
file "'sched' stands at the top of the file" 's/^cluster:/cluster:\n  scheduler: fgd/'
file "'gpu_types' stands in jobs[].classes[]" 's/gpus: 1\}/gpus: 1, gpu_types: [h100]}/' j.yaml
file "did you mean 'workers'?" 's/gpus: 0.5/gpus: 0.5, tasks: 4/'
file "did you mean 'gpu_memory'?" 's/gpus: 0.5/gpus: 0.5, vram: 40 GB/'
file "did you mean 'buffer'?" 's/gpus: 0.5/gpus: 0.5, queue_size: 9/'
file "did you mean 'after'?" 's/gpus: 0.5/gpus: 0.5, depends_on: decode/'
file "did you mean 'stages'?" 's/stages:/steps:/'
file "did you mean 'members'?" 's/members: 2/gang: 2/' j.yaml
file 'as arrivals: {load: 70%}' 's/arrivals: .load: 60%./arrivals: poisson(5\/h)/' j.yaml
file '{rate: 5/s}' 's/input: .items: 50000./input: {arrivals: 5\/s}/'
mistake "did you mean 'h100'?" check p.yaml --set 'catalog={gpu_types: {x: {codecs: h10}}}'
mistake 'weir new pipeline NAME writes one' check notes.txt
mistake '--set compare=- leaves the variants out' search p.yaml --smallest cluster.nodes.node.count=1..4:1
mistake 'weir help nodes' run p.yaml --nodes 4
mistake "did you mean '--version'?" --verison
mistake '--force begins anew' run p.yaml -q -n 1 --resume --set seed=9 -o p.db
mistake 'mkdir -p makes it' export p.db --to perfetto -o no/such.json
[ "$count" -ge 66 ] || fail "only $count mistakes"
expect 4 "$WEIR_BIN" check mod.c
has stderr 'gcc -std=c17 -O2 -shared -fPIC mod.c -o mod.so'
expect 4 "$WEIR_BIN" run p.yaml --plugin mod.py --no-db
has stderr 'argv: [python3, mod.py]'
expect 0 "$WEIR_BIN" check p.db j.db
[ "$(grep -c '^file ' stdout)" -eq 1 ] || fail 'a head a file'

# Where there is no file yet.
for command in run compare search; do
    expect 2 "$WEIR_BIN" $command
    has stderr 'writes one to start from'
done
# GPUs as others call them.
for pair in NVIDIA-H100-80GB-HBM3=h100 H100-SXM=h100 A100-SXM4-80GB=a100-80 NVIDIA_A100_40GB=a100-40 Tesla-T4=t4 V100M32GB=v100m32; do
    expect 2 "$WEIR_BIN" check p.yaml --set "cluster.nodes.node.gpus={${pair%=*}: 8}"
    has stderr "there is no GPU type '${pair%=*}'; did you mean '${pair#*=}'?"
done
# A tab looks like blanks.
printf 'schema: 2\nname: "a\tb"\n' >tab.yaml
expect 2 "$WEIR_BIN" check tab.yaml
has stderr 'found a tab'
printf 'schema: 2\nname: a\nreplications: 4\t4\n' >tab.yaml
expect 2 "$WEIR_BIN" check tab.yaml
has stderr "expected a whole number, found '4\\t4'"
