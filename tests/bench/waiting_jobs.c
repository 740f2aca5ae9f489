/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes a job costs in one run, in driver, libweir's host and meter together: one that waits, from
 * the growth of the heap between 10^4 and 10^5 waiting jobs; and one that has ended, from what is
 * left when as many have come and gone on the way to the same number of jobs that wait. Beside its
 * row of the trace, or its class, which the scenario holds.
 */
#include "sim/world/world.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEW = 10000, MANY = 100000, AT_A_TIME = 16 };

static void require(weir_status status, const struct weir_error *error)
{
    if (status == WEIR_OK)
        return;
    fprintf(stderr, "%s: %s\n", weir_status_text(status), error->text);
    exit(EXIT_FAILURE);
}

/* `waiting` jobs come at once behind one that never ends; or `ended` of them, one each 10 s, run.
 */
static struct sim_scenario *load(unsigned waiting, unsigned ended)
{
    char text[1024];
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    (void)snprintf(
        text, sizeof text,
        "schema: 2\nname: jobs\nhorizon: %u s\n"
        "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 8}}]}\n"
        "jobs:\n  - name: w\n    classes:\n"
        "      - {name: b, count: %u, at: 1, every: 10, request: {cpus: 1}, run_time: 5}\n"
        "      - {name: a, count: %u, at: 0, every: 0, request: {gpus: 8}, run_time: 1e8}\n",
        10 * ended + 20, ended, waiting + 1);
    const struct sim_scenario_source source = { .path = "jobs.yaml", .text = text };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        exit(EXIT_FAILURE);
    }
    return scenario;
}

static double heap_of(unsigned waiting, unsigned ended)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    struct sim_scenario *scenario = load(waiting, ended);
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    const double before = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
    require(sim_world_create(scenario, &options, &world, &error), &error);
    require(sim_world_begin(world), &error);
    require(sim_world_advance(world, sim_time_from_s(10.0 * ended + 15)), &error);
    const double after = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
    return after - before;
}

int main(void)
{
    const double few = heap_of(FEW, AT_A_TIME);
    printf("%-34s %8.0f bytes\n", "a waiting job", (heap_of(MANY, AT_A_TIME) - few) / (MANY - FEW));
    printf("%-34s %8.1f bytes\n", "an ended job", (heap_of(FEW, AT_A_TIME + FEW) - few) / FEW);
    return EXIT_SUCCESS;
}
