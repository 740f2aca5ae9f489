/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The oracle of jobs in time: building, the run loop, the invariant; see the header. */
#include "tests/support/job_oracle/state.h"

#include "sim/scenario/belief.h"
#include "tests/support/job_oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

/* What makes a difference to the placement. */
static int by_kind(const void *left, const void *right, void *state)
{
    const struct sim_job_spec *jobs = state;
    const struct sim_job_spec *a = &jobs[*(const uint32_t *)left];
    const struct sim_job_spec *b = &jobs[*(const uint32_t *)right];
    if (a->members != b->members)
        return a->members < b->members ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return memcmp(&a->shape, &b->shape, sizeof(a->shape));
}

/* Numbers the distinct kinds of jobs. */
static weir_status number_kinds(struct oracle_run *run)
{
    const struct sim_workload *workload = run->workload;
    uint32_t *order = calloc(workload->jobs_count + 1, sizeof(*order));
    uint32_t kinds = 0;
    run->kind_of = calloc(workload->jobs_count + 1, sizeof(*run->kind_of));
    if (order == NULL || run->kind_of == NULL) {
        free(order);
        return WEIR_ENOMEM;
    }
    for (uint32_t i = 0; i < workload->jobs_count; i++)
        order[i] = i;
    qsort_r(order, workload->jobs_count, sizeof(*order), by_kind, workload->jobs);
    for (size_t i = 0; i < workload->jobs_count; i++) {
        if (i == 0 || by_kind(&order[i - 1], &order[i], workload->jobs) != 0)
            kinds++;
        run->kind_of[order[i]] = kinds - 1;
    }
    free(order);
    run->is_feasible = calloc((size_t)kinds + 1, sizeof(*run->is_feasible));
    return run->is_feasible == NULL ? WEIR_ENOMEM : oracle_wait_queue_open(&run->queue, kinds);
}

static weir_status add_node(struct oracle_run *run, uint32_t index, struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(sim_belief_node(run->scenario, index, gpus, &spec, error));
    return weir_cluster_add_node(run->belief, &spec, NULL, error);
}

static weir_status make_cluster(struct oracle_run *run, struct weir_error *error)
{
    WEIR_TRY(sim_cluster_create(run->scenario, &run->truth));
    WEIR_TRY(weir_cluster_create(NULL, &run->belief));
    const uint32_t nodes = run->truth->node_count;
    run->node_failures = calloc((size_t)nodes + 1, sizeof(*run->node_failures));
    if (run->node_failures == NULL)
        return WEIR_ENOMEM;
    for (uint32_t n = 0; n < nodes; n++)
        WEIR_TRY(add_node(run, n, error));
    return WEIR_OK;
}

static weir_status make_policies(struct oracle_run *run, struct weir_error *error)
{
    const struct sim_policy_choice *queueing = &run->scenario->sched.queueing;
    const struct weir_params rank = { queueing->values, (uint32_t)queueing->count, 0 };
    WEIR_TRY(sim_job_placer_create(run->scenario, run->workload, &run->placer, error));
    return weir_ranker_create(queueing->queueing, &rank, NULL, &run->ranker, error);
}

static weir_status prepare(struct oracle_run *run, struct weir_error *error)
{
    run->engine = sim_engine_create();
    run->jobs = calloc(1, sizeof(*run->jobs));
    run->free_slots = calloc(1, sizeof(*run->free_slots));
    if (run->engine == NULL || run->jobs == NULL || run->free_slots == NULL)
        return WEIR_ENOMEM;
    run->slot_capacity = 1;
    WEIR_TRY(sim_target_create(run->workload, &run->target));
    WEIR_TRY(make_cluster(run, error));
    WEIR_TRY(make_policies(run, error));
    WEIR_TRY(number_kinds(run));
    WEIR_TRY(oracle_job_cuts_open(run));
    run->error = error;
    WEIR_TRY(oracle_job_judge_kinds(run));
    const struct sim_random random =
        sim_random_of(&run->random, SIM_NAME_JOBS, run->workload->name);
    return sim_job_stream_create(run->workload, &random, &run->stream);
}

static void run_destroy(struct oracle_run *run)
{
    if (run == NULL)
        return;
    sim_job_stream_destroy(run->stream);
    weir_ranker_destroy(run->ranker);
    sim_job_placer_destroy(run->placer);
    weir_cluster_destroy(run->belief);
    sim_cluster_destroy(run->truth);
    sim_target_clear(&run->target);
    oracle_wait_queue_close(&run->queue);
    oracle_job_cuts_close(&run->cuts);
    sim_engine_destroy(run->engine);
    free(run->node_failures);
    free(run->kind_of);
    free(run->is_feasible);
    free(run->jobs);
    free(run->free_slots);
    free(run->fresh);
    free(run);
}

