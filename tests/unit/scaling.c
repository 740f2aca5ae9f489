/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scaling policies on small pipelines with known outcomes, and the reference pipeline. */
#include "sched/scaling/optimum.h"
#include "sched/scaling/slots.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

/* The codec version of the reference: fgd with a bonus that everyone gets. */
static const double REFERENCE_FGD[] = { 0, 0, 10, 0, 0, 0x1p-40, 0, 0, 0, 1, 0, 100, 0, 0 };

static struct weir_host_config reference_config(void)
{
    struct weir_host_config config = test_config("fgd_xenna", "xenna");

    config.placement_params =
        (struct weir_params){ .values = REFERENCE_FGD, .count = COUNT(REFERENCE_FGD) };
    return config;
}

enum { PARAMS_MOST = 32 };

/* Everything at its default, but failing whole as the references do. */
static struct weir_host_config literal_config(const char *scaling, double *values)
{
    struct weir_host_config config = test_config("fgd_xenna", scaling);
    const struct weir_scaling_ops *const ops = config.scaling;

    for (uint32_t i = 0; i < ops->param_count && i < PARAMS_MOST; i++)
        values[i] = ops->params[i].initial;
    values[weir_param_find(ops->params, ops->param_count, "on_shortage")] = 1;
    config.scaling_params = (struct weir_params){ .values = values, .count = ops->param_count };
    return config;
}

/* Unmeasures every stage, or measures it as the pipeline says. */
static void set_measured(struct weir_host *host, const struct test_pipeline *pipeline,
                         bool measured)
{
    for (uint32_t i = 0; i < pipeline->stage_count; i++) {
        const struct weir_estimate estimate = {
            .batches_per_s = measured ? pipeline->stages[i].speed_per_s : (double)NAN,
            .returns_per_batch = measured ? 1 : (double)NAN,
        };
        CHECK_I64(weir_host_set_estimate(host, i, estimate), WEIR_OK);
    }
}

/* The counts after one decision on an empty cluster. */
static struct test_text first_counts(const char *scaling, const struct test_pipeline *pipeline)
{
    const struct weir_host_config config = test_config("fgd_xenna", scaling);
    struct weir_host *const host = test_host(&config, pipeline);
    struct weir_error error = { 0 };

    if (!CHECK(test_step(host, &error) == WEIR_OK))
        fprintf(stderr, "%s\n", error.text);
    const struct test_text text = test_workers(host);
    weir_host_destroy(host);
    return text;
}

/* ---- slots ---- */

/* covers: S0.14 */
static void slots_follow_the_slowest_stage(void)
{
    const struct weir_slots_rule rule = { .period_s = 1, .least = 2 };
    struct weir_slots_pool stages[] = { { .speed_per_s = 7.5, .workers = 4, .slots = 2 },
                                        { .speed_per_s = 40, .workers = 1, .slots = 2 } };

    weir_slots_apply(&rule, stages, 2);
    CHECK_I64(stages[0].slots, 15);
    CHECK_I64(stages[1].slots, 60);
    stages[0].speed_per_s = 1;
    weir_slots_apply(&rule, stages, 2);
    CHECK_I64(stages[0].slots, 15); /* never fewer */
    stages[1] = (struct weir_slots_pool){ .speed_per_s = (double)NAN, .workers = 1, .slots = 1 };
    weir_slots_apply(&rule, stages, 2);
    CHECK_I64(stages[1].slots, 1); /* unknown speed: unchanged */
}

/* ceil(2 x speed of the pipeline x turn / workers), by any speeds, workers and turns: as many as a
 * worker starts in two turns, and not one more. covers: S0.14 */
