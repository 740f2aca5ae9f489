/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of the report; see the header.
 */
#include "analysis/report/report_work.h"

#include "analysis/metrics.h"
#include "analysis/nan.h"
#include "analysis/text.h"
#include "analysis/windows.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- tiles ---- */

void an_page_tile(const struct an_page *page, const char *value, const char *text)
{
    (void)fputs("<div class=\"tile\">", page->out);
    an_write_element(page->out, "b", value);
    an_write_element(page->out, "span", text);
    (void)fputs("</div>\n", page->out);
}

struct an_value an_page_value(const struct an_page *page, const char *metric)
{
    static const char sql[] = "SELECT value, is_lower_bound FROM result WHERE run_id = :run"
                              " AND metric || iif(label = '', '', ':' || label) = :text";
    const struct an_frame *frame = NULL;
    struct an_value value = { .value = AN_NAN };
    const struct an_args args = { .run = page->run->run_id, .text = metric };
    if (an_keep_query(page->keeper, sql, &args, &frame, NULL) == WEIR_OK && frame->row_count > 0)
        value = (struct an_value){ .value = an_number(frame, 0, 0),
                                   .is_lower_bound = an_number(frame, 0, 1) > 0.5 };
    return value;
}

double an_page_result(const struct an_page *page, const char *metric)
{
    return an_page_value(page, metric).value;
}

bool an_page_is_timed(const struct an_page *page)
{
    return page->facts->stage_count == 0 && !isnan(an_page_result(page, "jobs.started"));
}

bool an_page_is_warmup(const struct an_page *page)
{
    return page->run->warmup_s > 0.0 && page->run->warmup_s >= page->run->end_s;
}

static bool is_static(const struct an_page *page)
{
    return isnan(page->facts->throughput_per_s) && !isnan(an_page_result(page, "alloc.gpu_pct"));
}

weir_status an_page_claim(const struct an_page *page, const char *names, struct an_claim *claim,
                          struct weir_error *error)
{
    const struct an_claim_about about = { .db = page->keeper->db,
                                          .run = page->run,
                                          .from_s = page->facts->from_s,
                                          .at_s = AN_NAN,
                                          .comparison = page->comparison };
    return an_claim_first(&about, names, claim, error);
}

/* A claim whose text is the figure, a line break and the words. */
static weir_status write_tile(const struct an_page *page, const char *name,
                              struct weir_error *error)
{
    struct an_claim claim;
    WEIR_TRY(an_page_claim(page, name, &claim, error));
    char *words = strchr(claim.text, '\n');
    if (words == NULL)
        return WEIR_OK;
    *words = '\0';
    an_page_tile(page, claim.text, words + 1);
    return WEIR_OK;
}

/* Of a comparison: the goal of each variant, what ended early without one. */
static void write_goal_tiles(const struct an_page *page)
{
    enum { MOST = 12 };
    const struct an_comparison *comparison = page->comparison;
    const struct an_metric_row *row = &comparison->rows[0];
    for (size_t v = 0; v < comparison->variant_count && v < MOST; v++) {
        const bool is_early = comparison->early[v].sentence != NULL;
        char text[300];
        (void)snprintf(text, sizeof text, "%s of %s%s", row->label, comparison->variants[v],
                       is_early                           ? ", which ended early"
                       : comparison->missed[v][0] != '\0' ? ", which misses a condition"
                       : v == comparison->baseline        ? ", the baseline"
                                                          : "");
        an_page_tile(page, is_early ? "-" : an_mean_of(row, &row->cells[v]).text, text);
    }
}

weir_status an_page_tiles(const struct an_page *page, struct weir_error *error)
{
    static const char *const tiles[] = { "tile.throughput", "tile.device",    "tile.slowest",
                                         "tile.fragments",  "tile.jobs_done", "tile.wait",
                                         "tile.held",       "tile.accepted",  "tile.time_accepted",
                                         "tile.allocated",  "tile.gap",       "tile.fill_fragments",
                                         "tile.failed" };
    const bool is_compared = page->comparison != NULL && page->comparison->variant_count > 1 &&
                             page->comparison->row_count > 0;
    (void)fputs("<div class=\"tiles\">\n", page->out);
    if (is_compared)
        write_goal_tiles(page);
    else if (an_page_is_several(page) && !an_page_is_warmup(page))
        an_page_work_tiles(page);
    for (size_t i = 0; !is_compared && i < sizeof tiles / sizeof tiles[0]; i++)
        if (!an_page_is_several(page) || strcmp(tiles[i], "tile.device") == 0)
            WEIR_TRY(write_tile(page, tiles[i], error));
    (void)fputs("</div>\n", page->out);
    return WEIR_OK;
}

