/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xenna's saturation-aware scheduler as a policy: the rules of saturation.h around the phases of
 * xenna with an over-allocation of 1.
 *
 * A decision observes (queues, busy workers, finished tasks), runs the phases with the speeds the
 * rules give, and then takes back the starts above a pool's cap and the stops below its floor. A
 * start whose room is not given up after all is taken back too. Every pipeline has rules of its
 * own: another pipeline's pools are neither its bottleneck nor behind its queues. When nodes are
 * lost, the next decisions are the phases alone, with the speeds that are measured. What was given
 * up for a first worker stays given up. Failing whole, when counts fixed by hand cannot be met, the
 * phases run once more with the counts of now, as the reference does.
 *
 * What waits in front of a pool is one number in a view, so tasks that are made up already count
 * as items of the queue; tasks in flight are the busy workers. Meant for an interval of 10 s.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/internal/plan_state.h"
#include "sched/scaling/saturation.h"
#include "sched/scaling/scalings.h"
#include "sched/scaling/xenna.h"

static const double NS_PER_S = 1e9;

enum {
    PARAM_HEADROOM = WEIR_RUN_PARAM_COUNT,
    PARAM_WINDOW,
    PARAM_LEAST_TASKS,
    PARAM_MOST_KEPT,
    PARAM_ALPHA_UP,
    PARAM_ALPHA_DOWN,
    PARAM_STALE_MULTIPLE,
    PARAM_STALE_GROWTH,
    PARAM_LEAST_TASK,
    PARAM_WARMUP_GROWTH,
    PARAM_RELEASE_CYCLES,
    PARAM_RELEASE_SLOWDOWN,
    PARAM_RECLAIM_CYCLES,
    PARAM_COUNT
};

static const struct weir_param PARAMS[] = {
    WEIR_RUN_PARAMS,
    WEIR_NUMBER("capacity_headroom", "", 0, 1, 0.10,
                "capacity wanted above the rate of the bottleneck, as a share of it"),
    WEIR_DURATION("estimation_window", 0, 1e6, 60,
                  "age up to which tasks count for a stage's speed"),
    WEIR_COUNT("min_data_points", "", 1, 1e6, 5, "finished tasks before a speed is trusted"),
    WEIR_COUNT("averaging_samples", "", 1, 1e6, 10,
               "tasks that count whatever their age; at least min_data_points"),
    WEIR_NUMBER("speed_alpha_up", "", 1e-6, 1, 0.3,
                "weight of a new speed that is higher than the average"),
    WEIR_NUMBER("speed_alpha_down", "", 1e-6, 1, 0.1,
                "weight of a new speed that is lower than the average"),
    WEIR_NUMBER("stale_multiple", "", 1.001, 1e6, 3,
                "mean durations without a finished task after which a speed is stale"),
    WEIR_COUNT("stale_growth_step", "", 0, 1e6, 1,
               "workers a stage with a stale speed may grow by"),
    WEIR_DURATION("min_task_duration", 0, 3600, 1e-3,
                  "tasks that are shorter and return nothing do not count for the speed"),
    WEIR_COUNT("warmup_growth_step", "", 0, 1e6, 4,
               "workers a stage may grow by while another is not measured yet"),
    WEIR_COUNT("release_cycles", "", 1, 1e6, 6,
               "decisions over which workers are given up; a third of them confirms"),
    WEIR_NUMBER("release_slowdown", "", 1, 1e6, 4,
                "how much slower than release_cycles the arrival rate is forgotten"),
    WEIR_COUNT("reclaim_confirm_cycles", "", 1, 1e6, 6,
               "decisions in a row before stages behind the bottleneck give workers to others"),
};

/* The rules of one pipeline, whose pools stand in a row. */
struct part {
    struct weir_saturation *rules;
    uint32_t first;
};

/* What a pool's share of the pass is cut to, in actions. */
struct quota {
    uint32_t starts, stops; /* proposed */
    uint32_t kept_starts, kept_stops;
    uint32_t seen_starts, seen_stops;
};

struct saturation_aware {
    struct weir_run run;
    struct weir_amounts up; /* what the nodes had that were up at the last decision */
    uint32_t cycles_after_loss;
    struct weir_saturation_config config;
    struct part *parts;
    struct quota *quotas;               /* by pool */
    const struct weir_action **actions; /* of the pass */
    uint32_t part_count, part_capacity, quota_capacity, action_count, action_capacity;
};

