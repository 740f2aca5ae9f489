/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Horizontal Pod Autoscaler of Kubernetes (autoscaling/v2): every pool by itself, by one number
 * a worker that is to be `target`.
 *
 * ratio = number / target, of the ready workers, averaged as a monitor does; within `tolerance` of
 * 1 nothing changes. Before it grows the others count as idle, in set-up or without a place: when
 * that leaves nothing to grow for, nothing changes. Wanted are ceil(ratio x those that count), and
 *
 *   no more than the larger of up_part more and up_count more than a period ago,
 *   no fewer than down_part less than a period ago,
 *   no fewer than the most that was wanted within `shrink_window`, and least to most.
 *
 * A period begins with the first decision after the one before is over. Of the wanted numbers those
 * are kept that no later one exceeds, at most WINDOW of them: then the oldest stands for the next.
 * Decisions that no timer made keep counts.
 */
#include "sched/scaling/kept.h"
#include "sched/scaling/scalings.h"

#include "sched/internal/tasks.h"

#include <string.h>

enum {
    PARAM_METRIC = WEIR_RUN_PARAM_COUNT,
    PARAM_TARGET,
    PARAM_AVERAGE,
    PARAM_TOLERANCE,
    PARAM_UP_PART,
    PARAM_UP_COUNT,
    PARAM_DOWN_PART,
    PARAM_PERIOD,
    PARAM_WINDOW,
    PARAM_LEAST,
    PARAM_MOST,
    PARAM_COUNT
};
enum { BY_BUSY, BY_TASKS };

static const struct weir_param PARAMS[] = {
    WEIR_RUN_PARAMS,
    WEIR_CHOICE("metric", "busy|tasks", BY_TASKS, BY_BUSY,
                "the share of the ready workers that are at work, or tasks a worker: those in work "
                "and those that wait"),
    WEIR_NUMBER("target", "", 1e-3, 1e6, 0.8, "that it is to be"),
    WEIR_DURATION("average", 1e-3, 1e6, 60, "over which the number is averaged"),
    WEIR_NUMBER("tolerance", "", 0, 10, 0.1, "part of the target by which it may differ"),
    WEIR_NUMBER("up_part", "", 0, 1e6, 1, "a stage grows by this part in a period at most, or ..."),
    WEIR_COUNT("up_count", "workers", 0, 1e6, 4, "... by so many, whichever is more"),
    WEIR_NUMBER("down_part", "", 0, 1, 1, "a stage shrinks by this part in a period at most"),
    WEIR_DURATION("period", 1e-3, 1e6, 15, "of these limits"),
    WEIR_DURATION("shrink_window", 0, 1e6, 300,
                  "it does not shrink below what was wanted within so long: stabilisation"),
    WEIR_COUNT("least", "workers", 1, 1e6, 1, "of a stage"),
    WEIR_COUNT("most", "workers", 1, 1e9, 1e9, "of a stage"),
};

/* Of a pool: its count, the number, the period, then what was wanted, the oldest first. */
enum {
    COUNT,
    MEAN,
    SEEN_S,
    IS_SEEN,
    BEGUN_S,
    BEFORE,
    USED,
    WANTED,
    WINDOW = 32,
    NUMBERS = WANTED + 2 * WINDOW
};

struct hpa {
    struct weir_kept kept; /* first */
    double values[PARAM_COUNT];
};

static weir_status hpa_create(const struct weir_params *params,
                              const struct weir_allocator *allocator, void **state,
                              struct weir_error *error)
{
    WEIR_TRY(weir_run_make(sizeof(struct hpa), params, allocator, state, error));
    struct hpa *const made = *state;
    made->kept.width = NUMBERS;
    memcpy(made->values, params->values, sizeof made->values);
    return WEIR_OK;
}

/* ---- what the number asks for ---- */

/* The number, smoothed as a monitor does: what was so long ago counts 1/e. */
static double observe(const struct hpa *hpa, double *pool, const struct weir_pool_view *seen,
                      double now_s)
{
    const bool has_tasks = (uint32_t)hpa->values[PARAM_METRIC] == BY_TASKS;
    const double work = seen->busy + (has_tasks ? weir_pool_tasks(seen) : 0);
    const double number = seen->ready > 0 ? work / seen->ready : 0;
    const double share = -expm1(-(now_s - pool[SEEN_S]) / hpa->values[PARAM_AVERAGE]);

    if (seen->ready == 0)
        return 0;
    pool[MEAN] += (number - pool[MEAN]) * (pool[IS_SEEN] > 0 ? share : 1);
    pool[SEEN_S] = now_s;
    pool[IS_SEEN] = 1;
    return pool[MEAN];
}

