/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of the meter on a timeline of thirty seconds, every number by hand; what takes more than
 * 5 s is late.
 *
 *   windows   early 0-10, mid 10-20, rest 20-
 *   items     A 1-3, B 8-12, C 11-18, D 13-25, E 15-, F 22-24; backlog 1 0 1 2 1 2 3 2 3 2 1
 *   queue     5 items 14-16, then 2
 *   lost      2 s at 10 with a node, 1 s at 19 by an attempt
 */
#include "sim/engine/time.h"
#include "sim/record/meter/meter.h"
#include "tests/support/check.h"
#include "tests/support/results.h"

#include <math.h>
#include <stdlib.h>

static int64_t at(double seconds)
{
    return sim_time_from_s(seconds);
}

static struct sim_meter *open_meter(void)
{
    static const struct sim_meter_window_info windows[] = { { "early", 0, 10000000000 },
                                                            { "mid", 10000000000, 20000000000 },
                                                            { "rest", 20000000000, SIM_TIME_MAX } };
    const struct sim_meter_amounts node = { { [SIM_RESOURCE_CPU] = 4.0 } };
    const struct sim_meter_stage_info stage = { .is_first = true,
                                                .is_last = true,
                                                .mix = 1.0,
                                                .samples_per_source = 1.0,
                                                .batch = 1,
                                                .name = "cut",
                                                .shape.cpu_units = WEIR_ONE };
    const struct sim_meter_config config = { .node_count = 1,
                                             .node_capacity = &node,
                                             .stage_count = 1,
                                             .stages = &stage,
                                             .pipeline_count = 1,
                                             .windows = windows,
                                             .window_count = 3,
                                             .late_ns = 5000000000 };
    struct sim_meter *meter = NULL;
    CHECK_I64(sim_meter_create(&config, &meter), WEIR_OK);
    return meter;
}

static void come(struct sim_meter *meter, double time_s)
{
    sim_meter_item_arrived(meter, at(time_s), 0);
}

static void go(struct sim_meter *meter, double time_s, double latency_s)
{
    sim_meter_item_done(meter, at(time_s), 0, at(latency_s), at(1), false);
}

static void play(struct sim_meter *meter)
{
    come(meter, 1);
    go(meter, 3, 2);
    come(meter, 8);
    sim_meter_work_lost(meter, at(10), 0, at(2), "node or GPU lost");
    come(meter, 11);
    go(meter, 12, 4);
    come(meter, 13);
    sim_meter_queue(meter, at(14), 0, 5, 0);
    come(meter, 15);
    sim_meter_queue(meter, at(16), 0, 2, 0);
    go(meter, 18, 7);
    sim_meter_work_lost(meter, at(19), 0, at(1), "attempt failed");
    come(meter, 22);
    go(meter, 24, 2);
    go(meter, 25, 12);
}

static struct sim_run_summary *finish(struct sim_meter *meter, double end_s, const int64_t *ages,
                                      uint64_t count)
{
    const struct sim_meter_end end = { .end_ns = at(end_s),
                                       .items_in_system = count,
                                       .age_ns = ages };
    struct sim_run_summary *results = test_summary();
    struct sim_results out = { .listen = test_listen, .listener = results };
    CHECK_I64(sim_meter_results(meter, &end, &out), WEIR_OK);
    return results;
}

struct expected {
    const char *metric, *label;
    double value; /* NAN = there is no such row */
};

static void check_results(const struct sim_run_summary *results, const struct expected *rows,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double value = test_value(results, rows[i].metric, rows[i].label);
        const bool is_it =
            (isnan(value) && isnan(rows[i].value)) || fabs(value - rows[i].value) <= 1e-9;
        CHECK_STR(is_it ? "" : rows[i].metric, "");
        if (!is_it)
            CHECK_NEAR(value, rows[i].value, 1e-9);
    }
}

