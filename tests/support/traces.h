/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Job traces in tests: from texts, from the shared traces, and compared whole.
 */
#ifndef TESTS_SUPPORT_TRACES_H
#define TESTS_SUPPORT_TRACES_H

#include "workloads/trace.h"

struct test_trace {
    struct wl_jobs jobs;
    struct weir_error error;
    weir_status status;
};

/* A text as the file "t", read in a format ("openb", "swf", or the name of a map, or the text of
 * one, which begins with a bracket). */
struct test_trace test_trace_text(const char *format, const char *text, bool skips);
struct test_trace test_trace_bytes(const char *format, const char *bytes, size_t count, bool skips);
/* A file below the shared known answers, its format found out; false and a counted skip when it is
 * not there. */
bool test_trace_shared(const char *relative, struct test_trace *trace);

/* Counts failures for every field that differs; lines and (without names) names do not matter. */
void test_traces_equal(const struct wl_jobs *actual, const struct wl_jobs *expected);

#endif
