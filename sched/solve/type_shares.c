/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of types by linear programmes; see the header.
 *
 * Variables: share of job j on type t in j x types + t, and the common rise c last. Rows: a job has
 * no more than all of its time, a type gives no more than it has, and every job is at least at its
 * level, risen by c if it is not frozen.
 *
 * For max-min, jobs that are alike in everything are one in the programme: of all best answers the
 * one in which they have the same, so a programme is as large as there are kinds of jobs.
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
    double *alike; /* by job: how many it stands for */
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
        sum += problem->job[j].weight * filling->alike[j];
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
            *weir_program_at(filling->program, jobs + t, column) =
                problem->job[j].devices * filling->alike[j];
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

/* ---- kinds ---- */

static bool is_alike(const struct weir_type_problem *problem, uint32_t a, uint32_t b)
{
    const struct weir_type_job *const left = &problem->job[a];
    const struct weir_type_job *const right = &problem->job[b];
    const size_t row = problem->types * sizeof *problem->throughput;

    return !islessgreater(left->devices, right->devices) &&
           !islessgreater(left->weight, right->weight) &&
           (problem->hierarchy == WEIR_TYPE_FLAT || left->entity == right->entity) &&
           memcmp(&problem->throughput[(size_t)a * problem->types],
                  &problem->throughput[(size_t)b * problem->types], row) == 0;
}

/* kind[job]: which of those that stand for others is like it; first[kind]. */
static uint32_t find_kinds(const struct weir_type_problem *problem, uint32_t *kind, uint32_t *first)
{
    const bool may_be_one =
        problem->goal == WEIR_TYPE_MAX_MIN && problem->hierarchy != WEIR_TYPE_FIRST;
    uint32_t count = 0;

    for (uint32_t j = 0; j < problem->jobs; j++) {
        uint32_t k = may_be_one ? 0 : count;
        while (k < count && !is_alike(problem, first[k], j))
            k++;
        kind[j] = k;
        if (k == count)
            first[count++] = j;
    }
    return count;
}

/* Each kind once; the arrays have room for all jobs. */
static void take_kinds(const struct weir_type_problem *problem, const uint32_t *first,
                       uint32_t kinds, struct weir_type_job *job, double *throughput)
{
    for (uint32_t k = 0; k < kinds; k++) {
        job[k] = problem->job[first[k]];
        memcpy(&throughput[(size_t)k * problem->types],
               &problem->throughput[(size_t)first[k] * problem->types],
               problem->types * sizeof *throughput);
    }
}

enum { ROWS = 6 };

static void take_rows(struct filling *filling, double *rows, uint32_t jobs)
{
    double **const by_job[ROWS] = { &filling->norm, &filling->rise,  &filling->level,
                                    &filling->open, &filling->equal, &filling->alike };

    for (size_t i = 0; i < ROWS; i++)
        *by_job[i] = rows + i * jobs;
    memset(filling->alike, 0, jobs * sizeof *filling->alike);
}

/* The problem of its kinds. */
struct kinds {
    struct weir_type_problem problem;
    uint32_t *of;               /* by job: its kind; behind them by kind its first job */
    struct weir_type_job *job;  /* by kind */
    double *throughput, *share; /* kinds x types */
    double *rows;
};

static weir_status open_kinds(const struct weir_allocator *memory,
                              const struct weir_type_problem *problem, struct kinds *kinds)
{
    const size_t cells = (size_t)problem->jobs * problem->types;

    kinds->of = weir_alloc(memory, 2 * (size_t)problem->jobs, sizeof *kinds->of);
    kinds->job = weir_alloc(memory, problem->jobs, sizeof *kinds->job);
    kinds->rows = weir_alloc(memory, ROWS * (size_t)problem->jobs + 2 * cells, sizeof *kinds->rows);
    if (kinds->of == NULL || kinds->job == NULL || kinds->rows == NULL)
        return WEIR_ENOMEM;
    kinds->throughput = kinds->rows + ROWS * (size_t)problem->jobs;
    kinds->share = kinds->throughput + cells;
    kinds->problem = *problem;
    kinds->problem.jobs = find_kinds(problem, kinds->of, kinds->of + problem->jobs);
    kinds->problem.job = kinds->job;
    kinds->problem.throughput = kinds->throughput;
    take_kinds(problem, kinds->of + problem->jobs, kinds->problem.jobs, kinds->job,
               kinds->throughput);
    memset(kinds->share, 0, cells * sizeof *kinds->share);
    return WEIR_OK;
}

weir_status weir_type_shares(struct weir_program *program, const struct weir_type_problem *problem,
                             double *share, double *level)
{
    const struct weir_allocator *const memory = &program->allocator;
    const uint32_t types = problem->types;
    struct kinds kinds = { .rows = NULL };
    weir_status status = open_kinds(memory, problem, &kinds);
    struct filling filling = { .program = program,
                               .problem = &kinds.problem,
                               .share = kinds.share };

    if (status == WEIR_OK) {
        take_rows(&filling, kinds.rows, problem->jobs);
        for (uint32_t j = 0; j < problem->jobs; j++)
            filling.alike[kinds.of[j]]++;
        for (uint32_t k = 0; k < kinds.problem.jobs; k++)
            take_job(&filling, k);
        status = solve(&filling);
        for (uint32_t j = 0; j < problem->jobs; j++) {
            memcpy(&share[(size_t)j * types], &kinds.share[(size_t)kinds.of[j] * types],
                   types * sizeof *share);
            if (level != NULL)
                level[j] = filling.level[kinds.of[j]];
        }
    }
    weir_free(memory, kinds.of);
    weir_free(memory, kinds.job);
    weir_free(memory, kinds.rows);
    return status;
}
