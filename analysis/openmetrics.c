/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of production and what they are made of (see openmetrics.h). */
#include "analysis/openmetrics.h"

#include <math.h>
#include <string.h>

/* Rows of one series follow each other in time, as the format wants. */
#define ORDER_1 " ORDER BY 1, time"
#define ORDER_2 " ORDER BY 1, 2, time"
#define CLUSTER(label, state, of)                                                                  \
    "SELECT '" label "' AS Name, '" state "' AS State, time, " of                                  \
    " AS value FROM v_cluster WHERE run_id = :run"
#define STAGE(of)                                                                                  \
    "SELECT pipeline || '/' || stage_name AS stage, time, " of                                     \
    " AS value FROM v_stage WHERE run_id = :run" ORDER_1
#define STAGE_STATE(label, name, of)                                                               \
    "SELECT pipeline || '/' || stage_name AS " label ", '" name "' AS state, time, " of            \
    " AS value FROM v_stage WHERE run_id = :run"
#define ACTOR(name, of)                                                                            \
    "SELECT pipeline || '/' || stage_name AS Name, '" name "' AS State, time, " of                 \
    " AS value FROM v_stage WHERE run_id = :run"
#define NODE(of)                                                                                   \
    "SELECT node_name AS instance, v.time, " of                                                    \
    " AS value FROM v_node v JOIN node n ON n.run_id = v.run_id AND n.node = v.node "              \
    "WHERE v.run_id = :run" ORDER_1
#define GPUS(of)                                                                                   \
    "SELECT node_name AS Hostname, n.gpu_type AS modelName, v.time, " of                           \
    " AS value FROM v_node v JOIN node n ON n.run_id = v.run_id AND n.node = v.node "              \
    "WHERE v.run_id = :run AND n.gpus > 0" ORDER_1
#define JOBS(state, of)                                                                            \
    "SELECT l.name AS label, '" state "' AS state, r.start_unix_s + s.t_s AS time, " of            \
    " AS value FROM job_sample s JOIN run r USING (run_id) JOIN job_label l "                      \
    "ON l.run_id = s.run_id AND l.label = s.label WHERE s.run_id = :run"
/* Jobs that are over and not done, up to the end of each interval; where their rows are kept. */
#define JOBS_FAILED                                                                                \
    "SELECT l.name AS label, 'failed' AS state, r.start_unix_s + e.t_s AS time, e.value FROM ("    \
    "SELECT run_id, label, t_s, is_sample, sum(1 - is_sample) OVER "                               \
    "(PARTITION BY label ORDER BY until_s) AS value FROM ("                                        \
    "SELECT run_id, label, t_s, t_s + dt_s AS until_s, 1 AS is_sample FROM job_sample "            \
    "WHERE run_id = :run UNION ALL SELECT run_id, label, end_s, end_s, 0 FROM job "                \
    "WHERE run_id = :run AND outcome NOT IN ('done', 'waiting', 'running'))) e "                   \
    "JOIN run r USING (run_id) JOIN job_label l ON l.run_id = e.run_id AND l.label = e.label "     \
    "WHERE e.is_sample AND EXISTS (SELECT 1 FROM job WHERE run_id = :run)"
#define ALSO " UNION ALL "

static const char ray[] = "Ray, dashboard metrics";
static const char xenna[] = "xenna, monitoring.py, with the prefix of Ray";
static const char dcgm[] = "DCGM exporter; mean over the GPUs of the node";
static const char ours[] = "weir alone";

