#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a result file holds is never replaced, mixed or shown to more people unless that is said: one
# writer at a time, one experiment a file.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
export WEIR_CHECK_INVARIANTS=0

two_variants 300 >small.yaml

# refused COMMAND...: refused, with code 3, and not a byte of x.db is another one.
refused() {
    local before
    before=$(sha256sum x.db)
    expect 3 "$WEIR_BIN" "$@" -o x.db
    [ "$(sha256sum x.db)" = "$before" ] || fail "$*: x.db was changed"
    [ "$(echo x.db*)" = x.db ] || fail "$*: files are left: $(echo x.db*)"
}

# Results stay unless --force says that they go, under the default name too.
expect 0 "$WEIR_BIN" run small.yaml -n 4 -q
expect 3 "$WEIR_BIN" run small.yaml -n 4 -q
has stderr 'small.db: holds finished runs (4): --resume keeps them and runs the rest, --force replaces them'
expect 0 "$WEIR_BIN" run small.yaml -n 2 -q --force
[ "$(sqlite3 small.db 'SELECT count(*) FROM run')" = 2 ] || fail '--force replaces nothing'
expect 2 "$WEIR_BIN" run small.yaml -q --force --resume
mv small.db x.db

# All that defines an experiment is compared, and the sentence says what is another one.
refused run small.yaml -n 2 -q
refused run small.yaml -n 2 -q --resume --seed 7
has stderr 'cannot go on (--force begins anew, -o FILE writes elsewhere): x.db: its seed is 1, now it is 7'
refused run small.yaml -n 1 -q --resume
has stderr 'its number of replications is 2, now it is 1'
refused run small.yaml -n 2 -q --resume --set pipelines.p.input.items=301
matches stderr "its scenario of variant base is another one: 'input: .*300.*' there, 'input: .*301.*' now|its scenario of variant base is another one: 'items: 300' there, 'items: 301' now"
refused compare small.yaml -n 2 -q --resume
has stderr 'has nothing of scenario of variant one'
refused run small.yaml -n 2 -q --resume --plugin "$WEIR_PLUGINS/template.so"
has stderr 'has nothing of module'
sqlite3 x.db "UPDATE meta SET value = '0.0.1 (abc)' WHERE key = 'identity_program'"
refused run small.yaml -n 2 -q --resume
has stderr 'its program is 0.0.1 (abc), now it is'
sqlite3 x.db "DELETE FROM meta WHERE key GLOB 'identity*'"
refused run small.yaml -n 2 -q --resume
has stderr 'has nothing of program'

# A module or a trace with other bytes under the same name.
cp "$WEIR_PLUGINS/template.so" mine.so
module=(run small.yaml -n 1 -q --plugin ./mine.so --set sched.scaling=template_queue_chaser)
expect 0 "$WEIR_BIN" "${module[@]}" -o x.db --force
expect 0 "$WEIR_BIN" "${module[@]}" -o x.db --resume
printf '\0' >>mine.so
refused "${module[@]}" --resume
has stderr 'its module ./mine.so is '
cp "$WEIR_SOURCE_DIR"/scenarios/examples/jobs_table.* .
expect 0 "$WEIR_BIN" run jobs_table.yaml -n 1 -q -o x.db --force
echo >>jobs_table.csv
refused run jobs_table.yaml -n 1 -q --resume
has stderr 'its input file jobs_table.csv is '

# A newer version is left alone, whatever is said; so is what is no result file, or not a file.
cp x.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 99'
mv newer.db x.db
for how in --force --resume; do
    refused run small.yaml -q $how
    matches stderr 'x.db: (was written by a newer program|has schema version 99)'
done
expect 0 "$WEIR_BIN" run small.yaml -q -o real.db
ln -s real.db link.db
for how in --force --resume -q; do
    expect 3 "$WEIR_BIN" run small.yaml -q $how -o link.db
    has stderr 'link.db: is a symbolic link'
done
ln -s nowhere.db dangling.db
expect 3 "$WEIR_BIN" run small.yaml -q -o dangling.db
[ ! -e nowhere.db ] || fail 'written through a symbolic link'
expect 3 "$WEIR_BIN" run small.yaml -q -o /dev/null
[ -c /dev/null ] || fail '/dev/null is gone'

# Who could not read the old file cannot read the new one, nor its shards.
rm -f x.db
expect 0 "$WEIR_BIN" run small.yaml -q -o x.db
chmod 600 x.db
expect 0 "$WEIR_BIN" run small.yaml -n 3 -q -o x.db --force
[ "$(stat -c %a x.db)" = 600 ] || fail "the mode is $(stat -c %a x.db)"
"$WEIR_BIN" run small.yaml -n 2 -q -o x.db --force --set pipelines.p.input.items=50000000 >/dev/null 2>&1 &
pid=$!
until [ "$(find . -name 'x.db.part?' | wc -l)" = 2 ]; do sleep 0.01; done
for file in x.db x.db.part*; do
    [ ! -e "$file" ] || [ "$(stat -c %a "$file")" = 600 ] || fail "$file has mode $(stat -c %a "$file")"
done

# The second writer is told who the first one is, however it calls the file; nothing of a killed
# writer is in the way of the next one.
for name in x.db ./x.db "$PWD/x.db"; do
    expect 3 "$WEIR_BIN" run small.yaml -q --force -o "$name"
    has stderr "x.db: process $pid is writing it (weir run small.yaml -n 2 -q -o x.db"
