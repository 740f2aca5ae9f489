/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts ranks of a job that nobody has submitted. */
#include "hostile.h"

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    HOSTILE_UNUSED;
    const struct weir_owner nobody = { .kind = WEIR_OWNER_JOB, .index = 0, .id = 987654321 };
    const struct weir_alloc alloc = { .node = 0, .cpu_units = 1 };
    return weir_plan_start(plan, nobody, weir_plan_new_worker(plan), &alloc, NULL);
}

HOSTILE_QUEUEING_OPS(.pass = pass)
