/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actor systems: processes that answer calls, those who call them, and the training loop on top.
 *
 * A set is a role, or roles that share a process; each of its processes is an actor, known by its
 * number there. The worker behind an actor comes and goes by plans; the actor, the calls that wait
 * for it and the clients that live in it stay. An actor has at most `concurrency` calls in service,
 * the others wait in their order. What a call computes it computes alone: an actor is one
 * interpreter. It is BUSY while it computes, BLOCKED while it has something in hand that waits (a
 * call in service, a round of its own), and else IDLE.
 *
 *   call:    QUEUED -> TURN -> COMPUTING -> WAITING -> over
 *            (a lost process puts those behind QUEUED back in front, in their order)
 *   client:  AWAY (its process is not there) -> round after round: client.c, rollout.c
 *
 * Nothing here decides: how many processes there are and where is the scheduler's.
 */
#ifndef SIM_ACTORS_ACTORS_H
#define SIM_ACTORS_ACTORS_H

#include "sim/engine/slab.h"
#include "sim/engine/time.h"
#include "sim/record/meter/percentiles.h"
#include "sim/world/driver.h"

enum sim_actors_event {
    SIM_ACTORS_WAITED = 1, /* target: slot of a call */
    SIM_ACTORS_LIMIT,      /* target: slot of a call */
    SIM_ACTORS_CLIENT,     /* target: number of a client */
    SIM_ACTORS_PATIENCE,   /* target: number of a client that waits for weights */
    SIM_ACTORS_TURN,       /* of the training loop */
    SIM_ACTORS_READY_BY,   /* target: set */
    SIM_ACTORS_HEALTH,
    SIM_ACTORS_HEALTH_LIMIT,
    SIM_ACTORS_WARM,
    SIM_ACTORS_OVER,
    SIM_ACTORS_RATE /* target: index of an actor that may take a call in */
};

/* ---- calls ---- */

enum sim_call_state { SIM_CALL_QUEUED, SIM_CALL_TURN, SIM_CALL_COMPUTING, SIM_CALL_WAITING };

/* Who hears that it is over. */
enum sim_call_of { SIM_CALL_OF_CLIENT, SIM_CALL_OF_LOOP, SIM_CALL_OF_HEALTH, SIM_CALL_OF_NOBODY };

struct sim_call {
    uint32_t slot;
    uint8_t state;
    uint8_t of;              /* enum sim_call_of */
    bool is_own;             /* its actor's own work: no call in service, lost with the process */
    uint32_t whose;          /* client, or what the loop asked for */
    struct sim_actor *actor; /* NULL = nobody: time passes */
    struct sim_call *next, *before; /* in the queue of its actor, or among those in service */
    struct sim_call *turn_next;
    int64_t issued_ns, served_ns; /* served: entered service first */
    int64_t work_ns, wait_ns;
    sim_handle timer, limit;
};

struct sim_call_list {
    struct sim_call *first, *last;
    uint32_t count;
};

/* ---- actors ---- */

struct sim_set_run;

struct sim_actor {
    struct sim_set_run *set;
    uint32_t number;           /* in its set */
    uint32_t index;            /* over all of the system */
    struct sim_worker *worker; /* NULL = pending */
    bool is_ready;
    bool was_ready;              /* once at least */
    int64_t wanted_ns;           /* since when it is asked for */
    struct sim_call_list queue;  /* for it */
    struct sim_call_list served; /* in service and its own work, in the order they entered */
    struct sim_call *turn_first, *turn_last; /* of these: wait to compute */
    uint32_t in_service;
    uint32_t rounds;                /* of clients that live in it, under way */
    struct sim_token_bucket tokens; /* of calls that it takes in */
    int64_t token_ns;               /* it looks again then; -1 = it need not */
    struct sim_call *computing;
    sim_handle work;
    int64_t counted_ns; /* up to here its computing was told to the meter */
    uint32_t client_first, client_count;
    uint32_t trajectories; /* that lie in its memory */
    uint64_t calls;        /* this process was at, its own work included */
    bool has_activations;
};

struct sim_set_run {
    const struct sim_actor_set *spec;
    struct sim_actors_run *run;
    uint32_t pool;
    uint32_t position;
    struct sim_actor **actors;
    uint32_t count, capacity; /* actors known so far */
    uint32_t free_from;       /* all before this one have a process */
    uint32_t ready, busy, placed;
    uint32_t placed_most;          /* so many had a place at once */
    uint64_t queued;               /* calls that wait for any of them */
    int64_t environment_most;      /* bytes */
    bool is_told;                  /* that it computes on CPUs */
    int64_t gpu_bytes, host_bytes; /* that a process of it has, as seen last */
    /* measures */
    struct sim_percentiles latency, creation;
    struct sim_gauge in_service, limit, pending;
    double warm_in_service, warm_limit, warm_pending;
    uint32_t queue_most, service_most;
    uint64_t timeouts, calls, repeated;
};

/* ---- clients ---- */

