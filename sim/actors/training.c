/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The training loop, as NexRL runs it.
 *
 *   COLLECTS -> TRAINS       enough trajectories, seen at a turn of the loop
 *   TRAINS   -> COLLECTS     the step is made, and weights stay as they are with the rollouts
 *   TRAINS   -> SYNCS        the step is made, and weights go to the rollouts
 *   SYNCS    -> VALIDATES    they are there, and this version is validated
 *   SYNCS    -> COLLECTS     they are there
 *   VALIDATES -> COLLECTS    it is
 *
 * From the moment a step begins after which weights are to go, rollouts are locked: nobody begins
 * one until they are there. A batch that keeps its order comes when the loop is not locked, or no
 * longer.
 */
#include "sim/actors/actors.h"

#include "sim/engine/room.h"

#include <stdio.h>
#include <string.h>

enum { PART_STEP = 1, PART_TRANSFER, PART_VALIDATION };

static const struct sim_training *training_of(const struct sim_actors_run *run)
{
    return &run->spec->training;
}

static double draw(const struct sim_actors_run *run, const struct sim_law *law, uint32_t part)
{
    return sim_actors_draw(law, &run->roles[training_of(run)->roles[SIM_TRAIN_TRAINER]],
                           run->loop.version, part);
}

static weir_status call(struct sim_actors_run *run, const struct sim_call_spec *spec)
{
    struct sim_call *made = NULL;
    return sim_call_make(run, spec, &made);
}

/* ---- items ---- */

static void load_batch(struct sim_actors_run *run)
{
    run->loop.left = (uint64_t)training_of(run)->batch * training_of(run)->repeat;
    for (uint32_t c = 0; c < run->client_count; c++)
        if (run->clients[c]->is_rollout)
            sim_rollout_wake(run->clients[c]);
}

bool sim_loop_hand_out(struct sim_actors_run *run, uint64_t *item, int64_t *began_ns)
{
    struct sim_loop *loop = &run->loop;
    if (loop->back_count > 0) {
        *item = loop->back[0].item;
        *began_ns = loop->back[0].began_ns;
        loop->back_count--;
        memmove(loop->back, loop->back + 1, loop->back_count * sizeof *loop->back);
    } else {
        if (loop->left == 0 && !training_of(run)->keeps_order)
            load_batch(run);
        if (loop->left == 0)
            return false;
        loop->left--;
        *item = loop->next_item++;
        *began_ns = -1;
    }
    loop->out++;
    return true;
}

weir_status sim_loop_give_back(struct sim_actors_run *run, const struct sim_client *client)
{
    struct sim_loop *loop = &run->loop;
    SIM_ROOM(loop->back, loop->back_capacity, loop->back_count + 1);
    loop->back[loop->back_count++] =
        (struct sim_item_back){ .item = client->round, .began_ns = client->began_ns };
    loop->out--;
    for (uint32_t c = 0; c < run->client_count && !run->is_over; c++)
        if (run->clients[c]->is_rollout)
            sim_rollout_wake(run->clients[c]);
    return WEIR_OK;
}

static void note_bytes(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    const double bytes = (double)loop->pool_count * (double)training_of(run)->trajectory_bytes;
    sim_gauge_set(&loop->bytes, sim_actors_now(run), bytes);
    if (bytes > loop->bytes_most)
        loop->bytes_most = bytes;
}

bool sim_loop_has_room(const struct sim_actors_run *run)
{
    return run->loop.pool_count + run->loop.coming < training_of(run)->pool_limit;
}

/* Where the trajectories of this number lie; NULL = nowhere. */
static struct sim_actor *pool_actor(struct sim_actors_run *run, uint32_t number)
{
    return sim_actor_of_role(run, training_of(run)->roles[SIM_TRAIN_POOL], number);
}

weir_status sim_loop_put(struct sim_actors_run *run, const struct sim_client *client)
{
    struct sim_loop *loop = &run->loop;
    struct sim_actor *actor = pool_actor(run, client->actor->number);
    SIM_ROOM(loop->pool, loop->pool_capacity, loop->pool_count + 1);
    loop->pool[loop->pool_count++] =
        (struct sim_trajectory){ .version = client->version,
                                 .actor = actor == NULL ? 0 : actor->number };
    loop->out--;
    note_bytes(run);
    if (actor != NULL) {
        actor->trajectories++;
        sim_actor_note_memory(actor);
    }
    sim_loop_look(run);
    return WEIR_OK;
}

