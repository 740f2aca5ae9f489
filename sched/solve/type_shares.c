/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of types by linear programmes; see the header.
 *
 * Variables: share of job j on type t in j x types + t, and the common rise c last. Rows: a job has
 * no more than all of its time, a type gives no more than it has, and every job is at least at its
 * level, risen by c if it is not frozen.
 */
#include "sched/solve/type_shares.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

/* A level that rises by less than this part of itself does not rise. */
static const double slack = 1e-7;

struct filling {
    struct weir_program *program;
    const struct weir_type_problem *problem;
    double *norm;  /* by job: what a unit of throughput counts */
    double *level; /* by job */
    double *rise;  /* by job: of its level, for a rise of 1 */
    double *open;  /* by job: 1 = it may still rise, 0 = it is frozen */
    double *equal; /* by job: 1 / its throughput with an equal part of every type */
    double *share;
};

static double through(const struct weir_type_problem *problem, uint32_t job, uint32_t type)
{
    return problem->throughput[(size_t)job * problem->types + type];
}

/* Its throughput when its time is divided over the types as their devices are. */
static double equal_part(const struct weir_type_problem *problem, uint32_t job)
{
    double all = 0;
    double sum = 0;

    for (uint32_t t = 0; t < problem->types; t++) {
        all += problem->supply[t];
        sum += problem->supply[t] * through(problem, job, t);
    }
    return all > 0 ? sum / all : 0;
}

static void take_job(struct filling *filling, uint32_t job)
{
    const struct weir_type_problem *const problem = filling->problem;
    const double equal = equal_part(problem, job);

    filling->norm[job] = filling->equal[job] = equal > 0 ? 1 / equal : 0;
    filling->open[job] = equal > 0 ? 1 : 0;
    filling->level[job] = 0;
}

/* What is left of the weight of its entity for a job: its part, or all for the first. */
static double part_of(const struct filling *filling, uint32_t job)
{
    const struct weir_type_problem *const problem = filling->problem;
    const struct weir_type_job *const own = &problem->job[job];
    double sum = 0;

    for (uint32_t j = 0; j < problem->jobs; j++) {
        if (!(filling->open[j] > 0) || problem->job[j].entity != own->entity)
            continue;
        if (problem->hierarchy == WEIR_TYPE_FIRST)
            return j == job ? problem->entities[own->entity] : 0;
        sum += problem->job[j].weight;
    }
    return sum > 0 ? problem->entities[own->entity] * own->weight / sum : 0;
}

static void set_rises(struct filling *filling)
{
    const struct weir_type_problem *const problem = filling->problem;

    for (uint32_t j = 0; j < problem->jobs; j++) {
        const double weight =
            problem->hierarchy == WEIR_TYPE_FLAT ? problem->job[j].weight : part_of(filling, j);
        filling->rise[j] = filling->open[j] > 0 ? weight / problem->job[j].devices : 0;
    }
}

/* All but the goal. `only`: the job that rises, the others are held; WEIR_NO_INDEX = all that may.
 */
static weir_status set_up(struct filling *filling, uint32_t only)
{
    const struct weir_type_problem *const problem = filling->problem;
    const uint32_t jobs = problem->jobs;
    const uint32_t types = problem->types;
    const uint32_t last = jobs * types;

    WEIR_TRY(weir_program_begin(filling->program, 2 * jobs + types, last + 1));
    for (uint32_t j = 0; j < jobs; j++) {
        for (uint32_t t = 0; t < types; t++) {
            const uint32_t column = j * types + t;
            *weir_program_at(filling->program, j, column) = 1;
            *weir_program_at(filling->program, jobs + t, column) = problem->job[j].devices;
            *weir_program_at(filling->program, jobs + types + j, column) =
                -through(problem, j, t) * filling->norm[j];
        }
        *weir_program_bound(filling->program, j) = 1;
        *weir_program_bound(filling->program, jobs + types + j) = -filling->level[j];
        if (only == WEIR_NO_INDEX || only == j)
            *weir_program_at(filling->program, jobs + types + j, last) = filling->rise[j];
    }
    for (uint32_t t = 0; t < types; t++)
        *weir_program_bound(filling->program, jobs + t) = problem->supply[t];
    *weir_program_goal(filling->program, last) = 1;
    return WEIR_OK;
}

/* How much the levels rise, all together or one by itself. A held level gives way to rounding. */
static weir_status rise(struct filling *filling, uint32_t only, double *by)
{
    const struct weir_type_problem *const problem = filling->problem;
    const uint32_t first = problem->jobs + problem->types;

    WEIR_TRY(set_up(filling, only));
    for (uint32_t j = 0; j < problem->jobs; j++)
        *weir_program_bound(filling->program, first + j) *= 1 - 1e-9;
    return weir_program_solve(filling->program, by);
}

static bool may_rise(const struct filling *filling)
{
    for (uint32_t j = 0; j < filling->problem->jobs; j++)
        if (filling->rise[j] > 0)
            return true;
    return false;
}

