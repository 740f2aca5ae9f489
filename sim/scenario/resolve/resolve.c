/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving: the top level, the scheduler, references, expectations. See the header.
 */
#include "sim/scenario/resolve/resolve.h"

#include "sim/scenario/read/condition.h"

#include "sim/engine/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct sim_yaml *sim_draft_at(const struct draft_head *head, const char *key)
{
    const struct sim_yaml *child = sim_yaml_get(head->node, key);
    return child == NULL ? head->node : child;
}

void sim_resolve_not_empty(struct sim_resolver *resolver, const struct sim_yaml *list,
                           const char *message)
{
    const bool is_list =
        list != NULL && (list->kind == SIM_YAML_LIST || list->kind == SIM_YAML_NULL);
    if (is_list && list->count == 0)
        sim_report_error(resolver->report, list, "%s", message);
}

struct sim_law *sim_resolve_constant(struct sim_resolver *resolver, const char *text)
{
    const struct sim_law_context context = { .is_time = false };
    struct weir_error error = { .phase = -1 };
    struct sim_law *law = NULL;
    if (sim_law_parse(text, &context, &law, &error) != WEIR_OK)
        abort(); /* the texts are ours */
    sim_arena_keep_law(resolver->arena, law);
    return law;
}

static struct sim_repartition repartition_of(const struct draft_repartition *draft)
{
    struct sim_repartition repartition = draft->to;
    if (repartition.policy == SIM_ABSENT_COUNT)
        repartition.policy = SIM_REPARTITION_OFF;
    if (repartition.min_gain == SIM_ABSENT_COUNT)
        repartition.min_gain = 2;
    if (repartition.reconfigure_ns == SIM_ABSENT_TIME)
        repartition.reconfigure_ns = 10 * INT64_C(1000000000);
    return repartition;
}

void sim_resolve_sched(const struct draft_sched *draft, struct sim_sched *sched)
{
    static const int64_t usual_sampling_ns = 300 * INT64_C(1000000000); /* of Kueue */
    *sched = (struct sim_sched){
        .placement = draft->placement.choice,
        .scaling = draft->scaling.policy.choice,
        .queueing = draft->queueing.choice,
        .capacity = draft->capacity.choice,
        .interval_ns = draft->scaling.interval_ns,
        .window_ns = draft->scaling.window_ns,
        .min_points = draft->scaling.min_points,
        .explain = draft->explain,
        .latency_ns = draft->latency.base_ns,
        .latency_per_worker_ns = draft->latency.per_worker_ns,
        .view_age_ns = draft->view_age_ns,
        .hold_mode = draft->hold_mode,
        .infeasible = draft->infeasible,
        .half_life_ns = draft->half_life_ns == SIM_ABSENT_TIME ? INT64_C(168) * 3600 * 1000000000
                                                               : draft->half_life_ns,
        .usage_period_ns = draft->usage_period_ns != SIM_ABSENT_TIME ? draft->usage_period_ns
                           : draft->usage_rule == WEIR_USAGE_AVERAGE ? usual_sampling_ns
                                                                     : 0,
        .usage_rule = draft->usage_rule == SIM_ABSENT_COUNT ? WEIR_USAGE_SUM : draft->usage_rule,
        .repartition = repartition_of(&draft->repartition)
    };
    if (draft->groups.scorer != SIM_ABSENT_COUNT)
        sched->group_scorer = draft->groups.scorer;
    if (draft->groups.report != SIM_ABSENT_COUNT)
        sched->group_report = draft->groups.report;
    if (draft->groups.devices != SIM_ABSENT_COUNT)
        sched->group_devices = draft->groups.devices;
}

/* ---- references ---- */

