/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Outlooks: what a view says of what may come, least squares on it, and the three horizons with who
 * reads them.
 */
#include "sched/forecast/outlook.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/pipeline.h"
#include "weir/capacity.h"
#include "weir/host.h"
#include "weir/tenant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t NS = 1000000000;
static const int64_t HOUR = INT64_C(3600000000000);
enum { ALL = (1 << WEIR_FEATURE_GROUP_COUNT) - 1 };

static struct weir_outlook *open_outlook(uint32_t horizon, uint32_t kind, uint32_t groups)
{
    const struct weir_outlook_spec spec = { .size = sizeof spec,
                                            .horizon = horizon,
                                            .kind = kind,
                                            .order = 2,
                                            .season_ns = 24 * HOUR,
                                            .interval_ns = HOUR / 2,
                                            .level = 0.2,
                                            .trend = 0.01,
                                            .seasonal = 0.2,
                                            .groups = groups };
    struct weir_outlook *outlook = NULL;
    CHECK_I64(weir_outlook_create(&spec, NULL, &outlook, NULL), WEIR_OK);
    return outlook;
}

/* ---- features ---- */

static void submit(struct weir_host *host, uint64_t id, uint32_t tenant, uint32_t gpus)
{
    const struct weir_rank_group group = { .ranks = 1,
                                           .ranks_min = 1,
                                           .ranks_max = 1,
                                           .shape = { .kind = WEIR_SHAPE_WHOLE,
                                                      .cpu_units = 2 * WEIR_ONE,
                                                      .gpu_count = gpus,
                                                      .gpu_units = WEIR_ONE,
                                                      .gpu_mem_bytes = INT64_C(3) << 30 } };
    const struct weir_job_spec job = { .size = sizeof job,
                                       .id = id,
                                       .groups = &group,
                                       .group_count = 1,
                                       .tenant = tenant,
                                       .submit_ns = 0,
                                       .queued_ns = 0,
                                       .estimate_ns = HOUR,
                                       .deadline_ns = WEIR_UNKNOWN_TIME };
    struct weir_error error = { .phase = -1 };
    CHECK_I64(weir_host_submit(host, &job, &error), WEIR_OK);
}

static struct weir_host *open_host(uint32_t *teams)
{
    struct weir_gpu_spec gpus[8];
    struct weir_error error = { .phase = -1 };
    const struct weir_host_config plain = test_config("first_fit", "fixed");
    struct weir_host *host = NULL;
    uint32_t workload = 0;
    CHECK_I64(weir_host_create(&plain, &host, &error), WEIR_OK);
    for (int g = 0; g < 8; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE, .mem_bytes = INT64_C(80) << 30 };
    const struct weir_node_spec node = { .size = sizeof node,
                                         .gpu_count = 8,
                                         .cpu_units = 64 * WEIR_ONE,
                                         .ram_bytes = INT64_C(1) << 40,
                                         .gpus = gpus };
    CHECK_I64(weir_host_add_node(host, &node, NULL, &error), WEIR_OK);
    for (int t = 0; t < 2; t++) {
        struct weir_tenant_spec tenant = weir_tenant_default();
        tenant.name = t == 0 ? "a" : "b";
        CHECK_I64(weir_host_add_tenant(host, &tenant, &teams[t], &error), WEIR_OK);
    }
    CHECK_I64(weir_host_add_workload(host, "w", &workload, &error), WEIR_OK);
    return host;
}

