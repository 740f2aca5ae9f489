/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compute of GPUs as resources; see the header. */
#include "sim/cluster/compute.h"

#include "sim/cluster/sharing.h"

#include <assert.h>
#include <math.h>

enum {
    WEIGHT_OF_GPU = 1000, /* of a use: its share in these */
    TURN_STEPS = 1 << 19,
    USUAL_PARTS = 5040 /* divided by all numbers up to 10 */
};

/* House units of a device to quanta a ns. */
static const uint64_t QPNS_OF_UNIT = SIM_DEVICE_QPNS / WEIR_ONE;

/* Some stage really uses more of a GPU than it asks for. */
static bool may_be_scarce(const struct sim_scenario *scenario)
{
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        for (size_t s = 0; s < scenario->pipelines[p].stages_count; s++) {
            const struct sim_stage *stage = &scenario->pipelines[p].stages[s];
            if (stage->uses_shape.gpu_units > stage->shape.gpu_units)
                return true;
        }
    return false;
}

/* Units of a quantum, for which the longer of a quantum and a switch has at most TURN_STEPS: exact
 * where quantum and switches are multiples of something that is not tiny, and by the usual parts of
 * the memory; else a switch is off by half a unit. */
static uint32_t turn_steps(const struct sim_timeslice *turns)
{
    const uint64_t quantum = (uint64_t)turns->quantum_ns;
    const uint64_t whole = (uint64_t)turns->switch_ns + (uint64_t)turns->switch_memory_ns;
    const uint64_t longest = whole > quantum ? whole : quantum;
    const uint64_t apart =
        sim_greatest_divisor(sim_greatest_divisor(quantum, (uint64_t)turns->switch_ns),
                             (uint64_t)turns->switch_memory_ns);
    assert(apart > 0 && longest >= apart); /* a quantum is */
    const uint64_t most = TURN_STEPS / (longest / apart);
    const uint64_t parts = most > USUAL_PARTS ? most - most % USUAL_PARTS : most;
    if (parts > 0)
        return (uint32_t)(quantum / apart * parts);
    return (uint32_t)fmax(1, round((double)quantum / (double)longest * TURN_STEPS));
}

weir_status sim_compute_open(struct sim_cluster *cluster, struct sim_activities *activities)
{
    const bool is_any =
        may_be_scarce(cluster->scenario) || cluster->scenario->power.gpu == SIM_GPU_POWER_USED;
    cluster->activities = activities;
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        struct sim_node *node = &cluster->nodes[n];
        if (node->turns != NULL)
            node->turn_steps = turn_steps(node->turns);
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            struct sim_gpu *gpu = &cluster->gpus[node->gpu_first + g];
            if (gpu->mig != NULL || (node->turns == NULL && !is_any))
                continue;
            WEIR_TRY(sim_resource_add(activities,
                                      node->turns != NULL ? SIM_SHARE_TURNS : SIM_SHARE_WEIGHTS,
                                      SIM_DEVICE_QPNS, &gpu->compute));
            cluster->has_compute = true;
        }
    }
    return WEIR_OK;
}

static const struct sim_gpu *gpu_of(const struct sim_cluster *cluster, uint32_t node,
                                    const struct sim_use *use)
{
    return &cluster->gpus[cluster->nodes[node].gpu_first + use->gpu];
}

uint64_t sim_compute_rate(const struct sim_cluster *cluster, uint32_t node,
                          const struct sim_use *use)
{
    return cluster->nodes[node].turns != NULL
               ? SIM_DEVICE_QPNS
               : (uint64_t)llround(use->gpu_share * (double)WEIR_ONE) * QPNS_OF_UNIT;
}

static uint32_t turn_cost(const struct sim_node *node, const struct sim_gpu *gpu)
{
    const double memory = (double)gpu->mem_total_bytes;
    const double switch_ns =
        sim_turns_switch_ns(node->turns, memory > 0 ? (double)gpu->mem_used_bytes / memory : 0);
    const double units = round(switch_ns * node->turn_steps / (double)node->turns->quantum_ns);
    return (uint32_t)fmin(units, SIM_WEIGHT_LIMIT);
}

/* Share of compute that a use can have, on a node that may be slow and a GPU that is throttled. */
static uint64_t cap_of(const struct sim_cluster *cluster, uint32_t node, const struct sim_use *use,
                       double share)
{
    const struct sim_node *host = &cluster->nodes[node];
    const uint64_t rate = sim_compute_rate(cluster, node, use);
    const double part = share * sim_gpu_speed(gpu_of(cluster, node, use)) / host->slow;
    if (!(part < 1))
        return part > 1 ? (uint64_t)((double)rate * part) : rate;
    return (uint64_t)((double)rate * part);
}

struct sim_activity_spec sim_compute_spec(const struct sim_cluster *cluster, uint32_t node,
                                          const struct sim_use *use, double share)
{
    const struct sim_node *host = &cluster->nodes[node];
    const struct sim_gpu *gpu = gpu_of(cluster, node, use);
    struct sim_activity_spec spec = { .work = SIM_WORK_ENDLESS,
                                      .cap_qpns = cap_of(cluster, node, use, share),
                                      .weight =
                                          (uint32_t)fmax(1, round(use->gpu_share * WEIGHT_OF_GPU)),
                                      .resources = 1,
                                      .resource = { gpu->compute } };
    if (host->turns == NULL)
        return spec;
    spec.weight = host->turn_steps;
    spec.turn_cost = turn_cost(host, gpu);
    spec.cap_qpns = share < 1 ? spec.cap_qpns : SIM_UNCAPPED;
    return spec;
}

void sim_compute_memory(const struct sim_cluster *cluster, const struct sim_node *node,
                        const struct sim_gpu *gpu)
{
    if (node->turns != NULL && gpu->compute != WEIR_NO_INDEX)
        (void)sim_resource_set_turn_cost(cluster->activities, gpu->compute, turn_cost(node, gpu));
}

weir_status sim_compute_pace(struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        if (gpu->compute != WEIR_NO_INDEX)
            WEIR_TRY(sim_resource_set_capacity(cluster->activities, gpu->compute,
                                               sim_rate_at(sim_gpu_speed(gpu) / host->slow)));
    }
    return WEIR_OK;
}

weir_status sim_cluster_set_slow(struct sim_cluster *cluster, uint32_t node, double slow)
{
    cluster->nodes[node].slow = slow;
    return sim_compute_pace(cluster, node);
}
