/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arrivals.scale: so many times the rate, whatever says it; the day of `diurnal` stays a day. */
#include "sim/scenario/workload/job_stream.h"
#include "sim/scenario/workload/target.h"
#include "sim/scenario/workload/trace_rows.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARRIVALS = 3 };

struct times {
    double s[ARRIVALS];
};

static struct times times_of(const char *jobs, const char *sets)
{
    char text[1024];
    const struct sim_random random = { .seed = 5 };
    struct sim_job_stream *stream = NULL;
    struct sim_job_arrival job;
    struct times times = { { 0 } };
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 64}]}\n"
                   "jobs:\n  - name: w\n    run_time: 60 s\n%s",
                   jobs);
    struct sim_scenario *scenario = test_scenario(text, sets);
    CHECK(scenario != NULL);
    if (scenario == NULL)
        return times;
    CHECK_I64(sim_job_stream_create(&scenario->workloads[0], &random, &stream), WEIR_OK);
    for (int i = 0; i < ARRIVALS; i++) {
        CHECK(sim_job_stream_next(stream, &job));
        times.s[i] = (double)job.at_ns / 1e9;
    }
    sim_job_stream_destroy(stream);
    sim_scenario_destroy(scenario);
    return times;
}

#define CLASSES "    count: 3\n    classes: [{name: a}]\n    arrivals: "

enum { DAYS = 28, ROWS = 20 * DAYS, DAY_S = 86400 };

/* 28 days of 20 rows; row i comes in the middle of minute i of its day. */
static struct sim_trace_row *rows_of(double scale, uint32_t resample, uint64_t seed, size_t *count)
{
    static struct sim_job_spec jobs[ROWS];
    const struct sim_random random = { .seed = seed };
    const struct sim_workload workload = {
        .jobs = jobs,
        .jobs_count = ROWS,
        .arrivals = { .kind = SIM_ARRIVALS_TRACE, .scale = scale, .resample = resample }
    };
    struct sim_trace_row *rows = NULL;
    for (int i = 0; i < ROWS; i++)
        jobs[i].submit_ns = ((int64_t)(i / 20) * DAY_S + i % 20 * 60) * SIM_NS_PER_S;
    CHECK_I64(sim_trace_rows_make(&workload, &random, &rows, count), WEIR_OK);
    return rows;
}

static int64_t minute_of(const struct sim_trace_row *row)
{
    return row->at_ns / SIM_NS_PER_S % DAY_S / 60;
}

static int weekday_of(const struct sim_trace_row *row)
{
    return (int)(row->at_ns / SIM_NS_PER_S / DAY_S % 7);
}

/* 140 % is the trace and 40 % of a copy, which keeps weekday and time of day; 160 % has all of it.
 */
static void more_of_a_trace_is_copies_on_top(void)
{
    size_t counts[3] = { 0 };
    struct sim_trace_row *plain = rows_of(1, SIM_RESAMPLE_NONE, 7, &counts[0]);
    struct sim_trace_row *more = rows_of(1.4, SIM_RESAMPLE_NONE, 7, &counts[1]);
    struct sim_trace_row *most = rows_of(1.6, SIM_RESAMPLE_NONE, 7, &counts[2]);
    size_t own = 0;
    size_t kept = 0;
    CHECK_I64(counts[0], ROWS);
    CHECK_NEAR((double)counts[1], 1.4 * ROWS, 4 * sqrt(0.24 * ROWS));
    for (size_t i = 0; i < counts[1]; i++) {
        own += more[i].copy == 0 ? 1 : 0;
        CHECK(more[i].copy != 0 || more[i].at_ns == plain[more[i].spec].at_ns);
        CHECK_I64(minute_of(&more[i]), more[i].spec % 20);
        CHECK_I64(weekday_of(&more[i]), more[i].spec / 20 % 7);
        CHECK(i == 0 || more[i].at_ns >= more[i - 1].at_ns);
        CHECK(more[i].copy == 0 || more[i].at_ns != plain[more[i].spec].at_ns);
        for (size_t k = 0; k < counts[2]; k++)
            kept += most[k].spec == more[i].spec && most[k].copy == more[i].copy &&
                            most[k].at_ns == more[i].at_ns
                        ? 1
                        : 0;
    }
    CHECK_I64(own, ROWS);
    CHECK_I64(kept, counts[1]);
    free(plain);
    free(more);
    free(most);
}

