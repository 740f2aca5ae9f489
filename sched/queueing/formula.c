/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "formula": a number worked out of wait w, estimate r, devices n (CPUs of a job without
 * GPUs) and submission s says who is first; the first is picked anew at every pass, and while it
 * does not fit all wait.
 *
 *   wfp3    largest (w / r)^3 n             Tang et al., CLUSTER 2009
 *   unicef  largest w / (log2(n) r)         the same; n = 1 comes first once it has waited
 *   f1      least log10(r) n + 870 log10(s)      Carastan-Santos and de Camargo, SC 2017
 *   f2      least sqrt(r) n + 25600 log10(s)
 *   f3      least r n + 6860000 log10(s)
 *   f4      least r sqrt(n) + 530000 log10(s)
 *   own     least of an expression of the user's (expression.h)
 *
 * Times are in seconds; 0 counts as 0.1 where a logarithm is taken or divided by. s is the time of
 * the run, so f1 to f4 change when its origin moves. Jobs without an estimate come last.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/expression.h"
#include "sched/queueing/parts/ranked.h"

#include <math.h>

enum { PARAM_NAME, PARAM_EXPRESSION, PARAM_COUNT };
enum { WFP3, UNICEF, F1, F2, F3, F4, OWN };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_NAME] = WEIR_CHOICE("name", "wfp3|unicef|f1|f2|f3|f4|own", OWN, WFP3,
                               "which number says who is first"),
    [PARAM_EXPRESSION] =
        WEIR_TEXT("expression", WEIR_EXPRESSION_TEXT - 1,
                  "own: the job with the least of it is first; of wait, estimate, left, submit "
                  "(s), devices, cpus, ranks, priority, attempts, attained (device s)"),
};

/* What an expression may speak of. */
enum { WAIT, ESTIMATE, LEFT, SUBMIT, DEVICES, CPUS, RANKS, PRIORITY, ATTEMPTS, ATTAINED, NAMES };
static const char *const names[NAMES] = { "wait", "estimate", "left",     "submit",   "devices",
                                          "cpus", "ranks",    "priority", "attempts", "attained" };

static const double ns_per_s = 1e9;

struct formula {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_expression own;
};

static const struct weir_made made = WEIR_MADE(struct formula, params, PARAM_COUNT);

static weir_status read_own(struct formula *formula, const struct weir_params *given,
                            struct weir_error *error)
{
    const double *letters;
    const uint32_t length =
        weir_params_list(params, PARAM_COUNT, given, PARAM_EXPRESSION, &letters);
    const bool is_own = formula->values[PARAM_NAME] >= OWN;
    char text[WEIR_EXPRESSION_TEXT] = "";

    if (is_own != (length > 0))
        return weir_fail(error, WEIR_EINVAL,
                         is_own ? "name: own needs an expression"
                                : "an expression is for name: own, got another name");
    for (uint32_t i = 0; i < length; i++)
        text[i] = (char)letters[i];
    if (!is_own)
        return WEIR_OK;
    const weir_status status = weir_expression_read(&formula->own, text, names, NAMES, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "expression");
    return status;
}

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    void *formula = NULL;

    WEIR_TRY(weir_made_create(&made, given, allocator, &formula, error));
    const weir_status status = read_own(formula, given, error);
    if (status != WEIR_OK)
        weir_made_destroy(formula);
    else
        *state = formula;
    return status;
}

static double unicef(double wait, double estimate, double devices)
{
    if (!(wait > 0))
        return 0;
    return devices > 1 ? -wait / (log2(devices) * estimate) : -HUGE_VAL;
}

/* Seconds; infinite when it is not known. */
static double seconds(int64_t ns)
{
    return ns == INT64_MAX || ns == WEIR_UNKNOWN_TIME ? HUGE_VAL : (double)ns / ns_per_s;
}

/* What is no number is last. */
static double own_key(const struct formula *formula, const struct weir_job *job, int64_t now_ns)
{
    const double variables[NAMES] = {
        [WAIT] = (double)(now_ns - job->submit_ns) / ns_per_s,
        [ESTIMATE] = seconds(job->estimate_ns),
        [LEFT] = seconds(weir_job_left_ns(job)),
        [SUBMIT] = (double)job->submit_ns / ns_per_s,
        [DEVICES] = weir_ranked_processors(job),
        [CPUS] = weir_units_amount(weir_ranked_need(job).cpu_units),
        [RANKS] = job->ranks,
        [PRIORITY] = job->priority,
        [ATTEMPTS] = job->attempts,
        [ATTAINED] = (double)job->attained_ns / ns_per_s,
    };
    const double value = weir_expression_value(&formula->own, variables);

    return isnan(value) ? HUGE_VAL : value;
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct formula *const formula = state;
    const int64_t left_ns = weir_job_left_ns(job);
    const double wait = (double)(now_ns - job->submit_ns) / ns_per_s;
    const double estimate = left_ns > 0 ? (double)left_ns / ns_per_s : 0.1;
    const double submit = job->submit_ns > 0 ? (double)job->submit_ns / ns_per_s : 0.1;
    const double devices = weir_ranked_processors(job);
    const int name = (int)formula->values[PARAM_NAME];

    if (name == OWN)
        return own_key(formula, job, now_ns);
    if (left_ns == INT64_MAX)
        return HUGE_VAL;
    switch (name) {
    case WFP3:
        return -(wait / estimate) * (wait / estimate) * (wait / estimate) * devices;
    case UNICEF:
        return unicef(wait, estimate, devices);
    case F1:
        return log10(estimate) * devices + 870 * log10(submit);
    case F2:
        return sqrt(estimate) * devices + 25600 * log10(submit);
    case F3:
        return estimate * devices + 6860000 * log10(submit);
    default:
        return estimate * sqrt(devices) + 530000 * log10(submit);
    }
}

const struct weir_queueing_ops weir_queueing_formula = {
    .size = sizeof weir_queueing_formula,
    .abi = WEIR_ABI_MAJOR,
    .name = "formula",
    .summary =
        "WFP3, UNICEF, F1 to F4 or your own say who is first; while it does not fit, all wait",
    .params = params,
    .param_count = PARAM_COUNT,
    .flags = WEIR_QUEUEING_AGES,
    .create = create,
    .destroy = weir_made_destroy,
    .key = key,
};
