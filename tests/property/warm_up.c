/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is counted until an instant and what is counted after it is what is counted in all: of a run
 * that ends then, of one whose warm-up ends then, and of one without either. Sums add up, means
 * over time do so weighed by their windows, for every label of every metric that is one.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CUT_S = 1301.3, END_S = 1800;

/* docs/metrics.md says which begin at the end of the warm-up. */
static const char *const SUMS[] = {
    "belief.mismatch_s", "energy.gpu_kwh",     "energy.kwh",        "net.bytes",
    "net.wait_s",        "retry.count",        "retry.exhausted",   "sched.decisions",
    "sched.refused",     "store.read_bytes",   "store.write_bytes", "store.spill_bytes",
    "oom.host.count",    "timeslice.switches", "waste.setup_s",     "work.lost_s",
    "worker.created",    "worker.deleted",
};
static const char *const MEANS[] = {
    "bottleneck.share", "bp.blocked_frac", "bp.signal",       "bp.starved_frac", "frag.codec",
    "frag.crumbs",      "frag.gpu.fgd",    "frag.whole_free", "mem.ram.mean",    "power.mean_kw",
    "queue.len.mean",   "thr.pipeline",    "thr.stage",       "util.gpu.seed",   "worker.churn",
};

static struct sim_run_summary *run(const char *sets, double warmup_s, double end_s)
{
    char all[1000];
    (void)snprintf(all, sizeof all,
                   "pipelines[0].input.items=9000 pipelines[1].input.items=6000 warmup=%.1fs "
                   "horizon=%.1fs %s",
                   warmup_s, end_s, sets);
    struct sim_scenario *scenario = test_scenario("tests/golden/results/pipelines.yaml", all);
    struct sim_run_summary *summary = test_run_fast(scenario, 0, NULL);
    sim_scenario_destroy(scenario);
    return summary;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof(names) / sizeof *(names))

/* How many of them were not 0. */
static size_t check_parts(const char *sets)
{
    struct sim_run_summary *before = run(sets, 0, CUT_S);
    struct sim_run_summary *after = run(sets, CUT_S, END_S);
    struct sim_run_summary *whole = run(sets, 0, END_S);
    const struct test_value *row;
    size_t checked = 0;
    for (size_t i = 0; (row = test_value_at(whole, i)) != NULL; i++) {
        const double first = test_value(before, row->metric, row->label);
        const double second = test_value(after, row->metric, row->label);
        double sum = first + second;
        if (IS_ONE_OF(row->metric, MEANS))
            sum = (first * CUT_S + second * (END_S - CUT_S)) / END_S;
        else if (!IS_ONE_OF(row->metric, SUMS))
            continue;
        if (fabs(sum - row->value) > 1e-6 * fabs(row->value))
            printf("    %s of %s\n", row->metric, row->label);
        CHECK_NEAR(sum, row->value, 1e-6 * fabs(row->value));
        checked += row->value > 0 && first > 0 && second > 0;
    }
    free(before);
    free(after);
    free(whole);
    return checked;
}

static void parts_make_the_whole(void)
{
    CHECK(check_parts("") > 60);
    CHECK(check_parts("cluster.nodes[1].ram=24GB cluster.nodes[0].ram=60GB "
                      "pipelines[0].semantics=event pipelines[0].backpressure=none") > 60);
}

static const struct test tests[] = {
    { "parts make the whole", parts_make_the_whole },
};
TEST_MAIN(tests)
