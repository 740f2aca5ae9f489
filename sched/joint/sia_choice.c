/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See sia.h. A state is how many devices of every type are left, as one number in mixed radix. Each
 * job in turn, from the last, takes a configuration or none; what the rest can do with a state is
 * known by then.
 */
#include "sched/joint/sia.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

/* States times jobs that are gone through. */
static const double most_cells = 8e6;

static const double most_goodput = 3000;

struct choosing {
    const struct weir_allocator *allocator;
    const struct weir_sia_problem *problem;
    double *worth;    /* job x (configuration, none last): larger is better */
    uint32_t *stride; /* of a device of a type in a state */
    uint32_t states;
    double *best[2]; /* by state, of the jobs from here on and from the next on */
    uint8_t *taken;  /* job x state */
};

static double *worth_of(const struct choosing *choosing, uint32_t job)
{
    return &choosing->worth[(size_t)job * (WEIR_SIA_CONFIGS + 1)];
}

/* What a change leaves of what a job is worth: the part of its life that is not spent on restarts.
 */
static double after_restart(const struct weir_sia_job *job)
{
    if (job->age_s < job->restart_s || !(job->restart_s > 0))
        return 1;
    return fmax(job->age_s - job->restarts * job->restart_s, 0) / (job->age_s + job->restart_s);
}

static void weigh(const struct choosing *choosing, uint32_t index)
{
    const struct weir_sia_problem *const problem = choosing->problem;
    const struct weir_sia_job *const job = &problem->jobs[index];
    const double sign = problem->power < 0 ? -1 : 1;
    double *const worth = worth_of(choosing, index);
    double least = HUGE_VAL;

    for (uint32_t c = 0; c < job->count; c++)
        least = fmin(least, job->configs[c].goodput);
    for (uint32_t c = 0; c < job->count; c++) {
        const double kept = c == job->now ? 1 : after_restart(job);
        const double value = pow(job->configs[c].goodput / least * kept, problem->power);
        worth[c] = sign * fmin(round(value * 100) / 100, most_goodput);
    }
    worth[job->count] = -problem->idle;
}

/* Devices of the type that are left in a state. */
static uint32_t left_of(const struct choosing *choosing, uint32_t state, uint32_t type)
{
    return state / choosing->stride[type] % (choosing->problem->supply[type] + 1);
}

static void take_job(const struct choosing *choosing, uint32_t index)
{
    const struct weir_sia_job *const job = &choosing->problem->jobs[index];
    const double *const worth = worth_of(choosing, index);
    uint8_t *const taken = &choosing->taken[(size_t)index * choosing->states];

    for (uint32_t state = 0; state < choosing->states; state++) {
        double most = worth[job->count] + choosing->best[1][state];
        taken[state] = (uint8_t)job->count;
        for (uint32_t c = 0; c < job->count; c++) {
            const struct weir_sia_config *const config = &job->configs[c];
            if (config->devices > left_of(choosing, state, config->type))
                continue;
            const uint32_t after = state - config->devices * choosing->stride[config->type];
            const double sum = worth[c] + choosing->best[1][after];
            if (sum > most + 1e-9) {
                most = sum;
                taken[state] = (uint8_t)c;
            }
        }
        choosing->best[0][state] = most;
    }
}

static void go_through(struct choosing *choosing, uint32_t *choice)
{
    const struct weir_sia_problem *const problem = choosing->problem;
    uint32_t state = choosing->states - 1; /* all are left */

    memset(choosing->best[1], 0, choosing->states * sizeof *choosing->best[1]);
    for (uint32_t j = problem->count; j-- > 0;) {
        take_job(choosing, j);
        double *const swap = choosing->best[0];
        choosing->best[0] = choosing->best[1];
        choosing->best[1] = swap;
    }
    for (uint32_t j = 0; j < problem->count; j++) {
        const struct weir_sia_job *const job = &problem->jobs[j];
        choice[j] = choosing->taken[(size_t)j * choosing->states + state];
        if (choice[j] == job->count)
            continue;
        const struct weir_sia_config *const config = &job->configs[choice[j]];
        state -= config->devices * choosing->stride[config->type];
    }
}

/* ---- step by step ---- */