/* Six hours into the day four jobs wait: three of two GPUs of one team, one of six of another. */
static void a_view_has_features_of_five_groups(void)
{
    uint32_t teams[2] = { 0, 0 };
    double values[WEIR_FEATURE_COUNT];
    uint32_t of_group[WEIR_FEATURE_GROUP_COUNT] = { 0 };
    struct weir_feature_past past = { 0 };
    struct weir_host *host = open_host(teams);
    for (uint64_t id = 0; id < 3; id++)
        submit(host, id, teams[0], 2);
    submit(host, 3, teams[1], 6);
    weir_view_features(weir_host_view(host, 6 * HOUR), &past, values);
    CHECK_NEAR(values[WEIR_FEATURE_GPUS_ASKED], 12, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_GPUS_ASKED_DAY], 12, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_CPUS_ASKED], 8, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_JOBS_WAITING], 4, 0);
    CHECK_NEAR(values[WEIR_FEATURE_GPUS_WAITING], 12, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_JOBS_RUNNING], 0, 0);
    CHECK_NEAR(values[WEIR_FEATURE_DAY_SIN], 1, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_HALF_DAY_COS], -1, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_WEEK_SIN], sin(acos(-1) / 14), 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_TEAMS_ACTIVE], 2, 0);
    CHECK_NEAR(values[WEIR_FEATURE_TEAM_SHARE], 0.5, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_TEAM_SPREAD], 0.5, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_JOB_GPUS], 3, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_JOB_CPUS], 2, 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_JOB_GPU_GIB], 9, 1e-9);
    CHECK_I64(weir_host_withdraw(host, 0, 3), WEIR_OK);
    weir_view_features(weir_host_view(host, 7 * HOUR), &past, values);
    weir_view_features(weir_host_view(host, 8 * HOUR), &past, values);
    CHECK_NEAR(values[WEIR_FEATURE_GPUS_ASKED_HOUR], 6 + 6 * exp(-1), 1e-9);
    CHECK_NEAR(values[WEIR_FEATURE_TEAM_SHARE], 1, 1e-9);
    for (uint32_t i = 0; i < weir_feature_count(); i++)
        of_group[weir_feature_at(i)->group]++;
    for (uint32_t g = 0; g < WEIR_FEATURE_GROUP_COUNT; g++)
        CHECK(of_group[g] >= 3 && weir_feature_group_name(g) != NULL);
    CHECK(weir_feature_at(WEIR_FEATURE_COUNT) == NULL);
    weir_host_destroy(host);
}

/* ---- regression ---- */

/* Half hours of 20 days. What waits now is what is asked for an hour later, and noise. */
static double wrong_by(uint32_t groups)
{
    struct weir_outlook *outlook =
        open_outlook(WEIR_HORIZON_PROVISIONING, WEIR_FORECAST_REGRESSION, groups);
    struct draws draws = draws_seeded(3);
    double waits[2] = { 0, 0 };
    weir_outlook_judge(outlook, HOUR / 2);
    for (int64_t i = 0; i < 960; i++) {
        double features[WEIR_FEATURE_COUNT] = { 0 };
        const double value = 100 + waits[i % 2];
        waits[i % 2] = (double)draws_below(&draws, 50);
        features[WEIR_FEATURE_JOBS_WAITING] = waits[i % 2];
        weir_outlook_observe(outlook, i * HOUR / 2, value, features);
    }
    const double error = weir_outlook_error(outlook);
    weir_outlook_destroy(outlook);
    return error;
}

static void a_regression_finds_what_follows_from_what(void)
{
    CHECK(wrong_by(1U << WEIR_FEATURE_QUEUE) < 0.03);
    CHECK(wrong_by(ALL & ~(1U << WEIR_FEATURE_QUEUE)) > 0.08);
}

/* Until a season was learned the latest value stands for it, and what was never seen is not said.
 */
static void a_regression_waits_until_it_knows(void)
{
    struct weir_outlook *outlook =
        open_outlook(WEIR_HORIZON_PROVISIONING, WEIR_FORECAST_REGRESSION, ALL);
    const double none[WEIR_FEATURE_COUNT] = { 0 };
    CHECK(isnan(weir_outlook_at(outlook, 0)));
    for (int64_t i = 0; i < 50; i++)
        weir_outlook_observe(outlook, i * HOUR / 2, (double)i, none);
    CHECK_NEAR(weir_outlook_at(outlook, 25 * HOUR), 48, 0);
    for (int64_t i = 50; i < 400; i++)
        weir_outlook_observe(outlook, i * HOUR / 2, i % 2 == 0 ? 10 : 20, none);
    CHECK(weir_outlook_at(outlook, 200 * HOUR) <= 2 * 49);
    weir_outlook_destroy(outlook);
}

