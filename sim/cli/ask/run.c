/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `weir run`: simulates a scenario and prints what a person, or a program, wants to know first. */
#include "analysis/text.h"
#include "sim/cli/ask/compare_two.h"
#include "sim/cli/ask/run_decisions.h"
#include "sim/cli/ask/windows_print.h"
#include "sim/cli/commands.h"
#include "sim/cli/experiment/simulate_options.h"
#include "sim/cli/line.h"
#include "sim/cli/plugin.h"
#include "sim/lab/load_bound.h"
#include "sim/record/record.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static void check(const void *given, const struct argp_state *state)
{
    const struct sim_simulate_options *options = given;
    if (options->spans != NULL && options->resume)
        argp_error(state, "--spans needs a run from the start, --resume keeps finished ones");
}

static uint32_t kind_of(const void *arguments)
{
    const struct sim_simulate_options *options = arguments;
    return sim_file_kind(options->path);
}

static const struct sim_option command_rows[] = {
    { "spans", 0, "FILE", SIM_OPTION(TEXT, sim_simulate_options, spans),
      "Write every task of the first replication: .csv, .csv.gz, or a Chrome trace .json, "
      ".json.gz",
      .of = SIM_FILE_SCENARIO },
    { "spans-limit", 0, "N", SIM_OPTION(COUNT64, sim_simulate_options, spans_limit),
      "Write at most N spans (default: all, in a trace 1000000)", .of = SIM_FILE_SCENARIO,
      .belongs_to = "spans" },
    { "replication", 0, "N", SIM_OPTION(TEXT, sim_simulate_options, replication),
      "Of a database: repeat this replication alone (default: all)", .of = SIM_FILE_DATABASE },
    { .argument = "SCENARIO|DB",
      SIM_OPTION(TEXT, sim_simulate_options, path),
      .missing = "which scenario? `weir new pipeline my.yaml` writes one to start from (or jobs, "
                 "incident); "
                 "of a database: `weir run my.db` repeats it",
      .one = "one file at a time; weir compare takes several" },
    { .kind = SIM_OPTION_OTHERS, .others = &sim_simulate_table },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .shown = "output replications set variant format resume force plugin seed jobs quiet check",
    .kind_of = kind_of,
    .check = check,
    .usage = "SCENARIO|DB",
    .help = "Simulate a scenario. Of a result database: repeat its runs and compare their digests; "
            "--variant LABEL and --replication N say which.\v"
            "Exit codes: 0 ok, 1 an expectation is not met (--check) or "
            "a run ended early without being expected to, 2 usage or "
            "invalid scenario, 3 input or database, "
            "4 scheduler module, 5 broken invariant, 6 out of memory or disk, 130 "
            "interrupted.",
};

static double throughput(const struct sim_run_summary *run)
{
    return run->simulated_s > 0 ? (double)run->items_done / run->simulated_s : 0.0;
}

/* ---- JSON ---- */

static void write_digest(struct sim_json *json, const char *key, uint64_t digest)
{
    char text[20];
    (void)snprintf(text, sizeof(text), "%016llx", (unsigned long long)digest);
    sim_json_string(sim_json_key(json, key), text);
}

