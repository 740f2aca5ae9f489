/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores every place with NaN, so nothing fits anywhere. */
#include "hostile.h"

#include <math.h>

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    (void)state;
    (void)query;
    (void)candidate;
    return (struct weir_score){ (double)NAN, (double)NAN };
}

HOSTILE_PLACEMENT_OPS(.score = score)
