/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pipelines as a kind of work: what the world asks of them (sim/world/driver.h), translated for
 * flow rules, tasks, sources and recovery. Nothing is decided here.
 */
#include "sim/pipeline/barrier.h"
#include "sim/pipeline/batching.h"
#include "sim/pipeline/flow.h"
#include "sim/pipeline/pipeline.h"
#include "sim/pipeline/recovery.h"
#include "sim/pipeline/service.h"
#include "sim/scenario/bound.h"

#include <math.h>

static uint32_t count_pipelines(const struct sim_scenario *scenario)
{
    return (uint32_t)scenario->pipelines_count;
}

/* ---- its stages as pools ---- */

static weir_status add_stage(struct sim_stage_run *stage, double source_per_item,
                             uint32_t bound_workers)
{
    const struct sim_stage *spec = stage->spec;
    const struct sim_pipeline_run *run = stage->pipeline;
    const struct sim_driver_config *config = &run->config;
    const double service_s = sim_service_mean_s(spec, sim_input_mean_size(&run->spec->input));
    const struct sim_pool pool = { .name = spec->name,
                                   .shape = &spec->shape,
                                   .soft_labels = spec->soft_labels,
                                   .position = stage->position,
                                   .is_last = stage->position + 1 == run->stage_count,
                                   .workers = spec->workers,
                                   .batch = spec->batch,
                                   .slots = stage->slots,
                                   .bound_workers = bound_workers,
                                   .service_mean_s = service_s,
                                   .work = service_s / (spec->batch * source_per_item),
                                   .samples_per_source = source_per_item,
                                   .over_provision = spec->over_provision,
                                   .speed_hint_per_s = spec->speed_hint_per_s,
                                   .class_names = stage->batching.class_names,
                                   .class_count = stage->batching.class_count };
    uint32_t index = 0;
    WEIR_TRY(config->services->add_pool(config->world, config->index, &pool, &index));
    return index == stage->index ? WEIR_OK : WEIR_EINVARIANT;
}

static weir_status add_stages(struct sim_pipeline_run *run)
{
    struct sim_bound bound = { 0 };
    const bool has_bound = sim_bound_compute(run->config.scenario, run->index, &bound) == WEIR_OK;
    double source_per_item = 1.0 / sim_input_mean_items(&run->spec->input);
    weir_status status = WEIR_OK;
    run->bound_per_s = has_bound ? bound.integer_per_s : 0;
    for (uint32_t s = 0; s < run->stage_count && status == WEIR_OK; s++) {
        const struct sim_law *law = run->stages[s].spec->returns;
        const double returns = law == NULL ? 1.0 : sim_law_mean(law);
        status = add_stage(&run->stages[s], source_per_item, has_bound ? bound.workers[s] : 0);
        source_per_item /= returns > 0 ? returns : 1.0;
    }
    sim_bound_clear(&bound);
    return status;
}

