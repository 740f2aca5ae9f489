/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in steps by hand: a step computes, waits for the slowest rank, exchanges by where the ranks
 * are. Nodes have 8 GPUs with 450 GB/s of NVLink and an interface of 100 GB/s.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NVLINK = 450, NIC = 100; /* GB/s */

/* Results of `jobs`, the entries of a workload w; `more` is other sections. */
#define LINKS ", nvlink: 450 GB/s, nic: 100 GB/s, pcie: 55 GB/s" /* for those that exchange */

static struct sim_run_summary *run(const char *more, const char *jobs)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 100 h\n%s"
                   "cluster:\n  nodes: [{name: n, count: 8, cpus: 64, gpus: {h100: 8}%s}]\n"
                   "jobs:\n  - name: w\n%s",
                   more, strstr(jobs, "sync") == NULL ? "" : LINKS, jobs);
    return test_run_text(text, NULL);
}

/* One job of 1000 s by what its class says. */
static struct sim_run_summary *run_one(const char *more, const char *class)
{
    char jobs[600];
    (void)snprintf(jobs, sizeof(jobs), "    classes: [{name: a, count: 1, run_time: 1000 s, %s}]\n",
                   class);
    return run(more, jobs);
}

static double value_of(const char *more, const char *class, const char *metric)
{
    struct sim_run_summary *summary = run_one(more, class);
    const double value = test_value(summary, metric, "");
    free(summary);
    return value;
}

static void steps_that_only_compute_take_the_run_time(void)
{
    static const char *const shapes[] = { "request: {gpus: 1}", "request: {gpus: 4}",
                                          "members: 3, request: {gpus: 2}",
                                          "members: 3, request: {cpus: 2}" };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char class[200];
        (void)snprintf(class, sizeof class, "step: {time: 7 s}, %s", shapes[i]);
        struct sim_run_summary *summary = run_one("", class);
        CHECK_NEAR(test_value(summary, "jct.mean", ""), 1000, 0);
        CHECK_NEAR(test_value(summary, "jobs.step_s", ""), 7, 1e-9);
        CHECK_NEAR(test_value(summary, "jobs.sync_share", ""), 0, 0);
        CHECK_NEAR(test_value(summary, "jobs.barrier_share", ""), 0, 0);
        free(summary);
    }
    struct sim_run_summary *plain = run_one("", "request: {gpus: 1}");
    CHECK(isnan(test_value(plain, "jobs.step_s", "")));
    free(plain);
}

/* ---- exchange ---- */

#define SYNC "step: {time: 1 s, sync: 10 GB, latency: 2 ms}, "

/* covers: S1.18 */
static void a_job_on_two_nodes_is_slower_by_its_exchange(void)
{
    const double one_s = 10 * 1.75 / NVLINK + 0.002;
    const double two_s = 10 * (1.5 / NVLINK + 1 / NIC) + 0.002;
    const double one = value_of("", SYNC "request: {gpus: 8}", "jct.mean");
    const double two = value_of(
        "", SYNC "members: 2, placement_group: strict_spread, request: {gpus: 4}", "jct.mean");
    CHECK_NEAR(one, 1000 * (1 + one_s), 1e-6);
    CHECK_NEAR(two, 1000 * (1 + two_s), 1e-6);
    CHECK_NEAR(two / one, (1 + two_s) / (1 + one_s), 1e-9);
    CHECK_NEAR(value_of("", SYNC "request: {gpus: 8}", "jobs.sync_share"), one_s / (1 + one_s),
               1e-6);
}

/* Computing goes by the type of GPU, and the exchange does not. */
static void a_faster_gpu_exchanges_no_faster(void)
{
    const double sync_s = 10 * 1.75 / NVLINK + 0.002;
    const char *const twice = "catalog: {gpu_types: {h100: {speed: 2}}}\n";
    CHECK_NEAR(value_of(twice, SYNC "request: {gpus: 8}", "jct.mean"), 1000 * (0.5 + sync_s), 1e-5);
}

static void one_rank_has_nobody_to_exchange_with(void)
{
    CHECK_NEAR(value_of("", SYNC "request: {gpus: 1}", "jct.mean"), 1000, 0);
}

static void latency_is_that_of_the_place_unless_given(void)
{
    static const char *const places[] = { "request: {gpus: 2}",
                                          "members: 2, placement_group: strict_spread, "
                                          "request: {gpus: 1}" };
    static const double latency_s[] = { 50e-6, 500e-6 };
    for (size_t i = 0; i < 2; i++) {
        char class[200];
        (void)snprintf(class, sizeof class, "step: {time: 1 ms, sync: 1 B}, %s", places[i]);
        CHECK_NEAR(value_of("", class, "jobs.step_s"), 0.001 + latency_s[i], 1e-9);
    }
}

