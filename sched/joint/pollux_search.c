/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See pollux.h. The published search is genetic; here every change of one job is tried, and every
 * change of one job that takes its place from another. Terms of jobs are kept, so that a try costs
 * those of the jobs it changes.
 */
#include "sched/joint/pollux.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const double weir_pollux_none = 1e-3;

/* How much is tried when nothing helps any more, over the number of jobs. */
enum { MOST_TRIES = 8 };
/* Of so many jobs every set is taken out. */
enum { FEW = 6 };

/* A change must help by more than rounding. */
static const double least_gain = 1e-9;

struct searching {
    const struct weir_pollux_problem *problem;
    uint32_t *ranks;  /* jobs x nodes */
    uint32_t *left;   /* GPUs by node */
    uint32_t *spread; /* by node: the job on several nodes that is there + 1 */
    double *term;     /* by job */
    uint32_t *row;    /* the change that is tried */
    uint32_t *best_row, *victim_row;
    uint32_t best_job, best_victim;
    double best_gain;
};

static uint32_t *row_of(const struct searching *searching, uint32_t job)
{
    return &searching->ranks[(size_t)job * searching->problem->nodes];
}

static void count(const struct weir_pollux_problem *problem, const uint32_t *row, uint32_t *ranks,
                  uint32_t *nodes)
{
    *ranks = *nodes = 0;
    for (uint32_t n = 0; n < problem->nodes; n++) {
        *ranks += row[n];
        *nodes += row[n] > 0;
    }
}

static double speed_of(const struct weir_pollux_problem *problem, uint32_t job, const uint32_t *row)
{
    const uint32_t *const now = &problem->now[(size_t)job * problem->nodes];
    uint32_t ranks = 0;
    uint32_t nodes = 0;

    count(problem, row, &ranks, &nodes);
    const double speed =
        ranks == 0 ? weir_pollux_none
                   : fmax(problem->speedup(problem->state, job, ranks, nodes), weir_pollux_none);
    const bool is_changed = memcmp(row, now, problem->nodes * sizeof *row) != 0;
    return is_changed ? speed * problem->changed : speed;
}

/* The two that are published are worth a line of their own: pow takes half of the time else. */
static double raise(double speed, double power)
{
    if (!(power < -1) && !(power > -1))
        return 1 / speed;
    return !(power < 1) && !(power > 1) ? speed : pow(speed, power);
}

/* Larger is better; the sum of all is to be large. */
static double term_of(const struct weir_pollux_problem *problem, uint32_t job, const uint32_t *row)
{
    const double term = raise(speed_of(problem, job, row), problem->power);

    return problem->power < 0 ? -term : term;
}

double weir_pollux_fitness(const struct weir_pollux_problem *problem, const uint32_t *ranks)
{
    double sum = 0;

    for (uint32_t j = 0; j < problem->jobs; j++)
        sum += raise(speed_of(problem, j, &ranks[(size_t)j * problem->nodes]), problem->power);
    return problem->power < 0 ? pow(sum / problem->jobs, 1 / problem->power) : sum;
}

/* ---- what is free ---- */

static void put(struct searching *searching, uint32_t job, const uint32_t *row, int sign)
{
    const struct weir_pollux_problem *const problem = searching->problem;
    uint32_t ranks = 0;
    uint32_t nodes = 0;

    count(problem, row, &ranks, &nodes);
    for (uint32_t n = 0; n < problem->nodes; n++) {
        const uint32_t gpus = row[n] * problem->gpus[job];
        searching->left[n] = sign > 0 ? searching->left[n] - gpus : searching->left[n] + gpus;
        if (row[n] > 0 && nodes > 1)
            searching->spread[n] = sign > 0 ? job + 1 : 0;
    }
}

/* Whether the row that is tried fits beside all others. */
static bool fits(const struct searching *searching, uint32_t job)
{
    const struct weir_pollux_problem *const problem = searching->problem;
    const uint32_t *const row = searching->row;
    uint32_t ranks = 0;
    uint32_t nodes = 0;

    count(problem, row, &ranks, &nodes);
    if (ranks > 0 && (ranks < problem->least[job] || ranks > problem->most[job]))
        return false;
    for (uint32_t n = 0; n < problem->nodes; n++)
        if (row[n] * problem->gpus[job] > searching->left[n] ||
            (nodes > 1 && row[n] > 0 && searching->spread[n] != 0))
            return false;
    return true;
}

/* ---- changes ---- */