static void less_of_a_trace_is_the_trace_thinned(void)
{
    size_t count = 0;
    struct sim_trace_row *rows = rows_of(0.5, SIM_RESAMPLE_NONE, 7, &count);
    CHECK_NEAR((double)count, 0.5 * ROWS, 4 * sqrt(0.25 * ROWS));
    for (size_t i = 0; i < count; i++)
        CHECK(rows[i].copy == 0 && minute_of(&rows[i]) == rows[i].spec % 20);
    free(rows);
}

/* Every day is all of one day of the trace, of the same weekday; days differ between seeds. */
static void days_are_drawn_whole(void)
{
    size_t count = 0;
    size_t other_count = 0;
    size_t differ = 0;
    struct sim_trace_row *rows = rows_of(1, SIM_RESAMPLE_DAYS, 7, &count);
    struct sim_trace_row *others = rows_of(1, SIM_RESAMPLE_DAYS, 8, &other_count);
    CHECK_I64(count, ROWS);
    CHECK_I64(other_count, ROWS);
    for (size_t i = 0; i < count && i < other_count; i++) {
        CHECK_I64(rows[i].spec / 20, rows[i - i % 20].spec / 20);
        CHECK_I64(weekday_of(&rows[i]), rows[i].spec / 20 % 7);
        CHECK_I64(minute_of(&rows[i]), rows[i].spec % 20);
        differ += rows[i].spec != others[i].spec ? 1 : 0;
    }
    CHECK(differ > ROWS / 2); /* of four days of a weekday three are others */
    free(rows);
    free(others);
}

/* Of a short trace a copy goes round it; jobs keep their run times, and rows their own time. */
static void a_short_trace_is_not_played_faster(void)
{
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "    trace: %s\n"
                   "    from: 10 s\n"
                   "    arrivals: {scale: 100%%}\n",
                   test_data("fuzz/corpus/swf/plain.swf"));
    const struct times times = times_of(text, NULL);
    CHECK_NEAR(times.s[0], 0, 0);
    CHECK_NEAR(times.s[1], 1, 1e-9);
    CHECK_NEAR(times.s[2], 2.25, 1e-9);
}

static void gaps_of_a_law_are_divided(void)
{
    const struct times times =
        times_of(CLASSES "{process: renewal, gap: const(10 s), scale: 1.25}\n", NULL);
    for (int i = 0; i < ARRIVALS; i++)
        CHECK_NEAR(times.s[i], 8.0 * (i + 1), 1e-9);
}

/* The same numbers are drawn: 40 % more load is the same arrivals, nearer to each other. */
static void rates_are_multiplied(void)
{
    static const char *const processes[] = { "poisson", "hyperexponential" };
    static const char *const rates[] = { "rate: 0.02", "load: 40%" };
    for (int p = 0; p < 2; p++)
        for (int r = 0; r < 2; r++) {
            char jobs[256];
            (void)snprintf(jobs, sizeof jobs, CLASSES "{process: %s, %s}\n", processes[p],
                           rates[r]);
            const struct times plain = times_of(jobs, NULL);
            const struct times more = times_of(jobs, "jobs[0].arrivals.scale=1.4");
            for (int i = 0; i < ARRIVALS; i++)
                CHECK_NEAR(more.s[i], plain.s[i] / 1.4, 1e-6);
        }
}