/* The change of one job that brings most for each device it takes more; false = none helps. */
static bool improve(const struct choosing *choosing, uint32_t *left, uint32_t *choice)
{
    const struct weir_sia_problem *const problem = choosing->problem;
    double most = 1e-9;
    uint32_t best = problem->count;
    uint32_t to = 0;

    for (uint32_t j = 0; j < problem->count; j++) {
        const struct weir_sia_job *const job = &problem->jobs[j];
        const struct weir_sia_config *const has =
            choice[j] == job->count ? NULL : &job->configs[choice[j]];
        for (uint32_t c = 0; c < job->count; c++) {
            const struct weir_sia_config *const wants = &job->configs[c];
            const uint32_t own = has != NULL && has->type == wants->type ? has->devices : 0;
            if (wants->devices > left[wants->type] + own)
                continue;
            const double more = worth_of(choosing, j)[c] - worth_of(choosing, j)[choice[j]];
            const double each = more / (wants->devices > own ? wants->devices - own : 1);
            if (each > most) {
                most = each;
                best = j;
                to = c;
            }
        }
    }
    if (best == problem->count)
        return false;
    const struct weir_sia_job *const job = &problem->jobs[best];
    if (choice[best] != job->count)
        left[job->configs[choice[best]].type] += job->configs[choice[best]].devices;
    left[job->configs[to].type] -= job->configs[to].devices;
    choice[best] = to;
    return true;
}

static void go_up(const struct choosing *choosing, uint32_t *choice)
{
    uint32_t left[WEIR_SIA_TYPES] = { 0 };

    for (uint32_t t = 0; t < choosing->problem->types; t++)
        left[t] = choosing->problem->supply[t];
    for (uint32_t j = 0; j < choosing->problem->count; j++)
        choice[j] = choosing->problem->jobs[j].count;
    while (improve(choosing, left, choice)) {
    }
}

/* ---- both ---- */

static weir_status choose_with(struct choosing *choosing, uint32_t *choice)
{
    const struct weir_sia_problem *const problem = choosing->problem;
    uint32_t strides[WEIR_SIA_TYPES];
    double states = 1;

    for (uint32_t t = 0; t < problem->types; t++) {
        strides[t] = states < most_cells ? (uint32_t)states : 0;
        states *= problem->supply[t] + 1.0;
    }
    if (states * (problem->count + 1.0) > most_cells) {
        go_up(choosing, choice);
        return WEIR_OK;
    }
    choosing->stride = strides;
    choosing->states = (uint32_t)states;
    double *const rows =
        weir_alloc(choosing->allocator, 2 * (size_t)choosing->states, sizeof *rows);
    choosing->taken =
        weir_alloc(choosing->allocator, (size_t)choosing->states * (problem->count + 1), 1);
    const bool is_ready = rows != NULL && choosing->taken != NULL;
    if (is_ready) {
        choosing->best[0] = rows;
        choosing->best[1] = rows + choosing->states;
        go_through(choosing, choice);
    }
    weir_free(choosing->allocator, rows);
    weir_free(choosing->allocator, choosing->taken);
    choosing->stride = NULL;
    return is_ready ? WEIR_OK : WEIR_ENOMEM;
}

weir_status weir_sia_choose(const struct weir_allocator *allocator,
                            const struct weir_sia_problem *problem, uint32_t *choice, double *sum)
{
    struct choosing choosing = { .allocator = allocator, .problem = problem };

    choosing.worth = weir_alloc(allocator, (size_t)(problem->count + 1) * (WEIR_SIA_CONFIGS + 1),
                                sizeof *choosing.worth);
    if (choosing.worth == NULL)
        return WEIR_ENOMEM;
    for (uint32_t j = 0; j < problem->count; j++)
        weigh(&choosing, j);
    const weir_status status = choose_with(&choosing, choice);
    *sum = 0;
    for (uint32_t j = 0; status == WEIR_OK && j < problem->count; j++) {
        *sum += worth_of(&choosing, j)[choice[j]];
        if (choice[j] == problem->jobs[j].count)
            choice[j] = WEIR_NO_INDEX;
    }
    *sum = problem->power < 0 ? -*sum : *sum;
    weir_free(allocator, choosing.worth);
    return status;
}
