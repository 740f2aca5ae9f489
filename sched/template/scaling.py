# SPDX-License-Identifier: Apache-2.0
"""template: a worker more for every stage with more items waiting than workers."""
import json, sys

def room(node, gpus):  # GPUs that a worker may share, the first that has as much; [] = none
    return [{"gpu": g, "fraction": gpus} for g, free in enumerate(node["free"]) if free + 1e-6 >= gpus][:1]

def take(node, worker):
    node["cpus"] -= worker["cpus"]
    for part in worker["gpus"]:
        node["free"][part["gpu"]] -= part["fraction"]

for state in map(json.loads, sys.stdin):  # a line a decision; "adopt" has no stages
    nodes = {n["id"]: dict(n, free=[g["fraction"] for g in n["gpu_list"]]) for n in state.get("nodes", [])}
    stages = [{"name": stage["name"], "new": []} for stage in state.get("stages", [])]
    for worker in state.get("workers", []):
        take(nodes[worker["node"]], worker)
    for index, stage in enumerate(state.get("stages", [])):
        cpus, gpus = stage["shape"]["cpus"], stage["shape"]["gpus"]
        places = [n for n in nodes.values() if n["up"] and n["cpus"] >= cpus and (not gpus or room(n, gpus))]
        workers = sum(worker["stage_index"] == index for worker in state["workers"])
        if places and (workers == 0 or stage["queued_items"] > workers):
            stages[index]["new"] = [{"node": places[0]["id"], "cpus": cpus, "gpus": room(places[0], gpus) if gpus else []}]
            take(places[0], stages[index]["new"][0])
    print(json.dumps({"status": "ok", "stages": stages}), flush=True)