uint32_t sim_resolve_gpu_type(struct sim_resolver *resolver, const struct sim_yaml *at,
                              const char *name)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char **names =
        sim_arena_alloc(resolver->arena, scenario->gpu_types_count + 1, sizeof *names);
    for (uint32_t i = 0; i < scenario->gpu_types_count; i++) {
        names[i] = scenario->gpu_types[i].name;
        if (strcmp(names[i], name) == 0)
            return i;
    }
    sim_report_near(resolver->report, at, SIM_AT_KEY,
                    sim_near_name(name, names, scenario->gpu_types_count),
                    "there is no GPU type '%s'", name);
    return WEIR_NO_INDEX;
}

const char *sim_near_draft(struct sim_resolver *resolver, const struct draft_list *list,
                           size_t size, const char *name)
{
    const char **names = sim_arena_alloc(resolver->arena, list->count + 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct draft_head *head = (const void *)((const char *)list->items + i * size);
        if (head->name != NULL)
            names[count++] = head->name;
    }
    return sim_near_name(name, names, count);
}

static const char *near_stage(struct sim_resolver *resolver, const char *name)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char **names =
        sim_arena_alloc(resolver->arena, scenario->stages_total + 1, sizeof *names);
    size_t count = 0;
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        for (size_t s = 0; s < scenario->pipelines[p].stages_count; s++)
            if (scenario->pipelines[p].stages[s].name != NULL)
                names[count++] = scenario->pipelines[p].stages[s].name;
    const char *dot = strrchr(name, '.');
    return sim_near_name(dot == NULL ? name : dot + 1, names, count);
}

uint32_t sim_resolve_stage(struct sim_resolver *resolver, const struct sim_yaml *at,
                           const char *name)
{
    uint32_t found = WEIR_NO_INDEX;
    const uint32_t matches = sim_stage_names_find(&resolver->stage_names, resolver->arena,
                                                  resolver->scenario, name, &found);
    if (matches == 1)
        return found;
    if (matches > 1)
        sim_report_error(resolver->report, at,
                         "several pipelines have a stage '%s': write pipeline.stage", name);
    else
        sim_report_near(resolver->report, at, SIM_AT_VALUE, near_stage(resolver, name),
                        "there is no stage '%s'", name);
    return WEIR_NO_INDEX;
}

uint32_t sim_resolve_node(struct sim_resolver *resolver, const struct sim_yaml *at,
                          const char *name)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const uint32_t count = sim_scenario_node_count(scenario);
    const char *firsts[64];
    size_t firsts_count = 0;
    char text[160];
    for (uint32_t i = 0; i < count; i++) {
        sim_scenario_node_name(scenario, i, text, sizeof text);
        if (strcmp(text, name) == 0)
            return i;
        if (firsts_count < 64)
            firsts[firsts_count++] = sim_arena_copy(resolver->arena, text);
    }
    sim_report_near(resolver->report, at, SIM_AT_VALUE, sim_near_name(name, firsts, firsts_count),
                    "there is no node '%s' (%s%s%s)", name,
                    firsts_count == 0 ? "no nodes" : firsts[0], count > 1 ? " to " : "",
                    count > 1 ? text : "");
    return WEIR_NO_INDEX;
}

/* ---- variants and expectations ---- */

/* What is compared is compared over the same moments, in the same experiment. */
static void refuse_shared(struct sim_resolver *resolver, const struct draft_set *set)
{
    static const char *const shared[][2] = {
        { "windows", "windows are the same in all variants" },
        { "compare", "the list of variants is the same in all of them" },
    };
    const size_t length = strcspn(set->head.name, ".[");
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        if (strlen(shared[i][0]) == length && strncmp(set->head.name, shared[i][0], length) == 0)
            sim_report_near(resolver->report, set->head.node, SIM_AT_KEY, NULL, "%s", shared[i][1]);
}

