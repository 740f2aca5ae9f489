/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outlooks: a series of what was watched, its forecaster, and how well that did (weir/forecast.h).
 *
 * A season takes `season` values; four of them are kept, and at least 64 values. It is judged by
 * itself: at the end of an interval it says what the value so much later will be, and when that is
 * known, by what part it was wrong.
 */
#include "sched/forecast/outlook.h"

#include "sched/forecast/regression.h"
#include "sched/forecast/series.h"
#include "sched/internal/alloc.h"
#include "sched/internal/size.h"

#include <math.h>
#include <string.h>

enum { SEASONS = 4, LEAST_KEPT = 64, MOST = 4096 };
#define MINUTE_NS (60 * INT64_C(1000000000))
#define DAY_NS    (1440 * MINUTE_NS)
#define WEEK_NS   (7 * DAY_NS)

static const struct weir_horizon_info horizons[WEIR_HORIZON_COUNT] = {
    [WEIR_HORIZON_REACTIVE] = { "reactive", 5 * MINUTE_NS, MINUTE_NS },
    [WEIR_HORIZON_PROVISIONING] = { "provisioning", 240 * MINUTE_NS, 5 * MINUTE_NS },
    [WEIR_HORIZON_PLANNING] = { "planning", 14 * DAY_NS, 60 * MINUTE_NS },
};

struct weir_outlook {
    struct weir_allocator allocator;
    struct weir_forecaster by;
    int64_t interval_ns;
    uint32_t reach; /* intervals after the present one */
    uint32_t kept, count;
    double *series;  /* of intervals that are over, then a season to work in */
    double *said;    /* of intervals to come, by number in a ring; NAN = nothing */
    int64_t begun;   /* the interval that lasts; -1 = nobody looked yet */
    double most;     /* in it, so far */
    uint32_t judged; /* intervals ahead */
    double wrong, wrong_count;
    struct weir_regression regression;
    double features[WEIR_FEATURE_COUNT]; /* of the latest look */
};

const struct weir_horizon_info *weir_horizon_at(uint32_t horizon)
{
    return horizon < WEIR_HORIZON_COUNT ? &horizons[horizon] : NULL;
}

/* ---- life ---- */

static bool is_part(double value)
{
    return value >= 0 && value <= 1;
}

static weir_status check(const struct weir_outlook_spec *spec, struct weir_error *error)
{
    WEIR_TRY(weir_size_check(spec->size, sizeof *spec, "the outlook", error));
    if (weir_horizon_at(spec->horizon) == NULL || spec->kind > WEIR_FORECAST_REGRESSION)
        return weir_fail(error, WEIR_EINVAL, "horizon %u, forecaster %u: there is no such one",
                         spec->horizon, spec->kind);
    if (spec->order > WEIR_FORECAST_ORDER || (spec->kind == WEIR_FORECAST_AR && spec->order == 0))
        return weir_fail(error, WEIR_EINVAL, "an autoregression of order %u", spec->order);
    if (spec->interval_ns < 0 || spec->season_ns < 0 || !is_part(spec->level) ||
        !is_part(spec->trend) || !is_part(spec->seasonal))
        return weir_fail(error, WEIR_EINVAL, "an interval, season or weight out of its range");
    return WEIR_OK;
}

static uint32_t intervals(int64_t all_ns, int64_t one_ns)
{
    const int64_t count = (all_ns + one_ns - 1) / one_ns;

    return (uint32_t)(count < 1 ? 1 : count > MOST ? MOST : count);
}

static weir_status take(struct weir_outlook *outlook)
{
    const struct weir_allocator *const allocator = &outlook->allocator;

    outlook->series = weir_alloc(allocator, outlook->kept + outlook->by.season, sizeof(double));
    outlook->said = weir_alloc(allocator, outlook->reach + 1, sizeof(double));
    if (outlook->series == NULL || outlook->said == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i <= outlook->reach; i++)
        outlook->said[i] = (double)NAN;
    return outlook->by.kind == WEIR_FORECAST_REGRESSION
               ? weir_regression_open(&outlook->regression, allocator)
               : WEIR_OK;
}

static void begin(struct weir_outlook *outlook, const struct weir_outlook_spec *spec)
{
    const struct weir_horizon_info *const horizon = &horizons[spec->horizon];
    const int64_t interval_ns = spec->interval_ns > 0 ? spec->interval_ns : horizon->interval_ns;
    const uint32_t season = intervals(spec->season_ns, interval_ns);
    const uint32_t reach = intervals(horizon->reach_ns, interval_ns);

    outlook->by = (struct weir_forecaster){ .kind = spec->kind,
                                            .season = season,
                                            .order = spec->order,
                                            .level = spec->level,
                                            .trend = spec->trend,
                                            .seasonal = spec->seasonal };
    outlook->interval_ns = interval_ns;
    outlook->reach = reach;
    outlook->kept = SEASONS * season > LEAST_KEPT ? SEASONS * season : LEAST_KEPT;
    outlook->begun = -1;
    outlook->regression = (struct weir_regression){ .reach = reach < WEIR_REGRESSION_REACH
                                                                 ? reach
                                                                 : (uint32_t)WEIR_REGRESSION_REACH,
                                                    .groups = spec->groups,
                                                    .week = intervals(WEEK_NS, interval_ns),
                                                    .kept = 1 - 1.0 / (SEASONS * (double)season) };
}

