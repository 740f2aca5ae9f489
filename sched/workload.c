/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaching into a view. Plug-ins call these instead of indexing, so that the structs may grow.
 */
#include "weir/workload.h"

const struct weir_stage_view *weir_view_stage(const struct weir_view *view, uint32_t stage)
{
    return stage < view->stage_count ? &view->stages[stage] : NULL;
}

const struct weir_job_view *weir_view_job(const struct weir_view *view, uint32_t job)
{
    return job < view->job_count ? &view->jobs[job] : NULL;
}
