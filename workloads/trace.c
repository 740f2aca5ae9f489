/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry of trace formats; see the header. The order is that in which a file is tried. */
#include "workloads/trace.h"

#include "workloads/openb.h"

#include <string.h>

const struct wl_trace_format wl_trace_formats[] = {
    { "openb", "pods of the Alibaba cluster-trace-gpu-v2023 (CSV)", wl_openb_is_pods,
      wl_openb_read_jobs },
};
const size_t wl_trace_formats_count = sizeof wl_trace_formats / sizeof wl_trace_formats[0];

const struct wl_trace_format *wl_trace_format_find(const char *name)
{
    for (size_t i = 0; i < wl_trace_formats_count; i++)
        if (strcmp(wl_trace_formats[i].name, name) == 0)
            return &wl_trace_formats[i];
    return NULL;
}

static bool has(const struct wl_trace_head *head, const char *name)
{
    for (size_t i = 0; i < head->name_count; i++)
        if (head->names[i] != NULL && strcmp(head->names[i], name) == 0)
            return true;
    return false;
}

bool wl_trace_head_has(const struct wl_trace_head *head, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has(head, names[i]))
            return false;
    return true;
}