/* A batch of which nothing is left gives way to the next. */
static void renew(struct sim_actors_run *run)
{
    const struct sim_loop *loop = &run->loop;
    if (loop->state == SIM_LOOP_COLLECTS && loop->left == 0 && loop->out == 0 &&
        loop->back_count == 0 && loop->pool_count == 0)
        load_batch(run);
}

void sim_loop_lose(struct sim_actors_run *run, struct sim_actor *actor)
{
    struct sim_loop *loop = &run->loop;
    uint32_t kept = 0;
    if (actor->trajectories == 0 || run->is_over)
        return;
    for (uint32_t i = 0; i < loop->pool_count; i++)
        if (loop->pool[i].actor != actor->number)
            loop->pool[kept++] = loop->pool[i];
    loop->lost += loop->pool_count - kept;
    loop->pool_count = kept;
    actor->trajectories = 0;
    note_bytes(run);
    renew(run);
    sim_loop_look(run);
}

/* ---- a step ---- */

static bool is_ready(const struct sim_actors_run *run)
{
    const struct sim_loop *loop = &run->loop;
    const struct sim_training *training = training_of(run);
    const bool is_drained = loop->left == 0 && loop->out == 0 && loop->back_count == 0;
    const bool is_enough = loop->pool_count >= training->ready_count;
    if (loop->pool_count == 0 || loop->state != SIM_LOOP_COLLECTS)
        return false;
    return training->ready == SIM_READY_DRAINED ? is_drained
           : training->ready == SIM_READY_BATCH ? is_enough
                                                : is_drained && is_enough;
}

void sim_loop_look(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    const int64_t turn_ns = training_of(run)->turn_ns;
    const int64_t now_ns = sim_actors_now(run);
    if (run->is_over || loop->turn_is_due || !is_ready(run))
        return;
    loop->turn_is_due = true;
    (void)sim_actors_schedule(run, (now_ns + turn_ns - 1) / turn_ns * turn_ns, SIM_ACTORS_TURN, 0);
}

/* Workers that were held up go on, in their order. */
static weir_status let_in(struct sim_actors_run *run)
{
    for (uint32_t c = 0; c < run->client_count && sim_loop_has_room(run); c++)
        if (run->clients[c]->is_rollout)
            WEIR_TRY(sim_rollout_put(run->clients[c]));
    return WEIR_OK;
}

/* The oldest trajectories go into it. */
static weir_status take_trajectories(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    const bool takes_all = training_of(run)->ready == SIM_READY_DRAINED;
    const uint32_t count = takes_all ? loop->pool_count : training_of(run)->ready_count;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t staleness = loop->version + 1 - loop->pool[i].version;
        struct sim_actor *actor = pool_actor(run, loop->pool[i].actor);
        loop->staleness_sum += (double)staleness;
        if (staleness > loop->staleness_max)
            loop->staleness_max = staleness;
        if (actor != NULL) {
            actor->trajectories--;
            sim_actor_note_memory(actor);
        }
    }
    loop->used += count;
    loop->pool_count -= count;
    memmove(loop->pool, loop->pool + count, loop->pool_count * sizeof *loop->pool);
    note_bytes(run);
    return let_in(run);
}

static bool weights_are_due(const struct sim_actors_run *run)
{
    const struct sim_loop *loop = &run->loop;
    const struct sim_training *training = training_of(run);
    return training->sync == SIM_SYNC_ALWAYS ||
           (training->sync == SIM_SYNC_THRESHOLD &&
            loop->version + 1 - loop->rollout_version > training->threshold);
}

/* All trainers make the step together: the same work for each. */
static weir_status train(struct sim_actors_run *run)
{
    const struct sim_training *training = training_of(run);
    const uint32_t role = training->roles[SIM_TRAIN_TRAINER];
    const struct sim_set_run *set = &run->sets[run->spec->roles[role].set];
    const double factor = set->spec->uses.gpu_units > 0 ? 1 : training->without_gpu;
    const double step_s = draw(run, training->step, PART_STEP) * training->recomputing * factor;
    run->loop.awaited = set->count;
    for (uint32_t i = 0; i < set->count; i++)
        WEIR_TRY(call(run, &(struct sim_call_spec){ .actor = set->actors[i],
                                                    .work_s = step_s,
                                                    .limit_ns = INT64_MAX,
                                                    .of = SIM_CALL_OF_LOOP,
                                                    .whose = SIM_LOOP_STEP }));
    return WEIR_OK;
}

