/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets and their actors: how processes come, compute and go (see actors.h). */
#include "sim/actors/actors.h"

#include "sim/engine/room.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LATENCIES_KEPT = 100000 };

/* Limits are for what takes longer: whatever is over at that very instant is seen before. */
static bool comes_last(enum sim_actors_event kind)
{
    return kind == SIM_ACTORS_TURN || kind == SIM_ACTORS_OVER || kind == SIM_ACTORS_LIMIT ||
           kind == SIM_ACTORS_PATIENCE || kind == SIM_ACTORS_READY_BY ||
           kind == SIM_ACTORS_HEALTH_LIMIT;
}

sim_handle sim_actors_schedule(const struct sim_actors_run *run, int64_t at_ns,
                               enum sim_actors_event kind, uint32_t target)
{
    const struct sim_event event = { .time_ns = at_ns,
                                     .target = target,
                                     .kind = sim_driver_kind(run->config.index, (uint8_t)kind),
                                     .phase =
                                         comes_last(kind) ? SIM_PHASE_FLOW : SIM_PHASE_COMPLETION };
    return sim_engine_schedule(run->context->engine, &event);
}

/* ---- sets ---- */

/* Of a role that a policy counts nobody is asked for before he is placed. */
static void note_pending(struct sim_set_run *set, int change)
{
    if (set->spec->count >= 0)
        sim_gauge_add(&set->pending, sim_actors_now(set->run), change);
}

static weir_status add_actor(struct sim_set_run *set)
{
    struct sim_actors_run *run = set->run;
    SIM_ROOM(set->actors, set->capacity, set->count + 1);
    SIM_ROOM(run->actors, run->actor_capacity, run->actor_count + 1);
    struct sim_actor *actor = calloc(1, sizeof *actor);
    if (actor == NULL)
        return WEIR_ENOMEM;
    *actor = (struct sim_actor){ .set = set,
                                 .number = set->count,
                                 .index = run->actor_count,
                                 .tokens = sim_token_bucket_open(&set->spec->rate_limit),
                                 .token_ns = -1,
                                 .wanted_ns = sim_actors_now(run) };
    set->actors[set->count++] = actor;
    run->actors[run->actor_count++] = actor;
    note_pending(set, 1);
    return sim_clients_add(actor);
}

weir_status sim_actors_add_set(struct sim_actors_run *run, uint32_t position)
{
    struct sim_set_run *set = &run->sets[position];
    const struct sim_actor_set *spec = &run->spec->sets[position];
    const struct sim_pool pool = { .name = spec->name,
                                   .shape = &spec->shape,
                                   .soft_labels = spec->soft_labels,
                                   .position = position,
                                   .is_last = position + 1 == run->spec->sets_count,
                                   .waits = true,
                                   .workers = spec->count,
                                   .batch = 1,
                                   .slots = 1,
                                   .service_mean_s = 1,
                                   .work = spec->count < 0 ? 1 : spec->count,
                                   .samples_per_source = 1,
                                   .speed_hint_per_s = (double)NAN };
    *set = (struct sim_set_run){ .spec = spec,
                                 .run = run,
                                 .position = position,
                                 .latency = sim_percentiles_open(LATENCIES_KEPT),
                                 .creation = sim_percentiles_open(LATENCIES_KEPT) };
    WEIR_TRY(
        run->config.services->add_pool(run->config.world, run->config.index, &pool, &set->pool));
    for (int32_t i = 0; i < spec->count; i++)
        WEIR_TRY(add_actor(set));
    return WEIR_OK;
}

void sim_actors_clear(struct sim_actors_run *run)
{
    for (size_t s = 0; run->sets != NULL && s < run->spec->sets_count; s++) {
        free(run->sets[s].actors);
        sim_percentiles_close(&run->sets[s].latency);
        sim_percentiles_close(&run->sets[s].creation);
    }
    for (uint32_t i = 0; i < run->actor_count; i++)
        free(run->actors[i]);
    for (uint32_t i = 0; i < run->client_count; i++)
        free(run->clients[i]);
    free(run->sets);
    free(run->actors);
    free(run->clients);
    free(run->roles);
    free(run->loop.back);
    free(run->loop.pool);
    sim_slab_clear(&run->calls);
}

