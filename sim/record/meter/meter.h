/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The meter: turns transitions of one run into event-exact measures.
 *
 * The world reports each change once (a worker's state, a queue's length, a node's capacity, a
 * finished item); the meter keeps gauges and counters and, at every sample, writes the means of the
 * closed interval to the recorder. At the end it computes the results of docs/metrics.md.
 * It decides nothing and knows no policy. All updates are O(1) but sim_meter_node_free
 * (O(stages * GPUs of the node), called once per placement).
 */
#ifndef SIM_RECORD_METER_H
#define SIM_RECORD_METER_H

#include "sim/record/meter/gauge.h"
#include "weir/cluster.h"
#include "weir/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_resource {
    SIM_RESOURCE_CPU,
    SIM_RESOURCE_GPU,
    SIM_RESOURCE_NVDEC,
    SIM_RESOURCE_NVENC,
    SIM_RESOURCE_RAM,
    SIM_RESOURCE_GPU_MEM,
    SIM_RESOURCE_COUNT
};

/* States of a worker as far as the measures care. */
enum sim_meter_state {
    SIM_METER_GONE,    /* holds nothing (before and after its life) */
    SIM_METER_SETUP,   /* holds its devices, not ready */
    SIM_METER_IDLE,    /* ready, no task */
    SIM_METER_BUSY,    /* runs a task: what it is given of its devices counts as active */
    SIM_METER_BLOCKED, /* has something in hand that waits: for room behind, for an answer */
    SIM_METER_STATES
};

struct sim_meter_stage_info {
    uint32_t pipeline;
    bool is_first, is_last;
    double mix;                /* share in the reference mix of frag.* */
    struct weir_shape shape;   /* of the request */
    double samples_per_source; /* source items one item of this stage stands for, k of the stage */
    uint32_t batch;
    const char *name; /* label of its results; NULL = its index */
    /* A service: the classes of its requests. None = a stage of a pipeline. */
    const char *const *class_names;
    uint32_t class_count;
};

/* Amounts in CPUs, GPUs, engines and bytes. */
struct sim_meter_amounts {
    double amount[SIM_RESOURCE_COUNT];
};

/* A tenant of jobs, as the scenario has it. */
struct sim_meter_tenant_info {
    const char *name; /* must outlive the meter */
    uint32_t parent;  /* counted from 1, 0 = none */
    double weight;
    double guarantee; /* GPUs */
};

/* A part of the run with results of its own; in the order of time. */
struct sim_meter_window_info {
    const char *name;
    int64_t from_ns, to_ns; /* SIM_TIME_MAX = to its end */
};

/* What things cost, an hour of a device and a GiB of bytes. */
struct sim_meter_prices {
    const double *gpu; /* of a node's GPUs, by node */
    double cpu, storage, network;
    int64_t granularity_ns;
    bool is_of_nodes; /* nodes are paid, not what workers hold */
};

struct sim_meter_config {
    size_t node_count;
    uint32_t node_every; /* samples of the cluster to one of a node; 0 = each */
    const struct sim_meter_amounts *node_capacity;
    const struct sim_meter_amounts
        *node_believed; /* what the scheduler is told; NULL = not known */
    size_t stage_count;
    const struct sim_meter_stage_info *stages;
    /* The work that fragmentation is measured against, by `shape` and `mix`; NULL = the stages. */
    const struct sim_meter_stage_info *expected;
    size_t expected_count;
    size_t pipeline_count;
    int64_t warmup_ns;
    const char *const *pipeline_names; /* labels of their results; NULL = their indices */
    /* What the scenario has of meter_physics.h; names of nodes = memory in time. */
    const char *const *node_names;
    bool has_power, has_turns, has_addresses;
    size_t link_count;
    size_t workload_count;
    const uint32_t *workload_classes; /* how many classes of jobs each has */
    const uint32_t *class_bands;      /* band of priority of each class, by workload; NULL = none */
    size_t band_count;
    const struct sim_meter_tenant_info *tenants; /* parents before their children */
    size_t tenant_count;
    const struct sim_meter_prices *prices; /* NULL = nothing is reckoned in money */
    const char *const *reservations;       /* names, that outlive the meter */
    size_t reservation_count;
    const struct sim_meter_window_info *windows;
    size_t window_count;
    int64_t late_ns; /* items that take longer are counted as late, in windows; 0 = none */
};

