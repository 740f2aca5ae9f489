/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FGD with 32-bit scores, as the later versions of the reference compute them: F before and after
 * is summed in single precision in the order of the mix, and only exact equality of two floats is a
 * tie. Fits are integers as everywhere. Every place is looked at for every question.
 */
#include "sched/placement/fgd.h"
#include "sched/placement/parts/scan.h"

#include <math.h>

bool weir_fgd_single_refuses(const struct weir_fgd_rules *rules, const struct weir_shape *shape,
                             const struct weir_alloc *candidate)
{
    if (rules->engines != WEIR_FGD_LOWEST_ENGINES || shape->kind != WEIR_SHAPE_WHOLE)
        return false;
    for (uint32_t i = 0; i < candidate->device_count; i++) {
        const struct weir_device *const device = &candidate->devices[i];
        if ((device->nvdec_mask & (device->nvdec_mask + 1)) != 0 ||
            (device->nvenc_mask & (device->nvenc_mask + 1)) != 0)
            return true;
    }
    return false;
}

static double single(int64_t units)
{
    return (double)(float)weir_units_amount(units);
}

struct weir_score weir_fgd_single_of_place(const struct weir_fgd_rules *rules,
                                           const struct weir_fgd_single_change *change,
                                           bool is_reused)
{
    const bool has_bonus = is_reused || rules->bonus_applies == WEIR_FGD_EVERYONE;
    const float grown = change->frag.after - change->frag.before;
    struct weir_fgd_rules tie = *rules;

    if (is_reused && rules->reuse == WEIR_FGD_REUSE_MOST_USED)
        tie.tie = WEIR_FGD_MOST_USED;
    return (struct weir_score){
        .primary = (double)(has_bonus ? grown - (float)rules->bonus : grown),
        .secondary = single(weir_fgd_place_tie(&tie, change->stock_free - change->stock_moved,
                                               change->stock_total)),
    };
}

struct weir_score weir_fgd_single_of_victim(const struct weir_fgd_rules *rules,
                                            const struct weir_fgd_single_change *change)
{
    const bool is_after = rules->evict_tie == WEIR_FGD_EMPTIEST_AFTER;
    const int64_t free_units = change->stock_free + (is_after ? change->stock_moved : 0);

    return (struct weir_score){
        .primary = (double)(change->frag.after - change->frag.before),
        .secondary = single(weir_fgd_evict_tie_key(rules, free_units, change->stock_total)),
    };
}

/* Everything recomputed. */
static struct weir_fgd_single_change change_of(const struct weir_cluster *cluster,
                                               const struct weir_mix *mix,
                                               const struct weir_alloc *alloc, int64_t direction)
{
    return (struct weir_fgd_single_change){
        .frag = { .before = weir_frag_single(cluster, mix, alloc->node, NULL, 0),
                  .after = weir_frag_single(cluster, mix, alloc->node, alloc, direction) },
        .stock_free = weir_stock_free(cluster, alloc->node),
        .stock_total = weir_stock_total(cluster, alloc->node),
        .stock_moved = weir_stock_alloc(alloc),
    };
}

struct weir_score weir_fgd_single_score(const struct weir_fgd_rules *rules,
                                        const struct weir_place_query *query,
                                        const struct weir_alloc *candidate, bool is_reused)
{
    if (!is_reused && weir_fgd_single_refuses(rules, query->shape, candidate))
        return (struct weir_score){ .primary = (double)NAN, .secondary = (double)NAN };
    const struct weir_fgd_single_change change =
        change_of(query->cluster, query->mix, candidate, 1);
    return weir_fgd_single_of_place(rules, &change, is_reused);
}

struct weir_score weir_fgd_single_victim(const struct weir_fgd_rules *rules,
                                         const struct weir_evict_query *query,
                                         const struct weir_alloc *held)
{
    const struct weir_fgd_single_change change = change_of(query->cluster, query->mix, held, -1);

    return weir_fgd_single_of_victim(rules, &change);
}
