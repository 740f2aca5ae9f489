/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of results: see the header. The form for people is laid out by libsmartcols, under a UTF-8
 * locale of this thread alone for the time of printing. Without one it would print hexadecimal
 * escapes: then tables are printed as in Markdown. The other forms are a line of code each and
 * written here.
 */
#include "sim/cli/table.h"

#include "analysis/text.h"
#include "sim/cli/options.h"

#include <libsmartcols.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct sim_table {
    const struct sim_column *columns;
    size_t column_count;
    char **cells; /* row after row */
    size_t cell_count;
    size_t capacity; /* cells */
};

static void *must(void *block)
{
    if (block == NULL) {
        fputs("weir: out of memory\n", stderr);
        exit(SIM_EXIT_RESOURCE);
    }
    return block;
}

struct sim_table *sim_table_create(const struct sim_column *columns, size_t count)
{
    struct sim_table *table = must(calloc(1, sizeof *table));
    table->columns = columns;
    table->column_count = count;
    return table;
}

void sim_table_add(struct sim_table *table, const char *text)
{
    if (table->cell_count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        char **grown = reallocarray(table->cells, table->capacity, sizeof *grown);
        table->cells = must(grown);
    }
    table->cells[table->cell_count++] = must(strdup(text == NULL ? "" : text));
}

void sim_table_addf(struct sim_table *table, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sim_table_add(table, text);
}

void sim_table_add_numbers(struct sim_table *table, enum sim_format format, const double *values,
                           size_t count)
{
    const bool is_exact = format == SIM_FORMAT_JSON || format == SIM_FORMAT_CSV;
    for (size_t i = 0; i < count; i++) {
        char text[64] = "-";
        if (isfinite(values[i]) && is_exact)
            sim_json_number_text(values[i], text, sizeof text);
        else if (values[i] >= 1000 && values[i] < 1e15)
            (void)snprintf(text, sizeof text, "%.0f", values[i]);
        else if (isfinite(values[i]))
            (void)sim_table_number(values[i], 4, text, sizeof text);
        sim_table_add(table, text);
    }
}

void sim_table_row(struct sim_table *table, const char *const *cells)
{
    for (size_t i = 0; i < table->column_count; i++)
        sim_table_add(table, cells[i]);
}

size_t sim_table_rows(const struct sim_table *table)
{
    return table->column_count == 0 ? 0 : table->cell_count / table->column_count;
}

void sim_table_destroy(struct sim_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

static const char *cell_at(const struct sim_table *table, size_t row, size_t column)
{
    return table->cells[row * table->column_count + column];
}

static void heading_text(const struct sim_column *column, const char *between, char *text,
                         size_t capacity)
{
    if (column->unit == NULL || column->unit[0] == '\0')
        (void)snprintf(text, capacity, "%s", column->header);
    else
        (void)snprintf(text, capacity, "%s%s[%s]", column->header, between, column->unit);
}

/* ---- width ---- */

/* Of the terminal, or as COLUMNS says; 0 = as wide as it gets. */
static size_t width_of(FILE *out)
{
    const char *const columns = getenv("COLUMNS");
    const long wish = columns == NULL ? 0 : strtol(columns, NULL, 10);
    struct winsize size = { .ws_col = 0 };
    if (wish > 0)
        return (size_t)wish;
    return isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Letters, not bytes. */
static size_t letters(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* Bytes of the text that fit the width and end at a blank; all of them where none does. */
static size_t line_of(const char *text, size_t width)
{
    size_t end = 0;
    size_t count = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == '\n')
            return i;
        if (text[i] == ' ' && i > 0 && (end == 0 || count <= width))
            end = i;
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (count > width && end > 0)
            return end;
    }
    return strlen(text);
}

void sim_print_text(FILE *out, const char *format, ...)
{
    char *text = NULL;
    const size_t width = width_of(out);
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    size_t indent = 0;
    for (const char *at = must(text); *at != '\0';) {
        const size_t length = line_of(at, width > indent ? width - indent : SIZE_MAX);
        (void)fprintf(out, "%*s%.*s", (int)indent, "", (int)length, at);
        at += length;
        indent = *at == ' ' ? 2 : 0;
        (void)fputs(*at == '\0' ? "" : "\n", out);
        at += *at == '\0' ? 0 : 1;
    }
    free(text);
}

/* ---- a table that fits: units below headings, words in further lines, no empty columns ---- */

enum { LEAST_TEXT = 8 };

struct fit {
    size_t *widths; /* by column; 0 = left out */
    bool is_narrow;
};

static size_t widest_line(const char *text)
{
    size_t widest = 0;
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        const size_t here = letters(text) - letters(end);
        widest = here > widest ? here : widest;
    }
    return letters(text) > widest ? letters(text) : widest;
}

