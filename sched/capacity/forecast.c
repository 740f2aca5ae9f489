/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "forecast": as many nodes as what is to come asks for.
 *
 * The demand in nodes (demand.h) is a series, the most of every interval one value. Three modes:
 *
 *   reactive    as many as the demand is now, once it was above what there is for t_up
 *   proactive   as many as the most that is forecast within `lead`, and `margin` of that more, at
 *               once: what comes otherwise than it was forecast waits
 *   hybrid      the forecast without margin at once, and what the demand is beyond it for t_up
 *
 * Nodes go when all of these were below what there is for t_down. Steps, cooldowns and the back-off
 * are as of threshold (pace.h). The series is an outlook for provisioning, which says nothing of
 * what lies more than four hours ahead. With `given` the forecasts are those of another program:
 * the demand of the intervals from time 0 on. Cost: O(offers) a look, with regression O(pools +
 * tenants), and O(values) for each interval of the lead when that moves on.
 */
#include "sched/capacity/capacities.h"

#include "sched/capacity/parts/demand.h"
#include "sched/capacity/parts/pace.h"
#include "sched/capacity/parts/since.h"
#include "sched/forecast/outlook.h"
#include "sched/internal/alloc.h"
#include "sched/internal/later.h"
#include "sched/internal/made.h"

#include <math.h>
#include <string.h>

enum {
    PARAM_MODE = WEIR_PACE_PARAMS,
    PARAM_FORECASTER,
    PARAM_INTERVAL,
    PARAM_SEASON,
    PARAM_LEAD,
    PARAM_MARGIN,
    PARAM_ORDER,
    PARAM_ALPHA,
    PARAM_BETA,
    PARAM_GAMMA,
    PARAM_T_UP,
    PARAM_T_DOWN,
    PARAM_GIVEN,
    PARAM_USE, /* by group of features */
    PARAM_COUNT = PARAM_USE + WEIR_FEATURE_GROUP_COUNT
};
enum { MOST_GIVEN = 1 << 16, ORDER = 32, REACH_S = 4 * 3600 };
enum { REACTIVE, PROACTIVE, HYBRID };

/* clang-format off */
static const struct weir_param params[PARAM_COUNT] = {
    WEIR_PACE_ROWS,
    [PARAM_MODE] = WEIR_CHOICE("mode", "reactive|proactive|hybrid", HYBRID, HYBRID,
        "by the demand there is; by what is forecast; or by both"),
    [PARAM_FORECASTER] = WEIR_CHOICE("forecaster", WEIR_FORECAST_WORDS,
        WEIR_FORECAST_REGRESSION, WEIR_FORECAST_SEASONAL, "the latest value; that of a season ago; "
        "its moving average; level, trend and season; an autoregression; or least squares on "
        "features"),
    [PARAM_INTERVAL] = WEIR_DURATION("interval", 1, 1e9, 300,
        "of one value of the series; it looks at its end, too"),
    [PARAM_SEASON] = WEIR_DURATION("season", 1, 1e9, 86400,
        "after which the demand repeats itself (seasonal, holt_winters); at most 4096 intervals"),
    [PARAM_LEAD] = WEIR_DURATION("lead", 0, REACH_S, 0,
        "how far ahead nodes are asked for; 0 s: the longest boot of the offers and one interval, at "
        "most 4 h"),
    [PARAM_MARGIN] = WEIR_NUMBER("margin", "1", 0, 100, 0.2,
        "mode proactive: so much more than is forecast"),
    [PARAM_ORDER] = WEIR_COUNT("order", "", 1, ORDER, 12, "of the autoregression"),
    [PARAM_ALPHA] = WEIR_NUMBER("alpha", "1", 0, 1, 0.2,
        "weight of a new value for the level (ewma, holt_winters)"),
    [PARAM_BETA] = WEIR_NUMBER("beta", "1", 0, 1, 0.01,
        "weight of a new difference for the trend (holt_winters)"),
    [PARAM_GAMMA] = WEIR_NUMBER("gamma", "1", 0, 1, 0.2,
        "weight of a new value for the season (holt_winters)"),
    [PARAM_T_UP] = WEIR_DURATION("t_up", 0, 1e9, 120,
        "the demand must have been above the nodes for so long (reactive, hybrid)"),
    [PARAM_T_DOWN] = WEIR_DURATION("t_down", 0, 1e9, 600,
        "demand and forecast must have been below the nodes for so long"),
    [PARAM_GIVEN] = WEIR_LIST("given", "nodes", MOST_GIVEN,
        "what another program forecasts: the demand of every interval from time 0 on, in place of "
        "the forecaster; beyond the end the last one"),
    [PARAM_USE + WEIR_FEATURE_HISTORY] = WEIR_FLAG("use_history", 1,
        "regression reads what was asked for before"),
    [PARAM_USE + WEIR_FEATURE_QUEUE] = WEIR_FLAG("use_queue", 1, "regression reads the queue"),
    [PARAM_USE + WEIR_FEATURE_TIME] = WEIR_FLAG("use_time", 1,
        "regression reads the time of day and of the week"),
    [PARAM_USE + WEIR_FEATURE_TEAMS] = WEIR_FLAG("use_teams", 1,
        "regression reads which tenants ask"),
    [PARAM_USE + WEIR_FEATURE_NEEDS] = WEIR_FLAG("use_needs", 1,
        "regression reads what a job asks for"),
};
/* clang-format on */

