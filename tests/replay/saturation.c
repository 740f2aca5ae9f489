/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The op `saturation_aware`: cycle after cycle the rules of the saturation-aware scheduler around
 * the op `autoscale`, on an inventory that carries out what fits.
 */
#include "tests/replay/xenna.h"

#include "sched/scaling/saturation.h"

#include <math.h>
#include <string.h>

struct replay {
    struct replay_xenna *xenna;
    struct weir_saturation *rules;
    json_t *stages; /* as an autoscale document has them: with the workers of now; owned */
    json_int_t next_id;
};

static struct weir_saturation_config read_config(const json_t *json)
{
    struct weir_saturation_config config = weir_saturation_config_default();

    config.headroom = decide_number_or(json, "capacity_headroom", config.headroom);
    config.window_s = decide_number_or(json, "speed_estimation_window_s", config.window_s);
    config.least_tasks = replay_count_or(json, "min_data_points", config.least_tasks);
    config.most_kept = replay_count_or(json, "averaging_samples", config.most_kept);
    config.alpha_up = decide_number_or(json, "speed_alpha_up", config.alpha_up);
    config.alpha_down = decide_number_or(json, "speed_alpha_down", config.alpha_down);
    config.stale_multiple = decide_number_or(json, "speed_stale_multiple", config.stale_multiple);
    config.stale_growth = replay_count_or(json, "speed_stale_growth_step", config.stale_growth);
    config.least_task_s = decide_number_or(json, "min_task_duration", config.least_task_s);
    config.warmup_growth =
        replay_count_or(json, "pipeline_warmup_growth_step", config.warmup_growth);
    config.release_cycles =
        replay_count_or(json, "scale_down_release_cycles", config.release_cycles);
    config.release_slowdown =
        decide_number_or(json, "scale_down_release_slowdown", config.release_slowdown);
    config.reclaim_cycles = replay_count_or(json, "reclaim_confirm_cycles", config.reclaim_cycles);
    return config;
}

static json_t *workers_of(const struct replay *replay, size_t stage)
{
    return json_object_get(json_array_get(replay->stages, stage), "workers");
}

static double number_at(const json_t *cycle, const char *key, size_t index)
{
    return json_number_value(json_array_get(json_object_get(cycle, key), index));
}

/* ---- before the pass ---- */

static weir_status feed_stage(struct replay *replay, const json_t *cycle, uint32_t i)
{
    const json_t *const tasks = json_array_get(json_object_get(cycle, "measurements"), i);

    for (size_t k = 0; k < json_array_size(tasks); k++) {
        const json_t *const task = json_array_get(tasks, k);
        WEIR_TRY(weir_saturation_task(replay->rules, i, json_number_value(json_array_get(task, 0)),
                                      json_number_value(json_array_get(task, 1)),
                                      json_number_value(json_array_get(task, 2))));
    }
    return WEIR_OK;
}

static weir_status observe(struct replay *replay, const json_t *cycle, double now_s)
{
    for (uint32_t i = 0; i < replay->rules->count; i++) {
        const json_t *const stage = json_array_get(replay->stages, i);
        struct weir_saturation_pool *const at = &replay->rules->pools[i];
        at->workers = (double)json_array_size(workers_of(replay, i));
        at->queue_items = number_at(cycle, "queue_depths", i);
        at->pool_tasks = number_at(cycle, "pool_queued", i);
        at->inflight = number_at(cycle, "inflight", i);
        at->batch = decide_number_or(stage, "batch", 1);
        at->is_manual = json_is_number(json_object_get(stage, "requested"));
        WEIR_TRY(feed_stage(replay, cycle, i));
    }
    weir_saturation_observe(replay->rules, now_s);
    return WEIR_OK;
}

/* ---- the pass ---- */

/* With manual stages at their present counts when `held`. */
static json_t *pass_document(const struct replay *replay, bool held)
{
    json_t *const stages = json_array();

    for (uint32_t i = 0; i < replay->rules->count; i++) {
        const struct weir_saturation_pool *const at = &replay->rules->pools[i];
        json_t *const stage = json_copy(json_array_get(replay->stages, i));
        json_object_set_new(stage, "speed", json_real(at->solver_speed_per_s));
        json_object_set_new(stage, "returns",
                            isnan(at->returns) ? json_null() : json_real(at->returns));
        if (held && at->is_manual != 0)
            json_object_set_new(stage, "requested", json_integer((json_int_t)at->workers));
        json_array_append_new(stages, stage);
    }
    return json_pack("{s:s, s:O, s:o, s:f, s:I}", "op", "autoscale", "cluster",
                     json_object_get(replay->xenna->input, "cluster"), "stages", stages,
                     "overallocation_target", 1.0, "id_start", replay->next_id);
}

