/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running small scenarios inside a test (see runs.h). */
#include "tests/support/runs.h"

#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 32 };

static size_t split_sets(char *text, const char **sets)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word != NULL && count < SETS_MAX;
         word = strtok_r(NULL, " ", &rest))
        sets[count++] = word;
    return count;
}

struct sim_scenario *test_scenario(const char *text, const char *sets)
{
    const bool is_file = strncmp(text, "scenarios/", 10) == 0 || strncmp(text, "tests/", 6) == 0;
    const char *folder = getenv("WEIR_SOURCE_DIR");
    char path[1024];
    char *words = strdup(sets == NULL ? "" : sets);
    const char *list[SETS_MAX];
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    (void)snprintf(path, sizeof(path), "%s/%s", folder == NULL ? TEST_SOURCE_DIR : folder, text);
    /* A text lies where the test runs, as the files that it writes for it do. */
    const struct sim_scenario_source source = { .path = is_file ? path : "test.yaml",
                                                .text = is_file ? NULL : text,
                                                .sets = list,
                                                .sets_count = split_sets(words, list) };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stdout);
    sim_diagnostics_clear(&diagnostics);
    free(words);
    return scenario;
}

static struct sim_run_summary *run(const struct sim_scenario *scenario, uint32_t replication,
                                   const struct sim_observer *observer, bool check_always)
{
    struct sim_run_summary *summary = test_summary();
    const struct sim_run_options options = { .seed = scenario->seed,
                                             .replication = replication,
                                             .variant = "test",
                                             .experiment_id = 1,
                                             .run_id = 1,
                                             .check_always = check_always,
                                             .export_at_s = (double)NAN,
                                             .listen = test_listen,
                                             .listener = summary,
                                             .observer = observer };
    if (sim_run(scenario, &options, summary) != WEIR_OK)
        printf("run failed: %s\n", summary->message);
    return summary;
}

struct sim_run_summary *test_run(const struct sim_scenario *scenario, uint32_t replication,
                                 const struct sim_observer *observer)
{
    return run(scenario, replication, observer, true);
}

struct sim_run_summary *test_run_text(const char *text, const char *sets)
{
    struct sim_scenario *scenario = test_scenario(text, sets);
    CHECK(scenario != NULL);
    struct sim_run_summary *summary =
        scenario == NULL ? test_summary() : test_run(scenario, 0, NULL);
    sim_scenario_destroy(scenario);
    return summary;
}

struct sim_run_summary *test_watch_text(const char *text, const struct sim_observer *observer)
{
    struct sim_scenario *scenario = test_scenario(text, NULL);
    CHECK(scenario != NULL);
    struct sim_run_summary *summary =
        scenario == NULL ? test_summary() : test_run(scenario, 0, observer);
    CHECK_I64(summary->status, WEIR_OK);
    sim_scenario_destroy(scenario);
    return summary;
}

struct sim_run_summary *test_run_fast(const struct sim_scenario *scenario, uint32_t replication,
                                      const struct sim_observer *observer)
{
    return run(scenario, replication, observer, false);
}

const char *test_published_rule(const char *policy)
{
    if (strncmp(policy, "first_fit", strlen("first_fit")) == 0)
        return " sched.placement.device=tightest";
    if (strncmp(policy, "best_fit", strlen("best_fit")) == 0 ||
        strncmp(policy, "worst_fit", strlen("worst_fit")) == 0)
        return " sched.placement.measure=amounts";
    return "";
}

bool test_openb_sets(const char *trace, const char *seed, const char *sched, char *sets,
                     size_t capacity)
{
    char relative[128];
    char nodes[512];
    char pods[512];
    const char *found = test_shared("traces/openb/openb_node_list_gpu_node.csv");
    (void)snprintf(nodes, sizeof nodes, "%s", found == NULL ? "" : found);
    (void)snprintf(relative, sizeof relative, "traces/openb/openb_pod_list_%s.csv", trace);
    found = test_shared(relative);
    if (found == NULL) {
        (void)snprintf(relative, sizeof relative, "traces/openb/openb_pod_list_%s.csv.gz", trace);
        found = test_shared(relative);
    }
    (void)snprintf(pods, sizeof pods, "%s", found == NULL ? "" : found);
    found = test_shared("golden/fgd/sequences.txt.gz");
    const int length = snprintf(sets, capacity,
                                "cluster.nodes_file=%s fill[0].trace=%s fill[0].order=%s "
                                "fill[0].order_key=%s:%s sched.placement=%s%s",
                                nodes, pods, found == NULL ? "" : found, trace, seed, sched,
                                test_published_rule(sched));
    return pods[0] != '\0' && length > 0 && (size_t)length < capacity;
}

const struct sim_stage_run *test_stage(const struct sim_world *world, size_t index)
{
    const struct sim_stage_run *stage =
        sim_pipeline_stage(world->drivers, world->driver_count, (uint32_t)index);
    if (stage == NULL)
        abort();
    return stage;
}
