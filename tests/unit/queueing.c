/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of the queueing policies, worked out by hand. */
#include "sched/internal/later.h"
#include "tests/support/check.h"
#include "weir/job.h"

#include <math.h>

static const int64_t NS_PER_S = 1000000000;

/* The key of a job under a policy whose only parameter, if it has one, is `value`. */
static double key_of(const char *policy, double value, const struct weir_job *job)
{
    const struct weir_queueing_ops *const ops = weir_queueing_find(policy);
    const struct weir_params params = { .values = &value, .count = ops->param_count };
    struct weir_ranker *ranker = NULL;
    double key = (double)NAN;

    CHECK_I64(weir_ranker_create(ops, &params, NULL, &ranker, NULL), WEIR_OK);
    CHECK_I64(weir_ranker_key(ranker, job, 1000 * NS_PER_S, &key, NULL), WEIR_OK);
    weir_ranker_destroy(ranker);
    return key;
}

/* Whether `first` goes before `second` there. */
static bool is_before(const char *policy, double value, const struct weir_job *first,
                      const struct weir_job *second)
{
    return key_of(policy, value, first) < key_of(policy, value, second);
}

static void the_shortest_estimate_is_first_and_none_is_last(void)
{
    const struct weir_job none = { .size = sizeof none, .estimate_ns = WEIR_UNKNOWN_TIME };
    const struct weir_job brief = { .size = sizeof brief, .estimate_ns = NS_PER_S };
    const struct weir_job lengthy = { .size = sizeof lengthy, .estimate_ns = 100 * NS_PER_S };

    CHECK(is_before("sjf", 0, &brief, &lengthy));
    CHECK(is_before("sjf", 0, &lengthy, &none));
}

/* With 0.01 a second, 10 points are 1 000 s. */
static void ageing_is_by_the_second(void)
{
    const struct weir_job fresh = { .size = sizeof fresh,
                                    .priority = 10,
                                    .queued_ns = 2000 * NS_PER_S };
    struct weir_job old = { .size = sizeof old, .queued_ns = 999 * NS_PER_S };

    CHECK(is_before("priority", 0, &fresh, &old));
    CHECK(is_before("priority", 0.01, &old, &fresh));
    old.queued_ns = 1001 * NS_PER_S;
    CHECK(is_before("priority", 0.01, &fresh, &old));
}

static void a_job_is_as_large_as_all_its_gpus(void)
{
    const struct weir_shape part = { .kind = WEIR_SHAPE_FRACTIONAL,
                                     .gpu_count = 1,
                                     .gpu_units = WEIR_ONE / 4 };
    const struct weir_shape pair = { .kind = WEIR_SHAPE_WHOLE,
                                     .gpu_count = 2,
                                     .gpu_units = WEIR_ONE };
    const struct weir_shape cpus = { .kind = WEIR_SHAPE_CPU, .cpu_units = 500 * WEIR_ONE };
    const struct weir_rank_group groups[] = { { .ranks = 4, .shape = part },
                                              { .ranks = 3, .shape = pair },
                                              { .ranks = 1, .shape = cpus },
                                              { .ranks = 1, .shape = pair } };
    const struct weir_job ranks = { .size = sizeof ranks, .groups = groups, .group_count = 2 };
    const struct weir_job none = { .size = sizeof none, .groups = groups + 2, .group_count = 1 };
    const struct weir_job two = { .size = sizeof two, .groups = groups + 3, .group_count = 1 };

    CHECK_NEAR(key_of("smallest", 0, &ranks), 4 * 0.25 + 3 * 2, 1e-12);
    CHECK_NEAR(key_of("smallest", 0, &two), 2, 1e-12);
    CHECK(key_of("smallest", 0, &none) > 0 && key_of("smallest", 0, &none) < 1e-6);
}

/* A job that comes again keeps its turn. */
static void without_keys_the_submission_counts(void)
{
    const struct weir_job again = { .size = sizeof again, .submit_ns = 5, .queued_ns = 900 };
    const struct weir_job fresh = { .size = sizeof fresh, .submit_ns = 7, .queued_ns = 7 };

    CHECK(is_before("fcfs", 0, &again, &fresh));
    CHECK(is_before("first_fit", 0, &again, &fresh));
}

/* G of a job that has had so many GPU seconds: the key is 1 / (2 + G) behind its queue. */
static double gittins_of(const double *values, uint32_t count, double service_s)
{
    const struct weir_job job = { .size = sizeof job,
                                  .attained_ns = (int64_t)(service_s * 1e9),
                                  .queued_ns = 0 };
    const struct weir_params params = { .values = values, .count = count };
    struct weir_ranker *ranker = NULL;
    double key = (double)NAN;

    CHECK_I64(weir_ranker_create(weir_queueing_find("gittins"), &params, NULL, &ranker, NULL),
              WEIR_OK);
    CHECK_I64(weir_ranker_key(ranker, &job, 0, &key, NULL), WEIR_OK);
    weir_ranker_destroy(ranker);
    return 1 / (key - floor(key)) - 2;
}

