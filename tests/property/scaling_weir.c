/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scaling policy `weir` on random problems, from nothing and from a plan for other speeds: near
 * to what no plan can exceed, the same state is left alone, nobody is replaced where he stood. The
 * bound is looked at too: no policy exceeds it. Families of harder problems are looked at in the
 * same way, and those of them one by one on which it once fell short.
 *
 * WEIR_SLOW=1 looks at 600 problems, and at 60 of each family; `./dev bench scaling_quality`
 * compares policies.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"
#include "tests/support/scaling_problems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUICK = 16, ALL = 600, STARTS = 2, OF_FAMILY = 8, ALL_OF_FAMILY = 60 };

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Throughput over the bound after one decision; a second one changes nothing. */
static double judge(struct weir_host *host, const struct scaling_problem *problem, double bound)
{
    struct scaling_pass pass = { 0 };
    struct scaling_pass again = { 0 };

    CHECK(scaling_decide(host, &pass));
    const double ratio = scaling_throughput(host, problem) / bound;
    CHECK_I64(pass.replaced, 0);
    CHECK(scaling_decide(host, &again));
    CHECK_I64(again.started + again.stopped, 0);
    CHECK(weir_cluster_check(weir_host_cluster(host), NULL) == WEIR_OK);
    return ratio;
}

/* After a plan for other speeds. */
static double judge_warm(const struct scaling_problem *problem, double bound)
{
    struct weir_host *const host = scaling_host(problem, "weir", "fgd_xenna");
    struct scaling_pass pass;

    scaling_set_speeds(host, problem, 2);
    CHECK(scaling_decide(host, &pass));
    scaling_set_speeds(host, problem, 1);
    const double ratio = judge(host, problem, bound);
    CHECK(!scaling_is_short(host, problem));
    weir_host_destroy(host);
    return ratio;
}

static double judge_cold(const struct scaling_problem *problem, double bound)
{
    struct weir_host *const host = scaling_host(problem, "weir", "fgd_xenna");
    const double ratio = judge(host, problem, bound);

    CHECK(!scaling_is_short(host, problem));
    weir_host_destroy(host);
    return ratio;
}

static void near_to_the_bound_and_left_alone(void)
{
    const uint32_t problems = getenv("WEIR_SLOW") != NULL ? ALL : QUICK;
    static double ratios[ALL * STARTS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < problems; i++) {
        const struct scaling_problem problem = scaling_problem_draw(1 + i);
        const double bound = scaling_bound(&problem);
        ratios[count++] = judge_cold(&problem, bound);
        ratios[count++] = judge_warm(&problem, bound);
    }
    qsort(ratios, count, sizeof ratios[0], ascending);
    CHECK(ratios[0] >= 0.95);
    CHECK(ratios[count / 10] >= (problems == QUICK ? 0.999 : 0.99)); /* seeds are fixed: 0.999996 */
    CHECK(ratios[count - 1] <= 1 + 1e-9);
}

/* One that an earlier search of the decision stopped, and a later one began on the same GPU; and
 * one kept for its engines that is not to make way for the next. */
static void nobody_is_replaced_by_several_searches(void)
{
    static const uint64_t seeds[] = { 41, 282, 303, 342 };

    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        const struct scaling_problem problem = scaling_problem_draw(seeds[i]);
        CHECK(judge_warm(&problem, scaling_bound(&problem)) >= 0.99);
    }
}

static void nobody_exceeds_the_bound(void)
{
    static const char *const policies[] = { "xenna", "pool_optimum", "inverse_speed" };
    struct scaling_pass pass;

    for (uint32_t i = 0; i < QUICK; i++) {
        const struct scaling_problem problem = scaling_problem_draw(1000 + i);
        const double bound = scaling_bound(&problem);
        CHECK(bound <= scaling_pool_bound(&problem) * (1 + 1e-9));
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
            struct weir_host *const host = scaling_host(&problem, policies[p], "fgd_xenna");
            CHECK(scaling_decide(host, &pass));
            CHECK(scaling_throughput(host, &problem) <= bound * (1 + 1e-9));
            weir_host_destroy(host);
        }
    }
}

/* ---- families ---- */

/* Of decisions from nothing, over the bound. */
static double best_of_others(const struct scaling_problem *problem, double bound)
{
    static const char *const policies[] = { "xenna",         "xenna_n", "pool_optimum",
                                            "inverse_speed", "ds2",     "equal_split" };
    struct scaling_pass pass;
    double most = 0;

    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct weir_host *const host = scaling_host(problem, policies[p], "fgd_xenna");
        if (scaling_decide(host, &pass))
            most = fmax(most, scaling_throughput(host, problem) / bound);
        weir_host_destroy(host);
    }
    return most;
}

/* What is held where the bound is near to what there is; of codecs and memory it knows little, and
 * of typed 50 the optimum is 0.824 of it. */
struct expected {
    enum scaling_family family;
    uint32_t seed; /* 0 = of every problem that is drawn */
    double least;
};

static void judge_problem(const struct expected *expected, uint32_t seed)
{
    const struct scaling_problem problem = scaling_family_draw(expected->family, seed);
    const double bound = scaling_bound(&problem);
    const double cold = judge_cold(&problem, bound);
    const double warm = judge_warm(&problem, bound);
    const double other = best_of_others(&problem, bound);

    if (!CHECK(fmin(cold, warm) >= expected->least && fmax(cold, warm) <= 1 + 1e-9) ||
        !CHECK(other <= 1.01 * fmin(cold, warm)))
        printf("%s %u: cold %.4f, warm %.4f, another policy %.4f\n",
               scaling_family_name(expected->family), seed, cold, warm, other);
}

