/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller tells a host of pools: their description, live counts, given estimates.
 */
#include "sched/host/host.h"
#include "sched/internal/alloc.h"

#include <string.h>

enum { MOST_POOLS = 1 << 20 };

void weir_host_clear_pools(struct weir_host *host)
{
    for (uint32_t i = 0; i < host->pool_count; i++) {
        weir_estimator_destroy(host->pools[i].estimator);
        weir_free(&host->allocator, host->pools[i].name);
    }
    weir_free(&host->allocator, host->pools);
    weir_free(&host->allocator, host->views);
}

static weir_status reserve_pool(struct weir_host *host)
{
    struct weir_host_pool *const pools = weir_grow(
        &host->allocator, host->pools, &host->pool_capacity, host->pool_count + 1, sizeof *pools);
    if (pools == NULL)
        return WEIR_ENOMEM;
    host->pools = pools;
    struct weir_pool_view *const views = weir_grow(
        &host->allocator, host->views, &host->view_capacity, host->pool_count + 1, sizeof *views);
    if (views == NULL)
        return WEIR_ENOMEM;
    host->views = views;
    return WEIR_OK;
}

static weir_status open_pool(struct weir_host *host, const char *name, struct weir_host_pool *pool)
{
    const size_t size = strlen(name) + 1;

    *pool = (struct weir_host_pool){ 0 };
    pool->name = weir_alloc(&host->allocator, size, 1);
    if (pool->name == NULL)
        return WEIR_ENOMEM;
    memcpy(pool->name, name, size);
    const weir_status status =
        weir_estimator_create(&host->allocator, host->window, &pool->estimator);
    if (status != WEIR_OK)
        weir_free(&host->allocator, pool->name);
    return status;
}

static weir_status check_pool(const struct weir_host *host, const struct weir_pool_view *pool,
                              struct weir_error *error)
{
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
    if (pool->speed_hint_per_s <= 0)
        return weir_fail(error, WEIR_EINVAL, "stage %s: speed_hint must be > 0, got %g", pool->name,
                         pool->speed_hint_per_s);
    for (uint32_t i = 0; i < host->pool_count; i++) {
        if (host->views[i].pipeline == pool->pipeline &&
            strcmp(host->views[i].name, pool->name) == 0)
            return weir_fail(error, WEIR_EDUPLICATE, "stage %s exists already", pool->name);
    }
    const weir_status status = weir_shape_check(&pool->shape, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "stage %s: shape", pool->name);
    return status;
}

weir_status weir_host_add_pool(struct weir_host *host, const struct weir_pool_view *pool,
                               uint32_t *index, struct weir_error *error)
{
    struct weir_host_pool made;

    WEIR_TRY(check_pool(host, pool, error));
    if (host->pool_count >= MOST_POOLS)
        return weir_fail(error, WEIR_ERANGE, "at most %d stages are possible", MOST_POOLS);
    if (reserve_pool(host) != WEIR_OK || open_pool(host, pool->name, &made) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    struct weir_pool_view *const view = &host->views[host->pool_count];
    *view = *pool;
    view->name = made.name;
    view->workers = 0;
    view->ready = 0;
    view->busy = 0;
    view->finished = 0;
    view->queued_items = 0;
    host->pools[host->pool_count] = made;
    if (index != NULL)
        *index = host->pool_count;
    host->pool_count++;
    return WEIR_OK;
}

weir_status weir_host_update_pool(struct weir_host *host, uint32_t pool,
                                  const struct weir_pool_update *update)
{
    if (pool >= host->pool_count)
        return WEIR_ENOTFOUND;
    if (update->requested_workers < -1)
        return WEIR_EINVAL;
    struct weir_pool_view *const view = &host->views[pool];
    view->ready = update->ready;
    view->busy = update->busy;
    view->finished = update->finished;
    view->slots = update->slots;
    view->queued_items = update->queued_items;
    view->requested_workers = update->requested_workers;
    return WEIR_OK;
}

weir_status weir_host_set_estimate(struct weir_host *host, uint32_t pool,
                                   struct weir_estimate estimate)
{
    if (pool >= host->pool_count)
        return WEIR_ENOTFOUND;
    host->pools[pool].given = estimate;
    host->pools[pool].has_given = true;
    return WEIR_OK;
}
