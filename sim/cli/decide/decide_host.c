/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a document to a host (see decide_host.h). */
#include "sim/cli/decide/decide_host.h"

#include "sim/cli/decide/decide_format.h"
#include "sim/cli/decide/decide_tenants.h"
#include "sim/port/module.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Speeds of a job, at which the host keeps looking. */
struct decide_speeds {
    struct decide_speeds *next;
    struct weir_speedup speedup;
    double numbers[];
};

weir_status decide_take_all(struct decide_host *made, const char *key, decide_take take,
                            struct weir_error *error)
{
    const json_t *const list = json_object_get(made->input, key);

    for (size_t i = 0; i < json_array_size(list); i++) {
        const weir_status status = take(made, json_array_get(list, i), i, error);
        made->changes += status == WEIR_OK;
        if (status == WEIR_OK)
            continue;
        if (error->text[0] == '\0')
            (void)weir_fail(error, status, "%s", weir_status_text(status));
        weir_error_wrap(error, "%s[%zu]", key, i);
        return status;
    }
    return WEIR_OK;
}

/* ---- ids ---- */

/* The host's own id of a node or a worker: its number, or its place in the list. */
static weir_status read_id(const struct decide_host *made, const json_t *json, uint64_t place,
                           uint64_t *id, struct weir_error *error)
{
    *id = place;
    if (!made->is_numbered || decide_word(json_object_get(json, "id"), id))
        return WEIR_OK;
    return weir_fail(error, WEIR_EFORMAT, "id must be a whole number beside next_worker");
}

weir_status decide_node_named(const struct decide_host *made, const json_t *json, const char *key,
                              uint32_t *index, struct weir_error *error)
{
    const char *name = NULL;
    uint64_t id = 0;

    WEIR_TRY(decide_get_text(json, key, &name, error));
    if (!made->is_numbered)
        *index = decide_find(made->nodes, "id", name);
    else
        *index = decide_digits(name, &id)
                     ? weir_cluster_find_node(weir_host_cluster(made->host), id)
                     : WEIR_NO_INDEX;
    if (*index == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EFORMAT, "node %s is not listed", name);
    return WEIR_OK;
}

/* ---- the cluster ---- */

static weir_status take_tables(struct decide_host *made, struct weir_error *error)
{
    const json_t *const list = json_object_get(made->input, "mig_tables");
    struct weir_mig *const items = calloc(json_array_size(list) + 1, sizeof *items);

    made->tables = (struct decide_tables){ items, json_array_size(list) };
    if (items == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < json_array_size(list); i++) {
        WEIR_TRY(decide_within(decide_table(json_array_get(list, i), &items[i], error), error,
                               "mig_tables[%zu]", i));
    }
    return WEIR_OK;
}

static weir_status take_node(struct decide_host *made, const json_t *json, size_t place,
                             struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    const uint32_t flags = (decide_flag_or(json, "up", true) ? WEIR_NODE_UP : 0U) |
                           (decide_flag_or(json, "cordoned", false) ? WEIR_NODE_CORDONED : 0U);
    uint32_t index = 0;

    WEIR_TRY(decide_node(json, &made->tables, gpus, &spec, error));
    WEIR_TRY(read_id(made, json, place, &spec.id, error));
    WEIR_TRY(weir_host_add_node(made->host, &spec, &index, error));
    if (index != place)
        return weir_fail(error, WEIR_EFORMAT, "it is nodes[%u] come again, which was removed",
                         index);
    if (decide_flag_or(json, "removed", false))
        return weir_host_remove_node(made->host, index, made->head.time_ns);
    return flags == WEIR_NODE_UP ? WEIR_OK
                                 : weir_host_set_node(made->host, index, flags, made->head.time_ns);
}

weir_status decide_take_new_node(struct decide_host *made, const json_t *json, size_t place,
                                 struct weir_error *error)
{
    const size_t count = json_array_size(made->nodes);
    const uint32_t known =
        decide_find(made->nodes, "id", json_string_value(json_object_get(json, "id")));
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    uint32_t index = 0;