done
expect 3 "$WEIR_BIN" rerun real.db -o x.db
has stderr "process $pid is writing it"
kill -KILL "$pid"
flock -w 20 x.db.lock true || fail 'processes of a killed writer keep its lock' # they end with it, soon
expect 0 "$WEIR_BIN" run small.yaml -n 2 -q -o x.db
wait "$pid" 2>/dev/null || true
[ "$(echo x.db*)" = x.db ] || fail "files are left: $(echo x.db*)"

# A damaged shard is computed again, and that is said; one of another experiment is nothing.
damaged() { # by an SQL statement
    "$WEIR_BIN" run small.yaml -n 3 -j 1 -q -o y.db --force --set pipelines.p.input.items=20000 >/dev/null 2>&1
    cp y.db z.db
    sqlite3 z.db "DELETE FROM run WHERE run_id = 2" # the file of a program killed before it was merged
    cp y.db z.db.part2
    echo of the dead | tee z.db.part1.stderr >z.db.part3.stderr # a run that is there, one that is not
    sqlite3 z.db.part2 "DELETE FROM run WHERE run_id <> 2;
        CREATE TABLE manifest (run_id INTEGER PRIMARY KEY, row_count INTEGER, digest TEXT);
        INSERT INTO manifest VALUES (2, 7, '0123456789abcdef'); $1"
    expect 0 "$WEIR_BIN" run small.yaml -n 3 -j 1 -q -o z.db --resume --set pipelines.p.input.items=20000
    sqlite3 y.db 'SELECT run_id, result_digest FROM run' >y.txt
    sqlite3 z.db 'SELECT run_id, result_digest FROM run ORDER BY 1' >z.txt
    same y.txt z.txt
    [ "$(echo z.db*)" = z.db ] || fail "files are left: $(echo z.db*)"
}
# A file with two names has two locks and two logs: it is not gone on with, but may be replaced.
expect 0 "$WEIR_BIN" run small.yaml -n 1 -q -o named.db
sqlite3 named.db 'DELETE FROM run'
ln named.db twice.db
expect 3 "$WEIR_BIN" run small.yaml -n 1 -q -o twice.db --resume
has stderr 'twice.db: has another name too (a hard link)'
expect 0 "$WEIR_BIN" run small.yaml -n 1 -q -o twice.db --force
[ "$(sqlite3 named.db 'SELECT count(*) FROM run')" = 0 ] || fail 'written under another name'
expect 0 "$WEIR_BIN" run small.yaml -n 1 -q -o named.db --resume

# A trace with other bytes is noticed however long it is.
cp "$WEIR_SOURCE_DIR"/scenarios/examples/jobs_table.* .
sed -i '/^compare:/,$d' jobs_table.yaml
filler=$(head -c 120000 /dev/zero | tr '\0' x)
sed "1s/\$/;note/; 2,\$s/\$/;/" jobs_table.csv | awk -v filler="$filler" '{ print $0 (NR > 1 ? filler : "") }' >long.csv
mv long.csv jobs_table.csv
[ "$(stat -c %s jobs_table.csv)" -gt 9000000 ] || fail 'the trace is short'
expect 0 "$WEIR_BIN" run jobs_table.yaml -n 1 -o long.db -q
[ "$(sqlite3 long.db "SELECT count(*) FROM input_file WHERE path = 'jobs_table.csv'")" = 1 ] ||
    fail 'a long trace is not among the input files'
sqlite3 long.db 'DELETE FROM run'
sed -i '4s/;Pass;/;Killed;/' jobs_table.csv
expect 3 "$WEIR_BIN" run jobs_table.yaml -n 1 -o long.db -q --resume
has stderr 'its input file jobs_table.csv is '

damaged ''
has stderr 'run 2 is computed again: z.db.part2: its rows are not those that were written'
damaged "UPDATE meta SET value = 'another' WHERE key = 'identity'"
[ ! -s stderr ] || fail 'a shard of another experiment is spoken of'

# A run tells of itself what its file tells of it: of pipelines, of jobs, of a fill, and of less room.
command -v python3 >/dev/null || { skip_part 'no python3 program'; exit 0; }
cat >told.py <<'E'
import json, sys


def told(at):  # without what the clock, the machine and the file alone say
    if isinstance(at, list):
        return [told(part) for part in at]
    if not isinstance(at, dict):
        return at
    return {key: told(part) for key, part in at.items()
            if key not in ("database", "stages", "decisions", "peak_rss_mib") and
            not any(word in key for word in ("wall", "cpu_s", "cpu_ms", "decision_mean_ms"))}


one, two = (told(json.load(open(name))) for name in sys.argv[1:])
assert one["runs"] and one == two, [pair for pair in zip(one.items(), two.items()) if pair[0] != pair[1]]
E
printf '%s\n' 'schema: 2' 'name: fill' 'cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 2}}]}' \
    'fill: [{name: w, classes: [{name: one, count: 12, request: {cpus: 1, gpus: 0.5}}]}]' >fill.yaml
for words in small.yaml fill.yaml "$WEIR_SOURCE_DIR/scenarios/examples/jobs_table.yaml" \
    'small.yaml --set cluster.nodes.n.gpus.h100=1' 'fill.yaml --set fill.w.classes.one.request.cpus=9'; do
    # shellcheck disable=SC2086
    expect 0 "$WEIR_BIN" run $words -n 2 --no-db --format json
    cp stdout without.json
    # shellcheck disable=SC2086
    expect 0 "$WEIR_BIN" run $words -n 2 -o told.db --format json --force
    python3 told.py without.json stdout || fail "$words: the file tells of another run"
done
expect 0 "$WEIR_BIN" run small.yaml --seed 7 -n 2 --no-db --format json
[ "$(grep -c '^  "seed": 7,$' stdout)" = 1 ] || fail 'a run of another seed is told'
