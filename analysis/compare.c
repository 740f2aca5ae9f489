/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparison of variants: means with intervals, paired differences with the baseline (t, Holm over
 * the variants, sign test), and a verdict for each cell.
 *
 * The interval of a difference is drawn at the level at which Holm's procedure judged it, so that
 * "the interval holds 0" and "tie" are the same statement. Only complete runs that share scenario,
 * warm-up, horizon, replications and seeds are compared. A variant of which a run ended early has
 * means, but is neither ranked nor judged; when it is the baseline, the first of the others is.
 *
 * No interval leaves the range of its metric: shares are on the logit scale, runs are counted by
 * Wilson's interval, differences stop where nothing or all is left.
 */
#include "analysis/claims/claims.h"
#include "analysis/database/query.h"
#include "analysis/goal.h"
#include "analysis/metrics.h"
#include "analysis/nan.h"
#include "analysis/samples.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "analysis/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double compare_alpha = 0.05;

/* ---- which runs ---- */

static weir_status fail_if_found(struct an_keeper *keeper, const char *sql, const char *format,
                                 struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(keeper, sql, NULL, &frame, error));
    if (frame->row_count > 0)
        return weir_fail(error, WEIR_EINVAL, "not comparable: %s: %s", format,
                         an_text(frame, 0, 0));
    return WEIR_OK;
}

