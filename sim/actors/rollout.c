/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rollouts: the loop of a worker that makes trajectories.
 *
 *   AWAY -> ASKING -> (no item: RESTING -> ASKING) -> (weights under way: BLOCKED)
 *        -> THINKING -> COMPUTING -> (the pool is full: HELD) -> CALLING -> ASKING
 *
 * A worker without an item asks again every `poll`. Questions that find nothing are not made one by
 * one: the worker rests until there are items, and asks when its next question is due.
 */
#include "sim/actors/actors.h"

enum { PART_GET = 1 << 20, PART_ROLLOUT, PART_CPU, PART_PUT };

static const struct sim_training *training_of(const struct sim_client *client)
{
    return &client->actor->set->run->spec->training;
}

static double draw(const struct sim_client *client, const struct sim_law *law, uint64_t item,
                   uint32_t part)
{
    const struct sim_actors_run *run = client->actor->set->run;
    return sim_actors_draw(law, &run->roles[training_of(client)->roles[SIM_TRAIN_ROLLOUT]], item,
                           part);
}

static weir_status call(struct sim_client *client, enum sim_train_role role, double seconds)
{
    struct sim_actors_run *run = client->actor->set->run;
    const uint32_t called = training_of(client)->roles[role];
    const struct sim_call_spec spec = { .actor =
                                            sim_actor_of_role(run, called, client->actor->number),
                                        .wait_s = seconds,
                                        .limit_ns = INT64_MAX,
                                        .of = SIM_CALL_OF_CLIENT,
                                        .whose = client->number };
    return sim_call_make(run, &spec, &client->call);
}

/* What a question takes is drawn by the worker's number of questions. */
static weir_status ask(struct sim_client *client)
{
    const uint64_t question = (uint64_t)client->actor->number << 32 | client->questions++;
    sim_client_enter(client, SIM_CLIENT_ASKING);
    return call(client, SIM_TRAIN_LOADER,
                draw(client, training_of(client)->get, question, PART_GET));
}

weir_status sim_rollout_begin(struct sim_client *client)
{
    return ask(client);
}

static void rest(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    client->rested_ns = sim_actors_now(run);
    sim_client_enter(client, SIM_CLIENT_RESTING);
    sim_loop_look(run);
}

void sim_rollout_wake(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    const int64_t poll_ns = training_of(client)->poll_ns;
    const int64_t past_ns = sim_actors_now(run) - client->rested_ns;
    const int64_t polls = (past_ns + poll_ns - 1) / poll_ns;
    if (client->state != SIM_CLIENT_RESTING || client->timer != SIM_NO_HANDLE)
        return;
    client->timer = sim_actors_schedule(run, client->rested_ns + (polls > 0 ? polls : 1) * poll_ns,
                                        SIM_ACTORS_CLIENT, client->number);
}

/* With the weights as they are now. */
static void think(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    client->version = run->loop.rollout_version;
    sim_client_enter(client, SIM_CLIENT_THINKING);
    client->timer = sim_actors_schedule(
        run,
        sim_actors_now(run) + sim_time_from_s(draw(client, training_of(client)->rollout,
                                                   client->round, PART_ROLLOUT)),
        SIM_ACTORS_CLIENT, client->number);
}

static void block(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    const int64_t limit_ns = training_of(client)->client_limit_ns;
    sim_client_enter(client, SIM_CLIENT_BLOCKED);
    if (limit_ns != INT64_MAX)
        client->patience = sim_actors_schedule(run, sim_actors_now(run) + limit_ns,
                                               SIM_ACTORS_PATIENCE, client->number);
}

weir_status sim_rollout_unblock(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    if (client->state != SIM_CLIENT_BLOCKED)
        return WEIR_OK;
    (void)sim_engine_cancel(run->context->engine, client->patience);
    client->patience = SIM_NO_HANDLE;
    think(client);
    return WEIR_OK;
}

weir_status sim_rollout_impatient(struct sim_client *client)
{
    client->patience = SIM_NO_HANDLE;
    sim_actors_end(client->actor->set->run,
                   "a rollout waited longer for weights than client_limit allows");
    return WEIR_OK;
}

static weir_status take_item(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    int64_t began_ns = -1;
    if (!sim_loop_hand_out(run, &client->round, &began_ns)) {
        rest(client);
        return WEIR_OK;
    }
    sim_client_arrived(client, began_ns);
    if (run->loop.is_locked)
        block(client);
    else
        think(client);
    return WEIR_OK;
}

static weir_status put(struct sim_client *client)
{
    struct sim_loop *loop = &client->actor->set->run->loop;
    if (!sim_loop_has_room(client->actor->set->run)) {
        sim_client_enter(client, SIM_CLIENT_HELD);
        return WEIR_OK;
    }
    loop->coming++;
    sim_client_enter(client, SIM_CLIENT_CALLING);
    return call(client, SIM_TRAIN_POOL,
                draw(client, training_of(client)->put, client->round, PART_PUT));
}

weir_status sim_rollout_put(struct sim_client *client)
{
    return client->state == SIM_CLIENT_HELD ? put(client) : WEIR_OK;
}

weir_status sim_rollout_timer(struct sim_client *client)
{
    if (client->state == SIM_CLIENT_RESTING)
        return ask(client);
    const double work_s = draw(client, training_of(client)->rollout_cpu, client->round, PART_CPU);
    return work_s > 0 ? sim_client_compute(client, work_s) : put(client);
}

weir_status sim_rollout_answered(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    if (client->state == SIM_CLIENT_ASKING)
        return take_item(client);
    if (client->state == SIM_CLIENT_COMPUTING)
        return put(client);
    sim_client_done(client);
    run->loop.coming--;
    WEIR_TRY(sim_loop_put(run, client));
    return ask(client);
}

weir_status sim_rollout_away(struct sim_client *client)
{
    struct sim_actors_run *run = client->actor->set->run;
    run->loop.coming -= client->state == SIM_CLIENT_CALLING ? 1 : 0;
    if (client->has_item)
        WEIR_TRY(sim_loop_give_back(run, client));
    sim_client_hold(client, false);
    sim_loop_look(run);
    return WEIR_OK;
}
