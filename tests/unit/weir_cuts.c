/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The placement policy weir on GPUs that are cut into instances: what the look-ahead sees of them,
 * and which instance a job gets.
 */
#include "sched/placement/parts/candidates.h"
#include "sched/placement/parts/lookahead.h"
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"
#include "weir/policy.h"

#include <math.h>
#include <string.h>

enum { SLOT_6 = 6, GPUS = 3 };

static struct weir_shape slice_of(const struct weir_mig *table, const char *name)
{
    struct weir_request request = { .mig_slices_all = table->slices };
    struct weir_shape shape = { .kind = WEIR_SHAPE_CPU };
    uint32_t profile = 0;
    CHECK_I64(weir_mig_find(table, name, &profile, NULL), WEIR_OK);
    request.mig_slices = table->profiles[profile].slices;
    memcpy(request.mig_profile, table->profiles[profile].name, WEIR_MIG_NAME);
    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, NULL), WEIR_OK);
    return shape;
}

static struct weir_lookahead *look(bool is_plain, double departures, const struct weir_mix *mix)
{
    const struct weir_lookahead_rules rules = {
        .lines = 8, .depth = 60, .beyond = 40, .is_plain = is_plain
    };
    struct weir_lookahead *ahead = NULL;
    struct weir_cluster *cluster = NULL;
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_lookahead_create(&rules, NULL, &ahead), WEIR_OK);
    CHECK_I64(weir_lookahead_follow(ahead, mix), WEIR_OK);
    CHECK_I64(weir_lookahead_share(ahead, cluster, departures), WEIR_OK);
    weir_cluster_destroy(cluster);
    return ahead;
}

/* One GPU, cut (with an instance of one slice at `slot`, -1 = none) or not. */
static double lost_by(const struct weir_shape *shape, const struct weir_mig *table, int slot)
{
    const double all = 1;
    const struct weir_mix mix = { shape, &all, 1, 0 };
    struct weir_lookahead *const ahead = look(true, 0, &mix);
    struct weir_outlook node = {
        .cpu_free = 64 * WEIR_ONE, .gpu_count = 1, .has_cuts = table != NULL, .left = { WEIR_ONE }
    };
    uint32_t small = 0;
    node.tables[0] = table;
    if (slot >= 0) {
        CHECK_I64(weir_mig_find(table, "1g", &small, NULL), WEIR_OK);
        weir_outlook_give(&node, 0, small, (uint32_t)slot, 1);
    }
    const double lost = weir_lookahead_lost(ahead, &node);
    if (slot >= 0)
        weir_outlook_give(&node, 0, small, (uint32_t)slot, -1);
    CHECK(node.left[0] == WEIR_ONE && node.cuts[0].held == 0);
    weir_lookahead_destroy(ahead);
    return lost;
}

/* An instance at the lowest slot leaves none for a large one, at the highest it does; one of three
 * slices takes four slots. An instance is never on a whole GPU, nor a whole job on a cut one. */
static void where_an_instance_lies_decides_what_is_lost(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    const struct weir_shape one = slice_of(table, "1g");
    const struct weir_shape three = slice_of(table, "3g");
    const struct weir_shape four = slice_of(table, "4g");
    const struct weir_shape whole = { .kind = WEIR_SHAPE_WHOLE,
                                      .gpu_units = WEIR_ONE,
                                      .gpu_count = 1 };
    CHECK_NEAR(lost_by(&one, table, -1), 0, 1e-6);
    CHECK_NEAR(lost_by(&three, table, -1), 1 / 7.0, 1e-6);
    CHECK_NEAR(lost_by(&four, table, -1), 3 / 7.0, 1e-6);
    CHECK_NEAR(lost_by(&four, table, 0), 6 / 7.0, 1e-6);
    CHECK_NEAR(lost_by(&four, table, SLOT_6), 2 / 7.0, 1e-6);
    CHECK_NEAR(lost_by(&one, NULL, -1), 1, 1e-12);
    CHECK_NEAR(lost_by(&whole, table, -1), 1, 1e-12);
    CHECK_NEAR(lost_by(&whole, NULL, -1), 0, 1e-12);
}

/* Two jobs come, one or four slices each: both find room, whichever comes first, but four and four.
 */