/* ---- comparison ---- */

static const char *cell_class(const struct an_cell *cell)
{
    return cell->is_best ? "best" : cell->is_tied_with_best ? "tie" : "";
}

static void write_p_value(FILE *out, double p_value)
{
    if (isnan(p_value))
        return;
    if (p_value < 0.001)
        (void)fputs(", p&nbsp;&lt;&nbsp;0.001", out);
    else
        (void)fprintf(out, ", p&nbsp;=&nbsp;%.3f", p_value);
}

static void write_cell(FILE *out, const struct an_comparison *comparison,
                       const struct an_metric_row *row, size_t variant)
{
    const struct an_cell *cell = &row->cells[variant];
    const struct an_change change = an_change_of(row, comparison->baseline, variant);
    (void)fprintf(out, "<td class=\"%s\">%s%s<small>%s", cell_class(cell),
                  an_mean_of(row, cell).text,
                  cell->is_best             ? " ✓"
                  : cell->is_tied_with_best ? " ≈"
                                            : "",
                  cell->verdict == AN_NEUTRAL ? "" : an_verdict_word(cell->verdict));
    if (cell->verdict != AN_DETERMINISTIC_TIE && change.plain[0] != '\0') {
        (void)fprintf(out, " %s",
                      row->is_share || change.relative[0] == '\0' ? change.plain : change.relative);
        write_p_value(out, cell->p_value);
    }
    (void)fputs("</small></td>", out);
}

static void write_metric_name(FILE *out, const struct an_metric_row *row)
{
    an_write_html(out, row->label);
    an_write_element(out, "small", row->title);
}

static void write_metric_rows(FILE *out, const struct an_comparison *comparison)
{
    (void)fputs("<thead><tr><th>Metric</th>", out);
    for (size_t v = 0; v < comparison->variant_count; v++)
        an_write_element(out, "th", comparison->variants[v]);
    (void)fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < comparison->shown; i++) {
        const struct an_metric_row *row = &comparison->rows[i];
        (void)fputs("<tr><td>", out);
        write_metric_name(out, row);
        (void)fputs("</td>", out);
        for (size_t v = 0; v < comparison->variant_count; v++)
            write_cell(out, comparison, row, v);
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</tbody>", out);
}

