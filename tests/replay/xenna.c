/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The small questions of the later versions: shape, frag, place, delete, allocator, slots,
 * estimate.
 */
#include "tests/replay/xenna.h"

#include "sched/placement/fgd.h"
#include "sched/placement/parts/scan.h"
#include "sched/scaling/slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shape ---- */

static weir_status answer_shape(struct replay_xenna *xenna, json_t **answer,
                                struct weir_error *error)
{
    struct weir_shape shape;
    const char *refusal;
    json_t *json;

    WEIR_TRY(decide_get(xenna->input, "shape", &json, error));
    WEIR_TRY(replay_xenna_shape(xenna, json, &shape, &refusal, error));
    if (refusal != NULL) {
        *answer = json_pack("{s:s}", "error", refusal);
        return WEIR_OK;
    }
    const struct weir_amounts pool = weir_shape_amounts(&shape, 0, 0);
    *answer = json_pack("{s:o}", "shape", replay_xenna_shape_json(xenna, &shape));
    if (!xenna->is_codec) {
        json_object_set_new(*answer, "most_common_gpus_per_node", json_integer(xenna->usual_gpus));
        json_object_set_new(*answer, "pool",
                            json_pack("{s:f, s:f}", "cpus", weir_units_amount(pool.cpu_units),
                                      "gpus", weir_units_amount(pool.gpu_units)));
    }
    return WEIR_OK;
}

/* ---- questions about one inventory ---- */

struct question {
    struct replay_xenna *xenna;
    struct weir_cluster *cluster;
    struct replay_mix mix;
    json_t *workers; /* of the question, ascending by id: ids 1, 2, ... */
    const struct weir_placement_ops *ops;
    struct weir_chooser *chooser;
    struct weir_fgd_rules rules;
};

static weir_status read_mix(struct question *question, struct weir_error *error)
{
    const json_t *const list = json_object_get(question->xenna->input, "workload");
    const size_t count = json_array_size(list);
    struct replay_mix *const mix = &question->mix;

    mix->shapes = calloc(count + 1, sizeof *mix->shapes);
    mix->frequencies = calloc(count + 1, sizeof *mix->frequencies);
    if (mix->shapes == NULL || mix->frequencies == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const json_t *const entry = json_array_get(list, i);
        const char *refusal;
        json_t *shape;
        WEIR_TRY(decide_get_number(entry, "freq", &mix->frequencies[i], error));
        WEIR_TRY(decide_get(entry, "shape", &shape, error));
        WEIR_TRY(replay_xenna_shape(question->xenna, shape, &mix->shapes[i], &refusal, error));
        if (refusal != NULL)
            return weir_fail(error, WEIR_EINVAL, "workload[%zu]: shape: %s", i, refusal);
    }
    mix->mix = (struct weir_mix){ .shapes = mix->shapes,
                                  .frequencies = mix->frequencies,
                                  .count = (uint32_t)count };
    return WEIR_OK;
}

/* The placement policy of the version with the document's bonus. */
static weir_status open_policy(struct question *question, struct weir_error *error)
{
    double values[WEIR_FGD_PARAM_COUNT];
    const struct weir_params params = { .values = values, .count = WEIR_FGD_PARAM_COUNT };

    question->ops = weir_placement_find(question->xenna->is_codec ? "fgd_c" : "fgd_n");
    for (uint32_t i = 0; i < WEIR_FGD_PARAM_COUNT; i++)
        values[i] = question->ops->params[i].initial;
    values[WEIR_FGD_PARAM_BONUS] =
        decide_number_or(question->xenna->input, "reuse_bonus", values[WEIR_FGD_PARAM_BONUS]);
    question->rules = weir_fgd_rules_read(&params);
    return weir_chooser_create(question->ops, &params, NULL, &question->chooser, error);
}

/* The workers of the question as ordinary ones; what is placed already is nobody's. */
static json_t *plain_workers(const struct question *question)
{
    const json_t *const placed = json_object_get(question->xenna->input, "placed");
    json_t *const list = json_array();

    for (size_t i = 0; i < json_array_size(question->workers); i++) {
        json_t *const worker =
            replay_xenna_worker(question->xenna, json_array_get(question->workers, i));
        json_object_set_new(worker, "stage", json_string("stage"));
        json_array_append_new(list, worker);
    }
    for (size_t i = 0; i < json_array_size(placed); i++) {
        json_t *const worker = replay_xenna_worker(question->xenna, json_array_get(placed, i));
        json_object_set_new(worker, "stage", json_string(""));
        json_array_append_new(list, worker);
    }
    return list;
}

