/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving licences: what there is, and which jobs take how many.
 *
 * Jobs are known. A job that takes more than there are is a mistake; one whose priority is below a
 * threshold is not, it waits for good, which is said.
 */
#include "sim/scenario/resolve/resolve.h"

#include "sim/scenario/read/draft.h"
#include "weir/licence.h"

#include <string.h>

/* The number of the licence, or WEIR_NO_INDEX. */
static uint32_t find(const struct sim_scenario *scenario, const char *name)
{
    for (uint32_t i = 0; i < scenario->licences_count; i++)
        if (strcmp(scenario->licences[i].name, name) == 0)
            return i;
    return WEIR_NO_INDEX;
}

static void add(struct sim_resolver *resolver, const struct draft_licence *draft)
{
    struct sim_scenario *scenario = resolver->scenario;
    if (scenario->licences_count == WEIR_MAX_LICENCES)
        sim_report_error(resolver->report, draft->head.node, "at most %d licences are possible",
                         WEIR_MAX_LICENCES);
    scenario->licences = sim_arena_grow(resolver->arena, scenario->licences,
                                        scenario->licences_count, sizeof *scenario->licences);
    scenario->licences[scenario->licences_count++] =
        (struct sim_licence){ .name = draft->head.name,
                              .limit = draft->limit,
                              .priority_threshold = draft->priority_threshold == INT64_MIN
                                                        ? WEIR_NO_THRESHOLD
                                                        : (int32_t)draft->priority_threshold };
}

static void check(struct sim_resolver *resolver, const struct draft_taken *draft,
                  const struct sim_licence *licence, int32_t priority)
{
    if (draft->count > licence->limit)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "count"),
                         "takes %u of licence '%s', and there are %u", draft->count, licence->name,
                         licence->limit);
    if (priority < licence->priority_threshold)
        sim_report_warning(resolver->report, draft->head.node,
                           "priority %d is below the threshold of licence '%s' (%d): these jobs "
                           "never start",
                           priority, licence->name, licence->priority_threshold);
}

static void take(struct sim_resolver *resolver, const struct draft_job_class *class,
                 struct sim_job_spec *job)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_taken *drafts = class->licences.items;
    uint32_t *taken =
        sim_arena_alloc(resolver->arena, WEIR_MAX_LICENCES, sizeof *taken); /* zeros */
    for (size_t i = 0; i < class->licences.count; i++) {
        const uint32_t number = find(scenario, drafts[i].head.name);
        if (number < WEIR_MAX_LICENCES) {
            taken[number] = drafts[i].count;
            check(resolver, &drafts[i], &scenario->licences[number], job->priority);
        } else if (number == WEIR_NO_INDEX) {
            sim_report_near(resolver->report, drafts[i].head.node, SIM_AT_KEY,
                            sim_near_draft(resolver, &resolver->draft->licences,
                                           sizeof(struct draft_licence), drafts[i].head.name),
                            "there is no licence '%s'", drafts[i].head.name);
        }
    }
    job->licences = taken;
}

void sim_resolve_licences(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->licences;
    const struct draft_list *jobs = &resolver->draft->jobs;
    const struct draft_jobs *drafts = jobs->items;
    sim_resolve_not_empty(resolver, sim_yaml_get(resolver->root, "licences"),
                          "there are no licences in it");
    for (size_t i = 0; i < list->count; i++)
        add(resolver, &((const struct draft_licence *)list->items)[i]);
    for (size_t w = 0; w < jobs->count; w++) {
        const struct draft_job_class *classes = drafts[w].source.classes.items;
        for (size_t c = 0; c < drafts[w].source.classes.count; c++)
            if (classes[c].licences.count > 0)
                take(resolver, &classes[c], &resolver->scenario->workloads[w].jobs[c]);
    }
}
