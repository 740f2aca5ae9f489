/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The draft: what stands in a scenario file, typed, with names not yet resolved.
 *
 * The reader fills it by the schema; resolve.c turns it into a struct sim_scenario and completes it
 * (defaults that depend on other things), so that the canonical text is written from it. All of it
 * lives in the scenario's arena. `head.node` is the place in the text, NULL for what was not given;
 * `to` is what becomes of the thing, and keys in which there is nothing to resolve are read into
 * it.
 */
#ifndef SIM_SCENARIO_DRAFT_H
#define SIM_SCENARIO_DRAFT_H

#include "sim/scenario/read/yaml.h"
#include "sim/scenario/scenario.h"

struct draft_head {
    const struct sim_yaml *node;
    char *name;
};

struct draft_list {
    void *items;
    size_t count;
};

struct draft_set {
    struct draft_head head; /* name = path */
    char *value;            /* in flow style */
};

struct draft_quantum {
    struct draft_head head;
    uint32_t step;
    uint32_t round;
};

struct draft_gpu_type {
    struct draft_head head;
    struct sim_gpu_type to;
    char *mig;
    char *codecs;
};

struct draft_gpu_count {
    struct draft_head head; /* name of the type */
    uint32_t count;
};

struct draft_catalog {
    struct draft_head head;
    struct draft_list gpu_types;
    struct draft_list node_types;
    struct draft_list models;
};

struct draft_truth {
    struct draft_head head;
    struct draft_list gpu_types;
};

struct draft_instance {
    struct draft_head head;
    char *profile;
};

struct draft_timeslice {
    struct draft_head head;
    struct sim_timeslice to;
};

struct draft_thermal {
    struct draft_head head;
    struct sim_thermal to;
};

struct draft_spot {
    struct draft_head head;
    struct sim_spot to;
};

struct draft_supply {
    struct draft_head head;
    struct draft_spot spot;
    struct sim_supply to;
};

struct draft_node_group {
    struct draft_head head;
    char *type;
    uint32_t count;
    double cpus;
    int64_t ram_bytes;
    double nic_per_s;
    double nvlink_per_s, pcie_per_s;
    struct draft_list gpus;
    uint32_t share;
    struct draft_list partition; /* of draft_instance */
    struct draft_timeslice timeslice;
    double mps_overhead;
    double power_cap_w;
    struct draft_thermal thermal;
    struct sim_topology topology;
    char *labels;
    uint32_t kept;
    struct draft_supply supply;
};

enum draft_rates { DRAFT_RATES_NONE, DRAFT_RATES_DEFAULT };
struct draft_failures {
    struct draft_head head;
    uint32_t rates; /* enum draft_rates: of what is not written */
    struct sim_failures to;
};

struct draft_drift {
    struct draft_head head;
    struct sim_drift to;
};

struct draft_memory {
    struct draft_head head;
    struct sim_memory to;
};

struct draft_power {
    struct draft_head head;
    struct sim_power to;
    uint32_t cpu; /* index into the catalogue */
};

struct draft_traffic {
    struct draft_head head;
    struct sim_traffic to;
};

struct draft_store {
    struct draft_head head;
    struct sim_store to;
    struct draft_list traffic;
};

struct draft_racks {
    struct draft_head head;
    struct sim_racks to;
};

struct draft_cluster {
    struct draft_head head;
    struct draft_list nodes;
    char *nodes_file;
    uint32_t nodes_every;
    struct draft_failures failures;
    struct draft_list drifts;
    struct draft_memory memory;
    struct draft_power power;
    uint32_t share; /* of groups that do not say */
    struct draft_list stores;
    struct draft_racks racks;
    uint32_t exchange;      /* enum sim_exchange_of_jobs */
    uint32_t gpu_addresses; /* enum sim_addresses */
    int64_t gpu_reap_ns;
};

struct draft_policy {
    struct draft_head head; /* name of the policy */
    struct sim_policy_choice choice;
};

struct draft_scaling {
    struct draft_policy policy;
    int64_t interval_ns;
    int64_t window_ns;
    uint32_t min_points;
};

struct draft_latency {
    struct draft_head head;
    int64_t base_ns;
    int64_t per_worker_ns;
};

struct draft_repartition {
    struct draft_head head;
    struct sim_repartition to;
};

struct draft_groups {
    struct draft_head head;
    uint32_t scorer;
    uint32_t report;
    uint32_t devices;
};

