/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in time against closed forms: blocking of Erlang and of Kaufman and Roberts, waiting with
 * many servers, with shortest job first and with regular arrivals, and the arrival processes
 * against the moments they promise.
 *
 * Each value is the mean of independent replications; |measured - exact| must be within
 * max(4 standard errors, 0.3 %). Seeds are fixed.
 */
#include "sim/scenario/workload/arrival_process.h"
#include "sim/scenario/workload/job_stream.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICATIONS = 20, TEXT = 2048 };

#define HEAD                                                                                       \
    "schema: 1\nname: q\nhorizon: %g s\nwarmup: 200 s\nsched: {placement: first_fit, queueing: "   \
    "fcfs}\ncluster:\n  nodes:\n    - {name: n, count: %d, cpus: %d}\nworkloads:\n  - name: w\n"   \
    "    kind: generated\n    mode: time\n"

static void check_mean(const char *what, const double *values, double exact)
{
    const double mean = gsl_stats_mean(values, 1, REPLICATIONS);
    const double error = gsl_stats_sd(values, 1, REPLICATIONS) / sqrt(REPLICATIONS);
    const double allowed = fmax(4 * error, 0.003 * fabs(exact));
    if (!check_near(mean, exact, allowed, what, __FILE__, __LINE__))
        printf("%s: %.6g, standard error %.2g\n", what, mean, error);
}

struct wanted {
    const char *metric, *label;
    double exact;
    bool is_blocking; /* 1 - acceptance */
};

static void check_scenario(const char *text, const struct wanted *wanted, size_t count)
{
    double values[8][REPLICATIONS];
    struct sim_scenario *scenario = test_scenario(text, NULL);
    for (uint32_t r = 0; r < REPLICATIONS && scenario != NULL; r++) {
        struct sim_run_summary *summary = test_run_fast(scenario, r, NULL);
        for (size_t i = 0; i < count; i++) {
            const double value = test_value(summary, wanted[i].metric, wanted[i].label);
            values[i][r] = wanted[i].is_blocking ? 1 - value : value;
        }
        free(summary);
    }
    for (size_t i = 0; i < count && scenario != NULL; i++)
        check_mean(wanted[i].metric, values[i], wanted[i].exact);
    sim_scenario_destroy(scenario);
}

/* ---- loss ---- */

static double erlang_b(int servers, double load)
{
    double blocking = 1;
    for (int n = 1; n <= servers; n++)
        blocking = load * blocking / (n + load * blocking);
    return blocking;
}

/* Any law of service gives the same: Erlang's formula looks at its mean alone. */
static void erlang_blocking(void)
{
    static const char *const laws[] = { "exp(1 s)", "lognormal(1 s, 2)" };
    for (size_t i = 0; i < 2; i++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text,
                       HEAD "    queue_limit: 0\n    arrivals: {rate: 8/s}\n    service: %s\n"
                            "    classes:\n      - {name: a, request: {cpus: 1}}\n",
                       2000.0, 10, 1, laws[i]);
        const struct wanted wanted[] = {
            { "jobs.acceptance", "", erlang_b(10, 8), true },
            { "jobs.running.mean", "", 8 * (1 - erlang_b(10, 8)), false },
        };
        check_scenario(text, wanted, 2);
    }
}

/* Kaufman 1981, Roberts 1981: j q(j) = sum of load * size * q(j - size). */
static double multi_rate_blocking(int capacity, const int *sizes, const double *loads, size_t kinds,
                                  int size)
{
    double *share = calloc((size_t)capacity + 1, sizeof *share);
    double sum = 0;
    double blocked = 0;
    share[0] = 1;
    for (int j = 1; j <= capacity; j++)
        for (size_t k = 0; k < kinds; k++)
            if (sizes[k] <= j)
                share[j] += loads[k] * sizes[k] * share[j - sizes[k]] / j;
    for (int j = 0; j <= capacity; j++) {
        sum += share[j];
        blocked += j > capacity - size ? share[j] : 0;
    }
    free(share);
    return blocked / sum;
}

struct multi_rate {
    int capacity;
    int sizes[4];
    double loads[4];
    size_t kinds;
};

static size_t write_multi_rate(const struct multi_rate *model, char *text)
{
    double rate = 0;
    for (size_t k = 0; k < model->kinds; k++)
        rate += model->loads[k];
    int length = snprintf(text, TEXT,
                          HEAD "    queue_limit: 0\n    arrivals: {rate: %g/s}\n"
                               "    service: exp(1 s)\n    classes:\n",
                          2000.0, 1, model->capacity, rate);
    for (size_t k = 0; k < model->kinds; k++)
        length += snprintf(text + length, TEXT - (size_t)length,
                           "      - {name: s%d, weight: %g, request: {cpus: %d}}\n",
                           model->sizes[k], model->loads[k], model->sizes[k]);
    return (size_t)length;
}

