/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The resolved scenario: everything a run needs, defaults filled in, units canonical.
 *
 * One schema table (schema.c) drives parsing, defaults, ranges, `weir schema` and the docs page, so
 * a key that is not documented cannot exist. A scenario is immutable once loaded; several worlds
 * may read the same one. Names were resolved to indices; all pointers belong to the scenario.
 *
 * Load reports *all* mistakes, each with file:line:column, what was expected, the value found and a
 * near name, and leaves nothing half-built.
 */
#ifndef SIM_SCENARIO_SCENARIO_H
#define SIM_SCENARIO_SCENARIO_H

#include "sim/engine/law.h"
#include "sim/scenario/actors.h"
#include "sim/scenario/checkpoint.h"
#include "sim/scenario/defrag_rule.h"
#include "sim/scenario/expect.h"
#include "sim/scenario/hardware.h"
#include "sim/scenario/licence.h"
#include "sim/scenario/prices.h"
#include "sim/scenario/ranks.h"
#include "sim/scenario/read/diagnostic.h"
#include "sim/scenario/reservation.h"
#include "sim/scenario/speed.h"
#include "sim/scenario/step.h"
#include "sim/scenario/tenant.h"
#include "sim/scenario/windows.h"
#include "weir/batching.h"
#include "weir/capacity.h"
#include "weir/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- scheduler ---- */

struct sim_policy_choice {
    const struct weir_placement_ops *placement; /* one of the four */
    const struct weir_scaling_ops *scaling;
    const struct weir_queueing_ops *queueing;
    const struct weir_batching_ops *batching;
    const struct weir_capacity_ops *capacity;
    double *values; /* all parameters of its table, in order */
    size_t count;
    const char **argv;  /* of the policy `command`, NULL at its end; else NULL */
    const char *folder; /* where it runs: that of the scenario; NULL = here */
};

enum sim_infeasible { SIM_INFEASIBLE_REFUSE, SIM_INFEASIBLE_WAIT };
enum sim_group_scorer { SIM_GROUP_SCORER_RAY, SIM_GROUP_SCORER_PLACEMENT };

/* Whether and when GPUs are cut anew. */
enum sim_repartition_policy { SIM_REPARTITION_OFF, SIM_REPARTITION_DEMAND };
struct sim_repartition {
    uint32_t policy;   /* enum sim_repartition_policy */
    uint32_t min_gain; /* slices */
    int64_t reconfigure_ns;
};

struct sim_sched {
    struct sim_policy_choice placement;
    struct sim_policy_choice scaling;
    struct sim_policy_choice queueing;
    struct sim_policy_choice capacity; /* of nobody: nodes neither come nor go */
    int64_t interval_ns;               /* between decisions; the first is at 0 */
    int64_t window_ns;                 /* of the speed estimator */
    uint32_t min_points;
    uint32_t explain;              /* enum weir_explain */
    int64_t latency_ns;            /* from the view to the application of a plan */
    int64_t latency_per_worker_ns; /* added for every living worker */
    int64_t view_age_ns;           /* how old the counts and measurements of a view are */
    uint32_t group_scorer;         /* enum sim_group_scorer */
    uint32_t group_report;         /* enum weir_group_report */
    uint32_t group_devices;        /* enum weir_group_devices */
    uint32_t hold_mode;            /* enum weir_hold_mode */
    uint32_t infeasible;           /* enum sim_infeasible */
    int64_t half_life_ns;          /* of past use by tenants */
    int64_t usage_period_ns;       /* in which it fades by steps; 0 = all the time */
    uint32_t usage_rule;           /* enum weir_usage_rule */
    struct sim_repartition repartition;
};

/* ---- arrivals ---- */

enum sim_arrival_kind {
    SIM_ARRIVALS_TRACE,
    SIM_ARRIVALS_POISSON,
    SIM_ARRIVALS_RENEWAL,
    SIM_ARRIVALS_HYPEREXPONENTIAL,
    SIM_ARRIVALS_MODULATED,
    SIM_ARRIVALS_DIURNAL
};

/* When jobs or items arrive; rates are of these, also when they come in batches. */
enum sim_resample { SIM_RESAMPLE_NONE, SIM_RESAMPLE_DAYS };

struct sim_arrivals {
    uint32_t kind;     /* enum sim_arrival_kind */
    double rate_per_s; /* NAN for a trace of jobs */
    double scale;      /* of the rate, and in it; gaps and times of items are divided by it */
    uint32_t resample; /* enum sim_resample: of a trace of jobs */
    struct sim_law *gap;
    uint32_t measurements; /* of the gaps; 0 = the rate is known */
    double cv;
    double burst, burst_share;
    int64_t dwell_ns;
    double amplitude;
    int64_t period_ns, peak_ns;
    struct sim_law *batch;
    double batch_mean;
};

