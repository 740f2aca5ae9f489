/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "threshold": marks of five numbers, with timers, cooldowns and a back-off.
 *
 * Out when any of them was above its upper mark for t_up, in when all were at or below their lower
 * marks for t_down. The timers begin anew with every step. How large a step is and how soon the
 * next one may be is pace.h; which numbers they are, load.h. A mark of 1 for a share, which it
 * never exceeds, or of 0 for queue and wait means that the number is not looked at.
 *
 * With `ahead` each of them has an outlook of its own, for reactive use: level and trend (Holt) of
 * the last hour at most, which reach no further than five minutes. What it says counts where it is
 * more than the number is now, so that nodes are asked for while a load rises and not when it is
 * there.
 *
 * With `nodes: short` CPUs or memory above their mark ask for nodes without GPUs, and GPUs for
 * nodes with them, as Ray Data does: what feeds GPUs may be short of CPUs, and further GPUs do not
 * help it. A queue or a wait does not say what is short: alone they ask in the order of the offers.
 *
 * It looks at every decision and asks for one of its own every `interval`, sooner where a timer
 * runs out. Cost: O(offers + pools); with a mark for the wait O(jobs) now and
 * then (load.h), O(nodes) for a step in.
 */
#include "sched/capacity/capacities.h"

#include "sched/capacity/parts/load.h"
#include "sched/capacity/parts/pace.h"
#include "sched/capacity/parts/since.h"
#include "sched/forecast/outlook.h"
#include "sched/internal/later.h"
#include "sched/internal/made.h"

#include <math.h>

enum {
    PARAM_UP = WEIR_PACE_PARAMS, /* the marks, in the order of enum weir_load_metric */
    PARAM_DOWN = PARAM_UP + WEIR_LOAD_COUNT,
    PARAM_T_UP = PARAM_DOWN + WEIR_LOAD_COUNT,
    PARAM_T_DOWN,
    PARAM_INTERVAL,
    PARAM_AHEAD,
    PARAM_NODES,
    PARAM_COUNT
};
enum { REACH_S = 300 };

/* clang-format off */
static const struct weir_param params[PARAM_COUNT] = {
    WEIR_PACE_ROWS,
    [PARAM_UP + WEIR_LOAD_CPU] = WEIR_NUMBER("cpu_up", "1", 0, 1, 0.8,
        "out while more than this share of the CPUs is assigned; 1: CPUs are not looked at"),
    [PARAM_UP + WEIR_LOAD_GPU] = WEIR_NUMBER("gpu_up", "1", 0, 1, 0.8,
        "out while more than this share of the GPUs is assigned; 1: GPUs are not looked at"),
    [PARAM_UP + WEIR_LOAD_RAM] = WEIR_NUMBER("ram_up", "1", 0, 1, 0.8,
        "out while more than this share of the memory is assigned; 1: it is not looked at"),
    [PARAM_UP + WEIR_LOAD_QUEUE] = WEIR_COUNT("queue_up", "", 0, 1e9, 1,
        "out while so many jobs or tasks wait; 0: the queue is not looked at"),
    [PARAM_UP + WEIR_LOAD_WAIT] = WEIR_DURATION("wait_up", 0, 1e9, 0,
        "out while one waits longer than this; 0 s: the wait is not looked at"),
    [PARAM_DOWN + WEIR_LOAD_CPU] = WEIR_NUMBER("cpu_down", "1", 0, 1, 0.3,
        "in while no more than this share of the CPUs is assigned, and the others are low too"),
    [PARAM_DOWN + WEIR_LOAD_GPU] = WEIR_NUMBER("gpu_down", "1", 0, 1, 0.3,
        "the same of GPUs"),
    [PARAM_DOWN + WEIR_LOAD_RAM] = WEIR_NUMBER("ram_down", "1", 0, 1, 0.3,
        "the same of memory"),
    [PARAM_DOWN + WEIR_LOAD_QUEUE] = WEIR_COUNT("queue_down", "", 0, 1e9, 0,
        "the same of jobs and tasks that wait, where they are looked at"),
    [PARAM_DOWN + WEIR_LOAD_WAIT] = WEIR_DURATION("wait_down", 0, 1e9, 0,
        "the same of the longest wait, where it is looked at"),
    [PARAM_T_UP] = WEIR_DURATION("t_up", 0, 1e9, 120,
        "one of them must have been above its mark for so long"),
    [PARAM_T_DOWN] = WEIR_DURATION("t_down", 0, 1e9, 600,
        "all must have been at or below their lower marks for so long"),
    [PARAM_INTERVAL] = WEIR_DURATION("interval", 1e-3, 1e9, 60,
        "it looks again after so long at the latest"),
    [PARAM_AHEAD] = WEIR_DURATION("ahead", 0, REACH_S, 0,
        "marks are held against what the numbers will be within so long, too, as they rise now"),
    [PARAM_NODES] = WEIR_CHOICE("nodes", "in_order|short", 1, 0,
        "a step out asks for nodes of the offers in their order, or for as many of each kind that is "
        "short: with GPUs while these are above their mark, without while CPUs or memory are"),
};
/* clang-format on */

