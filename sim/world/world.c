/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run: building the parts, dispatching events, ending (see world.h). */
#include "sim/world/world.h"

#include "sim/pipeline/flow.h"
#include "sim/pipeline/mix.h"
#include "sim/pipeline/service.h"
#include "sim/record/record.h"
#include "sim/record/sampling.h"
#include "sim/scenario/bound.h"

#include <math.h>
#include <stdlib.h>

static void schedule(struct sim_world *world, int64_t at_ns, uint16_t kind, uint16_t phase)
{
    const struct sim_event event = { .time_ns = at_ns, .kind = kind, .phase = phase };
    (void)sim_engine_schedule(world->context.engine, &event);
}

/* How long the run will last: the horizon, or the longest backlog at its throughput bound. */
static double expected_s(const struct sim_scenario *scenario)
{
    double longest_s = 0;
    if (scenario->horizon_ns != SIM_TIME_MAX)
        return sim_time_s(scenario->horizon_ns);
    for (uint32_t p = 0; p < scenario->pipelines_count; p++) {
        const struct sim_input *input = &scenario->pipelines[p].input;
        struct sim_bound bound = { 0 };
        double rate = 0;
        if (sim_bound_compute(scenario, p, &bound) == WEIR_OK)
            rate = bound.integer_per_s;
        sim_bound_clear(&bound);
        if (input->arrivals != NULL)
            rate = fmin(rate, 1.0 / fmax(sim_law_mean(input->arrivals), 1e-9));
        if (rate > 0)
            longest_s = fmax(longest_s, (double)input->items / rate);
    }
    return longest_s;
}

static weir_status create_meter(struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    const size_t nodes = sim_scenario_node_count(scenario);
    struct sim_meter_amounts *capacity = calloc(nodes + 1, sizeof(*capacity));
    struct sim_meter_stage_info *stages = calloc(scenario->stages_total + 1, sizeof(*stages));
    const char **names = calloc(scenario->pipelines_count + 1, sizeof(*names));
    weir_status status =
        capacity == NULL || stages == NULL || names == NULL ? WEIR_ENOMEM : WEIR_OK;
    if (status == WEIR_OK) {
        for (size_t p = 0; p < scenario->pipelines_count; p++)
            names[p] = scenario->pipelines[p].name;
        for (uint32_t n = 0; n < nodes; n++)
            capacity[n] = sim_cluster_capacity(world->context.cluster, n);
        sim_mix_fill(scenario, stages);
        const struct sim_meter_config config = { .node_count = nodes,
                                                 .node_capacity = capacity,
                                                 .stage_count = scenario->stages_total,
                                                 .stages = stages,
                                                 .pipeline_count = scenario->pipelines_count,
                                                 .pipeline_names = names,
                                                 .warmup_ns = scenario->warmup_ns };
        status = sim_meter_create(&config, &world->context.meter);
    }
    free(capacity);
    free(stages);
    free(names);
    return status;
}

static weir_status create_parts(struct sim_world *world, struct weir_error *error)
{
    const struct sim_scenario *scenario = world->scenario;
    world->context.engine = sim_engine_create();
    world->pipelines = calloc(scenario->pipelines_count + 1, sizeof(struct sim_pipeline_run *));
    world->stages = calloc(scenario->stages_total + 1, sizeof(struct sim_stage_run *));
    const size_t nodes = (size_t)sim_scenario_node_count(scenario) + 1;
    world->node_fault = calloc(nodes, sizeof(*world->node_fault));
    world->node_failures = calloc(nodes, sizeof(*world->node_failures));
    world->is_active = calloc(scenario->timeline_count + 1, sizeof(*world->is_active));
    if (world->context.engine == NULL || world->pipelines == NULL || world->stages == NULL ||
        world->node_fault == NULL || world->node_failures == NULL || world->is_active == NULL)
        return WEIR_ENOMEM;
    WEIR_TRY(sim_cluster_create(scenario, &world->context.cluster));
    WEIR_TRY(create_meter(world));
    WEIR_TRY(sim_worker_pool_create(&world->pool));
    for (size_t p = 0; p < scenario->pipelines_count; p++) {
        WEIR_TRY(sim_pipeline_create(&scenario->pipelines[p], (uint32_t)p, &world->context,
                                     world->pool, NULL, &world->pipelines[p]));
        for (uint32_t s = 0; s < world->pipelines[p]->stage_count; s++)
            world->stages[world->pipelines[p]->stages[s].index] = &world->pipelines[p]->stages[s];
    }
    const struct sim_port_config port = { &world->context, scenario, world->stages, world->pool };
    WEIR_TRY(sim_port_create(&port, &world->port, error));
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        world->pipelines[p]->port = world->port;
    return WEIR_OK;
}

