/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words that people meet; see the header. */
#include "sim/cli/words.h"

#include "analysis/analysis.h"
#include "analysis/metrics.h"
#include "sim/cli/commands.h"
#include "sim/cli/line.h"
#include "sim/engine/law.h"
#include "sim/scenario/catalog/catalog_gpus.h"
#include "sim/scenario/scenario.h"
#include "workloads/column_map.h"
#include "workloads/trace.h"

#include <stdlib.h>
#include <string.h>

static int print_table(struct sim_table *table, enum sim_format format)
{
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
    return SIM_EXIT_OK;
}

/* ---- commands ---- */

static size_t command_names(const char **names, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < sim_commands_count && count < capacity; i++)
        if (sim_commands[i].group != SIM_COMMAND_HIDDEN)
            names[count++] = sim_commands[i].name;
    return count;
}

/* Its own help, which ends the program: commands come last. */
static bool explain_command(const char *word)
{
    const struct sim_command *command = sim_command_find(word);
    struct sim_line line = { .words = NULL };
    if (command == NULL)
        return false;
    if (command->group == SIM_COMMAND_HIDDEN && command->summary != NULL)
        printf("%s is called %s today\n", word, command->summary);
    sim_line_add(&line, word, "--help");
    (void)sim_line_run(&line, command->run);
    return true;
}

static int list_commands(const struct sim_options *options)
{
    static const struct sim_column columns[] = { { "command", "command", NULL, false, false },
                                                 { "summary", "summary", NULL, false, false } };
    struct sim_table *table = sim_table_create(columns, 2);
    for (size_t i = 0; i < sim_commands_count; i++)
        if (sim_commands[i].group != SIM_COMMAND_HIDDEN)
            sim_table_row(table, (const char *[]){ sim_commands[i].name, sim_commands[i].summary });
    return print_table(table, options->format);
}

/* ---- keys ---- */

static bool explain_key(const char *word)
{
    return sim_schema_explain(stdout, word) > 0;
}

static int list_keys(const struct sim_options *options)
{
    struct sim_line line = { .words = NULL };
    sim_line_add(&line, "schema", NULL);
    if (options->format == SIM_FORMAT_JSON)
        sim_line_add(&line, "--format", "json");
    return sim_line_run(&line, sim_cmd_schema);
}

/* ---- metrics ---- */

static size_t metric_names(const char **names, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < an_metric_count() && count + 2 <= capacity; i++) {
        names[count++] = an_metric_at(i)->label;
        names[count++] = an_metric_at(i)->id;
    }
    return count;
}

static const char *better(const struct an_metric *metric)
{
    return metric->better > 0 ? "more" : metric->better < 0 ? "less" : "-";
}

static bool explain_metric(const char *word)
{
    bool is_found = false;
    for (size_t i = 0; i < an_metric_count(); i++) {
        const struct an_metric *metric = an_metric_at(i);
        if (strcmp(metric->label, word) != 0 && strcmp(metric->id, word) != 0)
            continue;
        printf("metric %s, id %s: %s%s%s%s; better: %s\n  weir compare FILE --metric '%s'\n",
               metric->label, metric->id, metric->title, metric->unit[0] == '\0' ? "" : " [",
               metric->unit, metric->unit[0] == '\0' ? "" : "]", better(metric), metric->label);
        is_found = true;
    }
    return is_found;
}

static int list_metrics(const struct sim_options *options)
{
    static const struct sim_column columns[] = { { "metric", "label", NULL, false, false },
                                                 { "id", "id", NULL, false, false },
                                                 { "unit", "unit", NULL, false, false },
                                                 { "better", "better", NULL, false, false },
                                                 { "what it is", "title", NULL, false, false } };
    struct sim_table *table = sim_table_create(columns, 5);
    for (size_t i = 0; i < an_metric_count(); i++) {
        const struct an_metric *metric = an_metric_at(i);
        sim_table_row(table, (const char *[]){ metric->label, metric->id, metric->unit,
                                               better(metric), metric->title });
    }
    return print_table(table, options->format);
}

/* ---- policies ---- */

static bool explain_policy(const char *word)
{
    const char *names[256];
    const size_t count = sim_policy_names(names, 256);
    struct sim_line line = { .words = NULL };
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0) {
            sim_line_add(&line, "policies", word);
            return sim_line_run(&line, sim_cmd_policies) == SIM_EXIT_OK;
        }
    return false;
}

static int list_policies(const struct sim_options *options)
{
    struct sim_line line = { .words = NULL };
    sim_line_add(&line, "policies", NULL);
    sim_line_add_options(&line, options);
    return sim_line_run(&line, sim_cmd_policies);
}

/* ---- charts ---- */

static size_t chart_names(const char **names, size_t capacity)
{
    size_t count = 0;
    while (count < an_plot_count() && count < capacity) {
        names[count] = an_plot_at(count)->name;
        count++;
    }
    return count;
}

static bool explain_chart(const char *word)
{
    for (size_t i = 0; i < an_plot_count(); i++)
        if (strcmp(an_plot_at(i)->name, word) == 0) {
            printf("chart %s: %s\n  weir plot DB %s\n", word, an_plot_at(i)->question, word);
            return true;
        }
    return false;
}

/* ---- GPU types ---- */

