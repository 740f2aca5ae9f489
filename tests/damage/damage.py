# SPDX-License-Identifier: GPL-3.0-or-later
"""damage.py KIND COUNT [FIRST]: gives weir so many damaged files and wants clean errors only.

KIND is databases, scenarios or traces. File number N is the same on every machine; a fault prints
the words that repeat it, and keeps the file below WEIR_DAMAGE (default: the present folder). A
command may succeed, or end with code 1 to 4 and a sentence. A signal, a report of a sanitizer, a
broken invariant, memory without end or no end at all is a fault.
"""
import collections
import glob
import gzip
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys

from hostile import damage_bytes, damage_rows, damage_scenario, damage_trace

WEIR = os.environ["WEIR_BIN"]
SOURCE = os.environ["WEIR_SOURCE_DIR"]
SECONDS = float(os.environ.get("WEIR_DAMAGE_SECONDS", "120"))
LEAKS = 0.1  # of the commands look for leaks, which takes longer than most of them
counts = collections.Counter()

MIXED = """schema: 2
name: mixed
horizon: 400 s
cluster:
  nodes: [{name: n, count: 3, cpus: 32, ram: 256 GiB, gpus: {h100: 4}}]
  memory: memory_monitor
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}, explain: full}
pipelines:
  - name: p
    input: {items: 200}
    stages:
      - {name: a, cpus: 1, service: exp(1 s)}
      - {name: b, cpus: 1, gpus: 0.25, nvdecs: 1, service: exp(2 s)}
jobs:
  - name: w
    run_time: exp(60 s)
    classes: [{name: c, count: 30, every: 5 s, request: {gpus: 1}}]
metrics: {keep: all}
"""
PLAIN = """schema: 1
name: plain
cluster: {nodes: [{name: n, count: 2, cpus: 16, gpus: {h100: 2}}]}
sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}
pipelines:
  - name: p
    input: {items: 100}
    stages:
      - {name: a, cpus: 1, service: exp(1 s)}
      - {name: b, cpus: 1, gpus: 0.5, service: exp(2 s)}
compare:
  - {label: one}
  - {label: two, set: {sched.placement: best_fit}}
"""
SIZES = """schema: 2
name: sizes
horizon: 8 h
growth: 3%/month
prices: {billing: nodes, cpu: 1}
cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 4}}]}
sched: {placement: fgd, queueing: fcfs}
metrics: {keep: all}
goal: {min: wait p95, while: ["wait p95 <= 20 min"]}
jobs:
  - name: work
    arrivals: {rate: 8/h}
    classes: [{name: one, run_time: exp(40 min), request: {cpus: 1, gpus: 1}}]
compare: [{label: plain}, {label: shortest, set: {sched.queueing: sjf}}]
"""


def run(words, limit=SECONDS):
    """Exit code (None = no end), output and errors."""
    environment = dict(os.environ)
    environment["ASAN_OPTIONS"] = ("allocator_may_return_null=1:hard_rss_limit_mb=3000:"
                                   f"detect_leaks={int(random.random() < LEAKS)}:" + environment.get("ASAN_OPTIONS", ""))
    try:
        done = subprocess.run([WEIR, *words], capture_output=True, timeout=limit, env=environment,
                              stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return None, b"", b""
    return done.returncode, done.stdout, done.stderr


def judge(words, result):
    """Why this is not clean; None when it is."""
    code, _, errors = result
    counts["commands"] += 1
    if code is None:
        return f"no end within {SECONDS:g} s"
    if b"Sanitizer" in errors or b"runtime error:" in errors:
        return "a sanitizer reports"
    if code < 0 or code > 4:
        return f"exit code {code}"
    if code >= 2 and not errors.strip():
        return f"exit code {code} without a sentence"
    counts["refused" if code >= 2 else "taken"] += 1
    return None


def fault(kind, number, file, words, why, result):
    counts["faults"] += 1
    kept = os.path.join(os.environ.get("WEIR_DAMAGE", "."), f"{kind}-{number}-{os.path.basename(file)}")
    if os.path.exists(file) and os.path.abspath(file) != os.path.abspath(kept):
        shutil.copyfile(file, kept)
    print(f"FAULT {kind} {number}: {why}: weir {' '.join(words)} (kept: {kept})", flush=True)
    sys.stdout.write(result[2].decode("utf-8", "replace")[-3000:])


def attempt(kind, number, file, commands):
    """Runs all of them; the first fault of each is told."""
    codes = []
    for words in commands:
        result = run(words)
        why = judge(words, result)
        if why is not None:
            fault(kind, number, file, words, why, result)
        codes.append(result[0])
    return codes


# ---- databases ----

def sound_databases():
    axis = ["--axis", "cluster.nodes.n.count=1..3"]
    for name, text, words in (("mixed", MIXED, ["run"]), ("plain", PLAIN, ["compare"]),
                              ("sizes", SIZES, ["compare", *axis])):
        with open(f"{name}.yaml", "w", encoding="utf-8") as out:
            out.write(text)
        code, _, errors = run([*words, f"{name}.yaml", "-q", "-n", "2", "--force", "-o", f"{name}.db"], 600)
        if code not in (0, 1):
            sys.exit(f"{name}.yaml: {errors.decode()}")
    for name in ("v1", "v5"):
        with open(f"{SOURCE}/tests/golden/old/{name}.sql", encoding="utf-8") as text:
            pathlib.Path(f"{name}.db").unlink(missing_ok=True)  # of an earlier run here
            db = sqlite3.connect(f"{name}.db")
            db.executescript(text.read())
            db.close()
    return ["mixed.db", "plain.db", "sizes.db", "mixed.db", "plain.db", "sizes.db", "v5.db", "v1.db"]


def open_to_all(path):
    """Takes types and obligations from the tables; returns what puts them back."""
    db = sqlite3.connect(path)
    kept = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT%'"
                      ).fetchall()
    db.execute("PRAGMA writable_schema = 1")
    db.execute("UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT', ')'), ' NOT NULL', '')"
               " WHERE type = 'table' AND name <> 'meta'")
    db.commit()
    db.close()
    return kept


