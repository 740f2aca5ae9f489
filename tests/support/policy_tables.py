#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of docs/placement-weir.md and docs/scaling-weir.md from one suite file (./dev tables).

KIND placement: equal budgets.
Every policy has the same number of settings, its budget. The best of them on the training lists,
loads and seeds is tried on the test ones, which share none of the lists and seeds. A cell names the
best other policy and how far the judged one is ahead of it: a paired interval of 95 %, not corrected,
for a cell is no claim of its own. Cells that are lost for sure are named again below the table.

KIND static, loss, queue, waits: every policy as it is, on all lists and on mixes made here, filling,
and with departures, without and with a queue, and how long jobs take then (but `without` lists that tell no run times). A pair (cell,
other policy) is held when the lower end of its interval is not below -margin.

KIND shares: as static, on random mixes of shares and whole GPUs, on nodes that are all alike.

KIND hard: as loss, but of jobs that are hard to place, by number, and against one policy.

usage: policy_tables.py SUITE KIND WEIR BENCH_FOLDER DOC [REPLICATIONS [LIST,...]]
"""
import csv
import itertools
import json
import math
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

# Of Student's t, two-sided 95 %, by degrees of freedom.
QUANTILES = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
             2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086]
NAMED = 6  # worst pairs below a table
TRACES = os.path.join(os.environ.get("WEIR_SHARED", "../shared"), "traces/openb")


def refuse(text):
    sys.exit(f"policy_tables: {text}")


def check_suite(suite):
    part = suite["placement"]
    for policy, settings in part["settings"].items():
        if len(settings) != suite["budget"] or len(set(settings)) != len(settings):
            refuse(f"{policy} has {len(set(settings))} settings, not the budget of {suite['budget']}")
    train, test = part["train"], part["test"]
    if set(train["lists"]) & set(test["lists"]):
        refuse("training and test share lists")
    if abs(train["seed"] - test["seed"]) < max(train["replications"], test["replications"]):
        refuse("training and test share seeds")


def write_scenario(part, folder, variants):
    """The scenario with these variants and no others, beside traces by full paths."""
    text = open(part["scenario"], encoding="utf-8").read()
    text = text[:text.index("\ncompare:")] + "\ncompare:\n"
    for label, setting in variants.items():
        text += f"  - {{label: {label}, set: {{sched.placement: {{{setting}}}}}}}\n"
    path = os.path.join(folder, "suite.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def trace_of(name, mixes, folder):
    """The file of a list of the openb trace, or of a mix that is made here."""
    if name in mixes:
        path = os.path.join(folder, f"{name}.csv")
        write_mix(mixes[name], path)
        return path
    path = os.path.abspath(f"{TRACES}/openb_pod_list_{name}.csv.gz")
    return path if os.path.exists(path) else path[:-len(".gz")]


def write_mix(mix, path):
    """Jobs of a mix: rows [weight, CPUs from, to, GPUs, thousandths of each, model], and lives
    that are exponential with the given means, by GPUs asked for."""
    draws = random.Random(mix["seed"])
    weights = [row[0] for row in mix["jobs"]]
    with open(path, "w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos",
                        "pod_phase", "creation_time", "deletion_time", "scheduled_time"])
        for i in range(mix["count"]):
            _, least, most, gpus, milli, *model = draws.choices(mix["jobs"], weights)[0]
            life = 60 + int(draws.expovariate(1 / mix["life_s"]))
            table.writerow([f"pod-{i}", 1000 * draws.randint(least, most), 1024, gpus, milli,
                            *(model or [""]), "LS", "Succeeded", 0, life, 0])


def draw_mix(spec, name):
    """Settings of a fill of alike nodes with whole GPUs and one small share and one or two large."""
    draws = random.Random(f"{spec['seed']} {name}")
    gpus, cpus_each = draws.choice([2, 4, 4, 8]), draws.choice([8, 8, 12])
    kinds = [(1, draws.uniform(0.2, 1.2), draws.randint(1, 5))]
    for i in range(draws.choice([2, 2, 3])):
        share = draws.choice(range(40, 86, 5) if i else range(10, 36, 5)) / 100
        asked = math.exp(draws.uniform(math.log(0.05), math.log(0.8)))
        kinds.append((share, asked / share, draws.randint(1, 4 if share > 0.3 else 2)))
    classes = ", ".join(f"{{name: k{i}, weight: {weight:.3f}, request: {{gpus: {share}, cpus: {cpus}}}}}"
                        for i, (share, weight, cpus) in enumerate(kinds))
    return [f"cluster.nodes[0]={{name: n, cpus: {gpus * cpus_each}, gpus: {{h100: {gpus}}}, "
            f"count: {spec['gpus'] // gpus}}}", f"fill[0].classes=[{classes}]", "fill[0].demand=130%"]


def source_of(part, cell, folder):
    """Settings of the jobs, and of the nodes they come to."""
    if "random" in part:
        return draw_mix(part["random"], cell["list"])
    nodes = os.path.abspath(f"{TRACES}/openb_node_list_gpu_node.csv")
    trace = trace_of(cell["list"], part.get("mixes", {}), folder)
    return [f"cluster.nodes_file={nodes}", f"{part.get('source', 'jobs')}[0].trace={trace}"]


def run_variants(part, cell, variants, weir, queries, may_be_absent=False):
    """For each query what it finds, by variant: one value a replication, paired; or None when a
    replication has nothing, and that may be."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_scenario(part, folder, variants)
        result = os.path.join(folder, "suite.db")
        sets = [*source_of(part, cell, folder), *part.get("set", []), *cell.get("set", [])]
        if "load" in cell:
            sets.append(f"jobs[0].arrivals.load={cell['load']}")
        command = [weir, "compare", path, "-o", result, "-n", str(cell["replications"]),
                   "-s", str(cell["seed"])]
        for text in sets:
            command += ["--set", text]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            refuse(f"{' '.join(command)}: {done.stderr}")
        base = sqlite3.connect(result)
        found = [base.execute(query).fetchall() for query in queries]
    all_values = [{label: [v for of, v in rows if of == label] for label in variants}
                  for rows in found]
    is_whole = [all(len(v) == cell["replications"] for v in values.values())
                for values in all_values]
    if not all(is_whole) and not may_be_absent:
        refuse(f"{cell}: a variant has not all its replications")
    return [values if whole else None for values, whole in zip(all_values, is_whole)]


