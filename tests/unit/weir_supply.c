/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The placement policy weir where many nodes wait for the same jobs: how many come in the
 * look-ahead, and that this is saved.
 */
#include "sched/cluster/state.h"
#include "sched/placement/parts/lookahead.h"
#include "sched/placement/policies.h"
#include "tests/support/check.h"

#include <string.h>

enum { NODES = 10, GPUS = 4, NUMBERS = 500, LINES = 8 };

static const int64_t milli = WEIR_ONE / 1000;

static struct weir_shape share(int64_t gpu_milli, uint32_t types)
{
    return (struct weir_shape){ .kind = WEIR_SHAPE_FRACTIONAL,
                                .gpu_count = 1,
                                .gpu_type = types == 0 ? 0 : WEIR_GPU_TYPE_SET | types,
                                .cpu_units = WEIR_ONE,
                                .gpu_units = gpu_milli * milli };
}

/* Nodes of so many GPUs each, every other node of type 1, and of 16 CPUs for each. */
static struct weir_cluster *whole_nodes(uint32_t count, uint32_t gpus)
{
    struct weir_cluster *cluster = NULL;
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < count; n++) {
        const struct weir_gpu_spec gpu = { .type = n % 2, .units = WEIR_ONE };
        const struct weir_gpu_spec all[GPUS] = { gpu, gpu, gpu, gpu };
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = gpus,
                                             .cpu_units = 8 * WEIR_ONE * gpus,
                                             .gpus = all };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

/* Nodes of a GPU each of which `left` thousandths are free. */
static struct weir_cluster *nodes_with(int64_t left)
{
    const struct weir_alloc taken = { .device_count = 1,
                                      .devices = { { .units = (1000 - left) * milli } } };
    struct weir_cluster *const cluster = whole_nodes(NODES, 1);
    for (uint32_t n = 0; n < NODES; n++) {
        struct weir_alloc alloc = taken;
        alloc.node = n;
        if (left < 1000)
            CHECK_I64(weir_cluster_add_worker(cluster, n, weir_pool_owner(0), &alloc, NULL),
                      WEIR_OK);
    }
    return cluster;
}

static struct weir_lookahead *look(double supply, const struct weir_mix *mix)
{
    const struct weir_lookahead_rules rules = { .lines = LINES, .depth = 100, .supply = supply };
    struct weir_lookahead *ahead = NULL;
    CHECK_I64(weir_lookahead_create(&rules, NULL, &ahead), WEIR_OK);
    CHECK_I64(weir_lookahead_follow(ahead, mix), WEIR_OK);
    return ahead;
}

static double lost_of(struct weir_lookahead *ahead, const struct weir_cluster *cluster,
                      uint32_t node)
{
    struct weir_outlook outlook;
    weir_outlook_load(cluster, node, &outlook);
    return weir_lookahead_lost(ahead, &outlook);
}

/* Ten holes of 0.15 want the same small job. 1.5 GPUs are free, a job has half a GPU on average:
 * three arrivals, 1.5 of them small, times `supply`. */
static void a_hole_that_all_wait_for_is_not_taken_for_filled(void)
{
    const struct weir_shape shapes[2] = { share(850, 0), share(150, 0) };
    const double frequencies[2] = { 0.5, 0.5 };
    const struct weir_mix mix = { shapes, frequencies, 2, 0 };
    /* supply, share of departures, lines without the small job */
    static const double cases[][3] = { { 0, 0, 0 }, { 1, 0, 7 },     { 3, 0, 4 },
                                       { 7, 0, 0 }, { 1, 0.125, 6 }, { 1, 1, 0 } };
    struct weir_cluster *const cluster = nodes_with(150);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct weir_lookahead *const ahead = look(cases[c][0], &mix);
        const uint64_t round = weir_lookahead_round(ahead);
        CHECK_NEAR(lost_of(ahead, cluster, 0), 0, 0.0);
        CHECK_I64(weir_lookahead_share(ahead, cluster, cases[c][1]), WEIR_OK);
        CHECK_NEAR(lost_of(ahead, cluster, 0), cases[c][2] / LINES * 0.15, 1e-9);
        CHECK(weir_lookahead_round(ahead) > round || !(cases[c][2] > 0));
        weir_lookahead_destroy(ahead);
    }
    weir_cluster_destroy(cluster);
}

static void ask(void *state, const struct weir_cluster *cluster, const struct weir_mix *mix,
                uint64_t id, const struct weir_shape *shape, struct weir_place_answer *answer)
{
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = cluster,
                                            .mix = mix,
                                            .shape = shape,
                                            .owner = weir_job_owner(0, id) };
    memset(answer, 0, sizeof *answer);
    if (weir_placement_weir.place(state, &query, answer, NULL) != WEIR_OK)
        answer->alloc.node = WEIR_NO_INDEX;
}

