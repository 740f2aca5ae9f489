/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls: from the one who makes them to the end of their service (see actors.h). */
#include "sim/actors/actors.h"

#include <assert.h>

double sim_actors_draw(const struct sim_law *law, const struct sim_random *random, uint64_t item,
                       uint32_t part)
{
    const struct sim_stream_key key = { .item = item, .stage = part };
    return law == NULL ? 0 : sim_law_draw_of(law, random, SIM_DRAW_CALL, key);
}

/* ---- lists ---- */

void sim_call_push(struct sim_call_list *list, struct sim_call *call)
{
    call->next = NULL;
    call->before = list->last;
    if (list->last == NULL)
        list->first = call;
    else
        list->last->next = call;
    list->last = call;
    list->count++;
}

void sim_call_push_front(struct sim_call_list *list, struct sim_call *call)
{
    call->before = NULL;
    call->next = list->first;
    if (list->first == NULL)
        list->last = call;
    else
        list->first->before = call;
    list->first = call;
    list->count++;
}

void sim_call_take(struct sim_call_list *list, struct sim_call *call)
{
    if (call->before == NULL)
        list->first = call->next;
    else
        call->before->next = call->next;
    if (call->next == NULL)
        list->last = call->before;
    else
        call->next->before = call->before;
    list->count--;
}

static void note_queue(struct sim_set_run *set, int change)
{
    struct sim_actors_run *run = set->run;
    set->queued += (uint64_t)(int64_t)change;
    sim_meter_queue(run->context->meter, sim_actors_now(run), set->pool, set->queued, 0);
}

/* ---- life ---- */

weir_status sim_call_make(struct sim_actors_run *run, const struct sim_call_spec *spec,
                          struct sim_call **call)
{
    void *record = NULL;
    const int64_t now_ns = sim_actors_now(run);
    WEIR_TRY(sim_slab_take(&run->calls, &record));
    struct sim_call *made = record;
    *made = (struct sim_call){ .slot = made->slot,
                               .of = (uint8_t)spec->of,
                               .is_own = spec->is_own,
                               .whose = spec->whose,
                               .actor = spec->actor,
                               .issued_ns = now_ns,
                               .served_ns = -1,
                               .work_ns = sim_time_from_s(spec->work_s),
                               .wait_ns = sim_time_from_s(spec->wait_s) };
    run->calls_alive++;
    *call = made;
    if (spec->limit_ns != INT64_MAX)
        made->limit =
            sim_actors_schedule(run, now_ns + spec->limit_ns, SIM_ACTORS_LIMIT, made->slot);
    if (made->actor == NULL) { /* nobody computes it either */
        made->wait_ns += made->work_ns;
        sim_call_wait(run, made);
        return WEIR_OK;
    }
    if (made->is_own) {
        sim_call_push(&made->actor->served, made);
        return sim_call_begin(made);
    }
    struct sim_set_run *set = made->actor->set;
    set->calls++;
    sim_call_push(&made->actor->queue, made);
    note_queue(set, 1);
    WEIR_TRY(sim_actor_serve(made->actor));
    if (made->actor->queue.count > set->queue_most)
        set->queue_most = made->actor->queue.count;
    return WEIR_OK;
}

static void free_call(struct sim_actors_run *run, struct sim_call *call)
{
    (void)sim_engine_cancel(run->context->engine, call->timer);
    (void)sim_engine_cancel(run->context->engine, call->limit);
    run->calls_alive--;
    sim_slab_give(&run->calls, call);
}

void sim_call_wait(struct sim_actors_run *run, struct sim_call *call)
{
    call->state = SIM_CALL_WAITING;
    call->timer = sim_actors_schedule(run, sim_actors_now(run) + call->wait_ns, SIM_ACTORS_WAITED,
                                      call->slot);
}

static weir_status answer(struct sim_actors_run *run, enum sim_call_of of, uint32_t whose,
                          const struct sim_call *call)
{
    if (run->is_over) {
        if (of == SIM_CALL_OF_CLIENT)
            run->clients[whose]->call = NULL;
        return WEIR_OK;
    }
    switch (of) {
    case SIM_CALL_OF_CLIENT:
        return sim_client_answered(run->clients[whose], call);
    case SIM_CALL_OF_LOOP:
        return sim_loop_answered(run, whose);
    case SIM_CALL_OF_HEALTH:
        return sim_health_answered(run);
    case SIM_CALL_OF_NOBODY:
        break;
    }
    return WEIR_OK;
}

