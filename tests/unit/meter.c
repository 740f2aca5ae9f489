/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The meter on a timeline of ten seconds, every number by hand.
 *
 *   worker A (stage cut, 1 CPU):  set-up 0-2, task of item 1 2-5, task of item 2 5-8, idle 8-10
 *   worker B (stage show, 1 GPU): set-up 0-4, idle 4-5, task of item 1 5-9, task of item 2 9-10
 *   item 1 arrives at 2, done at 9; item 2 arrives at 3, waits 3-5 and 8-9, done at 10
 *   back-pressure on cut 6-7
 */
#include "sim/record/meter/meter.h"
#include "sim/engine/time.h"
#include "sim/record/meter/meter_physics.h"
#include "tests/support/check.h"
#include "tests/support/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t at(double seconds)
{
    return sim_time_from_s(seconds);
}

static struct sim_meter_stage_info cut(void)
{
    struct sim_meter_stage_info info = {
        .is_first = true, .mix = 0.5, .samples_per_source = 1.0, .batch = 1, .name = "cut"
    };
    info.shape.cpu_units = WEIR_ONE;
    return info;
}

static struct sim_meter_stage_info show(void)
{
    struct sim_meter_stage_info info = {
        .is_last = true, .mix = 0.5, .samples_per_source = 1.0, .batch = 1, .name = "show"
    };
    info.shape =
        (struct weir_shape){ .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE };
    return info;
}

static struct sim_meter *open_meter(double warmup_s)
{
    const struct sim_meter_amounts node = {
        { [SIM_RESOURCE_CPU] = 4.0, [SIM_RESOURCE_GPU] = 2.0, [SIM_RESOURCE_RAM] = 100.0 }
    };
    const struct sim_meter_stage_info stages[] = { cut(), show() };
    const struct sim_meter_config config = { .node_count = 1,
                                             .node_capacity = &node,
                                             .stage_count = 2,
                                             .stages = stages,
                                             .pipeline_count = 1,
                                             .warmup_ns = at(warmup_s) };
    struct sim_meter *meter = NULL;
    CHECK_I64(sim_meter_create(&config, &meter), WEIR_OK);
    return meter;
}

static struct sim_meter_worker worker(uint32_t stage)
{
    const enum sim_resource device = stage == 0 ? SIM_RESOURCE_CPU : SIM_RESOURCE_GPU;
    static const struct sim_meter_amounts one[SIM_RESOURCE_COUNT] = {
        [SIM_RESOURCE_CPU] = { { [SIM_RESOURCE_CPU] = 1.0 } },
        [SIM_RESOURCE_GPU] = { { [SIM_RESOURCE_GPU] = 1.0 } }
    };
    return (struct sim_meter_worker){ .stage = stage, .holds = &one[device], .uses = &one[device] };
}

static void free_gpus(struct sim_meter *meter, double time_s, int whole_free)
{
    const struct weir_node node = { .gpu_count = 2, .cpu_free = 4 * WEIR_ONE };
    struct weir_gpu gpus[2] = { { .units_free = whole_free > 0 ? WEIR_ONE : 0 },
                                { .units_free = whole_free > 1 ? WEIR_ONE : 0 } };
    sim_meter_node_free(meter, at(time_s), 0, &node, gpus);
}

static void start_task(struct sim_meter *meter, double time_s, uint32_t stage, double wait_s)
{
    const struct sim_meter_worker one = worker(stage);
    sim_meter_wait(meter, at(time_s), stage, at(wait_s));
    sim_meter_worker_state(meter, at(time_s), &one, SIM_METER_IDLE, SIM_METER_BUSY);
}

static void end_task(struct sim_meter *meter, double time_s, uint32_t stage, double service_s)
{
    const struct sim_meter_worker one = worker(stage);
    sim_meter_task_done(meter, at(time_s), stage, at(service_s));
    sim_meter_worker_state(meter, at(time_s), &one, SIM_METER_BUSY, SIM_METER_IDLE);
}

