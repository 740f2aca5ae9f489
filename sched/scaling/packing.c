/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for places (see packing.h): filling, emptying nodes and filling them again, bisection.
 */
#include "sched/scaling/packing_parts.h"

#include "sched/host/placer.h"
#include "sched/internal/hash.h"
#include "sched/placement/parts/room.h"
#include "sched/placement/parts/rooms.h"
#include "sched/placement/parts/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUIN_MOST = 8,    /* nodes emptied at once */
    BISECTIONS = 12,  /* rates tried */
    WAYS_TO_FILL = 3, /* orders in which emptied nodes are filled again */
    SIDEWAYS = 4      /* one in so many packings that are no better and move more is kept */
};
static const double CLOSE = 1e-3; /* relative: rates that differ by less are not told apart */

/* ---- small things ---- */

static uint64_t draw(struct weir_packing *packing, uint64_t below)
{
    packing->random = weir_hash_mix(packing->random);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): none of nothing are drawn */
    return packing->random % below;
}

/* What is missing, each worker by its share of the cluster. */
static double shortage(const struct weir_packing *packing)
{
    double sum = 0;

    for (uint32_t i = 0; i < packing->run->count; i++)
        sum += weir_packing_is_packed(packing, i)
                   ? weir_packing_missing(packing, i) * packing->pools[i].weight
                   : 0;
    return sum;
}

/* The slowest pool's rate with what is in the scratch; 0 when a fixed count is not kept. */
static double least_per_s(const struct weir_packing *packing)
{
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < packing->run->count; i++) {
        const struct weir_run_pool *const pool = &packing->run->pools[i];
        if (weir_run_is_free(pool))
            least = fmin(least, weir_run_throughput(pool, weir_packing_count(packing, i)));
        else if (weir_packing_is_fixed(packing, i) && weir_packing_missing(packing, i) > 0)
            return 0;
    }
    return least;
}

/* x_i(z), rounded up with the tolerance of the optimum's counts; fixed counts stay. */
static void want(struct weir_packing *packing, double z_per_s)
{
    for (uint32_t i = 0; i < packing->run->count; i++) {
        const struct weir_run_pool *const pool = &packing->run->pools[i];
        const double workers = ceil(z_per_s / pool->rate_per_s - 1e-9);
        if (pool->is_manual == 0)
            packing->pools[i].wanted = workers < 1 ? 1 : (uint32_t)fmin(workers, UINT32_MAX);
    }
}

/* ---- one worker more, one less ---- */

/* An original of this pool that is not there and whose place on the node is free. */
static bool find_original(const struct weir_packing *packing, uint32_t pool, uint32_t node,
                          uint64_t *id, struct weir_alloc *alloc)
{
    const struct weir_stopped *const originals = &packing->pools[pool].originals;

    for (uint32_t i = weir_stopped_first(originals, node); i != WEIR_NO_INDEX;
         i = originals->entries[i].next) {
        *id = originals->entries[i].id;
        if (weir_packing_is_there(packing, *id))
            continue;
        weir_stopped_alloc(originals, i, alloc);
        if (weir_cluster_fits(packing->scratch, alloc))
            return true;
    }
    return false;
}

/* WEIR_EBUSY when the node has no room. */
static weir_status add(struct weir_packing *packing, uint32_t pool, uint32_t node)
{
    const struct weir_owner owner = weir_pool_owner(pool);
    struct weir_alloc alloc;
    uint64_t id;

    if (find_original(packing, pool, node, &id, &alloc))
        return weir_cluster_add_worker(packing->scratch, id, owner, &alloc, packing->run->error);
    const struct weir_place_query query = { .size = sizeof query,
                                            .cluster = packing->scratch,
                                            .shape = weir_packing_shape(packing, pool),
                                            .owner = owner };
    if (!weir_place_tightest(&query, node, &alloc))
        return WEIR_EBUSY;
    return weir_cluster_add_worker(packing->scratch, packing->next_id--, owner, &alloc,
                                   packing->run->error);
}

