/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report: one self-contained HTML page about one run and the comparison it belongs to. Tiles, a
 * finding, tables, all charts as inline SVG with their data, assumptions, how to repeat. It reads
 * without its script (report_script.h); no web font, nothing is loaded.
 *
 * All charts are drawn by one gnuplot process in a folder beside the page that is removed again.
 */
#include "analysis/chart/gnuplot.h"
#include "analysis/chart/svg.h"
#include "analysis/observed.h"
#include "analysis/plot.h"
#include "analysis/points.h"
#include "analysis/print.h"
#include "analysis/program.h"
#include "analysis/report/report_incident.h"
#include "analysis/report/report_review.h"
#include "analysis/report/report_script.h"
#include "analysis/report/report_tenants.h"
#include "analysis/report/report_work.h"
#include "analysis/text.h"
#include "sim/files/written.h"
#include "weir_text.h"

#include "analysis/nan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PLOTS = 40, CHART_RANKS = 5 };

static const double report_timeout_s = 120.0;

struct gallery {
    struct an_plot_texts texts[MOST_PLOTS];
    char *svgs[MOST_PLOTS]; /* NULL = not drawn */
    size_t count;
};

static void gallery_clear(struct gallery *gallery)
{
    for (size_t i = 0; i < gallery->count; i++) {
        an_plot_texts_clear(&gallery->texts[i]);
        free(gallery->svgs[i]);
    }
}

/* ---- charts ---- */

/* "folder/name.end"; malloc'ed, NULL = out of memory. */
static char *path_of(const char *folder, const char *name, const char *end)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s.%s", folder, name, end) < 0 ? NULL : path;
}

static void remove_file(const char *folder, const char *name, const char *end)
{
    char *path = path_of(folder, name, end);
    if (path != NULL)
        (void)unlink(path);
    free(path);
}

static void remove_files(const char *folder)
{
    for (size_t i = 0; i < an_plot_count(); i++) {
        remove_file(folder, an_plot_at(i)->name, "gp");
        remove_file(folder, an_plot_at(i)->name, "dat");
        remove_file(folder, an_plot_at(i)->name, "svg");
    }
    remove_file(folder, "gnuplot", "log");
    (void)rmdir(folder);
}

/* An empty chart takes no room on the page. */
static weir_status write_scripts(const struct an_plot_job *common, struct gallery *gallery,
                                 struct weir_error *error)
{
    for (size_t i = 0; i < an_plot_count() && i < MOST_PLOTS; i++) {
        struct an_plot_job job = *common;
        char output[96];
        (void)snprintf(output, sizeof output, "%s.svg", an_plot_at(i)->name);
        job.output = output;
        if (an_signals_pending())
            return WEIR_EINTERRUPTED;
        WEIR_TRY(an_plot_write(an_plot_ops_at(i), &job, &gallery->texts[i], error));
        gallery->count = i + 1;
    }
    return WEIR_OK;
}

static weir_status run_scripts(const char *folder, struct gallery *gallery,
                               struct weir_error *error)
{
    char names[MOST_PLOTS][64];
    const char *scripts[MOST_PLOTS + 1] = { NULL };
    size_t count = 0;
    for (size_t i = 0; i < gallery->count; i++) {
        if (gallery->texts[i].is_empty)
            continue;
        (void)snprintf(names[i], sizeof names[i], "%s.gp", an_plot_at(i)->name);
        scripts[count++] = names[i];
    }
    if (count == 0)
        return WEIR_OK;
    weir_status status = an_gnuplot_run(folder, scripts, report_timeout_s, error);
    for (size_t i = 0; status == WEIR_OK && i < gallery->count; i++) {
        if (gallery->texts[i].is_empty)
            continue;
        char *path = path_of(folder, an_plot_at(i)->name, "svg");
        status = path == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                              : an_read_text(path, &gallery->svgs[i], error);
        free(path);
    }
    return status;
}

