/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which GPUs the members of a placed group sit on, where the group reserves amounts and not places.
 *
 * In Ray the bundles of a group add up to one amount on each GPU, and an actor is given its GPU
 * when it starts: of the amounts that are left there the least that is enough. So an actor of 0.1
 * GPU that starts first breaks the 0.9 that was meant for another, which is pending for ever inside
 * a group that has been created (ray-project/ray 42683).
 *
 * Codec engines, MIG instances and GPU memory are not Ray's: who asks for them keeps his own.
 */
#include "sched/placement/parts/group.h"

static bool keeps_its_own(const struct weir_alloc *alloc)
{
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        if ((device->nvdec_mask | device->nvenc_mask | device->mig) != 0 || device->mem_bytes != 0)
            return true;
    }
    return false;
}

static void add_part(struct weir_group_parts *parts, uint32_t node,
                     const struct weir_device *device)
{
    for (uint32_t p = 0; p < parts->count; p++) {
        struct weir_group_part *const part = &parts->all[p];
        if (part->node == node && part->gpu == device->gpu) {
            part->units += device->units;
            return;
        }
    }
    parts->all[parts->count++] =
        (struct weir_group_part){ .node = node, .gpu = device->gpu, .units = device->units };
}

static bool is_better(const struct weir_group_part *part, const struct weir_group_part *best)
{
    return best == NULL || part->units < best->units ||
           (part->units == best->units && part->gpu < best->gpu);
}

/* The least amount on this node that is enough, the lowest GPU of equals; NULL = none is. */
static struct weir_group_part *tightest(struct weir_group_parts *parts, uint32_t node,
                                        int64_t units)
{
    struct weir_group_part *best = NULL;

    for (uint32_t p = 0; p < parts->count; p++) {
        struct weir_group_part *const part = &parts->all[p];
        if (part->node == node && part->units >= units && is_better(part, best))
            best = part;
    }
    return best;
}

/* Whole GPUs are equal amounts, so they come in the order of the GPUs, as an allocation has them.
 */
static bool draw(struct weir_group_parts *parts, struct weir_alloc *alloc)
{
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        struct weir_device *const device = &alloc->devices[d];
        struct weir_group_part *const part = tightest(parts, alloc->node, device->units);
        if (part == NULL)
            return false;
        part->units -= device->units;
        device->gpu = part->gpu;
    }
    return true;
}

uint32_t weir_group_draw(struct weir_group_parts *parts, struct weir_alloc *allocs, uint32_t count)
{
    parts->count = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < allocs[i].device_count && !keeps_its_own(&allocs[i]); d++)
            add_part(parts, allocs[i].node, &allocs[i].devices[d]);
    for (uint32_t i = 0; i < count; i++)
        if (!keeps_its_own(&allocs[i]) && !draw(parts, &allocs[i]))
            return i;
    return WEIR_NO_INDEX;
}
