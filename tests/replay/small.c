/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The small questions of version P: place, remove, fragmentation, shape, slots, naive.
 */
#include "tests/replay/xenna.h"

#include "sched/placement/parts/frag_state.h"
#include "sched/placement/parts/scan.h"
#include "sched/scaling/optimum.h"
#include "sched/scaling/slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CANDIDATES = 200 };

/* A question about one inventory, as three commands share it. */
struct question {
    const json_t *input;
    json_t *nodes;
    json_t *stages; /* names, in order of appearance */
    struct weir_cluster *cluster;
    struct replay_mix mix;
};

static weir_status open_question(const json_t *input, struct question *question,
                                 struct weir_error *error)
{
    *question = (struct question){ .input = input, .stages = json_array() };
    weir_status status = decide_get_array(input, "nodes", &question->nodes, error);

    if (status == WEIR_OK)
        status = replay_cluster(input, question->stages, &question->cluster, error);
    if (status == WEIR_OK) {
        status = replay_mix(input, &question->mix, error);
        if (status != WEIR_OK)
            weir_cluster_destroy(question->cluster);
    }
    if (status != WEIR_OK)
        json_decref(question->stages);
    return status;
}

static void close_question(struct question *question)
{
    replay_mix_free(&question->mix);
    weir_cluster_destroy(question->cluster);
    json_decref(question->stages);
}

/* The placement policy of the document. */
static weir_status open_placement(const struct question *question, struct weir_chooser **chooser,
                                  struct weir_error *error)
{
    struct decide_policy policy;

    json_t *const document = replay_document(question->input);
    const struct decide_question asked = { .input = document };
    const weir_status status = decide_policy(&asked, &policy, error);
    json_decref(document);
    const struct weir_params params = { .values = policy.placement_values.all,
                                        .count = policy.placement_values.count };
    const weir_status made =
        status != WEIR_OK ? status
                          : weir_chooser_create(policy.placement, &params, NULL, chooser, error);
    decide_policy_clear(&policy);
    return made;
}

/* ---- place ---- */

struct listing {
    const struct question *question;
    json_t *candidates;
    const char *reused; /* id of the reused worker that is listed, NULL = fresh */
    uint32_t count;
    uint32_t chosen; /* place in the list of the answer's allocation, WEIR_NO_INDEX = not met */
    double bonus;
    const struct weir_alloc *answer;
    const char *answer_reused;
};

