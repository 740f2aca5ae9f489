/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine against an oracle: random schedules, cancels and reschedules, from outside and from
 * within handlers, on a plain array whose next event is found by looking at all of them.
 *
 * Three mixtures of times: spread, a few instants, one instant only. A failure prints its seed.
 */
#include "sim/engine/engine.h"
#include "sim/engine/random.h"
#include "tests/support/check.h"

#include <stdio.h>

enum { PENDING_MAX = 300, HANDLES = 512, EVENTS = 20000 };

struct expected {
    int64_t time_ns;
    uint32_t phase;
    uint64_t sequence;
    uint32_t target;
    sim_handle handle;
};

struct oracle {
    struct sim_engine *engine;
    struct sim_stream stream;
    int64_t spread_ns; /* delays are uniform below this */
    struct expected pending[PENDING_MAX];
    size_t count;
    uint64_t sequence;
    uint64_t fired, stale;
    uint32_t next_target;
    sim_handle dead[HANDLES]; /* handles of fired and cancelled events */
    size_t dead_count;
    uint64_t mistakes;
};

static uint64_t below(struct oracle *oracle, uint64_t limit)
{
    return sim_stream_u64(&oracle->stream) % limit;
}

static bool expected_before(const struct expected *a, const struct expected *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->phase != b->phase)
        return a->phase < b->phase;
    return a->sequence < b->sequence;
}

static size_t oracle_next(const struct oracle *oracle)
{
    size_t best = 0;
    for (size_t i = 1; i < oracle->count; i++)
        best = expected_before(&oracle->pending[i], &oracle->pending[best]) ? i : best;
    return best;
}

static void oracle_remove(struct oracle *oracle, size_t index)
{
    oracle->dead[oracle->dead_count++ % HANDLES] = oracle->pending[index].handle;
    oracle->pending[index] = oracle->pending[--oracle->count];
}

static int64_t random_time(struct oracle *oracle)
{
    return sim_engine_now(oracle->engine) + (int64_t)below(oracle, (uint64_t)oracle->spread_ns);
}

static void step_schedule(struct oracle *oracle)
{
    if (oracle->count == PENDING_MAX)
        return;
    struct expected *made = &oracle->pending[oracle->count++];
    *made = (struct expected){ .time_ns = random_time(oracle),
                               .phase = (uint32_t)below(oracle, SIM_PHASE_SAMPLE + 1),
                               .sequence = oracle->sequence++,
                               .target = oracle->next_target++ };
    made->handle = sim_engine_schedule(oracle->engine, &(struct sim_event){
                                                           .time_ns = made->time_ns,
                                                           .phase = (uint16_t)made->phase,
                                                           .target = made->target,
                                                       });
    oracle->mistakes += made->handle == SIM_NO_HANDLE;
}

static void step_cancel(struct oracle *oracle)
{
    if (oracle->count == 0)
        return;
    const size_t index = below(oracle, oracle->count);
    oracle->mistakes += !sim_engine_cancel(oracle->engine, oracle->pending[index].handle);
    oracle_remove(oracle, index);
}

static void step_reschedule(struct oracle *oracle)
{
    if (oracle->count == 0)
        return;
    struct expected *moved = &oracle->pending[below(oracle, oracle->count)];
    moved->time_ns = random_time(oracle);
    moved->sequence = oracle->sequence++;
    oracle->mistakes += !sim_engine_reschedule(oracle->engine, moved->handle, moved->time_ns);
}

static void step_stale(struct oracle *oracle)
{
    if (oracle->dead_count == 0)
        return;
    const size_t kept = oracle->dead_count < HANDLES ? oracle->dead_count : HANDLES;
    const sim_handle handle = oracle->dead[below(oracle, kept)];
    oracle->mistakes += below(oracle, 2)
                            ? sim_engine_cancel(oracle->engine, handle)
                            : sim_engine_reschedule(oracle->engine, handle, random_time(oracle));
    oracle->stale++;
}

static void random_steps(struct oracle *oracle, uint64_t most)
{
    for (uint64_t steps = below(oracle, most + 1); steps > 0; steps--) {
        const uint64_t choice = below(oracle, 10);
        if (choice < 5)
            step_schedule(oracle);
        else if (choice < 7)
            step_cancel(oracle);
        else if (choice < 9)
            step_reschedule(oracle);
        else
            step_stale(oracle);
    }
}

