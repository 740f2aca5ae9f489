/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart unallocated: which GPUs stay unallocated and why, for every variant when as many GPUs were
 * asked for as there are and at the end. The subtitle names the one change that would free most.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"

#include <math.h>

static const struct cause {
    const char *metric, *text, *color;
} causes[] = { { "unalloc.fraction_pct", "too little left on a GPU", AN_BLUE },
               { "unalloc.gang_pct", "too few whole GPUs on a node", AN_SKY },
               { "unalloc.cpu_pct", "CPUs short", AN_ORANGE },
               { "unalloc.gpumem_pct", "GPU memory short", AN_PINK },
               { "unalloc.mem_pct", "memory short", AN_VERMILLION },
               { "unalloc.model_pct", "no accepted model", AN_GREEN },
               { "unalloc.policy_pct", "refused by the policy", AN_GREY },
               { "unalloc.no_demand_pct", "not asked for", AN_PALE } };
enum { CAUSES = sizeof causes / sizeof causes[0], TIMES = 2 };

static const char *const labels[TIMES] = { "100 % arrived", "" };
static const char *const names[TIMES] = { "100 % asked", "end" };

static const double bar_px = 15.0;
static const double pitch_px = 48.0;

static const char change_sql[] = "SELECT c.change, c.gpus_freed FROM placement_change c"
                                 " WHERE c.run_id = :run AND c.label = '' AND c.rank = 0";

static weir_status write_texts(struct an_chart *chart, const struct an_rows *rows,
                               struct weir_error *error)
{
    const struct an_frame *change = NULL;
    bool has = false;
    WEIR_TRY(an_has_table(chart->keeper.db, "placement_change", &has, error));
    if (has)
        WEIR_TRY(an_chart_query(chart, change_sql, NULL, &change, error));
    WEIR_TRY(an_chart_claim(chart, "fill.unallocated", error));
    if (change != NULL && change->row_count > 0)
        an_chart_subtitle(
            chart,
            "Share of all GPUs by what keeps refused jobs away, %s · would free most: "
            "%s, %.1f GPUs",
            an_rows_runs(rows).text, an_text(change, 0, 0), an_number(change, 0, 1));
    else
        an_chart_subtitle(chart, "Share of all GPUs by what keeps refused jobs away, %s",
                          an_rows_runs(rows).text);
    return WEIR_OK;
}

/* One block a cause: low and high end of its part of every bar. Returns the longest bar. */
static double write_data(struct an_chart *chart, const struct an_rows *rows, const bool *is_there)
{
    double ends[AN_ROWS][TIMES] = { { 0 } };
    double longest = 0.0;
    for (size_t c = 0; c < CAUSES; c++) {
        (void)an_chart_block(chart, causes[c].text, "y_px low_pct high_pct variant demand");
        for (size_t v = 0; v < rows->count; v++)
            for (size_t t = 0; t < TIMES; t++) {
                const double value = an_rows_value(rows, v, causes[c].metric, labels[t]);
                const double low = ends[v][t];
                if (!is_there[t])
                    continue;
                ends[v][t] += isnan(value) ? 0.0 : value;
                longest = fmax(longest, ends[v][t]);
                (void)fprintf(chart->data, "%g %.6g %.6g ",
                              pitch_px * (double)v + (bar_px + 3.0) * (double)t + 10.0, low,
                              ends[v][t]);
                an_chart_cell(chart, rows->variants[v]);
                an_chart_cell(chart, names[t]);
                (void)fputc('\n', chart->data);
            }
    }
    return longest;
}

