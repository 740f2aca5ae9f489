/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pipeline driver: items flow from a source through stages of workers over bounded queues.
 *
 * The driver (driver.c, behind sim/world/driver.h) owns items, queues, and what each worker has in
 * hand; workers own devices. *When* work is handed on is a flow rule (flow.h), one file each:
 * `event` (at once) and `tick` (the fixed-step loop of the original simulator, to the digit). How
 * many workers there are is the scheduler's business: they come through sim_pipeline_add_worker,
 * and they go through sim_pipeline_stop, which takes back what they have in hand.
 *
 * Invariant (sim_pipeline_check): every living item is in exactly one queue or one worker's hands;
 * counts by state add up; under the slots rule no task is started beyond workers * slots.
 */
#ifndef SIM_PIPELINE_PIPELINE_H
#define SIM_PIPELINE_PIPELINE_H

#include "sim/engine/slab.h"
#include "sim/queue/item.h"
#include "sim/scenario/workload/arrival_process.h"
#include "sim/worker/load.h"
#include "sim/worker/move.h"
#include "sim/worker/ready_set.h"
#include "sim/world/driver.h"

struct sim_flow;
struct sim_pipeline_run;

enum { SIM_LOOP_SAMPLES = 100 };

/* Its own events (sim_driver_kind). */
enum sim_pipeline_event {
    SIM_PIPELINE_ARRIVAL = 1,
    SIM_PIPELINE_SWEEP = 2, /* tick: a step, runtime: a turn of the loop */
    SIM_PIPELINE_BATCH = 3  /* of a service: requests waited long enough, or too long */
};

/* What a task does; in this order. */
enum sim_task_phase {
    SIM_TASK_PAUSE, /* before another attempt */
    SIM_TASK_FETCH, /* its input comes to the worker */
    SIM_TASK_WORK,
    SIM_TASK_STORE /* its output goes to a store */
};

/* What a worker of a stage has in hand: worker->work. Slots are reused, so events carry the id of
 * the worker too. */
struct sim_hand {
    uint32_t slot;             /* in its pipeline */
    uint32_t position;         /* in its stage's list */
    struct sim_worker *worker; /* NULL = the slot is free */
    uint32_t ordinal;   /* how many workers its stage had before it: names its random streams */
    uint32_t task_head; /* items in hand, linked; SIM_NO_ITEM = none */
    uint32_t task_count;
    uint32_t used_slots; /* runtime: held, running, and over but not collected */
    uint32_t uncollected;
    uint16_t setup_tries;  /* runtime: set-ups of this life that failed */
    uint16_t deaths;       /* runtime: of it in a row, without a finished task between */
    bool will_fail : 1;    /* the attempt that runs will fail at its end */
    bool is_active : 1;    /* it has activations in GPU memory */
    bool is_over : 1;      /* runtime: listed as one with something over, see loop_room.h */
    uint8_t phase;         /* of the task that runs, enum sim_task_phase; not under tick */
    uint16_t pause_s;      /* runtime: before the attempt that runs */
    uint32_t fetch_place;  /* where the move comes from */
    double input_bytes;    /* of the task, as it was taken */
    struct sim_queue held; /* runtime: tasks taken ahead, each headed by an item that counts it */
    sim_handle run;        /* the task, while it runs; not under tick */
    int64_t task_start_ns;
    int64_t service_ns; /* the work of the task; tick: how long it takes */
    int64_t demand_ns;
};

/* A worker that died and will be back at a turn of the loop. */
struct sim_return {
    struct sim_place *places; /* owned; one, or those of a group */
    uint32_t count;
    uint32_t deaths;
};

/* What the runtime rule keeps of a stage (flow_runtime.c); unused under the other rules. */
struct sim_loop_stage {
    struct sim_queue pool; /* tasks fed, not yet given to a worker */
    uint32_t pool_tasks;
    struct sim_queue outbox; /* output of tasks that are over, not yet collected */
    uint32_t used_slots;     /* of all its workers */
    uint32_t uncollected;
    uint32_t samples[SIM_LOOP_SAMPLES]; /* outputs of the last tasks that gave any */
    uint64_t samples_seen;
    uint64_t samples_sum;
    uint32_t steal_from;             /* position where the next donor is looked for */
    uint32_t stops_left;             /* of the plan being applied, by the backlog guard */
    bool is_done;                    /* as the loop saw it */
    bool owes_start;                 /* an idle worker may hold what it has not begun */
    bool is_awake;                   /* takes part in the next turn */
    struct sim_ready_set *free_with; /* workers with free slots, by those in use: loop_room.h */
    struct sim_ready_set over;       /* workers with something over */
    uint32_t listed_slots;
    struct sim_return *returns; /* oldest death first */
    uint32_t return_count, return_capacity;
    uint64_t setups_tried, setups_failed;
    int64_t restarted_ns; /* when a worker was last restarted for its age, -1 = never */
};