/* Amounts of what is limited. */
struct draft_quota {
    struct draft_head head;
    double gpus, cpus;
    int64_t ram_bytes;
};

struct draft_limits {
    struct draft_head head;
    struct draft_quota hard, soft;
};

enum { REUSE_EVENT, REUSE_NONE };
struct draft_gpu_memory {
    struct draft_head head;
    int64_t pool_bytes, process_bytes;
    uint32_t reuse;
    int64_t free_ns;
};

struct draft_tenant {
    struct draft_head head;
    char *parent;
    double weight, tickets;
    int64_t priority;
    struct draft_quota guarantee;
    struct draft_limits quota;
    struct draft_quota borrow, lend;
    struct draft_gpu_memory gpu_memory;
};

struct draft_permission {
    struct draft_head head; /* the subject */
    char *may, *models;
};

struct draft_licence {
    struct draft_head head;
    uint32_t limit;
    int64_t priority_threshold;
};
struct draft_taken {
    struct draft_head head;
    uint32_t count;
};

struct draft_reservation {
    struct draft_head head;
    char *tenant, *gpu_types;
    int64_t start_ns, duration_ns;
    uint32_t nodes, gpus;
};

struct draft_band {
    struct draft_head head;
    int64_t lo, hi;
};

struct draft_prices {
    struct draft_head head;
    struct sim_prices to;
    uint32_t granularity; /* second, minute, hour */
};

struct draft_sched {
    struct draft_head head;
    struct draft_policy placement;
    struct draft_scaling scaling;
    struct draft_policy queueing;
    struct draft_policy capacity;
    uint32_t explain;
    struct draft_latency latency;
    int64_t view_age_ns;
    uint32_t hold_mode;
    uint32_t infeasible;
    int64_t half_life_ns, usage_period_ns;
    uint32_t usage_rule; /* enum weir_usage_rule */
    struct draft_groups groups;
    struct draft_repartition repartition;
};

struct draft_class {
    struct draft_head head;
    struct sim_item_class to;
    char *shape; /* of requests */
    char *subject;
};

struct draft_arrivals {
    struct draft_head head;
    struct sim_arrivals to;
    double load; /* of jobs alone */
    bool is_of_items;
};

struct draft_rate_limit {
    struct draft_head head;
    struct sim_token_rule to;
};

struct draft_input {
    struct draft_head head;
    struct sim_input to;
    char *file;
    struct draft_arrivals arrivals;
    struct sim_law *size;
    struct draft_list classes;
    struct draft_rate_limit rate_limit; /* of requests */
    char *store;
    char *traffic;
};

struct draft_backpressure {
    struct draft_head head;
    uint32_t rule;
    double multiplier;
    uint32_t buffer;
    uint32_t lower_bound;
    double store;
    double reserved;
    int64_t refresh_ns;
    double ratio;
};

/* Which nodes it may go to. */
struct draft_nodes {
    char *selector, *preference; /* words, "a|b" */
    uint32_t borrows;
};

struct draft_request {
    struct draft_head head;
    double cpus;
    double gpus;
    int64_t nvdecs;
    int64_t nvencs;
    int64_t ram_bytes;
    int64_t gpu_mem_bytes;
    uint32_t entire_gpu;
    uint32_t codec_same_gpu;
    char *mig;
    uint32_t mig_slices;
    uint32_t spmd;
    struct draft_nodes nodes;
};

struct draft_factor {
    struct draft_head head; /* of a GPU type or item class */
    double factor;
};

struct draft_codec {
    struct draft_head head;
    uint32_t codec;
    uint32_t preset;
    uint32_t width, height;
    double frames;
    double attained;
};

struct draft_service {
    struct draft_head head;
    struct draft_codec decode, encode;
    struct sim_service to;
    struct draft_list gpu_factor;
    struct draft_list class_factor;
    char *table;
};

struct draft_memory_traffic {
    struct draft_head head;
    struct sim_memory_traffic to;
};

struct draft_load {
    struct draft_head head;
    int64_t bytes;
    char *store;
    char *traffic;
    uint32_t is_kept;
};

struct draft_setup {
    struct draft_head head;
    struct draft_load loads[SIM_SETUP_LOADS];
    struct sim_law *time, *compile, *warm_up;
};

