/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queueing policy that never says which job is next. */
#include "hostile.h"

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    for (volatile uint32_t i = 0; job != NULL; i++) {
    }
    return 0;
}

HOSTILE_QUEUEING_OPS(.key = key)
