/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The port between the simulated cluster and libweir (see scheduler_port.h). */
#include "sim/scheduler_port.h"

#include "sim/belief.h"
#include "sim/mix.h"
#include "sim/pipeline/barrier.h"
#include "sim/record/record.h"
#include "sim/scheduler_port_state.h"
#include "weir/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPU time of the thread: what a decision costs does not depend on who else is on the machine. */
static int64_t cpu_clock_ns(void *state)
{
    struct timespec now;
    (void)state;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * SIM_NS_PER_S + now.tv_nsec;
}

static struct weir_host_config host_config(const struct sim_port *port)
{
    const struct sim_sched *sched = port->sched;
    return (struct weir_host_config){
        .size = sizeof(struct weir_host_config),
        .explain = sched->explain,
        .allocator = &port->memory,
        .placement = sched->placement.placement,
        .placement_params = { sched->placement.values, (uint32_t)sched->placement.count, 0 },
        .scaling = sched->scaling.scaling,
        .scaling_params = { sched->scaling.values, (uint32_t)sched->scaling.count, 0 },
        .window = { sched->window_ns, sched->min_points },
        .seed = sim_digest_word(port->config.context->random.seed,
                                port->config.context->random.replication),
        .clock_ns = cpu_clock_ns
    };
}

/* ---- a policy that is a command ---- */

static bool has_command(const struct sim_port *port)
{
    return port->sched->scaling.scaling == &sim_command_scaling;
}

static void choose_command(struct sim_port *port)
{
    port->command.argv = port->sched->scaling.argv;
    port->command.folder = port->sched->scaling.folder;
}

static weir_status write_text(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_EIO;
}

/* The question must be ready before the host asks: it may not be called back while it plans. */
static weir_status prepare_question(struct sim_port *port, const char *word, int64_t now_ns)
{
    char *text = NULL;
    size_t length = 0;
    if (!has_command(port))
        return WEIR_OK;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return WEIR_ENOMEM;
    const struct weir_sink sink = { write_text, out };
    weir_status status = weir_host_export(port->host, now_ns, &sink);
    if (fclose(out) != 0)
        status = WEIR_ENOMEM;
    if (status == WEIR_OK)
        status = sim_command_prepare(&port->command, text, word);
    free(text);
    return status;
}

/* Which command it was that failed. */
static weir_status name_command(const struct sim_port *port, weir_status status,
                                struct weir_error *error)
{
    char text[SIM_COMMAND_TEXT];
    if (status != WEIR_EPOLICY || !has_command(port))
        return status;
    sim_command_text(&port->command, text);
    weir_error_wrap(error, "%s", text);
    return status;
}

/* ---- telling the host ---- */

static weir_status add_node(struct sim_port *port, uint32_t index, struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(sim_belief_node(port->config.scenario, index, gpus, &spec, error));
    return weir_host_add_node(port->host, &spec, NULL, error);
}

static weir_status add_stage(struct sim_port *port, uint32_t index, struct weir_error *error)
{
    const struct sim_stage_run *stage = port->config.stages[index];
    const struct sim_stage *spec = stage->spec;
    const struct weir_pool_view view = { .name = spec->name,
                                         .pipeline = stage->pipeline->index,
                                         .requested_workers = spec->workers,
                                         .shape = spec->shape,
                                         .batch_size = spec->batch,
                                         .slots = stage->slots,
                                         .over_provision = spec->over_provision,
                                         .speed_hint_per_s = spec->speed_hint_per_s };
    return weir_host_add_pool(port->host, &view, NULL, error);
}

static weir_status fill_host(struct sim_port *port, struct weir_error *error)
{
    const struct sim_scenario *scenario = port->config.scenario;
    const uint32_t nodes = sim_scenario_node_count(scenario);
    for (uint32_t n = 0; n < nodes; n++)
        WEIR_TRY(add_node(port, n, error));
    for (uint32_t s = 0; s < scenario->stages_total; s++)
        WEIR_TRY(add_stage(port, s, error));
    return WEIR_OK;
}

