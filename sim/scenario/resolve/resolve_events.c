/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving what happens at known times and the state at the start.
 *
 * `set` entries are resolved by reading the scheduler section again, from a copy of the tree with
 * all earlier `set` entries and this one applied.
 */
#include "sim/engine/time.h"
#include "sim/scenario/read/quantity.h"
#include "sim/scenario/read/set.h"
#include "sim/scenario/resolve/resolve.h"
#include "sim/scenario/schema/needs.h"

#include <math.h>
#include <string.h>

enum target {
    TARGET_STAGE,
    TARGET_NODE,
    TARGET_NIC,
    TARGET_STORE,
    TARGET_SOURCE,
    TARGET_SERVICE,
    TARGET_NONE
};

/* What each action is about and which keys it takes; in the order of enum sim_action. */
struct action_rule {
    const char *name;
    const char *verb; /* "%s" is the target */
    enum target target;
    bool takes_for;
    bool takes_factor;
    bool takes_probability;
    bool takes_items;
    bool takes_set;
    bool takes_cap;
    bool takes_replicas;
    bool takes_subject;
};

static const struct action_rule rules[] = {
    { .name = "stage_slow",
      .target = TARGET_STAGE,
      .verb = "slowed",
      .takes_for = true,
      .takes_factor = true },
    { .name = "stage_stall", .target = TARGET_STAGE, .verb = "stalled", .takes_for = true },
    { .name = "stage_fail",
      .target = TARGET_STAGE,
      .verb = "fails",
      .takes_for = true,
      .takes_probability = true },
    { .name = "setup_slow",
      .target = TARGET_STAGE,
      .verb = "set-ups slowed",
      .takes_for = true,
      .takes_factor = true },
    { .name = "node_down", .target = TARGET_NODE, .verb = "down", .takes_for = true },
    { .name = "node_up", .target = TARGET_NODE, .verb = "up" },
    { .name = "node_slow",
      .target = TARGET_NODE,
      .verb = "slowed",
      .takes_for = true,
      .takes_factor = true },
    { .name = "arrivals",
      .target = TARGET_SOURCE,
      .verb = "arrival rate",
      .takes_for = true,
      .takes_factor = true },
    { .name = "burst", .target = TARGET_SOURCE, .verb = "burst of", .takes_items = true },
    { .name = "set", .target = TARGET_NONE, .verb = "set", .takes_set = true },
    { .name = "power_cap",
      .target = TARGET_NODE,
      .verb = "GPUs capped at",
      .takes_for = true,
      .takes_cap = true },
    { .name = "nic_down",
      .target = TARGET_NIC,
      .verb = "network interface out",
      .takes_for = true },
    { .name = "nic_up", .target = TARGET_NIC, .verb = "network interface back" },
    { .name = "nic_slow",
      .target = TARGET_NIC,
      .verb = "network interface slowed",
      .takes_for = true,
      .takes_factor = true },
    { .name = "store_down", .target = TARGET_STORE, .verb = "out", .takes_for = true },
    { .name = "store_up", .target = TARGET_STORE, .verb = "back" },
    { .name = "store_slow",
      .target = TARGET_STORE,
      .verb = "slowed",
      .takes_for = true,
      .takes_factor = true },
    { .name = "service_down", .target = TARGET_SERVICE, .verb = "out of reach", .takes_for = true },
    { .name = "head_down", .target = TARGET_NONE, .verb = "the head is down", .takes_for = true },
    { .name = "load", .target = TARGET_SERVICE, .verb = "loaded", .takes_subject = true },
    { .name = "unload", .target = TARGET_SERVICE, .verb = "unloaded", .takes_subject = true },
    { .name = "scale",
      .target = TARGET_SERVICE,
      .verb = "scaled to",
      .takes_replicas = true,
      .takes_subject = true },
    { .name = "deploy",
      .target = TARGET_SERVICE,
      .verb = "in another version",
      .takes_subject = true },
};

const char *sim_action_name(uint32_t action)
{
    return rules[action].name;
}

/* A key must be there exactly if the action takes it (`for` may be left out). */
static void check_key(struct sim_resolver *resolver, const struct draft_event *draft,
                      const char *key, bool is_taken, bool is_needed)
{
    const struct sim_yaml *node = sim_yaml_get(draft->head.node, key);
    const char *action = rules[draft->to.action].name;
    if (node != NULL && !is_taken)
        sim_report_near(resolver->report, node, SIM_AT_KEY, NULL,
                        "has no meaning for the action %s", action);
    else if (node == NULL && is_needed)
        sim_report_error(resolver->report, draft->head.node, "the action %s needs '%s'", action,
                         key);
}