struct threshold {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    int64_t above_ns[WEIR_LOAD_COUNT]; /* since when; WEIR_UNKNOWN_TIME = it is not */
    int64_t low_ns;                    /* likewise all of them */
    int64_t wake_ns;
    struct weir_pace pace;
    struct weir_oldest oldest;                      /* found again where it is not remembered */
    struct weir_outlook *outlooks[WEIR_LOAD_COUNT]; /* NULL = it looks at what is */
};

static const struct weir_made made = WEIR_MADE(struct threshold, params, PARAM_COUNT);

static void threshold_destroy(void *state)
{
    struct threshold *const threshold = state;

    for (uint32_t m = 0; m < WEIR_LOAD_COUNT; m++)
        weir_outlook_destroy(threshold->outlooks[m]);
    weir_made_destroy(state);
}

/* A season of one value has no season: level and trend are left. */
static weir_status look_out(struct threshold *threshold, struct weir_error *error)
{
    const struct weir_outlook_spec spec = { .size = sizeof spec,
                                            .horizon = WEIR_HORIZON_REACTIVE,
                                            .kind = WEIR_FORECAST_HOLT_WINTERS,
                                            .level = 0.5,
                                            .trend = 0.3 };

    for (uint32_t m = 0; threshold->values[PARAM_AHEAD] > 0 && m < WEIR_LOAD_COUNT; m++)
        WEIR_TRY(weir_outlook_create(&spec, &threshold->allocator, &threshold->outlooks[m], error));
    return WEIR_OK;
}

static weir_status threshold_create(const struct weir_params *given,
                                    const struct weir_allocator *allocator, void **state,
                                    struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct threshold *const threshold = *state;
    for (uint32_t m = 0; m < WEIR_LOAD_COUNT; m++)
        threshold->above_ns[m] = WEIR_UNKNOWN_TIME;
    threshold->low_ns = WEIR_UNKNOWN_TIME;
    threshold->wake_ns = WEIR_UNKNOWN_TIME;
    weir_pace_begin(&threshold->pace);
    return weir_made_end(look_out(threshold, error), threshold_destroy, state, error);
}

/* ---- marks ---- */

static bool is_looked_at(const struct threshold *threshold, uint32_t metric)
{
    return metric < WEIR_LOAD_QUEUE || threshold->values[PARAM_UP + metric] > 0;
}

static bool is_above(const struct threshold *threshold, const struct weir_load *load,
                     uint32_t metric)
{
    const double mark = threshold->values[PARAM_UP + metric];

    if (!is_looked_at(threshold, metric))
        return false;
    return metric == WEIR_LOAD_QUEUE ? load->of[metric] >= mark : load->of[metric] > mark;
}