/* More variants than metrics: they are the rows, so that the table stays on the page. */
static void write_variant_rows(FILE *out, const struct an_comparison *comparison)
{
    (void)fputs("<thead><tr><th>Variant</th>", out);
    for (size_t i = 0; i < comparison->shown; i++) {
        (void)fputs("<th>", out);
        write_metric_name(out, &comparison->rows[i]);
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
    for (size_t v = 0; v < comparison->variant_count; v++) {
        (void)fputs("<tr>", out);
        an_write_element(out, "td", comparison->variants[v]);
        for (size_t i = 0; i < comparison->shown; i++) {
            const struct an_metric_row *row = &comparison->rows[i];
            write_cell(out, comparison, row, v);
        }
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</tbody>", out);
}

static void write_varies(FILE *out, const struct an_comparison *comparison)
{
    if (comparison->varies[0] == '\0')
        return;
    (void)fputs(" What varies from one replication to the next: ", out);
    an_write_html(out, comparison->varies);
    (void)fputc('.', out);
}

void an_page_comparison(const struct an_page *page)
{
    FILE *out = page->out;
    if (page->comparison == NULL) {
        (void)fputs("<h2 id=\"comparison\">Comparison</h2><p class=\"note\">", out);
        an_write_html(out, page->why_not);
        (void)fputs("</p>\n", out);
        return;
    }
    const struct an_comparison *comparison = page->comparison;
    if (comparison->variant_count < 2 || comparison->row_count == 0)
        return;
    const bool has_variant_rows = comparison->variant_count > comparison->shown;
    (void)fprintf(out,
                  "<h2 id=\"comparison\">Comparison of the variants</h2>\n<div "
                  "class=\"scroll\"><table class=\"fit%s\">",
                  has_variant_rows ? "" : " metrics");
    if (has_variant_rows)
        write_variant_rows(out, comparison);
    else
        write_metric_rows(out, comparison);
    const uint32_t n = comparison->rows[0].cells[0].n;
    (void)fputs("</table></div>\n<p class=\"note\">", out);
    if (n >= 2) {
        (void)fprintf(out,
                      "Mean ± half of its 95 %% interval over %u replications with common random "
                      "numbers. Below: difference with the baseline, of shares in points, else in "
                      "percent of it, interval and "
                      "p-value of the paired t test, Holm-adjusted over the variants (α = 0.05). "
                      "✓ best, ≈ not distinguishable from the best. No interval: all replications "
                      "agree.",
                      n);
        write_varies(out, comparison);
        (void)fputs("</p>\n", out);
    } else {
        (void)fputs("One replication: figures as simulated, no statement about chance.</p>\n", out);
    }
}

/* ---- stages ---- */

static void write_percent_cell(FILE *out, double ratio, double warn_from)
{
    (void)fprintf(out, "<td%s>%s</td>", ratio >= warn_from ? " class=\"warn\"" : "",
                  an_word_percent(ratio).text);
}

bool an_page_has_stages(const struct an_page *page)
{
    return page->facts->stage_count > 0 && !isnan(page->facts->stages[0].workers_mean);
}

void an_page_stages(const struct an_page *page)
{
    FILE *out = page->out;
    if (!an_page_has_stages(page))
        return;
    (void)fputs("<h2 id=\"stages\">Stages</h2>\n<p class=\"note\">Means after warm-up, weighted by "
                "time. Shares "
                "are of worker time.</p>\n<div class=\"scroll\"><table "
                "class=\"dense\"><thead><tr><th>Stage</th>"
                "<th class=\"text\">Shape</th><th>Workers, mean</th><th>max</th><th>bound</th>"
                "<th>Busy</th><th>Blocked</th><th>Starved</th><th>Set-up</th>"
                "<th>Queue, mean</th><th>p95</th><th>Back-pressure</th><th>Bottleneck</th>"
                "<th>Tasks/s</th></tr></thead><tbody>\n",
                out);
    for (size_t i = 0; i < page->facts->stage_count; i++) {
        const struct an_stage_facts *stage = &page->facts->stages[i];
        (void)fputs("<tr>", out);
        an_write_element(out, "td", stage->name);
        an_write_element(out, "td class=\"text shape\"", stage->shape);
        (void)fprintf(
            out, "<td>%s</td><td>%s</td><td>%s</td>", an_word_number(stage->workers_mean).text,
            an_word_number(stage->workers_max).text, an_word_number(stage->bound_workers).text);
        write_percent_cell(out, stage->busy, 2.0);
        write_percent_cell(out, stage->blocked, 0.25);
        write_percent_cell(out, stage->starved, 0.5);
        write_percent_cell(out, stage->setup, 0.25);
        (void)fprintf(out, "<td>%s</td><td>%s</td>", an_word_number(stage->queue_mean).text,
                      an_word_number(stage->queue_p95).text);
        write_percent_cell(out, stage->backpressured, 0.5);
        write_percent_cell(out, stage->bottleneck, 2.0);
        (void)fprintf(out, "<td>%s</td></tr>\n", an_word_number(stage->tasks_per_s).text);
    }
    (void)fputs("</tbody></table></div>\n", out);
}

/* ---- tables straight from a query ---- */

/* Texts as they are, numbers in words; the first column to the left. */
static void write_frame_table(FILE *out, const char *heads, const struct an_frame *frame)
{
    (void)fprintf(out, "<div class=\"scroll\"><table><thead><tr>%s</tr></thead><tbody>\n", heads);
    for (size_t i = 0; i < frame->row_count; i++) {
        (void)fputs("<tr>", out);
        for (size_t k = 0; k < frame->column_count; k++) {
            const char *text = an_text(frame, i, k);
            const bool is_text = text[0] != '\0' || isnan(an_number(frame, i, k));
            an_write_element(out, is_text ? "td class=\"text\"" : "td",
                             is_text ? text : an_word_number(an_number(frame, i, k)).text);
        }
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</tbody></table></div>\n", out);
}

static const char decisions_sql[] =
    "SELECT count(*), total(started), total(stopped), total(denied), total(refused),"
    " sum(status <> 'ok'), (SELECT avg(cpu_ms) FROM decision_wall WHERE run_id = :run),"
    " (SELECT max(cpu_ms) FROM decision_wall WHERE run_id = :run)"
    " FROM decision WHERE run_id = :run";

static const char reasons_sql[] =
    "WITH part AS (SELECT stage, binding, count(*) AS decisions, min(workers_after) AS least,"
    "  max(workers_after) AS most FROM decision_stage WHERE run_id = :run"
    "  AND binding NOT IN ('', 'none') GROUP BY stage, binding)"
    " SELECT g.name, p.binding, p.decisions, p.least, p.most FROM part p"
    " JOIN stage g ON g.run_id = :run AND g.stage = p.stage"
    " ORDER BY p.stage, p.decisions DESC, p.binding";

weir_status an_page_decisions(const struct an_page *page, struct weir_error *error)
{
    const struct an_args args = { .run = page->run->run_id };
    const struct an_frame *total = NULL;
    const struct an_frame *reasons = NULL;
    WEIR_TRY(an_keep_query(page->keeper, decisions_sql, &args, &total, error));
    WEIR_TRY(an_keep_query(page->keeper, reasons_sql, &args, &reasons, error));
    if (an_number(total, 0, 0) < 0.5)
        return WEIR_OK;
    (void)fprintf(
        page->out,
        "<h2 id=\"decisions\">Decisions</h2>\n<p>%s decisions started %s %s, stopped %s, "
        "denied %s "
        "requests; the cluster refused %s; %s failed.",
        an_word_number(an_number(total, 0, 0)).text, an_word_number(an_number(total, 0, 1)).text,
        page->facts->stage_count == 0 ? "workers of jobs" : "workers",
        an_word_number(an_number(total, 0, 2)).text, an_word_number(an_number(total, 0, 3)).text,
        an_word_number(an_number(total, 0, 4)).text, an_word_number(an_number(total, 0, 5)).text);
    if (!isnan(an_number(total, 0, 6)))
        (void)fprintf(page->out, " A decision took %s of CPU time on average, %s at most.",
                      an_word_duration(1e-3 * an_number(total, 0, 6)).text,
                      an_word_duration(1e-3 * an_number(total, 0, 7)).text);
    (void)fputs("</p>\n", page->out);
    if (reasons->row_count > 0) {
        (void)fputs("<p class=\"note\">Why a stage got no more workers, counted over the "
                    "decisions:</p>\n",
                    page->out);
        write_frame_table(page->out,
                          "<th>Stage</th><th class=\"text\">Reason</th><th>Decisions</th>"
                          "<th>Workers, least</th><th>most</th>",
                          reasons);
    }
    return WEIR_OK;
}

/* A fault and its repair are one row. Of nodes that come and go, and of GPUs that are cut, a dozen
 * rows tell something, and hundreds nothing: those are counted by group and kind. */
enum { MOST_HAPPENED = 60 };
#define HAPPENED                                                                                   \
    "WITH h AS MATERIALIZED (SELECT h.*, CASE kind WHEN 'mig_cut' THEN 'GPU cut anew' WHEN"        \
    " 'node_came' THEN 'came' ELSE replace(text, target || ': ', '') END AS what, d.type AS nodes" \
    " FROM happening h LEFT JOIN node d ON d.run_id = :run AND d.name = h.target AND (kind "       \
    "IN " AN_SUPPLY_SQL " OR kind IN ('node_reclaimed', 'node_launch_fail', 'mig_cut')) WHERE"     \
    " h.run_id = :run AND kind NOT LIKE '%_repair'), m AS MATERIALIZED (SELECT nodes, kind, what," \
    " count(*) AS many, min(t_s) AS first_s, max(t_s) AS last_s FROM h WHERE nodes NOT NULL"       \
    " GROUP BY nodes, kind HAVING many > 12) "

static const char counted_sql[] =
    HAPPENED "SELECT nodes, what, many, first_s, last_s FROM m ORDER BY nodes, first_s, kind";
static const char happenings_sql[] = HAPPENED
    "SELECT h.t_s, coalesce(h.until_s, CASE WHEN h.kind LIKE '%_fail' THEN (SELECT min(r.t_s) FROM"
    " happening r WHERE r.run_id = :run AND r.target = h.target AND r.t_s > h.t_s"
    " AND r.kind = replace(h.kind, '_fail', '_repair')) END), h.text, h.many"
    " FROM (SELECT *, count(*) OVER () AS many FROM h WHERE nodes IS NULL OR (nodes, kind) NOT IN"
    " (SELECT nodes, kind FROM m) ORDER BY t_s, text LIMIT :id) h ORDER BY h.t_s, h.text";

static weir_status write_counted(const struct an_page *page, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(page->keeper, counted_sql, &(struct an_args){ .run = page->run->run_id },
                           &frame, error));
    if (frame->row_count == 0)
        return WEIR_OK;
    (void)fputs("<h2 id=\"supply\">Nodes that come and go</h2>\n<div class=\"scroll\"><table>"
                "<thead><tr><th>Nodes</th><th class=\"text\">What</th><th>How often</th>"
                "<th>First</th><th>Last</th></tr></thead><tbody>\n",
                page->out);
    for (size_t i = 0; i < frame->row_count; i++) {
        (void)fputs("<tr>", page->out);
        an_write_element(page->out, "td", an_text(frame, i, 0));
        an_write_element(page->out, "td class=\"text\"", an_text(frame, i, 1));
        (void)fprintf(page->out, "<td>%.0f</td><td>%s</td><td>%s</td></tr>\n",
                      an_number(frame, i, 2),
                      an_word_clock(page->run->start_unix_s, an_number(frame, i, 3)).text,
                      an_word_clock(page->run->start_unix_s, an_number(frame, i, 4)).text);
    }
    (void)fputs("</tbody></table></div>\n", page->out);
    return WEIR_OK;
}

static weir_status write_happenings(const struct an_page *page, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(page->keeper, happenings_sql,
                           &(struct an_args){ .run = page->run->run_id, .id = MOST_HAPPENED },
                           &frame, error));
    if (frame->row_count == 0)
        return WEIR_OK;
    (void)fputs("<h2 id=\"happened\">What happened from outside</h2>\n<div "
                "class=\"scroll\"><table><thead><tr>"
                "<th>From</th><th class=\"text\">Until</th><th "
                "class=\"text\">What</th></tr></thead><tbody>\n",
                page->out);
    for (size_t i = 0; i < frame->row_count; i++) {
        (void)fprintf(page->out, "<tr><td>%s</td><td class=\"text\">%s</td>",
                      an_word_clock(page->run->start_unix_s, an_number(frame, i, 0)).text,
                      an_word_clock(page->run->start_unix_s, an_number(frame, i, 1)).text);
        an_write_element(page->out, "td class=\"text\"", an_text(frame, i, 2));
        (void)fputs("</tr>\n", page->out);
    }
    (void)fputs("</tbody></table></div>\n", page->out);
    const double more = an_number(frame, 0, 3) - MOST_HAPPENED;
    if (more > 0.0) {
        (void)fprintf(page->out, "<p class=\"note\">And %.0f more; all of them: <code>weir export ",
                      more);
        an_write_html(page->out, an_db_path(page->keeper->db));
        (void)fputs(" --to csv --view happening</code>.</p>\n", page->out);
    }
    return WEIR_OK;
}

static void write_expected(FILE *out, const struct an_frame *frame, size_t row)
{
    const struct an_expected expected =
        an_expected_of(an_text(frame, row, 0), an_number(frame, row, 3), an_text(frame, row, 5));
    (void)fputs("<tr>", out);
    an_write_element(out, "td class=\"text\"", expected.text);
    an_write_element(out, "td class=\"text\"", an_text(frame, row, 1));
    an_write_element(out, "td", an_word_value(an_number(frame, row, 2), expected.unit).text);
    an_write_element(out, "td class=\"text\"", an_text(frame, row, 4));
    (void)fputs("</tr>\n", out);
}

weir_status an_page_events(const struct an_page *page, struct weir_error *error)
{
    WEIR_TRY(write_counted(page, error));
    WEIR_TRY(write_happenings(page, error));
    const struct an_frame *frame = NULL;
    WEIR_TRY(
        an_keep_query(page->keeper,
                      "SELECT text, variant, value, bound, CASE is_met WHEN 1 THEN '✓ met' ELSE "
                      "'✗ missed' END, (SELECT unit FROM result r WHERE r.metric = substr(text, 1,"
                      " instr(replace(replace(text, '@', ' '), '[', ' '), ' ') - 1) LIMIT 1)"
                      " FROM expectation WHERE experiment_id = :run ORDER BY line, variant",
                      &(struct an_args){ .run = page->run->experiment_id }, &frame, error));
    if (frame->row_count > 0) {
        (void)fputs("<h2 id=\"expectations\">Expectations of the scenario</h2>\n"
                    "<div class=\"scroll\"><table><thead><tr><th>Expected</th>"
                    "<th class=\"text\">Variant</th><th>Value</th>"
                    "<th class=\"text\">Result</th></tr></thead><tbody>\n",
                    page->out);
        for (size_t i = 0; i < frame->row_count; i++)
            write_expected(page->out, frame, i);
        (void)fputs("</tbody></table></div>\n", page->out);
    }
    return WEIR_OK;
}

/* ---- assumptions and how to repeat ---- */

static weir_status write_sources(const struct an_page *page, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(page->keeper,
                           "SELECT substr(key, 9), value FROM meta WHERE key GLOB 'sources_*' AND "
                           "value <> '0' ORDER BY "
                           "key",
                           NULL, &frame, error));
    if (frame->row_count > 0) {
        (void)fputs("<li>Where the figures of the scenario come from:", page->out);
        for (size_t i = 0; i < frame->row_count; i++) {
            (void)fprintf(page->out, "%s ", i == 0 ? "" : ",");
            an_write_html(page->out, an_text(frame, i, 1));
            (void)fputc(' ', page->out);
            an_write_html(page->out, an_text(frame, i, 0));
        }
        (void)fputs(".</li>\n", page->out);
    }
    return WEIR_OK;
}

