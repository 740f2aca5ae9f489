/* SPDX-License-Identifier: Apache-2.0 */
/* What is on a node already, by GPU and by socket; see near.h. */
#include "sched/placement/parts/near.h"

#include "sched/cluster/state.h"

/* By bit. */
static uint64_t gpus_of(const struct weir_cluster *cluster, const struct weir_worker_slot *worker)
{
    const struct weir_device *const more = weir_slot_more(cluster, worker);
    uint64_t gpus = 0;

    for (uint32_t d = 0; d < worker->device_count; d++)
        gpus |= UINT64_C(1) << (d == 0 ? worker->first.gpu : more[d - 1].gpu);
    return gpus;
}

uint64_t weir_near_job(const struct weir_cluster *cluster, uint32_t node,
                       const struct weir_owner *owner)
{
    uint64_t gpus = 0;

    if (owner->kind != WEIR_OWNER_JOB)
        return 0;
    for (uint32_t s = weir_first_peer(cluster, node, owner); s != WEIR_NO_INDEX;
         s = cluster->slots[s].peer_next)
        if (weir_owner_is(&cluster->slots[s].owner, owner))
            gpus |= gpus_of(cluster, &cluster->slots[s]);
    return gpus;
}

/* In equal parts from the sockets of its GPUs; without GPUs from all. */
static void take_cpus(const struct weir_cluster *cluster, const struct weir_worker_slot *worker,
                      uint32_t sockets, int64_t *cpu_free)
{
    const uint32_t per_socket = cluster->nodes[worker->node].gpu_count / sockets;
    const uint64_t gpus = gpus_of(cluster, worker);
    uint64_t touched = gpus == 0 ? (UINT64_C(1) << sockets) - 1 : 0;

    for (uint64_t left = gpus; left != 0; left &= left - 1)
        touched |= UINT64_C(1) << (uint32_t)__builtin_ctzll(left) / per_socket;
    for (uint32_t s = 0; s < sockets; s++)
        if ((touched >> s & 1) != 0)
            cpu_free[s] -= worker->cpu_units / __builtin_popcountll(touched);
}

/* What sockets do not have comes from the one with most, then from the next. */
static void spill_cpus(int64_t *cpu_free, uint32_t sockets)
{
    int64_t rest = 0;

    for (uint32_t s = 0; s < sockets; s++) {
        rest += cpu_free[s] < 0 ? -cpu_free[s] : 0;
        cpu_free[s] = cpu_free[s] < 0 ? 0 : cpu_free[s];
    }
    for (uint32_t i = 0; rest > 0 && i < sockets; i++) {
        uint32_t most = 0;
        for (uint32_t s = 1; s < sockets; s++)
            most = cpu_free[s] > cpu_free[most] ? s : most;
        const int64_t here = rest < cpu_free[most] ? rest : cpu_free[most];
        cpu_free[most] -= here;
        rest -= here;
    }
}

const int64_t *weir_near_cpus(const struct weir_cluster *cluster, uint32_t node,
                              int64_t cpu_free[WEIR_MAX_NODE_GPUS])
{
    const struct weir_node *const books = &cluster->nodes[node];
    const uint32_t sockets = weir_topology_of(cluster, node)->sockets;

    if (sockets <= 1 || sockets > books->gpu_count || sockets == WEIR_MAX_NODE_GPUS)
        return NULL;
    for (uint32_t s = 0; s < sockets; s++)
        cpu_free[s] = books->cpu_total / sockets;
    for (uint32_t s = cluster->lists[node].first; s != WEIR_NO_INDEX;
         s = cluster->slots[s].node_next)
        take_cpus(cluster, &cluster->slots[s], sockets, cpu_free);
    spill_cpus(cpu_free, sockets);
    return cpu_free;
}
