/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The linear program of the upper bound (alloc_bound.h), solved with GLPK row by row: it starts
 * with GPUs and CPUs as they are, and as long as the solution breaks stretched constraints, these
 * are added. Rows of GLPK count from 1, and index 0 of its arrays is not used.
 */
#include "sim/engine/room.h"
#include "sim/lab/alloc_bound.h"
#include "sim/lab/dual_feasible.h"

#include <glpk.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_ROUNDS = 40, MOST_STEPS = 6, MOST_THRESHOLDS = 64, SOLVER_LIMIT_MS = 5000 };

/* A constraint is broken when it is exceeded by this share. */
static const double broken_share = 1e-6;

struct row {
    uint32_t group;
    enum sim_alloc_measure measure;
    struct sim_stretch stretch;
    uint32_t profiles; /* not 0: of instances of these, and not of the measure */
};

struct program {
    const struct sim_alloc_problem *problem;
    glp_prob *lp;
    int *column;      /* by kind * groups + group; 0 = does not fit */
    double *x;        /* the solution, in the same order */
    double *gains;    /* that one job more would bring, in the same order */
    struct row *rows; /* behind the rows of the kinds */
    size_t row_count, row_room;
    int *indices; /* room for one row */
    double *values;
    struct load *loads; /* room for all kinds: who takes of the bins of one group and measure */
};

/* Jobs of one kind, as the solution has them, and what one of them takes. */
struct load {
    double jobs;
    struct sim_alloc_piece piece;
};

static size_t cell_of(const struct sim_alloc_problem *problem, uint32_t kind, uint32_t group)
{
    return (size_t)kind * problem->group_count + group;
}

/* What a job of the kind adds to a row. */
static double coefficient(const struct sim_alloc_problem *problem, uint32_t kind,
                          const struct row *row)
{
    const struct sim_alloc_bins bins = sim_alloc_bins_of(problem, row->group, row->measure);
    const struct sim_alloc_piece piece =
        sim_alloc_piece_of(problem, kind, row->group, row->measure);
    if (row->profiles != 0)
        return (sim_alloc_profiles(problem, kind, row->group) & ~row->profiles) == 0 ? 1 : 0;
    return piece.parts * sim_stretched(row->stretch, piece.size, bins.whole);
}

/* What there is for a row. */
static double room_of(const struct sim_alloc_problem *problem, const struct row *row)
{
    return row->profiles != 0 ? (double)problem->groups[row->group].nodes *
                                    sim_alloc_instances(problem, row->group, row->profiles)
                              : sim_alloc_bins_of(problem, row->group, row->measure).bins;
}

/* ---- rows ---- */

static weir_status add_row(struct program *program, const struct row *row)
{
    const struct sim_alloc_problem *problem = program->problem;
    int count = 0;
    SIM_ROOM(program->rows, program->row_room, program->row_count + 1);
    for (uint32_t k = 0; k < problem->kind_count; k++) {
        const int column = program->column[cell_of(problem, k, row->group)];
        const double value = column == 0 ? 0 : coefficient(problem, k, row);
        if (value > 0) {
            program->indices[++count] = column;
            program->values[count] = value;
        }
    }
    const int index = glp_add_rows(program->lp, 1);
    glp_set_row_bnds(program->lp, index, GLP_UP, 0, room_of(problem, row));
    glp_set_mat_row(program->lp, index, count, program->indices, program->values);
    program->rows[program->row_count++] = *row;
    return WEIR_OK;
}

/* No more jobs of a kind than arrived. */
static void add_kind_row(struct program *program, uint32_t kind)
{
    const struct sim_alloc_problem *problem = program->problem;
    const int index = glp_add_rows(program->lp, 1);
    int count = 0;
    for (uint32_t g = 0; g < problem->group_count; g++) {
        const size_t cell = cell_of(problem, kind, g);
        if (!problem->fits[cell])
            continue;
        program->column[cell] = glp_add_cols(program->lp, 1);
        glp_set_col_bnds(program->lp, program->column[cell], GLP_LO, 0, 0);
        glp_set_obj_coef(program->lp, program->column[cell], problem->worth[kind]);
        program->indices[++count] = program->column[cell];
        program->values[count] = 1;
    }
    glp_set_row_bnds(program->lp, index, GLP_UP, 0, problem->jobs[kind]);
    glp_set_mat_row(program->lp, index, count, program->indices, program->values);
}

static weir_status add_first_rows(struct program *program)
{
    const struct sim_alloc_problem *problem = program->problem;
    glp_set_obj_dir(program->lp, GLP_MAX);
    for (uint32_t k = 0; k < problem->kind_count; k++)
        add_kind_row(program, k);
    for (uint32_t g = 0; g < problem->group_count; g++) {
        WEIR_TRY(add_row(program, &(struct row){ .group = g, .measure = SIM_ALLOC_DEVICE }));
        if (sim_alloc_bins_of(problem, g, SIM_ALLOC_CPU).whole > 0)
            WEIR_TRY(add_row(program, &(struct row){ .group = g, .measure = SIM_ALLOC_CPU }));
    }
    return WEIR_OK;
}

