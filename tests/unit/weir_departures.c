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

/* A cluster of four GPUs where forty workers, that need none, come and go. */
static struct crowd crowd_of_four(const struct weir_scarce_rules *rules)
{
    struct crowd crowd = { .mix = { .count = 0 } };
    struct weir_gpu_spec gpus[4] = { { .units = WEIR_ONE } };
    const struct weir_node_spec node = {
        .size = sizeof node, .gpu_count = 4, .cpu_units = 64 * WEIR_ONE, .gpus = gpus
    };
    for (int g = 1; g < 4; g++)
        gpus[g] = gpus[0];
    CHECK_I64(weir_cluster_create(NULL, &crowd.cluster), WEIR_OK);
    CHECK_I64(weir_scarce_create(rules, NULL, &crowd.scarce), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(crowd.cluster, &node, NULL, NULL), WEIR_OK);
    return crowd;
}

/* Jobs number `first` to `end` ask, each as the next of the shapes, while others come and go. */
/* Three came and two went between two questions; and the numbers go to another one meanwhile. */
static void who_went_since_the_latest_question_is_saved(void)
{
    const struct weir_scarce_rules rules = { .price = 3, .horizon = 1 };
    const struct weir_shape small = whole_gpus(1);
    const struct weir_node_spec node = { .size = sizeof node, .cpu_units = 9 * WEIR_ONE };
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };
    struct crowd crowd = { .mix = { .count = 0 } };
    struct weir_scarce *first = NULL;
    struct weir_scarce *second = NULL;
    double numbers[64];
    CHECK_I64(weir_cluster_create(NULL, &crowd.cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(crowd.cluster, &node, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_scarce_create(&rules, NULL, &first), WEIR_OK);
    CHECK_I64(weir_scarce_create(&rules, NULL, &second), WEIR_OK);
    crowd.scarce = first;
    ask(&crowd, &small, 1, true);
    for (uint64_t id = 1; id < 4; id++)
        CHECK_I64(weir_cluster_add_worker(crowd.cluster, id, weir_pool_owner(0), &alloc, NULL),
                  WEIR_OK);
    for (uint64_t id = 1; id < 3; id++)
        CHECK_I64(weir_cluster_remove_worker(crowd.cluster, id, NULL), WEIR_OK);
    const uint32_t count = weir_scarce_save(first, numbers, 64);
    CHECK_I64(weir_scarce_restore(second, numbers, count, NULL), WEIR_OK);
    ask(&crowd, &small, 2, true);
    crowd.scarce = second;
    ask(&crowd, &small, 2, true);
    CHECK(weir_scarce_departures(first) > 0);
    CHECK_NEAR(weir_scarce_departures(second), weir_scarce_departures(first), 0.0);
    weir_scarce_destroy(first);
    weir_scarce_destroy(second);
    weir_cluster_destroy(crowd.cluster);
}

static void ask_in_turn(struct crowd *crowd, const struct weir_shape *shapes, uint64_t count,
                        uint64_t first, uint64_t end, bool is_placed)
{
    const struct weir_alloc small = { .cpu_units = WEIR_ONE };
    for (uint64_t id = first; id < end; id++) {
        CHECK_I64(weir_cluster_add_worker(crowd->cluster, id, weir_pool_owner(0), &small, NULL),
                  WEIR_OK);
        if (id >= 40)
            CHECK_I64(weir_cluster_remove_worker(crowd->cluster, id - 40, NULL), WEIR_OK);
        ask(crowd, &shapes[id % count], id, is_placed);
    }
}

/* GPUs of a type, of which too many jobs have need: while all others find a place it is nothing to
 * them to go elsewhere. Large ones that do not end that, and small ones what is left of the price.
 */
static void types_cost_most_while_others_find_a_place(void)
{
    const struct weir_scarce_rules rules = { .price = 2, .horizon = 1, .crowded = 0.1 };
    struct weir_shape shapes[2] = { whole_gpus(1), whole_gpus(1) };
    const struct weir_shape large = whole_gpus(4);
    struct crowd crowd = crowd_of_four(&rules);
    uint32_t count = 0;
    shapes[1].gpu_type = 1;
    const struct weir_claim *const claim = weir_scarce_claims(crowd.scarce, &count);
    ask_in_turn(&crowd, shapes, 2, 0, 400, true);
    CHECK_NEAR(weir_scarce_departures(crowd.scarce), 1, 0.0);
    CHECK_NEAR(claim->price, 8, 0.1);
    ask_in_turn(&crowd, &large, 1, 400, 410, false);
    CHECK_NEAR(weir_scarce_slack(crowd.scarce), 1, 0.0);
    ask_in_turn(&crowd, &shapes[1], 1, 410, 411, true);
    CHECK_NEAR(claim->price, 2, 0.1);
    ask_in_turn(&crowd, shapes, 1, 411, 440, false);
    CHECK_NEAR(weir_scarce_slack(crowd.scarce), 0, 0.0);
    ask_in_turn(&crowd, &shapes[1], 1, 440, 441, true);
    CHECK_NEAR(claim->price, 1, 0.1);
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

/* A look-ahead as where as many jobs end as begin, with sequences of `depth` jobs. */
static struct weir_lookahead *look_at_turnover(const struct weir_mix *mix, uint32_t depth)
{
    const struct weir_lookahead_rules rules = { .lines = 16, .depth = 100, .beyond = 90 };
    struct weir_lookahead *ahead = NULL;
    struct weir_cluster *cluster = NULL;
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_lookahead_create(&rules, NULL, &ahead), WEIR_OK);
    CHECK_I64(weir_lookahead_follow(ahead, mix), WEIR_OK);
    CHECK_I64(weir_lookahead_share(ahead, cluster, 1), WEIR_OK);
    weir_lookahead_set_depth(ahead, depth);
    weir_cluster_destroy(cluster);
    return ahead;
}

/* Whole GPUs that everybody can use are not lost because nobody came yet. */
static void a_node_that_is_used_later_loses_nothing(void)
{
    const struct weir_shape shapes[1] = { whole_gpus(1) };
    const double frequencies[1] = { 1 };
    const struct weir_mix mix = { shapes, frequencies, 1, 0 };
    struct weir_outlook node = { .cpu_free = 64 * WEIR_ONE, .gpu_count = 8 };
    struct weir_lookahead *ahead = look_at_turnover(&mix, 2);
    for (int used = 0; used <= 8; used++) {
        for (int g = 0; g < 8; g++)
            node.left[g] = g < used ? 0 : WEIR_ONE;
        CHECK_NEAR(weir_lookahead_lost(ahead, &node), 0, 1e-12);
    }
    weir_lookahead_destroy(ahead);
}

/* One job comes, a half or a whole GPU: of the half that the first leaves, half of the next jobs
 * can make no use. A job without CPUs to run on can use nothing. */
static void what_the_next_jobs_cannot_use_is_lost(void)
{
    struct weir_shape shapes[2] = { whole_gpus(1), whole_gpus(1) };
    const double frequencies[2] = { 0.5, 0.5 };
    const struct weir_mix mix = { shapes, frequencies, 2, 0 };
    struct weir_outlook node = { .cpu_free = 64 * WEIR_ONE, .gpu_count = 1, .left = { WEIR_ONE } };
    shapes[0].kind = WEIR_SHAPE_FRACTIONAL;
    shapes[0].gpu_units = WEIR_ONE / 2;
    struct weir_lookahead *ahead = look_at_turnover(&mix, 1);
    CHECK_NEAR(weir_lookahead_lost(ahead, &node), 0.5 * 0.5 * 0.5, 0.02);
    node.cpu_free = 0;
    CHECK_NEAR(weir_lookahead_lost(ahead, &node), 1, 1e-12);
    weir_lookahead_destroy(ahead);
}

static const struct test tests[] = {
    { "the share of large jobs is followed in steps",
      the_share_of_large_jobs_is_followed_in_steps },
    { "slack goes as small jobs find no place", slack_goes_as_small_jobs_find_no_place },
    { "types cost most while others find a place", types_cost_most_while_others_find_a_place },
    { "a shorter look-ahead sees more idle", a_shorter_look_ahead_sees_more_idle },
    { "a node that is used later loses nothing", a_node_that_is_used_later_loses_nothing },
    { "what the next jobs cannot use is lost", what_the_next_jobs_cannot_use_is_lost },
    { "who went since the latest question is saved", who_went_since_the_latest_question_is_saved },
};

TEST_MAIN(tests)