static bool same_alloc(const struct weir_alloc *a, const struct weir_alloc *b)
{
    if (a->node != b->node || a->device_count != b->device_count)
        return false;
    for (uint32_t i = 0; i < a->device_count; i++) {
        if (a->devices[i].gpu != b->devices[i].gpu ||
            a->devices[i].nvdec_mask != b->devices[i].nvdec_mask ||
            a->devices[i].nvenc_mask != b->devices[i].nvenc_mask)
            return false;
    }
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool list_candidate(void *state, const struct weir_alloc *alloc)
{
    struct listing *const listing = state;
    const struct question *const question = listing->question;
    const struct weir_mix *const mix = &question->mix.mix;
    const double before = weir_frag_node(question->cluster, alloc->node, mix, WEIR_FRAG_XENNA);
    const double change = weir_frag_change(question->cluster, mix, WEIR_FRAG_XENNA, alloc, 1);
    const double remaining = weir_units_amount(weir_stock_free(question->cluster, alloc->node) -
                                               weir_stock_alloc(alloc));

    if (listing->answer != NULL && listing->chosen == WEIR_NO_INDEX &&
        same_alloc(alloc, listing->answer) && same_text(listing->reused, listing->answer_reused))
        listing->chosen = listing->count;
    if (listing->count++ < MOST_CANDIDATES) {
        json_t *const json = decide_alloc_json(alloc, question->nodes, NULL);
        json_object_set_new(json, "reused",
                            listing->reused ? json_string(listing->reused) : json_null());
        json_object_set_new(json, "frag_before", json_real(before));
        json_object_set_new(json, "frag_after", json_real(before + change));
        json_object_set_new(json, "remaining_total", json_real(remaining));
        json_object_set_new(json, "cost", json_pack("[f, f]", change - listing->bonus, -remaining));
        json_array_append_new(listing->candidates, json);
    }
    return true;
}

/* How many of the listed candidates cost as much as the chosen one. */
static json_int_t count_ties(const struct listing *listing)
{
    const json_t *const chosen =
        json_object_get(json_array_get(listing->candidates, listing->chosen), "cost");
    json_int_t ties = 0;

    for (size_t i = 0; chosen != NULL && i < json_array_size(listing->candidates); i++) {
        const json_t *const cost = json_object_get(json_array_get(listing->candidates, i), "cost");
        bool is_tie = true;
        for (size_t k = 0; k < 2; k++)
            is_tie = is_tie && fabs(json_number_value(json_array_get(cost, k)) -
                                    json_number_value(json_array_get(chosen, k))) < 1e-9;
        ties += is_tie;
    }
    return ties;
}

static void list_reusable(const struct weir_place_query *query, const json_t *names,
                          struct listing *listing)
{
    for (uint32_t i = 0; i < query->reusable_count; i++) {
        if (!weir_cluster_fits(query->cluster, &query->reusable[i].alloc))
            continue;
        listing->reused = decide_name(names, i, "id");
        (void)list_candidate(listing, &query->reusable[i].alloc);
    }
    listing->reused = NULL;
}

/* The answer with every candidate that was open to it. */
static json_t *place_json(const struct question *question, const struct weir_place_query *query,
                          const struct weir_place_answer *answer)
{
    const json_t *const names = json_object_get(question->input, "reusable");
    const bool is_reused = answer != NULL && answer->reused != WEIR_NO_INDEX;
    struct listing listing = {
        .question = question,
        .candidates = json_array(),
        .chosen = WEIR_NO_INDEX,
        .bonus = decide_number_or(question->input, "reuse_bonus", 10),
        .answer = answer == NULL ? NULL : &answer->alloc,
        .answer_reused = is_reused ? decide_name(names, answer->reused, "id") : NULL,
    };

    list_reusable(query, names, &listing);
    for (uint32_t i = 0; i < weir_cluster_node_count(question->cluster); i++) {
        const struct weir_candidate_query node = { .cluster = question->cluster,
                                                   .shape = query->shape,
                                                   .node = i };
        (void)weir_candidates_visit(&node, list_candidate, &listing);
    }
    json_t *const json = json_pack(
        "{s:s, s:b, s:s?, s:o, s:i, s:O}", "status", "ok", "allocated", answer != NULL, "reused",
        listing.answer_reused, "alloc",
        answer != NULL ? decide_alloc_json(&answer->alloc, question->nodes, NULL) : json_null(),
        "num_candidates", (int)listing.count, "candidates", listing.candidates);
    if (listing.chosen != WEIR_NO_INDEX) {
        json_object_set_new(json, "chosen_candidate", json_integer(listing.chosen));
        json_object_set_new(json, "num_tied", json_integer(count_ties(&listing)));
    }
    json_decref(listing.candidates);
    return json;
}

static weir_status read_reusable(const struct question *question, struct weir_worker *workers,
                                 uint32_t *count, struct weir_error *error)
{
    const json_t *const list = json_object_get(question->input, "reusable");

    for (size_t i = 0; i < json_array_size(list); i++) {
        workers[i] = (struct weir_worker){ .id = UINT64_C(1) << 32 | i };
        const weir_status status =
            decide_alloc(json_array_get(list, i), question->nodes, &workers[i].alloc, error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "reusable[%zu]", i);
            return status;
        }
    }
    *count = (uint32_t)json_array_size(list);
    return WEIR_OK;
}

/* Asks the policy; its refusal is an answer. */
static weir_status ask_place(const struct question *question, struct weir_place_query *query,
                             json_t **answer, struct weir_error *error)
{
    struct weir_chooser *chooser = NULL;
    struct weir_place_answer found;

    WEIR_TRY(open_placement(question, &chooser, error));
    const weir_status status = weir_chooser_place(chooser, query, &found, error);
    weir_chooser_destroy(chooser);
    if (status != WEIR_OK && status != WEIR_EBUSY)
        return status;
    *answer = place_json(question, query, status == WEIR_OK ? &found : NULL);
    return WEIR_OK;
}