static void resolve_variants(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_variant *drafts = resolver->draft->compare.items;
    struct sim_name_set labels = sim_name_set_open(resolver->arena);
    if (resolver->lists_variants != NULL) {
        scenario->variants = resolver->lists_variants->variants;
        scenario->variants_count = resolver->lists_variants->variants_count;
        return;
    }
    scenario->variants_count = resolver->draft->compare.count;
    scenario->variants =
        sim_arena_alloc(resolver->arena, scenario->variants_count + 1, sizeof *scenario->variants);
    for (size_t i = 0; i < scenario->variants_count; i++) {
        struct sim_variant *variant = &scenario->variants[i];
        const struct draft_set *sets = drafts[i].sets.items;
        variant->label = drafts[i].label;
        variant->sets_count = drafts[i].sets.count;
        variant->sets =
            sim_arena_alloc(resolver->arena, variant->sets_count + 1, sizeof *variant->sets);
        for (size_t s = 0; s < variant->sets_count; s++) {
            refuse_shared(resolver, &sets[s]);
            variant->sets[s] =
                sim_arena_printf(resolver->arena, "%s=%s", sets[s].head.name, sets[s].value);
        }
        if (variant->label != NULL && !sim_name_set_add(&labels, variant->label))
            sim_report_error(resolver->report, sim_draft_at(&drafts[i].head, "label"),
                             "two variants are called '%s'", variant->label);
    }
}

static void check_variant_name(struct sim_resolver *resolver, const struct draft_expect *draft,
                               const char *key, const char *name)
{
    const struct sim_scenario *scenario = resolver->scenario;
    if (name == NULL)
        return;
    const char **names =
        sim_arena_alloc(resolver->arena, scenario->variants_count + 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < scenario->variants_count; i++) {
        if (scenario->variants[i].label == NULL)
            continue;
        names[count++] = scenario->variants[i].label;
        if (strcmp(names[count - 1], name) == 0)
            return;
    }
    sim_report_near(resolver->report, sim_draft_at(&draft->head, key), SIM_AT_VALUE,
                    sim_near_name(name, names, count), "there is no variant '%s' under compare",
                    name);
}

/* "2%" is relative, "0.5" absolute; the draft keeps the canonical text. */
static void resolve_tolerance(struct sim_resolver *resolver, struct draft_expect *draft,
                              struct sim_expect *expect)
{
    struct weir_error error = { .phase = -1 };
    double value = 0;
    if (draft->tol == NULL) {
        if (expect->op == SIM_EXPECT_NEAR)
            sim_report_error(resolver->report, draft->head.node, "near needs tol");
        return;
    }
    if (sim_quantity_parse(draft->tol, SIM_UNIT_ANY, &value, &error) != WEIR_OK || value < 0) {
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "tol"),
                         "expected a number >= 0 or a percentage, found '%s'", draft->tol);
        return;
    }
    expect->tolerance = value;
    expect->tolerance_is_relative = strchr(draft->tol, '%') != NULL;
    draft->tol = sim_arena_printf(
        resolver->arena, "%s%s",
        sim_quantity_number(resolver->arena, expect->tolerance_is_relative ? value * 100 : value),
        expect->tolerance_is_relative ? "%" : "");
}

/* The id of what a key of the long form names. */
static char *named_by(const struct sim_resolver *resolver, const struct draft_expect *draft,
                      const char *key, const char *name)
{
    const char *unit = "";
    return name == NULL ? NULL
                        : sim_arena_copy(resolver->arena,
                                         sim_metric_id(resolver, sim_draft_at(&draft->head, key),
                                                       name, &unit));
}

