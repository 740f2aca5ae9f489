/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queueing policy that never says which job is next. */
#include "hostile.h"

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    volatile uint32_t turns = 0;
    while (job != NULL)
        turns++;
    return 0;
}

HOSTILE_QUEUEING_OPS(.key = key)