static void check_keys(struct sim_resolver *resolver, const struct draft_event *draft)
{
    const struct action_rule *rule = &rules[draft->to.action];
    const struct sim_scenario *scenario = resolver->scenario;
    const bool is_source = rule->target == TARGET_SOURCE;
    const bool is_node = rule->target == TARGET_NODE || rule->target == TARGET_NIC;
    const bool is_clear = draft->jobs != NULL || scenario->pipelines_count == 1 ||
                          scenario->pipelines_count + scenario->workloads_count == 1;
    check_key(resolver, draft, "for", rule->takes_for, false);
    check_key(resolver, draft, "factor", rule->takes_factor, rule->takes_factor);
    check_key(resolver, draft, "probability", rule->takes_probability, rule->takes_probability);
    check_key(resolver, draft, "items", rule->takes_items, rule->takes_items);
    check_key(resolver, draft, "cap", rule->takes_cap, rule->takes_cap);
    check_key(resolver, draft, "set", rule->takes_set, rule->takes_set);
    check_key(resolver, draft, "stage", rule->target == TARGET_STAGE, rule->target == TARGET_STAGE);
    check_key(resolver, draft, "node", is_node, is_node);
    check_key(resolver, draft, "replicas", rule->takes_replicas, rule->takes_replicas);
    check_key(resolver, draft, "subject", rule->takes_subject, false);
    check_key(resolver, draft, "store", rule->target == TARGET_STORE, rule->target == TARGET_STORE);
    check_key(resolver, draft, "jobs", is_source, false);
    check_key(resolver, draft, "pipeline",
              (is_source && draft->jobs == NULL) || rule->target == TARGET_SERVICE,
              is_source && !is_clear && scenario->pipelines_count > 0);
    if (is_source && !is_clear && scenario->pipelines_count == 0)
        check_key(resolver, draft, "jobs", true, true);
    if (rule->takes_factor && !is_source && draft->to.factor <= 0)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "factor"),
                         "must be > 0 for the action %s", rule->name);
}

static uint32_t find_pipeline(struct sim_resolver *resolver, const struct draft_event *draft)
{
    const struct sim_scenario *scenario = resolver->scenario;
    if (draft->pipeline == NULL)
        return scenario->pipelines_count == 1 ? 0 : WEIR_NO_INDEX;
    const char **names =
        sim_arena_alloc(resolver->arena, scenario->pipelines_count + 1, sizeof *names);
    size_t count = 0;
    for (uint32_t i = 0; i < scenario->pipelines_count; i++) {
        if (scenario->pipelines[i].name == NULL)
            continue;
        names[count++] = scenario->pipelines[i].name;
        if (strcmp(scenario->pipelines[i].name, draft->pipeline) == 0)
            return i;
    }
    sim_report_near(resolver->report, sim_draft_at(&draft->head, "pipeline"), SIM_AT_VALUE,
                    sim_near_name(draft->pipeline, names, count), "there is no pipeline '%s'",
                    draft->pipeline);
    return WEIR_NO_INDEX;
}

static uint32_t find_jobs(struct sim_resolver *resolver, const struct draft_event *draft)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char **names =
        sim_arena_alloc(resolver->arena, scenario->workloads_count + 1, sizeof *names);
    size_t count = 0;
    for (uint32_t i = 0; i < scenario->workloads_count; i++) {
        const char *name = scenario->workloads[i].name;
        if (name != NULL && strcmp(name, draft->jobs) == 0)
            return (uint32_t)scenario->pipelines_count + i;
        if (name != NULL)
            names[count++] = name;
    }
    sim_report_near(resolver->report, sim_draft_at(&draft->head, "jobs"), SIM_AT_VALUE,
                    sim_near_name(draft->jobs, names, count), "there are no jobs '%s'",
                    draft->jobs);
    return WEIR_NO_INDEX;
}

