/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom the policy "cohorts" preempts, as Kueue's fair sharing does (preemption.go, ordering.go).
 *
 * Candidates are running jobs of other tenants that borrow, at the level where they part from the
 * one of the waiting job: the least urgent first, then the newest. The next victim is of the branch
 * with the largest share. It goes when the waiting job stays within its quota, or when with it its
 * branch has no more than the victim's has without the victim; of those that are passed over, one a
 * branch also goes when that is less than the branch had before. Who is not needed after all stays.
 * Either there is quota and room for the job in the end, or nobody goes.
 */
#ifndef SCHED_QUEUEING_COHORT_PREEMPT_H
#define SCHED_QUEUEING_COHORT_PREEMPT_H

#include "sched/queueing/cohorts.h"

struct weir_cohort_candidate {
    struct weir_job job;
    uint32_t branch; /* its tenant, or the one above it beside that of the waiting job */
    uint32_t state;  /* waits, passed over, goes */
};

struct weir_cohort_claim {
    struct weir_allocator allocator;
    const struct weir_view *view;
    struct weir_placer *placer;
    int64_t grace_ns;          /* 0 = victims stop at once */
    bool is_by_either;         /* the second rule, too */
    bool is_calm;              /* nobody was on his way out, and nobody was told to go since */
    struct weir_amounts *gone; /* by tenant: of jobs that are on their way out */
    struct weir_cohort_candidate *all;
    uint32_t count, capacity, gone_capacity;
};

/* Before a pass. WEIR_ENOMEM. */
weir_status weir_cohort_claim_begin(struct weir_cohort_claim *claim, const struct weir_view *view,
                                    struct weir_placer *placer);
void weir_cohort_claim_close(struct weir_cohort_claim *claim);
/* WEIR_OK: the plan preempts some, and the job fits; `cohorts` is counted anew. WEIR_EBUSY: nobody
 * goes. With a grace WEIR_EBUSY when some are warned: the job fits once they have gone. */
weir_status weir_cohort_preempt(struct weir_cohort_claim *claim, const struct weir_job *job,
                                struct weir_cohort *cohorts, struct weir_error *error);

#endif
