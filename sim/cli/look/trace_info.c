/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir trace info: the facts of a trace, by size and by model, held against nodes. One list of
 * facts feeds the table for people and the document for programs.
 */
#include "analysis/arrivals.h"
#include "sim/cli/load.h"
#include "sim/cli/look/trace.h"
#include "workloads/timestamp.h"
#include "workloads/trace_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 96 };

static const double day_s = 86400.0;

struct info {
    const struct sim_trace_arguments *arguments;
    struct sim_trace trace;
    struct wl_openb_nodes nodes;
    struct wl_trace_facts facts;
    enum sim_format format;
    struct sim_table *table; /* of facts, for people */
    struct sim_json json;
};

static bool is_for_programs(const struct info *info)
{
    return info->format == SIM_FORMAT_JSON || info->format == SIM_FORMAT_CSV;
}

/* ---- facts ---- */

static void put(struct info *info, const char *key, const char *label, const char *unit,
                double value)
{
    if (info->format == SIM_FORMAT_JSON) {
        sim_json_number(sim_json_key(&info->json, key), value);
        return;
    }
    sim_table_add(info->table, is_for_programs(info) ? key : label);
    sim_table_add_numbers(info->table, info->format, &value, 1);
    sim_table_add(info->table, unit);
}

/* People only want to hear of it when there is something. */
static void put_fault(struct info *info, const char *key, const char *label, size_t count)
{
    if (count > 0 || is_for_programs(info))
        put(info, key, label, "jobs", (double)count);
}

static void put_time(struct info *info, const char *key, const char *label, double value_s)
{
    if (!is_for_programs(info) && value_s >= 2 * day_s)
        put(info, key, label, "days", value_s / day_s);
    else
        put(info, key, label, "s", value_s);
}

static double seconds(int64_t time_ns)
{
    return time_ns == WL_UNKNOWN ? (double)NAN : (double)time_ns / 1e9;
}

static void put_span(struct info *info)
{
    const struct wl_trace_facts *facts = &info->facts;
    const bool has_times = facts->first_submit_ns != WL_UNKNOWN;
    put(info, "jobs", "jobs", "", (double)facts->jobs);
    put_time(info, "span_s", "from the first submission to the last",
             has_times ? seconds(facts->last_submit_ns - facts->first_submit_ns) : (double)NAN);
    put_time(info, "window_from_s", "  whole from, after the trace's zero",
             has_times ? seconds(facts->from_ns) : (double)NAN);
    put_time(info, "window_s", "  whole for (the window)",
             has_times ? seconds(facts->to_ns - facts->from_ns) : (double)NAN);
    put_fault(info, "before_window", "  submitted before the window", facts->before_window);
}

static void put_faults(struct info *info)
{
    const struct wl_trace_facts *facts = &info->facts;
    put_fault(info, "skipped_rows", "bad rows left out", info->trace.jobs.skipped);
    put_fault(info, "never_started", "left while they waited", facts->never_started);
    put_fault(info, "censored", "still run when the observation ends", facts->censored);
    put_fault(info, "failed", "failed", facts->failed);
    put_fault(info, "cancelled", "cancelled", facts->cancelled);
    put_fault(info, "without_submit", "no time of submission", facts->without_submit);
    put_fault(info, "without_run", "no run time", facts->without_run);
    put_fault(info, "without_wait", "no time of start", facts->without_wait);
    put_fault(info, "without_request", "ask for nothing", facts->without_request);
    put_fault(info, "zero_run", "run for 0 s", facts->zero_run);
    put_fault(info, "above_estimate", "run longer than their estimate", facts->above_estimate);
    put_fault(info, "unsorted", "submitted before the row above", facts->unsorted);
    put_fault(info, "duplicate_rows", "rows that are there twice", facts->duplicate_rows);
    put_fault(info, "duplicate_names", "names that are there twice", facts->duplicate_names);
}

static void put_arrivals(struct info *info)
{
    const struct wl_trace_facts *facts = &info->facts;
    put(info, "arrivals_per_hour", "arrivals in the window", "per hour", facts->per_hour);
    put(info, "busiest_hour", "  busiest hour", "jobs", (double)facts->busiest_hour);
    put(info, "empty_hours", "  hours without any", "%", 100 * facts->empty_hours_frac);
    put(info, "dispersion", "  variance over mean of hourly counts", "", facts->dispersion);
    put(info, "gap_cv", "  variation of the gaps", "", facts->gap_cv);
}