static void play_first_half(struct sim_meter *meter)
{
    const struct sim_meter_worker a = worker(0);
    const struct sim_meter_worker b = worker(1);
    free_gpus(meter, 0, 2);
    sim_meter_worker_state(meter, 0, &a, SIM_METER_GONE, SIM_METER_SETUP);
    sim_meter_worker_state(meter, 0, &b, SIM_METER_GONE, SIM_METER_SETUP);
    free_gpus(meter, 0, 1);
    sim_meter_worker_state(meter, at(2), &a, SIM_METER_SETUP, SIM_METER_IDLE);
    sim_meter_item_arrived(meter, at(2), 0);
    sim_meter_queue(meter, at(2), 0, 1, 100.0);
    sim_meter_queue(meter, at(2), 0, 0, 0.0);
    start_task(meter, 2, 0, 0);
    sim_meter_item_arrived(meter, at(3), 0);
    sim_meter_queue(meter, at(3), 0, 1, 100.0);
    sim_meter_worker_state(meter, at(4), &b, SIM_METER_SETUP, SIM_METER_IDLE);
}

static void play_second_half(struct sim_meter *meter)
{
    end_task(meter, 5, 0, 3);
    sim_meter_queue(meter, at(5), 0, 0, 0.0);
    start_task(meter, 5, 0, 2);
    start_task(meter, 5, 1, 0);
    sim_meter_backpressure(meter, at(6), 0, true);
    sim_meter_backpressure(meter, at(7), 0, false);
    end_task(meter, 8, 0, 3);
    sim_meter_queue(meter, at(8), 1, 1, 30.0);
    end_task(meter, 9, 1, 4);
    sim_meter_item_done(meter, at(9), 0, at(7), at(7), false);
    sim_meter_queue(meter, at(9), 1, 0, 0.0);
    start_task(meter, 9, 1, 1);
    end_task(meter, 10, 1, 1);
    sim_meter_item_done(meter, at(10), 0, at(7), at(4), false);
}

/* What a meter finds at the end; the caller frees. */
static struct sim_run_summary *results_at(struct sim_meter *meter, const struct sim_meter_end *end)
{
    struct sim_run_summary *results = test_summary();
    struct sim_results out = { .listen = test_listen, .listener = results };
    CHECK_I64(sim_meter_results(meter, end, &out), WEIR_OK);
    return results;
}

static struct sim_run_summary *finish(struct sim_meter *meter, double end_s, bool is_complete)
{
    const struct sim_meter_end end = { .end_ns = at(end_s), .is_complete = is_complete };
    return results_at(meter, &end);
}

struct expected {
    const char *metric, *label;
    double value;
};

static void check_results(const struct sim_run_summary *results, const struct expected *rows,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double value = test_value(results, rows[i].metric, rows[i].label);
        if (!(fabs(value - rows[i].value) <= 1e-9))
            CHECK_STR(rows[i].metric, rows[i].label); /* names the row that fails below */
        CHECK_NEAR(value, rows[i].value, 1e-9);
    }
}
#define CHECK_RESULTS(results, rows)                                                               \
    check_results((results), (rows), sizeof(rows) / sizeof((rows)[0]))

