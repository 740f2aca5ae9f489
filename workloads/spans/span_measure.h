/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a log of spans says of each stage in a window of time: what it finished, how many items
 * stood before it, how much of the time of its workers was work. The same for a log of production
 * and for one of a run, so that the two can be laid side by side.
 */
#ifndef WORKLOADS_SPAN_MEASURE_H
#define WORKLOADS_SPAN_MEASURE_H

#include "workloads/spans/span_log.h"

struct wl_window {
    double from_s, to_s;
};

struct wl_stage_measure {
    double throughput_per_s; /* items finished */
    double queue;            /* items that wait, mean over time; NAN = the log has no queued_at */
    double busy_share;       /* of the time of ready workers; NAN = none was there */
};

/* One measure for each stage of the log, in its order; `measures` has room for them. */
weir_status wl_span_measure(const struct wl_span_log *log, struct wl_window window,
                            struct wl_stage_measure *measures, struct weir_error *error);

/* First start and last end of a task. */
struct wl_window wl_span_extent(const struct wl_span_log *log);

/* The spans that ended by `until_s`, as a log of its own over the names of the other; to be freed
 * with wl_span_part_free. */
weir_status wl_span_part(const struct wl_span_log *log, double until_s, struct wl_span_log *part,
                         struct weir_error *error);
void wl_span_part_free(struct wl_span_log *part);

#endif
