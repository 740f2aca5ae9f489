/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run: building the parts, dispatching events, ending (see world.h). */
#include "sim/world/supply.h"

#include "sim/cluster/compute.h"
#include "sim/cluster/ghosts.h"
#include "sim/cluster/link.h"
#include "sim/cluster/memory.h"
#include "sim/cluster/power.h"
#include "sim/cluster/topology.h"
#include "sim/record/meter/sampling.h"
#include "sim/record/record.h"
#include "sim/worker/load.h"
#include "weir/forecast.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static sim_handle schedule(struct sim_world *world, int64_t at_ns, uint16_t kind, uint16_t phase)
{
    const struct sim_event event = { .time_ns = at_ns, .kind = kind, .phase = phase };
    return sim_engine_schedule(world->context.engine, &event);
}

/* How long the run will last: the horizon, or what the slowest driver expects. */
static double expected_s(const struct sim_world *world)
{
    double longest_s = 0;
    if (world->scenario->horizon_ns != SIM_TIME_MAX)
        return sim_time_s(world->scenario->horizon_ns);
    for (uint32_t d = 1; d <= world->driver_count; d++) {
        const struct sim_driver *driver = &world->drivers[d];
        if (driver->ops->expected_s != NULL)
            longest_s = fmax(longest_s, driver->ops->expected_s(driver->self));
    }
    return longest_s;
}

/* ---- parts ---- */

static const struct sim_driver_ops *const *registry_of(const struct sim_world *world)
{
    return world->options->drivers == NULL ? sim_drivers : world->options->drivers;
}

static weir_status reserve_drivers(struct sim_world *world, struct weir_error *error)
{
    uint32_t count = 0;
    for (const struct sim_driver_ops *const *ops = registry_of(world); *ops != NULL; ops++)
        count += (*ops)->count(world->scenario);
    if (count > SIM_DRIVERS_MAX)
        return weir_fail(error, WEIR_ERANGE, "%u workloads in one scenario, %u are possible", count,
                         SIM_DRIVERS_MAX);
    world->drivers = calloc((size_t)count + 1, sizeof(*world->drivers));
    world->driver_count = count;
    return world->drivers == NULL ? WEIR_ENOMEM : WEIR_OK;
}

static weir_status create_drivers(struct sim_world *world, struct weir_error *error)
{
    uint32_t index = 1;
    for (const struct sim_driver_ops *const *ops = registry_of(world); *ops != NULL; ops++) {
        const uint32_t count = (*ops)->count(world->scenario);
        for (uint32_t i = 0; i < count; i++, index++) {
            const struct sim_driver_config config = { .scenario = world->scenario,
                                                      .instance = i,
                                                      .index = index,
                                                      .context = &world->context,
                                                      .workers = world->workers,
                                                      .services = &sim_world_services,
                                                      .world = world };
            world->drivers[index].ops = *ops;
            if ((*ops)->paced != NULL && world->scenario->contention == SIM_CONTENTION_SHARED)
                sim_workers_watch_pace(world->workers);
            WEIR_TRY((*ops)->create(&config, &world->drivers[index].self, error));
        }
    }
    return WEIR_OK;
}