static weir_status run_pass(const struct replay *replay, json_t **plan, struct weir_error *error)
{
    bool has_manual = false;

    for (uint32_t i = 0; i < replay->rules->count; i++)
        has_manual = has_manual || replay->rules->pools[i].is_manual != 0;
    for (uint32_t attempt = 0; attempt < (has_manual ? 2 : 1); attempt++) {
        json_t *const document = pass_document(replay, attempt > 0);
        json_decref(*plan);
        *plan = NULL;
        const weir_status status = replay_answer(document, plan, error);
        json_decref(document);
        WEIR_TRY(status);
        if (json_object_get(*plan, "error") == NULL)
            break;
    }
    return WEIR_OK;
}

/* ---- after the pass ---- */

static bool fits_all(struct weir_cluster *cluster, const struct replay *replay,
                     const json_t *worker, uint64_t *next)
{
    const json_t *const parts = json_object_get(worker, "resources");
    bool fits = weir_cluster_mark(cluster) == WEIR_OK;

    for (size_t i = 0; fits && i < json_array_size(parts); i++) {
        struct weir_alloc alloc;
        json_t *const plain = replay_xenna_worker(replay->xenna, json_array_get(parts, i));
        fits = decide_alloc(plain, replay->xenna->nodes, &alloc, NULL) == WEIR_OK &&
               weir_cluster_add_worker(cluster, (*next)++, weir_pool_owner(0), &alloc, NULL) ==
                   WEIR_OK;
        json_decref(plain);
    }
    if (fits)
        weir_cluster_release(cluster);
    else
        weir_cluster_rollback(cluster);
    return fits;
}

static weir_status open_inventory(const struct replay *replay, struct weir_cluster **cluster,
                                  struct weir_error *error)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < replay->rules->count; i++) {
        const json_t *const workers = workers_of(replay, i);
        for (size_t k = 0; k < json_array_size(workers); k++) {
            const json_t *const parts = json_object_get(json_array_get(workers, k), "resources");
            for (size_t p = 0; p < json_array_size(parts); p++) {
                json_t *const plain = replay_xenna_worker(replay->xenna, json_array_get(parts, p));
                json_object_set_new(plain, "stage", json_string("stage"));
                json_array_append_new(list, plain);
            }
        }
    }
    const weir_status status = replay_xenna_cluster(replay->xenna, list, cluster, error);
    json_decref(list);
    return status;
}

/* Carries out what the rules left; how many new workers find no room. */
static weir_status carry_out(struct replay *replay, json_t *const *started, json_t *const *stopped,
                             json_int_t *unplaceable, struct weir_error *error)
{
    struct weir_cluster *cluster = NULL;
    uint64_t next = UINT64_C(1) << 40;

    for (uint32_t i = 0; i < replay->rules->count; i++) {
        json_t *const workers = workers_of(replay, i);
        for (size_t k = 0; k < json_array_size(stopped[i]); k++) {
            const uint32_t index =
                decide_find(workers, "id", json_string_value(json_array_get(stopped[i], k)));
            if (index != WEIR_NO_INDEX)
                json_array_remove(workers, index);
        }
    }
    WEIR_TRY(open_inventory(replay, &cluster, error));
    for (uint32_t i = 0; i < replay->rules->count; i++) {
        for (size_t k = 0; k < json_array_size(started[i]); k++) {
            json_t *const worker = json_array_get(started[i], k);
            if (fits_all(cluster, replay, worker, &next))
                json_array_append(workers_of(replay, i), worker);
            else
                (*unplaceable)++;
        }
    }
    weir_cluster_destroy(cluster);
    return WEIR_OK;
}

static json_t *first_of(const json_t *list, size_t count)
{
    json_t *const cut = json_array();

    for (size_t i = 0; i < count && i < json_array_size(list); i++)
        json_array_append(cut, json_array_get(list, i));
    return cut;
}

