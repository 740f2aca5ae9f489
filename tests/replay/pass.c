/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command `autoscale` of version P: `weir decide` answers it, and what only known cases speak
 * of (pool optimum, mix, fragmentation under that mix) is added here.
 */
#include "tests/replay/replay.h"

#include "sched/placement/parts/frag_state.h"
#include "sim/scenario/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the question as a document ---- */

/* The counts of phase 0, where a case gives them instead of leaving them to the pool optimum. */
static const json_t *given_counts(const json_t *input)
{
    return json_object_get(input, "naive_workers");
}

static json_t *scaling_params(const json_t *input)
{
    const json_t *const counts = given_counts(input);
    json_t *const params =
        json_pack("{s:s, s:s, s:f}", "on_shortage", "fail", "arithmetic", "reference",
                  "overallocation", decide_number_or(input, "overallocation_target", 1.5));
    char name[32];

    for (size_t i = 0; i < json_array_size(counts); i++) {
        (void)snprintf(name, sizeof name, "workers_%zu", i);
        json_object_set(params, name, json_array_get(counts, i));
    }
    return params;
}

static json_t *policy_json(const json_t *input)
{
    return json_pack("{s:s, s:{s:s, s:s, s:s, s:f, s:s}, s:s, s:o}", "placement", "fgd_xenna",
                     "placement_params", "metric", "xenna", "tie", "most_free",
                     "reuse_bonus_applies", "everyone", "reuse_bonus",
                     decide_number_or(input, "reuse_bonus", 10), "evict_tie", "emptiest", "scaling",
                     given_counts(input) != NULL ? replay_given.name : "xenna", "scaling_params",
                     scaling_params(input));
}

json_t *replay_document(const json_t *input)
{
    json_t *const document = replay_copy(input);

    if (json_object_get(document, "policy") == NULL)
        json_object_set_new(document, "policy", policy_json(input));
    return document;
}

/* ---- the pool ---- */

/* Speeds as version P assumes them. */
static weir_status pool_stage(const json_t *input, size_t i, const struct weir_amounts *total,
                              json_t **pool)
{
    const json_t *const stage = json_array_get(json_object_get(input, "stages"), i);
    const json_t *const estimate = json_array_get(json_object_get(input, "estimates"), i);
    const int64_t gpus = total->gpu_units / WEIR_ONE;
    const double factor = decide_number_or(stage, "over_provision_factor", 0);
    const double batch = decide_number_or(stage, "batch_size", 1);
    const double returns = decide_number_or(estimate, "returns_per_batch", 0);
    double rate = decide_number_or(estimate, "batches_per_s", (double)NAN);
    struct weir_shape shape;

    WEIR_TRY(decide_shape(json_object_get(stage, "shape"), &shape, NULL));
    const struct weir_amounts need = weir_shape_amounts(&shape, gpus > 0 ? total->nvdecs / gpus : 0,
                                                        gpus > 0 ? total->nvencs / gpus : 0);
    if (isnan(rate))
        rate = decide_number_or(stage, "speed_hint", 1);
    else if (factor > 0)
        rate /= factor;
    *pool = json_pack("{s:f, s:f, s:f, s:f, s:{s:f, s:f, s:I, s:I}}", "rate", rate, "returns",
                      returns > 0 ? returns : batch, "batch_size", batch, "requested_workers",
                      decide_number_or(stage, "requested_workers", -1), "pool", "cpus",
                      weir_units_amount(need.cpu_units), "gpus", weir_units_amount(need.gpu_units),
                      "nvdecs", (json_int_t)need.nvdecs, "nvencs", (json_int_t)need.nvencs);
    return WEIR_OK;
}

static json_t *pool_question(const json_t *input, const struct weir_amounts *total)
{
    const size_t count = json_array_size(json_object_get(input, "stages"));
    json_t *const stages = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *pool = NULL;
        if (pool_stage(input, i, total, &pool) == WEIR_OK)
            json_array_append_new(stages, pool);
    }
    return json_pack("{s:s, s:o, s:{s:f, s:f, s:I, s:I}}", "command", "naive", "stages", stages,
                     "cluster", "cpus", weir_units_amount(total->cpu_units), "gpus",
                     weir_units_amount(total->gpu_units), "nvdecs", (json_int_t)total->nvdecs,
                     "nvencs", (json_int_t)total->nvencs);
}

/* The pool optimum as the command `naive` answers it; NULL when there is none. */
static json_t *pool_optimum(const json_t *input, const struct weir_cluster *cluster)
{
    const struct weir_amounts total = weir_cluster_total(cluster);
    json_t *const question = pool_question(input, &total);
    json_t *answer = NULL;
    const bool is_solved = replay_answer(question, &answer, NULL) == WEIR_OK &&
                           json_object_get(answer, "error_type") == NULL;

    json_decref(question);
    if (is_solved) {
        json_object_del(answer, "status");
        return answer;
    }
    json_decref(answer);
    return NULL;
}

