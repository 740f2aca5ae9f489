/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "fgd" as it was published, and three of a scheduler of pipelines that grew from it:
 * their parameters and operations. They differ in the defaults alone. "fgd_xenna" is that
 * scheduler's with what is good for a user; its codec version is bonus_applies everyone (the bonus
 * then changes nothing) with all other values as they are.
 */
#include "sched/placement/fgd.h"

#include "sched/internal/alloc.h"
#include "sched/placement/policies.h"

/* The table: the same parameters for every descriptor below, with the initial values that differ.
 */
#define FGD_PARAMS(metric_default, tie_default, score_default, precision_default, whole_default,   \
                   engines_default, reuse_default, evict_default)                                  \
    [WEIR_FGD_PARAM_METRIC] = { .name = "metric",                                                  \
                                .unit = "",                                                        \
                                .kind = WEIR_PARAM_CHOICE,                                         \
                                .min = 0,                                                          \
                                .max = 1,                                                          \
                                .initial = (metric_default),                                       \
                                .choices = "xenna|paper",                                          \
                                .help = "what counts as unusable: with codecs and memory, or "     \
                                        "compute and CPUs alone" },                                \
    [WEIR_FGD_PARAM_TIE] = { .name = "tie",                                                        \
                             .unit = "",                                                           \
                             .kind = WEIR_PARAM_CHOICE,                                            \
                             .min = 0,                                                             \
                             .max = WEIR_FGD_TIE_COUNT - 1,                                        \
                             .initial = (tie_default),                                             \
                             .choices = "most_free|most_used|first|random|best_fit|least_gpus|"    \
                                        "least_cpus|most_cpus|least_frag",                         \
                             .help = "which node wins when the fragmentation is equal; those "     \
                                     "after first need the score grade" },                         \
    [WEIR_FGD_PARAM_BONUS] = { .name = "reuse_bonus",                                              \
                               .unit = "GPU",                                                      \
                               .kind = WEIR_PARAM_NUMBER,                                          \
                               .min = 0,                                                           \
                               .max = 1000,                                                        \
                               .initial = 10,                                                      \
                               .choices = NULL,                                                    \
                               .help =                                                             \
                                   "taken off the score of a place that keeps a worker stopped "   \
                                   "in this decision" },                                           \
    [WEIR_FGD_PARAM_BONUS_APPLIES] = { .name = "reuse_bonus_applies",                              \
                                       .unit = "",                                                 \
                                       .kind = WEIR_PARAM_CHOICE,                                  \
                                       .min = 0,                                                   \
                                       .max = 1,                                                   \
                                       .initial = 1,                                               \
                                       .choices = "everyone|reused",                               \
                                       .help = "who gets the bonus; given to everyone it has no "  \
                                               "effect" },                                         \
    [WEIR_FGD_PARAM_EVICT_TIE] = { .name = "evict_tie",                                            \
                                   .unit = "",                                                     \
                                   .kind = WEIR_PARAM_CHOICE,                                      \
                                   .min = 0,                                                       \
                                   .max = 2,                                                       \
                                   .initial = (evict_default),                                     \
                                   .choices = "emptiest|fullest|emptiest_after",                   \
                                   .help = "whose worker is removed when the fragmentation is "    \
                                           "equal: the emptiest node's" },                         \
    [WEIR_FGD_PARAM_RESOLUTION] = { .name = "resolution",                                          \
                                    .unit = "GPU",                                                 \
                                    .kind = WEIR_PARAM_NUMBER,                                     \
                                    .min = 0x1p-40,                                                \
                                    .max = 1,                                                      \
                                    .initial = 0x1p-40,                                            \
                                    .choices = NULL,                                               \
                                    .help = "differences of fragmentation below this are ties" },  \
    [WEIR_FGD_PARAM_PRECISION] = { .name = "precision",                                            \
                                   .unit = "",                                                     \
                                   .kind = WEIR_PARAM_CHOICE,                                      \
                                   .min = 0,                                                       \
                                   .max = 1,                                                       \
                                   .initial = (precision_default),                                 \
                                   .choices = "double|single",                                     \
                                   .help =                                                         \
                                       "scores on the grid of `resolution`, or 32-bit floats as "  \
                                       "in the reference" },                                       \
    [WEIR_FGD_PARAM_WHOLE] = { .name = "whole",                                                    \
                               .unit = "",                                                         \
                               .kind = WEIR_PARAM_CHOICE,                                          \
                               .min = 0,                                                           \
                               .max = 1,                                                           \
                               .initial = (whole_default),                                         \
                               .choices = "all|first_free",                                        \
                               .help = "single: places of a whole-GPU worker on a node" },         \
    [WEIR_FGD_PARAM_ENGINES] = { .name = "whole_engines",                                          \
                                 .unit = "",                                                       \
                                 .kind = WEIR_PARAM_CHOICE,                                        \
                                 .min = 0,                                                         \
                                 .max = 1,                                                         \
                                 .initial = (engines_default),                                     \
                                 .choices = "free|lowest",                                         \
                                 .help = "single: codec engines of whole GPUs; lowest insists on " \
                                         "engines 0 to k-1" },                                     \
    [WEIR_FGD_PARAM_REUSE] = { .name = "reuse",                                                    \
                               .unit = "",                                                         \
                               .kind = WEIR_PARAM_CHOICE,                                          \
                               .min = 0,                                                           \
                               .max = 2,                                                           \
                               .initial = (reuse_default),                                         \
                               .choices = "never|same_tie|most_used",                              \
                               .help = "single: whether a worker stopped in this decision may "    \
                                       "stay, and how its ties are decided" },                     \
    [WEIR_FGD_PARAM_SCORE] = { .name = "score",                                                    \
                               .unit = "",                                                         \
                               .kind = WEIR_PARAM_CHOICE,                                          \
                               .min = 0,                                                           \
                               .max = 1,                                                           \
                               .initial = (score_default),                                         \
                               .choices = "change|grade",                                          \
                               .help = "places are compared by the change itself, or nodes by a "  \
                                       "grade in whole steps, as published; grade needs the "      \
                                       "metric paper" },                                           \
    [WEIR_FGD_PARAM_STEPS] = { .name = "steps",                                                    \
                               .unit = "",                                                         \
                               .kind = WEIR_PARAM_COUNT,                                           \
                               .min = 0,                                                           \
                               .max = 1e9,                                                         \
                               .initial = 100,                                                     \
                               .choices = NULL,                                                    \
                               .help = "grade: steps between 0 and 1; 0 = full precision" },       \
    [WEIR_FGD_PARAM_DEVICE_SCORE] = { .name = "device_score",                                      \
                                      .unit = "",                                                  \
                                      .kind = WEIR_PARAM_CHOICE,                                   \
                                      .min = 0,                                                    \
                                      .max = 1,                                                    \
                                      .initial = WEIR_FGD_DEVICE_CUT,                              \
                                      .choices = "cut|full",                                       \
                                      .help = "grade: GPUs for a share are compared in whole "     \
                                              "steps, or in full precision" },                     \
    [WEIR_FGD_PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM("grade: ")

static const struct weir_param params[WEIR_FGD_PARAM_COUNT] = { FGD_PARAMS(
    WEIR_FRAG_PAPER, WEIR_FGD_FIRST, WEIR_FGD_SCORE_GRADE, WEIR_FGD_DOUBLE, WEIR_FGD_ALL_WHOLE,
    WEIR_FGD_FREE_ENGINES, WEIR_FGD_REUSE_SAME_TIE, WEIR_FGD_EMPTIEST) };
static const struct weir_param params_xenna[WEIR_FGD_PARAM_COUNT] = { FGD_PARAMS(
    WEIR_FRAG_XENNA, WEIR_FGD_MOST_FREE, WEIR_FGD_SCORE_CHANGE, WEIR_FGD_DOUBLE, WEIR_FGD_ALL_WHOLE,
    WEIR_FGD_FREE_ENGINES, WEIR_FGD_REUSE_SAME_TIE, WEIR_FGD_EMPTIEST) };
static const struct weir_param params_n[WEIR_FGD_PARAM_COUNT] = { FGD_PARAMS(
    WEIR_FRAG_XENNA, WEIR_FGD_MOST_FREE, WEIR_FGD_SCORE_CHANGE, WEIR_FGD_SINGLE,
    WEIR_FGD_FIRST_FREE, WEIR_FGD_FREE_ENGINES, WEIR_FGD_REUSE_MOST_USED, WEIR_FGD_FULLEST) };
static const struct weir_param params_c[WEIR_FGD_PARAM_COUNT] = { FGD_PARAMS(
    WEIR_FRAG_XENNA, WEIR_FGD_MOST_FREE, WEIR_FGD_SCORE_CHANGE, WEIR_FGD_SINGLE, WEIR_FGD_ALL_WHOLE,
    WEIR_FGD_LOWEST_ENGINES, WEIR_FGD_REUSE_NEVER, WEIR_FGD_EMPTIEST_AFTER) };

struct weir_fgd_rules weir_fgd_rules_read(const struct weir_params *values)
{
    double read[WEIR_FGD_PARAM_COUNT];

    for (uint32_t i = 0; i < WEIR_FGD_PARAM_COUNT; i++)
        read[i] = values != NULL && i < values->count ? values->values[i] : params[i].initial;
    return (struct weir_fgd_rules){
        .metric = (uint32_t)read[WEIR_FGD_PARAM_METRIC],
        .tie = (uint32_t)read[WEIR_FGD_PARAM_TIE],
        .bonus_applies = (uint32_t)read[WEIR_FGD_PARAM_BONUS_APPLIES],
        .evict_tie = (uint32_t)read[WEIR_FGD_PARAM_EVICT_TIE],
        .precision = (uint32_t)read[WEIR_FGD_PARAM_PRECISION],
        .whole = (uint32_t)read[WEIR_FGD_PARAM_WHOLE],
        .engines = (uint32_t)read[WEIR_FGD_PARAM_ENGINES],
        .reuse = (uint32_t)read[WEIR_FGD_PARAM_REUSE],
        .bonus = read[WEIR_FGD_PARAM_BONUS],
        .resolution = read[WEIR_FGD_PARAM_RESOLUTION],
        .score = (uint32_t)read[WEIR_FGD_PARAM_SCORE],
        .steps = read[WEIR_FGD_PARAM_STEPS],
        .device_score = (uint32_t)read[WEIR_FGD_PARAM_DEVICE_SCORE],
        .order_seed = (uint64_t)read[WEIR_FGD_PARAM_ORDER],
    };
}

/* One of the three, by score and precision. */
struct policy {
    struct weir_allocator allocator;
    struct weir_fgd_rules rules;
    struct weir_fgd *fgd;
    struct weir_fgd_single *single;
    struct weir_grades *grades;
};

static void destroy(void *state)
{
    struct policy *const policy = state;

    if (policy == NULL)
        return;
    const struct weir_allocator memory = policy->allocator;
    weir_fgd_destroy(policy->fgd);
    weir_fgd_single_destroy(policy->single);
    weir_grades_destroy(policy->grades);
    weir_free(&memory, policy);
}

/* Rules that go together. */
static weir_status check_rules(const struct weir_fgd_rules *rules, struct weir_error *error)
{
    const bool is_grade = rules->score == WEIR_FGD_SCORE_GRADE;

    if (is_grade && rules->metric != WEIR_FRAG_PAPER)
        return weir_fail(error, WEIR_EINVAL, "score grade needs metric paper");
    if (!is_grade && rules->tie > WEIR_FGD_FIRST)
        return weir_fail(error, WEIR_EINVAL,
                         "score change knows the ties most_free, most_used and first alone");
    if (!is_grade && rules->order_seed != 0)
        return weir_fail(error, WEIR_EINVAL, "order_seed needs score grade");
    return WEIR_OK;
}

static weir_status create_parts(struct policy *policy)
{
    if (policy->rules.score == WEIR_FGD_SCORE_GRADE)
        return weir_grades_create(&policy->allocator, &policy->grades);
    if (policy->rules.precision == WEIR_FGD_SINGLE)
        return weir_fgd_single_create(&policy->rules, &policy->allocator, &policy->single);
    return WEIR_OK;
}

static weir_status create(const struct weir_params *values, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    const struct weir_fgd_rules rules = weir_fgd_rules_read(values);
    const struct weir_allocator memory = weir_allocator_copy(allocator);

    WEIR_TRY(check_rules(&rules, error));
    struct policy *const policy = weir_alloc(&memory, 1, sizeof *policy);
    if (policy == NULL)
        return weir_fail(error, WEIR_ENOMEM, "placement fgd: out of memory");
    policy->allocator = memory;
    policy->rules = rules;
    if (weir_fgd_create(&rules, &memory, &policy->fgd) != WEIR_OK ||
        create_parts(policy) != WEIR_OK) {
        destroy(policy);
        return weir_fail(error, WEIR_ENOMEM, "placement fgd: out of memory");
    }
    *state = policy;
    return WEIR_OK;
}

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    const struct policy *const made = state;

    if (made->single != NULL)
        return weir_fgd_single_score(&made->rules, query, candidate, false);
    return weir_fgd_plain_score(&made->rules, query, candidate);
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct policy *const made = state;

    if (made->grades != NULL) {
        const struct weir_grader grader = weir_fgd_grader(&made->rules);
        return weir_grades_place(made->grades, &grader, query, answer, error);
    }
    if (made->single != NULL)
        return weir_fgd_single_fast_place(made->single, query, answer, error);
    return weir_fgd_place(made->fgd, query, answer, error);
}

