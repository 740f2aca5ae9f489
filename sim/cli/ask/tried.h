/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What some replications of one variant gave, for those who choose what to run next.
 */
#ifndef SIM_CLI_TRIED_H
#define SIM_CLI_TRIED_H

#include "analysis/goal.h"
#include "analysis/points.h"

struct sim_tried {
    double mean;     /* NAN = none */
    uint32_t runs;   /* that have a result */
    bool is_bound;   /* from below, of some of them */
    bool is_partial; /* a mean without what is unfinished */
    double *values;  /* by replication, NAN = none; of the caller, NULL = not wanted */
};

/* Replications from `first` on, of the metric; a run that failed or ended early has no result. */
struct sim_tried_of {
    const char *label, *metric;
    uint32_t first, count;
};
weir_status sim_tried_read(struct an_db *db, const struct sim_tried_of *of, struct sim_tried *trial,
                           struct weir_error *error);
/* What becomes of the conditions of the goal on those. */
weir_status sim_tried_judge(struct an_db *db, const struct an_goal *goal,
                            const struct sim_tried_of *of, struct an_judged *judged,
                            struct weir_error *error);
/* Of figures of which some are bounds or partial; false = nothing. */
void sim_tried_say_bounds(bool has_bounds);

#endif
