/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loading scenarios: what the fields become, --set, defaults, the canonical text. */
#include "sim/engine/time.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "schema: 1\n"
                           "name: t\n"
                           "catalog:\n"
                           "  node_types:\n"
                           "    dgx: {cpus: 240, ram: 1 TB, gpus: {h100: 8}}\n"
                           "cluster:\n"
                           "  nodes:\n"
                           "    - {type: dgx, count: 3}\n";
static const char tail[] = "pipelines:\n"
                           "  - name: p\n"
                           "    input: {items: 100}\n"
                           "    stages:\n"
                           "      - {name: a, cpus: 2, service: 3 s}\n"
                           "      - {name: b, gpus: 0.25, service: \"gamma(1, 0.2)\"}\n";

static char *join(const char *first, const char *middle, const char *last)
{
    char *text = NULL;
    if (asprintf(&text, "%s%s%s", first, middle, last) < 0)
        abort();
    return text;
}

/* Loads; on failure prints the remarks and returns NULL. Frees the text. */
static struct sim_scenario *load_sets(char *text, const char *const *sets, size_t sets_count)
{
    const struct sim_scenario_source source = {
        .path = "t.yaml", .text = text, .sets = sets, .sets_count = sets_count
    };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stdout);
    CHECK(scenario != NULL);
    sim_diagnostics_clear(&diagnostics);
    free(text);
    return scenario;
}

static struct sim_scenario *load_with(const char *middle)
{
    return load_sets(join(head, middle, tail), NULL, 0);
}

/* Loads a text that is wrong and returns its first message (to be freed). */
static char *first_message(char *text, const char *const *sets, size_t sets_count)
{
    const struct sim_scenario_source source = {
        .path = "t.yaml", .text = text, .sets = sets, .sets_count = sets_count
    };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    CHECK_I64(sim_scenario_load(&source, &scenario, &diagnostics), WEIR_EFORMAT);
    CHECK(scenario == NULL);
    CHECK(diagnostics.errors > 0);
    char *message = strdup(diagnostics.count == 0 ? "" : diagnostics.items[0].message);
    sim_diagnostics_clear(&diagnostics);
    free(text);
    return message;
}

static void defaults_are_those_of_the_schema(void)
{
    struct sim_scenario *s = load_with("");
    if (s == NULL)
        return;
    CHECK_I64(s->seed, 1);
    CHECK_I64(s->replications, 1);
    CHECK_I64(s->horizon_ns, SIM_TIME_MAX);
    CHECK_I64(s->quantum.units, 1);
    CHECK_STR(s->sched.placement.placement->name, "fgd_xenna"); /* schema 1, pipelines alone */
    CHECK_STR(s->sched.scaling.scaling->name, "xenna");
    CHECK_I64(s->sched.interval_ns, 180 * SIM_NS_PER_S);
    CHECK_I64(s->sched.min_points, 5);
    CHECK_I64(s->sched.explain, WEIR_EXPLAIN_COUNTS);
    const struct sim_pipeline *p = &s->pipelines[0];
    CHECK_I64(p->slots_per_worker, 2);
    CHECK_I64(p->backpressure, SIM_BACKPRESSURE_SLOTS);
    CHECK_I64(p->stages[0].workers, -1);
    CHECK_I64(p->stages[0].max_attempts, 4);
    CHECK_I64(p->stages[0].batch, 1);
    CHECK(p->stages[0].service.scale_by_size);
    CHECK(p->stages[0].setup == NULL);
    CHECK_I64(s->knobs, 0);
    CHECK_I64(s->files_count, 1);
    sim_scenario_destroy(s);
}

/* covers: S2.27 S0.18 */
static void a_gpu_stage_gets_one_cpu_unless_it_says_so(void)
{
    struct sim_scenario *s = load_with("");
    if (s == NULL)
        return;
    const struct sim_stage *b = sim_scenario_stage(s, 1);
    CHECK_NEAR(b->request.cpus, 1, 0);
    CHECK_I64(b->shape.kind, WEIR_SHAPE_FRACTIONAL);
    CHECK_I64(b->shape.gpu_units, WEIR_ONE / 4);
    CHECK_I64(b->uses_shape.gpu_units, WEIR_ONE / 4);
    CHECK_I64(sim_scenario_stage(s, 0)->shape.cpu_units, 2 * WEIR_ONE);
    sim_scenario_destroy(s);
}

