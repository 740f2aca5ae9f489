/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which GPU is cut anew, and into what (weir/partition.h), against the rule worked out plainly: on
 * random nodes, cut and held at random, some closed, some pending.
 */
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "weir/partition.h"

#include <string.h>

enum { NODES = 3, NODE_GPUS = 3, KINDS = 5, CASES = 1000 };

/* What a table's GPUs are asked for, what a layout brings. */
struct wish {
    const struct weir_mig *table;
    uint64_t unmet[WEIR_MIG_PROFILES];
    uint32_t wanted, known;
    weir_mig_layout best;
    int64_t filled, offered; /* of the best; -1 = there is none yet */
};

static struct weir_shape shape_of(const struct weir_mig *table, uint32_t profile)
{
    struct weir_request request = { .mig_slices = table->profiles[profile].slices,
                                    .mig_slices_all = table->slices };
    struct weir_shape shape = { .kind = WEIR_SHAPE_CPU };
    memcpy(request.mig_profile, table->profiles[profile].name, WEIR_MIG_NAME);
    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, NULL), WEIR_OK);
    return shape;
}

static bool weigh(void *state, weir_mig_layout layout)
{
    struct wish *wish = state;
    uint64_t count[WEIR_MIG_PROFILES] = { 0 };
    int64_t filled = 0;
    int64_t offered = 0;
    for (uint32_t s = 0; s < wish->table->slots; s++)
        if (weir_mig_at(layout, s) >= 0)
            count[weir_mig_at(layout, s)]++;
    for (uint32_t p = 0; p < wish->table->profile_count; p++) {
        const uint64_t used = count[p] < wish->unmet[p] ? count[p] : wish->unmet[p];
        filled += (int64_t)(used * wish->table->profiles[p].slices);
        offered += (int64_t)(count[p] * wish->table->profiles[p].slices);
    }
    if (filled > wish->filled || (filled == wish->filled && offered > wish->offered)) {
        wish->best = layout;
        wish->filled = filled;
        wish->offered = offered;
    }
    return true;
}

static bool is_pending(const struct weir_partition_query *query, uint32_t node, uint32_t gpu)
{
    bool found = false;
    for (uint32_t i = 0; i < query->pending_count; i++)
        found = found || (query->pending[i].node == node && query->pending[i].gpu == gpu);
    return found;
}

static void serve(struct wish *wish, weir_mig_layout layout)
{
    for (uint32_t s = 0; s < wish->table->slots; s++) {
        const int profile = weir_mig_at(layout, s);
        if (profile >= 0 && wish->unmet[profile] > 0)
            wish->unmet[profile]--;
    }
}

/* The instances of `layout` that nobody holds. */
static weir_mig_layout free_of(const struct weir_gpu *gpu)
{
    weir_mig_layout free = 0;
    for (uint32_t s = 0; s < gpu->mig->slots; s++)
        if (weir_mig_at(gpu->mig_state.cut, s) >= 0 && weir_mig_at(gpu->mig_state.held, s) < 0)
            free |= weir_mig_instance((uint32_t)weir_mig_at(gpu->mig_state.cut, s), s);
    return free;
}

static struct wish wish_of(const struct weir_partition_query *query, const struct weir_mig *table)
{
    struct wish wish = { .table = table, .filled = -1, .offered = -1 };
    for (uint32_t i = 0; i < query->shape_count; i++)
        for (uint32_t p = 0; p < table->profile_count; p++) {
            if (weir_shape_profiles(&query->shapes[i], table, false) != UINT32_C(1) << p)
                continue;
            wish.known |= UINT32_C(1) << p;
            wish.unmet[p] += query->waiting[i];
        }
    for (uint32_t n = 0; n < NODES; n++)
        for (uint32_t g = 0; g < NODE_GPUS; g++) {
            const struct weir_gpu *gpu = weir_cluster_gpu(query->cluster, n, g);
            if (gpu->is_closed == 0 && !is_pending(query, n, g))
                serve(&wish, free_of(gpu));
        }
    for (uint32_t i = 0; i < query->pending_count; i++)
        serve(&wish, query->pending[i].cut);
    for (uint32_t p = 0; p < table->profile_count; p++)
        wish.wanted |= wish.unmet[p] > 0 ? UINT32_C(1) << p : 0;
    if (wish.wanted == 0)
        return wish;
    (void)weir_mig_maximal(table, wish.wanted, weigh, &wish);
    for (uint32_t p = table->profile_count; p-- > 0;)
        for (uint32_t s = 0; (wish.known >> p & 1) != 0 && s < table->slots; s++)
            if (weir_mig_fits(table, wish.best, p, s))
                wish.best |= weir_mig_instance(p, s);
    return wish;
}

static int64_t slices_held(const struct weir_gpu *gpu)
{
    int64_t slices = 0;
    for (uint32_t s = 0; s < gpu->mig->slots; s++)
        if (weir_mig_at(gpu->mig_state.held, s) >= 0)
            slices += gpu->mig->profiles[weir_mig_at(gpu->mig_state.held, s)].slices;
    return slices;
}

