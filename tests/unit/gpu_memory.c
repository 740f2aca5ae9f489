/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of GPUs that belongs to tenants: pools, limits of processes, who gives way; by hand. */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By the first letter of their names: when each job started first and was over. */
struct seen {
    double start_s[26], end_s[26];
    uint32_t attempts[26];
    char outcome[26][12];
};

static void see_job(void *state, const struct sim_job_row *row)
{
    struct seen *seen = state;
    const size_t at = (size_t)(row->name[0] - 'a');
    seen->start_s[at] = row->first_start_ns < 0 ? (double)NAN : sim_time_s(row->first_start_ns);
    seen->end_s[at] = sim_time_s(row->end_ns);
    seen->attempts[at] = row->attempts;
    (void)snprintf(seen->outcome[at], sizeof seen->outcome[at], "%s", row->outcome);
}

/* One GPU of 80 GB (or of so much), shared; all invariants after every event. */
static struct sim_run_summary *run_on(const char *gpu, const char *sched, const char *tenants,
                                      const char *classes, struct seen *seen)
{
    char text[3000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 10000 s\n%s"
                   "cluster:\n  nodes: [{name: n, cpus: 64, share: fraction, gpus: {%s: 1}}]\n"
                   "sched: {%s}\n%s"
                   "jobs:\n  - name: w\n    run_time: 100 s\n    classes:\n%s",
                   strcmp(gpu, "small") == 0 ? "catalog: {gpu_types: {small: {memory: 12288 MB}}}\n"
                                             : "",
                   gpu, sched, tenants, classes);
    memset(seen, 0, sizeof *seen);
    const struct sim_observer observer = { .job = see_job, .state = seen };
    return test_watch_text(text, &observer);
}

static struct sim_run_summary *run(const char *tenants, const char *classes, struct seen *seen)
{
    return run_on("h100", "queueing: first_fit", tenants, classes, seen);
}

#define CLASS(name, tenant, at, memory, more)                                                      \
    "      - {name: " name ", tenant: " tenant ", count: 1, at: " at                               \
    " s, request: {gpus: 0.1, gpu_memory: " memory " GB}" more "}\n"

/* covers: S1.75 */
/* a takes 60 GB. Without a limit b, which takes 30, finds them used up and fails though it is a
 * that has more than it asked for; with a limit of 40 GB a process a fails, and b is done. */
static void who_takes_more_than_a_process_may_fails_alone(void)
{
    static const char work[] = CLASS("a", "x", "0", "20", ", activations: 40 GB")
        CLASS("b", "x", "10", "10", ", activations: 20 GB");
    struct seen seen;
    struct sim_run_summary *summary = run("tenants: [{name: x}]\n", work, &seen);
    CHECK_STR(seen.outcome[0], "done");
    CHECK_STR(seen.outcome[1], "oom");
    CHECK_NEAR(seen.end_s[1], 10, 0);
    CHECK_NEAR(test_value(summary, "jobs.oom", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "oom.gpu.count", ""), 1, 0);
    free(summary);
    free(run("tenants: [{name: x, gpu_memory: {process: 59 GB}}]\n", work, &seen));
    CHECK_STR(seen.outcome[0], "oom");
    CHECK_NEAR(seen.end_s[0], 0, 0);
    CHECK_STR(seen.outcome[1], "done");
    CHECK_NEAR(seen.end_s[1], 110, 0);
    free(run("tenants: [{name: x, gpu_memory: {process: 60 GB}}]\n", work, &seen));
    CHECK_STR(seen.outcome[0], "done");
    CHECK_STR(seen.outcome[1], "oom");
}

/* covers: S1.76 */
/* 50 GB are kept for x. b of y finds 30 and not 40 GB, c of x all 80; a child of x without a pool
 * uses that of x, one with a pool of its own its own. */
static void nobody_else_finds_what_a_pool_does_not_use(void)
{
    static const char tenants[] =
        "tenants: [{name: x, gpu_memory: 50 GB}, {name: y}, {name: z, parent: x}]\n";
    struct seen seen;
    struct sim_run_summary *summary =
        run(tenants,
            CLASS("a", "y", "0", "30", "") CLASS("b", "y", "0", "1", "")
                CLASS("c", "z", "50", "50", ""),
            &seen);
    CHECK_NEAR(seen.start_s[0], 0, 0);
    CHECK_NEAR(seen.start_s[1], 100, 0);
    CHECK_NEAR(seen.start_s[2], 50, 0);
    /* 50 GB until 50 s, none until 150 s, then until the end of b at 200 s */
    CHECK_NEAR(test_value(summary, "pool.idle_bytes", "x"), 25e9, 1e-3);
    CHECK_NEAR(test_value(summary, "sched.refused", ""), 0, 0); /* nobody was sent there */
    free(summary);
}

