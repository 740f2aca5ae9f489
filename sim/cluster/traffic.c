/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bandwidth and cache of GPUs; see the header. */
#include "sim/cluster/traffic.h"

#include <math.h>

static const double RESIDUE = 1e-9; /* of adding and taking away fractions */

/* What it has before all others. */
static double set_aside(const struct sim_memory_traffic *traffic)
{
    return fmin(traffic->bandwidth, traffic->reserve);
}

void sim_traffic_run(struct sim_gpu *gpu, const struct sim_memory_traffic *traffic, double sign)
{
    if (traffic == NULL)
        return;
    gpu->traffic.bandwidth += sign * (traffic->bandwidth - set_aside(traffic));
    gpu->traffic.reserved += sign * set_aside(traffic);
    *(traffic->is_pinned ? &gpu->traffic.pinned : &gpu->traffic.cache) += sign * traffic->cache;
}

bool sim_traffic_is_scarce(const struct sim_gpu *gpu)
{
    return gpu->traffic.bandwidth + gpu->traffic.reserved > 1 + RESIDUE ||
           gpu->traffic.cache + gpu->traffic.pinned > 1 + RESIDUE;
}

/* The part of what is asked for that there is, when `first` is given out before it. */
static double part_of(double asked, double first)
{
    const double left = fmax(0, 1 - first);
    return asked > left + RESIDUE ? left / asked : 1;
}

/* Asked for over got. */
static double stretch(const struct sim_gpu_traffic *all, const struct sim_memory_traffic *traffic)
{
    const double first = set_aside(traffic) * part_of(all->reserved, 0);
    const double rest =
        (traffic->bandwidth - set_aside(traffic)) * part_of(all->bandwidth, all->reserved);
    return traffic->bandwidth > 0 ? traffic->bandwidth / fmax(first + rest, RESIDUE) : 1;
}

static double cache_part(const struct sim_gpu_traffic *all,
                         const struct sim_memory_traffic *traffic)
{
    return traffic->is_pinned ? part_of(all->pinned, 0) : part_of(all->cache, all->pinned);
}

double sim_traffic_slowdown(const struct sim_gpu *gpu, const struct sim_use *use,
                            const struct sim_memory_traffic *traffic)
{
    if (traffic == NULL)
        return 1;
    if (use->slice != NULL) {
        const double part = (double)use->slice->slots / (double)gpu->mig->slots;
        return 1 - traffic->bound + traffic->bound * fmax(1, traffic->bandwidth / part);
    }
    const double waits = traffic->bound * stretch(&gpu->traffic, traffic);
    return (1 - traffic->bound + waits) *
           (1 + traffic->penalty * (1 - cache_part(&gpu->traffic, traffic)));
}
