/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What scaling policies do with what they find: what fixed stages leave, who is ahead, who gives.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <math.h>

enum { PARAMS_MOST = 32 };
static const int64_t NS_PER_S = 1000000000;
#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

/* Four workers are fixed, six CPUs are left: 4 and 2 at 4/s each, and nothing more is wanted. */
static void inverse_speed_divides_what_fixed_stages_leave(void)
{
    const struct test_stage stages[] = {
        { .name = "fast", .cpus = 1, .speed_per_s = 2 },
        { .name = "slow", .cpus = 1, .speed_per_s = 1 },
        { .name = "fixed", .cpus = 1, .speed_per_s = 1, .requested = 4 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 10, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_host_config config = test_config("fgd_xenna", "inverse_speed");
    struct weir_host *const host = test_host(&config, &pipeline);
    const struct weir_plan *plan = NULL;

    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_I64(weir_plan_pool_note(plan, i)->binding, WEIR_REASON_TARGET);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_STR(test_workers(host).text, "2,4,4");
    weir_host_destroy(host);
}

/* Three of ten CPUs go to the first stage, and the next one asks for six, seven or more: it gets
 * seven at most, and only six leave the last stage its first worker. */
static void the_optimum_is_of_counts_cut_to_what_fits(void)
{
    static const int32_t asked[] = { 6, 7, INT32_MAX };
    const struct weir_host_config config = test_config("fgd_xenna", "pool_optimum");

    for (size_t i = 0; i < COUNT(asked); i++) {
        const struct test_stage stages[] = {
            { .name = "few", .cpus = 1, .speed_per_s = 1, .requested = 3 },
            { .name = "many", .cpus = 1, .speed_per_s = 1, .requested = asked[i] },
            { .name = "rest", .cpus = 1, .speed_per_s = 1 },
        };
        const struct test_pipeline pipeline = {
            .nodes = 1, .cpus = 10, .stages = stages, .stage_count = COUNT(stages)
        };
        struct weir_host *const host = test_host(&config, &pipeline);
        const struct weir_plan *plan = NULL;
        CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
        CHECK_I64(weir_plan_pool_note(plan, 0)->pool_optimum, 3);
        CHECK_I64(weir_plan_pool_note(plan, 1)->pool_optimum, i == 0 ? 6 : 7);
        weir_host_destroy(host);
    }
}

/* One node of equal CPUs, and workers 1 .. `first` of the first stage and as many as said of the
 * second one after them. */
static struct weir_host *adopting_host(const struct weir_host_config *config,
                                       const struct test_pipeline *pipeline, uint64_t first,
                                       uint64_t second)
{
    struct weir_host *const host = test_host(config, pipeline);

    for (uint64_t id = 1; id <= first + second; id++) {
        const uint32_t pool = id <= first ? 0 : 1;
        const struct weir_shape *const shape =
            &weir_view_pool(weir_host_view(host, 0), pool)->shape;
        struct weir_alloc alloc;
        CHECK_I64(weir_place_first(weir_host_cluster(host), 0, shape, &alloc), WEIR_OK);
        CHECK_I64(weir_host_adopt_worker(host, id, weir_pool_owner(pool), &alloc, NULL), WEIR_OK);
    }
    return host;
}

/* Three CPUs for two stages: who has one more than the other, whichever it is, keeps it. */
static void equal_split_leaves_who_is_one_ahead(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1 }, { .name = "b", .cpus = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 3, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_host_config config = test_config("fgd_xenna", "equal_split");

    for (uint64_t first = 1; first <= 2; first++) {
        struct weir_host *const host = adopting_host(&config, &pipeline, first, 3 - first);
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK_STR(test_workers(host).text, first == 1 ? "1,2" : "2,1");
        CHECK_I64(weir_host_stats(host).stopped, 0);
        weir_host_destroy(host);
    }
}

/* Three workers of one stage have all CPUs: for the first worker of the other the latest one goes.
 */
static void a_donor_gives_its_latest_worker(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .requested = 3 },
                                         { .name = "b", .cpus = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 3, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_host_config config = test_config("fgd_xenna", "fixed");
    struct weir_host *const host = adopting_host(&config, &pipeline, 3, 0);
    const struct weir_plan *plan = NULL;
    uint64_t stopped = 0;

    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        if (weir_plan_action(plan, i)->verb == WEIR_VERB_STOP)
            stopped = stopped * 10 + weir_plan_action(plan, i)->worker;
    CHECK_I64(stopped, 3);
    weir_host_destroy(host);
}

/* A stage of half nodes stands on two of three nodes; on one of them, the stage of whole nodes has
 * a second worker and both do twice as much. With 100 s ahead that is worth 100 s of work, less the
 * set-up: of 105 s it is not done, of 95 s it is. */
static void weir_moves_only_where_it_pays(void)
{
    const struct test_stage stages[] = { { .name = "half", .cpus = 2, .speed_per_s = 1 },
                                         { .name = "whole", .cpus = 4, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 3, .cpus = 4, .stages = stages, .stage_count = COUNT(stages)
    };
    struct weir_host_config config = test_config("fgd_xenna", "weir");
    double values[PARAMS_MOST];
    const struct weir_scaling_ops *const ops = config.scaling;

    for (uint32_t i = 0; i < ops->param_count && i < PARAMS_MOST; i++)
        values[i] = ops->params[i].initial;
    config.scaling_params = (struct weir_params){ .values = values, .count = ops->param_count };
    values[weir_param_find(ops->params, ops->param_count, "horizon")] = 100;
    for (int setup_s = 95; setup_s <= 105; setup_s += 10) {
        values[weir_param_find(ops->params, ops->param_count, "setup")] = setup_s;
        struct weir_host *const host = test_host(&config, &pipeline);
        for (uint32_t node = 0; node < 3; node++) {
            const uint32_t pool = node == 2;
            struct weir_alloc alloc;
            CHECK_I64(weir_place_first(weir_host_cluster(host), node,
                                       &weir_view_pool(weir_host_view(host, 0), pool)->shape,
                                       &alloc),
                      WEIR_OK);
            CHECK_I64(weir_host_adopt_worker(host, node + 1, weir_pool_owner(pool), &alloc, NULL),
                      WEIR_OK);
        }
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK_STR(test_workers(host).text, setup_s == 95 ? "2,2" : "2,1");
        CHECK_I64(weir_host_stats(host).stopped, setup_s == 95 ? 1 : 0);
        weir_host_destroy(host);
    }
}

/* What the plan sets, 2 where it leaves what there was. */
static uint64_t planned_slots(const struct weir_plan *plan, uint32_t pool)
{
    uint64_t slots = 2;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_SET_SLOTS && action->owner.index == pool)
            slots = (uint64_t)action->value;
    }
    return slots;
}

/* Slots are two turns of the work that the workers of this very plan do, whoever counted them. */
static void slots_go_by_the_workers_of_the_plan(void)
{
    static const char *const policies[] = { "weir", "equal_split", "inverse_speed", "fixed" };
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 30 },
                                         { .name = "b", .cpus = 1, .speed_per_s = 70 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 7, .stages = stages, .stage_count = COUNT(stages)
    };

    for (uint32_t p = 0; p < COUNT(policies); p++) {
        const struct weir_host_config config = test_config("fgd_xenna", policies[p]);
        struct weir_host *const host = test_host(&config, &pipeline);
        const struct weir_plan *plan = NULL;
        CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
        const double a = weir_plan_pool_note(plan, 0)->workers_after;
        const double b = weir_plan_pool_note(plan, 1)->workers_after;
        const double slowest = fmin(30 * a, 70 * b);
        CHECK_I64(planned_slots(plan, 0), (int64_t)fmax(2, ceil(2 * slowest / a)));
        CHECK_I64(planned_slots(plan, 1), (int64_t)fmax(2, ceil(2 * slowest / b)));
        weir_host_destroy(host);
    }
}