/* ---- pipelines ---- */

/* SIM_EXECUTION_AUTO is resolved into one of the others. */
enum sim_execution {
    SIM_EXECUTION_STREAMING,   /* all stages at once */
    SIM_EXECUTION_BATCH,       /* one stage after the other, each with the whole cluster */
    SIM_EXECUTION_BATCH_DEBUG, /* the same with one worker */
    SIM_EXECUTION_SERVING,     /* as streaming, one request a turn, never done */
    SIM_EXECUTION_AUTO
};
enum sim_semantics { SIM_SEMANTICS_EVENT, SIM_SEMANTICS_TICK, SIM_SEMANTICS_RUNTIME };
enum sim_tick_rounding { SIM_TICK_TRUNCATE, SIM_TICK_NEAREST };
enum sim_backpressure {
    SIM_BACKPRESSURE_SLOTS,      /* "xenna": busy + output queue < workers * slots * multiplier */
    SIM_BACKPRESSURE_BLOCKING,   /* blocking after service with `buffer` places between stages */
    SIM_BACKPRESSURE_NONE,       /* unbounded queues */
    SIM_BACKPRESSURE_FORMULA,    /* as slots, but runtime adds no lower bound and no next batch */
    SIM_BACKPRESSURE_RESERVATION /* "raydata": bytes of output within a budget of every stage */
};
/* runtime: what becomes of a worker that died. */
enum sim_restart { SIM_RESTART_SAME_PLACE, SIM_RESTART_NEXT_PLAN, SIM_RESTART_DECIDE };
/* What becomes of a task whose attempt failed. */
enum sim_on_failure { SIM_FAILURE_REQUEUE, SIM_FAILURE_IGNORE, SIM_FAILURE_END };
enum sim_worker_choice { SIM_WORKER_OLDEST, SIM_WORKER_NEWEST };

/* Service time of one task on one worker, in seconds:
 *   (law * (scale_by_size ? mean size of the batch : 1) + per_size * sum of sizes
 *    + base + per_item * batch) * class factor * gpu factor / speed
 * With a table, its value at (gpu type, batch, mean size) replaces base, per_item and per_size, and
 * `law` is a factor without unit (default const(1)). `speed` counts only for stages that use a GPU
 * and only where no factor and no table is given for that type. */
struct sim_service_point {
    uint32_t gpu_type; /* WEIR_NO_INDEX = any */
    double batch;
    double size;
    double seconds;
};

/* Frames on codec engines: one session works on one engine, and items of a task are sessions. */
struct sim_codec_work {
    double *seconds;  /* of one engine for a unit of size, by GPU type; NULL = no such work */
    double fastest_s; /* of these, what demands are counted in */
    uint32_t engines; /* that a worker uses */
};

struct sim_service {
    struct sim_law *law;
    uint32_t measurements;  /* that the law rests on; 0 = its mean is known */
    uint32_t scale_by_size; /* 0 or 1 */
    double base_s;
    double per_item_s;
    double per_size_s;
    double *gpu_factor;   /* by GPU type, NAN = not given; NULL = none given */
    double *class_factor; /* by item class; NULL = all 1 */
    struct sim_service_point *table;
    size_t table_count;
    struct sim_codec_work decode, encode; /* what comes on top, one after the other */
};

/* What work takes of the memory system of its GPU while it runs (sim/cluster/traffic.h). */
struct sim_memory_traffic {
    double bandwidth;   /* asked for when alone, of the device's */
    double bound;       /* how much of its time waits for memory */
    double reserve;     /* bandwidth set aside for it */
    double cache;       /* cache it wants, of the device's */
    double penalty;     /* so much longer when it has none of that */
    uint32_t is_pinned; /* what it wants of the cache is kept for it */
};

/* NULL when it takes nothing. */
static inline const struct sim_memory_traffic *sim_memory_traffic_of(
    const struct sim_memory_traffic *traffic)
{
    return traffic->bandwidth > 0 || traffic->cache > 0 ? traffic : NULL;
}

/* Bytes that a worker reads from a store in its set-up, in this order. */
enum sim_setup_load { SIM_LOAD_IMAGE, SIM_LOAD_ENVIRONMENT, SIM_LOAD_WEIGHTS, SIM_SETUP_LOADS };
struct sim_load {
    int64_t bytes; /* 0 = none */
    uint32_t store;
    uint32_t traffic; /* class there, 0 = none */
    bool is_kept;     /* on the node: who comes later finds it there */
};