/* covers: S0.4 S1.134 */
static void results_are_the_integrals_of_the_timeline(void)
{
    static const struct expected rows[] = {
        { "util.cpu.active", "", 6.0 / 40.0 },
        { "util.cpu.assigned", "", 10.0 / 40.0 },
        { "util.gpu.active", "", 5.0 / 20.0 },
        { "util.gpu.assigned", "", 10.0 / 20.0 },
        { "util.gpu.seed", "", 5.0 / 20.0 },
        { "util.mem.active", "", 0.0 },
        { "waste.alloc_unused", "", 0.5 },
        { "queue.len.mean", "cut", 0.2 },
        { "queue.len.max", "cut", 1.0 },
        { "queue.len.mean", "show", 0.1 },
        { "queue.bytes.max", "show", 30.0 },
        { "mem.peak_bytes", "", 100.0 },
        { "bp.starved_frac", "cut", 0.2 },
        { "bp.starved_frac", "show", 0.1 },
        { "bp.blocked_frac", "cut", 0.1 },
        { "bp.signal", "cut", -0.2 },
        { "thr.pipeline", "", 0.2 },
        { "thr.pipeline.steady", "", 2.0 / 6.0 },
        { "thr.stage", "cut", 0.2 },
        { "lat.e2e.mean", "", 7.0 },
        { "lat.e2e.p50", "", 7.0 },
        { "lat.e2e.max", "", 7.0 },
        { "wait.mean", "", 1.5 },
        { "wait.stage.mean", "cut", 1.0 },
        { "wait.stage.p95", "cut", 2.0 },
        { "wait.stage.mean", "show", 0.5 },
        { "makespan", "", 8.0 },
        { "worker.created", "", 2.0 },
        { "worker.deleted", "", 0.0 },
        { "worker.churn", "", 0.0 },
        { "frag.gpu.fgd", "", 0.5 }, /* the CPU stage can use none of the one free GPU */
        { "frag.gpu.fgd_ratio", "", 0.5 },
        { "frag.whole_free", "", 1.0 },
        { "frag.crumbs", "", 0.0 },
        { "stranded.gpus", "", 0.0 },
        { "invariant.violations", "", 0.0 },
    };
    struct sim_meter *meter = open_meter(0);
    play_first_half(meter);
    play_second_half(meter);
    struct weir_error error = { 0 };
    if (!CHECK_I64(sim_meter_check(meter, at(10), 0, &error), WEIR_OK))
        CHECK_STR(error.text, "");
    struct sim_run_summary *results = finish(meter, 10, true);
    CHECK_RESULTS(results, rows);
    CHECK(isnan(test_value(results, "util.nvenc.active", ""))); /* there are none */
    CHECK(isnan(test_value(results, "lat.e2e.p50", "nobody")));
    CHECK_I64(sim_meter_items_done(meter), 2);
    CHECK(sim_meter_is_steady(meter));
    free(results);
    sim_meter_destroy(meter);
}

static void what_happened_in_the_warm_up_does_not_count(void)
{
    static const struct expected rows[] = {
        { "util.cpu.active", "", 3.0 / 20.0 },
        { "util.gpu.active", "", 5.0 / 10.0 },
        { "queue.len.mean", "cut", 0.0 },
        { "queue.len.max", "cut", 1.0 },
        { "queue.len.mean", "show", 0.2 },
        { "thr.pipeline", "", 0.4 },
        { "thr.pipeline.steady", "", 2.0 / 5.0 },
        { "wait.stage.mean", "cut", 2.0 },
        { "worker.created", "", 0.0 },
        { "bp.blocked_frac", "cut", 0.2 },
        { "mem.peak_bytes", "", 100.0 },
        { "lat.e2e.mean", "", 7.0 },
    };
    struct sim_meter *meter = open_meter(5);
    play_first_half(meter);
    play_second_half(meter);
    struct sim_run_summary *results = finish(meter, 10, true);
    CHECK_RESULTS(results, rows);
    free(results);
    sim_meter_destroy(meter);
}

static void a_node_that_is_down_is_not_in_the_denominator(void)
{
    struct sim_meter *meter = open_meter(0);
    play_first_half(meter);
    play_second_half(meter);
    sim_meter_node_up(meter, at(10), 0, true); /* no change */
    const struct sim_meter_worker a = worker(0);
    const struct sim_meter_worker b = worker(1);
    sim_meter_worker_state(meter, at(10), &a, SIM_METER_IDLE, SIM_METER_GONE);
    sim_meter_worker_state(meter, at(10), &b, SIM_METER_IDLE, SIM_METER_GONE);
    sim_meter_node_up(meter, at(10), 0, false);
    struct sim_run_summary *results = finish(meter, 20, true);
    static const struct expected rows[] = {
        { "util.cpu.active", "", 6.0 / 40.0 }, { "util.gpu.assigned", "", 10.0 / 20.0 },
        { "util.gpu.seed", "", 5.0 / 40.0 },   { "frag.gpu.fgd", "", 0.25 },
        { "worker.deleted", "", 2.0 },         { "worker.churn", "", 2.0 * 180.0 },
    };
    CHECK_RESULTS(results, rows);
    free(results);
    sim_meter_destroy(meter);
}

