/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules of saturation.h remember from one cycle to the next, by the walk of memory.h.
 */
#include "sched/internal/alloc.h"
#include "sched/scaling/saturation.h"

#include <math.h>

void weir_saturation_remember_loss(struct weir_memory *memory, uint32_t *cycles,
                                   struct weir_amounts *up)
{
    *cycles = (uint32_t)weir_memory_count(memory, *cycles, 0);
    weir_memory_amounts(memory, up);
}

static void pass_tasks(struct weir_memory *memory, const struct weir_allocator *allocator,
                       struct weir_saturation_pool *pool)
{
    const int64_t count = weir_memory_count(memory, pool->task_count, 0);

    if (memory->from != NULL) {
        struct weir_task_time *const tasks =
            count > ((int64_t)memory->size - memory->used) / 2
                ? NULL
                : weir_grow(allocator, pool->tasks, &pool->task_capacity, (uint32_t)count,
                            sizeof *tasks);
        memory->is_broken |= tasks == NULL;
        if (tasks == NULL)
            return;
        pool->tasks = tasks;
        pool->task_count = (uint32_t)count;
    }
    for (uint32_t i = 0; i < pool->task_count; i++) {
        weir_memory_number(memory, &pool->tasks[i].start_s);
        weir_memory_number(memory, &pool->tasks[i].length_s);
    }
}

static void pass_pool(struct weir_memory *memory, const struct weir_allocator *allocator,
                      struct weir_saturation_pool *pool)
{
    pool->samples = (uint64_t)weir_memory_count(memory, (int64_t)pool->samples, 0);
    weir_memory_number(memory, &pool->returns);
    weir_memory_number(memory, &pool->last_completion_s);
    if (isnan(pool->last_completion_s))
        pool->last_completion_s = -(double)INFINITY;
    weir_memory_number(memory, &pool->speed_memory);
    weir_memory_number(memory, &pool->peak);
    weir_memory_number(memory, &pool->arrivals);
    weir_memory_number(memory, &pool->active_since_s);
    pool->dry_cycles = (uint32_t)weir_memory_count(memory, pool->dry_cycles, 0);
    weir_memory_number(memory, &pool->held);
    weir_memory_number(memory, &pool->shrink_to);
    pool->shrink_streak = (uint32_t)weir_memory_count(memory, pool->shrink_streak, 0);
    pool->benefit_streak = (uint32_t)weir_memory_count(memory, pool->benefit_streak, 0);
    pass_tasks(memory, allocator, pool);
}

void weir_saturation_remember(struct weir_saturation *rules, struct weir_memory *memory)
{
    rules->bottleneck = (int32_t)weir_memory_count(memory, rules->bottleneck, -1);
    rules->candidate = (int32_t)weir_memory_count(memory, rules->candidate, -1);
    rules->streak = (uint32_t)weir_memory_count(memory, rules->streak, 0);
    rules->was_queue_regime = (int32_t)weir_memory_count(memory, rules->was_queue_regime, -1);
    memory->is_broken |=
        rules->bottleneck >= (int32_t)rules->count || rules->candidate >= (int32_t)rules->count;
    for (uint32_t i = 0; i < rules->count; i++)
        pass_pool(memory, &rules->allocator, &rules->pools[i]);
}