static struct weir_saturation_config read_config(const double *values)
{
    return (struct weir_saturation_config){
        .headroom = values[PARAM_HEADROOM],
        .window_s = values[PARAM_WINDOW],
        .least_tasks = (uint32_t)values[PARAM_LEAST_TASKS],
        .most_kept = (uint32_t)values[PARAM_MOST_KEPT],
        .alpha_up = values[PARAM_ALPHA_UP],
        .alpha_down = values[PARAM_ALPHA_DOWN],
        .stale_multiple = values[PARAM_STALE_MULTIPLE],
        .stale_growth = (uint32_t)values[PARAM_STALE_GROWTH],
        .least_task_s = values[PARAM_LEAST_TASK],
        .warmup_growth = (uint32_t)values[PARAM_WARMUP_GROWTH],
        .release_cycles = (uint32_t)values[PARAM_RELEASE_CYCLES],
        .release_slowdown = values[PARAM_RELEASE_SLOWDOWN],
        .reclaim_cycles = (uint32_t)values[PARAM_RECLAIM_CYCLES],
    };
}

static weir_status saturation_create(const struct weir_params *params,
                                     const struct weir_allocator *allocator, void **state,
                                     struct weir_error *error)
{
    const struct weir_saturation_config config = read_config(params->values);

    if (config.most_kept < config.least_tasks)
        return weir_fail(error, WEIR_EINVAL,
                         "averaging_samples must be at least min_data_points, got %u and %u",
                         config.most_kept, config.least_tasks);
    WEIR_TRY(weir_run_make(sizeof(struct saturation_aware), params, allocator, state, error));
    struct saturation_aware *const made = *state;
    made->run.settings.divides_samples = true;
    made->run.settings.skips_finished = true;
    made->run.settings.slots_assume = true;
    made->config = config;
    return WEIR_OK;
}

static void saturation_destroy(void *state)
{
    struct saturation_aware *const policy = state;
    const struct weir_allocator *const memory = &policy->run.allocator;

    for (uint32_t i = 0; i < policy->part_count; i++)
        weir_saturation_destroy(policy->parts[i].rules);
    weir_free(memory, policy->parts);
    weir_free(memory, policy->quotas);
    weir_free(memory, (void *)policy->actions);
    weir_run_destroy(state);
}

/* ---- what the rules are told ---- */

/* Rules for the pools from `first` on; those that are there stay when they fit. */
static weir_status set_part(struct saturation_aware *policy, uint32_t index, uint32_t first,
                            uint32_t count)
{
    const struct weir_allocator *const memory = &policy->run.allocator;
    struct weir_saturation *rules;

    if (index < policy->part_count && policy->parts[index].first == first &&
        policy->parts[index].rules->count == count)
        return WEIR_OK;
    WEIR_ROOM(memory, policy->parts, policy->part_capacity, index + 1);
    WEIR_TRY(weir_saturation_create(memory, &policy->config, count, &rules));
    if (index < policy->part_count)
        weir_saturation_destroy(policy->parts[index].rules);
    else
        policy->part_count = index + 1;
    policy->parts[index] = (struct part){ .rules = rules, .first = first };
    return WEIR_OK;
}

/* Pools are only ever added; a pipeline that got one forgets what it knew. */
static weir_status learn(struct saturation_aware *policy, const struct weir_view *view)
{
    uint32_t part = 0;
    uint32_t end;

    for (uint32_t first = 0; first < view->pool_count; first = end) {
        const uint32_t pipeline = weir_view_pool(view, first)->pipeline;
        for (end = first + 1;
             end < view->pool_count && weir_view_pool(view, end)->pipeline == pipeline;)
            end++;
        WEIR_TRY(set_part(policy, part++, first, end - first));
    }
    return WEIR_OK;
}

