/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding places for a whole job; see the header. */
#include "sim/lab/job_placer.h"

#include <stdlib.h>

struct sim_job_placer {
    struct weir_chooser *chooser;
    const struct sim_sched *sched;
    uint32_t capacity;                 /* members */
    struct weir_place_answer *answers; /* of gangs; the first of a single worker */
    struct weir_alloc *allocs;         /* of groups */
    struct weir_shape *bundles;        /* of groups */
    bool is_group;                     /* the last answer lies in `allocs` */
    const struct sim_lab_elsewhere *elsewhere;
};

static uint32_t most_members(const struct sim_workload *workload)
{
    uint32_t most = 1;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].members > most)
            most = workload->jobs[i].members;
    return most;
}

weir_status sim_job_placer_create(const struct sim_scenario *scenario,
                                  const struct sim_workload *workload,
                                  struct sim_job_placer **placer, struct weir_error *error)
{
    const struct sim_policy_choice *choice = &scenario->sched.placement;
    const struct weir_params params = { .values = choice->values,
                                        .count = (uint32_t)choice->count };
    struct sim_job_placer *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->sched = &scenario->sched;
    made->capacity = most_members(workload);
    made->answers = calloc(made->capacity, sizeof(*made->answers));
    made->allocs = calloc(made->capacity, sizeof(*made->allocs));
    made->bundles = calloc(made->capacity, sizeof(*made->bundles));
    weir_status status = WEIR_ENOMEM;
    if (made->answers != NULL && made->allocs != NULL && made->bundles != NULL)
        status = weir_chooser_create(choice->placement, &params, NULL, &made->chooser, error);
    if (status != WEIR_OK) {
        sim_job_placer_destroy(made);
        return status;
    }
    *placer = made;
    return WEIR_OK;
}

void sim_job_placer_destroy(struct sim_job_placer *placer)
{
    if (placer == NULL)
        return;
    weir_chooser_destroy(placer->chooser);
    free(placer->answers);
    free(placer->allocs);
    free(placer->bundles);
    free(placer);
}

static weir_status ask_one(struct sim_job_placer *placer, const struct sim_lab_question *question,
                           struct weir_error *error)
{
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = question->belief,
                                            .mix = question->mix,
                                            .shape = &question->job->shape,
                                            .seed = question->seed };
    return weir_chooser_place(placer->chooser, &query, placer->answers, error);
}

static weir_status ask_gang(struct sim_job_placer *placer, const struct sim_lab_question *question,
                            struct weir_error *error)
{
    const struct weir_members_query query = { .size = sizeof(struct weir_members_query),
                                              .scratch = question->belief,
                                              .mix = question->mix,
                                              .shape = &question->job->shape,
                                              .seed = question->seed,
                                              .count = question->job->members };
    uint32_t placed = 0;
    return weir_chooser_place_members(placer->chooser, &query, placer->answers, &placed, error);
}

static weir_status ask_group(struct sim_job_placer *placer, const struct sim_lab_question *question,
                             struct weir_error *error)
{
    const struct sim_job_spec *job = question->job;
    const bool is_policy = placer->sched->group_scorer == SIM_GROUP_SCORER_PLACEMENT;
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = question->belief,
                                            .mix = question->mix,
                                            .bundles = placer->bundles,
                                            .bundle_count = job->members,
                                            .strategy = job->group - 1,
                                            .report = placer->sched->group_report,
                                            .seed = question->seed };
    struct weir_group_answer answer;
    for (uint32_t i = 0; i < job->members; i++)
        placer->bundles[i] = job->shape;
    return weir_group_place(is_policy ? placer->chooser : NULL, &query, placer->allocs, &answer,
                            error);
}

/* A single worker or a gang that does not fit now may never fit. */
static weir_status tell_infeasible(const struct sim_lab_question *question, weir_status status,
                                   struct weir_error *error)
{
    const struct sim_job_spec *job = question->job;
    if (status != WEIR_EBUSY ||
        weir_cluster_room(question->belief, &job->shape, job->members) >= job->members)
        return status;
    return weir_fail(error, WEIR_EINFEASIBLE, "does not fit the cluster, even an empty one");
}

