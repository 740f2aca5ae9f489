/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run with its rows (see run.h). */
#include "sim/world/run.h"

#include "sim/cluster/cluster.h"
#include "sim/cluster/link.h"
#include "sim/cluster/memory.h"
#include "sim/cluster/sharing.h"
#include "sim/lab/lab.h"
#include "sim/port/module.h"
#include "sim/record/record.h"
#include "sim/world/lab_apart.h"
#include "sim/world/supply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double clock_s(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0.0;
}

static double peak_rss_mib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024.0 : 0.0;
}

weir_status sim_run_announce(const struct sim_scenario *scenario,
                             const struct sim_run_options *options, struct weir_error *error)
{
    const struct sim_run_row row = { .run_id = options->run_id,
                                     .experiment_id = options->experiment_id,
                                     .variant = options->variant,
                                     .variant_order = options->variant_order,
                                     .replication = options->replication,
                                     .seed = options->seed,
                                     .placement = scenario->sched.placement.placement->name,
                                     .scaling = scenario->sched.scaling.scaling->name,
                                     .resolved_yaml = scenario->resolved,
                                     .scenario_digest = scenario->digest,
                                     .start_unix_s = scenario->start_unix_s,
                                     .warmup_ns = scenario->warmup_ns,
                                     .horizon_ns = scenario->horizon_ns,
                                     .keep = options->keep != SIM_KEEP_UNSAID ? options->keep
                                                                              : scenario->keep };
    return sim_recorder_run(options->recorder, &row, error);
}

static double ram_limit(const struct sim_cluster *cluster, uint32_t node)
{
    const double limit = sim_memory_is_timed(cluster) ? sim_memory_limit(cluster, node) : 0;
    return limit > 0 ? limit : (double)NAN;
}

static weir_status record_nodes(const struct sim_scenario *scenario,
                                const struct sim_cluster *cluster, struct sim_recorder *recorder,
                                struct weir_error *error)
{
    for (uint32_t n = 0; n < cluster->node_count && recorder != NULL; n++) {
        const struct sim_node_type *type = sim_scenario_node_type(scenario, n);
        const struct sim_meter_amounts sum = sim_cluster_capacity(cluster, n);
        char name[128];
        sim_scenario_node_name(scenario, n, name, sizeof(name));
        const struct sim_node_row row = {
            .node = n,
            .name = name,
            .type = type->name,
            .gpu_type = type->gpus_count > 0 ? scenario->gpu_types[type->gpus[0].type].name : "",
            .cpus = type->cpus,
            .gpus = (uint32_t)sum.amount[SIM_RESOURCE_GPU],
            .nvdecs = (uint32_t)sum.amount[SIM_RESOURCE_NVDEC],
            .nvencs = (uint32_t)sum.amount[SIM_RESOURCE_NVENC],
            .ram_bytes = type->ram_bytes,
            .gpu_mem_bytes = (int64_t)sum.amount[SIM_RESOURCE_GPU_MEM],
            .ram_limit_bytes = ram_limit(cluster, n)
        };
        WEIR_TRY(sim_recorder_node(recorder, &row, error));
    }
    return WEIR_OK;
}

static weir_status record_pools(const struct sim_world *world, struct weir_error *error)
{
    for (uint32_t i = 0; i < sim_port_pool_count(world->port); i++) {
        const struct sim_pool *pool = sim_port_pool(world->port, i);
        char nodes[SIM_NODES_TEXT];
        sim_scenario_print_nodes(world->scenario, pool->shape->labels, pool->soft_labels, nodes);
        const struct sim_stage_row row = { .stage = i,
                                           .position = pool->position,
                                           .batch = pool->batch,
                                           .bound_workers = pool->bound_workers,
                                           .workers_fixed = pool->workers,
                                           .pipeline =
                                               sim_driver_name(&world->drivers[pool->driver]),
                                           .name = pool->name,
                                           .shape = pool->shape,
                                           .nodes = nodes,
                                           .service_mean_s = pool->service_mean_s,
                                           .mix = sim_world_mix(world, pool) };
        WEIR_TRY(sim_recorder_stage(world->context.recorder, &row, error));
    }
    return WEIR_OK;
}

/* Living workers of the end get their rows too. */
static weir_status record_living(void *state, struct sim_worker *worker)
{
    return sim_worker_record(state, worker);
}

