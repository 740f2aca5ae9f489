/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "allox": the least mean completion time over types of GPUs (Le et al., EuroSys 2020).
 *
 * A job in the k-th place from the end of a device's queue delays k jobs, itself among them: it
 * costs k times its time there. The cheapest assignment of jobs to places says who is next on each
 * type; those start where a device is free, and run to their end. Devices of a type are alike, so
 * no queue is longer than its part of the jobs, rounded up: more places cannot be part of an
 * optimum. A job of several GPUs counts as long as all of them are held. The first `jobs` are
 * looked at.
 */
#include "sched/joint/joint.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/queueing/queueings.h"
#include "sched/solve/assignment.h"

#include <math.h>

enum { PARAM_ROUND, PARAM_JOBS, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ROUND] = WEIR_DURATION("round", 0, 1e9, 0,
                                  "time between two choices; 0 = whenever jobs come or end"),
    [PARAM_JOBS] = WEIR_COUNT("jobs", "", 1, 2000, 200, "waiting jobs that are looked at"),
};

/* Dearer than any place that a job can have. */
static const double never_s = 1e15;

struct places {
    struct weir_joint *joint;
    uint32_t *jobs; /* rows */
    uint32_t count, columns;
    uint32_t
        first[WEIR_JOINT_TYPES + 1]; /* columns of a type: a device after the other of a place */
    double *cost;
    uint32_t *column;
};

static double time_on(const struct weir_joint_job *job, uint32_t type)
{
    return job->on_type[type] > 0
               ? job->left_s / job->on_type[type] * fmax(job->gpus * job->usual, 1)
               : never_s;
}

static void lay_out(struct places *places)
{
    places->columns = 0;
    for (uint32_t t = 0; t < places->joint->types; t++) {
        const uint32_t devices = (uint32_t)places->joint->supply[t];
        places->first[t] = places->columns;
        if (devices > 0)
            places->columns += (places->count + devices - 1) / devices * devices;
    }
    places->first[places->joint->types] = places->columns;
}

/* Places from the end, from 1; that of a column. */
static uint32_t place_of(const struct places *places, uint32_t type, uint32_t column)
{
    return (column - places->first[type]) / (uint32_t)places->joint->supply[type] + 1;
}

static void fill(struct places *places)
{
    for (uint32_t r = 0; r < places->count; r++)
        for (uint32_t t = 0; t < places->joint->types; t++)
            for (uint32_t c = places->first[t]; c < places->first[t + 1]; c++)
                places->cost[(size_t)r * places->columns + c] =
                    time_on(&places->joint->jobs[places->jobs[r]], t) * place_of(places, t, c);
}

static uint32_t type_of(const struct places *places, uint32_t column)
{
    uint32_t type = 0;

    while (column >= places->first[type + 1])
        type++;
    return type;
}

/* Whether nobody is before it on its device: the places from the end are filled without a gap. */
static bool is_next(const struct places *places, uint32_t row)
{
    const uint32_t column = places->column[row];
    const uint32_t type = type_of(places, column);
    const uint32_t devices = (uint32_t)places->joint->supply[type];

    for (uint32_t r = 0; r < places->count; r++)
        if (places->column[r] > column && places->column[r] < places->first[type + 1] &&
            (places->column[r] - column) % devices == 0)
            return false;
    return true;
}

static weir_status assign(struct places *places)
{
    const struct weir_allocator *const memory = &places->joint->allocator;

    lay_out(places);
    if (places->count > places->columns)
        places->count = places->columns; /* nothing is up */
    places->cost =
        weir_alloc(memory, (size_t)places->count * places->columns + 1, sizeof *places->cost);
    places->column = weir_alloc(memory, (size_t)places->count + 1, sizeof *places->column);
    if (places->cost == NULL || places->column == NULL)
        return WEIR_ENOMEM;
    fill(places);
    return weir_assign(memory, places->cost, places->count, places->columns, places->column);
}

static void start_next(struct places *places)
{
    struct weir_joint *const joint = places->joint;
    double left[WEIR_JOINT_TYPES];

    for (uint32_t t = 0; t < joint->types; t++)
        left[t] = joint->supply[t];
    for (uint32_t j = 0; j < joint->count; j++)
        if (joint->jobs[j].ranks > 0 && joint->jobs[j].type > 0)
            left[joint->jobs[j].type - 1] -= joint->jobs[j].gpus * joint->jobs[j].ranks;
    for (uint32_t r = 0; r < places->count; r++) {
        struct weir_joint_job *const job = &joint->jobs[places->jobs[r]];
        const uint32_t type = type_of(places, places->column[r]);
        if (!is_next(places, r) || !(job->on_type[type] > 0) || job->gpus * job->usual > left[type])
            continue;
        job->ranks = job->usual;
        job->type = type + 1;
        left[type] -= job->gpus * job->usual;
    }
}

static weir_status choose(struct weir_joint *joint, struct weir_error *error)
{
    const uint32_t most = (uint32_t)joint->values[PARAM_JOBS];
    struct places places = { .joint = joint };

    places.jobs = weir_alloc(&joint->allocator, (size_t)joint->count + 1, sizeof *places.jobs);
    for (uint32_t j = 0; places.jobs != NULL && j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        if (job->held > 0) {
            job->ranks = job->held; /* it stays */
            job->type = job->held_type;
        } else if (job->may_use != 0 && places.count < most) {
            places.jobs[places.count++] = j;
        }
    }
    const weir_status status = places.jobs == NULL ? WEIR_ENOMEM : assign(&places);
    if (status == WEIR_OK)
        start_next(&places);
    weir_free(&joint->allocator, places.jobs);
    weir_free(&joint->allocator, places.cost);
    weir_free(&joint->allocator, places.column);
    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "out of memory");
}

const struct weir_joint_rule weir_rule_allox = { choose, params, PARAM_COUNT, false };

WEIR_JOINT_POLICY(allox, "the cheapest assignment of jobs to queues of every GPU type",
                  weir_rule_allox);
