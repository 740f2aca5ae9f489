/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the facts of one run; see the header. Only samples that start after warm-up count.
 */
#include "analysis/facts.h"
#include "analysis/nan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *an_resource_name(enum an_resource resource)
{
    static const char *const names[AN_RESOURCES] = { "CPU", "GPU", "NVDEC", "NVENC" };
    return names[resource];
}

/* ---- stages ---- */

static const char stages_sql[] =
    "SELECT g.pipeline, g.name, g.shape, g.gpus, g.service_mean_s, g.bound_workers,"
    " sum(x.workers * x.dt_s) / sum(x.dt_s), max(x.workers),"
    " sum(x.busy * x.dt_s) / nullif(sum(x.workers * x.dt_s), 0),"
    " sum(x.blocked * x.dt_s) / nullif(sum(x.workers * x.dt_s), 0),"
    " sum(x.starved * x.dt_s) / nullif(sum(x.workers * x.dt_s), 0),"
    " sum(x.setup * x.dt_s) / nullif(sum(x.workers * x.dt_s), 0),"
    " sum(x.queue_items * x.dt_s) / sum(x.dt_s), max(x.queue_items),"
    " sum(x.is_bottleneck * x.dt_s) / sum(x.dt_s), sum(x.is_backpressured * x.dt_s) / sum(x.dt_s),"
    " sum(x.tasks_done) / sum(x.dt_s), g.stage"
    " FROM stage g LEFT JOIN stage_sample x ON x.run_id = g.run_id AND x.stage = g.stage"
    "  AND x.t_s >= :from WHERE g.run_id = :run GROUP BY g.stage ORDER BY g.stage";

static const char queue_p95_sql[] =
    "SELECT stage, min(queue_items) FROM (SELECT stage, queue_items,"
    "  sum(dt_s) OVER (PARTITION BY stage ORDER BY queue_items, t_s) AS below,"
    "  sum(dt_s) OVER (PARTITION BY stage) AS total FROM stage_sample"
    "  WHERE run_id = :run AND t_s >= :from) WHERE below >= 0.95 * total GROUP BY stage";

static void fill_stage(struct an_stage_facts *stage, const struct an_frame *frame, size_t row)
{
    stage->pipeline = an_text(frame, row, 0);
    stage->name = an_text(frame, row, 1);
    stage->shape = an_text(frame, row, 2);
    double *const targets[] = {
        &stage->gpus,          &stage->service_mean_s, &stage->bound_workers, &stage->workers_mean,
        &stage->workers_max,   &stage->busy,           &stage->blocked,       &stage->starved,
        &stage->setup,         &stage->queue_mean,     &stage->queue_max,     &stage->bottleneck,
        &stage->backpressured, &stage->tasks_per_s
    };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        *targets[i] = an_number(frame, row, 3 + i);
    stage->queue_p95 = AN_NAN;
}

