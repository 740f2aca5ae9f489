/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Services: read in their own words, resolved as pipelines of one stage that work as things are
 * due.
 *
 * What a service does not say is as a stage and a pipeline have it that say nothing. All that is
 * resolved and checked of pipelines is so of services too; what was filled in on the way is given
 * back to the service at the end, for the canonical text is written in its words.
 */
#include "sim/scenario/resolve/resolve.h"

#include "sim/engine/digest.h"
#include "sim/engine/time.h"

#include <math.h>
#include <string.h>

struct sim_token_rule sim_resolve_rate_limit(const struct draft_rate_limit *draft)
{
    struct sim_token_rule rule = { 0 };
    if (draft->head.node != NULL)
        rule = draft->to;
    if (rule.burst == SIM_ABSENT_COUNT)
        rule.burst = 1;
    return rule;
}

/* ---- in and out ---- */

/* As it would be if nothing of it were written. */
static void make_default(struct sim_resolver *resolver, const struct sim_section *section,
                         void *draft)
{
    struct sim_reader reader = *resolver->reader; /* its counts are not to change */
    sim_read_section(&reader, NULL, section, draft);
}

static void make_stage(struct sim_resolver *resolver, struct draft_served *served,
                       struct draft_stage *stage)
{
    make_default(resolver, &sim_schema_stage, stage);
    stage->head = served->head;
    stage->own = served->own;
    stage->own.spmd = SIM_ABSENT_COUNT;
    stage->workers = served->replicas;
    stage->service.head = served->service.head;
    stage->service.to.law = served->service.to.law;
    stage->service.to.base_s = served->service.to.base_s;
    stage->service.to.per_item_s = served->service.to.per_item_s;
    stage->service.table = served->service.table;
    stage->setup.time = served->setup;
    if (served->batching.choice.batching != NULL)
        stage->to.batching = &served->batching.choice;
}

static void make_pipeline(struct sim_resolver *resolver, struct draft_served *served,
                          struct draft_pipeline *pipeline)
{
    struct draft_stage *stage = sim_arena_alloc(resolver->arena, 1, sizeof *stage);
    make_default(resolver, &sim_schema_pipeline, pipeline);
    make_stage(resolver, served, stage);
    pipeline->head = served->head;
    pipeline->served = served;
    pipeline->to.semantics = SIM_SEMANTICS_EVENT;
    pipeline->backpressure.rule = SIM_BACKPRESSURE_NONE;
    pipeline->input.head = served->requests.head;
    pipeline->input.to.items = served->requests.to.items;
    pipeline->input.to.overhead_ns = served->requests.to.overhead_ns;
    pipeline->input.to.unauthorised = served->requests.to.unauthorised;
    pipeline->input.file = served->requests.file;
    pipeline->input.arrivals = served->requests.arrivals;
    pipeline->input.classes = served->requests.classes;
    pipeline->input.to.rate_limit = sim_resolve_rate_limit(&served->requests.rate_limit);
    pipeline->stages = (struct draft_list){ stage, 1 };
}

void sim_services_enter(struct sim_resolver *resolver)
{
    struct draft_list *pipelines = &resolver->draft->pipelines;
    const struct draft_list *services = &resolver->draft->services;
    struct draft_served *served = services->items;
    struct draft_pipeline *all = NULL;
    if (services->count == 0)
        return;
    all = sim_arena_alloc(resolver->arena, pipelines->count + services->count, sizeof *all);
    if (pipelines->count > 0)
        memcpy(all, pipelines->items, pipelines->count * sizeof *all);
    for (size_t i = 0; i < services->count; i++)
        make_pipeline(resolver, &served[i], &all[pipelines->count + i]);
    *pipelines = (struct draft_list){ all, pipelines->count + services->count };
}

void sim_services_leave(struct sim_resolver *resolver)
{
    struct draft_list *pipelines = &resolver->draft->pipelines;
    const struct draft_list *services = &resolver->draft->services;
    struct draft_served *served = services->items;
    pipelines->count -= services->count;
    const struct draft_pipeline *const all = pipelines->items;
    for (size_t i = 0; i < services->count; i++) {
        const struct draft_pipeline *pipeline = &all[pipelines->count + i];
        const struct draft_stage *stage = pipeline->stages.items;
        served[i].own = stage->own;
        served[i].service.to.law = stage->service.to.law;
        served[i].requests.arrivals = pipeline->input.arrivals;
    }
}