static uint32_t find_source(struct sim_resolver *resolver, const struct draft_event *draft)
{
    const struct sim_scenario *scenario = resolver->scenario;
    if (draft->jobs != NULL)
        return find_jobs(resolver, draft);
    if (scenario->pipelines_count == 0)
        return scenario->workloads_count == 1 ? 0 : WEIR_NO_INDEX;
    return find_pipeline(resolver, draft);
}

static uint32_t find_service(struct sim_resolver *resolver, const struct draft_event *draft)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const bool is_clear =
        scenario->pipelines_count == 1 && scenario->pipelines[0].stages[0].batching != NULL;
    if (draft->pipeline != NULL)
        return sim_resolve_service(resolver, sim_draft_at(&draft->head, "pipeline"),
                                   draft->pipeline);
    if (!is_clear)
        sim_report_error(resolver->report, draft->head.node, "the action %s needs 'service'",
                         rules[draft->to.action].name);
    return is_clear ? 0 : WEIR_NO_INDEX;
}

/* Without an interface of limited bandwidth nothing becomes slower. */
static uint32_t find_nic(struct sim_resolver *resolver, const struct draft_event *draft)
{
    const struct sim_yaml *const at = sim_draft_at(&draft->head, "node");
    const uint32_t node = sim_resolve_node(resolver, at, draft->node);
    if (node != WEIR_NO_INDEX && !(sim_scenario_node_type(resolver->scenario, node)->nic_per_s > 0))
        sim_report_error(resolver->report, at, "%s has no network interface (nic) to act on",
                         draft->node);
    return node;
}

static uint32_t find_target(struct sim_resolver *resolver, const struct draft_event *draft)
{
    switch (rules[draft->to.action].target) {
    case TARGET_STAGE:
        return draft->stage == NULL
                   ? WEIR_NO_INDEX
                   : sim_resolve_stage(resolver, sim_draft_at(&draft->head, "stage"), draft->stage);
    case TARGET_NODE:
        return draft->node == NULL
                   ? WEIR_NO_INDEX
                   : sim_resolve_node(resolver, sim_draft_at(&draft->head, "node"), draft->node);
    case TARGET_NIC:
        return draft->node == NULL ? WEIR_NO_INDEX : find_nic(resolver, draft);
    case TARGET_STORE:
        return draft->store == NULL
                   ? WEIR_NO_INDEX
                   : sim_resolve_store(resolver, sim_draft_at(&draft->head, "store"), draft->store);
    case TARGET_SOURCE:
        return find_source(resolver, draft);
    case TARGET_SERVICE:
        return find_service(resolver, draft);
    case TARGET_NONE:
        break;
    }
    return WEIR_NO_INDEX;
}

/* ---- one line for reports ---- */

static char *duration_text(struct sim_arena *arena, int64_t time_ns)
{
    const double seconds = sim_time_s(time_ns);
    if (seconds >= 7200)
        return sim_arena_printf(arena, "%.4g h", seconds / 3600);
    if (seconds >= 120)
        return sim_arena_printf(arena, "%.4g min", seconds / 60);
    return sim_arena_printf(arena, "%.4g s", seconds);
}

static char *sets_text(struct sim_arena *arena, const struct draft_list *list)
{
    const struct draft_set *sets = list->items;
    char *text = sim_arena_copy(arena, "set");
    for (size_t i = 0; i < list->count; i++)
        text = sim_arena_printf(arena, "%s%s %s = %s", text, i == 0 ? "" : ",", sets[i].head.name,
                                sets[i].value);
    return text;
}

static const char *target_of(const struct draft_event *draft)
{
    const enum target target = rules[draft->to.action].target;
    if (target == TARGET_NODE || target == TARGET_NIC)
        return draft->node;
    return target == TARGET_STAGE   ? draft->stage
           : target == TARGET_STORE ? draft->store
           : draft->jobs != NULL    ? draft->jobs
                                    : draft->pipeline;
}

const char *sim_event_name(struct sim_arena *arena, const struct draft_event *draft)
{
    const char *target = target_of(draft);
    return sim_arena_printf(arena, "%s%s%s", rules[draft->to.action].name,
                            target == NULL ? "" : " ", target == NULL ? "" : target);
}