static void slots_are_two_turns_of_work(void)
{
    struct draws draws = draws_seeded(14);
    for (int round = 0; round < 2000; round++) {
        struct weir_slots_pool stages[3];
        double slowest = (double)INFINITY;
        const struct weir_slots_rule rule = { .period_s = (double)(1 + draws_below(&draws, 40)) / 8,
                                              .least = 2 };
        for (size_t i = 0; i < 3; i++) {
            const double speed_per_s = (double)(1 + draws_below(&draws, 999)) / 16;
            const uint32_t workers = 1 + (uint32_t)draws_below(&draws, 9);
            stages[i] = (struct weir_slots_pool){ speed_per_s, workers, 1 };
            slowest = fmin(slowest, speed_per_s * workers);
        }
        weir_slots_apply(&rule, stages, 3);
        for (size_t i = 0; i < 3; i++) {
            const double work = 2 * slowest * rule.period_s;
            CHECK(stages[i].slots >= 2 && stages[i].slots * stages[i].workers >= work);
            CHECK(stages[i].slots == 2 || (stages[i].slots - 1) * stages[i].workers < work);
        }
    }
}

/* ---- the pool ---- */

/* Exhaustive search over small counts is the oracle. */
static double best_by_search(const double *rates, const int64_t *needs, int64_t pool)
{
    double best = -1e300;

    for (uint32_t code = 0; code < 12 * 12 * 12; code++) {
        const uint32_t x[] = { code % 12 + 1, code / 12 % 12 + 1, code / 144 + 1 };
        double least = (double)INFINITY;
        double sum = 0;
        int64_t used = 0;
        for (size_t i = 0; i < 3; i++) {
            used += x[i] * needs[i];
            sum += x[i] * rates[i];
            least = fmin(least, x[i] * rates[i]);
        }
        if (used <= pool)
            best = fmax(best, 1.003 * least - 0.001 * sum);
    }
    return best;
}

static void the_pool_optimum_is_the_best_of_all(void)
{
    for (uint32_t seed = 0; seed < 200; seed++) {
        const double rates[] = { 0.3 + seed % 7, 0.5 + seed % 5 * 1.7, 0.9 + seed % 11 * 0.4 };
        const int64_t needs[] = { 1 + seed % 3, 1 + seed % 2, 2 };
        struct weir_optimum_pool stages[3];
        struct weir_optimum_result result = { 0 };
        const struct weir_amounts total = { .cpu_units = 5 + seed % 9 };
        for (size_t i = 0; i < 3; i++)
            stages[i] = (struct weir_optimum_pool){ .rate_per_s = rates[i],
                                                    .need = { .cpu_units = needs[i] },
                                                    .requested = -1 };
        const weir_status status = weir_optimum_solve(stages, 3, &total, &result, NULL);
        if (needs[0] + needs[1] + needs[2] > total.cpu_units)
            CHECK_I64(status, WEIR_EINFEASIBLE);
        else
            CHECK_NEAR(result.objective, best_by_search(rates, needs, total.cpu_units), 1e-9);
    }
}

/* ---- xenna ---- */

/* covers: S0.38 S0.41 */
static void the_reference_pipeline_gets_the_counts_of_the_reference(void)
{
    const struct test_pipeline pipeline = test_reference(2, false);
    const struct weir_host_config config = reference_config();
    struct weir_host *const host = test_host(&config, &pipeline);

    set_measured(host, &pipeline, false);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "3,3,3,3,3,3,3,3,2,3,3,2,2,3");
    set_measured(host, &pipeline, true);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "3,45,2,23,4,1,2,1,1,37,11,6,1,3");
    CHECK(45 / 38.7 <= 1.5 * 6 / 7.7);
    CHECK(46 / 38.7 > 1.5 * 6 / 7.7);
    weir_host_destroy(host);
}

/* covers: S0.31 */
static void phases_run_in_order_and_notes_say_why(void)
{
    const struct test_pipeline pipeline = test_reference(2, true);
    struct weir_host_config config = reference_config();
    const struct weir_plan *plan;
    uint32_t last = 1;

    config.explain = WEIR_EXPLAIN_FULL;
    struct weir_host *const host = test_host(&config, &pipeline);
    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    for (uint32_t i = 0; i < weir_plan_step_count(plan); i++) {
        const uint32_t phase = weir_plan_step_at(plan, i)->phase;
        CHECK(phase >= last);
        last = phase;
    }
    CHECK_I64(last, 4);
    const struct weir_pool_note *const slowest = weir_plan_pool_note(plan, 11);
    CHECK_I64(slowest->binding, WEIR_REASON_GPU_WHOLE);
    CHECK_NEAR(slowest->throughput_per_s, 6 / 7.7, 1e-12);
    CHECK_I64(slowest->pool_optimum, 6);
    CHECK_I64(weir_plan_pool_note(plan, 1)->binding, WEIR_REASON_TARGET);
    weir_host_destroy(host);
}