static weir_status collect_ages(const struct sim_world *world, int64_t **ages)
{
    const uint64_t count = sim_world_inside(world);
    const int64_t now_ns = sim_engine_now(world->context.engine);
    uint64_t filled = 0;
    *ages = calloc(count + 1, sizeof(**ages));
    if (*ages == NULL)
        return WEIR_ENOMEM;
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->inside != NULL)
            filled += world->drivers[d].ops->inside(world->drivers[d].self, now_ns, *ages + filled);
    return filled == count ? WEIR_OK : WEIR_EINVARIANT;
}

static struct sim_results results_of(const struct sim_run_options *options,
                                     struct weir_error *error)
{
    return (struct sim_results){ .recorder = options->recorder,
                                 .listen = options->listen,
                                 .listener = options->listener,
                                 .error = error };
}

/* What the scheduler did for jobs. */
static void port_results(const struct sim_world *world, struct sim_results *out)
{
    const struct sim_result_row passes = { .metric = "sched.passes",
                                           .label = "",
                                           .unit = "1",
                                           .value = (double)sim_port_passes(world->port),
                                           .n = 1 };
    const struct sim_result_row cuts = { .metric = "mig.cuts",
                                         .label = "",
                                         .unit = "1",
                                         .value = (double)sim_port_cuts(world->port),
                                         .n = 1 };
    if (sim_port_workload_count(world->port) == 0)
        return;
    sim_results_add(out, &passes);
    if (sim_cluster_is_cut(world->context.cluster))
        sim_results_add(out, &cuts);
}

/* Whether work was left that nothing would ever do, and the row of it. */
static weir_status end_results(const struct sim_world *world, struct sim_results *out)
{
    const struct sim_early_end early = sim_world_early_end(world);
    const struct sim_result_row row = { .metric = SIM_METRIC_ENDED_EARLY,
                                        .label = "",
                                        .unit = "ratio",
                                        .value = early.why == NULL ? 0 : 1,
                                        .n = 1 };
    const struct sim_result_row at = { .metric = SIM_METRIC_EARLY_S,
                                       .label = "",
                                       .unit = "s",
                                       .value = sim_time_s(early.at_ns),
                                       .n = 1 };
    sim_results_add(out, &row);
    if (early.why == NULL)
        return WEIR_OK;
    sim_results_add(out, &at);
    return sim_recorder_happening(world->context.recorder, early.at_ns, -1, "ended_early",
                                  sim_driver_name(early.who), early.why, world->context.error);
}

/* The meter's, those of the drivers, those of the port. */
static weir_status put_results(struct sim_world *world, const struct sim_meter_end *end)
{
    struct sim_results out = results_of(world->options, world->context.error);
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->left != NULL)
            WEIR_TRY(world->drivers[d].ops->left(world->drivers[d].self, end->end_ns));
    WEIR_TRY(sim_meter_results(world->context.meter, end, &out));
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->results != NULL)
            WEIR_TRY(world->drivers[d].ops->results(world->drivers[d].self, end->end_ns, &out));
    sim_links_results(world->context.cluster, end->end_ns, &out);
    port_results(world, &out);
    WEIR_TRY(sim_world_load_bounds(world, &out));
    sim_faults_results(world, &out);
    sim_supply_results(world, end->end_ns, &out);
    WEIR_TRY(end_results(world, &out));
    return out.status;
}

static weir_status finish(struct sim_world *world)
{
    struct weir_error *error = world->context.error;
    const bool is_done = sim_world_is_done(world);
    const int64_t end_ns = sim_world_end_ns(world);
    int64_t *ages = NULL;
    WEIR_TRY(sim_world_check(world, error));
    if (is_done) /* there is no interval behind this one; behind the horizon there is */
        sim_meter_sample_at(world->context.meter, 0);
    weir_status status = collect_ages(world, &ages);
    if (status == WEIR_OK)
        status = sim_world_sample(world, end_ns);
    if (status == WEIR_OK)
        status = sim_meter_sample_rest(world->context.meter, world->context.recorder, error);
    if (status == WEIR_OK) {
        struct sim_meter_end end = { .end_ns = end_ns,
                                     .is_complete = is_done,
                                     .items_in_system = sim_world_inside(world),
                                     .age_ns = ages };
        status = sim_world_plan_bounds(world, &end);
        if (status == WEIR_OK)
            status = put_results(world, &end);
    }
    free(ages);
    return status == WEIR_OK ? sim_workers_each(world->workers, record_living, world->workers)
                             : status;
}