/* What the scenario leaves open and the program filled in. */
static weir_status write_assumed(const struct an_page *page, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(page->keeper,
                           "SELECT value FROM meta WHERE key GLOB 'assumption_*' ORDER BY key",
                           NULL, &frame, error));
    for (size_t i = 0; i < frame->row_count; i++) {
        (void)fputs("<li>Assumed: ", page->out);
        an_write_html(page->out, an_text(frame, i, 0));
        (void)fputs(".</li>\n", page->out);
    }
    return WEIR_OK;
}

/* How long, and what is left at the end: percentiles that reach into it are lower bounds. */
static void write_span(const struct an_page *page)
{
    const struct an_run *run = page->run;
    FILE *out = page->out;
    (void)fputs("<li>", out);
    if (an_page_is_warmup(page))
        (void)fprintf(out, "Simulated: %s, all of it warm-up: no mean counts any of it. ",
                      an_word_duration(run->end_s).text);
    else if (!is_static(page))
        (void)fprintf(out, "Simulated: %s, %s of it warm-up that no mean counts. ",
                      an_word_duration(run->end_s).text, an_word_duration(run->warmup_s).text);
    (void)fprintf(out,
                  "Seed %lld, replication %u of %u; the work of every %s is the same for all "
                  "variants.</li>\n",
                  (long long)run->seed, run->replication, run->replications,
                  is_static(page) || an_page_is_timed(page)  ? "job"
                  : an_page_jobs(page, "jobs.arrived") > 0.0 ? "item and job"
                                                             : "item");
}