/* Half of 64 CPUs is 32 s a second: 60 s of a job, and what its followers add. */
static void who_follows_is_part_of_the_load(void)
{
    static const struct {
        const char *followers;
        double rate_per_s;
    } cases[] = {
        { "", 32.0 / 60 },
        { ", {name: y, request: {cpus: 1}, after: x}", 32.0 / 120 },
        { ", {name: y, request: {cpus: 1}, after: x}, {name: z, request: {cpus: 2}, after: y, "
          "array: 2}",
          32.0 / 360 },
        { ", {name: u, request: {cpus: 1}, users: 3}, {name: v, request: {cpus: 1}, after: u}",
          32.0 / 60 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "schema: 2\nname: t\nhorizon: 1 h\ncluster: {nodes: [{name: n, cpus: 64}]}\n"
                       "jobs:\n  - name: w\n    run_time: 60 s\n    arrivals: {load: 50%%}\n"
                       "    classes: [{name: x, request: {cpus: 1}}%s]\n",
                       cases[i].followers);
        struct sim_scenario *scenario = test_scenario(text, NULL);
        CHECK(scenario != NULL);
        if (scenario == NULL)
            return;
        CHECK_NEAR(scenario->workloads[0].arrivals.rate_per_s, cases[i].rate_per_s, 1e-12);
        sim_scenario_destroy(scenario);
    }
}

/* From the trough on the expected number of arrivals by t is 10 (2 pi)^2 t^3 / 6 T^2 with T = 3.6e6
 * s: one by 5 820 s. A day that is played faster would have had thousands by then. */
static void the_day_stays_a_day(void)
{
    const struct times times = times_of(
        CLASSES "{process: diurnal, rate: 0.01, scale: 1000, amplitude: 100%, period: 1000 h,"
                " peak: 500 h}\n",
        NULL);
    CHECK(times.s[0] > 2700 && times.s[0] < 15000); /* 0.1 to 17 expected by then */
}

/* Two branches of equal weight in time: the mean is 1 / rate, the variation that which was asked
 * for. Of 200 000 gaps the sample variation is off by less than 3 %. */
static void a_hyperexponential_varies_as_it_should(void)
{
    enum { GAPS = 200000 };
    const struct sim_random random = { .seed = 3 };
    const struct sim_arrivals spec = {
        .kind = SIM_ARRIVALS_HYPEREXPONENTIAL, .rate_per_s = 2, .batch_mean = 1, .cv = 2
    };
    struct sim_arrival_process process;
    double sum = 0;
    double squares = 0;
    sim_arrival_process_open(&process, &spec, &random, SIM_DRAW_JOB_ARRIVAL);
    for (int i = 0; i < GAPS; i++) {
        const double gap_s = sim_arrival_process_draw(&process);
        sum += gap_s;
        squares += gap_s * gap_s;
    }
    const double mean = sum / GAPS;
    CHECK_NEAR(mean, 0.5, 0.01);
    CHECK_NEAR(sqrt(squares / GAPS - mean * mean) / mean, 2, 0.06);
}

/* As the rows of a trace stand, so they come, however many at one instant. */
static void rows_of_one_instant_keep_their_order(void)
{
    static struct sim_job_spec jobs[20];
    const char *labels[] = { "all" };
    struct sim_workload workload = { .jobs = jobs,
                                     .jobs_count = 20,
                                     .jobs_limit = UINT64_MAX,
                                     .mode = SIM_WORKLOAD_TIME,
                                     .service_limit_ns = INT64_MAX,
                                     .labels = labels,
                                     .labels_count = 1,
                                     .arrivals = { .kind = SIM_ARRIVALS_TRACE, .scale = 1 } };
    const struct sim_random random = { .seed = 1 };
    struct sim_job_stream *stream = NULL;
    struct sim_job_arrival job;
    uint32_t before = 0;
    for (uint32_t i = 0; i < 20; i++)
        jobs[i].submit_ns = i < 10 ? SIM_NS_PER_S : 0;
    workload.kind = SIM_WORKLOAD_TRACE;
    CHECK_I64(sim_job_stream_create(&workload, &random, &stream), WEIR_OK);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(sim_job_stream_next(stream, &job));
        CHECK_I64(job.spec, (i + 10) % 20);
        CHECK(i == 0 || i == 10 || job.spec > before);
        before = job.spec;
    }
    sim_job_stream_destroy(stream);
}

