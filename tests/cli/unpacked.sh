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

expect 0 "$WEIR_BIN" trace info small.gz --map tiresias
matches stdout '^jobs +100000 '
