/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the draft to the scenario: names become indices, defaults that depend on other things are
 * filled in - in the scenario and in the draft, from which the canonical text is written.
 *
 * Mistakes that concern one thing (unknown names, keys that exclude each other) are reported here;
 * those that need the whole picture in check.c. Absent values were reported by the reader and are
 * passed over.
 */
#ifndef SIM_SCENARIO_RESOLVE_H
#define SIM_SCENARIO_RESOLVE_H

#include "sim/scenario/read/draft.h"
#include "sim/scenario/read/name_set.h"
#include "sim/scenario/read/reader.h"
#include "sim/scenario/stage_names.h"

struct sim_resolver {
    struct sim_arena *arena;
    struct sim_report *report;
    struct sim_reader *reader;
    const struct sim_yaml *root;
    struct draft_scenario *draft;
    struct sim_scenario *scenario;
    struct wl_openb_nodes *nodes; /* of cluster.nodes_file, while hardware is resolved */
    const char *(*metric_named)(const char *name, const char **unit, const char **near);
    const struct wl_limits *limits; /* of files; NULL = the defaults */
    struct wl_trace_shelf *traces;  /* and tables of nodes that were read */
    /* Of a source: a moment as time since the start; NULL = times since the start alone. */
    weir_status (*moment_since)(const char *text, int64_t start_unix_s, double *at_s,
                                struct weir_error *error);
    const struct sim_scenario *baseline;       /* whose cluster a load is of; NULL = its own */
    const struct sim_scenario *lists_variants; /* when the tree has no list of them; NULL */
    bool is_hardware_unclear;             /* a mistake there: what fits where cannot be judged */
    bool has_gpus, is_exclusive;          /* uncut GPUs so far; they are not shared */
    struct sim_stage_names stage_names;   /* once all stages are known */
    struct sim_name_set tenants;          /* those of the scenario, in their order */
    const char *labels[WEIR_LABELS_MOST]; /* of nodes, that work asks for; by number */
    uint32_t labels_count;
};

void sim_resolve(struct sim_resolver *resolver);

/* resolve_services.c: before all else services take their places behind the pipelines, as pipelines
 * of one stage; once everything was checked, they leave them. */
void sim_services_enter(struct sim_resolver *resolver);
void sim_services_leave(struct sim_resolver *resolver);
/* Which service the jobs of an entry call. */
void sim_resolve_calls(struct sim_resolver *resolver, struct draft_calls *draft,
                       struct sim_workload *workload);
/* What makes a service of the pipeline; after its input and stages. */
void sim_resolve_served(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                        struct sim_pipeline *pipeline);

/* The parts, in this order. */
void sim_resolve_hardware(struct sim_resolver *resolver);
void sim_resolve_sched(const struct draft_sched *draft, struct sim_sched *sched);
void sim_resolve_pipelines(struct sim_resolver *resolver);
/* resolve_actors.c: actor systems; behind the pipelines. */
void sim_resolve_actors(struct sim_resolver *resolver);
/* The variables that actors are given. */
void sim_resolve_environments(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                              struct sim_actor_system *system);
void sim_resolve_workloads(struct sim_resolver *resolver);
/* resolve_tenants.c: who there is, and then whose the jobs are. */
void sim_resolve_tenants(struct sim_resolver *resolver);
void sim_resolve_owners(struct sim_resolver *resolver);
/* The number of a tenant that is named at this place; 0 when there is none, which is said. */
uint32_t sim_resolve_tenant(struct sim_resolver *resolver, const struct sim_yaml *at,
                            const char *name);
/* resolve_reservations.c: nodes that are kept for somebody for a time. */
void sim_resolve_reservations(struct sim_resolver *resolver);
void sim_resolve_licences(struct sim_resolver *resolver);
/* resolve_permissions.c: who may do what to which model; behind the timeline. */
void sim_resolve_permissions(struct sim_resolver *resolver);
/* Without one, no limit. */
struct sim_token_rule sim_resolve_rate_limit(const struct draft_rate_limit *draft);
/* The pipeline that is the service of this name; WEIR_NO_INDEX when there is none, which is said.
 */
uint32_t sim_resolve_service(struct sim_resolver *resolver, const struct sim_yaml *at,
                             const char *name);
/* Bands of priority, and whether all classes of jobs lie in one. */
void sim_resolve_bands(struct sim_resolver *resolver);

/* One entry of `jobs` or `fill` while it is resolved. */
struct sim_job_source {
    struct draft_head *head;
    struct draft_source *draft;
    struct draft_jobs *timed; /* what jobs in time have more; NULL = a fill */
    struct sim_workload *workload;
};

/* resolve_arrivals.c: of jobs and of items, the process being known. The rate that a load means is
 * the caller's to put in. */
void sim_resolve_arrivals(struct sim_resolver *resolver, struct draft_arrivals *draft,
                          struct sim_arrivals *arrivals);

/* Measurements behind a law, 0 = its mean is known. A law without a variance is reported: its mean
 * has no error that could be drawn. */
