/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reporting a fitted model; see the header. All parts walk over the same list of laws. */
#include "sim/cli/look/fit_report.h"

#include "analysis/qq.h"

#include <ctype.h>
#include <math.h>

enum { CELL = 288 };

/* One law of the model, as the report sees it. */
struct part {
    const char *of; /* stage, or "" for the input */
    const char *what;
    const char *gpu;
    const char *unit;
    const struct wl_law_choice *law;
    bool is_sample; /* whole numbers: the sample is kept whatever law is near */
};

typedef void part_visitor(void *state, const struct part *part);

static void visit_stage(const struct wl_model *model, const struct wl_stage_model *stage,
                        part_visitor *visit, void *state)
{
    for (size_t i = 0; i < stage->service_count; i++) {
        const struct wl_service_model *service = &stage->services[i];
        const struct part part = { stage->name,
                                   stage->scales_by_size ? "service per size" : "service",
                                   service->gpu == WL_NO_NAME
                                       ? ""
                                       : model->log->gpus.names[service->gpu],
                                   "s",
                                   &service->law,
                                   false };
        visit(state, &part);
    }
    if (stage->has_setup)
        visit(state, &(struct part){ stage->name, "set-up", "", "s", &stage->setup, false });
    if (stage->returns_vary)
        visit(state,
              &(struct part){ stage->name, "returns", "", "", &stage->returns_sample, true });
}

static void visit_all(const struct wl_model *model, part_visitor *visit, void *state)
{
    if (model->arrivals.n > 0)
        visit(state, &(struct part){ "", "arrivals", "", "s", &model->arrivals, false });
    if (model->size.n > 0)
        visit(state, &(struct part){ "", "size", "", "", &model->size, false });
    for (size_t s = 0; s < model->stage_count; s++)
        visit_stage(model, &model->stages[s], visit, state);
}

/* ---- table ---- */

static const struct sim_column columns[] = {
    { "Stage", "stage", NULL, false, false },
    { "Of", "what", NULL, false, false },
    { "GPU", "gpu", NULL, false, false },
    { "Law", "law", NULL, false, false },
    { "n", "n", NULL, true, true },
    { "Intervals", "intervals", NULL, false, false },
    { "Goodness", "goodness", NULL, false, false },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void write_intervals(const struct wl_law_fit *fit, char text[CELL])
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < fit->parameter_count && length < CELL && fit->family != WL_CONST; i++)
        length +=
            (size_t)snprintf(text + length, CELL - length, "%s%s %.5g..%.5g", i == 0 ? "" : ", ",
                             fit->parameter[i].name, fit->parameter[i].low, fit->parameter[i].high);
}

static void add_row(void *state, const struct part *part)
{
    struct sim_table *table = state;
    char law[WL_LAW_TEXT];
    char intervals[CELL];
    char goodness[WL_LAW_TEXT];
    struct wl_law_fit fit = part->law->fit;
    if (part->is_sample) {
        fit.family = WL_EMPIRICAL;
        fit.parameter_count = 0;
    }
    write_intervals(&fit, intervals);
    sim_table_add(table, part->of);
    sim_table_add(table, part->what);
    sim_table_add(table, part->gpu);
    sim_table_add(table, wl_law_text(&fit, part->unit[0] == '\0' ? "" : " s", law));
    sim_table_addf(table, "%zu", part->law->n);
    sim_table_add(table, intervals);
    sim_table_add(table, part->is_sample ? "whole numbers: the sample is kept"
                                         : wl_law_goodness(part->law, goodness));
}

struct sim_table *sim_fit_table(const struct wl_model *model)
{
    struct sim_table *table = sim_table_create(columns, COLUMNS);
    visit_all(model, add_row, table);
    return table;
}

/* ---- warnings ---- */

static void warn_few(void *state, const struct part *part)
{
    (void)state;
    if (part->law->n < WL_FIT_FEW)
        (void)fprintf(stderr, "weir: %s%s%s%s%s: only %zu value%s; below %d a law is a guess\n",
                      part->of, part->of[0] == '\0' ? "" : " ", part->what,
                      part->gpu[0] == '\0' ? "" : " on ", part->gpu, part->law->n,
                      part->law->n == 1 ? "" : "s", WL_FIT_FEW);
}

void sim_fit_warn(const struct wl_model *model)
{
    visit_all(model, warn_few, NULL);
    if (model->arrivals_from_starts)
        (void)fprintf(stderr, "weir: the log has no queued_at: arrivals are fitted to the starts "
                              "of the first stage, which waiting smooths\n");
    if (!model->log->has_returns && model->stage_count > 1)
        (void)fprintf(stderr, "weir: the log has no n_out: what a stage returns is the ratio of "
                              "the items of neighbouring stages\n");
    if (model->log->is_abroad)
        (void)fprintf(stderr, "weir: the log has stamps of another zone than UTC: times of day in "
                              "scenarios and tables of events are those of UTC\n");
    if (!model->log->has_worker)
        (void)fprintf(stderr, "weir: the log has no worker: tasks at the same time count as that "
                              "many workers\n");
}

/* ---- plots ---- */

struct plotting {
    const char *folder;
    size_t number;
    weir_status status;
    struct weir_error *error;
};

static weir_status draw(struct plotting *plotting, const struct part *part)
{
    double fitted[AN_QQ_POINTS];
    double seen[AN_QQ_POINTS];
    char name[96];
    char title[CELL];
    char subtitle[2 * WL_LAW_TEXT + 16];
    char law[WL_LAW_TEXT];
    char goodness[WL_LAW_TEXT];
    const struct wl_law_choice *choice = part->law;
    const size_t count = choice->n < AN_QQ_POINTS ? choice->n : AN_QQ_POINTS;
    for (size_t i = 0; i < count; i++) {
        const double p = ((double)i + 0.5) / (double)count;
        fitted[i] = wl_law_quantile(&choice->best, p);
        seen[i] = choice->sorted[(size_t)(p * (double)choice->n)];
    }
    (void)snprintf(name, sizeof name, "qq-%02zu-%.60s", plotting->number,
                   part->of[0] == '\0' ? part->what : part->of);
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-')
            *c = '_';
    (void)snprintf(title, sizeof title, "%.60s %s%s%.40s: %.100s", part->of, part->what,
                   part->gpu[0] == '\0' ? "" : " on ", part->gpu,
                   wl_law_text(&choice->best, part->unit[0] == '\0' ? "" : " s", law));
    (void)snprintf(subtitle, sizeof subtitle, "%zu values; %s", choice->n,
                   wl_law_goodness(choice, goodness));
    const struct an_qq qq = {
        title[0] == ' ' ? title + 1 : title, subtitle, part->unit, fitted, seen, count
    };
    return an_qq_plot(plotting->folder, name, &qq, plotting->error);
}

static void plot_part(void *state, const struct part *part)
{
    struct plotting *plotting = state;
    plotting->number++;
    const enum wl_family family = part->law->best.family;
    if (plotting->status == WEIR_OK && !part->is_sample && family != WL_CONST &&
        family != WL_EMPIRICAL)
        plotting->status = draw(plotting, part);
}

weir_status sim_fit_plot(const struct wl_model *model, const char *folder, struct weir_error *error)
{
    struct plotting plotting = { .folder = folder, .error = error };
    visit_all(model, plot_part, &plotting);
    return plotting.status;
}
