/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report: one self-contained HTML page about one run and the comparison it belongs to. Tiles, a
 * finding, tables, all charts as inline SVG with their data, assumptions, how to repeat. No script,
 * no web font, nothing is loaded.
 *
 * All charts are drawn by one gnuplot process in a folder beside the page that is removed again.
 */
#include "analysis/gnuplot.h"
#include "analysis/output.h"
#include "analysis/plot.h"
#include "analysis/report_work.h"
#include "analysis/svg.h"
#include "analysis/text.h"
#include "weir_text.h"

#include "analysis/nan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PLOTS = 24 };

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
        job.is_bare = true;
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
    WEIR_TRY(an_gnuplot_run(folder, scripts, report_timeout_s, error));
    for (size_t i = 0; i < gallery->count; i++) {
        if (gallery->texts[i].is_empty)
            continue;
        char *path = path_of(folder, an_plot_at(i)->name, "svg");
        gallery->svgs[i] = path == NULL ? NULL : an_read_text(path);
        free(path);
    }
    return WEIR_OK;
}

static weir_status draw_gallery(const struct an_plot_job *common, const char *output,
                                struct gallery *gallery, struct weir_error *error)
{
    char *folder = NULL;
    if (asprintf(&folder, "%s.XXXXXX", output) < 0)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (mkdtemp(folder) == NULL) {
        free(folder);
        return weir_fail(error, an_output_status(errno), "%s: no folder can be made beside it: %s",
                         output, strerror(errno));
    }
    struct an_plot_job job = *common;
    job.folder = folder;
    struct an_held held;
    an_signals_hold(&held);
    weir_status status = write_scripts(&job, gallery, error);
    if (status == WEIR_OK)
        status = run_scripts(folder, gallery, error);
    remove_files(folder);
    free(folder);
    return an_signals_release(&held, status, error);
}

static void write_figure(FILE *out, const struct gallery *gallery, size_t index)
{
    const char *name = an_plot_at(index)->name;
    const struct an_plot_texts *texts = &gallery->texts[index];
    char prefix[64];
    (void)snprintf(prefix, sizeof prefix, "%s-", name);
    (void)fprintf(out, "<figure id=\"%s\"><h2>", name);
    an_write_html(out, texts->title);
    (void)fputs("</h2><figcaption>", out);
    an_write_html(out, texts->subtitle);
    (void)fputs("</figcaption>\n", out);
    an_svg_inline(out, gallery->svgs[index], prefix, texts->title);
    (void)fputs("</figure>\n<details><summary>The data of this chart</summary>"
                "<div class=\"scroll\">\n",
                out);
    an_page_data(out, texts->data);
    (void)fputs("</div></details>\n", out);
}