static weir_status fill_stages(struct an_facts *facts, const struct an_frame *frame,
                               const struct an_frame *queues, struct weir_error *error)
{
    facts->stages = calloc(frame->row_count + 1, sizeof *facts->stages);
    if (facts->stages == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    double longest = 0.0;
    facts->bottleneck = frame->row_count;
    for (size_t i = 0; i < frame->row_count; i++) {
        struct an_stage_facts *stage = &facts->stages[i];
        facts->stage_count++;
        fill_stage(stage, frame, i);
        for (size_t j = 0; j < queues->row_count; j++)
            if ((size_t)an_number(queues, j, 0) == (size_t)an_number(frame, i, 17))
                stage->queue_p95 = an_number(queues, j, 1);
        const char *pipeline = stage->pipeline;
        stage->is_alone = i == 0 || strcmp(pipeline, stage[-1].pipeline) != 0;
        if (!stage->is_alone)
            stage[-1].is_alone = false;
        if (stage->bottleneck > longest) {
            longest = stage->bottleneck;
            facts->bottleneck = i;
        }
    }
    return WEIR_OK;
}

static weir_status read_stages(const struct an_run *run, struct an_facts *facts,
                               struct weir_error *error)
{
    const struct an_args args = { .run = run->run_id, .from = facts->from_s };
    const struct an_frame *frame = NULL;
    const struct an_frame *queues = NULL;
    WEIR_TRY(an_keep_query(&facts->keeper, stages_sql, &args, &frame, error));
    WEIR_TRY(an_keep_query(&facts->keeper, queue_p95_sql, &args, &queues, error));
    return fill_stages(facts, frame, queues, error);
}

/* ---- cluster ---- */

static const char cluster_sql[] =
    "SELECT count(*), sum(cpu_capacity * dt_s) / sum(dt_s), sum(gpu_capacity * dt_s) / sum(dt_s),"
    " sum(nvdec_capacity * dt_s) / sum(dt_s), sum(nvenc_capacity * dt_s) / sum(dt_s),"
    " sum(cpu_assigned * dt_s) / nullif(sum(cpu_capacity * dt_s), 0),"
    " sum(gpu_assigned * dt_s) / nullif(sum(gpu_capacity * dt_s), 0),"
    " sum(nvdec_assigned * dt_s) / nullif(sum(nvdec_capacity * dt_s), 0),"
    " sum(nvenc_assigned * dt_s) / nullif(sum(nvenc_capacity * dt_s), 0),"
    " sum(cpu_active * dt_s) / nullif(sum(cpu_capacity * dt_s), 0),"
    " sum(gpu_active * dt_s) / nullif(sum(gpu_capacity * dt_s), 0),"
    " sum(nvdec_active * dt_s) / nullif(sum(nvdec_capacity * dt_s), 0),"
    " sum(nvenc_active * dt_s) / nullif(sum(nvenc_capacity * dt_s), 0),"
    " sum(items_done) / sum(dt_s), sum(items_arrived) / sum(dt_s),"
    " sum(frag_gpu * dt_s) / sum(dt_s),"
    " sum(frag_gpu * dt_s) / nullif(sum((gpu_capacity - gpu_assigned) * dt_s), 0), sum(items_done)"
    " FROM cluster_sample WHERE run_id = :run AND t_s >= :from";

static void fill_cluster(struct an_facts *facts, const struct an_frame *frame)
{
    facts->sample_count = (size_t)an_number(frame, 0, 0);
    for (size_t i = 0; i < AN_RESOURCES; i++) {
        facts->resources[i].capacity = an_number(frame, 0, 1 + i);
        facts->resources[i].assigned = an_number(frame, 0, 5 + i);
        facts->resources[i].active = an_number(frame, 0, 9 + i);
    }
    facts->throughput_per_s = an_number(frame, 0, 13);
    facts->offered_per_s = an_number(frame, 0, 14);
    facts->frag_gpus = an_number(frame, 0, 15);
    facts->frag_ratio = an_number(frame, 0, 16);
    facts->items_done = an_number(frame, 0, 17);
    facts->steady_per_s = AN_NAN;
}

static weir_status read_cluster(const struct an_run *run, struct an_facts *facts,
                                struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = run->run_id, .from = run->warmup_s - 1e-9 };
    WEIR_TRY(an_keep_query(&facts->keeper, cluster_sql, &args, &frame, error));
    facts->from_s = args.from > 0.0 ? args.from : 0.0;
    facts->to_s = run->end_s;
    fill_cluster(facts, frame);
    WEIR_TRY(an_keep_query(&facts->keeper,
                           "SELECT count(*), total(gpus) FROM node WHERE run_id = :run", &args,
                           &frame, error));
    facts->node_count = (size_t)an_number(frame, 0, 0);
    facts->gpu_count = an_number(frame, 0, 1);
    return WEIR_OK;
}

/* ---- results ---- */

static weir_status prefer_results(struct an_db *db, const struct an_run *run,
                                  struct an_facts *facts, struct weir_error *error)
{
    const struct {
        const char *metric;
        double *target;
    } results[] = {
        { "util.cpu.active", &facts->resources[AN_CPU].active },
        { "util.cpu.assigned", &facts->resources[AN_CPU].assigned },
        { "util.gpu.active", &facts->resources[AN_GPU].active },
        { "util.gpu.assigned", &facts->resources[AN_GPU].assigned },
        { "util.nvdec.active", &facts->resources[AN_NVDEC].active },
        { "util.nvdec.assigned", &facts->resources[AN_NVDEC].assigned },
        { "util.nvenc.active", &facts->resources[AN_NVENC].active },
        { "util.nvenc.assigned", &facts->resources[AN_NVENC].assigned },
        { "thr.pipeline", &facts->throughput_per_s },
        { "thr.pipeline.steady", &facts->steady_per_s },
        { "frag.gpu.fgd", &facts->frag_gpus },
        { "frag.gpu.fgd_ratio", &facts->frag_ratio },
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        struct an_value value;
        WEIR_TRY(an_result(db, run->run_id, results[i].metric, &value, error));
        if (!isnan(value.value))
            *results[i].target = value.value;
        if (value.censored > facts->items_censored)
            facts->items_censored = value.censored;
    }
    struct an_value latency;
    WEIR_TRY(an_result(db, run->run_id, "lat.e2e.p99", &latency, error));
    facts->items_censored = fmax(facts->items_censored, latency.censored);
    return WEIR_OK;
}

weir_status an_facts_read(struct an_db *db, const struct an_run *run, struct an_facts **facts,
                          struct weir_error *error)
{
    struct an_facts *made = calloc(1, sizeof *made);
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->keeper.db = db;
    weir_status status = read_cluster(run, made, error);
    if (status == WEIR_OK)
        status = read_stages(run, made, error);
    if (status == WEIR_OK)
        status = prefer_results(db, run, made, error);
    if (status != WEIR_OK) {
        an_facts_destroy(made);
        return status;
    }
    *facts = made;
    return WEIR_OK;
}

void an_facts_destroy(struct an_facts *facts)
{
    if (facts == NULL)
        return;
    an_keep_clear(&facts->keeper);
    free(facts->stages);
    free(facts);
}
