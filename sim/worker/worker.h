/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The worker: the only thing that ever holds a device.
 *
 * State machine (one set_state asserts the edge and reports it to the meter):
 *
 *   GONE    -> SETUP                  placed
 *   SETUP   -> IDLE | GONE            ready | stopped, set-up failed, node lost
 *   IDLE    -> BUSY | BLOCKED | GONE  takes work | waits for an answer | stopped, crashed, lost
 *   BUSY    -> IDLE | BLOCKED | GONE  work over | must wait (output, barrier) | stopped, lost
 *   BLOCKED -> IDLE | BUSY | GONE     output handed over | goes on | stopped, crashed, lost
 *
 * A worker knows its owner and its timers, not what it works on: that hangs off `work` and is the
 * driver's. Workers live in one set; a slot is reused after the end of a life, so events carry slot
 * and id.
 *
 * A worker may have several places (SPMD on several nodes): one worker with a lease on every node,
 * which all change state together. Every place has an id of its own, and each of them finds the
 * worker; a group is counted once, its devices and its rows in the database are per place. Ranks
 * that may differ, or wait for one another, are workers of their own.
 */
#ifndef SIM_WORKER_WORKER_H
#define SIM_WORKER_WORKER_H

#include "sim/scenario/scenario.h"
#include "sim/worker/context.h"
#include "weir/cluster.h"
#include "weir/shape.h"

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
struct sim_places {
    const struct sim_place *items;
    uint32_t count;
};

struct sim_workers; /* all living workers of a run */

struct sim_worker {
    uint32_t slot;      /* its own place in the set; first, as the slab wants it */
    uint16_t driver;    /* whose events and calls it gets; a kind of event has 8 bits for it */
    uint8_t state;      /* enum sim_worker_state */
    bool rests : 1;     /* BUSY, and uses none of its devices: it waits for bytes */
    bool is_killed : 1; /* its process does not end by itself: what it leaves is reaped */
    struct weir_owner owner;
    void *work;         /* the driver's record of it */
    uint32_t gpu_type;  /* of its first device, WEIR_NO_INDEX = none */
    uint32_t node;      /* of its first place */
    uint32_t places;    /* how many */
    uint32_t job_class; /* of a rank, as the meter knows it */
    sim_handle timer;   /* end of set-up */
    sim_handle crash;
    int64_t created_ns, ready_ns; /* -1 = never yet */
    int64_t since_ns;             /* when it entered its state */
    int64_t busy_ns;              /* up to the last time it left BUSY */
    uint32_t tasks;               /* that ended; the driver counts */
    float share;                  /* of what it uses of its devices while BUSY, that it gets */
    int64_t work_bytes;           /* input in its memory while BUSY; memory.c */
    int64_t gpu_bytes;            /* of each of its GPUs, beside what it is */
};

weir_status sim_workers_create(struct sim_context *context, struct sim_workers **workers);
void sim_workers_destroy(struct sim_workers *workers);
/* The id of its first place. */
uint64_t sim_worker_id(const struct sim_worker *worker);
uint32_t sim_workers_alive(const struct sim_workers *workers);
/* The living worker one of whose places has this id, or NULL. O(1); memory does not grow with the
 * ids given. */
struct sim_worker *sim_workers_find(const struct sim_workers *workers, uint64_t id);
/* Fetches that worker and its node: it will end before long. */
void sim_workers_foresee(const struct sim_workers *workers, uint64_t id, uint32_t node);
/* Fetches the node: somebody will begin there. */
void sim_workers_foresee_node(const struct sim_workers *workers, uint32_t node);
/* The living worker an event of a worker means, or NULL. */
struct sim_worker *sim_workers_of_event(const struct sim_workers *workers,
                                        const struct sim_event *event);
/* Ids of those with a place on the node (gpu WEIR_NO_INDEX), or on one GPU of it, ordered by owner,
 * then by age; *ids is the caller's to free. Costs what is on the node. */
weir_status sim_workers_on_node(const struct sim_workers *workers, uint32_t node, uint32_t gpu,
                                uint64_t **ids, uint32_t *count);
/* Calls `visit` for all living workers, in the order of their slots. */
weir_status sim_workers_each(const struct sim_workers *workers,
                             weir_status (*visit)(void *state, struct sim_worker *worker),
                             void *state);

/* What a new worker is. */
struct sim_worker_start {
    struct weir_owner owner;
    uint32_t driver;
    uint32_t job_class;            /* of a rank, as the meter knows it */
    uint32_t tenant;               /* of a rank, counted from 1; 0 = nobody's */
    const struct weir_shape *uses; /* what each of its places really takes */
    const struct sim_memory_traffic
        *traffic;  /* and of the memory system of each GPU; NULL = nothing */
    bool is_apart; /* what it works at, others work at too */
    struct sim_places places;
};
/* Takes the leases of all its places or of none: then *worker is NULL and *reason says why the
 * truth refuses it. State GONE until sim_worker_set_state. WEIR_EDUPLICATE: an id lives already. */
weir_status sim_worker_start(struct sim_workers *workers, const struct sim_worker_start *start,
                             struct sim_worker **worker, uint32_t *reason);
/* Takes a worker back that was started and has not changed state: as if it had never been. */
void sim_worker_withdraw(struct sim_workers *workers, struct sim_worker *worker);

/* Place `index` of a worker; index 0 is the worker's own. */
struct sim_place sim_worker_place(const struct sim_worker *worker, uint32_t index);
uint64_t sim_worker_place_id(const struct sim_worker *worker, uint32_t index);

