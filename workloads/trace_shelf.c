/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files read once; see the header. A list: an experiment has few. */
#include "workloads/trace_shelf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct shelved {
    struct shelved *next;
    const struct wl_trace_format *format;
    char *path;
    char *map; /* NULL = none */
    enum wl_bad_row on_bad_row;
    struct stat file;
    struct wl_shelved rows;
};

struct wl_trace_shelf {
    struct shelved *first;
};

struct wl_trace_shelf *wl_trace_shelf_open(void)
{
    return calloc(1, sizeof(struct wl_trace_shelf));
}

static void free_one(struct shelved *one)
{
    wl_jobs_clear(&one->rows.jobs);
    wl_openb_nodes_clear(&one->rows.nodes);
    free(one->path);
    free(one->map);
    free(one);
}

void wl_trace_shelf_close(struct wl_trace_shelf *shelf)
{
    while (shelf != NULL && shelf->first != NULL) {
        struct shelved *one = shelf->first;
        shelf->first = one->next;
        free_one(one);
    }
    free(shelf);
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const struct shelved *find(const struct wl_trace_shelf *shelf,
                                  const struct wl_trace_format *format, const char *map,
                                  const struct wl_trace_options *options, const struct stat *file)
{
    const struct shelved *one = shelf->first;
    while (one != NULL && !(one->format == format && one->on_bad_row == options->on_bad_row &&
                            same_text(one->map, map) && strcmp(one->path, options->path) == 0 &&
                            is_unchanged(&one->file, file)))
        one = one->next;
    return one;
}

weir_status wl_trace_shelf_read(struct wl_trace_shelf *shelf, const struct wl_trace_format *format,
                                const char *map, const struct wl_trace_options *options,
                                const struct wl_shelved **rows, struct weir_error *error)
{
    struct stat file;
    if (stat(options->path, &file) != 0)
        memset(&file, 0, sizeof file); /* the reader says what is wrong */
    const struct shelved *there = find(shelf, format, map, options, &file);
    if (there != NULL) {
        *rows = &there->rows;
        return WEIR_OK;
    }
    struct shelved *made = calloc(1, sizeof *made);
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    *made = (struct shelved){ .format = format,
                              .path = strdup(options->path),
                              .map = map == NULL ? NULL : strdup(map),
                              .on_bad_row = options->on_bad_row,
                              .file = file };
    weir_status status = WEIR_OK;
    if (made->path == NULL || (map != NULL && made->map == NULL))
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    else
        status = format == NULL ? wl_openb_read_nodes(options->path, &made->rows.nodes, error)
                                : format->read(options, &made->rows.jobs, error);
    if (status != WEIR_OK) {
        free_one(made);
        return status;
    }
    made->next = shelf->first;
    shelf->first = made;
    *rows = &made->rows;
    return WEIR_OK;
}