static void multi_rate_loss_is_that_of_kaufman_and_roberts(void)
{
    static const struct multi_rate models[] = {
        { 8, { 1, 2, 4, 8 }, { 2, 1, 0.5, 0.25 }, 4 },
        { 8, { 1, 2 }, { 2, 1 }, 2 },
        { 64, { 1, 2, 4, 8 }, { 16, 8, 4, 2 }, 4 },
        { 64, { 1, 4, 8, 16 }, { 12, 3, 1.5, 0.75 }, 4 },
    };
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        char text[TEXT];
        char labels[4][8];
        struct wanted wanted[4];
        (void)write_multi_rate(&models[m], text);
        for (size_t k = 0; k < models[m].kinds; k++) {
            (void)snprintf(labels[k], sizeof labels[k], "s%d", models[m].sizes[k]);
            wanted[k] = (struct wanted){ "jobs.acceptance", labels[k],
                                         multi_rate_blocking(models[m].capacity, models[m].sizes,
                                                             models[m].loads, models[m].kinds,
                                                             models[m].sizes[k]),
                                         true };
        }
        check_scenario(text, wanted, models[m].kinds);
    }
    const int sizes[] = { 1, 2, 4, 8 };
    const double loads[] = { 2, 1, 0.5, 0.25 };
    CHECK_NEAR(multi_rate_blocking(8, sizes, loads, 4, 2), 0.2222222222222222, 1e-12);
    CHECK_NEAR(multi_rate_blocking(8, sizes, loads, 4, 8), 0.9611542730299666, 1e-12);
}

/* ---- waiting ---- */

/* Erlang C with 4 servers at 0.9. */
static void many_servers_wait_as_erlang_says(void)
{
    char text[TEXT];
    const struct wanted wanted[] = { { "jobs.delayed_frac", "", 0.7877532642953626, false },
                                     { "queue.len.mean", "", 7.089779378658266, false } };
    (void)snprintf(text, sizeof text,
                   HEAD "    arrivals: {rate: 3.6/s}\n    service: exp(1 s)\n    classes:\n"
                        "      - {name: a, request: {cpus: 1}}\n",
                   10000.0, 4, 1);
    check_scenario(text, wanted, 2);
}

/* Phipps' integral for M/M/1 at 0.5. */
static void shortest_job_first_waits_less(void)
{
    char text[TEXT];
    const struct wanted wanted[] = { { "jct.mean", "", 1.712686331938893, false } };
    (void)snprintf(text, sizeof text,
                   HEAD "    arrivals: {rate: 0.5/s}\n    service: exp(1 s)\n    classes:\n"
                        "      - {name: a, request: {cpus: 1}}\n",
                   20000.0, 1, 1);
    char *policy = strstr(text, "fcfs");
    if (policy != NULL)
        memcpy(policy, "sjf ", 4);
    check_scenario(text, wanted, 1);
}

/* D/M/1 at 0.8. */
static void regular_arrivals_wait_less(void)
{
    char text[TEXT];
    const struct wanted wanted[] = { { "wait.job.mean", "", 1.6927308399200491, false } };
    (void)snprintf(text, sizeof text,
                   HEAD "    arrivals: {process: renewal, gap: const(1.25 s)}\n"
                        "    service: exp(1 s)\n    classes:\n"
                        "      - {name: a, request: {cpus: 1}}\n",
                   20000.0, 1, 1);
    check_scenario(text, wanted, 1);
}

/* Batches of always two, M[2]/M/1: jobs wait (rho + 0.5) / (1 - rho) on average. */
static void jobs_that_come_in_pairs_wait_longer(void)
{
    char text[TEXT];
    const struct wanted wanted[] = { { "wait.job.mean", "", (0.5 + 0.5) / (1 - 0.5), false } };
    (void)snprintf(text, sizeof text,
                   HEAD "    arrivals: {rate: 0.5/s, batch: const(2)}\n"
                        "    service: exp(1 s)\n    classes:\n"
                        "      - {name: a, request: {cpus: 1}}\n",
                   20000.0, 1, 1);
    check_scenario(text, wanted, 1);
}

/* ---- arrival processes ---- */

struct gaps {
    double mean, cv;
    double dispersion; /* variance over mean of the counts in windows of 1 000 s */
    double crest;      /* rate in the first half of the period over that in the second */
};

