/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lives of workers as a log shows them: from the first sign of each worker to the last. A task of
 * an unknown worker counts as a life of its own.
 */
#ifndef WORKLOADS_SPAN_LIVES_H
#define WORKLOADS_SPAN_LIVES_H

#include "workloads/spans/span_log.h"

struct wl_life {
    uint32_t stage, worker, node, gpu;
    double start_s, end_s;
};

/* All lives, malloc'ed. */
weir_status wl_lives_find(const struct wl_span_log *log, struct wl_life **lives, size_t *count,
                          struct weir_error *error);

/* Which lives to count; WL_ANY = all. */
#define WL_ANY (UINT32_MAX - 1)
struct wl_life_filter {
    uint32_t stage, node, gpu; /* gpu WL_NO_NAME = those without */
};
struct wl_life_count {
    uint32_t seen, peak; /* workers in all, and at once; peak 0 when out of memory */
};
struct wl_life_count wl_lives_count(const struct wl_life *lives, size_t count,
                                    struct wl_life_filter filter);

#endif
