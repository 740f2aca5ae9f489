/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simplex method; see the header.
 *
 * Row i says basic[i] = b_i - sum of cell(i, j) free[j]; the goal is v + sum of goal_j free[j],
 * with v kept negated in the place of its bound. Entries below `tiny` are rounding and count as 0.
 */
#include "sched/solve/program.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

static const double tiny = 1e-11;

enum { PATIENCE = 20, MOST_PIVOTS = 20000 };

void weir_program_open(struct weir_program *program, const struct weir_allocator *allocator)
{
    *program = (struct weir_program){ .allocator = *allocator };
}

void weir_program_close(struct weir_program *program)
{
    weir_free(&program->allocator, program->cells);
    weir_free(&program->allocator, program->basic);
    weir_free(&program->allocator, program->free);
    weir_free(&program->allocator, program->x);
    weir_free(&program->allocator, program->entries);
}

static uint32_t width(const struct weir_program *program)
{
    return program->columns + 2; /* the auxiliary variable, and b */
}

static double *row_at(const struct weir_program *program, uint32_t row)
{
    return &program->cells[(size_t)row * width(program)];
}

weir_status weir_program_begin(struct weir_program *program, uint32_t rows, uint32_t columns)
{
    const struct weir_allocator *const memory = &program->allocator;

    program->rows = rows;
    program->columns = columns;
    program->pivots = 0;
    WEIR_ROOM(memory, program->cells, program->cell_capacity, (rows + 1) * (columns + 2));
    WEIR_ROOM(memory, program->basic, program->basic_capacity, rows + 1);
    WEIR_ROOM(memory, program->free, program->free_capacity, columns + 1);
    WEIR_ROOM(memory, program->x, program->x_capacity, columns + 1);
    WEIR_ROOM(memory, program->entries, program->entry_capacity, columns + 2);
    memset(program->cells, 0, (size_t)(rows + 1) * width(program) * sizeof *program->cells);
    for (uint32_t j = 0; j <= columns; j++)
        program->free[j] = j == columns ? columns + rows : j;
    for (uint32_t i = 0; i < rows; i++)
        program->basic[i] = columns + i;
    return WEIR_OK;
}

double *weir_program_at(struct weir_program *program, uint32_t row, uint32_t column)
{
    return &row_at(program, row)[column];
}

double *weir_program_bound(struct weir_program *program, uint32_t row)
{
    return &row_at(program, row)[program->columns + 1];
}

double *weir_program_goal(struct weir_program *program, uint32_t column)
{
    return &row_at(program, program->rows)[column];
}

/* ---- pivots ---- */

/* Divides the row; the places of what it has but for the column. Most of it is 0. */
static uint32_t list_entries(struct weir_program *program, double *from, uint32_t column)
{
    const uint32_t all = width(program);
    const double by = from[column];
    uint32_t count = 0;

    for (uint32_t j = 0; j < all; j++) {
        if (!(fabs(from[j]) > 0) || j == column)
            continue;
        from[j] /= by;
        program->entries[count++] = j;
    }
    from[column] = 1 / by;
    return count;
}

/* The free variable of the column becomes basic in the row. The goal is a row with the opposite
 * sign, so the same step is right for it. */
static void pivot(struct weir_program *program, uint32_t row, uint32_t column)
{
    double *const from = row_at(program, row);
    const uint32_t was = program->basic[row];
    const uint32_t count = list_entries(program, from, column);
    for (uint32_t i = 0; i <= program->rows; i++) {
        double *const to = row_at(program, i);
        const double times = to[column];
        if (i == row || fabs(times) < tiny) {
            to[column] = i == row ? to[column] : 0;
            continue;
        }
        for (uint32_t e = 0; e < count; e++)
            to[program->entries[e]] -= times * from[program->entries[e]];
        to[column] = -times * from[column];
    }
    program->basic[row] = program->free[column];
    program->free[column] = was;
}

/* Whether column `a` enters rather than `b`: the one that raises the goal fastest, or the one with
 * the smallest variable (Bland). */
static bool enters_before(const struct weir_program *program, uint32_t a, uint32_t b, bool by_name)
{
    const double *const goal = row_at(program, program->rows);

    return by_name ? program->free[a] < program->free[b] : goal[a] > goal[b];
}

/* Of the columns that raise the goal. WEIR_NO_INDEX = none does. */
static uint32_t entering(const struct weir_program *program, uint32_t columns, bool by_name)
{
    const double *const goal = row_at(program, program->rows);
    uint32_t best = WEIR_NO_INDEX;

    for (uint32_t j = 0; j < columns; j++)
        if (goal[j] > tiny && (best == WEIR_NO_INDEX || enters_before(program, j, best, by_name)))
            best = j;
    return best;
}

