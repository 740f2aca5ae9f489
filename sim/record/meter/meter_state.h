/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of the meter, shared by meter*.c alone.
 *
 * Every step function lives in a `series`: present values and their exact integrals under one
 * time stamp, so that one change costs one short vector loop. Readers take `totals` (integrals and
 * counters at an instant); a sample or a result is the difference of two totals. Three of them are
 * kept: zero, the end of the warm-up (`base`) and the last sample (`last`).
 */
#ifndef SIM_RECORD_METER_STATE_H
#define SIM_RECORD_METER_STATE_H

#include "sim/engine/room.h"
#include "sim/record/meter/fragmentation.h"
#include "sim/record/meter/meter.h"
#include "sim/record/meter/meter_jobs.h"
#include "sim/record/meter/meter_physics.h"
#include "sim/record/meter/percentiles.h"
#include "sim/record/record.h"

enum sim_stage_series {
    SERIES_SETUP, /* workers by what they do; these four add up to all workers */
    SERIES_IDLE,  /* ready and not held back */
    SERIES_BUSY,
    SERIES_BLOCKED,      /* BLOCKED, or ready with input while back-pressure is on */
    SERIES_STARVED,      /* those of IDLE without input */
    SERIES_QUEUE,        /* items in front */
    SERIES_BYTES,        /* bytes in front */
    SERIES_PRESSED,      /* 1 while back-pressure is on */
    SERIES_BLOCKED_TIME, /* 1 while back-pressure is on or a worker is BLOCKED */
    SERIES_STARVED_TIME, /* 1 while a ready worker has no input */
    SERIES_SIGNAL,       /* back-pressure signal in [-1, 1] */
    SERIES_BOTTLENECK,   /* 1 while its normalised capacity is the least */
    STAGE_SERIES
};

struct stage_totals {
    double integral[STAGE_SERIES];
    double tasks, created, deleted, first_fill;
};

struct stage_meter {
    double value[STAGE_SERIES];
    double integral[STAGE_SERIES];
    int64_t since_ns;
    int64_t count[SIM_METER_STATES]; /* of workers; GONE counts backwards */
    uint64_t queue, queue_max;
    double bytes, bytes_max;
    bool is_pressed;
    bool is_stale; /* what its pipeline knows of its capacity */
    uint64_t tasks, created, deleted, first_fill;
    uint64_t due_tasks;         /* when the sample was due */
    double service_ns, lost_ns; /* handed out in whole tasks; thrown away */
    double batches_per_s;       /* NAN = unknown */
    struct sim_percentiles wait;
    struct sim_gauge planned, missing; /* workers, by the plan in force */
    double planned_base, missing_base;
    struct stage_totals base, last;
    char *label;
};

struct amounts_series {
    double value[SIM_RESOURCE_COUNT];
    double integral[SIM_RESOURCE_COUNT];
    int64_t since_ns;
};

struct node_totals {
    double assigned[SIM_RESOURCE_COUNT], active[SIM_RESOURCE_COUNT];
    double up;
    double energy; /* W ns */
};

struct node_meter {
    _Alignas(SIM_LINE) struct amounts_series assigned, active;
    struct sim_gauge up;
    bool is_up;
    struct sim_frag frag;   /* of the last report, whether up or not */
    struct sim_gauge power; /* W */
    double gpu_w;
    struct node_totals base, last;
    struct node_totals written; /* at the last row of the node */
};

/* Balance of stage capacities: all stages, and GPU stages with two or more workers. */
enum sim_balance { BALANCE_ALL, BALANCE_GPU, BALANCES };

/* The least and the most of the capacities of some stages, those unknown apart. */
struct extremes {
    double least, most;
    uint32_t count, unknown, least_stage;
};

struct pipeline_totals {
    double in_system, arrived, done, dropped, wait_ns;
    double balance[BALANCES], balance_known[BALANCES];
};

