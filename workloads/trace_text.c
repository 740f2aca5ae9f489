/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of plain or compressed files; see the header. */
#include "workloads/trace_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 64 * 1024 };

struct wl_text {
    char *path;
    gzFile file;
    char *line; /* grows with the longest one */
    size_t capacity, number;
    size_t next, end; /* what of the block is not used yet */
    char block[BLOCK];
};

static weir_status check_magic(const char *path, int file, struct weir_error *error)
{
    static const unsigned char zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };
    unsigned char magic[sizeof zstd];
    const ssize_t got = pread(file, magic, sizeof magic, 0);
    if (got < 0)
        return weir_fail(error, WEIR_EIO, "%s: %s", path, strerror(errno));
    if (got == (ssize_t)sizeof magic && memcmp(magic, zstd, sizeof magic) == 0)
        return weir_fail(error, WEIR_EUNSUPPORTED,
                         "%s: is compressed with zstd; unpack it, or use gzip", path);
    return WEIR_OK;
}

weir_status wl_text_open(const char *path, struct wl_text **text, struct weir_error *error)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return weir_fail(error, WEIR_EIO, "%s: %s", path, strerror(errno));
    const weir_status status = check_magic(path, file, error);
    if (status != WEIR_OK) {
        (void)close(file);
        return status;
    }
    struct wl_text *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->path = strdup(path);
        made->file = gzdopen(file, "rb");
    }
    if (made == NULL || made->path == NULL || made->file == NULL) {
        if (made == NULL || made->file == NULL)
            (void)close(file);
        wl_text_close(made);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    *text = made;
    return WEIR_OK;
}

void wl_text_close(struct wl_text *text)
{
    if (text == NULL)
        return;
    if (text->file != NULL)
        (void)gzclose(text->file);
    free(text->path);
    free(text->line);
    free(text);
}

static weir_status fill(struct wl_text *text, struct weir_error *error)
{
    int code = Z_OK;
    const int got = gzread(text->file, text->block, BLOCK);
    const char *message = gzerror(text->file, &code);
    if (got < 0 || (got == 0 && code != Z_OK && code != Z_STREAM_END))
        return weir_fail(error, WEIR_EIO, "%s: ends early or is damaged behind line %zu: %s",
                         text->path, text->number, message);
    text->next = 0;
    text->end = (size_t)got;
    return WEIR_OK;
}

static weir_status append(struct wl_text *text, size_t *length, size_t count,
                          struct weir_error *error)
{
    if (*length + count + 1 > text->capacity) {
        const size_t capacity = 2 * (*length + count + 1);
        char *line = realloc(text->line, capacity);
        if (line == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        text->line = line;
        text->capacity = capacity;
    }
    memcpy(text->line + *length, text->block + text->next, count);
    text->next += count;
    *length += count;
    text->line[*length] = '\0';
    return WEIR_OK;
}

weir_status wl_text_line(struct wl_text *text, char **line, size_t *length,
                         struct weir_error *error)
{
    size_t total = 0;
    for (;;) {
        if (text->next == text->end)
            WEIR_TRY(fill(text, error));
        if (text->end == 0)
            break;
        const char *from = text->block + text->next;
        const char *stop = memchr(from, '\n', text->end - text->next);
        const size_t count = stop == NULL ? text->end - text->next : (size_t)(stop - from) + 1;
        WEIR_TRY(append(text, &total, count, error));
        if (stop != NULL)
            break;
    }
    text->number += total > 0 ? 1 : 0;
    *line = total > 0 ? text->line : NULL;
    *length = total;
    return WEIR_OK;
}

size_t wl_text_line_number(const struct wl_text *text)
{
    return text->number;
}
