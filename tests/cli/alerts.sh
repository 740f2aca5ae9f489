#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Prometheus, given what is exported of I08 and the rules that come with weir, says that jobs wait where
# capacity is short, after ten minutes of it, and nothing where it is enough.
# covers: S4.29
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v promtool >/dev/null || skip 'no promtool'
command -v python3 >/dev/null || skip 'no python3'

expect 0 "$WEIR_BIN" compare "$WEIR_SOURCE_DIR/scenarios/incidents/i08_pending.yaml" --set metrics.sample=1min -o pending.db
cat >rules.py <<'P'
import json, re, sys
rules, export, begins = sys.argv[1:]
row = re.compile(r'weir_jobs\{label="worker",state="waiting",(.*)\} (\S+) (\S+)\n')
rows = [found for found in map(row.match, open(export)) if found]
labels = dict(re.findall(r'(\w+)="([^"]*)"', rows[0][1]))
assert [float(r[3]) for r in rows[:2]] == [0, 60], rows[:2]
def said(minute, fires):
    alerts = [{"exp_labels": labels, "exp_annotations": {"summary": "jobs wait for ten minutes"}}]
    return {"eval_time": f"{minute}m", "alertname": "JobsWait", "exp_alerts": alerts if fires else []}
series = {"series": 'weir_jobs{label="worker",state="waiting",%s}' % rows[0][1],
          "values": " ".join("%g" % float(r[2]) for r in rows)}
first = int(begins)
json.dump({"rule_files": [rules], "evaluation_interval": "1m",
           "tests": [{"interval": "1m", "input_series": [series],
                      "alert_rule_test": [said(m, first <= m) for m in (5, 9, 10, 11, 20, 50)]}]}, sys.stdout)
P
judge() { # VARIANT MINUTE: from when on the alert fires
    expect 0 "$WEIR_BIN" export pending.db --to openmetrics --variant "$1"
    mv stdout "$1.om"
    python3 rules.py "$WEIR_SOURCE_DIR/analysis/tools/alerts.yaml" "$1.om" "$2" >"$1.yaml" || fail "$1: no rules"
}
judge broken 10
expect 0 promtool test rules broken.yaml
judge fix 999
expect 0 promtool test rules fix.yaml
judge broken 11
expect 1 promtool test rules broken.yaml
