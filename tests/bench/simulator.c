/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speed of the whole simulator: scenario in, database out; CPU time, best of several repetitions.
 *
 * One stage with arrivals (M/M/1, recorded) in events a second against the goal of 5 million, the
 * saturated 14-stage reference pipelines in seconds against the goal of 0.25, both also without a
 * database, a thousand nodes whose work moves bytes over interfaces and stores (moving_bytes.yaml),
 * and the highest memory use of the process so far. The reference must end when it should, or the
 * program exits with 1.
 *
 *     simulator [--format table|json] [--quick]
 */
#include "sim/record/record.h"
#include "sim/world/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 8 };

struct row {
    const char *name;
    double cpu_s, events_per_s, peak_rss_mib, completion_s;
};

static struct sim_scenario *load(const char *path, const char *const *sets, size_t count)
{
    struct sim_diagnostics diagnostics = { 0 };
    struct sim_scenario *scenario = NULL;
    const struct sim_scenario_source source = { .path = path, .sets = sets, .sets_count = count };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    return scenario;
}

static struct sim_recorder *open_database(char *path, const struct sim_scenario *scenario)
{
    struct sim_recorder *recorder = NULL;
    int64_t id = 0;
    const struct sim_experiment_row row = { .scenario = scenario->name,
                                            .description = "",
                                            .resolved_yaml = scenario->resolved,
                                            .command_line = "bench",
                                            .baseline = "base",
                                            .scenario_digest = scenario->digest };
    if (sim_recorder_open(path, true, &recorder, NULL) == WEIR_OK)
        (void)sim_recorder_experiment(recorder, &row, &id, NULL);
    return recorder;
}

static bool measure(struct row *row, const char *name, const struct sim_scenario *scenario,
                    bool is_recorded, int repetitions)
{
    char path[] = "/tmp/weir_bench_XXXXXX";
    const int file = mkstemp(path);
    struct sim_run_summary *summary = calloc(1, sizeof(*summary));
    *row = (struct row){ .name = name, .cpu_s = HUGE_VAL };
    bool is_ok = file >= 0 && summary != NULL;
    for (int i = 0; i < repetitions && is_ok; i++) {
        struct sim_recorder *recorder = is_recorded ? open_database(path, scenario) : NULL;
        const struct sim_run_options options = { .seed = scenario->seed,
                                                 .experiment_id = 1,
                                                 .run_id = 1,
                                                 .variant = "base",
                                                 .recorder = recorder,
                                                 .export_at_s = (double)NAN };
        is_ok = sim_run(scenario, &options, summary) == WEIR_OK;
        (void)sim_recorder_close(recorder, NULL);
        row->cpu_s = fmin(row->cpu_s, summary->cpu_s);
        row->events_per_s = (double)summary->events / row->cpu_s;
        row->peak_rss_mib = summary->peak_rss_mib;
        row->completion_s = summary->completion_s;
    }
    (void)close(file);
    (void)unlink(path);
    free(summary);
    return is_ok;
}

static void print(const struct row *rows, size_t count, bool is_json)
{
    if (!is_json)
        printf("%-34s %10s %16s %10s\n", "scenario", "CPU s", "M events/s", "MiB");
    for (size_t i = 0; i < count; i++)
        if (is_json)
            printf("%s{\"name\": \"%s\", \"cpu_s\": %.6g, \"events_per_s\": %.6g, "
                   "\"peak_rss_mib\": %.4g}%s\n",
                   i == 0 ? "[" : " ", rows[i].name, rows[i].cpu_s, rows[i].events_per_s,
                   rows[i].peak_rss_mib, i + 1 == count ? "]" : ",");
        else
            printf("%-34s %10.4f %16.2f %10.1f\n", rows[i].name, rows[i].cpu_s,
                   rows[i].events_per_s / 1e6, rows[i].peak_rss_mib);
}

int main(int argc, char **argv)
{
    bool is_json = false;
    bool is_quick = false;
    struct row rows[ROWS_MAX];
    static const char *const sets[] = { "horizon=600000s" };
    static const char *const quick_sets[] = { "horizon=60000s" };
    static const char *const bytes_sets[] = { "horizon=120s" };
    static const char *const quick_bytes_sets[] = { "horizon=20s" };
    for (int i = 1; i < argc; i++) {
        is_quick = is_quick || strcmp(argv[i], "--quick") == 0;
        is_json = is_json || strcmp(argv[i], "json") == 0;
    }
    const int repetitions = is_quick ? 1 : 5;
    struct sim_scenario *plain = load("scenarios/reference/xenna_plain_n2.yaml", NULL, 0);
    struct sim_scenario *nvdec = load("scenarios/reference/xenna_nvdec_n2.yaml", NULL, 0);
    struct sim_scenario *single =
        load("scenarios/queueing/mm1.yaml", is_quick ? quick_sets : sets, 1);
    struct sim_scenario *bytes =
        load("tests/bench/moving_bytes.yaml", is_quick ? quick_bytes_sets : bytes_sets, 1);
    size_t count = 0;
    bool is_ok = plain != NULL && nvdec != NULL && single != NULL && bytes != NULL;
    is_ok = is_ok && measure(&rows[count++], "reference plain, recorded", plain, true, repetitions);
    is_ok = is_ok && fabs(rows[0].completion_s - 13118.0) < 13.2;
    is_ok = is_ok && measure(&rows[count++], "reference nvdec, recorded", nvdec, true, repetitions);
    is_ok = is_ok && fabs(rows[1].completion_s - 13089.0) < 13.1;
    is_ok =
        is_ok && measure(&rows[count++], "reference nvdec, no database", nvdec, false, repetitions);
    is_ok =
        is_ok && measure(&rows[count++], "one stage (M/M/1), recorded", single, true, repetitions);
    is_ok = is_ok &&
            measure(&rows[count++], "one stage (M/M/1), no database", single, false, repetitions);
    is_ok = is_ok && measure(&rows[count++], "moving bytes, 1 000 nodes", bytes, false, 1);
    print(rows, count, is_json);
    sim_scenario_destroy(plain);
    sim_scenario_destroy(nvdec);
    sim_scenario_destroy(single);
    sim_scenario_destroy(bytes);
    return is_ok ? 0 : 1;
}
