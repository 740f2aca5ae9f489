/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The worker: the only thing that ever holds a device.
 *
 * State machine (one set_state asserts the edge and reports it to the meter):
 *
 *   GONE    -> SETUP | IDLE           placed (IDLE: adopted, or without set-up)
 *   SETUP   -> IDLE | GONE            ready | stopped, set-up failed, node lost
 *   IDLE    -> BUSY | GONE            takes a task | stopped, crashed, node lost
 *   BUSY    -> IDLE | BLOCKED | GONE  task over | no room for its output | stopped, crashed, lost
 *   BLOCKED -> IDLE | GONE            output handed over | stopped, crashed, lost
 *
 * A worker knows no driver: it holds items by index and leaves their meaning to the caller. Workers
 * live in one pool; a slot is reused after the end of a life, so events carry slot and id.
 *
 * A worker may be a group (SPMD on several nodes): one worker with a place on every node, which all
 * change state together. Every place has an id of its own, and each of them finds the worker; a
 * group is counted once, its devices and its rows in the database are per place.
 */
#ifndef SIM_WORKER_WORKER_H
#define SIM_WORKER_WORKER_H

#include "sim/cluster/cluster.h"
#include "sim/queue/item.h"
#include "sim/worker/context.h"

enum sim_worker_state {
    SIM_WORKER_GONE = SIM_METER_GONE,
    SIM_WORKER_SETUP = SIM_METER_SETUP,
    SIM_WORKER_IDLE = SIM_METER_IDLE,
    SIM_WORKER_BUSY = SIM_METER_BUSY,
    SIM_WORKER_BLOCKED = SIM_METER_BLOCKED
};

/* Where a worker, or one member of a group, is put. */
struct sim_place {
    uint64_t id;
    struct weir_alloc alloc;
};

/* What a member of a group holds, the first one aside. */
struct sim_member {
    uint64_t id;
    struct sim_meter_worker meter;
    struct sim_lease lease;
};

struct sim_worker {
    uint64_t id;
    uint32_t slot;      /* its own place in the pool */
    uint32_t stage;     /* over all pipelines */
    uint32_t position;  /* in its stage's list */
    uint32_t ordinal;   /* how many workers its stage had before it: names its random streams */
    uint16_t state;     /* enum sim_worker_state */
    uint16_t will_fail; /* the attempt that runs will fail at its end */
    uint32_t task_head; /* items in hand, linked; SIM_NO_ITEM = none */
    uint32_t task_count;
    double input_bytes;    /* of the task, as it was taken */
    struct sim_queue held; /* runtime: tasks taken ahead, each headed by an item that counts it */
    uint32_t used_slots;   /* runtime: held, running, and over but not collected */
    uint32_t uncollected;
    uint32_t setup_tries; /* runtime: set-ups of this life that failed */
    int64_t pause_ns;     /* runtime: before the attempt that runs */
    uint32_t deaths;      /* runtime: of it in a row, without a finished task between */
    uint32_t gpu_type;    /* of its first device, WEIR_NO_INDEX = none */
    sim_handle timer;     /* end of set-up or service */
    sim_handle crash;
    int64_t idle_ns; /* since when it is idle, if it is */
    int64_t created_ns, ready_ns, task_start_ns, service_ns, demand_ns;
    int64_t busy_ns;
    uint64_t tasks;
    struct sim_meter_worker meter;
    struct sim_lease lease;
    struct sim_member *others; /* of a group, in the order of the plan */
    uint32_t other_count;
};

struct sim_worker_pool {
    struct sim_worker **slots; /* stable addresses */
    uint32_t *free_slots;
    uint32_t *slot_of_id; /* by id - first id; UINT32_MAX = not alive */
    uint64_t id_capacity;
    uint32_t capacity, used, free_count, alive;
};

weir_status sim_worker_pool_create(struct sim_worker_pool **pool);
void sim_worker_pool_destroy(struct sim_worker_pool *pool);

/* The living worker with this id, or NULL. */
struct sim_worker *sim_worker_find(const struct sim_worker_pool *pool, uint64_t id);

/* Places a worker: `reason` says why the cluster refuses it (then nothing changed and *worker is
 * NULL). State GONE until sim_worker_set_state. */
weir_status sim_worker_place(struct sim_worker_pool *pool, struct sim_context *context, uint64_t id,
                             uint32_t stage, const struct weir_alloc *alloc,
                             const struct weir_shape *uses, struct sim_worker **worker,
                             uint32_t *reason);

/* Adds one more place to a worker that was just placed; refused as sim_worker_place is. */
weir_status sim_worker_join(struct sim_worker_pool *pool, struct sim_context *context,
                            struct sim_worker *worker, const struct sim_place *place,
                            uint32_t *reason);
/* Takes a worker back that was placed and has not changed state: as if it had never been. */
void sim_worker_withdraw(struct sim_worker_pool *pool, struct sim_context *context,
                         struct sim_worker *worker);

/* Member `index` of a worker; index 0 is the worker's own place. */
struct sim_place sim_worker_member(const struct sim_worker *worker, uint32_t index);
bool sim_worker_is_on(const struct sim_worker *worker, uint32_t node);

/* Moves along a legal edge, at the engine's time. Going to GONE keeps the devices: see release. */
void sim_worker_set_state(struct sim_worker *worker, struct sim_context *context,
                          enum sim_worker_state state);

/* Ends a life: cancels its events, gives the devices back, writes its row, frees the slot. The
 * caller took the items out of its hands first. */
weir_status sim_worker_release(struct sim_worker_pool *pool, struct sim_context *context,
                               struct sim_worker *worker, const char *reason);

/* Writes its rows, one a place; `ended_ns` -1 = it lives. */
weir_status sim_worker_record(const struct sim_worker *worker, struct sim_context *context,
                              int64_t ended_ns, const char *reason);

#endif