/* ---- which rows the solution breaks ---- */

/* The bins of one group and measure, and who takes of them. */
struct fill {
    struct sim_alloc_bins bins;
    const struct load *loads;
    size_t count;
};

static struct fill fill_of(const struct program *program, uint32_t group,
                           enum sim_alloc_measure measure)
{
    const struct sim_alloc_problem *problem = program->problem;
    struct fill fill = { .bins = sim_alloc_bins_of(problem, group, measure),
                         .loads = program->loads };
    for (uint32_t k = 0; k < problem->kind_count && fill.bins.whole > 0; k++) {
        const double jobs = program->x[cell_of(problem, k, group)];
        if (jobs > 0)
            program->loads[fill.count++] =
                (struct load){ jobs, sim_alloc_piece_of(problem, k, group, measure) };
    }
    return fill;
}

/* By how much the stretched sizes are more than the bins, as a share of these. */
static double excess(const struct fill *fill, struct sim_stretch stretch)
{
    double sum = 0;
    for (size_t i = 0; i < fill->count; i++)
        sum += fill->loads[i].jobs *
               (fill->loads[i].piece.parts *
                sim_stretched(stretch, fill->loads[i].piece.size, fill->bins.whole));
    return sum / fill->bins.bins - 1;
}

/* Sizes up to a half that the solution uses are the thresholds worth a try. */
static size_t thresholds_of(const struct fill *fill, int64_t thresholds[MOST_THRESHOLDS])
{
    const int64_t half = fill->bins.whole / 2;
    size_t count = 0;
    for (size_t k = 0; k < fill->count && count < MOST_THRESHOLDS; k++) {
        const int64_t size = fill->loads[k].piece.size;
        bool is_new = size > 0 && size <= half;
        for (size_t i = 0; i < count && is_new; i++)
            is_new = thresholds[i] != size;
        if (is_new)
            thresholds[count++] = size;
    }
    return count;
}

/* By how much the jobs that only these profiles serve are more than their instances. */
static double excess_of_instances(const struct program *program, const struct row *row)
{
    const struct sim_alloc_problem *problem = program->problem;
    double sum = 0;
    for (uint32_t k = 0; k < problem->kind_count; k++) {
        const double x = program->x[cell_of(problem, k, row->group)];
        if (x > 0)
            sum += x * coefficient(problem, k, row);
    }
    return sum / room_of(problem, row) - 1;
}

/* Adds the row where the solution exceeds it by this share. */
static weir_status add_broken(struct program *program, const struct row *row, double exceeded,
                              bool *is_broken)
{
    if (!(exceeded > broken_share))
        return WEIR_OK;
    *is_broken = true;
    return add_row(program, row);
}

/* Adds the row of the instances of a group that is broken most, if any is: there is one for each
 * set of profiles that some kind can use. */
static weir_status separate_instances(struct program *program, uint32_t group, bool *is_broken)
{
    const struct sim_alloc_problem *problem = program->problem;
    struct row worst = { .group = group };
    double worst_excess = 0;
    for (uint32_t k = 0; k < problem->kind_count; k++) {
        if (!(program->x[cell_of(problem, k, group)] > 0))
            continue;
        const struct row row = { .group = group,
                                 .profiles = sim_alloc_profiles(problem, k, group) };
        const double found = excess_of_instances(program, &row);
        worst = found > worst_excess ? row : worst;
        worst_excess = fmax(found, worst_excess);
    }
    return add_broken(program, &worst, worst_excess, is_broken);
}

/* Adds all broken rows of this group and measure. */
static weir_status separate(struct program *program, uint32_t group, enum sim_alloc_measure measure,
                            bool *is_broken)
{
    const struct fill fill = fill_of(program, group, measure);
    int64_t thresholds[MOST_THRESHOLDS];
    struct row row = { .group = group, .measure = measure };
    if (fill.bins.whole == 0)
        return WEIR_OK;
    for (row.stretch.steps = 0; row.stretch.steps <= MOST_STEPS; row.stretch.steps++)
        WEIR_TRY(add_broken(program, &row, excess(&fill, row.stretch), is_broken));
    row.stretch.steps = 0;
    const size_t count = thresholds_of(&fill, thresholds);
    for (size_t i = 0; i < count; i++) {
        row.stretch.threshold = thresholds[i];
        WEIR_TRY(add_broken(program, &row, excess(&fill, row.stretch), is_broken));
    }
    return WEIR_OK;
}

static weir_status separate_all(struct program *program, bool *is_broken)
{
    for (uint32_t g = 0; g < program->problem->group_count; g++) {
        WEIR_TRY(separate_instances(program, g, is_broken));
        for (int m = 0; m < SIM_ALLOC_MEASURES; m++)
            WEIR_TRY(separate(program, g, (enum sim_alloc_measure)m, is_broken));
    }
    return WEIR_OK;
}

