/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules of saturation.h remember from one cycle to the next, as numbers: written and read
 * by the same walk over the fields, so that both have one order.
 */
#include "sched/internal/alloc.h"
#include "sched/scaling/saturation.h"

#include <math.h>

/* A value on its way out, or in. Beyond the end a reader gets NAN and is told so. */
static void pass(struct weir_saturation_memory *memory, double *value)
{
    const uint32_t at = memory->used++;

    if (memory->from != NULL)
        *value = at < memory->size ? memory->from[at] : (double)NAN;
    else if (at < memory->size)
        memory->to[at] = *value;
}

/* A whole number of at least `least`; what is none is noted. */
static int64_t pass_count(struct weir_saturation_memory *memory, int64_t value, int64_t least)
{
    double number = (double)value;

    pass(memory, &number);
    if (number >= (double)least && number <= 0x1p53)
        return (int64_t)number;
    memory->is_broken = true;
    return least;
}

/* A double holds 53 bits, so an amount goes in two parts. */
static void pass_amount(struct weir_saturation_memory *memory, int64_t *amount)
{
    const int64_t high = pass_count(memory, *amount >> 32, 0);
    const int64_t low = pass_count(memory, *amount & UINT32_MAX, 0);

    *amount = (high & INT32_MAX) << 32 | (low & UINT32_MAX);
}

void weir_saturation_remember_loss(struct weir_saturation_memory *memory, uint32_t *cycles,
                                   struct weir_amounts *up)
{
    *cycles = (uint32_t)pass_count(memory, *cycles, 0);
    pass_amount(memory, &up->cpu_units);
    pass_amount(memory, &up->gpu_units);
    pass_amount(memory, &up->nvdecs);
    pass_amount(memory, &up->nvencs);
    pass_amount(memory, &up->ram_bytes);
    pass_amount(memory, &up->gpu_mem_bytes);
}

static void pass_tasks(struct weir_saturation_memory *memory,
                       const struct weir_allocator *allocator, struct weir_saturation_pool *pool)
{
    const int64_t count = pass_count(memory, pool->task_count, 0);

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
        pass(memory, &pool->tasks[i].start_s);
        pass(memory, &pool->tasks[i].length_s);
    }
}

static void pass_pool(struct weir_saturation_memory *memory, const struct weir_allocator *allocator,
                      struct weir_saturation_pool *pool)
{
    pool->samples = (uint64_t)pass_count(memory, (int64_t)pool->samples, 0);
    pass(memory, &pool->returns);
    pass(memory, &pool->last_completion_s);
    if (isnan(pool->last_completion_s))
        pool->last_completion_s = -(double)INFINITY;
    pass(memory, &pool->speed_memory);
    pass(memory, &pool->peak);
    pass(memory, &pool->arrivals);
    pass(memory, &pool->active_since_s);
    pool->dry_cycles = (uint32_t)pass_count(memory, pool->dry_cycles, 0);
    pass(memory, &pool->held);
    pass(memory, &pool->shrink_to);
    pool->shrink_streak = (uint32_t)pass_count(memory, pool->shrink_streak, 0);
    pool->benefit_streak = (uint32_t)pass_count(memory, pool->benefit_streak, 0);
    pass_tasks(memory, allocator, pool);
}

void weir_saturation_remember(struct weir_saturation *rules, struct weir_saturation_memory *memory)
{
    rules->bottleneck = (int32_t)pass_count(memory, rules->bottleneck, -1);
    rules->candidate = (int32_t)pass_count(memory, rules->candidate, -1);
    rules->streak = (uint32_t)pass_count(memory, rules->streak, 0);
    rules->was_queue_regime = (int32_t)pass_count(memory, rules->was_queue_regime, -1);
    memory->is_broken |=
        rules->bottleneck >= (int32_t)rules->count || rules->candidate >= (int32_t)rules->count;
    for (uint32_t i = 0; i < rules->count; i++)
        pass_pool(memory, &rules->allocator, &rules->pools[i]);
}
