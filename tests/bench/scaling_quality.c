/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How good scaling policies are: throughput over the bound on random problems (see
 * tests/support/scaling_problems.h), from nothing and from a plan for other speeds; decisions that
 * change a plan when nothing has changed; workers replaced at the place where they stood. Of a
 * family of harder problems also how often a stage is left without a worker, or a fixed count not
 * reached.
 *
 * scaling_quality [FAMILY] [PROBLEMS [FIRST_SEED [POLICY...]]]
 */
#include "tests/support/scaling_problems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 10000 };

struct judged {
    double ratio[MOST], cpu_s;
    uint32_t count, changes_again, replaced, moves, short_of;
};

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

static void judge(struct judged *judged, struct weir_host *host,
                  const struct scaling_problem *problem, double bound)
{
    struct scaling_pass pass;
    struct scaling_pass again;

    if (!scaling_decide(host, &pass))
        exit(1);
    judged->ratio[judged->count++] = scaling_throughput(host, problem) / bound;
    judged->short_of += scaling_is_short(host, problem);
    judged->cpu_s += pass.cpu_s;
    judged->replaced += pass.replaced;
    judged->moves += pass.started + pass.stopped;
    if (!scaling_decide(host, &again))
        exit(1);
    judged->changes_again += again.started + again.stopped > 0;
}

static void print(const char *policy, const char *start, enum scaling_family family,
                  struct judged *judged)
{
    double sum = 0;

    for (uint32_t i = 0; i < judged->count; i++)
        sum += judged->ratio[i];
    qsort(judged->ratio, judged->count, sizeof judged->ratio[0], ascending);
    printf("%-18s %-4s  least %.3f  10%% %.3f  median %.3f  mean %.4f  not idempotent %3u of %u  "
           "replaced %u  changes %.1f  %.2f ms",
           policy, start, judged->ratio[0], judged->ratio[judged->count / 10],
           judged->ratio[judged->count / 2], sum / judged->count, judged->changes_again,
           judged->count, judged->replaced, (double)judged->moves / judged->count,
           judged->cpu_s / judged->count * 1e3);
    if (family < SCALING_FAMILIES)
        printf("  %s: short of workers %u", scaling_family_name(family), judged->short_of);
    printf("\n");
}

static void run(const char *policy, enum scaling_family family, uint32_t problems, uint64_t first)
{
    static struct judged cold, warm;
    struct scaling_pass pass;

    memset(&cold, 0, sizeof cold);
    memset(&warm, 0, sizeof warm);
    for (uint32_t i = 0; i < problems; i++) {
        const struct scaling_problem problem = family < SCALING_FAMILIES
                                                   ? scaling_family_draw(family, first + i)
                                                   : scaling_problem_draw(first + i);
        const double bound = scaling_bound(&problem);
        struct weir_host *host = scaling_host(&problem, policy, "fgd_xenna");
        judge(&cold, host, &problem, bound);
        weir_host_destroy(host);
        host = scaling_host(&problem, policy, "fgd_xenna");
        scaling_set_speeds(host, &problem, 2);
        (void)scaling_decide(host, &pass);
        scaling_set_speeds(host, &problem, 1);
        judge(&warm, host, &problem, bound);
        weir_host_destroy(host);
    }
    print(policy, "cold", family, &cold);
    print(policy, "warm", family, &warm);
}

/* SCALING_FAMILIES: of none. */
static enum scaling_family find_family(const char *name)
{
    int family = 0;

    while (family < SCALING_FAMILIES &&
           strcmp(scaling_family_name((enum scaling_family)family), name) != 0)
        family++;
    return (enum scaling_family)family;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = { "weir", "xenna", "xenna_n", "pool_optimum" };
    const enum scaling_family family = argc > 1 ? find_family(argv[1]) : SCALING_FAMILIES;
    const int at = family < SCALING_FAMILIES ? 2 : 1;
    const uint32_t problems = argc > at ? (uint32_t)atoi(argv[at]) : 60;
    const uint64_t first = argc > at + 1 ? (uint64_t)atoll(argv[at + 1]) : 1;

    if (problems == 0 || problems > MOST)
        return 2;
    for (int i = at + 2; i < argc; i++)
        run(argv[i], family, problems, first);
    for (size_t i = 0; argc <= at + 2 && i < sizeof policies / sizeof policies[0]; i++)
        run(policies[i], family, problems, first);
    return 0;
}