/* As many of `most` as the node takes; *added says how many. */
static weir_status add_some(struct weir_packing *packing, uint32_t pool, uint32_t node,
                            uint32_t most, uint32_t *added)
{
    weir_status status = WEIR_OK;

    for (*added = 0; *added < most; ++*added) {
        status = add(packing, pool, node);
        if (status != WEIR_OK)
            break;
    }
    return status == WEIR_EBUSY ? WEIR_OK : status;
}

weir_status weir_packing_empty_node(struct weir_packing *packing, uint32_t node)
{
    struct weir_worker worker;
    uint32_t cursor = 0;
    uint32_t count = 0;

    while (weir_cluster_node_worker(packing->scratch, node, &cursor, &worker)) {
        if (worker.owner.kind != WEIR_OWNER_POOL || worker.owner.index >= packing->run->count ||
            !weir_packing_may_move(packing, worker.owner.index))
            continue;
        WEIR_ROOM(&packing->run->allocator, packing->doomed, packing->doomed_capacity, count + 1);
        packing->doomed[count++] = worker.id;
    }
    for (uint32_t i = 0; i < count; i++)
        WEIR_TRY(
            weir_cluster_remove_worker(packing->scratch, packing->doomed[i], packing->run->error));
    return WEIR_OK;
}

/* ---- filling ---- */

/* Nodes are gone over twice: what needs no GPU goes to nodes without any first, where it is in
 * nobody's way. The second time to all. */
static bool is_turn_of(const struct weir_packing *packing, uint32_t pool, uint32_t node,
                       uint32_t round)
{
    return round > 0 || weir_packing_shape(packing, pool)->kind != WEIR_SHAPE_CPU ||
           weir_cluster_node(packing->scratch, node)->gpu_count == 0;
}

/* All of a pool that is missing, on the first nodes that have room. */
static weir_status fill_pool(struct weir_packing *packing, uint32_t pool, uint32_t round)
{
    uint32_t missing = weir_packing_missing(packing, pool);
    uint32_t node = 0;

    while (missing > 0) {
        struct weir_choice choice = { .nodes_seen = 0 };
        struct weir_room_walk walk =
            weir_rooms_begin(packing->scratch, weir_packing_shape(packing, pool));
        uint32_t added = 0;
        walk.next = node;
        node = weir_rooms_next(&walk, &choice);
        if (node == WEIR_NO_INDEX)
            break;
        if (is_turn_of(packing, pool, node, round))
            WEIR_TRY(add_some(packing, pool, node, missing, &added));
        missing -= added;
        node++;
    }
    return WEIR_OK;
}

/* The largest shapes first. */
static weir_status fill(struct weir_packing *packing)
{
    for (uint32_t k = 0; k < packing->run->count; k++) {
        const uint32_t pool = packing->order[k];
        for (uint32_t round = 0; round < 2 && weir_packing_may_move(packing, pool); round++)
            WEIR_TRY(fill_pool(packing, pool, round));
    }
    return WEIR_OK;
}

/* As many of a pool on each node as it could hold of it alone, in proportion; rounded so that no
 * sum is off by one or more. */
static weir_status spread_pool(struct weir_packing *packing, uint32_t pool, uint32_t round)
{
    const uint32_t *const room = &packing->quota[(size_t)pool * packing->node_count];
    const uint32_t missing = weir_packing_missing(packing, pool);
    double all = 0;
    double so_far = 0;
    uint32_t given = 0;

    for (uint32_t n = 0; n < packing->node_count; n++)
        all += is_turn_of(packing, pool, n, round) ? room[n] : 0;
    for (uint32_t n = 0; n < packing->node_count && all > 0; n++) {
        uint32_t added = 0;
        so_far += is_turn_of(packing, pool, n, round) ? room[n] : 0;
        const uint32_t due = (uint32_t)(missing * (so_far / all));
        WEIR_TRY(add_some(packing, pool, n, due > given ? due - given : 0, &added));
        given = due;
    }
    return WEIR_OK;
}

