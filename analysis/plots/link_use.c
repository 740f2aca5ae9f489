/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart link-use: what interfaces of nodes, uplinks of racks and stores delivered, against what
 * they can; the most used first.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/strips.h"

#define IN_ORDER "sum(s.delivered_bytes_per_s * s.dt_s) / l.bytes_per_s DESC, l.link"
#define OF_RUN                                                                                     \
    " FROM link l JOIN link_sample s ON s.run_id = l.run_id AND s.link = l.link WHERE l.run_id = " \
    ":run"

static const char links_sql[] =
    "SELECT l.name, l.kind, l.bytes_per_s, sum(s.delivered_bytes_per_s * s.dt_s)"
    " / sum(s.dt_s)" OF_RUN " GROUP BY l.link ORDER BY " IN_ORDER;

static const char samples_sql[] =
    "WITH place AS (SELECT l.link, l.bytes_per_s, row_number() OVER (ORDER BY " IN_ORDER ") - 1 AS"
    " place" OF_RUN " GROUP BY l.link)"
    " SELECT t_s, dt_s, coalesce(100 * delivered_bytes_per_s / nullif(capacity_bytes_per_s, 0), 0)"
    " AS pct, NULL, 100, place"
    " FROM link_sample s JOIN place USING (link) WHERE run_id = :run AND place "
    "< " AN_STRIPS_SHOWN_SQL

    " ORDER BY place, t_s";

static weir_status write_title(struct an_chart *chart, const struct an_frame *links,
                               struct weir_error *error)
{
    const size_t shown = an_strips_shown(links);
    char left_out[80] = "";
    if (shown < links->row_count)
        (void)snprintf(left_out, sizeof left_out, " · the %zu most used of %zu", shown,
                       links->row_count);
    an_chart_subtitle(chart,
                      "Delivered bytes in %% of what could be given then (dotted), {width} means · "
                      "full: at least "
                      "99 %% in a sample of %s%s",
                      an_word_duration(chart->run->sample_s).text, left_out);
    return an_chart_claim(chart, "links.full links.free", error);
}

static void draw_strip(struct an_chart *chart, const struct an_strip *strip)
{
    const struct an_frame *links = strip->state;
    const double mean = an_number(links, strip->stage, 3);
    const double most = an_number(links, strip->stage, 2);
    char second[128];
    (void)snprintf(second, sizeof second, "%s/s of %s/s", an_word_bytes(mean).text,
                   an_word_bytes(most).text);
    char first[64];
    (void)snprintf(first, sizeof first, "mean %s", an_word_percent(mean / most).text);
    an_strip_texts(chart, strip, first, second);
    an_strip_level(chart, strip, 100, false);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    static const struct an_strips strips = { .sql = samples_sql,
                                             .columns = "t_s use_pct none full_pct",
                                             .unit = " %",
                                             .words = "used",
                                             .series = 3,
                                             .stage_column = 5,
                                             .draw = draw_strip };
    const struct an_frame *links = NULL;
    WEIR_TRY(an_chart_query(chart, links_sql, NULL, &links, error));
    if (links->row_count == 0)
        return an_chart_empty(chart, "no bytes moved over a link of limited bandwidth in this run");
    WEIR_TRY(write_title(chart, links, error));
    return an_strips_of(chart, strips, links, error);
}

const struct an_plot_ops an_plot_link_use = {
    { "link-use", "Which links and stores are full, and when?" }, draw
};