static weir_status check_comparable(struct an_keeper *keeper, struct weir_error *error)
{
    static const struct {
        const char *what, *sql;
    } checks[] = {
        { "scenario differs",
          "SELECT group_concat(scenario, ', ') FROM experiment HAVING count(*) > 1" },
        { "status",
          "SELECT 'variant ' || variant || ', replication ' || replication || ' is ' || status "
          "FROM run WHERE status NOT IN ('complete', 'horizon', 'ended early') AND "
          "(status <> 'failed' OR NOT EXISTS " AN_RUNS ") ORDER BY run_id LIMIT 1" },
        { "warmup_s differs (--force compares them)",
          "SELECT min(warmup_s) || ' s and ' || max(warmup_s) || ' s' FROM " AN_RUNS
          " HAVING min(warmup_s) < max(warmup_s)" },
        { "horizon_s differs (--force compares them)",
          "SELECT coalesce(min(horizon_s), 'none') || ' and ' || coalesce(max(horizon_s), 'none') "
          "|| ' s' FROM " AN_RUNS " HAVING count(DISTINCT coalesce(horizon_s, -1)) > 1" },
        { "seed differs within a replication",
          "SELECT 'replication ' || replication || ': ' || group_concat(DISTINCT seed) "
          "FROM " AN_RUNS " GROUP BY replication HAVING count(DISTINCT seed) > 1 LIMIT 1" },
        { "replications are not paired",
          "SELECT 'replication ' || replication || ' has ' || count(*) || ' of ' || "
          "(SELECT count(DISTINCT variant) FROM " AN_RUNS ") || ' variants' FROM " AN_RUNS
          " GROUP BY replication "
          "HAVING count(*) <> (SELECT count(DISTINCT variant) FROM " AN_RUNS ") LIMIT 1" },
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        WEIR_TRY(fail_if_found(keeper, checks[i].sql, checks[i].what, error));
    return WEIR_OK;
}

static weir_status fill_variants(struct an_keeper *keeper, const char *baseline,
                                 struct an_comparison *comparison, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(
        an_keep_query(keeper,
                      "SELECT r.variant, r.variant = coalesce(:text, min(e.baseline)) FROM " AN_RUNS
                      " r JOIN experiment e USING (experiment_id) GROUP BY r.variant "
                      "ORDER BY min(r.variant_order)",
                      &(struct an_args){ .text = baseline }, &frame, error));
    comparison->variants = calloc(frame->row_count + 1, sizeof *comparison->variants);
    bool is_found = false;
    bool is_complete = comparison->variants != NULL;
    for (size_t i = 0; is_complete && i < frame->row_count; i++) {
        comparison->variants[i] = strdup(an_text(frame, i, 0));
        is_complete = comparison->variants[i] != NULL;
        comparison->variant_count++;
        if (an_number(frame, i, 1) > 0.5) {
            comparison->baseline = i;
            is_found = true;
        }
    }
    if (!is_complete)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (comparison->variant_count == 0)
        return weir_fail(
            error, WEIR_EINVAL,
            "not comparable: the database holds no run: none had begun when its program ended");
    if (!is_found && baseline != NULL)
        return weir_fail(error, WEIR_EINVAL, "there is no variant \"%s\" to compare with",
                         baseline);
    return WEIR_OK;
}

/* ---- what failed ---- */

static weir_status fill_left_out(struct an_keeper *keeper, struct an_comparison *comparison,
                                 struct weir_error *error)
{
    static const char sql[] =
        "SELECT group_concat(line, char(10)) FROM (SELECT variant || ' is left out, it failed in ' "
        "|| sum(status = 'failed') || ' of ' || count(*) || ' runs: ' || "
        "min(iif(status = 'failed', message, NULL)) AS line "
        "FROM run GROUP BY variant HAVING sum(status = 'failed') > 0 ORDER BY min(variant_order))";
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(keeper, sql, NULL, &frame, error));
    comparison->left_out = strdup(frame->row_count == 0 ? "" : an_text(frame, 0, 0));
    return comparison->left_out == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

/* ---- what ended early ---- */

static const char early_sql[] =
    "SELECT count(*), sum(e.is_early), min(iif(e.is_early, e.message, NULL)),"
    " max(iif(e.is_early, e.message, NULL)), (SELECT message FROM run f WHERE f.variant = e.variant"
    "  AND f.status = 'ended early' ORDER BY f.replication LIMIT 1),"
    " EXISTS (SELECT 1 FROM expectation x WHERE x.line = 0 AND NOT x.is_met"
    "  AND x.variant = e.variant)"
    " FROM (SELECT *, status = 'ended early' AS is_early FROM " AN_RUNS ") e GROUP BY e.variant"
    " ORDER BY min(e.variant_order)";

static char *early_sentence(const struct an_frame *frame, size_t row, const char *variant)
{
    char *sentence = NULL;
    const double runs = an_number(frame, row, 0);
    const bool is_same = strcmp(an_text(frame, row, 2), an_text(frame, row, 3)) == 0;
    char part[64] = "";
    if (runs > 1.5)
        (void)snprintf(part, sizeof part, " in %.0f of %.0f runs", an_number(frame, row, 1), runs);
    return asprintf(&sentence, "%s ended early%s: %s%s", variant, part,
                    is_same ? "" : "the first: ", an_text(frame, row, 4)) < 0
               ? NULL
               : sentence;
}

static weir_status fill_early(struct an_keeper *keeper, struct an_comparison *comparison,
                              struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(keeper, early_sql, NULL, &frame, error));
    comparison->early = calloc(comparison->variant_count + 1, sizeof *comparison->early);
    for (size_t v = 0; comparison->early != NULL && v < comparison->variant_count; v++) {
        struct an_early *early = &comparison->early[v];
        early->runs = (uint32_t)an_number(frame, v, 1);
        early->is_unexpected = an_number(frame, v, 5) > 0.5;
        if (early->runs == 0)
            continue;
        early->sentence = early_sentence(frame, v, comparison->variants[v]);
        if (early->sentence == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    return comparison->early == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

static bool is_early(const struct an_comparison *comparison, size_t variant)
{
    return comparison->early[variant].sentence != NULL;
}

/* Nothing is compared with a variant that ended early, as long as there is another. */
static void replace_baseline(struct an_comparison *comparison)
{
    size_t v = 0;
    while (v < comparison->variant_count && is_early(comparison, v))
        v++;
    if (is_early(comparison, comparison->baseline) && v < comparison->variant_count) {
        comparison->early[comparison->baseline].was_baseline = true;
        comparison->baseline = v;
    }
}

/* Nothing is said of how the variant stands against the baseline. */
static bool is_left_out(const struct an_comparison *comparison, size_t variant)
{
    return is_early(comparison, variant) || is_early(comparison, comparison->baseline);
}

/* ---- one row ---- */

static bool has_gap(const struct an_samples *samples, size_t variant)
{
    const double *values = an_samples_of(samples, variant);
    for (size_t i = 0; i < samples->replications; i++)
        if (isnan(values[i]))
            return true;
    return false;
}

/* A bound from below shows that something is longer, never that it is shorter. */
static bool is_open(const struct an_cell *base, const struct an_cell *cell, double gain)
{
    return gain > 0.0 ? cell->is_lower_bound : base->is_lower_bound;
}

static enum an_verdict judge(const struct an_cell *base, const struct an_cell *cell, int better)
{
    const double gain = cell->difference * better;
    if (better == 0)
        return AN_NEUTRAL;
    if (better < 0 && is_open(base, cell, gain))
        return AN_OPEN;
    if (cell->n < 2)
        return fabs(gain) > 0.0 ? AN_ONE_RUN : AN_DETERMINISTIC_TIE;
    if (cell->is_deterministic) {
        if (fabs(cell->difference) <= 1e-12 * fabs(cell->mean))
            return AN_DETERMINISTIC_TIE;
        return gain > 0.0 ? AN_DETERMINISTIC_BETTER : AN_DETERMINISTIC_WORSE;
    }
    if (!(cell->p_value < compare_alpha))
        return AN_TIE;
    return gain > 0.0 ? AN_BETTER : AN_WORSE;
}

/* Room for one number a variant, three times over. */
struct scratch {
    double *p_values, *adjusted, *confidence;
};

/* What is all of a share: 1, or 100 of a percentage. */
static double whole_of(const struct an_metric_row *row)
{
    return strcmp(row->unit, "%") == 0 ? 100.0 : 1.0;
}

/* Runs in which a share is nothing or all are counted; in others it lies between. */
static void fill_share(const double *values, size_t n, double whole, struct an_cell *cell)
{
    struct an_range range = an_share_interval(values, n, whole, 1.0 - compare_alpha);
    size_t none = 0;
    size_t all = 0;
    cell->half_width = AN_NAN;
    for (size_t i = 0; i < n; i++) {
        none += fabs(values[i]) <= 0.0 ? 1 : 0;
        all += fabs(values[i] - whole) <= 0.0 ? 1 : 0;
    }
    if (none + all == n && none > 0 && all > 0) {
        range = an_wilson_interval(all, n, 1.0 - compare_alpha);
        range.low *= whole;
        range.high *= whole;
        (void)snprintf(cell->in_all, sizeof cell->in_all, "%u of %u runs", (unsigned)all,
                       (unsigned)n);
    } else if (n > 1 && (none == n || all == n)) {
        (void)snprintf(cell->in_all, sizeof cell->in_all, "in all %u runs", (unsigned)n);
    }
    cell->low = range.low;
    cell->high = range.high;
}

static void keep_above_nothing(const struct an_samples *samples, size_t variant,
                               struct an_cell *cell)
{
    for (size_t i = 0; i < samples->replications; i++)
        if (!(an_samples_of(samples, variant)[i] >= 0.0))
            return;
    if (cell->low < 0.0)
        cell->low = 0.0;
}

static void fill_means(const struct an_samples *samples, struct an_metric_row *row)
{
    for (size_t v = 0; v < samples->variants; v++) {
        struct an_cell *cell = &row->cells[v];
        const struct an_interval mean =
            an_mean_interval(an_samples_of(samples, v), samples->replications, 1.0 - compare_alpha);
        *cell = (struct an_cell){ .mean = mean.mean,
                                  .half_width = mean.half_width,
                                  .low = mean.mean - mean.half_width,
                                  .high = mean.mean + mean.half_width,
                                  .difference = AN_NAN,
                                  .difference_low = AN_NAN,
                                  .difference_high = AN_NAN,
                                  .p_value = AN_NAN,
                                  .sign_p_value = AN_NAN,
                                  .n = (uint32_t)samples->replications,
                                  .is_lower_bound = an_samples_are_bound(samples, v) &&
                                                    !an_samples_are_partial(samples, v),
                                  .is_partial = an_samples_are_partial(samples, v),
                                  .verdict = AN_NEUTRAL };
        cell->is_deterministic = an_is_constant(an_samples_of(samples, v), samples->replications);
        if (cell->is_deterministic)
            cell->half_width = cell->low = cell->high = AN_NAN;
        keep_above_nothing(samples, v, cell);
        if (row->is_share && !cell->is_deterministic)
            fill_share(an_samples_of(samples, v), samples->replications, whole_of(row), cell);
    }
}

/* What cannot be less than nothing loses all of it at most, a share gains the rest at most. */
static void keep_in_range(const struct an_samples *samples, const struct an_metric_row *row,
                          const struct an_cell *base, struct an_cell *cell)
{
    bool is_positive = true;
    for (size_t i = 0; i < samples->variants * samples->replications; i++)
        is_positive = is_positive && samples->values[i] >= 0.0;
    if (isnan(cell->difference_low) || !is_positive)
        return;
    cell->difference_low = fmax(cell->difference_low, -base->mean);
    if (row->is_share)
        cell->difference_high = fmin(cell->difference_high, whole_of(row) - base->mean);
}

/* What is not in a mean of what was over may turn any difference round. */
static bool is_refused(const struct an_comparison *comparison, const struct an_metric_row *row,
                       size_t variant)
{
    return row->cells[comparison->baseline].is_partial || row->cells[variant].is_partial;
}

static void fill_differences(const struct an_samples *samples,
                             const struct an_comparison *comparison, const struct scratch *scratch,
                             struct an_metric_row *row)
{
    const size_t baseline = comparison->baseline;
    const double *base = an_samples_of(samples, baseline);
    for (size_t v = 0; v < samples->variants; v++) {
        scratch->p_values[v] = AN_NAN;
        if (v != baseline && !is_left_out(comparison, v) && !isnan(row->cells[v].mean) &&
            !is_refused(comparison, row, v))
            scratch->p_values[v] =
                an_paired_difference(base, an_samples_of(samples, v), samples->replications, 0.95)
                    .p_value;
    }
    an_holm(scratch->p_values, samples->variants, scratch->adjusted);
    an_holm_confidence(scratch->p_values, samples->variants, compare_alpha, scratch->confidence);
    for (size_t v = 0; v < samples->variants; v++) {
        struct an_cell *cell = &row->cells[v];
        if (is_early(comparison, v) || v == baseline) {
            cell->verdict = is_early(comparison, v) ? AN_ENDED_EARLY : AN_BASELINE;
            continue;
        }
        if (is_left_out(comparison, v))
            continue;
        if (is_refused(comparison, row, v)) {
            cell->verdict = isnan(cell->mean) ? AN_NEUTRAL : AN_OPEN;
            continue;
        }
        const double level = isnan(scratch->confidence[v]) ? 0.95 : scratch->confidence[v];
        const struct an_paired paired =
            an_paired_difference(base, an_samples_of(samples, v), samples->replications, level);
        cell->difference = paired.difference;
        cell->difference_low = paired.difference - paired.half_width;
        cell->difference_high = paired.difference + paired.half_width;
        keep_in_range(samples, row, &row->cells[baseline], cell);
        cell->sign_p_value = paired.sign_p_value;
        cell->p_value = scratch->adjusted[v];
        cell->is_deterministic = paired.is_deterministic;
        cell->verdict =
            isnan(cell->difference) ? AN_NEUTRAL : judge(&row->cells[baseline], cell, row->better);
    }
}

/* Of what is less the better, more of a bound is no gain, and nobody knows how much it is. */
static bool is_open_below(const struct an_metric_row *row, size_t variant)
{
    return row->better < 0 && row->cells[variant].is_lower_bound;
}

/* The best of those that are known; the count of variants = of one there is none, nor where a bound
 * from below lies below all that is known, or a mean is one of what was over alone. */
static size_t find_best(const struct an_comparison *comparison, const struct an_metric_row *row)
{
    size_t best = comparison->variant_count;
    size_t lowest = comparison->variant_count; /* of the bounds */
    size_t ranked = 0;
    for (size_t v = 0; v < comparison->variant_count; v++) {
        const double gain = row->cells[v].mean * row->better;
        size_t *first = is_open_below(row, v) ? &lowest : &best;
        if (isnan(gain) || is_left_out(comparison, v))
            continue;
        if (row->cells[v].is_partial)
            return comparison->variant_count;
        ranked++;
        if (*first == comparison->variant_count || gain > row->cells[*first].mean * row->better)
            *first = v;
    }
    const bool is_known =
        best < comparison->variant_count &&
        (lowest == comparison->variant_count || row->cells[best].mean <= row->cells[lowest].mean);
    return row->better == 0 || ranked < 2 || !is_known ? comparison->variant_count : best;
}

static void mark_best(const struct an_samples *samples, const struct an_comparison *comparison,
                      const struct scratch *scratch, struct an_metric_row *row)
{
    const size_t best = find_best(comparison, row);
    if (best == comparison->variant_count)
        return;
    row->cells[best].is_best = true;
    for (size_t v = 0; v < samples->variants; v++)
        scratch->p_values[v] =
            v == best || is_left_out(comparison, v)
                ? AN_NAN
                : an_paired_difference(an_samples_of(samples, best), an_samples_of(samples, v),
                                       samples->replications, 0.95)
                      .p_value;
    an_holm(scratch->p_values, samples->variants, scratch->adjusted);
    for (size_t v = 0; v < samples->variants; v++) {
        struct an_cell *cell = &row->cells[v];
        const bool is_equal = fabs(cell->mean - row->cells[best].mean) <= 1e-12 * fabs(cell->mean);
        if (v != best && !is_left_out(comparison, v))
            cell->is_tied_with_best = is_equal || scratch->adjusted[v] >= compare_alpha;
    }
}

/* "", or how the values of several labels became one. */
static struct an_word parts_of(const char *id, double parts)
{
    struct an_word word = { "" };
    const size_t length = strcspn(id, "@");
    const bool is_most = length > 4 && strncmp(id + length - 4, ".max", 4) == 0;
    if (parts > 1.5)
        (void)snprintf(word.text, sizeof word.text, ", %s of %.0f", is_most ? "largest" : "mean",
                       parts);
    return word;
}

/* The goal gives the direction of its metric, in every window. */
static int better_of(const struct an_comparison *comparison, const char *id)
{
    const struct an_metric *known = an_metric_find(id);
    const size_t length = strcspn(id, "@");
    if (strlen(comparison->goal_metric) == length &&
        strncmp(id, comparison->goal_metric, length) == 0)
        return comparison->goal_better;
    if (known != NULL && known->is_demanded && id[length] == '@')
        return 0;
    return known == NULL ? 0 : known->better;
}

/* What the metric is, true for all of its cells. */
static char *title_of(const struct an_samples *samples, const struct an_metric *known)
{
    char text[256] = "";
    bool has_bound = false;
    bool has_partial = false;
    for (size_t v = 0; v < samples->variants; v++) {
        has_bound = has_bound || an_samples_are_bound(samples, v);
        has_partial = has_partial || an_samples_are_partial(samples, v);
    }
    if (known != NULL)
        (void)snprintf(text, sizeof text, "%s%s%s", known->title,
                       has_bound ? " (≥: this or more)" : "",
                       has_partial ? " (so far: of those for which it was over)" : "");
    return strdup(text);
}

static weir_status row_describe(const char *metric, const struct an_samples *samples,
                                struct an_metric_row *row, struct weir_error *error)
{
    const char *unit = samples->unit;
    char id[96];
    (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(metric, ":"), metric);
    const char *label = strchr(metric, ':');
    const char *window = an_window_of(id);
    const struct an_metric *known = an_metric_find(id);
    char heading[160];
    (void)snprintf(heading, sizeof heading, "%s%s%s%s%s%s", window == NULL ? "" : window,
                   window == NULL ? "" : ": ", known == NULL ? id : known->label,
                   label == NULL ? "" : " of ", label == NULL ? "" : label + 1,
                   parts_of(id, samples->parts).text);
    row->metric = strdup(metric);
    row->label = strdup(heading);
    /* A backlog is of items, of jobs, or of both. */
    const bool is_counted = known == NULL || strcmp(known->unit, "items") == 0;
    row->unit = strdup(is_counted ? unit : known->unit);
    row->title = title_of(samples, known);
    row->is_share =
        row->unit != NULL && (strcmp(row->unit, "ratio") == 0 || strcmp(row->unit, "%") == 0);
    if (row->metric == NULL || row->label == NULL || row->unit == NULL || row->title == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

/* Adds the row of a metric, unless no variant has it. */
static weir_status add_row(struct an_comparison *comparison, const char *metric, bool is_wanted,
                           const struct an_samples *samples, struct weir_error *error)
{
    bool is_absent = true;
    bool is_zero = !is_wanted; /* for all: it says nothing that one would not ask for */
    for (size_t v = 0; v < samples->variants; v++) {
        is_absent = is_absent && has_gap(samples, v);
        is_zero = is_zero && an_is_constant(an_samples_of(samples, v), samples->replications) &&
                  !(fabs(an_samples_of(samples, v)[0]) > 0.0);
    }
    if (is_absent || is_zero)
        return WEIR_OK;
    struct an_metric_row *row = &comparison->rows[comparison->row_count++];
    WEIR_TRY(row_describe(metric, samples, row, error));
    row->better = better_of(comparison, metric);
    double *numbers = calloc(3 * samples->variants, sizeof *numbers);
    row->cells = calloc(samples->variants, sizeof *row->cells);
    if (numbers == NULL || row->cells == NULL) {
        free(numbers);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    const struct scratch scratch = { numbers, numbers + samples->variants,
                                     numbers + 2 * samples->variants };
    fill_means(samples, row);
    fill_differences(samples, comparison, &scratch, row);
    mark_best(samples, comparison, &scratch, row);
    free(numbers);
    return WEIR_OK;
}

static weir_status add_metric(struct an_keeper *keeper, struct an_comparison *comparison,
                              const char *metric, bool is_wanted, struct weir_error *error)
{
    struct an_samples samples = { 0 };
    const size_t before = comparison->row_count;
    WEIR_TRY(an_samples_read(keeper, metric, comparison->variant_count, &samples, error));
    WEIR_TRY(add_row(comparison, metric, is_wanted, &samples, error));
    if (is_wanted && comparison->row_count == before)
        return weir_fail(error, WEIR_EINVAL, "no run has a result \"%s\"", metric);
    return WEIR_OK;
}

/* Fragmentation of less than this share of free GPUs says nothing. */
static const double free_from = 0.05;

static const char assigned_sql[] =
    "SELECT max(value) FROM result WHERE metric = 'util.gpu.assigned' AND label = ''";

static bool has_row(const struct an_comparison *comparison, const char *metric)
{
    return an_comparison_row(comparison, metric) != NULL;
}

/* Unless it is there, or is about next to nothing. */
static weir_status add_default(struct an_keeper *keeper, struct an_comparison *comparison,
                               const char *metric, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    if (has_row(comparison, metric))
        return WEIR_OK;
    if (strcmp(metric, "frag.gpu.fgd_ratio") == 0) {
        WEIR_TRY(an_keep_query(keeper, assigned_sql, NULL, &frame, error));
        if (an_number(frame, 0, 0) > 1.0 - free_from)
            return WEIR_OK;
    }
    return add_metric(keeper, comparison, metric, false, error);
}

/* Behind all others: they have a table of their own. */
static weir_status add_windows(struct an_keeper *keeper, struct an_comparison *comparison,
                               struct weir_error *error)
{
    struct an_windows windows;
    char metric[256];
    WEIR_TRY(an_windows_read(keeper->db, &windows, error));
    for (size_t i = 0; an_windows_metric(&windows, i, metric, sizeof metric); i++)
        WEIR_TRY(add_default(keeper, comparison, metric, error));
    return WEIR_OK;
}

/* The goal, its conditions, what the kind of work is known by, then all others. */
static weir_status add_default_rows(struct an_keeper *keeper, const struct an_goal *goal,
                                    size_t most, struct an_comparison *comparison,
                                    struct weir_error *error)
{
    WEIR_TRY(add_metric(keeper, comparison, goal->metric, goal->is_given, error));
    if (comparison->row_count > 0)
        comparison->rows[0].is_goal = true;
    for (size_t i = 0; i < goal->condition_count; i++)
        if (!has_row(comparison, goal->conditions[i].metric))
            WEIR_TRY(add_metric(keeper, comparison, goal->conditions[i].metric, true, error));
    for (size_t i = 0; an_goal_row(goal, i) != NULL && comparison->row_count < most; i++)
        WEIR_TRY(add_default(keeper, comparison, an_goal_row(goal, i), error));
    for (size_t i = 0; i < an_metric_count() && comparison->row_count < most; i++)
        if (an_metric_at(i)->is_default)
            WEIR_TRY(add_default(keeper, comparison, an_metric_at(i)->id, error));
    comparison->shown = comparison->row_count < AN_GOAL_ROWS ? comparison->row_count : AN_GOAL_ROWS;
    return most == AN_GOAL_ROWS ? WEIR_OK : add_windows(keeper, comparison, error);
}

/* As the table names it. */
static weir_status add_wanted(struct an_keeper *keeper, struct an_comparison *comparison,
                              const char *name, struct weir_error *error)
{
    char metric[256];
    an_window_metric_named(name, metric, sizeof metric);
    return add_metric(keeper, comparison, metric, true, error);
}

static weir_status add_rows(struct an_keeper *keeper, const struct an_compare_options *options,
                            const struct an_goal *goal, struct an_comparison *comparison,
                            struct weir_error *error)
{
    const bool is_default = options == NULL || options->metrics == NULL;
    const size_t by_window = (size_t)AN_WINDOWS_MOST * an_metric_count();
    const size_t count = is_default
                             ? an_metric_count() + AN_GOAL_CONDITIONS + AN_GOAL_ROWS + 1 + by_window
                             : options->metric_count;
    comparison->rows = calloc(count + 1, sizeof *comparison->rows);
    if (comparison->rows == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (is_default)
        return add_default_rows(keeper, goal,
                                options != NULL && options->is_short ? AN_GOAL_ROWS : SIZE_MAX,
                                comparison, error);
    for (size_t i = 0; i < count; i++)
        WEIR_TRY(add_wanted(keeper, comparison, options->metrics[i], error));
    comparison->shown = comparison->row_count;
    return WEIR_OK;
}

/* ---- the goal ---- */

static void write_condition(FILE *out, const struct an_condition *condition,
                            const struct an_metric_row *row)
{
    (void)fprintf(out, "%s %s %s", row->label, condition->op,
                  an_word_value(condition->bound, row->unit).text);
}

static void write_missed(FILE *out, const struct an_comparison *comparison,
                         const struct an_goal *goal, size_t variant)
{
    const char *gap = "";
    for (size_t i = 0; i < goal->condition_count; i++) {
        const struct an_condition *condition = &goal->conditions[i];
        const struct an_metric_row *row = an_comparison_row(comparison, condition->metric);
        if (row == NULL || is_early(comparison, variant))
            continue;
        const struct an_cell *cell = &row->cells[variant];
        const bool is_known = an_condition_judge(condition, cell) != AN_NOT_KNOWN;
        if (is_known && an_condition_holds(condition, cell->mean))
            continue;
        const struct an_word value = an_word_value(cell->mean, row->unit);
        (void)fputs(gap, out);
        write_condition(out, condition, row);
        (void)fprintf(out, " (%s%s)",
                      an_word_known(value, cell->is_lower_bound, cell->is_partial).text,
                      is_known ? "" : ", not known");
        gap = ", ";
    }
}

static void write_goal(FILE *out, const struct an_comparison *comparison,
                       const struct an_goal *goal)
{
    if (comparison->row_count == 0 || !comparison->rows[0].is_goal)
        return;
    (void)fprintf(out, "%s %s", goal->better > 0 ? "more" : "less", comparison->rows[0].label);
    for (size_t i = 0; i < goal->condition_count; i++) {
        const struct an_metric_row *row = an_comparison_row(comparison, goal->conditions[i].metric);
        (void)fputs(i == 0 ? " while " : " and ", out);
        if (row != NULL)
            write_condition(out, &goal->conditions[i], row);
    }
    (void)fprintf(out, " (%s%s)", goal->is_given ? "" : "default: ", goal->reason);
}

static weir_status fill_goal(const struct an_goal *goal, struct an_comparison *comparison,
                             struct weir_error *error)
{
    struct an_buffer buffer;
    comparison->missed = calloc(comparison->variant_count + 1, sizeof *comparison->missed);
    bool is_complete = comparison->missed != NULL && an_buffer_open(&buffer);
    if (is_complete) {
        write_goal(buffer.file, comparison, goal);
        comparison->goal = an_buffer_take(&buffer);
        is_complete = comparison->goal != NULL;
    }
    for (size_t v = 0; is_complete && v < comparison->variant_count; v++) {
        is_complete = an_buffer_open(&buffer);
        if (!is_complete)
            break;
        write_missed(buffer.file, comparison, goal, v);
        comparison->missed[v] = an_buffer_take(&buffer);
        is_complete = comparison->missed[v] != NULL;
    }
    return is_complete ? WEIR_OK : weir_fail(error, WEIR_ENOMEM, "out of memory");
}

/* ---- the sentence ---- */

/* What the variants that are compared show. */
static void write_contest(FILE *out, const struct an_comparison *comparison)
{
    struct an_claim claim;
    an_verdict(comparison, &claim);
    (void)fputs(claim.text, out);
}

static void write_finding(FILE *out, const struct an_comparison *comparison)
{
    const char *gap = comparison->contest[0] == '\0' ? "" : "; ";
    (void)fputs(comparison->contest, out);
    for (size_t v = 0; v < comparison->variant_count; v++) {
        if (!is_early(comparison, v))
            continue;
        (void)fprintf(out, "%s%s", gap, comparison->early[v].sentence);
        if (comparison->early[v].was_baseline)
            (void)fprintf(out, " (%s is the baseline instead)",
                          comparison->variants[comparison->baseline]);
        gap = "; ";
    }
}

static weir_status fill_varies(struct an_keeper *keeper, struct an_comparison *comparison,
                               struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(keeper,
                           "SELECT coalesce((SELECT value FROM meta WHERE key = 'varies'), ''),"
                           " coalesce((SELECT value FROM meta WHERE key = 'audit'), '')",
                           NULL, &frame, error));
    comparison->varies = strdup(an_text(frame, 0, 0));
    comparison->audit = strdup(an_text(frame, 0, 1));
    return comparison->varies == NULL || comparison->audit == NULL
               ? weir_fail(error, WEIR_ENOMEM, "out of memory")
               : WEIR_OK;
}

/* What `write` writes; malloc'ed, NULL = out of memory. */
static char *written(void (*write)(FILE *, const struct an_comparison *),
                     const struct an_comparison *comparison)
{
    struct an_buffer buffer;
    if (!an_buffer_open(&buffer))
        return NULL;
    write(buffer.file, comparison);
    return an_buffer_take(&buffer);
}

static weir_status compare_fill(struct an_keeper *keeper, const struct an_compare_options *options,
                                struct an_comparison *comparison, struct weir_error *error)
{
    WEIR_TRY(check_comparable(keeper, error));
    WEIR_TRY(fill_variants(keeper, options == NULL ? NULL : options->baseline, comparison, error));
    WEIR_TRY(fill_left_out(keeper, comparison, error));
    WEIR_TRY(fill_early(keeper, comparison, error));
    replace_baseline(comparison);
    struct an_goal goal;
    WEIR_TRY(an_goal_read(keeper->db, &goal, error));
    comparison->goal_better = goal.better;
    (void)snprintf(comparison->goal_metric, sizeof comparison->goal_metric, "%s", goal.metric);
    WEIR_TRY(add_rows(keeper, options, &goal, comparison, error));
    WEIR_TRY(fill_goal(&goal, comparison, error));
    WEIR_TRY(fill_varies(keeper, comparison, error));
    comparison->contest = written(write_contest, comparison);
    if (comparison->contest != NULL)
        comparison->finding = written(write_finding, comparison);
    return comparison->finding == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

weir_status an_compare(struct an_db *db, const struct an_compare_options *options,
                       struct an_comparison **comparison, struct weir_error *error)
{
    struct an_comparison *made = calloc(1, sizeof *made);
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    struct an_keeper keeper = { .db = db };
    const weir_status status = compare_fill(&keeper, options, made, error);
    an_keep_clear(&keeper);
    if (status != WEIR_OK) {
        an_comparison_destroy(made);
        return status;
    }
    *comparison = made;
    return WEIR_OK;
}
