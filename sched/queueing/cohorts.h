/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotas that are shared in cohorts, as Kueue has them (pkg/cache resource_node.go,
 * fair_sharing.go).
 *
 * A tenant's quota is its guarantee; siblings are a cohort, their parent may be in another. Of the
 * quota of a tenant `lend` goes to the cohort, the rest is local. What a tenant may still have:
 *     available = max(0, local - use) + min(quota - local - max(0, use - local) + borrow,
 *                                           available of the parent)
 * Its share of what is lent: 1000 x the most, over resources, of (use above quota) / (what the
 * cohort could have with nobody in it), over its weight; 0 when it borrows nothing.
 */
#ifndef SCHED_QUEUEING_COHORTS_H
#define SCHED_QUEUEING_COHORTS_H

#include "weir/tenant.h"

enum { COHORT_GPU, COHORT_CPU, COHORT_RAM, COHORT_RESOURCES };

/* Of a tenant and all below it, in GPUs, CPUs, bytes. */
struct weir_cohort {
    double quota[COHORT_RESOURCES];
    double use[COHORT_RESOURCES];
    double local[COHORT_RESOURCES];
};

/* Fills one a tenant, as if `gone` (by tenant, NULL = nothing) were not in use. O(tenants). */
void weir_cohorts_count(const struct weir_view *view, const struct weir_amounts *gone,
                        struct weir_cohort *cohorts);
/* Adds what a job asks for to what is gone of its tenant and of those above it. */
void weir_cohorts_leave(const struct weir_view *view, const struct weir_job *job, int sign,
                        struct weir_amounts *gone);
/* Whether so much more is available to a tenant; resources of which nobody has a quota are. */
bool weir_cohort_has(const struct weir_view *view, const struct weir_cohort *cohorts,
                     uint32_t number, const struct weir_amounts *more);
void weir_cohort_available(const struct weir_view *view, const struct weir_cohort *cohorts,
                           uint32_t number, double available[COHORT_RESOURCES]);
/* With so much more; resources of which the cohort has no quota are left out. */
double weir_cohort_share(const struct weir_view *view, const struct weir_cohort *cohorts,
                         uint32_t number, const struct weir_amounts *more);

#endif