/* covers: S0.2 S0.43 */
static void the_bottleneck_is_the_stage_of_least_capacity(void)
{
    struct sim_meter *meter = open_meter(0);
    const struct sim_meter_worker a = worker(0);
    const struct sim_meter_worker b = worker(1);
    sim_meter_speed(meter, 0, 0, 1.0);
    sim_meter_speed(meter, 0, 1, 0.4);
    sim_meter_worker_state(meter, 0, &a, SIM_METER_GONE, SIM_METER_IDLE);
    sim_meter_worker_state(meter, 0, &b, SIM_METER_GONE, SIM_METER_IDLE);     /* 1 : 0.4 */
    sim_meter_worker_state(meter, at(4), &b, SIM_METER_GONE, SIM_METER_IDLE); /* 1 : 0.8 */
    sim_meter_speed(meter, at(8), 0, 0.5);                                    /* 0.5 : 0.8 */
    struct sim_run_summary *results = finish(meter, 10, false);
    static const struct expected rows[] = {
        { "bottleneck.share", "cut", 0.2 },
        { "bottleneck.share", "show", 0.8 },
        { "bottleneck.stage", "", 1.0 },
        { "balance.stage", "", 0.4 * 0.4 + 0.8 * 0.4 + 0.625 * 0.2 },
        { "balance.stage.gpu", "", 1.0 }, /* one GPU stage with two workers, from 4 on */
        { "balance.stage.steady", "", (0.8 * 4 + 0.625 * 2) / 6.0 },
        { "balance.stage.gpu.steady", "", 1.0 },
    };
    CHECK_RESULTS(results, rows);
    free(results);
    sim_meter_destroy(meter);
}

/* Two are wanted from 0 to 6 and one comes at 2; from 6 on one is wanted, which is there. */
static void a_plan_is_met_as_far_as_its_workers_are_there(void)
{
    struct sim_meter *meter = open_meter(0);
    const struct sim_meter_worker a = worker(0);
    sim_meter_planned(meter, 0, 0, 2);
    sim_meter_worker_state(meter, at(2), &a, SIM_METER_GONE, SIM_METER_SETUP);
    sim_meter_planned(meter, at(6), 0, 1);
    struct sim_run_summary *results = finish(meter, 10, false);
    static const struct expected rows[] = { { "plan.met_frac", "cut", 1.0 - 8.0 / 16.0 } };
    CHECK_RESULTS(results, rows);
    free(results);
    sim_meter_destroy(meter);
}

static void an_unknown_speed_names_no_bottleneck_but_a_missing_worker_does(void)
{
    struct sim_meter *meter = open_meter(0);
    const struct sim_meter_worker a = worker(0);
    const struct sim_meter_worker b = worker(1);
    sim_meter_worker_state(meter, 0, &a, SIM_METER_GONE, SIM_METER_SETUP);     /* nobody ready */
    sim_meter_worker_state(meter, at(2), &a, SIM_METER_SETUP, SIM_METER_IDLE); /* show has none */
    sim_meter_worker_state(meter, at(5), &b, SIM_METER_GONE, SIM_METER_IDLE);  /* both unknown */
    struct sim_run_summary *results = finish(meter, 10, false);
    CHECK_NEAR(test_value(results, "bottleneck.share", "cut"), 0.0, 0.0);
    CHECK_NEAR(test_value(results, "bottleneck.share", "show"), 0.3, 1e-12);
    CHECK(isnan(test_value(results, "balance.stage", "")));
    free(results);
    sim_meter_destroy(meter);
}

