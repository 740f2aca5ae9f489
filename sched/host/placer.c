/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The placer of one decision: asks the placement policy, changes scratch and plan together.
 *
 * A pool's stopped workers are a window of an array: the first one is taken back most often, so
 * taking one out moves the shorter side. Policies that follow changes get them by number and node
 * instead (stopped.h), where nothing moves.
 */
#include "sched/host/placer_state.h"

#include "sched/internal/alloc.h"
#include "sched/internal/explain.h"
#include "sched/internal/hash.h"
#include "sched/internal/plan_state.h"
#include "sched/placement/parts/rooms.h"
#include "sched/placement/parts/scan.h"

#include <string.h>

weir_status weir_placer_create(const struct weir_allocator *allocator, struct weir_placer **placer)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_placer *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return WEIR_ENOMEM;
    made->allocator = memory;
    *placer = made;
    return WEIR_OK;
}

void weir_placer_destroy(struct weir_placer *placer)
{
    if (placer == NULL)
        return;
    const struct weir_allocator memory = placer->allocator;
    for (uint32_t i = 0; i < placer->pool_capacity; i++) {
        weir_stopped_free(&placer->pools[i].stopped, &memory);
        weir_free(&memory, placer->pools[i].list.workers);
    }
    weir_free(&memory, placer->pools);
    weir_free(&memory, placer->shapes);
    weir_free(&memory, placer->frequencies);
    weir_free(&memory, placer->asked);
    weir_free(&memory, placer->refused);
    weir_free(&memory, placer->bundles);
    weir_free(&memory, placer->allocs);
    weir_free(&memory, placer->parts);
    weir_free(&memory, placer);
}

static weir_status reserve_pools(struct weir_placer *placer, uint32_t count)
{
    const struct weir_allocator *const memory = &placer->allocator;
    WEIR_ROOM(memory, placer->shapes, placer->shape_capacity, count);
    WEIR_ROOM(memory, placer->frequencies, placer->frequency_capacity, count);
    WEIR_ROOM(memory, placer->asked, placer->asked_capacity, count);
    uint32_t capacity = placer->pool_capacity;
    struct weir_placer_pool *const pools =
        weir_grow(memory, placer->pools, &capacity, count, sizeof *pools);
    if (pools == NULL)
        return WEIR_ENOMEM;
    memset(pools + placer->pool_capacity, 0, (capacity - placer->pool_capacity) * sizeof *pools);
    placer->pools = pools;
    placer->pool_capacity = capacity;
    return WEIR_OK;
}

/* What runs now, or what was asked for by hand. */
static void mix_of_now(struct weir_placer *placer, const struct weir_view *view)
{
    double sum = 0;

    for (uint32_t i = 0; i < view->pool_count; i++) {
        const struct weir_pool_view *const pool = weir_view_pool(view, i);
        placer->frequencies[i] =
            pool->requested_workers >= 0 ? pool->requested_workers : (double)pool->workers;
        sum += placer->frequencies[i];
    }
    for (uint32_t i = 0; i < view->pool_count; i++)
        placer->frequencies[i] = sum > 0 ? placer->frequencies[i] / sum : 1.0 / view->pool_count;
}

weir_status weir_placer_begin(struct weir_placer *placer, const struct weir_placer_binding *binding)
{
    const struct weir_view *const view = binding->view;

    WEIR_TRY(reserve_pools(placer, view->pool_count));
    placer->bound = *binding;
    placer->pool_count = view->pool_count;
    placer->counts = (struct weir_placer_counts){ 0 };
    placer->round++;
    placer->at_ns = 0;
    placer->blocked_ns = INT64_MAX;
    placer->asked_count = 0;
    placer->refused_count = 0;
    placer->has_mix = 0;
    for (; placer->shape_count < view->pool_count; placer->shape_count++)
        placer->shapes[placer->shape_count] = weir_view_pool(view, placer->shape_count)->shape;
    return WEIR_OK;
}

/* What is known of a pool in this round, begun when it is asked about for the first time. */
static struct weir_placer_pool *pool_at(struct weir_placer *placer, uint32_t index)
{
    struct weir_placer_pool *const pool = &placer->pools[index];