enum sim_client_state {
    SIM_CLIENT_AWAY,
    SIM_CLIENT_ASKING, /* rollout: calls for an item */
    SIM_CLIENT_RESTING,
    SIM_CLIENT_BLOCKED, /* rollout: weights are on their way */
    SIM_CLIENT_THINKING,
    SIM_CLIENT_COMPUTING,
    SIM_CLIENT_HELD, /* rollout: the pool is full */
    SIM_CLIENT_CALLING
};

struct sim_client {
    uint32_t number;
    uint8_t state;
    bool is_rollout;
    bool has_item;      /* counted as in the system */
    uint32_t calls;     /* which of the system's; not of a rollout */
    uint32_t questions; /* of a rollout */
    struct sim_actor *actor;
    struct sim_call *call; /* out there, or its own work */
    uint64_t round;        /* or item */
    int64_t began_ns, queued_ns;
    int64_t rested_ns;
    uint64_t version; /* of the weights */
    sim_handle timer, patience;
};

/* ---- the training loop ---- */

enum sim_loop_state { SIM_LOOP_COLLECTS, SIM_LOOP_TRAINS, SIM_LOOP_SYNCS, SIM_LOOP_VALIDATES };
enum sim_loop_call {
    SIM_LOOP_STEP,
    SIM_LOOP_TRANSFER,
    SIM_LOOP_VALIDATION,
    SIM_LOOP_VALIDATION_ASIDE
};

struct sim_item_back {
    uint64_t item;
    int64_t began_ns;
};

struct sim_trajectory {
    uint64_t version;
    uint32_t actor; /* number in the set of the pool */
};

struct sim_loop {
    uint8_t state;
    bool is_locked; /* rollouts wait for weights */
    bool turn_is_due;
    uint64_t version, rollout_version;
    uint64_t next_item;
    uint64_t left;              /* of the batch, not handed out */
    struct sim_item_back *back; /* of lost processes, handed out first */
    uint32_t back_count, back_capacity;
    struct sim_trajectory *pool; /* what lies there, oldest first */
    uint32_t pool_count, pool_capacity;
    uint32_t out;     /* rollouts under way */
    uint32_t awaited; /* trainers that are at the step */
    uint64_t steps, validations;
    int64_t step_ns, sync_ns; /* when they began */
    /* measures */
    int64_t first_end_ns, last_end_ns;
    double staleness_sum, sync_sum_s;
    uint64_t staleness_max, used, syncs, lost;
    uint32_t coming; /* trajectories on their way to the pool */
    struct sim_gauge working, resting, clients, bytes;
    double warm_working, warm_resting, warm_clients, warm_bytes;
    double bytes_most;
    /* health */
    uint32_t probed, asked, answers; /* actor that is asked, questions to it, answers awaited */
    sim_handle health_limit;
    bool is_probing;
    uint64_t health_failures;
};

struct sim_actors_run {
    const struct sim_actor_system *spec;
    struct sim_driver_config config;
    struct sim_context *context;
    struct sim_random random;
    struct sim_random *roles; /* streams of each role */
    struct sim_set_run *sets;
    struct sim_actor **actors;
    uint32_t actor_count, actor_capacity;
    struct sim_client **clients;
    uint32_t client_count, client_capacity;
    struct sim_slab calls; /* of struct sim_call */
    uint32_t calls_alive;
    struct sim_loop loop;
    int64_t creator_ns; /* when the last environment that began to go out is there */
    uint64_t inside;    /* items under way */
    uint64_t done;
    bool is_over;
    char gave_up[160];
    int64_t gave_up_ns;
    int64_t asked_ns; /* when a plan was asked for last; -1 = never */
};

/* actor.c */
weir_status sim_actors_add_set(struct sim_actors_run *run, uint32_t position);
void sim_actors_clear(struct sim_actors_run *run);
weir_status sim_actor_start(struct sim_set_run *set, const struct sim_start *start,
                            uint32_t *reason);
weir_status sim_actor_ready(struct sim_actor *actor);
weir_status sim_actor_stop(struct sim_actor *actor, enum sim_stop why);
/* Somebody made room: whether a process that had a place lacks one. True once an instant. */
bool sim_actors_want_back(struct sim_actors_run *run);
/* It may serve more: ready, or a call came or went. */
weir_status sim_actor_serve(struct sim_actor *actor);
weir_status sim_actor_computed(struct sim_actor *actor, sim_handle work);
weir_status sim_actor_paced(struct sim_actor *actor);
/* The state of its worker is that of what it has in hand. */
void sim_actor_show(struct sim_actor *actor);
/* The n-th of a role's actors, round and round. */
struct sim_actor *sim_actor_of_role(struct sim_actors_run *run, uint32_t role, uint64_t n);
/* The system ends: no process is needed any more. With a sentence it failed. */
void sim_actors_end(struct sim_actors_run *run, const char *why);
weir_status sim_actors_over(struct sim_actors_run *run);
sim_handle sim_actors_schedule(const struct sim_actors_run *run, int64_t at_ns,
                               enum sim_actors_event kind, uint32_t target);
