/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The port between the simulated cluster and libweir (see port.h). Applying is port_plan.c. */
#include "sim/port/port.h"

#include "sim/cluster/cluster.h"
#include "sim/engine/room.h"
#include "sim/port/port_state.h"
#include "sim/record/record.h"
#include "sim/record/run_options.h"
#include "weir/host.h"
#include "weir/tenant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPU time of the thread: what a decision costs does not depend on who else is on the machine. To
 * read it takes as long as a small pass: the first decisions of a run are timed, then one of many.
 * It is read in pairs, at the begin of a decision and, when that was not negative, at its end. */
enum { TIMED_FIRST = 1 << 12, TIMED_EVERY = 1 << 6 };
static int64_t cpu_clock_ns(void *state)
{
    struct sim_port_clock *clock = state;
    struct timespec now;
    if (!clock->is_open && clock->begun++ >= TIMED_FIRST && clock->begun % TIMED_EVERY != 0)
        return -1;
    clock->is_open = !clock->is_open;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * SIM_NS_PER_S + now.tv_nsec;
}

/* Reasons that nobody keeps are not looked for: they can cost more than the decisions. */
static uint32_t explain_level(const struct sim_port *port)
{
    const struct sim_recorder *recorder = port->config.context->recorder;
    const bool is_kept = recorder == NULL || sim_recorder_keeps(recorder, SIM_KEEP_JOBS);
    return is_kept ? port->sched->explain : (uint32_t)WEIR_EXPLAIN_OFF;
}

struct weir_host_config sim_port_host_config(struct sim_port *port)
{
    const struct sim_sched *sched = port->sched;
    return (struct weir_host_config){
        .size = sizeof(struct weir_host_config),
        .explain = explain_level(port),
        .allocator = &port->memory,
        .placement = sched->placement.placement,
        .placement_params = { sched->placement.values, (uint32_t)sched->placement.count, 0 },
        .scaling = sched->scaling.scaling,
        .scaling_params = { sched->scaling.values, (uint32_t)sched->scaling.count, 0 },
        .window = { sched->window_ns, sched->min_points },
        .seed = sim_digest_word(port->config.context->random.seed,
                                port->config.context->random.replication),
        .clock_ns = port->config.context->recorder == NULL ? NULL : cpu_clock_ns,
        .clock_state = &port->clock,
        .queueing = sched->queueing.queueing,
        .queueing_params = { sched->queueing.values, (uint32_t)sched->queueing.count, 0 },
        .capacity = sched->capacity.capacity,
        .capacity_params = { sched->capacity.values, (uint32_t)sched->capacity.count, 0 },
        .group_by_policy = sched->group_scorer == SIM_GROUP_SCORER_PLACEMENT,
        .group_report = sched->group_report,
        .cut_min_gain =
            sched->repartition.policy == SIM_REPARTITION_DEMAND ? sched->repartition.min_gain : 0,
        .hold_mode = sched->hold_mode,
        .group_devices = sched->group_devices
    };
}

weir_status sim_port_set_usage(const struct sim_port *port, struct weir_host *host)
{
    WEIR_TRY(weir_host_set_half_life(host, port->sched->half_life_ns));
    WEIR_TRY(weir_host_set_usage_period(host, port->sched->usage_period_ns));
    return weir_host_set_usage_rule(host, (enum weir_usage_rule)port->sched->usage_rule);
}

static weir_status add_tenants(const struct sim_port *port, struct weir_host *host,
                               struct weir_error *error)
{
    const struct sim_scenario *scenario = port->config.scenario;
    WEIR_TRY(sim_port_set_usage(port, host));
    for (size_t i = 0; i < scenario->tenants_count; i++) {
        const struct sim_tenant *tenant = &scenario->tenants[i];
        const struct weir_tenant_spec spec = { .size = sizeof(struct weir_tenant_spec),
                                               .parent = tenant->parent,
                                               .name = tenant->name,
                                               .weight = tenant->weight,
                                               .tickets = tenant->tickets,
                                               .guarantee = tenant->guarantee,
                                               .hard = tenant->hard,
                                               .soft = tenant->soft,
                                               .borrow = tenant->borrow,
                                               .lend = tenant->lend,
                                               .gpu_pool_bytes = tenant->pool_bytes,
                                               .priority = tenant->priority };
        const weir_status status = weir_host_add_tenant(host, &spec, NULL, error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "tenant %s", tenant->name);
            return status;
        }
    }
    return WEIR_OK;
}

