/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a gang on nodes that answer for themselves: reserve everywhere, then commit, or nothing.
 *
 *   gang:  PREPARE to all nodes at once --all YES--> COMMIT to all --all DONE--> runs
 *             |  a NO, the time over,                  |  EXPIRED, a node lost
 *             v  a node lost                           v
 *          ABORT to all; again after backoff x (1 + rank of the gang)
 *   node:  room: reserves for the lease, YES; else NO at once. It never waits for anybody, so two
 *          gangs that each have a half cannot wait for each other. COMMIT within the lease: DONE,
 *          the slots are the gang's; after it: EXPIRED. Whatever was aborted is remembered: a
 *          PREPARE that comes later than its own ABORT gets NO.
 *
 * Both sides know no clock and no network: the caller carries messages and says the time. Messages
 * that arrive at one instant are to be given to a node in the order ABORT, COMMIT, PREPARE, which
 * is that of their numbers. Nothing is held longer than the lease by a gang that nobody hears of
 * any more. From 2.3 on.
 */
#ifndef WEIR_COMMIT_H
#define WEIR_COMMIT_H

#include "weir/cluster.h"

WEIR_BEGIN_DECLS

enum weir_commit_verb {
    WEIR_COMMIT_ABORT,   /* to a node */
    WEIR_COMMIT_COMMIT,  /* to a node */
    WEIR_COMMIT_PREPARE, /* to a node */
    WEIR_COMMIT_YES,     /* from a node, as all that follow */
    WEIR_COMMIT_NO,
    WEIR_COMMIT_DONE,
    WEIR_COMMIT_EXPIRED
};

struct weir_commit_message {
    uint32_t verb; /* enum weir_commit_verb */
    uint32_t node; /* to or from whom, a number of the caller */
    uint64_t gang;
    uint32_t attempt; /* of the gang, counted from 1 */
    uint32_t slots;   /* PREPARE: asked for */
};

struct weir_commit_config {
    uint32_t size; /* sizeof */
    uint32_t reserved;
    int64_t prepare_ns; /* for all answers to PREPARE */
    int64_t lease_ns;   /* of a reservation: at least prepare_ns + 2 max_delay_ns */
    int64_t backoff_ns;
    int64_t max_delay_ns; /* of a message */
};
/* WEIR_EINVAL says what contradicts what. */
WEIR_API weir_status weir_commit_check(const struct weir_commit_config *config,
                                       struct weir_error *error);

/* ---- the side of the gang ---- */

enum weir_commit_state {
    WEIR_COMMIT_IDLE,
    WEIR_COMMIT_PREPARING,
    WEIR_COMMIT_COMMITTING, /* all said YES */
    WEIR_COMMIT_RUNNING,
    WEIR_COMMIT_ABORTED
};

struct weir_commit_gang;

/* `allocator` NULL = malloc and free. Errors: those of weir_commit_check, WEIR_ENOMEM. */
WEIR_API weir_status weir_commit_gang_create(const struct weir_commit_config *config, uint64_t id,
                                             const struct weir_allocator *allocator,
                                             struct weir_commit_gang **gang,
                                             struct weir_error *error);
WEIR_API void weir_commit_gang_destroy(struct weir_commit_gang *gang);
/* A new attempt: so many slots of each of these nodes. WEIR_EINVAL unless it is idle or aborted,
 * or without a node; WEIR_ENOMEM. */
WEIR_API weir_status weir_commit_gang_begin(struct weir_commit_gang *gang, const uint32_t *nodes,
                                            uint32_t count, uint32_t slots, int64_t now_ns);
/* What a node said; what belongs to another attempt is passed over. */
WEIR_API void weir_commit_gang_hear(struct weir_commit_gang *gang,
                                    const struct weir_commit_message *message, int64_t now_ns);
/* One of its nodes is gone. Of a gang that runs nothing happens: its job hears of it otherwise. */
WEIR_API void weir_commit_gang_lost(struct weir_commit_gang *gang, uint32_t node, int64_t now_ns);
/* The time; it aborts when its own is over. */
WEIR_API void weir_commit_gang_time(struct weir_commit_gang *gang, int64_t now_ns);
/* When the time is to be said next; INT64_MAX = it waits for nothing. */
WEIR_API int64_t weir_commit_gang_next_ns(const struct weir_commit_gang *gang);
/* The next message to be sent, each once. False when there is none. */
WEIR_API bool weir_commit_gang_send(struct weir_commit_gang *gang,
                                    struct weir_commit_message *message);
WEIR_API uint32_t weir_commit_gang_state(const struct weir_commit_gang *gang);
/* Of an aborted one: when to begin again, by its rank among those that try. */
WEIR_API int64_t weir_commit_gang_retry_ns(const struct weir_commit_gang *gang, uint32_t rank);

/* ---- the side of a node ---- */

struct weir_commit_node;

WEIR_API weir_status weir_commit_node_create(const struct weir_commit_config *config,
                                             uint32_t slots, const struct weir_allocator *allocator,
                                             struct weir_commit_node **node,
                                             struct weir_error *error);
WEIR_API void weir_commit_node_destroy(struct weir_commit_node *node);
/* False: there is nothing to answer. WEIR_ENOMEM inside answers NO. */
WEIR_API bool weir_commit_node_hear(struct weir_commit_node *node,
                                    const struct weir_commit_message *message, int64_t now_ns,
                                    struct weir_commit_message *answer);
/* Gives back what leases hold that are over. */
WEIR_API void weir_commit_node_time(struct weir_commit_node *node, int64_t now_ns);
WEIR_API int64_t weir_commit_node_next_ns(const struct weir_commit_node *node);
/* A gang that ran here has ended. */
WEIR_API void weir_commit_node_release(struct weir_commit_node *node, uint64_t gang);
WEIR_API uint32_t weir_commit_node_free(const struct weir_commit_node *node);

WEIR_END_DECLS

#endif
