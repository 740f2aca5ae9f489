/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rewrites gnuplot's SVG text; see the header. gnuplot repeats the same ids in every picture, so
 * that the marks of one chart would show in another.
 */
#include "analysis/svg.h"

#include "analysis/output.h"
#include "analysis/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Where names begin: the prefix goes right behind each of these. */
static const char *const id_marks[] = { " id='", " id=\"", "href='#", "href=\"#", "url(#" };

static size_t mark_at(const char *text)
{
    for (size_t i = 0; i < sizeof id_marks / sizeof id_marks[0]; i++)
        if (strncmp(text, id_marks[i], strlen(id_marks[i])) == 0)
            return strlen(id_marks[i]);
    return 0;
}

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

static void write_marked(FILE *out, const char *text, const char *end, const char *prefix,
                         bool is_opening)
{
    while (text < end) {
        const size_t dropped = is_opening ? size_attribute(text) : 0;
        const size_t mark = mark_at(text);
        if (dropped > 0) {
            text += dropped;
        } else if (mark > 0) {
            (void)fwrite(text, 1, mark, out);
            (void)fputs(prefix, out);
            text += mark;
        } else {
            (void)fputc(*text++, out);
        }
    }
}

void an_svg_inline(FILE *out, const char *svg, const char *prefix, const char *label)
{
    const char *start = strstr(svg, "<svg");
    const char *opened = start == NULL ? NULL : strchr(start, '>');
    const char *end = start == NULL ? NULL : strstr(start, "</svg>");
    if (opened == NULL || end == NULL)
        return;
    write_marked(out, start, opened, prefix, true);
    (void)fputs(" role=\"img\" aria-label=\"", out);
    an_write_html(out, label);
    (void)fputs("\">", out);
    /* The title element would show "Gnuplot" as a tooltip over the whole picture. */
    const char *body = opened + 1;
    const char *title = strstr(body, "<title>");
    const char *title_end = title == NULL ? NULL : strstr(title, "</title>");
    if (title_end != NULL && title_end < end) {
        write_marked(out, body, title, prefix, false);
        body = title_end + strlen("</title>");
    }
    write_marked(out, body, end, prefix, false);
    (void)fputs("</svg>\n", out);
}

char *an_read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    struct an_buffer buffer;
    if (!an_buffer_open(&buffer)) {
        (void)fclose(file);
        return NULL;
    }
    char block[2048];
    size_t length = 0;
    while ((length = fread(block, 1, sizeof block, file)) > 0)
        (void)fwrite(block, 1, length, buffer.file);
    const bool is_broken = ferror(file) != 0;
    (void)fclose(file);
    char *text = an_buffer_take(&buffer);
    if (is_broken) {
        free(text);
        return NULL;
    }
    return text;
}

/* Copies `text`, with `to` for every `from`. */
static void write_replaced(FILE *out, const char *text)
{
    static const struct {
        const char *from, *to;
    } changes[] = {
        { "font-family=\"Inter\"", "font-family=\"Inter, Helvetica, Arial, sans-serif\"" },
        { "<image ", "<image style='image-rendering:pixelated' " },
    };
    while (*text != '\0') {
        size_t i = 0;
        while (i < 2 && strncmp(text, changes[i].from, strlen(changes[i].from)) != 0)
            i++;
        if (i == 2) {
            (void)fputc(*text++, out);
            continue;
        }
        (void)fputs(changes[i].to, out);
        text += strlen(changes[i].from);
    }
}

weir_status an_svg_finish(const char *path, struct weir_error *error)
{
    char *text = an_read_text(path);
    if (text == NULL)
        return weir_fail(error, WEIR_EIO, "%s: cannot be read back", path);
    FILE *out = NULL;
    weir_status status = an_output_open(path, &out, error);
    if (status == WEIR_OK) {
        write_replaced(out, text);
        status = an_output_close(out, path, status, error);
    }
    free(text);
    return status;
}
