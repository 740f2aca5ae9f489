/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scaling policies this library brings. The first is the default and the fallback; the others
 * follow from most to least informed. A new policy is one file and one line here.
 */
#include "sched/scaling/scalings.h"

#include <string.h>

static const struct weir_scaling_ops *const SCALINGS[] = {
    &weir_scaling_xenna,       &weir_scaling_pool_optimum, &weir_scaling_inverse_speed,
    &weir_scaling_equal_split, &weir_scaling_fixed,        &weir_scaling_xenna_n,
    &weir_scaling_xenna_c,
};

uint32_t weir_scaling_count(void)
{
    return (uint32_t)(sizeof SCALINGS / sizeof SCALINGS[0]);
}

const struct weir_scaling_ops *weir_scaling_at(uint32_t index)
{
    return index < weir_scaling_count() ? SCALINGS[index] : NULL;
}

const struct weir_scaling_ops *weir_scaling_find(const char *name)
{
    for (uint32_t i = 0; i < weir_scaling_count(); i++) {
        if (strcmp(SCALINGS[i]->name, name) == 0)
            return SCALINGS[i];
    }
    return NULL;
}
