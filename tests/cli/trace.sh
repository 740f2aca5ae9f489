# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Job traces from the command line: formats, facts, conversion, mistakes.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# What can be read is listed from the tables that read it.
expect 0 "$WEIR_BIN" trace formats
has stdout 'swf'
has stdout 'philly'
expect 0 "$WEIR_BIN" trace formats --format json
has stdout '"map": "slurm"'
# The manual has a row for each.
expect 0 "$WEIR_BIN" trace formats --format csv
tail -n +2 stdout >formats.csv
while IFS=, read -r kind map _; do
    grep -q "^| \`${map:-$kind}\` |" "$WEIR_SOURCE_DIR/docs/traces.md" || fail "docs/traces.md lacks ${map:-$kind}"
done <formats.csv
expect 0 "$WEIR_BIN" trace fields --format md
has stdout 'unix_ms'
expect 0 "$WEIR_BIN" trace map tiresias
cp stdout mine.json
has mine.json '"num_gpu"'
expect 2 "$WEIR_BIN" trace map tiresia
has stderr 'there are: weir philly'

# A table of jobs, one bad row, one twice, larger than a node; plain and compressed.
printf 'job_id,num_gpu,submit_time,duration\n0,1,0,7200\n1,2,60,0.5\n2,16,3600,60\n2,16,3600,60\n3,nan,1,1\n' >jobs.csv
gzip -k jobs.csv
expect 3 "$WEIR_BIN" trace info jobs.csv
has stderr "jobs.csv:6:2: column 'num_gpu': 'nan' is not a number"
printf 'sn,cpu_milli,memory_mib,gpu,model\na,8000,1024,8,T4\n' >nodes.csv
for file in jobs.csv jobs.csv.gz; do
    expect 0 "$WEIR_BIN" trace info $file --on-bad-row skip --nodes nodes.csv
    has stderr "skipped: $file:6:2:"
    has stderr '1 of 5 rows skipped'
    has stderr 'warning: 1 rows are there twice'
    has stdout ': tiresias'
    has stdout 'never fit one node: GPUs'
done
expect 0 "$WEIR_BIN" trace info jobs.csv --map mine.json --on-bad-row skip --format json --nodes nodes.csv
has stdout '"duplicate_rows": 1'
has stdout '"never_gpus": 2'
has stdout '"never_cluster": 2'
has stdout '"size": "16 gpu"'
python3 -m json.tool stdout >/dev/null 2>&1 || ! command -v python3 >/dev/null || fail 'no JSON'
expect 0 "$WEIR_BIN" trace info jobs.csv --on-bad-row skip --format csv
has stdout 'gpu_hours,2.5'
expect 0 "$WEIR_BIN" trace info - --map tiresias --on-bad-row skip <jobs.csv
has stdout 'GPU-hours'
expect 2 "$WEIR_BIN" trace info - <jobs.csv
has stderr 'name its format'

# A machine of a scenario instead of a list of nodes.
expect 0 "$WEIR_BIN" trace info jobs.csv --on-bad-row skip --scenario "$WEIR_SOURCE_DIR/scenarios/examples/video_pipeline.yaml"
has stdout 'nodes of the cluster'
expect 2 "$WEIR_BIN" trace info jobs.csv --nodes nodes.csv --scenario x.yaml
expect 3 "$WEIR_BIN" trace info jobs.csv --on-bad-row skip --nodes nothere.csv
has stderr 'weir: nothere.csv: No such file or directory'

# Nodes of three H100 and one T4 count as four H100: 2 GPUs for the first of 2 hours are 1 of 8, 12.5 %.
cat >mixed.yaml <<'YAML'
schema: 2
name: mixed
cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {t4: 1, h100: 3}}]}
jobs: [{name: w, run_time: 1 s, classes: [{name: a, count: 1, request: {cpus: 1}}]}]
YAML
printf 'name,submit_s,wait_s,run_s,estimate_s,patience_s,cpu_milli,memory_bytes,gpus,gpu_milli,gpu_memory_bytes,models,processors,priority,user,group,end\n0,0,0,3600,,,2000,,2,1000,,h100,,,,,\n1,7200,600,1800,,,4000,,1,1000,,h100,,,,,\n' >h100.csv
expect 0 "$WEIR_BIN" trace info h100.csv --scenario mixed.yaml --format json
python3 - <<'PY' || fail 'the facts by hand, or the load of the H100'
import json, sys
read = json.load(open("stdout"))
facts = dict(jobs=2, span_s=7200, window_from_s=0, window_s=7200, arrivals_per_hour=1, busiest_hour=1,
    empty_hours=50, dispersion=1, gap_cv=None, gpu_hours=2.5, cpu_hours=4, top_percent=80,
    run_p50_s=2700, run_p90_s=3420, run_p99_s=3582, run_max_s=3600, run_mean_s=2700,
    wait_p50_s=300, wait_p90_s=540, wait_p99_s=594, wait_max_s=600, wait_mean_s=300,
    gpus_mean=1, gpus_p50=0, gpus_p95=2, gpus_max=2, cpus_mean=1, cpus_p50=0, cpus_p95=2, cpus_max=2,
    running_mean=0.5, running_p50=0, running_p95=1, running_max=1,
    nodes_there=2, gpus_there=8, cpus_there=16, gpu_load=12.5, cpu_load=6.25)
