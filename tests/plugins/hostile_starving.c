/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes that it leaves a stage without any worker, at its second decision; nothing binds it. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct weir_pool_note note = { .workers_before = 1 };
    if (view->decision > 0)
        return weir_plan_note(plan, 0, &note);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
