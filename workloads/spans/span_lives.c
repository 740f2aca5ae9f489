/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who lived when; see the header. */
#include "workloads/spans/span_lives.h"

#include <stdlib.h>

static int compare_spans(const void *left, const void *right)
{
    const struct wl_span *a = *(const struct wl_span *const *)left;
    const struct wl_span *b = *(const struct wl_span *const *)right;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    return a < b ? -1 : (a > b ? 1 : 0);
}

static void extend(struct wl_life *life, const struct wl_span *span)
{
    life->start_s = span->start_s < life->start_s ? span->start_s : life->start_s;
    life->end_s = span->end_s > life->end_s ? span->end_s : life->end_s;
    life->gpu = life->gpu == WL_NO_NAME ? span->gpu : life->gpu;
    life->node = life->node == WL_NO_NAME ? span->node : life->node;
}

weir_status wl_lives_find(const struct wl_span_log *log, struct wl_life **lives, size_t *count,
                          struct weir_error *error)
{
    const struct wl_span **order = calloc(log->count + 1, sizeof(struct wl_span *));
    struct wl_life *found = calloc(log->count + 1, sizeof(*found));
    if (order == NULL || found == NULL) {
        free(order);
        free(found);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < log->count; i++)
        order[i] = &log->spans[i];
    qsort(order, log->count, sizeof(struct wl_span *), compare_spans);
    size_t n = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct wl_span *span = order[i];
        const bool is_known = span->worker != WL_NO_NAME;
        if (!is_known && span->task_rows == 0)
            continue;
        if (n > 0 && is_known && found[n - 1].stage == span->stage &&
            found[n - 1].worker == span->worker)
            extend(&found[n - 1], span);
        else
            found[n++] = (struct wl_life){ span->stage, span->worker,  span->node,
                                           span->gpu,   span->start_s, span->end_s };
    }
    free(order);
    *lives = found;
    *count = n;
    return WEIR_OK;
}

struct edge {
    double time_s;
    int step; /* -1 ends before +1 starts */
};

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left;
    const struct edge *b = right;
    if (a->time_s < b->time_s || a->time_s > b->time_s)
        return a->time_s < b->time_s ? -1 : 1;
    return a->step - b->step;
}

static bool is_wanted(const struct wl_life *life, struct wl_life_filter filter)
{
    return (filter.stage == WL_ANY || filter.stage == life->stage) &&
           (filter.node == WL_ANY || filter.node == life->node) &&
           (filter.gpu == WL_ANY || filter.gpu == life->gpu);
}

struct wl_life_count wl_lives_count(const struct wl_life *lives, size_t count,
                                    struct wl_life_filter filter)
{
    struct wl_life_count result = { 0, 0 };
    struct edge *edges = calloc(2 * count + 1, sizeof(*edges));
    if (edges == NULL)
        return result;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(&lives[i], filter))
            continue;
        /* A life of no length is there all the same: at its instant. */
        edges[n++] = (struct edge){ lives[i].start_s, 1 };
        edges[n++] = (struct edge){ lives[i].end_s, lives[i].end_s > lives[i].start_s ? -1 : 2 };
        result.seen++;
    }
    qsort(edges, n, sizeof(*edges), compare_edges);
    uint32_t alive = 0;
    for (size_t i = 0; i < n; i++) {
        alive = edges[i].step == 1 ? alive + 1 : alive - 1;
        result.peak = alive > result.peak ? alive : result.peak;
    }
    free(edges);
    return result;
}
