/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving bands of priority: their ranges, and that every class of jobs lies in one.
 *
 * Jobs are known. A priority that no band has is a mistake and not a band of its own: who asks for
 * more than the highest would pass all others.
 */
#include "sim/scenario/resolve/resolve.h"

#include "sim/scenario/read/draft.h"

#include <string.h>

static void check_range(struct sim_resolver *resolver, const struct draft_band *draft,
                        const struct sim_band *band)
{
    const struct sim_scenario *scenario = resolver->scenario;
    if (band->hi < band->lo)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "hi"),
                         "is below lo, which is %d", band->lo);
    for (size_t i = 0; i < scenario->bands_count; i++) {
        const struct sim_band *other = &scenario->bands[i];
        if (other->name != NULL && band->name != NULL && strcmp(other->name, band->name) == 0)
            sim_report_error(resolver->report, sim_draft_at(&draft->head, "name"),
                             "two bands are called '%s'", band->name);
        if (band->lo <= other->hi && other->lo <= band->hi)
            sim_report_error(resolver->report, sim_draft_at(&draft->head, "lo"),
                             "overlaps '%s', which goes from %d to %d", other->name, other->lo,
                             other->hi);
    }
}

static void add(struct sim_resolver *resolver, const struct draft_band *draft)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct sim_band band = { .name = draft->head.name,
                                   .lo = (int32_t)draft->lo,
                                   .hi = (int32_t)draft->hi };
    if (draft->lo == INT64_MIN || draft->hi == INT64_MIN)
        return; /* reported */
    check_range(resolver, draft, &band);
    scenario->bands = sim_arena_grow(resolver->arena, scenario->bands, scenario->bands_count,
                                     sizeof *scenario->bands);
    scenario->bands[scenario->bands_count++] = band;
}

uint32_t sim_scenario_band(const struct sim_scenario *scenario, int32_t priority)
{
    uint32_t band = 0;
    while (band < scenario->bands_count &&
           (priority < scenario->bands[band].lo || priority > scenario->bands[band].hi))
        band++;
    return band < scenario->bands_count ? band : WEIR_NO_INDEX;
}

static const char *list_bands(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char *text = "";
    for (size_t i = 0; i < scenario->bands_count; i++)
        text =
            sim_arena_printf(resolver->arena, "%s%s%s %d to %d", text, i == 0 ? "" : ", ",
                             scenario->bands[i].name, scenario->bands[i].lo, scenario->bands[i].hi);
    return text;
}

static void check_jobs(struct sim_resolver *resolver, const struct draft_jobs *draft)
{
    const struct draft_job_class *classes = draft->source.classes.items;
    if (draft->source.trace != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "trace"),
                         "jobs of a trace lie in no band: leave priority_bands out");
    for (size_t c = 0; c < draft->source.classes.count; c++) {
        const struct sim_yaml *at = sim_draft_at(&classes[c].head, "priority");
        const int32_t priority = (int32_t)classes[c].priority;
        if (sim_scenario_band(resolver->scenario, priority) == WEIR_NO_INDEX)
            sim_report_error(resolver->report, at == NULL ? classes[c].head.node : at,
                             "priority %d lies in none of the bands: %s", priority,
                             list_bands(resolver));
    }
}

void sim_resolve_bands(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->bands;
    const struct draft_list *jobs = &resolver->draft->jobs;
    sim_resolve_not_empty(resolver, sim_yaml_get(resolver->root, "priority_bands"),
                          "there are no bands in it");
    for (size_t i = 0; i < list->count; i++)
        add(resolver, &((const struct draft_band *)list->items)[i]);
    for (size_t w = 0; w < jobs->count && resolver->scenario->bands_count > 0; w++)
        check_jobs(resolver, &((const struct draft_jobs *)jobs->items)[w]);
}
