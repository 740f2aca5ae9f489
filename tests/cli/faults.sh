#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The n-th allocation, or the n-th call that writes a file, fails: a command then ends with a sentence
# and a code that is documented, or it finds what it finds undisturbed. It never crashes, and what it
# leaves can be read. WEIR_FAULTS=all (./dev test --faults) for every n, else some of them.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# What cannot be printed is an error, of every command.
scenario=$WEIR_SOURCE_DIR/scenarios/examples/video_pipeline.yaml
for words in "show $scenario" "validate $scenario" "schema" "trace formats" "run $scenario --no-db" \
    "--help" "--version" "run --help" "upgrade" "doctor"; do
    status=0
    # shellcheck disable=SC2086
    "$WEIR_BIN" $words >/dev/full 2>stderr || status=$?
    [ "$status" -eq 3 ] || fail "$words: a full standard output gives exit code $status"
    has stderr 'weir: cannot write all of the output'
done

command -v python3 >/dev/null || skip 'no python3 program'
shim=${WEIR_BIN%/*}/tests/fail_shim.so
[ -e "$shim" ] || skip 'no library that lets calls fail (a sanitizer?)'
export WEIR_CHECK_INVARIANTS=0

{ two_variants 200; printf 'expect:\n  - {metric: thr.pipeline, op: gt, value: 0}\n'; } >small.yaml
cp "$WEIR_SOURCE_DIR"/scenarios/examples/jobs_table.* .
expect 0 "$WEIR_BIN" run small.yaml -n 3 -o whole.db -q
expect 0 "$WEIR_BIN" compare small.yaml -n 2 -o two.db -q
expect 0 "$WEIR_BIN" run jobs_table.yaml -n 1 -o jobs.db -q
expect 0 "$WEIR_BIN" explain whole.db --at 0s --decide
cp stdout state.json
cp whole.db part.db
sqlite3 part.db "DELETE FROM run WHERE run_id = 2"

# A disk that is full, from some call on: the code says so, what was finished is kept.
for n in 5 60 130; do
    for runs in 1 3; do
        rm -f full.db*
        expect 6 env LD_PRELOAD="$shim" WEIR_FAIL="write:$n:on:enospc" "$WEIR_BIN" run small.yaml -n "$runs" -o full.db -q
        has stderr 'weir: out of memory or disk: full.db'
    done
done
expect 0 "$WEIR_BIN" run small.yaml -n 3 -o full.db -q --resume
# No memory: the same code.
expect 6 env LD_PRELOAD="$shim" WEIR_FAIL=alloc:300:once "$WEIR_BIN" run small.yaml -o none.db -q
has stderr 'weir: out of memory: '

cat >faults.py <<'PY'
import concurrent.futures, os, random, re, shutil, sqlite3, subprocess, sys, tempfile

weir, shim = os.environ["WEIR_BIN"], sys.argv[1]
each, seed = sys.argv[2], int(sys.argv[3])
only = sys.argv[4:]
draw = random.Random(seed)
print(f"seed {seed}: repeat with  WEIR_FAULTS={each} WEIR_FAULT_SEED={seed}")
commands = { # words, what it makes (a database, or text)
    "run": ("run small.yaml -n 1 -o x.db --format json", "x.db"),
    "run 2": ("run small.yaml -n 2 -j 1 -o x.db --format json", "x.db"),
    "jobs": ("run jobs_table.yaml -n 1 -o x.db --format json", "x.db"),
    "compare": ("compare small.yaml -n 2 -j 1 -o x.db --format json", "x.db"),
    "compare file": ("compare two.db --format json", ""),
    "resume": ("run small.yaml -n 3 -j 1 -o part.db --resume --format json", "part.db"),
    "report": ("report two.db -o x.html", "x.html"),
    "explain": ("explain whole.db --at 0s --decide", ""),
    "explain job": ("explain jobs.db --pending --at 60s", ""),
    "show": ("show small.yaml --format json", ""),
    "validate": ("validate small.yaml", ""),
    "decide": ("decide state.json", ""),
    "rerun": ("rerun whole.db -o x.db --format json", "x.db"),
    "trace": ("trace convert jobs_table.csv --map jobs_table.json -o x.swf", "x.swf"),
}
if only:
    commands = {name: commands[name] for name in only}
# Lines that the wall clock writes.
wall = re.compile(r'.*("wall_s"|"cpu_s"|rss|wall|cpu_ms|events_per|_ms|generated|bound\.).*|.*[0-9] (ms|MiB|M events).*')

def dump(path):
    db = sqlite3.connect(path)
    if db.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        raise sqlite3.DatabaseError("broken")
    tables = [name for name, in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%_wall' AND name "
        "NOT LIKE 'sqlite_%' ORDER BY name")]
    rows = {t: sorted(map(repr, db.execute(f"SELECT * FROM {t}"))) for t in tables}
    db.close()
    return rows

def plain(text):
    return "\n".join(line for line in text.splitlines() if not wall.fullmatch(line))

def once(name, plan):
    words, made = commands[name]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for file in os.listdir("."):
            if os.path.isfile(file) and not file.startswith(("std", "faults")):
                shutil.copy(file, folder)
        environment = {**os.environ, "LD_PRELOAD": shim, "WEIR_FAIL": plan, "WEIR_FAIL_COUNT": "calls"}
        try:
            ran = subprocess.run([weir, *words.split()], cwd=folder, env=environment, text=True,
                                 capture_output=True, errors="replace", timeout=60)
        except subprocess.TimeoutExpired:
            return dict(code=-99, out="", err="it hangs", made=None, calls=0)
        path = os.path.join(folder, made)
        found = None
        if made.endswith(".db") and os.path.exists(path):
            try:
                found = dump(path)
            except sqlite3.DatabaseError as error:
                found = f"unreadable: {error}"
        elif made and os.path.exists(path):
            with open(path, errors="replace") as file:
                found = plain(file.read())
        calls = os.path.join(folder, "calls")
        count = int(open(calls).read()) if os.path.exists(calls) else 0
    return dict(code=ran.returncode, out=plain(ran.stdout), err=ran.stderr, made=found, calls=count)

def verdict(good, seen, made):
    """None, or what is wrong."""
    if seen["code"] < 0:
        return f"dies of signal {-seen['code']}"
    if isinstance(seen["made"], str) and seen["made"].startswith("unreadable"):
        return "leaves a file that is " + seen["made"]
    if seen["code"] == good["code"]:
        if seen["out"] != good["out"]:
            return "says something else, and no error"
        return None if seen["made"] == good["made"] else "makes another file, and no error"
    if seen["code"] not in (2, 3, 4, 6):
        return f"exit code {seen['code']}"
    return None if len(seen["err"].strip()) > 12 else "no sentence"

bad, tried = {}, 0
samples = {"alloc": 9, "write": 6}
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for name in commands:
        for kind, hows in (("alloc", ["once", "on"]),
                           ("write", ["once:eio", "on:enospc", "once:short", "once:eintr", "on:eio"])):
            good = once(name, f"{kind}:0:once")
            if good["calls"] == 0 and kind == "alloc":
                sys.exit(f"{name}: the library counts nothing: {good}")
            every = range(1, good["calls"] + 1)
            if each == "all":
                plans = [f"{kind}:{n}:{how}" for n in every for how in hows]
            else:
                some = min(int(float(each) * samples[kind]), len(every))
                plans = [f"{kind}:{n}:{draw.choice(hows)}" for n in draw.sample(every, some)]
            for plan, seen in zip(plans, pool.map(lambda plan: once(name, plan), plans)):
                tried += 1
                wrong = verdict(good, seen, commands[name][1])
                if wrong:
                    bad.setdefault((name, wrong), []).append((plan, seen["err"].strip()[-200:]))
for (name, wrong), plans in bad.items():
    print(f"{name}: {wrong}: {len(plans)} times, WEIR_FAIL={plans[0][0]}: {plans[0][1]}")
    if each != "1": print("   ", *[plan for plan, _ in plans[:12]])
print(f"{tried} faults, {sum(map(len, bad.values()))} wrong")
sys.exit(1 if bad else 0)
PY
python3 faults.py "$shim" "${WEIR_FAULTS:-1}" "${WEIR_FAULT_SEED:-$RANDOM}" ${WEIR_FAULT_ONLY:+"$WEIR_FAULT_ONLY"} || fail 'faults'
