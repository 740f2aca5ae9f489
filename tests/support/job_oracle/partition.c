/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting GPUs anew while jobs run; see the header. */
#include "tests/support/job_oracle/state.h"

#include "sim/cluster/sharing.h"

#include <stdlib.h>
#include <string.h>

static bool is_on(const struct oracle_run *run)
{
    return run->scenario->sched.repartition.policy == SIM_REPARTITION_DEMAND;
}

weir_status oracle_job_cuts_open(struct oracle_run *run)
{
    struct oracle_job_cuts *cuts = &run->cuts;
    const uint32_t kinds = run->queue.kind_count;
    if (!is_on(run))
        return WEIR_OK;
    cuts->capacity = run->truth->gpu_count;
    cuts->pending = calloc((size_t)cuts->capacity + 1, sizeof(*cuts->pending));
    cuts->is_away = calloc((size_t)cuts->capacity + 1, sizeof(*cuts->is_away));
    cuts->shapes = calloc((size_t)kinds + 1, sizeof(*cuts->shapes));
    cuts->waiting = calloc((size_t)kinds + 1, sizeof(*cuts->waiting));
    cuts->members = calloc((size_t)kinds + 1, sizeof(*cuts->members));
    if (cuts->pending == NULL || cuts->is_away == NULL || cuts->shapes == NULL ||
        cuts->waiting == NULL || cuts->members == NULL)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < run->workload->jobs_count; i++) {
        cuts->shapes[run->kind_of[i]] = run->workload->jobs[i].shape;
        cuts->members[run->kind_of[i]] = run->workload->jobs[i].members;
    }
    return WEIR_OK;
}

void oracle_job_cuts_close(struct oracle_job_cuts *cuts)
{
    free(cuts->pending);
    free(cuts->is_away);
    free(cuts->shapes);
    free(cuts->waiting);
    free(cuts->members);
}

static bool may_use(const struct oracle_run *run, const struct weir_shape *shape, uint32_t gpu)
{
    uint32_t node = 0;
    while (gpu >= run->truth->nodes[node].gpu_first + run->truth->nodes[node].gpu_count)
        node++;
    return weir_shape_takes_labels(shape, sim_scenario_node_labels(run->scenario, node));
}

bool oracle_job_cuts_can_serve(const struct oracle_run *run, const struct weir_shape *shape)
{
    for (uint32_t g = 0; is_on(run) && g < run->truth->gpu_count; g++) {
        const struct sim_gpu *gpu = &run->truth->gpus[g];
        if (may_use(run, shape, g) && gpu->mig != NULL && gpu->mig_cut != 0 &&
            weir_shape_takes_type(shape, gpu->type) &&
            weir_shape_profiles(shape, gpu->mig, false) != 0)
            return true;
    }
    return false;
}

/* Schedules the end of the cut when nothing is held any more. */
static void begin_when_drained(struct oracle_run *run, uint32_t index)
{
    struct oracle_job_cuts *cuts = &run->cuts;
    const struct weir_partition_cut *cut = &cuts->pending[index];
    if (cuts->is_away[index] ||
        weir_cluster_gpu(run->belief, cut->node, cut->gpu)->mig_state.held != 0)
        return;
    cuts->is_away[index] = true;
    const struct sim_event event = { .time_ns = sim_engine_now(run->engine) +
                                                run->scenario->sched.repartition.reconfigure_ns,
                                     .target = cut->node,
                                     .argument = cut->gpu,
                                     .kind = ORACLE_JOB_CUT,
                                     .phase = SIM_PHASE_FAULT };
    (void)sim_engine_schedule(run->engine, &event);
}

weir_status oracle_job_cuts_choose(struct oracle_run *run)
{
    struct oracle_job_cuts *cuts = &run->cuts;
    if (!is_on(run) || run->waiting == 0)
        return WEIR_OK;
    for (uint32_t k = 0; k < run->queue.kind_count; k++)
        cuts->waiting[k] = (uint64_t)run->queue.kinds[k].count * cuts->members[k];
    while (cuts->pending_count < cuts->capacity) {
        const struct weir_partition_query query = { .size = sizeof(struct weir_partition_query),
                                                    .cluster = run->belief,
                                                    .shapes = cuts->shapes,
                                                    .waiting = cuts->waiting,
                                                    .shape_count = run->queue.kind_count,
                                                    .min_gain =
                                                        run->scenario->sched.repartition.min_gain,
                                                    .pending = cuts->pending,
                                                    .pending_count = cuts->pending_count };
        struct weir_partition_cut *cut = &cuts->pending[cuts->pending_count];
        if (weir_partition_decide(&query, cut, NULL) != WEIR_OK)
            return WEIR_OK;
        WEIR_TRY(weir_cluster_close_gpu(run->belief, cut->node, cut->gpu, true));
        cuts->is_away[cuts->pending_count] = false;
        begin_when_drained(run, cuts->pending_count++);
    }
    return WEIR_OK;
}

void oracle_job_cuts_drained(struct oracle_run *run, uint32_t node)
{
    for (uint32_t i = 0; i < run->cuts.pending_count; i++)
        if (run->cuts.pending[i].node == node)
            begin_when_drained(run, i);
}

weir_status oracle_job_cuts_finish(struct oracle_run *run, uint32_t node, uint32_t gpu)
{
    struct oracle_job_cuts *cuts = &run->cuts;
    uint32_t index = 0;
    while (index < cuts->pending_count &&
           (cuts->pending[index].node != node || cuts->pending[index].gpu != gpu))
        index++;
    if (index == cuts->pending_count)
        return weir_fail(run->error, WEIR_EINVARIANT, "node %u GPU %u was not to be cut", node,
                         gpu);
    const struct weir_partition_cut cut = cuts->pending[index];
    WEIR_TRY(sim_cluster_cut(run->truth, node, gpu, cut.cut, run->error));
    WEIR_TRY(weir_cluster_cut_gpu(run->belief, node, gpu, cut.cut, run->error));
    WEIR_TRY(weir_cluster_close_gpu(run->belief, node, gpu, false));
    cuts->pending_count--;
    memmove(&cuts->pending[index], &cuts->pending[index + 1],
            (cuts->pending_count - index) * sizeof(*cuts->pending));
    memmove(&cuts->is_away[index], &cuts->is_away[index + 1],
            (cuts->pending_count - index) * sizeof(*cuts->is_away));
    oracle_wait_queue_unsettle(&run->queue);
    oracle_job_want_pass(run);
    return WEIR_OK;
}
