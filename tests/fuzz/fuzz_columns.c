/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text is either a column map or refused with a sentence. One that is a map reads a table: what
 * stands after the first zero byte, or else one that has a cell for each kind of value.
 */
#include "tests/support/reached.h"
#include "workloads/column_map.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char table[] =
    "name,user,group,models,submit,start,finish,run,cpus,memory,gpus,state\n"
    "a,u,g,A100|H100,0,5,65,60,4,16G,1,done\n"
    "b,,N/A,,2024-01-01 00:00:10,2024-01-01T00:01:00Z,1704067300,1:02:03,0.5,1024,0.25,failed\n"
    "c,v,\"x,y\",any,10,,,-1,8c,4Mn,gpu:2,CANCELLED by 7\n"
    "d,w,h,V100,1e9,2e9,3e9,1-02:03:04,,,\"cpu=4,mem=16G,gres/gpu=2\",running\n";

static void read_table(const struct wl_column_map *map, const uint8_t *bytes, size_t size,
                       enum wl_bad_row on_bad_row, struct wl_jobs *jobs)
{
    const struct wl_trace_options options = {
        .path = "fuzz.csv", .bytes = bytes, .byte_count = size, .on_bad_row = on_bad_row, .map = map
    };
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status = wl_table_read(&options, jobs, &error);
    if ((status != WEIR_OK) != (error.text[0] != '\0'))
        abort();
}

static void use(const struct wl_column_map *map, const uint8_t *bytes, size_t size)
{
    struct wl_jobs strict = { .count = 0 };
    struct wl_jobs lenient = { .count = 0 };
    read_table(map, bytes, size, WL_BAD_ROW_FAILS, &strict);
    read_table(map, bytes, size, WL_BAD_ROW_IS_SKIPPED, &lenient);
    if (strict.count > 0 && (lenient.skipped > 0 || strict.count != lenient.count))
        abort();
    for (size_t i = 0; i < lenient.count; i++)
        if (lenient.jobs[i].name == NULL || lenient.jobs[i].models == NULL ||
            (lenient.jobs[i].run_ns < 0 && lenient.jobs[i].run_ns != WL_UNKNOWN))
            abort();
    wl_jobs_clear(&strict);
    wl_jobs_clear(&lenient);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct wl_column_map *map = NULL;
    char *text = strndup((const char *)data, size);
    const uint8_t *end = size == 0 ? NULL : memchr(data, '\0', size);
    if (text == NULL)
        return 0;
    const weir_status status = wl_column_map_parse("fuzz.json", text, &map, &error);
    if ((status == WEIR_OK) != (map != NULL) || (status != WEIR_OK && error.text[0] == '\0'))
        abort();
    if (map != NULL)
        fuzz_reached();
    if (map != NULL && end != NULL && end + 1 < data + size)
        use(map, end + 1, (size_t)(data + size - end) - 1);
    else if (map != NULL)
        use(map, (const uint8_t *)table, sizeof table - 1);
    wl_column_map_destroy(map);
    free(text);
    return 0;
}