weir_status sim_port_open_host(const struct sim_port *port, const struct weir_host_config *config,
                               struct weir_host **host, struct weir_error *error)
{
    WEIR_TRY(weir_host_create(config, host, error));
    if (port->sched->infeasible == SIM_INFEASIBLE_WAIT)
        WEIR_TRY(weir_host_keep_infeasible(*host, true));
    WEIR_TRY(add_tenants(port, *host, error));
    WEIR_TRY(sim_port_add_licences(port, *host, error));
    return sim_port_add_reservations(port, *host, error);
}

/* ---- a policy that is a command ---- */

static bool has_command(const struct sim_port *port)
{
    return port->sched->scaling.scaling == &sim_command_scaling;
}

static void choose_commands(struct sim_port *port)
{
    const struct sim_policy_choice *const choices[SIM_COMMAND_KINDS] = {
        [SIM_COMMAND_PLACEMENT] = &port->sched->placement,
        [SIM_COMMAND_SCALING] = &port->sched->scaling,
        [SIM_COMMAND_QUEUEING] = &port->sched->queueing,
    };
    for (size_t i = 0; i < SIM_COMMAND_KINDS; i++)
        port->commands.of[i] =
            (struct sim_command_setup){ .argv = choices[i]->argv, .folder = choices[i]->folder };
}

/* What the host would decide from; the caller frees it. */
static weir_status write_document(struct sim_port *port, const struct weir_call *call, char **text,
                                  size_t *length)
{
    FILE *out = open_memstream(text, length);
    if (out == NULL)
        return WEIR_ENOMEM;
    const weir_status status = sim_told_export(port, call, out);
    return fclose(out) == 0 ? status : WEIR_ENOMEM;
}

/* The question must be ready before the host asks: it may not be called back while it plans. */
static weir_status prepare_question(struct sim_port *port, const char *word,
                                    const struct weir_call *call)
{
    char *text = NULL;
    size_t length = 0;
    if (!has_command(port))
        return WEIR_OK;
    weir_status status = write_document(port, call, &text, &length);
    if (status == WEIR_OK)
        status = sim_commands_prepare(&port->commands, text, word);
    free(text);
    return status;
}

/* ---- who sees decisions ---- */

static bool is_shown(const struct sim_port *port, int64_t now_ns)
{
    const struct sim_run_options *options = port->config.options;
    return options != NULL && options->witness != NULL &&
           sim_time_s(now_ns) >= options->export_at_s;
}

static weir_status show_document(struct sim_port *port, const struct weir_call *call)
{
    char *text = NULL;
    size_t length = 0;
    if (!is_shown(port, call->now_ns))
        return WEIR_OK;
    const struct sim_witness *witness = port->config.options->witness;
    weir_status status = write_document(port, call, &text, &length);
    if (status == WEIR_OK)
        status = witness->document(witness->self, text, length, &port->is_enough);
    free(text);
    return status;
}

static weir_status show_plan(const struct sim_port *port, const struct weir_call *call,
                             const struct weir_plan *plan)
{
    if (!is_shown(port, call->now_ns) || port->config.options->witness->plan == NULL)
        return WEIR_OK;
    const struct sim_witness *witness = port->config.options->witness;
    return witness->plan(witness->self, plan, weir_host_cluster(port->host));
}

bool sim_port_is_enough(const struct sim_port *port)
{
    return port->is_enough;
}

/* ---- telling the host ---- */

