/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of a round; see the header. */
#include "sched/queueing/parts/type_rounds.h"

static const double start_s = 180; /* nobody has had nothing */

static double had_by_all(const struct weir_type_round *round, uint32_t type)
{
    double sum = 0;

    for (uint32_t j = 0; j < round->job_count; j++)
        sum += start_s + round->jobs[j].had_s[type];
    return sum;
}

static double priority(const struct weir_round_job *job, uint32_t type, double all_s)
{
    return job->share[type] * all_s / (start_s + job->had_s[type]);
}

double weir_round_priority(const struct weir_type_round *round, uint32_t job, uint32_t type)
{
    return priority(&round->jobs[job], type, had_by_all(round, type));
}

/* The first of equals stays first: by what they were given in. */
static bool is_before(const struct weir_type_round *round, uint32_t type, double all_s,
                      const uint32_t jobs[2])
{
    const struct weir_round_job *const a = &round->jobs[jobs[0]];
    const struct weir_round_job *const b = &round->jobs[jobs[1]];
    const double left = priority(a, type, all_s);
    const double right = priority(b, type, all_s);

    if (left < right || left > right)
        return left > right;
    if (a->share[type] < b->share[type] || a->share[type] > b->share[type])
        return a->share[type] > b->share[type];
    return jobs[0] < jobs[1];
}

/* A heap with the next job on top, so that only those that are looked at are put in order. */
static void sift(const struct weir_type_round *round, uint32_t type, double all_s, uint32_t count,
                 uint32_t at)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count &&
            is_before(round, type, all_s,
                      (const uint32_t[2]){ round->order[child + 1], round->order[child] }))
            child++;
        if (!is_before(round, type, all_s,
                       (const uint32_t[2]){ round->order[child], round->order[at] }))
            return;
        const uint32_t moved = round->order[at];
        round->order[at] = round->order[child];
        round->order[child] = moved;
        at = child;
    }
}

static void choose_type(struct weir_type_round *round, uint32_t type)
{
    const double all_s = had_by_all(round, type);
    double left = round->supply[type];
    uint32_t count = 0;

    for (uint32_t j = 0; j < round->job_count; j++)
        if (round->jobs[j].type == WEIR_NO_INDEX && (round->jobs[j].may_use >> type & 1) != 0)
            round->order[count++] = j;
    for (uint32_t i = count / 2; i-- > 0;)
        sift(round, type, all_s, count, i);
    while (count > 0 && left > 0) {
        struct weir_round_job *const next = &round->jobs[round->order[0]];
        round->order[0] = round->order[--count];
        sift(round, type, all_s, count, 0);
        if (next->devices > left)
            continue;
        next->type = type;
        left -= next->devices;
    }
}

void weir_round_choose(struct weir_type_round *round)
{
    for (uint32_t j = 0; j < round->job_count; j++)
        round->jobs[j].type = WEIR_NO_INDEX;
    for (uint32_t t = 0; t < round->type_count; t++)
        choose_type(round, t);
}