/* Those that cannot rise while all others are held. The one that binds is always among them. */
static weir_status freeze(struct filling *filling)
{
    bool has_frozen = false;

    for (uint32_t j = 0; j < filling->problem->jobs; j++) {
        double by = 0;
        if (!(filling->rise[j] > 0))
            continue;
        WEIR_TRY(rise(filling, j, &by));
        if (by * filling->rise[j] > slack * fmax(filling->level[j], 1))
            continue;
        filling->open[j] = 0;
        has_frozen = true;
    }
    for (uint32_t j = 0; j < filling->problem->jobs && !has_frozen; j++)
        filling->open[j] = 0; /* rounding: nobody binds, and nobody rises */
    return WEIR_OK;
}

static void keep_share(struct filling *filling)
{
    memcpy(filling->share, filling->program->x,
           (size_t)filling->problem->jobs * filling->problem->types * sizeof *filling->share);
}

static weir_status fill(struct filling *filling)
{
    const struct weir_type_problem *const problem = filling->problem;

    for (set_rises(filling); may_rise(filling); set_rises(filling)) {
        double by = 0;
        WEIR_TRY(rise(filling, WEIR_NO_INDEX, &by));
        keep_share(filling);
        for (uint32_t j = 0; j < problem->jobs; j++)
            filling->level[j] += by * filling->rise[j];
        if (!problem->is_filled)
            return WEIR_OK;
        WEIR_TRY(freeze(filling));
    }
    return WEIR_OK;
}

/* ---- times ---- */

/* The largest c with which every job has c times the throughput that it needs. */
static weir_status cover(struct filling *filling, double *by)
{
    WEIR_TRY(rise(filling, WEIR_NO_INDEX, by));
    keep_share(filling);
    return WEIR_OK;
}

static weir_status least_makespan(struct filling *filling)
{
    const struct weir_type_problem *const problem = filling->problem;
    double by = 0;

    for (uint32_t j = 0; j < problem->jobs; j++) {
        filling->norm[j] = 1;
        filling->rise[j] = filling->open[j] > 0 ? problem->job[j].left : 0;
    }
    if (may_rise(filling))
        WEIR_TRY(cover(filling, &by));
    for (uint32_t j = 0; j < problem->jobs; j++)
        filling->level[j] = by;
    return WEIR_OK;
}

/* What each needs for a ratio; false = the time that is spent is too much for it already. */
static bool need(struct filling *filling, double ratio)
{
    const struct weir_type_problem *const problem = filling->problem;

    for (uint32_t j = 0; j < problem->jobs; j++) {
        const struct weir_type_job *const job = &problem->job[j];
        const double for_it_s = ratio * job->total * filling->equal[j] - job->spent_s;
        if (filling->open[j] > 0 && job->left > 0 && !(for_it_s > 0))
            return false;
        filling->rise[j] = filling->open[j] > 0 && job->left > 0 ? job->left / for_it_s : 0;
    }
    return true;
}

static weir_status may_be(struct filling *filling, double ratio, bool *is_possible)
{
    double by = 1;

    *is_possible = need(filling, ratio);
    if (!*is_possible)
        return WEIR_OK;
    if (may_rise(filling))
        WEIR_TRY(rise(filling, WEIR_NO_INDEX, &by));
    *is_possible = by >= 1;
    if (*is_possible)
        keep_share(filling);
    return WEIR_OK;
}

/* Halving; each ratio is a programme. */
static weir_status least_ratio(struct filling *filling)
{
    const struct weir_type_problem *const problem = filling->problem;
    bool is_possible = false;
    double low = 0;
    double high = 1;

    weir_status status = WEIR_OK;

    for (uint32_t j = 0; j < problem->jobs; j++)
        filling->norm[j] = 1;
    while (status == WEIR_OK && !is_possible && high < 1e12) {
        high *= 2;
        status = may_be(filling, high, &is_possible);
    }
    while (status == WEIR_OK && high - low > 1e-9 * high) {
        const double middle = (low + high) / 2;
        status = may_be(filling, middle, &is_possible);
        if (is_possible)
            high = middle;
        else
            low = middle;
    }
    for (uint32_t j = 0; j < problem->jobs; j++)
        filling->level[j] = high;
    return status;
}

static weir_status solve(struct filling *filling)
{
    switch ((enum weir_type_goal)filling->problem->goal) {
    case WEIR_TYPE_MAX_MIN:
        return fill(filling);
    case WEIR_TYPE_FINISH_TIME:
        return least_ratio(filling);
    case WEIR_TYPE_MAKESPAN:
        return least_makespan(filling);
    }
    return WEIR_EINVAL;
}

weir_status weir_type_shares(struct weir_program *program, const struct weir_type_problem *problem,
                             double *share, double *level)
{
    const struct weir_allocator *const memory = &program->allocator;
    double *const rows = weir_alloc(memory, 5 * (size_t)problem->jobs, sizeof *rows);
    struct filling filling = { .program = program, .problem = problem, .share = share };

    if (rows == NULL)
        return WEIR_ENOMEM;
    filling.norm = rows;
    filling.rise = rows + problem->jobs;
    filling.level = rows + 2 * (size_t)problem->jobs;
    filling.open = rows + 3 * (size_t)problem->jobs;
    filling.equal = rows + 4 * (size_t)problem->jobs;
    memset(share, 0, (size_t)problem->jobs * problem->types * sizeof *share);
    for (uint32_t j = 0; j < problem->jobs; j++)
        take_job(&filling, j);
    const weir_status status = solve(&filling);
    if (level != NULL)
        memcpy(level, filling.level, problem->jobs * sizeof *level);
    weir_free(memory, rows);
    return status;
}