static void small_instances_leave_room_for_large_ones(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    const struct weir_shape shapes[] = { slice_of(table, "1g"), slice_of(table, "4g") };
    const double parts[] = { 0.5, 0.5 };
    const struct weir_mix mix = { shapes, parts, 2, 0 };
    struct weir_lookahead *const ahead = look(true, 0, &mix);
    struct weir_outlook node = {
        .cpu_free = WEIR_ONE, .gpu_count = 1, .has_cuts = true, .left = { WEIR_ONE }
    };
    node.tables[0] = table;
    weir_lookahead_set_depth(ahead, 2);
    CHECK_NEAR(weir_lookahead_lost(ahead, &node), (5 + 2 + 2 + 3) / 4.0 / 7, 0.03);
    weir_lookahead_destroy(ahead);
}

/* Where jobs end: of the slices beside an instance of three at the lowest slot one is above a slot
 * that it takes, which those who come next cannot use. */
static void a_slice_that_nothing_covers_is_lost(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    const struct weir_shape shape = slice_of(table, "1g");
    const double all = 1;
    const struct weir_mix mix = { &shape, &all, 1, 0 };
    struct weir_lookahead *const ahead = look(true, 1, &mix);
    struct weir_outlook node = {
        .cpu_free = WEIR_ONE, .gpu_count = 1, .has_cuts = true, .left = { WEIR_ONE }
    };
    uint32_t three = 0;
    node.tables[0] = table;
    CHECK_I64(weir_mig_find(table, "3g", &three, NULL), WEIR_OK);
    weir_outlook_give(&node, 0, three, 0, 1);
    weir_lookahead_set_depth(ahead, 1);
    CHECK_NEAR(weir_lookahead_lost(ahead, &node), 1 / 7.0, 1e-6);
    weir_lookahead_destroy(ahead);
}

static uint32_t next_draw(uint64_t *state, uint32_t count)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % count;
}

/* Up to three GPUs, some of them cut, on which instances have been given out at random. */
static struct weir_outlook random_node(const struct weir_mig *table, uint64_t *draws)
{
    struct weir_outlook node = { .cpu_free = next_draw(draws, 32) * WEIR_ONE,
                                 .gpu_count = 1 + next_draw(draws, GPUS) };
    for (uint32_t g = 0; g < node.gpu_count; g++) {
        node.left[g] = WEIR_ONE;
        node.tables[g] = next_draw(draws, 4) > 0 ? table : NULL;
        node.has_cuts |= node.tables[g] != NULL;
        for (int i = 0; i < 5 && node.tables[g] != NULL; i++) {
            const uint32_t profile = next_draw(draws, table->profile_count);
            const uint32_t start = next_draw(draws, table->slots);
            if (weir_mig_free(table, node.cuts[g], profile, start))
                weir_outlook_give(&node, g, profile, start, 1);
        }
        if (next_draw(draws, 4) == 0) /* nothing more is made */
            node.cuts[g].cut = node.cuts[g].held;
    }
    return node;
}

static void kept_values_equal_plain_ones(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    const struct weir_shape shapes[] = {
        slice_of(table, "1g"),
        slice_of(table, "2g"),
        slice_of(table, "4g"),
        slice_of(table, "7g"),
        { .kind = WEIR_SHAPE_WHOLE, .cpu_units = WEIR_ONE, .gpu_units = WEIR_ONE, .gpu_count = 1 }
    };
    const double parts[] = { 0.4, 0.3, 0.1, 0.1, 0.1 };
    const struct weir_mix mix = { shapes, parts, 5, 0 };
    for (int departures = 0; departures <= 1; departures++) {
        struct weir_lookahead *const kept = look(false, departures, &mix);
        struct weir_lookahead *const plain = look(true, departures, &mix);
        uint64_t draws = 3;
        double sum = 0;
        weir_lookahead_set_depth(kept, departures ? 4 : 60);
        weir_lookahead_set_depth(plain, departures ? 4 : 60);
        for (int i = 0; i < 1500; i++) {
            const struct weir_outlook node = random_node(table, &draws);
            const double lost = weir_lookahead_lost(plain, &node);
            CHECK_NEAR(weir_lookahead_lost(kept, &node), lost, 0.0);
            CHECK_NEAR(weir_lookahead_lost(kept, &node), lost, 0.0);
            sum += lost;
        }
        CHECK(sum > 100);
        weir_lookahead_destroy(kept);
        weir_lookahead_destroy(plain);
    }
}

/* ---- the policy ---- */

