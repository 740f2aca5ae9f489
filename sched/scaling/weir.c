/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaling by search: the workers of all pools packed together, changed only when it pays.
 *
 * Idea: counts and places are one question. A packing (packing.h) is looked for in three ways, each
 * more disturbing than the one before: add, move some, all anew. What a plan is worth is what the
 * slowest pool gives over the horizon, less what is not done while moved workers are set up:
 *
 *     value = z H - setup (z - least rate of what stays) - 1e-6 (starts + stops) z
 *
 * and what runs stays unless its value, z H, is beaten; by a plan that moves workers, beaten by
 * more than what is not known of the slowest pool's speed. Then head-room as in xenna.c, without
 * removing anybody. All of it is repeated from what was planned until nothing changes.
 *
 * Speeds are those of task_times.h: what the window says, unless that is noise. Bounds are that of
 * one big pool and, where adding workers does not reach it, that of node_room.h.
 *
 * Phases 1 and 2 are those of the other policies; whoever they leave without a worker, or with less
 * than a fixed count, is looked for room by a packing of the least that everybody needs.
 *
 * Invariant: so a second decision about the same state plans nothing (to ROUNDS repetitions), and
 * no worker is replaced at the same place.
 * Cost: nothing beyond those phases while everybody has what he needs and the slowest pool gives
 * what the bound allows; else about 40 tries at a packing, see packing.h.
 */
#include "sched/host/placer.h"
#include "sched/internal/plan_state.h"
#include "sched/placement/parts/room.h"
#include "sched/scaling/node_room.h"
#include "sched/scaling/packing_parts.h"
#include "sched/scaling/scalings.h"
#include "sched/scaling/task_times.h"
#include "sched/scaling/xenna.h"

#include <math.h>

enum {
    PARAM_HORIZON = WEIR_RUN_PARAM_COUNT,
    PARAM_SETUP,
    PARAM_OVERALLOCATION,
    PARAM_RESERVE,
    PARAM_TRIES,
    PARAM_MEMORY,
    PARAM_DOUBT,
    PARAM_COUNT
};

enum { ROUNDS = 32 }; /* most take two or three */
static const double PER_MOVE = 1e-6;
static const double NOTHING_LEFT = 1e-3; /* of the bound: not looked for */

static const struct weir_param PARAMS[] = {
    WEIR_RUN_PARAMS,
    WEIR_DURATION("horizon", 1, 1e7, 3600, "for how long a better plan counts"),
    WEIR_DURATION("setup", 0, 1e6, 30, "until a worker that was moved works again"),
    WEIR_NUMBER("overallocation", "", 1, 100, 1.5,
                "head-room: throughput allowed above that of the slowest stage"),
    WEIR_NUMBER("reserve", "", 1, 100, 1.1, "the same of stages before the slowest"),
    WEIR_COUNT("tries", "", 1, 100000, 200, "repairs that are tried for each throughput"),
    WEIR_DURATION("memory", 1, 1e7, 3600,
                  "over which times of tasks are averaged while nothing tells that they changed"),
    WEIR_NUMBER("doubt", "", 0, 100, 1,
                "standard errors of the slowest stage's speed that a plan which moves workers must "
                "gain"),
};

struct searcher {
    struct weir_run run; /* first: see WEIR_RUN_POLICY */
    struct weir_packing packing;
    struct weir_node_room room;
    bool has_room; /* it is that of this decision */
    double horizon_s, setup_s, overallocation, reserve, memory_s, doubt;
    uint32_t tries;
    struct weir_task_times *times; /* by pool */
    double *speeds;                /* the same: what is believed */
    uint32_t pool_count, time_capacity, speed_capacity;
};

