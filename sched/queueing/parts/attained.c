/* SPDX-License-Identifier: Apache-2.0 */
/* Attained service in queues (see attained.h). */
#include "sched/queueing/parts/attained.h"

#include <math.h>

static const double ns_per_s = 1e9;
static const int64_t second_ns = 1000000000;

weir_status weir_attained_open(struct weir_attained *attained, double first_s, double second_s,
                               struct weir_error *error)
{
    if (second_s < first_s)
        return weir_fail(error, WEIR_EINVAL, "limit_2 must be at least limit_1 (%g), got %g",
                         first_s, second_s);
    attained->limit_ns[0] = first_s * ns_per_s;
    attained->limit_ns[1] = second_s * ns_per_s;
    return WEIR_OK;
}

double weir_attained_of(const struct weir_job *job, int64_t now_ns)
{
    const double run_ns = job->state == WEIR_JOB_WAITING ? 0 : (double)(now_ns - job->start_ns);

    return (double)job->attained_ns + run_ns * weir_ranked_gpus(job);
}

static uint32_t queue_of(const struct weir_attained *attained, double service)
{
    uint32_t queue = 0;

    while (queue < WEIR_ATTAINED_LIMITS && service >= attained->limit_ns[queue])
        queue++;
    return queue;
}

uint32_t weir_attained_queue(const struct weir_attained *attained, const struct weir_job *job,
                             int64_t at_ns, double base_ns)
{
    const int64_t from_ns = at_ns > job->start_ns ? at_ns : job->start_ns;

    return queue_of(attained, weir_attained_of(job, from_ns) - base_ns);
}

bool weir_attained_is_idle(struct weir_attained *attained, const struct weir_view *view)
{
    const double now_ns = (double)view->now_ns;

    if (view->causes != WEIR_CAUSE_WAKE || !(now_ns < attained->due_ns))
        return false;
    attained->next_ns = attained->due_ns - now_ns;
    return true;
}

void weir_attained_begin(struct weir_attained *attained)
{
    attained->next_ns = HUGE_VAL;
}

/* Whole seconds in which so much service is had, in ns. */
static double until(double left_ns, double gpus)
{
    return ceil(left_ns / gpus / (double)second_ns) * (double)second_ns;
}

int64_t weir_attained_since(const struct weir_attained *attained, const struct weir_job *job,
                            int64_t now_ns, uint32_t queue, double base_ns)
{
    const double left_ns = attained->limit_ns[queue - 1] - ((double)job->attained_ns - base_ns);
    const double run_ns = until(left_ns, weir_ranked_gpus(job));

    return run_ns < (double)(now_ns - job->start_ns) ? job->start_ns + (int64_t)run_ns : now_ns;
}

uint32_t weir_attained_note(struct weir_attained *attained, const struct weir_job *job,
                            int64_t now_ns, double base_ns)
{
    const int64_t run_ns = job->state == WEIR_JOB_WAITING ? 0 : now_ns - job->start_ns;
    const double before = (double)job->attained_ns - base_ns;
    const double gpus = weir_ranked_gpus(job);
    const uint32_t queue = queue_of(attained, before + (double)run_ns * gpus);

    if (queue == WEIR_ATTAINED_LIMITS)
        return queue;
    const double wait_ns = until(attained->limit_ns[queue] - before, gpus) - (double)run_ns;
    if (wait_ns < attained->next_ns)
        attained->next_ns = wait_ns;
    return queue;
}

weir_status weir_attained_wake(struct weir_attained *attained, int64_t now_ns,
                               struct weir_plan *plan)
{
    const double at_ns = (double)now_ns + attained->next_ns;

    attained->due_ns = at_ns;
    if (!(attained->next_ns < 9e18) || !(at_ns < 9e18))
        return WEIR_OK;
    if (attained->woken_ns > (double)now_ns && attained->woken_ns <= at_ns)
        return WEIR_OK; /* that call will ask for the next */
    attained->woken_ns = at_ns;
    return weir_plan_wake(plan, now_ns + (int64_t)attained->next_ns);
}

uint32_t weir_attained_save(const struct weir_attained *attained, double *numbers,
                            uint32_t capacity)
{
    const double all[] = { attained->woken_ns, attained->due_ns };

    for (uint32_t i = 0; i < 2 && i < capacity; i++)
        numbers[i] = all[i];
    return 2;
}

/* From 2.3 on the second is there. */
weir_status weir_attained_restore(struct weir_attained *attained, const double *numbers,
                                  uint32_t count, struct weir_error *error)
{
    if (count < 1 || count > 2 || isnan(numbers[0]) || isnan(numbers[count - 1]))
        return weir_fail(error, WEIR_EFORMAT, "two times are remembered, got %u numbers", count);
    attained->woken_ns = numbers[0];
    attained->due_ns = count > 1 ? numbers[1] : 0;
    return WEIR_OK;
}