static bool is_low(const struct threshold *threshold, const struct weir_load *load)
{
    bool is_low = true;

    for (uint32_t m = 0; is_low && m < WEIR_LOAD_COUNT; m++)
        is_low = !is_looked_at(threshold, m) || load->of[m] <= threshold->values[PARAM_DOWN + m];
    return is_low;
}

/* What the numbers are, or will be where that is more. A share is never more than all. */
static void look_ahead(struct threshold *threshold, struct weir_load *load, int64_t now_ns)
{
    const int64_t at_ns = weir_later_ns(now_ns, weir_pace_ns(threshold->values[PARAM_AHEAD]));

    for (uint32_t m = 0; m < WEIR_LOAD_COUNT; m++) {
        struct weir_outlook *const outlook = threshold->outlooks[m];
        if (outlook == NULL)
            continue;
        weir_outlook_observe(outlook, now_ns, load->of[m], NULL);
        const double then = weir_outlook_at(outlook, at_ns);
        load->of[m] = fmax(load->of[m], m < WEIR_LOAD_QUEUE ? fmin(then, 1) : then);
    }
}

/* The timers go on, or begin anew. */
static void look(struct threshold *threshold, const struct weir_load *load, int64_t now_ns)
{
    for (uint32_t m = 0; m < WEIR_LOAD_COUNT; m++)
        weir_since_follow(&threshold->above_ns[m], is_above(threshold, load, m), now_ns);
    weir_since_follow(&threshold->low_ns, is_low(threshold, load), now_ns);
}

static void restart(struct threshold *threshold, int64_t now_ns)
{
    for (uint32_t m = 0; m < WEIR_LOAD_COUNT; m++)
        if (threshold->above_ns[m] != WEIR_UNKNOWN_TIME)
            threshold->above_ns[m] = now_ns;
    if (threshold->low_ns != WEIR_UNKNOWN_TIME)
        threshold->low_ns = now_ns;
}

/* When the timers ask for a step that way; INT64_MAX = they do not. */
static int64_t due_ns(const struct threshold *threshold, int way)
{
    const int64_t hold_ns =
        weir_pace_ns(threshold->values[way == WEIR_PACE_OUT ? PARAM_T_UP : PARAM_T_DOWN]);
    int64_t since_ns = INT64_MAX;

    if (way == WEIR_PACE_IN && threshold->low_ns != WEIR_UNKNOWN_TIME)
        since_ns = threshold->low_ns;
    for (uint32_t m = 0; way == WEIR_PACE_OUT && m < WEIR_LOAD_COUNT; m++)
        if (threshold->above_ns[m] != WEIR_UNKNOWN_TIME && threshold->above_ns[m] < since_ns)
            since_ns = threshold->above_ns[m];
    if (since_ns == INT64_MAX)
        return INT64_MAX;
    const bool is_retry = way == WEIR_PACE_OUT && threshold->pace.has_failed;
    const int64_t timer_ns = is_retry ? since_ns : weir_later_ns(since_ns, hold_ns);
    const struct weir_pace_rules rules = weir_pace_rules(threshold->values);
    const int64_t from_ns = weir_pace_from(&threshold->pace, &rules, way);
    return from_ns > timer_ns ? from_ns : timer_ns;
}

/* ---- steps ---- */

/* The kinds of nodes that have what is above its mark; 0 = whichever come first. */
static uint32_t kinds_short(const struct threshold *threshold)
{
    static const uint32_t kinds[] = { [WEIR_LOAD_CPU] = WEIR_PACE_WITHOUT_GPUS,
                                      [WEIR_LOAD_GPU] = WEIR_PACE_WITH_GPUS,
                                      [WEIR_LOAD_RAM] = WEIR_PACE_WITHOUT_GPUS };
    uint32_t found = 0;

    for (uint32_t m = 0; threshold->values[PARAM_NODES] > 0 && m < WEIR_LOAD_QUEUE; m++)
        found |= threshold->above_ns[m] != WEIR_UNKNOWN_TIME ? kinds[m] : 0;
    return found;
}