def run_cell(part, cell, variants, weir):
    """Values of the metric by variant; of one that should be low, as shares of the mean of all."""
    query = ("SELECT variant, value FROM v_result WHERE label = '' AND "
             f"metric = '{part['metric']}' ORDER BY replication")
    values = run_variants(part, cell, variants, weir, [query])[0]
    if not part.get("is_better_low"):
        return values
    usual = [mean(of_replication) for of_replication in zip(*values.values())]
    return {label: [-v / u for v, u in zip(of, usual)] for label, of in values.items()}


def run_curve(part, cell, variants, weir):
    """Of the curve of a fill at each of the points."""
    queries = ["SELECT variant, value FROM (SELECT variant, replication, alloc_gpu_pct / 100 AS value, "
               f"max(arrived_pct) FROM v_arrival WHERE arrived_pct <= {point} GROUP BY run_id) "
               "ORDER BY replication" for point in part["points"]]
    return run_variants(part, cell, variants, weir, queries)


def cells_of(split):
    return [{"list": name, "load": load, "seed": split["seed"],
             "replications": split["replications"]}
            for name in split["lists"] for load in split["loads"]]


def mean(values):
    return sum(values) / len(values)


def interval(first, second):
    """Mean of the paired differences, and half the width of its interval."""
    differences = [a - b for a, b in zip(first, second)]
    middle = mean(differences)
    count = len(differences)
    if count < 2:
        return middle, math.nan
    variance = sum((d - middle) ** 2 for d in differences) / (count - 1)
    return middle, QUANTILES[min(count, len(QUANTILES)) - 1] * math.sqrt(variance / count)


def choose(part, weir):
    """The setting of each policy that is best on average over the training cells."""
    labels = {f"{policy}_{i}": setting for policy, settings in part["settings"].items()
              for i, setting in enumerate(settings)}
    sums = dict.fromkeys(labels, 0.0)
    for cell in cells_of(part["train"]):
        for label, values in run_cell(part, cell, labels, weir).items():
            sums[label] += mean(values)
    return {policy: max(range(len(settings)), key=lambda i, p=policy: sums[f"{p}_{i}"])
            for policy, settings in part["settings"].items()}


