/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of the memory of GPUs: holes, rules, who is refused though enough is free; by hand and
 * beside a map of bytes. */
#include "sim/cluster/extents.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A GPU of 12 GB that jobs share; all invariants after every event. */
static struct sim_run_summary *run(const char *addresses, const char *tenants, const char *classes)
{
    char text[3000];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\nhorizon: 200 s\n"
                   "catalog: {gpu_types: {small: {memory: 12 GB}}}\n"
                   "cluster:\n  gpu_addresses: %s\n"
                   "  nodes: [{name: n, cpus: 64, share: fraction, gpus: {small: 1}}]\n"
                   "sched: {queueing: first_fit}\n%s"
                   "jobs:\n  - name: w\n    run_time: 100 s\n    classes:\n%s",
                   addresses, tenants, classes);
    const struct sim_observer observer = { .state = NULL };
    return test_watch_text(text, &observer);
}

#define CLASS(name, at, memory, more)                                                              \
    "      - {name: " name ", count: 1, at: " at " s, request: {gpus: 0.1, gpu_memory: " memory    \
    " GB}" more "}\n"

static void check_ooms(struct sim_run_summary *summary, double all, double scattered)
{
    CHECK_NEAR(test_value(summary, "oom.gpu.count", ""), all, 0);
    CHECK_NEAR(test_value(summary, "oom.gpu.scattered", ""), scattered, 0);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
}

/* covers: S3.30 */
/* Four of 3 GB lie side by side; the first and the third go after 50 s. 6 GB are free then, 3 in
 * one piece: who needs 4 at 60 s fails, and who asks for them from the start waits until 100 s,
 * when all have gone. With pages both work, and so does the first when the second was begun again.
 */
static void enough_that_is_free_may_lie_apart(void)
{
#define FOUR                                                                                       \
    CLASS("a", "0", "3", ", run_time: 50 s")                                                       \
    CLASS("b", "0", "3", "") CLASS("c", "0", "3", ", run_time: 50 s") CLASS("d", "0", "3", "")
    static const char task[] = FOUR CLASS("e", "60", "0", ", activations: 4 GB");
    static const char again[] =
        CLASS("a", "0", "3", ", run_time: 50 s") CLASS("b", "0", "3", ", run_time: 50 s")
            CLASS("c", "0", "3", ", run_time: 50 s") CLASS("d", "0", "3", "")
                CLASS("b2", "50", "3", "") CLASS("e", "60", "0", ", activations: 4 GB");
    static const char asks[] = FOUR CLASS("e", "60", "4", "");
    static const char *const rules[] = { "first_fit", "best_fit", "paged" };
    for (int i = 0; i < 3; i++) {
        struct sim_run_summary *summary = run(rules[i], "", task);
        CHECK_NEAR(test_value(summary, "oom.gpu.count", ""), i < 2 ? 1 : 0, 0);
        if (i < 2)
            check_ooms(summary, 1, 1);
        free(summary);
        summary = run(rules[i], "", asks);
        CHECK_NEAR(test_value(summary, "wait.job.max", ""), i < 2 ? 40 : 0, 0);
        free(summary);
        summary = run(rules[i], "", again);
        CHECK_NEAR(test_value(summary, "oom.gpu.count", ""), 0, 0);
        free(summary);
    }
#undef FOUR
}

/* covers: S3.28 */
/* Of 12 GB 6 are free from 50 to 100 s, half of them in one piece: 0.5; nothing is free before, and
 * all in one piece after: over 200 s that is 1/8. With pages nobody says anything. */
static void what_fell_apart_is_measured(void)
{
    static const char work[] = CLASS("a", "0", "3", ", run_time: 50 s") CLASS("b", "0", "3", "")
        CLASS("c", "0", "3", ", run_time: 50 s") CLASS("d", "0", "3", "");
    struct sim_run_summary *summary = run("first_fit", "", work);
    CHECK_NEAR(test_value(summary, "frag.gpumem", ""), 0.25, 1e-12); /* ends at 100 s */
    free(summary);
    summary = run("paged", "", work);
    CHECK(isnan(test_value(summary, "frag.gpumem", "")));
    free(summary);
}

/* Holes of 4 and 2 GB: 2 GB take the first of them, or the smaller, and then 4 are in one piece. */
static void the_smallest_hole_keeps_the_others_whole(void)
{
    static const char work[] = CLASS("a", "0", "4", ", run_time: 50 s") CLASS("b", "0", "3", "")
        CLASS("c", "0", "2", ", run_time: 50 s") CLASS("d", "0", "3", "") CLASS("e", "55", "2", "")
            CLASS("f", "60", "0", ", activations: 4 GB");
    struct sim_run_summary *summary = run("first_fit", "", work);
    check_ooms(summary, 1, 1);
    free(summary);
    summary = run("best_fit", "", work);
    check_ooms(summary, 0, 0);
    free(summary);
}

/* covers: S1.78 */
/* b lies behind a, with 4 GB for its steps; a goes after 50 s. Kept by the process they stay behind
 * a hole; given back they are taken again from where it was, and all that is free is one piece: who
 * needs 8 GB in one piece at 60 s has them. */
