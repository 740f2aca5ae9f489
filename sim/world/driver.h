/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The interface of a kind of work: pipelines, jobs, and whatever comes after them.
 *
 * A driver knows what its work is: items or steps, queues, when something is over. It never touches
 * a device and never decides. Workers hold the devices; they come by a plan (start), from the
 * initial state (start, ready at once) or because the driver brings one back (services->started),
 * and they go through one path (stop), whoever wants it: a plan, a fault, or the driver
 * (services->end). The world dispatches events by driver, tells drivers of faults and timeline
 * entries, and ends the run; the port asks each driver what the scheduler shall be told.
 *
 * A driver sees its config: scenario, context (clock, random root, meter, observer), its own
 * workers and the services. What it keeps of a worker hangs off worker->work. An entry of the table
 * that is NULL means what its comment says. Adding a driver: one folder, one line in sim/drivers.c.
 */
#ifndef SIM_WORLD_DRIVER_H
#define SIM_WORLD_DRIVER_H

#include "sim/record/record.h"
#include "sim/scenario/scenario.h"
#include "sim/worker/worker.h"
#include "weir/measure.h"
#include "weir/policy.h"

enum { SIM_DRIVERS_MAX = SIM_WORK_MAX }; /* in one run */

struct sim_world; /* opaque to drivers: the first argument of every service */

/* Kind of an event: driver index << 8 | own kind; the world's own events have driver 0, so the
 * first driver of a run has index 1. */
static inline uint16_t sim_driver_kind(uint32_t driver, uint8_t own)
{
    return (uint16_t)(driver << 8 | own);
}
static inline uint32_t sim_driver_of_event(const struct sim_event *event)
{
    return event->kind >> 8;
}
static inline uint8_t sim_driver_own_kind(const struct sim_event *event)
{
    return (uint8_t)(event->kind & 0xff);
}

/* Owner of an activity: a driver and what it calls the work. Its end is told by ops->worked. */
static inline uint64_t sim_work_owner(uint32_t driver, uint32_t target)
{
    return (uint64_t)driver << 32 | target;
}

/* Why a worker goes. The scheduler hears of the first two and of OVER as stopped, of the rest as
 * lost. */
enum sim_stop {
    SIM_STOP_PLAN,         /* a plan said so */
    SIM_STOP_PREEMPTED,    /* a plan took its place for others */
    SIM_STOP_NODE_LOST,    /* a node or GPU of one of its places failed */
    SIM_STOP_CRASHED,      /* it died alone */
    SIM_STOP_SETUP_FAILED, /* it never became ready */
    SIM_STOP_OVER,         /* the driver has no more work for it */
    SIM_STOP_GIVEN_UP      /* the driver wants another in its place (too old, reset) */
};

/* Why the work in its hands is thrown away. */
static inline const char *sim_stop_cause(enum sim_stop why)
{
    static const char *const causes[] = {
        [SIM_STOP_PLAN] = "stopped by a plan",     [SIM_STOP_PREEMPTED] = "preempted",
        [SIM_STOP_NODE_LOST] = "node or GPU lost", [SIM_STOP_CRASHED] = "worker crashed",
        [SIM_STOP_SETUP_FAILED] = "set-up failed", [SIM_STOP_OVER] = "stage done",
        [SIM_STOP_GIVEN_UP] = "worker given up"
    };
    return causes[why];
}

/* A worker that is to begin: one place, or all places of a gang, taken whole or not at all. */
struct sim_start {
    struct weir_owner owner;
    struct sim_places places;
    bool is_ready; /* initial state: without set-up */
    bool is_more;  /* of a plan that was late: it adds to a run of the job that the plan knew */
};

/* A set of equal workers whose number the scheduler chooses, as told once. */
struct sim_pool {
    const char *name;
    const struct weir_shape *shape; /* of the request */
    uint32_t soft_labels;           /* as of weir_pool_spec */
    uint32_t driver;                /* filled in by add_pool */
    uint32_t position;              /* among the pools of its driver */
    bool is_last;                   /* what leaves it leaves the driver */
    bool waits;                     /* who finds no room in it waits: that ends no run */
    int32_t workers;                /* -1 = the scheduler chooses */
    uint32_t batch;                 /* items a task takes */
    uint32_t slots;                 /* tasks a worker may hold */
    uint32_t bound_workers;         /* at the bound of its driver, 0 = not known */
    double service_mean_s;          /* of a task, on the reference device */
    double work;                    /* workers it needs for one item of the source a second */
    double samples_per_source;      /* items of the source that one of its items stands for */
    double over_provision, speed_hint_per_s; /* NAN = no hint */
    const char *const *class_names;          /* of the requests it serves, for the meter */
    uint32_t class_count;                    /* 0 = it serves none */
};

