/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gnuplot; see the header. Scripts come as files, because on standard input gnuplot carries on
 * after errors.
 */
#include "analysis/chart/gnuplot.h"

#include "analysis/program.h"

#include <string.h>

weir_status an_gnuplot_run(const char *folder, const char *const *scripts, double timeout_s,
                           struct weir_error *error)
{
    const struct an_program gnuplot = { "gnuplot", "gnuplot-nox", folder, timeout_s };
    return an_program_run(&gnuplot, scripts, error);
}

/* ---- texts ---- */

/* Control characters would end the line of the script, and a doubled quote at its beginning the
 * text (gnuplot 5.4): a quote becomes an apostrophe. Its pictures escape < and &, but not the > of
 * what ends a section of XML. */
static void write_plain(FILE *out, const char *text, const char *c)
{
    if (*c == '\'')
        (void)fputs("\xE2\x80\x99", out);
    else if (*c == '>' && c - text >= 2 && c[-1] == ']' && c[-2] == ']')
        (void)fputs("\xE2\x80\xBA", out);
    else
        (void)fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
}

void an_gnuplot_quote(FILE *out, const char *text)
{
    (void)fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++)
        write_plain(out, text, c);
    (void)fputc('\'', out);
}

void an_gnuplot_quote_tick(FILE *out, const char *text)
{
    (void)fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '%')
            (void)fputc('%', out);
        write_plain(out, text, c);
    }
    (void)fputc('\'', out);
}

void an_gnuplot_quote_bold(FILE *out, const char *text)
{
    (void)fputs("'{/:Bold ", out);
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("_^{}@&~\\", *c) != NULL)
            (void)fputc('\\', out);
        write_plain(out, text, c);
    }
    (void)fputs("}'", out);
}
