/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fresh start would serve: every pool's workers thought away and one of each placed anew, on
 * the scratch alone. Under a mark, so that scratch and plan are as they were. Cost: one placement a
 * pool, and taking all their workers away and back.
 */
#include "sched/host/placer_state.h"
#include "sched/placement/parts/scan.h"

struct trial {
    struct weir_placer *placer;
    struct weir_cluster *scratch;
    uint64_t id; /* of the next worker; from the end, where no plan's ids are */
    struct weir_error *error;
};

static weir_status add(struct trial *trial, uint32_t pool)
{
    return weir_cluster_add_worker(trial->scratch, trial->id--, weir_pool_owner(pool),
                                   &trial->placer->answer.alloc, trial->error);
}

/* All members of a group, on the first nodes that can; those placed stay when not all can. */
static weir_status place_group(struct trial *trial, uint32_t pool)
{
    const struct weir_shape *const shape = &trial->placer->shapes[pool];
    const uint32_t nodes = weir_cluster_node_count(trial->scratch);
    uint32_t members = weir_shape_members(shape);

    for (uint32_t node = 0; node < nodes && members > 0; node++) {
        if (weir_place_first(trial->scratch, node, shape, &trial->placer->answer.alloc) != WEIR_OK)
            continue;
        WEIR_TRY(add(trial, pool));
        members--;
    }
    return members == 0 ? WEIR_OK : WEIR_EBUSY;
}

static weir_status place_single(struct trial *trial, uint32_t pool)
{
    struct weir_placer *const placer = trial->placer;
    const struct weir_mix mix = weir_placer_mix(placer);
    const struct weir_place_query query = {
        .size = sizeof(struct weir_place_query),
        .cluster = trial->scratch,
        .mix = &mix,
        .shape = &placer->shapes[pool],
        .owner = weir_pool_owner(pool),
        .seed = weir_placer_seed(placer, pool),
    };

    WEIR_TRY(weir_placer_ask(placer, &query, trial->error));
    return add(trial, pool);
}

static weir_status place(struct trial *trial, uint32_t pool)
{
    if (trial->placer->shapes[pool].kind != WEIR_SHAPE_SPMD_MULTI)
        return place_single(trial, pool);
    if (weir_cluster_mark(trial->scratch) != WEIR_OK)
        return WEIR_ENOMEM;
    const weir_status status = place_group(trial, pool);
    if (status == WEIR_OK)
        weir_cluster_release(trial->scratch);
    else
        weir_cluster_rollback(trial->scratch);
    return status;
}

static weir_status remove_all(struct trial *trial, uint32_t pool)
{
    uint64_t id = 0;

    for (uint32_t i = weir_cluster_pool_workers(trial->scratch, pool); i-- > 0;) {
        if (weir_cluster_pool_worker_id(trial->scratch, pool, i, &id))
            WEIR_TRY(weir_cluster_remove_worker(trial->scratch, id, trial->error));
    }
    return WEIR_OK;
}

static weir_status try_all(struct trial *trial, const uint32_t *pools, uint32_t count,
                           uint32_t *served)
{
    for (uint32_t i = 0; i < count; i++)
        WEIR_TRY(remove_all(trial, pools[i]));
    for (uint32_t i = 0; i < count; i++) {
        const weir_status status = place(trial, pools[i]);
        if (status != WEIR_OK && status != WEIR_EBUSY)
            return status;
        *served += status == WEIR_OK;
    }
    return WEIR_OK;
}

weir_status weir_placer_try_anew(struct weir_placer *placer, const uint32_t *pools, uint32_t count,
                                 uint32_t *served, struct weir_error *error)
{
    struct trial trial = {
        .placer = placer, .scratch = placer->bound.scratch, .id = UINT64_MAX, .error = error
    };

    *served = 0;
    if (weir_cluster_mark(trial.scratch) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = try_all(&trial, pools, count, served);
    weir_cluster_rollback(trial.scratch);
    return status;
}