/* The row that is tried, of a job that is taken out; `victim` (or WEIR_NO_INDEX) lost its own for
 * it, and `lost` is what that costs. */
static void consider(struct searching *searching, uint32_t job, uint32_t victim, double lost)
{
    if (!fits(searching, job))
        return;
    const double gain =
        term_of(searching->problem, job, searching->row) - searching->term[job] - lost;
    if (gain <= searching->best_gain + least_gain)
        return;
    searching->best_gain = gain;
    searching->best_job = job;
    searching->best_victim = victim;
    memcpy(searching->best_row, searching->row, searching->problem->nodes * sizeof *searching->row);
}

/* As many as it may have on one node, on each; and on several, as few as they can be. */
static void try_rows(struct searching *searching, uint32_t job, uint32_t victim, double lost)
{
    const struct weir_pollux_problem *const problem = searching->problem;
    uint32_t *const row = searching->row;
    const size_t size = problem->nodes * sizeof *row;

    for (uint32_t n = 0; n < problem->nodes; n++) {
        const uint32_t room = searching->left[n] / problem->gpus[job];
        memset(row, 0, size);
        for (row[n] = problem->least[job]; row[n] <= problem->most[job] && row[n] <= room; row[n]++)
            consider(searching, job, victim, lost);
    }
    memcpy(row, &problem->now[(size_t)job * problem->nodes], size);
    consider(searching, job, victim, lost);
    uint32_t all = 0;
    memset(row, 0, size);
    for (uint32_t n = 0; n < problem->nodes; n++) {
        if (searching->spread[n] != 0)
            continue;
        for (uint32_t i = searching->left[n] / problem->gpus[job];
             i > 0 && all < problem->most[job]; i--, all++) {
            row[n]++;
            consider(searching, job, victim, lost);
        }
    }
    memcpy(row, row_of(searching, job), size);
    for (uint32_t n = 0; n < problem->nodes; n++) {
        row[n]++;
        consider(searching, job, victim, lost);
        row[n]--;
        if (row[n] == 0)
            continue;
        row[n]--;
        consider(searching, job, victim, lost);
        row[n]++;
    }
}

/* What a job may do when another has a rank less on a node, or nothing. */
static void try_with_victims(struct searching *searching, uint32_t job)
{
    const struct weir_pollux_problem *const problem = searching->problem;
    const size_t size = problem->nodes * sizeof *searching->row;

    for (uint32_t v = 0; v < problem->jobs; v++) {
        uint32_t *const own = row_of(searching, v);
        if (v == job)
            continue;
        for (uint32_t n = 0; n < problem->nodes; n++) {
            uint32_t ranks = 0;
            uint32_t nodes = 0;
            if (own[n] == 0)
                continue;
            count(problem, own, &ranks, &nodes);
            put(searching, v, own, -1);
            const uint32_t taken = ranks - 1 < problem->least[v] ? own[n] : 1;
            own[n] -= taken;
            count(problem, own, &ranks, &nodes);
            const double lost = searching->term[v] - term_of(problem, v, own);
            const double before = searching->best_gain;
            if (ranks == 0 || ranks >= problem->least[v]) {
                put(searching, v, own, 1);
                try_rows(searching, job, v, lost);
                if (searching->best_gain > before)
                    memcpy(searching->victim_row, own, size);
                put(searching, v, own, -1);
            }
            own[n] += taken;
            put(searching, v, own, 1);
        }
    }
}

static void replace(struct searching *searching, uint32_t job, const uint32_t *row)
{
    put(searching, job, row_of(searching, job), -1);
    memcpy(row_of(searching, job), row, searching->problem->nodes * sizeof *row);
    put(searching, job, row, 1);
    searching->term[job] = term_of(searching->problem, job, row);
}

static bool improve(struct searching *searching)
{
    searching->best_gain = 0;
    searching->best_job = WEIR_NO_INDEX;
    for (uint32_t j = 0; j < searching->problem->jobs; j++) {
        put(searching, j, row_of(searching, j), -1);
        try_rows(searching, j, WEIR_NO_INDEX, 0);
        try_with_victims(searching, j);
        put(searching, j, row_of(searching, j), 1);
    }
    if (searching->best_job == WEIR_NO_INDEX)
        return false;
    if (searching->best_victim != WEIR_NO_INDEX)
        replace(searching, searching->best_victim, searching->victim_row);
    replace(searching, searching->best_job, searching->best_row);
    return true;
}

