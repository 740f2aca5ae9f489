/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes that run out of memory kill somebody (see world.h).
 *
 * oom_killer: after an event that made something grow on a node workers there die, the one with
 * most memory first, as Linux does it, until the use is within the limit (sim/cluster/memory.h).
 * memory_monitor: at every look, `refresh` apart, one dies while the use is over the limit; one
 * whose work is tried again at little loss (of a pool) before one that loses all of it (of a job),
 * the newest first, as Ray does. A worker that would free nothing is left alone, and so is one that
 * came at this instant and has no task, which has not filled its memory yet: a job may start again
 * at once, but an instant has an end. A killed worker is a crashed one: its driver takes its work
 * back.
 */
#include "sim/cluster/memory.h"
#include "sim/record/record.h"
#include "sim/world/world.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_newer(const struct sim_worker *worker, const struct sim_worker *than)
{
    return worker->created_ns != than->created_ns ? worker->created_ns > than->created_ns
                                                  : sim_worker_id(worker) > sim_worker_id(than);
}

static bool is_preferred(const struct sim_world *world, uint32_t node,
                         const struct sim_worker *worker, const struct sim_worker *than)
{
    const int64_t mine = sim_worker_memory(worker, node);
    const int64_t other = sim_worker_memory(than, node);
    const bool is_job = worker->owner.kind == WEIR_OWNER_JOB;
    const bool is_other_job = than->owner.kind == WEIR_OWNER_JOB;
    if (world->scenario->memory.rule == SIM_MEMORY_MONITOR && is_job != is_other_job)
        return is_other_job;
    if (world->scenario->memory.rule == SIM_MEMORY_OOM_KILLER && mine != other)
        return mine > other;
    return is_newer(worker, than);
}

static weir_status find_victim(const struct sim_world *world, uint32_t node,
                               struct sim_worker **victim)
{
    const int64_t now_ns = sim_engine_now(world->context.engine);
    uint64_t *ids = NULL;
    uint32_t count = 0;
    *victim = NULL;
    WEIR_TRY(sim_workers_on_node(world->workers, node, WEIR_NO_INDEX, &ids, &count));
    for (uint32_t i = 0; i < count; i++) {
        struct sim_worker *worker = sim_workers_find(world->workers, ids[i]);
        const bool is_empty = worker->created_ns == now_ns && worker->work_bytes == 0;
        if (!is_empty && sim_worker_memory(worker, node) > 0 &&
            (*victim == NULL || is_preferred(world, node, worker, *victim)))
            *victim = worker;
    }
    free(ids);
    return WEIR_OK;
}

static weir_status note(struct sim_world *world, uint32_t node, const struct sim_worker *victim)
{
    const struct sim_context *context = &world->context;
    char name[128];
    char text[200];
    sim_scenario_node_name(world->scenario, node, name, sizeof(name));
    (void)snprintf(
        text, sizeof(text), "%s: worker %llu with %.3g GB killed, %.4g of %.4g GB in use",
        sim_driver_name(&world->drivers[victim->driver]), (unsigned long long)sim_worker_id(victim),
        1e-9 * (double)sim_worker_memory(victim, node),
        1e-9 * (double)sim_memory_in_use(context->cluster, node),
        1e-9 * (double)context->cluster->nodes[node].ram_total_bytes);
    sim_meter_oom(context->meter, sim_engine_now(context->engine));
    return sim_recorder_happening(context->recorder, sim_engine_now(context->engine), -1, "oom",
                                  name, text, context->error);
}

static weir_status kill_one(struct sim_world *world, uint32_t node, bool *has_killed)
{
    struct sim_worker *victim = NULL;
    WEIR_TRY(find_victim(world, node, &victim));
    *has_killed = victim != NULL;
    if (victim == NULL)
        return WEIR_OK;
    const struct sim_driver *driver = &world->drivers[victim->driver];
    WEIR_TRY(note(world, node, victim));
    WEIR_TRY(sim_port_end_worker(world->port, victim, SIM_STOP_CRASHED, "out of memory"));
    return driver->ops->settle(driver->self);
}

static weir_status kill_all(struct sim_world *world, uint32_t node)
{
    bool has_killed = true;
    while (has_killed && sim_memory_is_over(world->context.cluster, node))
        WEIR_TRY(kill_one(world, node, &has_killed));
    return WEIR_OK;
}

/* The monitor's next look, if it would see something. */
static void plan_look(struct sim_world *world, uint32_t node)
{
    const int64_t every_ns = world->scenario->memory.refresh_ns;
    const int64_t now_ns = sim_engine_now(world->context.engine);
    struct sim_node *host = &world->context.cluster->nodes[node];
    if (host->is_watched || !sim_memory_is_over(world->context.cluster, node))
        return;
    host->is_watched = true;
    const struct sim_event event = { .time_ns = (now_ns / every_ns + 1) * every_ns,
                                     .target = node,
                                     .kind = SIM_KIND_MEMORY,
                                     .phase = SIM_PHASE_FAULT };
    (void)sim_engine_schedule(world->context.engine, &event);
}

weir_status sim_memory_look(struct sim_world *world, uint32_t node)
{
    bool has_killed = false;
    world->context.cluster->nodes[node].is_watched = false;
    if (sim_memory_is_over(world->context.cluster, node))
        WEIR_TRY(kill_one(world, node, &has_killed));
    if (has_killed)
        plan_look(world, node);
    return WEIR_OK;
}

weir_status sim_memory_relieve(struct sim_world *world)
{
    for (uint32_t node = sim_memory_next(world->context.cluster); node != WEIR_NO_INDEX;
         node = sim_memory_next(world->context.cluster)) {
        if (world->scenario->memory.rule == SIM_MEMORY_MONITOR)
            plan_look(world, node);
        else
            WEIR_TRY(kill_all(world, node));
    }
    return WEIR_OK;
}