none = """before_window skipped_rows never_started censored failed cancelled without_submit without_run
    without_wait without_request zero_run above_estimate unsorted duplicate_rows duplicate_names week_jobs
    week_share never_model never_gpus never_cpus never_memory never_cluster""".split()
assert read["facts"] == facts | dict.fromkeys(none, 0), read["facts"]
row = read["models"][0]
assert (row["models"], row["gpus_there"], row["load_percent"]) == ("h100", 8, 12.5)
PY

# To SWF and back, to weir's own table and back: the same jobs.
expect 0 "$WEIR_BIN" trace convert jobs.csv --on-bad-row skip -o jobs.swf --max-procs 64
has stderr 'jobs with fractions of seconds (--whole-seconds rounds them): 1'
has jobs.swf '; MaxProcs: 64'
has jobs.swf '; Note: converted by weir from jobs.csv (tiresias)'
[ "$(grep -vc '^;' jobs.swf)" -eq 4 ] || fail 'not four jobs'
has jobs.swf '2 60 -1 0.5 2 -1 -1 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1'
expect 0 "$WEIR_BIN" trace convert jobs.swf -o again.swf.gz
zcat again.swf.gz | grep -v '^;' >again.swf
grep -v '^;' jobs.swf >once.swf
same once.swf again.swf
expect 0 "$WEIR_BIN" trace convert jobs.csv --on-bad-row skip -o jobs.weir.csv
expect 0 "$WEIR_BIN" trace convert jobs.weir.csv --to weir
same stdout jobs.weir.csv
expect 0 "$WEIR_BIN" trace convert jobs.weir.csv --to swf --whole-seconds
has stdout '2 60 -1 1 2 '
expect 2 "$WEIR_BIN" trace convert jobs.csv
expect 3 "$WEIR_BIN" trace convert jobs.swf -o no/such/folder.swf

# Damaged and foreign files.
head -c 60 jobs.csv.gz >cut.csv.gz
expect 3 "$WEIR_BIN" trace info cut.csv.gz
has stderr 'ends early'
printf 'hello\n' >hello.txt
expect 3 "$WEIR_BIN" trace info hello.txt
has stderr 'no trace that is known by its head'
expect 3 "$WEIR_BIN" trace info nothere.csv
expect 3 "$WEIR_BIN" trace info jobs.csv --map hello.txt
has stderr 'hello.txt:1:'
expect 2 "$WEIR_BIN" trace
expect 2 "$WEIR_BIN" trace inform jobs.csv
expect 2 "$WEIR_BIN" trace info jobs.csv --kind table

command -v gnuplot >/dev/null || skip 'no gnuplot'
expect 0 "$WEIR_BIN" trace info jobs.csv --on-bad-row skip --plot arrivals.svg
has arrivals.svg '<svg'
has arrivals.dat '# hour_of_day'
expect 2 "$WEIR_BIN" trace info jobs.csv --on-bad-row skip --plot arrivals.png

# Jobs of one GPU and a minute, and of 16 and a day, are two groups; asked for five, still two.
{
    echo 'job_id,num_gpu,submit_time,iterations,model_name,duration,interval'
    for i in $(seq 30); do
        echo "$i,1,$((i * 100)),1,a,60,1"
        [ $((i % 3)) -ne 0 ] || echo "$((i + 100)),16,$((i * 100)),1,b,86400,1"
    done
} >kinds.csv
expect 0 "$WEIR_BIN" trace info kinds.csv --map tiresias --kind table --groups 5
matches stdout '^1 +10 +25 +16 +1 +'
matches stdout '^2 +30 +75 +1 +1 +'
hasnt stdout '^3 '
expect 2 "$WEIR_BIN" trace info kinds.csv --groups 0

# Rows that ask for MIG instances run on them, a family of models stands for its types, and a model
# that no node has is told before.
cat >cut.csv <<'CSV'
id,at,took,gpus,model,instance
a,0,60,0,,3g.20gb
b,0,60,0,,3g.20gb
c,0,60,1,A100,
d,0,60,1,A30,
CSV
echo '{"name": "cut", "fields": {"name": {"column": "id"}, "submit": {"column": "at"}, "run": {"column":
    "took"}, "gpus": {"column": "gpus"}, "models": {"column": "model"}, "mig": {"column": "instance"}}}' >cut.json
