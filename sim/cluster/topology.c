/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sockets and islands (see topology.h).
 */
#include "sim/cluster/topology.h"

#include <assert.h>
#include <stdlib.h>

uint32_t sim_node_sockets(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_topology *topology = cluster->nodes[node].topology;
    return topology->sockets > 1 ? topology->sockets : 1;
}

/* Fewer GPUs than sockets are on every so many-th of them. */
uint32_t sim_gpu_socket(const struct sim_cluster *cluster, uint32_t node, uint32_t gpu)
{
    return gpu * sim_node_sockets(cluster, node) / cluster->nodes[node].gpu_count;
}

uint32_t sim_gpu_island(const struct sim_cluster *cluster, uint32_t node, uint32_t gpu)
{
    const uint32_t gpus = cluster->nodes[node].topology->island_gpus;
    return gpus == 0 ? 0 : gpu / gpus;
}

/* What cannot be divided further goes to the first. */
int64_t sim_socket_cpus(const struct sim_cluster *cluster, uint32_t node, uint32_t socket)
{
    const int64_t total = cluster->nodes[node].cpu_total;
    const int64_t sockets = sim_node_sockets(cluster, node);
    return total / sockets + (socket < total % sockets);
}

weir_status sim_sockets_open(struct sim_cluster *cluster)
{
    size_t sockets = 0;
    for (uint32_t n = 0; n < cluster->node_count; n++)
        sockets += sim_node_sockets(cluster, n);
    if (sockets == cluster->node_count)
        return WEIR_OK;
    cluster->cpu_held_on = calloc(sockets, sizeof(*cluster->cpu_held_on));
    if (cluster->cpu_held_on == NULL)
        return WEIR_ENOMEM;
    int64_t *next = cluster->cpu_held_on;
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        if (sim_node_sockets(cluster, n) > 1)
            cluster->nodes[n].cpu_held_on = next;
        next += sim_node_sockets(cluster, n);
    }
    return WEIR_OK;
}

/* ---- CPUs of a worker ---- */

/* By bit: those of the GPUs it holds, or, when it holds none, of those it uses. */
static uint32_t sockets_of(const struct sim_cluster *cluster, uint32_t node,
                           const struct sim_claim *claim)
{
    uint32_t sockets = 0;
    for (uint32_t d = 0; d < claim->device_count; d++)
        if (claim->parts[d].device.gpu < cluster->nodes[node].gpu_count)
            sockets |= UINT32_C(1) << sim_gpu_socket(cluster, node, claim->parts[d].device.gpu);
    for (uint32_t u = 0; claim->device_count == 0 && u < claim->use_count; u++)
        sockets |= UINT32_C(1) << sim_gpu_socket(cluster, node, claim->parts[u].use.gpu);
    return sockets;
}

static int64_t cpus_left(const struct sim_cluster *cluster, uint32_t node, uint32_t socket)
{
    return sim_socket_cpus(cluster, node, socket) - cluster->nodes[node].cpu_held_on[socket];
}

/* The one of these (by bit, at least one) with most free CPUs. */
static uint32_t freest_of(const struct sim_cluster *cluster, uint32_t node, uint32_t sockets)
{
    uint32_t best = (uint32_t)__builtin_ctz(sockets);
    for (uint32_t s = best + 1; s < sim_node_sockets(cluster, node); s++)
        if ((sockets >> s & 1) != 0 && cpus_left(cluster, node, s) > cpus_left(cluster, node, best))
            best = s;
    return best;
}

/* From these sockets (by bit), as much as they have; returns what is still wanted. */
static int64_t take_from(const struct sim_cluster *cluster, uint32_t node, uint32_t sockets,
                         int64_t wanted, struct sim_claim *claim)
{
    while (wanted > 0 && sockets != 0) {
        const uint32_t best = freest_of(cluster, node, sockets);
        assert(best < SIM_MAX_SOCKETS);
        const int64_t left = cpus_left(cluster, node, best);
        claim->cpu_on[best] = wanted < left ? wanted : left;
        wanted -= claim->cpu_on[best];
        sockets &= ~(UINT32_C(1) << best);
    }
    return wanted;
}

void sim_sockets_choose(const struct sim_cluster *cluster, uint32_t node, struct sim_claim *claim)
{
    if (cluster->nodes[node].cpu_held_on == NULL)
        return;
    const uint32_t all = (UINT32_C(1) << sim_node_sockets(cluster, node)) - 1;
    const uint32_t near = sockets_of(cluster, node, claim);
    const int64_t rest = take_from(cluster, node, near, claim->cpu_units, claim);
    (void)take_from(cluster, node, all & ~near, rest, claim); /* more than free: refused later */
}

void sim_sockets_book(struct sim_cluster *cluster, const struct sim_lease *lease, int64_t sign)
{
    int64_t *held = cluster->nodes[lease->node].cpu_held_on;
    for (uint32_t s = 0; held != NULL && s < sim_node_sockets(cluster, lease->node); s++)
        held[s] += sign * lease->claim->cpu_on[s];
}

double sim_lease_numa(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    const struct sim_node *node = &cluster->nodes[lease->node];
    uint32_t sockets = 0;
    if (node->cpu_held_on == NULL)
        return 1;
    for (uint32_t s = 0; s < sim_node_sockets(cluster, lease->node); s++)
        sockets |= lease->claim->cpu_on[s] > 0 ? UINT32_C(1) << s : 0;
    const uint32_t near = sockets_of(cluster, lease->node, lease->claim);
    return near != 0 && (sockets & ~near) != 0 ? node->topology->numa_penalty : 1;
}

/* ---- checks ---- */

weir_status sim_sockets_check(const struct sim_cluster *cluster, uint32_t node,
                              struct weir_error *error)
{
    const int64_t *held = cluster->nodes[node].cpu_held_on;
    int64_t sum = 0;
    if (held == NULL)
        return WEIR_OK;
    for (uint32_t s = 0; s < sim_node_sockets(cluster, node); s++) {
        if (held[s] < 0 || cpus_left(cluster, node, s) < 0)
            return weir_fail(error, WEIR_EINVARIANT, "socket %u gives %g of %g CPUs", s,
                             weir_units_amount(held[s]),
                             weir_units_amount(sim_socket_cpus(cluster, node, s)));
        sum += held[s];
    }
    if (sum != cluster->nodes[node].cpu_held)
        return weir_fail(error, WEIR_EINVARIANT, "sockets give %g CPUs, the node %g",
                         weir_units_amount(sum), weir_units_amount(cluster->nodes[node].cpu_held));
    return WEIR_OK;
}