weir_status sim_port_add_pool(struct sim_port *port, uint32_t driver, const struct sim_pool *pool,
                              uint32_t *index)
{
    const struct weir_pool_spec view = { .size = sizeof(struct weir_pool_spec),
                                         .name = pool->name,
                                         .pipeline = driver - 1,
                                         .requested_workers = pool->workers,
                                         .shape = *pool->shape,
                                         .batch_size = pool->batch,
                                         .slots = pool->slots,
                                         .soft_labels = pool->soft_labels,
                                         .over_provision = pool->over_provision,
                                         .speed_hint_per_s = pool->speed_hint_per_s };
    SIM_ROOM(port->pools, port->pool_capacity, port->pool_count + 1);
    WEIR_TRY(sim_told_pool(port, &view));
    struct port_pool *added = &port->pools[port->pool_count];
    *added = (struct port_pool){ .pool = *pool };
    added->pool.driver = driver;
    *index = port->pool_count++;
    return WEIR_OK;
}

uint32_t sim_port_pool_count(const struct sim_port *port)
{
    return port->pool_count;
}

const struct sim_pool *sim_port_pool(const struct sim_port *port, uint32_t index)
{
    return &port->pools[index].pool;
}

static weir_status add_nodes(struct sim_port *port, struct weir_error *error)
{
    const uint32_t nodes = sim_scenario_node_count(port->config.scenario);
    for (uint32_t n = 0; n < nodes; n++)
        WEIR_TRY(sim_told_node(port, n, error));
    return WEIR_OK;
}

struct sim_meter_amounts sim_port_believed(const struct sim_port *port, uint32_t node)
{
    const struct weir_cluster *cluster = weir_host_cluster(port->host);
    const struct weir_node *told = weir_cluster_node(cluster, node);
    struct sim_meter_amounts sum = { { 0 } };
    sum.amount[SIM_RESOURCE_CPU] = weir_units_amount(told->cpu_total);
    sum.amount[SIM_RESOURCE_RAM] = (double)told->ram_total_bytes;
    sum.amount[SIM_RESOURCE_GPU] = (double)told->gpu_count;
    for (uint32_t g = 0; g < told->gpu_count; g++) {
        const struct weir_gpu *gpu = weir_cluster_gpu(cluster, node, g);
        sum.amount[SIM_RESOURCE_NVDEC] += (double)__builtin_popcount(gpu->nvdec_all);
        sum.amount[SIM_RESOURCE_NVENC] += (double)__builtin_popcount(gpu->nvenc_all);
        sum.amount[SIM_RESOURCE_GPU_MEM] += (double)gpu->mem_total_bytes;
    }
    return sum;
}

weir_status sim_port_create(const struct sim_port_config *config, struct sim_port **port,
                            struct weir_error *error)
{
    struct sim_port *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->config = *config;
    made->sched = &config->scenario->sched;
    made->memory = sim_command_allocator(&made->commands);
    choose_commands(made);
    weir_status status = sim_told_begin(made, error);
    status = sim_commands_name(&made->commands, status, error);
    if (status == WEIR_OK)
        status = add_nodes(made, error);
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
    sim_told_end(port);
    free(port->outcomes);
    free(port->kinds);
    free(port->workloads);
    free(port->cuts);
    free(port->pools);
    sim_port_forget_news(&port->log);
    sim_port_forget_reservations(port);
    sim_commands_clear(&port->commands);
    free(port);
}

void sim_port_worker_ready(struct sim_port *port, const struct sim_worker *worker)
{
    const int64_t now_ns = sim_engine_now(port->config.context->engine);
    for (uint32_t i = 0; i < worker->places; i++)
        (void)sim_told_state(port, sim_worker_place_id(worker, i), WEIR_WORKER_READY, now_ns);
}

static weir_status tell(struct sim_port *port, struct weir_outcome outcome,
                        const struct weir_alloc *alloc)
{
    outcome.node = alloc == NULL ? WEIR_NO_INDEX : alloc->node;
    outcome.time_ns = sim_engine_now(port->config.context->engine);
    return sim_told_outcome(port, &outcome, alloc);
}