    if (pool->round == placer->round)
        return pool;
    pool->round = placer->round;
    pool->list.first = 0;
    pool->list.count = 0;
    weir_stopped_clear(&pool->stopped);
    pool->is_refused = 0;
    pool->planned = 0;
    pool->no_way_back = 0;
    (void)weir_view_pool(placer->bound.view, index); /* current before the plan changes it */
    placer->asked[placer->asked_count++] = index;
    return pool;
}

weir_status weir_placer_restart(struct weir_placer *placer)
{
    const struct weir_placer_binding binding = placer->bound;
    const struct weir_placer_counts counts = placer->counts;

    WEIR_TRY(weir_placer_begin(placer, &binding));
    placer->counts = counts;
    return WEIR_OK;
}

/* How far a reason is from being served: what is held may be given back, a node may come up again,
 * a GPU of another type stays one, and so does a node that is for others. */
static uint32_t distance(uint32_t reason)
{
    if (reason == WEIR_REASON_NO_GPU || reason == WEIR_REASON_GPU_TYPE ||
        reason == WEIR_REASON_LABEL || reason == WEIR_REASON_KEPT)
        return 2;
    return reason == WEIR_REASON_NODE_DOWN ? 1 : 0;
}

/* What binds: of the nodes that come nearest to serving what most say. */
uint32_t weir_choice_reason(const struct weir_choice *choice)
{
    uint32_t reason = WEIR_REASON_NONE;
    uint32_t nearest = UINT32_MAX;

    for (uint32_t i = WEIR_REASON_NONE + 1; i < WEIR_REASON_COUNT; i++) {
        if (choice->rejected[i] == 0 || distance(i) > nearest)
            continue;
        if (distance(i) < nearest || choice->rejected[i] > choice->rejected[reason])
            reason = i;
        nearest = distance(reason);
    }
    return reason;
}

uint32_t weir_placer_refusal(const struct weir_placer *placer, uint32_t pool)
{
    if (pool >= placer->pool_count || placer->pools[pool].round != placer->round ||
        placer->pools[pool].is_refused == 0)
        return WEIR_REASON_NONE;
    return weir_choice_reason(&placer->pools[pool].refusal);
}

weir_status weir_placer_finish(struct weir_placer *placer)
{
    for (uint32_t i = 0; i < placer->refused_count; i++) {
        const uint32_t index = placer->refused[i];
        const struct weir_placer_pool *const pool = &placer->pools[index];
        const struct weir_denied denied = { weir_pool_owner(index),
                                            weir_placer_refusal(placer, index), 0 };
        if (pool->is_refused == 0 || pool->refused_at != i)
            continue;
        WEIR_TRY(weir_plan_deny(placer->bound.plan, denied.owner, denied.reason, &pool->refusal));
        WEIR_TRY(weir_note_holders(placer->bound.plan, placer->bound.scratch,
                                   &placer->shapes[index], &denied));
    }
    return WEIR_OK;
}

void weir_placer_accept(struct weir_placer *placer)
{
    for (uint32_t i = 0; i < placer->asked_count; i++) {
        struct weir_placer_pool *const pool = &placer->pools[placer->asked[i]];
        pool->placed += pool->planned;
        pool->planned = 0;
    }
}

uint64_t weir_placer_placed(const struct weir_placer *placer, uint32_t pool)
{
    return pool < placer->pool_capacity ? placer->pools[pool].placed : 0;
}

weir_status weir_placer_set_placed(struct weir_placer *placer, uint32_t pool, uint64_t placed)
{
    WEIR_TRY(reserve_pools(placer, pool + 1));
    placer->pools[pool].placed = placed;
    return WEIR_OK;
}

struct weir_placer_counts weir_placer_counts(const struct weir_placer *placer)
{
    return placer->counts;
}

weir_status weir_placer_set_mix(struct weir_placer *placer, const double *frequencies,
                                uint32_t pool_count)
{
    if (pool_count != placer->pool_count)
        return WEIR_EINVAL;
    memcpy(placer->frequencies, frequencies, pool_count * sizeof *frequencies);
    placer->has_mix = 1;
    return WEIR_OK;
}