static char *event_text(struct sim_arena *arena, const struct draft_event *draft, bool is_of_jobs)
{
    const struct action_rule *rule = &rules[draft->to.action];
    if (draft->to.action == SIM_ACTION_SET)
        return sets_text(arena, &draft->sets);
    if (draft->to.action == SIM_ACTION_BURST)
        return sim_arena_printf(arena, "burst of %llu %s", (unsigned long long)draft->to.items,
                                is_of_jobs ? "jobs" : "items");
    const char *target = target_of(draft);
    char *text =
        sim_arena_printf(arena, "%s%s%s%s", rule->target == TARGET_STORE ? "store " : "",
                         target == NULL ? "" : target, target == NULL ? "" : " ", rule->verb);
    if (rule->takes_factor)
        text = sim_arena_printf(arena, "%s x%g", text, draft->to.factor);
    if (rule->takes_replicas)
        text = sim_arena_printf(arena, "%s %u", text, draft->to.replicas);
    if (rule->takes_cap)
        text = sim_arena_printf(arena, "%s %s", text, sim_quantity_power(arena, draft->to.cap_w));
    if (rule->takes_probability)
        text = sim_arena_printf(arena, "%s with probability %g", text, draft->to.probability);
    if (draft->to.for_ns != SIM_ABSENT_TIME)
        text = sim_arena_printf(arena, "%s for %s", text, duration_text(arena, draft->to.for_ns));
    return text;
}

/* ---- hot swaps ---- */

static bool is_sched_path(const char *path)
{
    const size_t length = strcspn(path, ".");
    const struct sim_field *field = sim_schema_find(&sim_schema_scenario, "sched");
    return (length == strlen(field->key) && strncmp(path, field->key, length) == 0) ||
           (length == strlen(field->alias) && strncmp(path, field->alias, length) == 0);
}

static struct sim_sched *read_sched(struct sim_resolver *resolver, const struct sim_yaml *tree)
{
    struct draft_sched *draft = sim_arena_alloc(resolver->arena, 1, sizeof *draft);
    struct sim_reader reader = *resolver->reader; /* its counts are not to change */
    sim_read_section(&reader, sim_yaml_get(tree, "sched"), &sim_schema_sched, draft);
    struct sim_sched *sched = sim_arena_alloc(resolver->arena, 1, sizeof *sched);
    sim_resolve_sched(draft, sched);
    return sched;
}

static struct sim_sched *swap_sched(struct sim_resolver *resolver, const struct draft_event *draft,
                                    struct sim_yaml *tree)
{
    const struct draft_set *sets = draft->sets.items;
    for (size_t i = 0; i < draft->sets.count; i++) {
        if (!is_sched_path(sets[i].head.name)) {
            sim_report_near(resolver->report, sets[i].head.node, SIM_AT_KEY, NULL,
                            "only settings of sched can change during a run");
            continue;
        }
        struct sim_yaml *value = sim_yaml_clone(resolver->arena, sets[i].head.node);
        (void)sim_set_apply(resolver->arena, resolver->report, tree, sets[i].head.name, value,
                            sets[i].head.node);
    }
    return read_sched(resolver, tree);
}

/* ---- the timeline ---- */

/* Stable: entries at the same time keep their order. */
static void sort_events(struct draft_event *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct draft_event event = events[i];
        size_t at = i;
        for (; at > 0 && events[at - 1].to.at_ns > event.to.at_ns; at--)
            events[at] = events[at - 1];
        events[at] = event;
    }
}

/* A stage without set-up has none that could take longer. */
static void check_setup(struct sim_resolver *resolver, const struct draft_event *draft,
                        const struct sim_stage *stage)
{
    if (stage->setup == NULL && stage->compile == NULL && stage->warm_up == NULL &&
        stage->setup_on_node == NULL &&
        !sim_needs_is_varied(resolver->root, "setup or setup_on_node or model"))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "stage"),
                         "%s has no set-up to slow", draft->stage);
}

static void resolve_event(struct sim_resolver *resolver, const struct draft_event *draft,
                          struct sim_yaml *tree, struct sim_timeline_entry *entry)
{
    check_keys(resolver, draft);
    *entry = draft->to;
    entry->target = find_target(resolver, draft);
    if (entry->action == SIM_ACTION_SETUP_SLOW && entry->target != WEIR_NO_INDEX)
        check_setup(resolver, draft, sim_scenario_stage(resolver->scenario, entry->target));
    entry->text = event_text(resolver->arena, draft,
                             entry->target != WEIR_NO_INDEX &&
                                 entry->target >= resolver->scenario->pipelines_count);
    if (entry->for_ns == SIM_ABSENT_TIME)
        entry->for_ns = 0;
    if (isnan(entry->factor))
        entry->factor = 1;
    if (isnan(entry->probability))
        entry->probability = 0;
    if (isnan(entry->cap_w))
        entry->cap_w = 0;
    if (entry->items == UINT64_MAX)
        entry->items = 0;
    entry->subject = draft->subject;
    if (draft->to.action == SIM_ACTION_SET)
        entry->sched = swap_sched(resolver, draft, tree);
}