/* ---- solving ---- */

static void solve_once(struct program *program, bool is_first)
{
    const struct sim_alloc_problem *problem = program->problem;
    glp_smcp control;
    glp_init_smcp(&control);
    control.msg_lev = GLP_MSG_OFF;
    control.meth = is_first ? GLP_PRIMAL : GLP_DUALP; /* a new row leaves the multipliers good */
    control.tm_lim = SOLVER_LIMIT_MS;
    control.r_test = GLP_RT_STD; /* Harris' takes a fifth longer on these programmes */
    /* However it ends, the multipliers make a bound. */
    (void)glp_simplex(program->lp, &control);
    for (uint32_t k = 0; k < problem->kind_count; k++)
        for (uint32_t g = 0; g < problem->group_count; g++) {
            const size_t cell = cell_of(problem, k, g);
            program->x[cell] = program->column[cell] == 0
                                   ? 0
                                   : fmax(glp_get_col_prim(program->lp, program->column[cell]), 0);
        }
}

static double multiplier(const struct program *program, size_t row)
{
    return fmax(glp_get_row_dual(program->lp, (int)(program->problem->kind_count + row + 1)), 0);
}

/* What one job more of each kind would still gain in each group, at the multipliers of the rows. */
static void find_gains(struct program *program)
{
    const struct sim_alloc_problem *problem = program->problem;
    for (uint32_t k = 0; k < problem->kind_count; k++)
        for (uint32_t g = 0; g < problem->group_count; g++)
            program->gains[cell_of(problem, k, g)] = problem->worth[k];
    for (size_t r = 0; r < program->row_count; r++) {
        const struct row *row = &program->rows[r];
        const double price = multiplier(program, r);
        for (uint32_t k = 0; k < problem->kind_count && price > 0; k++)
            program->gains[cell_of(problem, k, row->group)] -= price * coefficient(problem, k, row);
    }
}

/* Weak duality: the rows at their multipliers, and for every kind what one more job would still
 * gain in its best group. Sums are rounded up a little. */
static double dual_value(struct program *program)
{
    const struct sim_alloc_problem *problem = program->problem;
    double sum = 0;
    find_gains(program);
    for (size_t r = 0; r < program->row_count; r++)
        sum += multiplier(program, r) * room_of(problem, &program->rows[r]);
    for (uint32_t k = 0; k < problem->kind_count; k++) {
        double best = 0;
        for (uint32_t g = 0; g < problem->group_count; g++) {
            const size_t cell = cell_of(problem, k, g);
            best = problem->fits[cell] ? fmax(best, program->gains[cell]) : best;
        }
        sum += best * problem->jobs[k];
    }
    return sum * (1 + 1e-12);
}

static weir_status solve(struct program *program, double *gpus, uint32_t *rounds)
{
    bool is_broken = true;
    *gpus = (double)INFINITY;
    WEIR_TRY(add_first_rows(program));
    for (*rounds = 0; is_broken && *rounds < MOST_ROUNDS; (*rounds)++) {
        is_broken = false;
        solve_once(program, *rounds == 0);
        *gpus = fmin(*gpus, dual_value(program));
        WEIR_TRY(separate_all(program, &is_broken));
    }
    return WEIR_OK;
}

weir_status sim_alloc_program_solve(const struct sim_alloc_problem *problem, double *gpus,
                                    uint32_t *rounds)
{
    const size_t cells = (size_t)problem->kind_count * problem->group_count + 1;
    const size_t room = (size_t)problem->kind_count + problem->group_count + 2;
    struct program program = { .problem = problem,
                               .column = calloc(cells, sizeof(*program.column)),
                               .x = calloc(cells, sizeof(*program.x)),
                               .gains = calloc(cells, sizeof(*program.gains)),
                               .loads =
                                   calloc((size_t)problem->kind_count + 1, sizeof(*program.loads)),
                               .indices = calloc(room, sizeof(*program.indices)),
                               .values = calloc(room, sizeof(*program.values)) };
    weir_status status = WEIR_ENOMEM;
    *gpus = 0;
    *rounds = 0;
    if (cells == 1) {
        status = WEIR_OK; /* nothing that asks, or nothing to give */
    } else if (program.column != NULL && program.x != NULL && program.gains != NULL &&
               program.loads != NULL && program.indices != NULL && program.values != NULL) {
        (void)glp_term_out(GLP_OFF);
        program.lp = glp_create_prob();
        status = solve(&program, gpus, rounds);
        glp_delete_prob(program.lp);
        (void)glp_free_env();
    }
    free(program.column);
    free(program.x);
    free(program.gains);
    free(program.loads);
    free(program.rows);
    free(program.indices);
    free(program.values);
    return status;
}
