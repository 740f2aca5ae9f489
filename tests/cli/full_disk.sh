#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk that is really full, of many sizes: whatever writes results there ends with code 6 and a
# sentence, leaves what can be read, and when there is room again makes what it makes undisturbed.
# WEIR_SLOW=1 for all sizes.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
# Only in a view of the file system of our own may we mount one.
if [ -z "${WEIR_FULL_DISK:-}" ]; then
    unshare -rm mount -t tmpfs tmpfs "$WEIR_TMP" 2>stderr || skip "no disk can be mounted: $(head -n 1 stderr)"
    WEIR_FULL_DISK=yes exec unshare -rm bash "$0"
fi
export WEIR_CHECK_INVARIANTS=0
{ two_variants 200; printf 'expect:\n  - {metric: thr.pipeline, op: gt, value: 0}\n'; } >small.yaml
sizes=(120 420 700)
[ -z "${WEIR_SLOW:-}" ] || sizes=(20 60 120 180 240 300 360 420 480 540 600 700 800 900 1000 1200)

for part in 1 2; do
    expect 0 "$WEIR_BIN" compare small.yaml -n 2 -q --shard $part/2 -o half$part.db
done
declare -A words=([run]='run small.yaml -n 3 -j 1 -q' [compare]='compare small.yaml -n 2 -j 1 -q'
    [merge]='merge half1.db half2.db'
    [search]='search small.yaml -n 1 -j 1 -q --such-that throughput>0 --smallest cluster.nodes.n.count=1..2')
results() { sqlite3 "$1" 'PRAGMA integrity_check' 'SELECT run_id, variant, replication, status, result_digest FROM run ORDER BY run_id' 'SELECT * FROM result ORDER BY 1, 2, 3, 4'; }
mkdir disk
tried=0
full=0
for name in run compare merge search; do
    # shellcheck disable=SC2086
    expect 0 "$WEIR_BIN" ${words[$name]} -o "$name.db"
    results "$name.db" >undisturbed
    [ "$(wc -l <undisturbed)" -ge 20 ] || fail "$name has no results"
    for kib in "${sizes[@]}"; do
        mount -t tmpfs -o size="${kib}k" tmpfs disk
        status=0
        # shellcheck disable=SC2086
        "$WEIR_BIN" ${words[$name]} -o disk/x.db >stdout 2>stderr || status=$?
        if [ "$status" -ne 0 ]; then
            [ "$status" -eq 6 ] || fail "$name on $kib KiB: exit code $status: $(cat stderr)"
            matches stderr '^weir: .*(out of memory or disk|database or disk is full)'
            [ ! -e disk/x.db ] || [ "$(sqlite3 'file:disk/x.db?mode=ro' 'PRAGMA integrity_check')" = ok ] ||
                fail "$name on $kib KiB leaves what cannot be read"
            mount -o remount,size=20m disk
            again=--resume
            [ "$name" != merge ] || again=--force
            # shellcheck disable=SC2086
            expect 0 "$WEIR_BIN" ${words[$name]} $again -o disk/x.db
            full=$((full + 1))
        fi
        results disk/x.db >found
        same undisturbed found
        [ "$(ls -A disk)" = x.db ] || fail "$name on $kib KiB leaves $(ls -A disk)"
        umount disk
        tried=$((tried + 1))
    done
done
[ "$full" -ge 12 ] || fail "only $full of $tried disks were full"
echo "$tried file systems, $full of them too small: each said so, and had the same results when there was room"