/* What there is of a pool now, for the scheduler's view. */
struct sim_pool_state {
    uint32_t ready, busy; /* places */
    uint32_t slots;
    int32_t requested_workers; /* -1 = the scheduler chooses */
    uint64_t queued_items;
    bool is_finished; /* needs no worker any more, or not yet */
};

/* Takes what a driver tells of its pools and jobs, now or for a later decision. */
struct sim_teller {
    void *port;
    weir_status (*pool)(void *port, uint32_t pool, const struct sim_pool_state *state);
};

/* A source of jobs. */
struct sim_driver_workload {
    const char *name;
    uint64_t queue_limit; /* so many may wait; of those that come at one instant the last are turned
                             away. UINT64_MAX = all */
    uint32_t classes;     /* of its jobs, for the meter: numbered over all workloads */
    struct weir_mix mix;  /* what is expected to come; borrowed */
};

/* So many members of a job are gone, and others may come for them. */
struct sim_ranks_lost {
    uint32_t count;
    uint32_t may_come_back;
};

/* What the world does for a driver. */
struct sim_driver_services {
    /* In create only: adds a pool; *index counts over the whole run and is the index of its owner.
     * Name and shape must outlive the run. */
    weir_status (*add_pool)(struct sim_world *world, uint32_t driver, const struct sim_pool *pool,
                            uint32_t *index);
    /* How one task went, for the scheduler's estimates. */
    weir_status (*measure)(struct sim_world *world, const struct weir_measurement *task);
    /* The worker may be given work now. */
    void (*ready)(struct sim_world *world, const struct sim_worker *worker);
    /* The driver started a worker on its own (back in its place after a fault). */
    weir_status (*started)(struct sim_world *world, const struct sim_start *start);
    /* Ends a life: ops->stop, the word to the scheduler, devices back, its row with `text`. */
    weir_status (*end)(struct sim_world *world, struct sim_worker *worker, enum sim_stop why,
                       const char *text);
    /* A decision at this instant, after all else that happens at it; enum weir_cause says why. */
    void (*wake)(struct sim_world *world, uint32_t causes);
    /* In create only: names a source of jobs; *index is that of their owners. `mix` = the work that
     * is expected of it. */
    weir_status (*add_workload)(struct sim_world *world, uint32_t driver,
                                const struct sim_driver_workload *workload, uint32_t *index);
    /* A job waits, waits no more, or is over (its ranks went before). WEIR_EINFEASIBLE: it can
     * never fit, and does not wait. WEIR_EBUSY: the head is down, and takes no job that has not run
     * yet. Jobs that ask for the same are of one *kind, a small number. */
    weir_status (*submit)(struct sim_world *world, const struct weir_job_spec *job, uint32_t *kind);
    weir_status (*withdraw)(struct sim_world *world, uint32_t workload, uint64_t job);
    weir_status (*ended)(struct sim_world *world, uint32_t workload, uint64_t job);
    /* It goes on without some of its members, whose ends were told. */
    weir_status (*resized)(struct sim_world *world, uint32_t workload, uint64_t job,
                           struct sim_ranks_lost lost);
    /* Memory of the nodes that are up. */
    double (*ram_up_bytes)(const struct sim_world *world);
    /* The timeline will yet bring work to it, whatever its source says. */
    bool (*brings)(const struct sim_world *world, uint32_t driver);
};

struct sim_driver_config {
    const struct sim_scenario *scenario;
    uint32_t instance; /* of its kind, in the order of the scenario */
    uint32_t index;    /* of the driver in this run, from 1: for events and workers */
    struct sim_context *context;
    struct sim_workers *workers;
    const struct sim_driver_services *services;
    struct sim_world *world;
};

struct sim_driver_ops {
    const char *kind; /* of work */
    /* How many instances a scenario has of it. */
    uint32_t (*count)(const struct sim_scenario *scenario);
    /* Adds its pools. No meter yet. */
    weir_status (*create)(const struct sim_driver_config *config, void **self,
                          struct weir_error *error);
    void (*destroy)(void *self);
    const char *(*name)(const void *self); /* labels of its results. NULL = its kind */

    /* Time 0: initial state, first events. Initial workers are there already. NULL = nothing. */
    weir_status (*begin)(void *self);
    /* One of its own events. */
    weir_status (*event)(void *self, const struct sim_event *event);
    /* Work that it began as sim_work_owner(index, target) among the activities of the run is done.
     * NULL = it begins none. */
    weir_status (*worked)(void *self, uint32_t target, sim_handle work);
    /* That work will be done before long, when `before` others are: fetches what it will need.
     * NULL = nothing. */
    void (*foresee)(const void *self, uint32_t target, uint32_t before);