struct pipeline_meter {
    struct sim_gauge in_system;
    uint64_t arrived, done, dropped;
    double latency_ns;                           /* of all that left */
    double wait_ns;                              /* of those done */
    int64_t first_arrival_ns, last_done_ns;      /* -1 = none */
    uint64_t due_arrived, due_done, due_dropped; /* when the sample was due */
    uint32_t bottleneck;                         /* stage, or WEIR_NO_INDEX */
    uint32_t stage_first, leaves;                /* a power of two, at least its stages */
    struct extremes (*capacities)[BALANCES]; /* [1] of all; of [i] those of [2 i] and [2 i + 1] */
    struct sim_gauge balance[BALANCES], balance_known[BALANCES];
    struct sim_percentiles latency; /* only with several pipelines */
    struct pipeline_totals base, last;
    struct pipeline_totals steady_start, steady_from, steady_to; /* of the longest interval */
    char *label;
};

enum { FRAG_RATIO = SIM_FRAG_COUNT, FRAG_SERIES }; /* the ratio of frag.whole_free in addition */

struct cluster_totals {
    double capacity[SIM_RESOURCE_COUNT];
    double frag[FRAG_SERIES];
    double energy, gpu_energy; /* W ns */
    double spilled_bytes, ooms, gpu_ooms, scattered_ooms, lost_ns, retries, exhausted, decisions,
        refused, samples;
    double moved_bytes[SIM_MOVED_KINDS], moving_ns;
};

struct link_meter {
    double bytes, sampled; /* delivered so far, up to the last sample */
    struct sim_gauge capacity;
    double sampled_capacity; /* integral at the last sample */
    bool is_used;            /* it has rows */
};

struct memory_meter {
    struct sim_gauge in_use; /* bytes */
    double most, spilled;
    double base, sampled; /* integrals at the end of the warm-up, at the last sample */
    double sampled_most, sampled_spilled;
    char *label;
};

struct gpus_totals {
    double power, computing, delivered;
};

struct gpus_meter {
    struct sim_gauge power, computing, delivered;
    double cap_w, cap_least; /* in force, 0 = none; lowest since the last sample, NAN = none */
    double heat, heat_most;  /* NAN = not modelled */
    struct gpus_totals base, last;
};

/* Integral of the number in the system at regular instants, to see whether it grows. When the
 * marks run out, every second is dropped and the distance doubles. */
enum { GROWTH_MARKS = 256 };
struct growth {
    int64_t step_ns;
    size_t count;
    double mark[GROWTH_MARKS]; /* [i] = integral at i * step_ns */
};

struct sim_meter {
    int64_t next_ns; /* when meter_wake has something to do */
    struct stage_meter *stages;
    struct node_meter *nodes;
    struct pipeline_meter *pipelines;
    uint32_t *stale; /* stages */
    size_t stale_count;
    struct sim_meter_amounts *capacity; /* own copies of what the config pointed to */
    struct sim_meter_stage_info *info;
    size_t stage_count, node_count, pipeline_count;
    struct sim_frag_mix mix;
    struct sim_frag_memo *memo;
    struct sim_meter_stage_info *expected; /* what it is of, when not of the stages */

    int64_t warmup_ns;
    bool is_warm;
    int64_t first_ns, last_ns; /* of all work, when the results are made; -1 = none */
    struct amounts_series up_capacity;
    double frag_value[FRAG_SERIES], frag_integral[FRAG_SERIES];
    int64_t frag_since_ns;
    double setup_wasted_ns; /* after the warm-up */
    double spilled_bytes, moved_bytes[SIM_MOVED_KINDS], moving_ns, jobs_lost_ns;
    uint64_t ooms, gpu_ooms, scattered_ooms, retries, exhausted, decisions, refused, samples;
    struct cluster_totals base, last;
    int64_t sampled_ns, sample_ns;   /* the last and the next one; 0 = at no instant of its own */
    bool is_due;                     /* counts are kept as they were when it was due */
    int64_t nodes_ns;                /* of the last rows of nodes */
    uint32_t node_every;             /* samples to such a row */
    struct sim_percentiles latency;  /* of all pipelines */
    struct sim_percentiles decision; /* wall time */

    double bytes, bytes_max;                 /* in all queues */
    double between_bytes, between_bytes_max; /* in those behind a stage */
    struct sim_gauge in_system;
    struct sim_gauge power, gpu_power; /* of all nodes, W */
    struct growth growth;
    int64_t workers, in_setup; /* of all stages */
    int64_t steady_since_ns, steady_from_ns, steady_to_ns;