uint32_t weir_placer_workers(const struct weir_placer *placer, uint32_t pool)
{
    return weir_cluster_pool_workers(placer->bound.scratch, pool) /
           weir_shape_members(&placer->shapes[pool]);
}

struct weir_cluster *weir_placer_scratch(struct weir_placer *placer)
{
    return placer->bound.scratch;
}

/* Worked out when the first policy that looks at it is asked. */
struct weir_mix weir_placer_mix(struct weir_placer *placer)
{
    if ((placer->bound.ops->flags & WEIR_PLACEMENT_WITHOUT_MIX) != 0)
        return (struct weir_mix){ .count = 0 };
    if (placer->has_mix == 0)
        mix_of_now(placer, placer->bound.view);
    placer->has_mix = 1;
    return (struct weir_mix){ .shapes = placer->shapes,
                              .frequencies = placer->frequencies,
                              .count = placer->pool_count };
}

/* The name of the next start or stop of a pool: the pool and how many came before, whatever else
 * was decided meanwhile. A plan that comes to nothing, and a try that fails, leave it free. */
uint64_t weir_placer_seed(struct weir_placer *placer, uint32_t index)
{
    struct weir_placer_pool *const pool = pool_at(placer, index);

    if (pool->has_seed == 0) {
        pool->seed = weir_hash_text(weir_view_pool(placer->bound.view, index)->name);
        pool->has_seed = 1;
    }
    return weir_hash_add(weir_hash_add(placer->bound.seed, pool->seed),
                         pool->placed + pool->planned);
}

/* Only what is in use: a worker has room for many devices and mostly holds none or one. */
static void copy_worker(struct weir_worker *target, const struct weir_worker *source)
{
    memcpy(target, source,
           offsetof(struct weir_worker, alloc) + offsetof(struct weir_alloc, devices) +
               source->alloc.device_count * sizeof source->alloc.devices[0]);
}

static bool follows_stopped(const struct weir_placer *placer)
{
    return (placer->bound.ops->flags & WEIR_PLACEMENT_FOLLOWS_STOPPED) != 0;
}

static weir_status push_stopped(struct weir_placer *placer, uint32_t pool,
                                const struct weir_worker *worker)
{
    const struct weir_allocator *const allocator = &placer->allocator;
    struct weir_stopped_list *const list = &pool_at(placer, pool)->list;

    if (follows_stopped(placer))
        return weir_stopped_add(&placer->pools[pool].stopped, allocator, worker);
    WEIR_ROOM(allocator, list->workers, list->capacity, list->first + list->count + 1);
    copy_worker(&list->workers[list->first + list->count++], worker);
    return WEIR_OK;
}

static void take_out(struct weir_stopped_list *list, uint32_t position)
{
    struct weir_worker *const workers = list->workers + list->first;
    const uint32_t after = list->count - position - 1;

    if (position < after) {
        for (uint32_t i = position; i > 0; i--)
            copy_worker(&workers[i], &workers[i - 1]);
        list->first++;
    } else {
        for (uint32_t i = position; i + 1 < list->count; i++)
            copy_worker(&workers[i], &workers[i + 1]);
    }
    list->count--;
    if (list->count == 0)
        list->first = 0;
}

static weir_status note_step(struct weir_placer *placer, const struct weir_step *step)
{
    if (weir_plan_explain(placer->bound.plan) != WEIR_EXPLAIN_FULL)
        return WEIR_OK;
    return weir_plan_step(placer->bound.plan, step);
}

/* The placement policy chose something that cannot be: its fault, not the caller's. */
static weir_status blame(const struct weir_placer *placer, weir_status status, uint64_t worker,
                         struct weir_error *error)
{
    weir_error_wrap(error, "placement policy %s: worker %llu", placer->bound.ops->name,
                    (unsigned long long)worker);
    return status == WEIR_ENOMEM ? status : WEIR_EPOLICY;
}