struct sim_stage {
    char *name;
    struct weir_request request; /* what the scheduler is told */
    struct weir_request uses;    /* what a worker really takes; default the same */
    struct weir_shape shape;     /* of the request */
    struct weir_shape uses_shape;
    uint32_t soft_labels; /* that the shape asks for where it can, see weir/work.h */
    struct sim_memory_traffic traffic;
    int64_t activation_bytes; /* of GPU memory for an item of a task, 0 = none */
    int32_t workers;          /* fixed count, -1 = auto (workers_per_node is resolved into it) */
    uint32_t batch;           /* items of a task; with `batching` the most */
    uint32_t barriers;        /* batch: that lie before it */
    const struct sim_policy_choice *batching; /* of a service; NULL = tasks of `batch` items */
    double miscount; /* of a service: probability that a merged batch costs it a replica */
    struct sim_service service;
    struct sim_speed speed;
    struct sim_law *returns; /* items one item turns into; rounded down at a uniform threshold */
    struct sim_load loads[SIM_SETUP_LOADS];
    struct sim_law *setup;     /* time behind them; NULL = none */
    struct sim_law *compile;   /* likewise */
    struct sim_law *warm_up;   /* likewise */
    struct sim_law *bytes_out; /* of one item given back; NULL = 0 */
    double speed_hint_per_s;   /* NAN = none */
    double over_provision;     /* 0 = none */
    uint32_t buffer;           /* places behind it, for blocking back-pressure */
    double process_failure;    /* probability that an attempt fails (item's own fault) */
    double setup_failure;
    uint32_t max_attempts;          /* an item that failed so often is dropped */
    struct sim_law *worker_between; /* time between crashes of a ready worker, NULL = never */
    int64_t teardown_ns;            /* runtime: to end one worker */
    uint32_t setup_attempts;        /* runtime: on one worker */
    double max_setup_failure;       /* runtime: share that may fail */
    struct sim_law *setup_on_node;  /* before the first set-up on a node, NULL = none */
    uint32_t on_failure;            /* runtime: enum sim_on_failure */
    uint32_t resets_on_failure;     /* runtime: 1 = the worker goes too */
    int64_t max_lifetime_ns;        /* runtime: of a ready worker, 0 = any */
};

struct sim_item_class {
    char *name;
    double weight; /* normalised */
    struct sim_law *size;
    /* Of requests of a service: */
    uint32_t items;     /* that one counts for in a batch */
    uint32_t priority;  /* 0 to 100; UINT32_MAX = not said */
    int64_t timeout_ns; /* 0 = as the batching policy says */
    uint64_t shape;     /* 0 = not said */
    bool is_denied;     /* its callers may not call this model */
};

/* Items as a file has them; what it does not say is drawn. */
struct sim_item_row {
    int64_t at_ns;
    double size;
    double bytes;
    uint32_t item_class;
};
struct sim_recorded {
    struct sim_item_row *rows; /* by time */
    size_t count;              /* 0 = there is no file */
    bool has_times, has_sizes, has_classes, has_bytes;
};

struct sim_input {
    uint64_t items; /* 0 = unlimited */
    struct sim_recorded recorded;
    struct sim_arrivals *arrivals; /* NULL = all there at the start */
    struct sim_item_class
        *classes; /* at least one; with a file weights and means are those of it */
    size_t classes_count;
    struct sim_law *bytes; /* NULL = 0 */
    uint32_t store;        /* the first stage reads them there; WEIR_NO_INDEX = nowhere */
    uint32_t traffic;      /* class there, 0 = none */
    int64_t overhead_ns;   /* of a request, before it waits */
    double unauthorised;   /* share of the requests that are turned away behind it */
    struct sim_token_rule rate_limit; /* of those that are let in */
};

/* How bytes come from one stage to the next. */
enum sim_transfers {
    SIM_TRANSFERS_OFF,    /* in no time */
    SIM_TRANSFERS_DIRECT, /* from node to node */
    SIM_TRANSFERS_STORE   /* written to a store and read there */
};

