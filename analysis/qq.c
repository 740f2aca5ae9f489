/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QQ plots; see the header. The script stands on its own: `gnuplot NAME.gp` draws it again. */
#include "analysis/qq.h"

#include "analysis/chart/chart.h"
#include "analysis/chart/gnuplot.h"
#include "analysis/chart/svg.h"
#include "sim/files/written.h"
#include "weir_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double timeout_s = 60.0;

static weir_status write_data(const char *folder, const char *name, const struct an_qq *qq,
                              struct weir_error *error)
{
    struct written file;
    WEIR_TRY(written_open_in(folder, name, "dat", &file, error));
    FILE *out = file.out;
    (void)fputs("# fitted seen\n", out);
    for (size_t i = 0; i < qq->count; i++)
        (void)fprintf(out, "%.9g %.9g\n", qq->fitted[i], qq->seen[i]);
    return written_close(&file, WEIR_OK, error);
}

static void write_label(FILE *out, const char *text, double y_px, const char *style)
{
    (void)fputs("set label ", out);
    an_gnuplot_quote(out, text);
    (void)fprintf(out, " at screen 0.07, %.4f left noenhanced %s\n", 1.0 - y_px / 620.0, style);
}

/* Both axes cover the same range, so that the diagonal is one. */
static double axis_end(const struct an_qq *qq)
{
    const double fitted = qq->count > 0 ? qq->fitted[qq->count - 1] : 0.0;
    const double seen = qq->count > 0 ? qq->seen[qq->count - 1] : 0.0;
    const double largest = fmax(fitted, seen);
    return largest > 0 ? 1.03 * largest : 1.0;
}

static weir_status write_script(const char *folder, const char *name, const struct an_qq *qq,
                                struct weir_error *error)
{
    struct written file;
    WEIR_TRY(written_open_in(folder, name, "gp", &file, error));
    FILE *out = file.out;
    (void)fprintf(out,
                  "# Quantiles of the sample against those of the law. Draw it again: gnuplot "
                  "%s.gp\nreset session\nset terminal svg enhanced standalone size 720,620 dynamic "
                  "fontscale 1 font 'Inter, Helvetica, Arial, sans-serif,12' background '#ffffff'\n"
                  "set output '%s.svg'\n",
                  name, name);
    (void)fputs(weir_text_house_gp, out);
    write_label(out, qq->title, 26.0, "font ',16'");
    write_label(out, qq->subtitle, 50.0, "textcolor rgb '" AN_MUTED "'");
    const double end = axis_end(qq);
    (void)fprintf(out,
                  "set lmargin at screen 0.12\nset rmargin at screen 0.96\n"
                  "set tmargin at screen 0.88\nset bmargin at screen 0.12\n"
                  "set grid xtics\nset xrange [0:%.9g]\nset yrange [0:%.9g]\n",
                  end, end);
    (void)fputs("set xlabel ", out);
    char *label = NULL;
    if (asprintf(&label, "quantile of the fitted law%s%s", qq->unit[0] == '\0' ? "" : ", ",
                 qq->unit) >= 0)
        an_gnuplot_quote(out, label);
    free(label);
    (void)fprintf(out,
                  " noenhanced\nset ylabel 'quantile of the sample' noenhanced\n"
                  "plot x with lines lw 1.5 lc rgb '" AN_GREY "' notitle, '%s.dat' using 1:2 with "
                  "points pt 7 ps 0.45 lc rgb '" AN_BLUE "' notitle\nunset output\n",
                  name);
    return written_close(&file, WEIR_OK, error);
}

weir_status an_qq_plot(const char *folder, const char *name, const struct an_qq *qq,
                       struct weir_error *error)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return weir_fail(error, written_status(errno), "%s: cannot be made: %s", folder,
                         strerror(errno));
    WEIR_TRY(write_data(folder, name, qq, error));
    WEIR_TRY(write_script(folder, name, qq, error));
    char *script = NULL;
    char *picture = NULL;
    weir_status status = WEIR_ENOMEM;
    if (asprintf(&script, "%s.gp", name) >= 0 && asprintf(&picture, "%s/%s.svg", folder, name) >= 0)
        status = an_gnuplot_run(folder, (const char *const[]){ script, NULL }, timeout_s, error);
    if (status == WEIR_OK)
        status = an_svg_finish(picture, error);
    free(script);
    free(picture);
    return status;
}
