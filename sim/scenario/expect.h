/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a scenario compares, expects and is about: variants, checks on results, the goal.
 */
#ifndef SIM_SCENARIO_EXPECT_H
#define SIM_SCENARIO_EXPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_variant {
    char *label;
    char **sets; /* "path=value" */
    size_t sets_count;
};

enum sim_expect_op {
    SIM_EXPECT_EQ,
    SIM_EXPECT_NEAR, /* |value - expected| <= tol (absolute) or tol * |expected| (relative) */
    SIM_EXPECT_LT,
    SIM_EXPECT_LE,
    SIM_EXPECT_GT,
    SIM_EXPECT_GE
};

struct sim_expect {
    char *metric;
    char *of;      /* label: stage, pipeline ...; NULL = the cluster-wide value */
    char *variant; /* NULL = every variant */
    uint32_t op;   /* enum sim_expect_op */
    double value;  /* NAN when `than_*` is given */
    double tolerance;
    bool tolerance_is_relative;
    char *than_metric; /* compare with another result */
    char *than_of;
    char *than_variant;
    double times; /* multiplies what `than_*` finds */
    int line;     /* in the file, for messages */
};

/* What the scenario is about. */
struct sim_goal {
    char *metric; /* NULL = the default of the kind of work */
    char *of;
    bool wants_more;
    struct sim_expect *conditions; /* means that have to keep a bound meanwhile */
    size_t conditions_count;
};

#endif
