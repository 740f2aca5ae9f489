/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Licences: things of which the whole cluster has so many and that stand on no node, as Slurm's
 * licences and Ray's custom resources: seats of a program, connections to a store.
 *
 * A job says how many of each it takes (weir_job_spec.licences), whatever its ranks; it holds them
 * from its start to its end, and one that is preempted gives them back when it is gone. Whatever
 * the queueing policy, a job waits with WEIR_REASON_CUSTOM_LIMIT while too few are left, and with
 * WEIR_REASON_PRIO_THRESHOLD, for good, when its priority is below the threshold of one that it
 * takes. Who waits so is in nobody's way, as at a limit of its tenant, and nothing is reserved for
 * it: places that it could have had go to others. A plan that would hold more than there are is
 * rejected.
 */
#ifndef WEIR_LICENCE_H
#define WEIR_LICENCE_H

#include "weir/job.h"

WEIR_BEGIN_DECLS

struct weir_host; /* weir/host.h */

#define WEIR_NO_THRESHOLD INT32_MIN

struct weir_licence_spec {
    uint32_t size;  /* sizeof */
    uint32_t limit; /* how many there are */
    const char *name;
    int32_t priority_threshold; /* only jobs of at least this priority take any */
    uint32_t reserved;
};

/* *number counts from 0, as in weir_job_spec.licences. Before the first job. Errors: WEIR_EINVAL
 * (no name), WEIR_EDUPLICATE (the name), WEIR_ERANGE (more than WEIR_MAX_LICENCES), WEIR_EBUSY
 * (jobs came before). */
WEIR_API weir_status weir_host_add_licence(struct weir_host *host,
                                           const struct weir_licence_spec *licence,
                                           uint32_t *number, struct weir_error *error);

/* A licence as a policy sees it. */
struct weir_licence {
    uint32_t size; /* set by the caller */
    uint32_t number, limit;
    uint32_t used; /* by jobs that start or run */
    const char *name;
    int32_t priority_threshold;
    uint32_t reserved;
};

WEIR_API uint32_t weir_view_licences(const struct weir_view *view);
/* False when there is none of this number. */
WEIR_API bool weir_view_licence(const struct weir_view *view, uint32_t number,
                                struct weir_licence *licence);

WEIR_END_DECLS

#endif
