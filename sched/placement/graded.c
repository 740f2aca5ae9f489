/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a policy that grades nodes by its parameter values alone; see grades.h.
 */
#include "sched/internal/alloc.h"
#include "sched/placement/grades.h"

#include <math.h>

struct weir_graded {
    struct weir_allocator allocator;
    struct weir_grades *grades;
    double *values;
};

weir_status weir_graded_create(struct weir_graded_table table, const struct weir_params *given,
                               const struct weir_allocator *allocator, void **state,
                               struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    const uint32_t given_count = given == NULL ? 0 : given->count;
    struct weir_graded *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = memory;
    made->values = weir_alloc(&memory, table.count, sizeof *made->values);
    if (made->values == NULL || weir_grades_create(&memory, &made->grades) != WEIR_OK) {
        weir_graded_destroy(made);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < table.count; i++)
        made->values[i] = i < given_count ? given->values[i] : table.params[i].initial;
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

const double *weir_graded_values(const struct weir_graded *graded)
{
    return graded->values;
}

weir_status weir_graded_place(struct weir_graded *graded, struct weir_grader grader,
                              const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error)
{
    grader.rules = graded->values;
    return weir_grades_place(graded->grades, &grader, query, answer, error);
}

double weir_grade_cut(double value, double steps)
{
    return steps > 0 ? trunc(steps * value) : value;
}