static void write_number(struct sim_json *json, const char *key, double value)
{
    sim_json_number(sim_json_key(json, key), value);
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

static double number_of(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? (double)NAN
                                                           : sqlite3_column_double(row, column);
}

static void write_metrics(struct sim_json *json, const struct sim_experiment *experiment,
                          size_t run)
{
    sqlite3_stmt *row =
        sim_experiment_rows(experiment,
                            "SELECT metric, value FROM (SELECT rowid AS id, 0 AS part, * FROM "
                            "result UNION ALL SELECT rowid, 1, run_id, metric, label, value, "
                            "unit, 1, 0, 0 FROM result_wall) WHERE run_id = ? AND label = '' "
                            "ORDER BY part, id",
                            run);
    sim_json_begin_object(sim_json_key(json, "metrics"));
    while (sim_experiment_step(experiment, row))
        write_number(json, text_of(row, 0), number_of(row, 1));
    sim_json_end_object(json);
    (void)sqlite3_finalize(row);
}

/* Metric by metric, in the order in which they came. */
static void write_labels(struct sim_json *json, const struct sim_experiment *experiment, size_t run)
{
    sqlite3_stmt *row = sim_experiment_rows(
        experiment,
        "SELECT metric, label, value, rowid = first FROM (SELECT rowid, *, min(rowid) OVER "
        "(PARTITION BY metric) AS first FROM result WHERE run_id = ? AND label <> '') "
        "ORDER BY first, rowid",
        run);
    bool is_open = false;
    sim_json_begin_object(sim_json_key(json, "metrics_by_label"));
    while (sim_experiment_step(experiment, row)) {
        if (sqlite3_column_int(row, 3) != 0) {
            if (is_open)
                sim_json_end_object(json);
            sim_json_begin_object(sim_json_key(json, text_of(row, 0)));
            is_open = true;
        }
        write_number(json, text_of(row, 1), number_of(row, 2));
    }
    if (is_open)
        sim_json_end_object(json);
    sim_json_end_object(json);
    (void)sqlite3_finalize(row);
}

static void write_run(struct sim_json *json, const struct sim_experiment *experiment, size_t index)
{
    struct sim_run_summary summary = { .completion_s = (double)NAN };
    const struct sim_run_summary *run = &summary;
    (void)sim_experiment_summary(experiment, index, &summary);
    sim_json_unsigned(sim_json_key(json, "replication"), run->replication);
    sim_json_unsigned(sim_json_key(json, "seed"), run->seed);
    sim_json_string(sim_json_key(json, "status"), run->outcome);
    sim_json_string(sim_json_key(json, "message"), run->message);
    write_digest(json, "digest", run->digest);
    write_digest(json, "result_digest", run->result_digest);
    write_number(json, "simulated_s", run->simulated_s);
    write_number(json, "completion_s", run->completion_s);
    write_number(json, "ended_early_s", run->early_s);
    sim_json_unsigned(sim_json_key(json, "items_done"), run->items_done);
    write_number(json, "throughput_per_s", throughput(run));
    sim_json_unsigned(sim_json_key(json, "events"), run->events);
    write_number(json, "wall_s", run->wall_s);
    write_number(json, "cpu_s", run->cpu_s);
    write_number(json, "peak_rss_mib", run->peak_rss_mib);
    write_number(json, "decision_mean_ms",
                 sim_experiment_value(experiment, index, "sched.cpu_ms.mean", ""));
    write_metrics(json, experiment, index);
    write_labels(json, experiment, index);
    if (sim_experiment_keep(experiment, 0) >= SIM_KEEP_JOBS)
        sim_run_decisions_write(json, experiment, index);
}

static void print_json(const struct sim_experiment *experiment, FILE *out)
{
    struct sim_json json = { .out = out };
    sim_json_begin_object(&json);
    sim_json_integer(sim_json_key(&json, "schema"), 1);
    sim_json_string(sim_json_key(&json, "scenario"), experiment->scenarios[0]->name);
    write_digest(&json, "scenario_digest", experiment->scenarios[0]->digest);
    sim_json_string(sim_json_key(&json, "database"), experiment->database);
    sim_json_unsigned(sim_json_key(&json, "expectations_unmet"), experiment->unmet_count);
    sim_json_unsigned(sim_json_key(&json, "unexpected_ends"), experiment->unexpected_ends);
    write_run(&json, experiment, 0);
    if (experiment->replications > 1) {
        sim_json_begin_array(sim_json_key(&json, "runs"));
        for (uint32_t r = 0; r < experiment->replications; r++) {
            sim_json_begin_object(&json);
            write_run(&json, experiment, r);
            sim_json_end_object(&json);
        }
        sim_json_end_array(&json);
    }
    sim_json_end_object(&json);
    (void)fputc('\n', out);
}

/* ---- one screen for a person ---- */

/* Of the first variant, over its replications. */
static double mean_of(const struct sim_experiment *experiment, const char *metric,
                      const char *label)
{
    return sim_experiment_mean(experiment, 0, metric, label);
}

/* A time as it is known: "≥ 3h", "3h so far". */
static struct an_word time_of(const struct sim_experiment *experiment, const char *metric,
                              const char *label)
{
    const struct sim_figure figure = sim_experiment_figure(experiment, 0, metric, label);
    return an_word_known(an_word_duration(figure.value), figure.is_lower_bound, figure.is_partial);
}

static double mean(const struct sim_experiment *experiment, const char *metric)
{
    return mean_of(experiment, metric, "");
}

static struct an_word duration_of(double seconds)
{
    struct an_word word = { "–" };
    if (seconds < 120)
        (void)snprintf(word.text, sizeof word.text, "%.3g s", seconds);
    else if (seconds < 7200)
        (void)snprintf(word.text, sizeof word.text, "%.3g min", seconds / 60);
    else if (!isnan(seconds))
        (void)snprintf(word.text, sizeof word.text, "%.3g h", seconds / 3600);
    return word;
}

static struct an_word rate_of(double per_s)
{
    struct an_word word = { "–" };
    if (!isnan(per_s))
        (void)snprintf(word.text, sizeof word.text, "%.4g items/s", per_s);
    return word;
}

/* As it is known: "≥ 3 h". */
static struct an_word latency_of(const struct sim_experiment *experiment, const char *metric,
                                 const char *label)
{
    const struct sim_figure figure = sim_experiment_figure(experiment, 0, metric, label);
    return an_word_known(duration_of(figure.value), figure.is_lower_bound, false);
}

static void print_latency(const struct sim_experiment *experiment, FILE *out)
{
    (void)fprintf(out, "latency        p50 %s   p95 %s   p99 %s\n",
                  latency_of(experiment, "lat.e2e.p50", "").text,
                  latency_of(experiment, "lat.e2e.p95", "").text,
                  latency_of(experiment, "lat.e2e.p99", "").text);
}

/* The stage of a pipeline that is the slowest for longest, after `head`: what prints as 0 % is
 * none.
 */
static void print_bottleneck(const struct sim_experiment *experiment, size_t pipeline,
                             const char *head, FILE *out)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    const struct sim_pipeline *work = &scenario->pipelines[pipeline];
    const struct sim_stage *worst = NULL;
    double share = 0.005;
    for (size_t s = 0; s < work->stages_count; s++) {
        char label[256];
        const struct sim_stage *stage = &work->stages[s];
        double value = mean_of(experiment, "bottleneck.share", stage->name);
        (void)snprintf(label, sizeof label, "%s/%s", work->name, stage->name);
        if (isnan(value)) /* another pipeline has a stage of this name */
            value = mean_of(experiment, "bottleneck.share", label);
        if (value > share) {
            share = value;
            worst = stage;
        }
    }
    if (worst != NULL)
        (void)fprintf(out, "%s%s %.0f %% of the time\n", head, worst->name, share * 100.0);
}