static void put_quantiles(struct info *info, const char *what, const struct wl_quantiles *q)
{
    static const char *const names[] = { "p50", "p90", "p99", "max", "mean" };
    const double values[] = { q->p50, q->p90, q->p99, q->max, q->mean };
    for (size_t i = 0; i < sizeof names / sizeof names[0] && q->count > 0; i++) {
        char key[CELL];
        char label[CELL];
        (void)snprintf(key, sizeof key, "%s_%s_s", what, names[i]);
        (void)snprintf(label, sizeof label, "%s%s, %s", i == 0 ? "" : "  ",
                       what[0] == 'r' ? "run time" : "wait", names[i]);
        put_time(info, key, label, values[i]);
    }
}

static void put_level(struct info *info, const char *what, const char *label, bool is_wanted,
                      const struct wl_level *level)
{
    static const char *const names[] = { "mean", "p50", "p95", "max" };
    const double values[] = { level->mean, level->p50, level->p95, level->max };
    for (size_t i = 0; i < 4 && is_wanted; i++) {
        char key[CELL];
        char text[CELL];
        (void)snprintf(key, sizeof key, "%s_%s", what, names[i]);
        (void)snprintf(text, sizeof text, "%s%s, %s", i == 0 ? "" : "  ", label, names[i]);
        put(info, key, text, "", values[i]);
    }
}

static void put_load(struct info *info)
{
    const struct wl_trace_facts *facts = &info->facts;
    const bool has_gpus = facts->gpu_hours > 0;
    const bool has_waits = facts->without_wait < facts->jobs;
    if (has_gpus || is_for_programs(info))
        put(info, "gpu_hours", "GPU-hours", "", facts->gpu_hours);
    put(info, "cpu_hours", "CPU-hours", "", facts->cpu_hours);
    put(info, "top_percent", "  held by the largest 1 % of the jobs", "%",
        100 * facts->top_percent_frac);
    put(info, "week_jobs", "  jobs longer than 7 days", "", (double)facts->week_jobs);
    put(info, "week_share", "  held by these", "%", 100 * facts->week_frac);
    put_quantiles(info, "run", &facts->run);
    put_quantiles(info, "wait", &facts->wait);
    put_level(info, "gpus", has_waits ? "GPUs in use" : "GPUs asked for, had nobody waited",
              has_gpus || is_for_programs(info), &facts->gpus_used);
    put_level(info, "cpus", has_waits ? "CPUs in use" : "CPUs asked for, had nobody waited",
              facts->cpu_hours > 0 || is_for_programs(info), &facts->cpus_used);
    put_level(info, "running", has_waits ? "running jobs" : "running jobs, had nobody waited", true,
              &facts->jobs_running);
}

static void put_cluster(struct info *info)
{
    const struct wl_trace_facts *facts = &info->facts;
    const double gpus = (double)facts->gpus_there;
    if (!facts->has_nodes)
        return;
    put(info, "nodes_there", "nodes of the cluster", "", (double)facts->nodes_there);
    put(info, "gpus_there", "  GPUs", "", gpus);
    put(info, "cpus_there", "  CPUs", "", facts->cpus_there);
    put(info, "gpu_load", "  GPUs in use over GPUs there", "%",
        gpus > 0 ? 100 * facts->gpus_used.mean / gpus : (double)NAN);
    put(info, "cpu_load", "  CPUs in use over CPUs there", "%",
        facts->cpus_there > 0 ? 100 * facts->cpus_used.mean / facts->cpus_there : (double)NAN);
    put_fault(info, "never_model", "  never fit: no such GPU model", facts->never.model);
    put_fault(info, "never_gpus", "  never fit one node: GPUs", facts->never.gpus);
    put_fault(info, "never_cpus", "  never fit one node: CPUs", facts->never.cpus);
    put_fault(info, "never_memory", "  never fit one node: memory", facts->never.memory);
    put_fault(info, "never_cluster", "  of these larger than the cluster", facts->never.cluster);
}

/* ---- by size and model ---- */

static void print_table(struct info *info, const char *key, const char *heading,
                        struct sim_table *table)
{
    if (info->format == SIM_FORMAT_JSON) {
        sim_json_key(&info->json, key);
        sim_table_write_json(table, &info->json);
    } else {
        printf(info->format == SIM_FORMAT_MD ? "\n### %s\n\n" : "\n%s\n", heading);
        sim_table_print(table, info->format, stdout);
    }
    sim_table_destroy(table);
}

