/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See pipeline.h.
 */
#include "tests/support/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STAGES = 14 };

static const struct test_stage plain_stages[STAGES] = {
    { .name = "EncodedClipDownloadStage", .cpus = 1, .speed_per_s = 1 / 3.1 },
    { .name = "MotionVectorDecodeStage", .cpus = 1, .speed_per_s = 1 / 38.7 },
    { .name = "MotionVectorStage", .cpus = 1, .gpus = 0.2, .speed_per_s = 1 / 1.5 },
    { .name = "FrameExtractionStage", .cpus = 4, .speed_per_s = 1 / 20.2 },
    { .name = "CLIPImageEmbeddingsStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 3.9 },
    { .name = "AestheticFilteringStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 0.1 },
    { .name = "WaterMarkDetectionStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 1.6 },
    { .name = "InternVideo2FrameCreationStage", .cpus = 4, .speed_per_s = 1 / 0.9 },
    { .name = "InternVideo2EmbeddingStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 0.9 },
    { .name = "WindowingStage", .cpus = 1, .speed_per_s = 1 / 31.8 },
    { .name = "VilaInputBuildStage", .cpus = 4, .speed_per_s = 1 / 9.6 },
    { .name = "VilaCaptionStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 7.7 },
    { .name = "T5Stage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 0.6 },
    { .name = "Upload", .cpus = 1, .speed_per_s = 1 / 3.1 },
};

static const struct test_stage nvdec_stages[STAGES] = {
    { .name = "EncodedClipDownloadStage", .cpus = 1, .speed_per_s = 1 / 3.1 },
    { .name = "MotionVectorDecodeStage", .cpus = 1, .speed_per_s = 1 / 38.7 },
    { .name = "MotionVectorStage", .cpus = 1, .gpus = 0.2, .speed_per_s = 1 / 1.5 },
    { .name = "FrameExtractionStage", .cpus = 1, .nvdecs = 1, .speed_per_s = 1 / 20.2 },
    { .name = "CLIPImageEmbeddingsStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 3.9 },
    { .name = "AestheticFilteringStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 0.1 },
    { .name = "WaterMarkDetectionStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 1.6 },
    { .name = "InternVideo2FrameCreationStage", .cpus = 1, .nvdecs = 1, .speed_per_s = 1 / 0.9 },
    { .name = "InternVideo2EmbeddingStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 0.9 },
    { .name = "WindowingStage", .cpus = 1, .nvdecs = 1, .speed_per_s = 1 / 3.0 },
    { .name = "VilaInputBuildStage", .cpus = 4, .speed_per_s = 1 / 9.6 },
    { .name = "VilaCaptionStage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 7.7 },
    { .name = "T5Stage", .cpus = 1, .gpus = 1, .speed_per_s = 1 / 0.6 },
    { .name = "Upload", .cpus = 1, .speed_per_s = 1 / 3.1 },
};

struct test_pipeline test_reference(uint32_t nodes, bool uses_nvdec)
{
    return (struct test_pipeline){ .nodes = nodes,
                                   .gpus = 8,
                                   .nvdecs = 7,
                                   .cpus = 240,
                                   .stages = uses_nvdec ? nvdec_stages : plain_stages,
                                   .stage_count = STAGES };
}

struct weir_host_config test_config(const char *placement, const char *scaling)
{
    return (struct weir_host_config){ .size = sizeof(struct weir_host_config),
                                      .explain = WEIR_EXPLAIN_COUNTS,
                                      .placement = weir_placement_find(placement),
                                      .scaling = weir_scaling_find(scaling),
                                      .seed = 1 };
}

static weir_status add_nodes(struct weir_host *host, const struct test_pipeline *pipeline,
                             struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                   .gpu_count = pipeline->gpus,
                                   .gpus = gpus };

    WEIR_TRY(weir_units_from_amount(pipeline->cpus, WEIR_QUANTUM_EXACT, &node.cpu_units, error));
    for (uint32_t i = 0; i < pipeline->gpus; i++)
        gpus[i] = (struct weir_gpu_spec){ .units = WEIR_ONE, .nvdecs = pipeline->nvdecs };
    for (node.id = 0; node.id < pipeline->nodes; node.id++)
        WEIR_TRY(weir_host_add_node(host, &node, NULL, error));
    return WEIR_OK;
}

static int32_t requested_workers(const struct test_stage *stage)
{
    if (stage->requested == 0)
        return -1;
    return stage->requested < 0 ? 0 : stage->requested;
}

struct weir_pool_spec test_pool_spec(const struct weir_pool_view *view)
{
    return (struct weir_pool_spec){ .size = sizeof(struct weir_pool_spec),
                                    .pipeline = view->pipeline,
                                    .name = view->name,
                                    .shape = view->shape,
                                    .requested_workers = view->requested_workers,
                                    .batch_size = view->batch_size,
                                    .slots = view->slots,
                                    .over_provision = view->over_provision,
                                    .speed_hint_per_s = view->speed_hint_per_s };
}

static weir_status add_stage(struct weir_host *host, const struct test_stage *stage,
                             struct weir_error *error)
{
    const struct weir_request request = { .cpus = stage->cpus,
                                          .gpus = stage->gpus,
                                          .nvdecs = stage->nvdecs };
    struct weir_pool_spec view = { .size = sizeof(struct weir_pool_spec),
                                   .name = stage->name,
                                   .requested_workers = requested_workers(stage),
                                   .batch_size = stage->batch > 0 ? (uint32_t)stage->batch : 1,
                                   .slots = 2,
                                   .speed_hint_per_s = (double)NAN };
    const struct weir_estimate estimate = { .batches_per_s = stage->speed_per_s,
                                            .returns_per_batch =
                                                stage->returns > 0 ? stage->returns : (double)NAN,
                                            .points = 5 };
    uint32_t index;

    WEIR_TRY(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &view.shape, error));
    WEIR_TRY(weir_host_add_pool(host, &view, &index, error));
    return stage->speed_per_s > 0 ? weir_host_set_estimate(host, index, estimate) : WEIR_OK;
}

weir_status test_fill_host(struct weir_host *host, const struct test_pipeline *pipeline,
                           struct weir_error *error)
{
    WEIR_TRY(add_nodes(host, pipeline, error));
    for (uint32_t i = 0; i < pipeline->stage_count; i++)
        WEIR_TRY(add_stage(host, &pipeline->stages[i], error));
    return WEIR_OK;
}

struct weir_host *test_host(const struct weir_host_config *config,
                            const struct test_pipeline *pipeline)
{
    struct weir_error error = { 0 };
    struct weir_host *host = NULL;

    if (weir_host_create(config, &host, &error) != WEIR_OK) {
        fprintf(stderr, "no host: %s\n", error.text);
        return NULL;
    }
    if (test_fill_host(host, pipeline, &error) != WEIR_OK) {
        fprintf(stderr, "host not filled: %s\n", error.text);
        weir_host_destroy(host);
        return NULL;
    }
    return host;
}

weir_status test_decide_at(struct weir_host *host, int64_t now_ns, const struct weir_plan **plan)
{
    const struct weir_call call = { .size = sizeof(struct weir_call),
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = now_ns };
    return weir_host_decide(host, &call, plan, NULL);
}

/* Some worker of an owner, if he has one. */
static bool find_worker_of(const struct weir_cluster *cluster, const struct weir_owner *owner,
                           struct weir_worker *worker)
{
    for (uint32_t n = 0; n < weir_cluster_node_count(cluster); n++) {
        uint32_t cursor = 0;
        while (weir_cluster_node_worker(cluster, n, &cursor, worker))
            if (worker->owner.kind == owner->kind && worker->owner.index == owner->index &&
                worker->owner.id == owner->id)
                return true;
    }
    return false;
}

/* All that it holds is free at once. */
static weir_status preempt(struct weir_host *host, const struct weir_owner *owner)
{
    struct weir_worker worker;
    while (find_worker_of(weir_host_cluster(host), owner, &worker)) {
        const struct weir_outcome outcome = { .size = sizeof outcome,
                                              .kind = WEIR_OUTCOME_STOPPED,
                                              .owner = *owner,
                                              .node = worker.alloc.node,
                                              .worker = worker.id };
        WEIR_TRY(weir_host_outcome(host, &outcome, &worker.alloc, NULL));
    }
    return WEIR_OK;
}

weir_status test_carry_out(struct weir_host *host, const struct weir_plan *plan)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                        .owner = action->owner,
                                        .node = action->alloc.node,
                                        .worker = action->worker };
        if (action->verb == WEIR_VERB_PREEMPT && action->value == 0)
            WEIR_TRY(preempt(host, &action->owner));
        if (action->verb != WEIR_VERB_START && action->verb != WEIR_VERB_STOP)
            continue;
        outcome.kind =
            action->verb == WEIR_VERB_START ? WEIR_OUTCOME_STARTED : WEIR_OUTCOME_STOPPED;
        WEIR_TRY(weir_host_outcome(host, &outcome, &action->alloc, NULL));
    }
    return WEIR_OK;
}

weir_status test_step(struct weir_host *host, struct weir_error *error)
{
    const struct weir_plan *plan;

    WEIR_TRY(weir_host_decide(host,
                              &(struct weir_call){ .size = sizeof(struct weir_call),
                                                   .causes = WEIR_CAUSE_TIMER,
                                                   .now_ns = 0 },
                              &plan, error));
    return test_carry_out(host, plan);
}

struct test_text test_workers(struct weir_host *host)
{
    const uint32_t count = weir_host_view(host, 0)->pool_count;
    struct test_text text = { "" };
    size_t used = 0;

    for (uint32_t i = 0; i < count && used + 16 < sizeof text.text; i++)
        used +=
            (size_t)snprintf(text.text + used, sizeof text.text - used, "%s%u", i == 0 ? "" : ",",
                             weir_cluster_pool_workers(weir_host_cluster(host), i));
    return text;
}

static void *counting_resize(void *state, void *block, size_t size)
{
    struct test_memory *const memory = state;

    if (size == 0) {
        memory->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    memory->calls++;
    if (memory->fail_at != 0 && (memory->calls == memory->fail_at ||
                                 (memory->is_gone && memory->calls > memory->fail_at))) {
        memory->has_failed = true;
        return NULL;
    }
    void *const moved = realloc(block, size);
    memory->blocks += block == NULL && moved != NULL;
    return moved;
}

struct weir_allocator test_allocator(struct test_memory *memory)
{
    return (struct weir_allocator){ .resize = counting_resize, .state = memory };
}