static bool is_empty(const struct sim_table *table, size_t column)
{
    for (size_t row = 0; row < sim_table_rows(table); row++) {
        const char *text = cell_at(table, row, column);
        if (strcmp(text, "0") != 0 && strcmp(text, "-") != 0 && text[0] != '\0')
            return false;
    }
    return true;
}

static size_t measure(const struct sim_table *table, const char *between, size_t *widths)
{
    size_t all = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        char heading[128];
        heading_text(&table->columns[i], between, heading, sizeof heading);
        widths[i] = widest_line(heading);
        for (size_t row = 0; row < sim_table_rows(table); row++) {
            const size_t here = letters(cell_at(table, row, i));
            widths[i] = here > widths[i] ? here : widths[i];
        }
        all += widths[i] + 2;
    }
    return all - 2;
}

/* The widest text gives way first. */
static void narrow(const struct sim_table *table, size_t width, struct fit *fit)
{
    size_t all = measure(table, "\n", fit->widths);
    for (size_t i = 1; i < table->column_count; i++)
        if (table->columns[i].is_right && is_empty(table, i)) {
            all -= fit->widths[i] + 2;
            fit->widths[i] = 0;
        }
    while (all > width) {
        size_t widest = table->column_count;
        for (size_t i = 0; i < table->column_count; i++)
            if (!table->columns[i].is_right && fit->widths[i] > LEAST_TEXT &&
                (widest == table->column_count || fit->widths[i] > fit->widths[widest]))
                widest = i;
        if (widest == table->column_count)
            return;
        fit->widths[widest]--;
        all--;
    }
}

static struct fit fit_to(const struct sim_table *table, size_t width)
{
    struct fit fit = { .widths = must(calloc(table->column_count + 1, sizeof(size_t))) };
    fit.is_narrow = measure(table, " ", fit.widths) > width && width > 0;
    if (fit.is_narrow)
        narrow(table, width, &fit);
    return fit;
}

/* Bytes of the next line: up to the last blank or behind the last _ that fits, else as many letters
 * as fit. */
static size_t line_length(const char *text, size_t width)
{
    size_t count = 0;
    size_t end = 0;
    size_t at = 0;
    for (; text[at] != '\0'; at++) {
        if (((unsigned char)text[at] & 0xC0) == 0x80)
            continue;
        if (count == width)
            return text[at] == ' ' || end == 0 ? at : end;
        if (text[at] == ' ' || text[at] == '_')
            end = text[at] == ' ' ? at : at + 1;
        count++;
    }
    return at;
}

static char *in_lines(const char *text, size_t width)
{
    char *made = must(malloc(2 * strlen(text) + 1));
    size_t length = 0;
    while (*text != '\0') {
        const size_t taken = line_length(text, width);
        memcpy(made + length, text, taken);
        length += taken;
        text += taken + strspn(text + taken, " ");
        if (*text != '\0')
            made[length++] = '\n';
    }
    made[length] = '\0';
    return made;
}