uint32_t sim_resolve_measured(struct sim_resolver *resolver, const struct draft_head *head,
                              uint32_t measurements, const struct sim_law *law);

/* Whether they come by a process even where none is named; `scale` alone is of the trace's times.
 */
bool sim_arrivals_say_rate(const struct draft_arrivals *draft);

/* resolve_input.c: the items of a pipeline, its recorded file included. */
void sim_resolve_input(struct sim_resolver *resolver, struct draft_input *draft,
                       struct sim_input *input);

/* resolve_jobs.c: classes and labels; when jobs in time arrive, the jobs being there by then. */
void sim_resolve_job_classes(struct sim_resolver *resolver, const struct sim_job_source *source);
/* "A|B" of the key gpu_types as a set; all of them must exist. */
uint32_t sim_resolve_gpu_types(struct sim_resolver *resolver, const struct draft_head *head,
                               const char *types);
/* Ranks beside the members, members that change, arrays; then, when all classes are known, who
 * follows whom. */
void sim_resolve_ranks(struct sim_resolver *resolver, struct draft_job_class *draft,
                       struct sim_job_spec *job);
struct wl_jobs;
/* Rows of a trace that name one before them; `places`: of a row, index + 1 among the jobs of the
 * workload, 0 = left out. */
void sim_resolve_rows_follow(struct sim_resolver *resolver, const struct wl_jobs *rows,
                             const uint32_t *places, struct sim_workload *workload);
void sim_resolve_followers(struct sim_resolver *resolver, const struct sim_job_source *source);
void sim_resolve_time(struct sim_resolver *resolver, const struct sim_job_source *source);
/* Whether some jobs arrive that no class counts. */
bool sim_resolve_has_process(const struct sim_workload *workload);
/* Labels of jobs by what they ask for. */
void sim_resolve_size_labels(struct sim_resolver *resolver, struct sim_workload *workload);
/* The shape of a request; where it cannot be read that is said, and it is that of no CPU. */
void sim_resolve_shape(struct sim_resolver *resolver, const struct sim_yaml *at,
                       const struct weir_request *request, struct weir_shape *shape);
/* On a cluster without shared GPUs a share takes the whole of one; what is used of it stays. */
void sim_resolve_whole(struct sim_resolver *resolver, const struct sim_yaml *at,
                       struct weir_shape *shape);
/* A request with its defaults filled in (in the draft too), its shape, and the labels that it
 * prefers. */
void sim_resolve_request(struct sim_resolver *resolver, const struct sim_yaml *at,
                         struct draft_request *draft, struct weir_shape *shape,
                         uint32_t *soft_labels);
/* resolve_labels.c: which nodes will do: labels of the shape, and those that are preferred. Keys
 * that are not at this place are left out. At the end, once all work is known, who has which. */
uint32_t sim_resolve_nodes(struct sim_resolver *resolver, const struct sim_yaml *at,
                           const struct draft_nodes *draft, struct weir_shape *shape);
/* The node whose name the selector has, or WEIR_NO_INDEX. */
uint32_t sim_resolve_named_node(const struct sim_resolver *resolver,
                                const struct draft_nodes *draft);
void sim_resolve_labels(struct sim_resolver *resolver);
/* resolve_profiles.c: what profiles say of the rows of a trace, one after the other; the specs of
 * the workload are of the rows at `places` (as above). */
void sim_resolve_profiles(struct sim_resolver *resolver, const struct sim_job_source *source,
                          const struct wl_jobs *rows, const uint32_t *places);
/* The jobs of an entry from its trace. */
void sim_resolve_trace(struct sim_resolver *resolver, const struct sim_job_source *source);
void sim_resolve_timeline(struct sim_resolver *resolver);
/* What an entry of the timeline is called: "node_down n-3". */
const char *sim_event_name(struct sim_arena *arena, const struct draft_event *draft);
void sim_resolve_initial(struct sim_resolver *resolver);
/* One expectation or condition, in one line or in keys. */
void sim_resolve_expect(struct sim_resolver *resolver, struct draft_expect *draft,
                        struct sim_expect *expect);
/* names.c: refuses names that would share their random numbers. */
void sim_resolve_names(struct sim_resolver *resolver);

/* resolve_failures.c */
void sim_resolve_failures(struct sim_resolver *resolver);

/* resolve_power.c. Cap and heat of the GPUs of a node; a group may change those of its type. */
void sim_resolve_node_power(struct sim_resolver *resolver, const struct draft_node_group *group,
                            struct sim_node_type *type);
uint32_t sim_resolve_group_power(struct sim_resolver *resolver,
                                 const struct draft_node_group *group, uint32_t type);
/* resolve_supply.c. How many nodes of a group come and go; whether and how they are asked for. */
struct sim_supply sim_resolve_supply(struct sim_resolver *resolver,
                                     const struct draft_node_group *group);
void sim_resolve_capacity(struct sim_resolver *resolver);
/* resolve_topology.c. Sockets and islands, likewise; `hardware` knows its GPUs. */
void sim_resolve_node_topology(struct sim_resolver *resolver,
                               const struct draft_node_group *hardware, struct sim_node_type *type);
