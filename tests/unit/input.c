/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The items of a pipeline: recorded ones, every process of arrivals, and the timeline on them all.
 * One stage of many workers takes what comes at once, so that a span starts when its item arrives.
 */
#include "sim/engine/law.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPANS = 20000 };

struct seen {
    size_t count;
    double start_s[SPANS], service_s[SPANS];
};

static void add_span(void *state, const struct sim_span *span)
{
    struct seen *seen = state;
    if (seen->count == SPANS)
        return;
    seen->start_s[seen->count] = sim_time_s(span->start_ns);
    seen->service_s[seen->count++] = sim_time_s(span->end_ns - span->start_ns);
}

static const char *write_items(const char *text)
{
    static const char path[] = "input_items.csv";
    FILE *out = fopen(path, "w");
    CHECK(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
    return path;
}

/* `rest`: more of the scenario. The service is 1 ms by the size of an item. */
static struct seen *run(const char *input, const char *rest)
{
    char text[2000];
    struct seen *seen = calloc(1, sizeof(*seen));
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 30000 s\n"
                   "cluster: {nodes: [{name: n, cpus: 400}]}\n"
                   "sched: {placement: first_fit, scaling: {policy: fixed, interval: 10000 s}}\n"
                   "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n"
                   "    input: %s\n"
                   "    stages: [{name: a, service: 1 ms, workers: 400}]\n"
                   "%s",
                   input, rest);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    if (!CHECK(scenario != NULL) || seen == NULL)
        abort();
    const struct sim_observer observer = { .span = add_span, .state = seen };
    struct sim_run_summary *summary = test_run_fast(scenario, 0, &observer);
    CHECK_I64(summary->status, WEIR_OK);
    free(summary);
    sim_scenario_destroy(scenario);
    return seen;
}

static void check_starts(const struct seen *seen, const double *start_s, size_t count)
{
    CHECK_I64(seen->count, count);
    for (size_t i = 0; i < count && i < seen->count; i++)
        CHECK_NEAR(seen->start_s[i], start_s[i], 1e-9);
}

/* ---- recorded ---- */

#define ITEMS "time,other,size\n3,x,4\n0.5,y,1\n1.000000001,z,2\n1.000000001,z,3\n"