struct forecast {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_outlook *outlook;
    struct weir_feature_past past;
    double *given;
    uint32_t given_count;
    int64_t from, to; /* intervals that `base` is of */
    double base;      /* the most that is forecast for them */
    int64_t above_ns, low_ns, wake_ns;
    struct weir_pace pace;
};

static const struct weir_made made = WEIR_MADE(struct forecast, params, PARAM_COUNT);

static int64_t param_ns(const struct forecast *forecast, uint32_t index)
{
    return weir_pace_ns(forecast->values[index]);
}

static void forecast_destroy(void *state)
{
    struct forecast *const forecast = state;

    weir_outlook_destroy(forecast->outlook);
    weir_free(&forecast->allocator, forecast->given);
    weir_made_destroy(state);
}

static struct weir_outlook_spec outlook_of(const struct forecast *forecast)
{
    const double *const values = forecast->values;
    struct weir_outlook_spec spec = { .size = sizeof spec,
                                      .horizon = WEIR_HORIZON_PROVISIONING,
                                      .kind = (uint32_t)values[PARAM_FORECASTER],
                                      .order = (uint32_t)values[PARAM_ORDER],
                                      .interval_ns = param_ns(forecast, PARAM_INTERVAL),
                                      .season_ns = param_ns(forecast, PARAM_SEASON),
                                      .level = values[PARAM_ALPHA],
                                      .trend = values[PARAM_BETA],
                                      .seasonal = values[PARAM_GAMMA] };

    for (uint32_t g = 0; g < WEIR_FEATURE_GROUP_COUNT; g++)
        spec.groups |= values[PARAM_USE + g] > 0 ? 1U << g : 0;
    return spec;
}

static weir_status take(struct forecast *forecast, const struct weir_params *given,
                        struct weir_error *error)
{
    const struct weir_outlook_spec spec = outlook_of(forecast);
    const double *numbers = NULL;

    WEIR_TRY(weir_outlook_create(&spec, &forecast->allocator, &forecast->outlook, error));
    forecast->given_count = weir_params_list(params, PARAM_COUNT, given, PARAM_GIVEN, &numbers);
    forecast->given = weir_alloc(&forecast->allocator, forecast->given_count + 1, sizeof(double));
    if (forecast->given == NULL)
        return WEIR_ENOMEM;
    if (forecast->given_count > 0)
        memcpy(forecast->given, numbers, forecast->given_count * sizeof(double));
    return WEIR_OK;
}

static weir_status forecast_create(const struct weir_params *given,
                                   const struct weir_allocator *allocator, void **state,
                                   struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct forecast *const forecast = *state;

    forecast->from = forecast->to = -1;
    forecast->above_ns = forecast->low_ns = forecast->wake_ns = WEIR_UNKNOWN_TIME;
    weir_pace_begin(&forecast->pace);
    return weir_made_end(take(forecast, given, error), forecast_destroy, state, error);
}

/* ---- what is to come ---- */

static double value_of(const struct forecast *forecast, int64_t interval)
{
    const uint32_t count = forecast->given_count;

    if (count > 0)
        return forecast->given[interval < count ? interval : count - 1];
    return weir_outlook_at(forecast->outlook, interval * param_ns(forecast, PARAM_INTERVAL));
}

