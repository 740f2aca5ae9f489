/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tenant as a scenario has it: whose jobs they are, and what it may have. */
#ifndef SIM_SCENARIO_TENANT_H
#define SIM_SCENARIO_TENANT_H

#include "weir/tenant.h"

/* Parents come before their children. */
struct sim_tenant {
    const char *name;
    uint32_t parent; /* counted from 1, 0 = none */
    double weight, tickets;
    struct weir_quota guarantee, hard, soft, borrow, lend;
};

#endif