static weir_status spread(struct weir_packing *packing)
{
    for (uint32_t k = 0; k < packing->run->count; k++) {
        const uint32_t pool = packing->order[k];
        for (uint32_t round = 0; round < 2 && weir_packing_may_move(packing, pool); round++)
            WEIR_TRY(spread_pool(packing, pool, round));
    }
    return WEIR_OK;
}

/* ---- emptying nodes and filling them again ---- */

static void choose_nodes(struct weir_packing *packing, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_new = false;
        while (!is_new) {
            packing->nodes[i] = (uint32_t)draw(packing, packing->node_count);
            is_new = true;
            for (uint32_t k = 0; k < i; k++)
                is_new = is_new && packing->nodes[k] != packing->nodes[i];
        }
    }
}

/* Pool by pool, in the order given, on the chosen nodes one after the other. */
static weir_status refill_by_pool(struct weir_packing *packing, const uint32_t *order,
                                  uint32_t nodes)
{
    for (uint32_t k = 0; k < packing->run->count; k++) {
        const uint32_t pool = order[k];
        uint32_t missing =
            weir_packing_may_move(packing, pool) ? weir_packing_missing(packing, pool) : 0;
        for (uint32_t n = 0; n < 2 * nodes && missing > 0; n++) {
            const uint32_t node = packing->nodes[n % nodes];
            uint32_t added = 0;
            if (is_turn_of(packing, pool, node, n / nodes))
                WEIR_TRY(add_some(packing, pool, node, missing, &added));
            missing -= added;
        }
    }
    return WEIR_OK;
}

/* A pool that lacks workers, drawn by how many. WEIR_NO_INDEX = none does. */
static uint32_t draw_missing(struct weir_packing *packing, const uint8_t *is_out)
{
    double sum = 0;

    for (uint32_t i = 0; i < packing->run->count; i++)
        sum += is_out[i] == 0 ? weir_packing_missing(packing, i) : 0;
    double left = (double)draw(packing, 1U << 30) / (1U << 30) * sum;
    for (uint32_t i = 0; i < packing->run->count; i++) {
        const uint32_t missing = is_out[i] == 0 ? weir_packing_missing(packing, i) : 0;
        if (missing > 0 && left < missing)
            return i;
        left -= missing;
    }
    return WEIR_NO_INDEX;
}

/* Node by node, workers of pools as they are drawn: a random mixture. */
static weir_status refill_by_node(struct weir_packing *packing, uint32_t nodes)
{
    uint8_t *const is_out = (uint8_t *)packing->run->order; /* room for every pool */

    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t pool;
        for (uint32_t i = 0; i < packing->run->count; i++)
            is_out[i] = !weir_packing_may_move(packing, i);
        while ((pool = draw_missing(packing, is_out)) != WEIR_NO_INDEX) {
            const weir_status status = add(packing, pool, packing->nodes[n]);
            if (status == WEIR_EBUSY)
                is_out[pool] = 1;
            else
                WEIR_TRY(status);
        }
    }
    return WEIR_OK;
}

/* The order by size with some pools drawn forward, or any. */
static void shuffle(struct weir_packing *packing, uint32_t *order, uint32_t swaps)
{
    const uint32_t count = packing->run->count;

    for (uint32_t i = 0; i < count; i++)
        order[i] = packing->order[i];
    for (uint32_t i = 0; i < swaps; i++) {
        const uint32_t a = (uint32_t)draw(packing, count);
        const uint32_t b = (uint32_t)draw(packing, count);
        const uint32_t kept = order[a];
        order[a] = order[b];
        order[b] = kept;
    }
}

static weir_status refill(struct weir_packing *packing, uint32_t nodes, uint32_t try)
{
    uint32_t *const order = packing->run->order;

    if (try % WAYS_TO_FILL == 2)
        return refill_by_node(packing, nodes);
    shuffle(packing, order, try % WAYS_TO_FILL == 0 ? 1 : packing->run->count);
    return refill_by_pool(packing, order, nodes);
}

