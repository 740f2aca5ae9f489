/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts against known answers, and on a day that repeats itself with noise. */
#include "sched/forecast/series.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <math.h>

enum { HOURS = 24, DAYS = 40, VALUES = HOURS * DAYS };

static const double FOUR[] = { 10, 20, 30, 20, 12, 22, 33, 23, 14, 25, 36, 25 };

static struct weir_forecaster kind(uint32_t kind)
{
    return (struct weir_forecaster){
        .kind = kind, .season = 4, .order = 2, .level = 0.5, .trend = 0.3, .seasonal = 0.2
    };
}

static void holt_and_winters_give_their_known_answers(void)
{
    static const double expected[] = { 16.508108, 26.985320, 37.587867, 27.877485 };
    const struct weir_forecaster by = kind(WEIR_FORECAST_HOLT_WINTERS);
    double work[4];
    for (uint32_t h = 1; h <= 4; h++)
        CHECK_NEAR(weir_forecast(&by, FOUR, 12, h, work), expected[h - 1], 5e-7);
}

static void the_simple_ones_are_what_they_say(void)
{
    double work[4];
    const struct weir_forecaster last = kind(WEIR_FORECAST_LAST);
    const struct weir_forecaster seasonal = kind(WEIR_FORECAST_SEASONAL);
    const struct weir_forecaster ewma = kind(WEIR_FORECAST_EWMA);
    CHECK_NEAR(weir_forecast(&last, FOUR, 12, 3, work), 25, 0);
    CHECK_NEAR(weir_forecast(&seasonal, FOUR, 12, 1, work), 14, 0);
    CHECK_NEAR(weir_forecast(&seasonal, FOUR, 12, 7, work), 36, 0);
    CHECK_NEAR(weir_forecast(&ewma, FOUR, 3, 2, work), 0.5 * 30 + 0.5 * (0.5 * 20 + 0.5 * 10),
               1e-12);
    CHECK_NEAR(weir_forecast(&seasonal, FOUR, 3, 1, work), 30, 0); /* less than a season */
    CHECK_NEAR(weir_forecast(&seasonal, FOUR, 0, 1, work), 0, 0);
}

/* y(t) = 0.6 y(t-1) + noise: the best guess an interval ahead is 0.6 y, two ahead 0.36 y. */
static void an_autoregression_finds_its_coefficients(void)
{
    static double values[20000];
    struct draws draws = draws_seeded(7);
    struct weir_forecaster by = kind(WEIR_FORECAST_AR);
    by.order = 1;
    for (uint32_t i = 1; i < 20000; i++)
        values[i] = 0.6 * values[i - 1] + (double)draws_below(&draws, 2001) / 1000 - 1;
    values[19999] = 10;
    double work[4];
    CHECK_NEAR(weir_forecast(&by, values, 20000, 1, work), 6, 0.3);
    CHECK_NEAR(weir_forecast(&by, values, 20000, 2, work), 3.6, 0.3);
}

/* Mean part by which forecasts an hour ahead are wrong, from the tenth day on. */
static double mape(const struct weir_forecaster *by, const double *values)
{
    double work[HOURS];
    double sum = 0;
    for (uint32_t n = 10 * HOURS; n < VALUES; n++)
        sum += fabs(weir_forecast(by, values, n, 1, work) - values[n]) / values[n];
    return sum / (VALUES - 10 * HOURS);
}

/* covers: S1.59 */
static void a_day_that_repeats_itself_is_foreseen(void)
{
    static double values[VALUES];
    struct draws draws = draws_seeded(11);
    struct weir_forecaster by = {
        .season = HOURS, .order = 24, .level = 0.1, .trend = 0.01, .seasonal = 0.1
    };
    const double pi = acos(-1);
    for (uint32_t n = 0; n < VALUES; n++)
        values[n] =
            100 + 88 * sin(2 * pi * n / HOURS) + (double)draws_below(&draws, 7001) / 1000 - 3.5;
    by.kind = WEIR_FORECAST_HOLT_WINTERS;
    CHECK(mape(&by, values) <= 0.10);
    by.kind = WEIR_FORECAST_SEASONAL;
    CHECK(mape(&by, values) <= 0.10);
    by.kind = WEIR_FORECAST_AR;
    CHECK(mape(&by, values) <= 0.10);
    by.kind = WEIR_FORECAST_LAST;
    CHECK(mape(&by, values) >= 0.20);
    by.kind = WEIR_FORECAST_EWMA;
    CHECK(mape(&by, values) >= 0.20);
}

static const struct test tests[] = {
    { "Holt and Winters give their known answers", holt_and_winters_give_their_known_answers },
    { "the simple ones are what they say", the_simple_ones_are_what_they_say },
    { "an autoregression finds its coefficients", an_autoregression_finds_its_coefficients },
    { "a day that repeats itself is foreseen", a_day_that_repeats_itself_is_foreseen },
};
TEST_MAIN(tests)
