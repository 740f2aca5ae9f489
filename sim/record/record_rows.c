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

#define INSERT(recorder, kind, cells, error)                                                       \
    record_insert((recorder), (kind), (cells), sizeof(cells) / sizeof((cells)[0]), (error))

const char *const record_run_tables[] = { "run",
                                          "run_wall",
                                          "node",
                                          "stage",
                                          "result",
                                          "result_wall",
                                          "cluster_sample",
                                          "node_sample",
                                          "stage_sample",
                                          "arrival_sample",
                                          "arrival_part",
                                          "placement_change",
                                          "defrag_move",
                                          "workload",
                                          "job_label",
                                          "job",
                                          "job_sample",
                                          "worker",
                                          "action",
                                          "decision",
                                          "decision_wall",
                                          "decision_stage",
                                          "happening",
                                          "histogram",
                                          "candidate",
                                          NULL };

struct digest_text {
    char text[17];
};

static struct digest_text print_digest(uint64_t digest)
{
    struct digest_text printed;
    (void)snprintf(printed.text, sizeof printed.text, "%016" PRIx64, digest);
    return printed;
}

static struct cell cell_time(int64_t time_ns)
{
    return time_ns < 0 ? cell_null() : cell_real(sim_time_s(time_ns));
}

/* ---- experiments ---- */

weir_status sim_recorder_meta(struct sim_recorder *recorder, const char *key, const char *value,
                              struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_text(key), cell_text(value) };
    return INSERT(recorder, RECORD_META, cells, error);
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
    const struct cell cells[] = { cell_int(id),
                                  cell_text(row->scenario),
                                  cell_text(row->description),
                                  cell_text(row->resolved_yaml),
                                  cell_text(digest.text),
                                  cell_text(row->command_line),
                                  cell_text(row->baseline) };
    WEIR_TRY(INSERT(recorder, RECORD_EXPERIMENT, cells, error));
    recorder->experiment_id = id;
    *experiment_id = id;
    return WEIR_OK;
}

weir_status sim_recorder_input_file(struct sim_recorder *recorder, const char *path, int64_t bytes,
                                    uint64_t digest, struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct digest_text text = print_digest(digest);
    const struct cell cells[] = { cell_int(recorder->experiment_id), cell_text(path),
                                  cell_int(bytes), cell_text(text.text) };
    return INSERT(recorder, RECORD_INPUT_FILE, cells, error);
}

weir_status sim_recorder_expectation(struct sim_recorder *recorder,
                                     const struct sim_expectation_row *row,
                                     struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->experiment_id),
                                  cell_int(row->line),
                                  cell_text(row->text),
                                  cell_text(row->variant),
                                  cell_real(row->value),
                                  cell_real(row->bound),
                                  cell_int(row->is_met) };
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
    (void)sqlite3_finalize(statement);
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
    WEIR_TRY(record_flush_samples(recorder, error)); /* they belong to the run before */
    WEIR_TRY(record_begin(recorder, error));
    WEIR_TRY(remove_unfinished(recorder, row->run_id, error));
    const struct digest_text digest = print_digest(row->scenario_digest);
    const bool is_open_ended = row->horizon_ns < 0 || row->horizon_ns == SIM_TIME_MAX;
    const struct cell cells[] = {
        cell_int(row->run_id),
        cell_int(row->experiment_id),
        cell_text(row->variant),
        cell_int(row->variant_order),
        cell_int(row->replication),
        cell_int((int64_t)row->seed),
        cell_text(row->placement),
        cell_text(row->scaling),
        cell_text(row->resolved_yaml),
        cell_text(digest.text),
        cell_int(row->start_unix_s),
        cell_real(sim_time_s(row->warmup_ns)),
        is_open_ended ? cell_null() : cell_real(sim_time_s(row->horizon_ns)),
    };
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
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    const struct cell cells[] = { cell_int(recorder->run_id),
                                  cell_real(end->wall_s),
                                  cell_real(end->cpu_s),
                                  cell_real(end->peak_rss_mib),
                                  cell_int(recorder->run_start_unix_s),
                                  cell_text(host),
                                  cell_text(WEIR_VERSION) };
    return INSERT(recorder, RECORD_RUN_WALL, cells, error);
}

