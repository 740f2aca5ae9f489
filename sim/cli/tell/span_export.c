/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing spans as CSV or as a Chrome trace; see the header. */
#include "sim/cli/tell/span_export.h"

#include "sim/cli/json_writer.h"
#include "sim/files/written.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sim_span_export {
    struct written file;
    FILE *out;
    char *path;
    const struct sim_scenario *scenario;
    struct sim_observer observer;
    struct sim_json json;
    uint64_t limit, written, seen;
    bool is_trace, is_brief;
    char **pools; /* "stage", or "pipeline.stage" when there are several pipelines; "system.role" */
    char **nodes;
};

enum { NAME = 256 };
/* A viewer in a browser holds about a million events. */
static const uint64_t trace_limit = 1000000;

static size_t count_pools(const struct sim_scenario *scenario)
{
    size_t count = scenario->stages_total;
    for (size_t a = 0; a < scenario->actors_count; a++)
        count += scenario->actors[a].sets_count;
    return count;
}

static void destroy(struct sim_span_export *made)
{
    const struct sim_scenario *scenario = made->scenario;
    for (size_t p = 0; made->pools != NULL && p < count_pools(scenario); p++)
        free(made->pools[p]);
    for (uint32_t n = 0; made->nodes != NULL && n < sim_scenario_node_count(scenario); n++)
        free(made->nodes[n]);
    free(made->pools);
    free(made->nodes);
    free(made->path);
    free(made);
}

static bool name_pool(char **name, const char *owner, const char *pool)
{
    if (asprintf(name, "%s%s%s", owner, owner[0] == '\0' ? "" : ".", pool) < 0)
        *name = NULL;
    return *name != NULL;
}

/* In the order in which drivers add their pools: stages, then sets of actors. */
static bool name_pools(struct sim_span_export *made)
{
    const struct sim_scenario *scenario = made->scenario;
    char **next = made->pools = calloc(count_pools(scenario) + 1, sizeof(*made->pools));
    bool has_memory = made->pools != NULL;
    for (size_t p = 0; has_memory && p < scenario->pipelines_count; p++) {
        const struct sim_pipeline *pipeline = &scenario->pipelines[p];
        const char *owner = scenario->pipelines_count == 1 ? "" : pipeline->name;
        for (size_t s = 0; has_memory && s < pipeline->stages_count; s++)
            has_memory = name_pool(next++, owner, pipeline->stages[s].name);
    }
    for (size_t a = 0; has_memory && a < scenario->actors_count; a++) {
        const struct sim_actor_system *system = &scenario->actors[a];
        for (size_t s = 0; has_memory && s < system->sets_count; s++)
            has_memory = name_pool(next++, system->name, system->sets[s].name);
    }
    return has_memory;
}

static bool name_nodes(struct sim_span_export *made)
{
    const uint32_t count = sim_scenario_node_count(made->scenario);
    made->nodes = calloc((size_t)count + 1, sizeof(*made->nodes));
    for (uint32_t n = 0; made->nodes != NULL && n < count; n++) {
        char name[NAME];
        sim_scenario_node_name(made->scenario, n, name, sizeof name);
        made->nodes[n] = strdup(name);
        if (made->nodes[n] == NULL)
            return false;
    }
    return made->nodes != NULL;
}

static const char *gpu_name(const struct sim_span_export *made, uint32_t type)
{
    return type == WEIR_NO_INDEX ? "" : made->scenario->gpu_types[type].name;
}

static bool has_room(struct sim_span_export *made)
{
    made->seen++;
    made->written += made->seen <= made->limit ? 1 : 0;
    return made->seen <= made->limit;
}

/* ---- CSV ---- */

/* A text cell: in quotes when it must be. */
static void write_cell(FILE *out, const char *text)
{
    const bool is_plain = strpbrk(text, ",\"\r\n") == NULL && text[0] != ' ';
    if (is_plain) {
        (void)fprintf(out, "%s,", text);
        return;
    }
    (void)fputc('"', out);
    for (const char *c = text; *c != '\0'; c++)
        (void)(*c == '"' ? fputs("\"\"", out) : fputc(*c, out));
    (void)fputs("\",", out);
}

/* Seconds with all nanoseconds, without going through a double. */
static void write_time(FILE *out, int64_t time_ns)
{
    const uint64_t size = (uint64_t)(time_ns < 0 ? -time_ns : time_ns);
    (void)fprintf(out, "%s%llu.%09llu,", time_ns < 0 ? "-" : "",
                  (unsigned long long)(size / (uint64_t)SIM_NS_PER_S),
                  (unsigned long long)(size % (uint64_t)SIM_NS_PER_S));
}