static double wanted(const struct hpa *hpa, double number, double ready, double workers)
{
    const double tolerance = hpa->values[PARAM_TOLERANCE];
    const double all = fmax(workers, ready);
    const double ratio = number / hpa->values[PARAM_TARGET];

    if (ready < 1 || fabs(ratio - 1) <= tolerance)
        return workers;
    if (ratio < 1)
        return ceil(ratio * ready - 1e-9);
    return ratio * ready <= (1 + tolerance) * all ? workers : ceil(ratio * ready - 1e-9);
}

/* ---- stabilisation ---- */

/* Forgets what no longer counts and keeps this. */
static void keep(double *pool, double from_s, double now_s, double count)
{
    double *const past = pool + WANTED;
    uint32_t first = 0;
    uint32_t used = (uint32_t)fmin(fmax(pool[USED], 0), WINDOW);

    while (used > 0 && past[2 * used - 1] <= count)
        used--;
    while (first < used && past[2 * (size_t)first] < from_s)
        first++;
    if (used - first == WINDOW) {
        past[3] = fmax(past[1], past[3]);
        first = 1;
    }
    memmove(past, past + 2 * (size_t)first, 2 * (size_t)(used - first) * sizeof *past);
    used -= first;
    past[2 * (size_t)used] = now_s;
    past[2 * (size_t)used + 1] = count;
    pool[USED] = used + 1;
}

/* ---- limits ---- */

static double limited(const struct hpa *hpa, const double *pool, double count)
{
    const double *const values = hpa->values;
    const double before = pool[BEFORE];
    const double up =
        fmax(ceil(before * (1 + values[PARAM_UP_PART]) - 1e-9), before + values[PARAM_UP_COUNT]);
    const double down = floor(before * (1 - values[PARAM_DOWN_PART]) + 1e-9);

    count = fmin(fmax(count, down), up);
    return fmin(fmax(count, values[PARAM_LEAST]), fmax(values[PARAM_MOST], values[PARAM_LEAST]));
}

static double decide_count(const struct hpa *hpa, double *pool, const struct weir_pool_view *seen)
{
    const double workers = pool[COUNT];
    const double now_s = (double)hpa->kept.run.view->now_ns / 1e9;

    if (pool[USED] < 1 || now_s - pool[BEGUN_S] >= hpa->values[PARAM_PERIOD] - 1e-9) {
        pool[BEGUN_S] = now_s;
        pool[BEFORE] = workers;
    }
    const double number = observe(hpa, pool, seen, now_s);
    keep(pool, now_s - hpa->values[PARAM_WINDOW], now_s, wanted(hpa, number, seen->ready, workers));
    const double most = pool[WANTED + 1]; /* each is more than those after it */
    const double latest = pool[WANTED + 2 * (size_t)pool[USED] - 1];
    return limited(hpa, pool, latest >= workers ? latest : fmin(most, workers));
}

static weir_status hpa_decide(void *state, const struct weir_view *view, struct weir_placer *placer,
                              struct weir_plan *plan, struct weir_error *error)
{
    struct hpa *const hpa = state;
    struct weir_run *const run = &hpa->kept.run;
    const bool is_timer = (view->causes & WEIR_CAUSE_TIMER) != 0;

    WEIR_TRY(weir_kept_learn(&hpa->kept, view, error));
    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    for (uint32_t i = 0; i < run->count; i++) {
        double *const pool = weir_kept_of(&hpa->kept, i);
        if (pool[COUNT] < 1)
            pool[COUNT] = fmax(hpa->values[PARAM_LEAST], run->pools[i].workers);
        if (is_timer && weir_run_is_free(&run->pools[i]))
            pool[COUNT] = decide_count(hpa, pool, weir_view_pool(view, i));
        run->pools[i].target = (uint32_t)fmin(pool[COUNT], 1e9);
    }
    WEIR_TRY(weir_run_targets(run, false));
    return weir_run_end_planned(run);
}

const struct weir_scaling_ops weir_scaling_hpa =
    WEIR_KEPT_POLICY("hpa", PARAMS, hpa_create, hpa_decide,
                     "each stage by a number a worker, as the autoscaler of Kubernetes has it");
