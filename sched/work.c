/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaching into a view. Plug-ins call these instead of indexing, so that the structs may grow.
 */
#include "weir/work.h"

const struct weir_pool_view *weir_view_pool(const struct weir_view *view, uint32_t pool)
{
    return pool < view->pool_count ? &view->pools[pool] : NULL;
}

const struct weir_job_view *weir_view_job(const struct weir_view *view, uint32_t job)
{
    return job < view->job_count ? &view->jobs[job] : NULL;
}
