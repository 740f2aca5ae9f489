/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dual feasible functions; see the header. */
#include "sim/lab/dual_feasible.h"

/* floor((k + 1) size / whole) and whether nothing is left over, without overflow: sizes are bytes
 * or units of 2^41 at most, k is small. */
static double step(int64_t steps, int64_t size, int64_t whole)
{
    const int64_t product = (steps + 1) * size;
    if (product % whole == 0)
        return (double)size / (double)whole;
    const int64_t floored = product / whole;
    return (double)floored / (double)steps;
}

double sim_stretched(struct sim_stretch stretch, int64_t size, int64_t whole)
{
    if (stretch.steps > 0)
        return step(stretch.steps, size, whole);
    if (stretch.threshold > 0 && size > whole - stretch.threshold)
        return 1;
    if (stretch.threshold > 0 && size < stretch.threshold)
        return 0;
    return (double)size / (double)whole;
}
