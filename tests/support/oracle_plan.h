/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The check of a plan beside a brute-force oracle.
 *
 * A small cluster with workers and a plan, some right and some wrong, are drawn. The oracle keeps
 * no books: after every action it adds up what all running workers hold, device by device, and
 * compares with the totals. It must reject exactly what weir_plan_check rejects.
 */
#ifndef TESTS_SUPPORT_ORACLE_PLAN_H
#define TESTS_SUPPORT_ORACLE_PLAN_H

#include "tests/support/draws.h"
#include "weir/host.h"

struct plan_verdict {
    weir_status status; /* of weir_plan_check; WEIR_ENOMEM = nothing was compared */
    uint32_t actions;
    bool oracle_accepts;
    bool is_same_action; /* both reject, and both because of the same action */
    struct weir_error error;
};

/* Draws one state and plan and asks both. */
struct plan_verdict plan_oracle_play(struct draws *draws);
/* Whether the two agree. */
bool plan_oracle_agrees(const struct plan_verdict *verdict);

#endif