/* Originals of the chosen nodes that are not there. */
static uint32_t count_absent(const struct weir_packing *packing, uint32_t nodes)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < packing->run->count * nodes; k++) {
        const struct weir_stopped *const originals = &packing->pools[k / nodes].originals;
        for (uint32_t i = weir_stopped_first(originals, packing->nodes[k % nodes]);
             i != WEIR_NO_INDEX; i = originals->entries[i].next)
            count += !weir_packing_is_there(packing, originals->entries[i].id);
    }
    return count;
}

/* Until nothing is missing, or so many tries came to nothing. Of equal packings one that moves no
 * more workers is preferred, but now and then another is gone on from. */
static weir_status improve(struct weir_packing *packing, uint32_t tries)
{
    double least = shortage(packing);
    uint32_t in_vain = 0;

    for (uint32_t i = 0; in_vain < tries && least > 0; i++) {
        const uint32_t most = packing->node_count < RUIN_MOST ? packing->node_count : RUIN_MOST;
        const uint32_t nodes = 1 + (uint32_t)draw(packing, most);
        WEIR_TRY(weir_packing_mark(packing));
        choose_nodes(packing, nodes);
        const uint32_t absent = count_absent(packing, nodes);
        for (uint32_t n = 0; n < nodes; n++)
            WEIR_TRY(weir_packing_empty_node(packing, packing->nodes[n]));
        WEIR_TRY(refill(packing, nodes, i));
        const double now = shortage(packing);
        if (now > least || (!(now < least) && count_absent(packing, nodes) > absent &&
                            draw(packing, SIDEWAYS) != 0)) {
            weir_cluster_rollback(packing->scratch);
            in_vain++;
            continue;
        }
        weir_cluster_release(packing->scratch);
        in_vain += !(now < least);
        least = now;
    }
    return WEIR_OK;
}

/* ---- rates ---- */

/* What each node could hold of each pool alone; the nodes are empty. */
static void count_room(struct weir_packing *packing)
{
    for (uint32_t i = 0; i < packing->run->count; i++) {
        for (uint32_t n = 0; n < packing->node_count; n++) {
            const uint64_t room =
                weir_node_room(packing->scratch, n, weir_packing_shape(packing, i));
            packing->quota[i * packing->node_count + n] =
                room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
        }
    }
    packing->has_quota = true;
}

static weir_status start_anew(struct weir_packing *packing)
{
    for (uint32_t n = 0; n < packing->node_count; n++)
        WEIR_TRY(weir_packing_empty_node(packing, n));
    if (!packing->has_quota)
        count_room(packing);
    WEIR_TRY(weir_packing_fit_groups(packing, true));
    return spread(packing);
}

/* Looks for places for as many workers as this rate wants. What is reached stays when it is more
 * than `low_per_s`. */
static weir_status try_rate(struct weir_packing *packing, const struct weir_packing_goal *goal,
                            double z_per_s, double low_per_s, double *reached_per_s)
{
    want(packing, z_per_s);
    WEIR_TRY(weir_packing_mark(packing));
    if (goal->way == WEIR_PACK_COLD)
        WEIR_TRY(start_anew(packing));
    else
        WEIR_TRY(
            weir_packing_fit_groups(packing, goal->way != WEIR_PACK_ADD && !goal->keeps_groups));
    WEIR_TRY(fill(packing));
    if (goal->way != WEIR_PACK_ADD)
        WEIR_TRY(improve(packing, goal->tries));
    *reached_per_s = least_per_s(packing);
    if (*reached_per_s > low_per_s)
        weir_cluster_release(packing->scratch);
    else
        weir_cluster_rollback(packing->scratch);
    return WEIR_OK;
}