/* The one word for how the run ended, and more where the word says too little. */
static void fill_outcome(const struct sim_world *world, weir_status status,
                         struct sim_run_summary *summary)
{
    const struct sim_early_end early = sim_world_early_end(world);
    const char *outcome = "horizon";
    summary->early_s = (double)NAN;
    if (status != WEIR_OK) {
        outcome = "failed";
    } else if (world->is_interrupted) {
        outcome = "interrupted";
    } else if (sim_port_is_enough(world->port)) {
        outcome = SIM_WAS_ENOUGH;
    } else if (early.why != NULL) {
        outcome = SIM_ENDED_EARLY;
        summary->early_s = sim_time_s(early.at_ns);
        (void)snprintf(summary->message, sizeof(summary->message), "%s %s at %.6g s: %s",
                       early.who->ops->kind, sim_driver_name(early.who), summary->early_s,
                       early.why);
    } else if (sim_world_is_done(world)) {
        outcome = "complete";
    }
    (void)snprintf(summary->outcome, sizeof(summary->outcome), "%s", outcome);
}

static void summarize(struct sim_world *world, weir_status status, struct sim_run_summary *summary)
{
    summary->status = status;
    fill_outcome(world, status, summary);
    summary->digest = sim_engine_digest(world->context.engine);
    summary->result_digest = world->context.result_digest;
    summary->events = sim_engine_stats(world->context.engine).fired;
    summary->items_done = sim_meter_items_done(world->context.meter);
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->done != NULL)
            summary->items_done += world->drivers[d].ops->done(world->drivers[d].self);
    summary->simulated_s = sim_time_s(sim_world_end_ns(world));
    summary->completion_s = sim_world_is_done(world) ? summary->simulated_s : (double)NAN;
}

static weir_status record_end(const struct sim_run_options *options, struct sim_world *world,
                              const struct sim_run_summary *summary, struct weir_error *error)
{
    const struct sim_run_end end = { .end_ns = world == NULL ? 0 : sim_world_end_ns(world),
                                     .status = summary->outcome,
                                     .message = summary->message,
                                     .events = summary->events,
                                     .event_digest = summary->digest,
                                     .result_digest = summary->result_digest,
                                     .items_done = summary->items_done,
                                     .sample_ns = world == NULL ? 0 : world->sample_ns,
                                     .is_steady =
                                         world != NULL && sim_meter_is_steady(world->context.meter),
                                     .wall_s = summary->wall_s,
                                     .cpu_s = summary->cpu_s,
                                     .peak_rss_mib = summary->peak_rss_mib };
    return sim_recorder_end_run(options->recorder, &end, error);
}

static weir_status run_world(struct sim_world *world, struct weir_error *error)
{
    WEIR_TRY(record_nodes(world->scenario, world->context.cluster, world->context.recorder, error));
    WEIR_TRY(sim_links_record(world->context.cluster, world->context.recorder, error));
    WEIR_TRY(record_pools(world, error));
    const weir_status status = sim_world_run(world);
    if (status != WEIR_OK) {
        if (error->text[0] == '\0') /* of the engine, which has no words: time or room ran out */
            (void)weir_fail(error, status, "%s", weir_status_text(status));
        weir_error_wrap(error, "at %.9g s, seed %llu, replication %u",
                        sim_time_s(sim_engine_now(world->context.engine)),
                        (unsigned long long)world->options->seed, world->options->replication);
        return status;
    }
    return sim_port_is_enough(world->port) ? WEIR_OK : finish(world);
}

/* A run whose end is not in the file is not over. */
static weir_status fail_end(struct sim_run_summary *summary, weir_status ended,
                            const struct weir_error *error)
{
    if (summary->status != WEIR_OK || ended == WEIR_OK)
        return summary->status;
    summary->status = ended;
    (void)snprintf(summary->outcome, sizeof(summary->outcome), "failed");
    (void)snprintf(summary->message, sizeof(summary->message), "%s", error->text);
    return ended;
}

/* ---- the lab ---- */

static weir_status record_lab_end(const struct sim_run_options *options,
                                  const struct sim_run_summary *summary, struct weir_error *error)
{
    const struct sim_run_end end = { .end_ns = sim_time_from_s(summary->simulated_s),
                                     .status = summary->outcome,
                                     .message = summary->message,
                                     .events = summary->events,
                                     .event_digest = summary->digest,
                                     .result_digest = summary->result_digest,
                                     .items_done = summary->items_done,
                                     .wall_s = summary->wall_s,
                                     .cpu_s = summary->cpu_s,
                                     .peak_rss_mib = summary->peak_rss_mib };
    return sim_recorder_end_run(options->recorder, &end, error);
}