static weir_status run_create(const struct sim_scenario *scenario, struct test_job_rows *rows,
                              struct oracle_run **run, struct weir_error *error)
{
    struct oracle_run *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->claim.parts = made->parts;
    made->scenario = scenario;
    made->rows = rows;
    made->workload = &scenario->workloads[0];
    made->random = (struct sim_random){ .seed = scenario->seed };
    const weir_status status = prepare(made, error);
    if (status != WEIR_OK) {
        run_destroy(made);
        return status;
    }
    *run = made;
    return WEIR_OK;
}

/* ---- events ---- */

sim_handle oracle_job_schedule(struct oracle_run *run, int64_t at_ns, uint16_t kind, uint16_t phase,
                               uint32_t slot)
{
    const bool is_about_job =
        kind == ORACLE_JOB_END || kind == ORACLE_JOB_LEAVE || kind == ORACLE_JOB_RETRY;
    const struct sim_event event = { .time_ns = at_ns,
                                     .target = slot,
                                     .argument = is_about_job ? run->jobs[slot].id : 0,
                                     .kind = kind,
                                     .phase = phase };
    return sim_engine_schedule(run->engine, &event);
}

/* Nothing can happen any more but failures of nodes that nobody uses. */
static bool is_over(const struct oracle_run *run)
{
    const bool is_stuck = run->waiting > 0 &&
                          (run->nodes_down > 0 || run->patient > 0 || run->cuts.pending_count > 0);
    return !run->has_next && !run->has_pass && run->ending == 0 && run->away == 0 && !is_stuck;
}

static weir_status dispatch(struct oracle_run *run, const struct sim_event *event)
{
    switch ((enum oracle_job_event)event->kind) {
    case ORACLE_JOB_END:
        return oracle_job_finish(run, event->target);
    case ORACLE_JOB_ARRIVE:
        return oracle_job_arrive(run);
    case ORACLE_JOB_LEAVE:
        return oracle_job_leave(run, event->target);
    case ORACLE_JOB_RETRY:
        return oracle_job_come_again(run, event->target);
    case ORACLE_JOB_PASS:
        return oracle_job_pass(run);
    case ORACLE_JOB_NODE_FAIL:
        return oracle_job_node_fail(run, event->target);
    case ORACLE_JOB_NODE_REPAIR:
        return oracle_job_node_repair(run, event->target);
    case ORACLE_JOB_CUT:
        return oracle_job_cuts_finish(run, event->target, (uint32_t)event->argument);
    }
    return WEIR_EINVARIANT;
}

static weir_status handle(void *state, const struct sim_event *event)
{
    struct oracle_run *run = state;
    WEIR_TRY(dispatch(run, event));
    if (is_over(run))
        sim_engine_stop(run->engine);
    return WEIR_OK;
}

/* Those that are still there have their rows too. */
static void tell_living(struct oracle_run *run)
{
    for (uint32_t i = 0; i < run->slot_count; i++) {
        const uint32_t state = run->jobs[i].state;
        if (state == ORACLE_JOB_WAITING || state == ORACLE_JOB_RUNNING)
            oracle_job_tell(run, &run->jobs[i],
                            state == ORACLE_JOB_WAITING ? "waiting" : "running");
    }
}

static weir_status check(const struct oracle_run *run, struct weir_error *error)
{
    if (run->arrived != run->gone + run->waiting + run->running + run->away ||
        run->waiting != run->queue.count)
        return weir_fail(error, WEIR_EINVARIANT, "the oracle lost a job");
    WEIR_TRY(weir_cluster_check(run->belief, error));
    return sim_cluster_check(run->truth, error);
}

static weir_status go(struct oracle_run *run, struct weir_error *error)
{
    run->error = error;
    run->has_next = sim_job_stream_next(run->stream, &run->next);
    if (run->has_next)
        (void)oracle_job_schedule(run, run->next.at_ns, ORACLE_JOB_ARRIVE, SIM_PHASE_ARRIVAL, 0);
    WEIR_TRY(oracle_job_faults_begin(run));
    WEIR_TRY(sim_engine_run(run->engine, handle, run, run->scenario->horizon_ns));
    WEIR_TRY(check(run, error));
    tell_living(run);
    return WEIR_OK;
}

weir_status oracle_jobs_run(const struct sim_scenario *scenario, struct test_job_rows *rows,
                            struct weir_error *error)
{
    struct oracle_run *run = NULL;
    WEIR_TRY(run_create(scenario, rows, &run, error));
    const weir_status status = go(run, error);
    run_destroy(run);
    return status;
}
