/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Charts to pictures; see the header. The script stands on its own: `gnuplot NAME.gp` in its
 * folder draws the picture again.
 */
#include "analysis/plot.h"

#include "analysis/chart/gnuplot.h"
#include "analysis/chart/svg.h"
#include "analysis/nan.h"
#include "analysis/observed.h"
#include "analysis/points.h"
#include "sim/files/written.h"
#include "weir_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double plot_timeout_s = 60.0;

/* All terminals show the same sheet: 12 px text on 1000 px; PNG at twice the size. */
static weir_status write_terminal(FILE *out, const char *output, double height,
                                  struct weir_error *error)
{
    if (written_ends(output, ".svg"))
        (void)fprintf(out,
                      "set terminal svg enhanced standalone size %d,%.0f dynamic fontscale 1 "
                      "font 'Inter, Helvetica, Arial, sans-serif,12' background '#ffffff'\n",
                      AN_CHART_WIDTH, height);
    else if (written_ends(output, ".png"))
        (void)fprintf(out,
                      "set terminal pngcairo enhanced size %d,%.0f fontscale 1.5 linewidth 2 "
                      "pointscale 2 font 'Inter,12' background '#ffffff'\n",
                      2 * AN_CHART_WIDTH, 2.0 * height);
    else if (written_ends(output, ".pdf"))
        (void)fprintf(out,
                      "set terminal pdfcairo enhanced size %.4fin,%.4fin fontscale 0.75 "
                      "linewidth 1 pointscale 0.6 font 'Inter,12' background '#ffffff'\n",
                      AN_CHART_WIDTH / 96.0, height / 96.0);
    else if (written_ends(output, ".txt"))
        (void)fprintf(out, "set terminal dumb enhanced size 110,%.0f\n", height / 14.0);
    else
        return weir_fail(error, WEIR_EINVAL, "%s: a picture ends in .svg, .png or .pdf", output);
    (void)fputs("set output ", out);
    an_gnuplot_quote(out, output);
    (void)fputc('\n', out);
    return WEIR_OK;
}

static void write_footer(struct an_chart *chart)
{
    const struct an_run *run = chart->run;
    const struct an_label label = {
        .x = 40, .y = chart->height + chart->footer - 14.0, .color = AN_MUTED, .size = 10.5
    };
    if (chart->is_about_all) {
        an_chart_text(chart, &label,
                      "scenario %s · all variants, %u replication%s · seed %lld · weir %s",
                      run->scenario, run->replications, run->replications == 1 ? "" : "s",
                      (long long)run->seed, run->version);
        return;
    }
    const bool has_stages = chart->facts->stage_count > 0; /* else nothing is scaled */
    an_chart_text(
        chart, &label,
        "scenario %s · run %lld: %s, replication %u · seed %lld · policy %s%s%s%s · weir %s",
        run->scenario, (long long)run->run_id, run->variant, run->replication, (long long)run->seed,
        run->placement, has_stages ? ", " : "", has_stages ? run->scaling : "",
        run->start_unix_s != 0 ? " · UTC" : "", run->version);
}

/* The blank nearest to the middle; 0 = there is none. */
static size_t middle_blank(const char *text)
{
    const size_t middle = strlen(text) / 2;
    size_t best = 0;
    for (size_t i = 1; text[i] != '\0'; i++)
        if (text[i] == ' ' &&
            fabs((double)i - (double)middle) < fabs((double)best - (double)middle))
            best = i;
    return best;
}

/* Long findings get smaller letters, then two lines, rather than run off the sheet. */
static void write_title(struct an_chart *chart)
{
    const size_t length = an_characters(chart->title);
    const size_t split = length > 104 ? middle_blank(chart->title) : 0;
    struct an_label title = { .x = 40,
                              .y = 26.0 - chart->header,
                              .size = split > 0     ? 13.0
                                      : length > 76 ? 15.0
                                                    : 17.0,
                              .is_bold = true };
    if (split > 0) {
        title.y = 15.0 - chart->header;
        an_chart_text(chart, &title, "%.*s", (int)split, chart->title);
        title.y = 33.0 - chart->header;
    }
    an_chart_text(chart, &title, "%s", chart->title + (split > 0 ? split + 1 : 0));
}