static weir_status searcher_create(const struct weir_params *params,
                                   const struct weir_allocator *allocator, void **state,
                                   struct weir_error *error)
{
    WEIR_TRY(weir_run_make(sizeof(struct searcher), params, allocator, state, error));
    struct searcher *const searcher = *state;
    searcher->run.brings_back = true;
    searcher->packing = (struct weir_packing){ .run = &searcher->run };
    weir_node_room_open(&searcher->room, &searcher->run.allocator);
    searcher->horizon_s = params->values[PARAM_HORIZON];
    searcher->setup_s = params->values[PARAM_SETUP];
    searcher->overallocation = params->values[PARAM_OVERALLOCATION];
    searcher->reserve = params->values[PARAM_RESERVE];
    searcher->tries = (uint32_t)params->values[PARAM_TRIES];
    searcher->memory_s = params->values[PARAM_MEMORY];
    searcher->doubt = params->values[PARAM_DOUBT];
    return WEIR_OK;
}

static void searcher_destroy(void *state)
{
    struct searcher *const searcher = state;

    weir_packing_clear(&searcher->packing);
    weir_node_room_close(&searcher->room);
    weir_free(&searcher->run.allocator, searcher->times);
    weir_free(&searcher->run.allocator, searcher->speeds);
    weir_run_destroy(state);
}

/* ---- speeds ---- */

static weir_status learn(struct searcher *searcher, const struct weir_view *view)
{
    const struct weir_allocator *const memory = &searcher->run.allocator;

    WEIR_ROOM(memory, searcher->times, searcher->time_capacity, view->pool_count);
    WEIR_ROOM(memory, searcher->speeds, searcher->speed_capacity, view->pool_count);
    for (; searcher->pool_count < view->pool_count; searcher->pool_count++)
        searcher->times[searcher->pool_count] = (struct weir_task_times){ .weight = 0 };
    return WEIR_OK;
}

/* Tasks of pools that no decision has seen are not counted. */
static weir_status searcher_measured(void *state, const struct weir_measurement *task)
{
    struct searcher *const searcher = state;

    if (task->pool < searcher->pool_count)
        weir_task_times_add(&searcher->times[task->pool], task, searcher->memory_s);
    return WEIR_OK;
}

static weir_status judge_speeds(struct searcher *searcher, const struct weir_view *view)
{
    WEIR_TRY(learn(searcher, view));
    for (uint32_t i = 0; i < view->pool_count; i++)
        searcher->speeds[i] =
            weir_task_times_speed(&searcher->times[i], &weir_view_pool(view, i)->estimate);
    searcher->run.speeds = searcher->speeds;
    return WEIR_OK;
}

static void remember(struct searcher *searcher, struct weir_memory *memory)
{
    searcher->pool_count = weir_memory_length(memory, searcher->pool_count);
    for (uint32_t i = 0; i < searcher->pool_count; i++)
        weir_task_times_remember(&searcher->times[i], memory);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t searcher_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct searcher searcher = *(const struct searcher *)state;

    remember(&searcher, &memory);
    return memory.used;
}