/* The id of stopped worker `number` of a pool and what it held; false when there is none. */
static bool look_up_stopped(const struct weir_placer_pool *pool, uint32_t number, uint64_t *id,
                            struct weir_alloc *alloc)
{
    if (weir_stopped_has(&pool->stopped, number)) {
        *id = pool->stopped.entries[number].id;
        weir_stopped_alloc(&pool->stopped, number, alloc);
        return true;
    }
    if (number >= pool->list.count)
        return false;
    const struct weir_worker *const worker = &pool->list.workers[pool->list.first + number];
    *id = worker->id;
    memcpy(alloc, &worker->alloc,
           offsetof(struct weir_alloc, devices) +
               worker->alloc.device_count * sizeof alloc->devices[0]);
    return true;
}

/* A worker stopped in this plan stays: its stop is taken back. */
static weir_status keep_stopped(struct weir_placer *placer, uint32_t index,
                                struct weir_error *error)
{
    struct weir_placer_pool *const pool = &placer->pools[index];
    const uint32_t number = placer->answer.reused;
    struct weir_alloc alloc;
    uint64_t id = 0;

    if (!look_up_stopped(pool, number, &id, &alloc))
        return weir_fail(error, WEIR_EPOLICY,
                         "placement policy %s reuses worker %u of %u stopped ones",
                         placer->bound.ops->name, number, pool->list.count + pool->stopped.live);
    const weir_status status =
        weir_cluster_add_worker(placer->bound.scratch, id, weir_pool_owner(index), &alloc, error);
    if (status != WEIR_OK)
        return blame(placer, status, id, error);
    if (!weir_plan_unstop(placer->bound.plan, id))
        return weir_fail(error, WEIR_EINVARIANT, "worker %llu has no stop to take back",
                         (unsigned long long)id);
    if (follows_stopped(placer))
        weir_stopped_take(&pool->stopped, number);
    else
        take_out(&pool->list, number);
    placer->counts.reused++;
    pool->planned++;
    const struct weir_step step = { .pool = index, .placed = 1, .reused = 1, .worker = id };
    return note_step(placer, &step);
}

/* What it takes is gone from the scratch, under the next id of the plan. */
static weir_status take_place(struct weir_placer *placer, const struct weir_placer_start *start,
                              struct weir_error *error)
{
    const uint64_t id = weir_plan_next_worker(placer->bound.plan);
    const weir_status status =
        weir_cluster_add_worker(placer->bound.scratch, id, start->owner, start->alloc, error);

    if (status != WEIR_OK)
        return blame(placer, status, id, error);
    (void)weir_plan_new_worker(placer->bound.plan); /* the id just used */
    return WEIR_OK;
}

weir_status weir_placer_start_fresh(struct weir_placer *placer,
                                    const struct weir_placer_start *start, struct weir_error *error)
{
    struct weir_plan *const plan = placer->bound.plan;
    const uint64_t id = weir_plan_next_worker(plan);

    WEIR_TRY(take_place(placer, start, error));
    weir_plan_set_rank(plan, start->rank);
    return weir_plan_start(plan, start->owner, id, start->alloc, start->choice);
}

weir_status weir_placer_reserve(struct weir_placer *placer, const struct weir_placer_start *start,
                                struct weir_error *error)
{
    const struct weir_action action = { .size = sizeof action,
                                        .verb = WEIR_VERB_RESERVE,
                                        .owner = start->owner,
                                        .rank = start->rank,
                                        .worker = weir_plan_next_worker(placer->bound.plan),
                                        .value = start->until_ns,
                                        .choice = WEIR_NO_INDEX,
                                        .alloc = *start->alloc };

    WEIR_TRY(take_place(placer, start, error));
    return weir_plan_append(placer->bound.plan, &action);
}

/* At the place of the answer; `choice` is NULL when the placement policy was not asked. */
static weir_status start_fresh(struct weir_placer *placer, uint32_t pool,
                               const struct weir_choice *choice, struct weir_error *error)
{
    const struct weir_placer_start start = { .owner = weir_pool_owner(pool),
                                             .alloc = &placer->answer.alloc,
                                             .choice = choice };
    const struct weir_step step = { .pool = pool,
                                    .placed = 1,
                                    .worker = weir_plan_next_worker(placer->bound.plan) };
    WEIR_TRY(weir_placer_start_fresh(placer, &start, error));
    placer->pools[pool].planned++;
    return note_step(placer, &step);
}