def claim(path, kept):
    db = sqlite3.connect(path)
    db.execute("PRAGMA writable_schema = 1")
    for name, sql in kept:
        db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ? AND type = 'table'", (sql, name))
    db.commit()
    db.close()


def make_database(rng, sound, path):
    shutil.copyfile(rng.choice(sound), path)
    if rng.randrange(3) == 0:
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(damage_bytes(rng, data))
        return
    is_open = rng.randrange(2) == 0
    kept = open_to_all(path) if is_open else []
    db = sqlite3.connect(path)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        try:
            damage_rows(rng, db)
        except (sqlite3.Error, IndexError, UnicodeError, OverflowError):
            counts["statements that SQLite refuses"] += 1
    db.commit()
    db.close()
    if is_open and rng.randrange(4) > 0:
        claim(path, kept)


CHARTS = ["acceptance", "alloc-vs-used", "autoscaler", "bottleneck-strip", "bound", "frag-time",
          "job-queue", "latency", "link-use", "memory", "node-heat", "nodes", "placement", "policies",
          "power", "queues", "throughput", "worker-state"]


EXPORTS = [["--to", "csv", "--view", "v_result"], ["--to", "csv", "--view", "v_job"], ["--to", "csv", "--view", "v_stage"],
           ["--to", "openmetrics", "-o", "out.om"], ["--to", "perfetto", "-o", "out.json.gz"],
           ["--to", "state", "--at", "60s"], ["--to", "decision", "--at", "60s"]]
PAGES = [[], ["--as", "review"], ["--as", "run"]]


def damaged_database(number, sound):
    rng = random.Random(f"databases {number}")
    path = "damaged.db"
    make_database(rng, sound, path)
    others = [["compare", path], ["explain", path, "--at", "60s"], ["explain", path, "--stage", "b"],
              ["explain", path, "--worker", "1"], ["explain", path, "--pending"],
              ["explain", path, "--job", "w/c-1"], ["diff", "plain.db", path], ["rerun", path],
              ["snapshot", path, "--at", "60s"], ["upgrade", path], ["show", path],
              ["plot", path, rng.choice(CHARTS), "-o", "out.svg"], ["report", path, "--format", "json"],
              ["report", path, "--as", "review", "--format", "md"], ["compare", path, "--pool"],
              ["explain", path, "--at", "60s", "--with", "best_fit"], ["export", path, *rng.choice(EXPORTS)]]
    code = attempt("databases", number, path, [["check", path]])[0]
    if code in (0, 1):  # it is let in: all commands have their turn with it
        counts["let in"] += 1
        if rng.randrange(16) == 0:
            attempt("databases", number, path, [["report", path, *rng.choice(PAGES), "-o", "out.html"]])
        attempt("databases", number, path, rng.sample(others, 3))
    else:  # all others open it the same way
        attempt("databases", number, path, rng.sample(others, 2))


# ---- scenarios and traces ----

def shipped_scenarios():
    """In a copy of their folders: some name tables that lie beside them."""
    shutil.copytree(f"{SOURCE}/scenarios", "scenarios", dirs_exist_ok=True)
    files = sorted(set(glob.glob("scenarios/*/*.yaml")) - set(glob.glob("scenarios/*/damaged.yaml")))
    return [file for file in files if os.path.getsize(file) < 20000]


