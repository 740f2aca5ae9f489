/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows that come one at a time: experiment, run, node, stage, worker, happening, result.
 *
 * Times become seconds here, digests 16 hex digits, -1 NULL. All functions accept a NULL recorder.
 */
#include "sim/record/record_state.h"

#include "sim/engine/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *const record_run_tables[] = { "run",
                                          "run_wall",
                                          "node",
                                          "link",
                                          "stage",
                                          "result",
                                          "result_wall",
                                          "cluster_sample",
                                          "node_sample",
                                          "link_sample",
                                          "memory_sample",
                                          "power_sample",
                                          "feature_sample",
                                          "stage_sample",
                                          "arrival_sample",
                                          "arrival_part",
                                          "placement_change",
                                          "defrag_move",
                                          "workload",
                                          "job_label",
                                          "job",
                                          "job_sample",
                                          "job_pace",
                                          "worker",
                                          "action",
                                          "decision",
                                          "decision_wall",
                                          "decision_stage",
                                          "happening",
                                          "audit",
                                          "histogram",
                                          "candidate",
                                          NULL };
_Static_assert(sizeof record_run_tables / sizeof record_run_tables[0] == RECORD_RUN_TABLES + 1,
               "a shard keeps one content for each table");

struct digest_text {
    char text[17];
};

static struct digest_text print_digest(uint64_t digest)
{
    struct digest_text printed;
    (void)snprintf(printed.text, sizeof printed.text, "%016" PRIx64, digest);
    return printed;
}

static struct cell cell_time(const char *column, int64_t time_ns)
{
    return cell_if(time_ns >= 0, cell_real(column, sim_time_s(time_ns)));
}

/* ---- experiments ---- */

weir_status sim_recorder_meta(struct sim_recorder *recorder, const char *key, const char *value,
                              struct weir_error *error)
{
    const struct cell cells[] = { cell_text("key", key), cell_text("value", value) };
    return INSERT(recorder, RECORD_META, cells, error);
}

weir_status sim_recorder_view(struct sim_recorder *recorder, const char *sql,
                              struct weir_error *error)
{
    return recorder == NULL ? WEIR_OK : record_execute(recorder, sql, error);
}

weir_status sim_recorder_experiment(struct sim_recorder *recorder,
                                    const struct sim_experiment_row *row, int64_t *experiment_id,
                                    struct weir_error *error)
{
    if (!recorder) {
        *experiment_id = 0;
        return WEIR_OK;
    }
    const struct digest_text digest = print_digest(row->scenario_digest);
    const int64_t id = recorder->experiment_id + 1;
    const struct cell cells[] = { cell_int("experiment_id", id),
                                  cell_text("scenario", row->scenario),
                                  cell_text("description", row->description),
                                  cell_text("resolved_yaml", row->resolved_yaml),
                                  cell_text("scenario_digest", digest.text),
                                  cell_text("command_line", row->command_line),
                                  cell_text("baseline", row->baseline) };
    WEIR_TRY(INSERT(recorder, RECORD_EXPERIMENT, cells, error));
    recorder->experiment_id = id;
    *experiment_id = id;
    return WEIR_OK;
}

weir_status sim_recorder_input_file(struct sim_recorder *recorder, const char *path, int64_t bytes,
                                    uint64_t digest, struct weir_error *error)
{
    const struct digest_text text = print_digest(digest);
    const struct cell cells[] = { cell_text("path", path), cell_int("bytes", bytes),
                                  cell_text("digest", text.text) };
    return INSERT(recorder, RECORD_INPUT_FILE, cells, error);
}

weir_status sim_recorder_expectation(struct sim_recorder *recorder,
                                     const struct sim_expectation_row *row,
                                     struct weir_error *error)
{
    const struct cell cells[] = {
        cell_int("line", row->line),        cell_text("text", row->text),
        cell_text("variant", row->variant), cell_real("value", row->value),
        cell_real("bound", row->bound),     cell_int("is_met", row->is_met)
    };
    return INSERT(recorder, RECORD_EXPECTATION, cells, error);
}

