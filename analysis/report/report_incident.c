/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer after an incident; see the header. Every sentence is a named claim. */
#include "analysis/report/report_incident.h"

#include "analysis/nan.h"
#include "analysis/text.h"
#include "analysis/windows.h"

#include <math.h>
#include <string.h>

/* ---- questions and the claims that answer them ---- */

static const struct section {
    const char *title, *id;
    const char *claims[7]; /* each names alternatives: the first that holds is said */
} sections[] = {
    { "What happened",
      "incident",
      { "incident.faults", "incident.lost", "incident.latency incident.wait",
        "incident.unfinished incident.slower", "incident.waiting", "incident.backlog" } },
    { "Why",
      "why",
      { "incident.binding", "incident.workers", "incident.setup", "incident.link",
        "incident.holders waits.holders", "tenants.short" } },
    { "What the decisions saw", "saw", { "incident.decisions" } },
    { "Is it over", "over", { "incident.back incident.not_back", "incident.taken" } },
    { "Does a fix work", "fix", { "winner.window" } },
};

static weir_status write_section(const struct an_page *page, const struct section *section,
                                 struct weir_error *error)
{
    bool is_open = false;
    for (size_t i = 0; i < 7 && section->claims[i] != NULL; i++) {
        struct an_claim claim;
        WEIR_TRY(an_page_claim(page, section->claims[i], &claim, error));
        if (claim.name == NULL)
            continue;
        if (!is_open)
            (void)fprintf(page->out, "<h2 id=\"%s\">%s</h2>\n<ul>\n", section->id, section->title);
        is_open = true;
        (void)fprintf(page->out, "<li data-claim=\"%s\">", claim.name);
        an_write_html(page->out, claim.text);
        (void)fputs(".</li>\n", page->out);
    }
    if (is_open)
        (void)fputs("</ul>\n", page->out);
    return WEIR_OK;
}

weir_status an_incident_print(struct an_db *db, const struct an_plot_options *options, FILE *out,
                              struct weir_error *error)
{
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    WEIR_TRY(an_run_find(db, options->variant, options->replication, &run, error));
    weir_status status = an_facts_read(db, run, &facts, error);
    size_t said = 0;
    for (size_t s = 0; status == WEIR_OK && s < sizeof sections / sizeof sections[0]; s++)
        for (size_t i = 0; status == WEIR_OK && i < 7 && sections[s].claims[i] != NULL; i++) {
            const struct an_claim_about about = {
                .db = db, .run = run, .from_s = facts->from_s, .at_s = AN_NAN
            };
            struct an_claim claim = { .name = NULL };
            status = an_claim_first(&about, sections[s].claims[i], &claim, error);
            if (claim.name == NULL)
                continue;
            (void)fprintf(out, "%-24s%s.\n", sections[s].title, claim.text);
            said++;
        }
    if (status == WEIR_OK && said == 0)
        (void)fputs("Nothing in the window stands out against what was before it.\n", out);
    an_facts_destroy(facts);
    an_run_destroy(run);
    return status;
}

/* A page cannot simulate: the command that asks other policies at the first fault. */
static weir_status write_command(const struct an_page *page, struct weir_error *error)
{
    struct an_claim faults;
    WEIR_TRY(an_page_claim(page, "incident.faults", &faults, error));
    if (faults.name == NULL)
        return WEIR_OK;
    const double at_s = an_claim_number(&faults, "at");
    (void)fputs(
        "<p class=\"note\">What other policies would have decided then: <code>weir explain ",
        page->out);
    an_write_html(page->out, an_db_path(page->keeper->db));
    (void)fprintf(page->out, " --variant &#39;");
    an_write_html(page->out, page->run->variant);
    /* A time of day names the first day alone. */
    if (page->run->end_s < 86400.0)
        (void)fprintf(page->out, "&#39; --at %s",
                      an_word_clock(page->run->start_unix_s, at_s).text);
    else
        (void)fprintf(page->out, "&#39; --at %.0fs", at_s);
    (void)fputs(" --with POLICY,POLICY</code></p>\n", page->out);
    return WEIR_OK;
}

/* ---- by window ---- */

static void write_heads(const struct an_page *page, const struct an_windows *windows)
{
    (void)fputs("<h2 id=\"by-window\">By window</h2>\n<div class=\"scroll\"><table><thead><tr>"
                "<th>Metric</th><th class=\"text\">Variant</th>",
                page->out);
    for (size_t w = 0; w < windows->count; w++) {
        (void)fputs("<th>", page->out);
        an_write_html(page->out, windows->list[w].name);
        an_write_element(page->out, "small",
                         an_window_span_text(&windows->list[w], page->run->start_unix_s).text);
        (void)fputs("</th>", page->out);
    }
    (void)fputs("</tr></thead><tbody>\n", page->out);
}

static void write_row(const struct an_page *page, const struct an_window_row *row, size_t windows,
                      size_t variant)
{
    const struct an_comparison *comparison = page->comparison;
    (void)fputs("<tr>", page->out);
    an_write_element(page->out, "td", variant == 0 ? row->label : "");
    an_write_element(page->out, "td class=\"text\"", comparison->variants[variant]);
    for (size_t w = 0; w < windows; w++) {
        const struct an_window_cell cell =
            an_window_cell_of(row->by_window[w], variant, page->run->start_unix_s);
        (void)fprintf(page->out, "<td class=\"%s\">%s",
                      strcmp(cell.verdict, "better") == 0 ? "best" : "", cell.text);
        if (cell.verdict[0] != '\0')
            an_write_element(page->out, "small", cell.verdict);
        (void)fputs("</td>", page->out);
    }
    (void)fputs("</tr>\n", page->out);
}

static void write_table(const struct an_page *page, const struct an_windows *windows)
{
    const struct an_comparison *comparison = page->comparison;
    struct an_window_row row;
    if (comparison == NULL || !an_windows_row(comparison, windows, 0, &row))
        return;
    write_heads(page, windows);
    for (size_t i = 0; an_windows_row(comparison, windows, i, &row); i++)
        for (size_t v = 0; v < comparison->variant_count; v++)
            write_row(page, &row, windows->count, v);
    (void)fputs("</tbody></table></div>\n<p class=\"note\">Latency and waits are of what came in "
                "the window, all else of what happened in it; the same moments in all variants",
                page->out);
    (void)fputs(comparison->rows[0].cells[0].n > 1
                    ? ". Mean ± half of its 95 % interval over the replications. Better and worse: "
                      "than the baseline, paired t, Holm, α = 0.05.</p>\n"
                    : ".</p>\n",
                page->out);
}

weir_status an_page_incident(const struct an_page *page, struct weir_error *error)
{
    struct an_windows windows;
    WEIR_TRY(an_windows_read(page->keeper->db, &windows, error));
    if (page->as == AN_PAGE_RUN || windows.count == 0)
        return WEIR_OK;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        WEIR_TRY(write_section(page, &sections[i], error));
        if (strcmp(sections[i].id, "saw") == 0)
            WEIR_TRY(write_command(page, error));
    }
    if (page->what_if != NULL && page->what_if[0] != '\0') {
        (void)fputs("<h2 id=\"what-if\">What would have helped</h2>\n<ul><li>", page->out);
        an_write_html(page->out, page->what_if);
        (void)fputs(".</li></ul>\n", page->out);
    }
    return WEIR_OK;
}

weir_status an_page_windows(const struct an_page *page, struct weir_error *error)
{
    struct an_windows windows;
    WEIR_TRY(an_windows_read(page->keeper->db, &windows, error));
    if (windows.count > 0)
        write_table(page, &windows);
    return WEIR_OK;
}