weir_status sim_port_create(const struct sim_port_config *config, struct sim_port **port,
                            struct weir_error *error)
{
    struct sim_port *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->config = *config;
    made->sched = &config->scenario->sched;
    made->memory = sim_command_allocator(&made->command);
    choose_command(made);
    const struct weir_host_config host = host_config(made);
    made->seen = calloc(config->scenario->stages_total + 1, sizeof(*made->seen));
    weir_status status = made->seen == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                                            : weir_host_create(&host, &made->host, error);
    status = name_command(made, status, error);
    if (status == WEIR_OK)
        status = fill_host(made, error);
    if (status != WEIR_OK) {
        sim_port_destroy(made);
        return status;
    }
    *port = made;
    return WEIR_OK;
}

void sim_port_destroy(struct sim_port *port)
{
    if (port == NULL)
        return;
    weir_host_destroy(port->host);
    free(port->outcomes);
    free(port->seen);
    free(port->late);
    sim_command_clear(&port->command);
    free(port);
}

weir_status sim_port_measure(struct sim_port *port, const struct weir_measurement *task)
{
    if (port->sched->view_age_ns == 0 && port->late_count == 0)
        return weir_host_measure(port->host, task);
    if (port->late_count == port->late_capacity) {
        const size_t capacity = port->late_capacity == 0 ? 256 : port->late_capacity * 2;
        struct weir_measurement *late = realloc(port->late, capacity * sizeof(*late));
        if (late == NULL)
            return WEIR_ENOMEM;
        port->late = late;
        port->late_capacity = capacity;
    }
    port->late[port->late_count++] = *task;
    return WEIR_OK;
}

/* Hands over what was measured up to `until_ns`. */
static weir_status measure_late(struct sim_port *port, int64_t until_ns)
{
    size_t told = 0;
    while (told < port->late_count && port->late[told].end_ns <= until_ns)
        WEIR_TRY(weir_host_measure(port->host, &port->late[told++]));
    if (told > 0)
        memmove(port->late, port->late + told, (port->late_count - told) * sizeof(*port->late));
    port->late_count -= told;
    return WEIR_OK;
}

void sim_port_worker_ready(struct sim_port *port, const struct sim_worker *worker, int64_t now_ns)
{
    for (uint32_t i = 0; i <= worker->other_count; i++)
        (void)weir_host_set_worker_state(port->host, sim_worker_member(worker, i).id,
                                         WEIR_WORKER_READY, now_ns);
}

static weir_status tell(struct sim_port *port, uint32_t kind, uint32_t stage, uint64_t worker,
                        const struct weir_alloc *alloc, uint32_t reason)
{
    struct sim_context *context = port->config.context;
    const struct weir_outcome outcome = { .kind = kind,
                                          .pool = stage,
                                          .reason = reason,
                                          .node = alloc == NULL ? WEIR_NO_INDEX : alloc->node,
                                          .worker = worker,
                                          .time_ns = sim_engine_now(context->engine) };
    return weir_host_outcome(port->host, &outcome, alloc, context->error);
}

weir_status sim_port_tell_end(struct sim_port *port, uint32_t kind, const struct sim_worker *worker,
                              uint32_t reason)
{
    for (uint32_t i = 0; i <= worker->other_count; i++)
        WEIR_TRY(tell(port, kind, worker->stage, sim_worker_member(worker, i).id, NULL, reason));
    return WEIR_OK;
}

weir_status sim_port_tell_places(struct sim_port *port, uint32_t stage,
                                 const struct sim_places *places, uint32_t reason)
{
    const uint32_t kind = reason == WEIR_REASON_NONE ? WEIR_OUTCOME_STARTED : WEIR_OUTCOME_REFUSED;
    for (uint32_t i = 0; i < places->count; i++)
        WEIR_TRY(tell(port, kind, stage, places->items[i].id, &places->items[i].alloc, reason));
    return WEIR_OK;
}

weir_status sim_port_worker_lost(struct sim_port *port, const struct sim_worker *worker)
{
    return sim_port_tell_end(port, WEIR_OUTCOME_LOST, worker, WEIR_REASON_NONE);
}

