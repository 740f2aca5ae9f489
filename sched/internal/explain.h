/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scores behind a place, for plans that keep them (explain levels TOP and FULL).
 */
#ifndef SCHED_INTERNAL_EXPLAIN_H
#define SCHED_INTERNAL_EXPLAIN_H

#include "weir/policy.h"

/* A question, its answer, and who gave it. */
struct weir_explained {
    const struct weir_placement_ops *ops;
    void *state;
    const struct weir_place_query *query;
    const struct weir_place_answer *answer;
};

/* Appends the candidates of a fresh start that is about to be planned: at TOP the chosen place and
 * the runner-up, at FULL every place (when the policy can score one), below nothing. The cluster of
 * the query must still be as it was asked about. */
weir_status weir_explain_start(struct weir_plan *plan, const struct weir_explained *explained);

#endif