static weir_status saturation_adopt(void *state, const struct weir_view *view,
                                    struct weir_error *error)
{
    if (learn(state, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

/* Pipelines as the latest decision knew them: what it knew of one that has got a pool since, the
 * next decision forgets. */
static weir_status remember(struct saturation_aware *policy, struct weir_memory *memory,
                            uint32_t pools)
{
    const uint32_t parts = (uint32_t)weir_memory_count(memory, policy->part_count, 0);
    uint32_t first = 0;

    weir_saturation_remember_loss(memory, &policy->cycles_after_loss, &policy->up);
    for (uint32_t i = 0; i < parts && !memory->is_broken; i++) {
        const uint32_t known = memory->from == NULL ? policy->parts[i].rules->count : pools - first;
        const uint32_t count = weir_memory_length(memory, known);
        if (count == 0)
            memory->is_broken = true;
        else if (memory->from != NULL)
            WEIR_TRY(set_part(policy, i, first, count));
        if (count > 0)
            weir_saturation_remember(policy->parts[i].rules, memory);
        first += count;
    }
    return WEIR_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t saturation_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct saturation_aware policy = *(const struct saturation_aware *)state;

    (void)remember(&policy, &memory, 0);
    return memory.used;
}

static weir_status saturation_restore(void *state, const struct weir_view *view,
                                      const double *numbers, uint32_t count,
                                      struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };

    if (remember(state, &memory, view->pool_count) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return weir_memory_end(&memory, error);
}

/* Tasks of pools that no view has shown yet are not counted. */
static weir_status saturation_measured(void *state, const struct weir_measurement *task)
{
    struct saturation_aware *const policy = state;

    for (uint32_t i = 0; i < policy->part_count; i++) {
        const struct part *const part = &policy->parts[i];
        if (task->pool >= part->first && task->pool - part->first < part->rules->count)
            return weir_saturation_task(part->rules, task->pool - part->first,
                                        (double)task->start_ns / NS_PER_S,
                                        (double)task->end_ns / NS_PER_S, task->returns);
    }
    return WEIR_OK;
}

static void observe(const struct saturation_aware *policy, const struct part *part, double now_s)
{
    for (uint32_t i = 0; i < part->rules->count; i++) {
        const struct weir_run_pool *const pool = &policy->run.pools[part->first + i];
        const struct weir_pool_view *const seen = weir_view_pool(policy->run.view, part->first + i);
        struct weir_saturation_pool *const at = &part->rules->pools[i];
        at->workers = pool->workers;
        at->queue_items = (double)seen->queued_items;
        at->pool_tasks = 0;
        at->inflight = (double)seen->busy / weir_shape_members(&seen->shape);
        at->batch = pool->batch;
        at->is_manual = pool->is_manual;
        at->uses_cpu = seen->shape.cpu_units > 0;
        at->uses_gpu = seen->shape.gpu_units > 0;
    }
    weir_saturation_observe(part->rules, now_s);
}

/* ---- the pass ---- */

/* Speeds and returns as the rules see them; a pool without a speed has the default one. */
static void take_speeds(struct saturation_aware *policy)
{
    for (uint32_t p = 0; p < policy->part_count; p++) {
        const struct weir_saturation *const rules = policy->parts[p].rules;
        double samples = 1;
        for (uint32_t i = 0; i < rules->count; i++) {
            const struct weir_saturation_pool *const at = &rules->pools[i];
            struct weir_run_pool *const pool = &policy->run.pools[policy->parts[p].first + i];
            pool->speed_per_s = at->target_speed > 0 ? at->solver_speed_per_s
                                                     : policy->run.settings.default_speed_per_s;
            pool->samples = samples;
            pool->ratio = 1 / samples;
            if (at->returns > 0 && pool->batch > 0)
                samples = samples * at->returns / pool->batch;
        }
    }
}

static bool has_manual(const struct weir_run *run)
{
    bool found = false;

    for (uint32_t i = 0; i < run->count; i++)
        found = found || (run->pools[i].is_manual && !run->pools[i].is_skipped);
    return found;
}

static weir_status run_phases(struct saturation_aware *policy)
{
    struct weir_run *const run = &policy->run;

    take_speeds(policy);
    WEIR_TRY(weir_run_mix_of_counts(run, true));
    return weir_xenna_phases(run, 1.0);
}

static weir_status mark(const struct weir_run *run)
{
    if (weir_cluster_mark(weir_placer_scratch(run->placer)) != WEIR_OK)
        return weir_fail(run->error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

/* The phases; failing whole once more with the counts of now when those fixed cannot be met. A mark
 * of the scratch as it was before stays. */
static weir_status run_pass(struct saturation_aware *policy)
{
    struct weir_run *const run = &policy->run;

    WEIR_TRY(mark(run));
    const weir_status status = run_phases(policy);
    if ((status != WEIR_EMANUAL && status != WEIR_EMINIMUM) || !has_manual(run))
        return status;
    WEIR_TRY(weir_run_start_over(run));
    WEIR_TRY(mark(run));
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->pools[i].is_manual)
            run->pools[i].requested = (int32_t)run->pools[i].before;
    }
    return run_phases(policy);
}

/* ---- what is left of the pass ---- */

static weir_status list_actions(struct saturation_aware *policy)
{
    const struct weir_run *const run = &policy->run;
    const uint32_t count = weir_plan_count(run->plan);
    const struct weir_action **const actions =
        weir_grow(&run->allocator, (void *)policy->actions, &policy->action_capacity, count + 1,
                  sizeof(const struct weir_action *));

    if (actions == NULL)
        return WEIR_ENOMEM;
    policy->actions = actions;
    WEIR_ROOM(&run->allocator, policy->quotas, policy->quota_capacity, run->count + 1);
    for (uint32_t i = 0; i < run->count; i++)
        policy->quotas[i] = (struct quota){ .starts = 0 };
    policy->action_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action *const action = weir_plan_action(run->plan, i);
        if (action->owner.kind != WEIR_OWNER_POOL || action->owner.index >= run->count)
            continue; /* a job's, or a wish to be asked again: decided before, not ours */
        policy->quotas[action->owner.index].starts += action->verb == WEIR_VERB_START;
        policy->quotas[action->owner.index].stops += action->verb == WEIR_VERB_STOP;
        actions[policy->action_count++] = action;
    }
    return WEIR_OK;
}

/* How many of the proposed workers of a pool may start. */
static uint32_t allowed_starts(struct saturation_aware *policy, const struct part *part, uint32_t i,
                               uint32_t started, uint32_t stopped, double now_s)
{
    const struct weir_saturation_pool *const at = &part->rules->pools[i];
    const char *rule;

    if (at->is_manual != 0 || started == 0)
        return started;
    const double cap = weir_saturation_cap(part->rules, i, now_s, &rule);
    if (at->workers + started - stopped <= cap)
        return started;
    const double room = cap - (at->workers - stopped);
    policy->run.pools[part->first + i].binding =
        at->samples < part->rules->config.least_tasks ? WEIR_REASON_MIN_POINTS : WEIR_REASON_TARGET;
    return room > 0 ? (uint32_t)room : 0;
}

/* Whether anything is cut. */
static bool set_quotas(struct saturation_aware *policy, const struct part *part, double now_s)
{
    bool cuts = false;

    for (uint32_t i = 0; i < part->rules->count; i++) {
        const uint32_t members =
            weir_shape_members(&weir_view_pool(policy->run.view, part->first + i)->shape);
        struct quota *const quota = &policy->quotas[part->first + i];
        const uint32_t started = quota->starts / members;
        const uint32_t stopped = quota->stops / members;
        const uint32_t kept = allowed_starts(policy, part, i, started, stopped, now_s);
        const uint32_t given = policy->run.pools[part->first + i].given;
        const uint32_t fewest = given < stopped ? given : stopped;
        const uint32_t deleted = weir_saturation_deletions(part->rules, i, kept, stopped);
        quota->kept_starts = kept * members;
        quota->kept_stops = (deleted > fewest ? deleted : fewest) * members;
        cuts = cuts || quota->kept_starts < quota->starts || quota->kept_stops < quota->stops;
    }
    return cuts;
}

/* Whether an action is beyond its pool's quota; counts it. */
static bool is_cut(struct quota *quota, uint32_t verb)
{
    if (verb == WEIR_VERB_START)
        return quota->seen_starts++ >= quota->kept_starts;
    return verb == WEIR_VERB_STOP && quota->seen_stops++ >= quota->kept_stops;
}

/* Leaves the scratch without any of the pass's starts and with the stops that are kept; actions
 * that are not starts to keep become NULL. */
static weir_status take_back(struct saturation_aware *policy)
{
    const struct weir_run *const run = &policy->run;
    struct weir_cluster *const scratch = weir_placer_scratch(run->placer);

    weir_cluster_rollback(scratch);
    for (uint32_t i = 0; i < policy->action_count; i++) {
        const struct weir_action *const action = policy->actions[i];
        if (action == NULL)
            continue;
        const uint32_t verb = action->verb;
        const bool cuts = is_cut(&policy->quotas[action->owner.index], verb);
        if (verb == WEIR_VERB_STOP && cuts)
            (void)weir_plan_unstop(run->plan, action->worker);
        if (verb == WEIR_VERB_STOP && !cuts)
            WEIR_TRY(weir_cluster_remove_worker(scratch, action->worker, run->error));
        if (verb == WEIR_VERB_START && cuts)
            (void)weir_plan_unstart(run->plan, action->worker);
        if (verb != WEIR_VERB_START || cuts)
            policy->actions[i] = NULL;
    }
    return WEIR_OK;
}

/* Puts `count` starts from `first` on, one worker or one group, on the scratch again. */
static weir_status place_again(struct saturation_aware *policy, uint32_t first, uint32_t count)
{
    const struct weir_run *const run = &policy->run;
    struct weir_cluster *const scratch = weir_placer_scratch(run->placer);

    WEIR_TRY(weir_cluster_mark(scratch));
    weir_status status = WEIR_OK;
    for (uint32_t i = first; status == WEIR_OK && i < first + count; i++) {
        const struct weir_action *const action = policy->actions[i];
        status =
            weir_cluster_add_worker(scratch, action->worker, action->owner, &action->alloc, NULL);
    }
    if (status == WEIR_OK) {
        weir_cluster_release(scratch);
        return WEIR_OK;
    }
    weir_cluster_rollback(scratch);
    if (status == WEIR_ENOMEM)
        return status;
    policy->quotas[policy->actions[first]->owner.index].kept_starts -= count;
    run->pools[policy->actions[first]->owner.index].binding = WEIR_REASON_NO_DONOR;
    for (uint32_t i = first; i < first + count; i++)
        (void)weir_plan_unstart(run->plan, policy->actions[i]->worker);
    return WEIR_OK;
}

/* Starts in the order of pools; one that stood on room that is not given up is taken back. */
static weir_status place_kept(struct saturation_aware *policy, uint32_t pool)
{
    const uint32_t members = weir_shape_members(&weir_view_pool(policy->run.view, pool)->shape);

    for (uint32_t i = 0; policy->quotas[pool].kept_starts > 0 && i < policy->action_count;) {
        const bool is_start = policy->actions[i] != NULL && policy->actions[i]->owner.index == pool;
        if (is_start)
            WEIR_TRY(place_again(policy, i, members));
        i += is_start ? members : 1;
    }
    return WEIR_OK;
}

static weir_status trim(struct saturation_aware *policy, double now_s)
{
    struct weir_run *const run = &policy->run;
    bool cuts = false;

    WEIR_TRY(list_actions(policy));
    for (uint32_t p = 0; p < policy->part_count; p++)
        cuts = set_quotas(policy, &policy->parts[p], now_s) || cuts;
    if (!cuts) {
        weir_cluster_release(weir_placer_scratch(run->placer));
        return WEIR_OK;
    }
    WEIR_TRY(take_back(policy));
    for (uint32_t i = 0; i < run->count; i++) {
        const uint32_t members = weir_shape_members(&weir_view_pool(run->view, i)->shape);
        WEIR_TRY(place_kept(policy, i));
        run->pools[i].started = policy->quotas[i].kept_starts / members;
        run->pools[i].stopped = policy->quotas[i].kept_stops / members;
        run->pools[i].workers =
            run->pools[i].before + run->pools[i].started - run->pools[i].stopped;
    }
    return WEIR_OK;
}

/* Whether this decision is one of `release_cycles` from the first that sees less capacity on. What
 * the rules remember is then of another cluster: growth by steps, floors under stages that kept
 * their workers and speeds stretched by queues would hold the lost ones' places for minutes. */
static bool is_after_loss(struct saturation_aware *policy)
{
    const struct weir_amounts up = weir_cluster_total(policy->run.view->cluster);

    if (!weir_amounts_fit(&policy->up, &up))
        policy->cycles_after_loss = policy->config.release_cycles;
    else if (policy->cycles_after_loss > 0)
        policy->cycles_after_loss--;
    policy->up = up;
    return policy->cycles_after_loss > 0 && !policy->run.settings.fails_whole;
}

static weir_status saturation_decide(void *state, const struct weir_view *view,
                                     struct weir_placer *placer, struct weir_plan *plan,
                                     struct weir_error *error)
{
    struct saturation_aware *const policy = state;
    struct weir_run *const run = &policy->run;
    const double now_s = (double)view->now_ns / NS_PER_S;

    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(saturation_adopt(policy, view, error));
    const bool is_plain = is_after_loss(policy);
    for (uint32_t p = 0; p < policy->part_count; p++)
        observe(policy, &policy->parts[p], now_s);
    for (uint32_t p = 0; is_plain && p < policy->part_count; p++)
        weir_saturation_forget(policy->parts[p].rules);
    WEIR_TRY(run_pass(policy));
    if (!is_plain)
        WEIR_TRY(trim(policy, now_s));
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].target = run->pools[i].before;
    return weir_run_end(run);
}

const struct weir_scaling_ops weir_scaling_saturation_aware = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "saturation_aware",
    .summary = "xenna with queues: grows what is saturated, keeps what is idle for a while",
    .params = PARAMS,
    .param_count = PARAM_COUNT,
    .create = saturation_create,
    .destroy = saturation_destroy,
    .decide = saturation_decide,
    .measured = saturation_measured,
    .adopt = saturation_adopt,
    .save = saturation_save,
    .restore = saturation_restore,
};