static weir_status bisect(struct weir_packing *packing, const struct weir_packing_goal *goal,
                          double *z_per_s)
{
    double low = goal->low_per_s;
    double high = goal->high_per_s;
    double next = high;
    const uint32_t rates = goal->is_high_only ? 1 : BISECTIONS;

    *z_per_s = 0;
    for (uint32_t i = 0; i < rates && high - low > CLOSE * high; i++) {
        double reached_per_s = 0;
        WEIR_TRY(try_rate(packing, goal, next, low, &reached_per_s));
        if (reached_per_s > low)
            low = *z_per_s = reached_per_s;
        if (reached_per_s < next * (1 - 1e-9))
            high = next;
        next = low + (high - low) / 2;
    }
    return WEIR_OK;
}

/* ---- the outcome ---- */

/* Takes the latest new worker of a pool away. What came back since stands behind the new ones, and
 * is passed over once. */
static weir_status remove_new(struct weir_packing *packing, uint32_t pool)
{
    uint64_t id;

    while (packing->pools[pool].newest > 0) {
        (void)weir_cluster_pool_worker_id(packing->scratch, pool, --packing->pools[pool].newest,
                                          &id);
        if (weir_packing_is_new(packing, id))
            return weir_cluster_remove_worker(packing->scratch, id, packing->run->error);
    }
    return WEIR_OK;
}

/* Of one pool: what was given up comes back where its place is free, in the stead of a new one. */
static weir_status bring_back_of(struct weir_packing *packing, uint32_t pool, bool *is_changed)
{
    const struct weir_stopped *const originals = &packing->pools[pool].originals;
    struct weir_alloc alloc;

    for (uint32_t i = originals->entry_count; i-- > 0 && weir_packing_may_move(packing, pool);) {
        const uint64_t id = originals->entries[i].id;
        if (weir_packing_is_there(packing, id))
            continue;
        weir_stopped_alloc(originals, i, &alloc);
        if (!weir_cluster_fits(packing->scratch, &alloc))
            continue;
        WEIR_TRY(weir_cluster_add_worker(packing->scratch, id, weir_pool_owner(pool), &alloc,
                                         packing->run->error));
        WEIR_TRY(remove_new(packing, pool));
        *is_changed = true;
    }
    return WEIR_OK;
}

/* A new one that goes may free another's place. */
static weir_status bring_back(struct weir_packing *packing)
{
    bool is_changed = true;

    for (uint32_t i = 0; i < packing->run->count; i++)
        packing->pools[i].newest = weir_cluster_pool_workers(packing->scratch, i);
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = 0; i < packing->run->count; i++)
            WEIR_TRY(bring_back_of(packing, i, &is_changed));
    }
    return WEIR_OK;
}

/* What is new of a pool, and how many workers stay. */
static weir_status note_starts(struct weir_packing *packing, uint32_t pool, uint32_t *kept)
{
    struct weir_stopped *const starts = &packing->pools[pool].starts;
    const uint32_t count = weir_cluster_pool_workers(packing->scratch, pool);
    struct weir_worker worker;

    for (uint32_t k = 0; k < count; k++) {
        (void)weir_cluster_pool_worker(packing->scratch, pool, k, &worker);
        if (weir_packing_is_new(packing, worker.id))
            WEIR_TRY(weir_stopped_add(starts, &packing->run->allocator, &worker));
    }
    *kept = count - starts->entry_count;
    packing->start_count += starts->entry_count;
    return WEIR_OK;
}

static weir_status note_stops(struct weir_packing *packing, uint32_t pool)
{
    const struct weir_stopped *const originals = &packing->pools[pool].originals;

    for (uint32_t i = 0; i < originals->entry_count; i++) {
        if (weir_packing_is_there(packing, originals->entries[i].id))
            continue;
        WEIR_ROOM(&packing->run->allocator, packing->stops, packing->stop_capacity,
                  packing->stop_count + 1);
        packing->stops[packing->stop_count++] = originals->entries[i].id;
    }
    return WEIR_OK;
}

