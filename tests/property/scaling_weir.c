/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scaling policy `weir` on random problems, from nothing and from a plan for other speeds: near
 * to what no plan can exceed, the same state is left alone, nobody is replaced where he stood. The
 * bound is looked at too: no policy exceeds it.
 *
 * WEIR_SLOW=1 looks at 600 problems; `./dev bench scaling_quality` compares policies.
 */
#include "tests/support/check.h"
#include "tests/support/scaling_problems.h"

#include <math.h>
#include <stdlib.h>

enum { QUICK = 16, ALL = 600, STARTS = 2 };

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

static void near_to_the_bound_and_left_alone(void)
{
    const uint32_t problems = getenv("WEIR_SLOW") != NULL ? ALL : QUICK;
    static double ratios[ALL * STARTS];
    struct scaling_pass pass;
    uint32_t count = 0;

    for (uint32_t i = 0; i < problems; i++) {
        const struct scaling_problem problem = scaling_problem_draw(1 + i);
        const double bound = scaling_bound(&problem);
        struct weir_host *host = scaling_host(&problem, "weir", "fgd_xenna");
        ratios[count++] = judge(host, &problem, bound);
        weir_host_destroy(host);
        host = scaling_host(&problem, "weir", "fgd_xenna");
        scaling_set_speeds(host, &problem, 2);
        CHECK(scaling_decide(host, &pass));
        scaling_set_speeds(host, &problem, 1);
        ratios[count++] = judge(host, &problem, bound);
        weir_host_destroy(host);
    }
    qsort(ratios, count, sizeof ratios[0], ascending);
    CHECK(ratios[0] >= 0.95);
    CHECK(ratios[count / 10] >= (problems == QUICK ? 0.999 : 0.99)); /* seeds are fixed: 0.999996 */
    CHECK(ratios[count - 1] <= 1 + 1e-9);
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

static const struct test tests[] = {
    { "random problems are packed near to the bound, and left alone",
      near_to_the_bound_and_left_alone },
    { "no policy exceeds the bound", nobody_exceeds_the_bound },
};
TEST_MAIN(tests)
