/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves over arrived demand; see the header. */
#include "sim/lab/arrival_curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two decimals as numpy rounds. */
static double round_2(double value)
{
    return rint(value * 100) / 100;
}

/* Two decimals as a printed number has them: the exact value decides. The product is off by a
 * rounding, which matters only next to the middle between two of them. */
static double print_2(double value)
{
    const double hundreds = value * 100;
    const double nearest = rint(hundreds);
    char text[64];
    if (fabs(hundreds) < 1e12 && fabs(fabs(hundreds - nearest) - 0.5) > 1e-3)
        return nearest / 100;
    (void)snprintf(text, sizeof(text), "%.2f", value);
    return strtod(text, NULL);
}

static weir_status reserve_points(struct sim_arrival_curve *curve, size_t count)
{
    if (count > curve->capacity) {
        const size_t capacity = 2 * count + 64;
        struct sim_arrival_point *points = realloc(curve->points, capacity * sizeof(*points));
        if (points == NULL)
            return WEIR_ENOMEM;
        memset(points + curve->capacity, 0, (capacity - curve->capacity) * sizeof(*points));
        curve->points = points;
        curve->capacity = capacity;
    }
    curve->count = count > curve->count ? count : curve->count;
    return WEIR_OK;
}

static weir_status reserve_values(struct sim_arrival_curve *curve)
{
    if (curve->arrivals < curve->room)
        return WEIR_OK;
    const size_t room = 2 * curve->room + 1024;
    for (int v = 0; v < SIM_ARRIVAL_VALUES; v++) {
        double *values = realloc(curve->values[v], room * sizeof(*values));
        if (values == NULL)
            return WEIR_ENOMEM;
        curve->values[v] = values;
    }
    curve->room = room;
    return WEIR_OK;
}

weir_status sim_arrival_curve_add(struct sim_arrival_curve *curve,
                                  const struct sim_arrival_state *state)
{
    const double x = rint(state->arrived_milli / curve->gpus / 10);
    const double idle_milli = curve->gpus * 1000 - state->used_milli;
    if (!(curve->gpus > 0) || !(x >= 0 && x < 1e6))
        return WEIR_ERANGE;
    WEIR_TRY(reserve_points(curve, (size_t)x + 1));
    WEIR_TRY(reserve_values(curve));
    struct sim_arrival_point *point = &curve->points[(size_t)x];
    const size_t i = curve->arrivals++;
    point->first = point->events == 0 ? i : point->first;
    point->events++;
    point->failed = state->failed;
    curve->values[SIM_ARRIVAL_ALLOC][i] = round_2(state->used_milli / curve->gpus / 10);
    curve->values[SIM_ARRIVAL_FRAG][i] = print_2(state->frag_milli);
    curve->values[SIM_ARRIVAL_RATIO][i] =
        idle_milli > 0 ? print_2(100 * state->frag_milli / idle_milli) : 0;
    for (uint32_t p = 0; p < SIM_PARTS && state->measures != NULL; p++)
        point->parts[p] += sim_measures_part(state->measures, p);
    return WEIR_OK;
}

void sim_arrival_curve_clear(struct sim_arrival_curve *curve)
{
    free(curve->points);
    for (int v = 0; v < SIM_ARRIVAL_VALUES; v++)
        free(curve->values[v]);
    *curve = (struct sim_arrival_curve){ .gpus = curve->gpus };
}

/* Eight running sums for up to 128 values, halves for more. */
static double pairwise_sum(const double *values, size_t count)
{
    double sums[8];
    double all = 0;
    size_t i = 0;
    if (count > 128) {
        const size_t half = count / 2 - count / 2 % 8;
        return pairwise_sum(values, half) + pairwise_sum(values + half, count - half);
    }
    if (count >= 8) {
        memcpy(sums, values, sizeof(sums));
        for (i = 8; i < count - count % 8; i++)
            sums[i % 8] += values[i];
        all = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
              ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
    for (; i < count; i++)
        all += values[i];
    return all;
}

/* The arrivals of the percents from `from` to `to`. */
static struct sim_arrival_point join(const struct sim_arrival_curve *curve, size_t from, size_t to)
{
    struct sim_arrival_point joined = { .events = 0 };
    for (size_t x = from; x <= to && x < curve->count; x++) {
        const struct sim_arrival_point *point = &curve->points[x];
        if (point->events == 0)
            continue;
        joined.first = joined.events == 0 ? point->first : joined.first;
        joined.events += point->events;
        joined.failed = point->failed;
        for (int p = 0; p < SIM_PARTS; p++)
            joined.parts[p] += point->parts[p];
    }
    return joined;
}

struct sim_arrival_values sim_arrival_curve_at(const struct sim_arrival_curve *curve, size_t x)
{
    struct sim_arrival_point point = join(curve, x, x);
    double means[SIM_ARRIVAL_VALUES] = { (double)NAN, (double)NAN, (double)NAN };
    if (point.events == 0)
        point = join(curve, x > 0 ? x - 1 : 0, x + 1);
    for (int v = 0; v < SIM_ARRIVAL_VALUES && point.events > 0; v++)
        means[v] =
            pairwise_sum(curve->values[v] + point.first, point.events) / (double)point.events;
    struct sim_arrival_values values = { .events = point.events,
                                         .failed = point.failed,
                                         .alloc_pct = round_2(means[SIM_ARRIVAL_ALLOC]),
                                         .frag_pct = round_2(100 * means[SIM_ARRIVAL_FRAG] / 1000 /
                                                             curve->gpus),
                                         .frag_idle_pct = means[SIM_ARRIVAL_RATIO] };
    for (int p = 0; p < SIM_PARTS; p++)
        values.parts[p] = point.events > 0 ? point.parts[p] / (double)point.events : (double)NAN;
    return values;
}