/* What the pool gives with those workers alone that stay. Of a fixed count, which does not say what
 * the pipeline gives, the part that stays. */
static double rate_kept(const struct weir_packing *packing, uint32_t pool, uint32_t kept,
                        double z_per_s)
{
    const struct weir_run_pool *const seen = &packing->run->pools[pool];
    const uint32_t workers = kept / weir_shape_members(weir_packing_shape(packing, pool));

    if (seen->is_manual == 0)
        return weir_run_throughput(seen, workers);
    return seen->workers > 0 ? z_per_s * workers / seen->workers : z_per_s;
}

static weir_status note_outcome(struct weir_packing *packing, double z_per_s, double *kept_per_s)
{
    packing->start_count = 0;
    packing->stop_count = 0;
    WEIR_TRY(bring_back(packing));
    *kept_per_s = (double)INFINITY;
    for (uint32_t i = 0; i < packing->run->count; i++) {
        uint32_t kept = 0;
        weir_stopped_clear(&packing->pools[i].starts);
        if (!weir_packing_is_packed(packing, i))
            continue;
        WEIR_TRY(note_stops(packing, i));
        WEIR_TRY(note_starts(packing, i, &kept));
        *kept_per_s = fmin(*kept_per_s, rate_kept(packing, i, kept, z_per_s));
    }
    return WEIR_OK;
}

weir_status weir_packing_search(struct weir_packing *packing, const struct weir_packing_goal *goal,
                                double *z_per_s, double *kept_per_s)
{
    packing->next_id = UINT64_MAX;
    packing->random = 1;
    WEIR_TRY(weir_packing_mark(packing));
    WEIR_TRY(bisect(packing, goal, z_per_s));
    if (*z_per_s > 0)
        WEIR_TRY(note_outcome(packing, *z_per_s, kept_per_s));
    weir_cluster_rollback(packing->scratch);
    return WEIR_OK;
}

weir_status weir_packing_settle(struct weir_packing *packing, struct weir_run *run)
{
    double kept_per_s = 0;

    WEIR_TRY(weir_packing_begin(packing, run));
    packing->next_id = UINT64_MAX;
    WEIR_TRY(weir_packing_mark(packing));
    for (uint32_t i = 0; i < run->count; i++)
        WEIR_TRY(weir_packing_keep_engines(packing, i));
    WEIR_TRY(note_outcome(packing, 0, &kept_per_s));
    weir_cluster_rollback(packing->scratch);
    return WEIR_OK;
}

/* ---- beginning ---- */

/* Larger shapes before smaller ones: whole GPUs, shares, engines, CPUs. */
static void sort_pools(struct weir_packing *packing)
{
    for (uint32_t i = 0; i < packing->run->count; i++) {
        uint32_t at = i;
        for (; at > 0 && weir_run_is_larger(packing->run, i, packing->order[at - 1]); at--)
            packing->order[at] = packing->order[at - 1];
        packing->order[at] = i;
    }
}

static double share(int64_t part, int64_t all)
{
    return all > 0 ? (double)part / (double)all : 0;
}

static void weigh_pools(struct weir_packing *packing)
{
    const struct weir_amounts *const all = &packing->run->total;

    for (uint32_t i = 0; i < packing->run->count; i++) {
        const struct weir_amounts need = weir_run_need(packing->run, i);
        packing->pools[i].weight = fmax(
            fmax(fmax(share(need.cpu_units, all->cpu_units), share(need.gpu_units, all->gpu_units)),
                 fmax(share(need.nvdecs, all->nvdecs), share(need.nvencs, all->nvencs))),
            fmax(share(need.ram_bytes, all->ram_bytes),
                 share(need.gpu_mem_bytes, all->gpu_mem_bytes)));
        packing->pools[i].weight = fmax(packing->pools[i].weight, 1e-9);
    }
}