static size_t gpu_names(const char **names, size_t capacity)
{
    size_t count = 0;
    while (count < sim_catalog_gpu_count() && count < capacity) {
        names[count] = sim_catalog_gpu_at(count)->name;
        count++;
    }
    return count;
}

static bool explain_gpu(const char *word)
{
    for (size_t i = 0; i < sim_catalog_gpu_count(); i++) {
        const struct sim_catalog_gpu *gpu = sim_catalog_gpu_at(i);
        if (strcmp(gpu->name, word) != 0)
            continue;
        printf("GPU type %s: %lld GB, %u NVDEC, %u NVENC, %g to %g W\n"
               "  cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {%s: 8}}]}\n",
               word, (long long)(gpu->mem_bytes / 1000000000), gpu->nvdecs, gpu->nvencs,
               gpu->idle_w, gpu->limit_w, word);
        return true;
    }
    return false;
}

static int list_gpus(const struct sim_options *options)
{
    static const struct sim_column columns[] = { { "GPU type", "name", NULL, false, false },
                                                 { "memory", "mem_gb", "GB", true, true },
                                                 { "NVDEC", "nvdecs", NULL, true, true },
                                                 { "NVENC", "nvencs", NULL, true, true },
                                                 { "limit", "limit_w", "W", true, true } };
    struct sim_table *table = sim_table_create(columns, 5);
    for (size_t i = 0; i < sim_catalog_gpu_count(); i++) {
        const struct sim_catalog_gpu *gpu = sim_catalog_gpu_at(i);
        sim_table_add(table, gpu->name);
        sim_table_add_numbers(table, options->format,
                              (const double[]){ (double)gpu->mem_bytes / 1e9, gpu->nvdecs,
                                                gpu->nvencs, gpu->limit_w },
                              4);
    }
    return print_table(table, options->format);
}

/* ---- laws ---- */

static size_t law_names(const char **names, size_t capacity)
{
    size_t count = 0;
    for (; count < sim_distribution_count() && count < capacity; count++)
        names[count] = sim_distribution_at(count)->name;
    return count;
}

static bool explain_law(const char *word)
{
    for (size_t i = 0; i < sim_distribution_count(); i++) {
        const struct sim_distribution *law = sim_distribution_at(i);
        if (strcmp(law->name, word) != 0)
            continue;
        printf("law %s: %s\n  %s(", word, law->summary, word);
        for (size_t p = 0; p < law->parameter_count; p++)
            printf("%s%s", p == 0 ? "" : ", ", law->parameters[p].name);
        printf(")\n");
        return true;
    }
    return false;
}

static int list_laws(const struct sim_options *options)
{
    static const struct sim_column columns[] = { { "law", "law", NULL, false, false },
                                                 { "summary", "summary", NULL, false, false } };
    struct sim_table *table = sim_table_create(columns, 2);
    for (size_t i = 0; i < sim_distribution_count(); i++)
        sim_table_row(table, (const char *[]){ sim_distribution_at(i)->name,
                                               sim_distribution_at(i)->summary });
    return print_table(table, options->format);
}

/* ---- traces ---- */

static size_t trace_names(const char **names, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < wl_trace_formats_count && count < capacity; i++)
        names[count++] = wl_trace_formats[i].name;
    for (size_t i = 0; i < wl_column_maps_count && count < capacity; i++)
        names[count++] = wl_column_maps[i].name;
    return count;
}

static bool explain_trace(const char *word)
{
    for (size_t i = 0; i < wl_trace_formats_count; i++)
        if (strcmp(wl_trace_formats[i].name, word) == 0) {
            printf("trace format %s: %s\n  weir show FILE --kind %s\n", word,
                   wl_trace_formats[i].summary, word);
            return true;
        }
    for (size_t i = 0; i < wl_column_maps_count; i++)
        if (strcmp(wl_column_maps[i].name, word) == 0) {
            printf("column map %s of tables of jobs\n  weir show FILE --map %s\n%s", word, word,
                   wl_column_maps[i].text);
            return true;
        }
    return false;
}

static int list_traces(const struct sim_options *options)
{
    struct sim_line line = { .words = NULL };
    sim_line_add(&line, "trace", "formats");
    sim_line_add_options(&line, options);
    return sim_line_run(&line, sim_cmd_trace);
}

const struct sim_word_kind sim_word_kinds[] = {
    { "keys", "key", "of scenario files; also docs/scenario.md", sim_schema_keys, explain_key,
      list_keys },
    { "metrics", "metric", "what runs are judged by", metric_names, explain_metric, list_metrics },
    { "policies", "policy", "placement, scaling, queueing, capacity", sim_policy_names,
      explain_policy, list_policies },
    { "laws", "law", "distributions of times and sizes, as exp(2 s)", law_names, explain_law,
      list_laws },
    { "charts", "chart", "what weir plot draws", chart_names, explain_chart, sim_list_plots },
    { "gpus", "GPU type", "built-in GPU types", gpu_names, explain_gpu, list_gpus },
    { "traces", "trace format", "traces of jobs that can be read", trace_names, explain_trace,
      list_traces },
    { "commands", "command", "of weir", command_names, explain_command, list_commands },
};
const size_t sim_word_kinds_count = sizeof sim_word_kinds / sizeof sim_word_kinds[0];
