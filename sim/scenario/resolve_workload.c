/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving workloads: file names, orders of arrival, and the placement rules for jobs. The rows of
 * a trace: resolve_trace.c.
 */
#include "sim/scenario/input_file.h"
#include "sim/scenario/resolve.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names ---- */

char *sim_resolve_data_path(struct sim_resolver *resolver, const char *path)
{
    char *joined = sim_input_file_path(resolver->arena, resolver->reader->folder, path);
    if (access(joined, R_OK) == 0 || access(path, R_OK) != 0) {
        sim_reader_add_file(resolver->reader, path);
        return joined;
    }
    char *full = realpath(path, NULL);
    if (full != NULL)
        sim_reader_add_file(resolver->reader, full);
    free(full);
    return sim_arena_copy(resolver->arena, path);
}

char *sim_resolve_model(struct sim_resolver *resolver, const char *model)
{
    char *name = sim_arena_copy(resolver->arena, model);
    for (char *c = name; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

/* ---- rules ---- */

void sim_resolve_job_rules(struct sim_resolver *resolver)
{
    static const struct {
        const char *policy, *parameter;
        double value;
    } rules[] = { { "fgd", "metric", 1 },        { "fgd", "tie", 2 },
                  { "fgd", "score", 1 },         { "best_fit", "measure", 1 },
                  { "worst_fit", "measure", 1 }, { "first_fit", "device", 0 } };
    const struct draft_policy *draft = &resolver->draft->sched.placement;
    const struct weir_placement_ops *ops = draft->choice.placement;
    if (resolver->draft->workloads.count == 0 || ops == NULL)
        return;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(rules[i].policy, ops->name) != 0)
            continue;
        const uint32_t index = weir_param_find(ops->params, ops->param_count, rules[i].parameter);
        if (index != WEIR_NO_INDEX && sim_yaml_get(draft->head.node, rules[i].parameter) == NULL)
            draft->choice.values[index] = rules[i].value;
    }
}

/* ---- orders ---- */

static void report_order_file(struct sim_resolver *resolver, const struct draft_workload *draft,
                              const char *path)
{
    static const char *const words[] = { "shuffled", "none" };
    const char *near = sim_near_name(draft->order, words, sizeof words / sizeof words[0]);
    sim_report_error(resolver->report, sim_draft_at(&draft->head, "order"), "%s: cannot be read%s",
                     path,
                     near == NULL                    ? ""
                     : strcmp(near, "shuffled") == 0 ? "; did you mean 'shuffled'?"
                                                     : "; did you mean 'none'?");
}

/* The order itself is read when the run begins; here it must be there. */
static void resolve_order(struct sim_resolver *resolver, const struct draft_workload *draft,
                          struct sim_workload *workload)
{
    const bool is_shuffled = draft->order != NULL && strcmp(draft->order, "shuffled") == 0;
    const bool is_file = draft->order != NULL && !is_shuffled && strcmp(draft->order, "none") != 0;
    workload->is_shuffled = is_shuffled;
    if (!is_file) {
        if (draft->order_key != NULL && draft->order != NULL)
            sim_report_error(resolver->report, sim_draft_at(&draft->head, "order_key"),
                             "has no meaning without a file in order");
        return;
    }
    workload->order = sim_resolve_data_path(resolver, draft->order);
    workload->order_key = draft->order_key;
    if (access(workload->order, R_OK) != 0)
        report_order_file(resolver, draft, workload->order);
    if (draft->order_key == NULL)
        sim_report_error(resolver->report, draft->head.node,
                         "order needs order_key: which order of the file (TRACE:SEED)");
}

/* Ranks and demand, which depend on where the order comes from. */
static void resolve_trim(struct sim_resolver *resolver, const struct draft_workload *draft,
                         struct sim_workload *workload)
{
    const bool is_file = workload->order != NULL;
    const bool is_said = draft->ranks != SIM_ABSENT_COUNT;
    workload->ranks = is_said ? draft->ranks : is_file ? SIM_RANKS_FILE : SIM_RANKS_AS_GIVEN;
    workload->demand_frac = draft->demand;
    if (workload->ranks == SIM_RANKS_FILE && !is_file)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "ranks"),
                         "'file' has no meaning without a file in order");
    if (is_file && !isnan(draft->demand))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "demand"),
                         "has no meaning with a kept order, which says what arrives");
}

static void resolve_workload(struct sim_resolver *resolver, struct draft_workload *draft,
                             struct sim_workload *workload)
{
    *workload = (struct sim_workload){ .name = draft->head.name,
                                       .kind = draft->kind,
                                       .mode = draft->mode,
                                       .refusal = draft->refusal,
                                       .target_frac = draft->target.frac,
                                       .target_has_cpu_jobs = draft->target.has_cpu_jobs == 1,
                                       .defrag = { .rule = draft->defrag.rule,
                                                   .budget_frac = draft->defrag.budget_frac,
                                                   .cost_ns = draft->defrag.cost_ns } };
    if (workload->kind != SIM_WORKLOAD_GENERATED)
        sim_resolve_trace(resolver, draft, workload);
    resolve_order(resolver, draft, workload);
    if (workload->mode != SIM_WORKLOAD_STATIC && workload->defrag.rule != SIM_DEFRAG_NONE)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "defrag"),
                         "is for mode: static, where no job ends");
    resolve_trim(resolver, draft, workload);
    sim_resolve_jobs(resolver, draft, workload);
}

/* Neither pipelines nor workloads, and no key that looks like one of them (then that was said). */
static void report_no_work(struct sim_resolver *resolver)
{
    static const char *const keys[] = { "pipelines", "workloads" };
    const struct sim_yaml *child = resolver->root->first;
    for (; child != NULL; child = child->next)
        if (sim_near_name(child->key, keys, sizeof keys / sizeof keys[0]) != NULL)
            return;
    struct sim_yaml place = *resolver->root; /* its first character, not the whole block */
    place.mark.width = 1;
    sim_report_error(resolver->report, &place, "key 'pipelines' is missing (the work)");
}

void sim_resolve_workloads(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_scenario *draft = resolver->draft;
    const struct draft_list *list = &draft->workloads;
    struct draft_workload *drafts = list->items;
    const struct sim_yaml *workloads = sim_yaml_get(resolver->root, "workloads");
    const struct sim_yaml *pipelines = sim_yaml_get(resolver->root, "pipelines");
    scenario->workloads_count = list->count;
    scenario->workloads =
        sim_arena_alloc(resolver->arena, list->count + 1, sizeof *scenario->workloads);
    for (size_t i = 0; i < list->count; i++)
        resolve_workload(resolver, &drafts[i], &scenario->workloads[i]);
    if (workloads == NULL && pipelines == NULL)
        report_no_work(resolver);
    sim_resolve_not_empty(resolver, workloads, "a scenario needs at least one workload");
    if (list->count > 0 && draft->pipelines.count > 0)
        sim_report_error(resolver->report, pipelines,
                         "pipelines and workloads cannot share a scenario");
    if (list->count > 1)
        sim_report_error(resolver->report, workloads, "only one workload is possible");
    if (list->count > 0 && drafts[0].mode == SIM_WORKLOAD_STATIC && draft->timeline.count > 0)
        sim_report_error(resolver->report, sim_yaml_get(resolver->root, "timeline"),
                         "a static workload has no time at which something could happen");
}
