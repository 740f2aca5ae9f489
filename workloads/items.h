/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorded items: a CSV table with any of the columns `time` (s, when an item arrives), `size`,
 * `class` and `bytes`; other columns are passed over. A column that is there has a value in every
 * row. Items come in the order of their times, those of one time in that of the file.
 */
#ifndef WORKLOADS_ITEMS_H
#define WORKLOADS_ITEMS_H

#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wl_item_column { WL_ITEM_TIME, WL_ITEM_SIZE, WL_ITEM_CLASS, WL_ITEM_BYTES, WL_ITEM_COLUMNS };

/* What there is no column for is 0. */
struct wl_item {
    int64_t at_ns;
    double size;
    double bytes;
    uint32_t item_class; /* index into `classes` */
};

struct wl_items {
    struct wl_item *items;
    size_t count, capacity;
    bool has[WL_ITEM_COLUMNS];
    char **classes; /* those that were given, else those of the file as they first come */
    size_t class_count;
};

struct wl_items_options {
    const char *path;
    const uint8_t *bytes; /* instead of the file, as for tables */
    size_t byte_count;
    const char *const *classes; /* that there are; none = whatever the file says */
    size_t class_count;
    const struct wl_limits *limits; /* NULL = the defaults */
};

/* Messages begin with FILE:LINE:FIELD. On failure `items` is left alone. */
weir_status wl_items_read(const struct wl_items_options *options, struct wl_items *items,
                          struct weir_error *error);
void wl_items_clear(struct wl_items *items);

#endif
