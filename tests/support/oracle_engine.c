/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See oracle_engine.h. */
#include "tests/support/oracle_engine.h"

#include <stdlib.h>

static const uint32_t CLOSING_TARGET = UINT32_MAX;

struct engine_oracle *engine_oracle_create(struct draws draws, int64_t spread_ns)
{
    struct engine_oracle *oracle = calloc(1, sizeof *oracle);
    if (oracle == NULL)
        return NULL;
    oracle->engine = sim_engine_create();
    oracle->draws = draws;
    oracle->spread_ns = spread_ns;
    return oracle;
}

void engine_oracle_destroy(struct engine_oracle *oracle)
{
    if (oracle == NULL)
        return;
    sim_engine_destroy(oracle->engine);
    free(oracle);
}

static bool expected_before(const struct expected *a, const struct expected *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->phase != b->phase)
        return a->phase < b->phase;
    return a->sequence < b->sequence;
}

static size_t oracle_next(const struct engine_oracle *oracle)
{
    size_t best = 0;
    for (size_t i = 1; i < oracle->count; i++)
        best = expected_before(&oracle->pending[i], &oracle->pending[best]) ? i : best;
    return best;
}

static void oracle_remove(struct engine_oracle *oracle, size_t index)
{
    oracle->dead[oracle->dead_count++ % ORACLE_HANDLES] = oracle->pending[index].handle;
    oracle->pending[index] = oracle->pending[--oracle->count];
}

static int64_t random_time(struct engine_oracle *oracle)
{
    return sim_engine_now(oracle->engine) +
           (int64_t)draws_below(&oracle->draws, (uint64_t)oracle->spread_ns);
}

void engine_oracle_schedule(struct engine_oracle *oracle)
{
    if (oracle->count == ORACLE_PENDING_MAX)
        return;
    struct expected *made = &oracle->pending[oracle->count++];
    *made = (struct expected){ .time_ns = random_time(oracle),
                               .phase = (uint32_t)draws_below(&oracle->draws, SIM_PHASE_SAMPLE + 1),
                               .sequence = oracle->sequence++,
                               .target = oracle->next_target++ };
    made->handle = sim_engine_schedule(oracle->engine, &(struct sim_event){
                                                           .time_ns = made->time_ns,
                                                           .phase = (uint16_t)made->phase,
                                                           .target = made->target,
                                                       });
    oracle->mistakes += made->handle == SIM_NO_HANDLE;
}

static void step_cancel(struct engine_oracle *oracle)
{
    if (oracle->count == 0)
        return;
    const size_t index = draws_below(&oracle->draws, oracle->count);
    oracle->mistakes += !sim_engine_cancel(oracle->engine, oracle->pending[index].handle);
    oracle_remove(oracle, index);
}

static void step_reschedule(struct engine_oracle *oracle)
{
    if (oracle->count == 0)
        return;
    struct expected *moved = &oracle->pending[draws_below(&oracle->draws, oracle->count)];
    moved->time_ns = random_time(oracle);
    moved->sequence = oracle->sequence++;
    oracle->mistakes += !sim_engine_reschedule(oracle->engine, moved->handle, moved->time_ns);
}

static void step_stale(struct engine_oracle *oracle)
{
    if (oracle->dead_count == 0)
        return;
    const size_t kept = oracle->dead_count < ORACLE_HANDLES ? oracle->dead_count : ORACLE_HANDLES;
    const sim_handle handle = oracle->dead[draws_below(&oracle->draws, kept)];
    oracle->mistakes += draws_below(&oracle->draws, 2)
                            ? sim_engine_cancel(oracle->engine, handle)
                            : sim_engine_reschedule(oracle->engine, handle, random_time(oracle));
    oracle->stale++;
}

/* Asked for several times, it comes once. */
static void step_close(struct engine_oracle *oracle)
{
    sim_engine_close_instant(oracle->engine, 0, CLOSING_TARGET);
    oracle->is_closing = true;
}

static void random_steps(struct engine_oracle *oracle, uint64_t most)
{
    for (uint64_t steps = draws_below(&oracle->draws, most + 1); steps > 0; steps--) {
        const uint64_t choice = draws_below(&oracle->draws, 11);
        if (choice < 5)
            engine_oracle_schedule(oracle);
        else if (choice < 7)
            step_cancel(oracle);
        else if (choice < 9)
            step_reschedule(oracle);
        else if (choice < 10)
            step_stale(oracle);
        else
            step_close(oracle);
    }
}

/* Whether this is the event that is to come; it is taken out. */
static bool is_expected(struct engine_oracle *oracle, const struct sim_event *event)
{
    const size_t next = oracle_next(oracle);
    const struct expected closing = { .time_ns = sim_engine_now(oracle->engine),
                                      .phase = SIM_PHASE_SAMPLE,
                                      .target = CLOSING_TARGET };
    const bool closes = oracle->is_closing &&
                        (oracle->count == 0 || oracle->pending[next].time_ns > closing.time_ns);
    if (!closes && oracle->count == 0)
        return false;
    const struct expected expected = closes ? closing : oracle->pending[next];
    if (closes)
        oracle->is_closing = false;
    else
        oracle_remove(oracle, next);
    return expected.target == event->target && expected.time_ns == event->time_ns &&
           expected.phase == event->phase;
}

static weir_status handle(void *context, const struct sim_event *event)
{
    struct engine_oracle *oracle = context;
    oracle->mistakes += !is_expected(oracle, event);
    oracle->fired++;
    random_steps(oracle, 4);
    if (oracle->count < oracle->least_pending)
        engine_oracle_schedule(oracle);
    if (oracle->mistakes > 0)
        return WEIR_EINVARIANT;
    if (oracle->stop_after > 0 && oracle->fired > oracle->stop_after)
        sim_engine_stop(oracle->engine);
    return oracle->fired % 16 == 0 ? sim_engine_check(oracle->engine, NULL) : WEIR_OK;
}

weir_status engine_oracle_run(struct engine_oracle *oracle, int64_t until_ns)
{
    WEIR_TRY(sim_engine_run(oracle->engine, handle, oracle, until_ns));
    return sim_engine_check(oracle->engine, NULL);
}

weir_status engine_oracle_round(struct engine_oracle *oracle, uint64_t most)
{
    random_steps(oracle, most);
    const int64_t until_ns = random_time(oracle);
    WEIR_TRY(engine_oracle_run(oracle, until_ns));
    for (size_t i = 0; i < oracle->count; i++)
        oracle->mistakes += oracle->pending[i].time_ns <= until_ns;
    return oracle->mistakes > 0 ? WEIR_EINVARIANT : WEIR_OK;
}

bool engine_oracle_agrees(const struct engine_oracle *oracle)
{
    const struct sim_engine_stats stats = sim_engine_stats(oracle->engine);

    return oracle->mistakes == 0 && stats.fired == oracle->fired &&
           stats.pending == oracle->count + oracle->is_closing &&
           stats.stale_handles == oracle->stale;
}