/* ---- elsewhere ---- */

void sim_job_placer_turn(struct sim_job_placer *placer, const struct sim_lab_elsewhere *elsewhere)
{
    placer->elsewhere = elsewhere;
}

void sim_job_placer_put(const struct sim_job_placer *placer, uint64_t worker,
                        const struct weir_alloc *alloc)
{
    if (placer->elsewhere != NULL)
        placer->elsewhere->put(placer->elsewhere->state, worker, alloc);
}

void sim_job_placer_take(const struct sim_job_placer *placer, uint64_t worker)
{
    if (placer->elsewhere != NULL)
        placer->elsewhere->take(placer->elsewhere->state, worker);
}

/* Whether it has what such a member asks for; that it is free is another question. */
static bool gives(const struct weir_alloc *alloc, const struct weir_shape *shape)
{
    const bool is_slice = shape->kind == WEIR_SHAPE_SLICE;
    uint32_t nvdecs = 0;
    uint32_t nvencs = 0;
    bool is_enough = alloc->cpu_units >= shape->cpu_units && alloc->ram_bytes >= shape->ram_bytes &&
                     (shape->gpu_count == 0 || alloc->device_count == shape->gpu_count);
    for (uint32_t d = 0; d < alloc->device_count && is_enough; d++) {
        const struct weir_device *device = &alloc->devices[d];
        is_enough = device->units >= shape->gpu_units &&
                    device->mem_bytes >= shape->gpu_mem_bytes && (!is_slice || device->mig != 0);
        nvdecs += (uint32_t)__builtin_popcount(device->nvdec_mask);
        nvencs += (uint32_t)__builtin_popcount(device->nvenc_mask);
    }
    const uint32_t times = shape->kind == WEIR_SHAPE_WHOLE ? shape->gpu_count : 1;
    return is_enough && nvdecs >= shape->nvdecs * times && nvencs >= shape->nvencs * times;
}

/* Each beside those before it; then all are taken back. */
static weir_status check_places(const struct sim_job_placer *placer,
                                const struct sim_lab_question *question, struct weir_error *error)
{
    const char *name = placer->sched->placement.placement->name;
    weir_status status = weir_cluster_mark(question->belief);
    if (status != WEIR_OK)
        return status;
    for (uint32_t m = 0; m < question->job->members && status == WEIR_OK; m++) {
        const struct weir_alloc *alloc = &placer->allocs[m];
        if (!weir_cluster_fits(question->belief, alloc))
            status = weir_fail(error, WEIR_EPOLICY,
                               "placement policy %s chose a place on node %u that is not free",
                               name, alloc->node);
        else if (!gives(alloc, &question->job->shape))
            status = weir_fail(error, WEIR_EPOLICY,
                               "placement policy %s gives less than the job asks for, on node %u",
                               name, alloc->node);
        else
            status = weir_cluster_add_worker(question->belief, UINT64_MAX - m, weir_pool_owner(0),
                                             alloc, error);
    }
    weir_cluster_rollback(question->belief);
    return status;
}

static weir_status ask_elsewhere(struct sim_job_placer *placer,
                                 const struct sim_lab_question *question, struct weir_error *error)
{
    const struct sim_lab_elsewhere *elsewhere = placer->elsewhere;
    placer->is_group = true;
    WEIR_TRY(elsewhere->ask(elsewhere->state, question, placer->allocs, error));
    return check_places(placer, question, error);
}

weir_status sim_job_placer_ask(struct sim_job_placer *placer,
                               const struct sim_lab_question *question, struct weir_error *error)
{
    if (placer->elsewhere != NULL)
        return ask_elsewhere(placer, question, error);
    placer->is_group = question->job->group > 0;
    if (placer->is_group)
        return ask_group(placer, question, error);
    if (question->job->members > 1)
        return tell_infeasible(question, ask_gang(placer, question, error), error);
    return tell_infeasible(question, ask_one(placer, question, error), error);
}

const struct weir_alloc *sim_job_placer_alloc(const struct sim_job_placer *placer, uint32_t member)
{
    return placer->is_group ? &placer->allocs[member] : &placer->answers[member].alloc;
}