/* covers: S1.76 */
/* What a job takes while it runs, which nobody was asked for, finds no more either: 35 GB of y
 * beside 50 GB of x that nobody uses. */
static void a_pool_is_kept_from_those_who_run(void)
{
    static const char work[] = CLASS("a", "y", "0", "10", ", activations: 25 GB");
    struct seen seen;
    free(run("tenants: [{name: x, gpu_memory: 50 GB}, {name: y}]\n", work, &seen));
    CHECK_STR(seen.outcome[0], "oom");
    free(run("tenants: [{name: x, gpu_memory: 40 GB}, {name: y}]\n", work, &seen));
    CHECK_STR(seen.outcome[0], "done");
}

/* What a tenant has beyond its pool is anybody's; what it gives back of it is kept again. */
static void a_tenant_may_have_more_than_its_pool(void)
{
    struct seen seen;
    free(run("tenants: [{name: x, gpu_memory: 20 GB}, {name: y}]\n",
             CLASS("a", "x", "0", "40", "") CLASS("b", "y", "10", "45", "")
                 CLASS("c", "y", "20", "40", ""),
             &seen));
    CHECK_NEAR(seen.start_s[0], 0, 0);
    CHECK_NEAR(seen.start_s[2], 20, 0);  /* 40 GB are there while a has 40 */
    CHECK_NEAR(seen.start_s[1], 120, 0); /* when a has gone 20 of its 40 are kept */
}

/* A reservation of backfilling and the walk of other policies ask under marks: pools hold all the
 * same, and the truth never refuses what was planned. */
static void pools_hold_under_every_policy(void)
{
    static const char *const policies[] = { "fcfs",   "first_fit",       "easy", "conservative",
                                            "srtf",   "strict_priority", "drf",  "quota_queues",
                                            "las_2d", "slurm",           "wfq",  "bounded_wait" };
    static const char work[] = CLASS("a", "y", "0", "30", "")
        CLASS("b", "y", "0", "60", ", priority: 3") CLASS("c", "x", "50", "50", "")
            CLASS("d", "y", "60", "10", ", priority: 1") CLASS("e", "x", "60", "30", "");
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        char sched[64];
        struct seen seen;
        (void)snprintf(sched, sizeof sched, "queueing: %s", policies[i]);
        struct sim_run_summary *summary = run_on(
            "h100", sched, "tenants: [{name: x, gpu_memory: 50 GB}, {name: y}]\n", work, &seen);
        CHECK(seen.start_s[2] >= 50);
        CHECK_STR(seen.outcome[1], "refused"); /* 60 GB of y never fit beside 50 that are kept */
        CHECK_STR(seen.outcome[2], "done");
        CHECK_STR(seen.outcome[4], "done");
        CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
        free(summary);
    }
}

/* covers: S1.77 */
/* 12 288 MB, in use by three of 4 000 MB and priority 20, 30 and 40. 8 000 MB for priority 100 take
 * the places of the first two; for priority 25 nobody's, as one place would not be enough. */
static void memory_is_taken_from_the_least_urgent(void)
{
    for (int i = 0; i < 2; i++) {
        char work[1000];
        struct seen seen;
        (void)snprintf(
            work, sizeof work, "%s%s%s%s%s",
            "      - {name: a, count: 1, priority: 20, request: {gpus: 0.1, gpu_memory: 4000 "
            "MB}}\n",
            "      - {name: b, count: 1, priority: 30, request: {gpus: 0.1, gpu_memory: 4000 "
            "MB}}\n",
            "      - {name: c, count: 1, priority: 40, request: {gpus: 0.1, gpu_memory: 4000 "
            "MB}}\n",
            "      - {name: d, count: 1, at: 10 s, request: {gpus: 0.1, gpu_memory: 8000 MB}, ",
            i == 0 ? "priority: 100}\n" : "priority: 25}\n");
        free(run_on("small", "queueing: strict_priority", "", work, &seen));
        CHECK_NEAR(seen.start_s[3], i == 0 ? 10 : 100, 0);
        CHECK_I64(seen.attempts[0], i == 0 ? 2 : 1);
        CHECK_I64(seen.attempts[1], i == 0 ? 2 : 1);
        CHECK_I64(seen.attempts[2], 1);
    }
}

