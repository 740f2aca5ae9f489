/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The placement policy weir where jobs end: how far it looks ahead, and whom it keeps nodes empty
 * for.
 */
#include "sched/cluster/state.h"
#include "sched/placement/parts/lookahead.h"
#include "sched/placement/parts/scarce.h"
#include "tests/support/check.h"

static struct weir_shape whole_gpus(uint32_t count)
{
    return (struct weir_shape){ .kind = WEIR_SHAPE_WHOLE,
                                .cpu_units = count * WEIR_ONE,
                                .gpu_units = WEIR_ONE,
                                .gpu_count = count };
}

/* What counts is the GPUs they ask for; a little more or less is nothing new. */
static void the_share_of_large_jobs_is_followed_in_steps(void)
{
    const struct weir_scarce_rules rules = { .price = 3, .prior = 100, .horizon = 1 };
    const struct weir_shape small = whole_gpus(1);
    const struct weir_shape large = whole_gpus(4);
    const struct weir_mix nothing = { .count = 0 };
    struct weir_cluster *cluster = NULL;
    struct weir_scarce *scarce = NULL;
    double before = 0;
    int steps = 0;
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_scarce_create(&rules, NULL, &scarce), WEIR_OK);
    for (uint64_t id = 0; id < 100; id++) {
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = cluster,
                                                .mix = &nothing,
                                                .shape = id % 5 == 4 ? &large : &small,
                                                .owner = weir_job_owner(0, id) };
        CHECK_I64(weir_scarce_follow(scarce, &query), WEIR_OK);
        steps += weir_scarce_large(scarce) > before || weir_scarce_large(scarce) < before ? 1 : 0;
        before = weir_scarce_large(scarce);
        if (id < 4)
            CHECK_NEAR(before, 0, 0.0);
    }
    CHECK_NEAR(before, 0.5, 0.125); /* 4 of 8 GPUs */
    CHECK(steps <= 6);
    weir_scarce_destroy(scarce);
    weir_cluster_destroy(cluster);
}

struct crowd {
    struct weir_cluster *cluster;
    struct weir_scarce *scarce;
    struct weir_mix mix;
};

static void ask(struct crowd *crowd, const struct weir_shape *shape, uint64_t id, bool is_placed)
{
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = crowd->cluster,
                                            .mix = &crowd->mix,
                                            .shape = shape,
                                            .owner = weir_job_owner(0, id) };
    CHECK_I64(weir_scarce_follow(crowd->scarce, &query), WEIR_OK);
    weir_scarce_note_answer(crowd->scarce, &query, is_placed);
}

/* Half of `crowded` lost is half the slack. Large jobs and those that insist on a type say nothing
 * of the rest of the cluster; who comes again was not lost. */
static void slack_goes_as_small_jobs_find_no_place(void)
{
    const struct weir_scarce_rules rules = { .price = 3, .horizon = 1, .crowded = 1 };
    const struct weir_shape small = whole_gpus(1);
    const struct weir_shape large = whole_gpus(4);
    struct weir_shape typed = small;
    struct crowd crowd = { .mix = { .count = 0 } };
    typed.gpu_type = 1;
    CHECK_I64(weir_cluster_create(NULL, &crowd.cluster), WEIR_OK);
    CHECK_I64(weir_scarce_create(&rules, NULL, &crowd.scarce), WEIR_OK);
    for (uint64_t id = 0; id < 50; id++)
        ask(&crowd, id % 2 == 0 ? &large : &typed, id, false);
    CHECK_NEAR(weir_scarce_slack(crowd.scarce), 1, 0.0);
    for (uint64_t id = 50; id < 90; id++)
        ask(&crowd, &small, id, id % 2 == 0);
    CHECK_NEAR(weir_scarce_slack(crowd.scarce), 0.5, 0.13);
    for (uint64_t id = 90; id < 130; id++)
        ask(&crowd, &small, id, false);
    CHECK_NEAR(weir_scarce_slack(crowd.scarce), 0, 0.0);
    for (int again = 0; again < 10; again++)
        ask(&crowd, &small, 129, false);
    CHECK_NEAR(weir_scarce_slack(crowd.scarce), 1, 0.0);
    weir_scarce_destroy(crowd.scarce);
    weir_cluster_destroy(crowd.cluster);
}

/* The fewer jobs still come, the more stays idle; no line is longer than it is. */
static void a_shorter_look_ahead_sees_more_idle(void)
{
    const struct weir_shape shapes[2] = { whole_gpus(1), whole_gpus(4) };
    const double frequencies[2] = { 0.75, 0.25 };
    const struct weir_mix mix = { shapes, frequencies, 2, 0 };
    const struct weir_lookahead_rules rules = { .lines = 8, .depth = 100 };
    struct weir_outlook node = { .cpu_free = 64 * WEIR_ONE, .gpu_count = 4 };
    struct weir_lookahead *ahead = NULL;
    double last = 5;
    for (int g = 0; g < 4; g++)
        node.left[g] = WEIR_ONE;
    CHECK_I64(weir_lookahead_create(&rules, NULL, &ahead), WEIR_OK);
    CHECK_I64(weir_lookahead_follow(ahead, &mix), WEIR_OK);
    const double deep = weir_lookahead_lost(ahead, &node);
    for (uint32_t depth = 1; depth <= 1000; depth *= 10) {
        weir_lookahead_set_depth(ahead, depth);
        const double lost = weir_lookahead_lost(ahead, &node);
        CHECK(lost <= last);
        last = lost;
    }
    CHECK_NEAR(last, deep, 0.0);
    weir_lookahead_set_depth(ahead, 1);
    CHECK_NEAR(weir_lookahead_lost(ahead, &node), 4 - (0.75 * 1 + 0.25 * 4), 0.05);
    weir_lookahead_destroy(ahead);
}

static const struct test tests[] = {
    { "the share of large jobs is followed in steps",
      the_share_of_large_jobs_is_followed_in_steps },
    { "slack goes as small jobs find no place", slack_goes_as_small_jobs_find_no_place },
    { "a shorter look-ahead sees more idle", a_shorter_look_ahead_sees_more_idle },
};

TEST_MAIN(tests)