/* A new folder beside the page, malloc'ed; NULL = there is none, and `status` says why. */
static char *make_folder(const char *output, weir_status *status, struct weir_error *error)
{
    char *folder = NULL;
    if (asprintf(&folder, "%s.XXXXXX", output) < 0) {
        *status = weir_fail(error, WEIR_ENOMEM, "out of memory");
        return NULL;
    }
    if (mkdtemp(folder) != NULL)
        return folder;
    *status = weir_fail(error, written_status(errno), "%s: no folder can be made beside it: %s",
                        output, strerror(errno));
    free(folder);
    return NULL;
}

static weir_status draw_gallery(const struct an_plot_job *common, const char *output,
                                struct gallery *gallery, struct weir_error *error)
{
    weir_status status = WEIR_OK;
    char *folder = make_folder(output, &status, error);
    if (folder == NULL)
        return status;
    struct an_plot_job job = *common;
    job.folder = folder;
    struct an_held held;
    an_signals_hold(&held);
    status = write_scripts(&job, gallery, error);
    if (status == WEIR_OK)
        status = run_scripts(folder, gallery, error);
    remove_files(folder);
    free(folder);
    return an_signals_release(&held, status, error);
}

/* What the page shows beside its tables. */
struct show {
    const struct gallery *gallery;
    const struct an_plot_job *job;
    const struct an_overlays *overlays;
};

static weir_status write_figure(FILE *out, const struct show *show, size_t index,
                                struct weir_error *error)
{
    const struct gallery *gallery = show->gallery;
    const char *name = an_plot_at(index)->name;
    const struct an_plot_texts *texts = &gallery->texts[index];
    char prefix[64];
    (void)snprintf(prefix, sizeof prefix, "%s-", name);
    (void)fprintf(out, "<figure id=\"%s\"><h2>", name);
    an_write_html(out, texts->title);
    (void)fputs("</h2><figcaption>", out);
    an_write_html(out, texts->subtitle);
    (void)fputs("</figcaption>\n<div class=\"wide\">", out);
    an_svg_inline(out, gallery->svgs[index], prefix, texts->title);
    (void)fputs("</div>\n", out);
    WEIR_TRY(an_page_tracks(out, an_plot_ops_at(index), texts->script, show->job, show->overlays,
                            error));
    (void)fputs("</figure>\n<details><summary>The data of this chart</summary>"
                "<div class=\"scroll\">\n",
                out);
    an_page_data(out, texts->data);
    (void)fputs("</div></details>\n", out);
    return WEIR_OK;
}

/* The chart that shows the measure a comparison is decided by; NULL = none does. */
static const char *chart_of_goal(const struct an_comparison *comparison)
{
    static const char *const charts[][2] = {
        { "thr.pipeline", "throughput" }, { "lat.", "latency" },     { "slowdown.", "job-queue" },
        { "wait.", "job-queue" },         { "jct.", "job-queue" },   { "jobs.", "acceptance" },
        { "alloc.", "frag-arrival" },     { "frag.", "frag-time" },  { "util.", "alloc-vs-used" },
        { "worker.", "autoscaler" },      { "queue.len.", "queues" }
    };
    if (comparison == NULL || comparison->row_count == 0)
        return NULL;
    for (size_t i = 0; i < sizeof charts / sizeof charts[0]; i++)
        if (strncmp(comparison->rows[0].metric, charts[i][0], strlen(charts[i][0])) == 0)
            return charts[i][1];
    return NULL;
}

/* Of a review: how much is enough, until when, what of it is used. */
static size_t rank_in_review(const char *name)
{
    static const char *const order[] = { "axis", "headroom", "alloc-vs-used", "node-heat" };
    size_t rank = 0;
    while (rank < sizeof order / sizeof order[0] && strcmp(order[rank], name) != 0)
        rank++;
    return rank;
}