void sim_resolve_expect(struct sim_resolver *resolver, struct draft_expect *draft,
                        struct sim_expect *expect)
{
    const bool is_long = draft->that == NULL;
    if (!sim_condition_read(resolver, draft))
        return;
    if (is_long) {
        draft->to.metric = named_by(resolver, draft, "metric", draft->to.metric);
        draft->to.than_metric = named_by(resolver, draft, "than", draft->to.than_metric);
    }
    if (draft->to.metric == NULL || draft->to.op == SIM_ABSENT_COUNT) {
        sim_report_error(resolver->report, draft->head.node,
                         "key '%s' is missing, or a condition in one line",
                         draft->to.metric == NULL ? "metric" : "op");
        return;
    }
    const bool has_than = draft->to.than_metric != NULL || draft->to.than_of != NULL ||
                          draft->to.than_variant != NULL;
    *expect = draft->to;
    expect->times = isnan(expect->times) ? 1 : expect->times;
    expect->line = draft->head.node == NULL ? 0 : draft->head.node->mark.line;
    const bool is_value_given = !isnan(draft->to.value);
    if (is_value_given == has_than)
        sim_report_error(resolver->report, draft->head.node,
                         "needs either value or one of than, than_of, than_variant");
    if (!has_than && !isnan(draft->to.times) && sim_yaml_get(draft->head.node, "times") != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "times"),
                         "needs one of than, than_of, than_variant");
    if (draft->to.op != SIM_ABSENT_COUNT)
        resolve_tolerance(resolver, draft, expect);
    check_variant_name(resolver, draft, "variant", draft->to.variant);
    check_variant_name(resolver, draft, "than_variant", draft->to.than_variant);
}

static struct sim_expect *resolve_expects(struct sim_resolver *resolver, struct draft_list *list)
{
    struct draft_expect *drafts = list->items;
    struct sim_expect *expects = sim_arena_alloc(resolver->arena, list->count + 1, sizeof *expects);
    for (size_t i = 0; i < list->count; i++)
        sim_resolve_expect(resolver, &drafts[i], &expects[i]);
    return expects;
}

/* A bound of a goal is a number: what is compared with another variant is an expectation. */
static void check_condition(struct sim_resolver *resolver, const struct draft_expect *draft)
{
    const bool has_than = draft->to.than_metric != NULL || draft->to.than_of != NULL ||
                          draft->to.than_variant != NULL;
    if (draft->to.metric != NULL && (has_than || draft->to.variant != NULL))
        sim_report_error(resolver->report, draft->head.node,
                         "a condition of the goal is a value that every variant has to keep, as "
                         "\"latency p95 <= 30 min\"");
}

/* What a goal allows an item at most: those that take longer are late. */
static int64_t late_of(const struct sim_goal *goal)
{
    for (size_t i = 0; i < goal->conditions_count; i++) {
        const struct sim_expect *condition = &goal->conditions[i];
        if (condition->metric != NULL && strncmp(condition->metric, "lat.e2e.", 8) == 0 &&
            (condition->op == SIM_EXPECT_LE || condition->op == SIM_EXPECT_LT))
            return sim_time_from_s(condition->value);
    }
    return 0;
}

static void resolve_goal(struct sim_resolver *resolver)
{
    struct draft_goal *draft = &resolver->draft->goal;
    struct sim_goal *goal = &resolver->scenario->goal;
    struct draft_expect *conditions = draft->conditions.items;
    const char *unit = "";
    if (draft->more != NULL && draft->less != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "min"),
                         "a goal is either max or min of one metric");
    goal->wants_more = draft->more != NULL;
    char **given = goal->wants_more ? &draft->more : &draft->less;
    if (*given != NULL)
        *given = sim_arena_copy(
            resolver->arena,
            sim_metric_id(resolver, sim_draft_at(&draft->head, goal->wants_more ? "max" : "min"),
                          *given, &unit));
    goal->metric = *given;
    goal->of = draft->of;
    if (draft->of != NULL && *given == NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "of"), "needs max or min");
    goal->conditions = resolve_expects(resolver, &draft->conditions);
    goal->conditions_count = draft->conditions.count;
    for (size_t i = 0; i < goal->conditions_count; i++)
        check_condition(resolver, &conditions[i]);
    resolver->scenario->late_ns = late_of(goal);
}

static void resolve_growth(struct sim_resolver *resolver)
{
    const struct draft_scenario *draft = resolver->draft;
    struct weir_error error;
    if (draft->growth != NULL &&
        sim_growth_parse(draft->growth, &resolver->scenario->growth_month, &error) != WEIR_OK)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "growth"), "%s", error.text);
}