static void a_recorded_input_comes_when_the_file_says(void)
{
    static const double start_s[] = { 0.5, 1.000000001, 1.000000001, 3 };
    (void)write_items(ITEMS);
    struct seen *seen = run("{file: input_items.csv}", "");
    check_starts(seen, start_s, 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(seen->service_s[i], 0.001 * (double)(i + 1), 1e-12);
    free(seen);
}

static void a_recorded_input_is_played_faster_and_cut(void)
{
    static const double start_s[] = { 0.25, 0.5, 0.5 };
    (void)write_items(ITEMS);
    struct seen *seen = run("{file: input_items.csv, items: 3, arrivals: {scale: 2}}", "");
    check_starts(seen, start_s, 3);
    free(seen);
}

/* Without times the rows are a backlog; with a process they come by it, each as it is. */
static void rows_keep_their_sizes_whatever_brings_them(void)
{
    static const double start_s[] = { 10, 20, 30, 40 };
    (void)write_items(ITEMS);
    struct seen *gap = run("{file: input_items.csv, arrivals: const(10 s)}", "");
    check_starts(gap, start_s, 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(gap->service_s[i], 0.001 * (double)(i + 1), 1e-12);
    free(gap);
    (void)write_items("size\n5\n2\n");
    struct seen *backlog = run("{file: input_items.csv}", "");
    CHECK_I64(backlog->count, 2);
    CHECK_NEAR(backlog->start_s[0], 0, 0);
    CHECK_NEAR(backlog->service_s[0] + backlog->service_s[1], 0.007, 1e-12);
    free(backlog);
}

/* Twice the rate from 0.75 s on: what is left of each gap is half. A burst brings the first rows
 * once more and moves nothing. */
static void the_timeline_acts_on_a_recorded_input(void)
{
    static const double start_s[] = { 0.5, 0.6, 0.6, 0.875, 0.875, 1.875 };
    (void)write_items("time,size\n0.5,1\n1,2\n1,3\n3,4\n");
    struct seen *seen = run("{file: input_items.csv}",
                            "timeline:\n"
                            "  - {at: 0.6 s, action: burst, pipeline: p, items: 2}\n"
                            "  - {at: 0.75 s, action: arrivals, pipeline: p, factor: 2}\n");
    check_starts(seen, start_s, 6);
    CHECK_NEAR(seen->service_s[1] + seen->service_s[2], 0.003, 1e-12);
    CHECK_NEAR(seen->service_s[5], 0.004, 1e-12);
    free(seen);
}

static void a_lull_holds_a_recorded_input_back(void)
{
    static const double start_s[] = { 1, 6 };
    (void)write_items("time\n1\n3\n");
    struct seen *seen =
        run("{file: input_items.csv}",
            "timeline: [{at: 2 s, for: 3 s, action: arrivals, pipeline: p, factor: 0}]\n");
    check_starts(seen, start_s, 2);
    free(seen);
}

/* ---- what a file may not say ---- */

static void check_refusal(const char *items, const char *input, const char *says)
{
    char text[1000];
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    (void)write_items(items);
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 4}]}\n"
                   "pipelines: [{name: p, input: %s, stages: [{name: a, service: 1 s}]}]\n",
                   input);
    const struct sim_scenario_source source = { .path = "input.yaml", .text = text };
    CHECK_I64(sim_scenario_load(&source, &scenario, &diagnostics), WEIR_EFORMAT);
    bool is_said = false;
    for (size_t i = 0; i < diagnostics.count; i++)
        is_said = is_said || strstr(diagnostics.items[i].message, says) != NULL;
    if (!CHECK(is_said))
        printf("  not said: %s\n", says);
    sim_diagnostics_clear(&diagnostics);
    sim_scenario_destroy(scenario);
}

