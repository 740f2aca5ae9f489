#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scaling policy as a program: one line of JSON in, one line of JSON out, until the input ends.

The rule: every stage gets the workers that are asked for (one where none are), each on the first
node with room. It knows CPUs and parts of GPUs; change decide() and keep the rest.
"""
import json
import sys


class Room:
    """What is free on one node."""

    def __init__(self, node):
        self.id = node["id"]
        self.is_up = node["up"] and not node["cordoned"]
        self.cpus = node["cpus"]
        self.gpus = [gpu["fraction"] for gpu in node["gpu_list"]]

    def take(self, worker):
        self.cpus -= worker["cpus"]
        for part in worker["gpus"]:
            self.gpus[part["gpu"]] -= part["fraction"]

    def find(self, shape):
        """The first place for a worker, or None. The 1e-6 forgives rounding."""
        if not self.is_up or self.cpus + 1e-6 < shape["cpus"]:
            return None
        worker = {"node": self.id, "cpus": shape["cpus"], "gpus": []}
        if shape["gpus"] == 0:
            return worker
        for gpu, free in enumerate(self.gpus):
            if free + 1e-6 >= shape["gpus"]:
                worker["gpus"] = [{"gpu": gpu, "fraction": shape["gpus"]}]
                return worker
        return None


def decide(state):
    rooms = {node["id"]: Room(node) for node in state["nodes"]}
    running = [0] * len(state["stages"])
    for worker in state["workers"]:
        rooms[worker["node"]].take(worker)
        running[worker["stage_index"]] += 1
    answer = []
    for index, stage in enumerate(state["stages"]):
        wanted = 1 if stage["requested_workers"] is None else stage["requested_workers"]
        new = []
        while not stage["finished"] and running[index] + len(new) < wanted:
            places = (room.find(stage["shape"]) for room in rooms.values())
            worker = next((place for place in places if place), None)
            if worker is None:
                break
            rooms[worker["node"]].take(worker)
            new.append(worker)
        answer.append({"name": stage["name"], "new": new, "deleted": []})
    return {"status": "ok", "stages": answer}


for line in sys.stdin:
    state = json.loads(line)
    # "adopt" comes once when this policy takes over from another while the run goes on.
    reply = {"status": "ok"} if state["command"] == "adopt" else decide(state)
    print(json.dumps(reply), flush=True)