/* Title, subtitle and footer, drawn with the first panel. */
static void write_frame(struct an_chart *chart)
{
    const struct an_label subtitle = { .x = 40,
                                       .y = 54.0 - chart->header,
                                       .color = AN_MUTED,
                                       .size = strlen(chart->subtitle) > 126 ? 10.5 : 12.0 };
    write_title(chart);
    an_chart_text(chart, &subtitle, "%s", chart->subtitle);
    write_footer(chart);
}

/* A card that says why there is no picture. */
static void write_card(struct an_chart *chart, FILE *body)
{
    chart->body = body;
    chart->height = 120.0;
    an_chart_panel(chart, &(struct an_box){ 40, 10, 960, 110 });
    an_chart_rectangle(chart, &(struct an_box){ 40, 10, 960, 110 }, "#f4f6f8", "behind");
    const struct an_label label = {
        .x = 500, .y = 60, .color = AN_MUTED, .size = 14, .align = 'c'
    };
    an_chart_text(chart, &label, "No data: %s", chart->empty);
    (void)fputs("unset border; unset tics; unset grid; set xrange [0:1]; set yrange [0:1]\n"
                "plot NaN notitle\n",
                body);
    an_chart_draw_end(chart);
}

/* What a chart fills; malloc'ed texts. */
struct drawn {
    char *data, *body, *script, *under;
};

static void drawn_clear(struct drawn *drawn)
{
    free(drawn->data);
    free(drawn->body);
    free(drawn->script);
    free(drawn->under);
    *drawn = (struct drawn){ .data = NULL };
}

/* What lies below all panels is drawn before the first: a panel covers the objects of those before
 * it, even its own "behind". */
static void write_under(FILE *out, const char *under)
{
    if (under[0] != '\0')
        (void)fprintf(out,
                      "%sunset border; unset tics; unset grid; set xrange [0:1]; set yrange [0:1]\n"
                      "plot NaN notitle\nunset object\nset border; set tics\n%s",
                      under, weir_text_house_gp);
}

static weir_status write_script(const struct an_plot_ops *plot, const struct an_plot_job *job,
                                struct an_chart *chart, const struct drawn *drawn,
                                struct weir_error *error)
{
    struct written file;
    WEIR_TRY(written_open_in(job->folder, plot->info.name, "gp", &file, error));
    FILE *out = file.out;
    (void)fprintf(out, "# %s: %s Draw it again: gnuplot %s.gp\nreset session\n", plot->info.name,
                  plot->info.question, plot->info.name);
    const weir_status status =
        write_terminal(out, job->output, chart->header + chart->height + chart->footer, error);
    (void)fputs(weir_text_house_gp, out);
    (void)fprintf(out, "DATA = '%s.dat'\nset multiplot\n", plot->info.name);
    chart->body = out;
    if (!job->is_bare)
        write_frame(chart);
    write_under(out, drawn->under);
    (void)fputs(drawn->body, out);
    (void)fputs("unset multiplot\nunset output\n", out);
    chart->body = NULL;
    return written_close(&file, status, error);
}

static weir_status write_data(const struct an_plot_ops *plot, const char *folder, const char *data,
                              struct weir_error *error)
{
    struct written file;
    WEIR_TRY(written_open_in(folder, plot->info.name, "dat", &file, error));
    (void)fputs(data, file.out);
    return written_close(&file, WEIR_OK, error);
}

