/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actor systems as a kind of work: what the world asks of them (sim/world/driver.h). Nothing is
 * decided here.
 */
#include "sim/actors/actors.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t count_systems(const struct sim_scenario *scenario)
{
    return (uint32_t)scenario->actors_count;
}

static weir_status create_parts(struct sim_actors_run *run)
{
    const struct sim_actor_system *system = run->spec;
    run->sets = calloc(system->sets_count + 1, sizeof *run->sets);
    run->roles = calloc(system->roles_count + 1, sizeof *run->roles);
    if (run->sets == NULL || run->roles == NULL)
        return WEIR_ENOMEM;
    for (size_t r = 0; r < system->roles_count; r++)
        run->roles[r] = sim_random_of(&run->random, SIM_NAME_ROLE, system->roles[r].name);
    for (uint32_t s = 0; s < system->sets_count; s++)
        WEIR_TRY(sim_actors_add_set(run, s));
    return run->sets[0].pool == system->set_first ? WEIR_OK : WEIR_EINVARIANT;
}

static weir_status create(const struct sim_driver_config *config, void **self,
                          struct weir_error *error)
{
    struct sim_actors_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    *run = (struct sim_actors_run){ .spec = &config->scenario->actors[config->instance],
                                    .config = *config,
                                    .context = config->context,
                                    .asked_ns = -1,
                                    .calls = { .size = sizeof(struct sim_call) } };
    run->random = sim_random_of(&config->context->random, SIM_NAME_ACTORS, run->spec->name);
    *self = run;
    return create_parts(run);
}

static void destroy(void *self)
{
    if (self != NULL)
        sim_actors_clear(self);
    free(self);
}

static const char *name(const void *self)
{
    const struct sim_actors_run *run = self;
    return run->spec->name;
}

/* ---- events ---- */

static void schedule_limit(struct sim_actors_run *run, uint32_t set)
{
    const struct sim_actor_system *system = run->spec;
    const int64_t limit_ns =
        system->sets[set].is_group ? system->group_limit_ns : system->ready_limit_ns;
    if (limit_ns != INT64_MAX)
        (void)sim_actors_schedule(run, limit_ns, SIM_ACTORS_READY_BY, set);
}

static weir_status begin(void *self)
{
    struct sim_actors_run *run = self;
    for (uint32_t s = 0; s < run->spec->sets_count; s++)
        schedule_limit(run, s);
    if (run->config.scenario->warmup_ns > 0)
        (void)sim_actors_schedule(run, run->config.scenario->warmup_ns, SIM_ACTORS_WARM, 0);
    sim_loop_begin(run);
    sim_health_begin(run);
    return WEIR_OK;
}

static void check_ready(struct sim_actors_run *run, const struct sim_set_run *set)
{
    char text[160];
    uint32_t late = 0;
    for (uint32_t i = 0; i < set->count; i++)
        late += set->actors[i]->was_ready ? 0 : 1;
    if (late == 0)
        return;
    (void)snprintf(text, sizeof text, "%u of %u actors of %s were not ready in time", late,
                   set->count, set->spec->name);
    sim_actors_end(run, text);
}

static weir_status event(void *self, const struct sim_event *event)
{
    struct sim_actors_run *run = self;
    switch ((enum sim_actors_event)sim_driver_own_kind(event)) {
    case SIM_ACTORS_WAITED:
        return sim_call_waited(run, event->target);
    case SIM_ACTORS_LIMIT:
        return sim_call_late(run, event->target);
    case SIM_ACTORS_CLIENT:
        return sim_client_timer(run->clients[event->target]);
    case SIM_ACTORS_PATIENCE:
        return sim_rollout_impatient(run->clients[event->target]);
    case SIM_ACTORS_TURN:
        return sim_loop_turn(run);
    case SIM_ACTORS_READY_BY:
        check_ready(run, &run->sets[event->target]);
        return WEIR_OK;
    case SIM_ACTORS_HEALTH:
        return sim_health_due(run);
    case SIM_ACTORS_HEALTH_LIMIT:
        sim_health_late(run);
        return WEIR_OK;
    case SIM_ACTORS_WARM:
        sim_actors_note_warm(run);
        return WEIR_OK;
    case SIM_ACTORS_OVER:
        return sim_actors_over(run);
    case SIM_ACTORS_RATE:
        run->actors[event->target]->token_ns = -1;
        return sim_actor_serve(run->actors[event->target]);
    }
    return WEIR_EINVARIANT;
}

static weir_status worked(void *self, uint32_t target, sim_handle work)
{
    const struct sim_actors_run *run = self;
    return sim_actor_computed(run->actors[target], work);
}

static weir_status paced(void *self, struct sim_worker *worker)
{
    (void)self;
    return sim_actor_paced(worker->work);
}

/* ---- workers ---- */

static weir_status start(void *self, const struct sim_start *start, uint32_t *reason)
{
    struct sim_actors_run *run = self;
    if (run->is_over) {
        *reason = WEIR_REASON_FINISHED;
        return WEIR_OK;
    }
    return sim_actor_start(&run->sets[start->owner.index - run->sets[0].pool], start, reason);
}

static weir_status ready(void *self, struct sim_worker *worker)
{
    (void)self;
    return sim_actor_ready(worker->work);
}

static weir_status stop(void *self, struct sim_worker *worker, enum sim_stop why)
{
    (void)self;
    return sim_actor_stop(worker->work, why);
}

/* Who may be on this node alone fails with it, also one that has not come yet (NodeAffinity without
 * soft, in Ray). */
