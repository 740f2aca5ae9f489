#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of docs/placement-weir.md and docs/scaling-weir.md from one suite file (./dev tables).

Every policy has the same number of settings, its budget. The best of them on the training lists,
loads and seeds is tried on the test ones, which share none of the lists and seeds. A cell names the
best other policy and how far the judged one is ahead of it: a paired interval of 95 %, not corrected,
for a cell is no claim of its own. Cells that are lost for sure are named again below the table.

usage: policy_tables.py SUITE KIND WEIR BENCH_FOLDER DOC [REPLICATIONS]
"""
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

# Of Student's t, two-sided 95 %, by degrees of freedom.
QUANTILES = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
             2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086]
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


def run_cell(part, cell, variants, weir):
    """Values of the metric by variant, one a replication, paired."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_scenario(part, folder, variants)
        result = os.path.join(folder, "suite.db")
        trace = os.path.abspath(f"{TRACES}/openb_pod_list_{cell['list']}.csv.gz")
        if not os.path.exists(trace):
            trace = trace[:-len(".gz")]
        nodes = os.path.abspath(f"{TRACES}/openb_node_list_gpu_node.csv")
        command = [weir, "compare", path, "-o", result, "-n", str(cell["replications"]),
                   "-s", str(cell["seed"]), "--metric", part["metric"],
                   "--set", f"cluster.nodes_file={nodes}", "--set", f"jobs[0].trace={trace}",
                   "--set", f"jobs[0].arrivals.load={cell['load']}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            refuse(f"{' '.join(command)}: {done.stderr}")
        rows = sqlite3.connect(result).execute(
            "SELECT variant, value FROM v_result WHERE metric = ? AND label = '' "
            "ORDER BY replication", (part["metric"],)).fetchall()
    values = {label: [v for of, v in rows if of == label] for label in variants}
    if any(len(v) != cell["replications"] for v in values.values()):
        refuse("a variant has not all its replications")
    return values


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
    if len(sys.argv) not in (6, 7):
        refuse(__doc__.rsplit("usage: ", 1)[1].strip())
    path, kind, weir, bench, doc = sys.argv[1:6]
    suite = json.load(open(path, encoding="utf-8"))
    check_suite(suite)
    if len(sys.argv) == 7:
        for split in ("train", "test"):
            suite["placement"][split]["replications"] = int(sys.argv[6])
    lines = placement_lines(suite, weir) if kind == "placement" else scaling_lines(suite, bench)
    put(doc, kind, lines)


main()
