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
file() {
    sed -E "$2" p.yaml >bad.yaml
    ! cmp -s p.yaml bad.yaml || fail "$2 changes nothing"
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
[ "$count" -ge 25 ] || fail "only $count mistakes"

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