static void families_are_packed_near_to_the_bound(void)
{
    static const struct expected all[] = {
        { SCALING_MANY, 0, 0.99 },  { SCALING_CODECS, 0, 0.7 }, { SCALING_GROUPS, 0, 0.99 },
        { SCALING_FIXED, 0, 0.99 }, { SCALING_MEMORY, 0, 0.6 }, { SCALING_TYPED, 0, 0.82 },
        { SCALING_TINY, 0, 0.99 },
    };
    const uint32_t problems = getenv("WEIR_SLOW") != NULL ? ALL_OF_FAMILY : OF_FAMILY;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (uint32_t seed = 1; seed <= problems; seed++)
            judge_problem(&all[i], seed);
}

static void problems_that_were_hard_stay_solved(void)
{
    static const struct expected all[] = {
        { SCALING_MANY, 50, 0.999 },  { SCALING_MANY, 95, 0.999 },   { SCALING_MANY, 1150, 0.999 },
        { SCALING_TYPED, 50, 0.82 },  { SCALING_TINY, 25, 0.999 },   { SCALING_FIXED, 7, 0.999 },
        { SCALING_FIXED, 46, 0.999 }, { SCALING_GROUPS, 52, 0.999 }, { SCALING_LARGE, 17, 0.98 },
        { SCALING_LARGE, 33, 0.98 },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        judge_problem(&all[i], all[i].seed);
}

/* ---- groups ---- */

/* Groups of two nodes, and single GPUs: six nodes of four GPUs. */
static void put_groups_beside_others(struct scaling_problem *problem)
{
    const struct weir_request group = { .cpus = 1, .gpus = 8, .node_gpus = 4, .spmd = true };
    const struct weir_request single = { .cpus = 1, .gpus = 1 };

    *problem = (struct scaling_problem){ .stages = 2,
                                         .types = 1,
                                         .nodes = { { .count = 6, .gpus = 4, .cpus = 32 } },
                                         .speeds_per_s = { 1, 8 },
                                         .fixed = { -1, -1 } };
    CHECK_I64(weir_shape_from_request(&group, WEIR_QUANTUM_EXACT, &problem->shapes[0], NULL),
              WEIR_OK);
    CHECK_I64(weir_shape_from_request(&single, WEIR_QUANTUM_EXACT, &problem->shapes[1], NULL),
              WEIR_OK);
}

/* Members of groups that a plan starts, each of the group of its first one; or that it stops. */
static uint32_t count_members(const struct weir_plan *plan, uint32_t verb)
{
    uint32_t members = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->owner.index != 0 || action->verb != verb)
            continue;
        if (verb == WEIR_VERB_START)
            CHECK_I64(action->group, action->worker - members % 2);
        members++;
    }
    return members;
}

/* Two groups are as fast as wanted beside one single GPU; when those become slow one gives way. */
static void groups_grow_and_shrink_as_wholes(void)
{
    struct scaling_problem problem;
    const struct weir_plan *plan = NULL;

    put_groups_beside_others(&problem);
    struct weir_host *const host = scaling_host(&problem, "weir", "fgd_xenna");
    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    CHECK_I64(count_members(plan, WEIR_VERB_START), 4);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_NEAR(scaling_throughput(host, &problem), 2, 1e-9);
    problem.speeds_per_s[1] = 0.1;
    scaling_set_speeds(host, &problem, 1);
    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    CHECK_I64(count_members(plan, WEIR_VERB_START), 0);
    CHECK_I64(count_members(plan, WEIR_VERB_STOP), 2);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_NEAR(scaling_throughput(host, &problem), 1, 1e-9);
    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    CHECK_I64(weir_plan_count(plan), 0);
    weir_host_destroy(host);
}

/* Two groups have all four nodes when a single GPU is wanted, too: one gives way. */
static void a_group_gives_way_to_who_has_nothing(void)
{
    const struct weir_pool_update wanted = { .size = sizeof wanted,
                                             .slots = 2,
                                             .requested_workers = -1 };
    struct scaling_problem problem;
    struct scaling_pass pass;

    put_groups_beside_others(&problem);
    problem.nodes[0].count = 4;
    problem.fixed[1] = 0;
    struct weir_host *const host = scaling_host(&problem, "weir", "fgd_xenna");
    CHECK(scaling_decide(host, &pass));
    CHECK_NEAR(scaling_throughput(host, &problem), 2, 1e-9);
    problem.fixed[1] = -1;
    CHECK_I64(weir_host_update_pool(host, 1, &wanted), WEIR_OK);
    CHECK(scaling_decide(host, &pass));
    CHECK_NEAR(scaling_throughput(host, &problem), 1, 1e-9);
    CHECK(scaling_decide(host, &pass));
    CHECK_I64(pass.started + pass.stopped, 0);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "random problems are packed near to the bound, and left alone",
      near_to_the_bound_and_left_alone },
    { "nobody is replaced by several searches", nobody_is_replaced_by_several_searches },
    { "no policy exceeds the bound", nobody_exceeds_the_bound },
    { "families are packed near to the bound", families_are_packed_near_to_the_bound },
    { "groups grow and shrink as wholes", groups_grow_and_shrink_as_wholes },
    { "a group gives way to who has nothing", a_group_gives_way_to_who_has_nothing },
    { "problems that were hard stay solved", problems_that_were_hard_stay_solved },
};
TEST_MAIN(tests)
