/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether jobs of a fill are moved at its end, and what that costs. */
#ifndef SIM_SCENARIO_DEFRAG_RULE_H
#define SIM_SCENARIO_DEFRAG_RULE_H

#include <stdint.h>

enum sim_defrag_kind { SIM_DEFRAG_NONE, SIM_DEFRAG_GREEDY, SIM_DEFRAG_BATCH, SIM_DEFRAG_ONE_POD };
/* Moving jobs at the end of a static workload (sim/lab/defrag.h). */
struct sim_defrag_rule {
    uint32_t rule;      /* enum sim_defrag_kind */
    double budget_frac; /* of the jobs that are placed */
    int64_t cost_ns;    /* a moved job's GPUs do nothing for so long */
};

#endif
