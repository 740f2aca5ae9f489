#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# weir decide --serve: a line in, a line out; what is wrong with a line is its answer, and the session
# goes on as if it had not come. WEIR_LINES=100000 is the bench of docs/decide.md.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'

cat >lines.py <<'P'
# Writes lines and the number of those that are broken: jobs come and go on two nodes of eight GPUs.
import json, random, sys
count = int(sys.argv[1])
draw = random.Random(7)
head = {"format": "weir-decision", "version": 3}
nodes = [{"id": f"n-{i}", "cpus": 64, "gpus": 8} for i in range(2)]
shape = {"type": "whole_gpu", "gpus": 2, "cpus": 4}
start = dict(head, command="autoscale", nodes=nodes, stages=[], workloads=[{"name": "day"}],
             job_kinds=[{"groups": [{"ranks": 1, "shape": shape}]}],
             policy={"placement": "best_fit", "scaling": "fixed", "queueing": "easy"})
good = json.dumps(start)
broken = ["", "{", "[]", "7", "\"text\"", good[:200], good.replace("nodes", "nods", 1), "\x00{}", "[" * 5000,
          good.replace("best_fit", "best_fti", 1), json.dumps(dict(head, command="nxt")),
          json.dumps(dict(head, command="next", outcomes=[{"id": "n999999", "outcome": "started"}])),
          json.dumps(dict(head, command="next", ended=[{"workload": 0, "id": 999999}])),
          json.dumps(dict(head, command="next", submited=[])), '{"a": 1, "a": 2}', "\xff\xfe"]
out = open("in.jsonl", "w", encoding="latin-1")
plan = open("broken.txt", "w")
out.write(good + "\n")
job = 0
for i in range(2, count + 1):
    if draw.random() < 0.01:
        out.write(draw.choice(broken) + "\n")
        plan.write(f"{i}\n")
        continue
    job += 1
    line = dict(head, command="next", time_ns=i * 10**9, causes=["jobs"], carried_out=True,
                submitted=[{"workload": 0, "id": job, "kind": 0, "estimate_ns": 10**9}])
    if job > 3:   # three live: the first worker of the session is n0, the next n1, ...
        line["outcomes"] = [{"id": f"n{job - 4}", "outcome": "stopped"}]
        line["ended"] = [{"workload": 0, "id": job - 3}]
    out.write(json.dumps(line) + "\n")
P
count=${WEIR_LINES:-3000}
python3 lines.py "$count"
begin=$(date +%s%N)
expect 0 "$WEIR_BIN" decide --serve <in.jsonl
taken=$((($(date +%s%N) - begin) / count))
mv stdout answers.jsonl
[ ! -s stderr ] || fail "something on standard error: $(head -1 stderr)"
[ "$(wc -l <in.jsonl)" -eq "$count" ] || fail 'not so many lines came in'
cat >check.py <<'P'
import json, sys
broken = {int(line) for line in open("broken.txt")}
job = 0
for number, text in enumerate(open("answers.jsonl"), 1):
    answer = json.loads(text)
    assert answer["format"] == "weir-decision-answer" and answer["line"] == number, text
    if number in broken:
        assert answer["status"] == "error" and answer["error_message"] and answer["changes"] == 0, text
        assert not answer["error_message"].startswith("line:"), text
        continue
    assert answer["status"] == "ok", f"line {number}: {text}"
    starts = [action for action in answer["actions"] if action["verb"] == "start"]
    if number > 1:   # no line that was broken has left anything out, or begun anything
        job += 1
        assert [(a["job"], a["id"]) for a in starts] == [(job, f"n{job - 1}")], text
assert number == int(sys.argv[1]), f"{number} answers"
assert len(broken) > number / 200, len(broken)
print(f"{number} lines, {len(broken)} broken, none lost")
P
expect 0 python3 check.py "$count"
[ -z "${WEIR_LINES:-}" ] || echo "$(cat stdout): $((taken / 1000)) us a line, decisions included"

# Each mistake says where it is and what was meant.
says() {
    printf '%s\n' "$1" "$good" | "$WEIR_BIN" decide --serve >stdout
    matches <(head -1 stdout) "$2"
    matches <(tail -1 stdout) '"status":"ok"'
}
good=$(head -1 in.jsonl)
says "${good/\"nodes\"/\"nods\"}" '"message":"nods: unknown key","did_you_mean":"nodes"'
says "${good/best_fit/best_fti}" "unknown policy best_fti; did you mean 'best_fit'\?"
says "$(head -2 in.jsonl | tail -1)" 'a session begins with a document of the command autoscale'
says '{' '"errors":\[\{"column":1,'
says "[$good]" 'must be one object'
says "$(sed 's/"workloads"/"estimates":[{"batches_per_s":1}],&/' <<<"$good")" 'estimates\[0\]: there are 0 stages'

# A node is lost and comes back, one comes anew; a stage tells of its queue.
next='{"format":"weir-decision","version":3,"command":"next"'
{
    echo "$good"
    echo "$next,\"time_ns\":1,\"causes\":[\"nodes\"],\"changed_nodes\":[{\"id\":\"n-0\",\"up\":false},{\"id\":\"n-1\",\"up\":false}],\"submitted\":[{\"workload\":0,\"id\":1,\"kind\":0}]}"
    echo "$next,\"time_ns\":2,\"causes\":[\"nodes\"],\"new_nodes\":[{\"id\":\"late\",\"cpus\":64,\"gpus\":8}]}"
    echo "$next,\"time_ns\":1}"
    echo "$next,\"time_ns\":3,\"carried_out\":true,\"changed_nodes\":[{\"id\":\"nobody\",\"up\":false}]}"
    echo "$next,\"time_ns\":3,\"causes\":[\"jobs\"],\"job_kinds\":[{\"groups\":[{\"ranks\":2,\"shape\":{\"type\":\"cpu_only\",\"cpus\":60}}]}],\"submitted\":[{\"workload\":0,\"id\":2,\"kind\":1}],\"changed_nodes\":[{\"id\":\"n-1\",\"up\":true}]}"
} | "$WEIR_BIN" decide --serve >stdout
line() { sed -n "$1p" stdout; }
hasnt <(line 2) '"verb":"start"'
matches <(line 3) '"verb":"start"|"node":"late"'
matches <(line 4) 'time_ns: it was 2 before'
matches <(line 5) 'node nobody is not listed.*"changes":1,'
matches <(line 6) '"node":"n-1".*"node":"late"|"node":"late".*"node":"n-1"'

# A line that is too long is passed over: no more of it is kept than the limit, and the session goes on.
{
    echo "$good"
    head -c 1048577 /dev/zero | tr '\0' ' '
    echo
    printf '%s%*s\n' "$good" $((1048576 - ${#good})) ''
    head -c 300000000 /dev/zero | tr '\0' '['
} >long.jsonl
room=600000
if ldd "$WEIR_BIN" | grep libasan >/dev/null; then room=unlimited; fi # its shadow takes terabytes
expect 0 bash -c "ulimit -v $room"'; "$0" decide --serve --limit line=1 <long.jsonl' "$WEIR_BIN"
matches <(line 1) '"status":"ok"'
matches <(line 2) '"error_message":"a line of 1048577 bytes: more than 1 MiB are not read \(--limit line=MIB\)".*"changes":0'
matches <(line 3) '"status":"ok"'
matches <(line 4) '"error_message":"a line of 300000000 bytes'
rm long.jsonl

expect 2 "$WEIR_BIN" decide --serve in.jsonl
has stderr '--serve reads standard input'