/* covers: S0.16 S2.31 */
static void workers_per_node_are_rounded_up(void)
{
    const char *const sets[] = { "pipelines.p.stages.a.workers_per_node=1.5" };
    struct sim_scenario *s = load_sets(join(head, "", tail), sets, 1);
    if (s == NULL)
        return;
    CHECK_I64(s->pipelines[0].stages[0].workers, 5);
    CHECK_I64(s->knobs, 1);
    sim_scenario_destroy(s);
}

static void nodes_have_names_and_types(void)
{
    struct sim_scenario *s = load_sets(
        join("schema: 1\nname: t\ncatalog: {node_types: {dgx: {cpus: 8, gpus: {l4: 1}}}}\n",
             "cluster: {nodes: [{type: dgx, count: 2}, {name: head, cpus: 4}, {name: g, type: dgx, "
             "count: 2}]}\n",
             "pipelines: [{name: p, input: {items: 1}, stages: [{name: a, service: 1}]}]\n"),
        NULL, 0);
    if (s == NULL)
        return;
    static const char *const names[] = { "dgx-0", "dgx-1", "head", "g-0", "g-1" };
    CHECK_I64(sim_scenario_node_count(s), 5);
    for (uint32_t i = 0; i < 5; i++) {
        char text[32];
        sim_scenario_node_name(s, i, text, sizeof text);
        CHECK_STR(text, names[i]);
        CHECK_NEAR(sim_scenario_node_type(s, i)->cpus, i == 2 ? 4 : 8, 0);
    }
    sim_scenario_destroy(s);
}

static void built_in_gpus_can_be_changed_and_the_truth_may_differ(void)
{
    struct sim_scenario *s = load_with("truth: {gpu_types: {h100: {nvdec: 5}}}\n");
    if (s == NULL)
        return;
    CHECK_I64(s->gpu_types[0].nvdecs, 7);
    CHECK_I64(s->gpu_truth[0].nvdecs, 5);
    CHECK_I64(s->gpu_truth[0].mem_bytes, 80000000000);
    sim_scenario_destroy(s);
    const char *const sets[] = { "catalog.gpu_types.h100.memory=94 GB" };
    s = load_sets(join(head, "", tail), sets, 1);
    if (s == NULL)
        return;
    CHECK_I64(s->gpu_types[0].mem_bytes, 94000000000);
    CHECK_I64(s->gpu_types[0].nvdecs, 7);
    sim_scenario_destroy(s);
}

static void sets_reach_every_corner(void)
{
    const char *const sets[] = { "seed=9",
                                 "cluster.nodes.dgx.count=4",
                                 "pipelines[0].stages[0].service=exp(2 min)",
                                 "pipelines.p.stages.b.gpus=1",
                                 "sched.scaling.interval=1 min",
                                 "sched.placement={policy: fgd, reuse_bonus: 3}",
                                 "pipelines.p.semantics=event",
                                 "pipelines.p.backpressure.rule=blocking",
                                 "horizon=2h" };
    struct sim_scenario *s = load_sets(join(head, "sched: {scaling: xenna}\n", tail), sets, 9);
    if (s == NULL)
        return;
    CHECK_I64(s->seed, 9);
    CHECK_I64(sim_scenario_node_count(s), 4);
    CHECK_NEAR(sim_law_mean(s->pipelines[0].stages[0].service.law), 120, 1e-9);
    CHECK_I64(s->pipelines[0].stages[1].shape.kind, WEIR_SHAPE_WHOLE);
    CHECK_STR(s->sched.scaling.scaling->name, "xenna");
    CHECK_I64(s->sched.interval_ns, 60 * SIM_NS_PER_S);
    CHECK_I64(s->pipelines[0].backpressure, SIM_BACKPRESSURE_BLOCKING);
    CHECK_I64(s->horizon_ns, 7200 * SIM_NS_PER_S);
    sim_scenario_destroy(s);
}

static void another_policy_keeps_the_interval_and_drops_foreign_parameters(void)
{
    static const char *const ways[] = { "sched.scaling.policy=equal_split",
                                        "sched.scaling=equal_split" };
    for (size_t i = 0; i < 2; i++) {
        struct sim_scenario *s = load_sets(
            join(head, "sched: {scaling: {policy: xenna, interval: 10 s, overallocation: 2}}\n",
                 tail),
            &ways[i], 1);
        if (s == NULL)
            continue;
        CHECK_STR(s->sched.scaling.scaling->name, "equal_split");
        CHECK_I64(s->sched.interval_ns, 10 * SIM_NS_PER_S);
        sim_scenario_destroy(s);
    }
}

