/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the world does for drivers (see struct sim_driver_services). */
#include "sim/cluster/cluster.h"
#include "sim/world/world.h"

static weir_status add_pool(struct sim_world *world, uint32_t driver, const struct sim_pool *pool,
                            uint32_t *index)
{
    return sim_port_add_pool(world->port, driver, pool, index);
}

static weir_status measure(struct sim_world *world, const struct weir_measurement *task)
{
    return sim_port_measure(world->port, task);
}

static void ready(struct sim_world *world, const struct sim_worker *worker)
{
    sim_port_worker_ready(world->port, worker);
}

static weir_status started(struct sim_world *world, const struct sim_start *start)
{
    return sim_port_started(world->port, start);
}

static weir_status end(struct sim_world *world, struct sim_worker *worker, enum sim_stop why,
                       const char *text)
{
    return sim_port_end_worker(world->port, worker, why, text);
}

static void wake(struct sim_world *world, uint32_t causes)
{
    sim_port_wake(world->port, causes);
}

static weir_status add_workload(struct sim_world *world, uint32_t driver,
                                const struct sim_driver_workload *workload, uint32_t *index)
{
    return sim_port_add_workload(world->port, driver, workload, index);
}

static weir_status submit(struct sim_world *world, const struct weir_job_spec *job, uint32_t *kind)
{
    if (world->heads_down > 0 && job->attempts == 0)
        return WEIR_EBUSY;
    return sim_port_submit(world->port, job, kind);
}

static weir_status withdraw(struct sim_world *world, uint32_t workload, uint64_t job)
{
    return sim_port_withdraw(world->port, workload, job);
}

static weir_status ended(struct sim_world *world, uint32_t workload, uint64_t job)
{
    return sim_port_job_ended(world->port, workload, job);
}

static weir_status resized(struct sim_world *world, uint32_t workload, uint64_t job,
                           struct sim_ranks_lost lost)
{
    return sim_port_job_resized(world->port, workload, job, lost);
}

static double ram_up_bytes(const struct sim_world *world)
{
    const struct sim_cluster *cluster = world->context.cluster;
    double bytes = 0;
    for (uint32_t n = 0; n < cluster->node_count; n++)
        if (cluster->nodes[n].is_up)
            bytes += (double)cluster->nodes[n].ram_total_bytes;
    return bytes;
}

static bool brings(const struct sim_world *world, uint32_t driver)
{
    return world->drivers[driver].bursts > 0;
}

const struct sim_driver_services sim_world_services = { .add_pool = add_pool,
                                                        .measure = measure,
                                                        .ready = ready,
                                                        .started = started,
                                                        .end = end,
                                                        .wake = wake,
                                                        .add_workload = add_workload,
                                                        .submit = submit,
                                                        .withdraw = withdraw,
                                                        .ended = ended,
                                                        .resized = resized,
                                                        .ram_up_bytes = ram_up_bytes,
                                                        .brings = brings };
