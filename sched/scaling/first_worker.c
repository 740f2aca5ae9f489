/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phase 2: the first worker of every pool that has none, also when there is no room for it.
 *
 * Idea: a pipeline whose pool has no worker gives nothing, so a first worker is worth any second
 * one. Three tries, each dearer than the one before:
 *   1  where there is room;
 *   2  donors: on one node, workers of pools that have others are thought away and given back,
 *      those of the poorest pools first, as long as the first worker still fits. What could not be
 *      given back must go; the node where fewest must go is taken, the first of equal ones. So the
 *      richest pool gives: the one that is fastest without one of its workers; pools whose count
 *      was fixed by hand give last. A count fixed by hand is met from the others in the same way;
 *   3  anew: when a pool is left without even so (last workers are in each other's way), all
 *      pools get their first worker anew, the largest shape first, if more pools are served so.
 * Who has none then is starved: it is denied, and the phases after this one leave it alone.
 *
 * Invariant: a pool that had a worker has one afterwards, unless 3 serves more pools without it.
 * So with less than one worker's room for each pool the same ones stay served.
 * Cost: nothing while every pool has a worker. A starved pool costs, for 2, on every node the
 * square of its workers at most, and for 3 one placement a pool.
 */
#include "sched/cluster/state.h"
#include "sched/host/placer.h"
#include "sched/internal/alloc.h"
#include "sched/scaling/run.h"

/* ---- donors ---- */

static bool may_give(const struct weir_run *run, const struct weir_worker *worker)
{
    if (worker->owner.kind != WEIR_OWNER_POOL || worker->owner.index >= run->count)
        return false;
    const struct weir_run_pool *const pool = &run->pools[worker->owner.index];
    if (pool->is_manual != 0 && !run->fixed_may_give)
        return false;
    return pool->is_skipped == 0 && pool->workers > 1 &&
           weir_view_pool(run->view, worker->owner.index)->shape.kind != WEIR_SHAPE_SPMD_MULTI;
}

/* What a pool has left without one of its workers; less than anything for one fixed by hand. */
static double surplus_per_s(const struct weir_run_pool *pool)
{
    const double left = weir_run_throughput(pool, pool->workers - 1);

    return pool->is_manual != 0 ? -1 / (1 + left) : left;
}

/* Whether `a` gives before `b`: richer pools first, then earlier ones, then later workers. */
static bool gives_before(const struct weir_run *run, const struct weir_worker *a,
                         const struct weir_worker *b)
{
    const double rich = surplus_per_s(&run->pools[a->owner.index]);
    const double other = surplus_per_s(&run->pools[b->owner.index]);

    if (a->owner.index == b->owner.index)
        return a->id > b->id;
    if (weir_run_less(run, other, rich) || weir_run_less(run, rich, other))
        return rich > other;
    return a->owner.index < b->owner.index;
}

/* Lists who might give on a node, in the order of giving; the last worker of a pool does not. */
static weir_status list_donors(struct weir_run *run, uint32_t node, uint32_t *count)
{
    const struct weir_cluster *const scratch = weir_placer_scratch(run->placer);
    struct weir_worker worker;
    uint32_t cursor = 0;

    *count = 0;
    for (uint32_t i = 0; i < run->count; i++)
        run->order[i] = run->pools[i].workers;
    while (weir_cluster_node_worker(scratch, node, &cursor, &worker)) {
        if (!may_give(run, &worker))
            continue;
        WEIR_ROOM(&run->allocator, run->donors, run->donor_capacity, *count + 1);
        uint32_t at = (*count)++;
        for (; at > 0 && gives_before(run, &worker, &run->donors[at - 1]); at--)
            run->donors[at] = run->donors[at - 1];
        run->donors[at] = worker;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t *const left = &run->order[run->donors[i].owner.index];
        if (*left > 1) {
            --*left;
            run->donors[kept++] = run->donors[i];
        }
    }
    *count = kept;
    return WEIR_OK;
}

static bool fits_on(const struct weir_run *run, uint32_t pool, uint32_t node)
{
    struct weir_alloc alloc;

    return weir_place_first(weir_placer_scratch(run->placer), node,
                            &weir_view_pool(run->view, pool)->shape, &alloc) == WEIR_OK;
}

/* Thinks all donors away and gives back what need not go; `*count` of them are left, first in the
 * list; WEIR_NO_INDEX when the worker fits not even so. */
static weir_status think_away(struct weir_run *run, uint32_t pool, uint32_t node, uint32_t *count)
{
    struct weir_cluster *const scratch = weir_placer_scratch(run->placer);
    struct weir_worker *const donors = run->donors;
    uint32_t gone = 0;

    for (uint32_t i = 0; i < *count; i++)
        WEIR_TRY(weir_cluster_remove_worker(scratch, donors[i].id, run->error));
    if (!fits_on(run, pool, node)) {
        *count = WEIR_NO_INDEX;
        return WEIR_OK;
    }
    for (uint32_t i = *count; i-- > 0;) {
        WEIR_TRY(weir_cluster_add_worker(scratch, donors[i].id, donors[i].owner, &donors[i].alloc,
                                         run->error));
        if (fits_on(run, pool, node))
            continue;
        WEIR_TRY(weir_cluster_remove_worker(scratch, donors[i].id, run->error));
        run->order[gone++] = i; /* descending */
    }
    for (uint32_t i = 0; i < gone; i++)
        donors[i] = donors[run->order[gone - 1 - i]];
    *count = gone;
    return WEIR_OK;
}

/* Who must go so that a worker of the pool fits on the node: the first `*count` of the donors, or
 * WEIR_NO_INDEX when that is not enough. */
static weir_status find_donors(struct weir_run *run, uint32_t pool, uint32_t node, uint32_t *count)
{
    struct weir_cluster *const scratch = weir_placer_scratch(run->placer);

    WEIR_TRY(list_donors(run, node, count));
    uint32_t *const order = weir_grow(&run->allocator, run->order, &run->order_capacity,
                                      *count + run->count, sizeof *order);
    if (order == NULL || weir_cluster_mark(scratch) != WEIR_OK)
        return WEIR_ENOMEM;
    run->order = order;
    const weir_status status = think_away(run, pool, node, count);
    weir_cluster_rollback(scratch);
    return status;
}

/* The node where fewest workers must go, or WEIR_NO_INDEX. */
static weir_status cheapest_node(struct weir_run *run, uint32_t pool, uint32_t *node)
{
    const struct weir_cluster *const scratch = weir_placer_scratch(run->placer);
    const uint32_t nodes = weir_cluster_node_count(scratch);
    uint32_t fewest = WEIR_NO_INDEX;

    *node = WEIR_NO_INDEX;
    for (uint32_t n = 0; n < nodes && fewest > 1; n++) {
        uint32_t count = 0;
        if (weir_cluster_node(scratch, n)->flags != WEIR_NODE_UP)
            continue;
        WEIR_TRY(find_donors(run, pool, n, &count));
        if (count < fewest) {
            fewest = count;
            *node = n;
        }
    }
    return WEIR_OK;
}

weir_status weir_run_start_with_donors(struct weir_run *run, uint32_t pool, bool fixed_may_give)
{
    uint32_t node = WEIR_NO_INDEX;
    uint32_t count = 0;

    run->fixed_may_give = fixed_may_give;
    if (weir_view_pool(run->view, pool)->shape.kind == WEIR_SHAPE_SPMD_MULTI)
        return WEIR_EBUSY;
    WEIR_TRY(cheapest_node(run, pool, &node));
    if (node == WEIR_NO_INDEX)
        return WEIR_EBUSY;
    WEIR_TRY(find_donors(run, pool, node, &count));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t donor = run->donors[i].owner.index;
        WEIR_TRY(weir_run_stop_worker(run, donor, run->donors[i].id));
        run->pools[donor].given++;
    }
    return weir_run_start(run, pool);
}