static weir_status tell_rank(struct sim_port *port, struct weir_outcome outcome)
{
    outcome.node = WEIR_NO_INDEX;
    outcome.time_ns = sim_engine_now(port->config.context->engine);
    return sim_port_news(
        port,
        &(struct port_news){ .kind = PORT_NEWS_RANK, .at_ns = outcome.time_ns, .rank = outcome });
}

static weir_status tell_end(struct sim_port *port, const struct sim_worker *worker,
                            enum sim_stop why)
{
    const bool is_stopped =
        why == SIM_STOP_PLAN || why == SIM_STOP_PREEMPTED || why == SIM_STOP_OVER;
    const uint32_t kind = is_stopped ? WEIR_OUTCOME_STOPPED : WEIR_OUTCOME_LOST;
    const uint32_t reason = why == SIM_STOP_OVER ? WEIR_REASON_FINISHED : WEIR_REASON_NONE;
    struct weir_outcome outcome = {
        .size = sizeof(struct weir_outcome), .kind = kind, .reason = reason, .owner = worker->owner
    };
    for (uint32_t i = 0; i < worker->places; i++) {
        outcome.worker = sim_worker_place_id(worker, i);
        const bool is_late = worker->owner.kind == WEIR_OWNER_JOB && why != SIM_STOP_PREEMPTED;
        WEIR_TRY(is_late ? tell_rank(port, outcome) : tell(port, outcome, NULL));
    }
    return WEIR_OK;
}

weir_status sim_port_end_worker(struct sim_port *port, struct sim_worker *worker, enum sim_stop why,
                                const char *text)
{
    const struct sim_driver *driver = &port->config.drivers[worker->driver];
    worker->is_killed = worker->is_killed || why == SIM_STOP_CRASHED;
    WEIR_TRY(driver->ops->stop(driver->self, worker, why));
    WEIR_TRY(tell_end(port, worker, why));
    if (worker->owner.kind == WEIR_OWNER_POOL || why == SIM_STOP_PREEMPTED)
        sim_port_room_made(port);
    return sim_worker_release(port->config.workers, worker, text);
}

weir_status sim_port_tell_places(struct sim_port *port, const struct sim_start *start,
                                 uint32_t reason)
{
    const uint32_t kind = reason == WEIR_REASON_NONE ? WEIR_OUTCOME_STARTED : WEIR_OUTCOME_REFUSED;
    const struct sim_place *places = start->places.items;
    struct weir_outcome outcome = {
        .size = sizeof(struct weir_outcome), .kind = kind, .reason = reason, .owner = start->owner
    };
    for (uint32_t i = 0; i < start->places.count; i++) {
        outcome.worker = places[i].id;
        WEIR_TRY(tell(port, outcome, &places[i].alloc));
    }
    return WEIR_OK;
}

weir_status sim_port_started(struct sim_port *port, const struct sim_start *start)
{
    return sim_port_tell_places(port, start, WEIR_REASON_NONE);
}

weir_status sim_port_node(struct sim_port *port, uint32_t node, bool is_up)
{
    return sim_port_news(
        port, &(struct port_news){ .kind = PORT_NEWS_NODE,
                                   .index = node,
                                   .id = is_up ? 1 : 0,
                                   .at_ns = sim_engine_now(port->config.context->engine) });
}

/* The supplier says so at once, and what became of those on it has come before. */
weir_status sim_port_node_supplied(struct sim_port *port, uint32_t node, bool is_up)
{
    WEIR_TRY(sim_port_tell_all(port));
    return sim_port_news_now(
        port, &(struct port_news){ .kind = PORT_NEWS_NODE,
                                   .index = node,
                                   .id = is_up ? 1 : 0,
                                   .at_ns = sim_engine_now(port->config.context->engine) });
}

