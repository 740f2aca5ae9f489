/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir show: the cluster, the stages and how fast the work could be at best; runs no simulation.
 */
#include "analysis/text.h"
#include "sim/cli/ask/compare_two.h"
#include "sim/cli/commands.h"
#include "sim/cli/load.h"
#include "sim/cli/look/show_actors.h"
#include "sim/cli/look/show_ahead.h"
#include "sim/cli/look/show_jobs.h"
#include "sim/cli/look/show_most.h"
#include "sim/cli/look/show_results.h"
#include "sim/cli/look/trace.h"
#include "sim/cli/plugin.h"
#include "sim/engine/time.h"
#include "sim/scenario/bound_placed.h"
#include "sim/scenario/improve.h"

#include <math.h>
#include <string.h>

enum { CELL = 256, MOST_CHANGES = 8 };

struct arguments {
    struct sim_options options;
    const char *file;
    uint32_t ahead;                   /* days; 0 = not asked for */
    struct sim_trace_arguments trace; /* where the file is one */
};

/* Where the tables of one scenario go: on paper one after the other, as JSON in one document. */
struct show {
    const struct sim_scenario *scenario;
    enum sim_format format;
    struct sim_json json;
};

static void show_table(struct show *show, const char *key, const char *heading,
                       const struct sim_table *table)
{
    if (show->format == SIM_FORMAT_JSON) {
        sim_json_key(&show->json, key);
        sim_table_write_json(table, &show->json);
        return;
    }
    if (show->format == SIM_FORMAT_MD)
        printf("### %s\n\n", heading);
    else if (show->format == SIM_FORMAT_TABLE)
        printf("%s\n", heading);
    sim_table_print(table, show->format, stdout);
    printf("\n");
}

/* ---- cluster ---- */

static const struct sim_column node_columns[] = {
    { "nodes", "nodes", NULL, false, false }, { "count", "count", NULL, true, true },
    { "CPUs", "cpus", NULL, true, true },     { "RAM", "ram_bytes", "GB", true, true },
    { "GPUs", "gpus", NULL, false, false },   { "share", "share", NULL, false, false },
    { "NVDEC", "nvdecs", NULL, true, true },  { "NVENC", "nvencs", NULL, true, true },
};
enum { NODE_COLUMNS = sizeof node_columns / sizeof node_columns[0] };

static void gpus_text(const struct sim_scenario *scenario, const struct sim_node_type *type,
                      char text[CELL])
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < type->gpus_count && length < CELL; i++)
        length +=
            (size_t)snprintf(text + length, CELL - length, "%s%u x %s", i == 0 ? "" : " + ",
                             type->gpus[i].count, scenario->gpu_types[type->gpus[i].type].name);
    if (length == 0)
        (void)snprintf(text, CELL, "-");
}

static double engines(const struct sim_scenario *scenario, const struct sim_node_type *type,
                      bool is_encoder)
{
    double sum = 0;
    for (size_t i = 0; i < type->gpus_count; i++) {
        const struct sim_gpu_type *gpu = &scenario->gpu_types[type->gpus[i].type];
        sum += (double)type->gpus[i].count * (is_encoder ? gpu->nvencs : gpu->nvdecs);
    }
    return sum;
}

static const char *share_text(const struct sim_node_type *type)
{
    static const char *const names[] = { [SIM_SHARING_FRACTION] = "fraction",
                                         [SIM_SHARING_MIG] = "mig",
                                         [SIM_SHARING_TIMESLICE] = "timeslice",
                                         [SIM_SHARING_EXCLUSIVE] = "exclusive",
                                         [SIM_SHARING_MPS] = "mps" };
    return type->gpus_count == 0 ? "-" : names[type->share];
}