    /* A plan, or the initial state. Takes the devices by sim_worker_start and begins set-up; what
     * the truth refuses is *reason, and then nothing has changed. */
    weir_status (*start)(void *self, const struct sim_start *start, uint32_t *reason);
    /* What it loads first (sim_worker_load) is there: begins the rest of its set-up. NULL = it
     * loads nothing. */
    weir_status (*loaded)(void *self, struct sim_worker *worker);
    /* The time of its set-up is over: sets it to idle and calls services->ready, or begins set-up
     * anew, or ends it (SIM_STOP_SETUP_FAILED). */
    weir_status (*ready)(void *self, struct sim_worker *worker);
    /* The worker is about to go: takes back what it has in hand. Its devices are still held; the
     * caller releases it right after. */
    weir_status (*stop)(void *self, struct sim_worker *worker, enum sim_stop why);
    /* A node went down; before the workers on it are stopped. NULL = nothing to forget. */
    void (*node_lost)(void *self, uint32_t node);
    /* Workers came or went; called once after a plan, a fault or a node. */
    weir_status (*settle)(void *self);

    /* Whether a plan may stop this worker now; asked once for each stop of a plan. NULL = yes. */
    bool (*may_stop)(void *self, const struct sim_worker *worker);
    /* When a plan decided now and due at `due_ns` is applied: >= due_ns. NULL = due_ns. */
    int64_t (*applies_at)(const void *self, int64_t due_ns);
    /* A plan set how many tasks each worker of a pool holds. NULL = the pool has no slots. */
    void (*set_slots)(void *self, uint32_t pool, uint32_t slots);
    /* Tells what is true now of its pools and jobs, as far as it may have changed. */
    weir_status (*tell)(void *self, const struct sim_teller *teller);

    /* Name of what a timeline entry acts on; NULL = nothing of this driver. */
    const char *(*target)(const void *self, const struct sim_timeline_entry *entry);
    /* The entry begins or ends; `factor` = product of the factors of all such entries in force. */
    weir_status (*act)(void *self, const struct sim_timeline_entry *entry, double factor,
                       bool is_on);

    /* A job was turned away: too many wait, or (for good) it can never fit. NULL = it has no jobs.
     */
    weir_status (*denied)(void *self, uint64_t job, bool is_for_good);
    /* A plan takes the place of a job for others: its workers end now, or with a grace once it has
     * saved its work, and when the grace is over at the latest. NULL = it has no jobs. */
    weir_status (*preempt)(void *self, uint64_t job, int64_t grace_ns);
    /* The devices of a worker became faster or slower: neighbours, a slow node. What he does goes
     * on at another rate, now or when speeds is called after all of them. NULL = what runs keeps
     * its pace. */
    weir_status (*paced)(void *self, struct sim_worker *worker);
    weir_status (*speeds)(void *self);

    /* Nothing to do and nothing to come, but for what waits for others to make room. NULL = it has
     * no end of its own. */
    bool (*is_done)(const void *self);
    /* Something waits that starts when somebody makes room. NULL = never. */
    bool (*waits)(const void *self);
    /* Workers of its pools that are gone come back when there is room, not at the next interval:
     * asked when somebody makes some. NULL = never. */
    bool (*wants_back)(void *self);
    /* Why it does nothing any more although work is left, and since when; NULL = it has not given
     * up. An entry that is NULL = it never does. */
    const char *(*gave_up)(const void *self, int64_t *at_ns);
    /* Units of work that are over. NULL = items, which the meter counts. */
    uint64_t (*done)(const void *self);
    /* Once it is done. NULL = when the run noticed. */
    int64_t (*end_ns)(const void *self);
    /* Adds what is done and what there is to do, in its own units; endless: adds nothing. */
    void (*progress)(const void *self, double *done, double *total);
    /* How long it will take, about; 0 = not known. Bounds the number of samples. */
    double (*expected_s)(const void *self);
    /* How many units of work are inside; with `age_ns` their ages too. */
    uint64_t (*inside)(const void *self, int64_t now_ns, int64_t *age_ns);
    /* Adds the bytes of it that lie in the memory of nodes, by node. NULL = none do. */
    void (*stored)(const void *self, int64_t *by_node);
    /* Its conservation laws. */
    weir_status (*check)(const void *self, struct weir_error *error);
    /* Tells the meter, once the run has ended and before any results, of what is not over and has
     * to count there. NULL = nothing. */
    weir_status (*left)(const void *self, int64_t end_ns);
    /* NULL = the meter says it all. */
    weir_status (*results)(void *self, int64_t end_ns, struct sim_results *out);
};

/* An instance. */
struct sim_driver {
    const struct sim_driver_ops *ops;
    void *self;
    uint32_t bursts; /* of the timeline, that are yet to come */
};
static inline const char *sim_driver_name(const struct sim_driver *driver)
{
    return driver->ops->name == NULL ? driver->ops->kind : driver->ops->name(driver->self);
}

/* sim/drivers.c: the one registry, NULL at its end. */
extern const struct sim_driver_ops *const sim_drivers[];

#endif
