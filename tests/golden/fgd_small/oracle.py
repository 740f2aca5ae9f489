#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain second implementation of the static experiment and its five deterministic policies.

`oracle.py make` draws nodes.csv, pods.csv and order.txt; `oracle.py` prints expected.csv. Written
from the published rules alone, every score recomputed for every node, so that it shares no
shortcut with the program it checks.
"""
import csv
import math
import random
import sys

MODELS = {"P100": (16000, 65536, 2), "T4": (104000, 262144, 4), "G2": (96000, 393216, 8),
          "V100M16": (64000, 262144, 4), "G3": (128000, 786432, 8)}


def make():
    rng = random.Random(7)
    with open("nodes.csv", "w") as out:
        print("sn,cpu_milli,memory_mib,gpu,model", file=out)
        for i in range(28):
            model = rng.choice(["P100", "T4", "T4", "G2", "G2", "G2", "V100M16", "G3"])
            cpu, memory, gpus = MODELS[model]
            print(f"node-{i:02},{cpu},{memory},{gpus},{model}", file=out)
        print("node-28,32000,131072,0,", file=out)
    with open("pods.csv", "w") as out:
        print("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec", file=out)
        for i in range(170):
            kind = rng.random()
            cpu = rng.choice([1000, 2000, 4000, 6000, 8000, 11900])
            memory = rng.choice([1024, 4096, 12288, 30000])
            spec = rng.choice(["", "", "", "", "T4", "V100M16|G3", "V100M16|G3|G3", "A10"])
            if kind < 0.13:
                row = (cpu, memory, 0, 0, "")
            elif kind < 0.5:
                row = (cpu, memory, 1, rng.choice([230, 320, 460, 470, 650, 810]), spec)
            elif kind < 0.94:
                row = (cpu, memory, 1, 1000, spec)
            else:
                row = (cpu * 4, memory, rng.choice([2, 2, 4, 8]), 1000, "")
            print(f"pod-{i:03}," + ",".join(map(str, row)), file=out)
    pods = list(range(170))
    rng.shuffle(pods)
    ranks = list(range(29))
    rng.shuffle(ranks)
    with open("order.txt", "w") as out:
        print("small 1 P", len(pods), *pods, file=out)
        print("small 1 N", len(ranks), *ranks, file=out)


class Node:
    def __init__(self, row):
        self.cpu, self.memory, self.model = int(row["cpu_milli"]), int(row["memory_mib"]), row["model"]
        self.left = [1000] * int(row["gpu"])
        self.tags = []


class Pod:
    def __init__(self, row):
        self.cpu, self.memory, self.gpus = int(row["cpu_milli"]), int(row["memory_mib"]), int(row["num_gpu"])
        self.milli = int(row["gpu_milli"]) if self.gpus else 0
        self.spec = row["gpu_spec"] if self.gpus else ""
        self.tag = "share" if self.milli < 1000 else f"{self.gpus}-gpu"

    def key(self):
        return (self.cpu, self.milli, self.gpus, self.spec)


def accepts(spec, model):
    return spec == "" or model in spec.split("|")


def fits(node, pod):
    if node.cpu < pod.cpu or node.memory < pod.memory:
        return False
    if pod.gpus == 0:
        return True
    return accepts(pod.spec, node.model) and sum(l >= pod.milli for l in node.left) >= pod.gpus


def target(pods):
    counts = {}
    for pod in pods:
        counts[pod.key()] = counts.get(pod.key(), 0) + 1
    order = sorted(((n, k) for k, n in counts.items()), reverse=True)
    chosen, covered = [], 0
    for n, key in order:
        if covered >= 0.95 * len(pods):
            break
        chosen.append((key, n / len(pods)))
        covered += n
    return [(key, p / (covered / len(pods))) for key, p in chosen]


def frag(cpu, left, model, mix):
    total = sum(left)
    sums = dict.fromkeys(("q1", "q2", "q4", "xl", "xr", "na"), 0.0)
    for (need_cpu, milli, gpus, spec), p in mix:
        has_cpu = cpu >= need_cpu
        lost = total
        if gpus == 0:
            name = "xl" if has_cpu else "xr"
        elif left and not accepts(spec, model):
            name = "na"
        elif sum(l >= milli for l in left) >= gpus:
            name = "q2" if has_cpu else "q4"
            if has_cpu:
                lost = sum(l for l in left if l < milli)
        else:
            name = "q2" if has_cpu else "q1"
        sums[name] += p * lost
    return sum(sums.values())


def take_lowest(left, pod):
    left, missing = list(left), pod.gpus
    for i, l in enumerate(left):
        if missing and l >= pod.milli:
            left[i] -= pod.milli
            missing -= 1
    return left


def tightest(node, pod):
    return min((l, i) for i, l in enumerate(node.left) if l >= pod.milli)[1]


def fgd(node, pod, mix):
    before = frag(node.cpu, node.left, node.model, mix)

    def score(left):
        after = frag(node.cpu - pod.cpu, left, node.model, mix)
        return int(100 / (1 + math.exp(-(before - after) / 1000)))
    if pod.gpus == 1 and pod.milli < 1000:
        best = (-1, 0)
        for i, l in enumerate(node.left):
            if l >= pod.milli:
                left = list(node.left)
                left[i] -= pod.milli
                if score(left) > best[0]:
                    best = (score(left), i)
        return best
    return score(take_lowest(node.left, pod)), None


def grade(policy, node, pod, mix):
    total, request = sum(node.left), pod.milli * pod.gpus
    device = tightest(node, pod) if pod.gpus == 1 else None
    if policy == "fgd":
        return fgd(node, pod, mix)
    if policy == "best_fit":
        return int(100 * (1 - (0.5 * ((node.cpu - pod.cpu) / 128000) + 0.5 * ((total - request) / 8000)))), device
    if policy == "dot_product":
        dot = node.cpu / 128000 * (pod.cpu / 128000) + total / 8000 * (request / 8000)
        return int(100 * (1 - dot / 2)), device
    if pod.gpus == 0:
        return 0, None
    if policy == "gpu_clustering":
        base = 25 * (8000 - total) // 8000
        if not node.tags:
            return base + 25, device
        if pod.tag not in node.tags:
            return base, device
        return base + (75 if set(node.tags) == {pod.tag} else 50), device
    free = sum(l == 1000 for l in node.left)
    if free == len(node.left):
        return max(33 - free, free), device
    picked = [l for l in sorted(node.left) if l >= pod.milli][:pod.gpus]
    used = sum(l == 1000 for l in picked)
    if used:
        return max(50 - used, 33), device
    return max(100 - sum(l * 100 // 1000 for l in picked) // 10, 50), device


def run(policy, nodes, pods, order, ranks):
    mix = target(pods)
    by_rank = [nodes[ranks.index(r)] for r in range(len(nodes))]
    used = failed = 0
    for row in order:
        pod, best = pods[row], None
        for node in by_rank:
            if fits(node, pod):
                score, device = grade(policy, node, pod, mix)
                if best is None or score > best[0]:
                    best = (score, node, device)
        if best is None:
            failed += 1
            continue
        _, node, device = best
        if pod.gpus == 1:
            if device is None:
                device = tightest(node, pod)
            node.left[device] -= pod.milli
        else:
            node.left = take_lowest(node.left, pod)
        node.cpu -= pod.cpu
        node.memory -= pod.memory
        if pod.gpus:
            node.tags.append(pod.tag)
        used += pod.milli * pod.gpus
    lost = sum(frag(n.cpu, n.left, n.model, mix) for n in by_rank)
    cpu = sum(n.cpu for n in nodes)
    print(f"{policy},{len(order)},{failed},{used},{cpu},{lost:.6f}")


def main():
    pods = [Pod(row) for row in csv.DictReader(open("pods.csv"))]
    lines = [line.split() for line in open("order.txt")]
    print("policy,arrived,failed,gpu_milli,cpu_milli_left,frag_milli")
    for policy in ("fgd", "best_fit", "dot_product", "gpu_packing", "gpu_clustering"):
        nodes = [Node(row) for row in csv.DictReader(open("nodes.csv"))]
        run(policy, nodes, pods, [int(x) for x in lines[0][4:]], [int(x) for x in lines[1][4:]])


if __name__ == "__main__":
    make() if sys.argv[1:] == ["make"] else main()