weir_status weir_outlook_create(const struct weir_outlook_spec *spec,
                                const struct weir_allocator *allocator,
                                struct weir_outlook **outlook, struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);

    WEIR_TRY(check(spec, error));
    struct weir_outlook *const made = weir_alloc(&memory, 1, sizeof *made);
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = memory;
    begin(made, spec);
    if (take(made) != WEIR_OK) {
        weir_outlook_destroy(made);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    *outlook = made;
    return WEIR_OK;
}

void weir_outlook_destroy(struct weir_outlook *outlook)
{
    if (outlook == NULL)
        return;
    const struct weir_allocator allocator = outlook->allocator;
    weir_free(&allocator, outlook->series);
    weir_free(&allocator, outlook->said);
    weir_regression_close(&outlook->regression, &allocator);
    weir_free(&allocator, outlook);
}

bool weir_outlook_reads(const struct weir_outlook *outlook)
{
    return outlook->by.kind == WEIR_FORECAST_REGRESSION;
}

/* ---- what is to come ---- */

/* So many intervals after the latest value, at least 1. */
static double ahead(const struct weir_outlook *outlook, uint32_t count)
{
    const struct weir_regression *const regression = &outlook->regression;

    if (outlook->by.kind == WEIR_FORECAST_REGRESSION &&
        weir_regression_learned(regression) >= outlook->by.season)
        return weir_regression_at(regression, count);
    return weir_forecast(&outlook->by, outlook->series, outlook->count, count,
                         outlook->series + outlook->kept);
}

double weir_outlook_at(const struct weir_outlook *outlook, int64_t at_ns)
{
    const int64_t later = at_ns / outlook->interval_ns - outlook->begun;

    if (outlook->begun < 0 || later < 0 || later > outlook->reach)
        return (double)NAN;
    return ahead(outlook, (uint32_t)later + 1);
}

/* ---- how well it did ---- */

static double *said_of(const struct weir_outlook *outlook, int64_t interval)
{
    return &outlook->said[interval % ((int64_t)outlook->reach + 1)];
}

void weir_outlook_judge(struct weir_outlook *outlook, int64_t ahead_ns)
{
    const int64_t count = ahead_ns / outlook->interval_ns;
    const uint32_t judged = (uint32_t)(count < outlook->reach ? count : outlook->reach);

    if (judged == outlook->judged)
        return;
    outlook->judged = judged;
    for (uint32_t i = 0; i <= outlook->reach; i++)
        outlook->said[i] = (double)NAN;
}

static void judge(struct weir_outlook *outlook, double value)
{
    double *const said = said_of(outlook, outlook->begun);

    if (!isnan(*said) && value > 0) {
        outlook->wrong += fabs(*said - value) / value;
        outlook->wrong_count++;
    }
    *said = (double)NAN;
}

double weir_outlook_error(const struct weir_outlook *outlook)
{
    return outlook->wrong_count > 0 ? outlook->wrong / outlook->wrong_count : (double)NAN;
}

/* ---- what was ---- */

static void keep(struct weir_outlook *outlook, double value)
{
    const uint32_t season = outlook->by.season;

    if (outlook->count == outlook->kept) {
        outlook->count -= season;
        memmove(outlook->series, outlook->series + season, outlook->count * sizeof(double));
    }
    outlook->series[outlook->count++] = value;
}

/* The present interval is over. */
static void end_interval(struct weir_outlook *outlook)
{
    judge(outlook, outlook->most);
    keep(outlook, outlook->most);
    if (outlook->by.kind == WEIR_FORECAST_REGRESSION)
        weir_regression_add(&outlook->regression, outlook->most, outlook->features);
    outlook->begun++;
    *said_of(outlook, outlook->begun + outlook->judged) = ahead(outlook, outlook->judged + 1);
}

void weir_outlook_observe(struct weir_outlook *outlook, int64_t now_ns, double value,
                          const double *features)
{
    const int64_t interval = now_ns / outlook->interval_ns;

    if (outlook->begun < 0) /* clocks may begin anywhere */
        outlook->begun = interval;
    if (interval - outlook->begun > outlook->kept)
        outlook->begun = interval - outlook->kept;
    while (outlook->begun < interval) {
        end_interval(outlook);
        outlook->most = value; /* of intervals that nobody looked at */
    }
    outlook->most = fmax(outlook->most, value);
    if (features != NULL)
        memcpy(outlook->features, features, sizeof outlook->features);
}

void weir_outlook_remember(struct weir_outlook *outlook, struct weir_memory *memory)
{
    outlook->count = (uint32_t)weir_memory_count(memory, outlook->count, 0);
    memory->is_broken |= outlook->count > outlook->kept;
    outlook->count = outlook->count > outlook->kept ? outlook->kept : outlook->count;
    for (uint32_t i = 0; i < outlook->count; i++)
        weir_memory_number(memory, &outlook->series[i]);
    outlook->begun = weir_memory_count(memory, outlook->begun + 1, 0) - 1;
    weir_memory_number(memory, &outlook->most);
    if (outlook->by.kind != WEIR_FORECAST_REGRESSION)
        return;
    for (uint32_t i = 0; i < WEIR_FEATURE_COUNT; i++)
        weir_memory_number(memory, &outlook->features[i]);
    weir_regression_remember(&outlook->regression, memory);
}
