/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart policies: paired differences of every variant with the baseline, metric by metric, with
 * intervals drawn at the level at which Holm's procedure judged them.
 */
#include "analysis/plots/plots.h"

#include <math.h>
#include <string.h>

enum { MOST_METRICS = 6, MOST_VARIANTS = 12, ACROSS = 3 };

/* Differences of shares in points, of others in percent of the baseline, or plain when it is 0; as
 * factors on a logarithmic axis when one is tenfold. */
struct panel {
    const struct an_metric_row *row;
    double base, scale;
    bool is_log;
    char format[24];  /* of the ticks */
    char zero[16];    /* that at 0, which has no sign */
    double low, high; /* of the axis */
};

static bool is_shown(const struct an_metric_row *row, size_t baseline)
{
    return row->better != 0 && !isnan(row->cells[baseline].mean);
}

static bool has_difference(const struct an_metric_row *row, size_t variants)
{
    for (size_t v = 0; v < variants; v++)
        if (fabs(row->cells[v].difference) > 0.0)
            return true;
    return false;
}

/* An axis of a metric in which nobody differs shows nothing, unless all are such. */
static size_t choose_rows(const struct an_comparison *comparison,
                          const struct an_metric_row *rows[MOST_METRICS])
{
    bool is_any = false;
    size_t count = 0;
    for (size_t i = 0; i < comparison->shown; i++)
        is_any = is_any || (is_shown(&comparison->rows[i], comparison->baseline) &&
                            has_difference(&comparison->rows[i], comparison->variant_count));
    for (size_t i = 0; i < comparison->shown && count < MOST_METRICS; i++)
        if (is_shown(&comparison->rows[i], comparison->baseline) &&
            (!is_any || has_difference(&comparison->rows[i], comparison->variant_count)))
            rows[count++] = &comparison->rows[i];
    return count;
}

/* Where a difference lies on the axis. */
static double place_of(const struct panel *panel, double difference)
{
    const double least = 0.01; /* of a factor: an interval may reach to nothing */
    return panel->is_log ? log10(fmax(1.0 + difference / panel->base, least))
                         : difference * panel->scale;
}

static bool has_tenfold(const struct an_comparison *comparison, const struct an_metric_row *row)
{
    const double base = row->cells[comparison->baseline].mean;
    bool is_positive = base > 0.0;
    bool has = false;
    for (size_t v = 0; v < comparison->variant_count; v++) {
        is_positive = is_positive && !(row->cells[v].mean <= 0.0);
        has = has || row->cells[v].difference >= 9.0 * base;
    }
    return is_positive && has;
}

static void choose_unit(struct panel *panel)
{
    const struct an_metric_row *row = panel->row;
    const bool is_points = row->is_share || strcmp(row->unit, "pp") == 0;
    const bool is_percent = !is_points && fabs(panel->base) > 0.0;
    const char *unit = an_word_value(1.0, row->unit).text;
    panel->scale = strcmp(row->unit, "ratio") == 0 ? 100.0 : is_percent ? 100.0 / panel->base : 1.0;
    if (panel->scale < 0.0)
        panel->scale = -panel->scale;
    (void)snprintf(panel->format, sizeof panel->format, "%%+g%s",
                   is_points    ? ""
                   : is_percent ? " %%"
                                : unit + (unit[0] == '1'));
    (void)snprintf(panel->zero, sizeof panel->zero, "%s",
                   is_points    ? "0 points"
                   : is_percent ? "0 %%" /* as gnuplot wants it */
                                : "0");
}

static struct panel make_panel(const struct an_comparison *comparison,
                               const struct an_metric_row *row)
{
    struct panel panel = { .row = row,
                           .base = row->cells[comparison->baseline].mean,
                           .is_log = has_tenfold(comparison, row) };
    choose_unit(&panel);
    for (size_t v = 0; v < comparison->variant_count; v++) {
        const struct an_cell *cell = &row->cells[v];
        const double ends[] = { cell->difference, cell->difference_low, cell->difference_high };
        for (size_t i = 0; i < 3; i++) {
            if (isnan(ends[i]))
                continue;
            panel.low = fmin(panel.low, place_of(&panel, ends[i]));
            panel.high = fmax(panel.high, place_of(&panel, ends[i]));
        }
    }
    const double margin = panel.high > panel.low ? 0.16 * (panel.high - panel.low) : 1.0;
    panel.low -= margin;
    panel.high += margin;
    return panel;
}

static const char *verdict_color(enum an_verdict verdict)
{
    switch (verdict) {
    case AN_BETTER:
    case AN_DETERMINISTIC_BETTER:
        return AN_BLUE;
    case AN_WORSE:
    case AN_DETERMINISTIC_WORSE:
        return AN_ORANGE;
    case AN_BASELINE:
    case AN_TIE:
    case AN_DETERMINISTIC_TIE:
    case AN_NEUTRAL:
    case AN_ENDED_EARLY:
    case AN_OPEN:
    case AN_ONE_RUN:
        break;
    }
    return "#aab4be";
}

