/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of items in the memory of nodes (see pipeline.h), where that is looked at.
 *
 * What a stage makes lies in the store of the node it was made on, until a task that took it is
 * over. A task that runs holds its input once more, in its process. What comes from the source lies
 * nowhere before. What lies on a node that fails stays there: it is not made again.
 */
#include "sim/pipeline/pipeline.h"

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
