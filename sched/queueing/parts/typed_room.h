/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is free from when on of the GPUs that some jobs insist on: a profile for each set of
 * accepted types that a waiting job asks for, beside that of all GPUs.
 *
 * A job that takes any GPU may get one of these types, nobody knows before: it counts in the
 * profile of all alone until it runs, and then as what it holds. So that it takes nobody's
 * reservation it is started on other types when one of these has too little left for as long as it
 * runs. Where no job insists on a type there is no profile and nothing costs anything. To draw one
 * costs O(GPUs + workers).
 */
#ifndef SCHED_QUEUEING_TYPED_ROOM_H
#define SCHED_QUEUEING_TYPED_ROOM_H

#include "sched/queueing/parts/profile.h"

#include "weir/job.h"

struct weir_typed_profile {
    uint32_t accepted; /* weir_shape.gpu_type */
    struct weir_profile profile;
};

struct weir_typed_room {
    struct weir_allocator allocator;
    struct weir_typed_profile *all;
    uint32_t count, capacity;
    uint32_t types; /* that there are, bit i for type i, when it was drawn last */
};

/* What a reservation takes of them. */
struct weir_typed_need {
    uint32_t place; /* of the profile + 1; 0 = it takes any GPU, or none */
    int64_t gpu_units;
};

void weir_typed_open(struct weir_typed_room *room, const struct weir_allocator *allocator);
void weir_typed_close(struct weir_typed_room *room);
/* No profile is left, and no need that was found is worth anything. */
void weir_typed_forget(struct weir_typed_room *room);
/* Whether there is a profile for what the job insists on; *need says which. The first set of types
 * that one of its rank groups names. */
bool weir_typed_find_need(const struct weir_typed_room *room, const struct weir_job *job,
                          struct weir_typed_need *need);
/* Makes the profile, empty until it is drawn. WEIR_ENOMEM. */
weir_status weir_typed_add_need(struct weir_typed_room *room, const struct weir_job *job);
/* All of them from the cluster and what its jobs hold until they are expected to end. */
weir_status weir_typed_draw(struct weir_typed_room *room, const struct weir_view *view,
                            const struct weir_cluster *cluster);
void weir_typed_advance(struct weir_typed_room *room, int64_t now_ns);
/* So much more (less, when negative) in [from, to). */
weir_status weir_typed_change(struct weir_typed_room *room, const struct weir_typed_need *need,
                              int64_t from_ns, int64_t to_ns, int sign);
/* Starts a job that runs so long, off the types that others have too little of. Errors: as
 * weir_placer_start_job; WEIR_EBUSY when it would have to take what is reserved. */
weir_status weir_typed_start(const struct weir_typed_room *room, struct weir_placer *placer,
                             const struct weir_job *job, int64_t now_ns, struct weir_error *error);
/* The first instant from `from` on at which it is free that long. */
int64_t weir_typed_find(const struct weir_typed_room *room, const struct weir_typed_need *need,
                        int64_t from_ns, int64_t duration_ns);

#endif