static void label_bars(struct an_chart *chart, const struct an_rows *rows, const struct an_box *box,
                       double top)
{
    for (size_t v = 0; v < rows->count; v++)
        for (size_t t = 0; t < TIMES; t++) {
            const double all = an_rows_value(rows, v, "unalloc.gpu_pct", labels[t]);
            const double y = box->y0 + pitch_px * (double)v + (bar_px + 3.0) * (double)t + 10.0;
            const struct an_label name = { .x = box->x0 - 100.0,
                                           .y = t == 0 ? y + 9.0 : y,
                                           .align = 'r' };
            const struct an_label time = {
                .x = box->x0 - 10.0, .y = y, .color = AN_MUTED, .size = 11, .align = 'r'
            };
            if (isnan(all))
                continue;
            const struct an_label value = { .x = box->x0 + (box->x1 - box->x0) * all / top + 8.0,
                                            .y = y,
                                            .size = 11 };
            if (t == 0 || isnan(an_rows_value(rows, v, "unalloc.gpu_pct", labels[0])))
                an_chart_name(chart, &name, rows->variants[v], name.x - 8.0);
            an_chart_text(chart, &time, "%s", names[t]);
            an_chart_text(chart, &value, "%.1f %%", all);
        }
}

/* The causes that occur. */
static size_t list_keys(const struct an_rows *rows, struct an_key keys[CAUSES])
{
    size_t count = 0;
    for (size_t c = 0; c < CAUSES; c++) {
        double most = 0.0;
        for (size_t v = 0; v < rows->count; v++)
            for (size_t t = 0; t < TIMES; t++)
                most = fmax(most, an_rows_value(rows, v, causes[c].metric, labels[t]));
        if (most >= 0.005)
            keys[count++] = (struct an_key){ causes[c].text, causes[c].color };
    }
    return count;
}

static void draw_bars(struct an_chart *chart, const struct an_rows *rows)
{
    bool is_there[TIMES];
    struct an_key keys[CAUSES];
    const struct an_box box = { 230, 40, 920, 40.0 + pitch_px * (double)rows->count };
    for (size_t t = 0; t < TIMES; t++)
        is_there[t] = !isnan(an_rows_value(rows, 0, "unalloc.gpu_pct", labels[t]));
    chart->height = box.y1 + 50.0;
    an_chart_panel(chart, &box);
    an_rows_key(chart, keys, list_keys(rows, keys), &(struct an_label){ .x = 40, .y = 10 });
    const double top = an_axis_top(fmax(write_data(chart, rows, is_there), 0.1));
    label_bars(chart, rows, &box, top);
    const struct an_label x_label = {
        .x = 0.5 * (box.x0 + box.x1), .y = box.y1 + 38.0, .color = AN_MUTED, .align = 'c'
    };
    an_chart_text(chart, &x_label, "unallocated, %% of all GPUs");
    (void)fprintf(chart->body,
                  "set border 0; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n"
                  "set xrange [0:%.9g]; set xtics 0,%.9g format '%%g %%%%' scale 0\n"
                  "set yrange [%.9g:0]; set ytics ('' 0) scale 0\nplot ",
                  top, an_axis_step(top, 6.0), box.y1 - box.y0);
    for (size_t c = 0; c < CAUSES; c++)
        (void)fprintf(chart->body,
                      "%sDATA index %zu using (($2+$3)/2):1:2:3:($1-%g):($1+%g) with boxxyerror "
                      "fs solid noborder fc rgb '%s'",
                      c == 0 ? "" : ", \\\n ", c, 0.5 * bar_px, 0.5 * bar_px, causes[c].color);
    (void)fputc('\n', chart->body);
    an_chart_draw_end(chart);
}

/* What is not asked for is all there is of every variant: a picture of nothing. */
static bool asks_for_gpus(const struct an_rows *rows)
{
    for (size_t v = 0; v < rows->count; v++)
        if (!(an_rows_value(rows, v, "unalloc.no_demand_pct", "") >= 100.0))
            return true;
    return false;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct an_rows rows;
    chart->is_about_all = true;
    WEIR_TRY(an_rows_read(chart, "unalloc.", &rows, error));
    if (rows.count == 0)
        return an_chart_empty(chart, "no run places jobs of a static workload");
    if (!asks_for_gpus(&rows))
        return an_chart_empty(chart, "no job of this fill asks for a GPU");
    WEIR_TRY(write_texts(chart, &rows, error));
    draw_bars(chart, &rows);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_unallocated = { { "unallocated", "Why do GPUs stay unallocated?" },
                                                 draw };