static void print_sizes(struct info *info)
{
    static const struct sim_column columns[] = {
        { "size", "size", NULL, false, false },
        { "jobs", "jobs", NULL, true, true },
        { "left waiting", "never_started", NULL, true, true },
        { "GPU-hours", "gpu_hours", NULL, true, true },
        { "GPUs", "gpus_mean", "mean", true, true },
        { "CPU-hours", "cpu_hours", NULL, true, true },
        { "CPUs", "cpus_mean", "mean", true, true },
        { "run p50", "run_p50_s", "s", true, true },
        { "wait p50", "wait_p50_s", "s", true, true },
    };
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    struct sim_table *table = sim_table_create(columns, COLUMNS);
    for (size_t i = 0; i < info->facts.size_count; i++) {
        const struct wl_size_facts *size = &info->facts.sizes[i];
        const double values[COLUMNS - 1] = { (double)size->jobs, (double)size->never_started,
                                             size->gpu_hours,    size->gpus_mean,
                                             size->cpu_hours,    size->cpus_mean,
                                             size->run_p50_s,    size->wait_p50_s };
        sim_table_add(table, size->label);
        sim_table_add_numbers(table, info->format, values, COLUMNS - 1);
    }
    print_table(info, "sizes", "By size of the jobs (means are over the window)", table);
}

static void print_models(struct info *info)
{
    static const struct sim_column columns[] = {
        { "GPU models", "models", NULL, false, false },
        { "jobs", "jobs", NULL, true, true },
        { "GPU-hours", "gpu_hours", NULL, true, true },
        { "GPUs", "gpus_mean", "mean", true, true },
        { "GPUs there", "gpus_there", NULL, true, true },
        { "load", "load_percent", "%", true, true },
    };
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    struct sim_table *table = sim_table_create(columns, COLUMNS);
    for (size_t i = 0; i < info->facts.model_count; i++) {
        const struct wl_model_facts *model = &info->facts.models[i];
        const double there = info->facts.has_nodes ? (double)model->gpus_there : (double)NAN;
        const double values[COLUMNS - 1] = { (double)model->jobs, model->gpu_hours,
                                             model->gpus_mean, there,
                                             100 * model->gpus_mean / there };
        sim_table_add(table, model->models[0] == '\0' ? "any" : model->models);
        sim_table_add_numbers(table, info->format, values, COLUMNS - 1);
    }
    print_table(info, "models", "By GPU models that jobs accept", table);
}

static void print_groups(struct info *info)
{
    struct sim_table *table = NULL;
    if (info->arguments->groups == 0 || info->trace.jobs.count == 0)
        return;
    if (sim_trace_groups(&info->trace.jobs, info->arguments->groups, info->format, &table) ==
        WEIR_OK)
        print_table(info, "groups", "By needs (means of logarithms)", table);
}

/* ---- the whole ---- */

static void put_facts(struct info *info)
{
    put_span(info);
    put_faults(info);
    put_arrivals(info);
    put_load(info);
    put_cluster(info);
}

static void print_json(struct info *info)
{
    char zero[WL_TIMESTAMP_TEXT];
    const int64_t zero_ns = info->trace.jobs.zero_unix_ns;
    info->json = (struct sim_json){ .out = stdout };
    sim_json_begin_object(&info->json);
    sim_json_integer(sim_json_key(&info->json, "schema"), 1);
    sim_json_string(sim_json_key(&info->json, "file"), info->arguments->file);
    sim_json_string(sim_json_key(&info->json, "format"), info->trace.format);
    sim_json_string(sim_json_key(&info->json, "zero"),
                    zero_ns == WL_UNKNOWN ? NULL : wl_date_text(zero_ns, zero));
    sim_json_flag(sim_json_key(&info->json, "is_truncated"), info->facts.is_truncated);
    sim_json_begin_object(sim_json_key(&info->json, "facts"));
    put_facts(info);
    sim_json_end_object(&info->json);
    print_sizes(info);
    print_models(info);
    print_groups(info);
    sim_json_end_object(&info->json);
    (void)fputc('\n', stdout);
}

static void print_tables(struct info *info)
{
    static const struct sim_column columns[] = {
        { "fact", "fact", NULL, false, false },
        { "value", "value", NULL, true, true },
        { "unit", "unit", NULL, false, false },
    };
    char zero[WL_TIMESTAMP_TEXT];
    const int64_t zero_ns = info->trace.jobs.zero_unix_ns;
    info->table = sim_table_create(columns, 3);
    put_facts(info);
    if (info->format != SIM_FORMAT_CSV)
        printf("%s: %s%s%s\n\n", info->arguments->file, info->trace.format,
               zero_ns == WL_UNKNOWN ? "" : ", zero is ",
               zero_ns == WL_UNKNOWN ? "" : wl_date_text(zero_ns, zero));
    sim_table_print(info->table, info->format, stdout);
    sim_table_destroy(info->table);
    if (info->facts.size_count > 0)
        print_sizes(info);
    if (info->facts.model_count > 0)
        print_models(info);
    print_groups(info);
}

