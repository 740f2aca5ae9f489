/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The op `autoscale` of the later versions: turned into an ordinary autoscale document with the
 * version's policies, and its answer turned back.
 *
 * A group of several nodes is several workers in the ordinary document, in a row. New ids count on
 * from id_start, one for a group.
 */
#include "tests/replay/xenna.h"

#include "sched/placement/parts/frag_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Between the id of a group and the number of its member. */
static const char MEMBER_MARK = '\x1f';

struct pass {
    struct replay_xenna *xenna;
    json_t *stages;  /* of the document */
    json_t *workers; /* ordinary ones, ascending by id; owned */
    struct weir_shape *shapes;
    double *frequencies;
    json_t *plain; /* the ordinary answer */
};

/* ---- there ---- */

/* All groups of all stages with their stage, ascending by id; new reference. */
static json_t *all_groups(const json_t *stages)
{
    json_t *const groups = json_array();

    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *const workers = json_object_get(json_array_get(stages, i), "workers");
        for (size_t k = 0; k < json_array_size(workers); k++) {
            json_t *const group = json_copy(json_array_get(workers, k));
            json_object_set_new(group, "stage_index", json_integer((json_int_t)i));
            json_array_append_new(groups, group);
        }
    }
    json_t *const sorted = replay_xenna_sorted(groups);
    json_decref(groups);
    return sorted;
}

static void append_group(struct pass *pass, const json_t *group)
{
    const json_t *const resources = json_object_get(group, "resources");
    const size_t count = json_array_size(resources);
    const char *const id = json_string_value(json_object_get(group, "id"));

    for (size_t i = 0; i < count; i++) {
        json_t *const worker = replay_xenna_worker(pass->xenna, json_array_get(resources, i));
        json_object_set(worker, "stage_index", json_object_get(group, "stage_index"));
        json_object_set_new(worker, "id",
                            count == 1
                                ? json_string(id != NULL ? id : "?")
                                : json_sprintf("%s%c%zu", id != NULL ? id : "?", MEMBER_MARK, i));
        json_array_append_new(pass->workers, worker);
    }
}

static json_t *plain_stage(const struct pass *pass, size_t i)
{
    const json_t *const stage = json_array_get(pass->stages, i);
    const char *const name = json_string_value(json_object_get(stage, "name"));

    return json_pack("{s:s, s:f, s:o, s:f, s:f, s:b}", "name", name != NULL ? name : "?",
                     "batch_size", decide_number_or(stage, "batch", 1), "shape",
                     replay_xenna_plain_shape(&pass->shapes[i]), "requested_workers",
                     decide_number_or(stage, "requested", -1), "over_provision_factor",
                     decide_number_or(stage, "over_provision", 0), "finished",
                     decide_flag_or(stage, "finished", false));
}

static json_t *number_or_null(const json_t *object, const char *key)
{
    json_t *const found = json_object_get(object, key);

    return json_is_number(found) ? json_incref(found) : json_null();
}

/* Nodes as they are without what is used from the start: nobody gives that back. */
static json_t *free_nodes(const struct pass *pass)
{
    json_t *const nodes = json_deep_copy(pass->xenna->nodes);

    for (size_t i = 0; i < json_array_size(nodes); i++) {
        json_t *const node = json_array_get(nodes, i);
        const json_t *const gpus = json_object_get(node, "gpu_list");
        json_object_set_new(
            node, "cpus",
            json_real(decide_number_or(node, "cpus", 0) - decide_number_or(node, "used_cpus", 0)));
        for (size_t g = 0; g < json_array_size(gpus); g++) {
            json_t *const gpu = json_array_get(gpus, g);
            json_object_set_new(gpu, "fraction", json_real(1 - decide_number_or(gpu, "used", 0)));
        }
    }
    return nodes;
}