/* Which variant wins, then the measure of the goal, then the others in their order. */
static size_t rank_of_chart(const struct an_page *page, size_t index)
{
    const char *name = an_plot_at(index)->name;
    const char *goal = chart_of_goal(page->comparison);
    if (page->review != NULL)
        return rank_in_review(name);
    if (strcmp(name, "axis") == 0 || strcmp(name, "tornado") == 0 || strcmp(name, "windows") == 0 ||
        strcmp(name, "policies") == 0)
        return 0;
    return goal != NULL && strcmp(name, goal) == 0 ? 1 : 2;
}

/* Calls for every chart that is drawn, in the order of the page. */
static weir_status each_figure(const struct an_page *page, const struct show *show,
                               weir_status (*write)(FILE *, const struct show *, size_t,
                                                    struct weir_error *),
                               struct weir_error *error)
{
    for (size_t rank = 0; rank < CHART_RANKS; rank++)
        for (size_t i = 0; i < show->gallery->count; i++)
            if (show->gallery->svgs[i] != NULL && rank_of_chart(page, i) == rank)
                WEIR_TRY(write(page->out, show, i, error));
    return WEIR_OK;
}

static weir_status write_link(FILE *out, const struct show *show, size_t index,
                              struct weir_error *error)
{
    (void)show;
    (void)error;
    (void)fprintf(out, "<a href=\"#%s\">", an_plot_at(index)->name);
    for (const char *c = an_plot_at(index)->name; *c != '\0'; c++)
        (void)fputc(*c == '-' ? ' ' : *c, out);
    (void)fputs("</a>\n", out);
    return WEIR_OK;
}

static weir_status write_gallery(const struct an_page *page, const struct show *show,
                                 struct weir_error *error)
{
    const struct gallery *gallery = show->gallery;
    FILE *out = page->out;
    bool has_missing = false;
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = page->run->run_id };
    WEIR_TRY(each_figure(page, show, write_figure, error));
    WEIR_TRY(an_keep_query(page->keeper, "SELECT count(*) FROM cluster_sample WHERE run_id = :run",
                           &args, &frame, error));
    if (page->run->end_s > 0.0 && an_number(frame, 0, 0) < 0.5) {
        (void)fputs("<p class=\"note\">Of this run results alone were kept. <code>metrics: {keep: "
                    "series}</code> in the scenario draws what happened over time.</p>\n",
                    out);
        return WEIR_OK;
    }
    for (size_t i = 0; i < gallery->count; i++)
        has_missing = has_missing || gallery->svgs[i] == NULL;
    if (!has_missing)
        return WEIR_OK;
    (void)fputs("<p class=\"note\">Charts without data in this run:", out);
    for (size_t i = 0; i < gallery->count; i++)
        if (gallery->svgs[i] == NULL)
            (void)fprintf(out, " %s", an_plot_at(i)->name);
    (void)fputs(".</p>\n", out);
    return WEIR_OK;
}

/* ---- the page ---- */

static bool has_comparison(const struct an_page *page)
{
    return page->comparison != NULL && page->comparison->variant_count > 1;
}

/* How the variant's runs ended before their work was done; NULL = none did. */
static const char *early_sentence(const struct an_page *page, const char *variant)
{
    const struct an_comparison *comparison = page->comparison;
    for (size_t v = 0; comparison != NULL && v < comparison->variant_count; v++)
        if (strcmp(comparison->variants[v], variant) == 0)
            return comparison->early[v].sentence;
    return NULL;
}

/* Before everything else: what ended early, the page's own variant first. */
static void write_early(const struct an_page *page)
{
    const struct an_comparison *comparison = page->comparison;
    const char *own = early_sentence(page, page->run->variant);
    if (comparison != NULL && comparison->left_out[0] != '\0') {
        (void)fputs("<p class=\"early\">", page->out);
        an_write_html(page->out, comparison->left_out);
        (void)fputs("</p>\n", page->out);
    }
    for (size_t v = 0; comparison != NULL && v <= comparison->variant_count; v++) {
        const char *sentence = v == 0 ? own : comparison->early[v - 1].sentence;
        if (sentence == NULL || (v > 0 && sentence == own))
            continue;
        (void)fputs("<p class=\"early\">", page->out);
        an_write_html(page->out, sentence);
        (void)fputs(v == 0 ? ". Its figures hold the idle time after it.</p>\n" : ".</p>\n",
                    page->out);
    }
}

