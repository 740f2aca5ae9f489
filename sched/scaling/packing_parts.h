/* SPDX-License-Identifier: Apache-2.0 */
/* What packing.c and packing_groups.c share, and weir.c looks at. */
#ifndef SCHED_SCALING_PACKING_PARTS_H
#define SCHED_SCALING_PACKING_PARTS_H

#include "sched/internal/alloc.h"
#include "sched/scaling/packing.h"

static inline const struct weir_shape *weir_packing_shape(const struct weir_packing *packing,
                                                          uint32_t pool)
{
    return &weir_view_pool(packing->run->view, pool)->shape;
}

static inline bool weir_packing_is_group(const struct weir_packing *packing, uint32_t pool)
{
    return weir_packing_shape(packing, pool)->kind == WEIR_SHAPE_SPMD_MULTI;
}

/* Groups over several nodes whose count the search chooses. */
static inline bool weir_packing_is_free_group(const struct weir_packing *packing, uint32_t pool)
{
    return weir_run_is_free(&packing->run->pools[pool]) && weir_packing_is_group(packing, pool);
}

/* A fixed count that is kept, and whose workers may stand elsewhere. */
static inline bool weir_packing_is_fixed(const struct weir_packing *packing, uint32_t pool)
{
    const struct weir_run_pool *const seen = &packing->run->pools[pool];

    return seen->is_manual != 0 && seen->is_skipped == 0 && !weir_packing_is_group(packing, pool);
}

/* Whether the search may choose where each worker of a pool stands. */
static inline bool weir_packing_may_move(const struct weir_packing *packing, uint32_t pool)
{
    return weir_packing_is_fixed(packing, pool) ||
           (weir_run_is_free(&packing->run->pools[pool]) && !weir_packing_is_group(packing, pool));
}

/* Whether it has a say in the pool at all. */
static inline bool weir_packing_is_packed(const struct weir_packing *packing, uint32_t pool)
{
    return weir_run_is_free(&packing->run->pools[pool]) || weir_packing_is_fixed(packing, pool);
}

/* Workers in the scratch; a group is one. */
static inline uint32_t weir_packing_count(const struct weir_packing *packing, uint32_t pool)
{
    return weir_cluster_pool_workers(packing->scratch, pool) /
           weir_shape_members(weir_packing_shape(packing, pool));
}

static inline uint32_t weir_packing_missing(const struct weir_packing *packing, uint32_t pool)
{
    const uint32_t count = weir_packing_count(packing, pool);

    return packing->pools[pool].wanted > count ? packing->pools[pool].wanted - count : 0;
}

static inline bool weir_packing_is_there(const struct weir_packing *packing, uint64_t id)
{
    return weir_cluster_worker(packing->scratch, id, NULL);
}

/* What a search starts is named downwards. */
static inline bool weir_packing_is_new(const struct weir_packing *packing, uint64_t id)
{
    return id > packing->next_id;
}

static inline weir_status weir_packing_mark(const struct weir_packing *packing)
{
    if (weir_cluster_mark(packing->scratch) != WEIR_OK)
        return weir_fail(packing->run->error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

/* Takes away whatever may move on a node. */
weir_status weir_packing_empty_node(struct weir_packing *packing, uint32_t node);

/* packing_groups.c: as many groups over several nodes as are wanted, where there is room. Unless
 * nothing moves: without those beyond that, and with room made for what is missing. */
weir_status weir_packing_fit_groups(struct weir_packing *packing, bool moves);

/* packing_engines.c: of one pool, who stopped only for other engines of the same GPUs stays. */
weir_status weir_packing_keep_engines(struct weir_packing *packing, uint32_t pool);

#endif