static weir_status searcher_restore(void *state, const struct weir_view *view,
                                    const double *numbers, uint32_t count, struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };

    if (learn(state, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    remember(state, &memory);
    return weir_memory_end(&memory, error);
}

/* ---- packing ---- */

/* With its workers, or with those of the optimum of one big pool. */
static double rate_of(const struct weir_run_pool *pool, bool of_optimum)
{
    return weir_run_throughput(pool, of_optimum ? pool->optimum : pool->workers);
}

/* The first pool of least rate; WEIR_NO_INDEX when all counts are fixed. */
static uint32_t slowest(const struct weir_run *run, bool of_optimum)
{
    uint32_t found = WEIR_NO_INDEX;

    for (uint32_t i = 0; i < run->count; i++)
        if (weir_run_is_free(&run->pools[i]) &&
            (found == WEIR_NO_INDEX ||
             rate_of(&run->pools[i], of_optimum) < rate_of(&run->pools[found], of_optimum)))
            found = i;
    return found;
}

static double least_per_s(const struct weir_run *run, bool of_optimum)
{
    const uint32_t pool = slowest(run, of_optimum);

    return pool == WEIR_NO_INDEX ? (double)INFINITY : rate_of(&run->pools[pool], of_optimum);
}

/* By how much, relative, a plan that moves workers must be better: that the slowest pool is slow
 * may be noise. */
static double doubt(const struct searcher *searcher)
{
    const uint32_t pool = slowest(&searcher->run, false);

    if (pool == WEIR_NO_INDEX)
        return 0;
    return searcher->doubt *
           weir_task_times_doubt(&searcher->times[pool],
                                 &weir_view_pool(searcher->run.view, pool)->estimate);
}

/* The members of a group are told as one. */
static weir_status start_found(struct searcher *searcher, uint32_t pool)
{
    struct weir_run *const run = &searcher->run;
    const struct weir_packing *const packing = &searcher->packing;
    const struct weir_stopped *const starts = &packing->pools[pool].starts;
    const uint32_t members = weir_shape_members(weir_packing_shape(packing, pool));

    for (uint32_t k = 0; k < starts->entry_count; k++) {
        struct weir_alloc alloc;
        weir_stopped_alloc(starts, k, &alloc);
        if (weir_packing_is_group(packing, pool) && k % members == 0)
            weir_plan_set_group(run->plan, weir_plan_next_worker(run->plan));
        WEIR_TRY(weir_placer_start_at(run->placer, pool, &alloc, run->error));
    }
    weir_plan_set_group(run->plan, 0);
    run->pools[pool].workers += starts->entry_count / members;
    run->pools[pool].started += starts->entry_count / members;
    return WEIR_OK;
}

/* What the search found, done. */
static weir_status apply(struct searcher *searcher)
{
    struct weir_run *const run = &searcher->run;
    struct weir_worker worker;

    weir_plan_set_phase(run->plan, 3);
    for (uint32_t i = 0; i < searcher->packing.stop_count; i++) {
        const uint64_t id = searcher->packing.stops[i];
        if (weir_cluster_worker(weir_placer_scratch(run->placer), id, &worker))
            WEIR_TRY(
                weir_placer_stop_worker(run->placer, worker.owner.index, worker.id, run->error));
    }
    for (uint32_t i = 0; i < run->count; i++) {
        const uint32_t left = weir_placer_workers(run->placer, i);
        run->pools[i].stopped += run->pools[i].workers - left;
        run->pools[i].workers = left;
    }
    for (uint32_t i = 0; i < run->count; i++)
        WEIR_TRY(start_found(searcher, i));
    return WEIR_OK;
}

/* The value of the search's outcome. */
static double value_of(const struct searcher *searcher, double z_per_s, double kept_per_s)
{
    const double moves = searcher->packing.start_count + searcher->packing.stop_count;

    return z_per_s * searcher->horizon_s -
           searcher->setup_s * (z_per_s - fmin(z_per_s, kept_per_s)) - PER_MOVE * moves * z_per_s;
}

/* What the nodes can hold at all: less, often, than the one big pool. */
static weir_status bound(struct searcher *searcher, double low_per_s, double *most_per_s)
{
    struct weir_run *const run = &searcher->run;

    if (!(low_per_s > 0))
        return WEIR_OK;
    if (!searcher->has_room)
        WEIR_TRY(weir_node_room_begin(&searcher->room, run));
    searcher->has_room = true;
    return weir_node_room_most(&searcher->room, run, low_per_s, *most_per_s, most_per_s);
}

/* The least disturbing of the best ways; *is_better when it was done. A way that reaches what the
 * bound allows ends the search. To pack anew what has been packed so already costs most and seldom
 * finds more: after the first round it is left out while a gentler way gets on. */
static weir_status pack(struct searcher *searcher, uint32_t round, bool *is_better)
{
    struct weir_run *const run = &searcher->run;
    const double now_per_s = least_per_s(run, false);
    double most_per_s = least_per_s(run, true);
    const double surer = 1 + doubt(searcher);
    double best = now_per_s * searcher->horizon_s;
    struct weir_packing_goal found = { .way = WEIR_PACK_COLD };

    *is_better = false;
    if (!(now_per_s < most_per_s * (1 - NOTHING_LEFT)))
        return WEIR_OK;
    WEIR_TRY(weir_packing_begin(&searcher->packing, run));
    struct weir_packing_goal goal = { .tries = searcher->tries, .high_per_s = most_per_s };
    enum weir_packing_way last = WEIR_PACK_COLD;
    for (int way = WEIR_PACK_ADD; way <= WEIR_PACK_COLD; way++) {
        if (way == WEIR_PACK_COLD && round > 0 && *is_better)
            break;
        const double least = way == WEIR_PACK_ADD ? best : best * surer;
        if (way == WEIR_PACK_WARM)
            WEIR_TRY(bound(searcher, least / searcher->horizon_s, &most_per_s));
        if (!(least / searcher->horizon_s < most_per_s * (1 - NOTHING_LEFT)))
            break;
        double z_per_s = 0;
        double kept_per_s = 0;
        goal.way = last = (enum weir_packing_way)way;
        goal.high_per_s = most_per_s;
        goal.low_per_s = least / searcher->horizon_s; /* less cannot be worth more */
        WEIR_TRY(weir_packing_search(&searcher->packing, &goal, &z_per_s, &kept_per_s));
        const double value = z_per_s > 0 ? value_of(searcher, z_per_s, kept_per_s) : 0;
        if (value > least * (1 + 1e-9)) {
            best = value;
            found = goal;
            *is_better = true;
        }
        if (*is_better && found.way == last && !(z_per_s < most_per_s * (1 - NOTHING_LEFT)))
            break;
    }
    if (!*is_better)
        return WEIR_OK;
    if (found.way != last) {
        double z_per_s = 0;
        double kept_per_s = 0;
        WEIR_TRY(weir_packing_search(&searcher->packing, &found, &z_per_s, &kept_per_s));
    }
    return apply(searcher);
}

/* Of a fixed count as many as one big pool would hold; WEIR_NO_INDEX where there is none, or no
 * node for it. */
static uint32_t due_of(const struct searcher *searcher, uint32_t pool)
{
    const struct weir_run_pool *const seen = &searcher->run.pools[pool];

    if (!weir_packing_is_fixed(&searcher->packing, pool) || seen->is_starved != 0)
        return WEIR_NO_INDEX;
    return seen->optimum < (uint32_t)seen->requested ? seen->optimum : (uint32_t)seen->requested;
}

/* The pools that are starved though the cluster could hold a worker of theirs, into `is_tried`, and
 * how many. */
static uint32_t count_tried(struct weir_run *run)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        struct weir_run_pool *const pool = &run->pools[i];
        pool->is_tried =
            pool->is_starved != 0 && pool->optimum > 0 &&
            weir_cluster_serves(run->view->cluster, &weir_view_pool(run->view, i)->shape);
        count += pool->is_tried;
    }
    return count;
}