/* Requests that wait, of a service (batching.h). */
struct sim_stage_batching {
    struct weir_batcher *batcher; /* NULL = the stage is of no service */
    uint64_t count;               /* of those in it, and for how many items they count */
    uint64_t items;
    double bytes;
    sim_handle due; /* when to look again */
    int64_t due_ns;
    uint32_t unreachable;           /* depth of outages */
    uint32_t missing;               /* replicas that it takes for busy for good */
    struct sim_token_bucket tokens; /* of requests that are let in */
    const char **class_names;       /* of the requests */
    uint32_t class_count;
};

struct sim_stage_run {
    const struct sim_stage *spec;
    struct sim_pipeline_run *pipeline;
    struct sim_random random; /* its streams, by its name */
    uint32_t index;           /* over all pipelines */
    uint32_t position;        /* in its pipeline */
    int32_t requested;        /* workers; -1 = the scheduler chooses */
    struct sim_queue queue;   /* in front of it */
    struct sim_hand **hands;  /* of its workers in order of arrival, NULL where one left */
    uint32_t positions, capacity;
    uint32_t count[SIM_METER_STATES]; /* workers by state; GONE unused */
    uint32_t worker_count;
    uint32_t next_ordinal;
    struct sim_ready_set idle;
    uint32_t *idle_on; /* how many of them by node; NULL = nobody asks, as no bytes move */
    uint32_t *blocked; /* slots of hands of blocked workers, oldest first */
    uint32_t blocked_count, blocked_capacity;
    uint32_t slots;
    uint32_t ranks;          /* processes of a worker: its GPUs in a group, else 1 */
    double outputs_per_task; /* mean, for the slots rule */
    double slow;             /* service x this, timeline */
    double setup_slow;       /* set-up x this, timeline */
    double mean_factor;      /* service x this, in this replication */
    double fail;             /* probability added by the timeline */
    uint32_t stalled;        /* depth of stalls */
    bool is_backpressured;
    uint64_t tasks_done;
    double bytes_made;      /* by finished tasks */
    double bytes_in_hand;   /* input of tasks that run; not under runtime */
    int64_t *node_ready_ns; /* when setup_on_node is over, -1 = not begun; NULL = none */
    struct sim_loop_stage loop;
    struct sim_stage_batching batching;
};

struct sim_pipeline_run {
    const struct sim_pipeline *spec;
    struct sim_driver_config config;
    struct sim_context *context; /* the config's */
    const struct sim_flow *flow;
    struct sim_random random; /* its streams, by its name */
    uint32_t index;           /* of the pipeline */
    struct sim_slab hands;
    struct sim_move *moves; /* by slot of the hand; NULL when no bytes move */
    uint32_t moves_capacity;
    struct sim_stage_run *stages;
    uint32_t stage_count;
    struct sim_item_slab items;
    uint64_t source_next;     /* id of the next item */
    uint64_t source_left;     /* items not yet created */
    uint64_t source_repeated; /* rows of a recorded file that came once more */
    struct sim_arrival_process arrivals;
    double arrival_factor;
    sim_handle arrival;
    int64_t arrival_due_ns;
    int64_t arrival_rest_ns; /* due time of an arrival held back by a rate of 0; -1 = none */
    int64_t sweep_ns;        /* tick rule: last sweep planned; runtime: next turn, -1 = none */
    int64_t loop_free_ns;    /* runtime: the loop stands still until then */
    uint32_t *awake;         /* runtime: stages that take part in the next turn, in any order */
    uint32_t *due; /* runtime: those of the present one, ascending; both have room for all */
    uint32_t awake_count;
    uint32_t barriers;    /* batch: passed; stages with so many before them are open */
    int64_t opens_ns;     /* batch: when its input is there */
    double spilled_bytes; /* that are not in the store now */
    char gave_up[160];    /* runtime: why nothing is done any more; "" = it has not given up */
    int64_t gave_up_ns;
    bool has_counted;                 /* runtime: stops_left is that of the plan being applied */
    int64_t asked_ns;                 /* runtime: when a decision was asked for last */
    bool has_batches;                 /* some stage takes more than one item a task */
    bool moves_bytes;                 /* bytes take time to move */
    double written_bytes;             /* to the store, what is being written included */
    double stored_bytes, taken_bytes; /* items that went there, that left */
    double bound_per_s;               /* throughput it cannot exceed, 0 = not known */
    double budget_bytes;              /* reservation: as last looked at */
    int64_t budget_due_ns;            /* reservation: when to look again */
    uint64_t finished, dropped;
    int64_t demand_ns;    /* nominal service of finished tasks, before any slow-down */
    int64_t completed_ns; /* when the last item left, -1 = not yet */
};