static void close_question(struct question *question)
{
    weir_chooser_destroy(question->chooser);
    replay_mix_free(&question->mix);
    weir_cluster_destroy(question->cluster);
    json_decref(question->workers);
}

static weir_status open_question(struct question *question, struct replay_xenna *xenna,
                                 struct weir_error *error)
{
    *question = (struct question){
        .xenna = xenna,
        .workers = replay_xenna_sorted(json_object_get(xenna->input, "workers")),
    };
    json_t *const workers = plain_workers(question);
    weir_status status = replay_xenna_cluster(xenna, workers, &question->cluster, error);
    json_decref(workers);
    if (status == WEIR_OK)
        status = read_mix(question, error);
    if (status == WEIR_OK)
        status = open_policy(question, error);
    if (status != WEIR_OK)
        close_question(question);
    return status;
}

/* ---- frag ---- */

static json_t *node_json(const struct question *question, uint32_t node)
{
    const struct weir_mix *const mix = &question->mix.mix;
    json_t *const unusable = json_array();
    json_t *const fits = json_array();

    for (uint32_t i = 0; i < mix->count; i++) {
        const struct weir_shape *const shape = &mix->shapes[i];
        const uint32_t reason = weir_candidates_reason(question->cluster, shape, node);
        const int64_t units = weir_frag_units(question->cluster, node, shape, WEIR_FRAG_XENNA);
        json_array_append_new(unusable, json_real((double)(float)weir_units_amount(units)));
        json_array_append_new(fits, json_boolean(reason == WEIR_REASON_NONE));
    }
    return json_pack("{s:s, s:f, s:o, s:o}", "node",
                     decide_name(question->xenna->nodes, node, "id"), "fragmentation",
                     (double)weir_frag_single(question->cluster, mix, node, NULL, 0),
                     "unusable_gpus_by_shape", unusable, "can_allocate", fits);
}

static weir_status answer_frag(struct replay_xenna *xenna, json_t **answer,
                               struct weir_error *error)
{
    struct question question;
    float sum = 0;

    WEIR_TRY(open_question(&question, xenna, error));
    json_t *const nodes = json_array();
    for (uint32_t i = 0; i < weir_cluster_node_count(question.cluster); i++) {
        sum += weir_frag_single(question.cluster, &question.mix.mix, i, NULL, 0);
        json_array_append_new(nodes, node_json(&question, i));
    }
    *answer = json_pack("{s:f, s:o}", "cluster_fragmentation", (double)sum, "nodes", nodes);
    close_question(&question);
    return WEIR_OK;
}

/* ---- place ---- */

struct listing {
    const struct question *question;
    const struct weir_place_query *query;
    json_t *candidates;
    json_t *best; /* indices of the candidates with the least key */
    struct weir_score least;
    const char *reused; /* id of the worker that is weighed, NULL = fresh */
};

/* Whether the two scores are the same floats: 0 as long as one is less. */
static int compare_scores(struct weir_score a, struct weir_score b)
{
    if (a.primary < b.primary || a.primary > b.primary)
        return a.primary < b.primary ? -1 : 1;
    return a.secondary < b.secondary ? -1 : a.secondary > b.secondary;
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}

static json_t *alloc_json(const struct question *question, const struct weir_alloc *alloc)
{
    json_t *const plain = decide_alloc_json(alloc, question->xenna->nodes, NULL);
    json_t *const json = replay_xenna_alloc_json(question->xenna, plain);

    json_decref(plain);
    return json;
}

static void weigh(struct listing *listing, const struct weir_alloc *alloc)
{
    const struct question *const question = listing->question;
    const struct weir_mix *const mix = &question->mix.mix;
    const struct weir_score score =
        weir_fgd_single_score(&question->rules, listing->query, alloc, listing->reused != NULL);
    const size_t index = json_array_size(listing->candidates);

    if (isnan(score.primary))
        return;
    const int order = index == 0 ? -1 : compare_scores(score, listing->least);
    if (order < 0) {
        listing->least = score;
        json_array_clear(listing->best);
    }
    if (order <= 0)
        json_array_append_new(listing->best, json_integer((json_int_t)index));
    json_t *const json =
        json_pack("{s:f, s:o, s:f, s:f, s:f}", "after",
                  (double)weir_frag_single(question->cluster, mix, alloc->node, alloc, 1), "alloc",
                  alloc_json(question, alloc), "before",
                  (double)weir_frag_single(question->cluster, mix, alloc->node, NULL, 0), "primary",
                  score.primary, "secondary", score.secondary);
    if (!question->xenna->is_codec)
        json_object_set_new(json, "reuse", text_or_null(listing->reused));
    json_array_append_new(listing->candidates, json);
}