    (void)place;
    WEIR_TRY(decide_node(json, &made->tables, gpus, &spec, error));
    WEIR_TRY(read_id(made, json, known != WEIR_NO_INDEX ? known : count, &spec.id, error));
    WEIR_TRY(weir_host_add_node(made->host, &spec, &index, error));
    json_t *const kept = json_deep_copy(json);
    return (index < count ? json_array_set_new(made->nodes, index, kept)
                          : json_array_append_new(made->nodes, kept)) == 0
               ? WEIR_OK
               : weir_fail(error, WEIR_ENOMEM, "out of memory");
}

/* Once its workers are there: they may run on a GPU that is ill. */
static weir_status take_health(struct decide_host *made, const json_t *json, size_t place,
                               struct weir_error *error)
{
    const json_t *const gpus = json_object_get(json, "gpu_list");

    (void)error;
    for (uint32_t g = 0; g < json_array_size(gpus); g++)
        if (!decide_flag_or(json_array_get(gpus, g), "healthy", true))
            WEIR_TRY(weir_host_set_gpu_health(made->host, (uint32_t)place, g, false));
    return WEIR_OK;
}

/* ---- stages and workers ---- */

static weir_status take_stage(struct decide_host *made, const json_t *json, size_t place,
                              struct weir_error *error)
{
    const json_t *const slots = json_array_get(json_object_get(made->input, "slots"), place);
    struct decide_stage stage = {
        .spec = { .size = sizeof stage.spec, .slots = 2, .speed_hint_per_s = (double)NAN },
        .update = { .size = sizeof stage.update },
        .requested_workers = -1
    };
    uint32_t index = 0;

    WEIR_TRY(decide_read(json, &decide_stage_keys, &stage, error));
    WEIR_TRY(decide_shape_of(json, &stage.spec.shape, error));
    stage.spec.soft_labels = decide_labels(json, "soft_labels");
    if (json_is_integer(slots))
        stage.spec.slots = (uint32_t)json_integer_value(slots);
    stage.spec.requested_workers = (int32_t)stage.requested_workers;
    stage.update.requested_workers = stage.spec.requested_workers;
    stage.update.slots = stage.spec.slots;
    WEIR_TRY(weir_host_add_pool(made->host, &stage.spec, &index, error));
    if (index != place)
        return weir_fail(error, WEIR_EFORMAT, "it is stages[%u] come again, which was removed",
                         index);
    WEIR_TRY(weir_host_restore_pool(made->host, index, stage.planned));
    return stage.is_removed ? weir_host_remove_pool(made->host, index, error)
                            : weir_host_update_pool(made->host, index, &stage.update);
}

weir_status decide_take_estimate(struct decide_host *made, const json_t *json, size_t place,
                                 struct weir_error *error)
{
    struct weir_estimate estimate = { .batches_per_s = (double)NAN,
                                      .returns_per_batch = (double)NAN };

    if (place >= json_array_size(made->stages))
        return weir_fail(error, WEIR_EFORMAT, "there are %zu stages",
                         json_array_size(made->stages));
    if (decide_flag_or(json_array_get(made->stages, place), "removed", false))
        return WEIR_OK;
    WEIR_TRY(decide_read(json, &decide_estimate_keys, &estimate, error));
    return weir_host_set_estimate(made->host, (uint32_t)place, estimate);
}

/* Whose a worker of the document is. */
static weir_status find_owner(const struct decide_host *made, const json_t *json,
                              const struct decide_worker *worker, struct weir_owner *owner,
                              struct weir_error *error)
{
    const char *name;

    *owner = worker->workload != WEIR_NO_INDEX
                 ? weir_job_owner(worker->workload, (uint64_t)worker->job)
                 : weir_pool_owner(worker->stage);
    if (owner->index != WEIR_NO_INDEX)
        return WEIR_OK;
    WEIR_TRY(decide_get_text(json, "stage", &name, error));
    owner->index = decide_find(made->stages, "name", name);
    if (owner->index == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EFORMAT, "stage %s is not listed", name);
    return WEIR_OK;
}