/* How far ahead nodes are asked for. */
static int64_t lead(const struct forecast *forecast, const struct weir_view *view)
{
    const int64_t reach_ns = weir_horizon_at(WEIR_HORIZON_PROVISIONING)->reach_ns;
    int64_t boot_ns = 0;

    if (forecast->values[PARAM_LEAD] > 0)
        return param_ns(forecast, PARAM_LEAD);
    for (uint32_t i = 0; i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        boot_ns = offer.boot_ns > boot_ns ? offer.boot_ns : boot_ns;
    }
    boot_ns += param_ns(forecast, PARAM_INTERVAL);
    return boot_ns < reach_ns ? boot_ns : reach_ns;
}

/* The most of the intervals from the present one to the end of the lead. What the outlook does not
 * reach is no number, and not looked at. */
static void look_ahead(struct forecast *forecast, const struct weir_view *view)
{
    const int64_t interval_ns = param_ns(forecast, PARAM_INTERVAL);
    const int64_t from = view->now_ns / interval_ns;
    const int64_t to = (view->now_ns + lead(forecast, view)) / interval_ns;

    if (from == forecast->from && to == forecast->to)
        return;
    forecast->from = from;
    forecast->to = to;
    forecast->base = 0;
    for (int64_t i = from; i <= to; i++)
        forecast->base = fmax(forecast->base, value_of(forecast, i));
}

/* When an interval ends, or the next one is reached by the lead. */
static int64_t next_look(const struct forecast *forecast, const struct weir_view *view)
{
    const int64_t interval_ns = param_ns(forecast, PARAM_INTERVAL);
    const int64_t lead_ns = lead(forecast, view);
    const int64_t end_ns = (view->now_ns / interval_ns + 1) * interval_ns;
    const int64_t reached_ns = ((view->now_ns + lead_ns) / interval_ns + 1) * interval_ns - lead_ns;

    return end_ns < reached_ns ? end_ns : reached_ns;
}

/* The demand now; intervals that are over become values. */
static double observe(struct forecast *forecast, const struct weir_view *view)
{
    const double demand = weir_node_demand(view);
    double features[WEIR_FEATURE_COUNT];
    const bool reads = weir_outlook_reads(forecast->outlook);

    if (reads)
        weir_view_features(view, &forecast->past, features);
    weir_outlook_judge(forecast->outlook, lead(forecast, view));
    weir_outlook_observe(forecast->outlook, view->now_ns, demand, reads ? features : NULL);
    look_ahead(forecast, view);
    return demand;
}

/* ---- how many ---- */

/* The tolerance keeps an exact count from being raised by its last bit. */
static uint32_t whole(double nodes)
{
    return (uint32_t)ceil(fmin(nodes, 1e9) - 1e-9);
}

struct wanted {
    uint32_t foreseen, present; /* nodes; 0 = the mode does not look at it */
};

static struct wanted want(const struct forecast *forecast, double demand)
{
    const uint32_t mode = (uint32_t)forecast->values[PARAM_MODE];
    const double more = mode == PROACTIVE ? 1 + forecast->values[PARAM_MARGIN] : 1;

    return (struct wanted){ .foreseen = mode == REACTIVE ? 0 : whole(forecast->base * more),
                            .present = mode == PROACTIVE ? 0 : whole(demand) };
}

/* How many there are to be, by now. *next_ns = when that may change, if sooner. */
static uint32_t target(struct forecast *forecast, struct wanted wanted, uint32_t nodes,
                       int64_t now_ns, int64_t *next_ns)
{
    const uint32_t most = wanted.foreseen > wanted.present ? wanted.foreseen : wanted.present;

    weir_since_follow(&forecast->above_ns, wanted.present > nodes, now_ns);
    weir_since_follow(&forecast->low_ns, most < nodes, now_ns);
    if (most < nodes) {
        const int64_t low_ns = weir_later_ns(forecast->low_ns, param_ns(forecast, PARAM_T_DOWN));
        *next_ns = low_ns > now_ns && low_ns < *next_ns ? low_ns : *next_ns;
        return low_ns <= now_ns ? most : nodes;
    }
    if (wanted.present > nodes && !forecast->pace.has_failed) {
        const int64_t above_ns = weir_later_ns(forecast->above_ns, param_ns(forecast, PARAM_T_UP));
        *next_ns = above_ns > now_ns && above_ns < *next_ns ? above_ns : *next_ns;
        if (above_ns > now_ns)
            return wanted.foreseen > nodes ? wanted.foreseen : nodes;
    }
    return most;
}

