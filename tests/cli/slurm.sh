#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# weir compare --engine slurm against real daemons (munged, slurmctld, slurmd of Debian) on loopback: the
# parts and their merge make the database of one program; a task that is told that its time is up keeps
# what it has and goes on when it is requeued; a part that is lost is named, and made alone.
# Only with WEIR_SLURM=1 (./dev test --slurm), as root.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
[ -n "${WEIR_SLURM:-}" ] || skip 'needs daemons of Slurm: ./dev test --slurm'
for program in munged slurmctld slurmd sbatch python3; do
    command -v "$program" >/dev/null || [ -x "/usr/sbin/$program" ] || skip "no $program: packages slurm-wlm, munge"
done
[ "$(id -u)" -eq 0 ] || skip 'slurmd wants to be root'
unset WEIR_CHECK_INVARIANTS
PATH=$PATH:/usr/sbin

here=$PWD
host=$(hostname -s)
export SLURM_CONF=$here/slurm.conf
pids=()
end() { # the daemons that were started here, by their ids
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
}
trap end EXIT
mkdir -p spool state
chmod 755 .
head -c 1024 /dev/urandom >munge.key
chmod 600 munge.key
munged --foreground --force --key-file="$here/munge.key" --socket="$here/munge.socket" --pid-file="$here/munged.pid" \
    --log-file="$here/munged.log" --seed-file="$here/munge.seed" >munged.out 2>&1 &
pids+=($!)
cat >slurm.conf <<C
ClusterName=loop
SlurmctldHost=$host(127.0.0.1)
AuthInfo=socket=$here/munge.socket
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd.pid
SlurmctldLogFile=$here/slurmctld.log
SlurmdLogFile=$here/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SchedulerParameters=sched_interval=1,bf_interval=1
JobRequeue=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
C
slurmctld -D -f "$SLURM_CONF" >slurmctld.out 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" -N "$host" >slurmd.out 2>&1 &
pids+=($!)
for _ in $(seq 120); do
    [ "$(timeout 10 sinfo -h -o %T 2>/dev/null)" = idle ] && break
    sleep 0.5
done
[ "$(timeout 10 sinfo -h -o %T)" = idle ] || {
    tail -n 15 munged.out slurmctld.log slurmd.log
    skip 'the daemons of Slurm do not come up here'
}

wait_for_queue() {
    for _ in $(seq 600); do
        [ -z "$(timeout 10 squeue -h)" ] && return 0
        sleep 0.5
    done
    squeue
    fail 'jobs of Slurm do not end'
}
dump() {
    python3 - "$1" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for name, in db.execute("select name from sqlite_master where type = 'table' order by name").fetchall():
    if name.endswith('_wall') or name.startswith('sqlite_') or name == 'expectation': continue
    columns = [c[1] for c in db.execute(f'pragma table_info("{name}")') if c[1] != 'command_line']
    for row in db.execute(f'select {", ".join(columns)} from "{name}"'): print(name, row)
PY
}

two_variants 300 >small.yaml
axis=(--axis cluster.nodes.n.count=1..3)
expect 0 "$WEIR_BIN" compare small.yaml -q "${axis[@]}" -o whole.db
expect 0 "$WEIR_BIN" compare small.yaml -q "${axis[@]}" -o all.db --engine slurm --parts 3
matches stdout '^job [0-9]+: 3 parts; job [0-9]+ then puts them together: all.db'
wait_for_queue
dump whole.db >whole
dump all.db >all
same whole all

# A part that is lost is named, and its runs are made alone.
rm all.db all.db.slurm/part2.db
expect 0 sbatch --parsable --output=merge2.log all.db.slurm/merge.sh
wait_for_queue
has merge2.log 'all.db: '
has merge2.log 'go on with: '
expect 0 sbatch --parsable --array=2 --output=again.log all.db.slurm/array.sh
wait_for_queue
expect 0 sbatch --parsable --output=merge3.log all.db.slurm/merge.sh
wait_for_queue
dump all.db >all
same whole all

# Told that its time is up, a task keeps what is finished, is requeued and goes on.
two_variants 60000 >large.yaml
expect 0 "$WEIR_BIN" compare large.yaml -q "${axis[@]}" -o large_whole.db
expect 0 "$WEIR_BIN" compare large.yaml -q "${axis[@]}" -j 1 -o late.db --engine slurm --parts 1
job=$(sed -n 's/^job \([0-9]*\):.*/\1/p' stdout)
for _ in $(seq 200); do
    [ "$(squeue -h -j "${job}_1" -o %T)" = RUNNING ] && break
    sleep 0.1
done
sleep 1
scancel --signal=USR1 --batch "${job}_1"
for _ in $(seq 100); do
    [ -e late.db.slurm/part1.db ] && break
    sleep 0.1
done
[ -e late.db.slurm/part1.db ] || fail 'what was finished was not kept'
scontrol release "${job}_1" 2>/dev/null || true
scontrol update jobid="${job}_1" StartTime=now 2>/dev/null || true
wait_for_queue
dump large_whole.db >whole
dump late.db >all
same whole all
[ "$(grep -c 'interrupted' late.db.slurm/part1.log)" -ge 1 ] || fail 'the task was not interrupted'

expect 2 "$WEIR_BIN" compare small.yaml -q --engine slurm
has stderr 'say where to: -o DB'
expect 2 "$WEIR_BIN" compare small.yaml -q --engine moon -o moon.db
has stderr 'expected here or slurm'