weir_status sim_port_stop_worker(struct sim_port *port, struct sim_worker *worker)
{
    WEIR_TRY(sim_port_tell_end(port, WEIR_OUTCOME_STOPPED, worker, WEIR_REASON_FINISHED));
    return sim_pipeline_drop_worker(port->config.stages[worker->stage], worker, "stage done");
}

weir_status sim_port_restart_worker(struct sim_port *port, struct sim_stage_run *stage,
                                    const struct sim_return *back, uint32_t *reason)
{
    const struct sim_places places = { back->places, back->count };
    WEIR_TRY(sim_pipeline_add_worker(stage, &places, false, reason));
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    sim_worker_find(port->config.pool, back->places[0].id)->deaths = back->deaths;
    return sim_port_tell_places(port, stage->index, &places, WEIR_REASON_NONE);
}

weir_status sim_port_node(struct sim_port *port, uint32_t node, bool is_up)
{
    return weir_host_set_node(port->host, node, is_up ? WEIR_NODE_UP : 0,
                              sim_engine_now(port->config.context->engine));
}

weir_status sim_port_set_estimate(struct sim_port *port, const struct sim_initial_stage *start)
{
    if (isnan(start->speed_per_s) && isnan(start->returns_per_batch))
        return WEIR_OK;
    const struct weir_estimate estimate = { .batches_per_s = start->speed_per_s,
                                            .returns_per_batch = start->returns_per_batch };
    return weir_host_set_estimate(port->host, start->stage, estimate);
}

/* ---- initial workers ---- */

/* The members of a group take the first nodes that fit, from the named one on. */
static weir_status adopt_places(struct sim_port *port, const struct sim_initial_workers *group,
                                struct sim_place *places, uint32_t members)
{
    struct weir_error *error = port->config.context->error;
    struct sim_stage_run *stage = port->config.stages[group->stage];
    const uint32_t nodes = sim_scenario_node_count(port->config.scenario);
    uint32_t node = group->node;
    uint32_t reason = WEIR_REASON_NONE;
    for (uint32_t m = 0; m < members; m++, node++) {
        const struct weir_cluster *cluster = weir_host_cluster(port->host);
        while (weir_place_first(cluster, node, &stage->spec->shape, &places[m].alloc) != WEIR_OK)
            if (m == 0 || ++node == nodes)
                return weir_fail(error, WEIR_EBUSY, "does not fit its node");
        places[m].id = port->next_initial++;
        WEIR_TRY(weir_host_adopt_worker(port->host, places[m].id, group->stage, &places[m].alloc,
                                        error));
        if (node + 1 == nodes && m + 1 < members)
            return weir_fail(error, WEIR_EBUSY, "there are too few nodes for the group");
    }
    WEIR_TRY(
        sim_pipeline_add_worker(stage, &(struct sim_places){ places, members }, true, &reason));
    return reason == WEIR_REASON_NONE
               ? WEIR_OK
               : weir_fail(error, WEIR_EBUSY, "%s", weir_reason_text(reason));
}

weir_status sim_port_place_initial(struct sim_port *port, const struct sim_initial_workers *group)
{
    struct sim_context *context = port->config.context;
    struct sim_stage_run *stage = port->config.stages[group->stage];
    const uint32_t members = weir_shape_members(&stage->spec->shape);
    struct sim_place *places = malloc(members * sizeof(*places));
    weir_status status = places == NULL ? WEIR_ENOMEM : WEIR_OK;
    for (uint32_t i = 0; status == WEIR_OK && i < group->count; i++) {
        status = adopt_places(port, group, places, members);
        if (status != WEIR_OK)
            weir_error_wrap(context->error, "initial: worker %u of %u of stage %s", i + 1,
                            group->count, stage->spec->name);
    }
    free(places);
    return status;
}

/* ---- decisions ---- */

static struct weir_pool_update count_stage(const struct sim_stage_run *stage)
{
    const bool is_closed = !sim_barrier_takes_workers(stage);
    const bool is_done = is_closed || stage->loop.is_done || sim_pipeline_is_done(stage->pipeline);
    const uint32_t members = weir_shape_members(&stage->spec->shape); /* the view counts these */
    const uint32_t ready = stage->worker_count - stage->count[SIM_WORKER_SETUP];
    return (struct weir_pool_update){ .ready = members * ready,
                                      .busy = members * stage->count[SIM_WORKER_BUSY],
                                      .finished = is_done ? 1 : 0,
                                      .slots = stage->slots,
                                      .queued_items = sim_stage_waiting(stage),
                                      .requested_workers = is_closed ? 0 : stage->spec->workers };
}