struct sim_pipeline {
    char *name;
    uint32_t execution; /* enum sim_execution */
    uint32_t semantics; /* enum sim_semantics */
    int64_t tick_ns;
    uint32_t tick_rounding;
    struct sim_input input;
    uint32_t slots_per_worker;
    uint32_t backpressure; /* enum sim_backpressure */
    double slots_multiplier;
    uint32_t buffer;
    uint32_t worker_choice;     /* enum sim_worker_choice */
    int64_t turn_ns;            /* runtime: one turn of the main loop */
    uint32_t lower_bound;       /* runtime: tasks a stage may always have under way */
    int64_t grace_ns;           /* runtime: a worker ready for less is not stopped */
    uint32_t has_backlog_guard; /* runtime: 1 = stops leave enough workers for the backlog */
    uint32_t restart;           /* runtime: enum sim_restart */
    int64_t teardown_limit_ns;  /* runtime: no worker takes longer to end */
    int64_t restart_gap_ns;     /* runtime: between restarts of old workers of a stage */
    uint32_t steals_work;       /* runtime: 1 = idle workers take tasks that others hold */
    bool stops_serially;        /* runtime: the loop waits for every stopped worker */
    int64_t store_bytes;        /* between stages, 0 = any number */
    uint32_t store_spills;      /* 1; else a full store ends the pipeline */
    double store_bytes_per_s;   /* batch: of an outer store, 0 = takes no time */
    uint32_t has_user_overlap;  /* batch: 1 = stages without GPUs run beside their neighbour */
    uint32_t transfers;         /* enum sim_transfers */
    uint32_t transfer_store;    /* STORE; else WEIR_NO_INDEX */
    uint32_t traffic;           /* class there, 0 = none */
    double store_of_ram;        /* reservation: the object store's share of a node's memory */
    double reserved;            /* reservation: share of the budget that belongs to single stages */
    double downstream_ratio;    /* reservation: output waiting over input the next stage works on */
    int64_t budget_refresh_ns;  /* reservation: how often the nodes are looked at */
    struct sim_stage *stages;
    size_t stages_count;
    size_t stage_first; /* index of its first stage over all pipelines */
};

static inline bool sim_pipeline_is_batch(const struct sim_pipeline *pipeline)
{
    return pipeline->execution == SIM_EXECUTION_BATCH ||
           pipeline->execution == SIM_EXECUTION_BATCH_DEBUG;
}

/* ---- jobs ---- */

enum sim_workload_kind { SIM_WORKLOAD_TRACE, SIM_WORKLOAD_GENERATED };
/* Static, a fill: jobs arrive one by one, each is placed at once or refused, none ever ends. Time:
 * jobs arrive, wait, run and end. */
enum sim_workload_mode { SIM_WORKLOAD_STATIC, SIM_WORKLOAD_TIME };
/* Which of equal nodes is first: by a kept order, by the cluster's own order, at random. */
enum sim_ranks { SIM_RANKS_FILE, SIM_RANKS_SHUFFLED, SIM_RANKS_AS_GIVEN };
enum sim_refusal { SIM_REFUSAL_FORGET, SIM_REFUSAL_STOP };
/* A kind of jobs: a row of a trace, or a class. Times of a trace are exact and known; those of a
 * class are laws. WEIR_UNKNOWN_TIME = not said. */
struct sim_job_spec {
    struct weir_shape shape; /* of one member */
    uint32_t soft_labels;    /* that the shape asks for where it can, see weir/work.h */
    struct sim_memory_traffic traffic;
    const char *models;        /* accepted GPU models as the trace writes them; "" = any */
    const char *name;          /* of a row of a trace, or of the class */
    const char *tenant, *user; /* "" = not said */
    uint32_t tenant_number;    /* of sim_scenario.tenants, counted from 1; 0 = nobody's */
    uint32_t reservation;      /* of sim_scenario.reservations, counted from 1; 0 = none */
    const uint32_t *licences;  /* it takes so many of each of sim_scenario.licences; NULL = none */
    uint32_t members;          /* equal parts that start together */
    uint32_t label;            /* what it is reported as: index into the labels of the workload */
    double weight;             /* how often, relative to the others */
    double worth;              /* of one that is done, to the objective */
    int64_t activation_bytes;  /* of each GPU, taken by a rank that works, beside its request */
    int32_t priority;
    uint32_t group;    /* 0 = a gang, else placed as a group by enum weir_group_strategy + 1 */
    uint64_t count;    /* of a class: exactly so many; UINT64_MAX = as many as the process brings */
    int64_t submit_ns; /* of a row; of a class with a count: the first */
    int64_t every_ns;  /* of a class with a count */
    int64_t run_ns;
    int64_t patience_ns;
    int64_t estimate_ns;
    bool is_endless; /* of a row: it still ran when the trace ended */
    struct sim_law *service;
    uint32_t measurements; /* that it rests on; 0 = its mean is known */
    struct sim_law *patience;
    double estimate_factor; /* estimate over run time, when the estimate is not known */
    struct sim_speed speed;
    const struct sim_profile *profile; /* of what it trains; NULL = none */
    const struct sim_step *step;       /* NULL = it computes to its end */
    double bubble;                     /* of the computing of a step: its pipeline is not full */
    const struct sim_rank_group *more; /* ranks beside its members */
    size_t more_count;
    const struct sim_elastic *elastic; /* NULL = it runs with all its ranks or not at all */
    uint32_t after;        /* index + 1 of those it follows, the n-th the n-th; 0 = none */
    uint32_t users;        /* who submit its jobs, each when the one before is over; 0 = none */
    uint32_t frees;        /* index + 1 of those whose user thinks when it is over; 0 = nobody's */
    uint32_t array;        /* jobs of one submission */
    uint32_t array_limit;  /* of these that are there at once */
    uint64_t limit;        /* with users: jobs, or arrays, in all; UINT64_MAX = none */
    int64_t think_ns;      /* of a row: from the end of the one before to its submission;
                              WEIR_UNKNOWN_TIME = at its own time, but not before that end */
    struct sim_law *think; /* of a class: the same; NULL = 0 */
};