void sim_resolve_timeline(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_list *list = &resolver->draft->timeline;
    struct draft_event *drafts = list->items;
    scenario->timeline =
        sim_arena_alloc(resolver->arena, list->count + 1, sizeof *scenario->timeline);
    sort_events(drafts, list->count);
    struct sim_yaml *tree =
        list->count == 0 ? NULL : sim_yaml_clone(resolver->arena, resolver->root);
    for (size_t i = 0; i < list->count; i++)
        if (drafts[i].to.action != SIM_ABSENT_COUNT && drafts[i].to.at_ns != SIM_ABSENT_TIME)
            resolve_event(resolver, &drafts[i], tree,
                          &scenario->timeline[scenario->timeline_count++]);
}

/* ---- the state at the start ---- */

/* `places`: of every stage, one more than its place in the list; 0 = it has none yet. */
static struct sim_initial_stage *initial_stage(struct sim_resolver *resolver, size_t *places,
                                               const struct draft_head *head)
{
    struct sim_initial *initial = &resolver->scenario->initial;
    const uint32_t stage = sim_resolve_stage(resolver, head->node, head->name);
    if (stage == WEIR_NO_INDEX)
        return NULL;
    if (places[stage] > 0)
        return &initial->stages[places[stage] - 1];
    struct sim_initial_stage *entry = &initial->stages[initial->stages_count++];
    places[stage] = initial->stages_count;
    *entry = (struct sim_initial_stage){ .stage = stage,
                                         .speed_per_s = (double)NAN,
                                         .returns_per_batch = (double)NAN };
    return entry;
}

static void resolve_initial_workers(struct sim_resolver *resolver, const struct draft_list *list)
{
    struct sim_initial *initial = &resolver->scenario->initial;
    const struct draft_initial_workers *drafts = list->items;
    initial->workers = sim_arena_alloc(resolver->arena, list->count + 1, sizeof *initial->workers);
    for (size_t i = 0; i < list->count; i++) {
        if (drafts[i].stage == NULL || drafts[i].node == NULL)
            continue;
        const uint32_t stage =
            sim_resolve_stage(resolver, sim_draft_at(&drafts[i].head, "stage"), drafts[i].stage);
        const uint32_t node =
            sim_resolve_node(resolver, sim_draft_at(&drafts[i].head, "node"), drafts[i].node);
        if (stage != WEIR_NO_INDEX && node != WEIR_NO_INDEX)
            initial->workers[initial->workers_count++] = (struct sim_initial_workers){
                .stage = stage, .node = node, .count = drafts[i].count
            };
    }
}

void sim_resolve_initial(struct sim_resolver *resolver)
{
    const struct draft_initial *draft = &resolver->draft->initial;
    const struct draft_queue *queues = draft->queues.items;
    const struct draft_estimate *estimates = draft->estimates.items;
    struct sim_initial *initial = &resolver->scenario->initial;
    size_t *places =
        sim_arena_alloc(resolver->arena, resolver->scenario->stages_total + 1, sizeof *places);
    resolve_initial_workers(resolver, &draft->workers);
    initial->stages = sim_arena_alloc(
        resolver->arena, draft->queues.count + draft->estimates.count + 1, sizeof *initial->stages);
    for (size_t i = 0; i < draft->queues.count; i++) {
        struct sim_initial_stage *entry = initial_stage(resolver, places, &queues[i].head);
        if (entry != NULL)
            entry->queued = queues[i].items == UINT64_MAX ? 0 : queues[i].items;
    }
    for (size_t i = 0; i < draft->estimates.count; i++) {
        struct sim_initial_stage *entry = initial_stage(resolver, places, &estimates[i].head);
        if (entry == NULL)
            continue;
        entry->speed_per_s = estimates[i].speed_per_s;
        entry->returns_per_batch = estimates[i].returns_per_batch;
    }
}