static weir_status create_parts(struct sim_world *world, struct weir_error *error)
{
    const struct sim_scenario *scenario = world->scenario;
    const size_t nodes = (size_t)sim_scenario_node_count(scenario) + 1;
    world->context.engine = sim_engine_create();
    if (world->context.engine != NULL)
        world->context.activities = sim_activities_create(world->context.engine, SIM_KIND_WORK);
    world->node_fault = calloc(nodes, sizeof(*world->node_fault));
    world->power_look = calloc(nodes, sizeof(*world->power_look));
    world->is_active = calloc(scenario->timeline_count + 1, sizeof(*world->is_active));
    if (world->context.activities == NULL || world->node_fault == NULL ||
        world->power_look == NULL || world->is_active == NULL)
        return WEIR_ENOMEM;
    WEIR_TRY(sim_cluster_create(scenario, &world->context.cluster));
    WEIR_TRY(sim_extents_open(world->context.cluster));
    WEIR_TRY(sim_faults_create(world));
    WEIR_TRY(sim_supply_create(world));
    if (scenario->contention == SIM_CONTENTION_SHARED)
        WEIR_TRY(sim_compute_open(world->context.cluster, world->context.activities));
    WEIR_TRY(sim_links_open(world->context.cluster, world->context.activities));
    WEIR_TRY(sim_sockets_open(world->context.cluster));
    WEIR_TRY(sim_workers_create(&world->context, &world->workers));
    WEIR_TRY(reserve_drivers(world, error));
    const struct sim_port_config port = { .context = &world->context,
                                          .scenario = scenario,
                                          .workers = world->workers,
                                          .drivers = world->drivers,
                                          .driver_count = world->driver_count,
                                          .options = world->options,
                                          .supplier = sim_supply_supplier(world) };
    WEIR_TRY(sim_port_create(&port, &world->port, error));
    WEIR_TRY(create_drivers(world, error));
    WEIR_TRY(sim_world_create_meter(world));
    world->sample_ns =
        scenario->sample_ns > 0 ? scenario->sample_ns : sim_sampling_interval_ns(expected_s(world));
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
    made->context.random =
        (struct sim_random){ .seed = options->seed, .replication = options->replication };
    made->context.error = error;
    made->context.observer = options->observer;
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
    sim_drift_clear(world);
    sim_port_destroy(world->port);
    for (uint32_t d = 1; world->drivers != NULL && d <= world->driver_count; d++)
        if (world->drivers[d].self != NULL)
            world->drivers[d].ops->destroy(world->drivers[d].self);
    sim_workers_destroy(world->workers);
    sim_meter_destroy(world->context.meter);
    sim_cluster_destroy(world->context.cluster);
    sim_activities_destroy(world->context.activities);
    sim_engine_destroy(world->context.engine);
    free(world->drivers);
    free(world->node_fault);
    sim_faults_destroy(world);
    sim_supply_destroy(world);
    free(world->power_look);
    free(world->is_active);
    free(world);
}

/* ---- what drivers say ---- */

uint64_t sim_world_inside(const struct sim_world *world)
{
    uint64_t units = 0;
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->inside != NULL)
            units += world->drivers[d].ops->inside(world->drivers[d].self, 0, NULL);
    return units;
}

weir_status sim_world_settle(struct sim_world *world)
{
    for (uint32_t d = 1; d <= world->driver_count; d++)
        WEIR_TRY(world->drivers[d].ops->settle(world->drivers[d].self));
    return WEIR_OK;
}

static weir_status tell_paced(void *state, struct sim_worker *worker)
{
    const struct sim_world *world = state;
    const struct sim_driver *driver = &world->drivers[worker->driver];
    return driver->ops->paced == NULL ? WEIR_OK : driver->ops->paced(driver->self, worker);
}

/* Devices became faster or slower: what runs on them goes on at another rate, and may draw other
 * power by that. */
static weir_status go_on(struct sim_world *world)
{
    WEIR_TRY(sim_world_power(world));
    if (!sim_workers_are_paced(world->workers))
        return WEIR_OK;
    WEIR_TRY(sim_workers_each_paced(world->workers, tell_paced, world));
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->speeds != NULL)
            WEIR_TRY(world->drivers[d].ops->speeds(world->drivers[d].self));
    return world->context.cluster->first_drawing == 0 ? WEIR_OK : go_on(world);
}

/* The event changed no memory, no power and no pace, as most do. */
static bool is_calm(const struct sim_world *world)
{
    const struct sim_cluster *cluster = world->context.cluster;
    return cluster->first_grown == 0 && cluster->first_drawing == 0 &&
           !sim_workers_are_paced(world->workers);
}

/* Nobody keeps the handle of an event that is over: one that is used does nothing, and is counted.
 */
static weir_status check_handles(const struct sim_world *world, struct weir_error *error)
{
    const uint64_t stale = sim_engine_stats(world->context.engine).stale_handles;
    return stale == 0
               ? WEIR_OK
               : weir_fail(error, WEIR_EINVARIANT, "%llu handles of events that are over were used",
                           (unsigned long long)stale);
}

