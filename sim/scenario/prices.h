/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a scenario pays for, and how it is billed (docs/metrics.md, Cost). */
#ifndef SIM_SCENARIO_PRICES_H
#define SIM_SCENARIO_PRICES_H

#include <stdbool.h>
#include <stdint.h>

enum sim_billing {
    SIM_BILLING_USE,  /* what workers hold, each for its life */
    SIM_BILLING_NODES /* nodes, for as long as they are up */
};

struct sim_prices {
    bool is_there;
    uint32_t billing;       /* enum sim_billing */
    int64_t granularity_ns; /* a life is paid in whole ones of these */
    double cpu;             /* an hour */
    double storage;         /* a GiB read from or written to a store */
    double network;         /* a GiB that went to another node */
};

#endif
