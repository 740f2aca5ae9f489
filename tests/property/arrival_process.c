/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrival processes whose rate changes from outside: how long a due time lasts and how much due
 * time a span takes are inverse to each other, wherever the process stands, at any factor; two
 * spans in a row take what both take together.
 */
#include "sim/scenario/workload/arrival_process.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>

static const char *const kinds[] = {
    "{process: poisson, rate: 0.7}",
    "{process: hyperexponential, rate: 0.7, cv: 3}",
    "{process: renewal, gap: exp(2 s)}",
    "{process: modulated, rate: 0.7, burst: 4, burst_share: 20%, dwell: 9 s}",
    "{process: modulated, rate: 3, burst: 1.5, burst_share: 60%, dwell: 1 s}",
    "{process: diurnal, rate: 0.7, amplitude: 90%, period: 1 min, peak: 10 s}",
};

static void check_step(struct sim_arrival_process *process, double factor)
{
    const double due_s = sim_arrival_process_draw(process);
    const double span_s = sim_arrival_process_lasts(process, due_s, factor);
    const double slack_s = 1e-9 * (process->time_s + 1);
    CHECK_NEAR(factor * sim_arrival_process_takes(process, span_s), due_s, slack_s);
    struct sim_arrival_process later = *process;
    sim_arrival_process_move(&later, process->time_s + 0.3 * span_s);
    CHECK_NEAR(factor * (sim_arrival_process_takes(process, 0.3 * span_s) +
                         sim_arrival_process_takes(&later, 0.7 * span_s)),
               due_s, slack_s);
    sim_arrival_process_move(process, process->time_s + span_s);
}

static void what_lasts_is_what_is_taken(void)
{
    static const double factors[] = { 1, 0.25, 3 };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "schema: 2\nname: t\nhorizon: 1 h\n"
                       "cluster: {nodes: [{name: n, cpus: 4}]}\npipelines:\n  - name: p\n"
                       "    input: {arrivals: %s}\n    stages: [{name: s, service: 1 s}]\n",
                       kinds[k]);
        struct sim_scenario *scenario = test_scenario(text, NULL);
        CHECK(scenario != NULL);
        for (uint64_t seed = 1; scenario != NULL && seed <= 10; seed++) {
            const struct sim_random random = { .seed = seed };
            struct sim_arrival_process process;
            sim_arrival_process_open(&process, scenario->pipelines[0].input.arrivals, &random,
                                     SIM_DRAW_ARRIVAL);
            for (uint32_t i = 0; i < 60; i++)
                check_step(&process, factors[i % 3]);
        }
        sim_scenario_destroy(scenario);
    }
}

static const struct test tests[] = {
    { "what lasts is what is taken", what_lasts_is_what_is_taken },
};
TEST_MAIN(tests)