/* All its ranks. */
static inline uint32_t sim_job_workers(const struct sim_job_spec *job)
{
    uint32_t count = job->members;
    for (size_t i = 0; i < job->more_count; i++)
        count += job->more[i].members;
    return count;
}
/* Those of one that was started with as many as it may have. */
static inline uint32_t sim_job_most_workers(const struct sim_job_spec *job)
{
    const uint32_t most = job->elastic == NULL ? job->members : job->elastic->most;
    return sim_job_workers(job) - job->members + most;
}
/* What one of them takes. */
static inline const struct weir_shape *sim_job_shape(const struct sim_job_spec *job, uint32_t rank)
{
    const struct weir_shape *shape = &job->shape;
    uint32_t end = job->members;
    for (size_t i = 0; i < job->more_count && rank >= end; i++) {
        shape = &job->more[i].shape;
        end += job->more[i].members;
    }
    return shape;
}
/* What all of them take. */
double sim_job_gpus(const struct sim_job_spec *job);
double sim_job_cpus(const struct sim_job_spec *job);

/* Its ranks in steps: its GPUs, or members without any. */
static inline uint32_t sim_job_ranks(const struct sim_job_spec *job)
{
    return job->members * (job->shape.gpu_count > 0 ? job->shape.gpu_count : 1);
}

/* A service that jobs call while they run. */
struct sim_job_calls {
    bool are_made;
    uint32_t service; /* of the pipelines */
    int64_t timeout_ns;
    uint32_t attempts;
    uint32_t is_gated; /* 1 = nobody who calls runs while it cannot be reached */
};

/* What a job that is preempted keeps, and what it costs it to go on. */
struct sim_preemption {
    bool keeps_all; /* else what it had at its last checkpoint */
    int64_t restart_ns;
};

/* What is to be maximised: the worth of jobs that are done, less so much for each of these. */
struct sim_objective {
    bool is_there;
    double late, scattered, preempted, refused;
};

/* Rows of a trace that are submitted at one instant. */
enum sim_ties { SIM_TIES_AS_GIVEN, SIM_TIES_SHORTEST, SIM_TIES_SMALLEST };

struct sim_workload {
    char *name;
    uint32_t kind;
    uint32_t mode;
    uint32_t refusal;   /* enum sim_refusal: what a refused job does to the run */
    char *order;        /* file with orders of arrival, NULL = the rows of the pod file */
    char *order_key;    /* which of them */
    bool is_shuffled;   /* without such a file: in random order */
    uint32_t ranks;     /* enum sim_ranks */
    double demand_frac; /* GPU demand that arrives, of the cluster's GPUs; NAN = as the rows ask */
    double target_frac; /* of the jobs that the target workload covers, most frequent kinds first */
    bool target_has_cpu_jobs;
    struct sim_defrag_rule defrag;
    struct sim_job_spec *jobs; /* one a row of the pod file, or a class */
    size_t jobs_count;
    const char **labels; /* sizes of the jobs of a trace, names of classes */
    size_t labels_count;
    uint64_t jobs_limit; /* that arrive, UINT64_MAX = no limit */
    struct sim_arrivals arrivals;
    int64_t service_limit_ns; /* INT64_MAX = none */
    int64_t starved_after_ns; /* waits that are longer are counted; INT64_MAX = none are */
    int64_t deadline_ns;      /* after the submission; INT64_MAX = none */
    double late_price;        /* a second that a job is later than that */
    int64_t from_ns;          /* time of the trace that is time 0 */
    uint64_t queue_limit;     /* jobs that may wait, UINT64_MAX = no limit */
    struct sim_law *retry_delay;
    double retry_growth; /* of the delay, from one time to the next */
    uint32_t retries;
    uint32_t max_attempts;         /* starts of a job, UINT32_MAX = no limit */
    struct sim_law *estimate;      /* over run time; NULL = as the trace or the class says */
    struct sim_law *start_latency; /* from the placement to work, each time; NULL = none */
    struct sim_checkpoint checkpoint;
    struct sim_preemption preemption;
    struct sim_job_calls calls;
    struct sim_objective objective;
    int64_t timeout_ns;         /* a run that is longer ends there; INT64_MAX = none */
    bool is_killed_at_estimate; /* likewise */
    uint32_t ties;              /* enum sim_ties */
};