weir_status sim_port_cordon(struct sim_port *port, uint32_t node)
{
    return sim_told_node_flags(port, node, WEIR_NODE_UP | WEIR_NODE_CORDONED,
                               sim_engine_now(port->config.context->engine));
}

weir_status sim_port_supply_outcome(struct sim_port *port, uint32_t kind, uint32_t node,
                                    uint32_t reason)
{
    const struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                          .kind = kind,
                                          .reason = reason,
                                          .node = node,
                                          .owner = weir_pool_owner(WEIR_NO_INDEX),
                                          .time_ns = sim_engine_now(port->config.context->engine) };
    return sim_told_outcome(port, &outcome, NULL);
}

weir_status sim_port_offer(struct sim_port *port, const struct weir_node_offer *offer)
{
    port->has_offers = true;
    return sim_told_offer(port, offer);
}

weir_status sim_port_gpu(struct sim_port *port, uint32_t node, uint32_t gpu, bool is_healthy)
{
    return sim_port_news(
        port, &(struct port_news){ .kind = PORT_NEWS_GPU,
                                   .index = node,
                                   .id = (uint64_t)gpu << 1 | (is_healthy ? 1 : 0),
                                   .at_ns = sim_engine_now(port->config.context->engine) });
}

weir_status sim_port_set_estimate(struct sim_port *port, const struct sim_initial_stage *start)
{
    if (isnan(start->speed_per_s) && isnan(start->returns_per_batch))
        return WEIR_OK;
    const struct weir_estimate estimate = { .batches_per_s = start->speed_per_s,
                                            .returns_per_batch = start->returns_per_batch };
    return sim_told_estimate(port, start->stage, estimate);
}

/* ---- initial workers ---- */

/* The members of a group take the first nodes that fit, from the named one on. */
static weir_status adopt_places(struct sim_port *port, const struct sim_initial_workers *group,
                                struct sim_place *places, uint32_t members)
{
    struct weir_error *error = port->config.context->error;
    const struct weir_shape *shape = port->pools[group->stage].pool.shape;
    const uint32_t nodes = sim_scenario_node_count(port->config.scenario);
    uint32_t node = group->node;
    for (uint32_t m = 0; m < members; m++, node++) {
        const struct weir_cluster *cluster = weir_host_cluster(port->host);
        while (weir_place_first(cluster, node, shape, &places[m].alloc) != WEIR_OK)
            if (m == 0 || ++node == nodes)
                return weir_fail(error, WEIR_EBUSY, "does not fit its node");
        places[m].id = port->next_initial++;
        WEIR_TRY(
            sim_told_adopt(port, places[m].id, weir_pool_owner(group->stage), &places[m].alloc));
        if (node + 1 == nodes && m + 1 < members)
            return weir_fail(error, WEIR_EBUSY, "there are too few nodes for the group");
    }
    return WEIR_OK;
}

static weir_status start_initial(struct sim_port *port, const struct sim_start *start)
{
    const struct sim_driver *driver = sim_port_driver(port, start->owner);
    uint32_t reason = WEIR_REASON_NONE;
    WEIR_TRY(driver->ops->start(driver->self, start, &reason));
    return reason == WEIR_REASON_NONE
               ? WEIR_OK
               : weir_fail(port->config.context->error, WEIR_EBUSY, "%s", weir_reason_text(reason));
}

weir_status sim_port_place_initial(struct sim_port *port, const struct sim_initial_workers *group)
{
    const struct sim_pool *pool = &port->pools[group->stage].pool;
    const uint32_t members = weir_shape_members(pool->shape);
    struct sim_place *places = malloc(members * sizeof(*places));
    const struct sim_start start = { .owner = { .kind = WEIR_OWNER_POOL, .index = group->stage },
                                     .places = { places, members },
                                     .is_ready = true };
    weir_status status = places == NULL ? WEIR_ENOMEM : WEIR_OK;
    for (uint32_t i = 0; status == WEIR_OK && i < group->count; i++) {
        status = adopt_places(port, group, places, members);
        if (status == WEIR_OK)
            status = start_initial(port, &start);
        if (status != WEIR_OK)
            weir_error_wrap(port->config.context->error, "initial: worker %u of %u of stage %s",
                            i + 1, group->count, pool->name);
    }
    free(places);
    return status;
}