static bool is_all_due(const struct searcher *searcher)
{
    for (uint32_t i = 0; i < searcher->run.count; i++) {
        const uint32_t due = due_of(searcher, i);
        if (due != WEIR_NO_INDEX && searcher->run.pools[i].workers < due)
            return false;
    }
    return true;
}

/* The least that everybody needs, at the rate of one worker each. Groups give way only when all is
 * placed anew: what they give up they would begin again. */
static weir_status search_least(struct searcher *searcher, double one_each_per_s, bool *is_found)
{
    struct weir_packing_goal goal = { .tries = searcher->tries,
                                      .high_per_s = one_each_per_s,
                                      .is_high_only = true };
    double z_per_s = 0;
    double kept_per_s = 0;

    for (int way = WEIR_PACK_WARM; way <= WEIR_PACK_COLD && !(z_per_s > 0); way++) {
        goal.way = (enum weir_packing_way)way;
        goal.keeps_groups = way == WEIR_PACK_WARM;
        WEIR_TRY(weir_packing_search(&searcher->packing, &goal, &z_per_s, &kept_per_s));
    }
    *is_found = z_per_s > 0;
    return WEIR_OK;
}

/* All who are tried get a worker, with `all_due` all fixed counts what is due, or nothing is
 * done. */
static weir_status serve(struct searcher *searcher, bool all_due, bool *is_served)
{
    struct weir_run *const run = &searcher->run;
    double one_each_per_s = (double)INFINITY;

    WEIR_TRY(weir_packing_begin(&searcher->packing, run));
    for (uint32_t i = 0; i < run->count; i++) {
        const uint32_t due = all_due ? due_of(searcher, i) : run->pools[i].is_tried;
        if (due != WEIR_NO_INDEX && due > run->pools[i].workers)
            searcher->packing.pools[i].wanted = due;
        if (weir_run_is_free(&run->pools[i]))
            one_each_per_s = fmin(one_each_per_s, run->pools[i].rate_per_s);
    }
    if (isinf(one_each_per_s))
        one_each_per_s = 1; /* all counts are fixed: any rate is as good */
    WEIR_TRY(search_least(searcher, one_each_per_s, is_served));
    return *is_served ? apply(searcher) : WEIR_OK;
}