#define UNFINISHED_WORDS                                                                           \
    "a percentile that reaches into them is a lower bound and stands as ≥; a mean without more " \
    "than 5 %% of the work stands with “so far”, and is compared with nothing.</li>\n"

static void write_unfinished(const struct an_page *page)
{
    const struct an_facts *facts = page->facts;
    FILE *out = page->out;
    if (is_static(page)) {
        (void)fputs("<li>Jobs arrive one by one and never end; one that fits nowhere is refused."
                    "</li>\n",
                    out);
        return;
    }
    if (page->grows[0] != '\0')
        (void)fprintf(out, "<li>%s.</li>\n", page->grows);
    const double waiting = an_page_jobs(page, "jobs.waiting");
    const double running = an_page_jobs(page, "jobs.running");
    if (waiting + running > 0.0)
        (void)fprintf(
            out,
            "<li>At the end %s job%s and %s run%s. Their times are censored: " UNFINISHED_WORDS,
            an_word_number(waiting).text, an_plural(waiting)[0] == '\0' ? " waits" : "s wait",
            an_word_number(running).text, an_plural(running)[0] == '\0' ? "s" : "");
    if (an_page_is_timed(page))
        return;
    if (facts->items_censored > 0.0)
        (void)fprintf(
            out, "<li>Unfinished at the end of this run: %s item%s, censored: " UNFINISHED_WORDS,
            an_word_number(facts->items_censored).text, an_plural(facts->items_censored));
    else
        (void)fputs("<li>No item was unfinished at the end: no latency is censored.</li>\n", out);
}