static size_t write_panel_data(struct an_chart *chart, const struct an_comparison *comparison,
                               const struct panel *panel)
{
    const size_t block = an_chart_block(chart, panel->row->label,
                                        "row difference low high variant mean verdict_rgb");
    size_t row = 0;
    for (size_t v = 0; v < comparison->variant_count && row < MOST_VARIANTS; v++) {
        const struct an_cell *cell = &panel->row->cells[v];
        if (v == comparison->baseline)
            continue;
        const double d = place_of(panel, cell->difference);
        const double low = place_of(panel, cell->difference_low);
        const double high = place_of(panel, cell->difference_high);
        (void)fprintf(chart->data, "%zu %.6g %.6g %.6g ", row++, d, isnan(low) ? d : low,
                      isnan(high) ? d : high);
        an_chart_cell(chart, comparison->variants[v]);
        (void)fprintf(chart->data, "%.6g 0x%s\n", cell->mean, verdict_color(cell->verdict) + 1);
    }
    return block;
}

/* A text beside the line of the baseline, not on it. */
static void keep_off(struct an_label *label, double line, size_t characters)
{
    const double half = 3.3 * (double)characters + 3.0;
    if (fabs(label->x - line) >= half)
        return;
    label->align = label->x < line ? 'r' : 'l';
    label->x = label->x < line ? line - 4.0 : line + 4.0;
}

static void label_values(struct an_chart *chart, const struct an_comparison *comparison,
                         const struct panel *panel, const struct an_box *box, bool has_names)
{
    const double width = (box->x1 - box->x0) / (panel->high - panel->low);
    size_t row = 0;
    for (size_t v = 0; v < comparison->variant_count && row < MOST_VARIANTS; v++) {
        const struct an_cell *cell = &panel->row->cells[v];
        if (v == comparison->baseline)
            continue;
        const double y = box->y0 + 30.0 * ((double)row++ + 0.5);
        const struct an_label name = { .x = box->x0 - 10.0, .y = y + 3.0, .align = 'r' };
        if (has_names)
            an_chart_name(chart, &name, comparison->variants[v], name.x - 8.0);
        if (cell->verdict == AN_ENDED_EARLY) {
            const struct an_label ended = { .x = box->x0 + 4.0, .y = y + 3.0, .size = 10.5 };
            an_chart_text(chart, &ended, "ended early");
        }
        if (cell->verdict == AN_OPEN && isnan(cell->difference)) {
            const struct an_label open = { .x = box->x0 + 4.0, .y = y + 3.0, .size = 10.5 };
            an_chart_text(chart, &open, "not compared: %s", an_mean_of(panel->row, cell).text);
        }
        if (isnan(cell->difference))
            continue;
        const double x = box->x0 + (place_of(panel, cell->difference) - panel->low) * width;
        const struct an_word mean = an_word_value(cell->mean, panel->row->unit);
        struct an_label value = { .x = x, .y = y - 8.0, .size = 10.5, .align = 'c' };
        keep_off(&value, box->x0 - panel->low * width, strlen(mean.text));
        an_chart_text(chart, &value, "%s", an_word_known(mean, cell->is_lower_bound, false).text);
    }
}

/* A lone tick at 0 says nothing: there is another on the longer side. */
static double tick_step(const struct panel *panel)
{
    double step = an_axis_step(panel->high - panel->low, 3.0);
    while (step > fmax(-panel->low, panel->high))
        step *= 0.5;
    return step;
}

static void write_ticks(const struct an_chart *chart, const struct panel *panel)
{
    if (!panel->is_log) {
        (void)fprintf(chart->body,
                      "set xtics %.9g format '%s' scale 0 font ',11'\nset xtics add ('%s' 0)\n",
                      tick_step(panel), panel->format, panel->zero);
        return;
    }
    (void)fputs("set xtics (", chart->body);
    const char *gap = "";
    for (int power = (int)ceil(panel->low); power <= (int)floor(panel->high); power++) {
        (void)fprintf(chart->body, "%s'%gx' %d", gap, pow(10.0, power), power);
        gap = ", ";
    }
    (void)fputs(") scale 0 font ',11'\n", chart->body);
}

