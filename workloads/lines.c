/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of plain or compressed files; see the header. */
#include "workloads/lines.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 65536 };

struct wl_lines {
    struct wl_source *source;
    size_t most_bytes, number;
    char *text;
    size_t length, capacity;
    size_t used, filled; /* of the buffer */
    char buffer[BUFFER];
};

weir_status wl_lines_open(struct wl_source *source, size_t most_bytes, struct wl_lines **lines,
                          struct weir_error *error)
{
    struct wl_lines *made = calloc(1, sizeof *made);
    if (made == NULL) {
        wl_source_close(source);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    made->source = source;
    made->most_bytes = most_bytes;
    *lines = made;
    return WEIR_OK;
}

void wl_lines_close(struct wl_lines *lines)
{
    if (lines == NULL)
        return;
    wl_source_close(lines->source);
    free(lines->text);
    free(lines);
}

static weir_status fill(struct wl_lines *lines, struct weir_error *error)
{
    if (lines->used < lines->filled)
        return WEIR_OK;
    lines->used = 0;
    lines->filled = 0;
    return wl_source_read(lines->source, lines->buffer, BUFFER, &lines->filled, error);
}

static weir_status append(struct wl_lines *lines, const char *from, size_t count,
                          struct weir_error *error)
{
    const size_t wanted = lines->length + count + 1;
    if (wanted > lines->capacity) {
        const size_t capacity = wanted < 2048 ? 4096 : 2 * wanted;
        char *text = realloc(lines->text, capacity);
        if (text == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        lines->text = text;
        lines->capacity = capacity;
    }
    memcpy(lines->text + lines->length, from, count);
    lines->length += count;
    lines->text[lines->length] = '\0';
    return WEIR_OK;
}

weir_status wl_lines_next(struct wl_lines *lines, struct wl_line *line, struct weir_error *error)
{
    bool is_cut = false;
    bool has_any = false;
    lines->length = 0;
    for (bool is_over = false; !is_over;) {
        WEIR_TRY(fill(lines, error));
        const size_t left = lines->filled - lines->used;
        if (left == 0)
            break;
        const char *from = lines->buffer + lines->used;
        const char *end = memchr(from, '\n', left);
        const size_t count = end == NULL ? left : (size_t)(end - from) + 1;
        is_over = end != NULL;
        has_any = true;
        lines->used += count;
        is_cut = is_cut || lines->length + count > lines->most_bytes;
        if (!is_cut)
            WEIR_TRY(append(lines, from, count, error));
    }
    if (is_cut) {
        lines->length = 0;
        WEIR_TRY(append(lines, "", 0, error));
    }
    lines->number += has_any ? 1 : 0;
    *line = (struct wl_line){ has_any ? lines->text : NULL, lines->length, lines->number, is_cut };
    return WEIR_OK;
}