def placement_lines(suite, weir):
    part = suite["placement"]
    best = choose(part, weir)
    chosen = {policy: part["settings"][policy][i] for policy, i in best.items()}
    judged = part["judged"]
    lines = ["| list | load | best other | its % | " + judged + ", % | difference, points |",
             "|---|---|---|---|---|---|"]
    lost = []
    for cell in cells_of(part["test"]):
        values = run_cell(part, cell, chosen, weir)
        other = max((p for p in values if p != judged), key=lambda p: mean(values[p]))
        middle, half = interval(values[judged], values[other])
        low, high = 100 * (middle - half), 100 * (middle + half)
        lines.append(f"| {cell['list']} | {cell['load']} | {other} | {100 * mean(values[other]):.2f} "
                     f"| {100 * mean(values[judged]):.2f} | {100 * middle:+.2f} "
                     f"[{low:+.2f}, {high:+.2f}] |")
        if high < 0:
            lost.append(f"{cell['list']} at {cell['load']} to {other}")
    train, test = part["train"], part["test"]
    settings = "; ".join(f"{policy}: `{text}`" for policy, text in chosen.items())
    return lines + ["", f"Settings: {suite['budget']} of each policy, tried on the lists "
                    f"{', '.join(train['lists'])} at {', '.join(train['loads'])} with "
                    f"seeds from {train['seed']} on, {train['replications']} each; the table has "
                    f"{test['replications']} others. Chosen: {settings}.", "",
                    "Lost beyond noise: " + ("; ".join(lost) if lost else "no cell") + "."]


def lists_of(matrix, kind):
    part = matrix["kinds"][kind]
    if "random" in part:
        return [f"mix {i + 1}" for i in range(part["random"]["mixes"])]
    without = part.get("without", [])
    return [name for name in matrix["lists"] if name not in without]


def pair_of(name, load, judged, other, values):
    """How far one policy is ahead of another in a cell, in points or percent."""
    middle, half = interval(values[judged], values[other])
    return {"list": name, "load": load, "other": other, "middle": 100 * middle,
            "low": 100 * (middle - half), "high": 100 * (middle + half)}


def matrix_values(matrix, kind, weir):
    """(list, load, values by policy), one cell after the other."""
    part = {**matrix["kinds"][kind], "mixes": matrix["mixes"]}
    for name in lists_of(matrix, kind):
        print(f"{kind}: {name}", file=sys.stderr)
        cell = {"list": name, "seed": matrix["seed"], "replications": matrix["replications"]}
        if "points" in part:
            found = run_curve(part, cell, matrix["policies"], weir)
            yield from ((name, f"{p}%", v) for p, v in zip(part["points"], found))
            continue
        for load in part["loads"]:
            yield name, load, run_cell(part, {**cell, "load": load}, matrix["policies"], weir)


def matrix_lines(matrix, kind, weir):
    judged, margin = matrix["judged"], matrix["margin"]
    pairs = [pair_of(name, load, judged, other, values)
             for name, load, values in matrix_values(matrix, kind, weir)
             for other in values if other != judged]
    lines = ["| load | pairs | held | behind for sure | mean difference | worst pair |",
             "|---|---|---|---|---|---|"]
    for load in dict.fromkeys(p["load"] for p in pairs):
        of = [p for p in pairs if p["load"] == load]
        lines.append(f"| {load} | {len(of)} | {sum(p['low'] >= -margin for p in of)} "
                     f"| {sum(p['high'] < 0 for p in of)} | {mean([p['middle'] for p in of]):+.2f} "
                     f"| {pair_text(min(of, key=lambda p: p['middle']))} |")
    behind = sorted((p for p in pairs if p["high"] < 0), key=lambda p: p["middle"])
    more = f"; and {len(behind) - NAMED} more" if len(behind) > NAMED else ""
    lists = lists_of(matrix, kind)
    names = ", ".join(lists) if len(lists) < 20 else f"{len(lists)} random mixes"
    return lines + ["", f"{matrix['replications']} replications from seed {matrix['seed']} on; "
                    f"{names}; held: lower end of 95 % at least -{margin} "
                    f"{matrix['kinds'][kind].get('unit', 'points')}.", "", "Behind for sure: " +
                    ("; ".join(map(pair_text, behind[:NAMED])) if behind else "nowhere") + more + "."]


