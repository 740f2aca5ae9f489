/* SPDX-License-Identifier: Apache-2.0 */
/* Fair shares of tenants between 0 and 1, as Slurm works them out (multifactor.h). */
#ifndef SCHED_QUEUEING_FAIR_TREE_H
#define SCHED_QUEUEING_FAIR_TREE_H

#include "weir/tenant.h"

/* Room for the walk over the tree. */
struct weir_fair_branch {
    struct weir_tenant tenant;
    double used;     /* by it and those beside it */
    double fairness; /* its share of the weights over its share of the use */
    uint32_t number; /* a list of tenants, apart from the rest of this row */
    bool is_user;    /* has no parts */
};

/* `shares` and `branches` have room for all tenants. A tenant with parts gets the largest of what
 * its parts get, nobody's jobs 0. O(tenants x tenants with parts). */
void weir_fair_tree(const struct weir_view *view, double *shares,
                    struct weir_fair_branch *branches);
void weir_fair_classic(const struct weir_view *view, double *shares);

#endif
