/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One scheduling pass: jobs are offered in the order of the queueing policy until nothing more fits
 * (or, strictly, until the first does not), then those that may not wait are refused.
 */
#include "tests/support/job_oracle/state.h"

/* Keys that change with time are asked for anew. */
static weir_status refresh_keys(struct oracle_run *run)
{
    for (uint32_t k = 0; k < run->queue.kind_count; k++) {
        struct oracle_wait_heap *heap = &run->queue.kinds[k];
        for (size_t i = 0; i < heap->count; i++)
            WEIR_TRY(oracle_job_key(run, &run->jobs[heap->entries[i].slot], &heap->entries[i].key));
        oracle_wait_queue_reorder(&run->queue, k);
    }
    return WEIR_OK;
}

static weir_status start_what_fits(struct oracle_run *run)
{
    const bool is_strict =
        (run->scenario->sched.queueing.queueing->flags & WEIR_QUEUEING_PASSES) == 0;
    for (;;) {
        const struct oracle_wait_entry *first = oracle_wait_queue_first(&run->queue, is_strict);
        bool is_placed = false;
        if (first == NULL)
            return WEIR_OK;
        const uint32_t slot = first->slot;
        const uint32_t kind = first->kind;
        WEIR_TRY(oracle_job_place(run, &run->jobs[slot], &is_placed));
        run->queue.kinds[kind].is_settled = !is_placed;
        if (!is_placed)
            continue;
        oracle_job_dequeue(run, slot);
        WEIR_TRY(oracle_job_begin(run, slot));
    }
}

/* The last to come are the first to be refused; all of them in the order in which they came. */
static weir_status refuse_surplus(struct oracle_run *run)
{
    uint32_t first = run->fresh_count;

    for (uint32_t i = run->fresh_count; i-- > 0;) {
        const uint32_t slot = run->fresh[i];
        struct oracle_job *job = &run->jobs[slot];
        const bool is_fresh = job->is_new;
        job->is_new = false;
        if (!is_fresh || job->state != ORACLE_JOB_WAITING ||
            run->waiting <= run->workload->queue_limit)
            continue;
        oracle_job_dequeue(run, slot);
        run->fresh[--first] = slot;
    }
    for (; first < run->fresh_count; first++)
        WEIR_TRY(oracle_job_refuse(run, run->fresh[first]));
    run->fresh_count = 0;
    return WEIR_OK;
}

weir_status oracle_job_pass(struct oracle_run *run)
{
    run->has_pass = false;
    if ((run->scenario->sched.queueing.queueing->flags & WEIR_QUEUEING_AGES) != 0)
        WEIR_TRY(refresh_keys(run));
    WEIR_TRY(start_what_fits(run));
    WEIR_TRY(refuse_surplus(run));
    return oracle_job_cuts_choose(run);
}