static void resolve_results(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const int64_t sample_ns = resolver->draft->metrics.sample_ns;
    const uint32_t keep = resolver->draft->metrics.keep;
    scenario->sample_ns = sample_ns == SIM_ABSENT_TIME ? 0 : sample_ns;
    scenario->keep = keep == SIM_ABSENT_COUNT ? 0 : keep + 1;
    scenario->has_features = resolver->draft->metrics.has_features;
    if (scenario->has_features && scenario->sample_ns == 0)
        sim_report_error(resolver->report, sim_draft_at(&resolver->draft->metrics.head, "features"),
                         "features are kept at times that are said: give metrics.sample, too");
    resolve_variants(resolver);
    scenario->expects = resolve_expects(resolver, &resolver->draft->expect);
    scenario->expects_count = resolver->draft->expect.count;
    resolve_goal(resolver);
    resolve_growth(resolver);
}

/* ---- top level ---- */

static struct weir_quantum quantum_of(const struct draft_quantum *draft)
{
    static const int64_t divisors[] = { WEIR_ONE, 65536, 10000, 1000 };
    const uint32_t step = draft->step == SIM_ABSENT_COUNT ? 0 : draft->step;
    return (struct weir_quantum){ .units = WEIR_ONE / divisors[step],
                                  .round =
                                      draft->round == 1 ? WEIR_ROUND_FLOOR : WEIR_ROUND_NEAREST };
}

/* The fixed-step loop knows no moved ends. */
static void resolve_contention(struct sim_resolver *resolver)
{
    const struct draft_scenario *draft = resolver->draft;
    struct sim_scenario *scenario = resolver->scenario;
    bool has_ticks = false;
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        has_ticks = has_ticks || scenario->pipelines[p].semantics == SIM_SEMANTICS_TICK;
    scenario->contention = has_ticks ? SIM_CONTENTION_AT_START : SIM_CONTENTION_SHARED;
    if (draft->contention == SIM_ABSENT_COUNT)
        return;
    scenario->contention = draft->contention;
    if (has_ticks && draft->contention == SIM_CONTENTION_SHARED)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "contention"),
                         "semantics: tick needs at_start");
}

void sim_resolve(struct sim_resolver *resolver)
{
    const struct draft_scenario *draft = resolver->draft;
    struct sim_scenario *scenario = resolver->scenario;
    if (draft->extends != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "extends"),
                         "belongs into a file: what a setting names comes too late");
    scenario->name = draft->head.name;
    scenario->description = draft->description;
    scenario->seed = draft->seed;
    scenario->replications = draft->replications;
    scenario->horizon_ns = draft->horizon_ns == SIM_ABSENT_TIME ? SIM_TIME_MAX : draft->horizon_ns;
    scenario->warmup_ns = draft->warmup_ns;
    scenario->start_unix_s = draft->start_unix_s == INT64_MIN ? 0 : draft->start_unix_s;
    scenario->quantum = quantum_of(&draft->quantum);
    sim_resolve_hardware(resolver);
    sim_resolve_sched(&draft->sched, &scenario->sched);
    sim_resolve_pipelines(resolver);
    sim_resolve_actors(resolver);
    sim_resolve_workloads(resolver);
    sim_resolve_tenants(resolver);
    sim_resolve_owners(resolver);
    sim_resolve_reservations(resolver);
    sim_resolve_licences(resolver);
    sim_resolve_bands(resolver);
    sim_resolve_prices(resolver);
    sim_resolve_labels(resolver);
    resolve_contention(resolver);
    sim_resolve_exclusive(resolver);
    sim_resolve_codecs(resolver);
    sim_resolve_speeds(resolver);
    sim_resolve_fabric(resolver);
    sim_resolve_repartition(resolver);
    sim_resolve_timeline(resolver);
    sim_resolve_permissions(resolver);
    sim_resolve_power(resolver);
    sim_resolve_initial(resolver);
    sim_resolve_windows(resolver);
    resolve_results(resolver);
    sim_resolve_names(resolver);
}