cat >cut.yaml <<'Y'
schema: 2
name: cut
cluster:
  nodes:
    - {name: m, count: 1, cpus: 8, gpus: {a100-40: 1}, share: mig, partition: [3g.20gb, 1g.5gb]}
    - {name: w, count: 1, cpus: 8, gpus: {a100-80: 1}}
sched: {placement: fgd, queueing: first_fit}
jobs: [{name: t, trace: cut.csv, columns: cut.json}]
Y
expect 0 "$WEIR_BIN" run cut.yaml --format json
has stderr "1 of 4 jobs can never run: they accept only GPU models that no node has, as 'A30'; there are: a100-40, a100-80"
value cut.db jobs.done '3g.20gb' 2
value cut.db wait.job.max '3g.20gb' 60
value cut.db jobs.done '1 gpu' 1
value cut.db jobs.refused '1 gpu' 1
sed -i s/3g.20gb/9g.99gb/ cut.csv
expect 2 "$WEIR_BIN" validate cut.yaml
has stderr '9g.99gb'
expect 0 "$WEIR_BIN" trace info cut.csv --map cut.json
has stdout 'mig instance'

# Rows that ask for no processor are left out and counted; in a fill, where orders count rows, one is a
# mistake. Rows no node holds are counted with the first of them; so are those larger than the cluster.
row() { echo "$1 $2 0 100 $3 -1 -1 $3 200 $4 -1 1 1 1 1 1 -1 -1"; }
{ row 1 0 4 -1; row 2 10 0 -1; row 3 20 -1 -1; row 4 30 2 -1; } >idle.swf
for key in jobs fill; do
    printf 'schema: 2\nname: idle\ncluster: {nodes: [{name: n, count: 4, cpus: 16, ram: 1GiB}]}\n' >"$key.yaml"
    echo "$key: [{name: w, trace: idle.swf}]" >>"$key.yaml"
done
expect 0 "$WEIR_BIN" run jobs.yaml -o idle.db
has stderr '2 of 4 jobs are left out: they ask for no processor; the first is in line 2'
value idle.db jobs.done '' 2
expect 2 "$WEIR_BIN" validate fill.yaml
has stderr 'fill.yaml:4:25: error: fill[0].trace: line 2: asks for no processor'
{ row 1 0 4 -1; row 2 10 68 -1; row 3 20 64 -1; row 4 30 2 2097152; row 5 40 128 -1; row 6 50 128 -1; } >idle.swf
expect 0 "$WEIR_BIN" run jobs.yaml --force -o idle.db
has stderr "jobs.yaml:4:25: warning: jobs[0].trace: 4 of 6 jobs can never run; the first, '2', needs 17 members at once, there is room for 16"
[ "$(grep -c 'can never run' stderr)" = 1 ] || fail 'a warning is given twice'
value idle.db jobs.infeasible '' 4
{ row 1 0 4 -1; row 4 30 2 2097152; } >idle.swf
expect 0 "$WEIR_BIN" validate jobs.yaml
has stderr "1 of 2 jobs can never run; the first, '4', needs 4 GiB of memory in one node, the largest node has 1 GiB"
{ row 1 0 4 -1; row 4 30 64 -1; } >idle.swf
expect 0 "$WEIR_BIN" validate jobs.yaml
hasnt stderr 'can never run'

# Rows keep their distance from time 0; whoever says with start_time that it is another date is told.
cat >dated.swf <<'END'
; UnixStartTime: 1507507200
7 0 0 100 4 -1 -1 4 100 -1 1 3 4 -1 -1 -1 -1 -1
8 3600 0 30 4 -1 -1 4 100 -1 1 3 4 -1 -1 -1 -1 -1
END
dated() {
    printf 'schema: 2\nname: dated\nstart_time: %s\ncluster: {nodes: [{name: n, cpus: 64}]}\njobs: [{name: w, trace: dated.swf, format: swf%s}]\n' \
        "$1" "${2:-}" >dated.yaml
    expect 0 "$WEIR_BIN" validate dated.yaml
}
dated 2017-10-09T00:00:00Z
hasnt stderr 'start_time'
dated 2017-10-09T01:00:00Z
has stderr 'time 0 is 2017-10-09T00:00:00Z by the trace and 2017-10-09T01:00:00Z by start_time'
dated 2017-10-09T01:00:00Z ', first_date: 2017-10-09T01:00:00Z'
hasnt stderr 'start_time'
dated 2017-10-09T01:00:00Z ', from: 1 h'
hasnt stderr 'start_time'

# A table that nobody knows: what to do.
printf 'a,b\n1,2\n' >unknown.csv
"$WEIR_BIN" show unknown.csv >stdout 2>stderr && fail 'an unknown table was shown'
has stderr 'weir show unknown.csv --map MAP.json'