/* The row that binds first; of equals the one with the smallest variable. */
static uint32_t leaving(const struct weir_program *program, uint32_t column)
{
    uint32_t best = WEIR_NO_INDEX;
    double least = HUGE_VAL;

    for (uint32_t i = 0; i < program->rows; i++) {
        const double *const row = row_at(program, i);
        if (!(row[column] > tiny))
            continue;
        const double bound = row[program->columns + 1] / row[column];
        const bool is_less = bound < least - tiny;
        if (is_less || (bound <= least + tiny && best != WEIR_NO_INDEX &&
                        program->basic[i] < program->basic[best])) {
            least = bound < least ? bound : least;
            best = i;
        }
    }
    return best;
}

/* The steepest column takes far fewer pivots than Bland's rule, but may go round in circles where
 * nothing is gained: so after PATIENCE pivots of that kind it is Bland's rule until one gains. */
static weir_status climb(struct weir_program *program, uint32_t columns)
{
    const double *const goal = row_at(program, program->rows);
    uint32_t in_vain = 0;

    for (uint32_t turn = 0; turn < MOST_PIVOTS; turn++) {
        const double before = goal[program->columns + 1];
        const uint32_t column = entering(program, columns, in_vain >= PATIENCE);
        if (column == WEIR_NO_INDEX)
            return WEIR_OK;
        const uint32_t row = leaving(program, column);
        if (row == WEIR_NO_INDEX)
            return WEIR_ERANGE;
        pivot(program, row, column);
        program->pivots++;
        in_vain = fabs(goal[program->columns + 1] - before) > tiny ? 0 : in_vain + 1;
    }
    return WEIR_ERANGE;
}

/* ---- a first answer ---- */

static uint32_t most_negative(const struct weir_program *program)
{
    uint32_t worst = WEIR_NO_INDEX;
    double least = -tiny;

    for (uint32_t i = 0; i < program->rows; i++) {
        const double bound = row_at(program, i)[program->columns + 1];
        if (bound < least) {
            least = bound;
            worst = i;
        }
    }
    return worst;
}

/* The auxiliary variable is 0; it may still be basic. */
static void drive_out(struct weir_program *program)
{
    const uint32_t auxiliary = program->columns + program->rows;

    for (uint32_t i = 0; i < program->rows; i++) {
        if (program->basic[i] != auxiliary)
            continue;
        uint32_t column = 0;
        for (uint32_t j = 1; j <= program->columns; j++)
            if (fabs(row_at(program, i)[j]) > fabs(row_at(program, i)[column]))
                column = j;
        pivot(program, i, column);
    }
    for (uint32_t j = 0; j <= program->columns; j++)
        for (uint32_t i = 0; i <= program->rows && program->free[j] == auxiliary; i++)
            row_at(program, i)[j] = 0;
}

/* The goal of the caller in the variables that are free now. */
static void restore_goal(struct weir_program *program, const double *wanted)
{
    double *const goal = row_at(program, program->rows);

    memset(goal, 0, width(program) * sizeof *goal);
    for (uint32_t j = 0; j <= program->columns; j++)
        if (program->free[j] < program->columns)
            goal[j] += wanted[program->free[j]];
    for (uint32_t i = 0; i < program->rows; i++) {
        if (program->basic[i] >= program->columns)
            continue;
        const double times = wanted[program->basic[i]];
        const double *const row = row_at(program, i);
        for (uint32_t j = 0; j < width(program); j++)
            goal[j] -= times * row[j];
    }
}

static weir_status find_first(struct weir_program *program, const double *wanted)
{
    double *const goal = row_at(program, program->rows);
    const uint32_t worst = most_negative(program);

    if (worst == WEIR_NO_INDEX)
        return WEIR_OK;
    memset(goal, 0, width(program) * sizeof *goal);
    goal[program->columns] = -1;
    for (uint32_t i = 0; i < program->rows; i++)
        row_at(program, i)[program->columns] = -1;
    pivot(program, worst, program->columns);
    WEIR_TRY(climb(program, program->columns + 1));
    if (fabs(goal[program->columns + 1]) > 1e-9)
        return WEIR_EINFEASIBLE;
    drive_out(program);
    restore_goal(program, wanted);
    return WEIR_OK;
}

weir_status weir_program_solve(struct weir_program *program, double *most)
{
    const double *const goal = row_at(program, program->rows);

    memcpy(program->x, goal, program->columns * sizeof *goal);
    weir_status status = find_first(program, program->x);
    if (status == WEIR_OK)
        status = climb(program, program->columns + 1);
    memset(program->x, 0, (program->columns + 1) * sizeof *program->x);
    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < program->rows; i++)
        if (program->basic[i] < program->columns)
            program->x[program->basic[i]] = row_at(program, i)[program->columns + 1];
    *most = -goal[program->columns + 1];
    return WEIR_OK;
}
