/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queueing policy that follows a pointer to nowhere. */
#include "hostile.h"

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)now_ns;
    const double *volatile nowhere = state;
    return *nowhere + (double)job->ranks;
}

HOSTILE_QUEUEING_OPS(.key = key)
