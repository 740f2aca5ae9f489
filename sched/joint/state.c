/* SPDX-License-Identifier: Apache-2.0 */
/* Making a joint policy, and what it remembers (see joint.h). */
#include "sched/joint/joint.h"

#include "sched/internal/alloc.h"
#include "sched/internal/memory.h"
#include "sched/internal/params.h"

#include <math.h>
#include <string.h>

weir_status weir_joint_create(const struct weir_joint_rule *rule, const struct weir_params *given,
                              const struct weir_allocator *allocator, void **state,
                              struct weir_error *error)
{
    struct weir_joint *const joint = weir_alloc(allocator, 1, sizeof *joint);

    if (joint == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    memset(joint, 0, sizeof *joint);
    joint->allocator = *allocator;
    joint->rule = rule;
    joint->round_s = -HUGE_VAL;
    joint->wake_s = HUGE_VAL;
    const weir_status status =
        weir_params_resolve(rule->params, rule->count, given, joint->values, error);
    if (status != WEIR_OK)
        weir_free(allocator, joint);
    else
        *state = joint;
    return status;
}

void weir_joint_destroy(void *state)
{
    struct weir_joint *const joint = state;
    const struct weir_allocator allocator = joint->allocator;

    weir_free(&allocator, joint->jobs);
    weir_free(&allocator, joint->before);
    weir_free(&allocator, joint->speeds);
    weir_free(&allocator, joint->numbers);
    weir_free(&allocator, joint->nodes);
    weir_free(&allocator, joint);
}

/* Two times (-1 = there is none: a number that is no number is not read again), a flag, what is up;
 * then of each job its number and submission, what it is to have and on which type it is, what its
 * rule keeps, and its nodes: the one of all its ranks + 1, 0 = any, or, below 0, how many follow.
 */
enum { HEAD = 3 + WEIR_JOINT_TYPES, OF_JOB = 9 };

uint32_t weir_joint_save(const void *state, double *numbers, uint32_t capacity)
{
    const struct weir_joint *const joint = state;
    uint32_t count = HEAD + joint->count * OF_JOB;

    for (uint32_t j = 0; j < joint->count; j++)
        count += joint->jobs[j].node_count;
    if (capacity < count)
        return count;
    numbers[0] = isfinite(joint->round_s) ? joint->round_s : -1;
    numbers[1] = isfinite(joint->wake_s) ? joint->wake_s : -1;
    numbers[2] = joint->has_changed;
    memcpy(numbers + 3, joint->supply, sizeof joint->supply);
    double *to = numbers + HEAD;
    for (uint32_t j = 0; j < joint->count; j++) {
        const struct weir_joint_job *const job = &joint->jobs[j];
        const double of_job[OF_JOB] = {
            job->workload, (double)job->id, weir_memory_of_time(job->submit_ns),
            job->ranks,    job->type,       job->held_type,
            job->until_s,  job->memory,     0. - job->node_count
        };
        memcpy(to, of_job, sizeof of_job);
        to += OF_JOB;
        for (uint32_t i = 0; i < job->node_count; i++)
            *to++ = joint->nodes[job->first_node + i];
    }
    return count;
}

/* What is saved of a job from here on; 0 = less than there should be, or no node has so many. */
static uint32_t length_of(const double *from, uint32_t left)
{
    if (left < OF_JOB || (from[OF_JOB - 1] > 0 && from[3] > UINT16_MAX))
        return 0;
    const double length = OF_JOB + fmax(-from[OF_JOB - 1], 0);
    return length <= left ? (uint32_t)length : 0;
}

static weir_status restore_job(struct weir_joint *joint, const double *from, uint32_t length)
{
    WEIR_ROOM(&joint->allocator, joint->jobs, joint->job_capacity, joint->count + 1);
    struct weir_joint_job *const job = &joint->jobs[joint->count++];

    *job = (struct weir_joint_job){ .workload = (uint32_t)from[0],
                                    .id = (uint64_t)from[1],
                                    .submit_ns = weir_memory_to_time(from[2]),
                                    .ranks = (uint32_t)from[3],
                                    .type = (uint32_t)from[4],
                                    .held_type = (uint32_t)from[5],
                                    .until_s = from[6],
                                    .memory = from[7] };
    for (uint32_t i = 0; from[8] > 0 && i < job->ranks; i++)
        WEIR_TRY(weir_joint_add_node(joint, job, (uint32_t)from[8] - 1));
    for (uint32_t i = OF_JOB; i < length; i++)
        WEIR_TRY(weir_joint_add_node(joint, job, (uint32_t)from[i]));
    return WEIR_OK;
}

weir_status weir_joint_restore(void *state, const struct weir_view *view, const double *numbers,
                               uint32_t count, struct weir_error *error)
{
    struct weir_joint *const joint = state;

    (void)view;
    for (uint32_t i = 0; i < count; i++)
        if (isnan(numbers[i]))
            return weir_fail(error, WEIR_EFORMAT, "number %u is none", i);
    uint32_t at = HEAD;
    for (uint32_t length = 1; at < count && length > 0; at += length)
        length = length_of(numbers + at, count - at);
    if (at != count) /* a part of a job, or not even the head */
        return weir_fail(error, WEIR_EFORMAT,
                         "a joint policy remembers %d numbers and %d a job, got %u", HEAD, OF_JOB,
                         count);
    joint->count = joint->node_total = 0;
    joint->round_s = numbers[0] < 0 ? -HUGE_VAL : numbers[0];
    joint->wake_s = numbers[1] < 0 ? HUGE_VAL : numbers[1];
    joint->has_changed = numbers[2] > 0;
    memcpy(joint->supply, numbers + 3, sizeof joint->supply);
    for (uint32_t from = HEAD, length = 0; from < count; from += length) {
        length = length_of(numbers + from, count - from);
        WEIR_TRY(restore_job(joint, numbers + from, length));
    }
    return WEIR_OK;
}
