/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places of workers: the lease on one node, found by its id and by its node. Private to sim/worker.
 *
 * Invariant: a hold that lives is in the table of ids once and in the list of its node once; lists
 * are in the order in which places were taken. Memory grows with what lives, not with the ids.
 */
#ifndef SIM_WORKER_HOLD_H
#define SIM_WORKER_HOLD_H

#include "sim/cluster/cluster.h"
#include "sim/worker/worker.h"

struct sim_hold {
    uint64_t id;
    struct sim_worker *worker;
    struct sim_hold *next;           /* of the same worker */
    struct sim_hold *before, *after; /* on its node */
    struct sim_lease lease;
    struct sim_part parts[]; /* of the lease */
};

struct node_holds {
    struct sim_hold *first, *last;
    uint64_t changed_gpus; /* whose users go at another pace; all bits = the node's; see pace.c */
    uint32_t next_changed; /* node + 1, in the list of those with changed_gpus */
};

/* Open addressing with linear probing; at most half full. */
struct hold_table {
    struct sim_hold **slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
};

struct sim_workers {
    struct sim_context *context;
    struct sim_worker **slots; /* stable addresses */
    uint32_t *free_slots;
    uint32_t capacity, used, free_count, alive;
    struct hold_table table;
    struct node_holds *on_node;
    uint32_t node_count;
    uint32_t first_changed; /* node + 1 */
    bool is_watched;
};

struct sim_hold *sim_hold_find(const struct hold_table *table, uint64_t id);
/* Room for one more. */
weir_status sim_hold_reserve(struct hold_table *table);
/* A place was taken: the table (with room for it) and the list of its node know it from now on. */
void sim_hold_enter(struct sim_workers *workers, struct sim_hold *hold);
void sim_hold_leave(struct sim_workers *workers, struct sim_hold *hold);

/* pace.c: somebody begins, ends, comes or goes there. */
void sim_hold_note_pace(struct sim_workers *workers, const struct sim_hold *hold);

#endif