static weir_status place_on(const struct question *question, json_t **answer,
                            struct weir_error *error)
{
    const json_t *const list = json_object_get(question->input, "reusable");
    struct weir_worker *const reusable = calloc(json_array_size(list) + 1, sizeof *reusable);
    struct weir_shape shape;
    struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                      .cluster = question->cluster,
                                      .mix = &question->mix.mix,
                                      .shape = &shape,
                                      .reusable = reusable };
    json_t *json;

    if (reusable == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = decide_get(question->input, "shape", &json, error);
    if (status == WEIR_OK)
        status = decide_shape(json, &shape, error);
    if (status == WEIR_OK)
        status = read_reusable(question, reusable, &query.reusable_count, error);
    if (status == WEIR_OK)
        status = ask_place(question, &query, answer, error);
    free(reusable);
    return status;
}

static weir_status answer_place(const json_t *input, json_t **answer, struct weir_error *error)
{
    struct question question;

    WEIR_TRY(open_question(input, &question, error));
    const weir_status status = place_on(&question, answer, error);
    close_question(&question);
    return status;
}

/* ---- remove ---- */

/* The ids to choose from: those listed, or all of the stage. */
static weir_status read_candidates(const struct question *question, struct weir_evict_query *query,
                                   uint64_t *ids, struct weir_error *error)
{
    const json_t *const workers = json_object_get(question->input, "workers");
    const json_t *const listed = json_object_get(question->input, "candidates");
    const char *stage = NULL;

    query->candidates = ids;
    if (!json_is_array(listed))
        WEIR_TRY(decide_get_text(question->input, "stage", &stage, error));
    for (size_t i = 0; stage == NULL && i < json_array_size(listed); i++) {
        const uint32_t index = decide_find(workers, "id", decide_name(listed, i, "id"));
        if (index == WEIR_NO_INDEX)
            return weir_fail(error, WEIR_EFORMAT, "candidates[%zu] is no worker", i);
        ids[query->candidate_count++] = index + UINT64_C(1);
    }
    for (size_t i = 0; stage != NULL && i < json_array_size(workers); i++) {
        if (strcmp(decide_name(workers, i, "stage"), stage) == 0)
            ids[query->candidate_count++] = i + 1;
    }
    return WEIR_OK;
}

static json_t *remove_json(const struct question *question, const struct weir_evict_query *query,
                           uint64_t chosen)
{
    const json_t *const workers = json_object_get(question->input, "workers");
    const double before = weir_frag_cluster(question->cluster, query->mix, WEIR_FRAG_XENNA);
    json_t *const list = json_array();
    struct weir_worker worker;

    for (uint32_t i = 0; i < query->candidate_count; i++) {
        if (!weir_cluster_worker(question->cluster, query->candidates[i], &worker))
            continue;
        const double change =
            weir_frag_change(question->cluster, query->mix, WEIR_FRAG_XENNA, &worker.alloc, -1);
        const double stock =
            weir_units_amount(weir_stock_free(question->cluster, worker.alloc.node));
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:f}", "id", decide_name(workers, worker.id - 1, "id"),
                            "frag_after", before + change, "neg_remaining_before", -stock));
    }
    return json_pack("{s:s, s:s, s:f, s:o}", "status", "ok", "worker",
                     decide_name(workers, chosen - 1, "id"), "frag_before", before, "candidates",
                     list);
}

static weir_status remove_from(const struct question *question, json_t **answer,
                               struct weir_error *error)
{
    const size_t most = json_array_size(json_object_get(question->input, "workers")) +
                        json_array_size(json_object_get(question->input, "candidates"));
    uint64_t *const ids = calloc(most + 1, sizeof *ids);
    struct weir_evict_query query = { .size = sizeof(struct weir_evict_query),
                                      .cluster = question->cluster,
                                      .mix = &question->mix.mix };
    struct weir_chooser *chooser = NULL;
    uint64_t chosen = 0;

