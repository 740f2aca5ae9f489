/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stored run as a Chrome trace, which ui.perfetto.dev opens (see export.h).
 *
 * Lives of workers, queues and what happened are in the database; tasks are not, and the run is
 * repeated for them. Node = process, worker = thread: a task lies on the life of its worker.
 */
#include "sim/cli/experiment/isolate_run.h"
#include "sim/cli/experiment/stored_run.h"
#include "sim/cli/plugin.h"
#include "sim/cli/tell/export.h"
#include "sim/cli/tell/span_export.h"
#include "sim/world/run.h"

#include <math.h>
#include <stdlib.h>

static const uint64_t MOST_TASKS = 1000000;

static weir_status each_row(struct an_db *db, const char *sql, int64_t run_id,
                            struct sim_span_export *out,
                            void (*write)(struct sim_span_export *out, const struct an_frame *frame,
                                          size_t row),
                            struct weir_error *error)
{
    const struct an_args args = { .run = run_id };
    struct an_frame *frame = NULL;

    WEIR_TRY(an_query(db, sql, &args, &frame, error));
    for (size_t row = 0; row < frame->row_count; row++)
        write(out, frame, row);
    an_frame_destroy(frame);
    return WEIR_OK;
}

static void write_life(struct sim_span_export *out, const struct an_frame *frame, size_t row)
{
    const struct sim_span_life life = { .name = an_text(frame, row, 0),
                                        .node = (uint32_t)an_number(frame, row, 1),
                                        .worker = (uint64_t)an_number(frame, row, 2),
                                        .start_s = an_number(frame, row, 3),
                                        .end_s = an_number(frame, row, 4),
                                        .why = an_text(frame, row, 5) };

    sim_span_export_life(out, &life);
}

static void write_counter(struct sim_span_export *out, const struct an_frame *frame, size_t row)
{
    sim_span_export_counter(out, an_text(frame, row, 0), an_number(frame, row, 1),
                            an_number(frame, row, 2));
}

static void write_mark(struct sim_span_export *out, const struct an_frame *frame, size_t row)
{
    sim_span_export_mark(out, an_text(frame, row, 0), an_number(frame, row, 1));
}

static const char lives_sql[] =
    "SELECT CASE WHEN w.job IS NULL THEN g.name ELSE coalesce(l.name || ' ', '') || "
    "coalesce(j.name, w.job) END, w.node, w.worker, w.created_s, coalesce(w.ended_s, r.end_s), "
    "w.end_reason FROM worker w JOIN run r USING (run_id) LEFT JOIN stage g ON g.run_id = w.run_id "
    "AND g.stage = w.stage LEFT JOIN workload l ON l.run_id = w.run_id AND l.workload = w.workload "
    "LEFT JOIN job j ON j.run_id = w.run_id AND j.workload = w.workload AND j.job = w.job "
    "WHERE w.run_id = :run ORDER BY w.created_s, w.worker";
static const char counters_sql[] =
    "SELECT 'queue of ' || pipeline || '/' || stage_name AS name, t_s, queue_items FROM v_stage "
    "WHERE run_id = :run UNION ALL SELECT 'GPUs held', t_s, gpu_assigned FROM v_cluster WHERE "
    "run_id = :run UNION ALL SELECT 'GPUs at work', t_s, gpu_active FROM v_cluster WHERE "
    "run_id = :run UNION ALL SELECT 'jobs waiting', t_s, sum(waiting) FROM job_sample WHERE "
    "run_id = :run GROUP BY t_s ORDER BY 1, 2";
static const char marks_sql[] =
    "SELECT trim(kind || ' ' || target || ' ' || text), t_s FROM happening WHERE run_id = :run "
    "ORDER BY t_s";

static weir_status write_stored(const char *database, const struct sim_stored_run *run,
                                struct sim_span_export *out, struct weir_error *error)
{
    struct an_db *db = NULL;

    weir_status status = an_open(database, &db, error);
    if (status == WEIR_OK)
        status = each_row(db, lives_sql, run->run_id, out, write_life, error);
    if (status == WEIR_OK)
        status = each_row(db, counters_sql, run->run_id, out, write_counter, error);
    if (status == WEIR_OK)
        status = each_row(db, marks_sql, run->run_id, out, write_mark, error);
    an_close(db);
    return status;
}

/* ---- tasks ---- */

/* Events of a worker together: what lies in the file side by side is then alike, and compresses. */
struct tasks {
    struct sim_span *items;
    size_t count, capacity;
    uint64_t most, seen;
    bool is_short; /* of memory */
    struct sim_span_export *out;
};