struct sim_recorder;
struct sim_meter;

weir_status sim_meter_create(const struct sim_meter_config *config, struct sim_meter **meter);
void sim_meter_destroy(struct sim_meter *meter);

/* ---- transitions, in time order ---- */

/* Who changed. `uses` = what it really takes while busy, read when work begins or ends; `holds` =
 * what is set aside for it, read when a life begins or ends. */
struct sim_meter_worker {
    uint32_t node;
    uint32_t stage;     /* WEIR_NO_INDEX = a rank of a job */
    uint32_t job_class; /* of that job */
    uint32_t tenant;    /* of that job, counted from 1; 0 = nobody's */
    int64_t since_ns;   /* when its life began */
    const struct sim_meter_amounts *holds;
    const struct sim_meter_amounts *uses;
    bool is_member; /* of a group that its first place counts: its resources alone */
};
void sim_meter_worker_state(struct sim_meter *meter, int64_t now_ns,
                            const struct sim_meter_worker *worker, enum sim_meter_state from,
                            enum sim_meter_state to);
/* What one busy worker takes of a node changes while it is busy. */
void sim_meter_node_used(struct sim_meter *meter, int64_t now_ns, uint32_t node,
                         const struct sim_meter_amounts *before,
                         const struct sim_meter_amounts *after);
/* Queue in front of a stage. */
void sim_meter_queue(struct sim_meter *meter, int64_t now_ns, uint32_t stage, uint64_t items,
                     double bytes);
/* Whether back-pressure keeps the stage from starting tasks it could start. */
void sim_meter_backpressure(struct sim_meter *meter, int64_t now_ns, uint32_t stage, bool is_on);
/* Mean service time of the stage as last estimated (s per batch and worker), for the bottleneck. */
void sim_meter_speed(struct sim_meter *meter, int64_t now_ns, uint32_t stage, double batches_per_s);
void sim_meter_node_up(struct sim_meter *meter, int64_t now_ns, uint32_t node, bool is_up);
/* The scheduler is told so; it may be late. */
void sim_meter_believed(struct sim_meter *meter, int64_t now_ns, uint32_t node, bool is_up);
/* Workers that a stage is to have by the plan that was just applied. */
void sim_meter_planned(struct sim_meter *meter, int64_t now_ns, uint32_t stage, uint64_t workers);
void sim_meter_task_done(struct sim_meter *meter, int64_t now_ns, uint32_t stage,
                         int64_t service_ns);
/* The backlog of a pipeline is there from now on: makespan counts from here. */
void sim_meter_submitted(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline);
void sim_meter_item_arrived(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline);
/* A stage made one more item of one that is `age_ns` old: it counts as an arrival, and its latency
 * will count from the admission of the item it came from. */
void sim_meter_item_split(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline,
                          int64_t age_ns);
/* An item left the last stage (or was dropped). Latency counts from admission; wait = latency minus
 * service. */
void sim_meter_item_done(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline,
                         int64_t latency_ns, int64_t service_ns, bool is_dropped);
/* Time an item waited in front of a stage before its task started. */
void sim_meter_wait(struct sim_meter *meter, int64_t now_ns, uint32_t stage, int64_t wait_ns);

/* Worker ended before it finished one task; it was in set-up in between. */
void sim_meter_setup_wasted(struct sim_meter *meter, int64_t now_ns, int64_t from_ns,
                            int64_t to_ns);
