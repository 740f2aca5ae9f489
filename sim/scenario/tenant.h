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
    int32_t priority;
    struct weir_quota guarantee, hard, soft, borrow, lend;
    /* Memory of GPUs. What a tenant does not say is that of the nearest above it which does. */
    uint32_t pool;         /* whose pool it uses, counted from 1; 0 = nobody's */
    int64_t pool_bytes;    /* its own, of every GPU; 0 = none */
    int64_t process_bytes; /* a process has at most, of one GPU; INT64_MAX = no limit */
    int64_t free_ns;       /* what giving memory back takes; 0 = it is kept for the next step */
};

#endif