weir_status an_page_assumptions(const struct an_page *page, struct weir_error *error)
{
    const struct an_run *run = page->run;
    FILE *out = page->out;
    (void)fputs("<h2 id=\"assumptions\">Assumptions and limits</h2>\n<ul>\n", out);
    write_span(page);
    WEIR_TRY(write_sources(page, error));
    WEIR_TRY(write_assumed(page, error));
    write_unfinished(page);
    if (strcmp(run->status, "complete") != 0 && strcmp(run->status, "horizon") != 0 &&
        strcmp(run->status, "ended early") != 0) {
        (void)fputs("<li><b>The run is ", out);
        an_write_html(out, run->status);
        (void)fputs(":</b> ", out);
        an_write_html(out, run->message[0] == '\0' ? "figures cover what was recorded so far"
                                                   : run->message);
        (void)fputs("</li>\n", out);
    }
    if (!is_static(page))
        (void)fputs(
            an_page_is_timed(page)
                ? "<li><i>Held</i> means that a job has the GPU, not that it uses all of it.</li>\n"
                : "<li><i>Used</i> is what work is given of a device: less than busy workers ask "
                  "for where they share it, all of it where it is throttled but busy. SM activity "
                  "is not simulated. <i>Assigned</i> is what workers hold, "
                  "<i>capacity</i> what the nodes that are up offer.</li>\n",
            out);
    if (!is_static(page))
        (void)fputs("<li>All means are weighted by time and exact to the event; the charts show "
                    "means over intervals, never momentary samples.</li>\n",
                    out);
    (void)fputs("</ul>\n", out);
    return WEIR_OK;
}

