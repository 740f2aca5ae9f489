/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graded placement: a policy gives every node that has room a grade, the best grade wins; of equal
 * grades a rule of its own decides (enum weir_tie), and what is equal then too goes to the first
 * node of an order. Node and device are two choices: the grade also names the GPU a share goes to,
 * so equal nodes are never told apart by their GPUs. Whole GPUs are the lowest free ones.
 *
 * How finely grades are told apart, and who wins a tie, matters more than what is graded: nearly
 * all decisions on a cluster of many equal nodes are ties. Both are parameters of every such
 * policy.
 *
 * A grade depends on the state of the node, the shape (its memory only if the grader says so), and
 * the mix. So grades are kept per shape and node, and only nodes that changed since are graded
 * again (weir_grades_place); the plain form grades every node for every question and is the oracle
 * of the tests.
 *
 * In the choice report primary and secondary score are grade and tie value with their signs turned
 * (smaller is better).
 */
#ifndef SCHED_PLACEMENT_GRADES_H
#define SCHED_PLACEMENT_GRADES_H

#include "sched/internal/params.h"

/* A node on which the shape fits, memory left aside. */
struct weir_grade_site {
    const struct weir_cluster *cluster;
    const struct weir_shape *shape;
    const struct weir_mix *mix;
    struct weir_owner owner; /* kind and index of who asks, for a grader that uses them */
    uint32_t node;
};

struct weir_grade {
    double value; /* larger is better */
    double tie;   /* of equal values the larger wins; set by the framework, unless told */
    uint32_t gpu; /* for a share of a GPU; ignored for other shapes */
    uint32_t mig; /* SLICE: the instance (weir_device_instance), 0 = the first on that GPU */
};

/* Which of equal nodes wins, judged before the placement; in the order of WEIR_TIE_CHOICES. */
enum weir_tie {
    WEIR_TIE_FIRST,
    WEIR_TIE_RANDOM,     /* each with the same chance, drawn from the seed of the query */
    WEIR_TIE_BEST_FIT,   /* least left of CPUs (in 128) and GPUs (in 8), in full precision */
    WEIR_TIE_MOST_USED,  /* smallest share of the node's stock free (CPUs, GPUs, engines) */
    WEIR_TIE_MOST_FREE,  /* largest */
    WEIR_TIE_LEAST_GPUS, /* least free GPU compute */
    WEIR_TIE_LEAST_CPUS,
    WEIR_TIE_MOST_CPUS,
    WEIR_TIE_LEAST_FRAG, /* smallest F of the node (frag.h, metric PAPER); needs the mix */
    WEIR_TIE_COUNT
};
#define WEIR_TIE_CHOICES                                                                           \
    "first|random|best_fit|most_used|most_free|least_gpus|least_cpus|most_cpus|least_frag"

struct weir_grader {
    struct weir_grade (*grade)(const void *rules, const struct weir_grade_site *site);
    const void *rules;
    bool uses_mix;
    bool uses_ram;       /* grades depend on the memory that is asked for */
    bool uses_workers;   /* and on who is there, not only on what is free */
    bool uses_owner;     /* and on who asks */
    bool tells_ties;     /* its own value decides ties, whatever `tie` says */
    uint32_t tie;        /* enum weir_tie */
    uint64_t order_seed; /* draws the order of nodes; 0 = as the inventory has them */
    double steps, full;  /* grades are cut to whole 1/`steps` of `full`; 0 = as they are */
};

/* ---- what graders look at ---- */

/* Free compute of the node's GPUs, in units. */
int64_t weir_grade_gpu_free(const struct weir_grade_site *site);
/* What the shape takes of GPU compute in all. */
int64_t weir_grade_gpu_request(const struct weir_shape *shape);
/* Half of what is left of CPUs and of GPUs after the placement, in `cpu_scale` and `gpu_scale`. */
double weir_grade_left(const struct weir_grade_site *site, double cpu_scale, double gpu_scale);
/* Which GPU of the chosen node a share goes to; of equals the lowest. */
enum weir_grade_device { WEIR_GRADE_TIGHTEST, WEIR_GRADE_LOOSEST, WEIR_GRADE_LOWEST };
uint32_t weir_grade_pick_gpu(const struct weir_grade_site *site, double device);

