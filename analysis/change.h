/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why one variant does more than another: what each stage had in both, and what follows (the claims
 * change.limit and change.device). Of the first replication of each, after the warm-up.
 */
#ifndef ANALYSIS_CHANGE_H
#define ANALYSIS_CHANGE_H

#include "analysis/claim.h"

struct an_stage_side {
    double workers, pace_per_s, busy, limits; /* pace: tasks of a worker in its time of work */
};

struct an_stage_change {
    char name[96];
    struct an_stage_side sides[2]; /* NAN = it is not there */
};

struct an_change_of_work {
    struct an_stage_change *stages; /* in the order of the pipelines */
    size_t count;
    struct an_claim limit, device; /* text "" = nothing to say */
};

/* `variant` against the baseline. */
weir_status an_change_read(struct an_db *db, const char *variant, struct an_change_of_work *change,
                           struct weir_error *error);
void an_change_clear(struct an_change_of_work *change);

#endif
