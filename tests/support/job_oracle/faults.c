/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes fail and come back by their laws; jobs on them begin anew elsewhere. */
#include "tests/support/job_oracle/state.h"

#include "sim/engine/law.h"

static void schedule(struct oracle_run *run, const struct sim_law *law, enum sim_purpose purpose,
                     uint32_t node, uint16_t kind)
{
    struct sim_stream stream;
    sim_stream_open(&stream, &run->random, purpose,
                    sim_scenario_node_key(run->scenario, node, run->node_failures[node]));
    const int64_t wait_ns = sim_time_from_s(sim_law_draw(law, &stream));
    const int64_t now_ns = sim_engine_now(run->engine);
    if (wait_ns <= SIM_TIME_MAX - now_ns)
        (void)oracle_job_schedule(run, now_ns + wait_ns, kind, SIM_PHASE_FAULT, node);
}

weir_status oracle_job_faults_begin(struct oracle_run *run)
{
    const struct sim_law *between = run->scenario->failures.of[SIM_FAULT_NODE].between;
    for (uint32_t n = 0; between != NULL && n < run->truth->node_count; n++)
        schedule(run, between, SIM_DRAW_NODE_FAILURE, n, ORACLE_JOB_NODE_FAIL);
    return WEIR_OK;
}

weir_status oracle_job_node_fail(struct oracle_run *run, uint32_t node)
{
    uint64_t worker = 0;
    run->truth->nodes[node].is_up = false;
    run->nodes_down++;
    WEIR_TRY(weir_cluster_set_node_flags(run->belief, node, 0));
    while (weir_cluster_node_worker_id(run->belief, node, &worker))
        WEIR_TRY(oracle_job_lose(run, oracle_job_of_worker(worker)));
    if (run->scenario->failures.of[SIM_FAULT_NODE].repair != NULL)
        schedule(run, run->scenario->failures.of[SIM_FAULT_NODE].repair, SIM_DRAW_NODE_REPAIR, node,
                 ORACLE_JOB_NODE_REPAIR);
    return WEIR_OK;
}

weir_status oracle_job_node_repair(struct oracle_run *run, uint32_t node)
{
    run->truth->nodes[node].is_up = true;
    run->nodes_down--;
    run->node_failures[node]++;
    WEIR_TRY(weir_cluster_set_node_flags(run->belief, node, WEIR_NODE_UP));
    schedule(run, run->scenario->failures.of[SIM_FAULT_NODE].between, SIM_DRAW_NODE_FAILURE, node,
             ORACLE_JOB_NODE_FAIL);
    oracle_wait_queue_unsettle(&run->queue);
    oracle_job_want_pass(run);
    return WEIR_OK;
}
