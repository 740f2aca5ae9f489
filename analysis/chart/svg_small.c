/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small SVG; see the header. One pass over the text, one handler for each thing that changes. */
#include "analysis/chart/svg_small.h"

#include "analysis/chart/chart.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    FILE *out;
    const char *at, *end;
    const char *prefix;
};

static bool starts(const struct writer *writer, const char *word)
{
    return strncmp(writer->at, word, strlen(word)) == 0;
}

/* ---- colours ---- */

/* Names of report.css. What is not here is a colour of its own and stays. */
static const struct {
    const char *color, *name;
} house[] = {
    { AN_INK, "ink" },
    { AN_MUTED, "muted" },
    { AN_GRID, "line" },
    { AN_BLUE, "blue" },
    { AN_ORANGE, "orange" },
    { AN_GREEN, "green" },
    { AN_GREY, "grey" },
    { AN_SKY, "sky" },
    { AN_PALE, "pale" },
    { AN_PALE_BLUE, "pale-blue" },
    { AN_VERMILLION, "red" },
    { AN_VERMILLION_TEXT, "red-text" },
    { AN_PINK, "pink" },
    { AN_ORANGE_TEXT, "orange-text" },
    { AN_GREEN_TEXT, "green-text" },
    { "#ffffff", "paper" },
    { "#f4f6f8", "tint" },
    { "#f1f3f5", "tint" },
    { "#eef1f4", "tint" },
    { "#a9cfe6", "mid-blue" },
    { "#8fd0ba", "mid-green" },
    { "#004a76", "deep-blue" },
    { "#8a5a00", "deep-orange" },
    { "#00604a", "deep-green" },
    { "#8c3d00", "deep-red" },
    { "#4a545e", "deep-grey" },
};

static void write_color(FILE *out, const unsigned parts[3])
{
    char color[8];
    (void)snprintf(color, sizeof color, "#%02x%02x%02x", parts[0] & 255U, parts[1] & 255U,
                   parts[2] & 255U);
    for (size_t i = 0; i < sizeof house / sizeof house[0]; i++)
        if (strcmp(color, house[i].color) == 0) {
            (void)fprintf(out, "var(--%s)", house[i].name);
            return;
        }
    (void)fputs(color, out);
}

/* "rgb( 31, 41, 51)" or "#1f2933". */
static bool take_color(struct writer *writer)
{
    unsigned parts[3];
    int length = 0;
    /* gnuplot wrote it, of a colour eight bits are taken, and `length` says that all were found.
     * NOLINTBEGIN(cert-err34-c) */
    if (starts(writer, "rgb("))
        (void)sscanf(writer->at, "rgb( %u , %u , %u )%n", &parts[0], &parts[1], &parts[2], &length);
    else if (starts(writer, "=\"#"))
        (void)sscanf(writer->at, "=\"#%2x%2x%2x%n", &parts[0], &parts[1], &parts[2], &length);
    /* NOLINTEND(cert-err34-c) */
    if (length == 0)
        return false;
    if (writer->at[0] == '=')
        (void)fputs("=\"", writer->out);
    write_color(writer->out, parts);
    writer->at += length;
    return true;
}

/* ---- positions ---- */

/* A position on its way, in tenths of a pixel. */
struct pen {
    FILE *out;
    long x, y;         /* where the picture is */
    long run_x, run_y; /* what a straight run has not written yet */
    bool is_at;
};

static void write_tenths(FILE *out, long tenths)
{
    const char *sign = tenths < 0 ? "-" : "";
    const long value = labs(tenths);
    if (value % 10 == 0)
        (void)fprintf(out, "%s%ld", sign, value / 10);
    else if (value < 10)
        (void)fprintf(out, "%s.%ld", sign, value);
    else
        (void)fprintf(out, "%s%ld.%ld", sign, value / 10, value % 10);
}

static void pen_flush(struct pen *pen)
{
    if (pen->run_x == 0 && pen->run_y == 0)
        return;
    (void)fputc(pen->run_y == 0 ? 'h' : pen->run_x == 0 ? 'v' : 'l', pen->out);
    if (pen->run_x != 0)
        write_tenths(pen->out, pen->run_x);
    if (pen->run_x != 0 && pen->run_y > 0)
        (void)fputc(' ', pen->out);
    if (pen->run_y != 0)
        write_tenths(pen->out, pen->run_y);
    pen->run_x = 0;
    pen->run_y = 0;
}

/* Steps that go on in the same straight direction are one. */
static void pen_line(struct pen *pen, long x, long y)
{
    const long dx = x - pen->x;
    const long dy = y - pen->y;
    const bool goes_on = (pen->run_y == 0 && dy == 0 && (pen->run_x > 0) == (dx > 0)) ||
                         (pen->run_x == 0 && dx == 0 && (pen->run_y > 0) == (dy > 0));
    if (!goes_on)
        pen_flush(pen);
    pen->run_x += dx;
    pen->run_y += dy;
    pen->x = x;
    pen->y = y;
}

