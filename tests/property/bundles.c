/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement groups of unequal bundles against every way there is.
 *
 * Random nodes of which something is taken, and a few bundles of CPUs, memory, whole GPUs and
 * shares. A plain search goes through all nodes and devices for each bundle, with sums of its own.
 * STRICT_PACK finds a place exactly when there is one. Whatever another strategy finds is one of
 * these ways; what it does not find changed nothing.
 *
 * 20 000 groups for each strategy; WEIR_SEED=N runs that one alone.
 */
#include "sched/cluster/state.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "weir/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 3, GPUS = 3, BUNDLES = 6, TENTH = WEIR_ONE / 10 };

/* What is free, as the plain search has it. */
struct rest {
    int64_t cpus[NODES], ram[NODES], gpus[NODES][GPUS];
};

struct lab {
    struct draws draws;
    struct weir_cluster *cluster;
    struct rest rest;
    uint32_t nodes, gpu_count[NODES];
    struct weir_shape bundles[BUNDLES];
    uint32_t count;
    bool is_shared; /* all bundles are shares of GPUs, which then decide alone */
};

static uint32_t draw(struct lab *lab, uint32_t below)
{
    return (uint32_t)draws_below(&lab->draws, below);
}

/* ---- a random question ---- */

static void add_node(struct lab *lab, uint32_t n)
{
    const struct weir_gpu_spec gpus[GPUS] = { { .units = WEIR_ONE },
                                              { .units = WEIR_ONE },
                                              { .units = WEIR_ONE } };
    const struct weir_node_spec spec = { .size = sizeof spec,
                                         .id = n,
                                         .cpu_units = (2 + draw(lab, 7)) * WEIR_ONE,
                                         .ram_bytes = 1 + draw(lab, 8),
                                         .gpu_count = draw(lab, GPUS + 1),
                                         .gpus = gpus };

    CHECK_I64(weir_cluster_add_node(lab->cluster, &spec, NULL, NULL), WEIR_OK);
    lab->gpu_count[n] = spec.gpu_count;
    lab->rest.cpus[n] = spec.cpu_units;
    lab->rest.ram[n] = spec.ram_bytes;
    for (uint32_t g = 0; g < spec.gpu_count; g++)
        lab->rest.gpus[n][g] = WEIR_ONE;
}

/* Somebody holds a part of a GPU. */
static void take_some(struct lab *lab, uint32_t n)
{
    for (uint32_t g = 0; g < lab->gpu_count[n]; g++) {
        const int64_t units = draw(lab, 3) > 0 ? 0 : (1 + draw(lab, 10)) * TENTH;
        const struct weir_alloc alloc = { .node = n,
                                          .device_count = 1,
                                          .devices = { { .gpu = g, .units = units } } };
        if (units == 0)
            continue;
        CHECK_I64(weir_cluster_add_worker(lab->cluster, 1 + n * GPUS + g, weir_pool_owner(0),
                                          &alloc, NULL),
                  WEIR_OK);
        lab->rest.gpus[n][g] -= units;
    }
}

static struct weir_shape draw_bundle(struct lab *lab)
{
    struct weir_shape shape = { .cpu_units = draw(lab, 4) * WEIR_ONE, .ram_bytes = draw(lab, 3) };
    const uint32_t what = lab->is_shared ? 0 : draw(lab, 5);

    if (lab->is_shared)
        shape.cpu_units = shape.ram_bytes = 0;
    if (what < 2) {
        shape.kind = WEIR_SHAPE_FRACTIONAL;
        shape.gpu_count = 1;
        shape.gpu_units = (1 + draw(lab, lab->is_shared ? 6 : 9)) * TENTH;
    } else if (what == 2) {
        shape.kind = WEIR_SHAPE_WHOLE;
        shape.gpu_count = 1 + draw(lab, 2);
        shape.gpu_units = WEIR_ONE;
    }
    return shape;
}

