/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FGD with 32-bit scores, as the later versions of the reference compute them: F before and after
 * is summed in single precision in the order of the mix, and only exact equality of two floats is a
 * tie. Fits are integers as everywhere. Every place is looked at for every question.
 */
#include "sched/placement/fgd.h"
#include "sched/placement/parts/scan.h"

#include <math.h>

/* Engines 0 to k-1 of every GPU, or the place is lost. */
static bool has_lowest_engines(const struct weir_alloc *alloc)
{
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        if ((device->nvdec_mask & (device->nvdec_mask + 1)) != 0 ||
            (device->nvenc_mask & (device->nvenc_mask + 1)) != 0)
            return false;
    }
    return true;
}

static double single(int64_t units)
{
    return (double)(float)weir_units_amount(units);
}

struct weir_score weir_fgd_single_score(const struct weir_fgd_rules *rules,
                                        const struct weir_place_query *query,
                                        const struct weir_alloc *candidate, bool is_reused)
{
    const struct weir_cluster *const cluster = query->cluster;
    const uint32_t node = candidate->node;
    const bool is_fixed = rules->engines == WEIR_FGD_LOWEST_ENGINES && !is_reused;

    if (is_fixed && query->shape->kind == WEIR_SHAPE_WHOLE && !has_lowest_engines(candidate))
        return (struct weir_score){ .primary = (double)NAN, .secondary = (double)NAN };
    const float before = weir_frag_single(cluster, query->mix, node, NULL, 0);
    const float after = weir_frag_single(cluster, query->mix, node, candidate, 1);
    const bool has_bonus = is_reused || rules->bonus_applies == WEIR_FGD_EVERYONE;
    const float change = has_bonus ? after - before - (float)rules->bonus : after - before;
    struct weir_fgd_rules tie = *rules;
    if (is_reused && rules->reuse == WEIR_FGD_REUSE_MOST_USED)
        tie.tie = WEIR_FGD_MOST_USED;
    const int64_t left = weir_stock_free(cluster, node) - weir_stock_alloc(candidate);
    return (struct weir_score){
        .primary = (double)change,
        .secondary = single(weir_fgd_place_tie(&tie, left, weir_stock_total(cluster, node))),
    };
}

struct weir_score weir_fgd_single_victim(const struct weir_fgd_rules *rules,
                                         const struct weir_evict_query *query,
                                         const struct weir_alloc *held)
{
    const struct weir_cluster *const cluster = query->cluster;
    const float before = weir_frag_single(cluster, query->mix, held->node, NULL, 0);
    const float after = weir_frag_single(cluster, query->mix, held->node, held, -1);
    int64_t free_units = weir_stock_free(cluster, held->node);

    if (rules->evict_tie == WEIR_FGD_EMPTIEST_AFTER)
        free_units += weir_stock_alloc(held);
    return (struct weir_score){
        .primary = (double)(after - before),
        .secondary = single(
            weir_fgd_evict_tie_key(rules, free_units, weir_stock_total(cluster, held->node))),
    };
}

static bool is_better(struct weir_score a, struct weir_score b)
{
    return a.primary < b.primary || (!(b.primary < a.primary) && a.secondary < b.secondary);
}

/* Of equal workers the one on the earlier node goes, then the one with the lower id. */
static bool comes_first(const struct weir_worker *a, uint32_t node, uint64_t id)
{
    return a->alloc.node < node || (a->alloc.node == node && a->id < id);
}

weir_status weir_fgd_single_evict(const struct weir_fgd_rules *rules,
                                  const struct weir_evict_query *query, uint64_t *worker,
                                  struct weir_error *error)
{
    const uint32_t count = weir_evict_count(query);
    struct weir_score best = { .primary = (double)INFINITY, .secondary = (double)INFINITY };
    uint64_t best_worker = 0;
    uint32_t best_node = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct weir_worker candidate;
        const uint64_t id = weir_evict_candidate(query, i);
        if (!weir_cluster_worker(query->cluster, id, &candidate))
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const struct weir_score score = weir_fgd_single_victim(rules, query, &candidate.alloc);
        if (i == 0 || is_better(score, best) ||
            (!is_better(best, score) && comes_first(&candidate, best_node, best_worker))) {
            best = score;
            best_worker = id;
            best_node = candidate.alloc.node;
        }
    }
    if (count == 0)
        return weir_evict_nobody(query, error);
    *worker = best_worker;
    return WEIR_OK;
}
