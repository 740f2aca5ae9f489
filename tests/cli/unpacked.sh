#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A small compressed file that unpacks to very much is refused while it is read, long before its rows
# fill the memory; the same rows in a plain file are read, and so is a file that shrinks well.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# rows COUNT: so many equal good jobs, in the words of Tiresias.
rows() {
    echo 'job_id,num_gpu,submit_time,iterations,model_name,duration,interval'
    yes '1,1,0,1,a,1,1' | head -n "$1" || true
}
pack() { python3 -c 'import gzip, shutil, sys
with gzip.open(sys.argv[1], "wb", 9) as out: shutil.copyfileobj(sys.stdin.buffer, out)' "$1"; }

rows 4000000 | pack bomb.gz
[ "$(stat -c %s bomb.gz)" -lt 400000 ] || fail 'the file is not small'
refused() { # FILE
    expect "$2" "${@:3}"
    has stderr "$1"
    has stderr 'unpacks to more than 32 MiB and 200 times its size: if this is meant, unpack it first'
    has stderr '--limit unpacked=MIB'
}
memory_kib() { python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"; }

refused bomb.gz 3 "$WEIR_BIN" trace info bomb.gz --map tiresias
refused bomb.gz 3 "$WEIR_BIN" trace convert bomb.gz --map tiresias -o out.csv
refused bomb.gz 3 "$WEIR_BIN" trace info bomb.gz --kind swf --on-bad-row skip
refused bomb.gz 3 "$WEIR_BIN" import bomb.gz --columns stage=job_id,start=submit_time,end=duration --on-bad-row skip
used=$(memory_kib "$WEIR_BIN" trace info bomb.gz --map tiresias)
rows 100000 | pack small.gz
least=$(memory_kib "$WEIR_BIN" trace info small.gz --map tiresias)
[ "$used" -lt $((least * 50)) ] || fail "$used KiB for a file that is refused, $least KiB for 100 000 rows"
if command -v zstd >/dev/null; then
    rows 4000000 | zstd -q >bomb.zst
    refused bomb.zst 3 "$WEIR_BIN" trace info bomb.zst --map tiresias
else
    skip_part 'no zstd program'
fi

# Whoever means it says so, in the same words for every command that reads files.
expect 3 "$WEIR_BIN" trace info bomb.gz --map tiresias --limit unpacked=40,scenario=9
has stderr 'unpacks to more than 40 MiB'
rows 200000 | pack middle.gz # 3 MB
cat >middle.yaml <<'Y'
schema: 2
name: middle
horizon: 10 s
cluster: {nodes: [{name: n, count: 1, cpus: 8, gpus: {h100: 1}}]}
jobs: [{name: team, format: table, trace: middle.gz, columns: tiresias, count: 3}]
Y
expect 0 "$WEIR_BIN" validate middle.yaml
expect 2 "$WEIR_BIN" validate middle.yaml --limit unpacked=1
has stderr 'unpacks to more than 1 MiB'
expect 2 "$WEIR_BIN" run middle.yaml --no-db --limit unpacked=1
has stderr 'unpacks to more than 1 MiB'
expect 3 "$WEIR_BIN" fit middle.gz --columns stage=job_id,start=submit_time,end=duration --limit unpacked=1
has stderr 'unpacks to more than 1 MiB'
for wrong in unpakced=3:'did you mean' unpacked=0:'with N from 1' unpacked:'with N from 1' unpacked=1x:'with N from 1'; do
    expect 2 "$WEIR_BIN" validate middle.yaml --limit "${wrong%%:*}"
    has stderr "${wrong#*:}"
done

# The text of a scenario.
{ cat middle.yaml; head -c 9000000 /dev/zero | tr '\0' '#' | fold -w 100; } >long.yaml
expect 3 "$WEIR_BIN" validate long.yaml
has stderr 'larger than 8 MiB (--limit scenario=MIB)'
expect 0 "$WEIR_BIN" validate long.yaml --limit scenario=12
rm -f middle.* long.yaml

expect 0 "$WEIR_BIN" trace info small.gz --map tiresias
matches stdout '^jobs +100000 '
