/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clients: a loop in every process of a role. Here those that call round after round,
 *
 *   AWAY -> THINKING -> COMPUTING -> CALLING -> THINKING ...
 *
 * and what they share with rollouts. A round that was cut off by the end of its process is made
 * anew, with the same demand; what it took counts from its beginning.
 */
#include "sim/actors/actors.h"

#include "sim/engine/room.h"

#include <stdlib.h>

enum { PART_THINK, PART_WORK, PART_SERVICE, PART_CPU, PARTS };

static weir_status add_client(struct sim_actor *actor, uint32_t calls, bool is_rollout)
{
    struct sim_actors_run *run = actor->set->run;
    SIM_ROOM(run->clients, run->client_capacity, run->client_count + 1);
    struct sim_client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return WEIR_ENOMEM;
    *client = (struct sim_client){
        .number = run->client_count, .calls = calls, .is_rollout = is_rollout, .actor = actor
    };
    run->clients[run->client_count++] = client;
    actor->client_count++;
    return WEIR_OK;
}

weir_status sim_clients_add(struct sim_actor *actor)
{
    const struct sim_actors_run *run = actor->set->run;
    const struct sim_actor_system *system = run->spec;
    actor->client_first = run->client_count;
    for (uint32_t c = 0; c < system->calls_count; c++)
        if (system->roles[system->calls[c].from].set == actor->set->position)
            WEIR_TRY(add_client(actor, c, false));
    if (system->training.is_there &&
        system->roles[system->training.roles[SIM_TRAIN_ROLLOUT]].set == actor->set->position)
        WEIR_TRY(add_client(actor, 0, true));
    return WEIR_OK;
}

/* ---- shared with rollouts ---- */

void sim_client_hold(struct sim_client *client, bool has_item)
{
    client->actor->rounds += (uint32_t)has_item - (uint32_t)client->has_item;
    client->has_item = has_item;
    sim_actor_show(client->actor);
}

static bool is_working(uint32_t state)
{
    return state == SIM_CLIENT_THINKING || state == SIM_CLIENT_COMPUTING;
}

void sim_client_enter(struct sim_client *client, enum sim_client_state state)
{
    struct sim_actors_run *run = client->actor->set->run;
    struct sim_loop *loop = &run->loop;
    const int64_t now_ns = sim_actors_now(run);
    if (client->is_rollout) {
        sim_gauge_add(&loop->working, now_ns, is_working(state) - is_working(client->state));
        sim_gauge_add(&loop->resting, now_ns,
                      (state == SIM_CLIENT_RESTING) - (client->state == SIM_CLIENT_RESTING));
        sim_gauge_add(&loop->clients, now_ns,
                      (state != SIM_CLIENT_AWAY) - (client->state != SIM_CLIENT_AWAY));
    }
    client->state = (uint8_t)state;
}

void sim_client_arrived(struct sim_client *client, int64_t began_ns)
{
    struct sim_actors_run *run = client->actor->set->run;
    const int64_t now_ns = sim_actors_now(run);
    client->began_ns = began_ns < 0 ? now_ns : began_ns;
    client->queued_ns = 0;
    sim_client_hold(client, true);
    if (began_ns >= 0)
        return; /* it is in the system already */
    run->inside++;
    sim_meter_item_arrived(run->context->meter, now_ns, run->config.index - 1);
}

void sim_client_done(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    const int64_t now_ns = sim_actors_now(run);
    const int64_t latency_ns = now_ns - client->began_ns;
    sim_client_hold(client, false);
    run->inside--;
    run->done++;
    sim_context_digest(run->context, SIM_ACTORS_CLIENT,
                       client->round << 20 | (client->number & 0xfffff), now_ns);
    sim_meter_item_done(run->context->meter, now_ns, run->config.index - 1, latency_ns,
                        latency_ns - client->queued_ns, false);
}

weir_status sim_client_compute(struct sim_client *client, double seconds)
{
    const struct sim_call_spec own = { .actor = client->actor,
                                       .work_s = seconds,
                                       .limit_ns = INT64_MAX,
                                       .of = SIM_CALL_OF_CLIENT,
                                       .whose = client->number,
                                       .is_own = true };
    sim_client_enter(client, SIM_CLIENT_COMPUTING);
    return sim_call_make(client->actor->set->run, &own, &client->call);
}

/* ---- rounds ---- */

static const struct sim_role_calls *calls_of(const struct sim_client *client)
{
    return &client->actor->set->run->spec->calls[client->calls];
}

static double draw(const struct sim_client *client, const struct sim_law *law, uint32_t part)
{
    const struct sim_actors_run *run = client->actor->set->run;
    return sim_actors_draw(law, &run->roles[calls_of(client)->from],
                           (uint64_t)client->actor->number << 32 | client->round,
                           client->calls * PARTS + part);
}

static weir_status call(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    const struct sim_role_calls *calls = calls_of(client);
    const struct sim_call_spec spec = { .actor = sim_actor_of_role(run, calls->to,
                                                                   client->actor->number),
                                        .work_s = draw(client, calls->cpu, PART_CPU),
                                        .wait_s = draw(client, calls->service, PART_SERVICE),
                                        .limit_ns = calls->limit_ns,
                                        .of = SIM_CALL_OF_CLIENT,
                                        .whose = client->number };
    sim_client_enter(client, SIM_CLIENT_CALLING);
    return sim_call_make(run, &spec, &client->call);
}

static void begin_round(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    if (!client->has_item)
        sim_client_arrived(client, -1);
    sim_client_enter(client, SIM_CLIENT_THINKING);
    const int64_t think_ns = sim_time_from_s(draw(client, calls_of(client)->think, PART_THINK));
    client->timer =
        sim_actors_schedule(run, sim_actors_now(run) + think_ns, SIM_ACTORS_CLIENT, client->number);
}

weir_status sim_client_begin(struct sim_client *client)
{
    if (client->is_rollout)
        return sim_rollout_begin(client);
    begin_round(client);
    return WEIR_OK;
}

weir_status sim_client_timer(struct sim_client *client)
{
    client->timer = SIM_NO_HANDLE;
    if (client->is_rollout)
        return sim_rollout_timer(client);
    const double work_s = draw(client, calls_of(client)->work, PART_WORK);
    return work_s > 0 ? sim_client_compute(client, work_s) : call(client);
}

weir_status sim_client_answered(struct sim_client *client, const struct sim_call *answered)
{
    client->call = NULL;
    if (answered->served_ns >= 0)
        client->queued_ns += answered->served_ns - answered->issued_ns;
    if (client->is_rollout)
        return sim_rollout_answered(client);
    if (client->state == SIM_CLIENT_COMPUTING)
        return call(client);
    sim_client_done(client);
    client->round++;
    begin_round(client);
    return WEIR_OK;
}

weir_status sim_client_failed(struct sim_client *client)
{
    client->call = NULL;
    return call(client);
}

weir_status sim_client_away(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    if (client->state == SIM_CLIENT_AWAY)
        return WEIR_OK;
    (void)sim_engine_cancel(run->context->engine, client->timer);
    (void)sim_engine_cancel(run->context->engine, client->patience);
    client->timer = client->patience = SIM_NO_HANDLE;
    if (client->call != NULL && client->call->is_own)
        sim_call_drop(run, client->call);
    else if (client->call != NULL)
        sim_call_forget(run, client->call);
    client->call = NULL;
    if (client->is_rollout)
        WEIR_TRY(sim_rollout_away(client));
    sim_client_enter(client, SIM_CLIENT_AWAY);
    return WEIR_OK;
}