/* What lies in the memory of a node is what the items there have: bytes in = out + stored. */
static weir_status check_stored(const struct sim_world *world, struct weir_error *error)
{
    const struct sim_cluster *cluster = world->context.cluster;
    weir_status status = WEIR_OK;
    if (!sim_memory_is_timed(cluster))
        return WEIR_OK;
    int64_t *by_node = calloc((size_t)cluster->node_count + 1, sizeof(*by_node));
    if (by_node == NULL)
        return WEIR_ENOMEM;
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->stored != NULL)
            world->drivers[d].ops->stored(world->drivers[d].self, by_node);
    for (uint32_t n = 0; n < cluster->node_count && status == WEIR_OK; n++)
        if (by_node[n] != cluster->nodes[n].store_bytes)
            status = weir_fail(error, WEIR_EINVARIANT,
                               "items of %lld bytes lie on node %u, which counts %lld",
                               (long long)by_node[n], n, (long long)cluster->nodes[n].store_bytes);
    free(by_node);
    return status;
}

weir_status sim_world_check(const struct sim_world *world, struct weir_error *error)
{
    WEIR_TRY(check_handles(world, error));
    WEIR_TRY(sim_cluster_check(world->context.cluster, error));
    WEIR_TRY(sim_workers_check(world->workers, error));
    WEIR_TRY(sim_workers_check_memory(world->workers, error));
    WEIR_TRY(check_stored(world, error));
    WEIR_TRY(sim_activities_check(world->context.activities, error));
    WEIR_TRY(sim_links_check(world->context.cluster, sim_engine_now(world->context.engine), error));
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->check != NULL)
            WEIR_TRY(world->drivers[d].ops->check(world->drivers[d].self, error));
    return sim_meter_check(world->context.meter, sim_engine_now(world->context.engine),
                           sim_world_inside(world), error);
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
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->progress != NULL)
            world->drivers[d].ops->progress(world->drivers[d].self, &done, &total);
    if (total > 0)
        fraction = fmax(fraction, fmin(1.0, done / total));
    progress->fraction = fraction;
    progress->simulated_s = sim_time_s(now_ns);
    progress->events = world->handled;
}

/* A last sample at the very end of one that was just taken has no length. */
static weir_status sample_features(struct sim_world *world, int64_t now_ns)
{
    double values[WEIR_FEATURE_COUNT];
    const int64_t from_ns = world->features_ns;
    if (now_ns <= from_ns)
        return WEIR_OK;
    world->features_ns = now_ns;
    sim_port_features(world->port, values);
    return sim_recorder_sample(world->context.recorder, SIM_SAMPLE_FEATURES, 0, sim_time_s(from_ns),
                               sim_time_s(now_ns - from_ns), values, WEIR_FEATURE_COUNT,
                               world->context.error);
}

weir_status sim_world_sample(struct sim_world *world, int64_t now_ns)
{
    const struct sim_cluster *cluster = world->context.cluster;
    if (sim_recorder_keeps(world->context.recorder, SIM_KEEP_SERIES))
        sim_links_meter(cluster, world->context.meter, now_ns);
    for (uint32_t n = 0; cluster->has_heat && n < cluster->node_count; n++)
        sim_power_meter_heat(cluster, world->context.meter, now_ns, n);
    if (world->scenario->has_features)
        WEIR_TRY(sample_features(world, now_ns));
    return sim_meter_sample(world->context.meter, now_ns, world->context.recorder,
                            world->context.error);
}

static void sample_next(struct sim_world *world, int64_t at_ns)
{
    (void)schedule(world, at_ns, SIM_KIND_SAMPLE, SIM_PHASE_SAMPLE);
    sim_meter_sample_at(world->context.meter, at_ns);
}

static weir_status sample(struct sim_world *world, int64_t now_ns)
{
    WEIR_TRY(sim_world_sample(world, now_ns));
    if (++world->samples >= SIM_SAMPLES_MAX && world->scenario->sample_ns == 0) {
        WEIR_TRY(sim_recorder_coarsen(world->context.recorder, world->context.error));
        world->samples /= 2;
        world->sample_ns *= 2;
    }
    sample_next(world, now_ns + world->sample_ns);
    return WEIR_OK;
}

/* While the head is down it is asked nothing; what it would have been asked for it is asked then.
 */
static weir_status ask(struct sim_world *world, uint32_t causes)
{
    if (world->heads_down == 0)
        return sim_port_decide(world->port, causes);
    world->causes_kept |= causes;
    return WEIR_OK;
}

void sim_world_restart_timer(struct sim_world *world)
{
    struct sim_engine *engine = world->context.engine;
    const int64_t now_ns = sim_engine_now(engine);
    const int64_t due_ns = world->timed_ns + sim_port_interval_ns(world->port);
    const int64_t at_ns = due_ns > now_ns ? due_ns : now_ns;
    if (world->timer != SIM_NO_HANDLE)
        (void)sim_engine_reschedule(engine, world->timer, at_ns);
    else
        world->timer = schedule(world, at_ns, SIM_KIND_DECIDE, SIM_PHASE_DECISION);
}

