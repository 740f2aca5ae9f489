/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair queueing by virtual time: every tenant is a flow beside its siblings.
 *
 * A job of cost c in a flow of weight w begins at S = max(v, F) and ends at F' = S + c/w in the
 * virtual time of the level, where F is the end of the flow's job before and v the begin of the job
 * of the level that was started last. So a flow that was idle gets no credit for it, and when
 * nobody waits or runs v is the largest F. (Goyal, Vin, Cheng: Start-time fair queueing, 1996; on
 * several servers SFQ(D), Jin, Chase, Kaur 2004.)
 *
 * What a job costs is taken out of the bucket of its flow first, and only the rest moves F: a burst
 * within the bucket leaves the order of the flows as it was.
 */
#ifndef SCHED_QUEUEING_FLOWS_H
#define SCHED_QUEUEING_FLOWS_H

#include "sched/queueing/parts/by_tenant.h"

struct weir_flow {
    double finish;  /* F of its latest job */
    double virtual; /* v of its children */
    double is_backlogged;
    double spent, since_s; /* of its bucket, as of then */
};

struct weir_flows {
    struct weir_allocator allocator;
    struct weir_flow *all; /* by number of the tenant */
    uint32_t count, capacity;
    bool is_by_start;   /* the least S is next, not the least F' */
    bool is_by_arrival; /* of equal flows the one whose job came first */
    bool is_blocking;
    double unknown_s; /* estimate of jobs that have none */
    double burst;     /* every tenant has a bucket of so much cost that it is not charged ... */
    double refill;    /* ... and gets back so much a second */
    /* What a job costs, and the weight of a tenant. */
    double (*cost)(const struct weir_flows *flows, const struct weir_job *job);
    double (*weight)(const struct weir_view *view, const struct weir_tenant *tenant,
                     const struct weir_job *job);
};

weir_status weir_flows_create(const struct weir_flows *made, const struct weir_allocator *allocator,
                              void **state, struct weir_error *error);
void weir_flows_destroy(void *state);
weir_status weir_flows_pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                            struct weir_plan *plan, struct weir_error *error);
uint32_t weir_flows_save(const void *state, double *numbers, uint32_t capacity);
weir_status weir_flows_restore(void *state, const struct weir_view *view, const double *numbers,
                               uint32_t count, struct weir_error *error);

#endif