static weir_status create(const struct sim_driver_config *config, void **self,
                          struct weir_error *error)
{
    struct sim_pipeline_run *run = NULL;
    if (sim_pipeline_create(config, &run) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    *self = run;
    return add_stages(run);
}

static void destroy(void *self)
{
    sim_pipeline_destroy(self);
}

static const char *name(const void *self)
{
    const struct sim_pipeline_run *run = self;
    return run->spec->name;
}

static struct sim_stage_run *stage_of(struct sim_pipeline_run *run, uint32_t pool)
{
    return &run->stages[pool - run->stages[0].index];
}

static bool has_stage(const struct sim_pipeline_run *run, uint32_t pool)
{
    return pool >= run->stages[0].index && pool < run->stages[0].index + run->stage_count;
}

const struct sim_stage_run *sim_pipeline_stage(const struct sim_driver *drivers, uint32_t count,
                                               uint32_t pool)
{
    for (uint32_t d = 1; d <= count; d++)
        if (drivers[d].ops == &sim_pipeline_driver && has_stage(drivers[d].self, pool))
            return stage_of(drivers[d].self, pool);
    return NULL;
}

/* ---- events ---- */

static weir_status begin(void *self)
{
    struct sim_pipeline_run *run = self;
    return sim_pipeline_begin(run, &run->config.scenario->initial);
}

static weir_status worked(void *self, uint32_t target, sim_handle work)
{
    struct sim_pipeline_run *run = self;
    struct sim_hand *hand = sim_slab_at(&run->hands, target);
    if (hand->worker == NULL || hand->run != work)
        return WEIR_OK; /* one that ended at the same instant took its worker along */
    return sim_stage_task_worked(stage_of(run, hand->worker->owner.index), hand);
}

static weir_status paced(void *self, struct sim_worker *worker)
{
    return sim_stage_task_paced(stage_of(self, worker->owner.index), worker->work);
}

static weir_status event(void *self, const struct sim_event *event)
{
    struct sim_pipeline_run *run = self;
    switch ((enum sim_pipeline_event)sim_driver_own_kind(event)) {
    case SIM_PIPELINE_ARRIVAL:
        return sim_source_arrive(run);
    case SIM_PIPELINE_SWEEP:
        return run->flow->sweep(run);
    case SIM_PIPELINE_BATCH:
        run->stages[event->target].batching.due = SIM_NO_HANDLE;
        return run->flow->changed(run, event->target);
    }
    return WEIR_EINVARIANT;
}

/* ---- workers ---- */

static weir_status start(void *self, const struct sim_start *start, uint32_t *reason)
{
    struct sim_stage_run *stage = stage_of(self, start->owner.index);
    struct sim_hand *hand = NULL;
    if (stage->loop.is_done) {
        *reason = WEIR_REASON_FINISHED;
        return WEIR_OK;
    }
    return sim_pipeline_add_worker(stage, start, &hand, reason);
}

static weir_status loaded(void *self, struct sim_worker *worker)
{
    return sim_pipeline_loaded(stage_of(self, worker->owner.index), worker->work);
}

static weir_status ready(void *self, struct sim_worker *worker)
{
    struct sim_pipeline_run *run = self;
    struct sim_stage_run *stage = stage_of(run, worker->owner.index);
    bool has_failed = false;
    WEIR_TRY(sim_stage_ready(stage, worker->work, &has_failed));
    return has_failed ? sim_recovery_setup_failed(stage, worker->work)
                      : run->flow->changed(run, stage->position);
}

static weir_status stop(void *self, struct sim_worker *worker, enum sim_stop why)
{
    struct sim_stage_run *stage = stage_of(self, worker->owner.index);
    if (why != SIM_STOP_NODE_LOST && sim_runtime_kills(stage))
        worker->is_killed = true;
    if (why == SIM_STOP_CRASHED || why == SIM_STOP_NODE_LOST)
        WEIR_TRY(sim_recovery_died(stage, worker->work));
    return sim_pipeline_stop(stage, worker->work, why);
}

static void node_lost(void *self, uint32_t node)
{
    struct sim_pipeline_run *run = self;
    for (uint32_t s = 0; s < run->stage_count; s++)
        sim_pipeline_forget_node(&run->stages[s], node);
}

static weir_status settle(void *self)
{
    struct sim_pipeline_run *run = self;
    return run->flow->rescaled(run);
}

static bool may_stop(void *self, const struct sim_worker *worker)
{
    struct sim_pipeline_run *run = self;
    return run->spec->semantics != SIM_SEMANTICS_RUNTIME ||
           sim_runtime_may_stop(stage_of(run, worker->owner.index), worker->work);
}

/* ---- the scheduler ---- */

/* A main loop applies a plan at a turn after the one that asked for it. */
static int64_t applies_at(const void *self, int64_t due_ns)
{
    const struct sim_pipeline_run *run = self;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    const int64_t turn_ns = run->spec->turn_ns;
    if (run->spec->semantics != SIM_SEMANTICS_RUNTIME)
        return due_ns;
    const int64_t from_ns = due_ns > now_ns ? due_ns : now_ns + 1;
    return (from_ns + turn_ns - 1) / turn_ns * turn_ns;
}

static void set_slots(void *self, uint32_t pool, uint32_t slots)
{
    struct sim_stage_run *stage = stage_of(self, pool);
    stage->slots = slots;
    sim_stage_wake(stage);
}

/* A policy may plan workers for a stage that is done while the pipeline runs, as xenna's plain
 * version does; of a pipeline that is over nobody asks for any. */
static struct sim_pool_state state_of(const struct sim_stage_run *stage)
{
    const bool is_closed =
        !sim_barrier_takes_workers(stage) || sim_pipeline_is_done(stage->pipeline);
    const uint32_t members = weir_shape_members(&stage->spec->shape); /* the view counts these */
    const uint32_t ready = stage->worker_count - stage->count[SIM_WORKER_SETUP];
    return (struct sim_pool_state){ .ready = members * ready,
                                    .busy = members * stage->count[SIM_WORKER_BUSY],
                                    .slots = stage->slots,
                                    .requested_workers = is_closed ? 0 : stage->requested,
                                    .queued_items = sim_stage_batches(stage)
                                                        ? sim_batching_waiting_items(stage)
                                                        : sim_stage_waiting(stage),
                                    .is_finished = is_closed || stage->loop.is_done };
}

static weir_status tell(void *self, const struct sim_teller *teller)
{
    const struct sim_pipeline_run *run = self;
    for (uint32_t s = 0; s < run->stage_count; s++) {
        const struct sim_pool_state state = state_of(&run->stages[s]);
        WEIR_TRY(teller->pool(teller->port, run->stages[s].index, &state));
    }
    return WEIR_OK;
}

/* ---- the timeline ---- */

static const char *target(const void *self, const struct sim_timeline_entry *entry)
{
    const struct sim_pipeline_run *run = self;
    switch ((enum sim_action)entry->action) {
    case SIM_ACTION_STAGE_SLOW:
    case SIM_ACTION_STAGE_STALL:
    case SIM_ACTION_STAGE_FAIL:
    case SIM_ACTION_SETUP_SLOW:
        return has_stage(run, entry->target)
                   ? run->spec->stages[entry->target - run->stages[0].index].name
                   : NULL;
    case SIM_ACTION_ARRIVALS:
    case SIM_ACTION_BURST:
    case SIM_ACTION_SERVICE_DOWN:
    case SIM_ACTION_LOAD:
    case SIM_ACTION_UNLOAD:
    case SIM_ACTION_SCALE:
    case SIM_ACTION_DEPLOY:
        return entry->target == run->index ? run->spec->name : NULL;
    case SIM_ACTION_NODE_DOWN:
    case SIM_ACTION_NODE_UP:
    case SIM_ACTION_NODE_SLOW:
    case SIM_ACTION_SET:
    case SIM_ACTION_POWER_CAP:
    case SIM_ACTION_NIC_DOWN:
    case SIM_ACTION_NIC_UP:
    case SIM_ACTION_NIC_SLOW:
    case SIM_ACTION_STORE_DOWN:
    case SIM_ACTION_STORE_UP:
    case SIM_ACTION_STORE_SLOW:
    case SIM_ACTION_HEAD_DOWN:
        break;
    }
    return NULL;
}

static weir_status act_on_stage(struct sim_stage_run *stage, const struct sim_timeline_entry *entry,
                                double factor, bool is_on)
{
    if (entry->action == SIM_ACTION_STAGE_SLOW)
        stage->slow = factor;
    else if (entry->action == SIM_ACTION_STAGE_FAIL)
        stage->fail = 1.0 - factor;
    else if (entry->action == SIM_ACTION_SETUP_SLOW)
        stage->setup_slow = factor;
    else
        return is_on ? sim_pipeline_stall(stage) : sim_pipeline_unstall(stage);
    return WEIR_OK;
}

/* The replicas of a service: how many are wanted, or others in their place. */
static weir_status operate(struct sim_stage_run *stage, const struct sim_timeline_entry *entry)
{
    if (entry->action == SIM_ACTION_DEPLOY)
        WEIR_TRY(sim_recovery_replace(stage, "another version"));
    else
        stage->requested = entry->action == SIM_ACTION_LOAD    ? stage->spec->workers
                           : entry->action == SIM_ACTION_SCALE ? (int32_t)entry->replicas
                                                               : 0;
    sim_recovery_ask_for_plan(stage->pipeline);
    return WEIR_OK;
}

static weir_status act(void *self, const struct sim_timeline_entry *entry, double factor,
                       bool is_on)
{
    struct sim_pipeline_run *run = self;
    if (entry->action == SIM_ACTION_ARRIVALS)
        return sim_source_set_factor(run, factor);
    if (entry->action == SIM_ACTION_BURST)
        return is_on ? sim_source_burst(run, entry->items) : WEIR_OK;
    if (entry->action == SIM_ACTION_SERVICE_DOWN)
        return sim_batching_reach(&run->stages[0], is_on);
    if (entry->action >= SIM_ACTION_LOAD)
        return operate(&run->stages[0], entry);
    return act_on_stage(stage_of(run, entry->target), entry, factor, is_on);
}

/* ---- end and results ---- */

static bool is_done(const void *self)
{
    return sim_pipeline_is_done(self);
}

static const char *gave_up(const void *self, int64_t *at_ns)
{
    const struct sim_pipeline_run *run = self;
    *at_ns = run->gave_up_ns;
    return run->gave_up[0] == '\0' || sim_pipeline_is_done(run) ? NULL : run->gave_up;
}

static int64_t end_ns(const void *self)
{
    const struct sim_pipeline_run *run = self;
    return run->completed_ns;
}

static void progress(const void *self, double *done, double *total)
{
    const struct sim_pipeline_run *run = self;
    *total += (double)run->spec->input.items;
    *done += (double)(run->finished + run->dropped);
}

/* The backlog at its throughput bound. */
static double expected_s(const void *self)
{
    const struct sim_pipeline_run *run = self;
    const struct sim_input *input = &run->spec->input;
    double rate = run->bound_per_s;
    if (input->arrivals != NULL)
        rate = fmin(rate, input->arrivals->rate_per_s);
    return rate > 0 ? (double)input->items / rate : 0;
}

static uint64_t inside(const void *self, int64_t now_ns, int64_t *age_ns)
{
    const struct sim_pipeline_run *run = self;
    return age_ns == NULL ? run->items.alive : sim_pipeline_ages(run, now_ns, age_ns);
}

static void stored(const void *self, int64_t *by_node)
{
    sim_pipeline_stored(self, by_node);
}

static weir_status check(const void *self, struct weir_error *error)
{
    return sim_pipeline_check(self, error);
}

const struct sim_driver_ops sim_pipeline_driver = { .kind = "pipeline",
                                                    .count = count_pipelines,
                                                    .create = create,
                                                    .destroy = destroy,
                                                    .name = name,
                                                    .begin = begin,
                                                    .event = event,
                                                    .worked = worked,
                                                    .paced = paced,
                                                    .start = start,
                                                    .loaded = loaded,
                                                    .ready = ready,
                                                    .stop = stop,
                                                    .node_lost = node_lost,
                                                    .settle = settle,
                                                    .may_stop = may_stop,
                                                    .applies_at = applies_at,
                                                    .set_slots = set_slots,
                                                    .tell = tell,
                                                    .target = target,
                                                    .act = act,
                                                    .is_done = is_done,
                                                    .gave_up = gave_up,
                                                    .end_ns = end_ns,
                                                    .progress = progress,
                                                    .expected_s = expected_s,
                                                    .inside = inside,
                                                    .stored = stored,
                                                    .check = check };