static void node_row(struct show *show, struct sim_table *table, const struct sim_node_group *group)
{
    const struct sim_scenario *scenario = show->scenario;
    const struct sim_node_type *type = &scenario->node_types[group->type];
    const double ram = show->format == SIM_FORMAT_JSON || show->format == SIM_FORMAT_CSV
                           ? (double)type->ram_bytes
                           : (double)type->ram_bytes / 1e9;
    char gpus[CELL];
    gpus_text(scenario, type, gpus);
    sim_table_add(table, group->name == NULL ? type->name : group->name);
    sim_table_add_numbers(
        table, show->format,
        (const double[]){ group->count, type->cpus, type->ram_bytes == 0 ? (double)NAN : ram }, 3);
    sim_table_add(table, gpus);
    sim_table_add(table, share_text(type));
    sim_table_add_numbers(
        table, show->format,
        (const double[]){ engines(scenario, type, false), engines(scenario, type, true) }, 2);
}

static void show_nodes(struct show *show)
{
    struct sim_table *table = sim_table_create(node_columns, NODE_COLUMNS);
    for (size_t i = 0; i < show->scenario->node_groups_count; i++)
        node_row(show, table, &show->scenario->node_groups[i]);
    show_table(show, "nodes", "Cluster (per node)", table);
    sim_table_destroy(table);
}

/* ---- stages ---- */

static const struct sim_column stage_columns[] = {
    { "stage", "stage", NULL, false, false },
    { "worker", "worker", NULL, false, false },
    { "kind", "kind", NULL, false, false },
    { "fixed", "fixed_workers", NULL, true, true },
    { "task", "task_s", "s", true, true },
    { "a worker", "rate_per_s", "items/s", true, true },
    { "CPU s", "cpu_s_per_item", "/item", true, true },
    { "GPU s", "gpu_s_per_item", "/item", true, true },
    { "NVDEC s", "nvdec_s_per_item", "/item", true, true },
    { "NVENC s", "nvenc_s_per_item", "/item", true, true },
    { "workers", "best_workers", "best", true, true },
};
enum { STAGE_COLUMNS = sizeof stage_columns / sizeof stage_columns[0] };

static void stage_row(struct show *show, struct sim_table *table,
                      const struct sim_bound_stage *entry, uint32_t workers)
{
    const struct sim_stage *stage = entry->stage;
    const double *needs = entry->needs[SIM_BOUND_REQUESTED];
    const int resources[] = { SIM_BOUND_CPU, SIM_BOUND_GPU, SIM_BOUND_NVDEC, SIM_BOUND_NVENC };
    char shape[CELL];
    double numbers[8] = { stage->workers < 0 ? (double)NAN : stage->workers, entry->task_s,
                          entry->rate_per_s };
    for (size_t i = 0; i < 4; i++)
        numbers[3 + i] = needs[resources[i]] > 0 ? needs[resources[i]] / entry->rate_per_s : 0;
    numbers[7] = workers;
    char nodes[SIM_NODES_TEXT];
    const size_t length = weir_shape_print(&stage->shape, shape, sizeof shape);
    sim_scenario_print_nodes(show->scenario, stage->shape.labels, stage->soft_labels, nodes);
    (void)snprintf(shape + length, sizeof shape - length, "%s", nodes);
    sim_table_add(table, stage->name);
    sim_table_add(table, shape);
    sim_table_add(table, weir_shape_kind_name(stage->shape.kind));
    sim_table_add_numbers(table, show->format, numbers, 8);
}

/* Pools are stages of pipelines, or replicas of services. */
static const char *stages_title(const struct sim_bound_problem *problem)
{
    size_t services = 0;
    for (size_t i = 0; i < problem->stages_count; i++)
        services += problem->stages[i].stage->batching != NULL;
    return services == 0                       ? "Stages"
           : services == problem->stages_count ? "Services"
                                               : "Stages and services";
}

static void show_stages(struct show *show, const struct sim_bound_problem *problem,
                        const struct sim_bound *bound)
{
    struct sim_table *table = sim_table_create(stage_columns, STAGE_COLUMNS);
    for (size_t i = 0; i < problem->stages_count; i++)
        stage_row(show, table, &problem->stages[i], bound->workers[i]);
    show_table(show, "stages", stages_title(problem), table);
    sim_table_destroy(table);
}

