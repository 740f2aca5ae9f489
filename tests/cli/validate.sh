# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# weir validate: every broken scenario of tests/golden/broken gives exactly the remarks beside it,
# every shipped scenario is valid, and the canonical text of a scenario reads back to itself.
# `UPDATE_GOLDENS=1` writes the remarks anew; read the difference before keeping it.
# covers: S0.13 S0.16 S0.37 S2.20 S2.22 S2.30 S2.38
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
here=$WEIR_TMP
broken=$WEIR_SOURCE_DIR/tests/golden/broken

count=0
cd "$broken"
for file in *.yaml; do
    status=0
    "$WEIR_BIN" validate "$file" >"$here/out" 2>"$here/remarks" || status=$?
    [ "$status" -eq 2 ] || fail "$file: exit code $status, expected 2"
    [ ! -s "$here/out" ] || fail "$file: something on standard output"
    [ -z "${UPDATE_GOLDENS:-}" ] || cp "$here/remarks" "${file%.yaml}.expected"
    same "$here/remarks" "${file%.yaml}.expected"
    count=$((count + 1))
done
cd "$here"
[ "$count" -ge 120 ] || fail "only $count broken scenarios"

# Canonical texts are read from a folder that stands to the shared traces as scenarios/reference does.
mkdir -p project/scenarios/reference
ln -s "$WEIR_SOURCE_DIR/../shared" shared
cp "$WEIR_SOURCE_DIR"/scenarios/examples/*.csv "$WEIR_SOURCE_DIR"/scenarios/services/*.csv "$WEIR_SOURCE_DIR"/scenarios/examples/*.json project/scenarios/reference
find "$WEIR_SOURCE_DIR/scenarios" -name '*.yaml' | sort >files
while read -r file; do
    if grep -q '\.\./shared/' "$file" && [ ! -d shared/traces ]; then
        skip_part "the trace of ${file##*/} is not here"
        continue
    fi
    expect 0 "$WEIR_BIN" validate "$file"
    has stdout "$file: ok"
    expect 0 "$WEIR_BIN" validate --resolved "$file"
    once=project/scenarios/reference/once.yaml
    cp stdout "$once"
    expect 0 "$WEIR_BIN" validate --resolved "$once"
    same "$once" stdout
done <files

plain=$WEIR_SOURCE_DIR/scenarios/reference/xenna_plain_n2.yaml
expect 0 "$WEIR_BIN" validate --set cluster.nodes.dgx.count=10 --set seed=7 --resolved "$plain"
has stdout 'count: 10'
has stdout 'seed: 7'
expect 2 "$WEIR_BIN" validate --set cluster.nodes.dgz.count=10 "$plain"
has stderr "there is no 'dgz'; did you mean 'dgx'?"
expect 2 "$WEIR_BIN" validate --set cluster.nodes.dgx.count=many "$plain"
has stderr "expected a whole number, found 'many'"

# A key that is set acts with the settings there are; with one that is set beside it nobody knows.
sed '/^pipelines:/,/stages:/d; s/cv: 4, //; s/, period: 1 h//' "$broken/process_alone.yaml" >poisson.yaml
expect 0 "$WEIR_BIN" validate poisson.yaml
expect 2 "$WEIR_BIN" validate poisson.yaml --set jobs.w.arrivals.cv=9
has stderr 'acts with process: hyperexponential alone; here that is poisson|trace'
expect 0 "$WEIR_BIN" validate poisson.yaml --set jobs.w.arrivals.cv=9 --set jobs.w.arrivals.process=hyperexponential
expect 2 "$WEIR_BIN" compare poisson.yaml -q -o set.db --variant 'x: jobs.w.arrivals.cv=9'
has stderr 'variant x:'
expect 2 "$WEIR_BIN" run poisson.yaml --no-db --set jobs.w.arrivals.cv=9
expect 2 "$WEIR_BIN" compare poisson.yaml -q -o set.db --axis jobs.w.arrivals.cv=2,9
expect 0 "$WEIR_BIN" compare poisson.yaml -q -o set.db --set jobs.w.arrivals.cv=9 --variant 'x: jobs.w.arrivals.process=hyperexponential'

expect 3 "$WEIR_BIN" validate nowhere.yaml
has stderr 'nowhere.yaml: error: nowhere.yaml: No such file or directory'
expect 0 "$WEIR_BIN" validate - <"$plain"
expect 2 "$WEIR_BIN" validate --format json "$broken/many.yaml"
python3 - <<'PYTHON' || fail 'the JSON remarks are not as documented'
import json
document = json.load(open('stdout'))
assert document['schema'] == 1 and document['errors'] == len(document['diagnostics']) > 15
assert {'file', 'line', 'column', 'severity', 'message', 'suggestion'} <= set(document['diagnostics'][0])
PYTHON
expect 2 "$WEIR_BIN" validate
expect 2 "$WEIR_BIN" validate --formt json "$plain"
has stderr "unknown option '--formt'; did you mean '--format'?"

# More than 8 MiB is refused before it is parsed.
head -c 9000000 /dev/zero | tr '\0' '#' >large.yaml
expect 3 "$WEIR_BIN" validate large.yaml
has stderr 'larger than 8 MiB'
