/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "fgd" as it was published, and three of a scheduler of pipelines that grew from it:
 * their parameters and operations. They differ in the defaults alone. "fgd_xenna" is that
 * scheduler's with what is good for a user; its codec version is bonus_applies everyone (the bonus
 * then changes nothing) with all other values as they are.
 */
#include "sched/placement/fgd.h"

#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/placement/policies.h"

/* The table: the same parameters for every descriptor below, with the initial values that differ.
 */
#define FGD_PARAMS(metric_default, tie_default, score_default, precision_default, whole_default,   \
                   engines_default, reuse_default, evict_default)                                  \
    [WEIR_FGD_PARAM_METRIC] =                                                                      \
        WEIR_CHOICE("metric", "xenna|paper", 1, metric_default,                                    \
                    "what counts as unusable: with codecs and memory, or compute and CPUs alone"), \
    [WEIR_FGD_PARAM_TIE] = WEIR_CHOICE(                                                            \
        "tie",                                                                                     \
        "most_free|most_used|first|random|best_fit|least_gpus|least_cpus|most_cpus|least_frag",    \
        WEIR_FGD_TIE_COUNT - 1, tie_default,                                                       \
        "which node wins when the fragmentation is equal; those after first need the score "       \
        "grade"),                                                                                  \
    [WEIR_FGD_PARAM_BONUS] = WEIR_NUMBER(                                                          \
        "reuse_bonus", "GPU", 0, 1000, 10,                                                         \
        "taken off the score of a place that keeps a worker stopped in this decision"),            \
    [WEIR_FGD_PARAM_BONUS_APPLIES] =                                                               \
        WEIR_CHOICE("reuse_bonus_applies", "everyone|reused", 1, 1,                                \
                    "who gets the bonus; given to everyone it has no effect"),                     \
    [WEIR_FGD_PARAM_EVICT_TIE] = WEIR_CHOICE(                                                      \
        "evict_tie", "emptiest|fullest|emptiest_after", 2, evict_default,                          \
        "whose worker is removed when the fragmentation is equal: the emptiest node's"),           \
    [WEIR_FGD_PARAM_RESOLUTION] = WEIR_NUMBER("resolution", "GPU", 0x1p-40, 1, 0x1p-40,            \
                                              "differences of fragmentation below this are ties"), \
    [WEIR_FGD_PARAM_PRECISION] =                                                                   \
        WEIR_CHOICE("precision", "double|single", 1, precision_default,                            \
                    "scores on the grid of `resolution`, or 32-bit floats as in the reference"),   \
    [WEIR_FGD_PARAM_WHOLE] = WEIR_CHOICE("whole", "all|first_free", 1, whole_default,              \
                                         "single: places of a whole-GPU worker on a node"),        \
    [WEIR_FGD_PARAM_ENGINES] =                                                                     \
        WEIR_CHOICE("whole_engines", "free|lowest", 1, engines_default,                            \
                    "single: codec engines of whole GPUs; lowest insists on engines 0 to k-1"),    \
    [WEIR_FGD_PARAM_REUSE] = WEIR_CHOICE("reuse", "never|same_tie|most_used", 2, reuse_default,    \
                                         "single: whether a worker stopped in this decision may "  \
                                         "stay, and how its ties are decided"),                    \
    [WEIR_FGD_PARAM_SCORE] =                                                                       \
        WEIR_CHOICE("score", "change|grade", 1, score_default,                                     \
                    "places are compared by the change itself, or nodes by a grade in whole "      \
                    "steps, as published; grade needs the metric paper"),                          \
    [WEIR_FGD_PARAM_STEPS] =                                                                       \
        WEIR_COUNT("steps", "", 0, 1e9, 100, "grade: steps between 0 and 1; 0 = full precision"),  \
    [WEIR_FGD_PARAM_DEVICE_SCORE] =                                                                \
        WEIR_CHOICE("device_score", "cut|full", 1, WEIR_FGD_DEVICE_CUT,                            \
                    "grade: GPUs for a share are compared in whole steps, or in full precision"),  \
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

    weir_params_read(params, WEIR_FGD_PARAM_COUNT, values, read);
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

struct policy {
    struct weir_allocator allocator;
    struct weir_fgd_rules rules;
    struct weir_fgd *fgd;
    struct weir_grades *grades; /* NULL = the score is the change */
};

static void destroy(void *state)
{
    struct policy *const policy = state;

    weir_fgd_destroy(policy->fgd);
    weir_grades_destroy(policy->grades);
    weir_made_destroy(state);
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

static weir_status make_parts(struct policy *policy)
{
    WEIR_TRY(weir_fgd_create(&policy->rules, &policy->allocator, &policy->fgd));
    return policy->rules.score == WEIR_FGD_SCORE_GRADE
               ? weir_grades_create(&policy->allocator, &policy->grades)
               : WEIR_OK;
}

static const struct weir_made made = WEIR_MADE_BARE(struct policy);

static weir_status create(const struct weir_params *values, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    const struct weir_fgd_rules rules = weir_fgd_rules_read(values);

    WEIR_TRY(check_rules(&rules, error));
    WEIR_TRY(weir_made_create(&made, values, allocator, state, error));
    ((struct policy *)*state)->rules = rules;
    return weir_made_end(make_parts(*state), destroy, state, error);
}

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    const struct policy *const own = state;

    if (own->rules.precision == WEIR_FGD_SINGLE)
        return weir_fgd_single_score(&own->rules, query, candidate, false);
    return weir_fgd_plain_score(&own->rules, query, candidate);
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct policy *const own = state;

    if (own->grades != NULL) {
        const struct weir_grader grader = weir_fgd_grader(&own->rules);
        return weir_grades_place(own->grades, &grader, query, answer, error);
    }
    return weir_fgd_place(own->fgd, query, answer, error);
}

static weir_status evict(void *state, const struct weir_evict_query *query, uint64_t *worker,
                         struct weir_error *error)
{
    const struct policy *const own = state;

    return weir_fgd_evict(own->fgd, query, worker, error);
}

#define FGD_POLICY(title, table, text)                                                             \
    {                                                                                              \
        .size = sizeof(struct weir_placement_ops), .abi = WEIR_ABI_MAJOR, .name = (title),         \
        .summary = (text), .params = (table), .param_count = WEIR_FGD_PARAM_COUNT,                 \
        .flags = WEIR_PLACEMENT_FOLLOWS_STOPPED | WEIR_PLACEMENT_REPEATS, .create = create,        \
        .destroy = destroy, .score = score, .place = place, .evict = evict                         \
    }

const struct weir_placement_ops weir_placement_fgd =
    FGD_POLICY("fgd", params,
               "least growth of fragmentation: free GPU compute the expected shapes cannot use");

const struct weir_placement_ops weir_placement_fgd_xenna =
    FGD_POLICY("fgd_xenna", params_xenna,
               "fgd for stages: codec engines and GPU memory count, stopped workers are reused");

const struct weir_placement_ops weir_placement_fgd_n =
    FGD_POLICY("fgd_n", params_n,
               "fgd as the reference has it today: 32-bit scores, reuse first, fullest victim");

const struct weir_placement_ops weir_placement_fgd_c = FGD_POLICY(
    "fgd_c", params_c, "fgd as the reference had it with codecs: 32-bit scores, no reuse");