/* A chart of what a file of an older version could not hold says so. */
static weir_status draw_or_say(const struct an_plot_ops *plot, struct an_chart *chart,
                               struct weir_error *error)
{
    struct weir_error why = { .phase = -1, .pool = -1 };
    const weir_status status = plot->draw(chart, &why);
    if (status == WEIR_EUNSUPPORTED)
        return an_chart_empty(chart, "%s", why.text);
    return status == WEIR_OK ? status : weir_fail(error, status, "%s", why.text);
}

/* How wide a point is known when all of it is drawn. */
static void write_width(struct an_chart *chart)
{
    static const char mark[] = "{width}";
    char text[sizeof chart->subtitle];
    const char *at = strstr(chart->subtitle, mark);
    if (at == NULL)
        return;
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - chart->subtitle), chart->subtitle,
                   an_word_duration(chart->point_s).text, at + sizeof mark - 1);
    memcpy(chart->subtitle, text, sizeof text);
}

/* An empty one becomes a card. */
static weir_status fill(const struct an_plot_ops *plot, struct an_chart *chart, FILE *card,
                        struct weir_error *error)
{
    WEIR_TRY(an_chart_head_room(chart, error));
    WEIR_TRY(draw_or_say(plot, chart, error));
    if (chart->title[0] == '\0') /* nothing is claimed */
        an_chart_title(chart, "%s", plot->info.question);
    if (chart->empty[0] != '\0')
        write_card(chart, card);
    write_width(chart);
    return WEIR_OK;
}

/* Lets the chart fill its buffers. */
static weir_status draw_chart(const struct an_plot_ops *plot, struct an_chart *chart,
                              struct drawn *drawn, struct weir_error *error)
{
    enum { DATA, BODY, CARD, SCRIPT, UNDER, BUFFERS };
    struct an_buffer buffers[BUFFERS] = { { 0 } };
    char *texts[BUFFERS] = { NULL };
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < BUFFERS; i++)
        if (!an_buffer_open(&buffers[i]))
            status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    chart->data = buffers[DATA].file;
    chart->body = buffers[BODY].file;
    chart->script = buffers[SCRIPT].file;
    chart->under = buffers[UNDER].file;
    if (status == WEIR_OK)
        status = fill(plot, chart, buffers[CARD].file, error);
    for (size_t i = 0; i < BUFFERS; i++) {
        texts[i] = an_buffer_take(&buffers[i]);
        if (status == WEIR_OK && texts[i] == NULL)
            status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    const bool is_card = chart->empty[0] != '\0';
    *drawn =
        (struct drawn){ texts[DATA], texts[is_card ? CARD : BODY], texts[SCRIPT], texts[UNDER] };
    free(texts[is_card ? BODY : CARD]);
    return status;
}

static struct an_chart chart_of(const struct an_plot_ops *plot, const struct an_plot_job *job)
{
    return (struct an_chart){ .name = plot->info.name,
                              .extras = job->extras,
                              .keeper = { .db = job->db },
                              .run = job->run,
                              .facts = job->facts,
                              .options = job->options,
                              .at_s = job->options->at_s,
                              .height = 420.0,
                              .is_bare = job->is_bare,
                              .header = job->is_bare ? 2.0 : 74.0,
                              .footer = job->is_bare ? 2.0 : 36.0 };
}

weir_status an_plot_write(const struct an_plot_ops *plot, const struct an_plot_job *job,
                          struct an_plot_texts *texts, struct weir_error *error)
{
    struct an_chart chart = chart_of(plot, job);
    struct drawn drawn = { .data = NULL };
    weir_status status = draw_chart(plot, &chart, &drawn, error);
    if (status == WEIR_OK)
        status = write_data(plot, job->folder, drawn.data, error);
    if (status == WEIR_OK)
        status = write_script(plot, job, &chart, &drawn, error);
    an_chart_forget_names(&chart);
    an_keep_clear(&chart.keeper);
    if (status != WEIR_OK)
        weir_error_wrap(error, "chart %s", plot->info.name);
    if (status != WEIR_OK || texts == NULL) {
        drawn_clear(&drawn);
        return status;
    }
    memcpy(texts->title, chart.title, sizeof texts->title);
    memcpy(texts->subtitle, chart.subtitle, sizeof texts->subtitle);
    texts->is_empty = chart.empty[0] != '\0';
    texts->data = drawn.data;
    texts->script = drawn.script;
    free(drawn.body);
    free(drawn.under);
    return WEIR_OK;
}