/* A worker was killed because its node had no memory left. */
void sim_meter_oom(struct sim_meter *meter, int64_t now_ns);
/* Somebody did not get the memory of a GPU that he asked for, though enough was free, scattered. */
void sim_meter_gpu_oom(struct sim_meter *meter, int64_t now_ns, bool is_scattered);
/* Bytes between stages that their store could not hold. */
void sim_meter_spilled(struct sim_meter *meter, int64_t now_ns, double bytes);
/* Bytes arrived that took so long; of what is under way nothing is counted. */
enum sim_moved { SIM_MOVED_BETWEEN, SIM_MOVED_READ, SIM_MOVED_WRITTEN, SIM_MOVED_KINDS };
void sim_meter_moved(struct sim_meter *meter, int64_t now_ns, enum sim_moved kind, double bytes,
                     int64_t took_ns);
/* Work thrown away by a stop, a crash or a failure; `stage`: WEIR_NO_INDEX = of a job; `cause` in
 * words that stay. */
void sim_meter_work_lost(struct sim_meter *meter, int64_t now_ns, uint32_t stage, int64_t lost_ns,
                         const char *cause);
void sim_meter_retry(struct sim_meter *meter, int64_t now_ns, bool is_exhausted);

/* What is free on a node after a placement or release: updates all frag.* gauges. */
void sim_meter_node_free(struct sim_meter *meter, int64_t now_ns, uint32_t node,
                         const struct weir_node *host, const struct weir_gpu *gpus);
/* The same of a node whose free amounts are these, when it is known what follows from them; else
 * false, and node_free is to be told, and then to keep it. */
struct sim_frag_key;
bool sim_meter_node_recall(struct sim_meter *meter, int64_t now_ns, uint32_t node,
                           const struct sim_frag_key *key);
void sim_meter_node_keep(struct sim_meter *meter, uint32_t node, const struct sim_frag_key *key);

/* Fetches what calls about a node need; changes nothing. */
void sim_meter_foresee(const struct sim_meter *meter, uint32_t node);

/* Electric power that the GPUs and the CPUs of a node draw from now on. */
void sim_meter_node_power(struct sim_meter *meter, int64_t now_ns, uint32_t node, double gpu_w,
                          double cpu_w);

/* A decision was applied; `refused` of its starts the cluster could not give. */
void sim_meter_decision(struct sim_meter *meter, int64_t now_ns, uint32_t refused, int64_t wall_ns);

/* ---- reading ---- */

/* When the next sample is due: what is counted at that very instant is of the interval behind it,
 * as it is of the later one of two windows. 0 = there is no interval behind it. */
void sim_meter_sample_at(struct sim_meter *meter, int64_t at_ns);
/* Closes the interval that started at the last sample and writes it (cluster, nodes, stages). */
weir_status sim_meter_sample(struct sim_meter *meter, int64_t now_ns, struct sim_recorder *recorder,
                             struct weir_error *error);
/* After the last of them: writes what nodes have since theirs. */
weir_status sim_meter_sample_rest(struct sim_meter *meter, struct sim_recorder *recorder,
                                  struct weir_error *error);

struct sim_meter_end {
    int64_t end_ns;
    bool is_complete;         /* all work done, not cut by the horizon */
    uint64_t items_in_system; /* censored */
    const int64_t *age_ns;    /* of the items in the system, or NULL */
    /* Items finished a second that plans give at most, and one that stands still; 0 = not known. */
    double bound_per_s, plan_bound_per_s;
};
/* Before the results, of work that is no items: it came from `first_ns` on, and the last of it was
 * over at `last_ns`. The makespan is of all work. */
void sim_meter_span(struct sim_meter *meter, int64_t first_ns, int64_t last_ns);
/* Results of the whole run (after warm-up). */
struct sim_results;
weir_status sim_meter_results(struct sim_meter *meter, const struct sim_meter_end *end,
                              struct sim_results *out);
/* False when the number in the system kept growing until the horizon cut the run, so that its
 * results depend on the horizon. After sim_meter_results. */
bool sim_meter_is_steady(const struct sim_meter *meter);
uint64_t sim_meter_items_done(const struct sim_meter *meter);

/* Checks of every run: busy time = service handed out, states add up, queues not negative, arrivals
 * = done + dropped + in system. */
weir_status sim_meter_check(const struct sim_meter *meter, int64_t now_ns, uint64_t items_in_system,
                            struct weir_error *error);

#endif