/* A pipeline among other work. */
static void print_pipeline(const struct sim_experiment *experiment, size_t index, FILE *out)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    const char *name = scenario->pipelines[index].name;
    const bool has_label = scenario->pipelines_count > 1 || scenario->workloads_count > 0 ||
                           scenario->actors_count > 0;
    const char *label = has_label ? name : "";
    (void)fprintf(out, "%-14s %s   latency p95 %s\n", name,
                  rate_of(mean_of(experiment, "thr.pipeline", label)).text,
                  latency_of(experiment, "lat.e2e.p95", label).text);
    print_bottleneck(experiment, index, "  slowest      ", out);
}

/* An actor system: who is not there yet, and how its training loop goes. */
static void print_actors(const struct sim_experiment *experiment, FILE *out)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    for (size_t i = 0; i < scenario->actors_count; i++) {
        const struct sim_actor_system *system = &scenario->actors[i];
        const char *label = scenario->actors_count == 1 ? "" : system->name;
        const double pending = mean_of(experiment, "actor.pending.final", label);
        (void)fprintf(out, "%-14s %g CPUs and %g GPUs asked for", system->name,
                      mean_of(experiment, "actor.cpus", label),
                      mean_of(experiment, "actor.gpus", label));
        if (pending > 0)
            (void)fprintf(out, "   %g actors pending", pending);
        if (system->training.is_there && mean_of(experiment, "rl.steps", label) > 0)
            (void)fprintf(out, "   %g steps   rollouts work %.1f %%   staleness up to %g",
                          mean_of(experiment, "rl.steps", label),
                          100 * mean_of(experiment, "rl.rollout_util", label),
                          mean_of(experiment, "rl.staleness.max", label));
        (void)fprintf(out, "\n");
    }
}

/* Of less than 5 % of free GPUs it says nothing. */
static struct an_word fragmented_text(double assigned, double gpus)
{
    struct an_word word = { "" };
    if (assigned <= 0.95)
        (void)snprintf(word.text, sizeof word.text, "   fragmented %.2f GPUs", gpus);
    return word;
}