uint32_t sim_resolve_group_topology(struct sim_resolver *resolver,
                                    const struct draft_node_group *group, uint32_t type);
/* Notes the penalty that is taken where sockets are given without one. */
void sim_resolve_topology(struct sim_resolver *resolver);
/* How power follows from what runs, and whether caps can be kept; after the timeline. */
void sim_resolve_power(struct sim_resolver *resolver);
/* resolve_stores.c: stores and racks; how the bytes of a pipeline move. */
void sim_resolve_stores(struct sim_resolver *resolver);
void sim_resolve_transfers(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                           struct sim_pipeline *pipeline);
void sim_resolve_setup(struct sim_resolver *resolver, const struct draft_setup *draft,
                       struct sim_stage *stage);
/* A store by its name; reports and returns WEIR_NO_INDEX when there is no such thing. */
uint32_t sim_resolve_store(struct sim_resolver *resolver, const struct sim_yaml *at,
                           const char *name);
/* A class of the store of that index by its name, 0 = none; `name` may be NULL. */
uint32_t sim_resolve_traffic(struct sim_resolver *resolver, const struct draft_head *head,
                             const char *name, uint32_t index);

/* resolve_prices.c; after the workloads. */
void sim_resolve_prices(struct sim_resolver *resolver);

/* resolve_checkpoint.c; after the hardware. */
struct sim_checkpoint sim_resolve_checkpoint(struct sim_resolver *resolver,
                                             const struct draft_checkpoint *draft);

/* resolve_mig.c. The table a GPU type is cut by, NULL = none. */
const struct weir_mig *sim_resolve_mig_table(struct sim_resolver *resolver,
                                             const struct draft_gpu_type *draft);
/* The node type of a group that shares its GPUs in its own way: `type` itself or a new one. */
uint32_t sim_resolve_share(struct sim_resolver *resolver, const struct draft_node_group *group,
                           uint32_t type);
/* Whether GPUs can be cut anew at all; after the workloads. */
/* After all requests: whether uncut GPUs are shared. */
void sim_resolve_exclusive(struct sim_resolver *resolver);
void sim_resolve_repartition(struct sim_resolver *resolver);
/* The part of a request that asks for a MIG instance; false when that was reported. */
bool sim_resolve_mig_request(struct sim_resolver *resolver, const struct sim_yaml *at,
                             struct draft_request *draft, struct weir_request *request);
/* The same of a row of a trace. */
bool sim_resolve_mig_row(struct sim_resolver *resolver, const struct sim_yaml *at,
                         const char *profile, struct weir_request *request);

/* resolve_speed.c: how fast work goes where; after all shapes and how GPUs are shared. */
void sim_resolve_speeds(struct sim_resolver *resolver);

/* resolve_steps.c: the steps that jobs go in (NULL = none), and the memory of a rank whose model is
 * divided, the request being resolved. */
const struct sim_step *sim_resolve_step(struct sim_resolver *resolver,
                                        const struct draft_step *draft);
void sim_resolve_parallel(struct sim_resolver *resolver, const struct draft_job_class *draft,
                          struct sim_job_spec *job);
/* What ranks exchange bytes over where nobody gave it; after the workloads. */
void sim_resolve_fabric(struct sim_resolver *resolver);

/* resolve_codec.c: work on codec engines; which GPU types a stage keeps to for it. */
void sim_resolve_codecs(struct sim_resolver *resolver);
/* Notes what nobody said, where it matters. */
void sim_resolve_assume(struct sim_resolver *resolver, const char *text);

/* References by name; report and return WEIR_NO_INDEX when there is no such thing. */
uint32_t sim_resolve_gpu_type(struct sim_resolver *resolver, const struct sim_yaml *at,
                              const char *name);
uint32_t sim_resolve_stage(struct sim_resolver *resolver, const struct sim_yaml *at,
                           const char *name);
/* The nearest of the names of a list whose items, of `size` bytes each, begin with their head. */
const char *sim_near_draft(struct sim_resolver *resolver, const struct draft_list *list,
                           size_t size, const char *name);
uint32_t sim_resolve_node(struct sim_resolver *resolver, const struct sim_yaml *at,
                          const char *name);

/* The path of a data file: relative to the scenario, or, when there is none, as it stands. Noted as
 * an input of the run. */
char *sim_resolve_data_path(struct sim_resolver *resolver, const char *path);
/* A GPU model of a trace as the catalogue names it: in lower case. */
char *sim_resolve_model(struct sim_resolver *resolver, const char *model);

/* The child of the draft's mapping with this key, else the mapping itself: where to point. */
const struct sim_yaml *sim_draft_at(const struct draft_head *head, const char *key);

/* Reports `message` when the list is there and empty. */
void sim_resolve_not_empty(struct sim_resolver *resolver, const struct sim_yaml *list,
                           const char *message);

/* A law of our own making ("const(1)"). */
struct sim_law *sim_resolve_constant(struct sim_resolver *resolver, const char *text);

#endif