static inline int64_t sim_actors_now(const struct sim_actors_run *run)
{
    return sim_engine_now(run->context->engine);
}

/* environment.c: bytes that go out to its process, which has its place; whether a variable that it
 * needs is missing, which ends the system. */
int64_t sim_actor_environment(struct sim_actor *actor);
bool sim_actor_lacks_variable(const struct sim_actor *actor);

/* device.c: what its process has in memory changed; what a process of its set has, as it is now; a
 * step is to begin there, which ends the system when its GPU has too little memory. */
void sim_actor_note_memory(struct sim_actor *actor);
void sim_actor_note_devices(struct sim_actor *actor);
weir_status sim_actor_begins_step(struct sim_actor *actor);

/* call.c */
struct sim_call_spec {
    struct sim_actor *actor; /* NULL = nobody */
    double work_s, wait_s;
    int64_t limit_ns; /* INT64_MAX = none */
    enum sim_call_of of;
    uint32_t whose;
    bool is_own;
};
weir_status sim_call_make(struct sim_actors_run *run, const struct sim_call_spec *spec,
                          struct sim_call **call);
/* It enters service: computes, then waits. */
weir_status sim_call_begin(struct sim_call *call);
/* What it computes is done. */
void sim_call_wait(struct sim_actors_run *run, struct sim_call *call);
weir_status sim_call_waited(struct sim_actors_run *run, uint32_t slot);
weir_status sim_call_late(struct sim_actors_run *run, uint32_t slot);
/* Nobody wants the answer any more; its work goes on. */
void sim_call_forget(struct sim_actors_run *run, struct sim_call *call);
/* Its own work is lost. */
void sim_call_drop(struct sim_actors_run *run, struct sim_call *call);
void sim_call_push(struct sim_call_list *list, struct sim_call *call);
void sim_call_push_front(struct sim_call_list *list, struct sim_call *call);
void sim_call_take(struct sim_call_list *list, struct sim_call *call);
double sim_actors_draw(const struct sim_law *law, const struct sim_random *random, uint64_t item,
                       uint32_t part);

/* client.c: rounds of calls */
weir_status sim_clients_add(struct sim_actor *actor);
weir_status sim_client_begin(struct sim_client *client);
weir_status sim_client_timer(struct sim_client *client);
weir_status sim_client_answered(struct sim_client *client, const struct sim_call *answered);
weir_status sim_client_failed(struct sim_client *client);
/* Its process is gone. */
weir_status sim_client_away(struct sim_client *client);
/* Its own computing, `seconds` long. */
weir_status sim_client_compute(struct sim_client *client, double seconds);
void sim_client_arrived(struct sim_client *client, int64_t began_ns);
void sim_client_done(struct sim_client *client);
/* It has an item in hand, or none any more. */
void sim_client_hold(struct sim_client *client, bool has_item);

/* rollout.c */
weir_status sim_rollout_begin(struct sim_client *client);
weir_status sim_rollout_timer(struct sim_client *client);
weir_status sim_rollout_answered(struct sim_client *client);
weir_status sim_rollout_away(struct sim_client *client);
weir_status sim_rollout_impatient(struct sim_client *client);
/* Weights are there. */
weir_status sim_rollout_unblock(struct sim_client *client);
/* There may be items again. */
void sim_rollout_wake(struct sim_client *client);
/* There is room in the pool. */
weir_status sim_rollout_put(struct sim_client *client);
void sim_client_enter(struct sim_client *client, enum sim_client_state state);

/* training.c */
void sim_loop_begin(struct sim_actors_run *run);
/* The next item; false = there is none. */
bool sim_loop_hand_out(struct sim_actors_run *run, uint64_t *item, int64_t *began_ns);
weir_status sim_loop_give_back(struct sim_actors_run *run, const struct sim_client *client);
bool sim_loop_has_room(const struct sim_actors_run *run);
weir_status sim_loop_put(struct sim_actors_run *run, const struct sim_client *client);
/* A process of the pool is gone, with what lay there. */
void sim_loop_lose(struct sim_actors_run *run, struct sim_actor *actor);
/* Something changed that a step may wait for. */
void sim_loop_look(struct sim_actors_run *run);
weir_status sim_loop_turn(struct sim_actors_run *run);
weir_status sim_loop_answered(struct sim_actors_run *run, uint32_t what);
weir_status sim_loop_failed(struct sim_actors_run *run, uint32_t what);

/* health.c */
void sim_health_begin(struct sim_actors_run *run);
weir_status sim_health_due(struct sim_actors_run *run);
weir_status sim_health_answered(struct sim_actors_run *run);
void sim_health_late(struct sim_actors_run *run);

/* results.c */
void sim_actors_note_warm(struct sim_actors_run *run);
weir_status sim_actors_results(struct sim_actors_run *run, int64_t end_ns, struct sim_results *out);

extern const struct sim_driver_ops sim_actors_driver;

#endif
