/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reservations in advance: nodes that are somebody's from one time to another.
 *
 * The host chooses the nodes when it first decides after it was told, those that are free by then
 * if estimates hold first, and others in the place of nodes that go down. From then on no job is
 * placed on them that could still run when the reservation begins (one without an estimate always
 * could), and no worker of a pool. While it lasts only the jobs of its owner are placed there:
 * those of its tenant and the tenants below it, and those that name it (weir_job_spec.reservation).
 * Who owns it may use other nodes, too. What runs on beyond its estimate is not stopped.
 *
 * Whatever the queueing policy, the placer keeps to this; a job that finds no place for that alone
 * is denied with WEIR_REASON_RESERVED. The plan asks for a decision (WAKE) at both ends.
 */
#ifndef WEIR_RESERVATION_H
#define WEIR_RESERVATION_H

#include "weir/tenant.h"

WEIR_BEGIN_DECLS

enum { WEIR_MAX_RESERVATIONS = 1 << 12 };

/* As told. Whole nodes: so many, or as many as it takes to have so many GPUs. */
struct weir_reservation_spec {
    uint32_t size;   /* sizeof */
    uint32_t tenant; /* whose jobs may use it; 0 = only jobs that name it */
    const char *name;
    int64_t start_ns, end_ns;
    uint32_t nodes;    /* 0 = by GPUs */
    uint32_t gpus;     /* 0 = by nodes */
    uint32_t gpu_type; /* nodes with such GPUs alone, as weir_shape.gpu_type; 0 = any nodes */
    uint32_t held_count;
    const uint32_t *held; /* nodes that it has already, of a host that goes on elsewhere */
};

/* *number counts from 1. Errors: WEIR_EINVAL (no name, no length, neither or both of nodes and
 * GPUs), WEIR_EDUPLICATE (the name), WEIR_ENOTFOUND (the tenant, a node), WEIR_ERANGE (too many).
 */
WEIR_API weir_status weir_host_add_reservation(struct weir_host *host,
                                               const struct weir_reservation_spec *reservation,
                                               uint32_t *number, struct weir_error *error);

/* A reservation as a policy sees it. */
struct weir_reservation {
    uint32_t size; /* set by the caller */
    uint32_t number, tenant;
    uint32_t node_count; /* that it has: fewer than it asks for when there are not so many */
    const char *name;
    int64_t start_ns, end_ns;
    const uint32_t *nodes; /* indices, ascending; valid during the decision */
};

WEIR_API uint32_t weir_view_reservations(const struct weir_view *view);
/* Counted from 1; false when there is none of this number. */
WEIR_API bool weir_view_reservation(const struct weir_view *view, uint32_t number,
                                    struct weir_reservation *reservation);
/* The first time after this one at which a reservation begins or ends; INT64_MAX = never. */
WEIR_API int64_t weir_view_next_boundary(const struct weir_view *view, int64_t after_ns);
/* For `pass`: what is asked about jobs from now on is meant as if they started at this time, which
 * decides what reservations are in their way. Starts are always now. 0 = now. */
WEIR_API void weir_placer_at(struct weir_placer *placer, int64_t at_ns);

WEIR_END_DECLS

#endif