void sim_port_look(struct sim_port *port)
{
    for (uint32_t s = 0; s < port->config.scenario->stages_total; s++)
        port->seen[s] = count_stage(port->config.stages[s]);
    port->has_seen = true;
}

static weir_status update_stages(struct sim_port *port)
{
    const int64_t now_ns = sim_engine_now(port->config.context->engine);
    for (uint32_t s = 0; s < port->config.scenario->stages_total; s++) {
        struct weir_pool_update update = count_stage(port->config.stages[s]);
        if (port->has_seen && port->sched->view_age_ns > 0) {
            update.ready = port->seen[s].ready;
            update.busy = port->seen[s].busy;
            update.queued_items = port->seen[s].queued_items;
        }
        WEIR_TRY(weir_host_update_pool(port->host, s, &update));
    }
    return measure_late(port, now_ns - port->sched->view_age_ns);
}

/* The next decision sees what is true `view_age` before it. */
static void plan_look(struct sim_port *port, int64_t now_ns)
{
    const struct sim_sched *sched = port->sched;
    const struct sim_event event = { .time_ns = now_ns + sched->interval_ns - sched->view_age_ns,
                                     .kind = SIM_KIND_LOOK,
                                     .phase = SIM_PHASE_FLOW };
    if (sched->view_age_ns > 0 && event.time_ns >= now_ns)
        (void)sim_engine_schedule(port->config.context->engine, &event);
}

static void update_speeds(struct sim_port *port, int64_t now_ns)
{
    const struct weir_view *view = weir_host_view(port->host, now_ns);
    for (uint32_t s = 0; s < port->config.scenario->stages_total; s++) {
        const double speed = weir_view_pool(view, s)->estimate.batches_per_s;
        if (!isnan(speed))
            sim_meter_speed(port->config.context->meter, now_ns, s, speed);
    }
}

/* While part of the cluster is down, a policy that finds no room is asked again later; with all
 * nodes up the same answer means that the work can never be placed, and ends the run. */
static bool may_wait(const struct sim_port *port, weir_status status)
{
    const struct sim_cluster *cluster = port->config.context->cluster;
    if (status != WEIR_EMANUAL && status != WEIR_EMINIMUM && status != WEIR_EBUSY &&
        status != WEIR_EINFEASIBLE)
        return false;
    for (uint32_t n = 0; n < cluster->node_count; n++)
        if (!cluster->nodes[n].is_up)
            return true;
    return false;
}

static weir_status record_failure(struct sim_port *port, weir_status status, int64_t now_ns)
{
    struct sim_context *context = port->config.context;
    const struct sim_decision_row row = { .decision = port->decisions,
                                          .t_ns = now_ns,
                                          .placement = port->sched->placement.placement->name,
                                          .scaling = port->sched->scaling.scaling->name,
                                          .status = weir_status_text(status),
                                          .message =
                                              context->error == NULL ? "" : context->error->text };
    (void)sim_recorder_decision(context->recorder, &row,
                                (uint32_t)port->config.scenario->stages_total, NULL);
    return may_wait(port, status) ? WEIR_OK : status;
}

/* A main loop applies a plan at a turn after the one that asked for it. */
static int64_t apply_time(const struct sim_port *port, int64_t now_ns)
{
    const struct sim_scenario *scenario = port->config.scenario;
    int64_t at_ns = now_ns + port->sched->latency_ns +
                    port->sched->latency_per_worker_ns * port->config.pool->alive;
    for (size_t p = 0; p < scenario->pipelines_count; p++) {
        const int64_t turn_ns = scenario->pipelines[p].turn_ns;
        if (scenario->pipelines[p].semantics != SIM_SEMANTICS_RUNTIME)
            continue;
        at_ns = at_ns > now_ns ? at_ns : now_ns + 1;
        at_ns = (at_ns + turn_ns - 1) / turn_ns * turn_ns;
    }
    return at_ns;
}