/* Grade cut as the grader says, and tie value: what nodes are compared by. */
struct weir_grade weir_grader_ask(const struct weir_grader *grader,
                                  const struct weir_grade_site *site);

/* ---- placing ---- */

struct weir_grades;

weir_status weir_grades_create(const struct weir_allocator *allocator, struct weir_grades **grades);
void weir_grades_destroy(struct weir_grades *grades);
/* The same answer as the plain form; of runners-up with the same grade it may name another one, and
 * of several lacks of a node it may count another one.
 * O(1) and at most O(log nodes) more for every node that changed since the same shape was asked
 * for; a random tie and scarce memory cost O(nodes). */
weir_status weir_grades_place(struct weir_grades *grades, const struct weir_grader *grader,
                              const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error);

/* The grade of one node as it is kept. */
struct weir_kept_grade {
    double value; /* -INFINITY = no room */
    double tie;
    int64_t ram_free; /* there; where there is no room INT64_MAX */
    uint64_t state;   /* of the node, that it was found for */
    uint16_t gpu;     /* or why there is no room */
    uint16_t mig;
};
/* The grades of all nodes for this question, brought up to date; memory is left aside unless the
 * grader uses it. Valid until the next call. NULL = out of memory. */
const struct weir_kept_grade *weir_grades_all(struct weir_grades *grades,
                                              const struct weir_grader *grader,
                                              const struct weir_place_query *query);

/* ---- policies whose rules are their parameter values alone ---- */

/* What distinguishes one such policy. The three indices say which parameter holds what every graded
 * policy has. `grade` gets the values (const double *). */
struct weir_graded_kind {
    const struct weir_param *params;
    uint32_t count;
    uint32_t steps, tie, order_seed;
    struct weir_grade (*grade)(const void *values, const struct weir_grade_site *site);
    double full; /* the grade that counts as all of the steps */
    bool uses_ram, uses_workers;
};

/* The grader of a policy with these values. */
struct weir_grader weir_graded_grader(const struct weir_graded_kind *kind, const double *values);

struct weir_graded;

/* `create`, `destroy` and `place` of such a policy. */
weir_status weir_graded_create(const struct weir_graded_kind *kind, const struct weir_params *given,
                               const struct weir_allocator *allocator, void **state,
                               struct weir_error *error);
void weir_graded_destroy(void *state);
weir_status weir_graded_place(void *state, const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error);
const double *weir_graded_values(const struct weir_graded *graded);
struct weir_grades *weir_graded_grades(const struct weir_graded *graded);
const struct weir_graded_kind *weir_graded_kind_of(const struct weir_graded *graded);

/* `value` cut down to whole steps of 1/`steps` of `full`; 0 steps = as it is. Grades of `full` 1
 * are 0 .. steps. */
double weir_grade_cut(double value, double steps, double full);

/* ---- the parameters they share; `when` is put before the help ---- */

#define WEIR_GRADE_STEPS_PARAM(when, steps_initial)                                                \
    WEIR_COUNT("steps", "", 0, 1e9, steps_initial,                                                 \
               when "scores are cut to this many steps; 0 = full precision")
#define WEIR_GRADE_DEVICE_PARAM(device_initial)                                                    \
    WEIR_CHOICE("device", "tightest|loosest|lowest", 2, device_initial,                            \
                "which GPU of the chosen node a share goes to: least free, most free, or the "     \
                "first that fits")
#define WEIR_GRADE_TIE_PARAM(when)                                                                 \
    WEIR_CHOICE("tie", WEIR_TIE_CHOICES, WEIR_TIE_COUNT - 1, WEIR_TIE_FIRST,                       \
                when "which of equally scored nodes wins")
#define WEIR_GRADE_ORDER_PARAM(when)                                                               \
    WEIR_COUNT("order_seed", "", 0, 1e15, 0,                                                       \
               when "draws the order in which equal nodes are taken; 0 = as the cluster has them")
#define WEIR_GRADE_CPU_SCALE_PARAM(when)                                                           \
    WEIR_NUMBER("cpu_scale", "CPU", 1e-3, 1e6, 128, when "CPUs that count as 1")
#define WEIR_GRADE_GPU_SCALE_PARAM(when)                                                           \
    WEIR_NUMBER("gpu_scale", "GPU", 1e-3, 1e6, 8, when "GPUs that count as 1")

#endif