static void add_column(struct libscols_table *layout, const struct sim_column *column,
                       bool is_narrow)
{
    char heading[128];
    heading_text(column, " ", heading, sizeof heading);
    const int right = column->is_right ? SCOLS_FL_RIGHT : 0;
    struct libscols_column *made = must(scols_table_new_column(
        layout, is_narrow ? "" : heading, 0, right | (is_narrow ? SCOLS_FL_WRAP : 0)));
    if (!is_narrow)
        return;
    (void)scols_column_set_safechars(made, "\n");
    (void)scols_column_set_wrapfunc(made, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
}

static void add_cell(struct libscols_line *line, const struct fit *fit, size_t column, size_t at,
                     const char *text)
{
    char *lines = fit->is_narrow ? in_lines(text, fit->widths[column]) : must(strdup(text));
    (void)scols_line_set_data(line, at, lines);
    free(lines);
}

static bool is_left_out(const struct fit *fit, size_t column)
{
    return fit->is_narrow && fit->widths[column] == 0;
}

static void add_line(struct libscols_table *layout, const struct sim_table *table, size_t row,
                     const struct fit *fit)
{
    struct libscols_line *line = must(scols_table_new_line(layout, NULL));
    for (size_t i = 0, at = 0; i < table->column_count; i++)
        if (!is_left_out(fit, i))
            add_cell(line, fit, i, at++, cell_at(table, row, i));
}

/* Headings of the library are never broken into lines: these are lines like any other. */
static void add_headings(struct libscols_table *layout, const struct sim_table *table,
                         const struct fit *fit)
{
    struct libscols_line *line = must(scols_table_new_line(layout, NULL));
    for (size_t i = 0, at = 0; i < table->column_count; i++) {
        char heading[128];
        heading_text(&table->columns[i], "\n", heading, sizeof heading);
        if (!is_left_out(fit, i) && table->columns[i].is_right)
            (void)scols_line_set_data(line, at++, heading);
        else if (!is_left_out(fit, i))
            add_cell(line, fit, i, at++, table->columns[i].header);
    }
}

static struct libscols_table *lay_out(const struct sim_table *table, size_t width)
{
    struct libscols_table *layout = must(scols_new_table());
    const struct fit fit = fit_to(table, width);
    scols_table_set_termforce(layout, SCOLS_TERMFORCE_NEVER);
    scols_table_set_column_separator(layout, "  ");
    for (size_t i = 0; i < table->column_count; i++)
        if (!is_left_out(&fit, i))
            add_column(layout, &table->columns[i], fit.is_narrow);
    if (fit.is_narrow) {
        (void)scols_table_enable_noheadings(layout, 1);
        add_headings(layout, table, &fit);
    }
    for (size_t row = 0; row < sim_table_rows(table); row++)
        add_line(layout, table, row, &fit);
    free(fit.widths);
    return layout;
}

/* False, and nothing is printed, where there is no such locale. */
static bool print_people(const struct sim_table *table, FILE *out)
{
    if (sim_table_rows(table) == 0)
        return true;
    const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (utf8 == (locale_t)0)
        return false;
    const locale_t before = uselocale(utf8);
    struct libscols_table *layout = lay_out(table, width_of(out));
    scols_table_set_stream(layout, out);
    (void)scols_print_table(layout);
    scols_unref_table(layout);
    (void)uselocale(before);
    freelocale(utf8);
    return true;
}

/* A spreadsheet would take it for a formula. */
static bool is_formula(const char *text)
{
    char *end = NULL;
    if (text[0] == '\0' || text[1] == '\0' || strchr("=+-@", text[0]) == NULL)
        return false;
    (void)strtod(text, &end);
    return *end != '\0' || end == text;
}

void sim_csv_cell(const char *text, FILE *out)
{
    if (is_formula(text))
        fputc('\'', out);
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_csv(const struct sim_table *table, FILE *out)
{
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(out, "%s%s", i == 0 ? "" : ",", table->columns[i].name);
    fputc('\n', out);
    for (size_t row = 0; row < sim_table_rows(table); row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            if (i > 0)
                fputc(',', out);
            sim_csv_cell(cell_at(table, row, i), out);
        }
        fputc('\n', out);
    }
}

static void print_markdown_cell(const char *text, FILE *out)
{
    fputc(' ', out);
    an_write_markdown(out, text, " ");
    fputs(" |", out);
}

static void print_markdown(const struct sim_table *table, FILE *out)
{
    fputc('|', out);
    for (size_t i = 0; i < table->column_count; i++) {
        char heading[128];
        heading_text(&table->columns[i], " ", heading, sizeof heading);
        print_markdown_cell(heading, out);
    }
    fputs("\n|", out);
    for (size_t i = 0; i < table->column_count; i++)
        fputs(table->columns[i].is_right ? "---:|" : "---|", out);
    fputc('\n', out);
    for (size_t row = 0; row < sim_table_rows(table); row++) {
        fputc('|', out);
        for (size_t i = 0; i < table->column_count; i++)
            print_markdown_cell(cell_at(table, row, i), out);
        fputc('\n', out);
    }
}

/* What TeX reads as something else is text; what its fonts do not have is mathematics. */
static void print_latex_cell(const char *text, FILE *out)
{
    static const char *const signs[][2] = { { "\\", "\\textbackslash{}" },
                                            { "~", "\\~{}" },
                                            { "^", "\\^{}" },
                                            { "<", "$<$" },
                                            { ">", "$>$" },
                                            { "≥", "$\\geq$" },
                                            { "≤", "$\\leq$" },
                                            { "±", "$\\pm$" },
                                            { "≈", "$\\approx$" },
                                            { "✓", "$\\surd$" },
                                            { "×", "$\\times$" } };
    while (*text != '\0') {
        size_t sign = 0;
        while (sign < sizeof signs / sizeof signs[0] &&
               strncmp(text, signs[sign][0], strlen(signs[sign][0])) != 0)
            sign++;
        if (sign < sizeof signs / sizeof signs[0]) {
            fputs(signs[sign][1], out);
            text += strlen(signs[sign][0]);
            continue;
        }
        fprintf(out, "%s%c", strchr("&%$#_{}", *text) != NULL ? "\\" : "", *text);
        text++;
    }
}

static void print_latex_row(const struct sim_table *table, size_t row, FILE *out)
{
    for (size_t i = 0; i < table->column_count; i++) {
        char heading[128];
        heading_text(&table->columns[i], " ", heading, sizeof heading);
        fputs(i == 0 ? "" : " & ", out);
        print_latex_cell(row == SIZE_MAX ? heading : cell_at(table, row, i), out);
    }
    fputs(" \\\\\n", out);
}

/* A tabular for the package booktabs. */
static void print_latex(const struct sim_table *table, FILE *out)
{
    fputs("\\begin{tabular}{", out);
    for (size_t i = 0; i < table->column_count; i++)
        fputc(table->columns[i].is_right ? 'r' : 'l', out);
    fputs("}\n\\toprule\n", out);
    print_latex_row(table, SIZE_MAX, out);
    fputs("\\midrule\n", out);
    for (size_t row = 0; row < sim_table_rows(table); row++)
        print_latex_row(table, row, out);
    fputs("\\bottomrule\n\\end{tabular}\n", out);
}

void sim_table_remarks(enum sim_format format, bool begins, FILE *out)
{
    if (format == SIM_FORMAT_LATEX)
        fputs(begins ? "\\iffalse\n" : "\\fi\n", out);
}

void sim_table_say(enum sim_format format, FILE *out, const char *words, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, words);
    const int length = vasprintf(&text, words, arguments);
    va_end(arguments);
    must(length < 0 ? NULL : text);
    if (format == SIM_FORMAT_MD)
        an_write_markdown(out, text, "\n");
    else
        for (const char *c = text; *c != '\0'; c++)
            fputs(format == SIM_FORMAT_LATEX && *c == '\\' ? "\\textbackslash{}"
                                                           : (const char[]){ *c, '\0' },
                  out);
    free(text);
}

