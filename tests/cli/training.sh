#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every scenario under scenarios/training meets its expectations; who waits for a limit is told so;
# mistakes in tenants are named with their place.
# covers: S1.5
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

for file in "$WEIR_SOURCE_DIR"/scenarios/training/*.yaml; do
    name=$(basename "$file" .yaml)
    has "$WEIR_SOURCE_DIR/scenarios/README.md" "training/$name.yaml"
    expect 0 "$WEIR_BIN" compare "$file" --check -o "$name.db"
    chart=$(sed -n 's/^# Chart: weir plot DB //p' "$file")
    [ -n "$chart" ] || fail "$name names no chart in its header"
    has "$WEIR_SOURCE_DIR/scenarios/training/README.md" "| \`weir plot $name.db $chart\` |"
    command -v gnuplot >/dev/null || continue
    eval "set -- $chart"
    expect 0 "$WEIR_BIN" plot "$name.db" "$@" -o "$name.svg"
    hasnt "$name.svg" 'No data'
done

# The title of the chart, recomputed from the results.
if command -v gnuplot >/dev/null && command -v sqlite3 >/dev/null; then
    expect 0 "$WEIR_BIN" report reclaim.db --variant reclaim -o page.html
    share=$(sqlite3 reclaim.db "SELECT printf('%.0f', 100 * value) FROM v_result WHERE
        variant = 'reclaim' AND metric = 'tenant.share' AND label = 'speech'")
    grep -A1 '<figure id="tenant-share">' page.html | sed 's/\xc2\xa0/ /g' >title
    has title "speech has $share % of the GPU time of tenants, 12.4 GPUs on average"
fi

# Who waits for whom, and the gangs, by hand: the 2160 small jobs wait behind the large one for two
# hours with half of the GPUs free, and for one behind all of them.
expect 0 "$WEIR_BIN" report convoy.db --format json
python3 - <<'PY' || fail 'who waits for whom'
import json
claims = {claim["name"]: claim for claim in json.load(open("stdout"))["claims"]}
# small job i comes at 5 i s and waits to the end of the run at 3 h
early = sum(max(0, 7200 - 5 * i) for i in range(2160))
late = sum(10800 - max(7200, 5 * i) for i in range(2160))
waits = claims["waits.holders"]["values"]
assert waits["waiter"] == "small" and waits["holder"] == "all", waits
assert abs(waits["wait_s"] - (early + late)) < 30, (waits, early + late)
assert abs(waits["held"] - 64 * late / (early + late)) < 0.01, waits
assert abs(waits["free"] - 32 * early / (early + late)) < 0.01, waits
gangs = claims["gangs.wait"]["values"]
assert (gangs["name"], gangs["wait_s"], gangs["gpus"]) == ("work/all-0", 7200, 64), gangs
PY
# Both teams of the example have two thirds of what they need most.
expect 0 "$WEIR_BIN" report drf.db --format json
python3 - <<'PY' || fail 'dominant shares'
import json
claims = {claim["name"]: claim for claim in json.load(open("stdout"))["claims"]}
shares = claims["tenants.dominant"]["values"]
assert abs(shares["share"] - 2 / 3) < 1e-3 and abs(shares["other_share"] - 2 / 3) < 1e-3, shares
PY
for chart in 'convoy who-waits' 'convoy gangs' 'borrow dominant-share'; do
    command -v gnuplot >/dev/null || continue
    expect 0 "$WEIR_BIN" plot "${chart% *}.db" "${chart#* }" -o chart.svg
    hasnt chart.svg 'No data'
done
expect 0 "$WEIR_BIN" report borrow.db -o page.html
has page.html '<td>speech</td>'
has page.html '<h2 id="waits">Who waits for whom</h2>'

# The ninth job of a quota of eight, while 20 GPUs are free, and who has the eight.
expect 0 "$WEIR_BIN" explain quota.db --pending --at 30min
has stdout '16 jobs wait for 1 CPU + 1 GPU'
has stdout 'a limit of its tenant is reached'
has stdout 'job training/models-3'

# What is kept from a job by a reservation in advance alone is said; whoever decides from what was
# written of it keeps to it, too.
expect 0 "$WEIR_BIN" explain reservation.db --pending --at 105min
has stdout 'nodes are reserved for others'
expect 0 "$WEIR_BIN" explain reservation.db --at 105min --decide
cp stdout question.json
has question.json '"reservations"'
expect 0 "$WEIR_BIN" decide question.json
[ "$(grep -c '"verb": "start"' stdout)" -eq 8 ] || fail 'not the eight brief jobs start'
[ "$(grep -c '"job": 1[23]' stdout)" -eq 8 ] || fail 'a long job starts on reserved nodes'

# covers: S1.8
# Every symbol of the objective is a column.
every_symbol() {
    local column count=0
    for column in $(sed -n '/^## Symbols of the objective/,$p' "$WEIR_SOURCE_DIR/docs/metrics.md" |
        sed -n 's/.*| \(`[a-z_]*\.[^|]*\) |$/\1/p' | tr -d '`,'); do
        sqlite3 objective.db "SELECT ${column#*.} FROM ${column%.*} LIMIT 1" >/dev/null 2>&1 ||
            fail "no column $column"
        count=$((count + 1))
    done
    [ "$count" -eq 11 ] || fail "$count columns of symbols"
}
! command -v sqlite3 >/dev/null || every_symbol

# A decision that is made again from what was written of it holds the same jobs.
expect 0 "$WEIR_BIN" explain quota.db --at 10min --decide
cp stdout question.json
has question.json '"research"'
expect 0 "$WEIR_BIN" decide question.json
cp stdout answer.json
[ "$(grep -c '"start"' answer.json)" -ge 1 ] || fail 'nothing starts again'

# Mistakes.
quota="$WEIR_SOURCE_DIR/scenarios/training/quota.yaml"
wrong() {
    sed "$1" "$quota" >wrong.yaml
    expect 2 "$WEIR_BIN" validate wrong.yaml
    matches stderr "^wrong.yaml:[0-9]+:[0-9]+: error: $2"
}
wrong 's/tenant: research/tenant: reserch/' "jobs\\[0\\].classes\\[0\\].tenant: there is no tenant 'reserch'.*did you mean 'research'"
wrong 's/{name: product}/{name: product, parent: reseach}/' "tenants\\[1\\].parent: there is no tenant 'reseach'.*did you mean 'research'"
wrong 's/{name: product}/{name: research}/' "tenants\\[1\\].name: two tenants are called 'research'"
wrong 's/{name: product}/{name: product, lend: 3}/' 'tenants\[1\].lend: is a part of the guarantee, and there is none'
wrong 's/{name: product}/{name: product, borrow: 3}/' 'tenants\[1\].borrow: is what goes beyond the guarantee'
wrong 's/quota: 8}/quota: 8, guarantee: 9}/' 'tenants\[0\].guarantee: is more than the hard limit'
wrong 's/{name: product}/{name: product, wieght: 3}/' "tenants\\[1\\].wieght: unknown key.*did you mean 'weight'"
wrong 's/- {name: product}/- {name: product, parent: a}\n  - {name: a, parent: product}/' "tenants\\[1\\].parent: 'product' is a part of itself"

# show of a result database: what each tenant got, recomputed from the jobs; of one without, a word.
expect 0 "$WEIR_BIN" show tenant.db
matches stdout '^first_fit +a +400 '
has stdout 'next: weir compare tenant.db'
expect 0 "$WEIR_BIN" show tenant.db --format json
python3 - <<'PY' || fail 'what a tenant got is something else'
import json, sqlite3
rows = json.load(open("stdout"))["rows"]
db = sqlite3.connect("tenant.db")
assert len(rows) == 3 * db.execute("select count(distinct variant) from run").fetchone()[0], len(rows)
for row in rows:
    jobs, hours, wait, again = db.execute("""select avg(jobs), avg(hours), avg(wait), max(again) from (select
        max(attempts) > 1 as again, count(*) as jobs,
        sum(j.gpus * (j.end_s - j.start_s)) / 3600 as hours, avg(j.first_start_s - j.submit_s) as wait
        from job j join run using (run_id) where variant = ? and tenant = ? group by run_id)""",
        (row["variant"], row["tenant"])).fetchone()
    assert row["jobs_done"] == jobs, (row, jobs)
    assert again or abs(row["gpu_hours"] / hours - 1) < 1e-6, (row, hours)
    assert abs(row["wait_mean_s"] / wait - 1) < 1e-6, (row, wait)
    assert row["guarantee"] == {"a": 8, "b": 4, "c": 4}[row["tenant"]], row
first = [row for row in rows if row["variant"] == "first_fit"]
assert abs(sum(row["share"] for row in first) - 1) < 1e-6, first
PY
expect 0 "$WEIR_BIN" show elasticity.db
has stdout 'No tenants in elasticity.db'
