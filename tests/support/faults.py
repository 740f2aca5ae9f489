# SPDX-License-Identifier: GPL-3.0-or-later
"""The n-th call of a command fails, for n = 1, 2, ...: see tests/cli/faults.sh, which makes the inputs.

faults.py SHIM HOW SEED [COMMAND...], with HOW
    every   every n in every way: days
    all     every n for files, and for memory the first call from each place: a stack of callers,
            tried with the first of the commands that comes by
    places  the first call from each place, for every command anew
    /N      about N of all calls of each kind, evenly spread
    N       N times the samples below
WEIR_FAULT_KINDS=write,read leaves memory out; with N all kinds are tried with a few commands alone.
WEIR_FAULT_HOW=once leaves out what goes on. A command is right when it finds what it finds
undisturbed, or ends with a code of its own and a sentence; a database that it leaves can be read.
Undisturbed it has to find the same twice, or nothing could be compared.
"""
import concurrent.futures
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

weir, plugins = os.environ["WEIR_BIN"], os.environ.get("WEIR_PLUGINS", "")
shim, each, seed, only = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
COMMANDS = {  # words, a file for standard input behind <, and what it makes
    "run": ("run small.yaml -n 1 -o x.db --format json", ["x.db"]),
    "run 2": ("run small.yaml -n 2 -j 1 -o x.db --format json", ["x.db"]),
    "run --no-db": ("run small.yaml -n 1 --no-db --format json", []),
    "run --spans": ("run small.yaml -n 1 --no-db -q --spans x.csv", ["x.csv"]),
    "run --spans gz": ("run small.yaml -n 1 --no-db -q --spans x.json.gz", ["x.json.gz"]),
    "jobs": ("run jobs_table.yaml -n 1 -o x.db --format json", ["x.db"]),
    "compare": ("compare small.yaml -n 2 -j 1 -o x.db --format json", ["x.db"]),
    "compare file": ("compare two.db --format json", []),
    "compare csv": ("compare two.db --format csv", []),
    "compare axes": ("compare small.yaml -n 1 -j 1 --axis pipelines.p.input.items=20,30 --fail-if "
                     "throughput<-90% -o x.db --format json", ["x.db"]),
    "compare windows": ("compare two.db --from 1s --to 9s --format json", []),
    "compare shard": ("compare small.yaml -n 2 -j 1 -q --shard 1/2 -o x.db", ["x.db"]),
    "resume": ("run small.yaml -n 3 -j 1 -o part.db --resume --format json", ["part.db"]),
    "run fill": ("run fill.yaml -o x.db --format json", ["x.db"]),
    "merge": ("merge half1.db half2.db -o x.db", ["x.db"]),
    "search": ("search small.yaml -n 1 -j 1 --such-that throughput>0 --smallest cluster.nodes.n.count=1..2 "
               "-o x.db", ["x.db"]),
    "rerun": ("rerun whole.db -o x.db --format json", ["x.db"]),
    "report": ("report two.db -o x.html", ["x.html"]),
    "report incident": ("report two.db --as incident --from 1s --to 9s -o x.html", ["x.html"]),
    "report claims": ("report two.db --format json", []),
    "plot": ("plot two.db throughput -o x.svg --folder f", ["x.svg", "f/throughput.dat", "f/throughput.gp"]),
    "plot list": ("plot two.db", []),
    "explain decide": ("explain whole.db --at 0s --decide", []),
    "explain stage": ("explain whole.db --stage b", []),
    "explain worker": ("explain whole.db --worker 1 --format json", []),
    "explain job": ("explain jobs.db --pending --at 60s", []),
    "explain with": ("explain whole.db --at 0s --with best_fit --format json", []),
    "explain window": ("explain whole.db --from 1s --to 9s", []),
    "explain what-if": ("explain whole.db --what-if --from 1s --to 9s", []),
    "compare two": ("compare whole.db other.db --force --format json", []),
    "compare two -o": ("compare whole.db other.db --force -o x.db", ["x.db"]),
    "run module": (f"run small.yaml -n 1 --no-db --plugin {plugins}/template.so --set "
                   "sched.scaling=template_queue_chaser --format json", []),
    "diff": ("diff whole.db other.db", []),
    "snapshot": ("snapshot whole.db --at 3s", []),
    "snapshot json": ("snapshot whole.db --at 3s --format json", []),
    "show": ("show small.yaml --format json", []),
    "validate": ("validate small.yaml", []),
    "validate resolved": ("validate --resolved jobs_table.yaml", []),
    "validate wrong": ("validate wrong.yaml --format json", []),
    "check": ("check small.yaml whole.db", []),
    "check module": (f"check {plugins}/requested.so", []),
    "decide": ("decide state.json", []),
    "trace convert": ("trace convert jobs_table.csv --map jobs_table.json -o x.swf", ["x.swf"]),
    "trace gz": ("trace convert jobs_table.csv --map jobs_table.json -o x.csv.gz", ["x.csv.gz"]),
    "trace info": ("trace info jobs_table.csv --map jobs_table.json --plot x.svg", ["x.svg"]),
    "trace formats": ("trace formats", []),
    "trace map": ("trace map slurm", []),
    "import": ("import spans.csv -o x.yaml --plots p --input arrivals",
               ["x.yaml", "x.arrivals.csv", "p/qq-04-b.dat"]),
    "import into": ("import spans.csv --into guess.yaml -o x.yaml --format json", ["x.yaml"]),
    "policies": ("policies fgd --format json", []),
    "policies new": ("policies new mine", ["mine.c"]),
    "doctor": ("doctor", []),
    "schema": ("schema", []),
    "schema json": ("schema --format json", []),
    "completion": ("completion bash", []),
    "upgrade": ("upgrade --write small.yaml", ["small.yaml"]),
    "help": ("run --help", []),
    "help word": ("help fgd", []),
    "help key": ("help cluster.nodes.count", []),
    "list policies": ("list policies --format json", []),
    "list keys": ("list keys", []),
    "list metrics": ("list metrics --format csv", []),
    "list traces": ("list traces", []),
    "new pipeline": ("new pipeline n", ["n.yaml"]),
    "new incident": ("new incident n.yaml", ["n.yaml"]),
    "new module": ("new policy n --kind queueing", ["n.c"]),
    "new program": ("new policy n.py --kind placement", ["n.py"]),
    "check machine": ("check", []),
    "check write": ("check --write small.yaml", ["small.yaml"]),
    "show trace": ("show jobs_table.csv --map jobs_table.json --groups 3 --scenario plan.yaml "
                   "--plot x.svg", ["x.svg"]),
    "show results": ("show jobs.db --format md", []),
    "export csv": ("export two.db --to csv --view v_stage -o x.csv.gz", ["x.csv.gz"]),
    "export csv out": ("export two.db --to csv --view v_result", []),
    "export perfetto": ("export whole.db --to perfetto -o x.json", ["x.json"]),
    "export openmetrics": ("export whole.db --to openmetrics -o x.om", ["x.om"]),
    "export state": ("export whole.db --to state --at 3s -o x.yaml", ["x.yaml"]),
    "export decision": ("export whole.db --to decision --at 0s -o x.json", ["x.json"]),
    "report review": ("report sizes.db --as review --notes notes.md -o x.html", ["x.html"]),
    "report review md": ("report sizes.db --as review --format md", []),
    "report observed": ("report whole.db --observed observed.csv -o x.html", ["x.html"]),
    "plot observed": ("plot whole.db throughput --observed observed.csv -o x.svg", ["x.svg"]),
    "compare observed": ("compare two.db --observed observed.csv --format json", []),
    "compare pool": ("compare suite.db --pool --metric wait.job.mean --format latex", []),
    "compare suite": ("compare plan.suite -q -j 1 -o x.db --format json", ["x.db"]),
    "compare vary": ("compare plan.yaml -n 1 -j 1 -q --vary jobs.work.arrivals.rate=+-10% -o x.db",
                     ["x.db"]),
    "compare scenarios": ("compare small.yaml plan.yaml --force --format json", []),
    "search tune": ("search plan.yaml -n 1 -j 1 -q --tune multifactor,gittins --budget 3 -o x.db", ["x.db"]),
    "search front": ("search plan.yaml -n 1 -j 1 -q --front --axis cluster.nodes.n.count=2,3 -o x.db",
                     ["x.db"]),
    "search best": ("search plan.yaml -n 3 -j 1 -q --best --axis cluster.nodes.n.count=2,3 -o x.db", ["x.db"]),
    "run module db": (f"run small.yaml -n 1 -q --plugin {plugins}/template.so --set "
                      "sched.scaling=template_queue_chaser -o x.db", ["x.db"]),
    "run program": ("run asked.yaml -n 1 -q -o x.db", ["x.db"]),
    "decide serve": ("decide --serve <lines.jsonl", []),
    "decide two": ("decide --compact state.json state.json", []),
    "compare slurm": ("compare small.yaml -n 2 -q --engine slurm --parts 2 -o x.db",
                      ["x.db.slurm/array.sh", "x.db.slurm/merge.sh"]),
    "explain waits": ("explain jobs.db --at 60s --pending --format json", []),
}
WAYS = {  # of each kind: samples of the quick test, and how a call fails
    "alloc": (2, ["once", "on"]),
    "write": (3, ["once:eio", "on:enospc", "once:short", "once:eintr", "on:eio", "once:kill"]),
    "read": (2, ["once:eio", "once:short", "once:eintr", "on:eio"]),
    "open": (1, ["once:emfile", "once:eacces", "on:emfile", "once:eintr"]),
    "close": (1, ["once:eio", "on:eio", "once:enospc"]),
    "map": (1, ["once:enomem", "on:enomem"]),
    "look": (1, ["once:eio", "on:eio"]),
    "start": (1, ["once:eagain", "on:emfile"]),
    "wait": (1, ["once:eintr"]),
}
RESUMED = ("run", "run 2", "jobs", "compare", "resume", "run fill", "search", "run program", "compare suite",
           "compare vary", "search tune", "search front", "search best")