/* ---- runs ---- */

/* What a killed or interrupted attempt at this run left behind. */
static weir_status remove_unfinished(struct sim_recorder *recorder, int64_t run_id,
                                     struct weir_error *error)
{
    char sql[160];
    (void)snprintf(sql, sizeof sql,
                   "SELECT 1 FROM run WHERE run_id = %" PRId64
                   " AND status IN ('running', 'interrupted')",
                   run_id);
    sqlite3_stmt *statement = NULL;
    WEIR_TRY(record_prepare(recorder, sql, &statement, error));
    const bool is_there = sqlite3_step(statement) == SQLITE_ROW;
    if (sqlite3_finalize(statement) != SQLITE_OK)
        return record_fail(recorder, "read", error);
    for (size_t i = 0; is_there && record_run_tables[i]; i++) {
        (void)snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run_id = %" PRId64,
                       record_run_tables[i], run_id);
        WEIR_TRY(record_execute(recorder, sql, error));
    }
    return WEIR_OK;
}

weir_status sim_recorder_run(struct sim_recorder *recorder, const struct sim_run_row *row,
                             struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    WEIR_TRY(record_publish(recorder, error));
    recorder->has_failed = false;
    WEIR_TRY(record_flush_samples(recorder, error)); /* they belong to the run before */
    WEIR_TRY(record_begin(recorder, error));
    WEIR_TRY(remove_unfinished(recorder, row->run_id, error));
    memset(recorder->contents, 0, sizeof recorder->contents);
    const struct digest_text digest = print_digest(row->scenario_digest);
    const bool is_open_ended = row->horizon_ns < 0 || row->horizon_ns == SIM_TIME_MAX;
    const struct cell cells[] = { cell_int("run_id", row->run_id),
                                  cell_int("experiment_id", row->experiment_id),
                                  cell_text("variant", row->variant),
                                  cell_int("variant_order", row->variant_order),
                                  cell_int("replication", row->replication),
                                  cell_int("seed", (int64_t)row->seed),
                                  cell_text("placement", row->placement),
                                  cell_text("scaling", row->scaling),
                                  cell_text("resolved_yaml", row->resolved_yaml),
                                  cell_text("scenario_digest", digest.text),
                                  cell_int("start_unix_s", row->start_unix_s),
                                  cell_real("warmup_s", sim_time_s(row->warmup_ns)),
                                  cell_if(!is_open_ended,
                                          cell_real("horizon_s", sim_time_s(row->horizon_ns))),
                                  cell_text("status", "running"),
                                  cell_text("message", "") };
    WEIR_TRY(INSERT(recorder, RECORD_RUN, cells, error));
    recorder->run_id = row->run_id;
    recorder->keep = row->keep;
    recorder->denial_capacity = 0;
    recorder->run_start_unix_s = (int64_t)time(NULL);
    /* At once, so that a run that is killed later is known to have started. */
    return record_commit(recorder, error);
}

static weir_status write_run_wall(struct sim_recorder *recorder, const struct sim_run_end *end,
                                  struct weir_error *error)
{
    char host[256] = "";
    char started[32];
    struct tm parts = { 0 };
    const time_t start = (time_t)recorder->run_start_unix_s;
    (void)strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &parts));
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    const struct cell cells[] = {
        cell_real("wall_s", end->wall_s),
        cell_real("cpu_s", end->cpu_s),
        cell_real("peak_rss_mib", end->peak_rss_mib),
        cell_text("started_utc", started),
        cell_text("host", host),
        cell_text("version", WEIR_VERSION),
        cell_sql("git_commit", "coalesce((SELECT value FROM meta WHERE key = 'git_commit'), '')")
    };
    return INSERT(recorder, RECORD_RUN_WALL, cells, error);
}