/* ---- bounds ---- */

static const struct sim_column limit_columns[] = {
    { "resource", "resource", NULL, false, false },
    { "in the cluster", "total", NULL, true, true },
    { "needed", "need_per_item", "s/item", true, true },
    { "allows at most", "limit_per_s", "items/s", true, true },
};
enum { LIMIT_COLUMNS = sizeof limit_columns / sizeof limit_columns[0] };

static void show_limits(struct show *show, const struct sim_bound_problem *problem,
                        const struct sim_bound *bound)
{
    struct sim_table *table = sim_table_create(limit_columns, LIMIT_COLUMNS);
    for (uint32_t r = 0; r < SIM_BOUND_RESOURCE_COUNT; r++) {
        if (!isfinite(bound->limit_per_s[r]))
            continue;
        const double all = problem->totals[SIM_BOUND_REQUESTED][r];
        const double most = bound->limit_per_s[r];
        sim_table_add(table, sim_bound_resource_name(r));
        sim_table_add_numbers(table, show->format, (const double[]){ all, all / most, most }, 3);
    }
    show_table(show, "limits", "Limits of the resources (workers divided at will)", table);
    sim_table_destroy(table);
}

static double rounding_loss(const struct sim_bound *bound)
{
    return bound->fluid_per_s > 0 ? 1 - bound->integer_per_s / bound->fluid_per_s : 0;
}

/* Whether nodes make a difference that is worth a word. */
static bool is_tighter(const struct sim_bound *bound, const struct sim_placed *placed)
{
    return placed->rate_per_s < bound->integer_per_s * 0.995;
}

static void show_bound(struct show *show, const struct sim_bound *bound,
                       const struct sim_placed *placed)
{
    static const char *const by[] = { [SIM_PLACED_POOL] = "pool",
                                      [SIM_PLACED_PARTS] = "parts",
                                      [SIM_PLACED_WHOLE] = "whole",
                                      [SIM_PLACED_LIMIT] = "limit" };
    if (show->format != SIM_FORMAT_JSON) {
        if (show->format == SIM_FORMAT_CSV)
            return;
        sim_print_text(stdout,
                       "Throughput bound %.4g source items/s with workers divided at will, %.4g "
                       "source items/s with whole workers: rounding loses %.0f %%\n",
                       bound->fluid_per_s, bound->integer_per_s, 100 * rounding_loss(bound));
        if (bound->integer_per_s > 0 && !(placed->rate_per_s > 1e-6 * bound->integer_per_s))
            sim_print_text(stdout,
                           "One worker of each stage has no place on these nodes together\n");
        else if (is_tighter(bound, placed))
            sim_print_text(
                stdout,
                "No way to place them on these nodes gives more than %.4g source items/s%s\n",
                placed->rate_per_s,
                placed->by == SIM_PLACED_LIMIT
                    ? " (the search for places of whole workers was cut off)"
                    : "");
        printf("\n");
        return;
    }
    sim_json_number(sim_json_key(&show->json, "fluid_per_s"), bound->fluid_per_s);
    sim_json_number(sim_json_key(&show->json, "integer_per_s"), bound->integer_per_s);
    sim_json_number(sim_json_key(&show->json, "placed_per_s"), placed->rate_per_s);
    sim_json_string(sim_json_key(&show->json, "placed_by"), by[placed->by]);
    sim_json_number(sim_json_key(&show->json, "rounding_loss"), rounding_loss(bound));
    sim_json_string(sim_json_key(&show->json, "binding"), sim_bound_resource_name(bound->binding));
}