def damaged_scenario(number, files):
    rng = random.Random(f"scenarios {number}")
    file = rng.choice(files)
    local = os.path.join(os.path.dirname(file), "damaged.yaml")
    with open(file, encoding="utf-8") as text:
        damaged = damage_scenario(rng, text.read())
    with open(local, "w", encoding="utf-8", newline="") as out:
        out.write(damaged)
    if attempt("scenarios", number, local, [["validate", local]])[0] != 0:
        return
    counts["valid"] += 1
    words = ["run", local, "--no-db", "-q", "-n", "1", "--set", "horizon=20 s", "--set", "warmup=0 s"]
    result = run(words, 20)
    if result[0] is None:
        counts["runs that were ended after 20 s"] += 1
    elif (why := judge(words, result)) is not None:
        fault("scenarios", number, local, words, why, result)


TIRESIAS = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n" + "".join(
    f"{i},{1 + i % 4},{i * 10},100,m{i % 3},{60 + i},1\n" for i in range(40))
PHILLY = "timestamp,duration,num_gpus,cluster\n" + "".join(
    f"2017-10-0{1 + i % 9} 0{i % 10}:00:00,{100 + i},{1 + i % 8},c{i % 2}\n" for i in range(40))
GAVEL = "".join(f"ResNet-18 (batch size {16 << i % 4})\tpython3 main.py\tdir\t--num_steps\t0\t{1000 + i}\t"
                f"1\t{i * 7}\t1\t-1\n" for i in range(20))
SLURM = "JobIDRaw|User|Account|State|Submit|Start|End|TimelimitRaw|ReqTRES\n" + "".join(
    f"{i}|u{i % 3}|a|COMPLETED|2024-01-01T00:{i:02}:00|2024-01-01T01:{i:02}:00|2024-01-01T02:{i:02}:00|120|"
    f"cpu=4,mem=16G,gres/gpu={1 + i % 4}\n" for i in range(40))
HELIOS = "job_id,user,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n" + "".join(
    f"{i},u{i % 3},{i % 9},8,1,COMPLETED,2020-04-01 00:{i:02}:00,2020-04-01 01:{i:02}:00,"
    f"2020-04-01 02:{i:02}:00,3600,60\n" for i in range(40))
SPANS = "stage,worker,item,start,end\n" + "".join(
    f"{'abc'[i % 3]},w{i % 2},{i // 3},{i * 0.5},{i * 0.5 + 0.4}\n" for i in range(90))


def read_text(path):
    with open(f"{SOURCE}/{path}", encoding="utf-8") as file:
        return file.read()


def sound_traces():
    """Text, words of trace (None = a log of spans)."""
    return [(read_text("tests/golden/fgd_small/pods.csv"), ["--kind", "openb"]),
            (read_text("tests/fuzz/corpus/swf/plain.swf"), ["--kind", "swf"]),
            (TIRESIAS, ["--map", "tiresias"]), (PHILLY, ["--map", "philly"]), (SLURM, ["--map", "slurm"]),
            (HELIOS, ["--map", "helios"]), (GAVEL, ["--map", "gavel_tsv"]),
            (read_text("scenarios/examples/jobs_table.csv"),
             ["--map", f"{SOURCE}/scenarios/examples/jobs_table.json"]), (SPANS, None)]


def pack(rng, data):
    how = rng.randrange(3)
    if how == 0:
        return data
    if how == 1 or shutil.which("zstd") is None:
        return gzip.compress(data, mtime=0)
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def damaged_trace(number, sound):
    rng = random.Random(f"traces {number}")
    text, words = rng.choice(sound)
    how = rng.randrange(3)  # cells, bytes of the file, or both
    if how != 1:
        text = damage_trace(rng, text)
    data = pack(rng, text.encode("utf-8", "replace"))
    if how != 0:
        data = damage_bytes(rng, data)
    path = "damaged.csv"
    with open(path, "wb") as file:
        file.write(data)
    skip = ["--on-bad-row", "skip"]
    if words is None:
        commands = [["fit", path], ["fit", path, *skip]]
    else:
        commands = [["trace", "info", path], ["trace", "info", path, *words, *skip],
                    ["trace", "convert", path, *words, "-o", rng.choice(["out.csv", "out.swf"])],
                    ["trace", "convert", path, *words, *skip, "-o", "out.csv"]]
    attempt("traces", number, path, commands)


KINDS = {"databases": (damaged_database, sound_databases),
         "scenarios": (damaged_scenario, shipped_scenarios),
         "traces": (damaged_trace, sound_traces)}


def main():
    kind, count = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    one, sound = KINDS[kind][0], KINDS[kind][1]()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    done = 0
    try:
        for number in range(first, first + count):
            one(number, sound)
            done += 1
    except KeyboardInterrupt:
        print("stopped: what is below is so far", flush=True)
    said = ", ".join(f"{counts[name]} {name}" for name in
                     ["commands", "taken", "refused", *sorted(set(counts) - {"commands", "taken", "refused", "faults"})])
    print(f"{done} damaged {kind}: {said}; {counts['faults']} faults")
    return 1 if counts["faults"] or done < count else 0


sys.exit(main())