static bool ended_early(const struct an_page *page)
{
    return strcmp(page->run->status, "ended early") == 0;
}

static double early_s(const struct an_page *page)
{
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = page->run->run_id };
    if (an_keep_query(page->keeper,
                      "SELECT min(t_s) FROM happening WHERE run_id = :run AND kind = 'ended_early'",
                      &args, &frame, NULL) != WEIR_OK)
        return AN_NAN;
    return an_number(frame, 0, 0);
}

/* The claims the headline tries, in their order; two of different kinds make a sentence. */
static const char outcome_claims[] = "jobs.all_refused jobs.none_done jobs.rate flow.nothing "
                                     "flow.piles_up flow.lost flow.keeps_up flow.rate "
                                     "fill.rate";
static const char winner_claims[] =
    "winner.keeps winner.better winner.worse winner.none winner.same winner.once winner.open";

/* Of several kinds of work each has its figure; a comparison says who is better. */
static weir_status write_claim(const struct an_page *page, struct weir_error *error)
{
    struct an_claim claim = { .name = NULL };
    if (page->review != NULL)
        an_review_headline(page->review, &claim);
    if (claim.name != NULL) {
        an_write_html(page->out, claim.text);
        return WEIR_OK;
    }
    if (has_comparison(page)) {
        WEIR_TRY(an_page_claim(page, winner_claims, &claim, error));
        if (claim.name != NULL) {
            an_write_html(page->out, claim.text);
            return WEIR_OK;
        }
        an_write_html(page->out, page->comparison->finding);
        return WEIR_OK;
    }
    an_write_html(page->out, page->run->scenario);
    if (ended_early(page)) {
        (void)fprintf(page->out, " ended early, at %s", an_word_duration(early_s(page)).text);
        return WEIR_OK;
    }
    if (an_page_is_warmup(page)) {
        (void)fputs(": the run ended within its warm-up, nothing is left to count", page->out);
        return WEIR_OK;
    }
    if (an_page_is_several(page)) {
        an_page_claims(page);
        return WEIR_OK;
    }
    for (size_t i = 0; i < 2; i++) {
        const char *names = i == 0 ? outcome_claims : "limit.turns limit.stage limit.arrivals";
        WEIR_TRY(an_page_claim(page, names, &claim, error));
        if (claim.name == NULL)
            continue;
        (void)fputs(i == 0 ? ": " : ". ", page->out);
        an_write_html(page->out, claim.text);
    }
    return WEIR_OK;
}

static weir_status write_headline(const struct an_page *page, struct weir_error *error)
{
    const struct an_facts *facts = page->facts;
    (void)fputs("<h1>", page->out);
    WEIR_TRY(write_claim(page, error));
    (void)fputs("</h1>\n<p class=\"sub\">Scenario <b>", page->out);
    an_write_html(page->out, page->run->scenario);
    (void)fputs("</b>", page->out);
    if (page->run->description[0] != '\0') {
        (void)fputs(": ", page->out);
        an_write_html(page->out, page->run->description);
    }
    (void)fprintf(page->out, " · %zu node%s, %s GPU%s · ", facts->node_count,
                  facts->node_count == 1 ? "" : "s", an_word_number(facts->gpu_count).text,
                  an_plural(facts->gpu_count));
    an_write_html(page->out, page->run->placement);
    (void)fputs(" placement", page->out);
    if (facts->stage_count > 0) {
        (void)fputs(", ", page->out);
        an_write_html(page->out, page->run->scaling);
        (void)fputs(" scaling", page->out);
    }
    if (page->run->end_s > 0.0)
        (void)fprintf(page->out, " · %s simulated%s", an_word_duration(page->run->end_s).text,
                      page->run->start_unix_s != 0 ? ", clock times in UTC" : "");
    (void)fprintf(page->out, " · weir %s</p>\n", page->run->version);
    return WEIR_OK;
}