static void node_lost(void *self, uint32_t node)
{
    struct sim_actors_run *run = self;
    char name[64];
    char text[160];
    for (size_t s = 0; s < run->spec->sets_count; s++) {
        if (run->spec->sets[s].node != node)
            continue;
        sim_scenario_node_name(run->config.scenario, node, name, sizeof name);
        (void)snprintf(text, sizeof text, "actors of %s may be on %s alone, which is down",
                       run->spec->sets[s].name, name);
        sim_actors_end(run, text);
    }
}

static weir_status settle(void *self)
{
    (void)self;
    return WEIR_OK;
}

/* Calls that wait; of rollouts items to come, of trainers what the pool holds. */
static uint64_t waiting_for(const struct sim_actors_run *run, const struct sim_set_run *set)
{
    const struct sim_training *training = &run->spec->training;
    const struct sim_loop *loop = &run->loop;
    uint64_t waiting = set->queued;
    if (!training->is_there)
        return waiting;
    if (run->spec->roles[training->roles[SIM_TRAIN_ROLLOUT]].set == set->position)
        waiting += loop->left + loop->back_count +
                   (training->keeps_order ? 0 : (uint64_t)training->batch * training->repeat);
    if (run->spec->roles[training->roles[SIM_TRAIN_TRAINER]].set == set->position)
        waiting += loop->pool_count;
    return waiting;
}

static weir_status tell(void *self, const struct sim_teller *teller)
{
    const struct sim_actors_run *run = self;
    for (size_t s = 0; s < run->spec->sets_count; s++) {
        const struct sim_set_run *set = &run->sets[s];
        const struct sim_pool_state state = { .ready = set->ready,
                                              .busy = set->busy,
                                              .slots = 1,
                                              .requested_workers =
                                                  run->is_over ? 0 : set->spec->count,
                                              .queued_items = waiting_for(run, set),
                                              .is_finished = run->is_over };
        WEIR_TRY(teller->pool(teller->port, set->pool, &state));
    }
    return WEIR_OK;
}

/* ---- end and results ---- */

static bool is_done(const void *self)
{
    const struct sim_actors_run *run = self;
    return run->is_over && run->gave_up[0] == '\0';
}

static const char *gave_up(const void *self, int64_t *at_ns)
{
    const struct sim_actors_run *run = self;
    *at_ns = run->gave_up_ns;
    return run->gave_up[0] == '\0' ? NULL : run->gave_up;
}

static bool wants_back(void *self)
{
    return sim_actors_want_back(self);
}

static void progress(const void *self, double *done, double *total)
{
    const struct sim_actors_run *run = self;
    if (!run->spec->training.is_there || run->spec->training.steps == UINT64_MAX)
        return;
    *total += (double)run->spec->training.steps;
    *done += (double)run->loop.steps;
}

static uint64_t inside(const void *self, int64_t now_ns, int64_t *age_ns)
{
    const struct sim_actors_run *run = self;
    uint64_t filled = 0;
    if (age_ns == NULL)
        return run->inside;
    for (uint32_t c = 0; c < run->client_count; c++)
        if (run->clients[c]->has_item)
            age_ns[filled++] = now_ns - run->clients[c]->began_ns;
    for (uint32_t b = 0; b < run->loop.back_count; b++)
        age_ns[filled++] = now_ns - run->loop.back[b].began_ns;
    return filled;
}

static weir_status check_actor(const struct sim_actor *actor, uint32_t *calls,
                               struct weir_error *error)
{
    uint32_t service = 0;
    for (const struct sim_call *call = actor->served.first; call != NULL; call = call->next)
        service += call->is_own ? 0 : 1;
    *calls += actor->queue.count + actor->served.count;
    if (service != actor->in_service || service > actor->set->spec->concurrency)
        return weir_fail(error, WEIR_EINVARIANT,
                         "%s %u: %u calls in service, counted %u, allowed %u",
                         actor->set->spec->name, actor->number, service, actor->in_service,
                         actor->set->spec->concurrency);
    return WEIR_OK;
}

static weir_status check(const void *self, struct weir_error *error)
{
    const struct sim_actors_run *run = self;
    uint32_t calls = 0;
    uint64_t items = run->loop.back_count;
    for (uint32_t c = 0; c < run->client_count; c++)
        items += run->clients[c]->has_item ? 1 : 0;
    if (items != run->inside)
        return weir_fail(error, WEIR_EINVARIANT,
                         "system %s: %llu rounds are under way, counted %llu", run->spec->name,
                         (unsigned long long)items, (unsigned long long)run->inside);
    for (uint32_t i = 0; i < run->actor_count; i++)
        WEIR_TRY(check_actor(run->actors[i], &calls, error));
    if (calls > run->calls_alive)
        return weir_fail(error, WEIR_EINVARIANT, "system %s: %u calls wait or are served, %u alive",
                         run->spec->name, calls, run->calls_alive);
    return WEIR_OK;
}

static weir_status results(void *self, int64_t end_ns, struct sim_results *out)
{
    return sim_actors_results(self, end_ns, out);
}

const struct sim_driver_ops sim_actors_driver = { .kind = "actors",
                                                  .count = count_systems,
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .name = name,
                                                  .begin = begin,
                                                  .event = event,
                                                  .worked = worked,
                                                  .paced = paced,
                                                  .start = start,
                                                  .ready = ready,
                                                  .stop = stop,
                                                  .node_lost = node_lost,
                                                  .settle = settle,
                                                  .tell = tell,
                                                  .is_done = is_done,
                                                  .wants_back = wants_back,
                                                  .gave_up = gave_up,
                                                  .progress = progress,
                                                  .inside = inside,
                                                  .check = check,
                                                  .results = results };