/* What the instance of its first place has of the GPU; all of it when it is on none. */
struct sim_gpu_part sim_worker_part(const struct sim_workers *workers,
                                    const struct sim_worker *worker);

/* Moves along a legal edge, at the engine's time. */
void sim_worker_set_state(struct sim_workers *workers, struct sim_worker *worker,
                          enum sim_worker_state state);
/* Set-up is over, or the worker dies, so much later (sim_time_from_s of infinity = never): the
 * world then calls the driver's ready or stop. */
void sim_worker_set_up(struct sim_workers *workers, struct sim_worker *worker, int64_t delay_ns);
void sim_worker_arm_crash(struct sim_workers *workers, struct sim_worker *worker, int64_t delay_ns);

/* work.c: a worker works. It is BUSY. Work of `alone_ns` on a device of speed 1 goes on `speed`
 * times as fast as that, less what it shares and what is slow; `owner` as in driver.h comes back at
 * its end. */
weir_status sim_worker_begin(struct sim_workers *workers, const struct sim_worker *worker,
                             int64_t alone_ns, double speed, uint64_t owner, sim_handle *work);
/* The rate of its work as things are now; speed 0: it stands still. */
weir_status sim_worker_pace(const struct sim_workers *workers, const struct sim_worker *worker,
                            sim_handle work, double speed);
/* A worker that is apart begins to work at what has a rate elsewhere: others on its GPUs notice. */
weir_status sim_worker_stand_in(struct sim_workers *workers, const struct sim_worker *worker);

/* memory.c: whether memory of nodes is looked at in time, or only when a worker starts. */
bool sim_workers_memory_is_timed(const struct sim_workers *workers);
/* It has the bytes of a task in hand, until it is no longer BUSY. */
void sim_worker_take_bytes(struct sim_workers *workers, struct sim_worker *worker, double bytes);
/* Its work takes so many bytes more on each of its GPUs, if all have them (memory.h). What an
 * attempt does takes it anew at every step where it `steps` and its tenant lets it. Whoever goes
 * gives back what he has. */
struct sim_gpu_grant {
    bool is_taken;
    bool is_scattered; /* not taken: there are so many free, but not in one piece */
};
weir_status sim_worker_take_gpu_bytes(struct sim_workers *workers, struct sim_worker *worker,
                                      int64_t bytes, bool steps, struct sim_gpu_grant *grant);
/* Counts and records that what it `asked` for ("s: worker 3: 4 GB for a task") was not granted;
 * `plainly` says why where so much was not free. */
weir_status sim_worker_note_short(const struct sim_workers *workers,
                                  const struct sim_worker *worker, const char *asked,
                                  const struct sim_gpu_grant *grant, const char *plainly);
void sim_worker_give_gpu_bytes(struct sim_workers *workers, struct sim_worker *worker,
                               int64_t bytes);
/* So many bytes come to lie on a node for others, or leave it (negative). */
void sim_workers_store(struct sim_workers *workers, uint32_t node, double bytes);
/* What workers have in hand is what the nodes count. */
weir_status sim_workers_check_memory(const struct sim_workers *workers, struct weir_error *error);
/* What it has of the memory of a node. */
int64_t sim_worker_memory(const struct sim_worker *worker, uint32_t node);
/* What it has of the memory of its GPUs. */
int64_t sim_worker_gpu_memory(const struct sim_worker *worker);
/* A BUSY worker waits for bytes, and uses nothing of what it holds, or goes on to work: before it
 * begins. Others on its devices notice. */
void sim_worker_rest(struct sim_workers *workers, struct sim_worker *worker, bool rests);

/* How much longer than alone on a normal node its work takes as things are now: contention on its
 * devices, turns, slow nodes; places wait for one another, so the slowest decides. >= 1 but for
 * nodes that were made faster. */
double sim_worker_slowdown(const struct sim_workers *workers, const struct sim_worker *worker);

/* From now on it is noted whose slow-down changes while he works: those on a device that was or is
 * asked for more than it has, or is shared in turns, when somebody on it begins, ends, comes or
 * goes. Nodes are noted by sim_workers_node_paced. */
void sim_workers_watch_pace(struct sim_workers *workers);
void sim_workers_node_paced(struct sim_workers *workers, uint32_t node);
/* Whether somebody was noted since the last visit. */
bool sim_workers_are_paced(const struct sim_workers *workers);
/* Finds anew what those noted get of their devices, and visits those of them that work, some more
 * than once. Costs the workers on the nodes where it was. */
weir_status sim_workers_each_paced(struct sim_workers *workers,
                                   weir_status (*visit)(void *state, struct sim_worker *worker),
                                   void *state);

/* No device gives more than it has to those who work on it: for tests, when pace is watched. */
weir_status sim_workers_check(const struct sim_workers *workers, struct weir_error *error);

/* The GPU, which nobody holds, is cut anew. */
weir_status sim_workers_cut(struct sim_workers *workers, uint32_t node, uint32_t gpu,
                            weir_mig_layout layout);

/* Ends a life: cancels its events, gives the devices back, writes its rows, frees the slot. */
weir_status sim_worker_release(struct sim_workers *workers, struct sim_worker *worker,
                               const char *text);
/* Writes the rows of a worker that lives at the end of the run. */
weir_status sim_worker_record(const struct sim_workers *workers, const struct sim_worker *worker);

#endif