/* A run is cut at the limit; the estimate is a multiple of what is left of it. */
static void runs_are_cut_and_estimated(void)
{
    struct sim_job_spec jobs[2] = {
        { .run_ns = 40 * SIM_NS_PER_S, .estimate_ns = WEIR_UNKNOWN_TIME, .estimate_factor = 3 },
        { .run_ns = 90 * SIM_NS_PER_S, .estimate_ns = WEIR_UNKNOWN_TIME, .estimate_factor = 3 }
    };
    const struct sim_workload workload = { .jobs = jobs,
                                           .jobs_count = 2,
                                           .jobs_limit = UINT64_MAX,
                                           .mode = SIM_WORKLOAD_TIME,
                                           .service_limit_ns = 60 * SIM_NS_PER_S,
                                           .arrivals = { .kind = SIM_ARRIVALS_TRACE, .scale = 1 } };
    const struct sim_random random = { .seed = 1 };
    struct sim_job_stream *stream = NULL;
    struct sim_job_arrival job;
    CHECK_I64(sim_job_stream_create(&workload, &random, &stream), WEIR_OK);
    CHECK(sim_job_stream_next(stream, &job));
    CHECK_I64(job.run_ns, 40 * SIM_NS_PER_S);
    CHECK_I64(job.estimate_ns, 120 * SIM_NS_PER_S);
    CHECK(sim_job_stream_next(stream, &job));
    CHECK_I64(job.run_ns, 60 * SIM_NS_PER_S);
    CHECK_I64(job.estimate_ns, 180 * SIM_NS_PER_S);
    sim_job_stream_destroy(stream);
}

/* Of an even number of jobs alike but for their memory the lower middle one stands for all. */
static void the_lower_middle_memory_stands_for_a_kind(void)
{
    struct sim_job_spec jobs[4] = { 0 };
    struct sim_workload workload = { .jobs = jobs, .jobs_count = 4, .target_frac = 1 };
    struct sim_target target;
    for (size_t i = 0; i < 4; i++) {
        jobs[i].models = "";
        jobs[i].shape = (struct weir_shape){ .kind = WEIR_SHAPE_WHOLE,
                                             .gpu_count = 1,
                                             .gpu_units = WEIR_ONE,
                                             .ram_bytes = 10 * (4 - (int64_t)i) };
    }
    for (size_t count = 1; count <= 4; count++) {
        workload.jobs_count = count;
        CHECK_I64(sim_target_create(&workload, &target), WEIR_OK);
        CHECK_I64(target.count, 1);
        CHECK_NEAR(target.frequencies[0], 1, 1e-12);
        /* Of 40, 30, 20, 10 the first so many: 40; 30; 30; 20. */
        CHECK_I64(target.ram_bytes[0], count == 1 ? 40 : count == 4 ? 20 : 30);
        sim_target_clear(&target);
    }
}

static const struct test tests[] = {
    { "more of a trace is copies on top", more_of_a_trace_is_copies_on_top },
    { "less of a trace is the trace thinned", less_of_a_trace_is_the_trace_thinned },
    { "days are drawn whole", days_are_drawn_whole },
    { "a short trace is not played faster", a_short_trace_is_not_played_faster },
    { "gaps of a law are divided", gaps_of_a_law_are_divided },
    { "rates are multiplied", rates_are_multiplied },
    { "who follows is part of the load", who_follows_is_part_of_the_load },
    { "the day stays a day", the_day_stays_a_day },
    { "a hyperexponential varies as it should", a_hyperexponential_varies_as_it_should },
    { "rows of one instant keep their order", rows_of_one_instant_keep_their_order },
    { "runs are cut and estimated", runs_are_cut_and_estimated },
    { "the lower middle memory stands for a kind", the_lower_middle_memory_stands_for_a_kind },
};
TEST_MAIN(tests)