    if (ids == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = read_candidates(question, &query, ids, error);
    if (status == WEIR_OK && query.candidate_count == 0)
        *answer = json_pack("{s:s, s:s, s:s}", "status", "error", "error_type", "WEIR_ENOTFOUND",
                            "error_message", "the stage has no worker");
    if (status == WEIR_OK && query.candidate_count > 0) {
        status = open_placement(question, &chooser, error);
        if (status == WEIR_OK) {
            status = weir_chooser_evict(chooser, &query, &chosen, error);
            weir_chooser_destroy(chooser);
        }
        if (status == WEIR_OK)
            *answer = remove_json(question, &query, chosen);
    }
    free(ids);
    return status;
}

static weir_status answer_remove(const json_t *input, json_t **answer, struct weir_error *error)
{
    struct question question;

    WEIR_TRY(open_question(input, &question, error));
    const weir_status status = remove_from(&question, answer, error);
    close_question(&question);
    return status;
}

/* ---- fragmentation ---- */

static bool count_only(void *state, const struct weir_alloc *candidate)
{
    (void)state;
    (void)candidate;
    return true;
}

static json_t *node_json(const struct question *question, uint32_t node)
{
    const struct weir_mix *const mix = &question->mix.mix;
    json_t *const values = json_array();
    json_t *const fits = json_array();
    json_t *const counts = json_array();

    for (uint32_t i = 0; i < mix->count; i++) {
        const struct weir_candidate_query query = { .cluster = question->cluster,
                                                    .shape = &mix->shapes[i],
                                                    .node = node };
        const int64_t units =
            weir_frag_units(question->cluster, node, &mix->shapes[i], WEIR_FRAG_XENNA);
        const uint32_t count = weir_candidates_visit(&query, count_only, NULL);
        json_array_append_new(values, json_real(weir_units_amount(units)));
        json_array_append_new(fits, json_boolean(count > 0));
        json_array_append_new(counts, json_integer(count));
    }
    return json_pack(
        "{s:s, s:f, s:o, s:o, s:o, s:f}", "node", decide_name(question->nodes, node, "id"), "F",
        weir_frag_node(question->cluster, node, mix, WEIR_FRAG_XENNA), "per_shape", values,
        "can_allocate", fits, "num_possible_allocations", counts, "remaining_total",
        weir_units_amount(weir_stock_free(question->cluster, node)));
}

static weir_status answer_fragmentation(const json_t *input, json_t **answer,
                                        struct weir_error *error)
{
    struct question question;

    WEIR_TRY(open_question(input, &question, error));
    json_t *const nodes = json_array();
    for (uint32_t i = 0; i < weir_cluster_node_count(question.cluster); i++)
        json_array_append_new(nodes, node_json(&question, i));
    *answer =
        json_pack("{s:s, s:f, s:o, s:o}", "status", "ok", "cluster",
                  weir_frag_cluster(question.cluster, &question.mix.mix, WEIR_FRAG_XENNA), "nodes",
                  nodes, "available", decide_available(question.cluster, question.nodes));
    close_question(&question);
    return WEIR_OK;
}

/* ---- shape, slots, naive ---- */

static json_t *shape_json(const struct weir_shape *shape)
{
    json_t *const json = json_pack("{s:s, s:f}", "type", weir_shape_kind_name(shape->kind), "cpus",
                                   weir_units_amount(shape->cpu_units));

    if (shape->kind == WEIR_SHAPE_FRACTIONAL)
        json_object_set_new(json, "gpus", json_real(weir_units_amount(shape->gpu_units)));
    if (shape->kind == WEIR_SHAPE_WHOLE || shape->kind == WEIR_SHAPE_ENTIRE)
        json_object_set_new(json, "gpus", json_integer(shape->gpu_count));
    if (shape->kind != WEIR_SHAPE_CPU && shape->kind != WEIR_SHAPE_ENTIRE) {
        json_object_set_new(json, "nvdecs", json_integer(shape->nvdecs));
        json_object_set_new(json, "nvencs", json_integer(shape->nvencs));
    }
    return json;
}

static weir_status answer_shape(const json_t *input, json_t **answer, struct weir_error *error)
{
    struct weir_error refused = { .phase = -1, .pool = -1 };
    struct weir_shape shape;
    json_t *json;

    WEIR_TRY(decide_get(input, "resources", &json, error));
    const struct weir_request request = {
        .cpus = decide_number_or(json, "cpus", 0),
        .gpus = decide_number_or(json, "gpus", 0),
        .nvdecs = replay_amount_or(json, "nvdecs", 0),
        .nvencs = replay_amount_or(json, "nvencs", 0),
        .ram_bytes = replay_amount_or(json, "ram_bytes", 0),
        .gpu_mem_bytes = replay_amount_or(json, "gpu_mem_bytes", 0),
        .entire_gpu = decide_flag_or(json, "entire_gpu", false),
        .codec_same_gpu = decide_flag_or(json, "codec_same_gpu", false),
    };
    const weir_status status =
        weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, &refused);
    *answer = status == WEIR_OK
                  ? json_pack("{s:s, s:o, s:b}", "status", "ok", "shape", shape_json(&shape),
                              "shape_validate_passes", weir_shape_check(&shape, NULL) == WEIR_OK)
                  : decide_error_json(status, &refused);
    return WEIR_OK;
}