static void the_steady_rate_comes_from_the_longest_interval_without_changes(void)
{
    struct sim_meter *meter = open_meter(0);
    const struct sim_meter_worker a = worker(0);
    sim_meter_worker_state(meter, at(1), &a, SIM_METER_GONE, SIM_METER_IDLE);
    for (int i = 0; i < 100; i++)
        sim_meter_item_arrived(meter, at(1), 0);
    for (int i = 1; i <= 8; i++) /* 1 - 5: two a second */
        sim_meter_item_done(meter, at(1 + 0.5 * i), 0, at(0.5 * i), 0, false);
    sim_meter_worker_state(meter, at(5), &a, SIM_METER_GONE, SIM_METER_SETUP); /* 5 - 20 set-up */
    for (int i = 0; i < 15; i++)
        sim_meter_item_done(meter, at(5.5 + i), 0, at(4.5 + i), 0, false);
    sim_meter_worker_state(meter, at(20), &a, SIM_METER_SETUP, SIM_METER_IDLE);
    for (int i = 1; i <= 30; i++) /* 20 - 30: three a second */
        sim_meter_item_done(meter, at(20 + i / 3.0), 0, at(19 + i / 3.0), 0, false);
    sim_meter_worker_state(meter, at(30), &a, SIM_METER_IDLE, SIM_METER_GONE);
    struct sim_run_summary *results = finish(meter, 36, false);
    CHECK_NEAR(test_value(results, "thr.pipeline.steady", ""), 3.0, 1e-9);
    CHECK_NEAR(test_value(results, "thr.pipeline", ""), 53.0 / 36.0, 1e-9);
    free(results);
    sim_meter_destroy(meter);
}

static void broken_books_are_found(void)
{
    static const struct sim_meter_amounts none;
    static const struct sim_meter_worker b = { .stage = 1, .holds = &none, .uses = &none };
    struct weir_error error = { 0 };
    struct sim_meter *meter = open_meter(0);
    play_first_half(meter);
    play_second_half(meter);
    CHECK_I64(sim_meter_check(meter, at(10), 1, &error), WEIR_EINVARIANT);
    CHECK_STR(error.text, "2 items arrived, but 2 left and 1 are in the system");
    sim_meter_task_done(meter, at(10), 1, at(1)); /* nobody was busy for it */
    CHECK_I64(sim_meter_check(meter, at(10), 0, &error), WEIR_EINVARIANT);
    CHECK(strstr(error.text, "stage show: workers were busy for 5 s") != NULL);
    struct sim_run_summary *results = finish(meter, 10, true);
    CHECK_NEAR(test_value(results, "invariant.violations", ""), 1.0, 0.0);
    sim_meter_destroy(meter);

    meter = open_meter(0);
    sim_meter_worker_state(meter, 0, &b, SIM_METER_IDLE, SIM_METER_BUSY);
    CHECK_I64(sim_meter_check(meter, 0, 0, &error), WEIR_EINVARIANT);
    sim_meter_destroy(meter);

    meter = open_meter(0);
    sim_meter_item_arrived(meter, 0, 0);
    sim_meter_item_done(meter, at(4), 0, at(3), at(3), false); /* a second is missing */
    CHECK_I64(sim_meter_check(meter, at(4), 0, &error), WEIR_EINVARIANT);
    CHECK(strstr(error.text, "latencies") != NULL);
    sim_meter_destroy(meter);

    meter = open_meter(0);
    const struct sim_meter_worker gpu = worker(1);
    for (int i = 0; i < 3; i++)
        sim_meter_worker_state(meter, 0, &gpu, SIM_METER_GONE, SIM_METER_SETUP);
    CHECK_I64(sim_meter_check(meter, 0, 0, &error), WEIR_EINVARIANT);
    CHECK_STR(error.text, "node 0: workers hold 3 of resource 1, it has 2");
    free(results);
    sim_meter_destroy(meter);
}

