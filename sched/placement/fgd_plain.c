/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FGD recomputed from nothing for every candidate: slow, short, and the oracle for fgd_fast.c.
 */
#include "sched/placement/fgd.h"
#include "sched/placement/scan.h"

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

/* What the scan hands back to its score function. */
struct plain {
    const struct weir_fgd_rules *rules;
};

static struct weir_score scan_score(void *state, const struct weir_place_query *query,
                                    const struct weir_alloc *candidate)
{
    const struct plain *const plain = state;

    return weir_fgd_plain_score(plain->rules, query, candidate);
}

weir_status weir_fgd_plain_place(const struct weir_fgd_rules *rules,
                                 const struct weir_place_query *query,
                                 struct weir_place_answer *answer, struct weir_error *error)
{
    struct plain plain = { .rules = rules };
    const struct weir_scan scan = {
        .score = scan_score,
        .state = &plain,
        .reuse_bonus = rules->bonus_applies == WEIR_FGD_REUSED ? rules->bonus : 0,
        .mode = WEIR_CANDIDATES_ALL,
    };

    return weir_scan_place(&scan, query, answer, error);
}

weir_status weir_fgd_plain_evict(const struct weir_fgd_rules *rules,
                                 const struct weir_evict_query *query, uint64_t *worker,
                                 struct weir_error *error)
{
    const struct weir_cluster *const cluster = query->cluster;
    const uint32_t count = weir_evict_count(query);
    struct weir_key best = WEIR_KEY_ABSENT;
    uint64_t best_worker = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct weir_worker candidate;
        const uint64_t id = weir_evict_candidate(query, i);
        if (!weir_cluster_worker(cluster, id, &candidate))
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const struct weir_alloc *const alloc = &candidate.alloc;
        const double change = weir_frag_change(cluster, query->mix, rules->metric, alloc, -1);
        const struct weir_key key = {
            .primary = weir_fgd_steps(rules, change),
            .secondary = weir_fgd_evict_tie_key(rules, weir_stock_free(cluster, alloc->node),
                                                weir_stock_total(cluster, alloc->node)),
            .order = i,
        };
        if (weir_key_less(&key, &best)) {
            best = key;
            best_worker = id;
        }
    }
    if (count == 0)
        return weir_evict_nobody(query, error);
    *worker = best_worker;
    return WEIR_OK;
}
