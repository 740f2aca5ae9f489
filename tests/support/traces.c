/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Job traces in tests; see the header. */
#include "tests/support/traces.h"

#include "tests/support/check.h"
#include "workloads/column_map.h"

#include <stdio.h>
#include <string.h>

static void read_trace(struct test_trace *trace, const char *format_name,
                       struct wl_trace_options *options)
{
    const struct wl_trace_format *format = wl_trace_format_find(format_name);
    struct wl_column_map *map = NULL;
    if (format == NULL) {
        const bool is_text = format_name[0] == '{' || format_name[0] == '[';
        trace->status = is_text ? wl_column_map_parse("map", format_name, &map, &trace->error)
                                : wl_column_map_open(format_name, &map, &trace->error);
        if (trace->status != WEIR_OK)
            return;
        format = wl_trace_format_find("table");
        options->map = map;
    }
    trace->status = format->read(options, &trace->jobs, &trace->error);
    wl_column_map_destroy(map);
}

struct test_trace test_trace_bytes(const char *format, const char *bytes, size_t count, bool skips)
{
    struct test_trace trace = { .error = { .phase = -1, .pool = -1 } };
    struct wl_trace_options options = { .path = "t",
                                        .bytes = (const uint8_t *)bytes,
                                        .byte_count = count,
                                        .on_bad_row =
                                            skips ? WL_BAD_ROW_IS_SKIPPED : WL_BAD_ROW_FAILS };
    read_trace(&trace, format, &options);
    return trace;
}

struct test_trace test_trace_text(const char *format, const char *text, bool skips)
{
    return test_trace_bytes(format, text, strlen(text), skips);
}

bool test_trace_shared(const char *relative, struct test_trace *trace)
{
    const char *path = test_shared(relative);
    const struct wl_trace_format *format = NULL;
    const char *map = NULL;
    *trace = (struct test_trace){ .error = { .phase = -1, .pool = -1 } };
    if (path == NULL) {
        test_skip("the shared traces are not here");
        return false;
    }
    struct wl_trace_options options = { .path = path };
    trace->status = wl_trace_recognise(&options, &format, &map, &trace->error);
    if (trace->status == WEIR_OK)
        read_trace(trace, map != NULL ? map : format->name, &options);
    CHECK_STR(trace->error.text, "");
    return trace->status == WEIR_OK;
}

static void compare_jobs(const struct wl_job *actual, const struct wl_job *expected, bool has_names)
{
    if (has_names)
        CHECK_STR(actual->name, expected->name);
    CHECK_STR(actual->models, expected->models);
    CHECK_STR(actual->user, expected->user);
    CHECK_STR(actual->group, expected->group);
    CHECK_I64(actual->submit_ns, expected->submit_ns);
    CHECK_I64(actual->wait_ns, expected->wait_ns);
    CHECK_I64(actual->run_ns, expected->run_ns);
    CHECK_I64(actual->estimate_ns, expected->estimate_ns);
    CHECK_I64(actual->patience_ns, expected->patience_ns);
    CHECK_I64(actual->cpu_milli, expected->cpu_milli);
    CHECK_I64(actual->memory_bytes, expected->memory_bytes);
    CHECK_I64(actual->gpu_memory_bytes, expected->gpu_memory_bytes);
    CHECK_I64(actual->gpus, expected->gpus);
    CHECK_I64(actual->gpu_milli, expected->gpu_milli);
    CHECK_I64(actual->processors, expected->processors);
    CHECK_I64(actual->priority, expected->priority);
    CHECK_I64(actual->end, expected->end);
}

void test_traces_equal(const struct wl_jobs *actual, const struct wl_jobs *expected)
{
    CHECK_I64(actual->count, expected->count);
    for (size_t i = 0; i < actual->count && i < expected->count; i++)
        compare_jobs(&actual->jobs[i], &expected->jobs[i], expected->has_names);
}
