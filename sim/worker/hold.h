/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places of workers: the lease on one node, found by its id and by its node. Private to sim/worker.
 *
 * Invariant: a hold that lives is in the table of ids once and in the list of its node once; lists
 * are in the order in which places were taken. Equal claims of holds are kept once (claim.c).
 * Memory grows with what lives, not with the ids.
 */
#ifndef SIM_WORKER_HOLD_H
#define SIM_WORKER_HOLD_H

#include "sim/cluster/cluster.h"
#include "sim/engine/slab.h"
#include "sim/worker/worker.h"

struct sim_hold {
    uint64_t id; /* first: its key */
    struct sim_worker *worker;
    struct sim_hold *next;           /* of the same worker */
    struct sim_hold *before, *after; /* on its node */
    struct sim_lease lease;
};

/* What a slot of the set is: a worker with its first place. */
struct worker_record {
    struct sim_worker worker;
    struct sim_hold first;
};
static inline struct sim_hold *sim_first_hold(struct sim_worker *worker)
{
    return &((struct worker_record *)(void *)worker)->first;
}
static inline const struct sim_hold *sim_first_of(const struct sim_worker *worker)
{
    return &((const struct worker_record *)(const void *)worker)->first;
}

struct node_holds {
    struct sim_hold *first, *last;
    uint64_t changed_gpus; /* whose users go at another pace; all bits = the node's; see pace.c */
    uint32_t next_changed; /* node + 1, in the list of those with changed_gpus */
};

/* Things that begin with their key, by key. Open addressing with linear probing; at most four
 * fifths full. The key stands in the slot too, so that a search touches only what it finds. */
struct key_slot {
    uint64_t key;
    uint64_t *thing; /* NULL = empty */
};
struct key_table {
    struct key_slot *slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
};

struct sim_workers {
    struct sim_context *context;
    struct sim_slab records; /* struct worker_record */
    uint32_t alive;
    struct key_table holds;                  /* by id */
    struct key_table claims;                 /* by hash of what they say */
    const struct sim_claim *recent[64];      /* found or made lately, by amounts; NULL = none */
    struct key_table stand_ins;              /* by place; see work.c */
    struct sim_claim fresh;                  /* of the place that is being taken */
    struct sim_part parts[WEIR_MAX_DEVICES]; /* of it */
    struct node_holds *on_node;
    uint32_t node_count;
    uint32_t first_changed; /* node + 1 */
    bool is_watched;
    struct node_kept *kept;      /* by node, NULL = nothing yet; see load.c */
    struct sim_loading *loading; /* those that load */
};

/* NULL = it is not there. */
void *sim_key_find(const struct key_table *table, uint64_t key);
/* Room for one more. */
weir_status sim_key_reserve(struct key_table *table);
/* A key that is not there, into a table with room for it; one that is there. */
void sim_key_add(struct key_table *table, uint64_t *key);
void sim_key_remove(struct key_table *table, uint64_t key);

/* work.c: it works no more. */
void sim_hold_stand_no_more(struct sim_workers *workers, const struct sim_hold *hold);

/* load.c: it goes, and reads no more; the end of all. */
weir_status sim_worker_drop_loads(struct sim_workers *workers, const struct sim_worker *worker);
void sim_workers_clear_loads(struct sim_workers *workers);

/* worker.c: what a worker gets of its devices as things are now; tells the meter. */
void sim_worker_find_share(struct sim_workers *workers, struct sim_worker *worker);

/* pace.c: the users of these GPUs (all bits = of the node) go at another pace. */
void sim_workers_note_pace(struct sim_workers *workers, uint32_t node, uint64_t gpus);
/* A place was taken: the table (with room for it) and the list of its node know it from now on. */
void sim_hold_enter(struct sim_workers *workers, struct sim_hold *hold);
void sim_hold_leave(struct sim_workers *workers, struct sim_hold *hold);

/* pace.c: somebody comes to the place or goes: turns there become longer or shorter. */
void sim_hold_note_life(struct sim_workers *workers, const struct sim_hold *hold);
/* claim.c: a kept claim that says what `fresh` does, with one user more, or NULL without memory.
 * The last user to let go of it frees it. */
const struct sim_claim *sim_claim_share(struct sim_workers *workers);
void sim_claim_let_go(struct sim_workers *workers, const struct sim_claim *claim);

#endif
