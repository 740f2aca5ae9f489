/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * -n auto: replications of a point until the 95 % interval of the goal is narrow enough.
 *
 * Sequential procedure of Law and Kelton for a relative error g of the true mean: stop when
 * half width / |mean| <= g / (1 + g), after at least 10 replications, looking again after at most
 * twice as many. All variants of a point get the same number, so that they stay paired. What does
 * not get there stops at a cap, which is said.
 */
#ifndef SIM_CLI_ADAPTIVE_H
#define SIM_CLI_ADAPTIVE_H

#include "sim/cli/experiment/experiment.h"

enum { SIM_ADAPTIVE_FIRST = 10, SIM_ADAPTIVE_MOST = 100 };

struct sim_adaptive {
    double relative;    /* g */
    uint32_t most;      /* the cap */
    uint32_t *asked;    /* replications, by point */
    double *reached;    /* half width / |mean|, the widest of the point; NAN = not known */
    size_t point_count; /* 1 = without axes */
    struct sim_rounds rounds;
    char rule[96];
};

/* A row of options must hold `relative` and `most` by then; false = out of memory. */
bool sim_adaptive_begin(struct sim_adaptive *adaptive, size_t points);
void sim_adaptive_end(struct sim_adaptive *adaptive);

/* How many were made, and where the cap ended it. */
void sim_adaptive_print(const struct sim_adaptive *adaptive);

#endif