/* A mix whose small jobs are too few for the holes of the large ones: they go together, or no GPU
 * is left for jobs of whole ones. */
static void few_small_jobs_do_not_break_a_gpu_on_every_node(void)
{
    enum { COUNT = 40, JOBS = 300 };
    static const double frequencies[3] = { 0.45, 0.45, 0.1 };
    struct weir_shape shapes[3] = { share(1000, 0), share(150, 0), share(750, 0) };
    const struct weir_mix mix = { shapes, frequencies, 3, 0 };
    shapes[0].kind = WEIR_SHAPE_WHOLE;
    struct weir_cluster *const cluster = whole_nodes(COUNT, GPUS);
    struct weir_place_answer answer;
    uint64_t draws = 1;
    double placed = 0;
    void *state = NULL;
    CHECK_I64(weir_placement_weir.create(NULL, NULL, &state, NULL), WEIR_OK);
    for (uint32_t i = 0; i < JOBS; i++) {
        draws = draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint32_t draw = (uint32_t)(draws >> 33) % 100;
        const uint32_t kind = draw < 45 ? 0 : draw < 90 ? 1 : 2;
        ask(state, cluster, &mix, i, &shapes[kind], &answer);
        if (answer.alloc.node == WEIR_NO_INDEX)
            continue;
        CHECK_I64(weir_cluster_add_worker(cluster, i, weir_pool_owner(0), &answer.alloc, NULL),
                  WEIR_OK);
        placed += weir_units_amount(shapes[kind].gpu_units);
    }
    CHECK(placed > 0.93 * COUNT * GPUS);
    weir_placement_weir.destroy(state);
    weir_cluster_destroy(cluster);
}

/* Shares stay until the free GPUs have changed by a fifth. */
static void who_comes_by_is_found_anew_as_room_changes(void)
{
    const struct weir_shape shapes[2] = { share(850, 0), share(150, 0) };
    const double frequencies[2] = { 0.5, 0.5 };
    const struct weir_mix mix = { shapes, frequencies, 2, 0 };
    struct weir_cluster *const cluster = nodes_with(150);
    struct weir_lookahead *const ahead = look(1, &mix);
    CHECK_I64(weir_lookahead_share(ahead, cluster, 0), WEIR_OK);
    const uint64_t round = weir_lookahead_round(ahead);
    CHECK_I64(weir_cluster_remove_worker(cluster, 0, NULL), WEIR_OK); /* 2.35 free */
    CHECK_I64(weir_lookahead_share(ahead, cluster, 0), WEIR_OK);
    CHECK(weir_lookahead_round(ahead) > round); /* nine holes for three of them now */
    CHECK_NEAR(lost_of(ahead, cluster, 1), 6.0 / LINES * 0.15, 1e-9);
    weir_lookahead_destroy(ahead);
    weir_cluster_destroy(cluster);
}

/* Type 1 is for those who insist on it, half of what comes. */
static void jobs_do_not_come_to_what_is_kept_for_others(void)
{
    const struct weir_shape any = share(500, 0);
    const struct weir_shape shapes[2] = { share(500, 0), share(400, 2) };
    const double frequencies[2] = { 0.5, 0.5 };
    const struct weir_mix mix = { shapes, frequencies, 2, 0 };
    const double one = 1;
    const uint32_t kept = WEIR_GPU_TYPE_SET | 2, single = 2;
    struct weir_cluster *const cluster = nodes_with(1000);
    struct weir_lookahead *const ahead = look(0, &mix);
    CHECK(lost_of(ahead, cluster, 1) < 0.15); /* 0, 0.1 or 0.2 by who comes first */
    weir_lookahead_reserve(ahead, &kept, 1);
    CHECK_NEAR(lost_of(ahead, cluster, 1), 0.2, 1e-9); /* twice 0.4 */
    CHECK_NEAR(lost_of(ahead, cluster, 0), 0, 1e-9);
    const uint64_t round = weir_lookahead_round(ahead);
    weir_lookahead_reserve(ahead, &kept, 1);
    CHECK_I64(weir_lookahead_round(ahead), round);
    CHECK_I64(weir_lookahead_follow(ahead, &(struct weir_mix){ &any, &one, 1, 0 }), WEIR_OK);
    weir_lookahead_reserve(ahead, &single, 1); /* as a single type is told */
    CHECK_NEAR(lost_of(ahead, cluster, 1), 1, 1e-9);
    weir_lookahead_reserve(ahead, &single, 0);
    CHECK_NEAR(lost_of(ahead, cluster, 1), 0, 1e-9);
    weir_lookahead_destroy(ahead);
    weir_cluster_destroy(cluster);
}