static void pen_move(struct pen *pen, long x, long y)
{
    pen_flush(pen);
    (void)fputc('M', pen->out);
    write_tenths(pen->out, x);
    if (y >= 0)
        (void)fputc(' ', pen->out);
    write_tenths(pen->out, y);
    pen->x = x;
    pen->y = y;
    pen->is_at = true;
}

/* "M1.00,2.00 L3.00,4.00 Z" up to `end`; letters are optional. */
static void write_path(FILE *out, const char *text, const char *end)
{
    struct pen pen = { .out = out };
    bool is_move = true;
    while (text < end) {
        char *after = NULL;
        if (isalpha((unsigned char)*text)) {
            is_move = *text == 'M';
            if (*text == 'Z' || *text == 'z') {
                pen_flush(&pen);
                (void)fputc('z', out);
            }
            text++;
            continue;
        }
        const double x = strtod(text, &after);
        if (after == text || *after != ',') {
            text++;
            continue;
        }
        text = after + 1;
        const double y = strtod(text, &after);
        text = after;
        if (is_move || !pen.is_at)
            pen_move(&pen, lround(10.0 * x), lround(10.0 * y));
        else
            pen_line(&pen, lround(10.0 * x), lround(10.0 * y));
        is_move = false;
    }
    pen_flush(&pen);
}

/* Absolute paths and corners of areas; marks are drawn with letters and stay. */
static bool take_path(struct writer *writer)
{
    static const char *const words[] = { " d='M", "points = '" };
    for (size_t i = 0; i < 2; i++) {
        if (!starts(writer, words[i]))
            continue;
        const char *text = strchr(writer->at, '\'') + 1;
        const char *close = strchr(text, '\'');
        if (close == NULL || close > writer->end ||
            (i == 0 && strspn(text, "MLZ0123456789.,- \t\n") < (size_t)(close - text)))
            return false;
        (void)fputs(" d='", writer->out);
        write_path(writer->out, text, close);
        (void)fputs(i == 0 ? "'" : "z'", writer->out);
        writer->at = close + 1;
        return true;
    }
    return false;
}

/* ---- words ---- */

static const struct {
    const char *from, *to;
} words[] = {
    { "<polygon", "<path" },
    { "fill = '", "fill='" },
    { " class=\"gridline\" ", "" },
    { " color=\"black\"", "" },
    { " color=\"#FFFFFF\"", "" },
    { " stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", "" },
    { " font-family=\"Inter, Helvetica, Arial, sans-serif\"", "" },
    { " font-family=\"Inter\"", "" },
    { "<tspan >", "<tspan>" },
};

static bool take_word(struct writer *writer)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!starts(writer, words[i].from))
            continue;
        (void)fputs(words[i].to, writer->out);
        writer->at += strlen(words[i].from);
        return true;
    }
    return false;
}

/* Where names begin: the prefix goes right behind each of these. */
static bool take_id(struct writer *writer)
{
    static const char *const marks[] = { " id='", " id=\"", "href='#", "href=\"#", "url(#" };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (!starts(writer, marks[i]))
            continue;
        (void)fprintf(writer->out, "%s%s", marks[i], writer->prefix);
        writer->at += strlen(marks[i]);
        return true;
    }
    return false;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* A group in which nothing stands, and shapes of marks when no mark is drawn. */
static bool skip_empty(struct writer *writer)
{
    if (starts(writer, "<defs>") && strstr(writer->at, "</defs>") != NULL) {
        const char *after = strstr(writer->at, "</defs>") + strlen("</defs>");
        if (strstr(after, "xlink:href='#gp") != NULL || strstr(after, "url(#") != NULL)
            return false;
        writer->at = after;
        return true;
    }
    const char *close = starts(writer, "<g ") ? strchr(writer->at, '>') : NULL;
    const char *next = close == NULL ? NULL : skip_blanks(close + 1);
    if (next == NULL || strncmp(next, "</g>", 4) != 0)
        return false;
    writer->at = next + 4;
    return true;
}

/* Line breaks and indents; blanks inside a text are its own. */
static bool skip_break(struct writer *writer)
{
    const char *next = skip_blanks(writer->at);
    const size_t length = (size_t)(next - writer->at);
    if (length == 0 || memchr(writer->at, '\n', length) == NULL)
        return false;
    if (*next != '<')
        (void)fputc(' ', writer->out);
    writer->at = next;
    return true;
}

void an_svg_small(FILE *out, const char *text, const char *end, const char *prefix)
{
    struct writer writer = { .out = out, .at = text, .end = end, .prefix = prefix };
    bool is_tag = false;
    while (writer.at < end) {
        is_tag = *writer.at == '<' || (is_tag && *writer.at != '>');
        if (*writer.at == '\t')
            writer.at++;
        else if (!skip_break(&writer) &&
                 !(is_tag && (skip_empty(&writer) || take_path(&writer) || take_word(&writer) ||
                              take_id(&writer) || take_color(&writer))))
            (void)fputc(*writer.at++, out);
    }
}