static weir_status decide(struct sim_world *world, int64_t now_ns, uint32_t causes)
{
    WEIR_TRY(ask(world, causes));
    if (sim_port_is_enough(world->port)) {
        sim_engine_stop(world->context.engine);
        return WEIR_OK;
    }
    WEIR_TRY(sim_world_settle(world));
    if ((causes & WEIR_CAUSE_TIMER) != 0) {
        world->timed_ns = now_ns;
        sim_world_restart_timer(world);
    }
    return WEIR_OK;
}

static weir_status worker_event(struct sim_world *world, const struct sim_event *event)
{
    struct sim_worker *worker = sim_workers_of_event(world->workers, event);
    if (worker == NULL)
        return weir_fail(world->context.error, WEIR_EINVARIANT,
                         "an event woke worker %llu, which is not there any more",
                         (unsigned long long)event->argument);
    const struct sim_driver *driver = &world->drivers[worker->driver];
    if (event->kind == SIM_KIND_WORKER_CRASH)
        return sim_faults_worker_crash(world, worker);
    worker->timer = SIM_NO_HANDLE;
    return driver->ops->ready(driver->self, worker);
}

/* A load of some worker is over, and with it perhaps all that some were waiting for. */
static weir_status load_ended(struct sim_world *world, const struct sim_ended *ended)
{
    struct sim_worker *worker = NULL;
    WEIR_TRY(sim_workers_load_worked(world->workers, (uint32_t)ended->owner, ended->handle));
    while ((worker = sim_workers_take_loaded(world->workers)) != NULL) {
        const struct sim_driver *driver = &world->drivers[worker->driver];
        WEIR_TRY(driver->ops->loaded(driver->self, worker));
    }
    return WEIR_OK;
}

/* Work of drivers is over, or what workers load. */
static weir_status work_ended(struct sim_world *world, const struct sim_event *event)
{
    const struct sim_ended *ended = NULL;
    uint32_t count = 0;
    WEIR_TRY(sim_activities_fire(world->context.activities, event, &ended, &count));
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_driver *driver = &world->drivers[ended[i].owner >> 32];
        WEIR_TRY(
            ended[i].owner >> 32 == 0
                ? load_ended(world, &ended[i])
                : driver->ops->worked(driver->self, (uint32_t)ended[i].owner, ended[i].handle));
    }
    return WEIR_OK;
}

static void foresee(void *state, const struct sim_event *event, uint32_t before)
{
    const struct sim_world *world = state;
    const uint64_t index = event->argument >> 32; /* sim_work_owner */
    if (!sim_activities_foresee(world->context.activities, event) || index == 0)
        return;
    const struct sim_driver *driver = &world->drivers[index];
    if (driver->ops->foresee != NULL)
        driver->ops->foresee(driver->self, (uint32_t)event->argument, before);
}

/* Of several at one instant the first takes all causes along. */
static weir_status wake(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t causes = (uint32_t)event->argument | sim_port_take_causes(world->port);
    return causes == 0 ? WEIR_OK : decide(world, event->time_ns, causes);
}

