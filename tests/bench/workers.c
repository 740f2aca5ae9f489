/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes a living worker costs in one run: growth of the heap from 10^4 to 10^5 workers of one whole
 * GPU each, on the same cluster of 12 500 nodes with 8 GPUs, in worker, driver, libweir's host and
 * meter together; and what of it the host takes alone, told of the same workers. Fails when a
 * worker takes more than it may.
 */
#include "sim/scenario/belief.h"
#include "sim/world/world.h"
#include "weir/host.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 12500, GPUS = 8, FEW = 10000, MANY = 100000, MOST_BYTES = 500 };

static void require(weir_status status, const struct weir_error *error)
{
    if (status == WEIR_OK)
        return;
    fprintf(stderr, "%s: %s\n", weir_status_text(status), error->text);
    exit(EXIT_FAILURE);
}

static struct sim_scenario *load(uint32_t workers)
{
    char *text = NULL;
    size_t length = 0;
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        exit(EXIT_FAILURE);
    (void)fprintf(out,
                  "schema: 1\nname: workers\nhorizon: 1 h\n"
                  "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: %d}, count: %d}]}\n"
                  "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
                  "pipelines:\n  - name: p\n    input: {items: 0, arrivals: const(1000)}\n"
                  "    stages: [{name: a, cpus: 1, gpus: 1, workers: %u, service: 1}]\n"
                  "initial:\n  workers:\n",
                  GPUS, NODES, workers);
    for (uint32_t n = 0; n * GPUS < workers; n++)
        (void)fprintf(out, "    - {stage: a, node: n-%u, count: %d}\n", n, GPUS);
    if (fclose(out) != 0)
        exit(EXIT_FAILURE);
    const struct sim_scenario_source source = { .path = "workers.yaml", .text = text };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        exit(EXIT_FAILURE);
    }
    free(text);
    return scenario;
}

static double heap_of_run(uint32_t workers)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    struct sim_scenario *scenario = load(workers);
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    const double before = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
    require(sim_world_create(scenario, &options, &world, &error), &error);
    require(sim_world_begin(world), &error);
    require(sim_world_advance(world, 0), &error);
    const double after = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
    if (sim_workers_alive(world->workers) != workers)
        exit(EXIT_FAILURE);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
    return after - before;
}

static double heap_of_host(uint32_t workers)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct weir_host *host = NULL;
    struct sim_scenario *scenario = load(FEW);
    const struct weir_host_config config = { .size = sizeof(config),
                                             .placement = scenario->sched.placement.placement,
                                             .scaling = scenario->sched.scaling.scaling };
    const struct weir_pool_spec pool = { .size = sizeof(pool),
                                         .name = "a",
                                         .requested_workers = (int32_t)workers,
                                         .shape = scenario->pipelines[0].stages[0].shape,
                                         .batch_size = 1,
                                         .slots = 1,
                                         .speed_hint_per_s = (double)NAN };
    const double before = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
    require(weir_host_create(&config, &host, &error), &error);
    for (uint32_t n = 0; n < NODES; n++) {
        struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
        struct weir_node_spec spec;
        require(sim_belief_node(scenario, n, gpus, &spec, &error), &error);
        require(weir_host_add_node(host, &spec, NULL, &error), &error);
    }
    require(weir_host_add_pool(host, &pool, NULL, &error), &error);
    for (uint32_t w = 0; w < workers; w++) {
        struct weir_alloc alloc = { 0 };
        require(weir_place_first(weir_host_cluster(host), w / GPUS, &pool.shape, &alloc), &error);
        require(weir_host_adopt_worker(host, w, weir_pool_owner(0), &alloc, &error), &error);
    }
    const double after = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
    weir_host_destroy(host);
    sim_scenario_destroy(scenario);
    return after - before;
}

int main(void)
{
    const double run = (heap_of_run(MANY) - heap_of_run(FEW)) / (MANY - FEW);
    const double host = (heap_of_host(MANY) - heap_of_host(FEW)) / (MANY - FEW);
    printf("%-34s %8.0f bytes, at most %d\n", "a living worker in a run", run, MOST_BYTES);
    printf("%-34s %8.0f bytes\n", "of them in libweir's host", host);
    return run <= MOST_BYTES ? EXIT_SUCCESS : EXIT_FAILURE;
}
