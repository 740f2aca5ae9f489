/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the page's script knows of a chart: for each panel over time where it stands, its axis and
 * its values, as one JSON array. And what others lay over charts: measured curves.
 *
 * Four significant digits: the picture shows fewer, and the text beside it has all.
 */
#include "analysis/chart/chart.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

static void write_values(FILE *out, const double *values, size_t count)
{
    (void)fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        const char *comma = i == 0 ? "" : ",";
        if (isfinite(values[i]))
            (void)fprintf(out, "%s%.4g", comma, values[i]);
        else
            (void)fprintf(out, "%snull", comma);
    }
    (void)fputc(']', out);
}

void an_chart_track(struct an_chart *chart, const struct an_track *track)
{
    FILE *out = chart->script;
    if (out == NULL)
        return;
    (void)fprintf(out, "%s{\"n\":", chart->tracks++ == 0 ? "" : ",");
    an_write_json(out, track->name);
    (void)fputs(",\"u\":", out);
    an_write_json(out, track->unit);
    (void)fprintf(out, ",\"b\":[%.5g,%.5g,%.5g,%.5g],\"y\":[%.6g,%.6g],\"t\":[%.9g,%.9g]%s",
                  chart->left, chart->header + chart->top, chart->right,
                  chart->header + chart->bottom, track->low, track->high, track->grid->from_s,
                  track->grid->step_s, track->is_stacked ? ",\"k\":1" : "");
    (void)fputs(",\"s\":[", out);
    for (size_t i = 0; i < track->count; i++) {
        (void)fputs(i == 0 ? "[" : ",[", out);
        an_write_json(out, track->names[i]);
        (void)fputc(',', out);
        write_values(out, track->series + i * track->grid->bins, track->grid->bins);
        (void)fputc(']', out);
    }
    (void)fputs("]}", out);
}

/* ---- what others lay over ---- */

static const struct an_curve *find_curve(const struct an_chart *chart, const char *panel)
{
    char wanted[200];
    (void)snprintf(wanted, sizeof wanted, "%s %s", chart->name, panel);
    for (size_t i = 0; chart->extras != NULL && i < chart->extras->curve_count; i++)
        if (strcmp(chart->extras->curves[i].of, wanted) == 0)
            return &chart->extras->curves[i];
    return NULL;
}

void an_chart_curve(struct an_chart *chart, const char *panel, double scale)
{
    const struct an_curve *curve = find_curve(chart, panel);
    if (curve == NULL || curve->count == 0)
        return;
    const size_t block = an_chart_block(chart, "measured", "t_s measured");
    for (size_t i = 0; i < curve->count; i++)
        (void)fprintf(chart->data, "%.9g %.9g\n", curve->t_s[i], curve->values[i] * scale);
    (void)fprintf(chart->body,
                  ", \\\n DATA index %zu using 1:2 with lines lc rgb '" AN_INK "' lw 1.2 dt (2,2)",
                  block);
}