static weir_status write_lead(const struct an_page *page, struct weir_error *error)
{
    struct an_claim room;
    WEIR_TRY(an_page_claim(page, "limit.room", &room, error));
    (void)fputs("<p class=\"lead\">", page->out);
    if (has_comparison(page)) {
        an_write_html(page->out, page->comparison->contest);
        (void)fputs(page->comparison->contest[0] == '\0' ? "" : ". ", page->out);
        if (page->comparison->goal[0] != '\0') {
            (void)fputs("Goal: ", page->out);
            an_write_html(page->out, page->comparison->goal);
            (void)fputs(". ", page->out);
        }
    }
    if (room.name != NULL) {
        an_write_html(page->out, room.text);
        (void)fputs(has_comparison(page) ? " (with " : "", page->out);
        an_write_html(page->out, has_comparison(page) ? page->run->variant : "");
        (void)fputs(has_comparison(page) ? ")." : ".", page->out);
    }
    (void)fputs("</p>\n", page->out);
    return WEIR_OK;
}

/* What is on the page, before it: charts by name, then what an_page_heading() named. */
static weir_status write_contents(const struct an_page *page, const struct show *show,
                                  struct weir_error *error)
{
    (void)fputs("<nav aria-label=\"contents\">\n", page->out);
    if (page->review != NULL && page->review->count > 0)
        (void)fputs("<a href=\"#recommendation\">what to do</a>\n<a href=\"#sizes\">what was "
                    "tried</a>\n",
                    page->out);
    if (has_comparison(page))
        (void)fputs("<a href=\"#comparison\">comparison</a>\n", page->out);
    WEIR_TRY(each_figure(page, show, write_link, error));
    if (an_page_has_stages(page))
        (void)fputs("<a href=\"#stages\">stages</a>\n", page->out);
    (void)fputs("<a href=\"#assumptions\">assumptions</a>\n<a href=\"#repeat\">how to "
                "repeat</a>\n</nav>\n",
                page->out);
    return WEIR_OK;
}

/* How far the run is from what was measured. */
static weir_status write_observed(const struct an_page *page, const struct an_observed *observed,
                                  struct weir_error *error)
{
    if (observed == NULL || observed->count == 0)
        return WEIR_OK;
    (void)fputs("<h2 id=\"observed\">Measured beside simulated</h2>\n<ul>\n", page->out);
    for (size_t i = 0; i < observed->count; i++) {
        struct an_observed_error judged;
        WEIR_TRY(
            an_observed_judge(page->keeper->db, page->run, &observed->curves[i], &judged, error));
        if (judged.text[0] != '\0')
            an_write_element(page->out, "li", judged.text);
    }
    (void)fputs("</ul>\n<p class=\"note\">Off: the distances at the measured points to the mean of "
                "the sample there, over what was measured. In the charts: dotted black.</p>\n",
                page->out);
    return WEIR_OK;
}