static void csv_span(void *state, const struct sim_span *span)
{
    struct sim_span_export *made = state;
    FILE *out = made->out;
    if (!has_room(made))
        return;
    write_cell(out, made->pools[span->stage]);
    (void)fprintf(out, "%llu,%u,%llu,", (unsigned long long)span->item, span->attempt,
                  (unsigned long long)span->worker);
    write_cell(out, made->nodes[span->node]);
    write_cell(out, gpu_name(made, span->gpu_type));
    write_time(out, span->queued_ns);
    write_time(out, span->start_ns);
    write_time(out, span->end_ns);
    char size[40];
    sim_json_number_text(span->size, size, sizeof size);
    (void)fprintf(out, "%s,%u,%u,%d,task\n", size, span->batch, span->returns,
                  span->has_failed ? 1 : 0);
}

static void csv_setup(void *state, const struct sim_setup_span *setup)
{
    struct sim_span_export *made = state;
    FILE *out = made->out;
    if (!has_room(made))
        return;
    write_cell(out, made->pools[setup->stage]);
    (void)fprintf(out, ",,%llu,", (unsigned long long)setup->worker);
    write_cell(out, made->nodes[setup->node]);
    write_cell(out, gpu_name(made, setup->gpu_type));
    (void)fputc(',', out);
    write_time(out, setup->start_ns);
    write_time(out, setup->end_ns);
    (void)fputs(",,,,setup\n", out);
}

/* ---- Chrome trace: times in microseconds ---- */

static void begin_event(struct sim_json *json, const char *name, const char *phase, uint32_t node,
                        uint64_t worker)
{
    sim_json_begin_object(json);
    sim_json_string(sim_json_key(json, "name"), name);
    sim_json_string(sim_json_key(json, "ph"), phase);
    sim_json_unsigned(sim_json_key(json, "pid"), node);
    sim_json_unsigned(sim_json_key(json, "tid"), worker);
}

/* No viewer shows less, and further digits are most of a file. Begin and end are rounded apart, so
 * that what lies within something still does. */
static int64_t whole_us(int64_t time_ns)
{
    return (time_ns + 500) / 1000;
}

static void write_span_times(struct sim_json *json, const char *category, int64_t start_ns,
                             int64_t end_ns)
{
    sim_json_string(sim_json_key(json, "cat"), category);
    sim_json_integer(sim_json_key(json, "ts"), whole_us(start_ns));
    sim_json_integer(sim_json_key(json, "dur"), whole_us(end_ns) - whole_us(start_ns));
}

static void end_event(struct sim_json *json)
{
    sim_json_end_object(json);
}

static void trace_span(void *state, const struct sim_span *span)
{
    struct sim_span_export *made = state;
    struct sim_json *json = &made->json;
    if (span->place != 0 || !has_room(made))
        return;
    begin_event(json, made->pools[span->stage], "X", span->node, span->worker);
    write_span_times(json, span->has_failed ? "failed" : "task", span->start_ns, span->end_ns);
    sim_json_begin_object(sim_json_key(json, "args"));
    sim_json_unsigned(sim_json_key(json, "item"), span->item);
    if (!made->is_brief || span->attempt > 0)
        sim_json_unsigned(sim_json_key(json, "attempt"), span->attempt);
    if (!made->is_brief || span->batch > 1)
        sim_json_unsigned(sim_json_key(json, "batch"), span->batch);
    const int64_t waited_ms = (span->start_ns - span->queued_ns + 500000) / 1000000;
    if (!made->is_brief)
        sim_json_number(sim_json_key(json, "waited_s"), (double)waited_ms / 1e3);
    sim_json_end_object(json);
    end_event(json);
}

static void trace_setup(void *state, const struct sim_setup_span *setup)
{
    struct sim_span_export *made = state;
    char name[NAME];
    if (!has_room(made))
        return;
    (void)snprintf(name, sizeof name, "%.200s set-up", made->pools[setup->stage]);
    begin_event(&made->json, name, "X", setup->node, setup->worker);
    write_span_times(&made->json, "setup", setup->start_ns, setup->end_ns);
    end_event(&made->json);
}

static void begin_trace(struct sim_span_export *made)
{
    struct sim_json *json = &made->json;
    *json = (struct sim_json){ .out = made->out, .compact = true };
    sim_json_begin_object(json);
    sim_json_string(sim_json_key(json, "displayTimeUnit"), "ms");
    sim_json_begin_array(sim_json_key(json, "traceEvents"));
    const uint32_t nodes = sim_scenario_node_count(made->scenario);
    for (uint32_t n = 0; n <= nodes; n++) {
        begin_event(json, "process_name", "M", n, 0);
        sim_json_begin_object(sim_json_key(json, "args"));
        sim_json_string(sim_json_key(json, "name"), n < nodes ? made->nodes[n] : "cluster");
        sim_json_end_object(json);
        end_event(json);
    }
}

