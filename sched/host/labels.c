/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels that are only preferred: asked for while a node that is up and has them could hold a
 * worker, or a rank, if it were empty; else done without.
 *
 * So who prefers a node waits while it is busy and goes elsewhere when it is lost, as with soft
 * affinity in Ray. Shapes of pools and of kinds of jobs are changed in place when a decision begins
 * and nodes have changed, so that no policy needs to know which labels are preferred.
 *
 * Invariant: while a decision is made, the preferred labels of a shape are asked for all together
 * or not at all.
 */
#include "sched/host/state.h"
#include "sched/placement/parts/room.h"

void weir_host_note_soft(struct weir_host *host, uint32_t soft_labels)
{
    host->has_soft = host->has_soft || soft_labels != 0;
    host->is_soft_stale = host->is_soft_stale || soft_labels != 0;
}

/* Whether it asks for something else than before. */
static bool settle(const struct weir_host *host, struct weir_shape *shape, uint32_t soft_labels)
{
    const uint32_t before = shape->labels;

    if (soft_labels == 0)
        return false;
    shape->labels |= soft_labels;
    if (!weir_cluster_serves(host->inventory, shape))
        shape->labels &= ~soft_labels;
    return shape->labels != before;
}

static bool settle_kind(const struct weir_host *host, struct weir_job_kind *kind)
{
    bool has_changed = false;

    for (uint32_t g = 0; g < kind->group_count; g++)
        has_changed |= settle(host, &kind->groups[g].shape, kind->groups[g].soft_labels);
    if (has_changed)
        kind->room_known = 0;
    return has_changed;
}

/* Whether jobs ask for something else. */
static bool settle_all(struct weir_host *host)
{
    bool has_changed = false;

    if (!host->has_soft || !host->is_soft_stale)
        return false;
    host->is_soft_stale = false;
    for (uint32_t i = 0; i < host->pools.count; i++) {
        struct weir_pool_view *const pool = &host->pools.views[i];
        if (settle(host, &pool->shape, pool->soft_labels))
            weir_placer_change_pool(host->placer, i, &pool->shape);
    }
    for (uint32_t k = 0; k < host->jobs.kind_count; k++)
        has_changed |= settle_kind(host, &host->jobs.kinds[k]);
    return has_changed;
}

void weir_host_settle_labels(struct weir_host *host)
{
    if (!settle_all(host))
        return;
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
}

void weir_host_note_kind(struct weir_host *host, uint32_t kind)
{
    for (uint32_t g = 0; g < host->jobs.kinds[kind].group_count; g++)
        weir_host_note_soft(host, host->jobs.kinds[kind].groups[g].soft_labels);
}

void weir_host_restore_labels(struct weir_host *host)
{
    for (uint32_t k = 0; k < host->jobs.kind_count; k++)
        weir_host_note_kind(host, k);
    (void)settle_all(host);
}