struct sim_actor *sim_actor_of_role(struct sim_actors_run *run, uint32_t role, uint64_t n)
{
    if (role == SIM_ACTORS_NOBODY)
        return NULL;
    const struct sim_set_run *set = &run->sets[run->spec->roles[role].set];
    return set->actors[n % set->count];
}

/* ---- coming ---- */

/* Environments go out one after the other; the creation of a process is that of all its roles. */
static int64_t setup_ns(struct sim_actor *actor)
{
    struct sim_actors_run *run = actor->set->run;
    const struct sim_actor_system *system = run->spec;
    const int64_t now_ns = sim_actors_now(run);
    double creation_s = 0;
    for (uint32_t r = 0; r < system->roles_count; r++)
        if (system->roles[r].set == actor->set->position)
            creation_s +=
                sim_actors_draw(system->roles[r].creation, &run->roles[r], actor->number, r);
    const int64_t from_ns = run->creator_ns > now_ns ? run->creator_ns : now_ns;
    run->creator_ns =
        from_ns + sim_time_from_s((double)sim_actor_environment(actor) / system->creation_per_s);
    return run->creator_ns - now_ns + sim_time_from_s(creation_s);
}

/* Its number; the count of those known when all have a process. */
static uint32_t first_free(struct sim_set_run *set)
{
    while (set->free_from < set->count && set->actors[set->free_from]->worker != NULL)
        set->free_from++;
    return set->free_from;
}

weir_status sim_actor_start(struct sim_set_run *set, const struct sim_start *start,
                            uint32_t *reason)
{
    struct sim_actors_run *run = set->run;
    struct sim_workers *workers = run->config.workers;
    const struct sim_worker_start wanted = { .owner = start->owner,
                                             .driver = run->config.index,
                                             .uses = &set->spec->uses,
                                             .places = start->places };
    struct sim_worker *worker = NULL;
    if (first_free(set) == set->count && set->spec->count >= 0) {
        *reason = WEIR_REASON_FINISHED;
        return WEIR_OK;
    }
    WEIR_TRY(sim_worker_start(workers, &wanted, &worker, reason));
    if (worker == NULL)
        return WEIR_OK;
    if (first_free(set) == set->count)
        WEIR_TRY(add_actor(set));
    struct sim_actor *actor = set->actors[first_free(set)];
    actor->worker = worker;
    worker->work = actor;
    sim_context_digest(run->context, SIM_ACTORS_READY_BY,
                       (uint64_t)actor->index << 32 | worker->node, worker->created_ns);
    if (set->spec->count < 0)
        actor->wanted_ns = sim_actors_now(run);
    set->placed++;
    if (set->placed > set->placed_most)
        set->placed_most = set->placed;
    note_pending(set, -1);
    sim_worker_set_state(workers, worker, SIM_WORKER_SETUP);
    sim_worker_set_up(workers, worker, setup_ns(actor));
    return WEIR_OK;
}

weir_status sim_actor_ready(struct sim_actor *actor)
{
    struct sim_set_run *set = actor->set;
    struct sim_actors_run *run = set->run;
    if (!run->is_over && sim_actor_lacks_variable(actor))
        return WEIR_OK;
    sim_worker_set_state(run->config.workers, actor->worker, SIM_WORKER_IDLE);
    run->config.services->ready(run->config.world, actor->worker);
    actor->is_ready = actor->was_ready = true;
    sim_actor_note_devices(actor);
    set->ready++;
    sim_percentiles_add(&set->creation, sim_actors_now(run) - actor->wanted_ns);
    sim_gauge_add(&set->limit, sim_actors_now(run), set->spec->concurrency);
    for (uint32_t c = 0; c < actor->client_count; c++)
        WEIR_TRY(sim_client_begin(run->clients[actor->client_first + c]));
    return sim_actor_serve(actor);
}