static const char repeat_sql[] =
    "SELECT coalesce(event_digest, ''), coalesce(result_digest, ''), scenario_digest,"
    " coalesce(w.git_commit, ''), coalesce(w.version, '') FROM run r LEFT JOIN run_wall w"
    " USING (run_id) WHERE run_id = :run";

/* What was tuned, with what budget, on what. */
static weir_status write_audit(const struct an_page *page, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(page->keeper, "SELECT value FROM meta WHERE key = 'audit'", NULL, &frame,
                           error));
    if (frame->row_count == 0)
        return WEIR_OK;
    (void)fputs("<p class=\"note\">", page->out);
    an_write_html(page->out, an_text(frame, 0, 0));
    (void)fputs("</p>\n", page->out);
    return WEIR_OK;
}

weir_status an_page_repeat(const struct an_page *page, struct weir_error *error)
{
    FILE *out = page->out;
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = page->run->run_id };
    WEIR_TRY(an_keep_query(page->keeper, repeat_sql, &args, &frame, error));
    (void)fputs("<h2 id=\"repeat\">How to repeat</h2>\n<pre>", out);
    an_write_html(out, page->run->command_line);
    (void)fputs("\nweir run ", out);
    an_write_html(out, an_db_path(page->keeper->db));
    (void)fprintf(out, " %lld\n\nscenario %s · events %s · results %s\nweir %s, commit %s</pre>\n",
                  (long long)page->run->run_id, an_text(frame, 0, 2), an_text(frame, 0, 0),
                  an_text(frame, 0, 1), an_text(frame, 0, 4), an_text(frame, 0, 3));
    WEIR_TRY(
        an_keep_query(page->keeper,
                      "SELECT path, bytes, digest FROM input_file WHERE experiment_id = :run ORDER "
                      "BY path",
                      &(struct an_args){ .run = page->run->experiment_id }, &frame, error));
    WEIR_TRY(write_audit(page, error));
    if (frame->row_count > 0)
        write_frame_table(out, "<th>Input</th><th>Bytes</th><th class=\"text\">Digest</th>", frame);
    return WEIR_OK;
}

