/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured laws into a scenario's text; see the header. */
#include "sim/scenario/read/import_into.h"

#include "sim/scenario/schema/rewrite.h"
#include "sim/scenario/schema/words.h"
#include "workloads/timestamp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct importing {
    const struct sim_import *import;
    struct sim_arena *arena;
    struct sim_report report;
    struct sim_rewrite rewrite;
    struct sim_yaml *root;
    weir_status status; /* of what is written to files */
    struct weir_error *error;
};

/* ---- values ---- */

/* An entry behind the last plain value of a mapping, which is given as it is written. */
static void insert(struct importing *importing, const struct sim_yaml *mapping, const char *text)
{
    const struct sim_yaml *behind = NULL;
    for (const struct sim_yaml *child = mapping->first; child != NULL; child = child->next) {
        const bool is_made = child->mark.line == child->key_mark.line &&
                             child->mark.column == child->key_mark.column;
        if (child->kind == SIM_YAML_SCALAR && !is_made)
            behind = behind == NULL || strcmp(child->key, "name") == 0 ? child : behind;
    }
    if (behind == NULL)
        sim_report_error(&importing->report, mapping,
                         "there is no place to write '%s' to: give it a plain value first", text);
    else
        sim_rewrite_insert(&importing->rewrite, behind, text);
}

/* `key` of a mapping becomes the text; of a wrapped or longer form the part that holds the value.
 */
static void set(struct importing *importing, const struct sim_yaml *mapping, const char *key,
                const char *part, const char *text)
{
    const struct sim_yaml *node = sim_yaml_get(mapping, key);
    const struct sim_yaml *value = sim_yaml_get(node, "value");
    if (value == NULL && part != NULL)
        value = sim_yaml_get(node, part);
    if (node == NULL) {
        insert(importing, mapping, sim_arena_printf(importing->arena, "%s: %s", key, text));
        return;
    }
    if (node->kind == SIM_YAML_MAPPING && value == NULL) {
        sim_report_warning(&importing->report, node,
                           "stays as it is: it is no single law, and a log does not say its parts");
        return;
    }
    value = value == NULL ? node : value;
    if (value->kind != SIM_YAML_SCALAR)
        sim_report_error(&importing->report, value, "expected one value here");
    else
        sim_rewrite_value(&importing->rewrite, value, text);
}

/* ---- laws ---- */

static const char *law_text(struct importing *importing, const struct wl_law_choice *law,
                            const char *what, const char *unit, bool is_sample)
{
    const struct wl_law_place place = { .path = importing->import->samples,
                                        .what = what,
                                        .unit = unit,
                                        .is_sample = is_sample,
                                        .is_absolute = importing->import->names_folders };
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        abort();
    const weir_status status = wl_law_write(law, &place, out, importing->error);
    if (fclose(out) != 0)
        abort();
    if (importing->status == WEIR_OK)
        importing->status = status;
    const char *kept = sim_arena_text(importing->arena, text, length);
    free(text);
    return kept;
}

static void set_returns(struct importing *importing, const struct sim_yaml *stage,
                        const struct wl_stage_model *model)
{
    const char *what = sim_arena_printf(importing->arena, "%s.returns", model->name);
    if (!importing->import->model->log->has_returns)
        return; /* items on their way would count as lost */
    if (model->returns_vary)
        set(importing, stage, "returns", "law",
            law_text(importing, &model->returns_sample, what, "", true));
    else if (fabs(model->returns - 1.0) > 1e-9 || sim_yaml_get(stage, "returns") != NULL)
        set(importing, stage, "returns", "law",
            sim_arena_printf(importing->arena, "%.8g", model->returns));
}

static void set_stage(struct importing *importing, const struct sim_yaml *stage,
                      const struct wl_stage_model *model)
{
    struct sim_arena *arena = importing->arena;
    set(importing, stage, "service", "law",
        law_text(importing, &model->services[0].law, model->name, " s", false));
    const struct sim_yaml *source = sim_yaml_get(sim_yaml_get(stage, "service"), "source");
    if (source != NULL)
        sim_rewrite_value(&importing->rewrite, source,
                          model->services[0].law.n < WL_FIT_FEW ? "guess" : "measured");
    if (model->has_setup)
        set(importing, stage, "setup", NULL,
            law_text(importing, &model->setup, sim_arena_printf(arena, "%s.setup", model->name),
                     " s", false));
    set_returns(importing, stage, model);
    if (model->batch > 1)
        set(importing, stage, "batch", NULL, sim_arena_printf(arena, "%u", model->batch));
    if (model->failed > 0)
        set(importing, stage, "process_failure", NULL,
            sim_arena_printf(arena, "%.6g",
                             (double)model->failed / (double)(model->failed + model->tasks)));
    if (model->service_count > 1)
        sim_report_warning(&importing->report, stage,
                           "the law is that of its most frequent GPU type (%s); the others follow "
                           "from the scenario's speeds",
                           model->services[0].gpu == WL_NO_NAME
                               ? "none"
                               : importing->import->model->log->gpus.names[model->services[0].gpu]);
}