static weir_status reserve(struct weir_packing *packing)
{
    const struct weir_allocator *const memory = &packing->run->allocator;
    const uint32_t pools = packing->run->count;
    const uint32_t before = packing->pool_capacity;

    WEIR_ROOM(memory, packing->pools, packing->pool_capacity, pools);
    memset(packing->pools + before, 0,
           (packing->pool_capacity - before) * sizeof packing->pools[0]);
    WEIR_ROOM(memory, packing->order, packing->order_capacity, pools);
    WEIR_ROOM(memory, packing->nodes, packing->node_capacity, RUIN_MOST);
    WEIR_ROOM(memory, packing->quota, packing->quota_capacity, pools * packing->node_count);
    return WEIR_OK;
}

static int younger_first(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;

    return (left < right) - (left > right);
}

/* One that was stopped and came back stands elsewhere in the pool's list than it will for the next
 * decision, which is to see the same. */
static weir_status list_by_name(struct weir_packing *packing, uint32_t pool)
{
    const struct weir_allocator *const memory = &packing->run->allocator;
    struct weir_stopped *const originals = &packing->pools[pool].originals;
    const uint32_t count = weir_cluster_pool_workers(packing->scratch, pool);
    struct weir_worker worker;

    weir_stopped_clear(originals);
    WEIR_ROOM(memory, packing->doomed, packing->doomed_capacity, count);
    for (uint32_t k = 0; k < count; k++)
        (void)weir_cluster_pool_worker_id(packing->scratch, pool, k, &packing->doomed[k]);
    qsort(packing->doomed, count, sizeof packing->doomed[0], younger_first);
    for (uint32_t k = 0; k < count; k++) {
        (void)weir_cluster_worker(packing->scratch, packing->doomed[k], &worker);
        WEIR_TRY(weir_stopped_add(originals, memory, &worker));
    }
    return WEIR_OK;
}

/* The youngest first: on each node the oldest is then seen first. So of workers in like places
 * those come back that are there for longest, and those that this plan started go. */
static weir_status list_originals(struct weir_packing *packing, uint32_t pool)
{
    const struct weir_allocator *const memory = &packing->run->allocator;
    struct weir_stopped *const originals = &packing->pools[pool].originals;
    uint64_t younger = UINT64_MAX;
    struct weir_worker worker;

    weir_stopped_clear(originals);
    if (!weir_packing_is_packed(packing, pool))
        return WEIR_OK;
    for (uint32_t k = weir_cluster_pool_workers(packing->scratch, pool); k-- > 0;) {
        (void)weir_cluster_pool_worker(packing->scratch, pool, k, &worker);
        if (worker.id > younger)
            return list_by_name(packing, pool);
        younger = worker.id;
        WEIR_TRY(weir_stopped_add(originals, memory, &worker));
    }
    return WEIR_OK;
}

weir_status weir_packing_begin(struct weir_packing *packing, struct weir_run *run)
{
    packing->run = run;
    packing->scratch = weir_placer_scratch(run->placer);
    packing->node_count = weir_cluster_node_count(packing->scratch);
    packing->has_quota = false;
    weir_status status = reserve(packing);
    for (uint32_t i = 0; i < run->count && status == WEIR_OK; i++) {
        packing->pools[i].wanted = run->pools[i].workers;
        status = list_originals(packing, i);
    }
    if (status != WEIR_OK)
        return weir_fail(run->error, status, "out of memory");
    sort_pools(packing);
    weigh_pools(packing);
    return WEIR_OK;
}

void weir_packing_clear(struct weir_packing *packing)
{
    const struct weir_allocator *const memory = &packing->run->allocator;

    for (uint32_t i = 0; i < packing->pool_capacity; i++) {
        weir_stopped_free(&packing->pools[i].originals, memory);
        weir_stopped_free(&packing->pools[i].starts, memory);
    }
    weir_free(memory, packing->pools);
    weir_free(memory, packing->order);
    weir_free(memory, packing->nodes);
    weir_free(memory, packing->quota);
    weir_free(memory, packing->doomed);
    weir_free(memory, packing->prices);
    weir_free(memory, packing->stops);
}