/* covers: S1.54 */
static void the_share_of_exchange_grows_with_the_ranks(void)
{
    double before = -1;
    for (uint32_t ranks = 1; ranks <= 64; ranks *= 2) {
        char class[200];
        (void)snprintf(class, sizeof class, "step: {time: 1 s, sync: 10 GB}, members: %u, %s",
                       ranks, "request: {gpus: 1}");
        const double share = value_of("", class, "jobs.sync_share");
        CHECK(share > before);
        before = share;
    }
    /* eight nodes of eight: one ring over the interfaces */
    const double sync_s = 10 * 2 * 63.0 / 64 / NIC + 500e-6;
    CHECK_NEAR(before, sync_s / (1 + sync_s), 1e-6);
}

/* ---- exchanges that meet ---- */

/* Jobs of two ranks on two nodes of three GPUs, `classes` of them at once: job times by class. */
static void run_meeting(const char *exchange, const char *classes, double *jct_s, uint32_t count)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 100 h\ncluster:\n  exchange: %s\n"
                   "  nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 3}, nvlink: 450 GB/s, "
                   "nic: 50 GB/s, pcie: 55 GB/s}]\njobs:\n  - name: w\n    classes:\n%s",
                   exchange, classes);
    struct sim_run_summary *summary = test_run_text(text, NULL);
    for (uint32_t i = 0; i < count; i++)
        jct_s[i] = test_value(summary, "jct.max", (const char *[]){ "a", "b", "c" }[i]);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
}

/* Steps of `time` and an exchange of `sync` / 50 GB/s, 1000 of them. */
#define MEETS(name, count, time, run, sync)                                                        \
    "      - {name: " name ", count: " count ", members: 2, placement_group: strict_spread, "      \
    "request: {gpus: 1}, run_time: " run " s, step: {time: " time " s, sync: " sync                \
    " GB, latency: 0 s}}\n"

