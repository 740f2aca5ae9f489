/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "formula": a number worked out of wait w, estimate r, devices n and submission s says
 * who is first; the first is picked anew at every pass, and while it does not fit all wait.
 *
 *   wfp3    largest (w / r)^3 n             Tang et al., CLUSTER 2009
 *   unicef  largest w / (log2(n) r)         the same; n = 1 comes first once it has waited
 *   f1      least log10(r) n + 870 log10(s)      Carastan-Santos and de Camargo, SC 2017
 *   f2      least sqrt(r) n + 25600 log10(s)
 *   f3      least r n + 6860000 log10(s)
 *   f4      least r sqrt(n) + 530000 log10(s)
 *
 * Times are in seconds; 0 counts as 0.1 where a logarithm is taken or divided by. s is the time of
 * the run, so f1 to f4 change when its origin moves. Jobs without an estimate come last.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/queueing/ranked.h"

#include <math.h>

enum { PARAM_NAME, PARAM_COUNT };
enum { WFP3, UNICEF, F1, F2, F3, F4 };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_NAME] =
        WEIR_CHOICE("name", "wfp3|unicef|f1|f2|f3|f4", F4, WFP3, "which number says who is first"),
};

static const double ns_per_s = 1e9;

struct formula {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
};

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    struct formula *const formula = weir_alloc(allocator, 1, sizeof *formula);

    if (formula == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    formula->allocator = *allocator;
    const weir_status status =
        weir_params_resolve(params, PARAM_COUNT, given, formula->values, error);
    if (status != WEIR_OK)
        weir_free(allocator, formula);
    else
        *state = formula;
    return status;
}

static void destroy(void *state)
{
    struct formula *const formula = state;
    const struct weir_allocator allocator = formula->allocator;

    weir_free(&allocator, formula);
}

static double unicef(double wait, double estimate, double devices)
{
    if (!(wait > 0))
        return 0;
    return devices > 1 ? -wait / (log2(devices) * estimate) : -HUGE_VAL;
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct formula *const formula = state;
    const int64_t left_ns = weir_job_left_ns(job);
    const double wait = (double)(now_ns - job->submit_ns) / ns_per_s;
    const double estimate = left_ns > 0 ? (double)left_ns / ns_per_s : 0.1;
    const double submit = job->submit_ns > 0 ? (double)job->submit_ns / ns_per_s : 0.1;
    const double devices = weir_ranked_gpus(job);

    if (left_ns == INT64_MAX)
        return HUGE_VAL;
    switch ((int)formula->values[PARAM_NAME]) {
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
    .summary = "WFP3, UNICEF or F1 to F4 say who is first; while it does not fit, all wait",
    .params = params,
    .param_count = PARAM_COUNT,
    .flags = WEIR_QUEUEING_AGES,
    .create = create,
    .destroy = destroy,
    .key = key,
};