    struct sim_job_meter *jobs; /* a class each, then a workload each */
    size_t class_count, workload_count, band_count;
    struct meter_tenants *tenants;   /* NULL = there are none */
    struct meter_reserved *reserved; /* likewise */
    struct meter_cost *cost;         /* likewise */
    struct meter_belief *belief;     /* NULL = what is told is not known */
    struct meter_windows *windows;   /* meter_windows.c; NULL = there are none */
    struct service_meter **services; /* meter_services.c; by stage, NULL = it is of no service */

    struct link_meter *links; /* meter_physics.c; NULL = the scenario has no such thing */
    size_t link_count;
    struct memory_meter *memory; /* by node */
    struct gpus_meter *gpus;     /* by node */
    double heat_most;
    double *turns; /* that end a second, by node */
    struct sim_gauge turning;
    double turning_base;
    bool has_addresses; /* of memory of GPUs */
    struct sim_gauge scattered;
    double scattered_base;

    uint64_t illegal; /* transitions from a state nobody was in, departures nobody arrived for */
    bool is_steady;
    bool has_cuts; /* some GPU is cut into MIG instances */
    uint64_t violations;
};

/* Values that a distribution keeps before it becomes a histogram. */
enum { STORED_VALUES = 1000000 };

static inline void series_advance(double *integral, const double *value, size_t count,
                                  double elapsed_ns)
{
#pragma GCC unroll 12 /* most are STAGE_SERIES, at every event */
    for (size_t i = 0; i < count; i++)
        integral[i] += value[i] * elapsed_ns;
}

static inline void stage_advance(struct stage_meter *stage, int64_t now_ns)
{
    if (now_ns == stage->since_ns)
        return;
    series_advance(stage->integral, stage->value, STAGE_SERIES, (double)(now_ns - stage->since_ns));
    stage->since_ns = now_ns;
}

/* Warm-up and growth marks that lie before or at `now_ns`. */
void sim_meter_wake(struct sim_meter *meter, int64_t now_ns);

static inline void meter_tick(struct sim_meter *meter, int64_t now_ns)
{
    if (now_ns >= meter->next_ns)
        sim_meter_wake(meter, now_ns);
}

/* meter_totals.c: integrals and counters at an instant not before the last transition. */
struct stage_totals sim_meter_stage_totals(const struct stage_meter *stage, int64_t now_ns);
struct node_totals sim_meter_node_totals(const struct node_meter *node, int64_t now_ns);
struct pipeline_totals sim_meter_pipeline_totals(const struct pipeline_meter *pipeline,
                                                 int64_t now_ns);
struct cluster_totals sim_meter_cluster_totals(const struct sim_meter *meter, int64_t now_ns);

/* meter_jobs.c */
weir_status meter_jobs_open(struct sim_meter *meter, const struct sim_meter_config *config);
void meter_jobs_close(struct sim_meter *meter);
void meter_jobs_warm(struct sim_meter *meter, int64_t now_ns);
weir_status meter_tenants_open(struct sim_meter *meter, const struct sim_meter_config *config);
void meter_tenants_close(struct sim_meter *meter);
weir_status meter_reserved_open(struct sim_meter *meter, const struct sim_meter_config *config);
void meter_reserved_close(struct sim_meter *meter);
void meter_reserved_results(struct sim_meter *meter, int64_t end_ns, struct sim_results *out);
weir_status meter_cost_open(struct sim_meter *meter, const struct sim_meter_config *config);
void meter_cost_close(struct sim_meter *meter);
void meter_cost_life(struct sim_meter *meter, int64_t now_ns, const struct sim_meter_worker *worker,
                     bool begins);
void meter_cost_node(struct sim_meter *meter, int64_t now_ns, uint32_t node, bool is_up);
void meter_cost_results(struct sim_meter *meter, int64_t end_ns, struct sim_results *out);
/* Ranks of a tenant hold so much more, or less. */
void meter_tenants_held(struct sim_meter *meter, int64_t now_ns, uint32_t tenant,
                        const struct sim_meter_amounts *change, double sign);
