/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers that died and pipelines that end (see recovery.h). */
#include "sim/pipeline/recovery.h"

#include "sim/record/record.h"
#include "sim/scheduler_port.h"

#include <stdlib.h>

enum { WORKER_DEATHS = 4, TASK_DEATHS = 3 };

static void count_deaths(struct sim_item_slab *slab, uint32_t head, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, head = slab->items[head].next)
        slab->items[head].deaths++;
}

bool sim_recovery_gives_up(const struct sim_item *item)
{
    return item->deaths > TASK_DEATHS;
}

/* A decision at this instant instead of at the next interval. */
static void ask_for_plan(struct sim_pipeline_run *run)
{
    const struct sim_event event = { .time_ns = sim_engine_now(run->context->engine),
                                     .kind = SIM_KIND_WAKE,
                                     .phase = SIM_PHASE_DECISION };
    if (run->asked_ns == event.time_ns)
        return;
    run->asked_ns = event.time_ns;
    (void)sim_engine_schedule(run->context->engine, &event);
}

static weir_status plan_return(struct sim_stage_run *stage, const struct sim_worker *worker)
{
    struct sim_loop_stage *loop = &stage->loop;
    if (loop->return_count == loop->return_capacity) {
        const uint32_t capacity = loop->return_capacity == 0 ? 8 : loop->return_capacity * 2;
        struct sim_return *returns = realloc(loop->returns, capacity * sizeof(*returns));
        if (returns == NULL)
            return WEIR_ENOMEM;
        loop->returns = returns;
        loop->return_capacity = capacity;
    }
    loop->returns[loop->return_count++] = (struct sim_return){ .worker = worker->id,
                                                               .deaths = worker->deaths + 1,
                                                               .alloc = worker->lease.alloc };
    return WEIR_OK;
}

weir_status sim_recovery_died(struct sim_stage_run *stage, struct sim_worker *worker)
{
    struct sim_pipeline_run *run = stage->pipeline;
    if (run->spec->semantics != SIM_SEMANTICS_RUNTIME)
        return WEIR_OK;
    count_deaths(&run->items, worker->task_head, worker->task_count);
    count_deaths(&run->items, worker->held.head, worker->held.count);
    switch ((enum sim_restart)run->spec->restart) {
    case SIM_RESTART_SAME_PLACE:
        return plan_return(stage, worker);
    case SIM_RESTART_DECIDE:
        ask_for_plan(run);
        return WEIR_OK;
    case SIM_RESTART_NEXT_PLAN:
        break;
    }
    return WEIR_OK;
}

weir_status sim_recovery_turn(struct sim_stage_run *stage, bool *has_moved)
{
    struct sim_loop_stage *loop = &stage->loop;
    uint32_t kept = 0;
    if (loop->return_count == 0)
        return WEIR_OK;
    for (uint32_t i = 0; i < loop->return_count; i++) {
        struct sim_return *back = &loop->returns[i];
        uint32_t reason = WEIR_REASON_NONE;
        if (back->deaths >= WORKER_DEATHS || loop->is_done)
            continue;
        WEIR_TRY(sim_port_restart_worker(stage->pipeline->port, stage, back, &reason));
        if (reason != WEIR_REASON_NODE_DOWN)
            continue; /* it runs, or another took its place: the next plan decides */
        back->deaths++;
        loop->returns[kept++] = *back;
    }
    loop->return_count = kept;
    *has_moved = *has_moved || kept > 0;
    if (kept > 0 || loop->pool_tasks == 0 || stage->worker_count > 0)
        return WEIR_OK;
    return sim_recovery_end(stage->pipeline, "tasks wait, but every worker was given up");
}

weir_status sim_recovery_end(struct sim_pipeline_run *run, const char *why)
{
    struct sim_context *context = run->context;
    if (run->has_ended)
        return WEIR_OK;
    run->has_ended = true;
    if (context->scenario->horizon_ns == SIM_TIME_MAX)
        return weir_fail(context->error, WEIR_EINFEASIBLE, "pipeline %s ends: %s", run->spec->name,
                         why);
    for (uint32_t s = 0; s < run->stage_count; s++) {
        struct sim_stage_run *stage = &run->stages[s];
        stage->loop.is_done = true;
        stage->loop.return_count = 0;
        for (uint32_t i = 0; i < stage->positions; i++)
            if (stage->workers[i] != NULL)
                WEIR_TRY(sim_port_stop_worker(run->port, stage->workers[i]));
    }
    return sim_recorder_happening(context->recorder, sim_engine_now(context->engine), -1,
                                  "pipeline_end", run->spec->name, why, context->error);
}