/* How many of a stage's proposed workers may start; notes the decision. */
static size_t ramp(const struct replay *replay, uint32_t i, size_t proposed, size_t deleted,
                   double now_s, json_t *decisions)
{
    const struct weir_saturation_pool *const at = &replay->rules->pools[i];
    const double after = at->workers + (double)proposed - (double)deleted;
    const char *reason;

    if (at->is_manual != 0 || proposed == 0)
        return proposed;
    const double cap = weir_saturation_cap(replay->rules, i, now_s, &reason);
    const bool cuts = after > cap;
    const double room = cap - (at->workers - (double)deleted);
    const size_t keep = !cuts ? proposed : room > 0 ? (size_t)room : 0;
    json_array_append_new(decisions,
                          json_pack("[I, I, o, o, s]", (json_int_t)at->workers, (json_int_t)after,
                                    isinf(cap) ? json_null() : json_integer((json_int_t)cap),
                                    cuts ? json_integer((json_int_t)keep) : json_null(), reason));
    return keep;
}

static json_t *stage_json(const struct weir_saturation_pool *at)
{
    static const char *const queues[] = { "starved", "balanced", "buffered", "bottleneck" };

    return json_pack(
        "{s:f, s:f, s:f, s:f, s:I, s:I, s:b, s:s, s:f, s:f, s:I, s:b, s:I, s:I}", "speed",
        isnan(at->speed_per_s) ? 0 : at->speed_per_s, "target_speed", at->target_speed, "cap_src",
        at->capacity, "a_ewma", at->arrivals, "w_sustain", (json_int_t)at->sustain, "w_target",
        (json_int_t)at->target, "real", (int)at->is_real, "qstate", queues[at->queue], "multiplier",
        at->multiplier, "solver_speed", at->solver_speed_per_s, "floor", (json_int_t)at->floor,
        "releasing", (int)at->is_releasing, "shrink_streak", (json_int_t)at->shrink_streak,
        "benefit_streak", (json_int_t)at->benefit_streak);
}

static json_t *counts_json(const struct replay *replay)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < replay->rules->count; i++)
        json_array_append_new(list,
                              json_integer((json_int_t)json_array_size(workers_of(replay, i))));
    return list;
}

/* The answer to one cycle before anything is carried out. */
static json_t *cycle_json(const struct replay *replay, double now_s)
{
    const struct weir_saturation *const rules = replay->rules;
    json_t *const stages = json_array();

    for (uint32_t i = 0; i < rules->count; i++)
        json_array_append_new(stages, stage_json(&rules->pools[i]));
    return json_pack("{s:f, s:o, s:[], s:[], s:[], s:i, s:i, s:i, s:f, s:f, s:o, s:[]}", "time",
                     now_s, "workers_before", counts_json(replay), "new", "deleted", "slots",
                     "bottleneck", (int)rules->bottleneck, "candidate", (int)rules->candidate,
                     "streak", (int)rules->streak, "bottleneck_rate", rules->rate,
                     "next_bottleneck_rate", rules->next_rate, "stages", stages, "ramp_decisions");
}

enum { MOST_STAGES = 64 };

/* Ramp, floor and slots of every stage, and what is left of the plan. */
static void trim(struct replay *replay, const json_t *plan, double now_s, json_t *answer,
                 json_t **started, json_t **stopped)
{
    for (uint32_t i = 0; i < replay->rules->count; i++) {
        const json_t *const proposal = json_array_get(json_object_get(plan, "stages"), i);
        const json_t *const news = json_object_get(proposal, "new_workers");
        const json_t *const olds = json_object_get(proposal, "deleted_ids");
        const size_t keep = ramp(replay, i, json_array_size(news), json_array_size(olds), now_s,
                                 json_object_get(answer, "ramp_decisions"));
        started[i] = first_of(news, keep);
        stopped[i] = first_of(olds, weir_saturation_deletions(replay->rules, i, (uint32_t)keep,
                                                              (uint32_t)json_array_size(olds)));
        replay->next_id += (json_int_t)json_array_size(news);
        json_object_set(json_array_get(replay->stages, i), "slots",
                        json_object_get(proposal, "slots"));
        json_array_append(json_object_get(answer, "slots"), json_object_get(proposal, "slots"));
        json_array_append_new(json_object_get(answer, "new"),
                              json_integer((json_int_t)json_array_size(started[i])));
        json_array_append_new(json_object_get(answer, "deleted"),
                              json_integer((json_int_t)json_array_size(stopped[i])));
    }
}