static void keep_task(void *state, const struct sim_span *span)
{
    struct tasks *const tasks = state;

    if (span->place != 0 || tasks->is_short || ++tasks->seen > tasks->most)
        return;
    if (tasks->count == tasks->capacity) {
        const size_t capacity = tasks->capacity == 0 ? 4096 : 2 * tasks->capacity;
        struct sim_span *const larger = realloc(tasks->items, capacity * sizeof *larger);
        tasks->is_short = larger == NULL;
        if (larger == NULL)
            return;
        tasks->items = larger;
        tasks->capacity = capacity;
    }
    tasks->items[tasks->count++] = *span;
}

static void write_setup(void *state, const struct sim_setup_span *setup)
{
    const struct tasks *const tasks = state;
    const struct sim_observer *const writer = sim_span_export_observer(tasks->out);

    writer->setup(writer->state, setup);
}

static int compare_tasks(const void *a, const void *b)
{
    const struct sim_span *const left = a;
    const struct sim_span *const right = b;

    if (left->worker != right->worker)
        return left->worker < right->worker ? -1 : 1;
    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    return left->item < right->item ? -1 : left->item > right->item;
}

static void write_tasks(struct tasks *tasks)
{
    const struct sim_observer *const writer = sim_span_export_observer(tasks->out);

    if (tasks->count > 0)
        qsort(tasks->items, tasks->count, sizeof *tasks->items, compare_tasks);
    for (size_t i = 0; i < tasks->count; i++)
        writer->span(writer->state, &tasks->items[i]);
    sim_span_export_unseen(tasks->out, tasks->seen - tasks->count);
}

/* The tasks of a run that has any. */
static weir_status repeat(const struct sim_scenario *scenario, const struct sim_stored_run *run,
                          struct tasks *tasks, struct weir_error *error)
{
    const struct sim_observer observer = { .span = keep_task,
                                           .setup = write_setup,
                                           .state = tasks };
    struct sim_run_summary *summary = calloc(1, sizeof *summary);
    const struct sim_run_options options = { .seed = run->seed,
                                             .replication = run->replication,
                                             .variant = "",
                                             .export_at_s = (double)NAN,
                                             .observer = &observer };

    if (summary == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = WEIR_OK;
    if (scenario->stages_total > 0)
        status = sim_run(scenario, &options, summary);
    if (status != WEIR_OK)
        (void)weir_fail(error, status, "%s", summary->message);
    else if (tasks->is_short)
        status =
            weir_fail(error, WEIR_ENOMEM, "no memory for %zu tasks; --spans-limit N", tasks->count);
    free(summary);
    return status;
}

static weir_status write_all(const struct sim_trace_request *request,
                             const struct sim_scenario *scenario, const struct sim_stored_run *run,
                             struct weir_error *error)
{
    struct sim_span_export *out = NULL;

    WEIR_TRY(sim_span_export_open(request->output, request->limit, scenario, &out, error));
    struct tasks tasks = { .out = out, .most = request->limit > 0 ? request->limit : MOST_TASKS };
    sim_span_export_brief(out);
    weir_status status = write_stored(request->database, run, out, error);
    if (status == WEIR_OK)
        status = repeat(scenario, run, &tasks, error);
    if (status == WEIR_OK)
        write_tasks(&tasks);
    free(tasks.items);
    return sim_span_export_end(out, status, error);
}

int sim_export_trace(const struct sim_trace_request *request)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_policies policies = { 0 };
    struct sim_stored stored = { 0 };
    struct sim_scenario *scenario = NULL;
    const char *variant = request->choice->variant == NULL ? "" : request->choice->variant;
    int code = SIM_EXIT_OK;
    weir_status status =
        sim_stored_open(request->database, variant, request->choice->replication, &stored, &error);

    if (status == WEIR_OK)
        code = sim_stored_policies(&stored, request->options, &policies);
    if (status == WEIR_OK && code == SIM_EXIT_OK && sim_isolate_needed(&policies))
        status = weir_fail(&error, WEIR_EUNSUPPORTED,
                           "tasks of a run with a module are watched in its own process alone: "
                           "--in-process for a module that you trust, or weir run --spans");
    if (status == WEIR_OK && code == SIM_EXIT_OK)
        status = sim_stored_scenario(&stored, &stored.runs[0], &policies, &scenario, &error);
    if (status == WEIR_OK && code == SIM_EXIT_OK)
        status = write_all(request, scenario, &stored.runs[0], &error);
    sim_scenario_destroy(scenario);
    sim_stored_clear(&stored);
    sim_plugins_clear(&policies);
    return code != SIM_EXIT_OK ? code : sim_analysis_exit(status, &error);
}
