/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine against its oracle (tests/support/oracle_engine.h) in three mixtures of times:
 * spread, a few instants, one instant only. A failure prints its seed.
 */
#include "tests/support/check.h"
#include "tests/support/oracle_engine.h"

#include <stdio.h>

enum { EVENTS = 20000 };

static struct engine_oracle *open_oracle(uint64_t seed, int64_t spread_ns)
{
    struct engine_oracle *oracle = engine_oracle_create(draws_seeded(seed), spread_ns);
    oracle->least_pending = 4;
    return oracle;
}

static void compare_with_oracle(uint64_t seed, int64_t spread_ns)
{
    struct engine_oracle *oracle = open_oracle(seed, spread_ns);
    weir_status status = WEIR_OK;
    while (status == WEIR_OK && oracle->fired < EVENTS)
        status = engine_oracle_round(oracle, 40);
    if (!CHECK_I64(oracle->mistakes, 0) || !CHECK_I64(status, WEIR_OK))
        printf("seed %llu, spread %lld\n", (unsigned long long)seed, (long long)spread_ns);
    CHECK(engine_oracle_agrees(oracle));
    CHECK(oracle->fired >= EVENTS);
    CHECK(oracle->stale > 0);
    engine_oracle_destroy(oracle);
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

/* One instant only: the run ends when a handler stops it, as spawning goes on at now for ever. */
static void all_ties_follow_the_oracle(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct engine_oracle *oracle = open_oracle(seed, 1);
        oracle->stop_after = EVENTS;
        for (int i = 0; i < 100; i++)
            engine_oracle_schedule(oracle);
        CHECK_I64(engine_oracle_run(oracle, 0), WEIR_OK);
        CHECK(engine_oracle_agrees(oracle));
        CHECK(oracle->fired > EVENTS);
        CHECK_I64(sim_engine_now(oracle->engine), 0);
        engine_oracle_destroy(oracle);
    }
}

/* The same operations give the same digest, run after run. */
static void equal_worlds_have_equal_digests(void)
{
    uint64_t digests[3];
    for (uint64_t i = 0; i < 3; i++) {
        struct engine_oracle *oracle = open_oracle(i < 2 ? 7 : 8, 50);
        oracle->stop_after = EVENTS;
        for (int step = 0; step < 100; step++)
            engine_oracle_schedule(oracle);
        CHECK_I64(engine_oracle_run(oracle, INT64_MAX), WEIR_OK);
        digests[i] = sim_engine_digest(oracle->engine);
        engine_oracle_destroy(oracle);
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