IS_SPREAD, SINGLE = each.startswith("/"), os.environ.get("WEIR_FAULT_HOW", "")
IS_LISTED = IS_SPREAD or each in ("every", "all", "places")
USUAL, OF_ALL_KINDS = ("alloc", "write", "read"), ("check", "run module")
# Lines that the wall clock or the machine writes.
WALL = re.compile(r'.*("wall_s"|"cpu_s"|rss|wall|cpu_ms|events_per|_ms|generated|bound\.|p99).*'
                  r'|.*[0-9] (ms|MiB|M events|GiB).*')

# What may be said of a full disk with another code than 6: standard output has one of its own, and
# SQLite does not tell why it cannot make its log, or end it.
NO_ROOM = re.compile("cannot write all of the output|readonly database|unable to open database file"
                     "|cannot end the log: disk I/O error")
# A page of help ends the program at once.
KEEPS = re.compile("--help|^help ")


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


def plain(text, folder):
    text = text.replace(os.path.abspath(folder) + "/", "").replace(os.path.abspath(folder), ".")
    return "\n".join(line for line in text.splitlines() if not WALL.fullmatch(line))


def difference(good, again):
    """The first lines of two outcomes that are not the same."""
    for key in ("code", "out", "made"):
        for one, two in zip(*(str(seen[key]).replace("\\n", "\n").split("\n") for seen in (good, again))):
            if one != two:
                return f"{key}: {one[:200]!r}, then {two[:200]!r}"
    return f"{good['code']}, {good['err'][:200]!r}, made {[file is not None for file in good['made']]}"


