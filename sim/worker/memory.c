/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workers have in memory, beyond what they are (see worker.h). It is that of the node of the
 * first place. */
#include "sim/cluster/memory.h"
#include "sim/cluster/gpu_pools.h"

#include "sim/record/meter_physics.h"
#include "sim/worker/hold.h"

#include <math.h>

static void meter_memory(const struct sim_context *context, uint32_t node)
{
    if (sim_memory_is_timed(context->cluster))
        sim_meter_memory(context->meter, sim_engine_now(context->engine), node,
                         (double)sim_memory_in_use(context->cluster, node));
}

bool sim_workers_memory_is_timed(const struct sim_workers *workers)
{
    return sim_memory_is_timed(workers->context->cluster);
}

void sim_worker_take_bytes(struct sim_workers *workers, struct sim_worker *worker, double bytes)
{
    const int64_t more = llround(bytes) - worker->work_bytes;
    if (more == 0)
        return;
    sim_memory_work(workers->context->cluster, worker->node, more);
    worker->work_bytes += more;
    meter_memory(workers->context, worker->node);
}

bool sim_worker_take_gpu_bytes(struct sim_workers *workers, struct sim_worker *worker,
                               int64_t bytes)
{
    struct sim_cluster *cluster = workers->context->cluster;
    const struct sim_hold *short_of = NULL;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL && short_of == NULL;
         hold = hold->next)
        if (!sim_memory_on_gpus(cluster, &hold->lease, bytes))
            short_of = hold;
    for (const struct sim_hold *hold = sim_first_of(worker); short_of != NULL && hold != short_of;
         hold = hold->next)
        (void)sim_memory_on_gpus(cluster, &hold->lease, -bytes);
    worker->gpu_bytes += short_of == NULL ? bytes : 0;
    sim_pools_meter(cluster, workers->context->meter, sim_engine_now(workers->context->engine));
    return short_of == NULL;
}

void sim_workers_store(struct sim_workers *workers, uint32_t node, double bytes)
{
    struct sim_context *context = workers->context;
    const int64_t on_disk = sim_memory_store(context->cluster, node, llround(bytes));
    if (on_disk > 0)
        sim_meter_node_spilled(context->meter, sim_engine_now(context->engine), node,
                               (double)on_disk);
    meter_memory(context, node);
}

static weir_status add_bytes(void *state, struct sim_worker *worker)
{
    int64_t *sum = state;
    *sum += worker->work_bytes;
    return WEIR_OK;
}

weir_status sim_workers_check_memory(const struct sim_workers *workers, struct weir_error *error)
{
    const struct sim_cluster *cluster = workers->context->cluster;
    int64_t in_hand = 0;
    int64_t on_nodes = 0;
    WEIR_TRY(sim_workers_each(workers, add_bytes, &in_hand));
    for (uint32_t n = 0; n < cluster->node_count; n++)
        on_nodes += cluster->nodes[n].work_bytes;
    return in_hand == on_nodes
               ? WEIR_OK
               : weir_fail(error, WEIR_EINVARIANT, "%lld bytes are in hand, nodes count %lld",
                           (long long)in_hand, (long long)on_nodes);
}

int64_t sim_worker_memory(const struct sim_worker *worker, uint32_t node)
{
    int64_t bytes = worker->node == node ? worker->work_bytes : 0;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next)
        bytes += hold->lease.node == node ? hold->lease.claim->ram_used_bytes : 0;
    return bytes;
}