/* covers: S1.113 */
/* 40 % of a step each: 1.4 times as long when they begin at once, as if alone when shifted. */
static void exchanges_that_are_shifted_do_not_clash(void)
{
    static const struct {
        const char *exchange, *classes;
        double jct_s[2];
    } cases[] = {
        { "alone", MEETS("a", "2", "0.6", "600", "20"), { 1000 } },
        { "aligned", MEETS("a", "2", "0.6", "600", "20"), { 1000 } },
        { "clashing", MEETS("a", "2", "0.6", "600", "20"), { 1400 } },
        /* three exchanges of 0.4 s do not go into a step of 1 s */
        { "aligned", MEETS("a", "3", "0.6", "600", "20"), { 1200 } },
        { "clashing", MEETS("a", "3", "0.6", "600", "20"), { 1800 } },
        /* steps of 1 s and of 1.005 s count as equal, of 1 s and 2 s not: 0.4 s meet 0.8 s */
        { "aligned",
          MEETS("a", "1", "0.6", "600", "20") MEETS("b", "1", "0.605", "605", "20"),
          { 1000, 1005 } },
        { "aligned",
          MEETS("a", "1", "0.6", "600", "20") MEETS("b", "1", "1.2", "1200", "40"),
          { 1400, 2233.333 } },
        { "clashing",
          MEETS("a", "1", "0.6", "600", "20") MEETS("b", "1", "1.2", "1200", "40"),
          { 1400, 2233.333 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double jct_s[2] = { 0 };
        const uint32_t classes = cases[i].jct_s[1] > 0 ? 2 : 1;
        run_meeting(cases[i].exchange, cases[i].classes, jct_s, classes);
        for (uint32_t c = 0; c < classes; c++)
            CHECK_NEAR(jct_s[c], cases[i].jct_s[c], 1e-3);
    }
}

/* ---- the slowest rank ---- */

#define SLOW "timeline: [{at: 0 s, action: node_slow, node: n-1, factor: 1.5}]\n"

/* covers: S1.19 */
static void a_step_is_as_long_as_its_slowest_rank(void)
{
    static const char *const spread = "members: 8, placement_group: strict_spread, "
                                      "request: {gpus: 8}, step: {time: 1 s}";
    struct sim_run_summary *summary = run_one(SLOW, spread);
    CHECK_NEAR(test_value(summary, "jct.mean", ""), 1500, 1e-6);
    CHECK_NEAR(test_value(summary, "jobs.barrier_share", ""), 7 * 0.5 / 8 / 1.5, 1e-6);
    free(summary);
}

/* Half the time slow: what was done before and after counts at its own pace. */
static void a_change_of_speed_changes_computing_alone(void)
{
    const double sync_s = 10 * (1.5 / NVLINK + 1 / NIC) + 0.002;
    const double slow_s = 300;
    const double done = slow_s / (1.5 + sync_s);
    const double jct = slow_s + (1000 - done) * (1 + sync_s);
    CHECK_NEAR(value_of("timeline: [{at: 100 s, action: node_slow, node: n-1, factor: 1.5, "
                        "for: 300 s}]\n",
                        SYNC "members: 2, placement_group: strict_spread, request: {gpus: 4}",
                        "jct.mean"),
               jct, 1e-5);
}

/* With chance and a slow node the mean is that of the largest of 56 ranks and of 8 slow ones. */
static void chance_and_a_slow_node_are_taken_together(void)
{
    const char *const class = "members: 8, placement_group: strict_spread, request: {gpus: 8}, "
                              "step: {time: 1 ms, spread: 0.1}";
    const double equal = value_of("", class, "jct.mean") / 1000;
    const double slow = value_of(SLOW, class, "jct.mean") / 1000;
    CHECK_NEAR(equal, 1.259104, 0.001);      /* a million steps */
    CHECK_NEAR(slow, 1.5 * 1.149399, 0.005); /* the other 56 hardly ever come near */
    CHECK(slow > 1.5 * 1.149399 - 0.001);
}

/* What belongs to the job is the same wherever it runs. */
static void luck_stays_with_the_job(void)
{
    static const char *const places[] = { "request: {gpus: 8}",
                                          "members: 8, placement_group: strict_spread, "
                                          "request: {gpus: 1}" };
    double jct[2];
    for (size_t i = 0; i < 2; i++) {
        char class[200];
        (void)snprintf(class, sizeof class, "step: {time: 100 s, spread: 0.3}, %s", places[i]);
        jct[i] = value_of("", class, "jct.mean");
    }
    CHECK_NEAR(jct[0], jct[1], 1e-3);
    CHECK(fabs(jct[0] - 1000 * 1.5) < 200 && fabs(jct[0] - 1000 * 1.5) > 0.1);
}

/* ---- with what else happens to jobs ---- */

/* Two on one GPU want 1.6 of its memory bandwidth together. */
static void ranks_share_a_gpu_with_others(void)
{
    for (int has_step = 0; has_step < 2; has_step++) {
        char jobs[400];
        (void)snprintf(jobs, sizeof(jobs),
                       "    %s\n    classes: [{name: a, count: 2, run_time: 1000 s, "
                       "memory_traffic: 0.8, request: {gpus: 0.5}}]\n",
                       has_step ? "step: {time: 1 s}" : "queue_limit: 10");
        struct sim_run_summary *summary = run("", jobs);
        CHECK_NEAR(test_value(summary, "jct.mean", ""), 1600, 1);
        free(summary);
    }
}

/* An interval of work is steps with all that belongs to them. */
static void checkpoints_come_between_steps(void)
{
    struct sim_run_summary *summary =
        run("", "    checkpoint: {interval: 45 s, cost: 2 s}\n    step: {time: 1 s, sync: 50 GB, "
                "latency: 0}\n    classes: [{name: a, count: 1, run_time: 95 s, members: 2, "
                "placement_group: strict_spread, request: {gpus: 1}}]\n");
    /* a GPU feeds 55 GB/s to its interface */
    const double jct = 95 * (1 + 50.0 / 55);
    CHECK_NEAR(test_value(summary, "jct.mean", ""), jct + 2 * floor(jct / 45), 1e-6);
    CHECK_NEAR(test_value(summary, "jobs.saves", ""), floor(jct / 45), 0);
    CHECK_NEAR(test_value(summary, "jobs.sync_share", ""), 50.0 / 105, 1e-6);
    free(summary);
}

/* What still runs at the end counts up to there. */
static void steps_are_counted_up_to_the_end_of_the_run(void)
{
    struct sim_run_summary *summary = run(
        "", "    classes: [{name: a, count: 1, run_time: 100 h, " SYNC "request: {gpus: 8}}]\n");
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 0, 0);
    CHECK_NEAR(test_value(summary, "jobs.step_s", ""), 1.002 + 10 * 1.75 / NVLINK, 1e-6);
    free(summary);
}

/* ---- memory ---- */

static double infeasible(uint32_t tensor, uint32_t pipeline, const char *model)
{
    char class[300];
    (void)snprintf(class, sizeof class,
                   "members: %u, request: {gpus: 1}, parallel: {model: %s, activations: 10 GB, "
                   "tensor: %u, pipeline: %u}",
                   tensor * pipeline, model, tensor, pipeline);
    const double found = value_of("", class, "jobs.infeasible");
    return isnan(found) ? 0 : found;
}

/* 640 GB / n + 10 GB in 80 GB: from 9.14 ranks on; and to the byte.
 * covers: S1.56 */
static void a_divided_model_fits_from_so_many_ranks_on(void)
{
    for (uint32_t ranks = 1; ranks <= 16; ranks++)
        CHECK_NEAR(infeasible(ranks, 1, "640 GB"), ranks < 10 ? 1 : 0, 0);
    CHECK_NEAR(infeasible(3, 3, "640 GB"), 1, 0);
    CHECK_NEAR(infeasible(2, 5, "640 GB"), 0, 0);
    CHECK_NEAR(infeasible(4, 2, "560000000000 B"), 0, 0);
    CHECK_NEAR(infeasible(4, 2, "560000000001 B"), 1, 0);
}

/* The scheduler thinks the card is larger than it is: the start is refused, as others are. */
static void a_rank_that_needs_more_than_there_is_does_not_start(void)
{
    static const char *const class = "members: 8, request: {gpus: 1}, "
                                     "parallel: {model: 640 GB, activations: 1 GB, tensor: 8}";
    const char *const larger = "catalog: {gpu_types: {h100: {memory: 94 GB}}}\n";
    const char *const wrong = "catalog: {gpu_types: {h100: {memory: 94 GB}}}\n"
                              "truth: {gpu_types: {h100: {memory: 80 GB}}}\n";
    CHECK_NEAR(value_of(larger, class, "jobs.done"), 1, 0);
    CHECK_NEAR(value_of(wrong, class, "jobs.done"), 0, 0);
    CHECK(value_of(wrong, class, "sched.refused") > 0);
}

/* The larger of two lognormal times of mean 1 is 2 Phi(s / sqrt 2) = 1 + erf(s / 2) on average;
 * luck makes a job longer or shorter, waiting and computing alike. */
static void waiting_is_a_share_of_what_luck_makes_of_a_job(void)
{
    const double most = 1 + erf(0.8 / 2);
    struct sim_run_summary *summary =
        run_one("", "members: 2, request: {gpus: 1}, step: {time: 500 s, spread: 0.8}");
    CHECK(fabs(test_value(summary, "jct.mean", "") - 1000 * most) > 10); /* it has luck */
    CHECK_NEAR(test_value(summary, "jobs.barrier_share", ""), (most - 1) / most, 1e-6);
    free(summary);
}

/* Two ranks without GPUs on one node exchange in its memory, whatever its GPUs could do. */
static void ranks_without_gpus_on_a_node_take_the_latency_alone(void)
{
    CHECK_NEAR(value_of("", SYNC "members: 2, placement_group: strict_pack, request: {cpus: 2}",
                        "jct.mean"),
               1002, 1e-6);
}

static const struct test tests[] = {
    { "steps that only compute take the run time", steps_that_only_compute_take_the_run_time },
    { "a job on two nodes is slower by its exchange",
      a_job_on_two_nodes_is_slower_by_its_exchange },
    { "a faster GPU exchanges no faster", a_faster_gpu_exchanges_no_faster },
    { "one rank has nobody to exchange with", one_rank_has_nobody_to_exchange_with },
    { "latency is that of the place unless given", latency_is_that_of_the_place_unless_given },
    { "the share of exchange grows with the ranks", the_share_of_exchange_grows_with_the_ranks },
    { "exchanges that are shifted do not clash", exchanges_that_are_shifted_do_not_clash },
    { "a step is as long as its slowest rank", a_step_is_as_long_as_its_slowest_rank },
    { "a change of speed changes computing alone", a_change_of_speed_changes_computing_alone },
    { "chance and a slow node are taken together", chance_and_a_slow_node_are_taken_together },
    { "luck stays with the job", luck_stays_with_the_job },
    { "ranks share a GPU with others", ranks_share_a_gpu_with_others },
    { "checkpoints come between steps", checkpoints_come_between_steps },
    { "steps are counted up to the end of the run", steps_are_counted_up_to_the_end_of_the_run },
    { "a divided model fits from so many ranks on", a_divided_model_fits_from_so_many_ranks_on },
    { "a rank that needs more than there is does not start",
      a_rank_that_needs_more_than_there_is_does_not_start },
    { "waiting is a share of what luck makes of a job",
      waiting_is_a_share_of_what_luck_makes_of_a_job },
    { "ranks without GPUs on a node take the latency alone",
      ranks_without_gpus_on_a_node_take_the_latency_alone },
};
TEST_MAIN(tests)
