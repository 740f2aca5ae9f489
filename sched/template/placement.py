# SPDX-License-Identifier: Apache-2.0
"""template: the node with the fewest free CPUs, of those where a worker fits."""
import json, sys

nodes = {}  # what is free, by id; the first line has all nodes, the others those that changed
for line in map(json.loads, sys.stdin):  # a line a worker: shape, of (which job or stage), fits
    nodes.update((node["id"], node) for node in line["nodes"])
    best = min(line["fits"], key=lambda node: nodes[node]["cpus"])  # of equals the first
    print(json.dumps({"node": best}), flush=True)  # null = none of them
