/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes are either a log of spans or refused with a sentence: no crash, no leak, no endless
 * work. Skipping bad rows accepts at least what failing at them accepts, and the same spans.
 */
#include "tests/support/reached.h"
#include "workloads/spans/span_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static weir_status read_log(const uint8_t *data, size_t size, bool skips, struct wl_span_log *log)
{
    static const uint8_t nothing[1] = { 0 };
    const struct wl_span_options options = { .path = "fuzz.csv",
                                             .bytes = data == NULL ? nothing : data,
                                             .byte_count = size,
                                             .skips_bad_rows = skips };
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status = wl_span_log_read(&options, log, &error);
    if ((status != WEIR_OK) != (error.text[0] != '\0'))
        abort();
    return status;
}

static void check_spans(const struct wl_span_log *log)
{
    size_t rows = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct wl_span *span = &log->spans[i];
        if (!(span->end_s >= span->start_s) || !isfinite(span->end_s) ||
            span->stage >= log->stages.count)
            abort();
        rows += span->task_rows;
    }
    if (rows != log->count || log->counts.rows != log->count)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wl_span_log strict = { 0 };
    struct wl_span_log lenient = { 0 };
    const weir_status first = read_log(data, size, false, &strict);
    const weir_status second = read_log(data, size, true, &lenient);
    if (first == WEIR_OK) {
        if (second != WEIR_OK || lenient.counts.skipped > 0 || lenient.count != strict.count)
            abort();
        check_spans(&strict);
    }
    if (second == WEIR_OK)
        check_spans(&lenient);
    if (second == WEIR_OK && lenient.count > 0)
        fuzz_reached();
    wl_span_log_clear(&strict);
    wl_span_log_clear(&lenient);
    return 0;
}