/* ---- the pipeline ---- */

static const struct sim_yaml *named(const struct sim_yaml *list, const char *name)
{
    for (const struct sim_yaml *entry = list == NULL ? NULL : list->first; entry != NULL;
         entry = entry->next) {
        const struct sim_yaml *own = sim_yaml_get(entry, "name");
        if (own != NULL && own->kind == SIM_YAML_SCALAR && strcmp(own->text, name) == 0)
            return entry;
    }
    return NULL;
}

static const char *near_in(struct importing *importing, const struct sim_yaml *list,
                           const char *name)
{
    const char **names = sim_arena_alloc(importing->arena, list->count + 1, sizeof *names);
    size_t count = 0;
    for (const struct sim_yaml *entry = list->first; entry != NULL; entry = entry->next) {
        const struct sim_yaml *own = sim_yaml_get(entry, "name");
        if (own != NULL && own->kind == SIM_YAML_SCALAR)
            names[count++] = own->text;
    }
    return sim_near_name(name, names, count);
}

static const struct sim_yaml *find_pipeline(struct importing *importing)
{
    const struct sim_yaml *list = sim_yaml_get(importing->root, "pipelines");
    const char *name = importing->import->pipeline;
    const struct sim_yaml *found = name == NULL ? sim_yaml_item(list, 0) : named(list, name);
    if (list == NULL || list->kind != SIM_YAML_LIST || list->count == 0)
        sim_report_error(&importing->report, NULL, "has no pipeline that could take the laws");
    else if (name == NULL && list->count > 1)
        sim_report_error(&importing->report, list, "several pipelines: say which, with --pipeline");
    else if (found == NULL)
        sim_report_near(&importing->report, list, SIM_AT_KEY, near_in(importing, list, name),
                        "there is no pipeline '%s'", name);
    else
        return found;
    return NULL;
}

static void set_stages(struct importing *importing, const struct sim_yaml *pipeline)
{
    const struct wl_model *model = importing->import->model;
    const struct sim_yaml *stages = sim_yaml_get(pipeline, "stages");
    for (size_t s = 0; s < model->stage_count && stages != NULL; s++) {
        const char *name = model->stages[s].name;
        const struct sim_yaml *stage = named(stages, name);
        if (stage != NULL)
            set_stage(importing, stage, &model->stages[s]);
        else
            sim_report_near(&importing->report, stages, SIM_AT_KEY,
                            near_in(importing, stages, name),
                            "the log has a stage '%s' that the pipeline has not (names of the log "
                            "can be changed there alone)",
                            name);
    }
    for (const struct sim_yaml *stage = stages == NULL ? NULL : stages->first; stage != NULL;
         stage = stage->next) {
        const struct sim_yaml *own = sim_yaml_get(stage, "name");
        bool is_measured = own == NULL || own->kind != SIM_YAML_SCALAR;
        for (size_t s = 0; s < model->stage_count && !is_measured; s++)
            is_measured = strcmp(model->stages[s].name, own->text) == 0;
        if (!is_measured)
            sim_report_warning(&importing->report, own, "is not in the log: stays as it is");
    }
}

/* Of a backlog somebody has to say how much it is: as much as the log has. */
static void take_backlog(struct importing *importing, const struct sim_yaml *input,
                         const struct sim_yaml *arrivals)
{
    const bool is_said =
        sim_yaml_get(input, "items") != NULL || sim_yaml_get(input, "file") != NULL;
    const char *count = sim_arena_printf(importing->arena, "%zu", importing->import->model->items);
    if (!is_said && arrivals != NULL && arrivals->kind == SIM_YAML_SCALAR) {
        sim_rewrite_key(&importing->rewrite, arrivals, "items");
        sim_rewrite_value(&importing->rewrite, arrivals, count);
        return;
    }
    if (arrivals != NULL)
        sim_rewrite_drop(&importing->rewrite, arrivals);
    if (!is_said)
        insert(importing, input, sim_arena_printf(importing->arena, "items: %s", count));
}