static weir_status evict(void *state, const struct weir_evict_query *query, uint64_t *worker,
                         struct weir_error *error)
{
    const struct policy *const made = state;

    if (made->single != NULL)
        return weir_fgd_single_fast_evict(made->single, query, worker, error);
    return weir_fgd_evict(made->fgd, query, worker, error);
}

const struct weir_placement_ops weir_placement_fgd = {
    .size = sizeof weir_placement_fgd,
    .abi = WEIR_ABI_MAJOR,
    .name = "fgd",
    .summary = "least growth of fragmentation: free GPU compute the expected shapes cannot use",
    .params = params,
    .param_count = WEIR_FGD_PARAM_COUNT,
    .flags = WEIR_PLACEMENT_FOLLOWS_STOPPED,
    .create = create,
    .destroy = destroy,
    .score = score,
    .place = place,
    .evict = evict,
};

const struct weir_placement_ops weir_placement_fgd_xenna = {
    .size = sizeof weir_placement_fgd_xenna,
    .abi = WEIR_ABI_MAJOR,
    .name = "fgd_xenna",
    .summary = "fgd for stages: codec engines and GPU memory count, stopped workers are reused",
    .params = params_xenna,
    .param_count = WEIR_FGD_PARAM_COUNT,
    .flags = WEIR_PLACEMENT_FOLLOWS_STOPPED,
    .create = create,
    .destroy = destroy,
    .score = score,
    .place = place,
    .evict = evict,
};

const struct weir_placement_ops weir_placement_fgd_n = {
    .size = sizeof weir_placement_fgd_n,
    .abi = WEIR_ABI_MAJOR,
    .name = "fgd_n",
    .summary = "fgd as the reference has it today: 32-bit scores, reuse first, fullest victim",
    .params = params_n,
    .param_count = WEIR_FGD_PARAM_COUNT,
    .flags = WEIR_PLACEMENT_FOLLOWS_STOPPED,
    .create = create,
    .destroy = destroy,
    .score = score,
    .place = place,
    .evict = evict,
};

const struct weir_placement_ops weir_placement_fgd_c = {
    .size = sizeof weir_placement_fgd_c,
    .abi = WEIR_ABI_MAJOR,
    .name = "fgd_c",
    .summary = "fgd as the reference had it with codecs: 32-bit scores, no reuse",
    .params = params_c,
    .param_count = WEIR_FGD_PARAM_COUNT,
    .flags = WEIR_PLACEMENT_FOLLOWS_STOPPED,
    .create = create,
    .destroy = destroy,
    .score = score,
    .place = place,
    .evict = evict,
};