static weir_status take_worker(struct decide_host *made, const json_t *json, size_t place,
                               struct weir_error *error)
{
    struct decide_worker worker;
    struct weir_owner owner;
    struct weir_alloc alloc;
    uint64_t id = 0;

    WEIR_TRY(decide_worker(json, &worker, &alloc, error));
    WEIR_TRY(find_owner(made, json, &worker, &owner, error));
    WEIR_TRY(decide_node_named(made, json, "node", &alloc.node, error));
    WEIR_TRY(read_id(made, json, place + 1, &id, error));
    WEIR_TRY(weir_host_adopt_worker(made->host, id, owner, &alloc, error));
    return weir_host_set_worker_state(made->host, id, worker.state, worker.since_ns);
}

/* ---- jobs ---- */

static weir_status take_workload(struct decide_host *made, const json_t *json, size_t place,
                                 struct weir_error *error)
{
    struct decide_workload workload = { .queue_limit = -1 };

    WEIR_TRY(decide_read(json, &decide_workload_keys, &workload, error));
    WEIR_TRY(weir_host_add_workload(made->host, workload.name, NULL, error));
    return workload.queue_limit < 0 ? WEIR_OK
                                    : weir_host_set_queue_limit(made->host, (uint32_t)place,
                                                                (uint64_t)workload.queue_limit);
}

static weir_status read_group(const json_t *json, struct weir_rank_group *group,
                              struct weir_error *error)
{
    WEIR_TRY(decide_read(json, &decide_group_keys, group, error));
    if (json_object_get(json, "ranks_min") == NULL)
        group->ranks_min = group->ranks;
    if (json_object_get(json, "ranks_max") == NULL)
        group->ranks_max = group->ranks;
    group->soft_labels = decide_labels(json, "soft_labels");
    return decide_shape_of(json, &group->shape, error);
}

/* The rank groups of a kind; the caller frees them. */
static weir_status read_groups(const json_t *kind, struct weir_rank_group **groups, uint32_t *count,
                               struct weir_error *error)
{
    const json_t *const list = json_object_get(kind, "groups");

    *count = (uint32_t)json_array_size(list);
    *groups = calloc((size_t)*count + 1, sizeof **groups);
    if (*groups == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < *count; i++) {
        const weir_status status = read_group(json_array_get(list, i), &(*groups)[i], error);
        if (status == WEIR_OK)
            continue;
        weir_error_wrap(error, "groups[%u]", i);
        free(*groups);
        *groups = NULL;
        return status;
    }
    return WEIR_OK;
}

/* How many of each its jobs take. */
static weir_status read_licences(const json_t *kind, uint32_t licences[WEIR_MAX_LICENCES],
                                 struct weir_error *error)
{
    const json_t *const list = json_object_get(kind, "licences");

    if (json_array_size(list) > WEIR_MAX_LICENCES)
        return weir_fail(error, WEIR_EFORMAT, "licences: at most %d are possible",
                         WEIR_MAX_LICENCES);
    for (size_t i = 0; i < json_array_size(list); i++)
        licences[i] = (uint32_t)json_integer_value(json_array_get(list, i));
    return WEIR_OK;
}

static weir_status take_kind(struct decide_host *made, const json_t *json, size_t place,
                             struct weir_error *error)
{
    struct weir_kind_past kind = { .size = sizeof kind };
    struct weir_rank_group *groups = NULL;

    (void)place;
    WEIR_TRY(decide_read(json, &decide_kind_keys, &kind, error));
    WEIR_TRY(read_licences(json, kind.licences, error));
    WEIR_TRY(read_groups(json, &groups, &kind.group_count, error));
    kind.groups = groups;
    const weir_status status = weir_host_restore_kind(made->host, &kind, error);
    free(groups);
    return status;
}

static uint32_t read_numbers(const json_t *list, double *numbers)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        numbers[i] = json_number_value(json_array_get(list, i));
    return (uint32_t)json_array_size(list);
}