/* Five workers of one stage and one of the other, where three of each are best: those that are
 * there for longest stay. */
static void weir_parts_with_the_latest_workers(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 },
                                         { .name = "b", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 6, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_host_config config = test_config("fgd_xenna", "weir");
    struct weir_host *const host = adopting_host(&config, &pipeline, 5, 1);

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "3,3");
    for (uint64_t id = 1; id <= 6; id++)
        CHECK(weir_cluster_worker(weir_host_cluster(host), id, NULL) == (id < 4 || id == 6));
    weir_host_destroy(host);
}

/* Five tasks of `mean_s` on average, `apart_s` off in turn but for the last. */
static void measure(struct weir_host *host, uint32_t pool, double mean_s, double apart_s)
{
    for (int i = 0; i < 5; i++) {
        const double took_s = mean_s + (i == 4 ? 0 : i % 2 == 0 ? apart_s : -apart_s);
        const struct weir_measurement task = { .size = sizeof task,
                                               .pool = pool,
                                               .start_ns = NS_PER_S,
                                               .end_ns =
                                                   NS_PER_S + (int64_t)(took_s * (double)NS_PER_S),
                                               .returns = 1 };
        CHECK_I64(weir_host_measure(host, &task), WEIR_OK);
    }
}

/* Three workers of each stage, one of which takes twice as long: two and four do a third more. The
 * mean of five tasks that are 1.5 s off has an error of 0.3 of it, of 1.8 s one of 0.36. */
static void weir_moves_only_for_more_than_is_not_known(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 },
                                         { .name = "b", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 6, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_host_config config = test_config("fgd_xenna", "weir");

    for (int is_unsure = 0; is_unsure < 2; is_unsure++) {
        struct weir_host *const host = test_host(&config, &pipeline);
        const struct weir_plan *plan = NULL;
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK_STR(test_workers(host).text, "3,3");
        measure(host, 0, 1, 0);
        measure(host, 1, 2, is_unsure ? 1.8 : 1.5);
        CHECK_I64(test_decide_at(host, 10 * NS_PER_S, &plan), WEIR_OK);
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
        CHECK_STR(test_workers(host).text, is_unsure ? "3,3" : "2,4");
        weir_host_destroy(host);
    }
}

static const struct test tests[] = {
    { "weir moves only for more than is not known", weir_moves_only_for_more_than_is_not_known },
    { "slots go by the workers of the plan", slots_go_by_the_workers_of_the_plan },
    { "inverse_speed divides what fixed stages leave",
      inverse_speed_divides_what_fixed_stages_leave },
    { "the optimum is of counts cut to what fits", the_optimum_is_of_counts_cut_to_what_fits },
    { "equal_split leaves who is one ahead", equal_split_leaves_who_is_one_ahead },
    { "a donor gives its latest worker", a_donor_gives_its_latest_worker },
    { "weir moves only where it pays", weir_moves_only_where_it_pays },
    { "weir parts with the latest workers", weir_parts_with_the_latest_workers },
};

TEST_MAIN(tests)