/* ---- from one scheduler to the next ---- */

/* covers: S0.8 */
static void who_comes_by_is_saved_and_restored(void)
{
    static const double frequencies[4] = { 0.4, 0.2, 0.2, 0.2 };
    const struct weir_shape shapes[4] = { share(550, 0), share(350, 0), share(150, 0),
                                          share(450, 2) };
    const struct weir_mix mix = { shapes, frequencies, 4, 0 };
    struct weir_cluster *const cluster = nodes_with(1000);
    const struct weir_placement_ops *const ops = &weir_placement_weir;
    void *first = NULL;
    double numbers[NUMBERS];
    CHECK_I64(ops->create(NULL, NULL, &first, NULL), WEIR_OK);
    for (uint64_t id = 1; id <= 20; id++) {
        struct weir_place_answer answer, same;
        void *second = NULL;
        CHECK_I64(ops->create(NULL, NULL, &second, NULL), WEIR_OK);
        const uint32_t count = ops->save(first, numbers, NUMBERS);
        CHECK(count > 0 && count <= NUMBERS);
        CHECK_I64(ops->save(first, NULL, 0), count);
        CHECK_I64(ops->restore(second, NULL, numbers, count, NULL), WEIR_OK);
        ask(first, cluster, &mix, id, &shapes[(id * 7) % 4], &answer);
        ask(second, cluster, &mix, id, &shapes[(id * 7) % 4], &same);
        CHECK_I64(same.alloc.node, answer.alloc.node);
        CHECK_NEAR(same.choice.primary, answer.choice.primary, 0.0);
        ops->destroy(second);
        if (answer.alloc.node != WEIR_NO_INDEX)
            CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(0), &answer.alloc, NULL),
                      WEIR_OK);
    }
    const uint32_t own = (uint32_t)-numbers[0];
    const uint32_t count = ops->save(first, numbers, NUMBERS);
    CHECK(own > 2);
    CHECK_I64(ops->restore(first, NULL, numbers + own, count - own, NULL), WEIR_OK); /* as once */
    numbers[2] = 1.5; /* more than all of them */
    CHECK_I64(ops->restore(first, NULL, numbers, count, NULL), WEIR_EFORMAT);
    numbers[2] = 1;
    numbers[0] = -(double)count - 1;
    CHECK_I64(ops->restore(first, NULL, numbers, count, NULL), WEIR_EFORMAT);
    ops->destroy(first);
    weir_cluster_destroy(cluster);
}

/* Half of the first of two GPUs is free. A job of 0.6 would waste the rest of the second. */
static void others_are_kept_out_as_far_as_that_counts(void)
{
    const struct weir_shape shapes[] = { share(500, 0), share(600, 0) };
    const double frequencies[] = { 0.7, 0.3 };
    const struct weir_mix mix = { shapes, frequencies, 2, 0 };
    struct weir_ahead_rules rules = { .ahead = look(0, &mix), .step = 0.05, .prevent = 1 };
    struct weir_cluster *const cluster = whole_nodes(2, 1);
    const struct weir_alloc half = { .device_count = 1, .devices = { { .units = 500 * milli } } };
    struct weir_grade_site sites[2];
    CHECK_I64(weir_cluster_add_worker(cluster, 0, weir_pool_owner(0), &half, NULL), WEIR_OK);
    for (uint32_t n = 0; n < 2; n++)
        sites[n] = (struct weir_grade_site){
            .cluster = cluster, .shape = &shapes[0], .mix = &mix, .node = n
        };
    CHECK(weir_ahead_grade(&rules, &sites[1]).value > weir_ahead_grade(&rules, &sites[0]).value);
    rules.prevent = 0;
    CHECK(weir_ahead_grade(&rules, &sites[0]).value > weir_ahead_grade(&rules, &sites[1]).value);
    weir_lookahead_destroy(rules.ahead);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "a hole that all wait for is not taken for filled",
      a_hole_that_all_wait_for_is_not_taken_for_filled },
    { "few small jobs do not break a GPU on every node",
      few_small_jobs_do_not_break_a_gpu_on_every_node },
    { "who comes by is found anew as room changes", who_comes_by_is_found_anew_as_room_changes },
    { "jobs do not come to what is kept for others", jobs_do_not_come_to_what_is_kept_for_others },
    { "others are kept out as far as that counts", others_are_kept_out_as_far_as_that_counts },
    { "who comes by is saved and restored", who_comes_by_is_saved_and_restored },
};

TEST_MAIN(tests)