weir_status meter_tenants_waiting(struct sim_meter *meter, uint32_t tenant, int64_t age_ns);
void meter_tenants_warm(struct sim_meter *meter, int64_t now_ns);
void meter_tenants_results(struct sim_meter *meter, int64_t end_ns, double span_ns,
                           struct sim_results *out);

/* meter_services.c */
weir_status meter_services_open(struct sim_meter *meter, const struct sim_meter_config *config);
void meter_services_close(struct sim_meter *meter);
void meter_services_warm(struct sim_meter *meter);
/* Items that the stage worked on, if it is of a service. */
double meter_services_items(const struct sim_meter *meter, size_t stage, double otherwise);
void meter_services_results(const struct sim_meter *meter, struct sim_results *out);

/* meter_results.c: rows of lat.e2e.*. */
void meter_latency_results(struct sim_percentiles *values, const char *label,
                           const struct sim_censored *censored, struct sim_results *out);

/* meter_belief.c */
weir_status meter_belief_open(struct sim_meter *meter, const struct sim_meter_config *config);
void meter_belief_close(struct sim_meter *meter);
void meter_belief_warm(struct sim_meter *meter, int64_t now_ns);
/* After a plan came into force, or workers appeared or went. */
void meter_belief_workers(struct stage_meter *stage, int64_t now_ns);
/* After the truth of a node or what is told of it changed. */
/* What may be held of a resource of a node: what it has, and of memory of GPUs what a scheduler was
 * told, which gives it away by word alone. What is used of it is the cluster's to check. */
double meter_belief_most(const struct sim_meter *meter, size_t node, size_t resource);
void meter_belief_check(struct sim_meter *meter, int64_t now_ns, uint32_t node);
void meter_belief_results(const struct sim_meter *meter, int64_t end_ns, struct sim_results *out);

/* meter_sample.c: an interval that is written, its rows and means. */
struct sample_interval {
    struct sim_recorder *recorder;
    int64_t from_ns, to_ns;
};
void meter_sample_due(struct sim_meter *meter);
weir_status meter_write_row(const struct sample_interval *interval, enum sim_sample_kind kind,
                            uint32_t index, const double *values, struct weir_error *error);
double meter_mean(const struct sample_interval *interval, double to, double from);

/* meter_physics.c */
weir_status meter_physics_open(struct sim_meter *meter, const struct sim_meter_config *config);
void meter_physics_close(struct sim_meter *meter);
void meter_physics_warm(struct sim_meter *meter, int64_t now_ns);
weir_status meter_physics_sample(struct sim_meter *meter, const struct sample_interval *interval,
                                 struct weir_error *error);
void meter_physics_results(struct sim_meter *meter, int64_t end_ns, double span_ns,
                           struct sim_results *out);

/* meter_capacity.c: what depends on worker counts and speeds alone. The first before anything else
 * there, when the stages are known; the second when a stage begins or ceases to take part. */
weir_status sim_meter_capacity_open(struct sim_meter *meter);
void sim_meter_capacity_stale(struct sim_meter *meter, uint32_t stage);
/* After a change of a stage: O(log stages) for it and each that is stale. */
void sim_meter_rebalance(struct sim_meter *meter, int64_t now_ns, uint32_t stage);
/* Ends the interval of constant workers at `now_ns`, before the change. */
void sim_meter_steady_stop(struct sim_meter *meter, int64_t now_ns);
/* Begins the next one, after the change. */
void sim_meter_steady_start(struct sim_meter *meter, int64_t now_ns);

/* meter_growth.c: sets the marks that are due up to `now_ns`; returns when the next one is. */
int64_t sim_meter_growth_mark(struct sim_meter *meter, int64_t now_ns);
/* Whether the number in the system kept growing over [from_ns, end_ns): its mean in the last
 * quarter is above 10 and more than 1.5 times that of the second quarter. */
bool sim_meter_grows(const struct sim_meter *meter, int64_t from_ns, int64_t end_ns);

/* meter_check.c: Little's law over all that left and, when known, all that are inside. False when
 * it does not hold. */
bool sim_meter_little_holds(const struct sim_meter *meter, int64_t now_ns, double inside_ns);

#endif
