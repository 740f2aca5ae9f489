#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever ends a program, and when: a replication that was finished is never computed again, what
# --resume makes is what an undisturbed program makes, and every file can be read. WEIR_KILLS=1000
# (./dev test --kills) for many moments.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3 program'
export WEIR_CHECK_INVARIANTS=0 # its checks after every event take longer than all the rest

two_variants 2500 >small.yaml

cat >kills.py <<'PY'
import glob, os, random, shutil, signal, sqlite3, subprocess, sys, time

weir, kills, seed = os.environ["WEIR_BIN"], int(sys.argv[1]), int(sys.argv[2])
print(f"{kills} kills, seed {seed}: repeat with  WEIR_KILLS={kills} WEIR_KILL_SEED={seed}")
draw = random.Random(seed)
finished_sql = "status IN ('complete', 'horizon', 'ended early')"
commands = [["run", "small.yaml", "-n", "1"], ["run", "small.yaml", "-n", "7", "-j", "2"],
            ["run", "small.yaml", "-n", "6", "-j", "4"],
            ["compare", "small.yaml", "-n", "3", "-j", "3"]]
counts = dict(kills=0, finished=0, again=0, unreadable=0, differing=0, double_writers=0,
              at_once=0, double_resumes=0)

def start(command, output, *more):
    return subprocess.Popen([weir, *command, "-o", output, "-q", *more], start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

def wait_for_all(process):
    """The children end with their parent; no file changes after that."""
    process.communicate()
    for _ in range(2000):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.005)
    sys.exit("processes outlive their parent")

def connect(path):
    return sqlite3.connect(path, timeout=10)

def read_finished(folder):
    """Wall time of each finished run, of copies: another program may look or not."""
    walls = {}
    for path in sorted(glob.glob(folder + "/x.db")) + sorted(glob.glob(folder + "/x.db.part*")):
        if not path.rsplit(".", 1)[-1].removeprefix("part").isdigit() and not path.endswith("x.db"):
            continue
        db = connect(path)
        if db.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError(path)
        if path.endswith("x.db") and db.execute("SELECT count(*) FROM experiment").fetchone() != (1,):
            raise sqlite3.DatabaseError(path + " has no experiment")
        for run, wall in db.execute("SELECT run_id, wall_s || ' ' || cpu_s FROM run JOIN run_wall "
                                    "USING (run_id) WHERE " + finished_sql):
            walls[run] = wall
        db.close()
    return walls

def look():
    shutil.rmtree("copy", ignore_errors=True)
    os.mkdir("copy")
    for path in glob.glob("x.db*"):
        shutil.copy(path, "copy")
    try:
        return read_finished("copy")
    except sqlite3.DatabaseError as error:
        print("unreadable:", error)
        counts["unreadable"] += 1
        return {}

def dump(path):
    db = connect(path)
    tables = [name for name, in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%_wall' AND name "
        "NOT LIKE 'sqlite_%' ORDER BY name")]
    rows = {}
    for table in tables:
        columns = "scenario_digest, baseline" if table == "experiment" else "*"
        order = "key" if table == "meta" else "rowid"
        rows[table] = db.execute(f"SELECT {columns} FROM {table} ORDER BY {order}").fetchall()
    db.close()
    return rows

def fail(sentence):
    counts["sentence"] = sentence
    sys.exit(f"{sentence}: {counts}")

def one_experiment(command, window_s, whole):
    for path in glob.glob("x.db*"):
        os.unlink(path)
    seen, killed = {}, None
    for attempt in range(draw.choice([1, 1, 2, 4])):
        process = start(command, "x.db", *(["--resume"] if attempt else []))
        time.sleep(draw.uniform(0, window_s))
        process.kill()
        counts["kills"] += 1
        if draw.random() < 0.2: # who goes on at once need not wait until nothing is left of the dead
            killed = process
            counts["at_once"] += 1
            break
        wait_for_all(process)
        now = look()
        counts["finished"] += len(now.keys() - seen.keys())
        counts["again"] += sum(1 for run in seen if now.get(run) != seen[run])
        seen = now
    process = start(command, "x.db", "--resume")
    said = process.communicate()[1]
    if process.returncode != 0:
        fail(f"resume ends with {process.returncode}: {said}")
    if killed:
        wait_for_all(killed)
    now = look()
    counts["again"] += sum(1 for run in seen if now.get(run) != seen[run])
    counts["differing"] += dump("x.db") != whole
    if glob.glob("x.db*") != ["x.db"]:
        fail(f"files are left: {glob.glob('x.db*')}")

def two_writers(command, whole):
    for path in glob.glob("x.db*"):
        os.unlink(path)
    writers = [start(command, "x.db"), start(command, "./x.db")]
    counts["double_writers"] += 1
    said = [writer.communicate()[1] for writer in writers]
    codes = sorted(writer.returncode for writer in writers)
    # Refused while the other writes, or because it has finished meanwhile.
    if codes != [0, 3] or not any("is writing it (weir " in s or "holds finished" in s for s in said):
        fail(f"two writers end with {codes}: {said}")
    if dump("x.db") != whole:
        fail("two writers make another file")

def two_resumes(command, window_s, whole):
    """Of a program that was killed: the one goes on, the other is refused or finds all done."""
    for path in glob.glob("x.db*"):
        os.unlink(path)
    process = start(command, "x.db")
    time.sleep(draw.uniform(0, window_s))
    process.kill()
    counts["kills"] += 1
    counts["double_resumes"] += 1
    both = [start(command, "x.db", "--resume") for _ in range(2)]
    said = [one.communicate()[1] for one in both]
    codes = sorted(one.returncode for one in both)
    if codes != [0, 0] and (codes != [0, 3] or not any("is writing it (weir " in s for s in said)):
        fail(f"two resumes end with {codes}: {said}")
    wait_for_all(process)
    counts["differing"] += dump("x.db") != whole
    if glob.glob("x.db*") != ["x.db"]:
        fail(f"files are left: {glob.glob('x.db*')}")

