/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A batch of fixed tasks (see toy_driver.h). Invariant: left + running + done = TOY_TASKS. */
#include "tests/support/toy_driver.h"

#include <stdlib.h>

struct toy {
    struct sim_driver_config config;
    uint32_t pool, left, running, done;
};

static const struct weir_shape shape = { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };

static uint32_t count(const struct sim_scenario *scenario)
{
    (void)scenario;
    return 1;
}

static weir_status create(const struct sim_driver_config *config, void **self,
                          struct weir_error *error)
{
    struct toy *toy = calloc(1, sizeof(*toy));
    const struct sim_pool pool = { .name = "toy",
                                   .shape = &shape,
                                   .is_last = true,
                                   .workers = TOY_WORKERS,
                                   .batch = 1,
                                   .slots = 1,
                                   .service_mean_s = TOY_TASK_S,
                                   .work = TOY_TASK_S,
                                   .samples_per_source = 1,
                                   .speed_hint_per_s = 1.0 / TOY_TASK_S };
    if (toy == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    *toy = (struct toy){ .config = *config, .left = TOY_TASKS };
    *self = toy;
    return config->services->add_pool(config->world, config->index, &pool, &toy->pool);
}

/* An idle worker of ours takes the next task, or is not needed any more. */
static weir_status work_on(void *self, struct sim_worker *worker)
{
    struct toy *toy = self;
    if (worker->driver != toy->config.index || worker->state != SIM_WORKER_IDLE)
        return WEIR_OK;
    if (toy->left == 0)
        return toy->config.services->end(toy->config.world, worker, SIM_STOP_OVER, "done");
    struct sim_engine *engine = toy->config.context->engine;
    const struct sim_event over = { .time_ns = sim_engine_now(engine) + TOY_TASK_S * SIM_NS_PER_S,
                                    .target = worker->slot,
                                    .argument = sim_worker_id(worker),
                                    .kind = sim_driver_kind(toy->config.index, 1),
                                    .phase = SIM_PHASE_COMPLETION };
    toy->left--;
    toy->running++;
    sim_worker_set_state(toy->config.workers, worker, SIM_WORKER_BUSY);
    *(sim_handle *)worker->work = sim_engine_schedule(engine, &over);
    return WEIR_OK;
}

static weir_status event(void *self, const struct sim_event *event)
{
    struct toy *toy = self;
    struct sim_worker *worker = sim_workers_of_event(toy->config.workers, event);
    if (worker == NULL)
        return WEIR_EINVARIANT;
    toy->running--;
    toy->done++;
    worker->tasks++;
    *(sim_handle *)worker->work = SIM_NO_HANDLE;
    sim_meter_task_done(toy->config.context->meter, event->time_ns, toy->pool,
                        TOY_TASK_S * SIM_NS_PER_S);
    sim_worker_set_state(toy->config.workers, worker, SIM_WORKER_IDLE);
    return work_on(toy, worker);
}

static weir_status start(void *self, const struct sim_start *start, uint32_t *reason)
{
    struct toy *toy = self;
    const struct sim_worker_start wanted = {
        .owner = start->owner, .driver = toy->config.index, .uses = &shape, .places = start->places
    };
    struct sim_worker *worker = NULL;
    if (toy->left == 0)
        *reason = WEIR_REASON_FINISHED;
    else
        WEIR_TRY(sim_worker_start(toy->config.workers, &wanted, &worker, reason));
    if (worker == NULL)
        return WEIR_OK;
    worker->work = calloc(1, sizeof(sim_handle)); /* the end of its task */
    sim_worker_set_state(toy->config.workers, worker, SIM_WORKER_SETUP);
    sim_worker_set_up(toy->config.workers, worker, TOY_SETUP_S * SIM_NS_PER_S);
    return worker->work == NULL ? WEIR_ENOMEM : WEIR_OK;
}

static weir_status ready(void *self, struct sim_worker *worker)
{
    struct toy *toy = self;
    sim_worker_set_state(toy->config.workers, worker, SIM_WORKER_IDLE);
    toy->config.services->ready(toy->config.world, worker);
    return work_on(toy, worker);
}

static weir_status stop(void *self, struct sim_worker *worker, enum sim_stop why)
{
    struct toy *toy = self;
    (void)why;
    if (worker->state == SIM_WORKER_BUSY) {
        const struct sim_context *context = toy->config.context;
        (void)sim_engine_cancel(context->engine, *(sim_handle *)worker->work);
        sim_meter_work_lost(context->meter, sim_engine_now(context->engine), toy->pool,
                            sim_engine_now(context->engine) - worker->since_ns, "stopped");
        toy->running--;
        toy->left++;
    }
    free(worker->work);
    worker->work = NULL;
    return WEIR_OK;
}

static weir_status settle(void *self)
{
    const struct toy *toy = self;
    return sim_workers_each(toy->config.workers, work_on, self);
}

static weir_status tell(void *self, const struct sim_teller *teller)
{
    const struct toy *toy = self;
    const struct sim_pool_state state = { .slots = 1,
                                          .requested_workers = TOY_WORKERS,
                                          .queued_items = toy->left,
                                          .is_finished = toy->done == TOY_TASKS };
    return teller->pool(teller->port, toy->pool, &state);
}

static bool is_done(const void *self)
{
    const struct toy *toy = self;
    return toy->done == TOY_TASKS;
}

static weir_status check(const void *self, struct weir_error *error)
{
    const struct toy *toy = self;
    return toy->left + toy->running + toy->done == TOY_TASKS
               ? WEIR_OK
               : weir_fail(error, WEIR_EINVARIANT, "%u tasks left, %u running, %u done", toy->left,
                           toy->running, toy->done);
}

static weir_status results(void *self, int64_t end_ns, struct sim_results *out)
{
    (void)end_ns;
    const struct toy *toy = self;
    const struct sim_result_row row = {
        .metric = "toy.tasks", .label = "toy", .unit = "1", .value = toy->done, .n = 1
    };
    sim_results_add(out, &row);
    return out->status;
}

const struct sim_driver_ops test_toy_driver = { .kind = "toy",
                                                .count = count,
                                                .create = create,
                                                .destroy = free,
                                                .event = event,
                                                .start = start,
                                                .ready = ready,
                                                .stop = stop,
                                                .settle = settle,
                                                .tell = tell,
                                                .is_done = is_done,
                                                .check = check,
                                                .results = results };