static void print_gpu(const struct sim_experiment *experiment, FILE *out)
{
    const double active = mean(experiment, "util.gpu.active");
    const double assigned = mean(experiment, "util.gpu.assigned");
    const double frag = mean(experiment, "frag.gpu.fgd");
    if (!isnan(active))
        (void)fprintf(out, "GPUs           allocated %.1f %%   used %.1f %%%s\n", assigned * 100.0,
                      active * 100.0, fragmented_text(assigned, frag).text);
}

static void print_end(const struct sim_experiment *experiment, const struct sim_run_summary *run,
                      FILE *out)
{
    char early[SIM_EARLY_TEXT];
    if (sim_experiment_early(experiment, 0, early) > 0)
        (void)fprintf(out, "%s\n", early);
    const double warmup_s = sim_time_s(experiment->scenarios[0]->warmup_ns);
    if (warmup_s > 0 && warmup_s >= run->simulated_s)
        (void)fprintf(out, "warm-up        %s, all of the run: nothing is left to count\n",
                      duration_of(warmup_s).text);
    (void)fprintf(out, "digest         %016llx   result %016llx\n", (unsigned long long)run->digest,
                  (unsigned long long)run->result_digest);
    if (experiment->replications > 1)
        (void)fprintf(out, "%u replications: figures are means, digests of the first%s\n",
                      experiment->replications,
                      sim_experiment_has_failed(experiment) ? "; those that failed are left out"
                                                            : "");
    if (sim_experiment_keep(experiment, 0) == SIM_KEEP_SERIES &&
        experiment->scenarios[0]->keep == SIM_KEEP_UNSAID)
        (void)fprintf(out,
                      "kept           series, but no single jobs, of about %.3g jobs in all runs: "
                      "metrics.keep decides\n",
                      experiment->jobs);
}

/* Why GPUs are left, and the one change that would help most. */
static void print_causes(const struct sim_experiment *experiment, FILE *out)
{
    static const struct {
        const char *metric, *text;
    } causes[] = { { "unalloc.fraction_pct", "too little left on a GPU" },
                   { "unalloc.gang_pct", "too few whole GPUs on a node" },
                   { "unalloc.cpu_pct", "CPUs short" },
                   { "unalloc.gpumem_pct", "GPU memory short" },
                   { "unalloc.mem_pct", "memory short" },
                   { "unalloc.model_pct", "no accepted model" },
                   { "unalloc.policy_pct", "refused by the policy" },
                   { "unalloc.no_demand_pct", "not asked for" } };
    (void)fprintf(out, "unallocated    %.2f %%", mean(experiment, "unalloc.gpu_pct"));
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        const double value = mean(experiment, causes[i].metric);
        if (value >= 0.005)
            (void)fprintf(out, "   %s %.2f %%", causes[i].text, value);
    }
    (void)fputc('\n', out);
    sqlite3_stmt *row =
        sim_experiment_rows(experiment,
                            "SELECT change FROM placement_change WHERE run_id = ? AND label = "
                            "'' ORDER BY rank LIMIT 1",
                            0);
    if (sim_experiment_step(experiment, row))
        (void)fprintf(out, "would help     %s: %.1f GPUs more allocated\n", text_of(row, 0),
                      mean(experiment, "unalloc.best_change_gpus"));
    (void)sqlite3_finalize(row);
}

static void print_defrag(const struct sim_experiment *experiment, FILE *out)
{
    const double moves = mean(experiment, "defrag.moves");
    if (isnan(moves))
        return;
    (void)fprintf(
        out,
        "moving jobs    %.0f moves of %.1f GPUs (%.1f GPU hours): fragmented %.1f → %.1f "
        "GPUs, %+.1f GPUs allocated\n",
        moves, mean(experiment, "defrag.moved_gpus"), mean(experiment, "defrag.cost_gpu_h"),
        mean(experiment, "defrag.frag_before_gpus"), mean(experiment, "defrag.frag_after_gpus"),
        mean(experiment, "defrag.regained_gpus"));
}