/* ---- anew ---- */

bool weir_run_is_larger(const struct weir_run *run, uint32_t pool, uint32_t than)
{
    const struct weir_shape *const a = &weir_view_pool(run->view, pool)->shape;
    const struct weir_shape *const b = &weir_view_pool(run->view, than)->shape;
    const int64_t gpus = a->gpu_units * a->gpu_count * weir_shape_members(a);
    const int64_t other = b->gpu_units * b->gpu_count * weir_shape_members(b);

    return gpus > other || (gpus == other && a->cpu_units > b->cpu_units);
}

/* The pools that want a worker, the largest shape first. */
static uint32_t list_pools(struct weir_run *run)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        if (run->pools[i].is_skipped != 0 || run->pools[i].requested == 0)
            continue;
        uint32_t at = count++;
        for (; at > 0 && weir_run_is_larger(run, i, run->order[at - 1]); at--)
            run->order[at] = run->order[at - 1];
        run->order[at] = i;
    }
    return count;
}

static weir_status start_all(struct weir_run *run, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct weir_run_pool *const pool = &run->pools[run->order[i]];
        const weir_status status = weir_run_start(run, run->order[i]);
        if (status != WEIR_OK && status != WEIR_EBUSY)
            return status;
        pool->is_starved = status == WEIR_EBUSY;
    }
    return WEIR_OK;
}

static weir_status start_anew(struct weir_run *run, uint32_t starved)
{
    const uint32_t count = list_pools(run);
    uint32_t served = 0;

    WEIR_TRY(weir_placer_try_anew(run->placer, run->order, count, &served, run->error));
    if (served <= count - starved)
        return WEIR_OK;
    for (uint32_t i = 0; i < count; i++) {
        while (run->pools[run->order[i]].workers > 0)
            WEIR_TRY(weir_run_stop(run, run->order[i]));
        run->pools[run->order[i]].given = run->pools[run->order[i]].stopped;
    }
    WEIR_TRY(start_all(run, count));
    return weir_run_manual(run);
}

/* ---- the phase ---- */

static bool wants_first(const struct weir_run *run, uint32_t i)
{
    const struct weir_run_pool *const pool = &run->pools[i];

    if (pool->is_skipped != 0 || pool->workers > 0)
        return false;
    return pool->is_manual == 0 || (!run->settings.fails_whole && pool->requested > 0);
}

static weir_status fail_first(const struct weir_run *run, uint32_t i)
{
    return weir_run_fail(run,
                         weir_fail(run->error, WEIR_EMINIMUM, "its first worker fits nowhere: %s",
                                   weir_reason_text(weir_placer_refusal(run->placer, i))),
                         2, i);
}

weir_status weir_run_minimum(struct weir_run *run)
{
    uint32_t starved = 0;

    weir_plan_set_phase(run->plan, 2);
    for (uint32_t i = 0; i < run->count; i++) {
        if (!wants_first(run, i))
            continue;
        weir_status status = weir_run_start(run, i);
        if (status == WEIR_EBUSY && run->settings.fails_whole)
            return fail_first(run, i);
        if (status == WEIR_EBUSY)
            status = weir_run_start_with_donors(run, i, true);
        if (status != WEIR_OK && status != WEIR_EBUSY)
            return status;
        run->pools[i].is_starved = status == WEIR_EBUSY;
        starved += status == WEIR_EBUSY;
    }
    return starved > 0 ? start_anew(run, starved) : WEIR_OK;
}