static weir_status read_speeds(struct decide_host *made, const json_t *json, struct decide_job *job,
                               struct weir_error *error)
{
    const json_t *const throughput = json_object_get(json, "throughput");
    const json_t *const speedup = json_object_get(json, "speedup");
    const size_t count = json_array_size(throughput) + json_array_size(speedup);

    if (count == 0)
        return WEIR_OK;
    struct decide_speeds *const speeds = malloc(sizeof *speeds + count * sizeof(double));
    if (speeds == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    speeds->next = made->speeds;
    made->speeds = speeds;
    job->spec.throughput_count = read_numbers(throughput, speeds->numbers);
    if (job->spec.throughput_count > 0)
        job->spec.throughput = speeds->numbers;
    speeds->speedup = job->speedup;
    speeds->speedup.size = sizeof speeds->speedup;
    speeds->speedup.numbers = speeds->numbers + job->spec.throughput_count;
    speeds->speedup.count = read_numbers(speedup, speeds->numbers + job->spec.throughput_count);
    if (speeds->speedup.count > 0)
        job->spec.speedup = &speeds->speedup;
    return WEIR_OK;
}

/* `is_new`: it comes now; else it is as it was when the document was written. */
static weir_status take_any_job(struct decide_host *made, const json_t *json, bool is_new,
                                struct weir_error *error)
{
    struct decide_job job = { .spec = { .size = sizeof job.spec,
                                        .submit_ns = is_new ? made->head.time_ns : 0,
                                        .queued_ns = WEIR_UNKNOWN_TIME,
                                        .estimate_ns = WEIR_UNKNOWN_TIME,
                                        .deadline_ns = WEIR_UNKNOWN_TIME },
                              .past = { .size = sizeof job.past } };
    struct weir_rank_group *groups = NULL;

    WEIR_TRY(decide_read(json, &decide_job_keys, &job, error));
    if (job.kind >= json_array_size(made->kinds))
        return weir_fail(error, WEIR_EFORMAT, "kind: there are %zu job_kinds",
                         json_array_size(made->kinds));
    const json_t *const kind = json_array_get(made->kinds, job.kind);
    struct weir_kind_past asked = { .strategy = 0 };
    WEIR_TRY(decide_read(kind, &decide_kind_keys, &asked, error));
    WEIR_TRY(read_speeds(made, json, &job, error));
    WEIR_TRY(read_licences(kind, job.spec.licences, error));
    WEIR_TRY(read_groups(kind, &groups, &job.spec.group_count, error));
    job.spec.groups = groups;
    job.spec.strategy = asked.strategy;
    job.spec.id = (uint64_t)job.id;
    job.spec.priority = (int32_t)job.priority;
    if (job.spec.queued_ns == WEIR_UNKNOWN_TIME)
        job.spec.queued_ns = job.spec.submit_ns;
    const weir_status status = is_new
                                   ? weir_host_submit(made->host, &job.spec, error)
                                   : weir_host_restore_job(made->host, &job.spec, &job.past, error);
    free(groups);
    return status;
}

static weir_status take_job(struct decide_host *made, const json_t *json, size_t place,
                            struct weir_error *error)
{
    (void)place;
    return take_any_job(made, json, false, error);
}

weir_status decide_take_submitted(struct decide_host *made, const json_t *json, size_t place,
                                  struct weir_error *error)
{
    (void)place;
    return take_any_job(made, json, true, error);
}

static weir_status take_new_job(struct decide_host *made, const json_t *json, size_t place,
                                struct weir_error *error)
{
    struct decide_job job = { .id = 0 };

