/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart memory: memory of nodes in use over time, the most that lasted in each interval, and the
 * limit beyond which somebody is killed; the fullest nodes first.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/strips.h"

#include <math.h>

#define IN_ORDER "max(s.in_use_max_bytes) / coalesce(n.ram_limit_bytes, 1) DESC, n.node"
#define OF_RUN                                                                                     \
    " FROM node n JOIN memory_sample s ON s.run_id = n.run_id AND s.node = n.node WHERE n.run_id " \
    "= "                                                                                           \
    ":run"

enum { NAME, LIMIT, MEAN, MOST, SPILLED, KILLED };
static const char nodes_sql[] =
    "SELECT n.name, n.ram_limit_bytes, sum(s.in_use_bytes * s.dt_s) / sum(s.dt_s),"
    " max(s.in_use_max_bytes), total(s.spilled_bytes), (SELECT count(*) FROM happening h WHERE"
    " h.run_id = n.run_id AND h.kind = 'oom' AND h.target = n.name)" OF_RUN
    " GROUP BY n.node ORDER BY " IN_ORDER;

static const char samples_sql[] =
    "WITH place AS (SELECT n.node, n.ram_limit_bytes, row_number() OVER (ORDER BY " IN_ORDER
    ") - 1 AS place" OF_RUN " GROUP BY n.node)"
    " SELECT t_s, dt_s, in_use_bytes, in_use_max_bytes, ram_limit_bytes, place"
    " FROM memory_sample s JOIN place USING (node) WHERE run_id = :run AND place "
    "< " AN_STRIPS_SHOWN_SQL " ORDER BY place, t_s";

static weir_status write_title(struct an_chart *chart, const struct an_frame *nodes,
                               struct weir_error *error)
{
    const size_t shown = an_strips_shown(nodes);
    char left_out[80] = "";
    if (shown < nodes->row_count)
        (void)snprintf(left_out, sizeof left_out, " · the %zu fullest of %zu nodes", shown,
                       nodes->row_count);
    an_chart_subtitle(chart,
                      "Memory in use by node, {width} means · grey: the most that lasted in each · "
                      "dotted: beyond it somebody is killed%s",
                      left_out);
    return an_chart_claim(chart, "memory.killed memory.spilled memory.suffices", error);
}

static void draw_strip(struct an_chart *chart, const struct an_strip *strip)
{
    const struct an_frame *nodes = strip->state;
    const double most = an_number(nodes, strip->stage, MOST);
    const double limit = an_number(nodes, strip->stage, LIMIT);
    char first[64];
    char second[128] = "";
    (void)snprintf(first, sizeof first, "at most %s", an_word_bytes(most).text);
    if (!isnan(limit))
        (void)snprintf(second, sizeof second, "of %s", an_word_bytes(limit).text);
    if (an_number(nodes, strip->stage, KILLED) > 0.0)
        (void)snprintf(second, sizeof second, "of %s, %s killed", an_word_bytes(limit).text,
                       an_word_number(an_number(nodes, strip->stage, KILLED)).text);
    else if (an_number(nodes, strip->stage, SPILLED) > 0.0)
        (void)snprintf(second, sizeof second, "%s to disk",
                       an_word_bytes(an_number(nodes, strip->stage, SPILLED)).text);
    an_strip_texts(chart, strip, first, second);
    an_strip_level(chart, strip, isnan(limit) ? fmax(most, 1.0) : fmax(most, limit), true);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    static const struct an_strips strips = { .sql = samples_sql,
                                             .columns =
                                                 "t_s in_use_bytes in_use_max_bytes limit_bytes",
                                             .unit = " B",
                                             .words = "in use|most",
                                             .series = 3,
                                             .stage_column = 5,
                                             .draw = draw_strip };
    const struct an_frame *nodes = NULL;
    WEIR_TRY(an_chart_query(chart, nodes_sql, NULL, &nodes, error));
    if (nodes->row_count == 0)
        return an_chart_empty(chart, "memory is not modelled in time in this run (cluster.memory)");
    WEIR_TRY(write_title(chart, nodes, error));
    return an_strips_of(chart, strips, nodes, error);
}

const struct an_plot_ops an_plot_memory = {
    { "memory", "Which nodes run out of memory, and what goes to disk?" }, draw
};