wholes, windows = [], []
for index, command in enumerate(commands):
    before = time.monotonic()
    if start(command, f"whole{index}.db").wait() != 0:
        fail("an undisturbed program fails")
    windows.append(1.2 * (time.monotonic() - before))
    wholes.append(dump(f"whole{index}.db"))
turn = 0
while counts["kills"] < kills:
    index = turn % len(commands)
    one_experiment(commands[index], windows[index], wholes[index])
    if turn % 4 == 3:
        two_writers(commands[index], wholes[index])
        two_resumes(commands[turn // 4 % 4], windows[turn // 4 % 4], wholes[turn // 4 % 4])
    turn += 1
print(counts)
if counts["again"] or counts["unreadable"] or counts["differing"]:
    sys.exit("something was lost")
if counts["finished"] < kills / 3:
    sys.exit("too few runs were finished when their program was killed")
PY
python3 kills.py "${WEIR_KILLS:-30}" "${WEIR_KILL_SEED:-$RANDOM}" || fail 'kills'

# Every signal that ends a program ends it in good order: what is finished is kept, and it says how
# to go on, also when it alone is told. A second program that goes on at once finds all of it.
long=(run small.yaml -n 12 -j 2 -q --set pipelines.p.input.items=30000)
stop() { # SIGNAL: after the first runs are finished; its exit code
    rm -f x.db*
    "$WEIR_BIN" "${long[@]}" -o x.db >stdout 2>stderr &
    pid=$!
    until [ "$(sqlite3 -readonly x.db "SELECT count(*) > 0 FROM run WHERE status = 'complete'" 2>/dev/null)" = 1 ] ||
        ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
    kill -"$1" "$pid" 2>/dev/null || true
    status=0
    wait "$pid" || status=$?
}
for signal in HUP INT TERM QUIT PIPE; do
    for _ in {1..12}; do # a busy machine may let it finish first
        stop "$signal"
        [ "$status" -eq 0 ] || break
    done
    [ "$status" -eq 130 ] || fail "SIG$signal: exit code $status, $(cat stderr)"
    has stderr 'weir: interrupted; what was finished is kept in x.db'
    has stderr 'run small.yaml -n 12 -j 2 -q --set pipelines.p.input.items=30000 -o x.db --resume'
    if compgen -G 'x.db?*' >/dev/null; then fail "SIG$signal: files are left"; fi
done
expect 0 "$WEIR_BIN" "${long[@]}" -o x.db --resume
[ "$(sqlite3 -readonly x.db "SELECT count(*) FROM run WHERE status = 'complete'")" = 12 ] ||
    fail 'not complete after all'

# Who starts it may ignore the end of its processes, and it inherits that.
timeout -k 1 60 python3 -c "import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv('$WEIR_BIN', ['weir', 'run', 'small.yaml', '-n', '3', '-j', '2', '-o', 'ignored.db', '-q'])" ||
    fail "processes that nobody hears of: exit code $?"

# What was killed before anything was finished is not compared, and says so.
rm -f x.db*
"$WEIR_BIN" run small.yaml -n 2 -o x.db --quiet --set pipelines.p.input.items=50000000 >/dev/null 2>&1 &
pid=$!
until [ "$(sqlite3 -readonly x.db 'SELECT count(*) FROM run' 2>/dev/null)" = 2 ]; do sleep 0.01; done
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
"$WEIR_BIN" compare x.db >/dev/null 2>said && fail 'runs that were killed are compared'
has said 'is running'
# Nothing is lost with it, so nobody has to say --force.
expect 0 "$WEIR_BIN" run small.yaml -n 2 -o x.db --quiet

# Who alone is told to end tells its processes: runs of hours end, too.
"$WEIR_BIN" run small.yaml -n 2 -j 2 -o told.db --quiet --set pipelines.p.input.items=50000000 >stdout 2>stderr &
pid=$!
until [ "$(pgrep -cP "$pid")" = 2 ]; do sleep 0.01; done
kill -TERM "$pid"
timeout 60 tail --pid="$pid" -f /dev/null || { kill -9 "$pid" && fail 'its processes were not told to end'; }
status=0
wait "$pid" || status=$?
[ "$status" -eq 130 ] || fail "told to end, it gives exit code $status"

# A run whose process is killed, as a system without memory does: a code and a sentence of its own.
"$WEIR_BIN" run small.yaml -n 2 -j 2 -o killed.db --quiet --set pipelines.p.input.items=50000000 >stdout 2>stderr &
pid=$!
until [ "$(pgrep -cP "$pid")" = 2 ]; do sleep 0.01; done
for child in $(pgrep -P "$pid"); do kill -KILL "$child"; done
status=0
wait "$pid" || status=$?
[ "$status" -eq 6 ] || fail "a killed run gives exit code $status"
has stderr 'killed by signal 9 (Killed), as a system does that has no memory left'

# A limit on the size of files stands for a full disk, as far as SQLite tells the two apart.
for runs in 1 3; do
    status=0
    (
        trap '' XFSZ
        ulimit -f 150
        "$WEIR_BIN" run small.yaml -n "$runs" -o full.db --quiet >stdout 2>stderr
    ) || status=$?
    [ "$status" -eq 6 ] || [ "$status" -eq 3 ] || fail "a full disk gives exit code $status"
    has stderr 'full.db'
    rm -f full.db*
done
