# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions to a manager of one box, as documents of weir decide."""
import json, subprocess, os

MB = 1 << 20

def task(cpus=0.0, ram=0, gpu=0):
    shape = {"type": "fractional_gpu", "cpus": cpus, "gpus": 0.01, "ram_bytes": ram * MB, "gpu_mem_bytes": gpu * MB}
    if not gpu:
        shape = {"type": "cpu_only", "cpus": cpus, "ram_bytes": ram * MB}
    return shape

def box(running, waiting, cpus=16, ram=65536, gpu=12288, grace=0, time=10):
    """running, waiting: (priority, shape) in the order in which they came, a second apart."""
    kinds, jobs, workers = [], [], []
    for state, tasks in ("running", running), ("waiting", waiting):
        for priority, shape in tasks:
            n = len(jobs)
            kinds.append({"groups": [{"ranks": 1, "shape": shape}]})
            job = {"workload": 0, "id": n, "kind": n, "state": state, "submit_ns": n, "priority": priority}
            if state == "running":
                job |= {"start_ns": n, "attempts": 1, "started": 1}
                gpus = [{"gpu": 0, "fraction": shape["gpus"], "mem_bytes": shape["gpu_mem_bytes"]}] if "gpus" in shape else []
                workers.append({"id": f"{n + 1}", "workload": 0, "job": n, "node": "0", "cpus": shape["cpus"],
                                "ram_bytes": shape["ram_bytes"], "gpus": gpus})
            jobs.append(job)
    return {"format": "weir-decision", "version": 3, "command": "autoscale", "time_ns": time * 10**9, "causes": ["jobs"],
            "next_worker": len(workers) + 1, 
            "nodes": [{"id": "0", "cpus": cpus, "ram_bytes": ram * MB, "type": 0, "gpu_list": [{"fraction": 1, "nvdecs": 1, "nvencs": 2, "type": 0, "mem_bytes": gpu * MB}]}],
            "stages": [], "workers": workers, "workloads": [{"name": "lab"}], "job_kinds": kinds, "jobs": jobs,
            "policy": {"placement": "first_fit", "scaling": "fixed", "queueing": "strict_priority", "queueing_params": {"grace": grace}}}

def decide(*documents):
    run = subprocess.run([os.environ["WEIR_BIN"], "decide", "--compact"], input="\n".join(map(json.dumps, documents)), text=True, capture_output=True)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]

def of(answer, verb, key="job"):
    return [action[key] for action in answer["actions"] if action["verb"] == verb]

class Session:
    """A manager that lives: it carries plans out and tells of it. `held` is the memory that is taken."""
    def __init__(self, document):
        self.serve = subprocess.Popen([os.environ["WEIR_BIN"], "decide", "--serve"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        self.time, self.kinds = document["time_ns"], len(document["job_kinds"])
        self.size = document["nodes"][0]["gpu_list"][0]["mem_bytes"]
        self.worker = {w["job"]: w["id"] for w in document["workers"]}
        self.held = {w["job"]: sum(g["mem_bytes"] for g in w["gpus"]) for w in document["workers"]}
        self.plan = self.say(document)

    def say(self, document):
        print(json.dumps(document), file=self.serve.stdin, flush=True)
        answer = json.loads(self.serve.stdout.readline())
        assert answer["status"] == "ok", answer
        return answer

    def next(self, refuse=(), ended=(), submit=None):
        """What was planned happens, but for starts of `refuse`; `ended` end, `submit` = (id, priority, shape) comes."""
        outcomes, over = [], list(ended)
        for job in list(ended) + of(self.plan, "preempt"):
            outcomes.append({"id": self.worker.pop(job), "outcome": "stopped"})
            del self.held[job]
            over += [job] if job not in ended else []
        for action in self.plan["actions"]:
            if action["verb"] != "start":
                continue
            taken = sum(gpu["mem_bytes"] for gpu in action["gpus"])
            is_refused = action["job"] in refuse
            outcomes.append({"id": action["id"], "outcome": "refused" if is_refused else "started"})
            if not is_refused:
                self.worker[action["job"]], self.held[action["job"]] = action["id"], taken
        assert sum(self.held.values()) <= self.size, "booked twice"
        self.time += 10**9
        change = {"format": "weir-decision", "version": 3, "command": "next", "time_ns": self.time, "causes": ["jobs"],
                  "outcomes": outcomes, "ended": [{"workload": 0, "id": job} for job in over]}
        if submit:
            job, priority, shape = submit
            change |= {"job_kinds": [{"groups": [{"ranks": 1, "shape": shape}]}],
                       "submitted": [{"workload": 0, "id": job, "kind": self.kinds, "priority": priority}]}
            self.kinds += 1
        self.plan = self.say(change)
        return self.plan