/* covers: S0.15 */
static void counts_are_proportional_to_service_times(void)
{
    const struct test_stage stages[] = { { .name = "a", .gpus = 1, .speed_per_s = 1 / 2.0 },
                                         { .name = "b", .gpus = 1, .speed_per_s = 1 / 1.0 } };
    const struct test_pipeline pipeline = {
        .nodes = 3, .gpus = 4, .cpus = 4, .stages = stages, .stage_count = COUNT(stages)
    };

    CHECK_STR(first_counts("xenna", &pipeline).text, "8,4");
}

/* covers: S0.16 */
static void a_pinned_stage_keeps_its_count_while_others_scale(void)
{
    const struct test_stage stages[] = {
        { .name = "pinned", .cpus = 1, .speed_per_s = 1, .requested = 5 },
        { .name = "auto", .cpus = 1, .speed_per_s = 1 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 2, .cpus = 16, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &pipeline);

    for (uint32_t i = 1; i < 6; i++) {
        const struct weir_estimate estimate = { .batches_per_s = i, .returns_per_batch = 1 };
        CHECK_I64(weir_host_set_estimate(host, 1, estimate), WEIR_OK);
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK_STR(test_workers(host).text, "5,27");
    }
    weir_host_destroy(host);
}

/* covers: S0.33 */
static void fan_out_normalises_the_bottleneck(void)
{
    const struct test_stage stages[] = {
        { .name = "split", .cpus = 1, .speed_per_s = 1, .returns = 100 },
        { .name = "work", .cpus = 1, .speed_per_s = 10 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 22, .stages = stages, .stage_count = COUNT(stages)
    };

    /* k of the second stage is 1/100: its worker does 10 items a second, which is 0.1 items of the
     * source. */
    CHECK_STR(first_counts("xenna", &pipeline).text, "2,20");
}

/* covers: S0.34 S0.36 */
static void a_manual_count_that_cannot_be_met_names_its_stage(void)
{
    const struct test_stage stages[] = {
        { .name = "free", .cpus = 1, .speed_per_s = 1 },
        { .name = "triple", .cpus = 1, .gpus = 3, .speed_per_s = 1, .requested = 1 },
    };
    struct test_pipeline pipeline = {
        .nodes = 3, .gpus = 2, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    double values[PARAMS_MOST];
    const struct weir_host_config config = literal_config("xenna", values);
    struct weir_host *host = test_host(&config, &pipeline);
    struct weir_error error = { 0 };

    CHECK_I64(test_step(host, &error), WEIR_EMANUAL);
    CHECK_I64(error.phase, 1);
    CHECK_I64(error.pool, 1);
    CHECK_STR(error.text, "stage triple: 1 workers are requested, only 0 fit: too few free GPUs");
    CHECK_I64(weir_cluster_worker_count(weir_host_cluster(host)), 0);
    weir_host_destroy(host);
    pipeline.nodes = 1; /* 3 GPUs are not in the pool of 2 */
    host = test_host(&config, &pipeline);
    CHECK_I64(test_step(host, &error), WEIR_EINFEASIBLE);
    CHECK_I64(error.phase, 0);
    CHECK_I64(error.pool, 1);
    weir_host_destroy(host);
}

/* covers: S0.34 */
static void manual_stages_go_first_even_if_that_starves_others(void)
{
    const struct test_stage stages[] = {
        { .name = "late", .gpus = 1, .speed_per_s = 1 },
        { .name = "greedy", .gpus = 1, .speed_per_s = 1, .requested = 4 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 1, .gpus = 4, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    const char *const scalings[] = { "xenna", "fixed" };
    const weir_status statuses[] = { WEIR_EINFEASIBLE, WEIR_EMINIMUM };

    for (size_t i = 0; i < 2; i++) {
        double values[PARAMS_MOST];
        const struct weir_host_config config = literal_config(scalings[i], values);
        struct weir_host *const host = test_host(&config, &pipeline);
        struct weir_error error = { 0 };
        CHECK_I64(test_step(host, &error), statuses[i]);
        CHECK_I64(error.pool, 0);
        CHECK(strstr(error.text, "stage late: ") == error.text);
        weir_host_destroy(host);
    }
}

/* covers: S0.35 */
static void a_lower_request_removes_workers(void)
{
    const struct test_stage stages[] = {
        { .name = "m", .cpus = 1, .speed_per_s = 1, .requested = 9 },
        { .name = "a", .cpus = 1, .speed_per_s = 1 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 2, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &pipeline);
    const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update),
                                             .slots = 2,
                                             .requested_workers = 7 };
    const struct weir_plan *plan;
    uint32_t stops = 0;

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "9,7");
    CHECK_I64(weir_host_update_pool(host, 0, &update), WEIR_OK);
    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        stops += weir_plan_action(plan, i)->verb == WEIR_VERB_STOP;
    CHECK_I64(stops, 2);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_STR(test_workers(host).text, "7,9");
    weir_host_destroy(host);
}

/* covers: S0.36 */
static void nine_whole_gpus_on_eight_fail_fast(void)
{
    const struct test_stage stages[] = { { .name = "m", .gpus = 1, .requested = 9 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .gpus = 8, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    const char *const scalings[] = { "xenna", "fixed" };
    const weir_status statuses[] = { WEIR_EINFEASIBLE, WEIR_EMANUAL };

    for (size_t i = 0; i < 2; i++) {
        double values[PARAMS_MOST];
        const struct weir_host_config config = literal_config(scalings[i], values);
        struct weir_host *const host = test_host(&config, &pipeline);
        struct weir_error error = { 0 };
        CHECK_I64(test_step(host, &error), statuses[i]);
        CHECK_I64(error.pool, 0);
        CHECK_I64(weir_cluster_worker_count(weir_host_cluster(host)), 0);
        weir_host_destroy(host);
    }
}

/* covers: S0.37 */
static void the_stage_without_a_first_worker_is_named(void)
{
    const struct test_stage stages[] = {
        { .name = "s1", .gpus = 1 }, { .name = "s2", .gpus = 1 }, { .name = "s3", .gpus = 1 },
        { .name = "s4", .gpus = 1 }, { .name = "s5", .gpus = 1 }, { .name = "s6", .gpus = 1 },
        { .name = "s7", .gpus = 1 }, { .name = "s8", .gpus = 1 }, { .name = "s9", .gpus = 1 },
    };
    struct test_pipeline pipeline = {
        .nodes = 1, .gpus = 8, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    const char *const scalings[] = { "xenna", "equal_split" };
    const weir_status statuses[] = { WEIR_EINFEASIBLE, WEIR_EMINIMUM };

    for (size_t i = 0; i < 2; i++) {
        double values[PARAMS_MOST];
        const struct weir_host_config config = literal_config(scalings[i], values);
        struct weir_host *const host = test_host(&config, &pipeline);
        struct weir_error error = { 0 };
        CHECK_I64(test_step(host, &error), statuses[i]);
        CHECK_I64(error.pool, 8);
        CHECK(strstr(error.text, "stage s9: ") == error.text);
        weir_host_destroy(host);
    }
    pipeline.stage_count = 8;
    CHECK_STR(first_counts("xenna", &pipeline).text, "1,1,1,1,1,1,1,1");
}

/* The third CPU: both stages do 0.3 a second, but for the last bit. */
static void the_last_bit_of_a_speed_decides_nothing(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 0.1 * 3 },
                                         { .name = "b", .cpus = 1, .speed_per_s = 0.3 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 3, .stages = stages, .stage_count = COUNT(stages)
    };
    const char *const scalings[] = { "xenna", "xenna_n", "inverse_speed" };

    CHECK(stages[0].speed_per_s > stages[1].speed_per_s);
    for (size_t i = 0; i < COUNT(scalings); i++) {
        double values[PARAMS_MOST];
        struct weir_host_config config = literal_config(scalings[i], values);
        const struct weir_scaling_ops *const ops = config.scaling;
        CHECK_STR(first_counts(scalings[i], &pipeline).text, "2,1");
        values[weir_param_find(ops->params, ops->param_count, "arithmetic")] = 1;
        struct weir_host *const host = test_host(&config, &pipeline);
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK_STR(test_workers(host).text, "1,2");
        weir_host_destroy(host);
    }
}

/* ---- best effort ---- */

static const char *const SCALINGS[] = { "xenna",        "xenna_n",         "xenna_c",
                                        "pool_optimum", "inverse_speed",   "equal_split",
                                        "fixed",        "saturation_aware" };

/* The host after a decision that must give a plan; NULL and a failed check without one. */
static struct weir_host *decided(const char *scaling, const struct test_pipeline *pipeline)
{
    const struct weir_host_config config = test_config("fgd_xenna", scaling);
    struct weir_host *const host = test_host(&config, pipeline);
    struct weir_error error = { 0 };

    if (!CHECK_I64(test_step(host, &error), WEIR_OK))
        fprintf(stderr, "%s: %s\n", scaling, error.text);
    return host;
}

static uint32_t workers(const struct weir_host *host, uint32_t pool)
{
    return weir_cluster_pool_workers(weir_host_cluster(host), pool);
}

static void a_fixed_count_is_met_as_far_as_it_fits(void)
{
    for (size_t i = 0; i < 2 * COUNT(SCALINGS); i++) {
        const struct test_stage stages[] = {
            { .name = "few", .gpus = 1, .requested = 3 },
            { .name = "m", .gpus = 1, .requested = i % 2 == 0 ? 9 : INT32_MAX }
        };
        const struct test_pipeline pipeline = {
            .nodes = 1, .gpus = 8, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
        };
        struct weir_host *const host = decided(SCALINGS[i / 2], &pipeline);
        CHECK_STR(test_workers(host).text, "3,5");
        weir_host_destroy(host);
    }
}

static void a_stage_without_room_leaves_the_others_served(void)
{
    const struct test_stage stages[] = {
        { .name = "s1", .gpus = 1 },
        { .name = "s2", .gpus = 1 },
        { .name = "s3", .gpus = 1 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 1, .gpus = 2, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };

    for (size_t i = 0; i < COUNT(SCALINGS); i++) {
        struct weir_host *const host = decided(SCALINGS[i], &pipeline);
        CHECK_STR(test_workers(host).text, "1,1,0");
        CHECK_I64(test_step(host, NULL), WEIR_OK); /* and again, and nobody is moved */
        CHECK_STR(test_workers(host).text, "1,1,0");
        CHECK_I64(weir_host_stats(host).stopped, 0);
        weir_host_destroy(host);
    }
}

/* One node is down, the other one full: the denial names its GPU and who is on it. */
static void a_denial_names_the_device_and_its_holders(void)
{
    const struct test_stage stages[] = { { .name = "s1", .gpus = 1, .speed_per_s = 1 },
                                         { .name = "s2", .gpus = 0.75, .speed_per_s = 1 },
                                         { .name = "s3", .gpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 2, .gpus = 2, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_call call = { .size = sizeof(struct weir_call),
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = 0 };

    for (uint32_t explain = WEIR_EXPLAIN_OFF; explain <= WEIR_EXPLAIN_COUNTS; explain++) {
        struct weir_host_config config = test_config("fgd_xenna", "xenna");
        config.explain = explain;
        struct weir_host *const host = test_host(&config, &pipeline);
        const struct weir_plan *plan = NULL;
        CHECK_I64(weir_host_set_node(host, 0, 0, 0), WEIR_OK);
        CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK);
        const struct weir_action *const shortage = weir_plan_shortage(plan);
        if (!CHECK(shortage != NULL))
            continue;
        CHECK_I64(shortage->owner.index, 2);
        CHECK_I64(shortage->reason, WEIR_REASON_GPU_WHOLE);
        CHECK_I64(weir_plan_holder_count(plan) > 0, explain != WEIR_EXPLAIN_OFF);
        if (explain != WEIR_EXPLAIN_OFF) {
            const struct weir_holder *const holder = weir_plan_holder_at(plan, 0);
            CHECK(weir_owner_is(&holder->denied, &shortage->owner));
            CHECK_I64(holder->owner.index, 1); /* a quarter is free beside it */
            CHECK_I64(holder->node, 1);
            CHECK_I64(weir_plan_holder_at(plan, weir_plan_holder_count(plan)) == NULL, 1);
        }
        weir_host_destroy(host);
    }
}

/* Every GPU is full of the one stage's halves when the other one comes and wants two of a node. */
static void the_first_worker_takes_from_the_richest(void)
{
    const struct test_stage stages[] = {
        { .name = "slow", .cpus = 1, .speed_per_s = 1 },
        { .name = "rich", .gpus = 0.5, .speed_per_s = 1 },
        { .name = "late", .gpus = 2, .speed_per_s = 1, .requested = -1 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 2, .gpus = 2, .cpus = 4, .stages = stages, .stage_count = COUNT(stages)
    };

    for (size_t i = 0; i < 2 * COUNT(SCALINGS); i++) {
        /* without a count, and with one that is fixed by hand */
        const struct weir_pool_update comes = { .size = sizeof(struct weir_pool_update),
                                                .slots = 2,
                                                .requested_workers = i % 2 ? 1 : -1 };
        const struct weir_host_config config = test_config("fgd_xenna", SCALINGS[i / 2]);
        struct weir_host *const host = test_host(&config, &pipeline);
        for (uint64_t id = 1; id <= 8; id++) {
            const struct weir_shape *const shape =
                &weir_view_pool(weir_host_view(host, 0), 1)->shape;
            struct weir_alloc alloc;
            CHECK_I64(weir_place_first(weir_host_cluster(host), id <= 4 ? 0 : 1, shape, &alloc),
                      WEIR_OK);
            CHECK_I64(weir_host_adopt_worker(host, id, weir_pool_owner(1), &alloc, NULL), WEIR_OK);
        }
        CHECK_I64(weir_host_update_pool(host, 2, &comes), WEIR_OK);
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK_I64(workers(host, 2), 1);
        CHECK(workers(host, 0) >= 1 && workers(host, 1) >= 1);
        if (i / 2 < 3 && i % 2 == 1) /* xenna: the four that stood in the way, and nobody else */
            CHECK_I64(weir_host_stats(host).stopped, 4);
        weir_host_destroy(host);
    }
}

/* covers: S0.39 */
static void a_fast_stage_gives_workers_to_a_slow_one(void)
{
    const struct test_stage stages[] = { { .name = "A", .gpus = 1, .speed_per_s = 1 },
                                         { .name = "B", .gpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .gpus = 8, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_estimate fast = { .batches_per_s = 4, .returns_per_batch = 1 };
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &pipeline);

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "4,4");
    CHECK_I64(weir_host_set_estimate(host, 0, fast), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "2,6");
    weir_host_destroy(host);
}

/* covers: S0.40 */
static void counts_do_not_depend_on_the_placement_policy(void)
{
    const struct test_stage stages[] = { { .name = "a", .gpus = 1, .speed_per_s = 3 },
                                         { .name = "b", .cpus = 2, .speed_per_s = 1 },
                                         { .name = "c", .gpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 4, .gpus = 4, .cpus = 32, .stages = stages, .stage_count = COUNT(stages)
    };

    for (uint32_t i = 0; i < weir_placement_count(); i++) {
        const struct weir_host_config config = test_config(weir_placement_at(i)->name, "xenna");
        struct weir_host *const host = test_host(&config, &pipeline);
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK_STR(test_workers(host).text, "4,18,12");
        weir_host_destroy(host);
    }
}

/* How many workers are started in a decision that changes nothing. */
static uint64_t churn(const struct weir_host_config *config, uint32_t nodes, uint32_t decisions)
{
    const struct test_pipeline pipeline = test_reference(nodes, true);
    struct weir_host *const host = test_host(config, &pipeline);

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    const uint64_t before = weir_host_stats(host).started;
    const struct test_text counts = test_workers(host);
    for (uint32_t i = 0; i < decisions; i++)
        CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, counts.text);
    const uint64_t started = weir_host_stats(host).started - before;
    weir_host_destroy(host);
    return started;
}

/* covers: S0.42 */
static void workers_taken_back_keep_their_id_with_the_bonus(void)
{
    const struct weir_host_config with_bonus = test_config("fgd_xenna", "xenna");
    const struct weir_host_config inert = reference_config();

    CHECK_I64(churn(&with_bonus, 10, 3), 0);
    CHECK(churn(&inert, 10, 3) > 0);
}

/* covers: S2.29 */
static void a_hint_stands_in_for_a_measurement(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1 }, { .name = "b", .cpus = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 10, .stages = stages, .stage_count = 1
    };
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &pipeline);
    struct weir_pool_spec hinted = test_pool_spec(weir_view_pool(weir_host_view(host, 0), 0));

    hinted.name = "hinted";
    hinted.speed_hint_per_s = 4;
    CHECK_I64(weir_host_add_pool(host, &hinted, NULL, NULL), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "8,2");
    weir_host_destroy(host);
}

static void finished_stages_can_be_left_alone(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 },
                                         { .name = "b", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_pool_update finished = {
        .size = sizeof(struct weir_pool_update), .finished = 1, .slots = 2, .requested_workers = -1
    };
    const double values[] = { 1, 2, 1, 1, 0, 0, 1.5, 0 };
    struct weir_host_config config = test_config("fgd_xenna", "xenna");

    config.scaling_params = (struct weir_params){ .values = values, .count = COUNT(values) };
    struct weir_host *const host = test_host(&config, &pipeline);
    CHECK_I64(weir_host_update_pool(host, 0, &finished), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "0,8");
    weir_host_destroy(host);
}

/* ---- the other policies ---- */

/* covers: S2.32 S2.33 */
static void inverse_speed_balances_each_pool(void)
{
    const struct test_stage stages[] = {
        { .name = "slow", .cpus = 1, .gpus = 1, .speed_per_s = 0.5 },
        { .name = "cpu", .cpus = 1, .speed_per_s = 1 },
        { .name = "fast", .cpus = 1, .gpus = 1, .speed_per_s = 2 },
        { .name = "cpu2", .cpus = 2, .speed_per_s = 3 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 2, .gpus = 5, .cpus = 30, .stages = stages, .stage_count = COUNT(stages)
    };

    /* GPUs: 8 and 2 at 4/s each. CPUs: 60 / (1 + 2/3) = 36 and 12 at 36/s each; the GPU stages
     * hold 10 of the 60, so both CPU stages stop at 30/s. */
    CHECK_STR(first_counts("inverse_speed", &pipeline).text, "8,30,2,10");
}

/* covers: S0.5 */
static void equal_split_stops_when_a_stage_gets_nothing(void)
{
    const struct test_pipeline pipeline = test_reference(2, false);

    CHECK_STR(first_counts("equal_split", &pipeline).text, "3,3,3,3,3,3,3,3,2,3,3,2,2,3");
}

/* What it makes of what xenna left on so many CPUs. */
static void check_levelled(double cpus, const char *found, const char *left)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 },
                                         { .name = "b", .cpus = 1, .speed_per_s = 7 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = cpus, .stages = stages, .stage_count = COUNT(stages)
    };
    struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &pipeline);

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, found);
    config.scaling = weir_scaling_find("equal_split");
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, left);
    weir_host_destroy(host);
}

/* A pool two ahead gives one back, too. */
static void equal_split_levels_what_it_finds(void)
{
    check_levelled(8, "7,1", "4,4");
    check_levelled(4, "3,1", "2,2");
}

static void fixed_gives_one_worker_to_auto_stages(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .requested = 3 },
                                         { .name = "b", .cpus = 1 },
                                         { .name = "c", .cpus = 1, .requested = -1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };

    CHECK_STR(first_counts("fixed", &pipeline).text, "3,1,0");
}

static void pool_optimum_places_the_optimum(void)
{
    const struct test_pipeline pipeline = test_reference(2, true);

    CHECK_STR(first_counts("pool_optimum", &pipeline).text, "3,31,2,16,4,1,2,1,1,3,8,6,1,3");
}

/* The same state twice gives the same plan, whatever happened between. */
static void every_policy_is_stable_on_the_reference_pipeline(void)
{
    const struct test_pipeline pipeline = test_reference(2, true);

    for (uint32_t i = 0; i < weir_scaling_count(); i++) {
        const struct weir_host_config config = test_config("fgd_xenna", weir_scaling_at(i)->name);
        struct weir_host *const host = test_host(&config, &pipeline);
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        const struct test_text first = test_workers(host);
        const uint64_t started = weir_host_stats(host).started;
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK_STR(test_workers(host).text, first.text);
        CHECK_I64(weir_host_stats(host).started, started);
        CHECK_I64(weir_host_stats(host).stopped, 0);
        CHECK_I64(weir_cluster_check(weir_host_cluster(host), NULL), WEIR_OK);
        weir_host_destroy(host);
    }
}

static void the_registry_finds_its_own(void)
{
    for (uint32_t i = 0; i < weir_scaling_count(); i++) {
        const struct weir_scaling_ops *const ops = weir_scaling_at(i);
        const struct weir_scaling_ops *const list[] = { ops, NULL };
        const struct weir_module module = {
            .size = sizeof module, .abi_major = WEIR_ABI_MAJOR, .name = "built-in", .scalings = list
        };
        CHECK(weir_scaling_find(ops->name) == ops);
        CHECK_I64(weir_module_check(&module, NULL), WEIR_OK);
    }
    CHECK(weir_scaling_at(weir_scaling_count()) == NULL);
    CHECK(weir_scaling_find("nonsense") == NULL);
}

static const struct test tests[] = {
    { "slots follow the slowest stage", slots_follow_the_slowest_stage },
    { "slots are two turns of work", slots_are_two_turns_of_work },
    { "the pool optimum is the best of all counts", the_pool_optimum_is_the_best_of_all },
    { "the reference pipeline gets the counts of the reference",
      the_reference_pipeline_gets_the_counts_of_the_reference },
    { "phases run in order and notes say why", phases_run_in_order_and_notes_say_why },
    { "counts are proportional to service times", counts_are_proportional_to_service_times },
    { "a pinned stage keeps its count while others scale",
      a_pinned_stage_keeps_its_count_while_others_scale },
    { "fan-out normalises the bottleneck", fan_out_normalises_the_bottleneck },
    { "a manual count that cannot be met names its stage",
      a_manual_count_that_cannot_be_met_names_its_stage },
    { "manual stages go first even if that starves others",
      manual_stages_go_first_even_if_that_starves_others },
    { "a lower request removes workers", a_lower_request_removes_workers },
    { "nine whole GPUs on eight fail fast", nine_whole_gpus_on_eight_fail_fast },
    { "the stage without a first worker is named", the_stage_without_a_first_worker_is_named },
    { "a fast stage gives workers to a slow one", a_fast_stage_gives_workers_to_a_slow_one },
    { "counts do not depend on the placement policy",
      counts_do_not_depend_on_the_placement_policy },
    { "workers taken back keep their id with the bonus",
      workers_taken_back_keep_their_id_with_the_bonus },
    { "a hint stands in for a measurement", a_hint_stands_in_for_a_measurement },
    { "finished stages can be left alone", finished_stages_can_be_left_alone },
    { "inverse_speed balances each pool", inverse_speed_balances_each_pool },
    { "equal_split stops when a stage gets nothing", equal_split_stops_when_a_stage_gets_nothing },
    { "equal_split levels what it finds", equal_split_levels_what_it_finds },
    { "fixed gives one worker to auto stages", fixed_gives_one_worker_to_auto_stages },
    { "pool_optimum places the optimum", pool_optimum_places_the_optimum },
    { "every policy is stable on the reference pipeline",
      every_policy_is_stable_on_the_reference_pipeline },
    { "the registry finds its own", the_registry_finds_its_own },
    { "the last bit of a speed decides nothing", the_last_bit_of_a_speed_decides_nothing },
    { "a fixed count is met as far as it fits", a_fixed_count_is_met_as_far_as_it_fits },
    { "a stage without room leaves the others served",
      a_stage_without_room_leaves_the_others_served },
    { "a denial names the device and its holders", a_denial_names_the_device_and_its_holders },
    { "the first worker takes from the richest", the_first_worker_takes_from_the_richest },
};

TEST_MAIN(tests)