static weir_status step(struct threshold *threshold, const struct weir_view *view, int way,
                        uint32_t nodes, struct weir_plan *plan)
{
    const struct weir_pace_rules rules = weir_pace_rules(threshold->values);
    const uint32_t count = weir_pace_step(&rules, nodes);
    uint32_t done = 0;

    WEIR_TRY(way == WEIR_PACE_OUT
                 ? weir_pace_request(view, kinds_short(threshold), count, plan, &done)
                 : weir_pace_release(view, count, plan, &done));
    if (done == 0)
        return WEIR_OK; /* all are there, or in use: it is still due */
    weir_pace_stepped(&threshold->pace, &rules, way, view->now_ns);
    restart(threshold, view->now_ns);
    return WEIR_OK;
}

static int64_t sooner(int64_t next_ns, int64_t due, int64_t now_ns)
{
    return due > now_ns && due < next_ns ? due : next_ns;
}

static weir_status wake(struct threshold *threshold, int64_t now_ns, struct weir_plan *plan)
{
    int64_t next_ns = weir_later_ns(now_ns, weir_pace_ns(threshold->values[PARAM_INTERVAL]));

    next_ns = sooner(next_ns, due_ns(threshold, WEIR_PACE_OUT), now_ns);
    next_ns = sooner(next_ns, due_ns(threshold, WEIR_PACE_IN), now_ns);
    return weir_pace_wake(&threshold->wake_ns, next_ns, now_ns, plan);
}

static weir_status threshold_decide(void *state, const struct weir_view *view,
                                    struct weir_plan *plan, struct weir_error *error)
{
    struct threshold *const threshold = state;
    struct weir_load load;
    weir_status status = WEIR_OK;

    const bool has_wait = threshold->values[PARAM_UP + WEIR_LOAD_WAIT] > 0;
    weir_load_look(view, has_wait ? &threshold->oldest : NULL, &load);
    look_ahead(threshold, &load, view->now_ns);
    look(threshold, &load, view->now_ns);
    if (due_ns(threshold, WEIR_PACE_OUT) <= view->now_ns)
        status = step(threshold, view, WEIR_PACE_OUT, load.nodes, plan);
    else if (due_ns(threshold, WEIR_PACE_IN) <= view->now_ns)
        status = step(threshold, view, WEIR_PACE_IN, load.nodes, plan);
    if (status == WEIR_OK)
        status = wake(threshold, view->now_ns, plan);
    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "out of memory");
}

static weir_status threshold_outcome(void *state, const struct weir_outcome *outcome)
{
    struct threshold *const threshold = state;
    const struct weir_pace_rules rules = weir_pace_rules(threshold->values);

    weir_pace_heard(&threshold->pace, &rules, outcome);
    return WEIR_OK;
}

/* ---- memory ---- */

static void remember(struct threshold *threshold, struct weir_memory *memory)
{
    for (uint32_t m = 0; m < WEIR_LOAD_COUNT; m++)
        weir_since_remember(memory, &threshold->above_ns[m]);
    weir_since_remember(memory, &threshold->low_ns);
    weir_since_remember(memory, &threshold->wake_ns);
    weir_pace_remember(&threshold->pace, memory);
    for (uint32_t m = 0; m < WEIR_LOAD_COUNT; m++)
        if (threshold->outlooks[m] != NULL)
            weir_outlook_remember(threshold->outlooks[m], memory);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t threshold_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct threshold threshold = *(const struct threshold *)state;

    remember(&threshold, &memory);
    return memory.used;
}

static weir_status threshold_restore(void *state, const struct weir_view *view,
                                     const double *numbers, uint32_t count,
                                     struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };

    (void)view;
    remember(state, &memory);
    return weir_memory_end(&memory, error);
}

const struct weir_capacity_ops weir_capacity_threshold = {
    .size = sizeof(struct weir_capacity_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "threshold",
    .summary = "out when any of five numbers is high for a while, in when all are low",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = threshold_create,
    .destroy = threshold_destroy,
    .decide = threshold_decide,
    .outcome = threshold_outcome,
    .save = threshold_save,
    .restore = threshold_restore,
};
