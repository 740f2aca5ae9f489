/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reservations a host keeps (weir/reservation.h), and which nodes they close to whom.
 *
 * During a decision every node of a reservation that is not over is cordoned on the scratch; for
 * the placement of one job those are opened that the job may use, and closed again behind it. So
 * policies, indices of rooms and placement groups know nothing of reservations.
 *
 * Invariant: between begin and end of a decision `closings[n]` is how many reservations close node
 * n to the job that is placed, or to everybody when none is; a node that was up and open when the
 * decision began is cordoned exactly while that is not 0.
 * Cost: nothing without reservations; O(reservations + their nodes) a decision and a job placed.
 */
#ifndef SCHED_HOST_RESERVATIONS_H
#define SCHED_HOST_RESERVATIONS_H

#include "weir/reservation.h"

struct weir_jobs;

struct weir_reservation_entry {
    char *name;
    int64_t start_ns, end_ns;
    uint32_t tenant, node_limit, gpu_limit, gpu_type;
    uint32_t *nodes; /* ascending */
    uint32_t count, capacity;
};

struct weir_reservations {
    struct weir_reservation_entry *all; /* number - 1 */
    uint32_t count, capacity;
    uint32_t *closings; /* by node */
    uint8_t *is_kept;   /* by node: a reservation cordoned it */
    uint8_t *is_waived; /* by reservation: it lets the job pass that is placed */
    uint32_t node_capacity, kept_capacity, waived_capacity;
    uint32_t node_count; /* of the decision; 0 = outside of one, or there is nothing to keep */
    int64_t next_ns;     /* the next begin or end of one, INT64_MAX = none */
    bool is_asked;       /* a call was asked for then */
};

/* What is asked about: a job, to start then. */
struct weir_reserved_question {
    struct weir_jobs *jobs;
    struct weir_cluster *scratch;
    uint32_t record;
    int64_t now_ns; /* of the decision */
    int64_t at_ns;
};

void weir_reservations_close(struct weir_reservations *reservations,
                             const struct weir_allocator *allocator);
/* The first begin or end after this time. */
int64_t weir_reservations_next(const struct weir_reservations *reservations, int64_t after_ns);
/* The next begin or end is the first after this time; whether nobody was asked to call then. */
void weir_reservations_look_ahead(struct weir_reservations *reservations, int64_t after_ns);
bool weir_reservations_must_wake(const struct weir_reservations *reservations);
/* Chooses nodes for those that lack some. */
weir_status weir_reservations_choose(struct weir_jobs *jobs, const struct weir_cluster *cluster,
                                     int64_t now_ns);
/* A decision begins, its scratch lent: nodes are cordoned. */
weir_status weir_reservations_begin(struct weir_jobs *jobs, struct weir_cluster *scratch,
                                    int64_t now_ns);
/* Those nodes are open again, as before. */
weir_status weir_reservations_end(struct weir_reservations *reservations,
                                  struct weir_cluster *scratch);
/* One more of its nodes. */
weir_status weir_reservation_take_node(struct weir_reservation_entry *entry,
                                       const struct weir_allocator *allocator, uint32_t node);
/* Opens what the job may use; *blocked_ns = the first begin of those that keep it out, INT64_MAX =
 * none does. Then closes it again. */
weir_status weir_reservations_let(const struct weir_reserved_question *asked, int64_t *blocked_ns);
weir_status weir_reservations_bar(const struct weir_reserved_question *asked);
/* As far as reservations go every node is open, until weir_reservations_bar: to ask what else keeps
 * a job out. */
weir_status weir_reservations_waive(const struct weir_reserved_question *asked);

#endif
