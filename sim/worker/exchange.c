/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers that exchange bytes; see the header. */
#include "sim/worker/exchange.h"

#include "sim/cluster/collective.h"
#include "sim/worker/hold.h"

#include <math.h>
#include <stdlib.h>

/* Writes the ranks of a worker; returns how many. */
static uint32_t list_ranks(const struct sim_worker *worker, struct sim_rank *ranks)
{
    uint32_t count = 0;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        const struct sim_claim *claim = hold->lease.claim;
        for (uint32_t i = 0; i < sim_claim_parts(claim); i++)
            ranks[count++] =
                (struct sim_rank){ .node = hold->lease.node,
                                   .gpu = claim->device_count > 0 ? claim->parts[i].device.gpu
                                                                  : WEIR_NO_INDEX };
    }
    return count;
}

static uint32_t count_ranks(const struct sim_worker *worker)
{
    uint32_t count = 0;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next)
        count += sim_claim_parts(hold->lease.claim);
    return count;
}

weir_status sim_workers_all_reduce(const struct sim_workers *workers, uint64_t first,
                                   uint32_t count, double bytes, struct sim_exchange *exchange)
{
    uint32_t total = 0;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < count; i++)
        total += count_ranks(sim_workers_find(workers, first + i));
    struct sim_rank *ranks = calloc((size_t)total + 1, sizeof(*ranks));
    if (ranks == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        listed += list_ranks(sim_workers_find(workers, first + i), &ranks[listed]);
    const struct sim_reach reach = sim_reach_of(workers->context->cluster, ranks, total);
    *exchange = (struct sim_exchange){ .ranks = total,
                                       .nodes = reach.nodes,
                                       .latency_s = sim_all_reduce_latency_s(&reach),
                                       .bytes_s = sim_all_reduce_s(&reach, bytes) };
    free(ranks);
    return WEIR_OK;
}

weir_status sim_workers_meet(struct sim_workers *workers, uint64_t id,
                             const struct sim_exchanging *job, uint32_t *chain)
{
    const struct sim_worker *worker = sim_workers_find(workers, id);
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        WEIR_TRY(sim_exchanges_enter(workers->context->cluster, hold->lease.node, job, chain));
        sim_workers_node_paced(workers, hold->lease.node);
    }
    return WEIR_OK;
}

double sim_workers_met_s(const struct sim_workers *workers, uint32_t chain)
{
    return sim_exchanges_s(workers->context->cluster, chain);
}

void sim_workers_part(struct sim_workers *workers, uint32_t *chain)
{
    uint32_t node = 0;
    while (sim_exchanges_leave(workers->context->cluster, chain, &node))
        sim_workers_node_paced(workers, node);
}

double sim_exchange_apart_s(const struct sim_scenario *scenario, uint32_t ranks, double bytes)
{
    const struct sim_fabric *fabric = &scenario->node_types[scenario->node_groups[0].type].fabric;
    struct sim_reach reach = { .ranks = ranks, .nodes = ranks };
    for (int level = 0; level < SIM_LEVELS; level++)
        reach.narrowest[level] = (double)INFINITY;
    reach.narrowest[SIM_LEVEL_RACK] = fabric->nic_per_s;
    reach.s_per_byte[SIM_LEVEL_RACK] = (double)INFINITY; /* one ring */
    return sim_all_reduce_s(&reach, bytes);
}
