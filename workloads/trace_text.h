/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trace files as lines of text, plain or gzip (told apart by their first bytes, not by name).
 */
#ifndef WORKLOADS_TRACE_TEXT_H
#define WORKLOADS_TRACE_TEXT_H

#include "weir/status.h"

#include <stddef.h>

struct wl_text;

/* Errors: WEIR_EIO; WEIR_EUNSUPPORTED for another compression. */
weir_status wl_text_open(const char *path, struct wl_text **text, struct weir_error *error);
void wl_text_close(struct wl_text *text);

/* The next line with its line end, NUL behind it; NULL with length 0 at the end of the file. Valid
 * until the next call. A file that ends early is WEIR_EIO. */
weir_status wl_text_line(struct wl_text *text, char **line, size_t *length,
                         struct weir_error *error);
/* Number of the line last given, from 1. */
size_t wl_text_line_number(const struct wl_text *text);

#endif