/* ---- data of a chart ---- */

enum { MOST_DATA_ROWS = 160 };

static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

/* Whether a cell begins here that says nan. */
static bool is_nan_cell(const char *text)
{
    return strncasecmp(text, "nan", 3) == 0 && strcspn(text, " \n") == 3;
}

/* Writes the cells of one line, blanks outside of double quotes split them; no number is a dash. */
static void write_cells(FILE *out, const char *line, size_t length, const char *tag)
{
    (void)fputs("<tr>", out);
    bool is_quoted = false;
    bool is_open = false;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '"') {
            is_quoted = !is_quoted;
            continue;
        }
        if (line[i] == ' ' && !is_quoted) {
            if (is_open)
                (void)fprintf(out, "</%s>", tag);
            is_open = false;
            continue;
        }
        if (!is_open)
            (void)fprintf(out, "<%s>", tag);
        const bool is_nothing = !is_open && !is_quoted && is_nan_cell(line + i);
        is_open = true;
        an_write_html(out, is_nothing ? "-" : (const char[]){ line[i], '\0' });
        i += is_nothing ? 2 : 0;
    }
    (void)fprintf(out, "%s%s%s</tr>\n", is_open ? "</" : "", is_open ? tag : "",
                  is_open ? ">" : "");
}

/* True when the line repeats the values of the one before it: the other end of a bin. */
static bool is_repeated(const char *line, const char *before)
{
    const size_t length = line_length(line);
    if (before == NULL || line[0] == '"' || length == 0)
        return false;
    const char *values = memchr(line, ' ', length);
    const char *old = memchr(before, ' ', line_length(before));
    if (values == NULL || old == NULL)
        return false;
    const size_t rest = length - (size_t)(values - line);
    return rest == line_length(before) - (size_t)(old - before) && memcmp(values, old, rest) == 0;
}

static void open_table(FILE *out, const char *line, size_t length)
{
    (void)fputs("<table><caption class=\"note\">", out);
    for (size_t i = 2; i < length; i++)
        an_write_html(out, (const char[]){ line[i], '\0' });
    (void)fputs("</caption>", out);
}

static size_t count_data_rows(const char *data)
{
    size_t rows = 0;
    for (const char *line = data; *line != '\0'; line += line_length(line) + 1)
        rows += line[0] != '#' && line_length(line) > 0 ? 1 : 0;
    return rows;
}

void an_page_data(FILE *out, const char *data)
{
    const size_t rows = count_data_rows(data);
    const size_t every = (rows + MOST_DATA_ROWS - 1) / MOST_DATA_ROWS;
    size_t row = 0;
    bool is_open = false;
    bool is_head = false;
    const char *before = NULL;
    for (const char *line = data; *line != '\0';) {
        const size_t length = line_length(line);
        if (line[0] == '#' && !is_head) {
            if (is_open)
                (void)fputs("</table>\n", out);
            open_table(out, line, length);
            is_open = true;
            is_head = true;
            row = 0;
        } else if (line[0] == '#') {
            write_cells(out, line + 2, length - 2, "th");
            is_head = false;
        } else if (length > 0 && !is_repeated(line, before) &&
                   row++ % (every == 0 ? 1 : every) == 0) {
            write_cells(out, line, length, "td");
        }
        before = line[0] == '#' ? NULL : line;
        line += length + (line[length] == '\n');
    }
    if (is_open)
        (void)fputs("</table>\n", out);
    if (every > 1)
        (void)fprintf(out,
                      "<p class=\"note\">Every %zu. row of %zu; all of them: weir plot "
                      "--folder.</p>\n",
                      every, rows);
}
