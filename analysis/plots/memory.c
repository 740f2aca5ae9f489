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

/* The node with most of a column. */
static size_t most_of(const struct an_frame *nodes, size_t column)
{
    size_t most = 0;
    for (size_t i = 1; i < nodes->row_count; i++)
        if (an_number(nodes, i, column) > an_number(nodes, most, column))
            most = i;
    return most;
}

static double sum_of(const struct an_frame *nodes, size_t column)
{
    double sum = 0.0;
    for (size_t i = 0; i < nodes->row_count; i++)
        sum += an_number(nodes, i, column);
    return sum;
}

static void write_finding(struct an_chart *chart, const struct an_frame *nodes)
{
    const double killed = sum_of(nodes, KILLED);
    const double spilled = sum_of(nodes, SPILLED);
    const size_t worst = most_of(nodes, killed > 0.0 ? KILLED : SPILLED);
    const struct an_word name =
        an_shorten(an_text(nodes, killed + spilled > 0.0 ? worst : 0, NAME), 20);
    const double here = an_number(nodes, worst, killed > 0.0 ? KILLED : SPILLED);
    const bool is_all = here >= killed + (killed > 0.0 ? 0.0 : spilled);
    if (killed > 0.0)
        an_chart_title(chart, "Memory ran out: %s worker%s killed, %s%s on %s",
                       an_word_number(killed).text, killed > 1.5 ? "s were" : " was",
                       is_all ? "all" : an_word_number(here).text, is_all ? "" : " of them",
                       name.text);
    else if (spilled > 0.0)
        an_chart_title(chart, "What waits goes to disk: %s, %s of it from %s",
                       an_word_bytes(spilled).text, is_all ? "all" : an_word_bytes(here).text,
                       name.text);
    else if (isnan(an_number(nodes, 0, LIMIT)))
        an_chart_title(chart, "Nobody is killed and nothing goes to disk: %s holds %s at most",
                       name.text, an_word_bytes(an_number(nodes, 0, MOST)).text);
    else
        an_chart_title(chart, "Memory suffices: the fullest node, %s, holds %s of %s at most",
                       name.text, an_word_bytes(an_number(nodes, 0, MOST)).text,
                       an_word_bytes(an_number(nodes, 0, LIMIT)).text);
}

static void write_title(struct an_chart *chart, const struct an_frame *nodes)
{
    const size_t shown = an_strips_shown(nodes);
    char left_out[80] = "";
    write_finding(chart, nodes);
    if (shown < nodes->row_count)
        (void)snprintf(left_out, sizeof left_out, " · the %zu fullest of %zu nodes", shown,
                       nodes->row_count);
    an_chart_subtitle(chart,
                      "Memory in use by node, {width} means · grey: the most that lasted in each · "
                      "dotted: beyond it somebody is killed%s",
                      left_out);
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
    write_title(chart, nodes);
    return an_strips_of(chart, strips, nodes, error);
}

const struct an_plot_ops an_plot_memory = {
    { "memory", "Which nodes run out of memory, and what goes to disk?" }, draw
};