/* What it runs on average at speed 1, cut at the limit of its workload; NAN = not known. */
double sim_job_mean_run_s(const struct sim_workload *workload, const struct sim_job_spec *job);

/* The class by whose submissions these jobs come in the end: itself, unless it comes after others. */
const struct sim_job_spec *sim_job_first(const struct sim_workload *workload,
                                         const struct sim_job_spec *job);

/* ---- bands of priority ---- */

/* Priorities from `lo` to `hi`. Bands do not overlap; where there are some, all classes of jobs lie
 * in one. */
struct sim_band {
    const char *name;
    int32_t lo, hi;
};

struct sim_scenario;
/* The band of a priority; WEIR_NO_INDEX = none has it. */
uint32_t sim_scenario_band(const struct sim_scenario *scenario, int32_t priority);

/* ---- all the work there is ---- */

enum sim_work_kind { SIM_WORK_PIPELINE, SIM_WORK_JOBS, SIM_WORK_FILL, SIM_WORK_ACTORS };

struct sim_work {
    uint32_t kind;  /* enum sim_work_kind */
    uint32_t index; /* into pipelines, workloads or actors */
};

/* ---- things that happen ---- */

enum sim_action {
    SIM_ACTION_STAGE_SLOW,  /* service times of the stage x factor */
    SIM_ACTION_STAGE_STALL, /* no task of the stage starts; running ones do not end until it is over
                             */
    SIM_ACTION_STAGE_FAIL,  /* attempts of the stage fail with `probability` */
    SIM_ACTION_SETUP_SLOW,  /* set-ups that start meanwhile x factor */
    SIM_ACTION_NODE_DOWN,
    SIM_ACTION_NODE_UP,
    SIM_ACTION_NODE_SLOW, /* services that start meanwhile x factor */
    SIM_ACTION_ARRIVALS,  /* arrival rate x factor (0 = lull) */
    SIM_ACTION_BURST,     /* `items`, or jobs, arrive at once */
    SIM_ACTION_SET,       /* hot swap of sched.* */
    SIM_ACTION_POWER_CAP, /* the GPUs of the node may draw `cap_w` together */
    SIM_ACTION_NIC_DOWN,  /* nothing moves over the interface of the node */
    SIM_ACTION_NIC_UP,    /* it is back, where an entry has no end of its own */
    SIM_ACTION_NIC_SLOW,  /* its bandwidth / factor */
    SIM_ACTION_STORE_DOWN,
    SIM_ACTION_STORE_UP,
    SIM_ACTION_STORE_SLOW,
    SIM_ACTION_SERVICE_DOWN, /* nobody reaches it, and it works on nothing */
    SIM_ACTION_HEAD_DOWN,    /* nothing is decided, and no job that comes is taken */
    /* Operations on models: a service is given its replicas, none, so many; or others in their
     * place. */
    SIM_ACTION_LOAD,
    SIM_ACTION_UNLOAD,
    SIM_ACTION_SCALE,
    SIM_ACTION_DEPLOY
};
/* As scenarios have it: "node_down". */
const char *sim_action_name(uint32_t action);

struct sim_timeline_entry {
    int64_t at_ns;
    int64_t for_ns;  /* 0 = for good */
    uint32_t action; /* enum sim_action */
    uint32_t target; /* stage over all pipelines, node, store, service or source; WEIR_NO_INDEX for
                        SET. Sources are the pipelines, services among them, then the workloads */
    double factor;
    double probability;
    double cap_w;
    uint64_t items;
    uint32_t replicas;       /* SCALE */
    const char *subject;     /* of an operation: who; NULL = the administrator */
    bool is_denied;          /* who may not: nothing happens, and it is recorded */
    struct sim_sched *sched; /* SET: the whole scheduler section from then on */
    char *text;              /* one line for reports: "caption slowed x2 for 30 min" */
};

struct sim_initial_workers {
    uint32_t stage; /* over all pipelines */
    uint32_t node;
    uint32_t count; /* ready at time 0, placed by first fit on that node */
};