weir_status an_plot_tracks(const struct an_plot_ops *plot, const struct an_plot_job *job,
                           char **script, struct weir_error *error)
{
    struct an_chart chart = chart_of(plot, job);
    struct drawn drawn = { .data = NULL };
    const weir_status status = draw_chart(plot, &chart, &drawn, error);
    an_chart_forget_names(&chart);
    an_keep_clear(&chart.keeper);
    if (status == WEIR_OK) {
        *script = drawn.script;
        drawn.script = NULL;
    }
    drawn_clear(&drawn);
    return status;
}

void an_plot_texts_clear(struct an_plot_texts *texts)
{
    free(texts->data);
    free(texts->script);
    texts->data = NULL;
    texts->script = NULL;
}

/* `output` as gnuplot finds it from another folder; malloc'ed. NULL = no memory or no folder. */
static char *absolute_path(const char *output)
{
    if (output[0] == '/')
        return strdup(output);
    char *here = getcwd(NULL, 0);
    char *path = NULL;
    if (here != NULL && asprintf(&path, "%s/%s", here, output) < 0)
        path = NULL;
    free(here);
    return path;
}
static weir_status plot_run(struct an_db *db, const struct an_plot_ops *plot,
                            const struct an_plot_job *plain, struct weir_error *error)
{
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    WEIR_TRY(an_run_find(db, plain->options->variant, plain->options->replication, &run, error));
    weir_status status = an_points_look_at(db, run->variant, error);
    if (status == WEIR_OK)
        status = an_facts_read(db, run, &facts, error);
    struct an_plot_options asked = *plain->options;
    struct an_plot_job job = *plain;
    job.run = run;
    job.facts = facts;
    job.extras = asked.observed == NULL ? NULL : &asked.observed->extras;
    job.options = &asked;
    if (status == WEIR_OK)
        status = an_moment_in(&asked.at, run->start_unix_s, run->end_s, &asked.at_s, error);
    if (status == WEIR_OK)
        status = an_plot_write(plot, &job, NULL, error);
    if (status == WEIR_OK) {
        char script[96];
        (void)snprintf(script, sizeof script, "%s.gp", plot->info.name);
        status = an_gnuplot_run(job.folder, (const char *const[]){ script, NULL }, plot_timeout_s,
                                error);
    }
    if (status == WEIR_OK && written_ends(job.output, ".svg"))
        status = an_svg_finish(job.output, error);
    an_facts_destroy(facts);
    an_run_destroy(run);
    return status;
}

weir_status an_plot(struct an_db *db, const char *name, const struct an_plot_options *options,
                    const char *folder, const char *output, struct weir_error *error)
{
    const struct an_plot_ops *plot = an_plot_ops_find(name);
    if (plot == NULL)
        return weir_fail(error, WEIR_ENOTFOUND, "there is no chart \"%s\"", name);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return weir_fail(error, written_status(errno), "%s: cannot be made: %s", folder,
                         strerror(errno));
    char *path = absolute_path(output);
    if (path == NULL)
        return weir_fail(error, WEIR_EIO, "the working folder is gone, or no memory is left");
    const struct an_plot_options defaults = { .at_s = AN_NAN };
    struct an_plot_job job = {
        .db = db, .options = options == NULL ? &defaults : options, .folder = folder, .output = path
    };
    const weir_status status = plot_run(db, plot, &job, error);
    free(path);
    return status;
}
