/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cost of one fgd placement and one eviction, fast against plain, at 2 to 1000 nodes of 240 CPUs
 * and 8 GPUs with 7 NVDECs each, for a 14-stage video pipeline. Prints CPU microseconds.
 *
 * Fill: stages take turns by their share of workers until nothing fits. Churn: one eviction, then
 * one placement, of stages drawn by the same shares.
 */
#include "sched/placement/fgd.h"
#include "tests/support/clock.h"
#include "tests/support/oracle_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 14 };

struct line {
    double cpus, gpus;
    uint32_t nvdecs;
    uint32_t share; /* workers of a full 10-node cluster */
};

static const struct line PIPELINE[STAGES] = {
    { 1, 0, 0, 23 },  { 1, 0, 1, 294 }, { 1, 0.25, 0, 10 }, { 1, 0, 1, 153 }, { 1, 1, 0, 20 },
    { 1, 0.2, 0, 1 }, { 1, 1, 0, 9 },   { 1, 0.25, 0, 6 },  { 1, 0.5, 0, 5 }, { 2, 0, 0, 22 },
    { 1, 1, 0, 30 },  { 3, 0, 0, 39 },  { 1, 0.25, 0, 4 },  { 1, 0, 0, 23 },
};

struct bench {
    struct weir_cluster *cluster;
    struct weir_shape shapes[STAGES];
    double frequencies[STAGES];
    struct weir_mix mix;
    uint32_t order[1024]; /* stages, by their shares */
    uint32_t order_count;
    struct weir_fgd_rules rules;
    struct weir_fgd *fast; /* NULL = plain */
    uint64_t next_worker;
};

static int64_t units(double amount)
{
    return (int64_t)(amount * (double)WEIR_ONE + 0.5);
}

static void fill_pipeline(struct bench *bench)
{
    uint32_t sum = 0;
    uint32_t given[STAGES] = { 0 };

    for (uint32_t s = 0; s < STAGES; s++) {
        const struct line *const line = &PIPELINE[s];
        struct weir_shape *const shape = &bench->shapes[s];
        shape->cpu_units = units(line->cpus);
        shape->nvdecs = line->nvdecs;
        shape->kind = line->nvdecs > 0 ? WEIR_SHAPE_CODEC : WEIR_SHAPE_CPU;
        if (line->gpus > 0) {
            shape->kind = line->gpus < 1 ? WEIR_SHAPE_FRACTIONAL : WEIR_SHAPE_WHOLE;
            shape->gpu_count = 1;
            shape->gpu_units = units(line->gpus);
        }
        sum += line->share;
    }
    for (uint32_t s = 0; s < STAGES; s++)
        bench->frequencies[s] = (double)PIPELINE[s].share / sum;
    bench->mix = (struct weir_mix){ bench->shapes, bench->frequencies, STAGES, 0 };
    /* Always the stage that is furthest behind its share. */
    for (bench->order_count = 0; bench->order_count < sum; bench->order_count++) {
        uint32_t next = 0;
        for (uint32_t s = 1; s < STAGES; s++) {
            if ((given[s] + 1) * PIPELINE[next].share < (given[next] + 1) * PIPELINE[s].share)
                next = s;
        }
        given[next]++;
        bench->order[bench->order_count] = next;
    }
}

static void bench_open(struct bench *bench, uint32_t nodes)
{
    struct weir_gpu_spec gpus[8];

    memset(bench, 0, sizeof *bench);
    bench->rules = (struct weir_fgd_rules){ .bonus_applies = WEIR_FGD_EVERYONE,
                                            .bonus = 10,
                                            .resolution = 0x1p-40 };
    fill_pipeline(bench);
    if (weir_cluster_create(NULL, &bench->cluster) != WEIR_OK)
        abort();
    for (uint32_t g = 0; g < 8; g++)
        gpus[g] = (struct weir_gpu_spec){ .nvdecs = 7, .units = WEIR_ONE };
    for (uint32_t n = 0; n < nodes; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = 8,
                                             .cpu_units = 240 * WEIR_ONE,
                                             .gpus = gpus };
        if (weir_cluster_add_node(bench->cluster, &spec, NULL, NULL) != WEIR_OK)
            abort();
    }
}

static bool place(struct bench *bench, uint32_t stage)
{
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = bench->cluster,
                                            .mix = &bench->mix,
                                            .shape = &bench->shapes[stage],
                                            .owner = weir_pool_owner(stage) };
    struct weir_place_answer answer;
    const weir_status status = bench->fast != NULL
                                   ? weir_fgd_place(bench->fast, &query, &answer, NULL)
                                   : plain_fgd_place(&bench->rules, &query, &answer, NULL);

    return status == WEIR_OK &&
           weir_cluster_add_worker(bench->cluster, bench->next_worker++, weir_pool_owner(stage),
                                   &answer.alloc, NULL) == WEIR_OK;
}

static bool evict(struct bench *bench, uint32_t stage)
{
    const struct weir_evict_query query = { .size = sizeof(struct weir_evict_query),
                                            .cluster = bench->cluster,
                                            .mix = &bench->mix,
                                            .owner = weir_pool_owner(stage) };
    uint64_t worker;
    const weir_status status = bench->fast != NULL
                                   ? weir_fgd_evict(bench->fast, &query, &worker, NULL)
                                   : plain_fgd_evict(&bench->rules, &query, &worker, NULL);

    return status == WEIR_OK && weir_cluster_remove_worker(bench->cluster, worker, NULL) == WEIR_OK;
}

/* Places until `most` workers are there or nothing fits; returns how many. */
static uint32_t fill(struct bench *bench, uint32_t most)
{
    uint32_t placed = 0;
    uint32_t failed = 0;

    for (uint32_t i = 0; placed < most && failed < 2 * bench->order_count; i++) {
        if (place(bench, bench->order[i % bench->order_count])) {
            placed++;
            failed = 0;
        } else {
            failed++;
        }
    }
    return placed;
}

static void measure(uint32_t nodes, bool is_fast, uint32_t most, uint32_t churns)
{
    struct bench bench;

    bench_open(&bench, nodes);
    if (is_fast && weir_fgd_create(&bench.rules, NULL, &bench.fast) != WEIR_OK)
        abort();
    double start = test_cpu_s();
    const uint32_t placed = fill(&bench, most);
    const double fill_s = test_cpu_s() - start;
    double evict_s = 0;
    double place_s = 0;
    for (uint32_t i = 0; i < churns; i++) {
        const uint32_t stage = bench.order[(i * 37) % bench.order_count];
        start = test_cpu_s();
        (void)evict(&bench, stage);
        evict_s += test_cpu_s() - start;
        start = test_cpu_s();
        (void)place(&bench, stage);
        place_s += test_cpu_s() - start;
    }
    printf("%5u nodes %-5s fill %6u workers %8.3f s = %9.2f us each; then evict %9.2f us, place "
           "%9.2f us\n",
           nodes, is_fast ? "fast" : "plain", placed, fill_s, fill_s * 1e6 / placed,
           evict_s * 1e6 / churns, place_s * 1e6 / churns);
    weir_fgd_destroy(bench.fast);
    weir_cluster_destroy(bench.cluster);
}

int main(void)
{
    static const uint32_t sizes[] = { 2, 10, 100, 1000 };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        measure(sizes[i], true, UINT32_MAX, 2000);
        /* The plain version gets a part of the work: it would take hours. */
        measure(sizes[i], false, sizes[i] <= 10 ? UINT32_MAX : 40, sizes[i] <= 10 ? 20 : 10);
    }
    return 0;
}