/* How many come (or, below 0, go) now. */
static int64_t due(struct forecast *forecast, struct wanted wanted, uint32_t nodes, int64_t now_ns,
                   int64_t *next_ns)
{
    const struct weir_pace_rules rules = weir_pace_rules(forecast->values);
    const int64_t change = (int64_t)target(forecast, wanted, nodes, now_ns, next_ns) - nodes;
    const int64_t from_ns =
        weir_pace_from(&forecast->pace, &rules, change > 0 ? WEIR_PACE_OUT : WEIR_PACE_IN);

    if (change == 0 || from_ns <= now_ns)
        return change;
    *next_ns = from_ns < *next_ns ? from_ns : *next_ns;
    return 0;
}

static weir_status step(struct forecast *forecast, const struct weir_view *view, int64_t change,
                        struct weir_plan *plan)
{
    const struct weir_pace_rules rules = weir_pace_rules(forecast->values);
    const int64_t most = weir_pace_step(&rules, weir_node_held(view));
    const int way = change > 0 ? WEIR_PACE_OUT : WEIR_PACE_IN;
    const int64_t size = change > 0 ? change : -change;
    const uint32_t count = (uint32_t)(size < most ? size : most);
    uint32_t done = 0;

    WEIR_TRY(way == WEIR_PACE_OUT ? weir_pace_request(view, 0, count, plan, &done)
                                  : weir_pace_release(view, count, plan, &done));
    if (done == 0)
        return WEIR_OK;
    weir_pace_stepped(&forecast->pace, &rules, way, view->now_ns);
    forecast->above_ns = forecast->low_ns = WEIR_UNKNOWN_TIME;
    return WEIR_OK;
}

static weir_status forecast_decide(void *state, const struct weir_view *view,
                                   struct weir_plan *plan, struct weir_error *error)
{
    struct forecast *const forecast = state;
    const struct wanted wanted = want(forecast, observe(forecast, view));
    int64_t next_ns = next_look(forecast, view);
    weir_status status = WEIR_OK;

    const int64_t change = due(forecast, wanted, weir_node_held(view), view->now_ns, &next_ns);
    if (change != 0)
        status = step(forecast, view, change, plan);
    if (status == WEIR_OK)
        status = weir_pace_wake(&forecast->wake_ns, next_ns, view->now_ns, plan);
    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "out of memory");
}

static weir_status forecast_outcome(void *state, const struct weir_outcome *outcome)
{
    struct forecast *const forecast = state;
    const struct weir_pace_rules rules = weir_pace_rules(forecast->values);

    weir_pace_heard(&forecast->pace, &rules, outcome);
    return WEIR_OK;
}

static double forecast_error(const void *state)
{
    return weir_outlook_error(((const struct forecast *)state)->outlook);
}

/* ---- memory ---- */

static void remember(struct forecast *forecast, struct weir_memory *memory)
{
    weir_outlook_remember(forecast->outlook, memory);
    if (weir_outlook_reads(forecast->outlook))
        weir_feature_remember(&forecast->past, memory);
    weir_since_remember(memory, &forecast->above_ns);
    weir_since_remember(memory, &forecast->low_ns);
    weir_since_remember(memory, &forecast->wake_ns);
    weir_pace_remember(&forecast->pace, memory);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t forecast_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct forecast forecast = *(const struct forecast *)state;

    remember(&forecast, &memory);
    return memory.used;
}

static weir_status forecast_restore(void *state, const struct weir_view *view,
                                    const double *numbers, uint32_t count, struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };

    (void)view;
    remember(state, &memory);
    return weir_memory_end(&memory, error);
}

const struct weir_capacity_ops weir_capacity_forecast = {
    .size = sizeof(struct weir_capacity_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "forecast",
    .summary = "as many nodes as the demand asks for that there is, that is forecast, or both",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = forecast_create,
    .destroy = forecast_destroy,
    .decide = forecast_decide,
    .outcome = forecast_outcome,
    .save = forecast_save,
    .restore = forecast_restore,
    .forecast_error = forecast_error,
};
