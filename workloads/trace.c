/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry of trace formats; see the header. The order is that in which a file is tried. */
#include "workloads/trace.h"

#include "workloads/column_map.h"
#include "workloads/csv_table.h"
#include "workloads/lines.h"
#include "workloads/openb.h"
#include "workloads/swf.h"

#include <string.h>

enum { LINE_BYTES = 1 << 20 };

const struct wl_trace_format wl_trace_formats[] = {
    { .name = "openb",
      .summary = "pods of the Alibaba cluster-trace-gpu-v2023 (CSV)",
      .is_this = wl_openb_is_pods,
      .read = wl_openb_read_jobs,
      .is_indivisible = true },
    { .name = "swf",
      .summary = "Standard Workload Format 2.2 of the Parallel Workloads Archive",
      .is_this = wl_swf_is_this,
      .read = wl_swf_read,
      .counts_processors = true,
      .is_killed_at_estimate = true },
    { .name = "table",
      .summary = "any CSV file, through a column map",
      .read = wl_table_read,
      .needs_map = true },
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

/* ---- recognising ---- */

struct recognition {
    const char *line;
    const struct wl_trace_format *format;
    const char *map;
};

static const char *map_of(const struct wl_trace_head *head)
{
    for (size_t i = 0; i < wl_column_maps_count; i++) {
        struct wl_column_map *map = NULL;
        if (wl_column_map_open(wl_column_maps[i].name, &map, NULL) != WEIR_OK)
            continue;
        const bool is_this = wl_column_map_is_of(map, head);
        wl_column_map_destroy(map);
        if (is_this)
            return wl_column_maps[i].name;
    }
    return NULL;
}

/* The header's words are all that is wanted: an interruption ends the reading. */
static weir_status judge(void *state, const char *const *names, size_t count,
                         struct weir_error *error)
{
    struct recognition *found = state;
    const struct wl_trace_head head = { found->line, names, count };
    for (size_t i = 0; i < wl_trace_formats_count && found->format == NULL; i++)
        if (wl_trace_formats[i].is_this != NULL && wl_trace_formats[i].is_this(&head))
            found->format = &wl_trace_formats[i];
    if (found->format == NULL)
        found->map = map_of(&head);
    if (found->map != NULL)
        found->format = wl_trace_format_find("table");
    return weir_fail(error, WEIR_EINTERRUPTED, "recognised");
}

static weir_status no_row(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    (void)state;
    (void)row;
    (void)error;
    return WEIR_OK;
}

static void recognise_line(const struct wl_line *line, struct recognition *found)
{
    const struct wl_csv_options options = { .path = "head",
                                            .bytes = (const uint8_t *)line->text,
                                            .byte_count = line->length };
    const struct wl_csv_sink sink = { .row = no_row, .names = judge, .state = found };
    struct wl_csv_counts counts;
    struct weir_error error;
    found->line = line->text;
    /* What is no line of CSV is judged as it stands. */
    if (wl_csv_read(&options, &sink, &counts, &error) != WEIR_EINTERRUPTED)
        (void)judge(found, NULL, 0, &error);
}

static weir_status recognise(struct wl_lines *lines, const char *path, struct recognition *found,
                             struct weir_error *error)
{
    struct weir_error cause = { .phase = -1, .pool = -1 };
    struct wl_line line;
    do {
        const weir_status status = wl_lines_next(lines, &line, &cause);
        if (status != WEIR_OK)
            return weir_fail(error, status, "%s: %s", path, cause.text);
    } while (line.text != NULL && line.text[strspn(line.text, " \t\r\n")] == '\0' && !line.is_cut);
    if (line.text == NULL)
        return weir_fail(error, WEIR_EFORMAT, "%s: empty", path);
    recognise_line(&line, found);
    if (found->format == NULL)
        return weir_fail(error, WEIR_EFORMAT,
                         "%s:%zu: this is no trace that is known by its head; name its format, or "
                         "give a column map",
                         path, line.number);
    return WEIR_OK;
}

weir_status wl_trace_recognise(const struct wl_trace_options *options,
                               const struct wl_trace_format **format, const char **map,
                               struct weir_error *error)
{
    struct wl_source *source = NULL;
    struct wl_lines *lines = NULL;
    struct recognition found = { .format = NULL };
    if (options->bytes == NULL)
        WEIR_TRY(wl_source_open(options->path, &source, error));
    else
        WEIR_TRY(wl_source_open_memory(options->bytes, options->byte_count, &source, error));
    WEIR_TRY(wl_lines_open(source, LINE_BYTES, &lines, error));
    const weir_status status = recognise(lines, options->path, &found, error);
    wl_lines_close(lines);
    if (status == WEIR_OK) {
        *format = found.format;
        *map = found.map;
    }
    return status;
}