weir_status sim_loop_turn(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    loop->turn_is_due = false;
    if (run->is_over || !is_ready(run))
        return WEIR_OK;
    loop->state = SIM_LOOP_TRAINS;
    loop->step_ns = sim_actors_now(run);
    loop->is_locked = weights_are_due(run);
    WEIR_TRY(take_trajectories(run));
    WEIR_TRY(train(run));
    if (!loop->is_locked && training_of(run)->keeps_order && loop->left == 0)
        load_batch(run);
    return WEIR_OK;
}

/* ---- behind a step ---- */

static bool is_validated(const struct sim_actors_run *run)
{
    const uint32_t every = training_of(run)->validate_every;
    return every > 0 && run->loop.version % every == 0;
}

static weir_status validate(struct sim_actors_run *run, enum sim_loop_call what)
{
    const struct sim_training *training = training_of(run);
    return call(run, &(struct sim_call_spec){
                         .actor = sim_actor_of_role(run, training->roles[SIM_TRAIN_VALIDATOR],
                                                    run->loop.validations),
                         .wait_s = draw(run, training->validation, PART_VALIDATION),
                         .limit_ns = INT64_MAX,
                         .of = SIM_CALL_OF_LOOP,
                         .whose = what });
}

static weir_status collect(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    const bool was_locked = loop->is_locked;
    loop->state = SIM_LOOP_COLLECTS;
    loop->is_locked = false;
    for (uint32_t c = 0; was_locked && c < run->client_count; c++)
        if (run->clients[c]->is_rollout)
            WEIR_TRY(sim_rollout_unblock(run->clients[c]));
    if (was_locked && training_of(run)->keeps_order && loop->left == 0)
        load_batch(run);
    renew(run);
    sim_loop_look(run);
    return WEIR_OK;
}

static weir_status transfer(struct sim_actors_run *run)
{
    const struct sim_training *training = training_of(run);
    run->loop.state = SIM_LOOP_SYNCS;
    run->loop.sync_ns = sim_actors_now(run);
    return call(run, &(struct sim_call_spec){
                         .actor = sim_actor_of_role(run, training->roles[SIM_TRAIN_SYNC], 0),
                         .wait_s = draw(run, training->transfer, PART_TRANSFER),
                         .limit_ns = training->call_limit_ns,
                         .of = SIM_CALL_OF_LOOP,
                         .whose = SIM_LOOP_TRANSFER });
}

static weir_status step_made(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    const int64_t now_ns = sim_actors_now(run);
    if (--loop->awaited > 0)
        return WEIR_OK;
    loop->version++;
    loop->steps++;
    loop->last_end_ns = now_ns;
    if (loop->steps == 1)
        loop->first_end_ns = now_ns;
    sim_context_digest(run->context, SIM_ACTORS_TURN, loop->version, now_ns);
    if (loop->steps >= training_of(run)->steps) {
        sim_actors_end(run, NULL);
        return WEIR_OK;
    }
    if (loop->is_locked)
        return transfer(run);
    if (is_validated(run))
        WEIR_TRY(validate(run, SIM_LOOP_VALIDATION_ASIDE));
    return collect(run);
}

static weir_status weights_there(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    loop->rollout_version = loop->version;
    loop->sync_sum_s += sim_time_s(sim_actors_now(run) - loop->sync_ns);
    loop->syncs++;
    if (!is_validated(run))
        return collect(run);
    loop->state = SIM_LOOP_VALIDATES;
    return validate(run, SIM_LOOP_VALIDATION);
}

weir_status sim_loop_answered(struct sim_actors_run *run, uint32_t what)
{
    switch ((enum sim_loop_call)what) {
    case SIM_LOOP_STEP:
        return step_made(run);
    case SIM_LOOP_TRANSFER:
        return weights_there(run);
    case SIM_LOOP_VALIDATION:
        run->loop.validations++;
        return collect(run);
    case SIM_LOOP_VALIDATION_ASIDE:
        run->loop.validations++;
        break;
    }
    return WEIR_OK;
}

/* Of what the loop asks for, a transfer alone has a limit. */
weir_status sim_loop_failed(struct sim_actors_run *run, uint32_t what)
{
    char text[128];
    (void)what;
    (void)snprintf(text, sizeof text, "transfer of weights %llu took longer than call_limit allows",
                   (unsigned long long)run->loop.version);
    sim_actors_end(run, text);
    return WEIR_OK;
}

void sim_loop_begin(struct sim_actors_run *run)
{
    if (training_of(run)->is_there)
        load_batch(run);
}
