/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Back-pressure comes and goes, by hand. */
#include "tests/support/check.h"
#include "tests/support/results.h"
#include "tests/support/runs.h"

#include <stdlib.h>

/* One place between a (1 s) and b (2 s), five items. b takes them at 1, 3, 5, 7 and 9 s. The fourth
 * is done at 4 s and waits for its place until 5 s, the fifth from 6 to 7 s: 2 s of 11. */
static void a_stage_is_held_until_there_is_room(void)
{
    struct sim_run_summary *summary =
        test_run_text("schema: 2\nname: t\n"
                      "cluster: {nodes: [{name: n, cpus: 2}]}\n"
                      "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
                      "pipelines:\n"
                      "  - name: p\n"
                      "    semantics: event\n"
                      "    slots_per_worker: 1\n"
                      "    backpressure: {rule: blocking, buffer: 1}\n"
                      "    input: {items: 5}\n"
                      "    stages:\n"
                      "      - {name: a, cpus: 1, workers: 1, service: 1 s}\n"
                      "      - {name: b, cpus: 1, workers: 1, service: 2 s}\n",
                      NULL);
    CHECK_NEAR(test_value(summary, "makespan", ""), 11, 1e-9);
    CHECK_NEAR(test_value(summary, "bp.blocked_frac", "a"), 2.0 / 11, 1e-9);
    CHECK_NEAR(test_value(summary, "bp.blocked_frac", "b"), 0, 0);
    free(summary);
}

/* a makes an item a second; b takes four at 4 and at 8 s and works 3 s on them. Neither one slot
 * nor one place between them may keep the four from coming together. */
static void a_batch_fills_behind_little_room(void)
{
    static const struct {
        const char *rule;
        double makespan_s;
    } rules[] = {
        { "pipelines.p.backpressure.rule=slots", 11 },
        { "pipelines.p.backpressure.rule=blocking pipelines.p.backpressure.buffer=1", 12 },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct sim_run_summary *summary =
            test_run_text("schema: 2\nname: t\n"
                          "cluster: {nodes: [{name: n, cpus: 2}]}\n"
                          "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
                          "horizon: 1 h\n"
                          "pipelines:\n"
                          "  - name: p\n"
                          "    semantics: event\n"
                          "    slots_per_worker: 1\n"
                          "    input: {items: 8}\n"
                          "    stages:\n"
                          "      - {name: a, cpus: 1, workers: 1, service: 1 s}\n"
                          "      - {name: b, cpus: 1, workers: 1, service: 3 s, batch: 4}\n",
                          rules[i].rule);
        CHECK_NEAR(test_value(summary, "makespan", ""), rules[i].makespan_s, 1e-9);
        free(summary);
    }
}

static const struct test tests[] = {
    { "a batch fills behind little room", a_batch_fills_behind_little_room },
    { "a stage is held until there is room", a_stage_is_held_until_there_is_room },
};
TEST_MAIN(tests)