/* Shares of the stages in these counts: the mix that fragmentation is measured with. */
static json_t *frequencies_json(const json_t *workers)
{
    json_t *const list = json_array();
    double sum = 0;

    for (size_t i = 0; i < json_array_size(workers); i++)
        sum += json_number_value(json_array_get(workers, i));
    for (size_t i = 0; i < json_array_size(workers); i++)
        json_array_append_new(
            list, json_real(sum > 0 ? json_number_value(json_array_get(workers, i)) / sum
                                    : 1.0 / (double)json_array_size(workers)));
    return list;
}

/* ---- fragmentation ---- */

static weir_status fragmentation(const json_t *input, const struct weir_cluster *cluster,
                                 const json_t *frequencies, double *sum)
{
    const json_t *const stages = json_object_get(input, "stages");
    json_t *const workload = json_array();
    struct replay_mix mix;

    for (size_t i = 0; i < json_array_size(frequencies); i++)
        json_array_append_new(
            workload, json_pack("{s:O, s:O}", "frequency", json_array_get(frequencies, i), "shape",
                                json_object_get(json_array_get(stages, i), "shape")));
    json_t *const document = json_pack("{s:o}", "workload", workload);
    const weir_status status = replay_mix(document, &mix, NULL);
    json_decref(document);
    WEIR_TRY(status);
    *sum = weir_frag_cluster(cluster, &mix.mix, WEIR_FRAG_XENNA);
    replay_mix_free(&mix);
    return WEIR_OK;
}

static bool is_stopped(const json_t *stages, const char *id)
{
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *const stopped = json_object_get(json_array_get(stages, i), "deleted");
        if (decide_find(stopped, "id", id) != WEIR_NO_INDEX)
            return true;
    }
    return false;
}

/* The inventory when every action of the answer has succeeded. */
static weir_status cluster_after(const json_t *input, const json_t *answer,
                                 struct weir_cluster **cluster, struct weir_error *error)
{
    const json_t *const stages = json_object_get(answer, "stages");
    const json_t *const before = json_object_get(input, "workers");
    json_t *const workers = json_array();
    json_t *const names = json_array();

    for (size_t i = 0; i < json_array_size(before); i++) {
        if (!is_stopped(stages, decide_name(before, i, "id")))
            json_array_append(workers, json_array_get(before, i));
    }
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *const started = json_object_get(json_array_get(stages, i), "new");
        for (size_t k = 0; k < json_array_size(started); k++) {
            json_t *const worker = replay_copy(json_array_get(started, k));
            json_object_set(worker, "stage", json_object_get(json_array_get(stages, i), "name"));
            json_array_append_new(workers, worker);
        }
    }
    json_t *const document =
        json_pack("{s:O, s:o}", "nodes", json_object_get(input, "nodes"), "workers", workers);
    const weir_status status = replay_cluster(document, names, cluster, error);
    json_decref(document);
    json_decref(names);
    return status;
}

static weir_status add_fragmentation(const json_t *input, const struct weir_cluster *before,
                                     const json_t *frequencies, json_t *answer,
                                     struct weir_error *error)
{
    struct weir_cluster *after = NULL;
    double sum = 0;

    WEIR_TRY(fragmentation(input, before, frequencies, &sum));
    json_object_set_new(answer, "fragmentation_before", json_real(sum));
    WEIR_TRY(cluster_after(input, answer, &after, error));
    const weir_status status = fragmentation(input, after, frequencies, &sum);
    weir_cluster_destroy(after);
    json_object_set_new(answer, "fragmentation_after", json_real(sum));
    return status;
}

static weir_status add_measures(const json_t *input, const struct weir_cluster *cluster,
                                json_t *answer, struct weir_error *error)
{
    const json_t *const given = given_counts(input);
    json_t *const optimum = pool_optimum(input, cluster);
    json_t *const frequencies =
        frequencies_json(given != NULL ? given : json_object_get(optimum, "workers"));
    weir_status status = WEIR_OK;

    if (json_object_get(answer, "stages") != NULL)
        status = add_fragmentation(input, cluster, frequencies, answer, error);
    json_object_set_new(answer, "workload_frequencies", frequencies);
    if (optimum != NULL)
        json_object_set_new(answer, "naive", optimum);
    return status;
}

weir_status replay_pass(const json_t *input, json_t **answer, struct weir_error *error)
{
    json_t *const document = replay_document(input);
    const struct weir_placement_ops *placements[] = { weir_placement_find("fgd_xenna") };
    const struct weir_scaling_ops *scalings[] = { &replay_given };
    const struct sim_policies policies = {
        .placements = placements, .placements_count = 1, .scalings = scalings, .scalings_count = 1
    };
    const struct decide_question question = { .input = document,
                                              .policies =
                                                  given_counts(input) != NULL ? &policies : NULL };
    json_t *const names = json_array();
    struct weir_cluster *cluster = NULL;

    weir_status status = decide_answer(&question, answer, error);
    if (status == WEIR_OK)
        status = replay_cluster(input, names, &cluster, error);
    if (status == WEIR_OK)
        status = add_measures(input, cluster, *answer, error);
    weir_cluster_destroy(cluster);
    json_decref(names);
    json_decref(document);
    return status;
}