/* Arrivals of a log, or none where work was always waiting. */
static void set_input(struct importing *importing, const struct sim_yaml *pipeline)
{
    const struct wl_model *model = importing->import->model;
    const struct sim_yaml *input = sim_yaml_get(pipeline, "input");
    const struct sim_yaml *arrivals = sim_yaml_get(input, "arrivals");
    if (input == NULL || input->kind != SIM_YAML_MAPPING)
        return; /* what is missing is said when the scenario is read */
    if (model->is_backlog)
        take_backlog(importing, input, arrivals);
    if (!model->is_backlog && arrivals != NULL && arrivals->kind == SIM_YAML_MAPPING) {
        sim_report_warning(&importing->report, arrivals,
                           "stays as it is; the log has gaps of %.4g s in the mean",
                           model->arrivals.mean);
    } else if (!model->is_backlog) {
        set(importing, input, "arrivals", NULL,
            law_text(importing, &model->arrivals, "arrivals", " s", false));
    }
    if (model->size.n > 0 && model->size.max > model->size.min &&
        sim_yaml_get(input, "classes") == NULL)
        set(importing, input, "size", NULL, law_text(importing, &model->size, "size", "", false));
}

/* ---- the top level ---- */

static void set_top(struct importing *importing)
{
    const struct sim_import *import = importing->import;
    const struct wl_span_log *log = import->model == NULL ? NULL : import->model->log;
    const struct sim_yaml *timeline = sim_yaml_get(importing->root, "timeline");
    char stamp[WL_TIMESTAMP_TEXT];
    if (import->note != NULL && importing->root->first != NULL)
        sim_rewrite_insert_before(&importing->rewrite, importing->root->first,
                                  sim_arena_printf(importing->arena, "# %s", import->note));
    if (log != NULL && log->has_stamps && sim_yaml_get(importing->root, "start_time") == NULL)
        insert(importing, importing->root,
               sim_arena_printf(importing->arena, "start_time: %s",
                                wl_date_text(log->start_unix_s * 1000000000, stamp)));
    if (import->events == NULL)
        return;
    if (timeline != NULL) {
        sim_report_warning(&importing->report, timeline, "gives way to %s", import->events);
        sim_rewrite_drop(&importing->rewrite, timeline);
    }
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        abort();
    (void)fputs("timeline: {file: ", out);
    sim_yaml_write_scalar(import->events, out);
    (void)fputc('}', out);
    if (fclose(out) != 0)
        abort();
    insert(importing, importing->root, sim_arena_text(importing->arena, text, length));
    free(text);
}

static bool open_text(struct importing *importing)
{
    importing->report.text = importing->import->text;
    importing->report.length = strlen(importing->import->text);
    importing->root = sim_yaml_parse(importing->arena, importing->report.text,
                                     importing->report.length, &importing->report);
    if (importing->root == NULL || importing->root->kind != SIM_YAML_MAPPING)
        return false;
    if (sim_words_are_old(importing->root))
        return sim_report_error(&importing->report, NULL,
                                "is of schema 1: weir check --write brings it to today's");
    struct sim_words words = { .arena = importing->arena,
                               .report = &importing->report,
                               .root = importing->root };
    sim_words_settle(&words);
    return importing->report.out->errors == 0;
}

const char *sim_import_pipeline(struct sim_arena *arena, const struct sim_import *import)
{
    struct sim_diagnostics said = { .items = NULL };
    struct importing importing = { .import = import,
                                   .arena = arena,
                                   .report = { .path = import->path, .out = &said } };
    const struct sim_yaml *pipeline = open_text(&importing) ? find_pipeline(&importing) : NULL;
    const struct sim_yaml *name = sim_yaml_get(pipeline, "name");
    sim_diagnostics_clear(&said);
    return name == NULL ? NULL : name->text;
}

char *sim_import_into(struct sim_arena *arena, const struct sim_import *import,
                      struct sim_diagnostics *said, struct weir_error *error)
{
    struct importing importing = { .import = import,
                                   .arena = arena,
                                   .report = { .path = import->path, .out = said },
                                   .error = error };
    importing.rewrite = (struct sim_rewrite){ .arena = arena, .report = &importing.report };
    const struct sim_yaml *pipeline = NULL;
    if (open_text(&importing) && import->model != NULL)
        pipeline = find_pipeline(&importing);
    if (pipeline != NULL) {
        set_stages(&importing, pipeline);
        set_input(&importing, pipeline);
    }
    if (said->errors == 0)
        set_top(&importing);
    sim_report_finish(&importing.report);
    const bool is_made = said->errors == 0 && importing.status == WEIR_OK;
    return is_made ? sim_rewrite_apply(&importing.rewrite) : NULL;
}