/* The rule; false when nothing is worth it. */
static bool expected(const struct weir_partition_query *query, const struct weir_mig *table,
                     struct weir_partition_cut *cut)
{
    const struct wish wish = wish_of(query, table);
    int64_t most = (int64_t)query->min_gain - 1;
    for (uint32_t n = 0; n < NODES && wish.wanted != 0; n++)
        for (uint32_t g = 0; g < NODE_GPUS; g++) {
            const struct weir_gpu *gpu = weir_cluster_gpu(query->cluster, n, g);
            if (gpu->is_closed != 0 || is_pending(query, n, g) || gpu->mig_state.cut == wish.best ||
                wish.filled - slices_held(gpu) <= most)
                continue;
            most = wish.filled - slices_held(gpu);
            *cut = (struct weir_partition_cut){ .node = n, .gpu = g, .cut = wish.best };
        }
    return most >= (int64_t)query->min_gain;
}

/* ---- random cases ---- */

struct layouts {
    weir_mig_layout items[256];
    size_t count;
};

static bool collect(void *state, weir_mig_layout layout)
{
    struct layouts *all = state;
    all->items[all->count++] = layout;
    return all->count < sizeof all->items / sizeof all->items[0];
}

static struct weir_cluster *random_cluster(const struct weir_mig *table,
                                           const struct layouts *layouts, struct draws *draws)
{
    struct weir_cluster *cluster = NULL;
    uint64_t id = 1;
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++) {
        struct weir_gpu_spec gpus[NODE_GPUS];
        for (uint32_t g = 0; g < NODE_GPUS; g++)
            gpus[g] =
                (struct weir_gpu_spec){ .units = WEIR_ONE,
                                        .mig = table,
                                        .mig_cut =
                                            layouts->items[draws_below(draws, layouts->count)] };
        const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = NODE_GPUS,
                                             .cpu_units = WEIR_ONE,
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(cluster, &node, NULL, NULL), WEIR_OK);
        for (uint32_t g = 0; g < NODE_GPUS; g++) {
            for (uint32_t s = 0; s < table->slots; s++) {
                const int profile = weir_mig_at(gpus[g].mig_cut, s);
                struct weir_alloc alloc = { .node = n, .device_count = 1 };
                if (profile < 0 || !draws_one_in(draws, 3))
                    continue;
                alloc.devices[0] =
                    (struct weir_device){ .gpu = g,
                                          .mig = weir_device_instance((uint32_t)profile, s),
                                          .units = weir_mig_units(table, (uint32_t)profile),
                                          .mem_bytes = table->profiles[profile].mem_bytes };
                CHECK_I64(weir_cluster_add_worker(cluster, id++, weir_pool_owner(0), &alloc, NULL),
                          WEIR_OK);
            }
            if (draws_one_in(draws, 6))
                CHECK_I64(weir_cluster_close_gpu(cluster, n, g, true), WEIR_OK);
        }
    }
    return cluster;
}

/* One case; whether something was cut. */
static bool try_case(const struct weir_mig *table, const struct layouts *layouts,
                     struct draws *draws)
{
    struct weir_cluster *cluster = random_cluster(table, layouts, draws);
    struct weir_shape shapes[KINDS];
    uint64_t waiting[KINDS];
    const struct weir_partition_cut pending = {
        .node = (uint32_t)draws_below(draws, NODES),
        .gpu = (uint32_t)draws_below(draws, NODE_GPUS),
        .cut = layouts->items[draws_below(draws, layouts->count)]
    };
    for (uint32_t k = 0; k < KINDS; k++) {
        shapes[k] = shape_of(table, (uint32_t)draws_below(draws, table->profile_count));
        waiting[k] = draws_one_in(draws, 3) ? draws_below(draws, 12) : 0;
    }
    const struct weir_partition_query query = { .size = sizeof(struct weir_partition_query),
                                                .min_gain = 1 + (uint32_t)draws_below(draws, 4),
                                                .cluster = cluster,
                                                .shapes = shapes,
                                                .waiting = waiting,
                                                .pending = &pending,
                                                .shape_count = KINDS,
                                                .pending_count = draws_one_in(draws, 2) };
    struct weir_partition_cut wanted = { .gpu = 0 };
    struct weir_partition_cut cut = { .gpu = 0 };
    const bool is_cut = expected(&query, table, &wanted);
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), is_cut ? WEIR_OK : WEIR_EBUSY);
    CHECK_I64(cut.node, wanted.node);
    CHECK_I64(cut.gpu, wanted.gpu);
    CHECK(cut.cut == wanted.cut);
    weir_cluster_destroy(cluster);
    return is_cut;
}

static void the_gpu_and_its_cut_are_those_of_the_plain_rule(void)
{
    static const char *const names[] = { "h100", "a30", "a100-80" };
    struct draws draws = draws_seeded(21);
    uint32_t cuts = 0;
    for (size_t t = 0; t < sizeof names / sizeof names[0]; t++) {
        const struct weir_mig *table = sim_catalog_mig_find(names[t]);
        struct layouts layouts = { .count = 0 };
        (void)weir_mig_maximal(table, (UINT32_C(1) << table->profile_count) - 1, collect, &layouts);
        for (uint32_t c = 0; c < CASES; c++)
            cuts += try_case(table, &layouts, &draws);
    }
    CHECK(cuts > CASES);
}

static const struct test tests[] = { { "the GPU and its cut are those of the plain rule",
                                       the_gpu_and_its_cut_are_those_of_the_plain_rule } };

TEST_MAIN(tests)