const struct an_open_metric an_open_metrics[] = {
    { "ray_resources", "logical resources of the cluster by state", ray,
      CLUSTER("CPU", "USED", "cpu_assigned")
          ALSO CLUSTER("CPU", "AVAILABLE", "cpu_capacity - cpu_assigned")
              ALSO CLUSTER("GPU", "USED", "gpu_assigned")
                  ALSO CLUSTER("GPU", "AVAILABLE", "gpu_capacity - gpu_assigned") ORDER_2 },
    { "ray_node_cpu_count", "CPUs of a node", ray, NODE("n.cpus") },
    { "ray_node_cpu_utilization", "CPUs at work on a node, percent", ray,
      NODE("100.0 * v.cpu_active / nullif(n.cpus, 0)") },
    { "ray_node_gpus_available", "GPUs of a node", ray, NODE("n.gpus") },
    { "ray_node_gpus_utilization", "GPUs at work on a node, percent, mean over its GPUs", ray,
      NODE("v.gpu_active_pct") },
    { "ray_node_mem_used", "host memory in use on a node, bytes", ray, NODE("v.ram_in_use_bytes") },
    { "ray_node_mem_total", "host memory of a node, bytes", ray, NODE("n.ram_bytes") },
    { "ray_tasks", "tasks by state", ray,
      "SELECT pipeline || '/' || stage_name AS Name, 'RUNNING' AS State, time, busy AS value FROM "
      "v_stage WHERE run_id = :run" ORDER_2 },
    { "ray_actors", "workers by state", ray,
      ACTOR("ALIVE_IDLE", "idle") ALSO ACTOR("ALIVE_RUNNING_TASKS", "busy + blocked")
          ALSO ACTOR("PENDING_CREATION", "setup") ORDER_2 },
    { "ray_pipeline_input_queue_size", "items in front of a stage", xenna, STAGE("queue_items") },
    { "ray_pipeline_finished_tasks", "tasks of a stage that are over", xenna,
      STAGE("sum(tasks_done) OVER (PARTITION BY stage ORDER BY t_s)") },
    { "ray_pipeline_actor_count", "workers of a stage by state", xenna,
      STAGE_STATE("stage", "pending", "setup") ALSO STAGE_STATE("stage", "ready", "workers - setup")
          ALSO STAGE_STATE("stage", "running", "busy") ALSO STAGE_STATE("stage", "idle", "idle")
              ORDER_2 },
    { "DCGM_FI_DEV_GPU_UTIL", "GPUs at work, percent", dcgm, GPUS("v.gpu_active_pct") },
    { "DCGM_FI_DEV_DEC_UTIL", "video decoders at work, percent", dcgm,
      GPUS("100.0 * v.nvdec_active / nullif(n.nvdecs, 0)") },
    { "DCGM_FI_DEV_ENC_UTIL", "video encoders at work, percent", dcgm,
      GPUS("100.0 * v.nvenc_active / nullif(n.nvencs, 0)") },
    { "DCGM_FI_DEV_POWER_USAGE", "power of a GPU, W", dcgm, GPUS("v.gpu_power_w / n.gpus") },
    { "DCGM_FI_DEV_GPU_TEMP", "temperature of the hottest GPU, degrees Celsius", dcgm,
      GPUS("v.gpu_temperature_max_c") },
    { "weir_throughput_per_second", "items that were done, per second", ours,
      "SELECT time, throughput_per_s AS value FROM v_cluster WHERE run_id = :run ORDER BY time" },
    { "weir_frag_gpus", "free GPUs that the work cannot use", ours,
      "SELECT time, frag_gpu AS value FROM v_cluster WHERE run_id = :run ORDER BY time" },
    { "weir_jobs", "jobs by label and state; done and failed: up to then", ours,
      JOBS("waiting", "s.waiting") ALSO JOBS("running", "s.running")
          ALSO JOBS("done", "sum(s.done) OVER (PARTITION BY s.label ORDER BY s.t_s)")
              ALSO JOBS_FAILED ORDER_2 },
    { "weir_job_gpus", "GPUs that jobs hold, by label", ours, JOBS("held", "s.gpus") ORDER_2 },
};
const size_t an_open_metrics_count = sizeof an_open_metrics / sizeof an_open_metrics[0];

/* A value of a label, or a sentence: in it these three are escaped. */
static void write_text(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\\' || *c == '"')
            (void)fputc('\\', out);
        if (*c == '\n')
            (void)fputs("\\n", out);
        else
            (void)fputc(*c, out);
    }
}

static void write_label(FILE *out, const char *name, const char *value, bool is_first)
{
    (void)fprintf(out, "%s%s=\"", is_first ? "" : ",", name);
    write_text(out, value);
    (void)fputc('"', out);
}

static void write_sample(FILE *out, const struct an_open_metric *metric,
                         const struct an_frame *frame, size_t row, const struct an_run *run)
{
    const size_t labels = frame->column_count - 2;
    char replication[16];

    (void)snprintf(replication, sizeof replication, "%u", run->replication);
    (void)fprintf(out, "%s{", metric->name);
    for (size_t c = 0; c < labels; c++)
        write_label(out, an_column(frame, c), an_text(frame, row, c), c == 0);
    write_label(out, "scenario", run->scenario, labels == 0);
    write_label(out, "variant", run->variant, false);
    write_label(out, "replication", replication, false);
    (void)fprintf(out, "} %.12g %.3f\n", an_number(frame, row, labels + 1),
                  an_number(frame, row, labels));
}

/* A family without a sample is left out. */
static void write_family(FILE *out, const struct an_open_metric *metric,
                         const struct an_frame *frame, const struct an_run *run)
{
    bool is_begun = false;

    for (size_t row = 0; row < frame->row_count; row++) {
        if (!isfinite(an_number(frame, row, frame->column_count - 1)))
            continue;
        if (!is_begun)
            (void)fprintf(out, "# TYPE %s gauge\n# HELP %s %s\n", metric->name, metric->name,
                          metric->help);
        is_begun = true;
        write_sample(out, metric, frame, row, run);
    }
}

weir_status an_openmetrics_write(struct an_db *db, const struct an_run *run, FILE *out,
                                 struct weir_error *error)
{
    const struct an_args args = { .run = run->run_id };

    for (size_t i = 0; i < an_open_metrics_count; i++) {
        struct an_frame *frame = NULL;
        WEIR_TRY(an_query(db, an_open_metrics[i].sql, &args, &frame, error));
        write_family(out, &an_open_metrics[i], frame, run);
        an_frame_destroy(frame);
    }
    (void)fputs("# EOF\n", out);
    return WEIR_OK;
}