static inline int64_t sim_hand_pause_ns(const struct sim_hand *hand)
{
    return hand->pause_s * SIM_NS_PER_S;
}

/* What its task fetches or writes, where bytes move. */
static inline struct sim_move *sim_hand_move(const struct sim_pipeline_run *run,
                                             const struct sim_hand *hand)
{
    return &run->moves[hand->slot];
}

/* driver.c */
extern const struct sim_driver_ops sim_pipeline_driver;
/* The stage behind a pool among the drivers of a run (from 1 on), NULL = the pool is no stage: for
 * snapshots and tests. */
const struct sim_stage_run *sim_pipeline_stage(const struct sim_driver *drivers, uint32_t count,
                                               uint32_t pool);

weir_status sim_pipeline_create(const struct sim_driver_config *config,
                                struct sim_pipeline_run **run);
void sim_pipeline_destroy(struct sim_pipeline_run *run);

/* Time 0: arrivals begin, `initial` queues are filled. */
weir_status sim_pipeline_begin(struct sim_pipeline_run *run, const struct sim_initial *initial);

/* Nothing to do and nothing to come. */
bool sim_pipeline_is_done(const struct sim_pipeline_run *run);

/* ---- workers come and go ---- */

/* Starts a worker, all of its places or none; *hand is NULL and the reason says why when the
 * cluster refuses it. `is_ready` skips set-up. */
weir_status sim_pipeline_add_worker(struct sim_stage_run *stage, const struct sim_start *start,
                                    struct sim_hand **hand, uint32_t *reason);
/* What a worker in set-up reads is there: the time of its set-up begins. */
weir_status sim_pipeline_loaded(struct sim_stage_run *stage, struct sim_hand *hand);
/* A worker goes: running and finished items return to where they wait, and the hand is gone. */
weir_status sim_pipeline_stop(struct sim_stage_run *stage, struct sim_hand *hand,
                              enum sim_stop why);
/* Ends a worker through the world, which calls sim_pipeline_stop. */
weir_status sim_pipeline_end_worker(struct sim_stage_run *stage, struct sim_hand *hand,
                                    enum sim_stop why, const char *text);
/* A node was lost, and with it what setup_on_node did. */
void sim_pipeline_forget_node(struct sim_stage_run *stage, uint32_t node);

static inline struct weir_owner sim_stage_owner(const struct sim_stage_run *stage)
{
    return (struct weir_owner){ .kind = WEIR_OWNER_POOL, .index = stage->index };
}

/* Schedules an event of the pipeline about itself. */
sim_handle sim_pipeline_schedule(const struct sim_pipeline_run *run, int64_t at_ns,
                                 enum sim_pipeline_event kind, enum sim_phase phase);

/* source.c: arrivals */
weir_status sim_source_arrive(struct sim_pipeline_run *run);
weir_status sim_source_burst(struct sim_pipeline_run *run, uint64_t items);
/* A burst is to come. */
bool sim_source_is_awaited(const struct sim_pipeline_run *run);
/* Nothing more comes. */
bool sim_source_is_dry(const struct sim_pipeline_run *run);
weir_status sim_source_set_factor(struct sim_pipeline_run *run, double factor);
weir_status sim_source_begin(struct sim_pipeline_run *run);
/* Creates the next item of the source. */
weir_status sim_source_admit(struct sim_pipeline_run *run, uint32_t *item);
/* The next item that a stage works on: from its queue, or from the backlog of the source. */
weir_status sim_stage_next_item(struct sim_stage_run *stage, uint32_t *item);
/* One that comes on top of the input: it eats nothing of it. */
weir_status sim_source_add(struct sim_pipeline_run *run, uint32_t *item);

/* Timeline: a stage stops, and with it what runs there, or goes on. */
weir_status sim_pipeline_stall(struct sim_stage_run *stage);
weir_status sim_pipeline_unstall(struct sim_stage_run *stage);

/* Time since admission of every living item; returns how many (items.alive). */
uint64_t sim_pipeline_ages(const struct sim_pipeline_run *run, int64_t now_ns, int64_t *age_ns);

weir_status sim_pipeline_check(const struct sim_pipeline_run *run, struct weir_error *error);

/* ---- memory.c: bytes of items in the memory of nodes ---- */

