/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller tells a host of pools: their description, live counts, given estimates.
 *
 * An index names a pool for good. A removed one leaves its record with its name, and gets it back
 * when a pool of this pipeline and name comes again.
 */
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/internal/size.h"

#include <math.h>
#include <string.h>

enum { MOST_POOLS = 1 << 20 };

static void close_pool(struct weir_host *host, struct weir_host_pool *pool)
{
    weir_estimator_destroy(pool->estimator);
    weir_free(&host->allocator, pool->name);
}

void weir_host_clear_pools(struct weir_host *host)
{
    for (uint32_t i = 0; i < host->pools.count; i++)
        close_pool(host, &host->pools.pools[i]);
    weir_free(&host->allocator, host->pools.pools);
    weir_free(&host->allocator, host->pools.views);
    weir_free(&host->allocator, host->pools.read);
    weir_id_table_free(&host->pools.names, &host->allocator);
}

static weir_status reserve_pool(struct weir_host *host)
{
    WEIR_ROOM(&host->allocator, host->pools.pools, host->pools.pool_capacity,
              host->pools.count + 1);
    WEIR_ROOM(&host->allocator, host->pools.views, host->pools.view_capacity,
              host->pools.count + 1);
    WEIR_ROOM(&host->allocator, host->pools.read, host->pools.read_capacity, host->pools.count + 1);
    return weir_id_table_reserve(&host->pools.names, &host->allocator, 1);
}

static char *copy_name(const struct weir_host *host, const char *name)
{
    const size_t size = strlen(name) + 1;
    char *const copy = weir_alloc(&host->allocator, size, 1);

    if (copy != NULL)
        memcpy(copy, name, size);
    return copy;
}

static weir_status open_pool(struct weir_host *host, const char *name, struct weir_host_pool *pool)
{
    *pool = (struct weir_host_pool){ .name = copy_name(host, name) };
    if (pool->name == NULL)
        return WEIR_ENOMEM;
    const weir_status status =
        weir_estimator_create(&host->allocator, host->window, &pool->estimator);
    if (status != WEIR_OK)
        weir_free(&host->allocator, pool->name);
    return status;
}

/* ---- by name ---- */

static uint64_t name_key(uint32_t pipeline, const char *name)
{
    return weir_hash_add(weir_hash_text(name), pipeline);
}

/* The pool of this name in a pipeline, removed or not, or WEIR_NO_INDEX. */
static uint32_t find_pool(const struct weir_host *host, uint32_t pipeline, const char *name)
{
    uint32_t pool = weir_id_table_find(&host->pools.names, name_key(pipeline, name));

    while (pool != WEIR_NO_INDEX && (host->pools.views[pool].pipeline != pipeline ||
                                     strcmp(host->pools.views[pool].name, name) != 0))
        pool = host->pools.pools[pool].namesake;
    return pool;
}

/* The pool can be found by the name it has; there is room. */
static void enter_name(struct weir_pools *pools, uint32_t pool)
{
    const uint64_t key = name_key(pools->views[pool].pipeline, pools->views[pool].name);

    pools->pools[pool].namesake = weir_id_table_swap(&pools->names, key, pool);
}

static void leave_name(struct weir_pools *pools, uint32_t pool)
{
    const uint64_t key = name_key(pools->views[pool].pipeline, pools->views[pool].name);
    const uint32_t next = pools->pools[pool].namesake;
    uint32_t before = weir_id_table_find(&pools->names, key);

    if (before != pool) {
        while (pools->pools[before].namesake != pool)
            before = pools->pools[before].namesake;
        pools->pools[before].namesake = next;
    } else if (next != WEIR_NO_INDEX) {
        weir_id_table_put(&pools->names, key, next);
    } else {
        weir_id_table_remove(&pools->names, key);
    }
}

static bool is_removed(const struct weir_host *host, uint32_t pool)
{
    return host->pools.views[pool].finished == WEIR_POOL_REMOVED;
}

static weir_status check_pool(const struct weir_pool_spec *pool, struct weir_error *error)
{
    WEIR_TRY(weir_size_check(pool->size, sizeof *pool, "the stage", error));
    if (pool->name == NULL || pool->name[0] == '\0')
        return weir_fail(error, WEIR_EINVAL, "a stage needs a name");
    if (pool->batch_size < 1)
        return weir_fail(error, WEIR_EINVAL, "stage %s: batch_size must be >= 1, got %u",
                         pool->name, pool->batch_size);
    if (pool->requested_workers < -1)
        return weir_fail(error, WEIR_EINVAL, "stage %s: requested_workers must be >= -1, got %d",
                         pool->name, pool->requested_workers);
    if (!(pool->over_provision >= 0))
        return weir_fail(error, WEIR_EINVAL, "stage %s: over_provision must be >= 0, got %g",
                         pool->name, pool->over_provision);
    if ((pool->soft_labels & WEIR_LABEL_KEPT) != 0)
        return weir_fail(error, WEIR_EINVAL, "stage %s: WEIR_LABEL_KEPT cannot be preferred",
                         pool->name);
    if (pool->speed_hint_per_s <= 0)
        return weir_fail(error, WEIR_EINVAL, "stage %s: speed_hint must be > 0, got %g", pool->name,
                         pool->speed_hint_per_s);
    const weir_status status = weir_shape_check(&pool->shape, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "stage %s: shape", pool->name);
    return status;
}

/* What is told once; live counts stay. */
static void describe(struct weir_pool_view *view, const struct weir_pool_spec *spec)
{
    view->pipeline = spec->pipeline;
    view->requested_workers = spec->requested_workers;
    view->shape = spec->shape;
    view->soft_labels = spec->soft_labels;
    view->batch_size = spec->batch_size;
    view->slots = spec->slots;
    view->over_provision = spec->over_provision;
    view->speed_hint_per_s = spec->speed_hint_per_s;
}

