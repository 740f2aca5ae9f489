/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Health checks: every actor is asked `probes` times, one after the other or all at once, and all
 * of it is one call inside the system, with its limit. The check that begins while one goes on is
 * left out. A check that is too late is taken for dead processes, and the system ends.
 */
#include "sim/actors/actors.h"

static const struct sim_training *training_of(const struct sim_actors_run *run)
{
    return &run->spec->training;
}

static weir_status probe(struct sim_actors_run *run, struct sim_actor *actor)
{
    struct sim_call *call = NULL;
    const struct sim_call_spec spec = { .actor = actor,
                                        .wait_s = sim_time_s(training_of(run)->probe_ns),
                                        .limit_ns = INT64_MAX,
                                        .of = SIM_CALL_OF_HEALTH };
    run->loop.answers++;
    return sim_call_make(run, &spec, &call);
}

/* The next question; none: the check is over. */
static weir_status probe_next(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    if (loop->asked == training_of(run)->probes) {
        loop->asked = 0;
        loop->probed++;
    }
    if (loop->probed == run->actor_count) {
        loop->is_probing = false;
        (void)sim_engine_cancel(run->context->engine, loop->health_limit);
        loop->health_limit = SIM_NO_HANDLE;
        return WEIR_OK;
    }
    loop->asked++;
    return probe(run, run->actors[loop->probed]);
}

static void due_again(const struct sim_actors_run *run)
{
    (void)sim_actors_schedule(run, sim_actors_now(run) + training_of(run)->health_ns,
                              SIM_ACTORS_HEALTH, 0);
}

void sim_health_begin(struct sim_actors_run *run)
{
    if (training_of(run)->is_there && training_of(run)->health_ns > 0)
        due_again(run);
}

weir_status sim_health_due(struct sim_actors_run *run)
{
    struct sim_loop *loop = &run->loop;
    const struct sim_training *training = training_of(run);
    if (run->is_over)
        return WEIR_OK;
    due_again(run);
    if (loop->is_probing)
        return WEIR_OK;
    loop->is_probing = true;
    loop->probed = loop->asked = 0;
    if (training->call_limit_ns != INT64_MAX)
        loop->health_limit = sim_actors_schedule(run, sim_actors_now(run) + training->call_limit_ns,
                                                 SIM_ACTORS_HEALTH_LIMIT, 0);
    if (!training->probes_at_once)
        return probe_next(run);
    loop->probed = run->actor_count;
    for (uint32_t i = 0; i < run->actor_count; i++)
        for (uint32_t n = 0; n < training->probes; n++)
            WEIR_TRY(probe(run, run->actors[i]));
    return WEIR_OK;
}

weir_status sim_health_answered(struct sim_actors_run *run)
{
    if (--run->loop.answers > 0)
        return WEIR_OK;
    return probe_next(run);
}

void sim_health_late(struct sim_actors_run *run)
{
    run->loop.health_limit = SIM_NO_HANDLE;
    run->loop.health_failures++;
    sim_actors_end(run, "a health check took longer than call_limit allows");
}