/* ---- computing ---- */

void sim_actor_show(struct sim_actor *actor)
{
    const bool has_something = actor->served.count > 0 || actor->rounds > 0;
    const enum sim_worker_state state = actor->computing != NULL ? SIM_WORKER_BUSY
                                        : has_something          ? SIM_WORKER_BLOCKED
                                                                 : SIM_WORKER_IDLE;
    if (actor->is_ready && actor->worker->state != state)
        sim_worker_set_state(actor->set->run->config.workers, actor->worker, state);
}

static weir_status compute_next(struct sim_actor *actor)
{
    struct sim_set_run *set = actor->set;
    struct sim_actors_run *run = set->run;
    struct sim_call *call = actor->turn_first;
    if (actor->computing != NULL)
        return WEIR_OK;
    if (call == NULL) {
        if (actor->worker->state == SIM_WORKER_BUSY) {
            sim_actor_show(actor);
            set->busy--;
            sim_actor_note_memory(actor);
        }
        return WEIR_OK;
    }
    if (call->of == SIM_CALL_OF_LOOP && call->whose == SIM_LOOP_STEP && !run->is_over) {
        WEIR_TRY(sim_actor_begins_step(actor));
        if (run->is_over)
            return WEIR_OK;
    }
    actor->turn_first = call->turn_next;
    call->state = SIM_CALL_COMPUTING;
    actor->computing = call;
    if (actor->worker->state != SIM_WORKER_BUSY) {
        sim_actor_show(actor);
        set->busy++;
    }
    actor->counted_ns = sim_actors_now(run);
    return sim_worker_begin(run->config.workers, actor->worker, call->work_ns, 1.0,
                            sim_work_owner(run->config.index, actor->index), &actor->work);
}

weir_status sim_call_begin(struct sim_call *call)
{
    struct sim_actor *actor = call->actor;
    if (call->work_ns == 0) {
        sim_call_wait(actor->set->run, call);
        return WEIR_OK;
    }
    call->state = SIM_CALL_TURN;
    call->turn_next = NULL;
    if (actor->turn_first == NULL)
        actor->turn_first = call;
    else
        actor->turn_last->turn_next = call;
    actor->turn_last = call;
    return compute_next(actor);
}

weir_status sim_actor_computed(struct sim_actor *actor, sim_handle work)
{
    struct sim_actors_run *run = actor->set->run;
    struct sim_call *call = actor->computing;
    const int64_t now_ns = sim_actors_now(run);
    if (call == NULL || actor->work != work)
        return WEIR_OK; /* it went at the same instant */
    actor->computing = NULL;
    actor->worker->tasks++;
    sim_meter_task_done(run->context->meter, now_ns, actor->set->pool, now_ns - actor->counted_ns);
    WEIR_TRY(compute_next(actor));
    sim_call_wait(run, call);
    return WEIR_OK;
}

weir_status sim_actor_paced(struct sim_actor *actor)
{
    return actor->computing == NULL
               ? WEIR_OK
               : sim_worker_pace(actor->set->run->config.workers, actor->worker, actor->work, 1.0);
}

/* ---- going ---- */

static void stop_computing(struct sim_actor *actor, enum sim_stop why)
{
    struct sim_actors_run *run = actor->set->run;
    const int64_t now_ns = sim_actors_now(run);
    actor->turn_first = NULL;
    if (actor->computing == NULL)
        return;
    (void)sim_activity_stop(run->context->activities, actor->work, NULL);
    sim_meter_work_lost(run->context->meter, now_ns, actor->set->pool, now_ns - actor->counted_ns,
                        sim_stop_cause(why));
    actor->computing = NULL;
    actor->set->busy--;
}