static void work_thrown_away_balances_the_busy_time(void)
{
    struct sim_meter *meter = open_meter(0);
    const struct sim_meter_worker a = worker(0);
    sim_meter_worker_state(meter, 0, &a, SIM_METER_GONE, SIM_METER_IDLE);
    sim_meter_worker_state(meter, at(1), &a, SIM_METER_IDLE, SIM_METER_BUSY);
    sim_meter_worker_state(meter, at(4), &a, SIM_METER_BUSY, SIM_METER_GONE);
    CHECK_I64(sim_meter_check(meter, at(4), 0, NULL), WEIR_EINVARIANT);
    sim_meter_work_lost(meter, at(4), 0, at(3), "stopped by a plan");
    CHECK_I64(sim_meter_check(meter, at(4), 0, NULL), WEIR_OK);
    sim_meter_setup_wasted(meter, at(4), at(2), at(4));
    sim_meter_retry(meter, at(4), false);
    sim_meter_retry(meter, at(4), true);
    struct sim_run_summary *results = finish(meter, 4, true);
    static const struct expected rows[] = {
        { "work.lost_s", "", 3.0 },
        { "waste.setup_s", "", 2.0 },
        { "retry.count", "", 1.0 },
        { "retry.exhausted", "", 1.0 },
    };
    CHECK_RESULTS(results, rows);
    free(results);
    sim_meter_destroy(meter);
}

/* One of what is counted; the metric that says so. */
static const char *happens(struct sim_meter *meter, int what, int64_t now_ns)
{
    switch (what) {
    case 0:
        sim_meter_retry(meter, now_ns, false);
        return "retry.count";
    case 1:
        sim_meter_retry(meter, now_ns, true);
        return "retry.exhausted";
    case 2:
        sim_meter_setup_wasted(meter, now_ns, now_ns - at(1), now_ns);
        return "waste.setup_s";
    case 3:
        sim_meter_work_lost(meter, now_ns, 0, at(1), "stopped by a plan");
        return "work.lost_s";
    case 4:
        sim_meter_oom(meter, now_ns);
        return "oom.host.count";
    case 5:
        sim_meter_spilled(meter, now_ns, 1);
        return "store.spill_bytes";
    case 6:
        sim_meter_decision(meter, now_ns, 0, -1);
        return "sched.decisions";
    default:
        return NULL;
    }
}

/* Nothing else tells the meter that the warm-up, which ends at 2 s, is over. */
static void what_happens_first_after_the_warm_up_counts_alone(void)
{
    const char *metric = "";
    for (int what = 0; metric != NULL; what++) {
        struct sim_meter *meter = open_meter(2);
        (void)happens(meter, what, at(1));
        metric = happens(meter, what, at(3));
        struct sim_run_summary *results = finish(meter, 4, true);
        if (metric != NULL && !CHECK_NEAR(test_value(results, metric, ""), 1.0, 0.0))
            printf("    %s\n", metric);
        free(results);
        sim_meter_destroy(meter);
    }
}

/* The warm-up ends at 2 s, and with it what does not count of a set-up from 1 to 4 s. */
static void a_set_up_in_vain_counts_from_the_warm_up_on(void)
{
    struct sim_meter *meter = open_meter(2);
    const struct sim_meter_worker a = worker(0);
    sim_meter_worker_state(meter, at(1), &a, SIM_METER_GONE, SIM_METER_SETUP);
    sim_meter_worker_state(meter, at(4), &a, SIM_METER_SETUP, SIM_METER_GONE);
    sim_meter_setup_wasted(meter, at(4), at(1), at(4));
    struct sim_run_summary *results = finish(meter, 5, true);
    static const struct expected rows[] = { { "waste.setup_s", "", 2.0 },
                                            { "waste.setup_frac", "", 1.0 } };
    CHECK_RESULTS(results, rows);
    free(results);
    sim_meter_destroy(meter);
}