static void warn(const struct info *info)
{
    const struct wl_trace_facts *facts = &info->facts;
    if (facts->is_truncated)
        (void)fprintf(stderr,
                      "weir: warning: what ended before %.4g days is not in the trace: rates and "
                      "loads are over the %.4g days behind\n",
                      seconds(facts->from_ns) / day_s,
                      seconds(facts->to_ns - facts->from_ns) / day_s);
    if (facts->duplicate_rows > 0)
        (void)fprintf(stderr, "weir: warning: %zu rows are there twice; all count\n",
                      facts->duplicate_rows);
    if (facts->duplicate_names > facts->duplicate_rows)
        (void)fprintf(stderr, "weir: warning: %zu names are there twice\n", facts->duplicate_names);
}

/* ---- nodes ---- */

static bool add_node(struct wl_openb_nodes *nodes, const struct sim_scenario *scenario,
                     const struct sim_node_type *type)
{
    struct wl_openb_node *node = &nodes->nodes[nodes->count];
    uint32_t most = 0;
    *node = (struct wl_openb_node){ .cpu_milli = (int64_t)llround(1000 * type->cpus),
                                    .memory_mib = type->ram_bytes / 1048576 };
    for (size_t g = 0; g < type->gpus_count; g++) {
        node->gpus += type->gpus[g].count;
        most = type->gpus[g].count > type->gpus[most].count ? (uint32_t)g : most;
    }
    node->name = strdup(type->name == NULL ? "" : type->name);
    node->model =
        strdup(type->gpus_count == 0 ? "" : scenario->gpu_types[type->gpus[most].type].name);
    nodes->count++;
    return node->name != NULL && node->model != NULL;
}

/* A node with GPUs of several types counts as one with those of which it has most. */
static int nodes_of_scenario(const char *path, const struct sim_options *options,
                             struct wl_openb_nodes *nodes)
{
    struct sim_scenario *scenario = NULL;
    const int code = sim_cli_load(path, options, NULL, &scenario);
    if (code != SIM_EXIT_OK)
        return code;
    const uint32_t count = sim_scenario_node_count(scenario);
    nodes->nodes = calloc((size_t)count + 1, sizeof *nodes->nodes);
    bool has_room = nodes->nodes != NULL;
    for (uint32_t n = 0; n < count && has_room; n++)
        has_room = add_node(nodes, scenario, sim_scenario_node_type(scenario, n));
    sim_scenario_destroy(scenario);
    if (!has_room)
        (void)fprintf(stderr, "weir: out of memory\n");
    return has_room ? SIM_EXIT_OK : SIM_EXIT_RESOURCE;
}

static int read_nodes(struct info *info)
{
    const struct sim_trace_arguments *arguments = info->arguments;
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (arguments->scenario != NULL)
        return nodes_of_scenario(arguments->scenario, &arguments->options, &info->nodes);
    if (arguments->nodes == NULL ||
        wl_openb_read_nodes(arguments->nodes, &info->nodes, &error) == WEIR_OK)
        return SIM_EXIT_OK;
    (void)fprintf(stderr, "weir: %s\n", error.text);
    return SIM_EXIT_INPUT;
}

static weir_status draw(const struct info *info, struct weir_error *error)
{
    const struct wl_trace_facts *facts = &info->facts;
    const char *slash = strrchr(info->arguments->file, '/');
    const struct an_arrivals arrivals = {
        .name = slash == NULL ? info->arguments->file : slash + 1,
        .hours = facts->hours,
        .hour_count = facts->hour_count,
        .from_s = facts->from_ns == WL_UNKNOWN ? 0 : seconds(facts->from_ns),
        .zero_unix_s = info->trace.jobs.zero_unix_ns == WL_UNKNOWN
                           ? (double)NAN
                           : seconds(info->trace.jobs.zero_unix_ns),
        .per_hour = facts->per_hour,
        .dispersion = facts->dispersion
    };
    return info->arguments->plot == NULL
               ? WEIR_OK
               : an_arrivals_plot(info->arguments->plot, &arrivals, error);
}

static int print_info(struct info *info)
{
    const bool has_nodes = info->arguments->nodes != NULL || info->arguments->scenario != NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = wl_trace_facts_find(&info->trace.jobs, has_nodes ? &info->nodes : NULL,
                                             &info->facts, &error);
    if (status == WEIR_OK) {
        if (info->format == SIM_FORMAT_JSON)
            print_json(info);
        else
            print_tables(info);
        warn(info);
        status = draw(info, &error);
    }
    wl_trace_facts_clear(&info->facts);
    return sim_trace_exit(status, &error);
}

int sim_trace_info(const struct sim_trace_arguments *arguments)
{
    struct info info = { .arguments = arguments, .format = arguments->options.format };
    int code = sim_trace_read(arguments, &info.trace);
    if (code == SIM_EXIT_OK)
        code = read_nodes(&info);
    if (code == SIM_EXIT_OK)
        code = print_info(&info);
    wl_jobs_clear(&info.trace.jobs);
    wl_openb_nodes_clear(&info.nodes);
    return code;
}