/* Calls in service are made again; its own work and what nobody waits for is gone. */
static void return_calls(struct sim_actor *actor)
{
    struct sim_set_run *set = actor->set;
    struct sim_actors_run *run = set->run;
    for (struct sim_call *call = actor->served.last, *before; call != NULL; call = before) {
        before = call->before;
        if (call->is_own || call->of == SIM_CALL_OF_NOBODY) {
            sim_call_drop(run, call);
            continue;
        }
        (void)sim_engine_cancel(run->context->engine, call->timer);
        call->timer = SIM_NO_HANDLE;
        call->state = SIM_CALL_QUEUED;
        sim_call_take(&actor->served, call);
        sim_call_push_front(&actor->queue, call);
        set->queued++;
        set->repeated++;
    }
    sim_gauge_add(&set->in_service, sim_actors_now(run), -(double)actor->in_service);
    actor->in_service = 0;
    sim_meter_queue(run->context->meter, sim_actors_now(run), set->pool, set->queued, 0);
}

/* Once an instant: what a decision takes from some for others is no room for a further one. */
static bool may_ask(struct sim_actors_run *run)
{
    const int64_t now_ns = sim_actors_now(run);
    const bool is_first = run->asked_ns != now_ns;
    run->asked_ns = now_ns;
    return is_first;
}

bool sim_actors_want_back(struct sim_actors_run *run)
{
    for (size_t s = 0; s < run->spec->sets_count && !run->is_over; s++)
        if (run->sets[s].spec->count >= 0 && run->sets[s].placed < run->sets[s].placed_most)
            return may_ask(run);
    return false;
}

/* A lost process is started again as soon as there is room, or the system ends. */
static void was_lost(struct sim_actor *actor)
{
    struct sim_actors_run *run = actor->set->run;
    char text[160];
    if (run->is_over)
        return;
    if (run->spec->ends_on_loss) {
        (void)snprintf(text, sizeof text, "an actor of %s was lost", actor->set->spec->name);
        sim_actors_end(run, text);
    } else if (may_ask(run)) {
        run->config.services->wake(run->config.world, WEIR_CAUSE_WORKERS);
    }
}

weir_status sim_actor_stop(struct sim_actor *actor, enum sim_stop why)
{
    struct sim_set_run *set = actor->set;
    struct sim_actors_run *run = set->run;
    if (actor->is_ready) {
        set->ready--;
        sim_gauge_add(&set->limit, sim_actors_now(run), -(double)set->spec->concurrency);
    }
    actor->is_ready = false;
    stop_computing(actor, why);
    for (uint32_t c = 0; c < actor->client_count; c++)
        WEIR_TRY(sim_client_away(run->clients[actor->client_first + c]));
    return_calls(actor);
    sim_loop_lose(run, actor);
    sim_worker_take_bytes(run->config.workers, actor->worker, 0);
    actor->calls = 0;
    actor->has_activations = false;
    actor->worker->work = NULL;
    actor->worker = NULL;
    actor->wanted_ns = sim_actors_now(run);
    set->placed--;
    if (!run->is_over)
        note_pending(set, 1);
    if (actor->number < set->free_from)
        set->free_from = actor->number;
    if (why == SIM_STOP_NODE_LOST || why == SIM_STOP_CRASHED)
        was_lost(actor);
    else
        (void)may_ask(run); /* the plan that took its place has none for it */
    return WEIR_OK;
}

/* ---- the end ---- */

void sim_actors_end(struct sim_actors_run *run, const char *why)
{
    if (run->is_over)
        return;
    run->is_over = true;
    if (why != NULL) {
        (void)snprintf(run->gave_up, sizeof run->gave_up, "%s", why);
        run->gave_up_ns = sim_actors_now(run);
    }
    (void)sim_actors_schedule(run, sim_actors_now(run), SIM_ACTORS_OVER, 0);
}

/* Asked for no more: nobody is pending. */
weir_status sim_actors_over(struct sim_actors_run *run)
{
    const struct sim_driver_config *config = &run->config;
    for (uint32_t i = 0; i < run->actor_count; i++)
        if (run->actors[i]->worker != NULL)
            WEIR_TRY(config->services->end(config->world, run->actors[i]->worker, SIM_STOP_OVER,
                                           "system over"));
    return WEIR_OK;
}