/* ---- decisions ---- */

static weir_status note_seen(void *state, uint32_t pool, const struct sim_pool_state *now)
{
    struct sim_port *port = state;
    port->pools[pool].seen = *now;
    return WEIR_OK;
}

/* Counts may be as old as the view; what the user wants and whether it is over never are. */
static weir_status tell_pool(void *state, uint32_t pool, const struct sim_pool_state *now)
{
    struct sim_port *port = state;
    const bool is_late = port->has_seen && port->sched->view_age_ns > 0;
    const struct sim_pool_state *counts = is_late ? &port->pools[pool].seen : now;
    const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update),
                                             .ready = counts->ready,
                                             .busy = counts->busy,
                                             .queued_items = counts->queued_items,
                                             .slots = now->slots,
                                             .finished = now->is_finished ? 1 : 0,
                                             .requested_workers = now->requested_workers };
    return sim_told_update(port, pool, &update);
}

static weir_status ask_drivers(const struct sim_port *port, const struct sim_teller *teller)
{
    for (uint32_t d = 1; d <= port->config.driver_count; d++)
        WEIR_TRY(port->config.drivers[d].ops->tell(port->config.drivers[d].self, teller));
    return WEIR_OK;
}

weir_status sim_port_look(struct sim_port *port)
{
    port->has_seen = true;
    return ask_drivers(port, &(struct sim_teller){ port, note_seen });
}

static weir_status update_pools(struct sim_port *port)
{
    WEIR_TRY(ask_drivers(port, &(struct sim_teller){ port, tell_pool }));
    return sim_port_tell_news(port);
}

/* The next decision sees what is true `view_age` before it. */
static void plan_look(struct sim_port *port, int64_t now_ns)
{
    const struct sim_sched *sched = port->sched;
    const struct sim_event event = { .time_ns = now_ns + sched->interval_ns - sched->view_age_ns,
                                     .kind = SIM_KIND_LOOK,
                                     .phase = SIM_PHASE_FLOW };
    if (sched->view_age_ns > 0 && event.time_ns >= now_ns)
        sim_port_plan_look(port, &event);
}

static void update_speeds(struct sim_port *port, int64_t now_ns)
{
    const struct weir_view *view = weir_host_view(port->host, now_ns);
    for (uint32_t s = 0; s < port->pool_count; s++) {
        const double speed = weir_view_pool(view, s)->estimate.batches_per_s;
        if (!isnan(speed))
            sim_meter_speed(port->config.context->meter, now_ns, s, speed);
    }
}

/* While part of the cluster is lost, a policy that finds no room is asked again later; with all of
 * it there the same answer means that the work can never be placed, and ends the run. */
static bool may_wait(const struct sim_port *port, weir_status status)
{
    if (status != WEIR_EMANUAL && status != WEIR_EMINIMUM && status != WEIR_EBUSY &&
        status != WEIR_EINFEASIBLE)
        return false;
    return !sim_cluster_is_whole(port->config.context->cluster);
}

/* Whether a pool has work and is left without any worker by the plan. */
static bool is_starved(const struct weir_pool_view *pool, const struct weir_pool_note *note)
{
    return pool->finished == 0 && pool->requested_workers != 0 && note != NULL &&
           note->workers_after == 0;
}

/* A best-effort plan serves who can be served. When that is no pipeline, with all nodes up and
 * without jobs that might make room, the next plan can be no better: WEIR_EMINIMUM. */
