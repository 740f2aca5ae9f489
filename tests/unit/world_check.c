/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the checks of a world notice: of a sound one, under way, any amount that the truth keeps is
 * made wrong, each alone, and the check says so. A check that is left out shows nowhere else.
 */
#include "sim/cluster/cluster.h"
#include "sim/world/world.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdlib.h>

static const char *const text =
    "schema: 2\nname: t\nhorizon: 1 h\n"
    "cluster:\n"
    "  memory: oom_killer\n"
    "  gpu_addresses: first_fit\n"
    "  power: {gpu: used}\n"
    "  nodes:\n"
    "    - {name: n, cpus: 32, ram: 64 GB, gpus: {l40s: 2}, sockets: 2, power_cap: 500 W}\n"
    "    - {name: m, cpus: 16, gpus: {h100: 1}, share: mig}\n"
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
    "pipelines:\n"
    "  - name: p\n"
    "    semantics: event\n"
    "    backpressure: none\n"
    "    input: {items: 40, bytes_per_item: 1 GB}\n"
    "    stages: [{name: a, workers: 2, cpus: 2, gpus: 0.5, gpu_memory: 8 GB, ram: 2 GB,\n"
    "              nvdecs: 1, service: 20 s}]\n"
    "jobs:\n"
    "  - {name: w, classes: [{name: s, count: 2, request: {cpus: 1, mig: 1g.10gb},\n"
    "                         run_time: 500 s}]}\n";

static const char *const pools =
    "schema: 2\nname: t\nhorizon: 1 h\n"
    "cluster: {nodes: [{name: n, cpus: 32, gpus: {l40s: 1}}]}\n"
    "sched: {placement: first_fit}\n"
    "tenants: [{name: x, gpu_memory: {pool: 20 GB}}, {name: y}]\n"
    "jobs:\n"
    "  - {name: w, tenant: x, classes: [{name: s, count: 2, run_time: 500 s,\n"
    "                                    request: {cpus: 1, gpus: 0.25, gpu_memory: 4 GB}}]}\n";

static struct sim_world *open_world(const char *yaml, struct sim_scenario **scenario)
{
    static const struct sim_run_options options = { .seed = 3 };
    static struct weir_error error; /* the world keeps writing to it */
    struct sim_world *world = NULL;
    error = (struct weir_error){ .phase = -1 };
    *scenario = test_scenario(yaml, NULL);
    if (!CHECK(*scenario != NULL) ||
        !CHECK(sim_world_create(*scenario, &options, &world, &error) == WEIR_OK))
        abort();
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    CHECK_I64(sim_world_advance(world, 50 * SIM_NS_PER_S), WEIR_OK);
    CHECK_I64(sim_world_check(world, &error), WEIR_OK);
    return world;
}

/* With this amount instead of what is there nothing is sound; it is put back. */
#define WRONG(world, amount, value)                                                                \
    do {                                                                                           \
        struct weir_error said = { .phase = -1 };                                                  \
        const __typeof__(amount) kept = (amount);                                                  \
        (amount) = (value);                                                                        \
        if (!CHECK_I64(sim_world_check((world), &said), WEIR_EINVARIANT))                          \
            printf("    %s = %s goes unnoticed\n", #amount, #value);                               \
        (amount) = kept;                                                                           \
        CHECK_I64(sim_world_check((world), NULL), WEIR_OK);                                        \
    } while (0)

static void amounts_of_gpus(void)
{
    struct sim_scenario *scenario = NULL;
    struct sim_world *world = open_world(text, &scenario);
    struct sim_gpu *gpu = &world->context.cluster->gpus[0];
    CHECK(gpu->units_held > 0 && gpu->mem_used_bytes > 0 && gpu->nvdec_held != 0);
    WRONG(world, gpu->units_held, -1);
    WRONG(world, gpu->units_held, WEIR_ONE + 1);
    WRONG(world, gpu->units_held, gpu->units_held - 1);
    WRONG(world, gpu->users, gpu->users + 1);
    WRONG(world, gpu->nvdec_held, 0);
    WRONG(world, gpu->load, -1);
    WRONG(world, gpu->nvdec_held, gpu->nvdec_held | UINT32_C(1) << gpu->nvdecs);
    WRONG(world, gpu->nvenc_held, UINT32_C(1) << gpu->nvencs);
    WRONG(world, gpu->mem_used_bytes, -1);
    WRONG(world, gpu->mem_used_bytes, gpu->mem_total_bytes + 1);
    WRONG(world, gpu->mem_used_bytes, gpu->mem_used_bytes + 1);
    WRONG(world, gpu->mem_used_bytes, gpu->mem_used_bytes - 1);
    struct sim_gpu *cut = &world->context.cluster->gpus[2];
    CHECK(cut->mig != NULL && cut->mig_slots != 0);
    WRONG(world, cut->mig_slots, 0);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

static void amounts_of_nodes(void)
{
    struct sim_scenario *scenario = NULL;
    struct sim_world *world = open_world(text, &scenario);
    struct sim_node *node = &world->context.cluster->nodes[0];
    CHECK(node->cpu_held > 0 && node->work_bytes > 0 && node->cpu_held_on != NULL);
    WRONG(world, node->cpu_held, -1);
    WRONG(world, node->cpu_held, node->cpu_total + 1);
    WRONG(world, node->cpu_held, node->cpu_held + 1);
    WRONG(world, node->cpu_held, node->cpu_held - 1);
    WRONG(world, node->cpu_load, -1);
    WRONG(world, node->cpu_held_on[0], node->cpu_held_on[0] + 1);
    WRONG(world, node->cpu_held_on[0], -1);
    WRONG(world, node->ram_used_bytes, -1);
    WRONG(world, node->ram_used_bytes, node->ram_total_bytes + 1);
    WRONG(world, node->ram_used_bytes, node->ram_used_bytes - 1);
    WRONG(world, node->work_bytes, node->work_bytes + 1);
    WRONG(world, node->store_bytes, node->store_bytes + 1);
    WRONG(world, node->beyond, node->beyond + 1);
    WRONG(world, node->power_cap_w, 100);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

static void what_tenants_have_of_gpus(void)
{
    struct sim_scenario *scenario = NULL;
    struct sim_world *world = open_world(pools, &scenario);
    struct sim_gpu *gpu = &world->context.cluster->gpus[0];
    CHECK(world->context.cluster->pool_count == 1 && gpu->mem_used_bytes > 0);
    WRONG(world, gpu->mem_used_bytes, gpu->mem_used_bytes - 1);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "amounts of GPUs", amounts_of_gpus },
    { "amounts of nodes", amounts_of_nodes },
    { "what tenants have of GPUs", what_tenants_have_of_gpus },
};

TEST_MAIN(tests)
