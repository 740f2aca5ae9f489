/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a text file, whatever compresses it: numbered from 1, each with its line end, and
 * never longer in memory than the caller allows.
 */
#ifndef WORKLOADS_LINES_H
#define WORKLOADS_LINES_H

#include "workloads/byte_source.h"

#include <stdbool.h>

struct wl_lines;

/* One line with its end, a NUL behind it; NULL text = the end of the file. Valid until the next
 * call. Of a line that is too long only the fact is known: is_cut, and nothing in it. */
struct wl_line {
    char *text;
    size_t length;
    size_t number;
    bool is_cut;
};

/* Owns the source from now on, also when it fails. */
weir_status wl_lines_open(struct wl_source *source, size_t most_bytes, struct wl_lines **lines,
                          struct weir_error *error);
void wl_lines_close(struct wl_lines *lines);

/* Messages do not name the file: the caller knows it. */
weir_status wl_lines_next(struct wl_lines *lines, struct wl_line *line, struct weir_error *error);

#endif
