/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a metric; see the header. */
#include "analysis/samples.h"

#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

const double *an_samples_of(const struct an_samples *samples, size_t variant)
{
    return samples->values + variant * samples->replications;
}

/* Columns of the statement. */
enum { IS_BOUND = 2, LEFT_OUT = 5 };

bool an_samples_are_bound(const struct an_samples *samples, size_t variant)
{
    for (size_t i = 0; i < samples->replications; i++)
        if (an_number(samples->frame, variant * samples->replications + i, IS_BOUND) > 0.5)
            return true;
    return false;
}

bool an_samples_are_partial(const struct an_samples *samples, size_t variant)
{
    double share = 0.0;
    for (size_t i = 0; i < samples->replications; i++)
        share += an_number(samples->frame, variant * samples->replications + i, LEFT_OUT) /
                 (double)samples->replications;
    return AN_IS_PARTIAL(share);
}

/* A metric may carry its label: "bp.starved_frac:caption". Without one the value of the whole
 * cluster counts, else that over its labels: the largest of what is a maximum, the mean of others.
 * Where jobs of a kind or of a source are missing of which none came so far, the largest is a
 * bound, and a mean is one of those that came. Of several sources the classes are named
 * source/class. */
#define IS_MOST  "(metric GLOB '*.max' OR metric GLOB '*.max@*')"
#define IS_SHORT "(x.parts < max(x.parts) OVER () OR x.sources < max(x.sources) OVER ())"
static const char samples_sql[] =
    "SELECT r.variant, x.value, x.is_bound OR x.is_most AND x.is_of_jobs AND " IS_SHORT ", x.unit,"
    " x.parts, iif(NOT x.is_most AND x.is_of_jobs AND " IS_SHORT ", 1.0, x.left_out) FROM " AN_RUNS
    " r LEFT JOIN (SELECT run_id, metric GLOB 'wait.job.*' OR metric GLOB 'jct.*' OR"
    "  metric GLOB 'slowdown.*' AS is_of_jobs, " IS_MOST " AS is_most,"
    " iif(" IS_MOST ", max(value), avg(value)) AS value, max(is_lower_bound) AS is_bound,"
    "  max(" AN_LEFT_OUT ") AS left_out, min(unit) AS unit, count(*) AS parts,"
    "  iif(max(max(instr(label, '/'))) OVER (PARTITION BY run_id) > 0,"
    "   sum(sum(instr(label, '/') = 0)) OVER (PARTITION BY run_id), 0) AS sources,"
    "  row_number() OVER (PARTITION BY run_id ORDER BY label = '' DESC) AS choice"
    " FROM result WHERE run_id IN (SELECT run_id FROM run) AND metric = CASE instr(:text, ':') "
    "WHEN 0 THEN :text"
    "   ELSE substr(:text, 1, instr(:text, ':') - 1) END"
    "  AND (instr(:text, ':') = 0 OR label = substr(:text, instr(:text, ':') + 1))"
    " GROUP BY run_id, label = '') x ON x.run_id = r.run_id AND x.choice = 1"
    " ORDER BY (SELECT min(o.variant_order) FROM run o WHERE o.variant = r.variant), r.variant,"
    "  r.replication";

weir_status an_samples_read(struct an_keeper *keeper, const char *metric, size_t variants,
                            struct an_samples *samples, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    const struct an_args args = { .text = metric };
    WEIR_TRY(an_keep_query(keeper, samples_sql, &args, &frame, error));
    WEIR_TRY(an_keep_numbers(keeper, frame->row_count, &samples->values, error));
    samples->frame = frame;
    samples->variants = variants;
    samples->replications = variants == 0 ? 0 : frame->row_count / variants;
    for (size_t i = 0; i < frame->row_count; i++) {
        samples->values[i] = an_number(frame, i, 1);
        if (samples->unit[0] == '\0')
            (void)snprintf(samples->unit, sizeof samples->unit, "%s", an_text(frame, i, 3));
        samples->parts = fmax(samples->parts, an_number(frame, i, 4));
    }
    return WEIR_OK;
}