/* One that goes on from what another remembered says the same. */
static void outlooks_go_on_from_what_others_remembered(void)
{
    for (uint32_t kind = 0; kind <= WEIR_FORECAST_REGRESSION; kind++) {
        struct weir_outlook *one = open_outlook(WEIR_HORIZON_PROVISIONING, kind, ALL);
        struct weir_outlook *other = open_outlook(WEIR_HORIZON_PROVISIONING, kind, ALL);
        double features[WEIR_FEATURE_COUNT] = { 0 };
        for (int64_t i = 0; i < 300; i++) {
            features[WEIR_FEATURE_DAY_SIN] = sin(acos(-1) * (double)i / 24);
            weir_outlook_observe(one, i * HOUR / 2,
                                 30 + 20 * features[WEIR_FEATURE_DAY_SIN] + (double)(i % 3),
                                 features);
        }
        struct weir_memory count = { .size = 0 };
        weir_outlook_remember(one, &count);
        double *numbers = calloc(count.used, sizeof *numbers);
        struct weir_memory out = { .to = numbers, .size = count.used };
        weir_outlook_remember(one, &out);
        struct weir_memory in = { .from = numbers, .size = count.used };
        weir_outlook_remember(other, &in);
        CHECK_I64(weir_memory_end(&in, NULL), WEIR_OK);
        for (int64_t i = 300; i < 308; i++)
            CHECK_NEAR(weir_outlook_at(one, i * HOUR / 2), weir_outlook_at(other, i * HOUR / 2), 0);
        numbers[0] = 1e6;
        in = (struct weir_memory){ .from = numbers, .size = count.used };
        weir_outlook_remember(other, &in);
        CHECK_I64(weir_memory_end(&in, NULL), WEIR_EFORMAT);
        free(numbers);
        weir_outlook_destroy(one);
        weir_outlook_destroy(other);
    }
}

/* ---- horizons ---- */

static double most_of(const char *policy, const char *param)
{
    const struct weir_capacity_ops *ops = weir_capacity_find(policy);
    const uint32_t at = weir_param_find(ops->params, ops->param_count, param);
    return CHECK(at != WEIR_NO_INDEX) ? ops->params[at].max * (double)NS : 0;
}

/* covers: S1.61 */
static void every_reader_has_an_outlook_of_its_own_horizon(void)
{
    static const int64_t reach_s[] = { 300, 4 * 3600, 14 * 86400 };
    for (uint32_t h = 0; h < WEIR_HORIZON_COUNT; h++) {
        const struct weir_horizon_info *info = weir_horizon_at(h);
        const struct weir_outlook_spec spec = { .size = sizeof spec,
                                                .horizon = h,
                                                .season_ns = 24 * HOUR };
        struct weir_outlook *outlook = NULL;
        CHECK_I64(info->reach_ns, reach_s[h] * NS);
        CHECK_I64(weir_outlook_create(&spec, NULL, &outlook, NULL), WEIR_OK);
        weir_outlook_observe(outlook, 0, 7, NULL);
        weir_outlook_observe(outlook, info->interval_ns, 8, NULL);
        CHECK_NEAR(weir_outlook_at(outlook, info->interval_ns + info->reach_ns), 7, 0);
        CHECK(isnan(weir_outlook_at(outlook, 2 * info->interval_ns + info->reach_ns)));
        CHECK(isnan(weir_outlook_at(outlook, 0)));
        weir_outlook_destroy(outlook);
    }
    CHECK(weir_horizon_at(WEIR_HORIZON_COUNT) == NULL);
    CHECK_NEAR(most_of("threshold", "ahead"), 300e9, 0);
    CHECK_NEAR(most_of("forecast", "lead"), 4 * 3600e9, 0);
}

static void what_is_no_outlook_is_refused(void)
{
    struct weir_outlook *outlook = NULL;
    struct weir_outlook_spec spec = { .size = sizeof spec, .horizon = WEIR_HORIZON_COUNT };
    CHECK_I64(weir_outlook_create(&spec, NULL, &outlook, NULL), WEIR_EINVAL);
    spec = (struct weir_outlook_spec){ .size = sizeof spec, .kind = WEIR_FORECAST_AR };
    CHECK_I64(weir_outlook_create(&spec, NULL, &outlook, NULL), WEIR_EINVAL);
    spec = (struct weir_outlook_spec){ .size = sizeof spec, .level = 1.1 };
    CHECK_I64(weir_outlook_create(&spec, NULL, &outlook, NULL), WEIR_EINVAL);
    CHECK(outlook == NULL);
}

static const struct test tests[] = {
    { "a view has features of five groups", a_view_has_features_of_five_groups },
    { "a regression finds what follows from what", a_regression_finds_what_follows_from_what },
    { "a regression waits until it knows", a_regression_waits_until_it_knows },
    { "outlooks go on from what others remembered", outlooks_go_on_from_what_others_remembered },
    { "every reader has an outlook of its own horizon",
      every_reader_has_an_outlook_of_its_own_horizon },
    { "what is no outlook is refused", what_is_no_outlook_is_refused },
};
TEST_MAIN(tests)
