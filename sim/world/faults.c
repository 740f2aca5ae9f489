/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults: nodes fail and come back by their laws, workers crash (see world.h).
 *
 * A node can be down for several reasons at once (its own failure, the timeline); it is up when the
 * last one is gone. Every worker with a place on it is lost at once; its driver takes back what it
 * had in hand, and the scheduler is told.
 */
#include "sim/cluster/power.h"
#include "sim/record/record.h"
#include "sim/world/world.h"

#include <stdlib.h>

static weir_status schedule(struct sim_world *world, const struct sim_law *law,
                            enum sim_purpose purpose, uint32_t node, uint16_t kind)
{
    struct sim_stream stream;
    sim_stream_open(&stream, &world->context.random, purpose,
                    sim_scenario_node_key(world->scenario, node, world->node_failures[node]));
    const int64_t wait_ns = sim_time_from_s(sim_law_draw(law, &stream));
    const int64_t now_ns = sim_engine_now(world->context.engine);
    if (wait_ns > SIM_TIME_MAX - now_ns)
        return WEIR_OK;
    const struct sim_event event = {
        .time_ns = now_ns + wait_ns, .target = node, .kind = kind, .phase = SIM_PHASE_FAULT
    };
    (void)sim_engine_schedule(world->context.engine, &event);
    return WEIR_OK;
}

weir_status sim_faults_begin(struct sim_world *world)
{
    const struct sim_failures *failures = &world->scenario->failures;
    if (failures->node_between == NULL)
        return WEIR_OK;
    for (uint32_t n = 0; n < world->context.cluster->node_count; n++)
        WEIR_TRY(
            schedule(world, failures->node_between, SIM_DRAW_NODE_FAILURE, n, SIM_KIND_NODE_FAIL));
    return WEIR_OK;
}

weir_status sim_faults_worker_crash(struct sim_world *world, struct sim_worker *worker)
{
    const struct sim_driver *driver = &world->drivers[worker->driver];
    worker->crash = SIM_NO_HANDLE;
    WEIR_TRY(sim_port_end_worker(world->port, worker, SIM_STOP_CRASHED, "crashed"));
    return driver->ops->settle(driver->self);
}

/* The loss of one may have taken others with it: each is looked up again. */
static weir_status end_all(struct sim_world *world, const uint64_t *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_worker *worker = sim_workers_find(world->workers, ids[i]);
        if (worker != NULL)
            WEIR_TRY(sim_port_end_worker(world->port, worker, SIM_STOP_NODE_LOST, "node lost"));
    }
    return WEIR_OK;
}

static weir_status lose_workers(struct sim_world *world, uint32_t node)
{
    uint64_t *ids = NULL;
    uint32_t count = 0;
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (world->drivers[d].ops->node_lost != NULL)
            world->drivers[d].ops->node_lost(world->drivers[d].self, node);
    WEIR_TRY(sim_workers_on_node(world->workers, node, &ids, &count));
    const weir_status status = end_all(world, ids, count);
    free(ids);
    return status;
}

weir_status sim_faults_set_node(struct sim_world *world, uint32_t node, bool is_down)
{
    struct sim_context *context = &world->context;
    const int64_t now_ns = sim_engine_now(context->engine);
    struct sim_node *truth = &context->cluster->nodes[node];
    if (!is_down && world->node_fault[node] == 0)
        return WEIR_OK; /* told to come up while it is up */
    world->node_fault[node] += is_down ? 1 : UINT32_MAX;
    if (truth->is_up == (world->node_fault[node] == 0))
        return WEIR_OK;
    if (truth->is_up)
        WEIR_TRY(lose_workers(world, node));
    truth->is_up = !truth->is_up;
    sim_power_note(context->cluster, node);
    sim_meter_node_up(context->meter, now_ns, node, truth->is_up);
    sim_cluster_meter(context->cluster, context->meter, now_ns, node);
    sim_context_digest(context, truth->is_up ? 0x201 : 0x200, node, now_ns);
    WEIR_TRY(sim_port_node(world->port, node, truth->is_up));
    return sim_world_settle(world);
}

static weir_status note(struct sim_world *world, uint32_t node, const char *kind, const char *text)
{
    char name[128];
    sim_scenario_node_name(world->scenario, node, name, sizeof(name));
    return sim_recorder_happening(world->context.recorder, sim_engine_now(world->context.engine),
                                  -1, kind, name, text, world->context.error);
}

weir_status sim_faults_node_fail(struct sim_world *world, uint32_t node)
{
    const struct sim_failures *failures = &world->scenario->failures;
    WEIR_TRY(note(world, node, "node_fail", "node failed"));
    WEIR_TRY(sim_faults_set_node(world, node, true));
    if (failures->node_repair == NULL)
        return WEIR_OK;
    return schedule(world, failures->node_repair, SIM_DRAW_NODE_REPAIR, node, SIM_KIND_NODE_REPAIR);
}

weir_status sim_faults_node_repair(struct sim_world *world, uint32_t node)
{
    WEIR_TRY(note(world, node, "node_repair", "node repaired"));
    world->node_failures[node]++;
    WEIR_TRY(sim_faults_set_node(world, node, false));
    return schedule(world, world->scenario->failures.node_between, SIM_DRAW_NODE_FAILURE, node,
                    SIM_KIND_NODE_FAIL);
}
