/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes of a log file, decompressed on the way: plain, gzip or zstd by their first bytes, never
 * by the name of the file. A compressed file that ends early is an error that says so; what came
 * before was delivered. The other direction is files/written.h.
 */
#ifndef WORKLOADS_BYTE_SOURCE_H
#define WORKLOADS_BYTE_SOURCE_H

#include "weir/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct wl_source;
struct wl_limits;

/* `path` "-" = standard input. */
weir_status wl_source_open(const char *path, struct wl_source **source, struct weir_error *error);
/* What its file may unpack to; NULL = the defaults. */
void wl_source_limit(struct wl_source *source, const struct wl_limits *limits);
/* Bytes in memory, as if they were a file; borrowed until the source is closed. */
weir_status wl_source_open_memory(const uint8_t *bytes, size_t length, struct wl_source **source,
                                  struct weir_error *error);
void wl_source_close(struct wl_source *source);

/* Next bytes; *length 0 at the end. */
weir_status wl_source_read(struct wl_source *source, char *buffer, size_t capacity, size_t *length,
                           struct weir_error *error);

#endif