static weir_status answer_slots(const json_t *input, json_t **answer, struct weir_error *error)
{
    const json_t *const params = json_object_get(input, "params");
    const struct weir_slots_rule rule = {
        .period_s = 1 / decide_number_or(params, "min_scheduling_algorithm_rate_hz", 1),
        .least = replay_count_or(params, "min_slots", 2),
    };
    json_t *workers;
    json_t *slots;
    json_t *speeds;

    WEIR_TRY(decide_get_array(input, "num_workers", &workers, error));
    WEIR_TRY(decide_get_array(input, "current_slots", &slots, error));
    WEIR_TRY(decide_get_array(input, "speeds", &speeds, error));
    const size_t count = json_array_size(workers);
    if (json_array_size(slots) != count || json_array_size(speeds) != count)
        return weir_fail(error, WEIR_EFORMAT,
                         "num_workers, current_slots and speeds must be of one length");
    struct weir_slots_pool *const stages = calloc(count + 1, sizeof *stages);
    if (stages == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const json_t *const speed = json_array_get(speeds, i);
        stages[i] = (struct weir_slots_pool){
            .speed_per_s = json_is_number(speed) ? json_number_value(speed) : (double)NAN,
            .workers = (uint32_t)json_integer_value(json_array_get(workers, i)),
            .slots = (uint32_t)json_integer_value(json_array_get(slots, i)),
        };
    }
    weir_slots_apply(&rule, stages, (uint32_t)count);
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(stages[i].slots));
    *answer = json_pack("{s:s, s:o}", "status", "ok", "slots", list);
    free(stages);
    return WEIR_OK;
}

/* Rate, returns and batch of the stages of `naive`, with the ratio along the pipeline. */
struct naive_stage {
    double rate, returns, batch, ratio;
};

static weir_status read_naive(const json_t *list, struct naive_stage *naive,
                              struct weir_optimum_pool *pool, struct weir_error *error)
{
    double ratio = 1;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const json = json_array_get(list, i);
        struct naive_stage *const stage = &naive[i];
        WEIR_TRY(decide_get_number(json, "rate", &stage->rate, error));
        WEIR_TRY(decide_get_number(json, "returns", &stage->returns, error));
        WEIR_TRY(decide_get_number(json, "batch_size", &stage->batch, error));
        stage->ratio = ratio;
        ratio = ratio * stage->batch / stage->returns;
        pool[i].rate_per_s = stage->rate * stage->ratio * stage->batch;
        pool[i].requested = (int32_t)decide_number_or(json, "requested_workers", -1);
        WEIR_TRY(replay_amounts(json_object_get(json, "pool"), &pool[i].need, error));
    }
    return WEIR_OK;
}

