/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving prices. What has a price although nothing is reckoned in money would act on nothing,
 * and is told.
 */
#include "sim/scenario/resolve/resolve.h"

#include "sim/engine/time.h"
#include "sim/scenario/read/draft.h"

#include <math.h>

static void refuse_alone(struct sim_resolver *resolver, const struct draft_head *head,
                         const char *key)
{
    const struct sim_yaml *at = sim_yaml_get(head->node, key);
    if (at != NULL && resolver->draft->prices.head.node == NULL)
        sim_report_near(resolver->report, at, SIM_AT_KEY, NULL,
                        "belongs to prices, which the scenario does not have: add prices: {}");
}

static void take_late_price(struct sim_resolver *resolver, const struct draft_jobs *draft,
                            struct sim_workload *workload)
{
    workload->late_price = isnan(draft->late_price) ? 0 : draft->late_price;
    refuse_alone(resolver, &draft->head, "late_price");
}

void sim_resolve_prices(struct sim_resolver *resolver)
{
    static const int64_t lengths_s[] = { 1, 60, 3600 }; /* in the order of the choice */
    const struct draft_prices *draft = &resolver->draft->prices;
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_gpu_type *types = resolver->draft->catalog.gpu_types.items;
    const struct draft_jobs *jobs = resolver->draft->jobs.items;
    scenario->prices = draft->to;
    scenario->prices.is_there = draft->head.node != NULL;
    scenario->prices.granularity_ns = lengths_s[draft->granularity] * SIM_NS_PER_S;
    for (size_t i = 0; i < resolver->draft->catalog.gpu_types.count; i++)
        refuse_alone(resolver, &types[i].head, "price");
    for (size_t i = 0; i < resolver->draft->jobs.count; i++)
        take_late_price(resolver, &jobs[i], &scenario->workloads[i]);
}