static json_t *plain_document(const struct pass *pass)
{
    const json_t *const input = pass->xenna->input;
    const bool is_codec = pass->xenna->is_codec;
    json_t *const stages = json_array();
    json_t *const slots = json_array();
    json_t *const estimates = json_array();

    for (size_t i = 0; i < json_array_size(pass->stages); i++) {
        const json_t *const stage = json_array_get(pass->stages, i);
        json_array_append_new(stages, plain_stage(pass, i));
        json_array_append_new(slots, json_integer((json_int_t)decide_number_or(stage, "slots", 2)));
        json_array_append_new(
            estimates, json_pack("{s:o, s:o}", "batches_per_s", number_or_null(stage, "speed"),
                                 "returns_per_batch", number_or_null(stage, "returns")));
    }
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:O, s:{s:s, s:{s:f}, s:s, s:{s:s, s:s, s:f}}}", "command",
        "autoscale", "nodes", free_nodes(pass), "stages", stages, "slots", slots, "estimates",
        estimates, "workers", pass->workers, "policy", "placement", is_codec ? "fgd_c" : "fgd_n",
        "placement_params", "reuse_bonus", decide_number_or(input, "reuse_bonus", 10), "scaling",
        is_codec ? "xenna_c" : "xenna_n", "scaling_params", "on_shortage", "fail", "arithmetic",
        "reference", "overallocation", decide_number_or(input, "overallocation_target", 1.5));
}

/* ---- the mix ---- */

static size_t workers_of(const json_t *stage)
{
    return json_array_size(json_object_get(stage, "workers"));
}

static void count_mix(struct pass *pass)
{
    const size_t count = json_array_size(pass->stages);
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        const json_t *const stage = json_array_get(pass->stages, i);
        const double now = (double)workers_of(stage);
        pass->frequencies[i] =
            pass->xenna->is_codec ? now : decide_number_or(stage, "requested", now);
        sum += pass->frequencies[i];
    }
    for (size_t i = 0; i < count; i++)
        pass->frequencies[i] =
            (double)(sum > 0 ? (float)pass->frequencies[i] / (float)sum : 1.0F / (float)count);
}

static json_t *frequencies_json(const struct pass *pass)
{
    json_t *const list = json_array();

    for (size_t i = 0; i < json_array_size(pass->stages); i++)
        json_array_append_new(list, json_real(pass->frequencies[i]));
    return list;
}

/* ---- back ---- */

/* The number in the name of a new worker of the ordinary answer. */
static uint64_t new_number(const char *name)
{
    return strtoull(name + 1, NULL, 10);
}

static const char *group_of(const json_t *worker)
{
    return json_string_value(json_object_get(worker, "group"));
}

/* Members of groups, their leaders left out, among new workers numbered below `number`. */
static uint64_t followers_below(const json_t *plain_stages, uint64_t number)
{
    uint64_t followers = 0;

    for (size_t i = 0; i < json_array_size(plain_stages); i++) {
        const json_t *const started = json_object_get(json_array_get(plain_stages, i), "new");
        for (size_t k = 0; k < json_array_size(started); k++) {
            const json_t *const worker = json_array_get(started, k);
            const char *const id = decide_name(started, k, "id");
            const char *const group = group_of(worker);
            followers += group != NULL && strcmp(group, id) != 0 && new_number(id) < number;
        }
    }
    return followers;
}

static json_t *new_workers(const struct pass *pass, const json_t *plain_stage_answer)
{
    const json_t *const plain_stages = json_object_get(pass->plain, "stages");
    const json_t *const started = json_object_get(plain_stage_answer, "new");
    const uint64_t start = (uint64_t)decide_number_or(pass->xenna->input, "id_start", 0);
    json_t *const list = json_array();
    json_t *resources = NULL;

    for (size_t i = 0; i < json_array_size(started); i++) {
        const json_t *const worker = json_array_get(started, i);
        const char *const id = decide_name(started, i, "id");
        const char *const group = group_of(worker);
        if (group == NULL || strcmp(group, id) == 0) {
            const uint64_t number = new_number(id);
            resources = json_array();
            json_array_append_new(
                list,
                json_pack("{s:o, s:o}", "id",
                          json_sprintf("%llu",
                                       (unsigned long long)(start + number -
                                                            followers_below(plain_stages, number))),
                          "resources", resources));
        }
        json_array_append_new(resources, replay_xenna_alloc_json(pass->xenna, worker));
    }
    return list;
}