static weir_status run_static(const struct sim_scenario *scenario,
                              const struct sim_run_options *options,
                              struct sim_run_summary *summary, struct weir_error *error)
{
    const struct sim_results out = results_of(options, error);
    struct sim_lab *lab = NULL;
    struct sim_lab_apart apart = { .lab = NULL };
    struct sim_scenario placed = *scenario;
    WEIR_TRY(sim_lab_create(&placed, options, &lab, error));
    weir_status status = record_nodes(scenario, sim_lab_cluster(lab), options->recorder, error);
    if (status == WEIR_OK && sim_placement_is_stand_in(placed.sched.placement.placement))
        status = sim_lab_apart_start(&apart, &placed, lab, options, error);
    if (status == WEIR_OK)
        status = sim_lab_run(lab, summary, &out);
    sim_lab_apart_stop(&apart);
    sim_lab_destroy(lab);
    return status;
}

static weir_status run_lab(const struct sim_scenario *scenario,
                           const struct sim_run_options *options, struct sim_run_summary *summary)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    const double wall_s = clock_s(CLOCK_MONOTONIC);
    const double cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    summary->completion_s = summary->early_s = (double)NAN;
    (void)snprintf(summary->outcome, sizeof(summary->outcome), "failed");
    const weir_status recorded = sim_run_announce(scenario, options, &error);
    summary->status = recorded;
    if (recorded == WEIR_OK)
        summary->status = run_static(scenario, options, summary, &error);
    summary->wall_s = clock_s(CLOCK_MONOTONIC) - wall_s;
    summary->cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    summary->peak_rss_mib = peak_rss_mib();
    if (summary->status != WEIR_OK)
        (void)snprintf(summary->message, sizeof(summary->message), "%s", error.text);
    const weir_status ended =
        recorded == WEIR_OK ? record_lab_end(options, summary, &error) : WEIR_OK;
    return fail_end(summary, ended, &error);
}

static bool is_static(const struct sim_scenario *scenario)
{
    return scenario->workloads_count > 0 && scenario->workloads[0].mode == SIM_WORKLOAD_STATIC;
}

/* A fill has no clock: it stands alone. */
static weir_status check_work(const struct sim_scenario *scenario, struct weir_error *error)
{
    bool has_fill = false;
    for (size_t i = 0; i < scenario->workloads_count; i++)
        has_fill = has_fill || scenario->workloads[i].mode == SIM_WORKLOAD_STATIC;
    if (!has_fill || (scenario->workloads_count == 1 && scenario->pipelines_count == 0))
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVAL,
                     "a fill has no clock and cannot share its cluster: leave one fill alone, or "
                     "pipelines and jobs");
}

weir_status sim_run(const struct sim_scenario *scenario, const struct sim_run_options *options,
                    struct sim_run_summary *summary)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    const double wall_s = clock_s(CLOCK_MONOTONIC);
    const double cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    memset(summary, 0, sizeof(*summary));
    summary->variant_order = options->variant_order;
    summary->replication = options->replication;
    summary->seed = options->seed;
    (void)snprintf(summary->outcome, sizeof(summary->outcome), "failed"); /* until it is not */
    summary->status = check_work(scenario, &error);
    if (summary->status != WEIR_OK) {
        (void)snprintf(summary->message, sizeof(summary->message), "%s", error.text);
        return summary->status;
    }
    if (is_static(scenario))
        return run_lab(scenario, options, summary);
    /* Its row comes first, so that a run that never gets going is known to have been tried. */
    const weir_status recorded = sim_run_announce(scenario, options, &error);
    weir_status status = recorded;
    if (status == WEIR_OK)
        status = sim_world_create(scenario, options, &world, &error);
    if (world != NULL) {
        status = run_world(world, &error);
        summarize(world, status, summary);
    }
    summary->status = status;
    summary->wall_s = clock_s(CLOCK_MONOTONIC) - wall_s;
    summary->cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    summary->peak_rss_mib = peak_rss_mib();
    if (status != WEIR_OK) /* a successful run leaves remarks of tries that failed in the box */
        (void)snprintf(summary->message, sizeof(summary->message), "%s", error.text);
    if (recorded == WEIR_OK)
        status = fail_end(summary, record_end(options, world, summary, &error), &error);
    sim_world_destroy(world);
    return status;
}