static void windows_are_measured_by_arrival_and_by_time(void)
{
    static const struct expected rows[] = {
        { "thr.pipeline@early", "", 0.1 },
        { "thr.pipeline@mid", "", 0.2 },
        { "thr.pipeline@rest", "", 0.2 },
        { "thr.arrived@early", "", 0.2 },
        { "thr.arrived@mid", "", 0.3 },
        { "thr.arrived@rest", "", 0.1 },
        { "lat.e2e.mean@early", "", 3 },
        { "lat.e2e.p50@early", "", 2 },
        { "lat.e2e.p95@early", "", 4 },
        { "lat.e2e.mean@mid", "", 9.5 },
        { "lat.e2e.p50@mid", "", 12 },
        { "lat.e2e.p95@mid", "", 15 }, /* E, which is there still */
        { "lat.e2e.p95@rest", "", 2 },
        { "items.late@early", "", 0 },
        { "items.late@mid", "", 3 },
        { "items.late@rest", "", 0 },
        { "backlog.mean@early", "", 0.4 },
        { "backlog.mean@mid", "", 2.1 },
        { "backlog.mean@rest", "", 1.7 },
        { "backlog.max@early", "", 1 },
        { "backlog.max_at@early", "", 1 },
        { "backlog.max@mid", "", 3 },
        { "backlog.max_at@mid", "", 15 },
        { "backlog.max_at@rest", "", 22 },
        { "backlog.usual@early", "", (double)NAN },
        { "backlog.recover@early", "", (double)NAN },
        { "backlog.usual@mid", "", 1 },
        { "backlog.recover@mid", "", 5 }, /* at 25 */
        { "backlog.recover@rest", "", (double)NAN },
        { "queue.len.mean@early", "cut", 0 },
        { "queue.len.mean@mid", "cut", 1.8 },
        { "queue.len.max@mid", "cut", 5 },
        { "queue.len.max@rest", "cut", 2 },
        { "work.lost_s@early", "", 0 },
        { "work.lost_s@mid", "", 3 },
        { "work.lost_s@mid", "node or GPU lost", 2 },
        { "work.lost_s@mid", "attempt failed", 1 },
        { "work.lost_s@rest", "", 0 },
    };
    const int64_t age = 15000000000;
    struct sim_meter *meter = open_meter();
    play(meter);
    struct sim_run_summary *results = finish(meter, 30, &age, 1);
    check_results(results, rows, sizeof rows / sizeof rows[0]);
    free(results);
    sim_meter_destroy(meter);
}

static void a_run_that_ends_in_a_window_has_its_part(void)
{
    static const struct expected rows[] = {
        { "thr.arrived@early", "", 0.2 },
        { "thr.arrived@mid", "", 2.0 / 4.0 },
        { "lat.e2e.p95@mid", "", 3 }, /* C, came at 11 */
        { "backlog.recover@mid", "", (double)NAN },
        { "thr.arrived@rest", "", (double)NAN },
    };
    const int64_t ages[] = { 3000000000, 1000000000 };
    struct sim_meter *meter = open_meter();
    come(meter, 1);
    go(meter, 3, 2);
    come(meter, 8);
    go(meter, 10, 2);
    come(meter, 11);
    come(meter, 13);
    struct sim_run_summary *results = finish(meter, 14, ages, 2);
    check_results(results, rows, sizeof rows / sizeof rows[0]);
    free(results);
    sim_meter_destroy(meter);
}

/* Level 3 for 2 % of the time before. */
static void a_short_peak_is_not_usual(void)
{
    static const struct expected rows[] = { { "backlog.max@early", "", 3 },
                                            { "backlog.usual@mid", "", 0 } };
    struct sim_meter *meter = open_meter();
    for (int i = 0; i < 3; i++)
        come(meter, 1);
    for (int i = 0; i < 3; i++)
        go(meter, 1.2, 0.2);
    struct sim_run_summary *results = finish(meter, 30, NULL, 0);
    check_results(results, rows, sizeof rows / sizeof rows[0]);
    free(results);
    sim_meter_destroy(meter);
}

/* A level that is never passed was there at once: the most is of the moment the window begins. */
static void the_most_may_be_what_there_was_at_first(void)
{
    static const struct expected rows[] = {
        { "backlog.max@early", "", 3 }, { "backlog.max_at@early", "", 4 },
        { "backlog.max@mid", "", 3 },   { "backlog.max_at@mid", "", 10 },
        { "backlog.max@rest", "", 2 },  { "backlog.max_at@rest", "", 20 },
    };
    struct sim_meter *meter = open_meter();
    come(meter, 1);
    come(meter, 2);
    come(meter, 4);
    go(meter, 15, 14);
    go(meter, 21, 19);
    go(meter, 23, 19);
    struct sim_run_summary *results = finish(meter, 30, NULL, 0);
    check_results(results, rows, sizeof rows / sizeof rows[0]);
    free(results);
    sim_meter_destroy(meter);
}

static const struct test tests[] = {
    { "the most may be what there was at first", the_most_may_be_what_there_was_at_first },
    { "windows are measured by arrival and by time", windows_are_measured_by_arrival_and_by_time },
    { "a short peak is not usual", a_short_peak_is_not_usual },
    { "a run that ends in a window has its part", a_run_that_ends_in_a_window_has_its_part },
};
TEST_MAIN(tests)
