/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One scheduling pass: jobs are offered in the order of the queueing policy until nothing more fits
 * (or, strictly, until the first does not), then those that may not wait are refused.
 */
#include "sim/jobs/job_state.h"

/* Keys that change with time are asked for anew. */
static weir_status refresh_keys(struct sim_job_run *run)
{
    for (uint32_t k = 0; k < run->queue.kind_count; k++) {
        struct sim_wait_heap *heap = &run->queue.kinds[k];
        for (size_t i = 0; i < heap->count; i++)
            WEIR_TRY(sim_job_key(run, &run->jobs[heap->entries[i].slot], &heap->entries[i].key));
        sim_wait_queue_reorder(&run->queue, k);
    }
    return WEIR_OK;
}

static weir_status start_what_fits(struct sim_job_run *run)
{
    const bool is_strict =
        (run->scenario->sched.queueing.queueing->flags & WEIR_QUEUEING_PASSES) == 0;
    for (;;) {
        const struct sim_wait_entry *first = sim_wait_queue_first(&run->queue, is_strict);
        bool is_placed = false;
        if (first == NULL)
            return WEIR_OK;
        const uint32_t slot = first->slot;
        const uint32_t kind = first->kind;
        WEIR_TRY(sim_job_place(run, &run->jobs[slot], &is_placed));
        run->queue.kinds[kind].is_settled = !is_placed;
        if (!is_placed)
            continue;
        sim_job_dequeue(run, slot);
        WEIR_TRY(sim_job_begin(run, slot));
    }
}

/* The last to come are the first to be refused. */
static weir_status refuse_surplus(struct sim_job_run *run)
{
    while (run->fresh_count > 0) {
        const uint32_t slot = run->fresh[--run->fresh_count];
        struct sim_job *job = &run->jobs[slot];
        const bool is_fresh = job->is_new;
        job->is_new = false;
        if (!is_fresh || job->state != SIM_JOB_WAITING ||
            run->waiting <= run->workload->queue_limit)
            continue;
        sim_job_dequeue(run, slot);
        WEIR_TRY(sim_job_refuse(run, slot));
    }
    return WEIR_OK;
}

weir_status sim_job_pass(struct sim_job_run *run)
{
    run->has_pass = false;
    run->passes++;
    if ((run->scenario->sched.queueing.queueing->flags & WEIR_QUEUEING_AGES) != 0)
        WEIR_TRY(refresh_keys(run));
    WEIR_TRY(start_what_fits(run));
    return refuse_surplus(run);
}