static bool weigh_fresh(void *state, const struct weir_alloc *alloc)
{
    struct listing *const listing = state;

    weigh(listing, alloc);
    return !(listing->question->rules.whole == WEIR_FGD_FIRST_FREE &&
             listing->query->shape->kind == WEIR_SHAPE_WHOLE);
}

static json_t *place_json(const struct question *question, const struct weir_place_query *query,
                          const struct weir_place_answer *found, const json_t *reusable)
{
    struct listing listing = {
        .question = question, .query = query, .candidates = json_array(), .best = json_array()
    };
    const bool is_reused = found != NULL && found->reused != WEIR_NO_INDEX;

    for (uint32_t i = 0; i < query->reusable_count; i++) {
        listing.reused = decide_name(reusable, i, "id");
        if (weir_cluster_fits(query->cluster, &query->reusable[i].alloc))
            weigh(&listing, &query->reusable[i].alloc);
    }
    listing.reused = NULL;
    for (uint32_t i = 0; i < weir_cluster_node_count(question->cluster); i++) {
        const struct weir_candidate_query node = { .cluster = question->cluster,
                                                   .shape = query->shape,
                                                   .node = i };
        (void)weir_candidates_visit(&node, weigh_fresh, &listing);
    }
    json_t *const json = json_pack(
        "{s:o, s:b, s:o, s:i, s:o, s:o}", "argmin_set", listing.best, "did_allocate", found != NULL,
        "resources", found != NULL ? alloc_json(question, &found->alloc) : json_null(),
        "num_candidates", (int)json_array_size(listing.candidates), "candidates",
        listing.candidates, "shape", replay_xenna_shape_json(question->xenna, query->shape));
    if (!question->xenna->is_codec)
        json_object_set_new(
            json, "reused_worker_id",
            text_or_null(is_reused ? decide_name(reusable, found->reused, "id") : NULL));
    return json;
}

/* A group takes the first nodes that can, without a score. */
static json_t *group_json(const struct question *question, const struct weir_shape *shape)
{
    json_t *const members = json_array();
    struct weir_alloc alloc;

    for (uint32_t i = 0; i < weir_cluster_node_count(question->cluster) &&
                         json_array_size(members) < weir_shape_members(shape);
         i++) {
        if (weir_place_first(question->cluster, i, shape, &alloc) == WEIR_OK)
            json_array_append_new(members, alloc_json(question, &alloc));
    }
    const bool is_placed = json_array_size(members) == weir_shape_members(shape);
    json_t *const json =
        json_pack("{s:[], s:b, s:O, s:n, s:[], s:o}", "argmin_set", "did_allocate", is_placed,
                  "resources", members, "reused_worker_id", "candidates", "shape",
                  replay_xenna_shape_json(question->xenna, shape));
    if (!is_placed)
        json_object_set_new(json, "resources", json_null());
    json_decref(members);
    return json;
}

static weir_status read_reusable(const struct question *question, const json_t *list,
                                 struct weir_worker *workers, struct weir_error *error)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *const plain = replay_xenna_worker(question->xenna, json_array_get(list, i));
        workers[i] = (struct weir_worker){ .id = UINT64_C(1) << 32 | i };
        const weir_status status =
            decide_alloc(plain, question->xenna->nodes, &workers[i].alloc, error);
        json_decref(plain);
        WEIR_TRY(status);
    }
    return WEIR_OK;
}

static weir_status ask_place(const struct question *question, const struct weir_shape *shape,
                             json_t **answer, struct weir_error *error)
{
    json_t *const sorted = replay_xenna_sorted(json_object_get(question->xenna->input, "reusable"));
    const size_t count = json_array_size(sorted);
    struct weir_worker *const workers = calloc(count + 1, sizeof *workers);
    struct weir_place_answer found;
    weir_status status = WEIR_ENOMEM;

    if (workers != NULL)
        status = read_reusable(question, sorted, workers, error);
    if (status == WEIR_OK) {
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = question->cluster,
                                                .mix = &question->mix.mix,
                                                .shape = shape,
                                                .reusable = workers,
                                                .reusable_count = (uint32_t)count };
        status = weir_chooser_place(question->chooser, &query, &found, error);
        const bool is_placed = status == WEIR_OK;
        if (is_placed || status == WEIR_EBUSY) {
            *answer = place_json(question, &query, is_placed ? &found : NULL, sorted);
            status = WEIR_OK;
        }
    }
    free(workers);
    json_decref(sorted);
    return status;
}

