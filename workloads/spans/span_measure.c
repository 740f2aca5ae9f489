/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures of a log; see the header. The queue is time waited divided by time (Little): each item
 * counts from its queued_at to its start. A worker is there from its first sign to its last.
 */
#include "workloads/spans/span_measure.h"

#include "workloads/spans/span_lives.h"

#include <math.h>
#include <stdlib.h>

static double overlap(struct wl_window window, double from_s, double to_s)
{
    const double from = fmax(window.from_s, from_s);
    const double to = fmin(window.to_s, to_s);
    return to > from ? to - from : 0.0;
}

static double items_of(const struct wl_span *span)
{
    return span->task_rows == 1 && span->batch > 1 ? span->batch : 1.0;
}

struct wl_window wl_span_extent(const struct wl_span_log *log)
{
    struct wl_window extent = { HUGE_VAL, -HUGE_VAL };
    for (size_t i = 0; i < log->count; i++) {
        if (log->spans[i].is_setup)
            continue;
        extent.from_s = fmin(extent.from_s, log->spans[i].start_s);
        extent.to_s = fmax(extent.to_s, log->spans[i].end_s);
    }
    return extent;
}

/* Adds a span; busy_share holds time of work until the end. */
static void add_span(const struct wl_span *span, struct wl_window window,
                     struct wl_stage_measure *measure)
{
    const bool is_in = span->end_s > window.from_s && span->end_s <= window.to_s;
    if (span->task_rows > 0)
        measure->busy_share += overlap(window, span->start_s, span->end_s);
    if (is_in && !span->has_failed)
        measure->throughput_per_s += items_of(span);
    if (!isnan(span->queued_s))
        measure->queue += items_of(span) * overlap(window, span->queued_s, span->start_s);
}

weir_status wl_span_measure(const struct wl_span_log *log, struct wl_window window,
                            struct wl_stage_measure *measures, struct weir_error *error)
{
    const double length_s = window.to_s - window.from_s;
    struct wl_life *lives = NULL;
    size_t count = 0;
    double *there_s = calloc(log->stages.count + 1, sizeof(*there_s));
    if (there_s == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = wl_lives_find(log, &lives, &count, error);
    for (size_t s = 0; s < log->stages.count; s++)
        measures[s] = (struct wl_stage_measure){ 0 };
    for (size_t i = 0; i < count; i++)
        there_s[lives[i].stage] += overlap(window, lives[i].start_s, lives[i].end_s);
    for (size_t i = 0; i < log->count && status == WEIR_OK; i++) {
        const struct wl_span *span = &log->spans[i];
        if (span->is_setup)
            there_s[span->stage] -= overlap(window, span->start_s, span->end_s);
        else
            add_span(span, window, &measures[span->stage]);
    }
    for (size_t s = 0; s < log->stages.count && status == WEIR_OK; s++) {
        struct wl_stage_measure *measure = &measures[s];
        measure->busy_share =
            there_s[s] > 0 ? fmin(measure->busy_share / there_s[s], 1.0) : (double)NAN;
        measure->throughput_per_s /= length_s;
        measure->queue =
            log->has_queued || log->has_arrival ? measure->queue / length_s : (double)NAN;
    }
    free(lives);
    free(there_s);
    return status;
}

weir_status wl_span_part(const struct wl_span_log *log, double until_s, struct wl_span_log *part,
                         struct weir_error *error)
{
    struct wl_span *spans = calloc(log->count + 1, sizeof(*spans));
    if (spans == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    *part = *log;
    part->spans = spans;
    part->count = part->capacity = 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->spans[i].end_s <= until_s)
            spans[part->count++] = log->spans[i];
    return WEIR_OK;
}

void wl_span_part_free(struct wl_span_log *part)
{
    free(part->spans);
    part->spans = NULL;
    part->count = 0;
}