/* Whether numbers of workers are to be chosen against each other. */
static void show_sizing(struct show *show, const struct sim_bound_problem *problem)
{
    const uint32_t resource = sim_bound_shared(problem);
    const bool is_shared = resource < SIM_BOUND_RESOURCE_COUNT;
    if (show->format == SIM_FORMAT_JSON) {
        sim_json_string(sim_json_key(&show->json, "sizing"), is_shared ? "shared" : "trivial");
        sim_json_string(sim_json_key(&show->json, "sizing_resource"),
                        is_shared ? sim_bound_resource_name(resource) : NULL);
    } else if (show->format != SIM_FORMAT_CSV && is_shared) {
        sim_print_text(
            stdout,
            "Sizing: shared. Stages compete for %s: more workers of one are fewer of another\n\n",
            sim_bound_resource_name(resource));
    } else if (show->format != SIM_FORMAT_CSV) {
        sim_print_text(
            stdout, "Sizing: trivial. Every stage can have all the workers that fit it alone\n\n");
    }
}

/* Bytes that stages hand on, where no network is given. */
static void show_transfers(struct show *show, const struct sim_pipeline *pipeline)
{
    const bool is_modelled = sim_scenario_moves_bytes(show->scenario, pipeline) ||
                             (sim_pipeline_is_batch(pipeline) && pipeline->store_bytes_per_s > 0);
    const char *why = pipeline->transfers == SIM_TRANSFERS_OFF
                          ? "transfers are off"
                          : "no nic of a node, no uplink, no store is given for them";
    if (show->format == SIM_FORMAT_JSON)
        sim_json_flag(sim_json_key(&show->json, "transfers_modelled"), is_modelled);
    else if (show->format != SIM_FORMAT_CSV && !is_modelled && sim_pipeline_has_bytes(pipeline))
        sim_print_text(stdout, "Transfers: not modelled. Bytes between stages take no time: %s\n\n",
                       why);
}

/* ---- changes ---- */

static const struct sim_column change_columns[] = {
    { "change", "change", NULL, false, false },
    { "bound", "integer_per_s", "items/s", true, true },
    { "gain", "gain_percent", "%", true, true },
    { "remark", "remark", NULL, false, false },
};
enum { CHANGE_COLUMNS = sizeof change_columns / sizeof change_columns[0] };

static void change_row(struct show *show, struct sim_table *table, const struct sim_change *change)
{
    const double gain = 100 * change->gain;
    sim_table_add(table, change->text);
    sim_table_add_numbers(table, show->format, &change->integer_per_s, 1);
    if (show->format == SIM_FORMAT_JSON || show->format == SIM_FORMAT_CSV)
        sim_table_add_numbers(table, show->format, &gain, 1);
    else
        sim_table_addf(table, "%+.1f", gain);
    sim_table_add(table,
                  change->kind == SIM_CHANGE_HEAVY ? "busy stage: a share may slow it down" : "");
}

static void show_changes(struct show *show, const struct sim_changes *changes)
{
    struct sim_table *table = sim_table_create(change_columns, CHANGE_COLUMNS);
    size_t shown = 0;
    for (size_t i = 0; i < changes->count; i++) {
        const struct sim_change *change = &changes->items[i];
        const bool is_gain = change->gain > 1e-6 && shown < MOST_CHANGES;
        if (!is_gain && change->kind != SIM_CHANGE_NODE)
            continue;
        change_row(show, table, change);
        shown++;
    }
    show_table(show, "changes",
               "What would change the bound (a smaller share must not slow a "
               "stage down)",
               table);
    sim_table_destroy(table);
}

/* The change to requests of lightly loaded stages that gains most; NULL = none gains. */
static const struct sim_change *best_change(const struct sim_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].kind == SIM_CHANGE_LIGHT && changes->items[i].gain > 1e-6)
            return &changes->items[i];
    return NULL;
}

