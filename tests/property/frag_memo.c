/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the meter remembers of states of nodes is what it would find anew: nodes of several types go
 * through random states from small sets, so that many come again and some differ in one amount.
 */
#include "sim/cluster/cluster.h"
#include "sim/record/meter/meter_state.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 6, STEPS = 60000, STAGES = 3 };

static struct sim_scenario *load(void)
{
    static const char text[] =
        "schema: 2\nname: t\ncluster:\n  nodes:\n"
        "    - {name: a, count: 3, cpus: 8, ram: 64 GiB, gpus: {h100: 4}}\n"
        "    - {name: b, count: 2, cpus: 4, ram: 64 GiB, gpus: {l4: 2}}\n"
        "    - {name: c, cpus: 8, ram: 64 GiB, gpus: {h100: 2, l4: 2}}\n"
        "jobs:\n  - name: w\n    classes:\n"
        "      - {name: a, count: 1, at: 0, request: {gpus: 1}, run_time: 1}\n";
    const struct sim_scenario_source source = { .path = "t.yaml", .text = text };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stdout);
    sim_diagnostics_clear(&diagnostics);
    return scenario;
}

static void change(struct sim_cluster *cluster, uint32_t node, struct draws *dice)
{
    struct sim_node *host = &cluster->nodes[node];
    struct sim_gpu *gpu =
        &cluster->gpus[host->gpu_first + (uint32_t)draws_below(dice, host->gpu_count)];
    switch ((uint32_t)draws_below(dice, 8)) {
    case 0:
        host->cpu_held = WEIR_ONE * (uint32_t)draws_below(dice, 4);
        return;
    case 1:
        host->ram_used_bytes = INT64_C(1) << 30 << (uint32_t)draws_below(dice, 6);
        return;
    case 2:
        gpu->mem_used_bytes = gpu->mem_total_bytes / (1 + (uint32_t)draws_below(dice, 2));
        return;
    case 3:
        gpu->nvdec_held =
            (uint32_t)draws_below(dice, 2) == 0 ? 0 : (UINT32_C(1) << gpu->nvdecs) - 1;
        return;
    case 4:
        gpu->is_lost = (uint32_t)draws_below(dice, 4) == 0;
        return;
    case 5:
        host->is_up = (uint32_t)draws_below(dice, 8) > 0;
        return;
    default:
        gpu->units_held = WEIR_ONE / 2 * (uint32_t)draws_below(dice, 3);
        return;
    }
}

/* Whether the meter has what follows from the node as it is. */
static bool is_right(const struct sim_cluster *cluster, const struct sim_meter *meter,
                     uint32_t node)
{
    struct weir_gpu gpus[WEIR_MAX_NODE_GPUS];
    const struct weir_node host = sim_cluster_free(cluster, node, gpus);
    const struct sim_frag frag = sim_frag_node(&meter->mix, &host, gpus);
    return memcmp(&frag, &meter->nodes[node].frag, sizeof frag) == 0;
}

static void remembered_is_found(void)
{
    const struct sim_meter_stage_info stages[STAGES] = {
        { .name = "whole",
          .mix = 0.5,
          .shape = { .kind = WEIR_SHAPE_WHOLE,
                     .gpu_count = 2,
                     .gpu_units = WEIR_ONE,
                     .cpu_units = 6 * WEIR_ONE } },
        { .name = "share",
          .mix = 0.3,
          .shape = { .kind = WEIR_SHAPE_FRACTIONAL,
                     .gpu_count = 1,
                     .gpu_units = WEIR_ONE / 2,
                     .gpu_mem_bytes = INT64_C(30) << 30,
                     .nvdecs = 1 } },
        { .name = "typed",
          .mix = 0.2,
          .shape = { .kind = WEIR_SHAPE_WHOLE,
                     .gpu_count = 1,
                     .gpu_units = WEIR_ONE,
                     .gpu_type = 1 } },
    };
    struct sim_meter_amounts capacity[NODES];
    struct draws dice = { .is_seeded = true, .state = 11 };
    struct sim_scenario *scenario = load();
    struct sim_cluster *cluster = NULL;
    struct sim_meter *meter = NULL;
    uint32_t wrong = 0;
    if (!CHECK(scenario != NULL))
        return;
    CHECK_I64(sim_cluster_create(scenario, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++)
        capacity[n] = sim_cluster_capacity(cluster, n);
    const struct sim_meter_config config = { .stages = stages,
                                             .stage_count = STAGES,
                                             .node_capacity = capacity,
                                             .node_count = NODES,
                                             .pipeline_count = 1 };
    CHECK_I64(sim_meter_create(&config, &meter), WEIR_OK);
    for (int64_t step = 0; step < STEPS; step++) {
        const uint32_t node = (uint32_t)draws_below(&dice, NODES);
        change(cluster, node, &dice);
        sim_cluster_meter(cluster, meter, step, node);
        wrong += !is_right(cluster, meter, node);
    }
    CHECK_I64(wrong, 0);
    sim_meter_destroy(meter);
    sim_cluster_destroy(cluster);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "what is remembered of a state is what would be found", remembered_is_found },
};
TEST_MAIN(tests)