/* The ids of workers that are stopped, one for a group, ascending. */
static json_t *deleted_ids(const json_t *plain_stage_answer)
{
    const json_t *const stopped = json_object_get(plain_stage_answer, "deleted");
    json_t *const entries = json_array();
    json_t *const ids = json_array();

    for (size_t i = 0; i < json_array_size(stopped); i++) {
        const char *const id = json_string_value(json_array_get(stopped, i));
        const char *const mark = strchr(id, MEMBER_MARK);
        if (mark == NULL || strcmp(mark + 1, "0") == 0)
            json_array_append_new(
                entries,
                json_pack("{s:s%}", "id", id, mark == NULL ? strlen(id) : (size_t)(mark - id)));
    }
    json_t *const sorted = replay_xenna_sorted(entries);
    for (size_t i = 0; i < json_array_size(sorted); i++)
        json_array_append(ids, json_object_get(json_array_get(sorted, i), "id"));
    json_decref(sorted);
    json_decref(entries);
    return ids;
}

static json_t *stage_json(const struct pass *pass, size_t i, double samples)
{
    const json_t *const stage = json_array_get(pass->stages, i);
    const json_t *const plain = json_array_get(json_object_get(pass->plain, "stages"), i);
    json_t *const started = new_workers(pass, plain);
    json_t *const deleted = deleted_ids(plain);
    const size_t before = workers_of(stage);
    const size_t news = json_array_size(started);
    const size_t olds = json_array_size(deleted);

    return json_pack(
        "{s:O, s:I, s:I, s:o, s:o, s:[], s:O, s:f, s:O, s:I, s:I}", "name",
        json_object_get(plain, "name"), "new", (json_int_t)news, "deleted", (json_int_t)olds,
        "new_workers", started, "deleted_ids", deleted, "new_and_deleted_ids", "slots",
        json_array_get(json_object_get(pass->plain, "slots"), i), "source_samples_per_sample",
        samples, "throughput_after", json_object_get(plain, "throughput_per_s"), "workers_before",
        (json_int_t)before, "workers_after", (json_int_t)(before + news - olds));
}

/* Items of the source for one item of the next stage. */
static double next_samples(const json_t *stage, double samples)
{
    const double batch = decide_number_or(stage, "batch", 1);
    const double returns = decide_number_or(stage, "returns", 0);

    return batch > 0 ? samples * (returns > 0 ? returns : batch) / batch : samples;
}

static bool is_stopped(const json_t *plain_stages, const json_t *worker)
{
    const size_t stage = (size_t)json_integer_value(json_object_get(worker, "stage_index"));
    const json_t *const stopped = json_object_get(json_array_get(plain_stages, stage), "deleted");

    return decide_find(stopped, "id", json_string_value(json_object_get(worker, "id"))) !=
           WEIR_NO_INDEX;
}

/* Everything that runs afterwards, for an inventory. */
static json_t *workers_after(const struct pass *pass)
{
    const json_t *const plain_stages = json_object_get(pass->plain, "stages");
    json_t *const list = json_array();

    for (size_t i = 0; i < json_array_size(pass->workers); i++) {
        json_t *const worker = json_array_get(pass->workers, i);
        if (!is_stopped(plain_stages, worker))
            json_array_append(list, worker);
    }
    for (size_t i = 0; i < json_array_size(plain_stages); i++)
        json_array_extend(list, json_object_get(json_array_get(plain_stages, i), "new"));
    for (size_t i = 0; i < json_array_size(list); i++)
        json_object_set_new(json_array_get(list, i), "stage", json_string("stage"));
    return list;
}

static weir_status add_cluster(const struct pass *pass, json_t *answer, struct weir_error *error)
{
    const struct weir_mix mix = { .shapes = pass->shapes,
                                  .frequencies = pass->frequencies,
                                  .count = (uint32_t)json_array_size(pass->stages) };
    json_t *const workers = workers_after(pass);
    struct weir_cluster *cluster = NULL;
    float sum = 0;

    const weir_status status = replay_xenna_cluster(pass->xenna, workers, &cluster, error);
    json_decref(workers);
    WEIR_TRY(status);
    for (uint32_t i = 0; i < weir_cluster_node_count(cluster); i++)
        sum += weir_frag_single(cluster, &mix, i, NULL, 0);
    json_object_set_new(answer, "fragmentation_after", json_real((double)sum));
    json_object_set_new(answer, "cluster_after", replay_xenna_cluster_json(pass->xenna, cluster));
    weir_cluster_destroy(cluster);
    return WEIR_OK;
}