static void ages_of_items_inside_complete_littles_law(void)
{
    struct sim_meter *meter = open_meter(0);
    sim_meter_item_arrived(meter, at(1), 0);
    sim_meter_item_arrived(meter, at(2), 0);
    sim_meter_item_done(meter, at(3), 0, at(2), at(1), false);
    const int64_t right[] = { at(4) };
    const int64_t wrong[] = { at(5) };
    struct sim_meter_end end = { .end_ns = at(6), .items_in_system = 1, .age_ns = right };
    struct sim_run_summary *results = results_at(meter, &end);
    CHECK_NEAR(test_value(results, "invariant.violations", ""), 0.0, 0.0);
    CHECK_NEAR(test_value(results, "lat.e2e.p50", ""), 2.0, 0.0);
    CHECK_NEAR(test_value(results, "lat.e2e.p95", ""), 4.0, 0.0);
    CHECK_NEAR(test_value(results, "lat.e2e.max", ""), 4.0, 0.0);
    end.age_ns = wrong;
    free(results);
    results = results_at(meter, &end);
    CHECK_NEAR(test_value(results, "invariant.violations", ""), 1.0, 0.0);
    free(results);
    sim_meter_destroy(meter);
}

/* Arrivals every 0.1 s, departures every `departure_s` in order of arrival. */
static bool line_is_steady(double departure_s, bool is_complete)
{
    enum { ARRIVALS = 3000 };
    struct sim_meter *meter = open_meter(0);
    int done = 0;
    for (int i = 0; i < ARRIVALS; i++) {
        const double now_s = 0.1 * i;
        for (double leave_s = departure_s * (done + 1); leave_s < now_s && done < i;
             leave_s = departure_s * (done + 1)) {
            sim_meter_item_done(meter, at(leave_s), 0, at(leave_s - 0.1 * done), 0, false);
            done++;
        }
        sim_meter_item_arrived(meter, at(now_s), 0);
    }
    const struct sim_meter_end end = { .end_ns = at(0.1 * ARRIVALS),
                                       .is_complete = is_complete,
                                       .items_in_system = (uint64_t)(ARRIVALS - done) };
    struct sim_run_summary *results = results_at(meter, &end);
    CHECK_NEAR(test_value(results, "invariant.violations", ""), 0.0, 0.0);
    const bool is_steady = sim_meter_is_steady(meter);
    free(results);
    sim_meter_destroy(meter);
    return is_steady;
}

static void a_growing_number_in_the_system_is_not_steady(void)
{
    CHECK(line_is_steady(0.1, false));
    CHECK(!line_is_steady(0.15, false));
    CHECK(line_is_steady(0.15, true));
}

/* 20 items from the start on, `more` from the middle on, none leaves: whether that is steady. */
static bool step_is_steady(double end_s, int more)
{
    struct sim_meter *meter = open_meter(0);
    for (int i = 0; i < 20 + more; i++)
        sim_meter_item_arrived(meter, at(i < 20 ? 0 : end_s / 2), 0);
    const struct sim_meter_end end = { .end_ns = at(end_s),
                                       .items_in_system = (uint64_t)(20 + more) };
    free(results_at(meter, &end));
    const bool is_steady = sim_meter_is_steady(meter);
    sim_meter_destroy(meter);
    return is_steady;
}

/* The line is at 1.5 times the second quarter, wherever the quarters lie between the marks. */
static void growth_is_found_between_the_marks(void)
{
    for (double end_s = 100; end_s < 230; end_s += 3.7) {
        CHECK(step_is_steady(end_s, 9));
        CHECK(!step_is_steady(end_s, 11));
    }
}

static void each_pipeline_has_its_own_rows_when_there_are_several(void)
{
    const struct sim_meter_amounts node = { { [SIM_RESOURCE_CPU] = 4.0 } };
    struct sim_meter_stage_info stages[] = { cut(), cut() };
    stages[1].pipeline = 1;
    const char *const names[] = { "left", "right" };
    const struct sim_meter_config config = { .node_count = 1,
                                             .node_capacity = &node,
                                             .stage_count = 2,
                                             .stages = stages,
                                             .pipeline_count = 2,
                                             .pipeline_names = names };
    struct sim_meter *meter = NULL;
    CHECK_I64(sim_meter_create(&config, &meter), WEIR_OK);
    for (uint32_t p = 0; p < 2; p++)
        sim_meter_item_arrived(meter, 0, p);
    sim_meter_item_done(meter, at(1), 0, at(1), at(1), false);
    sim_meter_item_done(meter, at(3), 1, at(3), at(1), false);
    struct sim_run_summary *results = finish(meter, 4, true);
    static const struct expected rows[] = {
        { "thr.pipeline", "", 0.5 },         { "thr.pipeline", "left", 0.25 },
        { "lat.e2e.mean", "left", 1.0 },     { "lat.e2e.mean", "right", 3.0 },
        { "lat.e2e.mean", "", 2.0 },         { "wait.mean", "right", 2.0 },
        { "queue.len.mean", "left/cut", 0 }, { "queue.len.mean", "right/cut", 0 },
    };
    CHECK_RESULTS(results, rows);
    free(results);
    sim_meter_destroy(meter);
    stages[1].pipeline = 2;
    CHECK_I64(sim_meter_create(&config, &meter), WEIR_EINVAL);
}

