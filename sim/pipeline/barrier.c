/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One stage after the other, and the store between them (see barrier.h). */
#include "sim/pipeline/barrier.h"

#include "sim/pipeline/recovery.h"

#include <math.h>
#include <stdio.h>

bool sim_barrier_takes_workers(const struct sim_stage_run *stage)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    return !sim_pipeline_is_batch(run->spec) || stage->spec->barriers == run->barriers;
}

bool sim_barrier_is_open(const struct sim_stage_run *stage)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    return sim_barrier_takes_workers(stage) &&
           run->opens_ns <= sim_engine_now(run->context->engine);
}

/* The first stage behind the open ones; stage_count = there is none. */
static uint32_t next_closed(const struct sim_pipeline_run *run)
{
    uint32_t next = 0;
    while (next < run->stage_count && run->stages[next].spec->barriers <= run->barriers)
        next++;
    return next;
}

void sim_barrier_turn(struct sim_pipeline_run *run, int64_t *next_ns)
{
    const int64_t now_ns = sim_engine_now(run->context->engine);
    const double store_per_s = run->spec->store_bytes_per_s;
    if (!sim_pipeline_is_batch(run->spec))
        return;
    for (uint32_t next = next_closed(run);
         next < run->stage_count && run->stages[next - 1].loop.is_done; next = next_closed(run)) {
        run->barriers++;
        /* Written by the stage before and read by this one. */
        const double bytes = 2 * run->stages[next].queue.bytes;
        run->opens_ns = now_ns + (store_per_s > 0 ? sim_time_from_s(bytes / store_per_s) : 0);
        sim_recovery_ask_for_plan(run);
        *next_ns = now_ns < *next_ns ? now_ns : *next_ns;
    }
    if (run->opens_ns > now_ns)
        *next_ns = run->opens_ns < *next_ns ? run->opens_ns : *next_ns;
}

weir_status sim_barrier_store(struct sim_stage_run *stage)
{
    struct sim_pipeline_run *run = stage->pipeline;
    double bytes = 0;
    char text[160];
    if (run->spec->store_bytes == 0)
        return WEIR_OK;
    for (uint32_t s = 1; s < run->stage_count; s++)
        bytes += run->stages[s].queue.bytes + run->stages[s].loop.pool.bytes;
    const double over = fmax(bytes - (double)run->spec->store_bytes, 0);
    if (run->spec->store_spills)
        sim_meter_spilled(run->context->meter, sim_engine_now(run->context->engine),
                          fmax(over - run->spilled_bytes, 0));
    run->spilled_bytes = over;
    if (run->spec->store_spills || !(over > 0))
        return WEIR_OK;
    (void)snprintf(text, sizeof text, "the store is full: %llu items wait for %s, %.4g GB in all",
                   (unsigned long long)sim_stage_waiting(stage), stage->spec->name, bytes / 1e9);
    return sim_recovery_give_up(run, text);
}