static weir_status list_refused(struct weir_placer *placer, uint32_t pool)
{
    WEIR_ROOM(&placer->allocator, placer->refused, placer->refused_capacity,
              placer->refused_count + 1);
    placer->pools[pool].refused_at = placer->refused_count;
    placer->refused[placer->refused_count++] = pool;
    return WEIR_OK;
}

static weir_status refuse(struct weir_placer *placer, uint32_t pool)
{
    const struct weir_step step = { .pool = pool };

    placer->counts.failed++;
    if (pool_at(placer, pool)->is_refused == 0)
        WEIR_TRY(list_refused(placer, pool));
    placer->pools[pool].is_refused = 1;
    placer->pools[pool].refusal = placer->answer.choice;
    WEIR_TRY(note_step(placer, &step));
    return WEIR_EBUSY;
}

/* ---- groups: one worker on whole nodes, without the placement policy ---- */

/* The next node from `first` on that can be one of a group, or WEIR_NO_INDEX; why others cannot is
 * counted. */
static uint32_t next_member_node(struct weir_placer *placer, const struct weir_shape *shape,
                                 uint32_t first)
{
    struct weir_room_walk walk = weir_rooms_begin(placer->bound.scratch, shape);

    walk.next = first;
    return weir_rooms_next(&walk, &placer->answer.choice);
}

static bool group_fits(struct weir_placer *placer, const struct weir_shape *shape)
{
    uint32_t node = 0;

    memset(&placer->answer.choice, 0, sizeof placer->answer.choice);
    placer->answer.choice.runner_up_node = WEIR_NO_INDEX;
    for (uint32_t i = 0; i < weir_shape_members(shape); i++, node++) {
        node = next_member_node(placer, shape, node);
        if (node == WEIR_NO_INDEX)
            return false;
    }
    return true;
}

/* The first nodes that can, in their order; all members or none. */
static weir_status start_group(struct weir_placer *placer, uint32_t pool, struct weir_error *error)
{
    const struct weir_shape *const shape = &placer->shapes[pool];
    struct weir_plan *const plan = placer->bound.plan;
    weir_status status = WEIR_OK;
    uint32_t node = 0;

    placer->counts.tried++;
    if (!group_fits(placer, shape))
        return refuse(placer, pool);
    pool_at(placer, pool)->is_refused = 0;
    weir_plan_set_group(plan, weir_plan_next_worker(plan));
    for (uint32_t i = 0; status == WEIR_OK && i < weir_shape_members(shape); i++, node++) {
        node = next_member_node(placer, shape, node);
        status = weir_place_first(placer->bound.scratch, node, shape, &placer->answer.alloc);
        if (status == WEIR_OK)
            status = start_fresh(placer, pool, &placer->answer.choice, error);
    }
    weir_plan_set_group(plan, 0);
    return status;
}

/* The group that is there for longest: its members stand in a row. */
static weir_status stop_group(struct weir_placer *placer, uint32_t pool, struct weir_error *error)
{
    for (uint32_t i = 0; i < weir_shape_members(&placer->shapes[pool]); i++) {
        uint64_t id = 0;
        if (!weir_cluster_pool_worker_id(placer->bound.scratch, pool, 0, &id))
            return weir_fail(error, WEIR_ENOTFOUND, "stage %u has no group to remove", pool);
        WEIR_TRY(weir_cluster_remove_worker(placer->bound.scratch, id, error));
        if (!weir_plan_unstart(placer->bound.plan, id))
            WEIR_TRY(weir_plan_stop(placer->bound.plan, weir_pool_owner(pool), id));
        const struct weir_step step = { .pool = pool, .is_removal = 1, .worker = id };
        WEIR_TRY(note_step(placer, &step));
    }
    placer->counts.removed++;
    return WEIR_OK;
}

static weir_status ask(struct weir_placer *placer, const struct weir_place_query *query,
                       struct weir_error *error)
{
    placer->answer.reused = WEIR_NO_INDEX;
    return weir_placement_place(placer->bound.ops, placer->bound.state, query, &placer->answer,
                                error);
}