struct sim_initial_stage {
    uint32_t stage;
    uint64_t queued;          /* items waiting in front of it */
    double speed_per_s;       /* estimator sample, NAN = none */
    double returns_per_batch; /* NAN = none */
};

struct sim_initial {
    struct sim_initial_workers *workers;
    size_t workers_count;
    struct sim_initial_stage *stages;
    size_t stages_count;
};

struct sim_input_file {
    char *path;
    int64_t bytes;
    uint64_t digest;
};

enum {
    SIM_WORK_MAX = 255 /* pipelines, lists of jobs in time, actor systems: an event names its own */
};

struct sim_scenario {
    char *path; /* as given; "-" = standard input */
    char *name;
    char *description;
    uint64_t seed;
    uint32_t replications;
    int64_t horizon_ns; /* SIM_TIME_MAX = until the work is done */
    int64_t warmup_ns;
    int64_t start_unix_s; /* of time 0, for stamps; 0 = not given */
    struct weir_quantum quantum;
    uint32_t contention;            /* enum sim_contention */
    bool has_gpu_memory_of_tenants; /* pools, or limits of processes */

    struct sim_gpu_type *gpu_types; /* what the scheduler is told */
    struct sim_gpu_type *gpu_truth; /* what there is: same order */
    size_t gpu_types_count;
    struct sim_node_type *node_types;
    size_t node_types_count;
    struct sim_node_group *node_groups;
    size_t node_groups_count;
    uint32_t *node_labels; /* by node, as of weir_topology; NULL = nobody asks for any */
    const char **labels;   /* what they are called, by number */
    uint32_t labels_count;
    struct sim_failures failures;
    struct sim_power power;
    struct sim_memory memory;
    struct sim_drift *drifts; /* at most one of a kind */
    size_t drifts_count;
    struct sim_store *stores;
    size_t stores_count;
    struct sim_racks racks;
    uint32_t exchange;      /* enum sim_exchange_of_jobs */
    uint32_t gpu_addresses; /* enum sim_addresses */
    int64_t gpu_reap_ns;    /* memory of GPUs that a killed worker had is in use for so long */

    struct sim_sched sched;
    struct sim_tenant *tenants; /* none = jobs have no owners */
    size_t tenants_count;
    struct sim_prices prices;
    struct sim_licence *licences;
    size_t licences_count;
    struct sim_reservation *reservations;
    size_t reservations_count;
    struct sim_band *bands;
    size_t bands_count;
    struct sim_pipeline *pipelines;
    size_t pipelines_count;
    size_t stages_total;
    struct sim_workload *workloads; /* jobs in time, then fills */
    size_t workloads_count;
    struct sim_actor_system *actors;
    size_t actors_count;
    struct sim_work *work; /* all of these, pipelines first */
    size_t work_count;

    struct sim_timeline_entry *timeline; /* ascending by at_ns */
    size_t timeline_count;
    struct sim_window *windows; /* ascending */
    size_t windows_count;
    int64_t late_ns; /* items that take longer are late: the bound of a goal; 0 = none */
    struct sim_initial initial;
    int64_t sample_ns; /* 0 = chosen by the recorder */
    uint32_t keep;     /* enum sim_keep of the recorder; 0 = by the number of jobs */
    bool has_features; /* samples of what forecasts start from */
    struct sim_variant *variants;
    size_t variants_count;
    struct sim_expect *expects;
    size_t expects_count;
    struct sim_goal goal;
    double growth_month; /* of the work, a fraction; 0 = not said */

    const char **assumptions; /* sentences: what nobody said, where it matters, and its source */
    size_t assumptions_count;
    uint32_t sources_measured, sources_datasheet, sources_guess, sources_unstated;
    uint32_t knobs; /* per-stage worker counts and other keys the user had to set beyond the work */
    struct sim_input_file *files; /* the scenario itself and what it read */
    size_t files_count;
    char *resolved;  /* canonical YAML text of all of this */
    uint64_t digest; /* of `resolved` */
};

/* The policies a scenario may name: built-ins and loaded plug-ins. */
struct sim_policies {
    const struct weir_placement_ops **placements;
    size_t placements_count;
    const struct weir_scaling_ops **scalings;
    size_t scalings_count;
    const struct weir_queueing_ops **queueings;
    size_t queueings_count;
    const struct weir_capacity_ops **capacities;
    size_t capacities_count;
    struct sim_module **modules; /* those whose policies are in another process */
    size_t modules_count;
};

