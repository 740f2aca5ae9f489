/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every variant of the scenarios that are shipped, and of some that put many mechanisms together
 * (tests/golden/results/), comes to the results that were last reviewed (results.txt): all of them,
 * not only those that a scenario expects. A slip in physics, in a decision or in a gauge is seen
 * here wherever it moves a number; none is beyond its bound; what is right is for the other tests
 * to say. The parameters of all policies are kept, too (parameters.txt).
 */
#include "sim/cli/load.h"
#include "sim/engine/digest.h"
#include "sim/record/record.h"
#include "sim/scenario/resolve/varies.h"
#include "tests/support/check.h"
#include "tests/support/kept.h"
#include "tests/support/row_totals.h"
#include "tests/support/runs.h"
#include "tests/support/shard.h"
#include "weir/batching.h"
#include "weir/job.h"
#include "weir/policy.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 256 };

struct check {
    struct test_kept *kept;
    bool has_rows; /* what the database holds is kept, too */
};

/* A scenario of the project as one of its variants, NULL = as it stands. */
static struct sim_scenario *load(const char *path, const struct sim_variant *variant)
{
    const struct sim_scenario_source source = {
        .path = path,
        .sets = variant == NULL ? NULL : (const char *const *)variant->sets,
        .sets_count = variant == NULL ? 0 : variant->sets_count,
        .metric_named = sim_cli_metric,
        .moment_since = sim_cli_moment,
        .is_variant = variant != NULL
    };
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics said = { .items = NULL };
    if (sim_scenario_load(&source, &scenario, &said) != WEIR_OK)
        sim_diagnostics_print(&said, stdout);
    sim_diagnostics_clear(&said);
    CHECK(scenario != NULL);
    return scenario;
}

/* Into a shard, whose manifest must be of the rows that it has. */
static void record(const struct sim_scenario *scenario, const char *path,
                   struct sim_run_summary *summary)
{
    bool is_held = false;
    struct sim_run_options options = { .seed = scenario->seed,
                                       .variant = "test",
                                       .experiment_id = 1,
                                       .run_id = 1,
                                       .recorder = test_open_shard(path, path, "test"),
                                       .listen = test_listen,
                                       .listener = summary,
                                       .export_at_s = (double)NAN };
    if (sim_run(scenario, &options, summary) != WEIR_OK)
        printf("    run failed: %s\n", summary->message);
    CHECK_I64(sim_recorder_close(options.recorder, NULL), WEIR_OK);
    CHECK_I64(sim_shard_holds(path, "test", 1, &is_held, NULL), WEIR_OK);
    CHECK(is_held);
}