static struct weir_cluster *cluster_of(const struct weir_mig *table, uint32_t nodes)
{
    struct weir_gpu_spec gpus[GPUS];
    struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                   .gpu_count = GPUS,
                                   .cpu_units = 64 * WEIR_ONE,
                                   .gpus = gpus };
    struct weir_cluster *cluster = NULL;
    for (uint32_t g = 0; g < GPUS; g++)
        gpus[g] = (struct weir_gpu_spec){
            .nvdecs = 7, .units = WEIR_ONE, .mem_bytes = INT64_C(80000000000), .mig = table
        };
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < nodes; n++) {
        spec.id = n;
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

/* The best of all places on the node, by the formula. */
static double best_by_hand(const struct weir_ahead_rules *rules, const struct weir_grade_site *site)
{
    double best = -(double)INFINITY;
    for (uint32_t g = 0; g < GPUS; g++) {
        const struct weir_gpu *const gpu = weir_cluster_gpu(site->cluster, site->node, g);
        struct weir_slice_place places[WEIR_MIG_SLOTS];
        const uint32_t count = weir_slice_places(gpu, site->shape, true, places);
        for (uint32_t i = 0; i < count; i++) {
            struct weir_outlook node;
            weir_outlook_load(site->cluster, site->node, &node);
            double gain = weir_lookahead_lost(rules->ahead, &node);
            double broken = 0;
            for (uint32_t k = 0; k < GPUS; k++)
                broken -= node.left[k] < WEIR_ONE ? weir_units_amount(node.left[k]) : 0;
            weir_outlook_give(&node, g, places[i].profile, places[i].start, 1);
            node.cpu_free -= site->shape->cpu_units;
            for (uint32_t k = 0; k < GPUS; k++)
                broken += node.left[k] < WEIR_ONE ? weir_units_amount(node.left[k]) : 0;
            gain -= weir_lookahead_lost(rules->ahead, &node) + rules->broken * broken +
                    rules->tight * weir_units_amount(gpu->units_free);
            best = fmax(best, rint(gain / rules->step));
        }
    }
    return best;
}

static void an_instance_is_worth_its_best_place(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    const struct weir_shape shapes[] = { slice_of(table, "1g"), slice_of(table, "2g"),
                                         slice_of(table, "3g"), slice_of(table, "7g") };
    const double parts[] = { 0.4, 0.3, 0.2, 0.1 };
    const struct weir_mix mix = { shapes, parts, 4, 0 };
    const struct weir_ahead_rules rules = {
        .ahead = look(true, 1, &mix), .step = 0.05, .broken = 0.4, .tight = 0.3, .prevent = 8
    };
    struct weir_cluster *const cluster = cluster_of(table, 4);
    uint64_t draws = 8;
    uint32_t graded = 0;
    for (uint64_t id = 0; id < 400; id++) {
        const struct weir_grade_site site = { .cluster = cluster,
                                              .shape = &shapes[next_draw(&draws, 4)],
                                              .mix = &mix,
                                              .node = next_draw(&draws, 4) };
        struct weir_alloc alloc = { 0 };
        uint64_t worker = 0;
        if (id % 3 == 2 && weir_cluster_node_worker_id(cluster, site.node, &worker))
            CHECK_I64(weir_cluster_remove_worker(cluster, worker, NULL), WEIR_OK);
        if (weir_candidates_reason(cluster, site.shape, site.node) != WEIR_REASON_NONE)
            continue;
        const struct weir_grade grade = weir_ahead_grade(&rules, &site);
        CHECK_NEAR(floor(grade.value), best_by_hand(&rules, &site), 0.0);
        graded++;
        const struct weir_device chosen = { .gpu = grade.gpu, .mig = grade.mig };
        alloc.node = site.node;
        alloc.device_count = 1;
        alloc.devices[0] = chosen;
        alloc.devices[0].units = weir_mig_units(table, weir_device_profile(&chosen));
        alloc.devices[0].mem_bytes = table->profiles[weir_device_profile(&chosen)].mem_bytes;
        CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    }
    CHECK(graded > 150);
    weir_lookahead_destroy(rules.ahead);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "where an instance lies decides what is lost", where_an_instance_lies_decides_what_is_lost },
    { "small instances leave room for large ones", small_instances_leave_room_for_large_ones },
    { "a slice that nothing covers is lost", a_slice_that_nothing_covers_is_lost },
    { "kept values equal plain ones", kept_values_equal_plain_ones },
    { "an instance is worth its best place", an_instance_is_worth_its_best_place },
};

TEST_MAIN(tests)