def content(folder, name):
    """What is compared of a file; the reason when a database cannot be read."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return None
    if path.endswith(".db"):
        try:
            return dump(path)
        except sqlite3.DatabaseError as error:
            return f"unreadable: {error}"
    if path.endswith(".gz"):
        unpacked = subprocess.run(["gzip", "-dc", path], capture_output=True)
        return unpacked.stdout if unpacked.returncode == 0 else "damaged"
    with open(path, errors="replace") as file:
        return plain(file.read(), folder)


def ran_as(name, folder, before=(), more=(), **how):
    """A command of the table in that folder."""
    words, _, given = COMMANDS[name][0].partition(" <")
    with open(given or os.devnull, "rb") as given:
        return subprocess.run([*before, weir, *words.split(), *more], cwd=folder, stdin=given, timeout=60, **how)


def go_on(name, folder):
    """What a program that was killed leaves to --resume: the code, and the files."""
    words, made = COMMANDS[name]
    ran = ran_as(name, folder, more=["--resume"] * ("--resume" not in words), capture_output=True)
    left = [file for file in os.listdir(folder) if file.startswith(made[0] + ".")]
    return ran.returncode, [content(folder, file) for file in made], left


def once(name, plan, library=None):
    made = COMMANDS[name][1]
    before = [content(".", file) for file in made]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for file in os.listdir("."):
            if os.path.isfile(file) and not file.startswith("std"):
                (shutil.copy if file in made else os.link)(file, os.path.join(folder, file))
        environment = {**os.environ, "LD_PRELOAD": library or shim, "WEIR_FAIL": plan, "WEIR_FAIL_COUNT": "calls",
                       "WEIR_LEFT": "left", "TMPDIR": os.path.abspath(folder)} # what ends at once leaves files there
        try:
            ran = ran_as(name, folder, FIXED, env=environment, text=True, capture_output=True, errors="replace")
        except subprocess.TimeoutExpired:
            return dict(code=-99, out="", err="it hangs", made=[])
        found = [content(folder, file) for file in made]
        resumed = go_on(name, folder) if ran.returncode == -9 and name in RESUMED else None
        calls = os.path.join(folder, "calls")
        left = os.path.join(folder, "left")
        left = open(left).read().splitlines() if os.path.exists(left) else []
        counted = [line.split() for line in open(calls)] if os.path.exists(calls) else [["0"]]
        out = plain(ran.stdout, folder)
    return dict(code=ran.returncode, out=out, err=ran.stderr, made=found, before=before, resumed=resumed, left=left, calls=int(counted[0][0]),
                places={int(n): stack for n, stack in counted[1:]})


def torn(name, good, seen):
    """Of a program that was killed: a file is what it was before, or whole."""
    for file, *three in zip(COMMANDS[name][1], seen["made"], seen["before"], good["made"]):
        found, before, whole = three
        if isinstance(found, str) and found.startswith("unreadable"):
            return "leaves a file that is " + found
        if isinstance(found, dict) and len(found["experiment"]) != 1:
            return f"leaves {file} without what it is of"
        if not file.endswith((".db", ".svg")) and found not in (before, whole): # gnuplot writes pictures
            return f"leaves half of {file}"
    if seen["resumed"] not in (None, (good["code"], good["made"], [])):
        return "cannot be gone on with"
    return None


def drawn_otherwise(seen, good):
    """Where no locale can be had tables are as in Markdown, with the same words."""
    words = [sorted(re.findall(r"[^\s|:-]+", text.replace("\\", ""))) for text in (seen, good)]
    return "|---" in seen and words[0] == words[1]


def verdict(name, good, seen, plan):
    """None, or what is wrong."""
    if seen["code"] == -9 and plan.endswith("kill"):
        return torn(name, good, seen)
    if seen["code"] < 0:
        return f"dies of signal {-seen['code']}"
    for found in seen["made"]:
        if isinstance(found, str) and found.startswith("unreadable"):
            return "leaves a file that is " + found
    if seen["code"] == good["code"]:
        if seen["out"] != good["out"] and not drawn_otherwise(seen["out"], good["out"]):
            return "says something else, and no error"
        return None if seen["made"] == good["made"] else "makes another file, and no error"
    if name in ("doctor", "check machine") and seen["code"] == 1:
        return None if "missing" in seen["out"] or seen["out"] != good["out"] else "fails for nothing"
    if seen["code"] not in (2, 3, 4, 6):
        return f"exit code {seen['code']}"
    if len((seen["err"] + seen["out"] * name.startswith(("validate", "check"))).strip()) <= 12:
        return "no sentence"
    if plan.startswith("alloc") and seen["code"] != 6:
        return f"out of memory has exit code {seen['code']}"
    if "on:enospc" in plan and seen["code"] != 6 and not NO_ROOM.search(seen["err"]):
        return f"a full disk has exit code {seen['code']}"
    return None


def unprinted(name, folder, is_closed):
    """What is wrong when nobody takes what a command prints; None."""
    for file in os.listdir("."):
        if os.path.isfile(file) and not file.startswith("std"):
            shutil.copy(file, folder)
    shell = ["sh", "-c", 'exec "$@" ' + (">&-" if is_closed else ">/dev/full"), "sh"]
    ran = ran_as(name, folder, shell, capture_output=True, text=True, errors="replace")
    is_said = "cannot write all of the output" in ran.stderr
    return None if ran.returncode == 3 and is_said else f"has code {ran.returncode}"


def try_output(name, draw):
    wrong = 0
    for is_closed in [draw.random() < 0.5] if each == "1" else [True, False]:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            said = unprinted(name, folder, is_closed)
        if said:
            print(f"{name}: with {'no' if is_closed else 'a full'} standard output it {said}", flush=True)
            wrong += 1
    return wrong


def try_left(name):
    """Undisturbed, a command closes what it opened and gives its memory back."""
    left = once(name, "", os.path.join(os.path.dirname(shim), "left_shim.so"))["left"]
    left = [line for line in left if line.startswith("file") or not KEEPS.search(COMMANDS[name][0])]
    if left:
        print(f"{name}: leaves {len(left)} things, as {left[:3]} (valgrind says whose)", flush=True)
    return len(left)


def plans_of(kind, good, draw):
    samples, hows = WAYS[kind]
    hows = [how for how in hows if how.startswith(SINGLE) and (not SINGLE or not how.endswith("kill"))]
    every = range(1, good["calls"] + 1)
    if IS_SPREAD:
        every = every[::max(1, good["calls"] // int(each[1:]))]
    if IS_LISTED:
        numbers = good["places"] if each == "places" or (each == "all" and kind == "alloc") else every
        if each == "all" and kind == "alloc":
            numbers = [n for n in numbers if good["places"][n] not in stacks_tried]
            stacks_tried.update(good["places"].values())
        # Memory that ends ends the process: the one way and the other differ with several of them.
        return [f"{kind}:{n}:{how}" for i, n in enumerate(numbers)
                for how in (hows if kind != "alloc" or each == "every" else [hows[i % len(hows)]])]
    some = min(int(float(each) * samples), good["calls"])
    return [f"{kind}:{n}:{draw.choice(hows)}" for n in draw.sample(every, some)]


def try_command(pool, name, draw):
    """The number of faults that it takes wrongly; says which."""
    tried, bad, again, begin = [], {}, None, time.monotonic()
    wrong_output = 0
    kinds = [kind for kind in WAYS if IS_LISTED or kind in USUAL or name in OF_ALL_KINDS]
    for kind in os.environ.get("WEIR_FAULT_KINDS", ",".join(kinds)).split(","):
        good = once(name, f"{kind}:0:once")
        wrong_output += try_output(name, draw) if again is None and good["out"] else 0
        again = again or once(name, f"{kind}:0:once")
        if good["calls"] == 0 and kind in USUAL[:2]:
            sys.exit(f"{name}: the library counts nothing: {difference(good, good)}")
        if any(good[key] != again[key] for key in ("code", "out", "made")) or None in good["made"]:
            sys.exit(f"{name}: finds something else each time, or nothing: {difference(good, again)}")
        plans = plans_of(kind, good, draw)
        for plan, seen in zip(plans, pool.map(lambda plan: once(name, plan), plans)):
            wrong = verdict(name, good, seen, plan)
            if wrong:
                bad.setdefault(wrong, []).append((plan, seen["err"].strip()[-200:]))
        tried.append(f"{kind} {len(plans)} ({good['calls']} calls from {len(good['places'])} places)")
        counts[kind] = counts.get(kind, 0) + len(plans)
    if each != "1":
        print(f"{name}: {', '.join(tried)}, {time.monotonic() - begin:.0f} s", flush=True)
    for wrong, plans in bad.items():
        print(f"{name}: {wrong}: {len(plans)} times, WEIR_FAIL={plans[0][0]}: {plans[0][1]}", flush=True)
        if each != "1":
            print("   ", *[plan for plan, _ in plans[:12]])
    return sum(map(len, bad.values())) + wrong_output + try_left(name)


def main():
    draw = random.Random(seed)
    print(f"seed {seed}: repeat with  WEIR_FAULTS={each} WEIR_FAULT_SEED={seed}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = sum(try_command(pool, name, draw) for name in only or COMMANDS)
    print(f"{sum(counts.values())} faults {counts} of {len(only or COMMANDS)} commands, {wrong} wrong")
    return 1 if wrong else 0


counts, stacks_tried = {}, set()
# Addresses are the same in every process, so that a stack is the same one in every command.
FIXED = ["setarch", "-R"] if each == "all" and shutil.which("setarch") else []
sys.exit(main())