static weir_status write_page(const struct an_page *page, const struct show *show,
                              struct weir_error *error)
{
    (void)fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"generator\" content=\"" WRITTEN_MARK "\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n",
                page->out);
    an_page_policy(page->out);
    (void)fputs("<title>", page->out);
    an_write_html(page->out, page->run->scenario);
    (void)fputs(" · ", page->out);
    an_write_html(page->out, page->run->variant);
    (void)fputs("</title>\n<style>\n", page->out);
    (void)fputs(weir_text_report_css, page->out);
    (void)fputs("</style></head>\n<body><main>\n", page->out);
    WEIR_TRY(write_headline(page, error));
    write_early(page);
    WEIR_TRY(an_page_incident(page, error));
    an_page_review(page, show->job->options->notes);
    WEIR_TRY(an_page_tiles(page, error));
    WEIR_TRY(write_lead(page, error));
    WEIR_TRY(write_contents(page, show, error));
    an_page_work(page);
    an_page_comparison(page);
    WEIR_TRY(an_page_windows(page, error));
    WEIR_TRY(write_observed(page, show->job->options->observed, error));
    WEIR_TRY(write_gallery(page, show, error));
    an_page_stages(page);
    WEIR_TRY(an_page_tenants(page, error));
    WEIR_TRY(an_page_decisions(page, error));
    WEIR_TRY(an_page_events(page, error));
    WEIR_TRY(an_page_assumptions(page, error));
    WEIR_TRY(an_page_repeat(page, error));
    (void)fputs("</main>\n", page->out);
    WEIR_TRY(an_page_script(page, show->overlays, error));
    (void)fputs("</body></html>\n", page->out);
    return an_keep_check(page->keeper, error);
}

static weir_status save_page(const struct an_page *page, const struct show *show,
                             const char *output, struct weir_error *error)
{
    struct written file;
    WEIR_TRY(written_open(output, &file, error));
    struct an_page written = *page;
    written.out = file.out;
    return written_close(&file, write_page(&written, show, error), error);
}