/* The task in hand begins. */
void sim_stage_pick_up(struct sim_stage_run *stage, const struct sim_hand *hand);
/* It takes what GPU memory it needs while it runs, or will fail for want of it. */
weir_status sim_stage_activate(const struct sim_stage_run *stage, struct sim_hand *hand);
void sim_stage_deactivate(const struct sim_stage_run *stage, struct sim_hand *hand);
/* It is over, and nobody needs its input any more; what it made lies on its node. */
void sim_stage_use_up(struct sim_stage_run *stage, const struct sim_hand *hand);
void sim_stage_lay_down(struct sim_stage_run *stage, const struct sim_hand *hand,
                        const struct sim_queue *output);
/* An item needs no memory any more. */
void sim_pipeline_item_leaves(struct sim_pipeline_run *run, struct sim_item *item);
/* Adds what lies in the memory of nodes, by node. */
void sim_pipeline_stored(const struct sim_pipeline_run *run, int64_t *by_node);

/* ---- pace.c: tasks in time ---- */

/* Begins a task of so much work, after the pause of the hand. */
weir_status sim_stage_begin_task(struct sim_stage_run *stage, struct sim_hand *hand, double work_s);
/* Its activity is over. */
weir_status sim_stage_task_worked(struct sim_stage_run *stage, struct sim_hand *hand);
/* What runs, if anything does, will not end. */
weir_status sim_stage_drop_task(const struct sim_stage_run *stage, struct sim_hand *hand);
/* The slow-down of a worker, or of the whole stage, is another now. */
weir_status sim_stage_task_paced(const struct sim_stage_run *stage, const struct sim_hand *hand);
weir_status sim_stage_paced(const struct sim_stage_run *stage);

/* ---- for flow rules ---- */

/* Whether the stage has an idle worker and enough input for one more task. */
bool sim_stage_has_task(const struct sim_stage_run *stage);
/* The same, and room for its output. */
bool sim_stage_can_start(const struct sim_stage_run *stage);
/* Starts one task on `worker` (idle). */
weir_status sim_stage_start(struct sim_stage_run *stage, struct sim_hand *hand);
/* Puts a finished worker's output where it belongs and makes it idle (or blocked). */
weir_status sim_stage_finish(struct sim_stage_run *stage, struct sim_hand *hand, bool *is_blocked);
/* Set-up is over, unless it failed. */
weir_status sim_stage_ready(struct sim_stage_run *stage, struct sim_hand *hand, bool *has_failed);
/* A worker that needs no set-up (any more) takes up its work. */
weir_status sim_stage_enter(struct sim_stage_run *stage, struct sim_hand *hand);
/* Moves output of blocked workers on as far as there is room; true when something moved. */
bool sim_stage_unblock(struct sim_stage_run *stage);
/* Tells the meter when the back-pressure of the stage changed. */
void sim_stage_note_backpressure(struct sim_stage_run *stage);
/* The worker's task is over, or lost: its input is no longer in hand. */
void sim_stage_put_down(struct sim_stage_run *stage, struct sim_hand *hand);
/* The worker of the hand, which is idle, is about to be something else. */
void sim_stage_leave_idle(struct sim_stage_run *stage, const struct sim_hand *hand);
struct sim_hand *sim_stage_pick_idle(const struct sim_stage_run *stage);
/* Whether a backlog still stands behind the first stage. */
bool sim_stage_has_backlog(const struct sim_stage_run *stage);
/* Items that wait for the stage: in its queue, in its pool, and behind the first stage. */
uint64_t sim_stage_waiting(const struct sim_stage_run *stage);
/* Gives a task to a worker (idle). */
void sim_stage_hold(struct sim_stage_run *stage, struct sim_hand *hand,
                    const struct sim_queue *task);
/* Begins to work on the items already in the hands of `worker` (idle). */
weir_status sim_stage_work(struct sim_stage_run *stage, struct sim_hand *hand);
/* Tells the meter how much waits in front of the stage. */
void sim_stage_note_queue(const struct sim_stage_run *stage);
/* An item leaves the pipeline, finished or dropped. */
void sim_pipeline_item_done(struct sim_pipeline_run *run, uint32_t index, bool is_finished);
/* runtime: whether the loop would stop this worker now, and what stopping it costs the loop. */
bool sim_runtime_may_stop(struct sim_stage_run *stage, const struct sim_hand *hand);
/* Whether its workers take longer to end than they may. */
bool sim_runtime_kills(const struct sim_stage_run *stage);

/* It takes part in the next turn of the main loop. */
static inline void sim_stage_wake(struct sim_stage_run *stage)
{
    struct sim_pipeline_run *run = stage->pipeline;
    if (stage->loop.is_awake)
        return;
    stage->loop.is_awake = true;
    run->awake[run->awake_count++] = stage->position;
}

#endif