/* Speeds, returns and batch sizes must be positive for every stage, fixed ones included. */
static weir_status check_naive(const struct naive_stage *naive, size_t count,
                               struct weir_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!(naive[i].rate > 0 && naive[i].returns > 0 && naive[i].batch > 0))
            return weir_fail(error, WEIR_EINVAL,
                             "stages[%zu]: rate, returns and batch_size must be > 0", i);
    }
    return WEIR_OK;
}

static json_t *naive_json(const struct naive_stage *naive, const struct weir_optimum_pool *pool,
                          size_t count, const struct weir_optimum_result *result)
{
    json_t *const ratios = json_array();
    json_t *const rates = json_array();
    json_t *const workers = json_array();
    json_t *const autos = json_array();
    double reported = (double)INFINITY;

    for (size_t i = 0; i < count; i++) {
        const double output = naive[i].rate * naive[i].returns * pool[i].workers;
        reported = output < reported ? output : reported;
        json_array_append_new(ratios, json_real(naive[i].ratio));
        json_array_append_new(workers, json_integer(pool[i].workers));
        if (pool[i].requested >= 0)
            continue;
        json_array_append_new(rates, json_real(pool[i].rate_per_s));
        json_array_append_new(autos, json_integer(pool[i].workers));
    }
    json_t *const json = json_pack("{s:o, s:o, s:o, s:f}", "input_samples_per_sample", ratios,
                                   "auto_rates_per_worker", rates, "workers", workers,
                                   "reported_throughput", count > 0 ? reported : 0);
    if (isnan(result->objective)) {
        json_decref(autos);
        return json;
    }
    json_object_set_new(json, "min_auto_throughput", json_real(result->z_per_s));
    json_object_set_new(json, "objective", json_real(result->objective));
    json_object_set_new(json, "closed_form",
                        json_pack("{s:f, s:f, s:o}", "objective", result->objective, "z",
                                  result->z_per_s, "auto_workers", autos));
    return json;
}

static weir_status answer_naive(const json_t *input, json_t **answer, struct weir_error *error)
{
    struct weir_error refused = { .phase = -1, .pool = -1 };
    struct weir_optimum_result result = { 0 };
    struct weir_amounts total;
    json_t *list;
    json_t *cluster;

    WEIR_TRY(decide_get_array(input, "stages", &list, error));
    WEIR_TRY(decide_get(input, "cluster", &cluster, error));
    WEIR_TRY(replay_amounts(cluster, &total, error));
    const size_t count = json_array_size(list);
    struct naive_stage *const naive = calloc(count + 1, sizeof *naive);
    struct weir_optimum_pool *const pool = calloc(count + 1, sizeof *pool);
    weir_status status = WEIR_ENOMEM;
    if (naive != NULL && pool != NULL)
        status = read_naive(list, naive, pool, error);
    if (status == WEIR_OK) {
        weir_status solved = check_naive(naive, count, &refused);
        if (solved == WEIR_OK)
            solved = weir_optimum_solve(pool, (uint32_t)count, &total, &result, &refused);
        *answer = solved == WEIR_OK ? naive_json(naive, pool, count, &result)
                                    : decide_error_json(solved, &refused);
        if (solved == WEIR_OK)
            json_object_set_new(*answer, "status", json_string("ok"));
    }
    free(naive);
    free(pool);
    return status;
}

weir_status replay_answer(const json_t *input, json_t **answer, struct weir_error *error)
{
    static const struct {
        const char *name;
        weir_status (*answer)(const json_t *input, json_t **answer, struct weir_error *error);
    } commands[] = {
        { "autoscale", replay_pass }, { "place", answer_place },
        { "remove", answer_remove },  { "fragmentation", answer_fragmentation },
        { "shape", answer_shape },    { "slots", answer_slots },
        { "naive", answer_naive },
    };
    const char *command;

    if (replay_is_xenna(input))
        return replay_xenna(input, answer, error);
    WEIR_TRY(decide_get_text(input, "command", &command, error));
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, command) == 0)
            return commands[i].answer(input, answer, error);
    }
    return weir_fail(error, WEIR_EFORMAT,
                     "unknown command %s; known are autoscale, place, remove, fragmentation, "
                     "shape, slots and naive",
                     command);
}
