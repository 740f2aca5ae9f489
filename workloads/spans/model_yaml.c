/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fitted model as a scenario (span_model.h). What a log cannot show (requests, back-pressure,
 * hardware beyond the workers seen) is written as the plainest assumption and said in a comment.
 */
#include "workloads/spans/span_model.h"

#include "sim/files/written.h"
#include "workloads/timestamp.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct writing {
    const struct wl_model *model;
    const struct wl_yaml_options *options;
    FILE *out;
    struct weir_error *error;
};

/* A text in double quotes; control bytes and what is not ASCII by their number. */
static void write_text(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            (void)fprintf(out, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7f)
            (void)fputc(' ', out);
        else
            (void)fputc(*c, out);
    }
    (void)fputc('"', out);
}

/* ---- samples ---- */

void wl_law_file_name(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_')
            *c = '-';
}

/* "FOLDER/NAME.WHAT.csv" of a sample, and where its last part begins. */
static char *sample_path(const char *path, const char *what, size_t *base)
{
    const bool is_file = path != NULL && strcmp(path, "-") != 0;
    const char *slash = is_file ? strrchr(path, '/') : NULL;
    *base = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    const char *stem = is_file ? path : "fit";
    const char *dot = strrchr(stem + *base, '.');
    const size_t length = dot == NULL ? strlen(stem) : (size_t)(dot - stem);
    char *text = NULL;
    if (asprintf(&text, "%.*s.%s.csv", (int)length, stem, what) < 0)
        return NULL;
    wl_law_file_name(text + length + 1);
    return text;
}

static weir_status write_sample(const struct wl_law_choice *choice, const char *path,
                                struct weir_error *error)
{
    struct written file;
    WEIR_TRY(written_open(path, &file, error));
    (void)fputs("value\n", file.out);
    for (size_t i = 0; i < choice->n; i++)
        (void)fprintf(file.out, "%.12g\n", choice->sorted[i]);
    return written_close(&file, WEIR_OK, error);
}