static weir_status own_event(struct sim_world *world, const struct sim_event *event)
{
    switch ((enum sim_kind)event->kind) {
    case SIM_KIND_SETUP_END:
    case SIM_KIND_WORKER_CRASH:
        return worker_event(world, event);
    case SIM_KIND_DECIDE:
        world->timer = SIM_NO_HANDLE;
        return decide(world, event->time_ns, WEIR_CAUSE_TIMER | sim_port_take_causes(world->port));
    case SIM_KIND_WAKE:
        WEIR_TRY(sim_port_looked(world->port));
        return wake(world, event);
    case SIM_KIND_SAMPLE:
        return sample(world, event->time_ns);
    case SIM_KIND_FAIL:
        return sim_faults_fail(world, event);
    case SIM_KIND_REPAIR:
        return sim_faults_repair(world, event);
    case SIM_KIND_BOOT:
        return sim_supply_booted(world, event);
    case SIM_KIND_RECLAIM:
        return sim_spot_reclaim(world, event);
    case SIM_KIND_SPOT:
        return sim_spot_step(world, event->target);
    case SIM_KIND_DETECT:
        return sim_faults_detect(world, event);
    case SIM_KIND_TIMELINE_BEGIN:
        return sim_timeline_apply(world, event->target);
    case SIM_KIND_TIMELINE_END:
        return sim_timeline_end(world, event->target);
    case SIM_KIND_MEMORY:
        return sim_memory_look(world, event->target);
    case SIM_KIND_REAP:
        sim_ghosts_reap(world->context.cluster, event->time_ns);
        sim_port_wake(world->port, WEIR_CAUSE_JOBS);
        return sim_world_settle(world);
    case SIM_KIND_DRIFT:
        return sim_drift_step(world, event->target);
    case SIM_KIND_APPLY:
        WEIR_TRY(sim_port_apply(world->port));
        return sim_world_settle(world);
    case SIM_KIND_CUT:
        return sim_port_cut_done(world->port, event->target, (uint32_t)event->argument);
    case SIM_KIND_LOOK:
        WEIR_TRY(sim_port_looked(world->port));
        return sim_port_look(world->port);
    case SIM_KIND_NEWS:
        return sim_port_news_due(world->port);
    case SIM_KIND_WORK:
        return work_ended(world, event);
    case SIM_KIND_POWER:
        world->power_look[event->target] = SIM_NO_HANDLE;
        sim_power_note(world->context.cluster, event->target);
        return WEIR_OK;
    }
    return WEIR_EINVARIANT;
}

static weir_status dispatch(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t index = sim_driver_of_event(event);
    if (index == 0)
        return own_event(world, event);
    assert(index <= world->driver_count);
    return world->drivers[index].ops->event(world->drivers[index].self, event);
}

static weir_status handle(void *state, const struct sim_event *event)
{
    struct sim_world *world = state;
    const struct sim_run_options *options = world->options;
    WEIR_TRY(dispatch(world, event));
    if (!is_calm(world)) {
        WEIR_TRY(sim_memory_relieve(world));
        WEIR_TRY(go_on(world));
    }
    if (options->check_always)
        WEIR_TRY(sim_world_check(world, world->context.error));
    if ((++world->handled & 0xfff) == 0) {
        report_progress(world, event->time_ns);
        if (options->interrupt != NULL && *options->interrupt != 0) {
            world->is_interrupted = true;
            sim_engine_stop(world->context.engine);
        }
    }
    sim_world_note_event(world, event);
    if (sim_world_is_over(world, event))
        sim_engine_stop(world->context.engine);
    return WEIR_OK;
}

weir_status sim_world_begin(struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    const struct sim_initial *initial = &scenario->initial;
    sim_timeline_expect(world);
    WEIR_TRY(sim_drift_begin(world));
    WEIR_TRY(sim_supply_begin(world));
    for (size_t i = 0; i < initial->stages_count; i++)
        WEIR_TRY(sim_port_set_estimate(world->port, &initial->stages[i]));
    for (size_t i = 0; i < initial->workers_count; i++)
        WEIR_TRY(sim_port_place_initial(world->port, &initial->workers[i]));
    for (uint32_t n = 0; n < world->context.cluster->node_count; n++)
        sim_cluster_meter(world->context.cluster, world->context.meter, 0, n);
    sim_links_meter(world->context.cluster, world->context.meter, 0);
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->begin != NULL)
            WEIR_TRY(world->drivers[d].ops->begin(world->drivers[d].self));
    WEIR_TRY(sim_faults_begin(world));
    WEIR_TRY(sim_timeline_begin(world));
    world->timed_ns = -SIM_TIME_MAX / 2; /* never: the first comes at 0, whatever is set there */
    if (sim_port_pool_count(world->port) > 0)
        sim_world_restart_timer(world);
    sample_next(world, world->sample_ns);
    return WEIR_OK;
}

weir_status sim_world_advance(struct sim_world *world, int64_t until_ns)
{
    sim_engine_foresee(world->context.engine, foresee);
    return sim_engine_run(world->context.engine, handle, world, until_ns);
}

weir_status sim_world_run(struct sim_world *world)
{
    WEIR_TRY(sim_world_begin(world));
    WEIR_TRY(sim_world_advance(world, world->scenario->horizon_ns));
    report_progress(world, sim_engine_now(world->context.engine));
    return WEIR_OK;
}