static void draw_panel(struct an_chart *chart, const struct an_comparison *comparison,
                       const struct panel *panel, const struct an_box *box, bool has_names)
{
    const size_t block = write_panel_data(chart, comparison, panel);
    const struct an_cell *base = &panel->row->cells[comparison->baseline];
    an_chart_panel(chart, box);
    const struct an_label title = {
        .x = box->x0, .y = box->y0 - 34.0, .size = 13, .is_bold = true
    };
    an_chart_text(chart, &title, "%s", panel->row->label);
    const struct an_label sub = {
        .x = box->x0, .y = box->y0 - 17.0, .color = AN_MUTED, .size = 10.5
    };
    an_chart_text(chart, &sub, "baseline %s; %s is better",
                  an_word_value(base->mean, panel->row->unit).text,
                  panel->row->better > 0 ? "more" : "less");
    label_values(chart, comparison, panel, box, has_names);
    write_ticks(chart, panel);
    (void)fprintf(chart->body,
                  "set border 0; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n"
                  "set xrange [%.9g:%.9g]\n"
                  "set yrange [%.6g:0]; set ytics ('' 0) scale 0\n"
                  "set arrow from first 0, graph 0 to first 0, graph 1 nohead back "
                  "lc rgb '" AN_GREY "' lw 1.2\n"
                  "plot DATA index %zu using 3:($1*30+18):($4-$3):(0):7 with vectors nohead "
                  "lw 2.6 lc rgb variable, \\\n"
                  " '' index %zu using 2:($1*30+18):7 with points pt 7 ps 1 lc rgb variable\n",
                  panel->low, panel->high, box->y1 - box->y0, block, block);
    an_chart_draw_end(chart);
}

/* The first variant from `from` on that is compared with the baseline; variant_count = none. */
static size_t next_contender(const struct an_comparison *comparison, size_t from)
{
    const bool has_base = comparison->early[comparison->baseline].sentence == NULL;
    for (size_t v = from; has_base && v < comparison->variant_count; v++)
        if (v != comparison->baseline && comparison->early[v].sentence == NULL)
            return v;
    return comparison->variant_count;
}

static weir_status write_texts(struct an_chart *chart, const struct an_comparison *comparison,
                               struct weir_error *error)
{
    const char *baseline = comparison->variants[comparison->baseline];
    const uint32_t n = comparison->rows[0].cells[comparison->baseline].n;
    WEIR_TRY(an_chart_claim(
        chart,
        "winner.keeps winner.better winner.worse winner.none winner.same winner.once winner.open",
        error));
    if (n < 2)
        an_chart_subtitle(chart, "Difference with %s · 1 replication: no interval", baseline);
    else
        an_chart_subtitle(
            chart, "95 %% interval of the difference with %s, %u paired replications%s%s", baseline,
            n, comparison->varies[0] == '\0' ? "" : "; what varies: ", comparison->varies);
    return WEIR_OK;
}

static void write_key(struct an_chart *chart, double y)
{
    static const struct {
        const char *color, *text;
        double x;
    } keys[] = { { AN_BLUE, "better than the baseline", 150 },
                 { "#aab4be", "no statement, or not distinguishable", 350 },
                 { AN_ORANGE, "worse", 610 } };
    for (size_t i = 0; i < 3; i++) {
        an_chart_rectangle(chart, &(struct an_box){ keys[i].x, y - 5, keys[i].x + 11, y + 5 },
                           keys[i].color, "front");
        const struct an_label label = { .x = keys[i].x + 17, .y = y, .size = 11 };
        an_chart_text(chart, &label, "%s", keys[i].text);
    }
}

static weir_status draw_comparison(struct an_chart *chart, const struct an_comparison *comparison,
                                   struct weir_error *error)
{
    const struct an_metric_row *rows[MOST_METRICS];
    const size_t count = choose_rows(comparison, rows);
    if (count == 0)
        return an_chart_empty(chart, "the variants share no metric with a better direction");
    WEIR_TRY(write_texts(chart, comparison, error));
    const size_t others = comparison->variant_count - 1;
    const double body = 30.0 * (double)(others < MOST_VARIANTS ? others : MOST_VARIANTS) + 8.0;
    const double pitch = body + 92.0;
    const size_t lines = (count + ACROSS - 1) / ACROSS;
    chart->height = 10.0 + pitch * (double)lines + 14.0;
    for (size_t i = 0; i < count; i++) {
        const struct panel panel = make_panel(comparison, rows[i]);
        const double x0 = 160.0 + 284.0 * (double)(i % ACROSS);
        const size_t line = i / ACROSS;
        const double y0 = 58.0 + pitch * (double)line;
        if (i + 1 == count)
            write_key(chart, chart->height - 10.0);
        draw_panel(chart, comparison, &panel, &(struct an_box){ x0, y0, x0 + 226.0, y0 + body },
                   i % ACROSS == 0);
    }
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    chart->is_about_all = true;
    struct an_comparison *comparison = NULL;
    struct weir_error why = { 0 };
    weir_status status = an_compare(chart->keeper.db, NULL, &comparison, &why);
    if (status == WEIR_EINVAL)
        return an_chart_empty(chart, "%s", why.text);
    if (status != WEIR_OK)
        return weir_fail(error, status, "%s", why.text);
    if (comparison->variant_count < 2)
        status = an_chart_empty(chart, "there is one variant, nothing to compare with");
    else if (next_contender(comparison, 0) == comparison->variant_count)
        status = an_chart_empty(chart, "%s", comparison->finding);
    else
        status = draw_comparison(chart, comparison, error);
    an_comparison_destroy(comparison);
    return status;
}

const struct an_plot_ops an_plot_policies = {
    { "policies", "Which variant wins, and is the difference real?" }, draw
};