weir_status wl_law_write(const struct wl_law_choice *choice, const struct wl_law_place *place,
                         FILE *out, struct weir_error *error)
{
    char text[WL_LAW_TEXT];
    if (!place->is_sample && choice->fit.family != WL_EMPIRICAL) {
        (void)fprintf(out, "\"%s\"", wl_law_text(&choice->fit, place->unit, text));
        return WEIR_OK;
    }
    size_t base = 0;
    char *path = sample_path(place->path, place->what, &base);
    if (path == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = write_sample(choice, path, error);
    char *law = NULL;
    if (status == WEIR_OK && place->is_absolute)
        base = 0;
    if (status == WEIR_OK && asprintf(&law, "empirical(%s, value)", path + base) >= 0)
        write_text(out, law);
    free(law);
    free(path);
    return status;
}

static weir_status write_law(const struct writing *writing, const struct wl_law_choice *choice,
                             bool is_sample, const char *unit, const char *what)
{
    const struct wl_law_place place = {
        .path = writing->options->path, .what = what, .unit = unit, .is_sample = is_sample
    };
    return wl_law_write(choice, &place, writing->out, writing->error);
}

/* ---- parts ---- */

static void write_head(const struct writing *writing)
{
    const struct wl_model *model = writing->model;
    size_t tasks = 0;
    for (size_t s = 0; s < model->stage_count; s++)
        tasks += model->stages[s].tasks;
    (void)fprintf(
        writing->out,
        "# Fitted to a log of spans by `weir import`. A log does not show what a worker asks "
        "for, how full\n# a queue may get, or what else the nodes could run: check "
        "cluster, cpus, gpus and backpressure.\nschema: 1\nname: ");
    write_text(writing->out, writing->options->name);
    (void)fputs("\ndescription: ", writing->out);
    char *text = NULL;
    if (asprintf(&text, "Fitted to %s: %zu tasks of %zu stages", writing->options->source, tasks,
                 model->stage_count) >= 0)
        write_text(writing->out, text);
    free(text);
    (void)fputc('\n', writing->out);
    if (model->log->has_stamps) {
        char stamp[WL_TIMESTAMP_TEXT];
        (void)fprintf(writing->out, "start_time: %s # of the log\n",
                      wl_date_text(model->log->start_unix_s * 1000000000, stamp));
    }
}

static void write_node(const struct writing *writing, const struct wl_node_model *node)
{
    const struct wl_model *model = writing->model;
    const uint32_t cpus = writing->options->fixes_workers ? model->workers_peak : node->workers;
    (void)fputs("    - {name: ", writing->out);
    write_text(writing->out, node->name);
    (void)fprintf(writing->out, ", cpus: %u", cpus > 0 ? cpus : 1);
    const uint32_t *gpus = writing->options->fixes_workers ? node->gpus_for_all : node->gpus;
    const char *before = ", gpus: {";
    bool has_gpus = false;
    for (size_t g = 0; g < model->log->gpus.count; g++) {
        if (gpus[g] == 0)
            continue;
        (void)fputs(before, writing->out);
        write_text(writing->out, model->log->gpus.names[g]);
        (void)fprintf(writing->out, ": %u", gpus[g]);
        before = ", ";
        has_gpus = true;
    }
    (void)fputs(has_gpus ? "}}\n" : "}\n", writing->out);
}

static void write_cluster(const struct writing *writing)
{
    const struct wl_model *model = writing->model;
    if (model->log->gpus.count > 0)
        (void)fputs("catalog:\n  gpu_types:\n", writing->out);
    for (size_t g = 0; g < model->log->gpus.count; g++) {
        (void)fputs("    ", writing->out);
        write_text(writing->out, model->log->gpus.names[g]);
        (void)fputs(": {speed: 1}\n", writing->out);
    }
    (void)fprintf(writing->out, "cluster:\n  nodes: # %s\n",
                  writing->options->fixes_workers
                      ? "room for the most workers of all stages together"
                      : "one CPU and one GPU for every worker seen at once");
    for (size_t n = 0; n < model->node_count; n++)
        write_node(writing, &model->nodes[n]);
    (void)fputs(writing->options->fixes_workers
                    ? "sched: {placement: fgd, scaling: {policy: fixed, interval: 1 h}}\n"
                    : "sched: {placement: fgd, scaling: xenna}\n",
                writing->out);
}

static weir_status write_input(const struct writing *writing)
{
    const struct wl_model *model = writing->model;
    (void)fprintf(writing->out, "    input:\n      items: %zu\n", model->items);
    if (!model->is_backlog) {
        (void)fputs("      arrivals: ", writing->out);
        WEIR_TRY(write_law(writing, &model->arrivals, false, " s", "arrivals"));
        (void)fputs(model->arrivals_from_starts ? " # from the starts of the first stage\n" : "\n",
                    writing->out);
    }
    if (model->size.n > 0 && (model->size.max > 1.0 || model->size.min < 1.0)) {
        (void)fputs("      size: ", writing->out);
        WEIR_TRY(write_law(writing, &model->size, false, "", "size"));
        (void)fputc('\n', writing->out);
    }
    return WEIR_OK;
}

static bool has_factor(const struct wl_stage_model *stage)
{
    for (size_t i = 0; i < stage->service_count; i++)
        if (stage->services[i].gpu != WL_NO_NAME)
            return true;
    return false;
}

static weir_status write_service(const struct writing *writing, const struct wl_stage_model *stage,
                                 const char *what)
{
    FILE *out = writing->out;
    const struct wl_law_choice *law = &stage->services[0].law;
    (void)fputs("        service:\n          law: ", out);
    WEIR_TRY(write_law(writing, law, false, " s", what));
    (void)fprintf(out, " # %zu tasks\n          source: %s\n", law->n,
                  law->n < WL_FIT_FEW ? "guess" : "measured");
    if (!stage->scales_by_size && writing->model->size.n > 0)
        (void)fputs("          scale_by_size: false\n", out);
    if (!has_factor(stage))
        return WEIR_OK;
    (void)fputs("          gpu_factor: {", out);
    const char *before = "";
    for (size_t i = 0; i < stage->service_count; i++) {
        if (stage->services[i].gpu == WL_NO_NAME)
            continue;
        (void)fputs(before, out);
        write_text(out, writing->model->log->gpus.names[stage->services[i].gpu]);
        (void)fprintf(out, ": %.6g", stage->services[i].factor);
        before = ", ";
    }
    (void)fputs("}\n", out);
    return WEIR_OK;
}

static weir_status write_returns(const struct writing *writing, const struct wl_stage_model *stage,
                                 const char *what)
{
    if (fabs(stage->returns - 1.0) < 1e-9 && !stage->returns_vary)
        return WEIR_OK;
    (void)fputs("        returns: ", writing->out);
    if (stage->returns_vary)
        WEIR_TRY(write_law(writing, &stage->returns_sample, true, "", what));
    else
        (void)fprintf(writing->out, "%.8g", stage->returns);
    (void)fputc('\n', writing->out);
    return WEIR_OK;
}

static void write_workers(const struct writing *writing, const struct wl_stage_model *stage)
{
    if (writing->options->fixes_workers)
        (void)fprintf(writing->out, "        workers: %u\n", stage->workers_peak);
    else
        (void)fprintf(writing->out, "        # workers: %u # at most at once; %u in all\n",
                      stage->workers_peak, stage->workers_seen);
}

static weir_status write_stage_parts(const struct writing *writing,
                                     const struct wl_stage_model *stage, const char *what)
{
    FILE *out = writing->out;
    char *part = NULL;
    (void)fputs("      - name: ", out);
    write_text(out, stage->name);
    (void)fprintf(out, "\n        cpus: 1\n%s", stage->uses_gpu ? "        gpus: 1\n" : "");
    write_workers(writing, stage);
    if (stage->batch > 1)
        (void)fprintf(out, "        batch: %u # of %.0f %% of the tasks\n", stage->batch,
                      100.0 * stage->batch_share);
    WEIR_TRY(write_service(writing, stage, what));
    if (asprintf(&part, "%s.returns", what) < 0)
        return weir_fail(writing->error, WEIR_ENOMEM, "out of memory");
    const weir_status status = write_returns(writing, stage, part);
    free(part);
    WEIR_TRY(status);
    if (stage->has_setup) {
        if (asprintf(&part, "%s.setup", what) < 0)
            return weir_fail(writing->error, WEIR_ENOMEM, "out of memory");
        (void)fputs("        setup: ", out);
        const weir_status written = write_law(writing, &stage->setup, false, " s", part);
        free(part);
        WEIR_TRY(written);
        (void)fputc('\n', out);
    }
    if (stage->failed > 0)
        (void)fprintf(out, "        process_failure: %.6g\n",
                      (double)stage->failed / (double)(stage->failed + stage->tasks));
    return WEIR_OK;
}

static weir_status write_stage(const struct writing *writing, size_t index)
{
    const struct wl_stage_model *stage = &writing->model->stages[index];
    char *what = NULL;
    if (asprintf(&what, "%zu-%s", index + 1, stage->name) < 0)
        return weir_fail(writing->error, WEIR_ENOMEM, "out of memory");
    const weir_status status = write_stage_parts(writing, stage, what);
    free(what);
    return status;
}

/* No machine has more GPUs than this: workers share them, and a log does not say how. */
enum { MOST_GPUS = 16 };

static weir_status check_nodes(const struct writing *writing)
{
    const struct wl_model *model = writing->model;
    for (size_t n = 0; n < model->node_count && model->log->has_node; n++)
        for (size_t g = 0; g < model->log->gpus.count; g++)
            if (model->nodes[n].gpus[g] > MOST_GPUS)
                return weir_fail(writing->error, WEIR_EINVAL,
                                 "%u workers had a GPU (%.40s) at once on node %.60s: GPUs are "
                                 "shared, and a log does not say how; write a scenario with the "
                                 "cluster and what the stages ask for, and put the laws into it: "
                                 "weir import LOG --into SCENARIO",
                                 model->nodes[n].gpus[g], model->log->gpus.names[g],
                                 model->nodes[n].name);
    return WEIR_OK;
}

weir_status wl_model_write(const struct wl_model *model, const struct wl_yaml_options *options,
                           FILE *out, struct weir_error *error)
{
    const struct writing writing = { model, options, out, error };
    WEIR_TRY(check_nodes(&writing));
    write_head(&writing);
    write_cluster(&writing);
    (void)fputs("pipelines:\n  - name: ", out);
    write_text(out, options->name);
    (void)fputc('\n', out);
    WEIR_TRY(write_input(&writing));
    (void)fputs("    backpressure: slots # not seen in a log\n    stages:\n", out);
    for (size_t s = 0; s < model->stage_count; s++)
        WEIR_TRY(write_stage(&writing, s));
    return ferror(out) ? weir_fail(error, WEIR_EIO, "the scenario cannot be written") : WEIR_OK;
}