    (void)place;
    WEIR_TRY(decide_read(json, &decide_new_job_keys, &job, error));
    if (weir_host_restore_fresh(made->host, job.spec.workload, (uint64_t)job.id) == WEIR_OK)
        return WEIR_OK;
    return weir_fail(error, WEIR_EFORMAT, "id: it is not in jobs");
}

static weir_status take_mix(struct decide_host *made, struct weir_error *error)
{
    const json_t *const list = json_object_get(made->input, "mix");
    const size_t count = json_array_size(list);
    struct weir_shape *const shapes = calloc(count + 1, sizeof *shapes);
    double *const frequencies = calloc(count + 1, sizeof *frequencies);
    weir_status status =
        shapes != NULL && frequencies != NULL ? WEIR_OK : weir_fail(error, WEIR_ENOMEM, "memory");

    for (size_t i = 0; status == WEIR_OK && frequencies != NULL && i < count; i++) {
        frequencies[i] = decide_number_or(json_array_get(list, i), "frequency", 0);
        status = decide_within(decide_shape_of(json_array_get(list, i), &shapes[i], error), error,
                               "mix[%zu]", i);
    }
    const struct weir_mix mix = { .shapes = shapes,
                                  .frequencies = frequencies,
                                  .count = (uint32_t)count };
    if (status == WEIR_OK)
        status = weir_host_set_mix(made->host, &mix);
    free(shapes);
    free(frequencies);
    return status;
}

static weir_status take_cut(struct decide_host *made, const json_t *json, size_t place,
                            struct weir_error *error)
{
    struct decide_cut read = { .since_ns = WEIR_UNKNOWN_TIME };
    struct weir_cut_past cut = { .size = sizeof cut };

    (void)place;
    WEIR_TRY(decide_read(json, &decide_cut_keys, &read, error));
    WEIR_TRY(decide_node_named(made, json, "node", &cut.node, error));
    WEIR_TRY(decide_layout(json_object_get(json, "cut"), &cut.cut, error));
    cut.gpu = read.gpu;
    cut.since_ns = read.since_ns;
    cut.is_over = read.is_over;
    return weir_host_restore_cut(made->host, &cut, error);
}

/* Bits of the words; 0 = none are given. */
static uint32_t read_causes(const json_t *json)
{
    static const char *const words = "timer|wake|jobs|nodes|workers|capacity";
    const json_t *const list = json_object_get(json, "causes");
    uint32_t causes = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        causes |= 1U << decide_choice(words, json_string_value(json_array_get(list, i)));
    return causes;
}

static weir_status take_wake(struct decide_host *made, const json_t *json, size_t place,
                             struct weir_error *error)
{
    struct decide_wake wake;

    (void)place;
    WEIR_TRY(decide_read(json, &decide_wake_keys, &wake, error));
    return weir_host_restore_wake(made->host, wake.at_ns, read_causes(json));
}

/* ---- policies and counts ---- */

/* null = no number; the largest numbers stand for infinite ones. */
static double remembered(const json_t *json)
{
    const double number = json_is_number(json) ? json_number_value(json) : (double)NAN;

    return fabs(number) >= DBL_MAX ? copysign((double)INFINITY, number) : number;
}

static weir_status take_memory(struct decide_host *made, const char *key, uint32_t part,
                               struct weir_error *error)
{
    const json_t *const policy = json_object_get(made->input, "policy");
    const json_t *const list = json_object_get(policy, key);
    const size_t count = json_array_size(list);
    double *const numbers = calloc(count + 1, sizeof *numbers);