/* Services of 2 or 10, each as likely; ten samples looking 8 ahead; and without samples. */
static void the_index_of_gittins_is_known(void)
{
    static const double two[] = { 1e12, 1e12, 0, 2, 10, 2 };
    static const double ten[] = { 1e12, 1e12, 8, 10, 3, 4, 4, 6, 8, 12, 20, 24, 40, 60 };
    static const double none[] = { 1e12, 1e12, 0, 0 };
    static const double known_two[][2] = { { 0, 0.25 }, { 1, 0.5 }, { 2, 0.125 }, { 5, 0.2 } };
    static const double known_ten[][2] = { { 0, 0.076923 }, { 2, 0.090909 }, { 4, 0.065217 },
                                           { 8, 0.027778 }, { 12, 0.03125 }, { 20, 0.05 } };

    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(gittins_of(two, 6, known_two[i][0]), known_two[i][1], 1e-12);
    for (size_t i = 0; i < 6; i++)
        CHECK_NEAR(gittins_of(ten, 14, known_ten[i][0]), known_ten[i][1], 5e-7);
    CHECK_NEAR(gittins_of(two, 6, 10), 0, 1e-12);
    CHECK_NEAR(gittins_of(none, 4, 3), 0.25, 1e-12);
}

/* The key by one of the formulas at 10 s. */
static double formula_of(double name, const struct weir_job *job)
{
    const double values[] = { name, 0 };
    const struct weir_params params = { .values = values, .count = 2 };
    struct weir_ranker *ranker = NULL;
    double key = (double)NAN;

    CHECK_I64(weir_ranker_create(weir_queueing_find("formula"), &params, NULL, &ranker, NULL),
              WEIR_OK);
    CHECK_I64(weir_ranker_key(ranker, job, 10 * NS_PER_S, &key, NULL), WEIR_OK);
    weir_ranker_destroy(ranker);
    return key;
}

/* A list says how long it is, and has as many numbers. */
static void lists_of_parameters_are_complete(void)
{
    static const double values[] = { 1, 2, 0, 2, 10, (double)NAN };
    struct weir_ranker *ranker = NULL;

    for (uint32_t count = 4; count <= 6; count++) {
        const struct weir_params params = { .values = values, .count = count };
        CHECK_I64(weir_ranker_create(weir_queueing_find("gittins"), &params, NULL, &ranker, NULL),
                  WEIR_EINVAL);
    }
}

/* At 10 s, five jobs that came at 5, 9, 9, 4 and 4 s: values of which the largest is first. With
 * one GPU and any wait UNICEF's is infinite, and with no wait 0. */
static void formulas_have_their_known_values(void)
{
    static const struct {
        int submit_s, estimate_s;
        uint32_t gpus;
        double wfp3, unicef, f4;
    } jobs[] = {
        { 5, 8, 4, 0.9765625, 5. / 16, 16 + 530000 * 0.69897000433602 },
        { 9, 3, 4, 0.148148148148148, 1. / 6, 6 + 530000 * 0.954242509439325 },
        { 9, 6, 1, 0.00462962962962963, HUGE_VAL, 6 + 530000 * 0.954242509439325 },
        { 4, 8, 4, 1.6875, 6. / 16, 16 + 530000 * 0.602059991327962 },
        { 4, 2, 2, 54, 3, 2 * 1.4142135623731 + 530000 * 0.602059991327962 },
        { 10, 2, 1, 0, 0, 2 + 530000 },
    };
    enum { WFP3 = 0, UNICEF = 1, F4 = 5 };
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        const struct weir_shape one = { .kind = WEIR_SHAPE_WHOLE,
                                        .gpu_count = 1,
                                        .gpu_units = WEIR_ONE };
        const struct weir_rank_group group = { .ranks = jobs[i].gpus, .shape = one };
        const struct weir_job job = { .size = sizeof job,
                                      .groups = &group,
                                      .group_count = 1,
                                      .ranks = jobs[i].gpus,
                                      .submit_ns = jobs[i].submit_s * NS_PER_S,
                                      .queued_ns = jobs[i].submit_s * NS_PER_S,
                                      .estimate_ns = jobs[i].estimate_s * NS_PER_S };
        CHECK_NEAR(formula_of(WFP3, &job), -jobs[i].wfp3, 1e-12);
        if (jobs[i].unicef < HUGE_VAL)
            CHECK_NEAR(formula_of(UNICEF, &job), -jobs[i].unicef, 1e-12);
        else
            CHECK(formula_of(UNICEF, &job) < -1e300);
        CHECK_NEAR(formula_of(F4, &job), jobs[i].f4, 1e-6);
    }
}

/* Also of a moment that is not known, which lies before all others. */
static void a_moment_later_is_never_past_the_last(void)
{
    CHECK_I64(weir_later_ns(5, 7), 12);
    CHECK_I64(weir_later_ns(WEIR_UNKNOWN_TIME, 7), WEIR_UNKNOWN_TIME + 7);
    CHECK_I64(weir_later_ns(WEIR_UNKNOWN_TIME, INT64_MAX), INT64_MAX + WEIR_UNKNOWN_TIME);
    CHECK_I64(weir_later_ns(1, INT64_MAX), INT64_MAX);
}

static const struct test tests[] = {
    { "a moment later is never past the last", a_moment_later_is_never_past_the_last },
    { "formulas have their known values", formulas_have_their_known_values },
    { "the shortest estimate is first and none is last",
      the_shortest_estimate_is_first_and_none_is_last },
    { "ageing is by the second", ageing_is_by_the_second },
    { "a job is as large as all its GPUs", a_job_is_as_large_as_all_its_gpus },
    { "the index of Gittins is known", the_index_of_gittins_is_known },
    { "lists of parameters are complete", lists_of_parameters_are_complete },
    { "without keys the submission counts", without_keys_the_submission_counts },
};

TEST_MAIN(tests)