/* How far from the best that any scheduler could do. */
static void print_bound(const struct sim_experiment *experiment, FILE *out)
{
    static const char *const labels[] = { "100 % arrived", "" };
    (void)fprintf(out, "bound         ");
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        const double bound = mean_of(experiment, "alloc.bound_pct", labels[i]);
        const double gap = mean_of(experiment, "alloc.gap_pp", labels[i]);
        if (!isnan(bound))
            (void)fprintf(out, " GPUs %.2f %%, %.2f points more, %s  ", bound, gap,
                          labels[i][0] == '\0' ? "at the end" : "when 100 % were asked for;");
    }
    (void)fprintf(out, "(%.2f s)\n", mean(experiment, "bound.wall_s"));
}

/* A static workload: no time, so no throughput and no latency. */
static void print_jobs(const struct sim_experiment *experiment, const struct sim_run_summary *run,
                       FILE *out)
{
    (void)fprintf(out, "%s · %s · seed %llu · %llu arrivals in %.2f s\n",
                  experiment->scenarios[0]->name,
                  experiment->scenarios[0]->sched.placement.placement->name,
                  (unsigned long long)run->seed, (unsigned long long)run->events, run->wall_s);
    (void)fprintf(out, "jobs           %.0f placed   %.0f refused   %s\n",
                  mean(experiment, "jobs.placed"), mean(experiment, "jobs.failed"), run->outcome);
    const double memory = mean(experiment, "alloc.mem_pct");
    (void)fprintf(out, "allocated      GPUs %.2f %%   CPUs %.2f %%",
                  mean(experiment, "alloc.gpu_pct"), mean(experiment, "alloc.cpu_pct"));
    if (!isnan(memory))
        (void)fprintf(out, "   memory %.2f %%", memory);
    (void)fputc('\n', out);
    (void)fprintf(out, "fragmented     %.2f %% of all GPUs, at %.1f %% asked for\n",
                  mean(experiment, "frag.gpu_pct"), mean(experiment, "demand.gpu_pct"));
    print_bound(experiment, out);
    print_causes(experiment, out);
    print_defrag(experiment, out);
    print_end(experiment, run, out);
    if (experiment->database != NULL)
        (void)fprintf(out, "next           weir plot %s frag-arrival\n", experiment->database);
}

/* The label of all jobs of a workload: none where it is the only one. */
static const char *total_label(const struct sim_scenario *scenario, size_t workload)
{
    return scenario->workloads_count > 1 ? scenario->workloads[workload].name : "";
}

/* A line about jobs of one class, for those that matter: refused, left or waiting long. */
static void print_labels(const struct sim_experiment *experiment, size_t index, FILE *out)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    const struct sim_workload *workload = &scenario->workloads[index];
    for (size_t i = 0; i < workload->labels_count && workload->labels_count > 1; i++) {
        char label[256];
        (void)snprintf(label, sizeof label, "%s%s%s", total_label(scenario, index),
                       scenario->workloads_count > 1 ? "/" : "", workload->labels[i]);
        (void)fprintf(out, "  %-12s %8.0f arrived   accepted %s   wait %s mean, %s p95\n",
                      workload->labels[i], mean_of(experiment, "jobs.arrived", label),
                      an_word_percent(mean_of(experiment, "jobs.acceptance", label)).text,
                      time_of(experiment, "wait.job.mean", label).text,
                      time_of(experiment, "wait.job.p95", label).text);
    }
}

static void print_workload(const struct sim_experiment *experiment, const char *outcome,
                           size_t index, FILE *out)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    const char *label = total_label(scenario, index);
    const double restarted = mean_of(experiment, "jobs.restarted", label);
    char lost[64] = "";
    if (restarted > 0)
        (void)snprintf(lost, sizeof lost, "%.3g runs lost   ", restarted);
    (void)fprintf(out, "%-14s %.0f arrived   %.0f done   %.0f refused   %s%s\n",
                  *label == '\0' ? "jobs" : label, mean_of(experiment, "jobs.arrived", label),
                  mean_of(experiment, "jobs.done", label),
                  mean_of(experiment, "jobs.refused", label), lost,
                  strcmp(outcome, "horizon") == 0 ? "up to the horizon" : outcome);
    (void)fprintf(out, "wait           mean %s   p95 %s   %s jobs waiting on average\n",
                  time_of(experiment, "wait.job.mean", label).text,
                  time_of(experiment, "wait.job.p95", label).text,
                  an_word_number(mean_of(experiment, "queue.len.mean", label)).text);
}