static void mistakes_are_named_by_their_place(void)
{
    static const struct {
        const char *items, *input, *says;
    } cases[] = {
        { "time,size\n1,2\n2,-3\n", "{file: input_items.csv}",
          "input_items.csv:3:2: column 'size': must be >= 0, got '-3'" },
        { "time\n1\nnoon\n", "{file: input_items.csv}",
          "input_items.csv:3:1: column 'time': 'noon' is not a time in seconds" },
        { "size,class\n1,\n", "{file: input_items.csv}",
          "input_items.csv:2:2: column 'class': is empty" },
        { "class\nx\ny\n", "{file: input_items.csv, classes: [{name: x}]}",
          "input_items.csv:3:1: column 'class': there is no item class 'y'" },
        { "when\n1\n", "{file: input_items.csv}", "none of the columns" },
        { "time\n", "{file: input_items.csv}", "the table has no rows" },
        { "size\n1\n", "{file: input_items.csv, arrivals: {process: trace}}",
          "the file has no column 'time'" },
        { "size\n1\n", "{items: 3, arrivals: {process: trace}}", "needs a file" },
        { "size\n1\n", "{file: input_items.csv, items: 2}", "the file has 1 rows" },
        { "size\n1\n", "{file: input_items.csv, size: const(2)}", "is said by the file already" },
        { "size\n1\n", "{items: 9, arrivals: {process: poisson}}", "needs rate" },
        { "size\n1\n", "{items: 9, arrivals: {process: poisson, load: 50%}}", "acts on jobs" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_refusal(cases[i].items, cases[i].input, cases[i].says);
}

/* ---- processes ---- */

static double rate_per_s(const struct seen *seen, double from_s, double to_s)
{
    size_t count = 0;
    for (size_t i = 0; i < seen->count; i++)
        count += seen->start_s[i] >= from_s && seen->start_s[i] < to_s ? 1 : 0;
    return (double)count / (to_s - from_s);
}

/* A bare law is renewal, and both are what they were before there were processes. */
static void a_bare_law_is_renewal(void)
{
    struct seen *bare = run("{items: 200, arrivals: exp(3 s)}", "");
    struct seen *full = run("{items: 200, arrivals: {process: renewal, gap: exp(3 s)}}", "");
    struct seen *fast = run("{items: 200, arrivals: {gap: exp(3 s), scale: 4}}", "");
    CHECK_I64(bare->count, 200);
    check_starts(full, bare->start_s, 200);
    for (size_t i = 0; i < 200; i++)
        CHECK_NEAR(fast->start_s[i], bare->start_s[i] / 4, 1e-6);
    free(bare);
    free(full);
    free(fast);
}

/* 0.5/s over 30 000 s: 15 000 come, sd 122 for Poisson and 3 times that for cv 3; bursts of 4 times
 * the rate, 100 s long and a tenth of the time, have dispersion 37.9. */
static void every_process_keeps_its_mean_rate(void)
{
    static const struct {
        const char *arrivals;
        double sd;
    } cases[] = {
        { "{process: poisson, rate: 0.5}", 122 },
        { "{process: hyperexponential, rate: 0.5, cv: 3}", 367 },
        { "{process: modulated, rate: 0.5, dwell: 100 s}", 760 },
        { "{process: diurnal, rate: 0.5, amplitude: 90%, period: 10000 s}", 122 },
        { "{process: poisson, rate: 0.5, batch: const(5)}", 274 },
        { "{process: poisson, rate: 0.25, scale: 2}", 122 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char input[200];
        (void)snprintf(input, sizeof(input), "{arrivals: %s}", cases[i].arrivals);
        struct seen *seen = run(input, "");
        CHECK_NEAR(30000 * rate_per_s(seen, 0, 30000), 15000, 5 * cases[i].sd);
        free(seen);
    }
}

static void a_batch_arrives_at_one_instant(void)
{
    struct seen *seen = run("{items: 12, arrivals: {gap: const(10 s), batch: const(5)}}", "");
    static const double start_s[] = { 10, 10, 10, 10, 10, 20, 20, 20, 20, 20, 30, 30 };
    check_starts(seen, start_s, 12);
    free(seen);
}

/* The rate is multiplied where the clock stands: a day stays a day. From 10 000 to 20 000 s (one
 * period) three times as many come, before and after as many as without. */
static void the_timeline_multiplies_the_rate_of_a_day(void)
{
    static const char diurnal[] =
        "{arrivals: {process: diurnal, rate: 0.2, amplitude: 100%, period: 10000 s, peak: 2500 s}}";
    struct seen *seen =
        run(diurnal,
            "timeline: [{at: 10000 s, for: 10000 s, action: arrivals, pipeline: p, factor: 3}]\n");
    CHECK_NEAR(10000 * rate_per_s(seen, 0, 10000), 2000, 5 * 45);
    CHECK_NEAR(10000 * rate_per_s(seen, 10000, 20000), 6000, 5 * 78);
    CHECK_NEAR(10000 * rate_per_s(seen, 20000, 30000), 2000, 5 * 45);
    /* The half around the peak has (1/2 + 1/pi) of them. */
    CHECK_NEAR(5000 * rate_per_s(seen, 10000, 15000), 6000 * (0.5 + M_1_PI), 5 * 71);
    CHECK_NEAR(5000 * rate_per_s(seen, 20000, 25000), 2000 * (0.5 + M_1_PI), 5 * 41);
    free(seen);
}

/* A factor that comes and goes in the middle of gaps leaves bursts and lulls where they are: with
 * lulls of rate 0 the instants at which anything comes stay within the same bursts. */
static void the_timeline_leaves_bursts_in_their_place(void)
{
    static const char bursts[] = "{arrivals: {process: modulated, rate: 0.4, burst: 10, "
                                 "burst_share: 10%, dwell: 100 s}}";
    struct seen *plain = run(bursts, "");
    struct seen *more =
        run(bursts,
            "timeline: [{at: 3333 s, for: 20000 s, action: arrivals, pipeline: p, factor: 0.5}]\n");
    CHECK(plain->count < SPANS && more->count < SPANS && more->count * 10 < plain->count * 9);
    /* At 4 a second in a burst, the nearest one of another draw is farther than 5 s once in e^-20.
     */
    size_t near = 0;
    for (size_t i = 0; i < more->count; i++) {
        while (near + 1 < plain->count && plain->start_s[near + 1] <= more->start_s[i])
            near++;
        const double before_s = fabs(more->start_s[i] - plain->start_s[near]);
        const double after_s =
            near + 1 < plain->count ? fabs(plain->start_s[near + 1] - more->start_s[i]) : HUGE_VAL;
        CHECK(fmin(before_s, after_s) < 5);
    }
    free(plain);
    free(more);
}

/* ---- the work of an item ---- */

/* Service times are drawn by the item: the n-th asks for the same whatever brings it. */
static void an_item_is_the_same_whatever_brings_it(void)
{
    static const char *const inputs[] = {
        "{items: 300, size: \"lognormal(20, 0.5)\", arrivals: const(3 s)}",
        "{items: 300, size: \"lognormal(20, 0.5)\", arrivals: {process: poisson, rate: 1}}",
        ("{items: 300, size: \"lognormal(20, 0.5)\", arrivals: {process: modulated, rate: 1, "
         "batch: const(4)}}"),
    };
    double sum[3] = { 0 };
    for (size_t i = 0; i < 3; i++) {
        struct seen *seen = run(inputs[i], "");
        CHECK_I64(seen->count, 300);
        for (size_t k = 0; k < seen->count; k++)
            sum[i] += seen->service_s[k] * seen->service_s[k];
        free(seen);
    }
    CHECK_NEAR(sum[1], sum[0], 1e-9 * sum[0]);
    CHECK_NEAR(sum[2], sum[0], 1e-9 * sum[0]);
}

/* Of 10 000 items 5 000, 3 000 and 2 000 with standard deviations of 50, 46 and 40. */
static void classes_come_by_their_weights(void)
{
    struct seen *seen =
        run("{items: 10000, classes: [{name: a, weight: 5, size: const(1)}, {name: b, weight: 3, "
            "size: const(2)}, {name: c, weight: 2, size: const(3)}]}",
            "");
    int count[4] = { 0 };
    CHECK_I64(seen->count, 10000);
    for (size_t i = 0; i < seen->count; i++)
        count[llround(1000 * seen->service_s[i]) & 3]++;
    CHECK_NEAR(count[1], 5000, 5 * 50);
    CHECK_NEAR(count[2], 3000, 5 * 46);
    CHECK_NEAR(count[3], 2000, 5 * 40);
    free(seen);
}

static const struct test tests[] = {
    { "a recorded input comes when the file says", a_recorded_input_comes_when_the_file_says },
    { "a recorded input is played faster and cut", a_recorded_input_is_played_faster_and_cut },
    { "rows keep their sizes whatever brings them", rows_keep_their_sizes_whatever_brings_them },
    { "the timeline acts on a recorded input", the_timeline_acts_on_a_recorded_input },
    { "a lull holds a recorded input back", a_lull_holds_a_recorded_input_back },
    { "mistakes are named by their place", mistakes_are_named_by_their_place },
    { "a bare law is renewal", a_bare_law_is_renewal },
    { "every process keeps its mean rate", every_process_keeps_its_mean_rate },
    { "a batch arrives at one instant", a_batch_arrives_at_one_instant },
    { "the timeline multiplies the rate of a day", the_timeline_multiplies_the_rate_of_a_day },
    { "the timeline leaves bursts in their place", the_timeline_leaves_bursts_in_their_place },
    { "an item is the same whatever brings it", an_item_is_the_same_whatever_brings_it },
    { "classes come by their weights", classes_come_by_their_weights },
};
TEST_MAIN(tests)
