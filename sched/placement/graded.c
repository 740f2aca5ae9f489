/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a policy that grades nodes by its parameter values alone; see grades.h.
 */
#include "sched/internal/alloc.h"
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

weir_status weir_graded_create(const struct weir_graded_kind *kind, const struct weir_params *given,
                               const struct weir_allocator *allocator, void **state,
                               struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_graded *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = memory;
    made->kind = kind;
    made->values = weir_alloc(&memory, kind->count, sizeof *made->values);
    if (made->values == NULL || weir_grades_create(&memory, &made->grades) != WEIR_OK) {
        weir_graded_destroy(made);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    weir_params_read(kind->params, kind->count, given, made->values);
    *state = made;
    return WEIR_OK;
}

void weir_graded_destroy(void *state)
{
    struct weir_graded *const graded = state;

    if (graded == NULL)
        return;
    const struct weir_allocator memory = graded->allocator;
    weir_grades_destroy(graded->grades);
    weir_free(&memory, graded->values);
    weir_free(&memory, graded);
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
