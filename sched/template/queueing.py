# SPDX-License-Identifier: Apache-2.0
"""template: the job with the fewest GPUs is next. The least key wins, of equals the first."""
import json, sys

for line in map(json.loads, sys.stdin):  # a line a pass: now_s, nodes and jobs that are new, gone
    keys = {job["id"]: job["gpus"] for job in line["jobs"]}  # a key stays until another one comes
    print(json.dumps({"keys": keys}), flush=True)
