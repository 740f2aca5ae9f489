/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graded placement: a policy gives every node that has room a grade, the best grade wins, and the
 * first of equal nodes. Node and device are two choices: the grade also names the GPU a share goes
 * to, so equal nodes are never told apart by their GPUs. Whole GPUs are the lowest free ones.
 *
 * A grade depends on the node, the shape without its memory, and the mix alone. So grades are kept
 * per shape and node, and only nodes that changed since are graded again (weir_grades_place); the
 * plain form grades every node for every question and is the oracle of the tests.
 *
 * In the choice report the primary score is the grade with its sign turned (smaller is better).
 */
#ifndef SCHED_PLACEMENT_GRADES_H
#define SCHED_PLACEMENT_GRADES_H

#include "weir/policy.h"

/* A node on which the shape fits, memory left aside. */
struct weir_grade_site {
    const struct weir_cluster *cluster;
    const struct weir_shape *shape;
    const struct weir_mix *mix;
    uint32_t node;
};

struct weir_grade {
    double value; /* larger is better */
    uint32_t gpu; /* for a share of a GPU; ignored for other shapes */
    uint32_t mig; /* SLICE: the instance (weir_device_instance), 0 = the first on that GPU */
};

struct weir_grader {
    struct weir_grade (*grade)(const void *rules, const struct weir_grade_site *site);
    const void *rules;
    bool uses_mix;
};

/* ---- what graders look at ---- */

/* Free compute of the node's GPUs, in units. */
int64_t weir_grade_gpu_free(const struct weir_grade_site *site);
/* What the shape takes of GPU compute in all. */
int64_t weir_grade_gpu_request(const struct weir_shape *shape);
/* Which GPU of the chosen node a share goes to; of equals the lowest. */
enum weir_grade_device { WEIR_GRADE_TIGHTEST, WEIR_GRADE_LOOSEST, WEIR_GRADE_LOWEST };
#define WEIR_GRADE_DEVICE_PARAM                                                                    \
    {                                                                                              \
        .name = "device", .unit = "", .kind = WEIR_PARAM_CHOICE, .min = 0, .max = 2,               \
        .initial = WEIR_GRADE_TIGHTEST, .choices = "tightest|loosest|lowest",                      \
        .help = "which GPU of the chosen node a share goes to: least free, most free, or the "     \
                "first that fits"                                                                  \
    }
uint32_t weir_grade_pick_gpu(const struct weir_grade_site *site, double device);

/* ---- placing ---- */

weir_status weir_grades_plain_place(const struct weir_grader *grader,
                                    const struct weir_place_query *query,
                                    struct weir_place_answer *answer, struct weir_error *error);

struct weir_grades;

weir_status weir_grades_create(const struct weir_allocator *allocator, struct weir_grades **grades);
void weir_grades_destroy(struct weir_grades *grades);
/* The same answer as the plain form, but for the counts of the choice report: nodes alone. */
weir_status weir_grades_place(struct weir_grades *grades, const struct weir_grader *grader,
                              const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error);

/* ---- policies whose rules are their parameter values alone ---- */

struct weir_graded;

struct weir_graded_table {
    const struct weir_param *params;
    uint32_t count;
};

/* `create` and `destroy` of such a policy; the grader's rules are its values (const double *). What
 * `given` leaves out has its default. */
weir_status weir_graded_create(struct weir_graded_table table, const struct weir_params *given,
                               const struct weir_allocator *allocator, void **state,
                               struct weir_error *error);
void weir_graded_destroy(void *state);
const double *weir_graded_values(const struct weir_graded *graded);
weir_status weir_graded_place(struct weir_graded *graded, struct weir_grader grader,
                              const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error);

/* `value` cut down to whole steps of 1/`steps`; 0 steps = as it is. Grades are 0 .. steps. */
double weir_grade_cut(double value, double steps);

#endif