static struct lab open_lab(uint64_t seed)
{
    struct lab lab = { .draws = draws_seeded(seed) };

    CHECK_I64(weir_cluster_create(NULL, &lab.cluster), WEIR_OK);
    lab.nodes = 1 + draw(&lab, NODES);
    for (uint32_t n = 0; n < lab.nodes; n++) {
        add_node(&lab, n);
        take_some(&lab, n);
    }
    lab.is_shared = draw(&lab, 2) > 0;
    lab.count = 1 + draw(&lab, BUNDLES);
    for (uint32_t i = 0; i < lab.count; i++)
        lab.bundles[i] = draw_bundle(&lab);
    return lab;
}

/* ---- the plain search ---- */

static bool fits_from(const struct lab *lab, uint32_t bundle, struct rest rest, uint32_t node);

/* With a share on each GPU in turn, or so many whole ones: which ones makes no difference. */
static bool fits_gpus(const struct lab *lab, uint32_t bundle, struct rest rest, uint32_t node)
{
    const struct weir_shape *const shape = &lab->bundles[bundle];
    uint32_t whole = 0;

    if (shape->gpu_count == 0)
        return fits_from(lab, bundle + 1, rest, node);
    if (shape->kind == WEIR_SHAPE_WHOLE) {
        for (uint32_t g = 0; g < lab->gpu_count[node] && whole < shape->gpu_count; g++) {
            whole += rest.gpus[node][g] == WEIR_ONE;
            rest.gpus[node][g] = rest.gpus[node][g] == WEIR_ONE ? 0 : rest.gpus[node][g];
        }
        return whole == shape->gpu_count && fits_from(lab, bundle + 1, rest, node);
    }
    for (uint32_t g = 0; g < lab->gpu_count[node]; g++) {
        struct rest less = rest;
        less.gpus[node][g] -= shape->gpu_units;
        if (less.gpus[node][g] >= 0 && fits_from(lab, bundle + 1, less, node))
            return true;
    }
    return false;
}

/* Whether the bundles from this one on fit the node together. */
static bool fits_from(const struct lab *lab, uint32_t bundle, struct rest rest, uint32_t node)
{
    if (bundle == lab->count)
        return true;
    rest.cpus[node] -= lab->bundles[bundle].cpu_units;
    rest.ram[node] -= lab->bundles[bundle].ram_bytes;
    return rest.cpus[node] >= 0 && rest.ram[node] >= 0 && fits_gpus(lab, bundle, rest, node);
}

static bool fits_one_node(const struct lab *lab)
{
    for (uint32_t n = 0; n < lab->nodes; n++)
        if (fits_from(lab, 0, lab->rest, n))
            return true;
    return false;
}

/* ---- what was found ---- */

/* Everything is on devices that are there, and gives what was asked for. */
static bool is_sound(const struct lab *lab, const struct weir_alloc *allocs)
{
    struct rest rest = lab->rest;
    bool is_good = true;

    for (uint32_t i = 0; i < lab->count; i++) {
        const struct weir_alloc *const alloc = &allocs[i];
        const struct weir_shape *const shape = &lab->bundles[i];
        is_good = is_good && alloc->node < lab->nodes && alloc->device_count == shape->gpu_count &&
                  alloc->cpu_units == shape->cpu_units && alloc->ram_bytes == shape->ram_bytes;
        if (!is_good)
            return false;
        rest.cpus[alloc->node] -= alloc->cpu_units;
        rest.ram[alloc->node] -= alloc->ram_bytes;
        for (uint32_t d = 0; d < alloc->device_count; d++) {
            rest.gpus[alloc->node][alloc->devices[d].gpu] -= alloc->devices[d].units;
            is_good = is_good && alloc->devices[d].units == shape->gpu_units;
        }
    }
    for (uint32_t n = 0; n < lab->nodes; n++)
        for (uint32_t g = 0; g < GPUS; g++)
            is_good = is_good && rest.cpus[n] >= 0 && rest.ram[n] >= 0 && rest.gpus[n][g] >= 0;
    return is_good;
}