static void memory_that_goes_back_to_the_gpu_closes_holes(void)
{
    static const char *const reuse[] = { "event", "none" };
    for (int i = 0; i < 2; i++) {
        char tenants[100];
        (void)snprintf(tenants, sizeof tenants, "tenants: [{name: x, gpu_memory: {reuse: %s}}]\n",
                       reuse[i]);
        struct sim_run_summary *summary =
            run("first_fit", tenants,
                CLASS("a", "0", "4", ", tenant: x, run_time: 50 s")
                    CLASS("b", "0", "0", ", tenant: x, activations: 4 GB, step: {time: 1 s}")
                        CLASS("c", "60", "0", ", tenant: x, activations: 8 GB, run_time: 40 s"));
        check_ooms(summary, i == 0 ? 1 : 0, i == 0 ? 1 : 0);
        /* after 50 s 4 + 4 GB of 12 are free around b: 1 - 4/8 */
        const double over_s = i == 0 ? 100 : 100.1;
        CHECK_NEAR(test_value(summary, "frag.gpumem", ""), i == 0 ? 0.5 * 50 / over_s : 0, 1e-9);
        free(summary);
    }
}

/* ---- beside a map of bytes ---- */

enum { BYTES = 64, OWNERS = 12 };

struct map {
    unsigned char of[BYTES]; /* owner + 1; 0 = free */
};

/* First byte of the hole the rule takes; -1 = none. */
static int map_place(const struct map *map, int bytes, bool is_best)
{
    int best = -1;
    int best_size = BYTES + 1;
    for (int at = 0; at < BYTES;) {
        int size = 0;
        while (at + size < BYTES && map->of[at + size] == 0)
            size++;
        if (size >= bytes && (best < 0 || (is_best && size < best_size))) {
            best = at;
            best_size = size;
        }
        at += size + 1;
    }
    return best;
}

static void map_free(struct map *map, int owner)
{
    for (int i = 0; i < BYTES; i++)
        if (map->of[i] == owner + 1)
            map->of[i] = 0;
}

static void random_changes(bool is_best, uint64_t seed)
{
    struct sim_scenario *scenario = test_scenario(
        "schema: 2\nname: t\ncluster: {gpu_addresses: first_fit, nodes: [{name: n, cpus: 1, gpus: "
        "{h100: 1}}]}\njobs: [{name: w, classes: [{name: a, count: 1, run_time: 1 s}]}]\n",
        NULL);
    struct sim_cluster *cluster = NULL;
    struct sim_lease leases[OWNERS];
    struct sim_part part = { .use = { .gpu = 0 } };
    const struct sim_claim claim = { .use_count = 1, .parts = &part };
    int held[OWNERS] = { 0 };
    struct map map = { { 0 } };
    uint64_t state = seed;
    scenario->gpu_addresses = is_best ? SIM_ADDRESSES_BEST_FIT : SIM_ADDRESSES_FIRST_FIT;
    if (!CHECK_I64(sim_cluster_create(scenario, &cluster), WEIR_OK))
        return;
    cluster->gpus[0].mem_total_bytes = BYTES;
    CHECK_I64(sim_extents_open(cluster), WEIR_OK);
    for (int step = 0; step < 2000; step++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const int owner = (int)(state >> 33) % OWNERS;
        const int bytes = 1 + (int)(state >> 40) % 20;
        const struct sim_extent_owner who = { .lease = &leases[owner] };
        leases[owner] = (struct sim_lease){ .claim = &claim };
        if (held[owner] > 0) {
            sim_extents_book(cluster, &cluster->gpus[0], who, -held[owner]);
            map_free(&map, owner);
            cluster->gpus[0].mem_used_bytes -= held[owner];
            held[owner] = 0;
        } else {
            const int at = map_place(&map, bytes, is_best);
            CHECK(sim_extents_fit(cluster, &cluster->gpus[0], bytes) == (at >= 0));
            if (at >= 0) {
                CHECK_I64(sim_extents_reserve(cluster, &leases[owner]), WEIR_OK);
                sim_extents_book(cluster, &cluster->gpus[0], who, bytes);
                memset(&map.of[at], owner + 1, (size_t)bytes);
                cluster->gpus[0].mem_used_bytes += bytes;
                held[owner] = bytes;
            }
        }
        struct weir_error error = { .text = "" };
        CHECK_I64(sim_extents_check(cluster, &error), WEIR_OK);
    }
    sim_cluster_destroy(cluster);
    sim_scenario_destroy(scenario);
}

static void extents_lie_where_the_map_has_them(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        random_changes(false, seed);
        random_changes(true, seed);
    }
}

static const struct test tests[] = {
    { "enough that is free may lie apart", enough_that_is_free_may_lie_apart },
    { "what fell apart is measured", what_fell_apart_is_measured },
    { "the smallest hole keeps the others whole", the_smallest_hole_keeps_the_others_whole },
    { "memory that goes back to the gpu closes holes",
      memory_that_goes_back_to_the_gpu_closes_holes },
    { "extents lie where the map has them", extents_lie_where_the_map_has_them },
};
TEST_MAIN(tests)
