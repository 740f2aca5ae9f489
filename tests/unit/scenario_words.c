/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of scenario files: those of schema 1 and of today mean the same, and many kinds of work
 * stand side by side. */
#include "sim/files/utf8.h"
#include "sim/scenario/read/name_rule.h"
#include "sim/scenario/scenario.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#define CLUSTER   "cluster: {nodes: [{name: n, count: 2, cpus: 32, gpus: {h100: 8, t4: 2}}]}\n"
#define PIPELINES "pipelines: [{name: p, input: {items: 10}, stages: [{name: s, service: 3 s}]}]\n"

static struct sim_scenario *load(const char *text, const char *const *sets, size_t count)
{
    const struct sim_scenario_source source = {
        .path = "t.yaml", .text = text, .sets = sets, .sets_count = count
    };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stdout);
    CHECK(scenario != NULL);
    CHECK_I64(diagnostics.count, 0);
    sim_diagnostics_clear(&diagnostics);
    return scenario;
}

/* Both texts, the first under the sets too, have one canonical text. */
static void check_same(const char *old, const char *today, const char *const *sets, size_t count)
{
    struct sim_scenario *first = load(old, sets, count);
    struct sim_scenario *second = load(today, NULL, 0);
    if (first != NULL && second != NULL)
        CHECK_STR(first->resolved, second->resolved);
    sim_scenario_destroy(first);
    sim_scenario_destroy(second);
}

static void workloads_are_jobs_or_a_fill(void)
{
    check_same(
        "schema: 1\nname: t\n" CLUSTER "horizon: 1 h\n"
        "sched: {placement: best_fit, groups: placement}\n"
        "workloads: [{name: w, kind: generated, mode: time, service: 3 s, jobs: 9, "
        "service_limit: 1 h, arrivals: {rate: 1}, order: none, refused: stop, "
        "classes: [{name: a, group: pack, models: h100|t4, request: {gpus: 1}}]}]\n"
        "compare: [{label: b, set: {workloads.w.jobs: 3, sched.groups: ray}}]\n",
        "schema: 2\nname: t\n" CLUSTER "horizon: 1 h\n"
        "scheduler: {placement: {policy: best_fit, measure: amounts}, "
        "placement_groups: placement}\n"
        "jobs: {w: {run_time: 3 s, count: 9, run_time_limit: 1 h, arrivals: {rate: 1}, "
        "classes: {a: {placement_group: pack, gpu_types: [h100, t4], request: {gpus: 1}}}}}\n"
        "compare: [{label: b, set: {jobs.w.count: 3, sched.placement_groups: ray}}]\n",
        NULL, 0);
    check_same("schema: 1\nname: t\n" CLUSTER
               "workloads: [{name: w, kind: generated, ranks: shuffled, classes: [{name: a, "
               "count: 4, service: 3 s, estimate: 2, request: {gpus: 1}}]}]\n",
               "schema: 2\nname: t\n" CLUSTER
               "fill: {w: {node_order: shuffled, classes: {a: {count: 4, request: {gpus: 1}}}}}\n",
               NULL, 0);
}

static void paths_of_schema_1_are_followed_in_its_files(void)
{
    static const char *const sets[] = { "workloads.w.mode=time",
                                        "workloads[0].classes.a.service=5 s",
                                        "sched.groups.report=strict" };
    check_same("schema: 1\nname: t\n" CLUSTER "workloads: [{name: w, kind: generated, classes: "
               "[{name: a, count: 4, group: pack, request: {gpus: 1}}]}]\n",
               "schema: 2\nname: t\n" CLUSTER "sched: {placement_groups: {report: strict}}\n"
               "jobs: {w: {classes: {a: {count: 4, placement_group: pack, run_time: 5 s, request: "
               "{gpus: 1}}}}}\n",
               sets, 3);
}

static void a_policy_has_one_set_of_defaults(void)
{
    static const char *const set[] = { "sched.placement=fgd" };
    const char *fgd = "schema: 2\nname: t\n" CLUSTER "sched: {placement: fgd_xenna}\n" PIPELINES;
    check_same("schema: 1\nname: t\n" CLUSTER PIPELINES, fgd, NULL, 0);
    check_same("schema: 1\nname: t\n" CLUSTER "sched: {placement: {policy: fgd}}\n" PIPELINES, fgd,
               NULL, 0);
    check_same("schema: 1\nname: t\n" CLUSTER "sched: {placement: random}\n" PIPELINES, fgd, set,
               1);
    struct sim_scenario *pipelines = load("schema: 2\nname: t\n" CLUSTER PIPELINES, NULL, 0);
    struct sim_scenario *jobs =
        load("schema: 2\nname: t\n" CLUSTER "fill: {w: {classes: {a: {count: 4}}}}\n", NULL, 0);
    if (pipelines != NULL && jobs != NULL) {
        const struct sim_policy_choice *one = &pipelines->sched.placement;
        const struct sim_policy_choice *other = &jobs->sched.placement;
        CHECK_STR(one->placement->name, "fgd");
        CHECK_STR(other->placement->name, "fgd");
        CHECK_I64(memcmp(one->values, other->values, one->count * sizeof *one->values), 0);
    }
    sim_scenario_destroy(pipelines);
    sim_scenario_destroy(jobs);
}

