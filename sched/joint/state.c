/* SPDX-License-Identifier: Apache-2.0 */
/* Making a joint policy, and what it remembers (see joint.h). */
#include "sched/joint/joint.h"

#include "sched/internal/alloc.h"
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
    weir_free(&allocator, joint);
}

/* Two times (-1 = there is none: a number that is no number is not read again), a flag, what is up;
 * then of each job its number and submission, what it is to have and on which type it is, and what
 * its rule keeps. */
enum { HEAD = 3 + WEIR_JOINT_TYPES, OF_JOB = 9 };

uint32_t weir_joint_save(const void *state, double *numbers, uint32_t capacity)
{
    const struct weir_joint *const joint = state;
    const uint32_t count = HEAD + joint->count * OF_JOB;

    if (capacity < count)
        return count;
    numbers[0] = isfinite(joint->round_s) ? joint->round_s : -1;
    numbers[1] = isfinite(joint->wake_s) ? joint->wake_s : -1;
    numbers[2] = joint->has_changed;
    memcpy(numbers + 3, joint->supply, sizeof joint->supply);
    for (uint32_t j = 0; j < joint->count; j++) {
        const struct weir_joint_job *const job = &joint->jobs[j];
        const double of_job[OF_JOB] = { job->workload, (double)job->id, (double)job->submit_ns,
                                        job->ranks,    job->type,       job->held_type,
                                        job->until_s,  job->memory,     job->node };
        memcpy(numbers + HEAD + (size_t)j * OF_JOB, of_job, sizeof of_job);
    }
    return count;
}

weir_status weir_joint_restore(void *state, const struct weir_view *view, const double *numbers,
                               uint32_t count, struct weir_error *error)
{
    struct weir_joint *const joint = state;

    (void)view;
    if (count < HEAD || (count - HEAD) % OF_JOB != 0)
        return weir_fail(error, WEIR_EFORMAT,
                         "a joint policy remembers %d numbers and %d a job, got %u", HEAD, OF_JOB,
                         count);
    for (uint32_t i = 0; i < count; i++)
        if (isnan(numbers[i]))
            return weir_fail(error, WEIR_EFORMAT, "number %u is none", i);
    joint->count = (count - HEAD) / OF_JOB;
    WEIR_ROOM(&joint->allocator, joint->jobs, joint->job_capacity, joint->count + 1);
    joint->round_s = numbers[0] < 0 ? -HUGE_VAL : numbers[0];
    joint->wake_s = numbers[1] < 0 ? HUGE_VAL : numbers[1];
    joint->has_changed = numbers[2] > 0;
    memcpy(joint->supply, numbers + 3, sizeof joint->supply);
    for (uint32_t j = 0; j < joint->count; j++) {
        const double *const from = numbers + HEAD + (size_t)j * OF_JOB;
        joint->jobs[j] = (struct weir_joint_job){ .workload = (uint32_t)from[0],
                                                  .id = (uint64_t)from[1],
                                                  .submit_ns = (int64_t)from[2],
                                                  .ranks = (uint32_t)from[3],
                                                  .type = (uint32_t)from[4],
                                                  .held_type = (uint32_t)from[5],
                                                  .until_s = from[6],
                                                  .memory = from[7],
                                                  .node = (uint32_t)from[8] };
    }
    return WEIR_OK;
}
