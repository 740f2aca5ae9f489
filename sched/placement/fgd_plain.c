/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FGD of one candidate, recomputed from nothing, and the keys that break ties. The oracle of the
 * tests asks it for every place.
 */
#include "sched/placement/fgd.h"

#include "sched/cluster/state.h"

#include <math.h>

int64_t weir_fgd_steps(const struct weir_fgd_rules *rules, double gpus)
{
    return (int64_t)llround(gpus / rules->resolution);
}

int64_t weir_fgd_place_tie(const struct weir_fgd_rules *rules, int64_t stock_free_after,
                           int64_t stock_total)
{
    if (rules->tie == WEIR_FGD_MOST_FREE)
        return -stock_free_after;
    return rules->tie == WEIR_FGD_MOST_USED ? stock_free_after - stock_total : 0;
}

int64_t weir_fgd_evict_tie_key(const struct weir_fgd_rules *rules, int64_t stock_free,
                               int64_t stock_total)
{
    return rules->evict_tie == WEIR_FGD_FULLEST ? stock_free - stock_total : -stock_free;
}

struct weir_score weir_fgd_plain_score(const struct weir_fgd_rules *rules,
                                       const struct weir_place_query *query,
                                       const struct weir_alloc *candidate)
{
    const double change = weir_frag_change(query->cluster, query->mix, rules->metric, candidate, 1);
    const int64_t after =
        weir_stock_free(query->cluster, candidate->node) - weir_stock_alloc(candidate);
    struct weir_score score = {
        .primary = (double)weir_fgd_steps(rules, change) * rules->resolution,
        .secondary = weir_units_amount(
            weir_fgd_place_tie(rules, after, weir_stock_total(query->cluster, candidate->node))),
    };

    if (rules->bonus_applies == WEIR_FGD_EVERYONE)
        score.primary -= rules->bonus;
    return score;
}
