/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Token buckets, beside one that counts tokens. */
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include "sim/engine/token_bucket.h"

#include <math.h>

static const int64_t NS_PER_S = 1000000000;

/* Ten at once, then one every six seconds: 10 a minute. */
static void a_burst_goes_and_then_the_rate(void)
{
    struct sim_token_bucket bucket =
        sim_token_bucket_open(&(struct sim_token_rule){ 10.0 / 60, 10 });

    for (int i = 0; i < 10; i++)
        CHECK(sim_token_bucket_take(&bucket, 5 * NS_PER_S));
    CHECK(!sim_token_bucket_take(&bucket, 5 * NS_PER_S));
    CHECK_I64(sim_token_bucket_next(&bucket, 5 * NS_PER_S), 11 * NS_PER_S);
    CHECK(!sim_token_bucket_take(&bucket, 11 * NS_PER_S - 1));
    CHECK(sim_token_bucket_take(&bucket, 11 * NS_PER_S));
    CHECK_I64(sim_token_bucket_next(&bucket, 11 * NS_PER_S), 17 * NS_PER_S);
    /* After a minute of rest it is full again, and not fuller. */
    for (int i = 0; i < 10; i++)
        CHECK(sim_token_bucket_take(&bucket, 300 * NS_PER_S));
    CHECK(!sim_token_bucket_take(&bucket, 300 * NS_PER_S));
}

static void without_a_rule_there_is_no_limit(void)
{
    struct sim_token_bucket bucket = sim_token_bucket_open(&(struct sim_token_rule){ 0, 0 });

    for (int i = 0; i < 100; i++)
        CHECK(sim_token_bucket_take(&bucket, 7));
    CHECK_I64(sim_token_bucket_next(&bucket, 7), 7);
}

/* Tokens that come one a gap, counted in whole gaps; calls come at random. */
static void it_gives_what_counted_tokens_give(void)
{
    struct draws draws = draws_seeded(1);

    for (uint32_t life = 0; life < 200; life++) {
        const uint32_t burst = 1 + (uint32_t)draws_below(&draws, 5);
        struct sim_token_bucket bucket =
            sim_token_bucket_open(&(struct sim_token_rule){ 0.5, burst });
        int64_t tokens = burst;
        int64_t filling_ns = 0; /* since the last token came, or it was full */
        int64_t now_ns = 0;
        bool is_same = true;
        for (uint32_t step = 0; step < 100; step++) {
            const int64_t passed_ns = (int64_t)draws_below(&draws, 5000000000);
            now_ns += passed_ns;
            filling_ns += passed_ns;
            tokens += filling_ns / (2 * NS_PER_S);
            filling_ns %= 2 * NS_PER_S;
            if (tokens >= burst) {
                tokens = burst;
                filling_ns = 0;
            }
            const bool is_given = tokens > 0;
            tokens -= is_given;
            is_same = is_same && sim_token_bucket_take(&bucket, now_ns) == is_given;
        }
        CHECK(is_same);
    }
}

static const struct test tests[] = {
    { "a burst goes and then the rate", a_burst_goes_and_then_the_rate },
    { "without a rule there is no limit", without_a_rule_there_is_no_limit },
    { "it gives what counted tokens give", it_gives_what_counted_tokens_give },
};
TEST_MAIN(tests)