static int limit_text(const struct sim_bound *bound, const char *slowest, char *text,
                      size_t capacity)
{
    const bool is_fixed = bound->binding == SIM_BOUND_FIXED;
    const char *what =
        is_fixed ? "fixed numbers of workers" : sim_bound_resource_name(bound->binding);
    if (rounding_loss(bound) < 0.005)
        return snprintf(text, capacity,
                        "The %s limit%s the pipeline to %.4g items/s, and whole workers reach that",
                        what, is_fixed ? "" : "s", bound->fluid_per_s);
    return snprintf(text, capacity,
                    "The %s limit%s the pipeline to %.4g items/s; with whole workers %s is the "
                    "slowest stage at %.4g items/s, %.0f %% less",
                    what, is_fixed ? "" : "s", bound->fluid_per_s, slowest, bound->integer_per_s,
                    100 * rounding_loss(bound));
}

static void finding_text(const struct sim_bound_problem *problem, const struct sim_bound *bound,
                         const struct sim_changes *changes, char *text, size_t capacity)
{
    const struct sim_change *best = best_change(changes);
    const char *slowest = problem->stages[bound->slowest].stage->name;
    int length = 0;
    if (bound->integer_per_s <= 0) {
        (void)snprintf(text, capacity, "Not even one worker of every stage fits the cluster.");
        return;
    }
    length = bound->binding == SIM_BOUND_ARRIVALS
                 ? snprintf(text, capacity,
                            "On average the cluster keeps up with the arrivals (%.4g items/s)",
                            bound->fluid_per_s)
                 : limit_text(bound, slowest, text, capacity);
    if (length < 0 || (size_t)length >= capacity)
        return;
    if (best == NULL)
        (void)snprintf(text + length, capacity - (size_t)length, ".");
    else
        (void)snprintf(text + length, capacity - (size_t)length,
                       "; %s would raise it by %.0f %% to %.4g items/s.", best->text,
                       100 * best->gain, best->integer_per_s);
}

static void show_finding(struct show *show, const char *text)
{
    if (show->format == SIM_FORMAT_JSON) {
        sim_json_string(sim_json_key(&show->json, "finding"), text);
    } else if (show->format != SIM_FORMAT_CSV) {
        sim_print_text(stdout, "%s\n", text);
    }
}

/* ---- jobs ---- */

static void show_actors(struct show *show)
{
    struct sim_table *table = sim_show_roles(show->scenario, show->format);
    if (table != NULL)
        show_table(show, "actors", "Actors", table);
    sim_table_destroy(table);
}

static void show_jobs(struct show *show)
{
    struct sim_table *table = sim_show_jobs(show->scenario, show->format);
    if (sim_table_rows(table) > 0)
        show_table(show, "jobs",
                   "Jobs until the horizon (GPU hours at speed 1; nodes of the largest kind)",
                   table);
    sim_table_destroy(table);
}

static void write_most(struct sim_json *json, const struct sim_most *most)
{
    if (!isnan(most->load.most)) {
        sim_json_begin_object(sim_json_key(json, "load"));
        sim_json_flag(sim_json_key(json, "is_loss"), most->load.is_loss);
        sim_json_number(sim_json_key(json, "asked_gpus"), most->load.asked_gpus);
        sim_json_number(sim_json_key(json, "most"), most->load.most);
        sim_json_number(sim_json_key(json, "one_pool"), most->load.one_pool);
        sim_json_end_object(json);
    }
    if (!isnan(most->most_gpus)) {
        sim_json_begin_object(sim_json_key(json, "fill"));
        sim_json_number(sim_json_key(json, "asked_gpus"), most->asked_gpus);
        sim_json_number(sim_json_key(json, "most_gpus"), most->most_gpus);
        sim_json_end_object(json);
    }
}

static weir_status show_most(struct show *show)
{
    struct sim_most most;
    WEIR_TRY(sim_show_most(show->scenario, &most));
    if (show->format == SIM_FORMAT_JSON)
        write_most(&show->json, &most);
    else if (show->format != SIM_FORMAT_CSV)
        sim_print_most(&most, stdout);
    return WEIR_OK;
}

/* ---- windows ---- */

