/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forecasts of a series that is sampled at equal intervals.
 *
 * Each is a pure function of the values so far, the oldest first, and of how many intervals ahead:
 *
 *   last          the latest value
 *   seasonal      the value a season before the time that is asked for
 *   ewma          the level l = a y + (1 - a) l, from the first value on
 *   holt_winters  level, trend and season, additive: l = a (y - s) + (1 - a)(l + b),
 *                 b = c (l - l') + (1 - c) b, s = g (y - l) + (1 - g) s; they begin with the mean
 *                 of the first season, the mean change from it to the second, and what is left
 *   ar            autoregression of order p by Yule and Walker, solved by Levinson and Durbin, on
 *                 what is left of the mean
 *
 * Regression is not among them: it reads more than the series (regression.h).
 *
 * While there is less than they need (a season; two of Holt and Winters; 2 p values), the latest
 * value stands for it; without any value it is 0. Cost: O(values), of ar O(values p).
 */
#ifndef SCHED_FORECAST_SERIES_H
#define SCHED_FORECAST_SERIES_H

#include "weir/forecast.h"

enum { WEIR_FORECAST_ORDER = 32 }; /* of ar, at most */

struct weir_forecaster {
    uint32_t kind;                 /* enum weir_forecast_kind */
    uint32_t season;               /* values of it, at least 1 */
    uint32_t order;                /* of ar */
    double level, trend, seasonal; /* the weights a, c and g */
};

/* The value `ahead` intervals after the last one, at least 1. `work` has room for a season. */
double weir_forecast(const struct weir_forecaster *by, const double *values, uint32_t count,
                     uint32_t ahead, double *work);

#endif