static void write_gallery(FILE *out, const struct gallery *gallery)
{
    bool has_missing = false;
    for (size_t i = 0; i < gallery->count; i++) {
        if (gallery->svgs[i] != NULL)
            write_figure(out, gallery, i);
        else
            has_missing = true;
    }
    if (!has_missing)
        return;
    (void)fputs("<p class=\"note\">Charts without data in this run:", out);
    for (size_t i = 0; i < gallery->count; i++)
        if (gallery->svgs[i] == NULL)
            (void)fprintf(out, " %s", an_plot_at(i)->name);
    (void)fputs(".</p>\n", out);
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

/* gcc's analyzer takes a bool that comes back in a register, within a structure, for one never set.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-use-of-uninitialized-value"
#endif
static void write_claim(const struct an_page *page)
{
    const double allocated = an_page_result(page, "alloc.gpu_pct");
    const double gap = an_page_result(page, "alloc.gap_pp:100 % arrived");
    if (ended_early(page)) {
        (void)fprintf(page->out, " ended early, at %s", an_word_duration(early_s(page)).text);
        return;
    }
    if (an_page_is_several(page)) {
        an_page_claims(page);
        return;
    }
    const struct an_value p95 = an_page_value(page, "wait.job.p95");
    if (an_page_is_timed(page) && p95.value <= 0.0 && !p95.is_lower_bound) {
        (void)fprintf(page->out,
                      " finishes %s jobs per hour; 95 %% of those that start do not wait",
                      an_word_number(an_page_result(page, "thr.jobs_h")).text);
        return;
    }
    if (an_page_is_timed(page)) {
        (void)fprintf(page->out,
                      " finishes %s jobs per hour; 95 %% of those that start wait at %s %s",
                      an_word_number(an_page_result(page, "thr.jobs_h")).text,
                      p95.is_lower_bound ? "least" : "most", an_word_duration(p95.value).text);
        return;
    }
    if (!isnan(page->facts->throughput_per_s) || isnan(allocated)) {
        (void)fprintf(page->out, " finishes %s items per second",
                      an_word_number(page->facts->throughput_per_s).text);
        return;
    }
    (void)fprintf(page->out, " allocates %.1f %% of the GPUs", allocated);
    if (!isnan(gap))
        (void)fprintf(page->out, "; %.1f pp below the bound when all were asked for", gap);
}

static void write_headline(const struct an_page *page)
{
    const struct an_facts *facts = page->facts;
    (void)fputs("<h1>", page->out);
    an_write_html(page->out, has_comparison(page) ? page->run->variant : page->run->scenario);
    write_claim(page);
    const struct an_stage_facts *limit = an_page_limit(page);
    if (!an_page_is_several(page) && an_page_is_limit(limit) && !ended_early(page)) {
        (void)fputs("; ", page->out);
        an_write_html(page->out, limit->name);
        (void)fprintf(page->out, " limits it %s of the time",
                      an_word_percent(limit->bottleneck).text);
    }
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
        (void)fprintf(page->out, " · %s simulated", an_word_duration(page->run->end_s).text);
    (void)fprintf(page->out, " · weir %s</p>\n", page->run->version);
}

static enum an_resource scarcest(const struct an_facts *facts)
{
    size_t most = AN_CPU;
    for (size_t i = 0; i < AN_RESOURCES; i++)
        if (facts->resources[i].assigned > facts->resources[most].assigned)
            most = i;
    return (enum an_resource)most;
}

/* What to do about it: what stands between the bottleneck and more workers for it. */
static void write_advice(const struct an_page *page)
{
    const struct an_facts *facts = page->facts;
    FILE *out = page->out;
    const struct an_stage_facts *stage = an_page_limit(page);
    if (stage == NULL || ended_early(page) ||
        (an_page_is_several(page) && !an_page_is_limit(stage)))
        return;
    const struct an_resource_facts *gpu = &facts->resources[AN_GPU];
    const double free_gpus = gpu->capacity * (1.0 - gpu->assigned);
    an_write_html(out, stage->name);
    if (!an_page_is_limit(stage))
        (void)fprintf(out,
                      " is the slowest stage, yet its workers are busy only %s of their time: more "
                      "workers would not help before they get more to do. ",
                      an_word_percent(stage->busy).text);
    else if (stage->gpus <= 0.0)
        (void)fprintf(out, " needs no GPU; the scarcest resource is %s, %s of it assigned. ",
                      an_resource_name(scarcest(facts)),
                      an_word_percent(facts->resources[scarcest(facts)].assigned).text);
    else if (free_gpus >= stage->gpus + facts->frag_gpus)
        (void)fprintf(
            out, " could grow: %s GPU%s free on average and one of its workers takes %s. ",
            an_word_number(free_gpus).text, an_plural(free_gpus)[0] == '\0' ? " is" : "s are",
            an_word_number(stage->gpus).text);
    else
        (void)fprintf(out,
                      " can grow only with more GPUs or a faster stage: %s GPUs are free on "
                      "average, %s of them unusable. ",
                      an_word_number(free_gpus).text, an_word_number(facts->frag_gpus).text);
}

static void write_lead(const struct an_page *page)
{
    (void)fputs("<p class=\"lead\">", page->out);
    if (has_comparison(page)) {
        an_write_html(page->out, page->comparison->contest);
        (void)fputs(page->comparison->contest[0] == '\0' ? "" : ". ", page->out);
    }
    write_advice(page);
    (void)fputs("</p>\n", page->out);
}

static weir_status write_page(const struct an_page *page, const struct gallery *gallery,
                              struct weir_error *error)
{
    (void)fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
                page->out);
    an_write_html(page->out, page->run->scenario);
    (void)fputs(" · ", page->out);
    an_write_html(page->out, page->run->variant);
    (void)fputs("</title>\n<style>\n", page->out);
    (void)fputs(weir_text_report_css, page->out);
    (void)fputs("</style></head>\n<body><main>\n", page->out);
    write_headline(page);
    write_early(page);
    an_page_tiles(page);
    write_lead(page);
    an_page_work(page);
    an_page_comparison(page);
    write_gallery(page->out, gallery);
    an_page_stages(page);
    WEIR_TRY(an_page_decisions(page, error));
    WEIR_TRY(an_page_events(page, error));
    WEIR_TRY(an_page_assumptions(page, error));
    WEIR_TRY(an_page_repeat(page, error));
    (void)fputs("</main></body></html>\n", page->out);
    return WEIR_OK;
}

static weir_status save_page(const struct an_page *page, const struct gallery *gallery,
                             const char *output, struct weir_error *error)
{
    FILE *out = NULL;
    WEIR_TRY(an_output_open(output, &out, error));
    struct an_page written = *page;
    written.out = out;
    return an_output_close(out, output, write_page(&written, gallery, error), error);
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
    const struct an_plot_job job = {
        .db = page->keeper->db, .run = page->run, .facts = page->facts, .options = options
    };
    weir_status status = WEIR_ENOMEM;
    struct gallery *gallery = calloc(1, sizeof *gallery);
    if (gallery != NULL) {
        status = draw_gallery(&job, output, gallery, error);
        if (status == WEIR_OK)
            status = save_page(page, gallery, output, error);
        gallery_clear(gallery);
        free(gallery);
    } else {
        (void)weir_fail(error, status, "out of memory");
    }
    /* Both end here, before the page does. */
    page->comparison = NULL;
    page->why_not = NULL;
    an_comparison_destroy(comparison);
    return status;
}

weir_status an_report(struct an_db *db, const struct an_plot_options *options, const char *output,
                      struct weir_error *error)
{
    const struct an_plot_options defaults = { .at_s = AN_NAN };
    const struct an_plot_options *chosen = options == NULL ? &defaults : options;
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    WEIR_TRY(an_run_find(db, chosen->variant, chosen->replication, &run, error));
    weir_status status = an_facts_read(db, run, &facts, error);
    if (status == WEIR_OK) {
        struct an_keeper keeper = { .db = db };
        struct an_page page = { .keeper = &keeper, .run = run, .facts = facts };
        status = an_page_read_work(&page, error);
        if (status == WEIR_OK)
            status = report_run(&page, chosen, output, error);
        an_keep_clear(&keeper);
    }
    an_facts_destroy(facts);
    an_run_destroy(run);
    return status;
}