weir_status sim_recorder_end_run(struct sim_recorder *recorder, const struct sim_run_end *end,
                                 struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    WEIR_TRY(record_flush_samples(recorder, error));
    const struct digest_text events = print_digest(end->event_digest);
    const struct digest_text results = print_digest(end->result_digest);
    const struct cell cells[] = { cell_time(end->end_ns),
                                  cell_text(end->status),
                                  cell_text(end->message),
                                  cell_int((int64_t)end->events),
                                  cell_text(events.text),
                                  cell_text(results.text),
                                  cell_real(sim_time_s(end->sample_ns)),
                                  cell_int(end->is_steady),
                                  cell_int((int64_t)end->items_done),
                                  cell_int(recorder->run_id) };
    WEIR_TRY(INSERT(recorder, RECORD_RUN_END, cells, error));
    WEIR_TRY(write_run_wall(recorder, end, error));
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
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->run_id),  cell_int(row->node),
                                  cell_text(row->name),        cell_text(row->type),
                                  cell_real(row->cpus),        cell_int(row->gpus),
                                  cell_text(row->gpu_type),    cell_int(row->nvdecs),
                                  cell_int(row->nvencs),       cell_int(row->ram_bytes),
                                  cell_int(row->gpu_mem_bytes) };
    return INSERT(recorder, RECORD_NODE, cells, error);
}

weir_status sim_recorder_stage(struct sim_recorder *recorder, const struct sim_stage_row *row,
                               struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    char shape[128] = "";
    (void)weir_shape_print(row->shape, shape, sizeof shape);
    /* Engines of a WHOLE shape are per GPU. */
    const int64_t gpus = row->shape->gpu_count > 0 ? row->shape->gpu_count : 1;
    const double gpu_amount = weir_units_amount(row->shape->gpu_units) * (double)gpus;
    const struct cell cells[] = {
        cell_int(recorder->run_id),
        cell_int(row->stage),
        cell_text(row->pipeline),
        cell_text(row->name),
        cell_int(row->position),
        cell_text(shape),
        cell_real(weir_units_amount(row->shape->cpu_units)),
        cell_real(gpu_amount),
        cell_int(gpus * (int64_t)row->shape->nvdecs),
        cell_int(gpus * (int64_t)row->shape->nvencs),
        cell_int(row->batch),
        row->workers_fixed < 0 ? cell_null() : cell_int(row->workers_fixed),
        cell_real(row->service_mean_s),
        row->bound_workers == WEIR_NO_INDEX ? cell_null() : cell_int(row->bound_workers),
        cell_real(row->mix),
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
    if (!recorder)
        return WEIR_OK;
    struct device_text devices = { .length = 0 };
    print_devices(&devices, row->alloc);
    uint64_t mask = 0;
    int64_t units = 0;
    for (uint32_t d = 0; d < row->alloc->device_count; d++) {
        mask |= UINT64_C(1) << (row->alloc->devices[d].gpu % WEIR_MAX_NODE_GPUS);
        units += row->alloc->devices[d].units;
    }
    const struct cell cells[] = { cell_int(recorder->run_id),
                                  cell_int((int64_t)row->worker),
                                  cell_pool(&row->owner),
                                  cell_int(row->node),
                                  cell_text(devices.text),
                                  cell_int((int64_t)mask),
                                  cell_real(weir_units_amount(units)),
                                  cell_real(sim_time_s(row->created_ns)),
                                  cell_time(row->ready_ns),
                                  cell_time(row->ended_ns),
                                  cell_text(row->end_reason),
                                  cell_int((int64_t)row->tasks),
                                  cell_real(sim_time_s(row->busy_ns)),
                                  cell_workload(&row->owner),
                                  cell_job(&row->owner) };
    return INSERT(recorder, RECORD_WORKER, cells, error);
}

/* ---- results and happenings ---- */

weir_status sim_recorder_happening(struct sim_recorder *recorder, int64_t t_ns, int64_t until_ns,
                                   const char *kind, const char *target, const char *text,
                                   struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->run_id), cell_real(sim_time_s(t_ns)),
                                  cell_time(until_ns),        cell_text(kind),
                                  cell_text(target),          cell_text(text) };
    return INSERT(recorder, RECORD_HAPPENING, cells, error);
}

static weir_status write_result_wall(struct sim_recorder *recorder,
                                     const struct sim_result_row *row, struct weir_error *error)
{
    const struct cell cells[] = { cell_int(recorder->run_id), cell_text(row->metric),
                                  cell_text(row->label), cell_real(row->value),
                                  cell_text(row->unit) };
    return INSERT(recorder, RECORD_RESULT_WALL, cells, error);
}