/* The pool at `index`, which is the next one or was removed. */
static weir_status open_at(struct weir_host *host, uint32_t index,
                           const struct weir_pool_spec *pool, struct weir_error *error)
{
    struct weir_host_pool made;

    if (index >= MOST_POOLS)
        return weir_fail(error, WEIR_ERANGE, "at most %d stages are possible", MOST_POOLS);
    if (reserve_pool(host) != WEIR_OK || open_pool(host, pool->name, &made) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (index < host->pools.count) {
        leave_name(&host->pools, index);
        close_pool(host, &host->pools.pools[index]);
    } else {
        host->pools.count++;
    }
    host->pools.pools[index] = made;
    host->pools.views[index] = (struct weir_pool_view){ .name = made.name };
    describe(&host->pools.views[index], pool);
    weir_host_note_soft(host, pool->soft_labels);
    enter_name(&host->pools, index);
    return WEIR_OK;
}

weir_status weir_host_add_pool(struct weir_host *host, const struct weir_pool_spec *pool,
                               uint32_t *index, struct weir_error *error)
{
    if (host == NULL || pool == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no stage");
    WEIR_TRY(check_pool(pool, error));
    const uint32_t known = find_pool(host, pool->pipeline, pool->name);
    if (known != WEIR_NO_INDEX && !is_removed(host, known))
        return weir_fail(error, WEIR_EDUPLICATE, "stage %s exists already", pool->name);
    const uint32_t place = known != WEIR_NO_INDEX ? known : host->pools.count;
    WEIR_TRY(open_at(host, place, pool, error));
    weir_placer_change_pool(host->placer, place, &pool->shape);
    if (index != NULL)
        *index = place;
    return WEIR_OK;
}

weir_status weir_host_change_pool(struct weir_host *host, uint32_t pool,
                                  const struct weir_pool_spec *spec, struct weir_error *error)
{
    if (host == NULL || spec == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no stage");
    if (pool >= host->pools.count || is_removed(host, pool))
        return weir_fail(error, WEIR_ENOTFOUND, "stage %u of %u", pool, host->pools.count);
    WEIR_TRY(check_pool(spec, error));
    const uint32_t known = find_pool(host, spec->pipeline, spec->name);
    if (known != WEIR_NO_INDEX && known != pool)
        return weir_fail(error, WEIR_EDUPLICATE, "stage %s exists already", spec->name);
    char *const name = copy_name(host, spec->name);
    if (name == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    leave_name(&host->pools, pool);
    weir_free(&host->allocator, host->pools.pools[pool].name);
    host->pools.pools[pool].name = name;
    host->pools.views[pool].name = name;
    describe(&host->pools.views[pool], spec);
    weir_host_note_soft(host, spec->soft_labels);
    enter_name(&host->pools, pool);
    weir_placer_change_pool(host->placer, pool, &spec->shape);
    return WEIR_OK;
}

/* An empty record looks like a finished pool that somebody wants no worker of; one item in, one
 * out, so that it changes nothing for the pools around it. */
weir_status weir_host_remove_pool(struct weir_host *host, uint32_t pool, struct weir_error *error)
{
    if (host == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host");
    if (pool >= host->pools.count || is_removed(host, pool))
        return weir_fail(error, WEIR_ENOTFOUND, "stage %u of %u", pool, host->pools.count);
    struct weir_pool_view *const view = &host->pools.views[pool];
    const uint32_t workers = weir_cluster_pool_workers(host->inventory, pool);
    if (workers > 0)
        return weir_fail(error, WEIR_EBUSY, "stage %s has %u workers", view->name, workers);
    *view = (struct weir_pool_view){ .name = view->name,
                                     .pipeline = view->pipeline,
                                     .shape = view->shape,
                                     .batch_size = 1,
                                     .slots = view->slots,
                                     .finished = WEIR_POOL_REMOVED,
                                     .speed_hint_per_s = (double)NAN };
    host->pools.pools[pool].given =
        (struct weir_estimate){ .batches_per_s = (double)NAN, .returns_per_batch = (double)NAN };
    host->pools.pools[pool].has_given = true;
    return WEIR_OK;
}

weir_status weir_host_update_pool(struct weir_host *host, uint32_t pool,
                                  const struct weir_pool_update *update)
{
    if (host == NULL || update == NULL)
        return WEIR_EINVAL;
    WEIR_TRY(weir_size_check(update->size, sizeof *update, "the update", NULL));
    if (pool >= host->pools.count || is_removed(host, pool))
        return WEIR_ENOTFOUND;
    if (update->requested_workers < -1)
        return WEIR_EINVAL;
    struct weir_pool_view *const view = &host->pools.views[pool];
    view->ready = update->ready;
    view->busy = update->busy;
    view->finished = update->finished != 0 ? WEIR_POOL_FINISHED : 0;
    view->slots = update->slots;
    view->queued_items = update->queued_items;
    view->requested_workers = update->requested_workers;
    return WEIR_OK;
}

weir_status weir_host_set_estimate(struct weir_host *host, uint32_t pool,
                                   struct weir_estimate estimate)
{
    if (host == NULL)
        return WEIR_EINVAL;
    if (pool >= host->pools.count || is_removed(host, pool))
        return WEIR_ENOTFOUND;
    host->pools.pools[pool].given = estimate;
    host->pools.pools[pool].has_given = true;
    return WEIR_OK;
}