static void print_held(const struct sim_experiment *experiment, FILE *out)
{
    const double cpus = mean(experiment, "util.cpu.assigned");
    const double gpus = mean(experiment, "util.gpu.assigned");
    if (isnan(cpus)) /* no time went by */
        return;
    (void)fprintf(out, "held           CPUs %.2f %%", 100 * cpus);
    if (!isnan(gpus))
        (void)fprintf(out, "   GPUs %.2f %%%s", 100 * gpus,
                      fragmented_text(gpus, mean(experiment, "frag.gpu.fgd")).text);
    (void)fputc('\n', out);
}

/* Where jobs are lost: how much of the GPU time is not, and at most could not be. */
static void print_accepted(const struct sim_experiment *experiment, FILE *out)
{
    const double most = mean(experiment, "jobs.gpu_time_bound");
    if (isnan(most))
        return;
    (void)fprintf(out, "accepted       %.1f %% of the GPU time asked for",
                  100 * mean(experiment, "jobs.gpu_time_accepted"));
    if (sim_load_bound_says(most))
        (void)fprintf(out, "   at most %.1f %% in the long run", 100 * most);
    (void)fprintf(out, "   one pool without nodes %.1f %%, no bound\n",
                  100 * mean(experiment, "jobs.gpu_time_pool"));
}

static void print_jobs_in_time(const struct sim_experiment *experiment,
                               const struct sim_run_summary *run, FILE *out)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    const struct sim_sched *sched = &scenario->sched;
    (void)fprintf(out, "%s · %s + %s · seed %llu · %s simulated in %.2f s (%.2f M events/s)\n",
                  scenario->name, sched->queueing.queueing->name, sched->placement.placement->name,
                  (unsigned long long)run->seed, duration_of(run->simulated_s).text, run->wall_s,
                  (double)run->events / 1e6 / fmax(run->wall_s, 1e-9));
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        print_pipeline(experiment, p, out);
    print_actors(experiment, out);
    if (scenario->workloads_count == 1) {
        print_workload(experiment, run->outcome, 0, out);
        print_held(experiment, out);
        print_accepted(experiment, out);
        print_labels(experiment, 0, out);
    } else {
        for (size_t i = 0; i < scenario->workloads_count; i++) {
            print_workload(experiment, run->outcome, i, out);
            print_labels(experiment, i, out);
        }
        print_held(experiment, out);
        print_accepted(experiment, out);
    }
    print_end(experiment, run, out);
    if (experiment->database != NULL)
        (void)fprintf(out, "next           weir report %s\n", experiment->database);
}

static void print_plan_bounds(const struct sim_experiment *experiment, FILE *out)
{
    const double most = mean(experiment, "thr.bound");
    if (!isnan(most))
        (void)fprintf(out,
                      "bound          %.4g finished items/s for plans that change over time   %.4g "
                      "for one that stands still%s\n",
                      most, mean(experiment, "thr.plan_bound"),
                      mean(experiment, "thr.pipeline") > 1.005 * most
                          ? "   on average: by chance there were more"
                          : "");
}

static void print_summary(const struct sim_experiment *experiment,
                          const struct sim_run_summary *run, FILE *out)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    const struct sim_sched *sched = &scenario->sched;
    if (scenario->workloads_count > 0) {
        if (scenario->workloads[0].mode == SIM_WORKLOAD_STATIC)
            print_jobs(experiment, run, out);
        else
            print_jobs_in_time(experiment, run, out);
        return;
    }
    (void)fprintf(out, "%s · %s + %s · seed %llu · %s simulated in %.2f s (%.1f M events/s)\n",
                  experiment->scenarios[0]->name, sched->scaling.scaling->name,
                  sched->placement.placement->name, (unsigned long long)run->seed,
                  duration_of(run->simulated_s).text, run->wall_s,
                  (double)run->events / 1e6 / fmax(run->wall_s, 1e-9));
    const double steady = mean(experiment, "thr.pipeline.steady");
    (void)fprintf(out, "throughput     %s", rate_of(mean(experiment, "thr.pipeline")).text);
    if (!isnan(steady)) /* there was an interval of constant workers */
        (void)fprintf(out, "   steady %s", rate_of(steady).text);
    (void)fprintf(out, "   %llu items", (unsigned long long)run->items_done);
    if (strcmp(run->outcome, "complete") == 0)
        (void)fprintf(out, "   complete in %s\n", duration_of(mean(experiment, "makespan")).text);
    else
        (void)fprintf(out, "   %s\n",
                      strcmp(run->outcome, "horizon") == 0 ? "up to the horizon" : run->outcome);
    print_plan_bounds(experiment, out);
    print_latency(experiment, out);
    if (scenario->pipelines_count == 1)
        print_bottleneck(experiment, 0, "slowest stage  ", out);
    for (size_t p = 0; scenario->pipelines_count > 1 && p < scenario->pipelines_count; p++)
        print_pipeline(experiment, p, out);
    print_actors(experiment, out);
    print_gpu(experiment, out);
    print_end(experiment, run, out);
    if (experiment->database != NULL)
        (void)fprintf(out, "next           weir report %s   ·   weir explain %s --at 10m\n",
                      experiment->database, experiment->database);
}