/* Who may borrow is asked first where it is at home. */
static weir_status ask_borrower(struct weir_placer *placer, const struct weir_place_query *query,
                                struct weir_error *error)
{
    struct weir_place_query at_home = *query;
    struct weir_shape shape = *query->shape;

    shape.labels &= ~WEIR_LABEL_KEPT;
    at_home.shape = &shape;
    const weir_status status = ask(placer, &at_home, error);
    return status == WEIR_EBUSY ? ask(placer, query, error) : status;
}

weir_status weir_placer_ask(struct weir_placer *placer, const struct weir_place_query *query,
                            struct weir_error *error)
{
    return (query->shape->labels & WEIR_LABEL_KEPT) == 0 ? ask(placer, query, error)
                                                         : ask_borrower(placer, query, error);
}

weir_status weir_placer_start(struct weir_placer *placer, uint32_t pool, struct weir_error *error)
{
    if (pool >= placer->pool_count)
        return weir_fail(error, WEIR_EINVAL, "stage %u of %u", pool, placer->pool_count);
    if (placer->shapes[pool].kind == WEIR_SHAPE_SPMD_MULTI)
        return start_group(placer, pool, error);
    const struct weir_stopped_list *const list = &pool_at(placer, pool)->list;
    const struct weir_mix mix = weir_placer_mix(placer);
    const struct weir_place_query query = {
        .size = sizeof(struct weir_place_query),
        .cluster = placer->bound.scratch,
        .mix = &mix,
        .shape = &placer->shapes[pool],
        .owner = weir_pool_owner(pool),
        .reusable_count = list->count,
        .reusable = list->count == 0 ? NULL : list->workers + list->first,
        .seed = weir_placer_seed(placer, pool),
        .stopped = follows_stopped(placer) ? &placer->pools[pool].stopped : NULL,
    };
    placer->counts.tried++;
    const weir_status status = weir_placer_ask(placer, &query, error);
    if (status == WEIR_EBUSY)
        return refuse(placer, pool);
    if (status != WEIR_OK)
        return status;
    placer->pools[pool].is_refused = 0;
    if (placer->answer.reused != WEIR_NO_INDEX)
        return keep_stopped(placer, pool, error);
    const struct weir_explained explained = { placer->bound.ops, placer->bound.state, &query,
                                              &placer->answer };
    WEIR_TRY(weir_explain_start(placer->bound.plan, &explained));
    return start_fresh(placer, pool, &placer->answer.choice, error);
}

/* Whether stopped worker `number` of a pool held just this place. */
static bool was_at(const struct weir_placer_pool *pool, uint32_t number,
                   const struct weir_alloc *alloc)
{
    struct weir_alloc held;
    uint64_t id;

    return look_up_stopped(pool, number, &id, &held) && held.node == alloc->node &&
           held.device_count == alloc->device_count &&
           memcmp(held.devices, alloc->devices, held.device_count * sizeof held.devices[0]) == 0;
}

/* The number of a worker that this plan stopped at this place, or WEIR_NO_INDEX. */
static uint32_t find_stopped_at(const struct weir_placer_pool *pool, const struct weir_alloc *alloc)
{
    for (uint32_t i = weir_stopped_first(&pool->stopped, alloc->node); i != WEIR_NO_INDEX;
         i = pool->stopped.entries[i].next) {
        if (was_at(pool, i, alloc))
            return i;
    }
    for (uint32_t i = 0; i < pool->list.count; i++) {
        if (was_at(pool, i, alloc))
            return i;
    }
    return WEIR_NO_INDEX;
}

bool weir_placer_was_there(const struct weir_placer *placer, uint32_t pool,
                           const struct weir_alloc *alloc)
{
    return find_stopped_at(&placer->pools[pool], alloc) != WEIR_NO_INDEX;
}

weir_status weir_placer_start_at(struct weir_placer *placer, uint32_t pool,
                                 const struct weir_alloc *alloc, struct weir_error *error)
{
    placer->counts.tried++;
    weir_place_copy(&placer->answer.alloc, alloc);
    placer->answer.reused = find_stopped_at(pool_at(placer, pool), alloc);
    placer->pools[pool].is_refused = 0;
    return placer->answer.reused != WEIR_NO_INDEX ? keep_stopped(placer, pool, error)
                                                  : start_fresh(placer, pool, NULL, error);
}

