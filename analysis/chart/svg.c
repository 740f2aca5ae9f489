/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rewrites gnuplot's SVG text; see the header. gnuplot repeats the same ids in every picture, so
 * that the marks of one chart would show in another.
 */
#include "analysis/chart/svg.h"

#include "analysis/chart/svg_small.h"
#include "analysis/text.h"
#include "sim/files/written.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Length of a width or height attribute that starts here, with its blank; 0 = none. */
static size_t size_attribute(const char *text)
{
    static const char *const names[] = { " width=\"", " height=\"" };
    for (size_t i = 0; i < 2; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) != 0)
            continue;
        const char *end = strchr(text + length, '"');
        return end == NULL ? 0 : (size_t)(end - text) + 1;
    }
    return 0;
}

/* The page decides the size, the picture its proportions. */
static void write_opening(FILE *out, const char *text, const char *end)
{
    while (text < end) {
        const size_t dropped = size_attribute(text);
        if (dropped == 0)
            (void)fputc(*text == '\n' ? ' ' : *text, out);
        text += dropped == 0 ? 1 : dropped;
    }
}

void an_svg_inline(FILE *out, const char *svg, const char *prefix, const char *label)
{
    const char *start = strstr(svg, "<svg");
    const char *opened = start == NULL ? NULL : strchr(start, '>');
    const char *end = start == NULL ? NULL : strstr(start, "</svg>");
    if (opened == NULL || end == NULL)
        return;
    write_opening(out, start, opened);
    (void)fputs(" role=\"img\" aria-label=\"", out);
    an_write_html(out, label);
    (void)fputs("\">", out);
    /* Behind the title and the description, which browsers would show over the picture. */
    const char *body = opened + 1;
    static const char *const heads[] = { "</title>", "</desc>" };
    for (size_t i = 0; i < 2; i++) {
        const char *head_end = strstr(body, heads[i]);
        if (head_end != NULL && head_end < end)
            body = head_end + strlen(heads[i]);
    }
    an_svg_small(out, body, end, prefix);
    (void)fputs("</svg>\n", out);
}

weir_status an_read_text(const char *path, char **text, struct weir_error *error)
{
    *text = NULL;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return weir_fail(error, WEIR_EIO, "%s: cannot be read back: %s", path, strerror(errno));
    struct an_buffer buffer;
    if (!an_buffer_open(&buffer)) {
        (void)fclose(file);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    char block[2048];
    size_t length = 0;
    while ((length = fread(block, 1, sizeof block, file)) > 0)
        (void)fwrite(block, 1, length, buffer.file);
    const bool is_broken = ferror(file) != 0;
    const int reason = errno;
    (void)fclose(file);
    *text = an_buffer_take(&buffer);
    if (*text == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (is_broken) {
        free(*text);
        *text = NULL;
        return weir_fail(error, WEIR_EIO, "%s: cannot be read back: %s", path, strerror(reason));
    }
    return WEIR_OK;
}

/* Copies `text`, with `to` for every `from`. */
static void write_replaced(FILE *out, const char *text)
{
    static const struct {
        const char *from, *to;
    } changes[] = {
        { "<desc>Produced by GNUPLOT", "<desc>" WRITTEN_MARK " with GNUPLOT" },
        { "font-family=\"Inter\"", "font-family=\"Inter, Helvetica, Arial, sans-serif\"" },
        { "<image ", "<image style='image-rendering:pixelated' " },
    };
    enum { COUNT = sizeof changes / sizeof changes[0] };
    while (*text != '\0') {
        size_t i = 0;
        while (i < COUNT && strncmp(text, changes[i].from, strlen(changes[i].from)) != 0)
            i++;
        if (i == COUNT) {
            (void)fputc(*text++, out);
            continue;
        }
        (void)fputs(changes[i].to, out);
        text += strlen(changes[i].from);
    }
}

weir_status an_svg_finish(const char *path, struct weir_error *error)
{
    char *text = NULL;
    WEIR_TRY(an_read_text(path, &text, error));
    assert(text != NULL);
    struct written file;
    weir_status status = written_open(path, &file, error);
    if (status == WEIR_OK) {
        write_replaced(file.out, text);
        status = written_close(&file, status, error);
    }
    free(text);
    return status;
}