/* The phases before place first workers and fixed counts one by one: who finds no room so may find
 * some when others stand elsewhere. */
static weir_status serve_all(struct searcher *searcher)
{
    struct weir_run *const run = &searcher->run;
    const uint32_t tried = count_tried(run);
    bool is_served = false;

    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].is_starved = run->pools[i].is_starved != 0 && run->pools[i].is_tried == 0;
    const bool is_due = is_all_due(searcher);
    if (tried == 0 && is_due)
        return WEIR_OK;
    WEIR_TRY(serve(searcher, true, &is_served));
    if (!is_served && !is_due && tried > 0)
        WEIR_TRY(serve(searcher, false, &is_served));
    for (uint32_t i = 0; i < run->count && !is_served; i++)
        run->pools[i].is_starved = run->pools[i].is_starved != 0 || run->pools[i].is_tried != 0;
    return WEIR_OK;
}

/* Behind the slowest pool of its pipeline a pool may have all the head-room. Before it, more
 * workers only fill the queues: what waits there is latency and no throughput. */
static weir_status give_head_room(struct searcher *searcher)
{
    struct weir_run *const run = &searcher->run;

    for (uint32_t first = 0; first < run->count;) {
        const uint32_t pipeline = weir_view_pool(run->view, first)->pipeline;
        uint32_t slowest = first;
        uint32_t end = first;
        for (; end < run->count && weir_view_pool(run->view, end)->pipeline == pipeline; end++) {
            const struct weir_run_pool *const pool = &run->pools[end];
            if (weir_run_is_free(pool) &&
                weir_run_less(
                    run, weir_run_throughput(pool, pool->workers),
                    weir_run_throughput(&run->pools[slowest], run->pools[slowest].workers)))
                slowest = end;
        }
        for (; first < end; first++)
            run->pools[first].head_room =
                first < slowest ? searcher->reserve : searcher->overallocation;
    }
    return weir_xenna_head_room(run);
}

/* Until nothing changes: a round sees what the one before it planned as what runs. */
static weir_status repeat(struct searcher *searcher)
{
    bool is_better = true;

    for (uint32_t round = 0; round < ROUNDS && is_better; round++) {
        WEIR_TRY(pack(searcher, round, &is_better));
        WEIR_TRY(give_head_room(searcher));
    }
    return WEIR_OK;
}

static weir_status searcher_decide(void *state, const struct weir_view *view,
                                   struct weir_placer *placer, struct weir_plan *plan,
                                   struct weir_error *error)
{
    struct searcher *const searcher = state;
    struct weir_run *const run = &searcher->run;

    if (judge_speeds(searcher, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_optimum(run));
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    searcher->has_room = false;
    searcher->packing.first_id = weir_plan_next_worker(plan);
    WEIR_TRY(serve_all(searcher));
    WEIR_TRY(repeat(searcher));
    if (weir_plan_count(plan) > 0) {
        WEIR_TRY(weir_packing_settle(&searcher->packing, run));
        WEIR_TRY(apply(searcher));
    }
    return weir_run_end_planned(run);
}

const struct weir_scaling_ops weir_scaling_weir = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "weir",
    .summary = "counts and places by search, changed only when it pays",
    .params = PARAMS,
    .param_count = PARAM_COUNT,
    .create = searcher_create,
    .destroy = searcher_destroy,
    .decide = searcher_decide,
    .measured = searcher_measured,
    .save = searcher_save,
    .restore = searcher_restore,
};
