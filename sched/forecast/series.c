/* SPDX-License-Identifier: Apache-2.0 */
/* Forecasts; see the header. */
#include "sched/forecast/series.h"

static double mean(const double *values, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

static double seasonal(const struct weir_forecaster *by, const double *values, uint32_t count,
                       uint32_t ahead)
{
    return values[count - by->season + (ahead - 1) % by->season];
}

static double ewma(const struct weir_forecaster *by, const double *values, uint32_t count)
{
    double level = values[0];

    for (uint32_t i = 1; i < count; i++)
        level = by->level * values[i] + (1 - by->level) * level;
    return level;
}

static double holt_winters(const struct weir_forecaster *by, const double *values, uint32_t count,
                           uint32_t ahead, double *season)
{
    const uint32_t m = by->season > 0 ? by->season : 1;
    double level = mean(values, m);
    double trend = (mean(values + m, m) - level) / m;

    for (uint32_t i = 0; i < m; i++)
        season[i] = values[i] - level;
    for (uint32_t i = m; i < count; i++) {
        const double before = level;
        double *const s = &season[i % m];
        level = by->level * (values[i] - *s) + (1 - by->level) * (level + trend);
        trend = by->trend * (level - before) + (1 - by->trend) * trend;
        *s = by->seasonal * (values[i] - level) + (1 - by->seasonal) * *s;
    }
    return level + ahead * trend + season[(count + ahead - 1) % m];
}

/* ---- autoregression ---- */

/* Sum of products of values so far apart, less their mean. */
static double covariance(const double *values, uint32_t count, double middle, uint32_t apart)
{
    double sum = 0;

    for (uint32_t i = apart; i < count; i++)
        sum += (values[i] - middle) * (values[i - apart] - middle);
    return sum;
}

/* Coefficients of orders 1, 2, ... p, each from the one before. */
static void levinson(const double *covariances, uint32_t order, double *of)
{
    double error = covariances[0];

    for (uint32_t k = 0; k < order; k++) {
        double before[WEIR_FORECAST_ORDER];
        double reflected = covariances[k + 1];
        for (uint32_t i = 0; i < k; i++) {
            before[i] = of[i];
            reflected -= of[i] * covariances[k - i];
        }
        reflected = error > 0 ? reflected / error : 0;
        for (uint32_t i = 0; i < k; i++)
            of[i] = before[i] - reflected * before[k - 1 - i];
        of[k] = reflected;
        error *= 1 - reflected * reflected;
    }
}

static double autoregression(const struct weir_forecaster *by, const double *values, uint32_t count,
                             uint32_t ahead)
{
    const uint32_t order = by->order < WEIR_FORECAST_ORDER ? by->order : WEIR_FORECAST_ORDER;
    const double middle = mean(values, count);
    double covariances[WEIR_FORECAST_ORDER + 1];
    double of[WEIR_FORECAST_ORDER];
    double latest[WEIR_FORECAST_ORDER] = { 0 }; /* the youngest first */

    for (uint32_t k = 0; k <= order; k++)
        covariances[k] = covariance(values, count, middle, k);
    levinson(covariances, order, of);
    for (uint32_t k = 0; k < order; k++)
        latest[k] = values[count - 1 - k] - middle;
    for (uint32_t step = 0; step < ahead; step++) {
        double next = 0;
        for (uint32_t k = 0; k < order; k++)
            next += of[k] * latest[k];
        for (uint32_t k = order; k-- > 1;)
            latest[k] = latest[k - 1];
        latest[0] = next;
    }
    return middle + latest[0];
}

static uint32_t needed(const struct weir_forecaster *by)
{
    switch ((enum weir_forecast_kind)by->kind) {
    case WEIR_FORECAST_SEASONAL:
        return by->season;
    case WEIR_FORECAST_HOLT_WINTERS:
        return 2 * by->season;
    case WEIR_FORECAST_AR:
        return 2 * by->order;
    case WEIR_FORECAST_LAST:
    case WEIR_FORECAST_EWMA:
    case WEIR_FORECAST_REGRESSION:
        break;
    }
    return 1;
}

double weir_forecast(const struct weir_forecaster *by, const double *values, uint32_t count,
                     uint32_t ahead, double *work)
{
    if (count == 0)
        return 0;
    if (count < needed(by))
        return values[count - 1];
    switch ((enum weir_forecast_kind)by->kind) {
    case WEIR_FORECAST_SEASONAL:
        return seasonal(by, values, count, ahead);
    case WEIR_FORECAST_EWMA:
        return ewma(by, values, count);
    case WEIR_FORECAST_HOLT_WINTERS:
        return holt_winters(by, values, count, ahead, work);
    case WEIR_FORECAST_AR:
        return autoregression(by, values, count, ahead);
    case WEIR_FORECAST_LAST:
    case WEIR_FORECAST_REGRESSION:
        break;
    }
    return values[count - 1];
}
