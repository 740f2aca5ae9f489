/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured curves; see the header. */
#include "analysis/observed.h"

#include "analysis/nan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OF_STAGE(value)                                                                            \
    "SELECT x.t_s, x.dt_s, x." value " FROM stage_sample x JOIN stage g ON g.run_id = x.run_id"    \
    " AND g.stage = x.stage WHERE x.run_id = :run AND g.name = :text ORDER BY x.t_s"

static const struct an_observed_metric metrics[] = {
    { "throughput", "throughput finished", false, "1/s",
      "SELECT t_s, dt_s, items_done / dt_s FROM cluster_sample WHERE run_id = :run ORDER BY t_s" },
    { "queue", "queues", true, "items", OF_STAGE("queue_items") },
    { "workers", "workers", true, "workers", OF_STAGE("workers") },
};

size_t an_observed_metric_count(void)
{
    return sizeof metrics / sizeof metrics[0];
}

const struct an_observed_metric *an_observed_metric_at(size_t index)
{
    return &metrics[index];
}

/* ---- points ---- */

static struct an_observed_curve *curve_of(struct an_observed *observed,
                                          const struct an_observed_metric *metric,
                                          const char *stage)
{
    for (size_t i = 0; i < observed->count; i++)
        if (observed->curves[i].metric == metric && strcmp(observed->curves[i].stage, stage) == 0)
            return &observed->curves[i];
    if (observed->count == AN_OBSERVED_CURVES)
        return NULL;
    struct an_observed_curve *curve = &observed->curves[observed->count++];
    *curve = (struct an_observed_curve){ .metric = metric };
    (void)snprintf(curve->stage, sizeof curve->stage, "%s", stage);
    (void)snprintf(curve->of, sizeof curve->of, "%s%s%s", metric->chart,
                   metric->is_of_stage ? " " : "", metric->is_of_stage ? curve->stage : "");
    return curve;
}

static bool grow(struct an_observed_curve *curve)
{
    if (curve->count < curve->capacity)
        return true;
    const size_t wanted = curve->capacity == 0 ? 64 : 2 * curve->capacity;
    double *t_s = reallocarray(curve->t_s, wanted, sizeof *t_s);
    if (t_s != NULL)
        curve->t_s = t_s;
    double *values = t_s == NULL ? NULL : reallocarray(curve->values, wanted, sizeof *values);
    if (values == NULL)
        return false;
    curve->values = values;
    curve->capacity = wanted;
    return true;
}

weir_status an_observed_add(struct an_observed *observed, const struct an_observed_metric *metric,
                            const char *stage, double t_s, double value, struct weir_error *error)
{
    struct an_observed_curve *curve = curve_of(observed, metric, stage);
    if (curve == NULL)
        return weir_fail(error, WEIR_EINVAL, "more than %d curves", (int)AN_OBSERVED_CURVES);
    if (curve->count > 0 && t_s <= curve->t_s[curve->count - 1])
        return weir_fail(error, WEIR_EINVAL, "is not later than the point before it");
    if (!grow(curve))
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    curve->t_s[curve->count] = t_s;
    curve->values[curve->count++] = value;
    return WEIR_OK;
}

void an_observed_end(struct an_observed *observed)
{
    for (size_t i = 0; i < observed->count; i++)
        observed->laid[i] = (struct an_curve){ .of = observed->curves[i].of,
                                               .t_s = observed->curves[i].t_s,
                                               .values = observed->curves[i].values,
                                               .count = observed->curves[i].count };
    observed->extras =
        (struct an_extras){ .curves = observed->laid, .curve_count = observed->count };
}

void an_observed_clear(struct an_observed *observed)
{
    for (size_t i = 0; i < observed->count; i++) {
        free(observed->curves[i].t_s);
        free(observed->curves[i].values);
    }
    observed->count = 0;
}

/* ---- how far ---- */

static void say(struct an_observed_error *judged)
{
    const struct an_observed_curve *curve = judged->curve;
    struct an_claim claim = { .name = NULL };
    judged->text[0] = '\0';
    if (isnan(judged->error))
        return;
    an_claim_put_word(&claim, "metric", curve->metric->name);
    an_claim_put_word(&claim, "unit", curve->metric->unit);
    an_claim_put_word(&claim, "stage", curve->stage);
    an_claim_put(&claim, "found", judged->found);
    an_claim_put(&claim, "measured", judged->measured);
    an_claim_put(&claim, "error", judged->error);
    an_claim_put(&claim, "points", (double)judged->points);
    an_claim_give("observed.error", &claim);
    (void)snprintf(judged->text, sizeof judged->text, "%.319s", claim.text);
}

weir_status an_observed_judge(struct an_db *db, const struct an_run *run,
                              const struct an_observed_curve *curve,
                              struct an_observed_error *judged, struct weir_error *error)
{
    const struct an_args args = { .run = run->run_id, .text = curve->stage };
    struct an_frame *frame = NULL;
    double apart = 0.0;
    *judged = (struct an_observed_error){ .curve = curve, .error = AN_NAN };
    WEIR_TRY(an_query(db, curve->metric->sql, &args, &frame, error));
    size_t row = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const double t_s = curve->t_s[i];
        while (row < frame->row_count && an_number(frame, row, 0) + an_number(frame, row, 1) <= t_s)
            row++;
        if (row == frame->row_count || an_number(frame, row, 0) > t_s)
            continue;
        judged->points++;
        judged->measured += curve->values[i];
        judged->found += an_number(frame, row, 2);
        apart += fabs(an_number(frame, row, 2) - curve->values[i]);
    }
    const bool is_empty = frame->row_count == 0;
    an_frame_destroy(frame);
    if (is_empty && curve->metric->is_of_stage)
        return weir_fail(error, WEIR_EINVAL, "--observed: the run has no samples of a stage '%s'",
                         curve->stage);
    if (judged->points > 0 && judged->measured > 0.0)
        judged->error = apart / judged->measured;
    judged->measured /= (double)judged->points;
    judged->found /= (double)judged->points;
    say(judged);
    return WEIR_OK;
}