/* 100 until 2 s, 40 until 6 s, 60 until 10 s; what was before 5 s does not count, but who begins
 * with 40 has had 40. */
static void the_peak_of_memory_is_one_after_the_warm_up(void)
{
    static const double ends_s[] = { 6, 10 };
    static const double most[] = { 40, 60 };
    char name[] = "n";
    char *names[] = { name };
    const struct sim_meter_config config = { .node_count = 1,
                                             .node_capacity = &(struct sim_meter_amounts){ { 1 } },
                                             .node_names = (const char *const *)names,
                                             .warmup_ns = at(5) };
    for (size_t i = 0; i < 2; i++) {
        struct sim_meter *meter = NULL;
        CHECK_I64(sim_meter_create(&config, &meter), WEIR_OK);
        sim_meter_memory(meter, at(0), 0, 100);
        sim_meter_memory(meter, at(2), 0, 40);
        if (ends_s[i] > 6)
            sim_meter_memory(meter, at(6), 0, 60);
        struct sim_run_summary *results = finish(meter, ends_s[i], true);
        CHECK_NEAR(test_value(results, "mem.ram.max", "n"), most[i], 0);
        CHECK_NEAR(test_value(results, "mem.ram.max", ""), most[i], 0);
        CHECK_NEAR(test_value(results, "mem.ram.mean", "n"), i == 0 ? 40 : (40 + 4 * 60) / 5.0,
                   1e-12);
        free(results);
        sim_meter_destroy(meter);
    }
}

static const struct test tests[] = {
    { "results are the integrals of the timeline", results_are_the_integrals_of_the_timeline },
    { "what happened in the warm-up does not count", what_happened_in_the_warm_up_does_not_count },
    { "a node that is down is not in the denominator",
      a_node_that_is_down_is_not_in_the_denominator },
    { "the bottleneck is the stage of least capacity",
      the_bottleneck_is_the_stage_of_least_capacity },
    { "a plan is met as far as its workers are there",
      a_plan_is_met_as_far_as_its_workers_are_there },
    { "an unknown speed names no bottleneck but a missing worker does",
      an_unknown_speed_names_no_bottleneck_but_a_missing_worker_does },
    { "the steady rate comes from the longest interval without changes",
      the_steady_rate_comes_from_the_longest_interval_without_changes },
    { "broken books are found", broken_books_are_found },
    { "work thrown away balances the busy time", work_thrown_away_balances_the_busy_time },
    { "what happens first after the warm-up counts alone",
      what_happens_first_after_the_warm_up_counts_alone },
    { "a set-up in vain counts from the warm-up on", a_set_up_in_vain_counts_from_the_warm_up_on },
    { "ages of items inside complete Little's law", ages_of_items_inside_complete_littles_law },
    { "growth is found between the marks", growth_is_found_between_the_marks },
    { "a growing number in the system is not steady",
      a_growing_number_in_the_system_is_not_steady },
    { "each pipeline has its own rows when there are several",
      each_pipeline_has_its_own_rows_when_there_are_several },
    { "the peak of memory is one after the warm-up", the_peak_of_memory_is_one_after_the_warm_up },
};
TEST_MAIN(tests)