static void write_json_cell(struct sim_json *json, const struct sim_column *column,
                            const char *text)
{
    if (!column->is_number) {
        sim_json_string(json, text);
        return;
    }
    char *end = NULL;
    const double value = strtod(text, &end);
    const bool is_number = end != text && *end == '\0';
    sim_json_number(json, is_number ? value : (double)NAN);
}

void sim_table_write_json(const struct sim_table *table, struct sim_json *json)
{
    sim_json_begin_array(json);
    for (size_t row = 0; row < sim_table_rows(table); row++) {
        sim_json_begin_object(json);
        for (size_t i = 0; i < table->column_count; i++) {
            sim_json_key(json, table->columns[i].name);
            write_json_cell(json, &table->columns[i], cell_at(table, row, i));
        }
        sim_json_end_object(json);
    }
    sim_json_end_array(json);
}

static void print_json(const struct sim_table *table, FILE *out)
{
    struct sim_json json = { .out = out };
    sim_json_begin_object(&json);
    sim_json_integer(sim_json_key(&json, "schema"), 1);
    sim_json_string(sim_json_key(&json, "version"), WEIR_VERSION);
    sim_json_key(&json, "rows");
    sim_table_write_json(table, &json);
    sim_json_end_object(&json);
}

void sim_table_print(const struct sim_table *table, enum sim_format format, FILE *out)
{
    switch (format) {
    case SIM_FORMAT_JSON:
        print_json(table, out);
        return;
    case SIM_FORMAT_CSV:
        print_csv(table, out);
        return;
    case SIM_FORMAT_MD:
        print_markdown(table, out);
        return;
    case SIM_FORMAT_LATEX:
        print_latex(table, out);
        return;
    case SIM_FORMAT_TABLE:
    case SIM_FORMAT_COUNT:
        if (!print_people(table, out))
            print_markdown(table, out);
        return;
    }
}

const char *sim_table_number(double value, int digits, char *text, size_t capacity)
{
    if (isnan(value)) {
        (void)snprintf(text, capacity, "-");
        return text;
    }
    const double size = fabs(value);
    if (size > 0 && (size >= 1e7 || size < 1e-4)) {
        (void)snprintf(text, capacity, "%.*g", digits, value);
        return text;
    }
    const int whole = size >= 1 ? (int)floor(log10(size)) + 1 : 1;
    const int leading = size > 0 && size < 1 ? (int)-floor(log10(size)) - 1 : 0;
    const int decimals = size >= 1 ? digits - whole : digits + leading;
    (void)snprintf(text, capacity, "%.*f", decimals > 0 ? decimals : 0, value);
    if (strchr(text, '.') != NULL) {
        size_t end = strlen(text);
        while (text[end - 1] == '0')
            end--;
        text[text[end - 1] == '.' ? end - 1 : end] = '\0';
    }
    return text;
}
