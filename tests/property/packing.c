/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement policies as packing heuristics, against the exact optimum of small problems, and random
 * placement groups against their rules.
 */
#include "tests/support/check.h"
#include "tests/support/oracle_packing.h"
#include "weir/group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 10000, VECTOR_CASES = 400, GROUP_CASES = 600, BUNDLES = 6 };

static uint32_t roll(uint64_t *state, uint32_t count)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % count;
}

/* ---- packing by a placement policy ---- */

/* One resource a CPU, then GPUs, then bytes of memory. */
static struct weir_cluster *bins(size_t count, const struct packing_item *capacity)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[8];

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (int g = 0; g < 8; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    for (size_t n = 0; n < count; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = (uint32_t)capacity->amount[1],
                                             .cpu_units = capacity->amount[0] * WEIR_ONE,
                                             .ram_bytes = capacity->amount[2],
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

static struct weir_shape shape_of(const struct packing_item *item)
{
    const uint32_t gpus = (uint32_t)item->amount[1];

    return (struct weir_shape){ .kind = gpus > 0 ? WEIR_SHAPE_WHOLE : WEIR_SHAPE_CPU,
                                .gpu_count = gpus,
                                .cpu_units = item->amount[0] * WEIR_ONE,
                                .gpu_units = gpus > 0 ? WEIR_ONE : 0,
                                .ram_bytes = item->amount[2] };
}

/* Bins a policy needs when items come in this order; nodes are offered one more at a time, so that
 * none is opened before an item fits none that is open. */
static size_t bins_used(const char *policy, const struct packing_item *items, size_t count,
                        const struct packing_item *capacity)
{
    struct weir_cluster *const cluster = bins(count, capacity);
    struct weir_chooser *chooser = NULL;
    const double even = 1;
    size_t open = 0;

    CHECK_I64(weir_chooser_create(weir_placement_find(policy), NULL, NULL, &chooser, NULL),
              WEIR_OK);
    for (uint32_t n = 0; n < count; n++)
        CHECK_I64(weir_cluster_set_node_flags(cluster, n, 0), WEIR_OK);
    for (size_t i = 0; i < count; i++) {
        const struct weir_shape shape = shape_of(&items[i]);
        const struct weir_mix mix = { .shapes = &shape, .frequencies = &even, .count = 1 };
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = cluster,
                                                .mix = &mix,
                                                .shape = &shape,
                                                .seed = i };
        struct weir_place_answer answer;
        if (weir_chooser_place(chooser, &query, &answer, NULL) != WEIR_OK) {
            CHECK_I64(weir_cluster_set_node_flags(cluster, (uint32_t)open++, WEIR_NODE_UP),
                      WEIR_OK);
            CHECK_I64(weir_chooser_place(chooser, &query, &answer, NULL), WEIR_OK);
        }
        CHECK_I64(weir_cluster_add_worker(cluster, i + 1, weir_pool_owner(0), &answer.alloc, NULL),
                  WEIR_OK);
    }
    weir_chooser_destroy(chooser);
    weir_cluster_destroy(cluster);
    return open;
}

static int larger_first(const void *left, const void *right)
{
    const struct packing_item *a = left;
    const struct packing_item *b = right;

    for (int r = 0; r < PACKING_RESOURCES; r++) {
        if (a->amount[r] != b->amount[r])
            return a->amount[r] > b->amount[r] ? -1 : 1;
    }
    return 0;
}

static void textbook_items_take_the_known_bins(void)
{
    static const int64_t sizes[] = { 5, 7, 5, 2, 4, 2, 5, 1, 6 };
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    const struct packing_item capacity = { { 10, 0, 0 } };
    struct packing_item items[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        items[i] = (struct packing_item){ { sizes[i], 0, 0 } };
    CHECK_I64(packing_optimum(items, COUNT, &capacity), 4);
    CHECK_I64(bins_used("first_fit", items, COUNT, &capacity), 5);
    CHECK_I64(bins_used("best_fit", items, COUNT, &capacity), 5);
    qsort(items, COUNT, sizeof items[0], larger_first);
    CHECK_I64(bins_used("first_fit", items, COUNT, &capacity), 4);
    CHECK_I64(bins_used("best_fit", items, COUNT, &capacity), 4);
}

/* Larger items first: at most 11/9 OPT + 6/9 (Dosa 2007), and so 11/9 OPT + 1.
 * covers: S1.16 */
static void first_fit_decreasing_keeps_its_bound(void)
{
    const struct packing_item capacity = { { 100, 0, 0 } };
    uint64_t state = 7;
    uint32_t beyond = 0;
    double ratios = 0;
    double worst = 0;

    for (int c = 0; c < CASES; c++) {
        struct packing_item items[PACKING_ITEMS];
        const size_t count = 1 + roll(&state, PACKING_ITEMS);
        const uint32_t largest = 10 + roll(&state, 91);
        for (size_t i = 0; i < count; i++)
            items[i] = (struct packing_item){ { 1 + roll(&state, largest), 0, 0 } };
        qsort(items, count, sizeof items[0], larger_first);
        const double used = (double)bins_used("first_fit", items, count, &capacity);
        const double optimum = (double)packing_optimum(items, count, &capacity);
        beyond += used < optimum || used > 11.0 / 9 * optimum + 1 ? 1 : 0;
        ratios += used / optimum;
        worst = fmax(worst, used / optimum);
    }
    CHECK_I64(beyond, 0);
    printf("    first fit decreasing: %.4f of the optimum, worst %.3f, %d cases\n", ratios / CASES,
           worst, CASES);
}

/* covers: S1.16 S1.14 S1.32 */
static void no_policy_beats_the_optimum_of_vector_packing(void)
{
    static const char *const policies[] = { "first_fit", "best_fit",  "worst_fit",
                                            "fgd",       "alignment", "dot_product" };
    enum { POLICIES = sizeof policies / sizeof policies[0] };
    const struct packing_item capacity = { { 32, 8, 256 } };
    double ratios[POLICIES] = { 0 };
    uint64_t state = 11;
    uint32_t beaten = 0;

    for (int c = 0; c < VECTOR_CASES; c++) {
        struct packing_item items[PACKING_ITEMS];
        const size_t count = 4 + roll(&state, PACKING_ITEMS - 3);
        for (size_t i = 0; i < count; i++)
            items[i] = (struct packing_item){ { 1 + roll(&state, 16), roll(&state, 5),
                                                1 + roll(&state, 128) } };
        const double optimum = (double)packing_optimum(items, count, &capacity);
        for (int p = 0; p < POLICIES; p++) {
            const double used = (double)bins_used(policies[p], items, count, &capacity);
            beaten += used < optimum ? 1 : 0;
            ratios[p] += used / optimum / VECTOR_CASES;
        }
    }
    CHECK_I64(beaten, 0);
    for (int p = 0; p < POLICIES; p++) {
        printf("    %s: %.3f of the optimum\n", policies[p], ratios[p]);
        CHECK(ratios[p] < 1.25);
    }
}

/* ---- groups ---- */

static struct weir_shape random_bundle(uint64_t *state)
{
    const uint32_t kind = roll(state, 4);
    struct weir_shape shape = { .kind = WEIR_SHAPE_CPU,
                                .cpu_units = (1 + roll(state, 3)) * WEIR_ONE };

    if (kind == 0)
        return shape;
    shape.kind = kind == 1 ? WEIR_SHAPE_WHOLE : WEIR_SHAPE_FRACTIONAL;
    shape.gpu_count = kind == 1 ? 1 + roll(state, 2) : 1;
    shape.gpu_units = kind == 1 ? WEIR_ONE : (1 + roll(state, 9)) * WEIR_ONE / 10;
    return shape;
}

static uint32_t nodes_used(const struct weir_alloc *allocs, uint32_t count)
{
    uint32_t different = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool is_new = true;
        for (uint32_t j = 0; j < i; j++)
            is_new &= allocs[j].node != allocs[i].node;
        different += is_new ? 1 : 0;
    }
    return different;
}

/* The places of a group that was placed: all can be taken, on as many nodes as its rule says. */
static void check_group(struct weir_cluster *cluster, const struct weir_group_query *query,
                        const struct weir_alloc *allocs, uint64_t *next_worker)
{
    const uint32_t nodes = nodes_used(allocs, query->bundle_count);

    for (uint32_t i = 0; i < query->bundle_count; i++)
        CHECK_I64(weir_cluster_add_worker(cluster, (*next_worker)++, weir_pool_owner(0), &allocs[i],
                                          NULL),
                  WEIR_OK);
    if (query->strategy == WEIR_GROUP_STRICT_PACK)
        CHECK_I64(nodes, 1);
    if (query->strategy == WEIR_GROUP_STRICT_SPREAD)
        CHECK_I64(nodes, query->bundle_count);
}

static void groups_are_placed_whole_by_their_rule_or_leave_no_trace(void)
{
    uint64_t state = 3;
    uint32_t counts[3] = { 0 };

    for (int c = 0; c < GROUP_CASES; c++) {
        const struct packing_item capacity = { { 8, 2, 0 } };
        struct weir_cluster *const cluster = bins(2 + roll(&state, 4), &capacity);
        struct weir_chooser *chooser = NULL;
        uint64_t next_worker = 1;
        CHECK_I64(weir_chooser_create(weir_placement_find(c % 2 == 0 ? "fgd" : "best_fit"), NULL,
                                      NULL, &chooser, NULL),
                  WEIR_OK);
        for (int g = 0; g < 6; g++) {
            struct weir_shape bundles[BUNDLES];
            struct weir_alloc allocs[BUNDLES];
            struct weir_group_answer answer;
            const struct weir_mix mix = { .count = 0 };
            const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                                    .scratch = cluster,
                                                    .mix = &mix,
                                                    .bundles = bundles,
                                                    .bundle_count = 1 + roll(&state, BUNDLES),
                                                    .strategy = roll(&state, 4) };
            const uint32_t before = weir_cluster_worker_count(cluster);
            for (uint32_t i = 0; i < query.bundle_count; i++)
                bundles[i] = random_bundle(&state);
            const weir_status status = weir_group_place(roll(&state, 2) == 0 ? NULL : chooser,
                                                        &query, allocs, &answer, NULL);
            CHECK_I64(weir_cluster_worker_count(cluster), before);
            CHECK_I64(weir_cluster_check(cluster, NULL), WEIR_OK);
            CHECK(status == WEIR_OK || status == WEIR_EBUSY || status == WEIR_EINFEASIBLE);
            counts[status == WEIR_OK ? 0 : status == WEIR_EBUSY ? 1 : 2]++;
            if (status == WEIR_OK)
                check_group(cluster, &query, allocs, &next_worker);
        }
        weir_chooser_destroy(chooser);
        weir_cluster_destroy(cluster);
    }
    CHECK(counts[0] > 500 && counts[1] > 300 && counts[2] > 100);
}

static const struct test tests[] = {
    { "textbook items take the known bins", textbook_items_take_the_known_bins },
    { "first fit decreasing keeps its bound", first_fit_decreasing_keeps_its_bound },
    { "no policy beats the optimum of vector packing",
      no_policy_beats_the_optimum_of_vector_packing },
    { "groups are placed whole by their rule or leave no trace",
      groups_are_placed_whole_by_their_rule_or_leave_no_trace },
};
TEST_MAIN(tests)