static void print_rows(const struct sim_experiment *experiment, enum sim_format format, FILE *out)
{
    static const struct sim_column columns[] = {
        { "Metric", "metric", "", false, false },
        { "Of", "label", "", false, false },
        { "Mean", "value", "", true, true },
    };
    struct sim_table *table = sim_table_create(columns, 3);
    sqlite3_stmt *row = sim_experiment_rows(
        experiment, "SELECT metric, label FROM result WHERE run_id = ? ORDER BY rowid", 0);
    while (sim_experiment_step(experiment, row)) {
        char text[40];
        sim_json_number_text(mean_of(experiment, text_of(row, 0), text_of(row, 1)), text,
                             sizeof(text));
        const char *const cells[] = { text_of(row, 0), text_of(row, 1), text };
        sim_table_row(table, cells);
    }
    (void)sqlite3_finalize(row);
    sim_table_print(table, format, out);
    sim_table_destroy(table);
}

static void print_windows(const struct sim_experiment *experiment)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (experiment->database != NULL &&
        sim_windows_print_file(experiment->database, SIM_FORMAT_TABLE, stdout, &error) != WEIR_OK)
        (void)fprintf(stderr, "weir: %s\n", error.text);
}

static void print_results(const struct sim_simulate_options *options,
                          const struct sim_experiment *experiment,
                          const struct sim_run_summary *run)
{
    switch (options->common.format) {
    case SIM_FORMAT_JSON:
        print_json(experiment, stdout);
        return;
    case SIM_FORMAT_TABLE:
        if (!options->quiet)
            print_summary(experiment, run, stdout);
        if (!options->quiet && experiment->scenarios[0]->windows_count > 0)
            print_windows(experiment);
        return;
    case SIM_FORMAT_CSV:
    case SIM_FORMAT_MD:
    case SIM_FORMAT_LATEX:
    case SIM_FORMAT_COUNT:
        break;
    }
    print_rows(experiment, options->common.format, stdout);
}

/* Of runs that were made and did not fail, interrupted ones too: the first. */
static bool is_shown(const struct sim_experiment *experiment, struct sim_run_summary *first)
{
    return sim_experiment_summary(experiment, sim_experiment_first(experiment), first) &&
           strcmp(first->outcome, "running") != 0 && strcmp(first->outcome, "failed") != 0;
}

/* A database is repeated as it was. */
static int repeat(struct sim_simulate_options *options)
{
    struct sim_line line = { .words = NULL };
    sim_line_add(&line, "run", options->path);
    if (options->output != NULL)
        sim_line_add(&line, "--output", options->output);
    if (options->variants.count > 0)
        sim_line_add(&line, "--variant", options->variants.items[0]);
    if (options->replication != NULL)
        sim_line_add(&line, "--replication", options->replication);
    sim_line_add_options(&line, &options->common);
    const int code = sim_line_run(&line, sim_cmd_rerun);
    sim_options_clear(&options->common);
    free(options->variants.items);
    return code;
}

int sim_cmd_run(int argc, char **argv)
{
    struct sim_simulate_options options = { 0 };
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    sim_options_parse(&command_options, argc, argv, &options);
    if (sim_is_database(options.path))
        return repeat(&options);
    char *command_line = sim_command_line("run", argc, argv);
    int code = sim_simulate(&options, false, command_line, &policies, &experiment);
    struct sim_run_summary first;
    if (is_shown(&experiment, &first))
        print_results(&options, &experiment, &first);
    code = sim_simulate_verdict(&options, &experiment, code);
    sim_experiment_clear(&experiment);
    sim_plugins_clear(&policies);
    sim_options_clear(&options.common);
    free(options.variants.items);
    free(command_line);
    return code;
}
