/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart power: of nodes, the power of their GPUs against its cap, how fast the GPUs that compute
 * run (1 = not throttled), and the temperature of the hottest; the most throttled nodes first.
 */
#include "analysis/nan.h"
#include "analysis/plots/plots.h"
#include "analysis/plots/strips.h"

#include <math.h>

enum { MOST_NODES = AN_STRIPS_SHOWN / 3 };

#define LOST     "sum((s.gpu_computing - s.gpu_delivered) * s.dt_s)"
#define IN_ORDER LOST " DESC, sum(s.gpu_power_w * s.dt_s) DESC, n.node"
#define OF_RUN                                                                                     \
    " FROM node n JOIN power_sample s ON s.run_id = n.run_id AND s.node = n.node WHERE n.run_id "  \
    "= "                                                                                           \
    ":run AND n.gpus > 0"

enum { NAME, MEAN_W, MOST_W, CAP_W, SPEED, HOTTEST };
static const char nodes_sql[] =
    "SELECT n.name, sum(s.gpu_power_w * s.dt_s) / sum(s.dt_s), max(s.gpu_power_w), min(s.cap_w),"
    " sum(s.gpu_delivered * s.dt_s) / nullif(sum(s.gpu_computing * s.dt_s), 0),"
    " max(s.temperature_max_c)" OF_RUN " GROUP BY n.node ORDER BY " IN_ORDER;

/* Strips of a node: power, speed, temperature if it is modelled. */
static const char samples_sql[] =
    "WITH place AS (SELECT n.node, row_number() OVER (ORDER BY " IN_ORDER ") - 1 AS place,"
    " max(s.temperature_max_c) IS NOT NULL AS is_hot" OF_RUN " GROUP BY n.node),"
    " strip AS (SELECT node, kind, row_number() OVER (ORDER BY place, kind) - 1 AS strip FROM "
    "place,"
    " (SELECT 0 AS kind UNION ALL SELECT 1 UNION ALL SELECT 2) WHERE kind < 2 OR is_hot)"
    " SELECT t_s, dt_s, CASE kind WHEN 0 THEN gpu_power_w WHEN 1 THEN"
    " 100 * gpu_delivered / nullif(gpu_computing, 0) ELSE temperature_max_c END, NULL,"
    " CASE kind WHEN 0 THEN cap_w WHEN 1 THEN 100 END, strip"
    " FROM power_sample s JOIN strip USING (node) WHERE run_id = :run AND strip "
    "< " AN_STRIPS_SHOWN_SQL " ORDER BY strip, t_s";

/* What is drawn: kinds of strips, by node. */
enum kind { POWER, PACE, HEAT, KINDS };
struct picture {
    const struct an_frame *nodes;
    size_t count;
    size_t node[AN_STRIPS_SHOWN];
    enum kind kind[AN_STRIPS_SHOWN];
    char name[AN_STRIPS_SHOWN][64];
    const char *names[AN_STRIPS_SHOWN];
};

static void add_strips(struct an_chart *chart, struct picture *picture, size_t node)
{
    static const char *const words[KINDS] = { "power", "speed", "heat" };
    for (size_t kind = POWER; kind < KINDS; kind++) {
        if (kind == HEAT && isnan(an_number(picture->nodes, node, HOTTEST)))
            continue;
        const size_t at = picture->count++;
        picture->node[at] = node;
        picture->kind[at] = (enum kind)kind;
        (void)snprintf(picture->name[at], sizeof picture->name[at], "%s %s",
                       an_chart_word(chart, an_text(picture->nodes, node, NAME), 20).text,
                       words[kind]);
        picture->names[at] = picture->name[at];
    }
}

static struct an_word watts(double watts)
{
    return watts >= 999.5 ? an_word_value(watts / 1e3, "kW") : an_word_value(watts, "W");
}

static weir_status write_title(struct an_chart *chart, const struct an_frame *nodes, size_t shown,
                               struct weir_error *error)
{
    char left_out[96] = "";
    if (shown < nodes->row_count)
        (void)snprintf(left_out, sizeof left_out, " · %zu of %zu nodes, the most throttled first",
                       shown, nodes->row_count);
    an_chart_subtitle(chart,
                      "Power of GPUs and its cap (dotted); compute delivered in %% of what runs; "
                      "hottest GPU · {width} intervals%s",
                      left_out);
    return an_chart_claim(chart, "power.idle power.free power.node power.nodes", error);
}

static void describe(const struct picture *picture, size_t at, char first[64], char second[64])
{
    const struct an_frame *nodes = picture->nodes;
    const size_t node = picture->node[at];
    const double cap_w = an_number(nodes, node, CAP_W);
    second[0] = '\0';
    switch (picture->kind[at]) {
    case POWER:
        (void)snprintf(first, 64, "mean %s", watts(an_number(nodes, node, MEAN_W)).text);
        if (!isnan(cap_w))
            (void)snprintf(second, 64, "cap %s", watts(cap_w).text);
        break;
    case PACE:
        (void)snprintf(first, 64, "mean %s", an_word_percent(an_number(nodes, node, SPEED)).text);
        (void)snprintf(second, 64, "of full speed");
        break;
    case HEAT:
        (void)snprintf(first, 64, "at most %s",
                       an_word_value(an_number(nodes, node, HOTTEST), "°C").text);
        break;
    case KINDS:
        break;
    }
}

static void draw_strip(struct an_chart *chart, const struct an_strip *strip)
{
    const struct picture *picture = strip->state;
    const struct an_frame *nodes = picture->nodes;
    const size_t node = picture->node[strip->stage];
    const double cap_w = an_number(nodes, node, CAP_W);
    char first[64] = "";
    char second[64] = "";
    double top = 100.0;
    if (picture->kind[strip->stage] == POWER)
        top = fmax(isnan(cap_w) ? 1.0 : cap_w, an_number(nodes, node, MOST_W));
    else if (picture->kind[strip->stage] == HEAT)
        top = fmax(1.0, an_number(nodes, node, HOTTEST));
    describe(picture, strip->stage, first, second);
    an_strip_texts(chart, strip, first, second);
    an_strip_level(chart, strip, top, false);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct picture picture = { .count = 0 };
    WEIR_TRY(an_chart_query(chart, nodes_sql, NULL, &picture.nodes, error));
    const size_t rows = picture.nodes->row_count;
    const size_t shown = rows < MOST_NODES ? rows : MOST_NODES;
    if (shown == 0)
        return an_chart_empty(chart, "power does not follow the use of GPUs in this run "
                                     "(cluster.power.gpu)");
    for (size_t i = 0; i < shown; i++)
        add_strips(chart, &picture, i);
    WEIR_TRY(write_title(chart, picture.nodes, shown, error));
    const struct an_strips strips = { .sql = samples_sql,
                                      .columns = "t_s value none limit",
                                      .unit = "",
                                      .words = "",
                                      .series = 3,
                                      .stage_column = 5,
                                      .names = picture.names,
                                      .name_count = picture.count,
                                      .state = &picture,
                                      .draw = draw_strip };
    return an_strips_draw(chart, &strips, error);
}

const struct an_plot_ops an_plot_power = {
    { "power", "Do power caps or heat hold GPUs back, and when?" }, draw
};