weir_status sim_recorder_end_run(struct sim_recorder *recorder, const struct sim_run_end *end,
                                 struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    if (recorder->has_failed && strcmp(end->status, "failed") != 0)
        return weir_fail(error, WEIR_EIO, "%s: rows of the run could not be written",
                         recorder->path);
    WEIR_TRY(record_flush_samples(recorder, error));
    const struct digest_text events = print_digest(end->event_digest);
    const struct digest_text results = print_digest(end->result_digest);
    const struct cell cells[] = { cell_time("end_s", end->end_ns),
                                  cell_text("status", end->status),
                                  cell_text("message", end->message),
                                  cell_int("events", (int64_t)end->events),
                                  cell_text("event_digest", events.text),
                                  cell_text("result_digest", results.text),
                                  cell_real("sample_s", sim_time_s(end->sample_ns)),
                                  cell_int("is_steady", end->is_steady),
                                  cell_int("items_done", (int64_t)end->items_done) };
    WEIR_TRY(INSERT(recorder, RECORD_RUN_END, cells, error));
    WEIR_TRY(write_run_wall(recorder, end, error));
    if (recorder->is_shard)
        WEIR_TRY(record_write_manifest(recorder, error));
    return record_commit(recorder, error);
}

weir_status sim_recorder_fail_run(struct sim_recorder *recorder, int64_t run_id,
                                  const char *message, struct weir_error *error)
{
    sqlite3_stmt *update = NULL;
    if (!recorder)
        return WEIR_OK;
    WEIR_TRY(record_prepare(recorder,
                            "UPDATE run SET status = 'failed', message = ? WHERE run_id = ? AND "
                            "status = 'running'",
                            &update, error));
    (void)sqlite3_bind_text(update, 1, message, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(update, 2, run_id);
    const weir_status status = record_step(recorder, update, 1, error);
    (void)sqlite3_finalize(update);
    return status;
}

weir_status sim_recorder_node(struct sim_recorder *recorder, const struct sim_node_row *row,
                              struct weir_error *error)
{
    const struct cell cells[] = { cell_int("node", row->node),
                                  cell_text("name", row->name),
                                  cell_text("type", row->type),
                                  cell_real("cpus", row->cpus),
                                  cell_int("gpus", row->gpus),
                                  cell_text("gpu_type", row->gpu_type),
                                  cell_int("nvdecs", row->nvdecs),
                                  cell_int("nvencs", row->nvencs),
                                  cell_int("ram_bytes", row->ram_bytes),
                                  cell_int("gpu_mem_bytes", row->gpu_mem_bytes),
                                  cell_real("ram_limit_bytes", row->ram_limit_bytes) };
    return INSERT(recorder, RECORD_NODE, cells, error);
}

weir_status sim_recorder_link(struct sim_recorder *recorder, const struct sim_link_row *row,
                              struct weir_error *error)
{
    const struct cell cells[] = { cell_int("link", row->link), cell_text("name", row->name),
                                  cell_text("kind", row->kind), cell_index("node", row->node),
                                  cell_real("bytes_per_s", row->bytes_per_s) };
    return INSERT(recorder, RECORD_LINK, cells, error);
}

/* What is asked for, and on which nodes. */
enum { REQUEST = 288 };
static void print_request(const struct weir_shape *shape, const char *nodes, char text[REQUEST])
{
    const size_t length = weir_shape_print(shape, text, REQUEST);
    if (length < REQUEST)
        (void)snprintf(text + length, REQUEST - length, "%s", nodes);
}

weir_status sim_recorder_stage(struct sim_recorder *recorder, const struct sim_stage_row *row,
                               struct weir_error *error)
{
    char shape[REQUEST] = "";
    print_request(row->shape, row->nodes, shape);
    /* Engines of a WHOLE shape are per GPU. */
    const int64_t gpus = row->shape->gpu_count > 0 ? row->shape->gpu_count : 1;
    const double gpu_amount = weir_units_amount(row->shape->gpu_units) * (double)gpus;
    const struct cell cells[] = {
        cell_int("stage", row->stage),
        cell_text("pipeline", row->pipeline),
        cell_text("name", row->name),
        cell_int("position", row->position),
        cell_text("shape", shape),
        cell_real("cpus", weir_units_amount(row->shape->cpu_units)),
        cell_real("gpus", gpu_amount),
        cell_int("nvdecs", gpus * (int64_t)row->shape->nvdecs),
        cell_int("nvencs", gpus * (int64_t)row->shape->nvencs),
        cell_int("batch", row->batch),
        cell_if(row->workers_fixed >= 0, cell_int("workers_fixed", row->workers_fixed)),
        cell_real("service_mean_s", row->service_mean_s),
        cell_if(row->bound_workers > 0, cell_int("bound_workers", row->bound_workers)),
        cell_real("mix", row->mix)
    };
    return INSERT(recorder, RECORD_STAGE, cells, error);
}

/* ---- workers ---- */

struct device_text {
    char text[512];
    size_t length;
};

static void print_engines(struct device_text *text, const char *kind, uint32_t gpu, uint32_t mask)
{
    for (uint32_t engine = 0; engine < WEIR_MAX_ENGINES; engine++) {
        if (!(mask >> engine & 1U) || text->length >= sizeof text->text)
            continue;
        const int added = snprintf(text->text + text->length, sizeof text->text - text->length,
                                   "%s%s%u.%u", text->length ? " " : "", kind, gpu, engine);
        text->length += added > 0 ? (size_t)added : 0;
    }
}

/* "gpu3:0.25 nvdec3.1"; cut off where it does not fit. */
static void print_devices(struct device_text *text, const struct weir_alloc *alloc)
{
    for (uint32_t d = 0; d < alloc->device_count && text->length < sizeof text->text; d++) {
        const struct weir_device *device = &alloc->devices[d];
        if (device->units > 0) {
            const int added =
                snprintf(text->text + text->length, sizeof text->text - text->length, "%sgpu%u:%g",
                         text->length ? " " : "", device->gpu, weir_units_amount(device->units));
            text->length += added > 0 ? (size_t)added : 0;
        }
        print_engines(text, "nvdec", device->gpu, device->nvdec_mask);
        print_engines(text, "nvenc", device->gpu, device->nvenc_mask);
    }
}

weir_status sim_recorder_worker(struct sim_recorder *recorder, const struct sim_worker_row *row,
                                struct weir_error *error)
{
    struct device_text devices = { .length = 0 };
    if (!sim_recorder_keeps(recorder, SIM_KEEP_JOBS))
        return WEIR_OK; /* before it is printed */
    print_devices(&devices, row->alloc);
    uint64_t mask = 0;
    int64_t units = 0;
    for (uint32_t d = 0; d < row->alloc->device_count; d++) {
        mask |= UINT64_C(1) << (row->alloc->devices[d].gpu % WEIR_MAX_NODE_GPUS);
        units += row->alloc->devices[d].units;
    }
    const struct cell cells[] = { cell_int("worker", (int64_t)row->worker),
                                  cell_pool("stage", &row->owner),
                                  cell_int("node", row->node),
                                  cell_text("devices", devices.text),
                                  cell_int("gpu_mask", (int64_t)mask),
                                  cell_real("gpu_amount", weir_units_amount(units)),
                                  cell_real("created_s", sim_time_s(row->created_ns)),
                                  cell_time("ready_s", row->ready_ns),
                                  cell_time("ended_s", row->ended_ns),
                                  cell_text("end_reason", row->end_reason),
                                  cell_int("tasks", (int64_t)row->tasks),
                                  cell_real("busy_s", sim_time_s(row->busy_ns)),
                                  cell_workload("workload", &row->owner),
                                  cell_job("job", &row->owner) };
    return INSERT(recorder, RECORD_WORKER, cells, error);
}

/* ---- results and happenings ---- */

weir_status sim_recorder_happening(struct sim_recorder *recorder, int64_t t_ns, int64_t until_ns,
                                   const char *kind, const char *target, const char *text,
                                   struct weir_error *error)
{
    const struct cell cells[] = { cell_real("t_s", sim_time_s(t_ns)),
                                  cell_time("until_s", until_ns), cell_text("kind", kind),
                                  cell_text("target", target), cell_text("text", text) };
    return INSERT(recorder, RECORD_HAPPENING, cells, error);
}

weir_status sim_recorder_audit(struct sim_recorder *recorder, const struct sim_audit_row *row,
                               struct weir_error *error)
{
    const struct cell cells[] = {
        cell_real("t_s", sim_time_s(row->t_ns)),
        cell_text("subject", row->subject == NULL ? "" : row->subject),
        cell_text("operation", row->operation),
        cell_text("model", row->model),
        cell_int("is_allowed", row->is_allowed),
        cell_text("text", row->text),
    };
    return INSERT(recorder, RECORD_AUDIT, cells, error);
}

static weir_status write_result_wall(struct sim_recorder *recorder,
                                     const struct sim_result_row *row, struct weir_error *error)
{
    const struct cell cells[] = { cell_text("metric", row->metric), cell_text("label", row->label),
                                  cell_real("value", row->value), cell_text("unit", row->unit) };
    return INSERT(recorder, RECORD_RESULT_WALL, cells, error);
}

weir_status sim_recorder_result(struct sim_recorder *recorder, const struct sim_result_row *row,
                                struct weir_error *error)
{
    if (row->is_wall)
        return write_result_wall(recorder, row, error);
    const struct cell cells[] = { cell_text("metric", row->metric),
                                  cell_text("label", row->label),
                                  cell_real("value", row->value),
                                  cell_text("unit", row->unit),
                                  cell_int("n", (int64_t)row->n),
                                  cell_int("censored", (int64_t)row->censored),
                                  cell_int("is_lower_bound", row->is_lower_bound) };
    return INSERT(recorder, RECORD_RESULT, cells, error);
}

void sim_results_add(struct sim_results *results, const struct sim_result_row *row)
{
    if (results->status == WEIR_OK)
        results->status = sim_recorder_result(results->recorder, row, results->error);
    if (results->listen != NULL)
        results->listen(results->listener, row);
}

weir_status sim_recorder_arrival(struct sim_recorder *recorder, const struct sim_arrival_row *row,
                                 struct weir_error *error)
{
    const struct cell cells[] = { cell_int("arrived_pct", row->arrived_pct),
                                  cell_int("events", (int64_t)row->events),
                                  cell_int("failed", (int64_t)row->failed),
                                  cell_real("alloc_gpu_pct", row->alloc_gpu_pct),
                                  cell_real("frag_gpu_pct", row->frag_gpu_pct),
                                  cell_real("frag_idle_pct", row->frag_idle_pct) };
    return INSERT(recorder, RECORD_ARRIVAL, cells, error);
}

weir_status sim_recorder_arrival_part(struct sim_recorder *recorder, uint32_t arrived_pct,
                                      const char *metric, double value, struct weir_error *error)
{
    const struct cell cells[] = { cell_int("arrived_pct", arrived_pct), cell_text("metric", metric),
                                  cell_real("value", value) };
    return INSERT(recorder, RECORD_ARRIVAL_PART, cells, error);
}

weir_status sim_recorder_placement_change(struct sim_recorder *recorder,
                                          const struct sim_placement_change_row *row,
                                          struct weir_error *error)
{
    const struct cell cells[] = { cell_text("label", row->label), cell_int("rank", row->rank),
                                  cell_text("change", row->change), cell_int("nodes", row->nodes),
                                  cell_real("gpus_freed", row->gpus_freed) };
    return INSERT(recorder, RECORD_PLACEMENT_CHANGE, cells, error);
}

weir_status sim_recorder_defrag_move(struct sim_recorder *recorder,
                                     const struct sim_defrag_move_row *row,
                                     struct weir_error *error)
{
    const struct cell cells[] = { cell_int("seq", row->seq),
                                  cell_int("arrival", (int64_t)row->arrival),
                                  cell_int("from_node", row->from_node),
                                  cell_index("to_node", row->to_node),
                                  cell_real("gpus", row->gpus),
                                  cell_real("cpus", row->cpus),
                                  cell_real("frag_before_gpu", row->frag_before_gpus),
                                  cell_real("frag_after_gpu", row->frag_after_gpus) };
    return INSERT(recorder, RECORD_DEFRAG_MOVE, cells, error);
}

weir_status sim_recorder_workload(struct sim_recorder *recorder, uint32_t workload,
                                  const char *name, struct weir_error *error)
{
    const struct cell cells[] = { cell_int("workload", workload), cell_text("name", name) };
    return INSERT(recorder, RECORD_WORKLOAD, cells, error);
}

weir_status sim_recorder_job_label(struct sim_recorder *recorder, uint32_t label, const char *name,
                                   struct weir_error *error)
{
    const struct cell cells[] = { cell_int("label", label), cell_text("name", name) };
    return INSERT(recorder, RECORD_JOB_LABEL, cells, error);
}

weir_status sim_recorder_job_pace(struct sim_recorder *recorder, const struct sim_job_pace_row *row,
                                  struct weir_error *error)
{
    if (!sim_recorder_keeps(recorder, SIM_KEEP_ALL))
        return WEIR_OK;
    const struct cell cells[] = { cell_int("workload", row->workload),
                                  cell_int("job", (int64_t)row->job),
                                  cell_int("attempt", row->attempt),
                                  cell_real("t_s", sim_time_s(row->from_ns)),
                                  cell_real("dt_s", sim_time_s(row->to_ns - row->from_ns)),
                                  cell_real("first_step", row->first_step),
                                  cell_real("steps", row->steps),
                                  cell_real("sync", row->sync),
                                  cell_real("wait", row->wait),
                                  cell_real("bubble", row->bubble) };
    return INSERT(recorder, RECORD_JOB_PACE, cells, error);
}

weir_status sim_recorder_job(struct sim_recorder *recorder, const struct sim_job_row *row,
                             struct weir_error *error)
{
    if (!sim_recorder_keeps(recorder, SIM_KEEP_JOBS))
        return WEIR_OK;
    const struct cell cells[] = { cell_int("job", (int64_t)row->job),
                                  cell_int("label", row->label),
                                  cell_real("submit_s", sim_time_s(row->submit_ns)),
                                  cell_time("start_s", row->start_ns),
                                  cell_time("end_s", row->end_ns),
                                  cell_index("node", row->node),
                                  cell_int("members", row->members),
                                  cell_int("attempts", row->attempts),
                                  cell_text("outcome", row->outcome),
                                  cell_int("workload", row->workload),
                                  cell_text("name", row->name),
                                  cell_text("tenant", row->tenant),
                                  cell_text("user", row->user),
                                  cell_text("model", row->model),
                                  cell_text("request", row->request),
                                  cell_real("gpus", row->gpus),
                                  cell_text("gpu_types", row->gpu_types),
                                  cell_real("cpus", row->cpus),
                                  cell_time("first_start_s", row->first_start_ns),
                                  cell_index("kind", row->kind),
                                  cell_time("run_s", row->run_ns) };
    return INSERT(recorder, RECORD_JOB, cells, error);
}

weir_status sim_recorder_histogram(struct sim_recorder *recorder, const char *metric,
                                   const char *label, double low, uint64_t count,
                                   struct weir_error *error)
{
    const struct cell cells[] = { cell_text("metric", metric), cell_text("label", label),
                                  cell_real("low", low), cell_int("count", (int64_t)count) };
    return INSERT(recorder, RECORD_HISTOGRAM, cells, error);
}
