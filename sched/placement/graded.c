/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a policy that grades nodes by its parameter values alone; see grades.h.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/placement/parts/grades.h"

struct weir_graded {
    struct weir_allocator allocator;
    const struct weir_graded_kind *kind;
    struct weir_grades *grades;
    double *values;
};

struct weir_grader weir_graded_grader(const struct weir_graded_kind *kind, const double *values)
{
    return (struct weir_grader){ .grade = kind->grade,
                                 .rules = values,
                                 .uses_ram = kind->uses_ram,
                                 .uses_workers = kind->uses_workers,
                                 .tie = (uint32_t)values[kind->tie],
                                 .order_seed = (uint64_t)values[kind->order_seed],
                                 .steps = kind->steps == WEIR_NO_INDEX ? 0 : values[kind->steps],
                                 .full = kind->full };
}

static weir_status make_parts(struct weir_graded *graded, const struct weir_params *given)
{
    const struct weir_graded_kind *const kind = graded->kind;

    graded->values = weir_alloc(&graded->allocator, kind->count, sizeof *graded->values);
    if (graded->values == NULL)
        return WEIR_ENOMEM;
    weir_params_read(kind->params, kind->count, given, graded->values);
    return weir_grades_create(&graded->allocator, &graded->grades);
}

weir_status weir_graded_create(const struct weir_graded_kind *kind, const struct weir_params *given,
                               const struct weir_allocator *allocator, void **state,
                               struct weir_error *error)
{
    static const struct weir_made made = WEIR_MADE_BARE(struct weir_graded);

    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct weir_graded *const graded = *state;
    graded->kind = kind;
    return weir_made_end(make_parts(graded, given), weir_graded_destroy, state, error);
}

void weir_graded_destroy(void *state)
{
    struct weir_graded *const graded = state;

    weir_grades_destroy(graded->grades);
    weir_free(&graded->allocator, graded->values);
    weir_made_destroy(state);
}

const struct weir_graded_kind *weir_graded_kind_of(const struct weir_graded *graded)
{
    return graded->kind;
}

const double *weir_graded_values(const struct weir_graded *graded)
{
    return graded->values;
}

struct weir_grades *weir_graded_grades(const struct weir_graded *graded)
{
    return graded->grades;
}

weir_status weir_graded_place(void *state, const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_graded *const graded = state;
    const struct weir_grader grader = weir_graded_grader(graded->kind, graded->values);

    return weir_grades_place(graded->grades, &grader, query, answer, error);
}