/* With all that its database holds, as an experiment keeps it. */
static struct sim_run_summary *run_with_rows(const struct sim_scenario *scenario)
{
    char path[] = "/tmp/weir-results-XXXXXX";
    char shard[sizeof path + 8];
    struct sim_run_summary *summary = test_summary();
    struct sim_recorder *whole = NULL;
    (void)close(mkstemp(path)); /* an empty file may be taken over */
    (void)snprintf(shard, sizeof shard, "%s.part1", path);
    record(scenario, shard, summary);
    CHECK_I64(sim_recorder_open(path, false, &whole, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_merge(whole, shard, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(whole, NULL), WEIR_OK);
    test_listen_rows(summary, path);
    (void)unlink(shard);
    (void)unlink(path);
    return summary;
}

/* Items of a few hundred are not exactly of their mean. */
static bool is_beyond_bound(const struct sim_run_summary *summary)
{
    return test_value(summary, "thr.of_bound", "") > 1.02 ||
           test_value(summary, "alloc.gap_pp", "") < -1e-6 ||
           test_value(summary, "alloc.gap_pp", "100 % arrived") < -1e-6;
}

/* A scenario of which nothing is said to vary comes to the same in every replication, but for what
 * its policies draw. */
static void check_varies(const struct check *check, struct sim_scenario *scenario,
                         const struct sim_run_summary *summary, const char *line)
{
    const struct weir_queueing_ops *queueing = scenario->sched.queueing.queueing;
    char varies[2 * TEXT];
    if (sim_scenario_varies(&scenario, 1, varies, sizeof varies) ||
        (queueing != NULL && strcmp(queueing->name, "lottery") == 0))
        return;
    struct sim_run_summary *again = test_run_fast(scenario, 1, NULL);
    if (!CHECK(test_kept_hash(check->kept, again) == test_kept_hash(check->kept, summary)))
        printf("    %s: nothing is said to vary, and it does\n", line);
    free(again);
}

static void check_run(const struct check *check, struct sim_scenario *scenario, const char *name,
                      const char *label)
{
    char line[TEXT];
    struct sim_run_summary *summary =
        check->has_rows ? run_with_rows(scenario) : test_run_fast(scenario, 0, NULL);
    (void)snprintf(line, sizeof line, "%s/%s", name, label);
    for (char *c = line; *c != '\0'; c++)
        *c = *c == ' ' ? '_' : *c;
    test_kept_check(check->kept, line, summary->result_digest,
                    test_kept_hash(check->kept, summary));
    if (!CHECK(!is_beyond_bound(summary)))
        printf("    %s: %g of the bound\n", line, test_value(summary, "thr.of_bound", ""));
    check_varies(check, scenario, summary, line);
    free(summary);
}

static void check_file(const struct check *check, const char *path, const char *name)
{
    struct sim_scenario *base = load(path, NULL);
    if (base != NULL && base->variants_count == 0)
        check_run(check, base, name, "only");
    for (size_t v = 0; base != NULL && v < base->variants_count; v++) {
        struct sim_scenario *scenario = load(path, &base->variants[v]);
        if (scenario != NULL)
            check_run(check, scenario, name, base->variants[v].label);
        sim_scenario_destroy(scenario);
    }
    sim_scenario_destroy(base);
}

/* Those that take a second, or a program of their own. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = { "steps.yaml",         "drift.yaml",
                                         "timeline.yaml",      "video_pipeline.yaml",
                                         "python_policy.yaml", "emax.yaml" };
    bool is_named = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        is_named = is_named || strcmp(names[i], name) == 0;
    return is_named;
}

static int is_yaml(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/* In the order of their names. */
static void check_folder(const struct check *check, const char *folder)
{
    char path[2 * TEXT];
    struct dirent **entries = NULL;
    (void)snprintf(path, sizeof path, "%s", test_data(folder));
    const size_t length = strlen(path);
    const int count = scandir(path, &entries, is_yaml, alphasort);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        (void)snprintf(path + length, sizeof path - length, "/%s", name);
        if (!is_left_out(name))
            check_file(check, path, name);
        free(entries[i]);
    }
    free(entries);
}

/* covers: S2.2 */
static void results_are_those_last_reviewed(void)
{
    static const char *const shipped[] = { "../scenarios/physics",   "../scenarios/training",
                                           "../scenarios/incidents", "../scenarios/examples",
                                           "../scenarios/services",  "../scenarios/capacity",
                                           "../scenarios/queueing",  "golden/physics" };
    struct check check = { .kept = test_kept_open("golden/results.txt") };
    for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++)
        check_folder(&check, shipped[i]);
    check.has_rows = true;
    check_folder(&check, "golden/results");
    test_kept_close(check.kept);
}

/* ---- parameters ---- */

/* Names, kinds, ranges, defaults and flags; what is said of them may change. */
static void keep_params(struct test_kept *kept, const char *kind, const char *name,
                        const struct weir_param *params, uint32_t count, uint32_t flags)
{
    char text[TEXT];
    uint64_t digest = sim_digest_word(SIM_DIGEST_START, flags);
    for (uint32_t p = 0; p < count; p++) {
        const struct weir_param *param = &params[p];
        (void)snprintf(text, sizeof text, "%s %s %u %.17g %.17g %.17g %s", param->name, param->unit,
                       param->kind, param->min, param->max, param->initial,
                       param->choices == NULL ? "" : param->choices);
        digest = sim_digest_bytes(digest, text, strlen(text));
    }
    (void)snprintf(text, sizeof text, "%s/%s", kind, name);
    test_kept_check(kept, text, digest, count);
}

/* A range that is wider by one shows in no run. */
static void parameters_are_those_last_reviewed(void)
{
    struct test_kept *kept = test_kept_open("golden/parameters.txt");
    for (uint32_t i = 0; i < weir_placement_count(); i++) {
        const struct weir_placement_ops *ops = weir_placement_at(i);
        keep_params(kept, "placement", ops->name, ops->params, ops->param_count, 0);
    }
    for (uint32_t i = 0; i < weir_scaling_count(); i++) {
        const struct weir_scaling_ops *ops = weir_scaling_at(i);
        keep_params(kept, "scaling", ops->name, ops->params, ops->param_count, 0);
    }
    for (uint32_t i = 0; i < weir_queueing_count(); i++) {
        const struct weir_queueing_ops *ops = weir_queueing_at(i);
        keep_params(kept, "queueing", ops->name, ops->params, ops->param_count, ops->flags);
    }
    for (uint32_t i = 0; i < weir_batching_count(); i++) {
        const struct weir_batching_ops *ops = weir_batching_at(i);
        keep_params(kept, "batching", ops->name, ops->params, ops->param_count, ops->flags);
    }
    test_kept_close(kept);
}

static const struct test tests[] = {
    { "parameters are those last reviewed", parameters_are_those_last_reviewed },
    { "results are those last reviewed", results_are_those_last_reviewed },
};
TEST_MAIN(tests)
