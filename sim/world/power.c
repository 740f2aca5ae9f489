/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Power in time: after an event, every node on which something began, ended, or became too hot is
 * looked at once (sim/cluster/power.h). Whose speed changes by that is noted, the meter is told,
 * and the next look is scheduled, in the place of the one that was.
 */
#include "sim/cluster/power.h"
#include "sim/world/world.h"

static void look_at(struct sim_world *world, uint32_t node, int64_t at_ns)
{
    struct sim_engine *engine = world->context.engine;
    const struct sim_event event = {
        .time_ns = at_ns, .target = node, .kind = SIM_KIND_POWER, .phase = SIM_PHASE_FAULT
    };
    if (world->power_look[node] != SIM_NO_HANDLE)
        (void)sim_engine_cancel(engine, world->power_look[node]);
    world->power_look[node] =
        at_ns == SIM_TIME_MAX ? SIM_NO_HANDLE : sim_engine_schedule(engine, &event);
}

weir_status sim_world_power(struct sim_world *world)
{
    struct sim_context *context = &world->context;
    const int64_t now_ns = sim_engine_now(context->engine);
    uint32_t node = 0;
    while (sim_power_take(context->cluster, &node)) {
        struct sim_power_look look;
        WEIR_TRY(sim_power_control(context->cluster, node, now_ns, &look));
        if (look.is_paced)
            sim_workers_node_paced(world->workers, node);
        sim_cluster_meter(context->cluster, context->meter, now_ns, node);
        look_at(world, node, look.next_ns);
    }
    return WEIR_OK;
}

void sim_world_cap_power(struct sim_world *world, uint32_t node, double cap_w)
{
    world->context.cluster->nodes[node].power_cap_w = cap_w;
    sim_power_note(world->context.cluster, node);
}
