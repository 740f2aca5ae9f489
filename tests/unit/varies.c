/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What replications differ in, told from the scenario alone. */
#include "sim/scenario/resolve/varies.h"

#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

static const char head[] = "schema: 1\n"
                           "name: t\n"
                           "horizon: 1 d\n"
                           "catalog:\n"
                           "  node_types:\n"
                           "    dgx: {cpus: 240, ram: 1 TB, gpus: {h100: 8}}\n"
                           "cluster:\n"
                           "  nodes:\n"
                           "    - {type: dgx, count: 2}\n";

static struct sim_scenario *load(const char *rest)
{
    char *text = NULL;
    if (asprintf(&text, "%s%s", head, rest) < 0)
        abort();
    const struct sim_scenario_source source = { .path = "t.yaml", .text = text };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stdout);
    CHECK(scenario != NULL);
    sim_diagnostics_clear(&diagnostics);
    free(text);
    return scenario;
}

static void check_varies(const char *rest, const char *expected)
{
    struct sim_scenario *scenario = load(rest);
    char text[256];
    if (scenario == NULL)
        return;
    sim_scenario_varies(&scenario, 1, text, sizeof text);
    CHECK_STR(text, expected);
    sim_scenario_destroy(scenario);
}

#define JOBS    "workloads:\n  - {name: w, kind: generated, "
#define ONE     "{name: a, weight: 1, request: {gpus: 1}, service: 1 h}"
#define EXACT   "{name: a, count: 4, request: {gpus: 1}, service: 1 h}"
#define TWO     ONE ", {name: b, weight: 1, request: {gpus: 2}, service: \"exp(1 h)\"}"
#define PATIENT "{name: a, weight: 1, request: {gpus: 1}, service: 1 h, patience: \"exp(1 h)\"}"

static void jobs_name_what_is_drawn_for_them(void)
{
    static const struct {
        const char *rest, *varies;
    } cases[] = {
        { JOBS "ranks: as_given, classes: [" EXACT "]}\n", "only the policies' own draws" },
        { JOBS "ranks: as_given, demand: 90%, classes: [" ONE "]}\n",
          "only the policies' own draws" },
        { JOBS "ranks: shuffled, classes: [" EXACT "]}\n", "order of nodes" },
        { JOBS "ranks: shuffled, demand: 90%, classes: [" TWO "]}\n",
          "kinds of jobs drawn and order of nodes" },
        { JOBS "mode: time, arrivals: {load: 50%}, classes: [" TWO "]}\n",
          "arrivals, kinds of jobs drawn and service times" },
        { JOBS "mode: time, arrivals: {load: 50%}, classes: [" PATIENT "]}\n",
          "arrivals and patience" },
        { JOBS "mode: time, arrivals: {process: renewal, gap: 1 min}, classes: [" ONE "]}\n",
          "only the policies' own draws" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_varies(cases[i].rest, cases[i].varies);
}

static void pipelines_name_what_is_drawn_for_them(void)
{
    check_varies("pipelines:\n  - name: p\n    input: {items: 10}\n    stages:\n"
                 "      - {name: a, cpus: 2, service: 3 s}\n",
                 "only the policies' own draws");
    check_varies("pipelines:\n  - name: p\n    input: {items: 10, arrivals: \"exp(1 s)\"}\n"
                 "    stages:\n      - {name: a, cpus: 2, service: 3 s, returns: 1.5}\n",
                 "arrivals and returns");
    check_varies("pipelines:\n  - name: p\n    input: {items: 10}\n    stages:\n"
                 "      - {name: a, cpus: 2, service: \"exp(3 s)\", setup: \"exp(9 s)\","
                 " process_failure: 1%}\n",
                 "service times, set-up times and faults");
}

#define SYSTEM "actors:\n  - name: s\n    roles: {caller: {count: 2}, keeper: {count: 1}}\n"

static void actors_and_nodes_name_what_is_drawn_for_them(void)
{
    static const char calls[] = SYSTEM "    calls: [{from: caller, to: keeper, think: 1 s, "
                                       "service: \"exp(2 s)\"}]\n";
    check_varies(SYSTEM "    calls: [{from: caller, to: keeper, think: 1 s, service: 2 s}]\n",
                 "only the policies' own draws");
    check_varies(calls, "times of calls and rollouts");
    check_varies(JOBS "mode: time, arrivals: {process: renewal, gap: 1 min}, retries: 1, "
                      "start_latency: \"exp(1 s)\", estimate: \"uniform(1, 3)\", classes: [" ONE
                      "]}\n",
                 "set-up times and estimates of run times");
}

static void variants_are_taken_together(void)
{
    struct sim_scenario *both[] = { load(JOBS "ranks: as_given, classes: [" EXACT "]}\n"),
                                    load(JOBS "ranks: shuffled, classes: [" EXACT "]}\n") };
    char text[256];
    sim_scenario_varies(both, 2, text, sizeof text);
    CHECK_STR(text, "order of nodes");
    sim_scenario_destroy(both[0]);
    sim_scenario_destroy(both[1]);
}

static const struct test tests[] = {
    { "jobs name what is drawn for them", jobs_name_what_is_drawn_for_them },
    { "pipelines name what is drawn for them", pipelines_name_what_is_drawn_for_them },
    { "actors and nodes name what is drawn for them",
      actors_and_nodes_name_what_is_drawn_for_them },
    { "variants are taken together", variants_are_taken_together },
};
TEST_MAIN(tests)