static void climb(struct searching *searching)
{
    for (uint32_t turn = 0; turn < 20 * (searching->problem->jobs + 1); turn++)
        if (!improve(searching))
            return;
}

static double sum_of(const struct searching *searching)
{
    double sum = 0;

    for (uint32_t j = 0; j < searching->problem->jobs; j++)
        sum += searching->term[j];
    return sum;
}

/* From these ranks, as far as they fit. */
static void begin(struct searching *searching, const uint32_t *from)
{
    const struct weir_pollux_problem *const problem = searching->problem;

    memcpy(searching->left, problem->room, problem->nodes * sizeof *searching->left);
    memset(searching->spread, 0, problem->nodes * sizeof *searching->spread);
    for (uint32_t j = 0; j < problem->jobs; j++) {
        memcpy(searching->row, &from[(size_t)j * problem->nodes],
               problem->nodes * sizeof *searching->row);
        if (!fits(searching, j)) /* a node is gone, or it was started elsewhere */
            memset(searching->row, 0, problem->nodes * sizeof *searching->row);
        memcpy(row_of(searching, j), searching->row, problem->nodes * sizeof *searching->row);
        put(searching, j, searching->row, 1);
        searching->term[j] = term_of(problem, j, searching->row);
    }
}

/* Once more without the jobs of a set, one bit each of the first 32; keeps what is better. */
static bool try_without(struct searching *searching, uint32_t *kept, double *most, uint32_t set)
{
    const struct weir_pollux_problem *const problem = searching->problem;
    const size_t cells = (size_t)problem->jobs * problem->nodes;

    begin(searching, kept);
    memset(searching->row, 0, problem->nodes * sizeof *searching->row);
    for (uint32_t j = 0; j < problem->jobs; j++)
        if (j >= 32 ? set == UINT32_MAX : (set >> j & 1) != 0) {
            memset(searching->row, 0, problem->nodes * sizeof *searching->row);
            replace(searching, j, searching->row);
        }
    climb(searching);
    if (sum_of(searching) <= *most + least_gain)
        return false;
    *most = sum_of(searching);
    memcpy(kept, searching->ranks, cells * sizeof *kept);
    return true;
}

/* From what there is, then with all jobs taken out, and with each set of a few, or each two of
 * many, as long as the tries last. */
static void search(struct searching *searching, uint32_t *kept)
{
    const struct weir_pollux_problem *const problem = searching->problem;
    const uint32_t few = problem->jobs < 32 ? problem->jobs : 32;
    uint32_t tries = 4 * MOST_TRIES / (problem->jobs + 1);

    begin(searching, problem->now);
    climb(searching);
    memcpy(kept, searching->ranks, (size_t)problem->jobs * problem->nodes * sizeof *kept);
    double most = sum_of(searching);
    (void)try_without(searching, kept, &most, UINT32_MAX);
    for (uint32_t set = 1; few <= FEW && set < UINT32_C(1) << few; set++)
        if (try_without(searching, kept, &most, set))
            set = 0;
    for (uint32_t i = 0; few > FEW && i < few; i++)
        for (uint32_t j = i; j < few && tries > 0; j++, tries--)
            (void)try_without(searching, kept, &most, UINT32_C(1) << i | UINT32_C(1) << j);
    memcpy(searching->ranks, kept, (size_t)problem->jobs * problem->nodes * sizeof *kept);
}

weir_status weir_pollux_search(const struct weir_allocator *allocator,
                               const struct weir_pollux_problem *problem, uint32_t *ranks,
                               double *fitness)
{
    const size_t nodes = (size_t)problem->nodes + 1;
    uint32_t *const numbers =
        weir_alloc(allocator, nodes * ((size_t)problem->jobs + 5), sizeof *numbers);
    double *const terms = weir_alloc(allocator, (size_t)problem->jobs + 1, sizeof *terms);
    struct searching searching = { .problem = problem, .ranks = ranks, .term = terms };

    if (numbers != NULL && terms != NULL) {
        searching.left = numbers;
        searching.spread = numbers + nodes;
        searching.row = numbers + 2 * nodes;
        searching.best_row = numbers + 3 * nodes;
        searching.victim_row = numbers + 4 * nodes;
        search(&searching, numbers + 5 * nodes);
        *fitness = weir_pollux_fitness(problem, ranks);
    }
    const bool is_done = numbers != NULL && terms != NULL;
    weir_free(allocator, numbers);
    weir_free(allocator, terms);
    return is_done ? WEIR_OK : WEIR_ENOMEM;
}