static weir_status answer_plan(const struct pass *pass, json_t **answer, struct weir_error *error)
{
    json_t *const stages = json_array();
    double samples = 1;
    double least = (double)INFINITY;

    for (size_t i = 0; i < json_array_size(pass->stages); i++) {
        json_t *const json = stage_json(pass, i, samples);
        const double throughput = decide_number_or(json, "throughput_after", 0);
        const json_t *const stage = json_array_get(pass->stages, i);
        if (!decide_flag_or(stage, "finished", false) && throughput < least)
            least = throughput;
        samples = next_samples(stage, samples);
        json_array_append_new(stages, json);
    }
    *answer = json_pack("{s:o, s:f, s:b, s:o}", "stages", stages, "min_throughput_after",
                        isinf(least) ? 0 : least, "new_and_deleted_overlap", 0,
                        "workload_frequencies", frequencies_json(pass));
    return add_cluster(pass, *answer, error);
}

/* What the reference ends a pass with: a count that cannot be met, or no first worker. */
static json_t *refusal_json(const struct pass *pass)
{
    const char *const type = json_string_value(json_object_get(pass->plain, "error_type"));
    const char *const stage = json_string_value(json_object_get(pass->plain, "error_stage"));
    const char *const text = json_string_value(json_object_get(pass->plain, "error_message"));
    const bool is_manual = type != NULL && strcmp(type, "WEIR_EMANUAL") == 0;

    return json_pack("{s:o, s:o}", "error",
                     json_sprintf("%s for stage %s: %s",
                                  is_manual ? "Unable to allocate requested workers"
                                            : "Unable to allocate minimum worker",
                                  stage != NULL ? stage : "?", text != NULL ? text : "?"),
                     "workload_frequencies", frequencies_json(pass));
}

static weir_status run_pass(struct pass *pass, json_t **answer, struct weir_error *error)
{
    json_t *const document = plain_document(pass);
    struct weir_error refused = { .phase = -1, .pool = -1 };
    const struct decide_question question = { .input = document };
    const weir_status status = decide_answer(&question, &pass->plain, &refused);

    json_decref(document);
    /* Workers that cannot all be where the document has them: the reference aborts. */
    if (status == WEIR_EOVERCOMMIT || status == WEIR_EDUPLICATE || status == WEIR_ENOTFOUND) {
        *answer = json_pack("{s:s, s:o}", "panic", refused.text, "workload_frequencies",
                            frequencies_json(pass));
        return WEIR_OK;
    }
    if (status != WEIR_OK)
        return weir_fail(error, status, "%s", refused.text);
    if (json_object_get(pass->plain, "error_type") == NULL)
        return answer_plan(pass, answer, error);
    *answer = refusal_json(pass);
    return WEIR_OK;
}

static weir_status read_shapes(struct pass *pass, const char **refusal, struct weir_error *error)
{
    for (size_t i = 0; i < json_array_size(pass->stages); i++) {
        json_t *shape;
        WEIR_TRY(decide_get(json_array_get(pass->stages, i), "shape", &shape, error));
        WEIR_TRY(replay_xenna_shape(pass->xenna, shape, &pass->shapes[i], refusal, error));
        if (*refusal != NULL)
            return WEIR_OK;
    }
    return WEIR_OK;
}

static weir_status with_shapes(struct pass *pass, json_t **answer, struct weir_error *error)
{
    const char *refusal = NULL;

    WEIR_TRY(read_shapes(pass, &refusal, error));
    if (refusal != NULL) {
        *answer = json_pack("{s:s}", "error", refusal);
        return WEIR_OK;
    }
    json_t *const groups = all_groups(pass->stages);
    for (size_t i = 0; i < json_array_size(groups); i++)
        append_group(pass, json_array_get(groups, i));
    json_decref(groups);
    count_mix(pass);
    return run_pass(pass, answer, error);
}

weir_status replay_xenna_autoscale(struct replay_xenna *xenna, json_t **answer,
                                   struct weir_error *error)
{
    struct pass pass = { .xenna = xenna, .workers = json_array() };
    weir_status status = decide_get_array(xenna->input, "stages", &pass.stages, error);
    const size_t count = json_array_size(pass.stages);

    pass.shapes = calloc(count + 1, sizeof *pass.shapes);
    pass.frequencies = calloc(count + 1, sizeof *pass.frequencies);
    if (status == WEIR_OK && (pass.shapes == NULL || pass.frequencies == NULL))
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (status == WEIR_OK)
        status = with_shapes(&pass, answer, error);
    json_decref(pass.plain);
    json_decref(pass.workers);
    free(pass.shapes);
    free(pass.frequencies);
    return status;
}
