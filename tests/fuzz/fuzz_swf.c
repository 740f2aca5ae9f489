/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes are either SWF or refused with a sentence. What was read can be written and read again,
 * and is the same; skipping bad lines accepts at least what failing at them accepts.
 */
#include "tests/support/reached.h"
#include "workloads/swf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static weir_status read_swf(const uint8_t *data, size_t size, enum wl_bad_row on_bad_row,
                            struct wl_jobs *jobs)
{
    static const uint8_t nothing[1] = { 0 };
    const struct wl_trace_options options = { .path = "fuzz.swf",
                                              .bytes = data == NULL ? nothing : data,
                                              .byte_count = size,
                                              .on_bad_row = on_bad_row };
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status = wl_swf_read(&options, jobs, &error);
    if ((status != WEIR_OK) != (error.text[0] != '\0'))
        abort();
    return status;
}

/* Jobs without a submission are not written, and the rest comes out by submission. */
static void write_and_read(const struct wl_jobs *jobs)
{
    const struct wl_swf_options options = { .note = "fuzz" };
    struct wl_swf_losses losses;
    struct wl_jobs again = { .count = 0 };
    char *text = NULL;
    size_t size = 0;
    int64_t last_ns = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL || wl_swf_write(jobs, &options, out, &losses, NULL) != WEIR_OK ||
        fclose(out) != 0)
        abort();
    if (read_swf((const uint8_t *)text, size, WL_BAD_ROW_FAILS, &again) != WEIR_OK)
        abort();
    if (again.count + losses.without_submit != jobs->count)
        abort();
    for (size_t i = 0; i < again.count; i++) {
        if (again.jobs[i].submit_ns < last_ns)
            abort();
        last_ns = again.jobs[i].submit_ns;
    }
    wl_jobs_clear(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wl_jobs strict = { .count = 0 };
    struct wl_jobs lenient = { .count = 0 };
    const weir_status first = read_swf(data, size, WL_BAD_ROW_FAILS, &strict);
    const weir_status second = read_swf(data, size, WL_BAD_ROW_IS_SKIPPED, &lenient);
    if (first == WEIR_OK &&
        (second != WEIR_OK || lenient.skipped > 0 || lenient.count != strict.count))
        abort();
    if (second == WEIR_OK)
        write_and_read(&lenient);
    if (second == WEIR_OK && lenient.count > 0)
        fuzz_reached();
    wl_jobs_clear(&strict);
    wl_jobs_clear(&lenient);
    return 0;
}