static void show_windows(struct show *show)
{
    static const struct sim_column columns[] = { { "Window", "window", "", false, false },
                                                 { "From", "from_s", "", true, false },
                                                 { "To", "to_s", "", true, false } };
    const struct sim_scenario *scenario = show->scenario;
    struct sim_table *table = sim_table_create(columns, 3);
    for (size_t i = 0; i < scenario->windows_count; i++) {
        const struct sim_window *window = &scenario->windows[i];
        const bool is_open = window->to_ns == SIM_TIME_MAX;
        sim_table_add(table, window->name);
        sim_table_add(table,
                      an_word_clock(scenario->start_unix_s, sim_time_s(window->from_ns)).text);
        sim_table_add(
            table, is_open ? "the end"
                           : an_word_clock(scenario->start_unix_s, sim_time_s(window->to_ns)).text);
    }
    if (scenario->windows_count > 0)
        show_table(show, "windows", "Windows", table);
    sim_table_destroy(table);
}

/* ---- assumptions ---- */

static void show_assumptions(struct show *show)
{
    const struct sim_scenario *scenario = show->scenario;
    const bool is_json = show->format == SIM_FORMAT_JSON;
    if (is_json)
        sim_json_begin_array(sim_json_key(&show->json, "assumptions"));
    else if (show->format == SIM_FORMAT_CSV || scenario->assumptions_count == 0)
        return;
    else
        printf("Assumptions\n");
    for (size_t i = 0; i < scenario->assumptions_count; i++)
        if (is_json)
            sim_json_string(&show->json, scenario->assumptions[i]);
        else
            sim_print_text(stdout, "- %s\n", scenario->assumptions[i]);
    if (is_json)
        sim_json_end_array(&show->json);
    else
        printf("\n");
}

/* ---- the command ---- */

static weir_status show_pipeline(struct show *show, uint32_t index)
{
    struct sim_bound_problem problem;
    struct sim_bound bound = { .workers = NULL };
    struct sim_changes changes = { .items = NULL };
    struct sim_placed placed = { 0 };
    char finding[1024];
    WEIR_TRY(sim_bound_problem_create(show->scenario, index, &problem));
    weir_status status = sim_bound_solve(&problem, &bound);
    if (status == WEIR_OK)
        status = sim_bound_placed(&problem, &bound, &placed);
    if (status == WEIR_OK)
        status = sim_improve(show->scenario, index, &changes);
    if (status == WEIR_OK) {
        if (show->format == SIM_FORMAT_TABLE)
            printf("%s %s\n\n",
                   show->scenario->pipelines[index].stages[0].batching == NULL ? "Pipeline"
                                                                               : "Service",
                   show->scenario->pipelines[index].name);
        show_stages(show, &problem, &bound);
        show_limits(show, &problem, &bound);
        show_bound(show, &bound, &placed);
        show_sizing(show, &problem);
        show_transfers(show, &show->scenario->pipelines[index]);
        show_changes(show, &changes);
        finding_text(&problem, &bound, &changes, finding, sizeof finding);
        show_finding(show, finding);
    }
    sim_changes_clear(&changes);
    sim_bound_clear(&bound);
    sim_bound_problem_clear(&problem);
    return status;
}

static weir_status show_pipelines(struct show *show)
{
    weir_status status = WEIR_OK;
    const bool is_json = show->format == SIM_FORMAT_JSON;
    if (is_json) {
        sim_json_begin_array(sim_json_key(&show->json, "pipelines"));
    }
    for (uint32_t i = 0; i < show->scenario->pipelines_count && status == WEIR_OK; i++) {
        if (is_json) {
            sim_json_begin_object(&show->json);
            sim_json_string(sim_json_key(&show->json, "name"), show->scenario->pipelines[i].name);
        }
        status = show_pipeline(show, i);
        if (is_json)
            sim_json_end_object(&show->json);
    }
    if (is_json)
        sim_json_end_array(&show->json);
    return status;
}