/* ---- what only services have ---- */

/* Most items of a batch, as the policy says; 0 = it cannot be, which was said. */
static uint32_t most_items(const struct sim_policy_choice *choice)
{
    const struct weir_params params = { choice->values, (uint32_t)choice->count, 0 };
    struct weir_batcher *batcher = NULL;
    if (weir_batcher_create(choice->batching, &params, NULL, &batcher, NULL) != WEIR_OK)
        return 0;
    const uint32_t most = weir_batcher_rules(batcher)->most_items;
    weir_batcher_destroy(batcher);
    return most;
}

static void resolve_class(struct sim_resolver *resolver, const struct draft_class *draft,
                          uint32_t most, struct sim_item_class *class)
{
    if (class->timeout_ns == SIM_ABSENT_TIME)
        class->timeout_ns = 0;
    if (class->size == NULL)
        class->size = sim_resolve_constant(resolver, "const(1)");
    if (draft->shape != NULL)
        class->shape = sim_digest_bytes(SIM_DIGEST_START, draft->shape, strlen(draft->shape));
    if (most > 0 && class->items > most && class->items != SIM_ABSENT_COUNT)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "items"),
                         "a batch takes %u items at most, got %u", most, class->items);
}

/* Whether requests leave that wait too long. */
static bool has_timeout(const struct sim_policy_choice *choice)
{
    const struct weir_param *params = choice->batching->params;
    for (size_t i = 0; i < choice->count; i++)
        if (strcmp(params[i].name, "timeout") == 0)
            return choice->values[i] > 0;
    return false;
}

void sim_resolve_served(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                        struct sim_pipeline *pipeline)
{
    const struct draft_class *classes = draft->input.classes.items;
    struct sim_stage *stage = &pipeline->stages[0];
    const uint32_t most = stage->batching == NULL ? 0 : most_items(stage->batching);
    stage->batch = most > 0 ? most : 1;
    for (size_t i = 0; i < draft->input.classes.count; i++)
        resolve_class(resolver, &classes[i], most, &pipeline->input.classes[i]);
    stage->miscount = draft->served->miscount;
    if (stage->miscount > 0 && stage->batching != NULL && !has_timeout(stage->batching))
        sim_report_error(resolver->report, sim_draft_at(&draft->served->head, "miscount"),
                         "is a fault of batchers with a time-out: give batching.timeout");
    if (pipeline->input.arrivals == NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "requests"),
                         "requests come in time: give arrivals, or a file with a column `time`");
}

uint32_t sim_resolve_service(struct sim_resolver *resolver, const struct sim_yaml *at,
                             const char *name)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char **names =
        sim_arena_alloc(resolver->arena, scenario->pipelines_count + 1, sizeof *names);
    bool is_pipeline = false;
    size_t count = 0;
    for (uint32_t i = 0; i < scenario->pipelines_count; i++) {
        const struct sim_pipeline *pipeline = &scenario->pipelines[i];
        if (pipeline->name == NULL || pipeline->stages_count == 0)
            continue;
        const bool is_meant = strcmp(pipeline->name, name) == 0;
        is_pipeline = is_pipeline || is_meant;
        if (pipeline->stages[0].batching == NULL)
            continue;
        names[count++] = pipeline->name;
        if (is_meant)
            return i;
    }
    if (is_pipeline)
        sim_report_error(resolver->report, at,
                         "'%s' is a pipeline; services are under services:", name);
    else
        sim_report_near(resolver->report, at, SIM_AT_VALUE, sim_near_name(name, names, count),
                        "there is no service '%s'", name);
    return WEIR_NO_INDEX;
}

void sim_resolve_calls(struct sim_resolver *resolver, struct draft_calls *draft,
                       struct sim_workload *workload)
{
    if (draft->head.node == NULL || draft->service == NULL)
        return;
    workload->calls = draft->to;
    workload->calls.are_made = true;
    if (draft->to.timeout_ns == SIM_ABSENT_TIME)
        workload->calls.timeout_ns = 30 * SIM_NS_PER_S;
    if (draft->to.attempts == SIM_ABSENT_COUNT)
        workload->calls.attempts = 3;
    workload->calls.service =
        sim_resolve_service(resolver, sim_draft_at(&draft->head, "service"), draft->service);
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].step != NULL || workload->jobs[i].elastic != NULL) {
            sim_report_error(resolver->report, draft->head.node,
                             "jobs in steps and elastic ones call no service");
            break;
        }
}