weir_status sim_world_create(const struct sim_scenario *scenario,
                             const struct sim_run_options *options, struct sim_world **world,
                             struct weir_error *error)
{
    struct sim_world *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->scenario = scenario;
    made->options = options;
    made->context.scenario = scenario;
    made->context.recorder = options->recorder;
    made->context.random = (struct sim_random){ options->seed, options->replication };
    made->context.error = error;
    made->context.observer = options->observer;
    made->sample_ns = scenario->sample_ns > 0 ? scenario->sample_ns
                                              : sim_sampling_interval_ns(expected_s(scenario));
    const weir_status status = create_parts(made, error);
    if (status != WEIR_OK) {
        sim_world_destroy(made);
        return status;
    }
    if (options->progress != NULL)
        options->progress->handled = &made->handled;
    *world = made;
    return WEIR_OK;
}

void sim_world_destroy(struct sim_world *world)
{
    if (world == NULL)
        return;
    if (world->options->progress != NULL)
        world->options->progress->handled = NULL;
    sim_port_destroy(world->port);
    for (size_t p = 0; world->pipelines != NULL && p < world->scenario->pipelines_count; p++)
        sim_pipeline_destroy(world->pipelines[p]);
    sim_worker_pool_destroy(world->pool);
    sim_meter_destroy(world->context.meter);
    sim_cluster_destroy(world->context.cluster);
    sim_engine_destroy(world->context.engine);
    free(world->pipelines);
    free(world->stages);
    free(world->node_fault);
    free(world->node_failures);
    free(world->is_active);
    free(world);
}

bool sim_world_is_done(const struct sim_world *world)
{
    for (size_t p = 0; p < world->scenario->pipelines_count; p++)
        if (!sim_pipeline_is_done(world->pipelines[p]))
            return false;
    return true;
}

int64_t sim_world_end_ns(const struct sim_world *world)
{
    int64_t end_ns = 0;
    if (!sim_world_is_done(world))
        return sim_engine_now(world->context.engine);
    for (size_t p = 0; p < world->scenario->pipelines_count; p++)
        if (world->pipelines[p]->completed_ns > end_ns)
            end_ns = world->pipelines[p]->completed_ns;
    return end_ns;
}

uint64_t sim_world_items_in_system(const struct sim_world *world)
{
    uint64_t items = 0;
    for (size_t p = 0; p < world->scenario->pipelines_count; p++)
        items += world->pipelines[p]->items.alive;
    return items;
}

weir_status sim_world_check(const struct sim_world *world, struct weir_error *error)
{
    WEIR_TRY(sim_cluster_check(world->context.cluster, error));
    for (size_t p = 0; p < world->scenario->pipelines_count; p++)
        WEIR_TRY(sim_pipeline_check(world->pipelines[p], error));
    return sim_meter_check(world->context.meter, sim_engine_now(world->context.engine),
                           sim_world_items_in_system(world), error);
}

/* ---- events ---- */