static weir_status check_progress(struct sim_port *port, const struct weir_plan *plan,
                                  int64_t now_ns)
{
    const struct weir_view *view = weir_host_view(port->host, now_ns);
    uint32_t first = WEIR_NO_INDEX; /* starved pool */
    for (uint32_t p = 0, end = 0; p < view->pool_count; p = end) {
        const uint32_t pipeline = weir_view_pool(view, p)->pipeline;
        bool goes_on = false;
        bool starves = false;
        for (end = p; end < view->pool_count && weir_view_pool(view, end)->pipeline == pipeline;
             end++) {
            const struct weir_pool_view *pool = weir_view_pool(view, end);
            goes_on = goes_on || pool->finished == 0;
            if (port->pools[end].pool.waits || !is_starved(pool, weir_plan_pool_note(plan, end)))
                continue;
            starves = true;
            first = first == WEIR_NO_INDEX ? end : first;
        }
        if (goes_on && !starves)
            return WEIR_OK;
    }
    if (first == WEIR_NO_INDEX || weir_view_jobs(view) > 0 || may_wait(port, WEIR_EMINIMUM))
        return WEIR_OK;
    return weir_fail(port->config.context->error, WEIR_EMINIMUM,
                     "scaling policy %s: stage %s: its first worker fits nowhere: %s",
                     port->sched->scaling.scaling->name, weir_view_pool(view, first)->name,
                     weir_reason_text(weir_plan_pool_note(plan, first)->binding));
}

static weir_status record_failure(struct sim_port *port, weir_status status, int64_t now_ns)
{
    struct sim_context *context = port->config.context;
    const struct sim_decision_row row = { .decision = port->decisions++,
                                          .t_ns = now_ns,
                                          .placement = port->sched->placement.placement->name,
                                          .scaling = port->sched->scaling.scaling->name,
                                          .status = weir_status_text(status),
                                          .message =
                                              context->error == NULL ? "" : context->error->text };
    (void)sim_recorder_decision(context->recorder, &row, port->pool_count, NULL);
    return may_wait(port, status) ? WEIR_OK : status;
}

/* Latency first; then each driver says when it would take a plan. */
static int64_t apply_time(const struct sim_port *port, int64_t now_ns)
{
    int64_t at_ns = now_ns + port->sched->latency_ns +
                    port->sched->latency_per_worker_ns * sim_workers_alive(port->config.workers);
    for (uint32_t d = 1; d <= port->config.driver_count; d++) {
        const struct sim_driver *driver = &port->config.drivers[d];
        if (driver->ops->applies_at != NULL)
            at_ns = driver->ops->applies_at(driver->self, at_ns);
    }
    return at_ns;
}

/* Whether scaling policies are asked, too. */
static bool concerns_pools(uint32_t causes)
{
    return (causes & ~(uint32_t)(WEIR_CAUSE_JOBS | WEIR_CAUSE_CAPACITY)) != 0;
}

/* What only policies that count workers, or what waits for them, want to know. */
static weir_status tell_scaling(struct sim_port *port, const struct weir_call *call)
{
    if (!concerns_pools(call->causes))
        return (call->causes & WEIR_CAUSE_CAPACITY) != 0 ? update_pools(port) : WEIR_OK;
    plan_look(port, call->now_ns);
    WEIR_TRY(update_pools(port));
    update_speeds(port, call->now_ns);
    return prepare_question(port, "autoscale", call);
}

