/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving arrivals, of jobs and of items alike.
 *
 * Keys of another process are left out of the canonical text.
 */
#include "sim/scenario/resolve/resolve.h"

#include <math.h>

/* One of rate and load, and gap for renewal alone. */
static void check_rate(struct sim_resolver *resolver, const struct draft_arrivals *draft)
{
    const bool has_rate = !isnan(draft->to.rate_per_s);
    const bool has_load = !isnan(draft->load);
    const bool is_renewal = draft->to.kind == SIM_ARRIVALS_RENEWAL;
    const struct sim_yaml *at = draft->head.node;
    if (is_renewal && draft->to.gap == NULL)
        sim_report_error(resolver->report, at, "renewal needs gap: the time between arrivals");
    else if (!is_renewal && draft->to.gap != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "gap"),
                         "belongs to process: renewal");
    if (has_rate && (has_load || is_renewal))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "rate"),
                         "is given by %s already", has_load ? "load" : "gap");
    else if (!has_rate && !has_load && !is_renewal)
        sim_report_error(
            resolver->report, at, "%s",
            draft->is_of_items
                ? "needs rate: how many items arrive, as arrivals: {rate: 5/s}"
                : "needs rate or load: how many jobs arrive, as arrivals: {load: 70%}");
    if (draft->to.kind == SIM_ARRIVALS_MODULATED && draft->to.burst * draft->to.burst_share > 1)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "burst"),
                         "burst x burst_share is %g: bursts alone exceed the mean rate",
                         draft->to.burst * draft->to.burst_share);
}

bool sim_arrivals_say_rate(const struct draft_arrivals *draft)
{
    return !isnan(draft->to.rate_per_s) || !isnan(draft->load) || draft->to.gap != NULL;
}

static void fill_number(double *value, bool is_wanted, double initial)
{
    if (!is_wanted)
        *value = (double)NAN;
    else if (isnan(*value))
        *value = initial;
}

static void fill_time(int64_t *value, bool is_wanted, double initial_s)
{
    if (!is_wanted)
        *value = SIM_ABSENT_TIME;
    else if (*value == SIM_ABSENT_TIME)
        *value = (int64_t)(initial_s * 1e9);
}

/* Keys of other processes leave the canonical text, those of this one get their defaults. */
static void fill_process(struct draft_arrivals *draft)
{
    const bool is_modulated = draft->to.kind == SIM_ARRIVALS_MODULATED;
    const bool is_diurnal = draft->to.kind == SIM_ARRIVALS_DIURNAL;
    fill_number(&draft->to.cv, draft->to.kind == SIM_ARRIVALS_HYPEREXPONENTIAL, 2);
    fill_number(&draft->to.burst, is_modulated, 4);
    fill_number(&draft->to.burst_share, is_modulated, 0.1);
    fill_time(&draft->to.dwell_ns, is_modulated, 600);
    fill_number(&draft->to.amplitude, is_diurnal, 0.5);
    fill_time(&draft->to.period_ns, is_diurnal, 86400);
    fill_time(&draft->to.peak_ns, is_diurnal, 43200);
}

uint32_t sim_resolve_measured(struct sim_resolver *resolver, const struct draft_head *head,
                              uint32_t measurements, const struct sim_law *law)
{
    if (measurements == SIM_ABSENT_COUNT)
        return 0;
    if (law != NULL && isinf(sim_law_variance(law)))
        sim_report_error(resolver->report, sim_draft_at(head, "measurements"),
                         "say nothing of the mean of %s: its variance is infinite", law->text);
    return measurements;
}

void sim_resolve_arrivals(struct sim_resolver *resolver, struct draft_arrivals *draft,
                          struct sim_arrivals *arrivals)
{
    fill_number(&draft->to.scale, true, 1);
    if (draft->to.kind == SIM_ARRIVALS_TRACE) {
        *arrivals = (struct sim_arrivals){ .kind = SIM_ARRIVALS_TRACE,
                                           .rate_per_s = (double)NAN,
                                           .batch_mean = 1,
                                           .scale = draft->to.scale,
                                           .resample = draft->to.resample == SIM_ABSENT_COUNT
                                                           ? SIM_RESAMPLE_NONE
                                                           : draft->to.resample };
        return;
    }
    if (draft->to.resample != SIM_ABSENT_COUNT && !draft->is_of_items)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "resample"),
                         "acts on a trace whose own times count (arrivals: trace)");
    fill_process(draft);
    check_rate(resolver, draft);
    if (draft->to.batch == NULL)
        draft->to.batch = sim_resolve_constant(resolver, "const(1)");
    *arrivals = draft->to;
    arrivals->measurements =
        sim_resolve_measured(resolver, &draft->head, draft->to.measurements, draft->to.gap);
    arrivals->batch_mean = fmax(sim_law_mean(draft->to.batch), 1);
    if (draft->to.kind == SIM_ARRIVALS_RENEWAL)
        arrivals->rate_per_s =
            draft->to.gap == NULL ? 1 : arrivals->batch_mean / sim_law_mean(draft->to.gap);
    arrivals->rate_per_s *= arrivals->scale;
}