/* Out of service; who waits behind it is next. */
static weir_status leave_service(struct sim_actors_run *run, const struct sim_call *call)
{
    struct sim_actor *actor = call->actor;
    if (call->is_own)
        return WEIR_OK;
    sim_percentiles_add(&actor->set->latency, sim_actors_now(run) - call->issued_ns);
    actor->in_service--;
    sim_gauge_add(&actor->set->in_service, sim_actors_now(run), -1);
    return sim_actor_serve(actor);
}

weir_status sim_call_waited(struct sim_actors_run *run, uint32_t slot)
{
    struct sim_call *call = sim_slab_at(&run->calls, slot);
    const struct sim_call over = *call;
    if (call->actor != NULL) {
        sim_call_take(&call->actor->served, call);
        sim_actor_show(call->actor);
        call->actor->calls++;
        sim_actor_note_memory(call->actor);
    }
    call->timer = SIM_NO_HANDLE; /* it fired */
    free_call(run, call);
    if (over.actor != NULL)
        WEIR_TRY(leave_service(run, &over));
    return answer(run, (enum sim_call_of)over.of, over.whose, &over);
}

/* ---- ends that are none ---- */

void sim_call_forget(struct sim_actors_run *run, struct sim_call *call)
{
    struct sim_actor *actor = call->actor;
    (void)sim_engine_cancel(run->context->engine, call->limit);
    call->limit = SIM_NO_HANDLE;
    call->of = SIM_CALL_OF_NOBODY;
    if (call->state != SIM_CALL_QUEUED || actor == NULL)
        return;
    sim_call_take(&actor->queue, call);
    note_queue(actor->set, -1);
    free_call(run, call);
}

void sim_call_drop(struct sim_actors_run *run, struct sim_call *call)
{
    sim_call_take(&call->actor->served, call);
    free_call(run, call);
}

weir_status sim_call_late(struct sim_actors_run *run, uint32_t slot)
{
    struct sim_call *call = sim_slab_at(&run->calls, slot);
    const enum sim_call_of of = (enum sim_call_of)call->of;
    const uint32_t whose = call->whose;
    call->limit = SIM_NO_HANDLE;
    if (call->actor != NULL)
        call->actor->set->timeouts++;
    sim_call_forget(run, call);
    return of == SIM_CALL_OF_CLIENT ? sim_client_failed(run->clients[whose])
           : of == SIM_CALL_OF_LOOP ? sim_loop_failed(run, whose)
                                    : WEIR_OK;
}

/* ---- service ---- */

static void note_served(struct sim_actor *actor, struct sim_call *call)
{
    struct sim_set_run *set = actor->set;
    const int64_t now_ns = sim_actors_now(set->run);
    if (call->served_ns < 0)
        call->served_ns = now_ns;
    actor->in_service++;
    if (actor->in_service > set->service_most)
        set->service_most = actor->in_service;
    sim_gauge_add(&set->in_service, now_ns, 1);
}

/* Whether the rate of its interface lets it take a call in; else it looks again when it does. */
static bool has_token(struct sim_actor *actor)
{
    struct sim_actors_run *run = actor->set->run;
    const int64_t now_ns = sim_actors_now(run);
    if (sim_token_bucket_take(&actor->tokens, now_ns))
        return true;
    if (actor->token_ns < 0) {
        actor->token_ns = sim_token_bucket_next(&actor->tokens, now_ns);
        (void)sim_actors_schedule(run, actor->token_ns, SIM_ACTORS_RATE, actor->index);
    }
    return false;
}

weir_status sim_actor_serve(struct sim_actor *actor)
{
    while (actor->is_ready && actor->queue.count > 0 &&
           actor->in_service < actor->set->spec->concurrency && has_token(actor)) {
        struct sim_call *call = actor->queue.first;
        sim_call_take(&actor->queue, call);
        note_queue(actor->set, -1);
        sim_call_push(&actor->served, call);
        note_served(actor, call);
        WEIR_TRY(sim_call_begin(call));
    }
    sim_actor_show(actor);
    return WEIR_OK;
}