static void a_path_that_leads_nowhere_is_a_mistake(void)
{
    static const char *const bad[] = { "clutser.nodes.dgx.count=4",
                                       "cluster.nodes.dgz.count=4",
                                       "cluster.nodes[7].count=4",
                                       "seed.x=1",
                                       "catalog.node_types.dgz.cpus=4",
                                       "pipelines.q.tick=1 s",
                                       "no_equals_sign",
                                       "=5",
                                       "catalog.gpu_types.h10.nvdec=1" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        free(first_message(join(head, "", tail), &bad[i], 1));
    const char *const near[] = { "cluster.nodes.dgz.count=4" };
    char *message = first_message(join(head, "", tail), near, 1);
    CHECK_STR(message, "path 'cluster.nodes.dgz.count' leads nowhere: there is no 'dgz'");
    free(message);
}

static void the_first_name_of_scaling_is_read(void)
{
    char *text = join(head, "sched: {autoscaler: {policy: equal_split, interval: 5 s}}\n", tail);
    const struct sim_scenario_source source = { .path = "t.yaml", .text = text };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *s = NULL;
    CHECK_I64(sim_scenario_load(&source, &s, &diagnostics), WEIR_OK);
    CHECK_I64(diagnostics.errors, 0);
    CHECK_I64(diagnostics.count, 0);
    if (s != NULL)
        CHECK_STR(s->sched.scaling.scaling->name, "equal_split");
    sim_scenario_destroy(s);
    sim_diagnostics_clear(&diagnostics);
    free(text);
}

static void the_timeline_is_in_order_and_swaps_add_up(void)
{
    struct sim_scenario *s =
        load_with("timeline:\n"
                  "  - {at: 2 h, action: set, set: {sched.scaling.interval: 30 s}}\n"
                  "  - {at: 1 h, action: set, set: {sched.scaling.policy: equal_split}}\n"
                  "  - {at: 30 min, for: 10 min, action: stage_slow, stage: p.b, factor: 2}\n"
                  "  - {at: 3 h, action: node_down, node: dgx-1}\n");
    if (s == NULL)
        return;
    CHECK_I64(s->timeline_count, 4);
    CHECK_STR(s->timeline[0].text, "p.b slowed x2 for 10 min");
    CHECK_I64(s->timeline[0].target, 1);
    CHECK_STR(s->timeline[1].sched->scaling.scaling->name, "equal_split");
    CHECK_I64(s->timeline[1].sched->interval_ns, 180 * SIM_NS_PER_S);
    CHECK_STR(s->timeline[2].sched->scaling.scaling->name, "equal_split");
    CHECK_I64(s->timeline[2].sched->interval_ns, 30 * SIM_NS_PER_S);
    CHECK_I64(s->timeline[3].target, 1);
    CHECK_STR(s->sched.scaling.scaling->name, "xenna");
    sim_scenario_destroy(s);
}

static void sources_are_counted(void)
{
    struct sim_scenario *s = load_sets(
        join(head, "",
             "pipelines:\n"
             "  - name: p\n"
             "    input: {items: 100}\n"
             "    stages:\n"
             "      - {name: a, cpus: 2, service: {value: 3 s, source: measured}}\n"
             "      - {name: b, gpus: {value: 0.5, source: guess}, service: 1 s, source: datasheet}"
             "\n"),
        NULL, 0);
    if (s == NULL)
        return;
    CHECK_I64(s->sources_measured, 1);
    CHECK_I64(s->sources_guess, 1);
    CHECK_I64(s->sources_datasheet, 1);
    CHECK(s->sources_unstated > 0);
    sim_scenario_destroy(s);
}

static void request_and_use_differ_where_said(void)
{
    const char *const sets[] = { "pipelines.p.stages.b.uses={gpus: 0, nvdecs: 1}" };
    struct sim_scenario *s = load_sets(join(head, "", tail), sets, 1);
    if (s == NULL)
        return;
    const struct sim_stage *b = sim_scenario_stage(s, 1);
    CHECK_I64(b->shape.kind, WEIR_SHAPE_FRACTIONAL);
    CHECK_I64(b->uses_shape.kind, WEIR_SHAPE_CODEC);
    CHECK_I64(b->uses_shape.nvdecs, 1);
    CHECK_NEAR(b->uses.cpus, 1, 0);
    sim_scenario_destroy(s);
}

static void expectations_and_variants_are_kept(void)
{
    struct sim_scenario *s =
        load_with("compare:\n"
                  "  - {label: base}\n"
                  "  - {label: equal, set: {sched.scaling.policy: equal_split, seed: 5}}\n"
                  "expect:\n"
                  "  - {metric: m, variant: base, op: near, value: 0.7792, tol: 2%}\n"
                  "  - {metric: m, op: gt, than_variant: equal}\n");
    if (s == NULL)
        return;
    CHECK_I64(s->variants_count, 2);
    CHECK_STR(s->variants[1].sets[0], "sched.scaling.policy=equal_split");
    CHECK_STR(s->variants[1].sets[1], "seed=5");
    CHECK_NEAR(s->expects[0].tolerance, 0.02, 1e-15);
    CHECK(s->expects[0].tolerance_is_relative);
    CHECK_STR(s->expects[1].than_variant, "equal");
    CHECK(isnan(s->expects[1].value));
    sim_scenario_destroy(s);
}

static void the_canonical_text_reads_back_to_itself(void)
{
    struct sim_scenario *s = load_with(
        "sched: {scaling: {policy: xenna, overallocation: 1.25}}\n"
        "description: \"colons: commas, # and \\\"quotes\\\"\"\n"
        "start_time: 2026-03-01T13:00:00+01:00\n"
        "initial: {workers: [{stage: a, node: dgx-0, count: 2}], queues: {b: 7}, estimates: {a: "
        "{speed: 0.3}}}\n"
        "compare: [{label: x, set: {sched.scaling: {policy: fixed, interval: 5 s}}}]\n");
    if (s == NULL)
        return;
    struct sim_scenario *again = load_sets(strdup(s->resolved), NULL, 0);
    if (again != NULL) {
        CHECK_STR(again->resolved, s->resolved);
        CHECK(again->digest == s->digest);
        CHECK_STR(again->description, s->description);
        CHECK_I64(again->initial.workers_count, 1);
        CHECK_I64(again->initial.stages_count, 2);
    }
    sim_scenario_destroy(again);
    struct sim_scenario *other = load_with("seed: 2\n");
    CHECK(other == NULL || other->digest != s->digest);
    sim_scenario_destroy(other);
    sim_scenario_destroy(s);
}

/* A service of 5 s at batch 2 from a file beside the scenario. */
static void a_service_table_is_read_from_its_file(void)
{
    char folder[] = "/tmp/weir-scenario-XXXXXX";
    char path[64];
    if (mkdtemp(folder) == NULL)
        return;
    (void)snprintf(path, sizeof path, "%s/times.csv", folder);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return;
    fputs("seconds,gpu_type,batch\n3,h100,1\n5.5,,2\n", out);
    (void)fclose(out);
    char *set = NULL;
    if (asprintf(&set, "pipelines.p.stages.b.service={table: %s}", path) < 0)
        abort();
    const char *const sets[] = { set };
    struct sim_scenario *s = load_sets(join(head, "", tail), sets, 1);
    if (s != NULL) {
        const struct sim_service *service = &s->pipelines[0].stages[1].service;
        CHECK_I64(service->table_count, 2);
        CHECK_NEAR(service->table[1].seconds, 5.5, 0);
        CHECK_NEAR(service->table[1].batch, 2, 0);
        CHECK_I64(service->table[0].gpu_type, 0);
        CHECK_I64(service->table[1].gpu_type, WEIR_NO_INDEX);
        CHECK_NEAR(sim_law_mean(service->law), 1, 0);
        CHECK_I64(s->files_count, 2);
    }
    sim_scenario_destroy(s);
    free(set);
    (void)remove(path);
    (void)remove(folder);
}

static void near_names_are_near(void)
{
    static const char *const names[] = { "fgd", "best_fit", "overallocation" };
    CHECK_STR(sim_near_name("fdg", names, 3), "fgd");
    CHECK_STR(sim_near_name("bestfit", names, 3), "best_fit");
    CHECK_STR(sim_near_name("overalocatoin", names, 3), "overallocation");
    CHECK(sim_near_name("xyz", names, 3) == NULL);
    CHECK(sim_near_name("", names, 3) == NULL);
}

static const char with_models[] =
    "schema: 1\nname: m\ncatalog:\n  models:\n"
    "    blip2: {cpus: 2, gpus: 1, gpu_memory: 30 GB, service: 0.5 s, setup: 40 s}\n"
    "cluster: {nodes: [{name: n, cpus: 8, gpus: {a100-80: 2}}]}\n"
    "pipelines:\n  - name: p\n    input: {items: 10}\n    stages:\n"
    "      - {name: a, model: blip2}\n"
    "      - {name: b, model: blip2, cpus: 1, setup: 5 s}\n";

/* covers: S2.28 */
static void a_model_fills_what_its_stage_leaves_out(void)
{
    static const char *const other[] = { "catalog.models.blip2.service=2s" };
    struct sim_scenario *s = load_sets(join(with_models, "", ""), NULL, 0);
    if (s == NULL)
        return;
    const struct sim_stage *stages = s->pipelines[0].stages;
    CHECK_NEAR(stages[0].request.cpus, 2, 0);
    CHECK_I64(stages[0].shape.kind, WEIR_SHAPE_WHOLE);
    CHECK_I64(stages[0].request.gpu_mem_bytes, INT64_C(30000000000));
    CHECK_NEAR(sim_law_mean(stages[0].service.law), 0.5, 1e-12);
    CHECK_NEAR(sim_law_mean(stages[0].setup), 40, 1e-12);
    CHECK_NEAR(stages[1].request.cpus, 1, 0);
    CHECK_NEAR(sim_law_mean(stages[1].setup), 5, 1e-12);
    CHECK_NEAR(sim_law_mean(stages[1].service.law), 0.5, 1e-12);
    sim_scenario_destroy(s);
    s = load_sets(join(with_models, "", ""), other, 1);
    if (s == NULL)
        return;
    CHECK_NEAR(sim_law_mean(s->pipelines[0].stages[1].service.law), 2, 1e-12);
    sim_scenario_destroy(s);
}

/* Real names do not meet; the check is shown hashes that do. Twice the same name is not its matter.
 */
static void names_with_one_hash_are_found(void)
{
    struct sim_owner_name names[] = {
        { .hash = 7, .kind = SIM_NAME_STAGE, .within = 3, .name = "a" },
        { .hash = 9, .kind = SIM_NAME_JOBS, .name = "w" },
        { .hash = 5, .kind = SIM_NAME_PIPELINE, .name = "p" },
        { .hash = 7, .kind = SIM_NAME_STAGE, .within = 3, .name = "a" },
        { .hash = 4, .kind = SIM_NAME_PIPELINE, .name = "q" },
    };
    size_t first = 99;
    CHECK(!sim_names_collide(names, 5, &first));
    names[0].hash = names[1].hash;
    CHECK(sim_names_collide(names, 5, &first));
    CHECK(names[first].hash == names[first + 1].hash);
    CHECK(strcmp(names[first].name, names[first + 1].name) != 0);
}

static const struct test tests[] = {
    { "names with one hash are found", names_with_one_hash_are_found },
    { "a model fills what its stage leaves out", a_model_fills_what_its_stage_leaves_out },
    { "defaults are those of the schema", defaults_are_those_of_the_schema },
    { "a GPU stage gets one CPU unless it says so", a_gpu_stage_gets_one_cpu_unless_it_says_so },
    { "workers per node are rounded up", workers_per_node_are_rounded_up },
    { "nodes have names and types", nodes_have_names_and_types },
    { "built-in GPUs can be changed and the truth may differ",
      built_in_gpus_can_be_changed_and_the_truth_may_differ },
    { "sets reach every corner", sets_reach_every_corner },
    { "another policy keeps the interval and drops foreign parameters",
      another_policy_keeps_the_interval_and_drops_foreign_parameters },
    { "a path that leads nowhere is a mistake", a_path_that_leads_nowhere_is_a_mistake },
    { "the first name of scaling is read", the_first_name_of_scaling_is_read },
    { "the timeline is in order and swaps add up", the_timeline_is_in_order_and_swaps_add_up },
    { "sources are counted", sources_are_counted },
    { "request and use differ where said", request_and_use_differ_where_said },
    { "expectations and variants are kept", expectations_and_variants_are_kept },
    { "the canonical text reads back to itself", the_canonical_text_reads_back_to_itself },
    { "a service table is read from its file", a_service_table_is_read_from_its_file },
    { "near names are near", near_names_are_near },
};
TEST_MAIN(tests)