    if (numbers == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        numbers[i] = remembered(json_array_get(list, i));
    const weir_status status =
        weir_host_restore_policy(made->host, part, numbers, (uint32_t)count, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "policy.%s", key);
    free(numbers);
    return status;
}

static weir_status take_past(struct decide_host *made, struct weir_error *error)
{
    const struct weir_host_past past = { .size = sizeof past,
                                         .is_dirty = made->head.may_start_jobs,
                                         .decisions = made->head.decision,
                                         .next_worker = made->head.next_worker,
                                         .now_ns = made->head.last_ns,
                                         .surprises = made->head.surprises,
                                         .none_refused = made->head.none_refused,
                                         .begun = made->head.workers_begun,
                                         .ended = made->head.workers_ended };

    WEIR_TRY(take_memory(made, "placement_memory", WEIR_POLICY_PLACEMENT, error));
    WEIR_TRY(take_memory(made, "scaling_memory", WEIR_POLICY_SCALING, error));
    WEIR_TRY(take_memory(made, "queueing_memory", WEIR_POLICY_QUEUEING, error));
    WEIR_TRY(take_memory(made, "capacity_memory", WEIR_POLICY_CAPACITY, error));
    WEIR_TRY(take_memory(made, "fallback_memory", WEIR_POLICY_FALLBACK, error));
    return decide_within(weir_host_restore(made->host, &past, error), error, "next_worker");
}

static int64_t read_clock(void *state)
{
    struct timespec now;

    (void)state;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void decide_read_call(struct decide_host *made)
{
    const bool has_deadline = json_is_number(json_object_get(made->input, "time_left_ns"));
    const uint32_t causes = read_causes(made->input);

    made->call = (struct weir_call){ .size = sizeof made->call,
                                     .causes = causes != 0 ? causes : WEIR_CAUSE_TIMER,
                                     .now_ns = made->head.time_ns,
                                     .max_actions = made->head.max_actions };
    if (has_deadline)
        made->call.deadline_ns = read_clock(NULL) + made->head.time_left_ns;
}

/* ---- the whole ---- */

/* What stands for them until then; in a sandbox, if they are a module's. */
static weir_status load_policies(struct weir_host_config *config, struct weir_error *error)
{
    WEIR_TRY(sim_placement_load(&config->placement, error));
    WEIR_TRY(sim_scaling_load(&config->scaling, error));
    WEIR_TRY(sim_scaling_load(&config->fallback, error));
    WEIR_TRY(sim_queueing_load(&config->queueing, error));
    return sim_capacity_load(&config->capacity, error);
}

static weir_status create_with(struct decide_host *made, const struct decide_policy *policy,
                               struct weir_error *error)
{
    const json_t *const given = json_object_get(made->input, "policy");
    struct decide_policy_rest rest = { .group_scorer = 0 };

    WEIR_TRY(decide_read(given, &decide_policy_keys, &rest, error));
    struct weir_host_config config = {
        .size = sizeof config,
        .explain = rest.explain == 0 ? WEIR_EXPLAIN_FULL : WEIR_EXPLAIN_OFF,
        .placement = policy->placement,
        .placement_params = { policy->placement_values.all, policy->placement_values.count, 0 },
        .scaling = policy->scaling,
        .scaling_params = { policy->scaling_values.all, policy->scaling_values.count, 0 },
        .queueing = policy->queueing,
        .queueing_params = { policy->queueing_values.all, policy->queueing_values.count, 0 },
        .capacity = policy->capacity,
        .capacity_params = { policy->capacity_values.all, policy->capacity_values.count, 0 },
        .fallback = policy->fallback,
        .seed = made->head.seed,
        .clock_ns = read_clock,
        .group_by_policy = rest.group_scorer,
        .group_report = rest.group_report,
        .group_devices = rest.group_devices,
        .cut_min_gain = rest.cut_min_gain,
        .hold_mode = rest.hold_mode,
    };
    WEIR_TRY(load_policies(&config, error));
    WEIR_TRY(weir_host_create(&config, &made->host, error));
    return rest.infeasible == 0 ? WEIR_OK : weir_host_keep_infeasible(made->host, true);
}

static weir_status create(struct decide_host *made, struct weir_error *error)
{
    struct decide_policy policy;
    weir_status status = decide_policy(made->question, &policy, error);

    if (status == WEIR_OK)
        status = create_with(made, &policy, error);
    decide_policy_clear(&policy);
    return status;
}

weir_status decide_take_offer(struct decide_host *made, const json_t *json, size_t place,
                              struct weir_error *error)
{
    struct decide_offer given = { .offer = { .size = sizeof given.offer } };

    (void)place;
    WEIR_TRY(decide_read(json, &decide_offer_keys, &given, error));
    return weir_host_offer_nodes(made->host, &given.offer, error);
}

static weir_status take_tenant(struct decide_host *made, const json_t *json, size_t place,
                               struct weir_error *error)
{
    return decide_take_tenant(made->host, json, place, error);
}

static weir_status take_licence(struct decide_host *made, const json_t *json, size_t place,
                                struct weir_error *error)
{
    (void)place;
    return decide_take_licence(made->host, json, error);
}

static weir_status take_reservation(struct decide_host *made, const json_t *json, size_t place,
                                    struct weir_error *error)
{
    (void)place;
    return decide_take_reservation(made->host, json, error);
}

static weir_status take_usage(struct decide_host *made, const json_t *json, size_t place,
                              struct weir_error *error)
{
    return decide_take_usage(made->host, json, place, error);
}

static weir_status tell(struct decide_host *made, struct weir_error *error)
{
    WEIR_TRY(take_tables(made, error));
    WEIR_TRY(decide_take_all(made, "nodes", take_node, error));
    WEIR_TRY(decide_take_all(made, "offers", decide_take_offer, error));
    WEIR_TRY(decide_take_all(made, "stages", take_stage, error));
    WEIR_TRY(decide_take_all(made, "estimates", decide_take_estimate, error));
    WEIR_TRY(decide_take_all(made, "workloads", take_workload, error));
    if (weir_host_set_half_life(made->host, made->head.half_life_ns) != WEIR_OK)
        return weir_fail(error, WEIR_EFORMAT, "half_life_ns: must not be negative");
    if (weir_host_set_usage_period(made->host, made->head.usage_period_ns) != WEIR_OK)
        return weir_fail(error, WEIR_EFORMAT, "usage_period_ns: must not be negative");
    WEIR_TRY(weir_host_set_usage_rule(made->host, (enum weir_usage_rule)made->head.usage_rule));
    WEIR_TRY(decide_take_all(made, "tenants", take_tenant, error));
    WEIR_TRY(decide_take_all(made, "licences", take_licence, error));
    WEIR_TRY(decide_take_all(made, "reservations", take_reservation, error));
    WEIR_TRY(decide_take_all(made, "workers", take_worker, error));
    WEIR_TRY(decide_take_all(made, "nodes", take_health, error));
    WEIR_TRY(take_mix(made, error));
    WEIR_TRY(decide_take_all(made, "job_kinds", take_kind, error));
    WEIR_TRY(decide_take_all(made, "jobs", take_job, error));
    WEIR_TRY(decide_take_all(made, "new_jobs", take_new_job, error));
    WEIR_TRY(decide_take_all(made, "tenants", take_usage, error));
    WEIR_TRY(decide_take_all(made, "cuts", take_cut, error));
    WEIR_TRY(decide_take_all(made, "wakes", take_wake, error));
    return take_past(made, error);
}

weir_status decide_host_open(struct decide_host *made, const struct decide_question *question,
                             struct weir_error *error)
{
    const json_t *const input = question->input;

    *made = (struct decide_host){ .question = question,
                                  .input = input,
                                  .workers = json_object_get(input, "workers"),
                                  .kinds = json_incref(json_object_get(input, "job_kinds")),
                                  .is_numbered = json_object_get(input, "next_worker") != NULL,
                                  .head = { .last_ns = WEIR_UNKNOWN_TIME, .may_start_jobs = 1 } };
    made->head.next_worker = json_array_size(made->workers) + 1;
    if (made->kinds == NULL)
        made->kinds = json_array();
    WEIR_TRY(decide_get_array(input, "nodes", &made->nodes, error));
    WEIR_TRY(decide_get_array(input, "stages", &made->stages, error));
    WEIR_TRY(decide_read(input, &decide_document_keys, &made->head, error));
    WEIR_TRY(create(made, error));
    decide_read_call(made);
    return tell(made, error);
}

void decide_host_close(struct decide_host *host)
{
    struct weir_mig *tables = NULL;

    weir_host_destroy(host->host);
    memcpy(&tables, &host->tables.items, sizeof tables); /* const for readers only */
    free(tables);
    for (struct decide_speeds *at = host->speeds, *next = NULL; at != NULL; at = next) {
        next = at->next;
        free(at);
    }
    json_decref(host->kinds);
}