/* ---- life ---- */

weir_status sim_span_export_open(const char *path, uint64_t limit,
                                 const struct sim_scenario *scenario, struct sim_span_export **made,
                                 struct weir_error *error)
{
    struct sim_span_export *fresh = calloc(1, sizeof(*fresh));
    if (fresh == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    fresh->scenario = scenario;
    fresh->path = strdup(path);
    fresh->is_trace = written_ends(path, ".json") || written_ends(path, ".json.gz");
    fresh->limit = limit > 0 ? limit : (fresh->is_trace ? trace_limit : UINT64_MAX);
    weir_status status = WEIR_OK;
    if (fresh->path == NULL || !name_pools(fresh) || !name_nodes(fresh))
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (status == WEIR_OK)
        status = written_open(path, &fresh->file, error);
    if (status != WEIR_OK) {
        destroy(fresh);
        return status;
    }
    fresh->out = fresh->file.out;
    fresh->observer = (struct sim_observer){ .span = fresh->is_trace ? trace_span : csv_span,
                                             .setup = fresh->is_trace ? trace_setup : csv_setup,
                                             .state = fresh };
    if (fresh->is_trace)
        begin_trace(fresh);
    else
        (void)fputs("stage,item,attempt,worker,node,gpu,queued_at,start,end,size,batch,n_out,"
                    "failed,kind\n",
                    fresh->out);
    *made = fresh;
    return WEIR_OK;
}

const struct sim_observer *sim_span_export_observer(const struct sim_span_export *made)
{
    return &made->observer;
}

/* ---- beside the tasks ---- */

void sim_span_export_unseen(struct sim_span_export *made, uint64_t count)
{
    made->seen += count;
}

void sim_span_export_brief(struct sim_span_export *made)
{
    made->is_brief = true;
}

void sim_span_export_life(struct sim_span_export *made, const struct sim_span_life *life)
{
    struct sim_json *json = &made->json;
    if (!has_room(made))
        return;
    begin_event(json, life->name, "X", life->node, life->worker);
    write_span_times(json, "worker", llround(life->start_s * 1e9), llround(life->end_s * 1e9));
    sim_json_begin_object(sim_json_key(json, "args"));
    sim_json_string(sim_json_key(json, "end"), life->why);
    sim_json_end_object(json);
    end_event(json);
}

/* Counters and marks are the whole cluster's, a process of its own behind the nodes. */
static void begin_cluster_event(struct sim_span_export *made, const char *name, const char *phase,
                                double t_s)
{
    begin_event(&made->json, name, phase, sim_scenario_node_count(made->scenario), 0);
    sim_json_number(sim_json_key(&made->json, "ts"), t_s * 1e6);
}

void sim_span_export_counter(struct sim_span_export *made, const char *name, double t_s,
                             double value)
{
    struct sim_json *json = &made->json;
    if (!isfinite(value) || !has_room(made))
        return;
    begin_cluster_event(made, name, "C", t_s);
    sim_json_begin_object(sim_json_key(json, "args"));
    sim_json_number(sim_json_key(json, "value"), value);
    sim_json_end_object(json);
    end_event(json);
}

void sim_span_export_mark(struct sim_span_export *made, const char *name, double t_s)
{
    if (!has_room(made))
        return;
    begin_cluster_event(made, name, "i", t_s);
    sim_json_string(sim_json_key(&made->json, "s"), "g");
    end_event(&made->json);
}

weir_status sim_span_export_close(struct sim_span_export *made, struct weir_error *error)
{
    return sim_span_export_end(made, WEIR_OK, error);
}

weir_status sim_span_export_end(struct sim_span_export *made, weir_status failed,
                                struct weir_error *error)
{
    if (made->is_trace) {
        sim_json_end_array(&made->json);
        sim_json_end_object(&made->json);
        (void)fputc('\n', made->out);
    }
    const weir_status status = written_close(&made->file, failed, error);
    if (status == WEIR_OK && made->written < made->seen)
        (void)fprintf(stderr,
                      "weir: %s: the first %llu of %llu spans are written (--spans-limit raises "
                      "it)\n",
                      made->path, (unsigned long long)made->written,
                      (unsigned long long)made->seen);
    destroy(made);
    return status;
}