/* Stopped workers of a pool, those included that were taken back since. */
static uint32_t stopped_count(const struct weir_placer_pool *pool)
{
    return pool->list.count > 0 ? pool->list.count : pool->stopped.entry_count;
}

bool weir_placer_next_stopped(const struct weir_placer *placer, uint32_t pool, uint32_t *cursor,
                              struct weir_alloc *alloc)
{
    const struct weir_placer_pool *const stopped = &placer->pools[pool];
    uint64_t id;

    while (*cursor < stopped_count(stopped))
        if (look_up_stopped(stopped, (*cursor)++, &id, alloc))
            return true;
    return false;
}

weir_status weir_placer_start_back(struct weir_placer *placer, uint32_t pool,
                                   struct weir_error *error)
{
    struct weir_placer_pool *const stopped = pool_at(placer, pool);
    const uint32_t count = stopped_count(stopped);
    uint64_t id;

    if (stopped->no_way_back == placer->counts.removed + 1)
        return WEIR_EBUSY; /* room has only shrunk since */
    for (uint32_t i = 0; i < count; i++) {
        if (!look_up_stopped(stopped, i, &id, &placer->answer.alloc) ||
            !weir_cluster_fits(placer->bound.scratch, &placer->answer.alloc))
            continue;
        placer->counts.tried++;
        placer->answer.reused = i;
        placer->pools[pool].is_refused = 0;
        return keep_stopped(placer, pool, error);
    }
    stopped->no_way_back = placer->counts.removed + 1;
    return WEIR_EBUSY;
}

weir_status weir_placer_stop_worker(struct weir_placer *placer, uint32_t pool, uint64_t id,
                                    struct weir_error *error)
{
    struct weir_worker worker;

    if (!weir_cluster_worker(placer->bound.scratch, id, &worker) ||
        worker.owner.kind != WEIR_OWNER_POOL || worker.owner.index != pool)
        return weir_fail(error, WEIR_EPOLICY,
                         "placement policy %s removes worker %llu, which is not one of stage %u",
                         placer->bound.ops->name, (unsigned long long)id, pool);
    WEIR_TRY(weir_cluster_remove_worker(placer->bound.scratch, id, error));
    placer->counts.removed++;
    placer->pools[pool].planned++;
    if (!weir_plan_unstart(placer->bound.plan, id)) {
        if (placer->shapes[pool].kind != WEIR_SHAPE_SPMD_MULTI)
            WEIR_TRY(push_stopped(placer, pool, &worker));
        WEIR_TRY(weir_plan_stop(placer->bound.plan, weir_pool_owner(pool), id));
    }
    const struct weir_step step = { .pool = pool, .is_removal = 1, .worker = id };
    return note_step(placer, &step);
}

weir_status weir_placer_stop(struct weir_placer *placer, uint32_t pool, struct weir_error *error)
{
    const struct weir_mix mix = weir_placer_mix(placer);
    uint64_t id = 0;

    if (pool >= placer->pool_count)
        return weir_fail(error, WEIR_EINVAL, "stage %u of %u", pool, placer->pool_count);
    if (placer->shapes[pool].kind == WEIR_SHAPE_SPMD_MULTI)
        return stop_group(placer, pool, error);
    const struct weir_evict_query query = { .size = sizeof(struct weir_evict_query),
                                            .cluster = placer->bound.scratch,
                                            .mix = &mix,
                                            .owner = weir_pool_owner(pool),
                                            .seed = weir_placer_seed(placer, pool) };
    WEIR_TRY(weir_placement_evict(placer->bound.ops, placer->bound.state, &query, &id, error));
    return weir_placer_stop_worker(placer, pool, id, error);
}

void weir_placer_change_pool(struct weir_placer *placer, uint32_t pool,
                             const struct weir_shape *shape)
{
    if (pool < placer->shape_count)
        placer->shapes[pool] = *shape;
    if (pool < placer->pool_capacity)
        placer->pools[pool].has_seed = 0;
}
