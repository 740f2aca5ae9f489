/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrivals or backlog; see the header. Items that are taken from a backlog start when something
 * ends (a task, a set-up, or room downstream); items that arrive start, at least sometimes, when
 * nothing else happens. So where the log holds no waiting, the share of starts that coincide with
 * another edge decides. Under a main loop they do not coincide, and items wait in lists that the
 * loop fills: there it tells that some stage is never short of work.
 */
#include "workloads/span_input.h"

#include "workloads/span_measure.h"

#include <math.h>
#include <stdlib.h>

static const double same_instant_s = 1e-6;

static int compare_numbers(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* A first attempt at an item by the first stage. */
static bool is_entry(const struct wl_span *span, uint32_t first, bool has_attempt)
{
    return !span->is_setup && span->stage == first &&
           (has_attempt ? span->attempt == 0 : !span->has_failed);
}

static uint32_t entry_items(const struct wl_span *span)
{
    return span->task_rows == 1 && span->batch > 1 ? span->batch : 1;
}

/* All instants at which something ends, or starts in another stage, ascending; malloc'ed. */
static double *find_edges(const struct wl_span_log *log, uint32_t first, size_t *count)
{
    double *edges = calloc(2 * log->count + 1, sizeof(*edges));
    size_t n = 0;
    if (edges == NULL)
        return NULL;
    for (size_t i = 0; i < log->count; i++) {
        edges[n++] = log->spans[i].end_s;
        if (log->spans[i].stage != first && !log->spans[i].is_setup)
            edges[n++] = log->spans[i].start_s;
    }
    qsort(edges, n, sizeof(*edges), compare_numbers);
    *count = n;
    return edges;
}

static bool has_edge_at(const double *edges, size_t count, double time_s)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (edges[middle] < time_s - same_instant_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && edges[low] <= time_s + same_instant_s;
}

/* Share of the first stage's starts that coincide with another edge. */
static weir_status coincidence(const struct wl_span_log *log, uint32_t first, double *share,
                               struct weir_error *error)
{
    size_t edge_count = 0;
    double *edges = find_edges(log, first, &edge_count);
    if (edges == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    size_t starts = 0;
    size_t together = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct wl_span *span = &log->spans[i];
        if (!is_entry(span, first, log->has_attempt) || span->task_rows == 0)
            continue;
        starts++;
        together += has_edge_at(edges, edge_count, span->start_s) ? 1 : 0;
    }
    free(edges);
    *share = starts == 0 ? 1.0 : (double)together / (double)starts;
    return WEIR_OK;
}

struct entries {
    size_t count;
    size_t waited;   /* queued_at is before start */
    bool all_queued; /* every entry has a queued_at */
    bool at_once;    /* all entered at the same instant */
};

/* Entry times (queued_at where known, else the start) into `values`. */
static struct entries collect(const struct wl_span_log *log, uint32_t first, double *values)
{
    struct entries entries = { .all_queued = true, .at_once = true };
    for (size_t i = 0; i < log->count; i++) {
        const struct wl_span *span = &log->spans[i];
        if (!is_entry(span, first, log->has_attempt))
            continue;
        const bool is_known = !isnan(span->queued_s);
        const double time_s = is_known ? span->queued_s : span->start_s;
        entries.all_queued = entries.all_queued && is_known;
        entries.waited += is_known && span->start_s - span->queued_s > same_instant_s ? 1 : 0;
        values[entries.count++] = time_s;
        entries.at_once = entries.at_once && fabs(time_s - values[0]) <= same_instant_s;
    }
    return entries;
}

/* The stage whose workers have least time to spare, over the whole log. */
static weir_status find_busiest(struct wl_model *model, struct weir_error *error)
{
    const struct wl_span_log *log = model->log;
    struct wl_stage_measure *measures = calloc(log->stages.count + 1, sizeof(*measures));
    if (measures == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = wl_span_measure(log, wl_span_extent(log), measures, error);
    for (size_t s = 0; s < log->stages.count && status == WEIR_OK; s++)
        if (model->busiest == NULL || measures[s].busy_share > model->busiest_share) {
            model->busiest = log->stages.names[s];
            model->busiest_share = measures[s].busy_share;
        }
    free(measures);
    return status;
}

static weir_status decide(struct wl_model *model, uint32_t first,
                          const struct wl_model_options *options, const struct entries *entries,
                          struct weir_error *error)
{
    model->is_backlog =
        options->input == WL_INPUT_BACKLOG || (options->input == WL_INPUT_AUTO && entries->at_once);
    if (options->input != WL_INPUT_AUTO || model->is_backlog)
        return WEIR_OK;
    /* Without names of workers every task is one, and always busy. */
    if (model->log->has_worker && model->busiest_share > WL_BUSY_SHARE) {
        model->is_backlog = true;
        return WEIR_OK;
    }
    /* Items of a backlog wait only when a worker lost them; half of all is more than that. */
    if (entries->all_queued && 2 * entries->waited >= entries->count)
        return WEIR_OK;
    double share = 0;
    WEIR_TRY(coincidence(model->log, first, &share, error));
    model->is_backlog = share >= 0.5;
    return WEIR_OK;
}

static weir_status fit_arrivals(struct wl_model *model, const struct wl_model_options *options,
                                double *values, size_t count, struct weir_error *error)
{
    qsort(values, count, sizeof(*values), compare_numbers);
    for (size_t i = 0; i + 1 < count; i++)
        values[i] = values[i + 1] - values[i];
    return wl_law_choose(values, count - 1, options->confidence, &model->arrivals, error);
}

static weir_status fit_size(struct wl_model *model, uint32_t first,
                            const struct wl_model_options *options, double *values,
                            struct weir_error *error)
{
    size_t n = 0;
    for (size_t i = 0; i < model->log->count; i++) {
        const struct wl_span *span = &model->log->spans[i];
        if (is_entry(span, first, model->log->has_attempt) && !isnan(span->size))
            values[n++] = span->size;
    }
    return n == 0 ? WEIR_OK : wl_law_choose(values, n, options->confidence, &model->size, error);
}

weir_status wl_input_fit(struct wl_model *model, uint32_t first,
                         const struct wl_model_options *options, double *values,
                         struct weir_error *error)
{
    const struct wl_span_log *log = model->log;
    for (size_t i = 0; i < log->count; i++)
        if (is_entry(&log->spans[i], first, log->has_attempt))
            model->items += entry_items(&log->spans[i]);
    WEIR_TRY(fit_size(model, first, options, values, error));
    WEIR_TRY(find_busiest(model, error));
    const struct entries entries = collect(log, first, values);
    WEIR_TRY(decide(model, first, options, &entries, error));
    if (model->is_backlog)
        return WEIR_OK;
    if (entries.count < 2)
        return weir_fail(error, WEIR_EINVAL, "arrivals need two items or more");
    model->arrivals_from_starts = !entries.all_queued;
    return fit_arrivals(model, options, values, entries.count, error);
}