static weir_status handle(void *context, const struct sim_event *event)
{
    struct oracle *oracle = context;
    if (oracle->count == 0)
        return WEIR_EINVARIANT;
    const size_t next = oracle_next(oracle);
    const struct expected *expected = &oracle->pending[next];
    oracle->mistakes += expected->target != event->target || expected->time_ns != event->time_ns ||
                        expected->phase != event->phase;
    oracle_remove(oracle, next);
    oracle->fired++;
    random_steps(oracle, 4);
    if (oracle->count < 4)
        step_schedule(oracle);
    if (oracle->mistakes > 0)
        return WEIR_EINVARIANT;
    if (oracle->fired % 16 == 0)
        return sim_engine_check(oracle->engine, NULL);
    return WEIR_OK;
}

static void compare_with_oracle(uint64_t seed, int64_t spread_ns)
{
    struct oracle oracle = { .engine = sim_engine_create(), .spread_ns = spread_ns };
    const struct sim_random root = { .seed = seed };
    sim_stream_open(&oracle.stream, &root, SIM_DRAW_TEST, (struct sim_stream_key){ .item = 1 });
    weir_status status = WEIR_OK;
    while (status == WEIR_OK && oracle.fired < EVENTS) {
        random_steps(&oracle, 40);
        const int64_t until_ns = random_time(&oracle);
        status = sim_engine_run(oracle.engine, handle, &oracle, until_ns);
        if (status == WEIR_OK)
            status = sim_engine_check(oracle.engine, NULL);
        for (size_t i = 0; i < oracle.count; i++)
            oracle.mistakes += oracle.pending[i].time_ns <= until_ns;
        if (oracle.mistakes > 0)
            break;
    }
    const struct sim_engine_stats stats = sim_engine_stats(oracle.engine);
    if (!CHECK_I64(oracle.mistakes, 0) || !CHECK_I64(status, WEIR_OK))
        printf("seed %llu, spread %lld\n", (unsigned long long)seed, (long long)spread_ns);
    CHECK_I64(stats.fired, oracle.fired);
    CHECK_I64(stats.pending, oracle.count);
    CHECK_I64(stats.stale_handles, oracle.stale);
    CHECK(oracle.fired > 0);
    sim_engine_destroy(oracle.engine);
}

static void spread_times_follow_the_oracle(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        compare_with_oracle(seed, 1000000);
}

static void few_instants_follow_the_oracle(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        compare_with_oracle(seed, 4);
}

/* One instant only: the run ends when `stop` comes, as spawning goes on at now for ever. */
static weir_status handle_tied(void *context, const struct sim_event *event)
{
    struct oracle *oracle = context;
    if (oracle->fired >= EVENTS)
        sim_engine_stop(oracle->engine);
    return handle(context, event);
}

static void all_ties_follow_the_oracle(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct oracle oracle = { .engine = sim_engine_create(), .spread_ns = 1 };
        const struct sim_random root = { .seed = seed };
        sim_stream_open(&oracle.stream, &root, SIM_DRAW_TEST, (struct sim_stream_key){ .item = 2 });
        for (int i = 0; i < 100; i++)
            step_schedule(&oracle);
        CHECK_I64(sim_engine_run(oracle.engine, handle_tied, &oracle, 0), WEIR_OK);
        CHECK_I64(oracle.mistakes, 0);
        CHECK(oracle.fired > EVENTS);
        CHECK_I64(sim_engine_now(oracle.engine), 0);
        sim_engine_destroy(oracle.engine);
    }
}

/* The same operations give the same digest, run after run. */
static void equal_worlds_have_equal_digests(void)
{
    uint64_t digests[3];
    for (uint64_t i = 0; i < 3; i++) {
        struct oracle oracle = { .engine = sim_engine_create(), .spread_ns = 50 };
        const struct sim_random root = { .seed = i < 2 ? 7 : 8 };
        sim_stream_open(&oracle.stream, &root, SIM_DRAW_TEST, (struct sim_stream_key){ .item = 3 });
        for (int step = 0; step < 100; step++)
            step_schedule(&oracle);
        CHECK_I64(sim_engine_run(oracle.engine, handle_tied, &oracle, INT64_MAX), WEIR_OK);
        digests[i] = sim_engine_digest(oracle.engine);
        sim_engine_destroy(oracle.engine);
    }
    CHECK(digests[0] == digests[1]);
    CHECK(digests[0] != digests[2]);
}

static const struct test tests[] = {
    { "spread times follow the oracle", spread_times_follow_the_oracle },
    { "few instants follow the oracle", few_instants_follow_the_oracle },
    { "all ties follow the oracle", all_ties_follow_the_oracle },
    { "equal worlds have equal digests", equal_worlds_have_equal_digests },
};
TEST_MAIN(tests)
