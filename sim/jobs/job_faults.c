/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes fail and come back by their laws; jobs on them begin anew elsewhere. */
#include "sim/jobs/job_state.h"

#include "sim/engine/law.h"
#include "sim/record/record.h"

static void schedule(struct sim_job_run *run, const struct sim_law *law, enum sim_purpose purpose,
                     uint32_t node, uint16_t kind)
{
    struct sim_stream stream;
    sim_stream_open(&stream, &run->random, purpose,
                    sim_scenario_node_key(run->scenario, node, run->node_failures[node]));
    const int64_t wait_ns = sim_time_from_s(sim_law_draw(law, &stream));
    const int64_t now_ns = sim_engine_now(run->engine);
    if (wait_ns <= SIM_TIME_MAX - now_ns)
        (void)sim_job_schedule(run, now_ns + wait_ns, kind, SIM_PHASE_FAULT, node);
}

weir_status sim_job_faults_begin(struct sim_job_run *run)
{
    const struct sim_law *between = run->scenario->failures.node_between;
    for (uint32_t n = 0; between != NULL && n < run->truth->node_count; n++)
        schedule(run, between, SIM_DRAW_NODE_FAILURE, n, SIM_JOB_NODE_FAIL);
    return WEIR_OK;
}

/* What the node has counts as capacity only while it is up. */
static void change_capacity(struct sim_job_run *run, uint32_t node, double sign)
{
    const struct sim_meter_amounts sum = sim_cluster_capacity(run->truth, node);
    const int64_t now_ns = sim_engine_now(run->engine);
    sim_gauge_add(&run->meter.up_gpus, now_ns, sign * sum.amount[SIM_RESOURCE_GPU]);
    sim_gauge_add(&run->meter.up_cpus, now_ns, sign * sum.amount[SIM_RESOURCE_CPU]);
    sim_gauge_add(&run->meter.up_ram, now_ns, sign * sum.amount[SIM_RESOURCE_RAM]);
    sim_job_refresh_frag(run, node);
}

static weir_status record(struct sim_job_run *run, uint32_t node, const char *kind,
                          const char *text)
{
    char name[128];
    sim_scenario_node_name(run->scenario, node, name, sizeof name);
    return sim_recorder_happening(run->options->recorder, sim_engine_now(run->engine), -1, kind,
                                  name, text, run->error);
}

weir_status sim_job_node_fail(struct sim_job_run *run, uint32_t node)
{
    uint64_t worker = 0;
    run->truth->nodes[node].is_up = false;
    run->nodes_down++;
    WEIR_TRY(weir_cluster_set_node_flags(run->belief, node, 0));
    while (weir_cluster_node_worker_id(run->belief, node, &worker))
        WEIR_TRY(sim_job_lose(run, sim_job_of_worker(worker)));
    change_capacity(run, node, -1);
    if (run->scenario->failures.node_repair != NULL)
        schedule(run, run->scenario->failures.node_repair, SIM_DRAW_NODE_REPAIR, node,
                 SIM_JOB_NODE_REPAIR);
    return record(run, node, "node_fail", "node failed");
}

weir_status sim_job_node_repair(struct sim_job_run *run, uint32_t node)
{
    run->truth->nodes[node].is_up = true;
    run->nodes_down--;
    run->node_failures[node]++;
    WEIR_TRY(weir_cluster_set_node_flags(run->belief, node, WEIR_NODE_UP));
    change_capacity(run, node, 1);
    schedule(run, run->scenario->failures.node_between, SIM_DRAW_NODE_FAILURE, node,
             SIM_JOB_NODE_FAIL);
    sim_wait_queue_unsettle(&run->queue);
    sim_job_want_pass(run);
    return record(run, node, "node_repair", "node repaired");
}