static int show_scenario(const struct sim_scenario *scenario, enum sim_format format)
{
    struct show show = { .scenario = scenario, .format = format, .json = { .out = stdout } };
    if (format == SIM_FORMAT_JSON) {
        sim_json_begin_object(&show.json);
        sim_json_integer(sim_json_key(&show.json, "schema"), 1);
        sim_json_string(sim_json_key(&show.json, "version"), WEIR_VERSION);
        sim_json_string(sim_json_key(&show.json, "scenario"), scenario->name);
    } else if (format == SIM_FORMAT_TABLE) {
        sim_print_text(stdout, "%s%s%s\n\n", scenario->name,
                       scenario->description == NULL ? "" : ": ",
                       scenario->description == NULL ? "" : scenario->description);
    }
    show_nodes(&show);
    show_actors(&show);
    show_jobs(&show);
    weir_status status = show_most(&show);
    show_windows(&show);
    show_assumptions(&show);
    if (status == WEIR_OK)
        status = show_pipelines(&show);
    if (format == SIM_FORMAT_JSON)
        sim_json_end_object(&show.json);
    if (status != WEIR_OK)
        fprintf(stderr, "weir show: %s\n", weir_status_text(status));
    return sim_cli_exit_code(status);
}

static uint32_t kind_of(const void *given)
{
    const struct arguments *arguments = given;
    struct sim_trace_arguments trace = arguments->trace;
    trace.file = arguments->file;
    trace.options = arguments->options;
    const uint32_t kind = sim_file_kind(arguments->file);
    return kind != SIM_FILE_DATABASE && sim_is_trace(&trace) ? SIM_FILE_TRACE : kind;
}

static const struct sim_option command_rows[] = {
    { .argument = "FILE",
      SIM_OPTION(TEXT, arguments, file),
      .missing = "show what? a scenario, a trace or a database",
      .one = "one file at a time" },
    { "ahead", 0, "DAYS", SIM_OPTION(COUNT, arguments, ahead),
      "Of a database: GPUs and nodes that will be asked for on each of so many days, at most 14, "
      "from the features it keeps",
      .min = 1, .max = 14, .of = SIM_FILE_DATABASE },
    { SIM_OPTION(OTHERS, arguments, trace), .others = &sim_trace_table },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_format },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_scenario },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .kind_of = kind_of,
    .shown = "ahead set format plugin map kind nodes scenario groups plot force",
    .usage = "FILE",
    .help =
        "Show what is in a file; simulates nothing. Of a scenario: the cluster, the stages, how "
        "fast the work could be at best and what would raise that. Of a trace of jobs: how many, "
        "what they ask for, what never fits. Of a result database: what each tenant got, and what "
        "is to come.",
};

int sim_cmd_show(int argc, char **argv)
{
    struct arguments arguments = { .trace = { .on_bad_row = WL_BAD_ROW_FAILS } };
    struct sim_policies policies;
    struct sim_scenario *scenario = NULL;
    sim_options_parse(&command_options, argc, argv, &arguments);
    const uint32_t kind = kind_of(&arguments);
    if (kind == SIM_FILE_DATABASE) {
        sim_options_clear(&arguments.options);
        if (arguments.ahead > 0)
            return sim_show_ahead(arguments.file, arguments.ahead, arguments.options.format);
        return sim_show_results(arguments.file, arguments.options.format);
    }
    arguments.trace.file = arguments.file;
    arguments.trace.verb = "info";
    arguments.trace.options = arguments.options;
    if (kind == SIM_FILE_TRACE) {
        const int told = sim_trace_info(&arguments.trace);
        sim_options_clear(&arguments.options);
        return told;
    }
    int code =
        sim_plugins_load(&arguments.options.plugins, arguments.options.in_process, &policies);
    if (code == SIM_EXIT_OK) {
        code = sim_cli_load(arguments.file, &arguments.options, &policies, &scenario);
        if (code == SIM_EXIT_OK)
            code = show_scenario(scenario, arguments.options.format);
        sim_scenario_destroy(scenario);
        sim_plugins_clear(&policies);
    }
    sim_options_clear(&arguments.options);
    return code;
}