static bool keeps_strategy(const struct lab *lab, uint32_t strategy,
                           const struct weir_alloc *allocs)
{
    for (uint32_t i = 1; i < lab->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if ((strategy == WEIR_GROUP_STRICT_PACK && allocs[i].node != allocs[k].node) ||
                (strategy == WEIR_GROUP_STRICT_SPREAD && allocs[i].node == allocs[k].node))
                return false;
    return true;
}

struct seen {
    uint32_t placed[WEIR_GROUP_STRATEGY_COUNT], failed[WEIR_GROUP_STRATEGY_COUNT];
};

static void ask(uint64_t seed, uint32_t strategy, struct weir_chooser *scorer, struct seen *seen)
{
    struct lab lab = open_lab(seed);
    struct weir_alloc allocs[BUNDLES];
    struct weir_group_answer answer;
    const uint32_t workers = weir_cluster_worker_count(lab.cluster);
    const struct weir_amounts before = weir_cluster_free(lab.cluster);
    const struct weir_mix mix = { 0 };
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = lab.cluster,
                                            .mix = &mix,
                                            .bundles = lab.bundles,
                                            .bundle_count = lab.count,
                                            .strategy = strategy,
                                            .seed = seed };
    const weir_status status = weir_group_place(scorer, &query, allocs, &answer, NULL);
    const struct weir_amounts after = weir_cluster_free(lab.cluster);
    bool is_right = status == WEIR_OK || status == WEIR_EBUSY || status == WEIR_EINFEASIBLE;

    seen->placed[strategy] += status == WEIR_OK;
    seen->failed[strategy] += status != WEIR_OK;
    if (status == WEIR_OK)
        is_right = is_sound(&lab, allocs) && keeps_strategy(&lab, strategy, allocs);
    if (strategy == WEIR_GROUP_STRICT_PACK)
        is_right = is_right && (status == WEIR_OK) == fits_one_node(&lab);
    is_right = is_right && weir_cluster_worker_count(lab.cluster) == workers &&
               memcmp(&before, &after, sizeof before) == 0 &&
               weir_cluster_check(lab.cluster, NULL) == WEIR_OK;
    if (!CHECK(is_right))
        printf("WEIR_SEED=%llu, %s by %s: %s\n", (unsigned long long)seed,
               weir_group_strategy_name(strategy), scorer == NULL ? "ray" : "best_fit",
               weir_status_text(status));
    weir_cluster_destroy(lab.cluster);
}

static void a_group_that_fits_one_node_is_found_and_no_other(void)
{
    const char *const only = getenv("WEIR_SEED");
    const uint64_t from = only == NULL ? 1 : strtoull(only, NULL, 10);
    const uint64_t to = only == NULL ? 20000 : from;
    struct weir_chooser *policy = NULL;
    struct seen seen = { { 0 }, { 0 } };

    CHECK_I64(weir_chooser_create(weir_placement_find("best_fit"), NULL, NULL, &policy, NULL),
              WEIR_OK);
    for (uint64_t seed = from; seed <= to; seed++)
        for (uint32_t strategy = 0; strategy < WEIR_GROUP_STRATEGY_COUNT; strategy++)
            ask(seed, strategy, seed % 2 == 0 ? policy : NULL, &seen);
    weir_chooser_destroy(policy);
    for (uint32_t s = 0; s < WEIR_GROUP_STRATEGY_COUNT; s++) {
        printf("%s: %u placed, %u not\n", weir_group_strategy_name(s), seen.placed[s],
               seen.failed[s]);
        CHECK(only != NULL || (seen.placed[s] > 2000 && seen.failed[s] > 2000));
    }
}

static const struct test tests[] = {
    { "a group that fits one node is found, and no other",
      a_group_that_fits_one_node_is_found_and_no_other },
};

TEST_MAIN(tests)