weir_status sim_recorder_result(struct sim_recorder *recorder, const struct sim_result_row *row,
                                struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    if (row->is_wall)
        return write_result_wall(recorder, row, error);
    const struct cell cells[] = { cell_int(recorder->run_id),
                                  cell_text(row->metric),
                                  cell_text(row->label),
                                  cell_real(row->value),
                                  cell_text(row->unit),
                                  cell_int((int64_t)row->n),
                                  cell_int((int64_t)row->censored),
                                  cell_int(row->is_lower_bound) };
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
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->run_id),     cell_int(row->arrived_pct),
                                  cell_int((int64_t)row->events), cell_int((int64_t)row->failed),
                                  cell_real(row->alloc_gpu_pct),  cell_real(row->frag_gpu_pct),
                                  cell_real(row->frag_idle_pct) };
    return INSERT(recorder, RECORD_ARRIVAL, cells, error);
}

weir_status sim_recorder_arrival_part(struct sim_recorder *recorder, uint32_t arrived_pct,
                                      const char *metric, double value, struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->run_id), cell_int(arrived_pct),
                                  cell_text(metric), cell_real(value) };
    return INSERT(recorder, RECORD_ARRIVAL_PART, cells, error);
}

weir_status sim_recorder_placement_change(struct sim_recorder *recorder,
                                          const struct sim_placement_change_row *row,
                                          struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->run_id), cell_text(row->label),
                                  cell_int(row->rank),        cell_text(row->change),
                                  cell_int(row->nodes),       cell_real(row->gpus_freed) };
    return INSERT(recorder, RECORD_PLACEMENT_CHANGE, cells, error);
}

weir_status sim_recorder_defrag_move(struct sim_recorder *recorder,
                                     const struct sim_defrag_move_row *row,
                                     struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const bool is_out = row->to_node == WEIR_NO_INDEX;
    const struct cell cells[] = { cell_int(recorder->run_id),
                                  cell_int(row->seq),
                                  cell_int((int64_t)row->arrival),
                                  cell_int(row->from_node),
                                  is_out ? cell_null() : cell_int(row->to_node),
                                  cell_real(row->gpus),
                                  cell_real(row->cpus),
                                  cell_real(row->frag_before_gpus),
                                  cell_real(row->frag_after_gpus) };
    return INSERT(recorder, RECORD_DEFRAG_MOVE, cells, error);
}

weir_status sim_recorder_workload(struct sim_recorder *recorder, uint32_t workload,
                                  const char *name, struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->run_id), cell_int(workload), cell_text(name) };
    return INSERT(recorder, RECORD_WORKLOAD, cells, error);
}

weir_status sim_recorder_job_label(struct sim_recorder *recorder, uint32_t label, const char *name,
                                   struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->run_id), cell_int(label), cell_text(name) };
    return INSERT(recorder, RECORD_JOB_LABEL, cells, error);
}

weir_status sim_recorder_job(struct sim_recorder *recorder, const struct sim_job_row *row,
                             struct weir_error *error)
{
    if (!recorder || !record_keeps(recorder, SIM_KEEP_JOBS))
        return WEIR_OK;
    const double members = row->members;
    char request[128] = "";
    (void)weir_shape_print(row->shape, request, sizeof request);
    const struct cell cells[] = { cell_int(recorder->run_id),
                                  cell_int((int64_t)row->job),
                                  cell_int(row->label),
                                  cell_real(sim_time_s(row->submit_ns)),
                                  cell_time(row->start_ns),
                                  cell_time(row->end_ns),
                                  cell_index(row->node),
                                  cell_int(row->members),
                                  cell_int(row->attempts),
                                  cell_text(row->outcome),
                                  cell_int(row->workload),
                                  cell_text(row->name),
                                  cell_text(row->tenant),
                                  cell_text(row->user),
                                  cell_text(row->model),
                                  cell_text(request),
                                  cell_real(members * weir_units_amount(row->shape->gpu_units) *
                                            row->shape->gpu_count),
                                  cell_text(row->gpu_types),
                                  cell_real(members * weir_units_amount(row->shape->cpu_units)),
                                  cell_time(row->first_start_ns),
                                  cell_index(row->kind) };
    return INSERT(recorder, RECORD_JOB, cells, error);
}

weir_status sim_recorder_histogram(struct sim_recorder *recorder, const char *metric,
                                   const char *label, double low, uint64_t count,
                                   struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const struct cell cells[] = { cell_int(recorder->run_id), cell_text(metric), cell_text(label),
                                  cell_real(low), cell_int((int64_t)count) };
    return INSERT(recorder, RECORD_HISTOGRAM, cells, error);
}
