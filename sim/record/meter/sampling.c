/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often series are sampled; see the header. */
#include "sim/record/meter/sampling.h"

#include "sim/engine/time.h"

int64_t sim_sampling_interval_ns(double expected_s)
{
    static const double round_s[] = { 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600 };
    const double aim_s = expected_s / SIM_SAMPLES_AIMED_AT;
    unsigned pick = 0;
    while (pick + 1 < sizeof(round_s) / sizeof(round_s[0]) && round_s[pick] < aim_s)
        pick++;
    return sim_time_from_s(round_s[pick]);
}

uint32_t sim_sampling_node_every(size_t nodes)
{
    return 1 + (uint32_t)(nodes * SIM_SAMPLES_AIMED_AT / (SIM_NODE_ROWS_MOST + 1));
}