static void report_progress(struct sim_world *world, int64_t now_ns)
{
    struct sim_progress *progress = world->options->progress;
    if (progress == NULL)
        return;
    double fraction = 0;
    if (world->scenario->horizon_ns != SIM_TIME_MAX)
        fraction = (double)now_ns / (double)world->scenario->horizon_ns;
    double total = 0;
    double done = 0;
    for (size_t p = 0; p < world->scenario->pipelines_count; p++) {
        total += (double)world->scenario->pipelines[p].input.items;
        done += (double)(world->pipelines[p]->finished + world->pipelines[p]->dropped);
    }
    if (total > 0)
        fraction = fmax(fraction, fmin(1.0, done / total));
    progress->fraction = fraction;
    progress->simulated_s = sim_time_s(now_ns);
    progress->events = world->handled;
}

static weir_status sample(struct sim_world *world, int64_t now_ns)
{
    WEIR_TRY(sim_meter_sample(world->context.meter, now_ns, world->context.recorder,
                              world->context.error));
    if (++world->samples >= SIM_SAMPLES_MAX && world->scenario->sample_ns == 0) {
        WEIR_TRY(sim_recorder_coarsen(world->context.recorder, world->context.error));
        world->samples /= 2;
        world->sample_ns *= 2;
    }
    schedule(world, now_ns + world->sample_ns, SIM_KIND_SAMPLE, SIM_PHASE_SAMPLE);
    return WEIR_OK;
}

static weir_status rescaled(struct sim_world *world)
{
    for (size_t p = 0; p < world->scenario->pipelines_count; p++)
        WEIR_TRY(sim_pipeline_rescaled(world->pipelines[p]));
    return WEIR_OK;
}

static weir_status decide(struct sim_world *world, int64_t now_ns, bool is_periodic)
{
    const struct sim_run_options *options = world->options;
    if (options->export_to != NULL && sim_time_s(now_ns) >= options->export_at_s) {
        sim_engine_stop(world->context.engine);
        return sim_port_export(world->port, options->export_to);
    }
    WEIR_TRY(sim_port_decide(world->port));
    WEIR_TRY(rescaled(world));
    const int64_t interval_ns = sim_port_interval_ns(world->port);
    if (is_periodic && interval_ns > 0)
        schedule(world, now_ns + interval_ns, SIM_KIND_DECIDE, SIM_PHASE_DECISION);
    return WEIR_OK;
}

static weir_status worker_event(struct sim_world *world, const struct sim_event *event)
{
    struct sim_worker *worker = world->pool->slots[event->target];
    struct sim_stage_run *stage = world->stages[worker->stage];
    struct sim_pipeline_run *run = stage->pipeline;
    bool flag = false;
    if (worker->id != event->argument || worker->state == SIM_WORKER_GONE)
        return weir_fail(world->context.error, WEIR_EINVARIANT,
                         "an event woke worker %llu, which is not there any more",
                         (unsigned long long)event->argument);
    switch ((enum sim_kind)event->kind) {
    case SIM_KIND_SERVICE_END:
        WEIR_TRY(sim_stage_finish(stage, worker, &flag));
        return run->flow->changed(run, stage->position);
    case SIM_KIND_SETUP_END:
        WEIR_TRY(sim_stage_ready(stage, worker, &flag));
        return flag ? sim_faults_setup_failed(world, worker)
                    : run->flow->changed(run, stage->position);
    case SIM_KIND_WORKER_CRASH:
        worker->crash = SIM_NO_HANDLE;
        return sim_faults_worker_crash(world, worker);
    case SIM_KIND_ARRIVAL:
    case SIM_KIND_SWEEP:
    case SIM_KIND_DECIDE:
    case SIM_KIND_SAMPLE:
    case SIM_KIND_NODE_FAIL:
    case SIM_KIND_NODE_REPAIR:
    case SIM_KIND_TIMELINE_BEGIN:
    case SIM_KIND_TIMELINE_END:
    case SIM_KIND_WARMUP:
    case SIM_KIND_WAKE:
    case SIM_KIND_APPLY:
    case SIM_KIND_LOOK:
        break;
    }
    return WEIR_EINVARIANT;
}