def hard_lines(matrix, weir):
    """Of each class and load: lists that have such jobs, how many are accepted, and the least."""
    part = {**matrix["kinds"]["hard"], "mixes": matrix["mixes"]}
    judged, other = matrix["judged"], part["against"]
    variants = {label: matrix["policies"][label] for label in (judged, other)}
    queries = ["SELECT variant, avg(outcome IN ('done', 'running')) FROM v_job j WHERE submit_s >= "
               "(SELECT warmup_s FROM run r WHERE r.run_id = j.run_id) AND "
               f"{condition} GROUP BY run_id ORDER BY replication"
               for condition in part["classes"].values()]
    rows = {}
    for name in lists_of(matrix, "hard"):
        for load in part["loads"]:
            print(f"hard: {name} {load}", file=sys.stderr)
            cell = {"list": name, "load": load, "seed": matrix["seed"],
                    "replications": matrix["replications"]}
            found = run_variants(part, cell, variants, weir, queries, may_be_absent=True)
            for label, values in zip(part["classes"], found):
                if values is None:
                    continue
                rows.setdefault((label, load), []).append(
                    {**pair_of(name, load, judged, other, values),
                     "of": [100 * mean(values[policy]) for policy in (judged, other)]})
    lines = [f"| jobs | load | lists | {judged}, % | {other}, % | behind for sure | worst list |",
             "|---|---|---|---|---|---|---|"]
    for label, load in filter(rows.get, itertools.product(part["classes"], part["loads"])):
        pairs = rows[label, load]
        worst = min(pairs, key=lambda p: p["middle"])
        lines.append(f"| {label} | {load} | {len(pairs)} | {mean([p['of'][0] for p in pairs]):.1f} "
                     f"| {mean([p['of'][1] for p in pairs]):.1f} "
                     f"| {sum(p['high'] < 0 for p in pairs)} | {worst['list']}: "
                     f"{worst['middle']:+.1f} [{worst['low']:+.1f}, {worst['high']:+.1f}] |")
    return lines + ["", f"Accepted, of their number; {matrix['replications']} replications from seed "
                    f"{matrix['seed']} on; {', '.join(lists_of(matrix, 'hard'))}."]


def pair_text(pair):
    return (f"{pair['list']} at {pair['load']} to {pair['other']}: "
            f"{pair['middle']:+.2f} [{pair['low']:+.2f}, {pair['high']:+.2f}]")


def scaling_lines(suite, bench):
    part = suite["scaling"]
    command = [os.path.join(bench, "bench_scaling_quality"), str(part["problems"]),
               str(part["first_seed"]), *part["policies"]]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pattern = re.compile(r"(\S+)\s+(cold|warm)\s+least (\S+)\s+10% (\S+)\s+median \S+\s+mean (\S+)"
                         r"\s+not idempotent\s+(\d+) of \d+\s+replaced \d+\s+changes (\S+)\s+(\S+) ms")
    rows = pattern.findall(text)
    if len(rows) != 2 * len(part["policies"]):
        refuse("bench_scaling_quality says something else")
    return (["| policy | start | least | 10 % | mean | not idempotent | changes | ms |",
             "|---|---|---|---|---|---|---|---|"] +
            [f"| {' | '.join(row)} |" for row in rows])


def put(doc, kind, lines):
    """Between the marks of the page; what stood there goes."""
    text = open(doc, encoding="utf-8").read()
    begin, end = f"<!-- ./dev tables {kind} -->\n", f"<!-- end of {kind} -->\n"
    if begin not in text or end not in text:
        refuse(f"{doc} has no marks for {kind}")
    head, rest = text.split(begin, 1)
    tail = rest.split(end, 1)[1]
    with open(doc, "w", encoding="utf-8") as out:
        out.write(head + begin + "\n".join(lines) + "\n" + end + tail)


def main():
    if len(sys.argv) not in (6, 7, 8):
        refuse(__doc__.rsplit("usage: ", 1)[1].strip())
    path, kind, weir, bench, doc = sys.argv[1:6]
    suite = json.load(open(path, encoding="utf-8"))
    check_suite(suite)
    if len(sys.argv) > 6 and sys.argv[6]:
        for part in (suite["placement"]["train"], suite["placement"]["test"], suite["matrix"]):
            part["replications"] = int(sys.argv[6])
    if len(sys.argv) > 7 and sys.argv[7]:
        suite["matrix"]["lists"] = sys.argv[7].split(",")
    if kind == "hard":
        lines = hard_lines(suite["matrix"], weir)
    elif kind in suite["matrix"]["kinds"]:
        lines = matrix_lines(suite["matrix"], kind, weir)
    else:
        lines = placement_lines(suite, weir) if kind == "placement" else scaling_lines(suite, bench)
    put(doc, kind, lines)


main()