static void all_kinds_of_work_stand_side_by_side(void)
{
    struct sim_scenario *s =
        load("schema: 2\nname: t\nhorizon: 1 h\n" CLUSTER "jobs:\n"
             "  one: {run_time: 3 s, arrivals: {rate: 1}, classes: {a: {request: {gpus: 1}}}}\n"
             "  two: {run_time: 4 s, arrivals: {rate: 1}, classes: {a: {request: {cpus: 2}}}}\n"
             "pipelines:\n"
             "  p: {input: {items: 10}, stages: [{name: s, service: 3 s}]}\n"
             "  q: {input: {items: 20}, stages: [{name: s, service: 3 s}]}\n",
             NULL, 0);
    if (s == NULL)
        return;
    CHECK_I64(s->pipelines_count, 2);
    CHECK_I64(s->workloads_count, 2);
    CHECK_I64(s->work_count, 4);
    CHECK_I64(s->work[1].kind, SIM_WORK_PIPELINE);
    CHECK_I64(s->work[1].index, 1);
    CHECK_I64(s->work[3].kind, SIM_WORK_JOBS);
    CHECK_STR(s->workloads[s->work[3].index].name, "two");
    struct sim_scenario *again = load(s->resolved, NULL, 0);
    if (again != NULL)
        CHECK_STR(again->resolved, s->resolved);
    sim_scenario_destroy(again);
    sim_scenario_destroy(s);
}

static void a_key_is_given_under_one_of_its_names(void)
{
    const struct sim_scenario_source source = {
        .path = "t.yaml",
        .text = "schema: 2\nname: t\n" CLUSTER PIPELINES
                "sched: {interval: 30 s}\nscheduler: {interval: 60 s}\n"
    };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    CHECK(sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK);
    bool is_said = false;
    for (size_t i = 0; i < diagnostics.count; i++)
        is_said |= strstr(diagnostics.items[i].message, "is another name of 'sched'") != NULL;
    CHECK(is_said);
    sim_diagnostics_clear(&diagnostics);
    sim_scenario_destroy(scenario);
}

/* Bytes of UTF-8 by RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF. */
static void a_name_has_up_to_100_bytes_of_utf_8(void)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = { { "a", 1 },
                  { "\xC3\xA9", 2 },
                  { "\xED\x9F\xBF", 3 },     /* U+D7FF, the last before the surrogates */
                  { "\xED\xA0\x80", 0 },     /* U+D800 */
                  { "\xED\xBF\xBF", 0 },     /* U+DFFF */
                  { "\xEE\x80\x80", 3 },     /* U+E000 */
                  { "\xC0\xAF", 0 },         /* overlong */
                  { "\xF4\x8F\xBF\xBF", 4 }, /* U+10FFFF */
                  { "\xF4\x90\x80\x80", 0 },
                  { "\xE2\x82", 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t point = 0;
        CHECK_I64(sim_utf8_decode(cases[i].text, &point), cases[i].length);
    }
    char fault[SIM_NAME_FAULT];
    char name[102] = "";
    memset(name, 'x', 100);
    CHECK(sim_name_is_fine(name, fault));
    name[100] = 'x';
    CHECK(!sim_name_is_fine(name, fault));
    CHECK_STR(fault, "has 1 to 100 bytes, found 101");
}

static const struct test tests[] = {
    { "workloads are jobs or a fill", workloads_are_jobs_or_a_fill },
    { "paths of schema 1 are followed in its files", paths_of_schema_1_are_followed_in_its_files },
    { "a policy has one set of defaults", a_policy_has_one_set_of_defaults },
    { "all kinds of work stand side by side", all_kinds_of_work_stand_side_by_side },
    { "a key is given under one of its names", a_key_is_given_under_one_of_its_names },
    { "a name has up to 100 bytes of UTF-8", a_name_has_up_to_100_bytes_of_utf_8 },
};

TEST_MAIN(tests)
