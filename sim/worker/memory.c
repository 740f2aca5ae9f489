/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workers have in memory, beyond what they are (see worker.h). It is that of the node of the
 * first place. */
#include "sim/cluster/memory.h"
#include "sim/cluster/gpu_pools.h"

#include "sim/record/meter/meter_physics.h"
#include "sim/record/record.h"
#include "sim/worker/hold.h"

#include <math.h>
#include <stdio.h>

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

static void give_up_to(struct sim_workers *workers, struct sim_worker *worker,
                       const struct sim_hold *end, int64_t bytes)
{
    struct sim_cluster *cluster = workers->context->cluster;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != end; hold = hold->next)
        sim_memory_give(cluster, &hold->lease, bytes);
}

static void meter_gpu_memory(const struct sim_context *context)
{
    const int64_t now_ns = sim_engine_now(context->engine);
    sim_pools_meter(context->cluster, context->meter, now_ns);
    sim_extents_meter(context->cluster, context->meter, now_ns);
}

/* Whether the tenant lets memory of steps go back to the GPU. */
static bool gives_back(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    const uint32_t tenant = lease->claim->tenant;
    return tenant != 0 && cluster->scenario->tenants[tenant - 1].free_ns > 0;
}

weir_status sim_worker_take_gpu_bytes(struct sim_workers *workers, struct sim_worker *worker,
                                      int64_t bytes, bool steps, struct sim_gpu_grant *grant)
{
    struct sim_cluster *cluster = workers->context->cluster;
    const struct sim_hold *hold;
    enum sim_gpu_memory found = SIM_GPU_MEMORY_TAKEN;
    for (hold = sim_first_of(worker); hold != NULL; hold = hold->next)
        WEIR_TRY(sim_extents_reserve(cluster, &hold->lease));
    for (hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        const struct sim_extent_owner owner = { .lease = &hold->lease,
                                                .is_work = true,
                                                .is_anew =
                                                    steps && gives_back(cluster, &hold->lease) };
        found = sim_memory_take(cluster, owner, bytes);
        if (found != SIM_GPU_MEMORY_TAKEN)
            break;
    }
    *grant = (struct sim_gpu_grant){ .is_taken = found == SIM_GPU_MEMORY_TAKEN,
                                     .is_scattered = found == SIM_GPU_MEMORY_SCATTERED };
    if (grant->is_taken)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is one */
        worker->gpu_bytes += bytes;
    else
        give_up_to(workers, worker, hold, bytes);
    meter_gpu_memory(workers->context);
    return WEIR_OK;
}

weir_status sim_worker_note_short(const struct sim_workers *workers,
                                  const struct sim_worker *worker, const char *asked,
                                  const struct sim_gpu_grant *grant, const char *plainly)
{
    const struct sim_context *context = workers->context;
    const int64_t now_ns = sim_engine_now(context->engine);
    char node[128];
    char text[320];
    sim_scenario_node_name(context->scenario, worker->node, node, sizeof(node));
    (void)snprintf(text, sizeof(text), "%s are %s", asked,
                   grant->is_scattered ? "free on its GPU, but not in one piece" : plainly);
    sim_meter_gpu_oom(context->meter, now_ns, grant->is_scattered);
    return sim_recorder_happening(context->recorder, now_ns, -1, "oom", node, text, context->error);
}

void sim_worker_give_gpu_bytes(struct sim_workers *workers, struct sim_worker *worker,
                               int64_t bytes)
{
    give_up_to(workers, worker, NULL, bytes);
    worker->gpu_bytes -= bytes;
    meter_gpu_memory(workers->context);
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

int64_t sim_worker_gpu_memory(const struct sim_worker *worker)
{
    int64_t bytes = 0;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next)
        for (uint32_t u = 0; u < hold->lease.claim->use_count; u++)
            bytes += hold->lease.claim->parts[u].use.mem_bytes + worker->gpu_bytes;
    return bytes;
}