struct draft_stage {
    struct draft_head head;
    struct sim_stage to;
    struct draft_request own; /* keys of the stage itself */
    struct draft_request request;
    struct draft_request uses;
    struct draft_memory_traffic traffic;
    uint32_t workers;
    double workers_per_node;
    struct draft_service service;
    struct draft_setup setup;
    char *env;
    char *after;
    char *model;
    char *measured_on;
    uint32_t work;
};

struct draft_served;

struct draft_pipeline {
    struct draft_head head;
    struct draft_served *served; /* the service that it is; NULL = a pipeline */
    struct sim_pipeline to;
    struct draft_input input;
    struct draft_backpressure backpressure;
    double loop_hz;
    uint32_t teardown;
    int64_t store_bandwidth_bytes;
    char *measured_on;
    char *transfers;
    char *traffic;
    struct draft_list stages;
};

/* A service. While it is resolved, it stands among the pipelines too (resolve_services.c). */
struct draft_served {
    struct draft_head head;
    struct draft_input requests;
    struct draft_request own;
    uint32_t replicas;
    struct draft_policy batching;
    struct draft_service service;
    struct sim_law *setup;
    double miscount;
};

struct draft_target {
    struct draft_head head;
    double frac;
    uint32_t has_cpu_jobs;
};

struct draft_defrag {
    struct draft_head head;
    struct sim_defrag_rule to;
};

struct draft_step {
    struct draft_head head;
    struct sim_step to;
};

struct draft_parallel {
    struct draft_head head;
    int64_t model_bytes;
    int64_t activations_bytes;
    uint32_t tensor;
    uint32_t pipeline;
    uint32_t micro_batches;
};

struct draft_rank_group {
    struct draft_head head;
    struct sim_rank_group to;
    struct draft_request request;
    char *gpu_types;
};
struct draft_elastic {
    struct draft_head head;
    struct sim_elastic to;
    char *speeds, *step_times, *goodput;
};

struct draft_job_class {
    struct draft_head head;
    struct sim_job_spec to;
    struct draft_request request;
    struct draft_memory_traffic traffic;
    char *gpu_types;
    char *tenant, *reservation;
    struct draft_list licences; /* of draft_taken */
    int64_t priority;
    char *measured_on;
    uint32_t work;
    struct draft_step step;
    struct draft_parallel parallel;
    struct draft_list groups;
    struct draft_elastic elastic;
    char *after;
    char *until;
};

/* Where jobs come from. */
struct draft_source {
    char *trace;
    char *format;
    char *columns;
    uint32_t on_bad_row;
    uint32_t processor;
    struct draft_list classes;
    struct draft_target target;
    uint64_t count;
};

struct draft_checkpoint {
    struct draft_head head;
    struct sim_checkpoint to;
    int64_t bytes;
    char *store;
    char *traffic;
};

enum { PREEMPTION_KEEPS_CHECKPOINT, PREEMPTION_KEEPS_ALL };
struct draft_preemption {
    struct draft_head head;
    uint32_t keeps;
    int64_t restart_ns;
};

struct draft_calls {
    struct draft_head head;
    struct sim_job_calls to;
    char *service;
};

struct draft_objective {
    struct draft_head head;
    struct sim_objective to;
};

struct draft_jobs {
    struct draft_head head;
    struct draft_source source;
    char *tenant;
    struct draft_arrivals arrivals;
    struct sim_law *run_time;
    int64_t run_time_limit_ns;
    int64_t starved_after_ns;
    int64_t deadline_ns;
    double late_price;
    struct sim_law *patience;
    int64_t from_ns;
    uint64_t queue_limit;
    uint32_t retries;
    struct sim_law *retry_delay;
    double retry_growth;
    uint32_t max_attempts;
    struct sim_law *estimate;
    char *measured_on;
    uint32_t work;
    struct sim_law *start_latency;
    struct draft_checkpoint checkpoint;
    struct draft_preemption preemption;
    struct draft_calls calls;
    struct draft_objective objective;
    struct draft_step step;
    uint32_t over_estimate;
    int64_t timeout_ns;
    uint32_t dependencies;
    uint32_t ties;
    uint64_t first_row;
    char *first_job;
    char *profiles;
    int64_t first_date_s, last_date_s; /* INT64_MIN = not said */
};
enum { OVER_ESTIMATE_RUN, OVER_ESTIMATE_KILL };
enum { DEPENDENCIES_FOLLOW, DEPENDENCIES_IGNORE };

