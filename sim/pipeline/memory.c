/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of items in the memory of nodes (see pipeline.h), where that is looked at.
 *
 * What a stage makes lies in the store of the node it was made on, until a task that took it is
 * over. A task that runs holds its input once more, in its process. What comes from the source lies
 * nowhere before. What lies on a node that fails stays there: it is not made again.
 *
 * Activations are memory of GPUs that a task takes while it runs. Where they are not free CUDA
 * reports an error to the one who asks: the attempt fails, at its end as any other.
 */
#include "sim/pipeline/pipeline.h"
#include "sim/record/record.h"

#include <math.h>
#include <stdio.h>

void sim_stage_pick_up(struct sim_stage_run *stage, const struct sim_hand *hand)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    double bytes = 0;
    uint32_t index = hand->task_head;
    if (!sim_workers_memory_is_timed(run->config.workers))
        return;
    for (uint32_t i = 0; i < hand->task_count; i++, index = run->items.items[index].next)
        bytes += run->items.items[index].bytes;
    sim_worker_take_bytes(run->config.workers, hand->worker, bytes);
}

void sim_pipeline_item_leaves(struct sim_pipeline_run *run, struct sim_item *item)
{
    if (item->lies_on == 0)
        return;
    sim_workers_store(run->config.workers, item->lies_on - 1, -item->bytes);
    item->lies_on = 0;
}

void sim_pipeline_stored(const struct sim_pipeline_run *run, int64_t *by_node)
{
    for (uint32_t i = 0; i < run->items.used; i++) {
        const struct sim_item *item = &run->items.items[i]; /* one that is gone lies nowhere */
        if (item->lies_on != 0)
            by_node[item->lies_on - 1] += llround(item->bytes);
    }
}

void sim_stage_use_up(struct sim_stage_run *stage, const struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    uint32_t index = hand->task_head;
    if (!sim_workers_memory_is_timed(run->config.workers))
        return;
    for (uint32_t i = 0; i < hand->task_count; i++, index = run->items.items[index].next)
        sim_pipeline_item_leaves(run, &run->items.items[index]);
}

void sim_stage_lay_down(struct sim_stage_run *stage, const struct sim_hand *hand,
                        const struct sim_queue *output)
{
    struct sim_pipeline_run *run = stage->pipeline;
    const bool is_last = stage->position + 1 == run->stage_count;
    uint32_t index = output->head;
    if (is_last || !sim_workers_memory_is_timed(run->config.workers))
        return;
    for (uint64_t i = 0; i < output->count; i++, index = run->items.items[index].next) {
        struct sim_item *item = &run->items.items[index];
        item->lies_on = hand->worker->node + 1;
        sim_workers_store(run->config.workers, hand->worker->node, item->bytes);
    }
}

/* ---- activations ---- */

static int64_t activations(const struct sim_stage_run *stage)
{
    return stage->spec->activation_bytes * stage->spec->batch;
}

static weir_status note_short(const struct sim_stage_run *stage, const struct sim_worker *worker,
                              const struct sim_gpu_grant *grant)
{
    char asked[200];
    (void)snprintf(asked, sizeof(asked), "%s: worker %llu: %.4g GB for a task", stage->spec->name,
                   (unsigned long long)sim_worker_id(worker), 1e-9 * (double)activations(stage));
    return sim_worker_note_short(stage->pipeline->config.workers, worker, asked, grant,
                                 "not free on its GPU");
}

weir_status sim_stage_activate(const struct sim_stage_run *stage, struct sim_hand *hand)
{
    const int64_t bytes = activations(stage);
    if (bytes == 0)
        return WEIR_OK;
    struct sim_gpu_grant grant;
    WEIR_TRY(sim_worker_take_gpu_bytes(stage->pipeline->config.workers, hand->worker, bytes, false,
                                       &grant));
    hand->is_active = grant.is_taken;
    if (hand->is_active)
        return WEIR_OK;
    hand->will_fail = true;
    return note_short(stage, hand->worker, &grant);
}

void sim_stage_deactivate(const struct sim_stage_run *stage, struct sim_hand *hand)
{
    if (hand->is_active)
        sim_worker_give_gpu_bytes(stage->pipeline->config.workers, hand->worker,
                                  activations(stage));
    hand->is_active = false;
}