static weir_status dispatch(struct sim_world *world, const struct sim_event *event)
{
    struct sim_pipeline_run *run = NULL;
    switch ((enum sim_kind)event->kind) {
    case SIM_KIND_SERVICE_END:
    case SIM_KIND_SETUP_END:
    case SIM_KIND_WORKER_CRASH:
        return worker_event(world, event);
    case SIM_KIND_ARRIVAL:
        return sim_source_arrive(world->pipelines[event->target]);
    case SIM_KIND_SWEEP:
        run = world->pipelines[event->target];
        return run->flow->sweep(run);
    case SIM_KIND_DECIDE:
        return decide(world, event->time_ns, true);
    case SIM_KIND_WAKE:
        return decide(world, event->time_ns, false);
    case SIM_KIND_SAMPLE:
        return sample(world, event->time_ns);
    case SIM_KIND_NODE_FAIL:
        return sim_faults_node_fail(world, event->target);
    case SIM_KIND_NODE_REPAIR:
        return sim_faults_node_repair(world, event->target);
    case SIM_KIND_TIMELINE_BEGIN:
        return sim_timeline_apply(world, event->target);
    case SIM_KIND_TIMELINE_END:
        return sim_timeline_end(world, event->target);
    case SIM_KIND_APPLY:
        WEIR_TRY(sim_port_apply(world->port));
        return rescaled(world);
    case SIM_KIND_LOOK:
        sim_port_look(world->port);
        return WEIR_OK;
    case SIM_KIND_WARMUP:
        return WEIR_OK;
    }
    return WEIR_EINVARIANT;
}

static weir_status handle(void *state, const struct sim_event *event)
{
    struct sim_world *world = state;
    const struct sim_run_options *options = world->options;
    WEIR_TRY(dispatch(world, event));
    if (options->check_always)
        WEIR_TRY(sim_world_check(world, world->context.error));
    if ((++world->handled & 0xfff) == 0) {
        report_progress(world, event->time_ns);
        if (options->interrupt != NULL && *options->interrupt != 0) {
            world->is_interrupted = true;
            sim_engine_stop(world->context.engine);
        }
    }
    if (event->phase <= SIM_PHASE_FLOW && sim_world_is_done(world))
        sim_engine_stop(world->context.engine);
    return WEIR_OK;
}

weir_status sim_world_begin(struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    const struct sim_initial *initial = &scenario->initial;
    for (size_t i = 0; i < initial->stages_count; i++)
        WEIR_TRY(sim_port_set_estimate(world->port, &initial->stages[i]));
    for (size_t i = 0; i < initial->workers_count; i++)
        WEIR_TRY(sim_port_place_initial(world->port, &initial->workers[i]));
    for (uint32_t n = 0; n < world->context.cluster->node_count; n++)
        sim_cluster_meter(world->context.cluster, world->context.meter, 0, n);
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        WEIR_TRY(sim_pipeline_begin(world->pipelines[p], initial));
    WEIR_TRY(sim_faults_begin(world));
    WEIR_TRY(sim_timeline_begin(world));
    schedule(world, 0, SIM_KIND_DECIDE, SIM_PHASE_DECISION);
    schedule(world, world->sample_ns, SIM_KIND_SAMPLE, SIM_PHASE_SAMPLE);
    return WEIR_OK;
}

weir_status sim_world_advance(struct sim_world *world, int64_t until_ns)
{
    return sim_engine_run(world->context.engine, handle, world, until_ns);
}

weir_status sim_world_run(struct sim_world *world)
{
    WEIR_TRY(sim_world_begin(world));
    WEIR_TRY(sim_world_advance(world, world->scenario->horizon_ns));
    report_progress(world, sim_engine_now(world->context.engine));
    return WEIR_OK;
}