static weir_status answer_place(struct replay_xenna *xenna, json_t **answer,
                                struct weir_error *error)
{
    struct question question;
    struct weir_shape shape;
    const char *refusal;
    json_t *json;

    WEIR_TRY(decide_get(xenna->input, "shape", &json, error));
    WEIR_TRY(replay_xenna_shape(xenna, json, &shape, &refusal, error));
    if (refusal != NULL) {
        *answer = json_pack("{s:s}", "error", refusal);
        return WEIR_OK;
    }
    WEIR_TRY(open_question(&question, xenna, error));
    weir_status status = WEIR_OK;
    if (shape.kind == WEIR_SHAPE_SPMD_MULTI)
        *answer = group_json(&question, &shape);
    else
        status = ask_place(&question, &shape, answer, error);
    close_question(&question);
    return status;
}

/* ---- delete ---- */

static json_t *delete_json(const struct question *question, const struct weir_evict_query *query,
                           uint64_t chosen)
{
    json_t *const candidates = json_array();
    json_t *const best = json_array();
    struct weir_score least = { 0 };

    for (size_t i = 0; i < json_array_size(question->workers); i++) {
        const char *const id = decide_name(question->workers, i, "id");
        struct weir_worker worker;
        if (!weir_cluster_worker(question->cluster, i + 1, &worker))
            continue;
        const struct weir_score score =
            weir_fgd_single_victim(&question->rules, query, &worker.alloc);
        const int order = i == 0 ? -1 : compare_scores(score, least);
        if (order < 0) {
            least = score;
            json_array_clear(best);
        }
        if (order <= 0)
            json_array_append_new(best, json_string(id));
        json_array_append_new(candidates, json_pack("{s:s, s:f, s:f}", "id", id, "primary",
                                                    score.primary, "secondary", score.secondary));
    }
    return json_pack("{s:o, s:o, s:s}", "argmin_set", best, "candidates", candidates, "delete",
                     decide_name(question->workers, chosen - 1, "id"));
}

static weir_status answer_delete(struct replay_xenna *xenna, json_t **answer,
                                 struct weir_error *error)
{
    struct question question;
    uint64_t chosen = 0;

    WEIR_TRY(open_question(&question, xenna, error));
    const struct weir_evict_query query = { .size = sizeof(struct weir_evict_query),
                                            .cluster = question.cluster,
                                            .mix = &question.mix.mix };
    weir_status status = weir_chooser_evict(question.chooser, &query, &chosen, error);
    if (status == WEIR_OK) {
        *answer = delete_json(&question, &query, chosen);
    } else if (status == WEIR_ENOTFOUND) {
        *answer = json_pack("{s:[], s:[], s:n}", "argmin_set", "candidates", "delete");
        status = WEIR_OK;
    }
    close_question(&question);
    return status;
}

/* ---- slots, estimate ---- */

static weir_status answer_slots(struct replay_xenna *xenna, json_t **answer,
                                struct weir_error *error)
{
    json_t *const input = replay_copy(xenna->input);

    json_object_del(input, "op");
    json_object_set_new(input, "command", json_string("slots"));
    json_object_set_new(input, "params",
                        json_pack("{s:f, s:f}", "min_scheduling_algorithm_rate_hz",
                                  decide_number_or(input, "rate_hz", 1), "min_slots",
                                  decide_number_or(input, "min_slots", 2)));
    const weir_status status = replay_answer(input, answer, error);
    json_decref(input);
    return status;
}

static json_t *number_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

/* A task is [start, end, returns] or {start, end | duration, returns}. */
static weir_status feed_task(struct weir_estimator *estimator, const json_t *task)
{
    const bool is_list = json_is_array(task);
    const double start_s =
        is_list ? json_number_value(json_array_get(task, 0)) : decide_number_or(task, "start", 0);
    const double length_s = decide_number_or(task, "duration", 0);
    const double end_s = is_list ? json_number_value(json_array_get(task, 1))
                                 : decide_number_or(task, "end", start_s + length_s);
    const struct weir_measurement measurement = {
        .size = sizeof measurement,
        .start_ns = llround(start_s * 1e9),
        .end_ns = llround(end_s * 1e9),
        .returns = is_list ? (uint32_t)json_number_value(json_array_get(task, 2))
                           : replay_count_or(task, "returns", 0),
    };
    return weir_estimator_add(estimator, &measurement);
}

