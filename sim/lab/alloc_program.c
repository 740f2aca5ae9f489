/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The linear program of the upper bound (alloc_bound.h), solved with GLPK row by row: it starts
 * with GPUs and CPUs as they are, and as long as the solution breaks a stretched constraint, the
 * one broken most of each group and measure is added. Rows of GLPK count from 1, and index 0 of its
 * arrays is not used.
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
    struct row *rows; /* behind the rows of the kinds */
    size_t row_count, row_room;
    int *indices; /* room for one row */
    double *values;
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

/* By how much, as a share of what there is. */
static double excess(const struct program *program, const struct row *row)
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

/* Sizes up to a half that the solution uses are the thresholds worth a try. */
static size_t thresholds_of(const struct program *program, const struct row *row,
                            int64_t thresholds[MOST_THRESHOLDS])
{
    const struct sim_alloc_problem *problem = program->problem;
    const int64_t half = sim_alloc_bins_of(problem, row->group, row->measure).whole / 2;
    size_t count = 0;
    for (uint32_t k = 0; k < problem->kind_count && count < MOST_THRESHOLDS; k++) {
        const int64_t size = sim_alloc_piece_of(problem, k, row->group, row->measure).size;
        bool is_new = size > 0 && size <= half && program->x[cell_of(problem, k, row->group)] > 0;
        for (size_t i = 0; i < count && is_new; i++)
            is_new = thresholds[i] != size;
        if (is_new)
            thresholds[count++] = size;
    }
    return count;
}

static void keep_worse(const struct program *program, struct row row, struct row *worst,
                       double *worst_excess)
{
    const double found = excess(program, &row);
    if (found > *worst_excess) {
        *worst = row;
        *worst_excess = found;
    }
}

/* The same for the instances of a group: those of each set of profiles that some kind can use. */
static weir_status separate_instances(struct program *program, uint32_t group, bool *is_broken)
{
    struct row worst = { .group = group };
    double worst_excess = broken_share;
    for (uint32_t k = 0; k < program->problem->kind_count; k++)
        if (program->x[cell_of(program->problem, k, group)] > 0)
            keep_worse(program,
                       (struct row){ .group = group,
                                     .profiles = sim_alloc_profiles(program->problem, k, group) },
                       &worst, &worst_excess);
    if (!(worst_excess > broken_share))
        return WEIR_OK;
    *is_broken = true;
    return add_row(program, &worst);
}

/* Adds the row of this group and measure that is broken most, if any is. */
static weir_status separate(struct program *program, struct row row, bool *is_broken)
{
    int64_t thresholds[MOST_THRESHOLDS];
    struct row worst = row;
    double worst_excess = broken_share;
    if (sim_alloc_bins_of(program->problem, row.group, row.measure).whole == 0)
        return WEIR_OK;
    keep_worse(program, row, &worst, &worst_excess);
    for (row.stretch.steps = 1; row.stretch.steps <= MOST_STEPS; row.stretch.steps++)
        keep_worse(program, row, &worst, &worst_excess);
    row.stretch.steps = 0;
    const size_t count = thresholds_of(program, &row, thresholds);
    for (size_t i = 0; i < count; i++) {
        row.stretch.threshold = thresholds[i];
        keep_worse(program, row, &worst, &worst_excess);
    }
    if (!(worst_excess > broken_share))
        return WEIR_OK;
    *is_broken = true;
    return add_row(program, &worst);
}

static weir_status separate_all(struct program *program, bool *is_broken)
{
    for (uint32_t g = 0; g < program->problem->group_count; g++) {
        WEIR_TRY(separate_instances(program, g, is_broken));
        for (int m = 0; m < SIM_ALLOC_MEASURES; m++)
            WEIR_TRY(separate(program,
                              (struct row){ .group = g, .measure = (enum sim_alloc_measure)m },
                              is_broken));
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

/* Weak duality: the rows at their multipliers, and for every kind what one more job would still
 * gain in its best group. Sums are rounded up a little. */
static double dual_value(const struct program *program)
{
    const struct sim_alloc_problem *problem = program->problem;
    double sum = 0;
    for (size_t r = 0; r < program->row_count; r++)
        sum += multiplier(program, r) * room_of(problem, &program->rows[r]);
    for (uint32_t k = 0; k < problem->kind_count; k++) {
        double best = 0;
        for (uint32_t g = 0; g < problem->group_count; g++) {
            double gain = problem->worth[k];
            for (size_t r = 0; r < program->row_count; r++)
                if (program->rows[r].group == g)
                    gain -= multiplier(program, r) * coefficient(problem, k, &program->rows[r]);
            best = problem->fits[cell_of(problem, k, g)] ? fmax(best, gain) : best;
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
                               .indices = calloc(room, sizeof(*program.indices)),
                               .values = calloc(room, sizeof(*program.values)) };
    weir_status status = WEIR_ENOMEM;
    *gpus = 0;
    *rounds = 0;
    if (cells == 1) {
        status = WEIR_OK; /* nothing that asks, or nothing to give */
    } else if (program.column != NULL && program.x != NULL && program.indices != NULL &&
               program.values != NULL) {
        (void)glp_term_out(GLP_OFF);
        program.lp = glp_create_prob();
        status = solve(&program, gpus, rounds);
        glp_delete_prob(program.lp);
        (void)glp_free_env();
    }
    free(program.column);
    free(program.x);
    free(program.rows);
    free(program.indices);
    free(program.values);
    return status;
}
