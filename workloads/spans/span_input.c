/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrivals or backlog; see the header. An item that is taken from a backlog comes when something
 * made room: a task or a set-up ended, or one began downstream. Under a main loop it comes a little
 * later. An item that arrives comes at any time. So the time that went by since something happened
 * is laid beside the same of entries that are moved: each gap is changed with the next one.
 */
#include "workloads/spans/span_input.h"

#include "workloads/spans/span_measure.h"

#include <math.h>
#include <stdlib.h>

static const double same_instant_s = 1e-6;
/* A stage that works for more of its time than this limits the pipeline: arrivals do not. */
static const double never_idle = 0.9;

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

/* The time since the last edge, or INFINITY. */
static double since_edge(const double *edges, size_t count, double time_s)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (edges[middle] <= time_s + same_instant_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? (double)INFINITY : fmax(0.0, time_s - edges[low - 1]);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_numbers);
    return values[count / 2];
}

/* Medians of the time since an edge: of the entries, which are sorted, and of the moved ones. */
static weir_status follow(const struct wl_span_log *log, uint32_t first, const double *entries,
                          size_t count, double medians[2], struct weir_error *error)
{
    size_t edge_count = 0;
    double *edges = find_edges(log, first, &edge_count);
    double *since = calloc(count + 1, sizeof(*since));
    if (edges == NULL || since == NULL) {
        free(edges);
        free(since);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++)
        since[i] = since_edge(edges, edge_count, entries[i]);
    medians[0] = median_of(since, count);
    for (size_t i = 0; i < count; i++)
        since[i] = since_edge(
            edges, edge_count,
            i == 0 || i + 1 == count ? entries[i] : entries[i - 1] + (entries[i + 1] - entries[i]));
    medians[1] = median_of(since, count);
    free(edges);
    free(since);
    return WEIR_OK;
}

struct entries {
    size_t count;
    bool all_queued; /* every entry has a queued_at */
    bool at_once;    /* half of them at least entered at the first instant */
};

/* Entry times (queued_at where known, else the start) into `values`, ascending. */
static struct entries collect(const struct wl_span_log *log, uint32_t first, double *values)
{
    struct entries entries = { .all_queued = true };
    for (size_t i = 0; i < log->count; i++) {
        const struct wl_span *span = &log->spans[i];
        if (!is_entry(span, first, log->has_attempt))
            continue;
        const bool is_known = !isnan(span->queued_s);
        entries.all_queued = entries.all_queued && is_known;
        values[entries.count++] = is_known ? span->queued_s : span->start_s;
    }
    qsort(values, entries.count, sizeof(*values), compare_numbers);
    entries.at_once = entries.count == 0 || values[entries.count / 2] - values[0] <= same_instant_s;
    return entries;
}

/* The stage whose workers have least time to spare, over the whole log. Without names of workers
 * every task is one, and always busy. */
static weir_status find_busiest(struct wl_model *model, struct weir_error *error)
{
    const struct wl_span_log *log = model->log;
    if (!log->has_worker)
        return WEIR_OK;
    struct wl_stage_measure *measures = calloc(log->stages.count + 1, sizeof(*measures));
    if (measures == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = wl_span_measure(log, wl_span_extent(log), measures, error);
    for (size_t s = 0; s < log->stages.count && status == WEIR_OK; s++)
        if (measures[s].busy_share > model->busiest_share) {
            model->busiest = log->stages.names[s];
            model->busiest_share = measures[s].busy_share;
        }
    free(measures);
    return status;
}

static weir_status decide(struct wl_model *model, uint32_t first,
                          const struct wl_model_options *options, const struct entries *entries,
                          const double *values, struct weir_error *error)
{
    double medians[2] = { 0 };
    model->is_backlog =
        options->input == WL_INPUT_BACKLOG || (options->input == WL_INPUT_AUTO && entries->at_once);
    if (options->input != WL_INPUT_AUTO || model->is_backlog)
        return WEIR_OK;
    WEIR_TRY(follow(model->log, first, values, entries->count, medians, error));
    if (medians[1] > 0.0)
        model->is_backlog = medians[0] < 0.5 * medians[1];
    else /* stamps that are too coarse to tell */
        model->is_backlog = model->busiest == NULL || model->busiest_share > never_idle;
    return WEIR_OK;
}

bool wl_model_shows_capacity(const struct wl_model *model)
{
    return model->is_backlog || (model->busiest != NULL && model->busiest_share > never_idle);
}

static weir_status fit_arrivals(struct wl_model *model, const struct wl_model_options *options,
                                double *values, size_t count, struct weir_error *error)
{
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
    WEIR_TRY(decide(model, first, options, &entries, values, error));
    if (model->is_backlog)
        return WEIR_OK;
    if (entries.count < 2)
        return weir_fail(error, WEIR_EINVAL, "arrivals need two items or more");
    model->arrivals_from_starts = !entries.all_queued;
    return fit_arrivals(model, options, values, entries.count, error);
}