static struct gaps measure(const struct sim_arrivals *spec, uint64_t replication)
{
    enum { ARRIVALS = 400000, WINDOWS = 2000 };
    const struct sim_random random = { .seed = 7, .replication = replication };
    struct sim_arrival_process process;
    double *counts = calloc(WINDOWS, sizeof *counts);
    double sum = 0;
    double squares = 0;
    double halves[2] = { 0 };
    size_t windows = 0;
    double before = 0;
    sim_arrival_process_open(&process, spec, &random, SIM_DRAW_JOB_ARRIVAL);
    for (int i = 0; i < ARRIVALS; i++) {
        const double now = sim_arrival_process_next(&process);
        sum += now - before;
        squares += (now - before) * (now - before);
        before = now;
        windows = (size_t)(now / 1000);
        counts[windows < WINDOWS ? windows : WINDOWS - 1]++;
        if (now < 75e4) /* whole periods, however long the last arrival takes */
            halves[fmod(now, 1e4) < 5e3 ? 0 : 1]++;
    }
    const double mean = sum / ARRIVALS;
    const struct gaps gaps = { .mean = mean,
                               .cv = sqrt(squares / ARRIVALS - mean * mean) / mean,
                               .dispersion = gsl_stats_variance(counts, 1, windows) /
                                             gsl_stats_mean(counts, 1, windows),
                               .crest = halves[0] / halves[1] };
    free(counts);
    return gaps;
}

static void check_process(const struct sim_arrivals *spec, struct gaps exact)
{
    double values[4][REPLICATIONS];
    for (uint32_t r = 0; r < REPLICATIONS; r++) {
        const struct gaps gaps = measure(spec, r);
        values[0][r] = gaps.mean;
        values[1][r] = gaps.cv;
        values[2][r] = gaps.dispersion;
        values[3][r] = gaps.crest;
    }
    check_mean("mean gap", values[0], exact.mean);
    if (!isnan(exact.cv))
        check_mean("variation of gaps", values[1], exact.cv);
    if (!isnan(exact.dispersion))
        check_mean("dispersion of counts", values[2], exact.dispersion);
    if (!isnan(exact.crest))
        check_mean("crest", values[3], exact.crest);
}

static void processes_have_the_moments_they_promise(void)
{
    const struct sim_arrivals poisson = { .kind = SIM_ARRIVALS_POISSON,
                                          .rate_per_s = 0.5,
                                          .batch_mean = 1 };
    const struct sim_arrivals wild = {
        .kind = SIM_ARRIVALS_HYPEREXPONENTIAL, .rate_per_s = 0.5, .batch_mean = 1, .cv = 3
    };
    check_process(&poisson, (struct gaps){ 2, 1, 1, 1 });
    check_process(&wild, (struct gaps){ 2, 3, (double)NAN, 1 });
}

/* Index of dispersion of a two-state modulated Poisson process over windows of t (Fischer and
 * Meier-Hellstern 1993): 1 + 2 p (1 - p) (r1 - r0)^2 / (r s) * (1 - (1 - e^(-s t)) / (s t)), with
 * s the sum of the rates of change of phase. */
static void bursts_spread_the_counts(void)
{
    const struct sim_arrivals spec = { .kind = SIM_ARRIVALS_MODULATED,
                                       .rate_per_s = 0.5,
                                       .batch_mean = 1,
                                       .burst = 4,
                                       .burst_share = 0.1,
                                       .dwell_ns = 100 * SIM_NS_PER_S };
    const double high = 2;
    const double low = 0.5 * (1 - 0.4) / 0.9;
    const double change = 1 / 100.0 + 1 / 900.0;
    const double window = change * 1000;
    const double spread = 2 * 0.1 * 0.9 * (high - low) * (high - low) / (0.5 * change);
    const double dispersion = 1 + spread * (1 - (1 - exp(-window)) / window);
    check_process(&spec, (struct gaps){ 2, (double)NAN, dispersion, (double)NAN });
}

/* Rate 1 + 0.8 cos about a peak in the middle of the first half: the halves hold
 * 1 +- 2 * 0.8 / pi of the mean. */
static void the_day_has_a_peak(void)
{
    const struct sim_arrivals spec = { .kind = SIM_ARRIVALS_DIURNAL,
                                       .rate_per_s = 0.5,
                                       .batch_mean = 1,
                                       .amplitude = 0.8,
                                       .period_ns = 10000 * SIM_NS_PER_S,
                                       .peak_ns = 2500 * SIM_NS_PER_S };
    const double swing = 2 * 0.8 / M_PI;
    check_process(&spec, (struct gaps){ 2, (double)NAN, (double)NAN, (1 + swing) / (1 - swing) });
}

/* Every model has run times of its own. Of the one with a heavy tail Hill's estimate of the index,
 * n / sum ln(x / least), is the law's to 5 % (its deviation is 1 / sqrt(n) = .45 %); of the other
 * the logarithms have mean and deviation of the law. covers: S1.2 */
