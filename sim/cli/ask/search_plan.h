/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A search: the smallest (or largest) value of an axis at which conditions hold, for every variant
 * by itself, by bisection over runs that are made as they are needed.
 *
 * A value holds when the 95 % interval of every condition's mean lies where it holds, and fails
 * when one lies where it does not; what is undecided gets as many replications again, and then the
 * mean decides, which is said. The answer is confirmed on replications that the search has not
 * seen; one that is not confirmed counts as failed, and the search goes on.
 */
#ifndef SIM_CLI_SEARCH_PLAN_H
#define SIM_CLI_SEARCH_PLAN_H

#include "analysis/goal.h"
#include "analysis/points.h"
#include "sim/cli/ask/bisect.h"
#include "sim/cli/experiment/experiment.h"

/* Replications of a value: n to look, n more where that is not enough, n that confirm. */
enum { SIM_SEARCH_PARTS = 3 };

enum sim_search_state {
    SIM_SEARCH_NEW,
    SIM_SEARCH_ASKED,  /* n replications */
    SIM_SEARCH_LONGER, /* and n more */
    SIM_SEARCH_JUDGED,
    SIM_SEARCH_CONFIRMING, /* and n fresh ones */
    SIM_SEARCH_CONFIRMED,
    SIM_SEARCH_REFUTED
};

struct sim_search_value {
    enum sim_search_state state;
    enum an_hold verdict; /* once it is judged */
    bool is_longer;       /* it needed n more */
    bool is_by_mean;      /* and they did not decide either */
    char text[160];       /* the means of the conditions, as people read them */
    char confirm[160];    /* the same of what confirms */
};

/* One variant: its values in the order of the search, what is easiest last. */
struct sim_search_arm {
    struct sim_bisect bisect;
    size_t *variants; /* of the experiment, by place in the order */
    struct sim_search_value *values;
    bool is_through;
};

struct sim_search {
    bool wants_largest;
    uint32_t replications; /* n */
    struct sim_search_arm *arms;
    size_t arm_count, value_count;
    struct an_goal goal; /* its conditions, as the database has them */
    bool has_begun;
    struct sim_rounds rounds;
    char rule[64];
};

/* `values`: of the axis; `arms`: variants at each of them; wants_largest and replications are set.
 * False = out of memory. */
bool sim_search_begin(struct sim_search *search, size_t values, size_t arms);
void sim_search_end(struct sim_search *search);

#endif