/* Tasks of a step: a list a stage, or one list whose entries name their stage. */
static weir_status feed_step(struct weir_estimator **estimators, size_t count, const json_t *tasks)
{
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const json_t *const entry = json_array_get(tasks, i);
        const bool is_stage_list =
            json_is_array(entry) && !json_is_number(json_array_get(entry, 0));
        const size_t stage = is_stage_list ? i : (size_t)decide_number_or(entry, "stage", 0);
        if (stage >= count)
            return WEIR_EINVAL;
        if (!is_stage_list)
            WEIR_TRY(feed_task(estimators[stage], entry));
        for (size_t k = 0; is_stage_list && k < json_array_size(entry); k++)
            WEIR_TRY(feed_task(estimators[stage], json_array_get(entry, k)));
    }
    return WEIR_OK;
}

static json_t *query_json(struct weir_estimator **estimators, size_t count, double time_s)
{
    json_t *const speeds = json_array();
    json_t *const returns = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct weir_estimate estimate =
            weir_estimator_query(estimators[i], llround(time_s * 1e9));
        json_array_append_new(speeds, number_or_null(estimate.batches_per_s));
        json_array_append_new(returns, number_or_null(estimate.returns_per_batch));
    }
    return json_pack("{s:f, s:o, s:o}", "time", time_s, "speeds", speeds, "returns", returns);
}

static weir_status run_steps(const json_t *steps, struct weir_estimator **estimators, size_t count,
                             json_t *queries)
{
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *const step = json_array_get(steps, i);
        WEIR_TRY(feed_step(estimators, count, json_object_get(step, "tasks")));
        if (json_object_get(step, "query") != NULL)
            json_array_append_new(
                queries, query_json(estimators, count, decide_number_or(step, "query", 0)));
    }
    return WEIR_OK;
}

static weir_status answer_estimate(struct replay_xenna *xenna, json_t **answer,
                                   struct weir_error *error)
{
    const size_t count = (size_t)decide_number_or(xenna->input, "num_stages", 1);
    const struct weir_window window = {
        .window_ns = llround(decide_number_or(xenna->input, "window_s", 180) * 1e9),
        .min_points = replay_count_or(xenna->input, "min_events", 5),
    };
    struct weir_estimator **const estimators = calloc(count + 1, sizeof(struct weir_estimator *));
    json_t *const queries = json_array();
    weir_status status = estimators != NULL ? WEIR_OK : WEIR_ENOMEM;

    for (size_t i = 0; status == WEIR_OK && i < count; i++)
        status = weir_estimator_create(NULL, window, &estimators[i]);
    if (status == WEIR_OK)
        status = run_steps(json_object_get(xenna->input, "steps"), estimators, count, queries);
    for (size_t i = 0; estimators != NULL && i < count; i++)
        weir_estimator_destroy(estimators[i]);
    free(estimators);
    if (status != WEIR_OK) {
        json_decref(queries);
        return weir_fail(error, status, "steps: a task is not valid");
    }
    *answer = json_pack("{s:o}", "queries", queries);
    return WEIR_OK;
}

/* ---- dispatch ---- */

static weir_status answer_one(const json_t *input, json_t **answer, struct weir_error *error)
{
    static const struct {
        const char *name;
        weir_status (*answer)(struct replay_xenna *xenna, json_t **answer,
                              struct weir_error *error);
    } ops[] = {
        { "shape", answer_shape },
        { "frag", answer_frag },
        { "place", answer_place },
        { "delete", answer_delete },
        { "slots", answer_slots },
        { "estimate", answer_estimate },
        { "allocator", replay_allocator },
        { "autoscale", replay_xenna_autoscale },
        { "saturation_aware", replay_saturation },
    };
    struct replay_xenna xenna;
    const char *op;

    WEIR_TRY(decide_get_text(input, "op", &op, error));
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (strcmp(ops[i].name, op) != 0)
            continue;
        WEIR_TRY(replay_xenna_open(&xenna, input, error));
        const weir_status status = ops[i].answer(&xenna, answer, error);
        replay_xenna_close(&xenna);
        return status;
    }
    return weir_fail(
        error, WEIR_EFORMAT,
        "unknown op %s; known are shape, frag, place, delete, slots, estimate, allocator, "
        "autoscale and saturation_aware",
        op);
}

weir_status replay_xenna(const json_t *input, json_t **answer, struct weir_error *error)
{
    if (!json_is_array(input))
        return answer_one(input, answer, error);
    json_t *const answers = json_array();
    for (size_t i = 0; i < json_array_size(input); i++) {
        json_t *one = NULL;
        const weir_status status = answer_one(json_array_get(input, i), &one, error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "[%zu]", i);
            json_decref(answers);
            return status;
        }
        json_array_append_new(answers, one);
    }
    *answer = answers;
    return WEIR_OK;
}