static weir_status run_cycle(struct replay *replay, const json_t *cycle, json_t *cycles,
                             struct weir_error *error)
{
    const double now_s = decide_number_or(cycle, "time", 0);
    json_t *started[MOST_STAGES] = { NULL };
    json_t *stopped[MOST_STAGES] = { NULL };
    json_int_t unplaceable = 0;
    json_t *plan = NULL;

    WEIR_TRY(observe(replay, cycle, now_s));
    weir_status status = run_pass(replay, &plan, error);
    if (status != WEIR_OK)
        return status;
    json_t *const answer = cycle_json(replay, now_s);
    json_array_append_new(cycles, answer);
    if (json_object_get(plan, "error") != NULL) {
        json_object_set(answer, "error", json_object_get(plan, "error"));
    } else {
        trim(replay, plan, now_s, answer, started, stopped);
        status = carry_out(replay, started, stopped, &unplaceable, error);
    }
    json_object_set_new(answer, "workers_after", counts_json(replay));
    json_object_set_new(answer, "unplaceable", json_integer(unplaceable));
    for (uint32_t i = 0; i < MOST_STAGES; i++) {
        json_decref(started[i]);
        json_decref(stopped[i]);
    }
    json_decref(plan);
    return status;
}

/* Stages of the document with room for workers and slots, and what they hold. */
static weir_status read_stages(struct replay *replay, struct weir_error *error)
{
    json_t *list;

    WEIR_TRY(decide_get_array(replay->xenna->input, "stages", &list, error));
    if (json_array_size(list) > MOST_STAGES)
        return weir_fail(error, WEIR_EUNSUPPORTED, "at most %d stages", MOST_STAGES);
    replay->stages = json_deep_copy(list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *const stage = json_array_get(replay->stages, i);
        if (json_object_get(stage, "workers") == NULL)
            json_object_set_new(stage, "workers", json_array());
        if (json_object_get(stage, "slots") == NULL)
            json_object_set_new(stage, "slots", json_integer(2));
    }
    return WEIR_OK;
}

static weir_status read_needs(struct replay *replay, struct weir_error *error)
{
    for (uint32_t i = 0; i < replay->rules->count; i++) {
        struct weir_shape shape = { 0 };
        const char *refusal;
        json_t *json;
        WEIR_TRY(decide_get(json_array_get(replay->stages, i), "shape", &json, error));
        WEIR_TRY(replay_xenna_shape(replay->xenna, json, &shape, &refusal, error));
        if (refusal != NULL)
            return weir_fail(error, WEIR_EINVAL, "stages[%u]: shape: %s", i, refusal);
        replay->rules->pools[i].uses_cpu = shape.cpu_units > 0;
        replay->rules->pools[i].uses_gpu = shape.gpu_units > 0;
    }
    return WEIR_OK;
}

weir_status replay_saturation(struct replay_xenna *xenna, json_t **answer, struct weir_error *error)
{
    struct replay replay = { .xenna = xenna };
    const struct weir_saturation_config config =
        read_config(json_object_get(xenna->input, "config"));
    json_t *const cycles = json_array();
    json_t *list = NULL;

    weir_status status = read_stages(&replay, error);
    if (status == WEIR_OK)
        status = weir_saturation_create(NULL, &config, (uint32_t)json_array_size(replay.stages),
                                        &replay.rules);
    if (status == WEIR_OK)
        status = read_needs(&replay, error);
    if (status == WEIR_OK)
        status = decide_get_array(xenna->input, "cycles", &list, error);
    for (size_t i = 0; status == WEIR_OK && i < json_array_size(list); i++)
        status = run_cycle(&replay, json_array_get(list, i), cycles, error);
    weir_saturation_destroy(replay.rules);
    json_decref(replay.stages);
    if (status == WEIR_OK)
        *answer = json_pack("{s:O}", "cycles", cycles);
    json_decref(cycles);
    return status;
}