/* Only as many as are needed, the last started of equals, and nobody whom the gap protects. */
static void no_more_give_way_than_are_needed(void)
{
    static const char work[] =
        "      - {name: a, count: 1, priority: 1, request: {gpus: 0.1, gpu_memory: 4000 MB}}\n"
        "      - {name: b, count: 1, at: 1 s, priority: 1, request: {gpus: 0.1, gpu_memory: 6000 "
        "MB}}\n"
        "      - {name: c, count: 1, at: 2 s, priority: 2, request: {gpus: 0.1, gpu_memory: 2000 "
        "MB}}\n"
        "      - {name: d, count: 1, at: 10 s, priority: 6, request: {gpus: 0.1, gpu_memory: 5000 "
        "MB}}\n";
    struct seen seen;
    free(run_on("small", "queueing: {policy: strict_priority, gap: 5}", "", work, &seen));
    CHECK_NEAR(seen.start_s[3], 10, 0);
    CHECK_I64(seen.attempts[0], 1);
    CHECK_I64(seen.attempts[1], 2);
    free(run_on("small", "queueing: {policy: strict_priority, gap: 6}", "", work, &seen));
    CHECK_NEAR(seen.start_s[3], 101, 0); /* of 4000 MB at 100 s and of 6000 more */
}

/* covers: S1.78 */
/* 50 steps of 2 s: what a step gives back takes 0.5 s each time where it goes back to the GPU, and
 * nothing where the next step has it. */
static void memory_that_goes_back_to_the_gpu_costs_time(void)
{
    static const struct {
        const char *tenants, *activations;
        double end_s;
    } cases[] = {
        { "tenants: [{name: x}]\n", ", activations: 5 GB", 100 },
        { "tenants: [{name: x, gpu_memory: {reuse: event}}]\n", ", activations: 5 GB", 100 },
        { "tenants: [{name: x, gpu_memory: {reuse: none, free: 0.5 s}}]\n", ", activations: 5 GB",
          125 },
        { "tenants: [{name: x, gpu_memory: {reuse: none}}]\n", ", activations: 5 GB", 100.05 },
        { "tenants: [{name: y, gpu_memory: {reuse: none, free: 1 s}}, {name: x, parent: y}]\n",
          ", activations: 5 GB", 150 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char work[400];
        struct seen seen;
        (void)snprintf(work, sizeof work,
                       "      - {name: a, tenant: x, count: 1, request: {gpus: 0.1, gpu_memory: 1 "
                       "GB}, step: {time: 2 s}%s}\n",
                       cases[i].activations);
        free(run(cases[i].tenants, work, &seen));
        CHECK_NEAR(seen.end_s[0], cases[i].end_s, 1e-6);
    }
}

/* A scheduler is told of 80 GB, of which 76 are there: it gives away what is not, and nothing is
 * wrong while what is used fits. */
static void more_may_be_promised_than_there_is(void)
{
    struct sim_run_summary *summary =
        test_run_text("schema: 2\nname: t\nhorizon: 10 min\n"
                      "cluster: {nodes: [{name: n, cpus: 16, ram: 64 GB, gpus: {h100: 2}}]}\n"
                      "truth: {gpu_types: {h100: {memory: 76 GB}}}\n"
                      "sched: {placement: fgd, scaling: xenna}\n"
                      "pipelines:\n  - name: p\n    input: {items: 200}\n    stages:\n"
                      "      - {name: a, request: {cpus: 1, gpus: 0.5, gpu_memory: 40 GB},\n"
                      "         uses: {gpus: 0.5, gpu_memory: 1 GB}, service: exp(2 s)}\n",
                      NULL);

    CHECK_I64(summary->status, WEIR_OK);
    CHECK_NEAR(test_value(summary, "util.gpumem.assigned", ""), 160.0 / 152.0, 0.02);
    free(summary);
}

static const struct test tests[] = {
    { "more may be promised than there is", more_may_be_promised_than_there_is },
    { "who takes more than a process may fails alone",
      who_takes_more_than_a_process_may_fails_alone },
    { "nobody else finds what a pool does not use", nobody_else_finds_what_a_pool_does_not_use },
    { "a pool is kept from those who run", a_pool_is_kept_from_those_who_run },
    { "a tenant may have more than its pool", a_tenant_may_have_more_than_its_pool },
    { "pools hold under every policy", pools_hold_under_every_policy },
    { "memory is taken from the least urgent", memory_is_taken_from_the_least_urgent },
    { "no more give way than are needed", no_more_give_way_than_are_needed },
    { "memory that goes back to the gpu costs time", memory_that_goes_back_to_the_gpu_costs_time },
};
TEST_MAIN(tests)