static void run_times_have_the_tail_of_their_model(void)
{
    enum { DRAWS = 100000 };
    static const char *const text =
        "schema: 2\nname: j\ncluster: {nodes: [{name: n, cpus: 64, gpus: {a100-80: 8}}]}\n"
        "jobs:\n  - name: w\n    count: 100000\n    arrivals: {rate: 1/s}\n    classes:\n"
        "      - {name: notebook, request: {gpus: 1}, run_time: \"pareto(300 s, 1.5)\"}\n"
        "      - {name: bert, request: {gpus: 4}, run_time: \"lognormal(2 h, 1)\"}\n";
    const struct sim_random random = { .seed = 5 };
    struct sim_scenario *scenario = test_scenario(text, NULL);
    struct sim_job_stream *stream = NULL;
    struct sim_job_arrival job;
    double sums[2][3] = { { 0 } };
    CHECK_I64(sim_job_stream_create(&scenario->workloads[0], &random, &stream), WEIR_OK);
    while (sim_job_stream_next(stream, &job)) {
        const double log_of = log(sim_time_s(job.run_ns) / (job.spec == 0 ? 300 : 1));
        sums[job.spec][0]++;
        sums[job.spec][1] += log_of;
        sums[job.spec][2] += log_of * log_of;
    }
    CHECK_NEAR(sums[0][0] + sums[1][0], DRAWS, 0);
    CHECK_NEAR(sums[0][0] / sums[0][1], 1.5, 0.05 * 1.5);
    const double mean = sums[1][1] / sums[1][0];
    const double variance = sums[1][2] / sums[1][0] - mean * mean;
    CHECK_NEAR(variance, log(2.0), 0.05 * log(2.0)); /* cv 1 */
    CHECK_NEAR(mean, log(7200) - log(2.0) / 2, 0.05);
    sim_job_stream_destroy(stream);
    sim_scenario_destroy(scenario);
}

/* Classes come in the proportions of their weights (chi-square, 3 degrees of freedom).
 * covers: S1.2 */
static void classes_come_by_weight(void)
{
    enum { DRAWS = 100000 };
    static const char *const text =
        "schema: 1\nname: j\ncluster:\n  nodes:\n    - {name: n, cpus: 64, gpus: {a100-80: 8}}\n"
        "sched: {placement: first_fit}\nworkloads:\n  - name: w\n    kind: generated\n"
        "    mode: time\n    jobs: 100000\n    arrivals: {rate: 1/s}\n    service: exp(1 s)\n"
        "    classes:\n"
        "      - {name: g1, weight: 8, request: {gpus: 1}}\n"
        "      - {name: g2, weight: 4, request: {gpus: 2}}\n"
        "      - {name: g4, weight: 2, request: {gpus: 4}}\n"
        "      - {name: g8, weight: 1, request: {gpus: 8}}\n";
    const struct sim_random random = { .seed = 11 };
    struct sim_scenario *scenario = test_scenario(text, NULL);
    struct sim_job_stream *stream = NULL;
    struct sim_job_arrival job;
    double counts[4] = { 0 };
    double distance = 0;
    CHECK_I64(sim_job_stream_create(&scenario->workloads[0], &random, &stream), WEIR_OK);
    while (sim_job_stream_next(stream, &job))
        counts[job.spec]++;
    for (int k = 0; k < 4; k++) {
        const double expected = DRAWS * (8 >> k) / 15.0;
        distance += (counts[k] - expected) * (counts[k] - expected) / expected;
    }
    CHECK(distance < 11.34); /* p > 0.01 */
    CHECK_NEAR(counts[0] + counts[1] + counts[2] + counts[3], DRAWS, 0);
    sim_job_stream_destroy(stream);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "erlang_blocking", erlang_blocking },
    { "multi_rate_loss_is_that_of_kaufman_and_roberts",
      multi_rate_loss_is_that_of_kaufman_and_roberts },
    { "many_servers_wait_as_erlang_says", many_servers_wait_as_erlang_says },
    { "shortest_job_first_waits_less", shortest_job_first_waits_less },
    { "regular_arrivals_wait_less", regular_arrivals_wait_less },
    { "jobs_that_come_in_pairs_wait_longer", jobs_that_come_in_pairs_wait_longer },
    { "processes_have_the_moments_they_promise", processes_have_the_moments_they_promise },
    { "bursts_spread_the_counts", bursts_spread_the_counts },
    { "the_day_has_a_peak", the_day_has_a_peak },
    { "classes_come_by_weight", classes_come_by_weight },
    { "run_times_have_the_tail_of_their_model", run_times_have_the_tail_of_their_model },
};
TEST_MAIN(tests)