weir_status sim_port_decide(struct sim_port *port, uint32_t causes)
{
    struct sim_context *context = port->config.context;
    const int64_t now_ns = sim_engine_now(context->engine);
    const struct weir_plan *plan = NULL;
    const struct weir_call call = { .size = sizeof call, .causes = causes, .now_ns = now_ns };
    if (port->pending != NULL) {
        /* asked again at its application */
        port->causes |= causes & (WEIR_CAUSE_JOBS | WEIR_CAUSE_CAPACITY);
        return WEIR_OK;
    }
    if (port->pool_count > 0)
        WEIR_TRY(tell_scaling(port, &call));
    WEIR_TRY(show_document(port, &call));
    if (port->is_enough)
        return WEIR_OK;
    port->passes += (causes & WEIR_CAUSE_JOBS) != 0;
    int64_t wall_ns = 0;
    weir_status status = sim_commands_name(
        &port->commands, sim_told_decide(port, &call, &plan, &wall_ns), context->error);
    WEIR_TRY(show_plan(port, &call, status == WEIR_OK ? plan : NULL));
    if (status == WEIR_OK && concerns_pools(causes))
        status = check_progress(port, plan, now_ns);
    if (status != WEIR_OK)
        return record_failure(port, status, now_ns);
    WEIR_TRY(sim_port_note_reservations(port));
    port->pending = plan;
    port->pending_sched = port->sched;
    port->pending_ns = now_ns;
    port->pending_wall_ns = wall_ns;
    port->pending_causes = causes;
    const struct sim_event event = { .time_ns = apply_time(port, now_ns),
                                     .kind = SIM_KIND_APPLY,
                                     .phase = SIM_PHASE_FAULT };
    if (event.time_ns == now_ns)
        return sim_port_apply(port);
    (void)sim_engine_schedule(context->engine, &event);
    return WEIR_OK;
}

/* What happened while the plan was on its way. */
static void ask_again(struct sim_port *port)
{
    const uint32_t causes = sim_port_take_causes(port);
    if (causes != 0)
        sim_port_wake(port, causes);
}

/* How many workers the plan wants, of the stages that it was about. */
static void note_wanted(const struct sim_port *port, const struct weir_plan *plan)
{
    const int64_t now_ns = sim_engine_now(port->config.context->engine);
    for (uint32_t p = 0; p < port->pool_count; p++) {
        const struct weir_pool_note *note = weir_plan_pool_note(plan, p);
        if (note != NULL)
            sim_meter_planned(port->config.context->meter, now_ns, p, note->workers_after);
    }
}

/* A pass that changed nothing, or a look of the capacity policy that asks for the next one. */
static bool changes_nothing(const struct sim_port *port, const struct weir_plan *plan)
{
    if (port->pool_count > 0 && port->pending_causes != WEIR_CAUSE_CAPACITY)
        return false;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *action = weir_plan_action(plan, i);
        if (action->verb != WEIR_VERB_WAKE || action->causes != WEIR_CAUSE_CAPACITY)
            return false;
    }
    return true;
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
    ask_again(port);
    if (changes_nothing(port, plan))
        return WEIR_OK;
    if (concerns_pools(port->pending_causes))
        note_wanted(port, plan);
    sim_meter_decision(context->meter, sim_engine_now(context->engine),
                       refused == 0 ? 0 : sim_port_count_refused(port, plan), wall_ns);
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
                                          .outcomes = port->outcomes,
                                          .kinds = port->kinds };
    return sim_recorder_decision(context->recorder, &row, port->pool_count, context->error);
}

int64_t sim_port_interval_ns(const struct sim_port *port)
{
    return port->sched->interval_ns;
}

weir_status sim_port_replace(struct sim_port *port, const struct sim_sched *sched)
{
    port->sched = sched;
    port->pending = NULL;
    choose_commands(port);
    struct weir_error *error = port->config.context->error;
    if (has_command(port))
        WEIR_TRY(update_pools(port));
    WEIR_TRY(sim_port_tell_news(port)); /* the view may be younger now, or older */
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = sim_engine_now(port->config.context->engine) };
    WEIR_TRY(prepare_question(port, "adopt", &call));
    if (port->has_offers) /* the new policy has asked for no look yet */
        sim_port_wake(port, WEIR_CAUSE_CAPACITY);
    return sim_commands_name(&port->commands, sim_told_replace(port), error);
}

struct weir_estimate sim_port_estimate(struct sim_port *port, uint32_t pool)
{
    const int64_t now_ns = sim_engine_now(port->config.context->engine);
    return weir_view_pool(weir_host_view(port->host, now_ns), pool)->estimate;
}

weir_status sim_port_export(struct sim_port *port, FILE *out)
{
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = sim_engine_now(port->config.context->engine) };
    WEIR_TRY(update_pools(port));
    return sim_told_export(port, &call, out);
}
