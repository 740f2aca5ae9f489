/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bisection finds what trying everything finds, looks at few trials, and sees where the order is
 * none. */
#include "sim/cli/ask/bisect.h"
#include "tests/support/check.h"

/* Runs it on trials of which those from `first` on hold; how many were looked at. */
static size_t find(size_t count, size_t first, size_t *answer)
{
    struct sim_bisect bisect;
    size_t looked = 0;
    CHECK(sim_bisect_begin(&bisect, count));
    for (size_t trial = sim_bisect_next(&bisect); trial < count && looked <= count;
         trial = sim_bisect_next(&bisect)) {
        sim_bisect_tell(&bisect, trial, trial >= first);
        looked++;
    }
    *answer = sim_bisect_answer(&bisect);
    CHECK(!sim_bisect_is_disordered(&bisect));
    sim_bisect_end(&bisect);
    return looked;
}

static void finds_what_trying_all_finds(void)
{
    for (size_t count = 0; count <= 70; count++)
        for (size_t first = 0; first <= count; first++) {
            size_t answer = 0;
            (void)find(count, first, &answer);
            CHECK_I64(answer, first);
        }
}

static void looks_at_an_eighth_of_64(void)
{
    for (size_t first = 0; first < 64; first++) {
        size_t answer = 0;
        CHECK(find(64, first, &answer) <= 8);
    }
    size_t answer = 0;
    CHECK_I64(find(64, 64, &answer), 1); /* the easiest fails: none holds */
}

/* A trial that held before fails when it is looked at again: the next one is the answer, and its
 * neighbour is looked at. */
static void goes_on_when_an_answer_falls(void)
{
    struct sim_bisect bisect;
    CHECK(sim_bisect_begin(&bisect, 16));
    for (size_t trial = sim_bisect_next(&bisect); trial < 16; trial = sim_bisect_next(&bisect))
        sim_bisect_tell(&bisect, trial, trial >= 5);
    CHECK_I64(sim_bisect_answer(&bisect), 5);
    sim_bisect_tell(&bisect, 5, false);
    for (size_t trial = sim_bisect_next(&bisect); trial < 16; trial = sim_bisect_next(&bisect))
        sim_bisect_tell(&bisect, trial, true);
    CHECK_I64(sim_bisect_answer(&bisect), 6);
    sim_bisect_end(&bisect);
}

/* 3 holds and 4, which is easier, does not: the answer lies behind both, and it is told. */
static void sees_where_the_order_is_none(void)
{
    struct sim_bisect bisect;
    CHECK(sim_bisect_begin(&bisect, 8));
    sim_bisect_tell(&bisect, 3, true);
    sim_bisect_tell(&bisect, 4, false);
    CHECK(sim_bisect_is_disordered(&bisect));
    sim_bisect_tell(&bisect, 7, true);
    for (size_t trial = sim_bisect_next(&bisect); trial < 8; trial = sim_bisect_next(&bisect))
        sim_bisect_tell(&bisect, trial, true);
    CHECK_I64(sim_bisect_answer(&bisect), 5);
    sim_bisect_end(&bisect);
}

static const struct test tests[] = {
    { "bisection finds what trying all finds", finds_what_trying_all_finds },
    { "of 64 trials it looks at 8 at most", looks_at_an_eighth_of_64 },
    { "it goes on when an answer falls", goes_on_when_an_answer_falls },
    { "it sees where the order is none", sees_where_the_order_is_none },
};
TEST_MAIN(tests)
