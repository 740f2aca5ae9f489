/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See the header. */
#include "workloads/items.h"

#include "workloads/csv_table.h"
#include "workloads/job.h"
#include "workloads/timestamp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const char *path;
    struct wl_items *items;
    bool is_closed; /* no class but those that were given */
};

/* ---- classes ---- */

static weir_status add_class(struct wl_items *items, const char *name, struct weir_error *error)
{
    char **grown = realloc(items->classes, (items->class_count + 1) * sizeof(*grown));
    char *copy = strdup(name);
    if (grown != NULL)
        items->classes = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    items->classes[items->class_count++] = copy;
    return WEIR_OK;
}

static weir_status read_class(const struct reading *reading, const struct wl_csv_row *row,
                              uint32_t *item_class, struct weir_error *error)
{
    struct wl_items *items = reading->items;
    const char *name = row->cells[WL_ITEM_CLASS];
    size_t found = 0;
    while (found < items->class_count && strcmp(items->classes[found], name) != 0)
        found++;
    *item_class = (uint32_t)found;
    if (found < items->class_count)
        return WEIR_OK;
    if (reading->is_closed)
        return wl_csv_fail(row, WL_ITEM_CLASS, error, "there is no item class '%.40s'", name);
    return add_class(items, name, error);
}

/* ---- rows ---- */

static weir_status read_time(const struct wl_csv_row *row, int64_t *at_ns, struct weir_error *error)
{
    const char *text = row->cells[WL_ITEM_TIME];
    if (!wl_time_scan(text, INT64_C(1000000000), at_ns))
        return wl_csv_fail(row, WL_ITEM_TIME, error, "'%.40s' is not a time in seconds", text);
    if (*at_ns < 0 || *at_ns > WL_TIME_MOST_NS)
        return wl_csv_fail(row, WL_ITEM_TIME, error, "'%.40s' is outside 0 to 90 years", text);
    return WEIR_OK;
}

static weir_status read_amount(const struct wl_csv_row *row, enum wl_item_column column,
                               double *value, struct weir_error *error)
{
    WEIR_TRY(wl_csv_number(row, column, value, error));
    if (*value < 0)
        return wl_csv_fail(row, column, error, "must be >= 0, got '%.40s'", row->cells[column]);
    return WEIR_OK;
}

static weir_status keep(struct wl_items *items, const struct wl_item *item,
                        struct weir_error *error)
{
    if (items->count == items->capacity) {
        const size_t capacity = 2 * items->capacity + 64;
        struct wl_item *grown = realloc(items->items, capacity * sizeof(*grown));
        if (grown == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        items->items = grown;
        items->capacity = capacity;
    }
    items->items[items->count++] = *item;
    return WEIR_OK;
}

static weir_status read_row(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    const struct reading *reading = state;
    const bool *has = reading->items->has;
    struct wl_item item = { .at_ns = 0 };
    for (size_t c = 0; c < WL_ITEM_COLUMNS; c++)
        if (has[c] && row->cells[c] == NULL)
            return wl_csv_fail(row, c, error, "is empty; a column is filled, or left out");
    if (has[WL_ITEM_TIME])
        WEIR_TRY(read_time(row, &item.at_ns, error));
    if (has[WL_ITEM_SIZE])
        WEIR_TRY(read_amount(row, WL_ITEM_SIZE, &item.size, error));
    if (has[WL_ITEM_BYTES])
        WEIR_TRY(read_amount(row, WL_ITEM_BYTES, &item.bytes, error));
    if (has[WL_ITEM_CLASS])
        WEIR_TRY(read_class(reading, row, &item.item_class, error));
    return keep(reading->items, &item, error);
}

static weir_status note_columns(void *state, const bool *has_column, struct weir_error *error)
{
    const struct reading *reading = state;
    bool has_any = false;
    for (size_t c = 0; c < WL_ITEM_COLUMNS; c++) {
        reading->items->has[c] = has_column[c];
        has_any = has_any || has_column[c];
    }
    return has_any ? WEIR_OK
                   : weir_fail(error, WEIR_EFORMAT,
                               "%s:1: none of the columns time, size, class, bytes is there",
                               reading->path);
}

/* ---- the file ---- */

/* Stable: items of one time stay in the order of the file, which is that of their addresses. */
static int by_time(const void *left, const void *right)
{
    const struct wl_item *const *a = left;
    const struct wl_item *const *b = right;
    if ((*a)->at_ns != (*b)->at_ns)
        return (*a)->at_ns < (*b)->at_ns ? -1 : 1;
    return *a < *b ? -1 : 1;
}

static weir_status sort(struct wl_items *items, struct weir_error *error)
{
    const struct wl_item **order = malloc((items->count + 1) * sizeof(*order));
    struct wl_item *sorted = malloc((items->count + 1) * sizeof(*sorted));
    for (size_t i = 0; order != NULL && i < items->count; i++)
        order[i] = &items->items[i];
    if (order != NULL && sorted != NULL) {
        qsort(order, items->count, sizeof(*order), by_time);
        for (size_t i = 0; i < items->count; i++)
            sorted[i] = *order[i];
    }
    free(order);
    if (order == NULL || sorted == NULL) {
        free(sorted);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    free(items->items);
    items->items = sorted;
    items->capacity = items->count + 1;
    return WEIR_OK;
}

static weir_status read_all(const struct wl_items_options *options, struct wl_items *items,
                            struct weir_error *error)
{
    static const struct wl_csv_column columns[WL_ITEM_COLUMNS] = {
        [WL_ITEM_TIME] = { .name = "time" },
        [WL_ITEM_SIZE] = { .name = "size" },
        [WL_ITEM_CLASS] = { .name = "class" },
        [WL_ITEM_BYTES] = { .name = "bytes" },
    };
    struct reading reading = { .path = options->path,
                               .items = items,
                               .is_closed = options->class_count > 0 };
    const struct wl_csv_options csv = { .path = options->path,
                                        .bytes = options->bytes,
                                        .byte_count = options->byte_count,
                                        .limits = options->limits,
                                        .columns = columns,
                                        .column_count = WL_ITEM_COLUMNS };
    const struct wl_csv_sink sink = { .row = read_row, .header = note_columns, .state = &reading };
    struct wl_csv_counts counts = { 0 };
    for (size_t i = 0; i < options->class_count; i++)
        WEIR_TRY(add_class(items, options->classes[i], error));
    WEIR_TRY(wl_csv_read(&csv, &sink, &counts, error));
    if (items->count == 0)
        return weir_fail(error, WEIR_EFORMAT, "%s: the table has no rows", options->path);
    return items->has[WL_ITEM_TIME] ? sort(items, error) : WEIR_OK;
}

weir_status wl_items_read(const struct wl_items_options *options, struct wl_items *items,
                          struct weir_error *error)
{
    struct wl_items read = { .items = NULL };
    const weir_status status = read_all(options, &read, error);
    if (status != WEIR_OK)
        wl_items_clear(&read);
    else
        *items = read;
    return status;
}

void wl_items_clear(struct wl_items *items)
{
    free(items->items);
    for (size_t i = 0; i < items->class_count; i++)
        free(items->classes[i]);
    free(items->classes);
    *items = (struct wl_items){ .items = NULL };
}