struct sim_scenario_source {
    const char *path;
    const char *text;        /* NULL = read `path` ("-" = standard input) */
    const char *const *sets; /* "path=value", applied in order before validation */
    size_t sets_count;
    const struct sim_policies *policies; /* NULL = those of libweir */
    /* The id of a metric that is called `name`, and its unit ("" = not known); where nothing is
     * called so, the name itself, and in *near what is (NULL = nothing). NULL = names are ids. */
    const char *(*metric_named)(const char *name, const char **unit, const char **near);
    /* Seconds since the start (start_unix_s, 0 = not given) of a time of day or a stamp. NULL =
     * times are given since the start alone. */
    weir_status (*moment_since)(const char *text, int64_t start_unix_s, double *at_s,
                                struct weir_error *error);
    /* Whose cluster arrivals.load is relative to: demand must not grow with the cluster that a
     * variant tries. NULL = its own. */
    const struct sim_scenario *baseline;
    const struct wl_limits *limits; /* of files that are read; NULL = the defaults */
    /* Traces that were read, for the next scenario too; NULL = they are read for this one alone. */
    struct wl_trace_shelf *traces;
    bool is_variant; /* the sets make one variant: the others are not checked on top of it */
    /* Of the sets the last so many give keys that act with the settings there are, or are refused;
     * what those before them need a variant may bring. */
    size_t asked_sets;
};

/* The single value at a path of the scenario as it was resolved, defaults included; malloc'ed, NULL
 * when there is none (reported). `is_whole`: only whole numbers can stand there. */
char *sim_scenario_value(const struct sim_scenario *scenario, const char *path, bool *is_whole,
                         struct sim_diagnostics *diagnostics);

/* Reads, validates and resolves. On WEIR_OK diagnostics hold warnings at most; on WEIR_EFORMAT at
 * least one error; WEIR_EIO when the file cannot be read (one diagnostic says why). */
weir_status sim_scenario_load(const struct sim_scenario_source *source,
                              struct sim_scenario **scenario, struct sim_diagnostics *diagnostics);
void sim_scenario_destroy(struct sim_scenario *scenario);

/* Name of node `index` over all groups ("dgx-3"); writes at most `capacity` bytes. */
void sim_scenario_node_name(const struct sim_scenario *scenario, uint32_t index, char *text,
                            size_t capacity);
uint32_t sim_scenario_node_count(const struct sim_scenario *scenario);
/* The group of node `index`. */
uint32_t sim_scenario_node_group(const struct sim_scenario *scenario, uint32_t index);
/* What node `index` is called in streams: by its group and its number there, so that other nodes do
 * not matter. */
struct sim_stream_key sim_scenario_node_key(const struct sim_scenario *scenario, uint32_t index,
                                            uint32_t attempt);
/* Labels of node `index`, as of weir_topology. */
static inline uint32_t sim_scenario_node_labels(const struct sim_scenario *scenario, uint32_t index)
{
    return scenario->node_labels == NULL ? 0 : scenario->node_labels[index];
}
/* What a request says of nodes: " on storage, ssd", ", rather on store" or both; nothing where any
 * node will do. */
enum { SIM_NODES_TEXT = 160 };
void sim_scenario_print_nodes(const struct sim_scenario *scenario, uint32_t labels, uint32_t soft,
                              char text[SIM_NODES_TEXT]);
/* Type of node `index`. */
const struct sim_node_type *sim_scenario_node_type(const struct sim_scenario *scenario,
                                                   uint32_t index);
/* Stage by its index over all pipelines. */
const struct sim_stage *sim_scenario_stage(const struct sim_scenario *scenario, uint32_t index);
/* Whether stages of the pipeline hand bytes on, and whether some of its bytes take time to move. */
bool sim_pipeline_has_bytes(const struct sim_pipeline *pipeline);
/* For how many items of a batch one counts on average; 1 but for requests of a service. */
double sim_input_mean_items(const struct sim_input *input);
bool sim_scenario_moves_bytes(const struct sim_scenario *scenario,
                              const struct sim_pipeline *pipeline);
/* About how many jobs in time come up to the horizon. */
double sim_scenario_jobs(const struct sim_scenario *scenario);
/* About how long a run takes, in no unit: what comes, and how much there is to look at for it. */
double sim_scenario_work(const struct sim_scenario *scenario);

/* The reference of all keys from the schema table: text (Markdown) or JSON Schema; malloc'ed. */
char *sim_schema_markdown(void);
char *sim_schema_json(const struct sim_policies *policies);
/* What is known of a key, by its name or its path ("cluster.nodes.count"), at every place that has
 * it. How many there are. */
size_t sim_schema_explain(FILE *out, const char *word);
/* All keys, some more than once; no more than `capacity`. */
size_t sim_schema_keys(const char **keys, size_t capacity);

#endif