weir_status sim_port_decide(struct sim_port *port)
{
    struct sim_context *context = port->config.context;
    const int64_t now_ns = sim_engine_now(context->engine);
    const struct weir_plan *plan = NULL;
    if (port->pending != NULL)
        return WEIR_OK;
    plan_look(port, now_ns);
    WEIR_TRY(update_stages(port));
    update_speeds(port, now_ns);
    WEIR_TRY(prepare_question(port, "autoscale", now_ns));
    const weir_status status = name_command(
        port, weir_host_decide(port->host, now_ns, &plan, context->error), context->error);
    if (status != WEIR_OK)
        return record_failure(port, status, now_ns);
    port->pending = plan;
    port->pending_sched = port->sched;
    port->pending_ns = now_ns;
    port->pending_wall_ns = weir_host_stats(port->host).wall_last_ns;
    const struct sim_event event = { .time_ns = apply_time(port, now_ns),
                                     .kind = SIM_KIND_APPLY,
                                     .phase = SIM_PHASE_FAULT };
    if (event.time_ns == now_ns)
        return sim_port_apply(port);
    (void)sim_engine_schedule(context->engine, &event);
    return WEIR_OK;
}

weir_status sim_port_apply(struct sim_port *port)
{
    struct sim_context *context = port->config.context;
    const struct weir_plan *plan = port->pending;
    const int64_t wall_ns = port->pending_wall_ns;
    uint32_t refused = 0;
    if (plan == NULL)
        return WEIR_OK; /* the policy that made it was replaced meanwhile */
    port->pending = NULL;
    WEIR_TRY(sim_port_apply_plan(port, plan, &refused));
    sim_meter_decision(context->meter, sim_engine_now(context->engine),
                       sim_port_count_refused(port, plan), wall_ns);
    const struct sim_decision_row row = { .decision = port->decisions++,
                                          .t_ns = port->pending_ns,
                                          .placement =
                                              port->pending_sched->placement.placement->name,
                                          .scaling = port->pending_sched->scaling.scaling->name,
                                          .status = weir_status_text(WEIR_OK),
                                          .message = "",
                                          .refused = refused,
                                          .wall_ns = wall_ns,
                                          .plan = plan,
                                          .outcomes = port->outcomes };
    return sim_recorder_decision(context->recorder, &row,
                                 (uint32_t)port->config.scenario->stages_total, context->error);
}

int64_t sim_port_interval_ns(const struct sim_port *port)
{
    return port->sched->interval_ns;
}

weir_status sim_port_replace(struct sim_port *port, const struct sim_sched *sched)
{
    port->sched = sched;
    port->pending = NULL;
    choose_command(port);
    const struct weir_host_config config = host_config(port);
    struct weir_error *error = port->config.context->error;
    if (has_command(port))
        WEIR_TRY(update_stages(port));
    WEIR_TRY(prepare_question(port, "adopt", sim_engine_now(port->config.context->engine)));
    return name_command(port, weir_host_replace(port->host, &config, error), error);
}

struct weir_estimate sim_port_estimate(struct sim_port *port, uint32_t stage)
{
    const int64_t now_ns = sim_engine_now(port->config.context->engine);
    return weir_view_pool(weir_host_view(port->host, now_ns), stage)->estimate;
}

weir_status sim_port_export(struct sim_port *port, FILE *out)
{
    const struct weir_sink sink = { write_text, out };
    WEIR_TRY(update_stages(port));
    return weir_host_export(port->host, sim_engine_now(port->config.context->engine), &sink);
}

struct sim_port_cost sim_port_cost(const struct sim_port *port)
{
    const struct weir_host_stats stats = weir_host_stats(port->host);
    return (struct sim_port_cost){ .decisions = stats.decisions,
                                   .mean_ms = stats.decisions == 0
                                                  ? 0.0
                                                  : (double)stats.wall_total_ns / 1e6 /
                                                        (double)stats.decisions,
                                   .max_ms = (double)stats.wall_max_ns / 1e6 };
}