static weir_status report_run(struct an_page *page, const struct an_plot_options *options,
                              const char *output, struct weir_error *error)
{
    struct an_comparison *comparison = NULL;
    struct weir_error why = { 0 };
    const weir_status compared = an_compare(page->keeper->db, NULL, &comparison, &why);
    if (compared != WEIR_OK && compared != WEIR_EINVAL)
        return weir_fail(error, compared, "%s", why.text);
    page->comparison = comparison;
    page->why_not = why.text;
    struct an_claim grows;
    weir_status status = an_page_claim(page, "run.grows", &grows, error);
    page->grows = grows.text;
    const struct an_plot_job job = { .db = page->keeper->db,
                                     .run = page->run,
                                     .facts = page->facts,
                                     .options = options,
                                     .extras = options->observed == NULL
                                                   ? NULL
                                                   : &options->observed->extras,
                                     .is_bare = true };
    struct gallery *gallery = calloc(1, sizeof *gallery);
    if (status == WEIR_OK && gallery != NULL) {
        status = draw_gallery(&job, output, gallery, error);
        struct an_overlays overlays = { .count = 0 };
        if (status == WEIR_OK)
            status = an_overlays_read(job.db, job.run, &overlays, error);
        if (status == WEIR_OK)
            status = save_page(page, &(struct show){ gallery, &job, &overlays }, output, error);
        an_overlays_clear(&overlays);
        gallery_clear(gallery);
    } else if (status == WEIR_OK) {
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    free(gallery);
    /* Both end here, before the page does. */
    page->comparison = NULL;
    page->why_not = NULL;
    page->grows = NULL;
    an_comparison_destroy(comparison);
    return status;
}

/* The page is about the plan that is chosen, where nothing else is asked for. */
static const char *variant_of(const struct an_plot_options *options, const struct an_review *review)
{
    size_t option = 0;
    const struct an_review_size *choice = an_review_nearest(review, &option);
    if (options->variant != NULL || choice == NULL)
        return options->variant;
    assert(review->points.labels != NULL); /* who chose had them */
    return review->points.labels[choice->variant];
}

static weir_status report_about(struct an_db *db, const struct an_plot_options *options,
                                const struct an_review *review, const char *output,
                                struct weir_error *error)
{
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    const bool is_review = options->as == AN_PAGE_REVIEW;
    const char *variant = variant_of(options, review);
    uint32_t first = 0;
    char *judged = NULL;
    if (variant == NULL)
        WEIR_TRY(an_points_judged(db, &judged, &first, error));
    const bool is_judged = judged != NULL;
    const weir_status found = an_run_find(db, is_judged ? judged : variant,
                                          is_judged ? first : options->replication, &run, error);
    free(judged);
    WEIR_TRY(found);
    weir_status status = an_points_look_at(db, run->variant, error);
    if (status == WEIR_OK)
        status = an_facts_read(db, run, &facts, error);
    if (status == WEIR_OK) {
        struct an_keeper keeper = { .db = db };
        struct an_page page = { .keeper = &keeper,
                                .run = run,
                                .facts = facts,
                                .as = options->as,
                                .what_if = options->what_if,
                                .review = is_review ? review : NULL };
        status = an_page_read_work(&page, error);
        if (status == WEIR_OK)
            status = report_run(&page, options, output, error);
        an_keep_clear(&keeper);
    }
    an_facts_destroy(facts);
    an_run_destroy(run);
    return status;
}

static weir_status report_page(struct an_db *db, const struct an_plot_options *chosen,
                               const char *output, struct weir_error *error)
{
    struct an_review *review = calloc(1, sizeof *review);
    if (review == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = chosen->as == AN_PAGE_REVIEW ? an_review_read(db, review, error) : WEIR_OK;
    if (status == WEIR_OK)
        status = report_about(db, chosen, review, output, error);
    an_review_clear(review);
    free(review);
    return status;
}

/* ---- on paper ---- */

static weir_status copy_to(const char *from, const char *output, struct weir_error *error)
{
    char block[4096];
    size_t length = 0;
    struct written made;
    FILE *file = fopen(from, "r");
    if (file == NULL)
        return weir_fail(error, written_status(errno), "%s: %s", from, strerror(errno));
    weir_status status = written_open(output, &made, error);
    if (status == WEIR_OK) {
        while ((length = fread(block, 1, sizeof block, file)) > 0)
            (void)fwrite(block, 1, length, made.out);
        if (ferror(file) != 0)
            status = weir_fail(error, WEIR_EIO, "%s: cannot be read", from);
        status = written_close(&made, status, error);
    }
    (void)fclose(file);
    return status;
}

/* The page in a folder beside it, printed there. */
static weir_status report_paper(struct an_db *db, const struct an_plot_options *chosen,
                                const char *output, struct weir_error *error)
{
    struct an_held held;
    weir_status status = an_print_check(error);
    char *folder = status == WEIR_OK ? make_folder(output, &status, error) : NULL;
    if (folder == NULL)
        return status;
    an_signals_hold(&held);
    char *page = path_of(folder, "page", "html");
    char *paper = path_of(folder, "page", "pdf");
    status = page == NULL || paper == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                                           : report_page(db, chosen, page, error);
    if (status == WEIR_OK)
        status = an_print(folder, "page", error);
    if (status == WEIR_OK)
        status = copy_to(paper, output, error);
    free(page);
    free(paper);
    an_print_clear(folder, "page");
    (void)rmdir(folder);
    free(folder);
    return an_signals_release(&held, status, error);
}

weir_status an_report(struct an_db *db, const struct an_plot_options *options, const char *output,
                      struct weir_error *error)
{
    const struct an_plot_options defaults = { .at_s = AN_NAN };
    const struct an_plot_options *chosen = options == NULL ? &defaults : options;
    return written_ends(output, ".pdf") ? report_paper(db, chosen, output, error)
                                        : report_page(db, chosen, output, error);
}

weir_status an_review_markdown(struct an_db *db, FILE *out, struct weir_error *error)
{
    struct an_review review;
    struct an_run *run = NULL;
    weir_status status = an_review_read(db, &review, error);
    if (status == WEIR_OK)
        status = an_run_find(db, NULL, 0, &run, error);
    if (status == WEIR_OK)
        an_review_print(&review, run->scenario, out);
    an_run_destroy(run);
    an_review_clear(&review);
    return status;
}