struct draft_fill {
    struct draft_head head;
    struct draft_source source;
    char *order;
    char *order_key;
    uint32_t node_order;
    double demand;
    uint32_t refusal;
    struct draft_defrag defrag;
};

struct draft_amounts {
    struct draft_head head;
    double cpus, gpus;
};

struct draft_variable {
    struct draft_head head;
    char *value;
};

struct draft_role {
    struct draft_head head;
    struct draft_list variables;
    char *needs;
    uint32_t count;
    struct draft_amounts asks;
    int64_t ram_bytes, model_bytes, context_bytes, leak_bytes;
    struct draft_amounts uses;
    uint32_t visible_gpus;
    struct draft_nodes nodes;
    uint32_t concurrency;
    struct draft_rate_limit rate_limit;
    char *group;
    struct sim_law *creation;
};

struct draft_role_group {
    struct draft_head head;
    struct draft_amounts asks;
    uint32_t concurrency;
};

struct draft_role_calls {
    struct draft_head head;
    char *from, *to;
    struct sim_role_calls to_be;
};

enum { ON_LOSS_RESTART, ON_LOSS_STOP };
enum { HEALTH_SEQUENTIAL, HEALTH_PARALLEL };
struct draft_health {
    struct draft_head head;
    int64_t interval_ns, probe_ns;
    uint32_t probes;
    uint32_t order;
};

struct draft_training {
    struct draft_head head;
    struct sim_training to;
    uint32_t keeps_order;
    uint32_t checkpointed_layers;
    struct draft_health health;
};

struct draft_actor_system {
    struct draft_head head;
    struct draft_list roles;
    struct draft_list groups;
    struct draft_list calls;
    struct draft_list variables;
    struct draft_training training;
    uint32_t on_loss;
    int64_t environment_bytes, creation_bytes;
    int64_t ready_limit_ns, group_limit_ns;
};

struct draft_event {
    struct draft_head head;
    struct sim_timeline_entry to;
    char *stage;
    char *node;
    char *store;
    char *pipeline;
    char *jobs;
    char *subject;
    struct draft_list sets;
};

struct draft_window {
    struct draft_head head; /* its name */
    char *span;
};

struct draft_initial_workers {
    struct draft_head head;
    char *stage;
    char *node;
    uint32_t count;
};

struct draft_queue {
    struct draft_head head; /* name of the stage */
    uint64_t items;
};

struct draft_estimate {
    struct draft_head head; /* name of the stage */
    double speed_per_s;
    double returns_per_batch;
};

struct draft_initial {
    struct draft_head head;
    struct draft_list workers;
    struct draft_list queues;
    struct draft_list estimates;
};

struct draft_metrics {
    struct draft_head head;
    int64_t sample_ns;
    uint32_t keep;
    bool has_features;
};

struct draft_variant {
    struct draft_head head;
    char *label;
    struct draft_list sets;
};

struct draft_expect {
    struct draft_head head;
    struct sim_expect to;
    char *tol;
    char *that; /* all of it as a condition */
};

struct draft_goal {
    struct draft_head head;
    char *more, *less; /* metrics */
    char *of;
    struct draft_list conditions; /* of draft_expect */
};

struct draft_scenario {
    struct draft_head head;
    uint32_t schema;
    char *extends; /* gone with a base; what is left came behind it, by a setting */
    char *description;
    uint64_t seed;
    uint32_t replications;
    int64_t horizon_ns;
    int64_t warmup_ns;
    int64_t start_unix_s;
    uint32_t contention;
    char *measured_on;
    struct draft_quantum quantum;
    struct draft_catalog catalog;
    struct draft_truth truth;
    struct draft_cluster cluster;
    struct draft_sched sched;
    struct draft_list tenants;
    struct draft_list licences;
    struct draft_list reservations;
    struct draft_list permissions;
    struct draft_list bands;
    struct draft_list pipelines;
    struct draft_list services; /* of draft_served */
    struct draft_list jobs;
    struct draft_list fill;
    struct draft_list actors;
    struct draft_list timeline;
    struct draft_list windows;
    struct draft_initial initial;
    struct draft_metrics metrics;
    struct draft_list compare;
    struct draft_list expect;
    struct draft_goal goal;
    char *growth;
    struct draft_prices prices;
};

#endif
