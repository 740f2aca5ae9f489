/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a placement group can ever fit; see weir/group.h. For STRICT_PACK sums are compared, and
 * each bundle by itself: whether shares of GPUs would go together on one node is not looked at.
 */
#include "sched/placement/parts/group.h"

#include "sched/cluster/state.h"
#include "sched/placement/parts/candidates.h"

struct weir_group_demand weir_group_demand(const struct weir_shape *bundle)
{
    return (struct weir_group_demand){ .cpu_units = bundle->cpu_units,
                                       .gpu_units = bundle->gpu_units * (int64_t)bundle->gpu_count,
                                       .ram_bytes = bundle->ram_bytes };
}

struct weir_group_demand weir_group_demand_sum(const struct weir_group_query *query)
{
    struct weir_group_demand sum = { .cpu_units = 0 };

    for (uint32_t i = 0; i < query->bundle_count; i++) {
        const struct weir_group_demand demand = weir_group_demand(&query->bundles[i]);
        sum.cpu_units += demand.cpu_units;
        sum.gpu_units += demand.gpu_units;
        sum.ram_bytes += demand.ram_bytes;
    }
    return sum;
}

/* What an empty node would lack (enum weir_reason). */
static uint32_t lack_of(const struct weir_cluster *cluster, uint32_t node,
                        const struct weir_group_demand *sum)
{
    const struct weir_node *const books = &cluster->nodes[node];
    int64_t units = 0;

    for (uint32_t g = 0; g < books->gpu_count; g++)
        units += cluster->gpus[books->gpu_first + g].units_total;
    if (books->flags == WEIR_NODE_REMOVED)
        return WEIR_REASON_NODE_GONE;
    if (books->cpu_total < sum->cpu_units)
        return WEIR_REASON_CPU;
    if (books->ram_total_bytes < sum->ram_bytes)
        return WEIR_REASON_RAM;
    return units < sum->gpu_units ? WEIR_REASON_GPU_WHOLE : WEIR_REASON_NONE;
}

uint32_t weir_group_label_reason(const struct weir_group_query *query, uint32_t node)
{
    uint32_t reason = WEIR_REASON_NONE;

    for (uint32_t i = 0; reason == WEIR_REASON_NONE && i < query->bundle_count; i++)
        reason = weir_label_reason(query->scratch, node, &query->bundles[i]);
    return reason;
}

static uint32_t most_frequent(const uint32_t *counts)
{
    uint32_t most = WEIR_REASON_NONE;

    for (uint32_t r = 1; r < WEIR_REASON_COUNT; r++) {
        if (counts[r] > counts[most])
            most = r;
    }
    return most;
}

/* What devices lack when there would be enough by sums: the right instance, type or engines, or one
 * that holds it whole. */
static uint32_t lack_of_kind(const struct weir_shape *shape)
{
    if (shape->kind == WEIR_SHAPE_SLICE)
        return WEIR_REASON_MIG;
    if (shape->gpu_type != 0)
        return WEIR_REASON_GPU_TYPE;
    if (shape->nvdecs > 0)
        return WEIR_REASON_NVDEC;
    return shape->nvencs > 0 ? WEIR_REASON_NVENC : WEIR_REASON_GPU_FREE;
}

/* What an empty node would lack for one bundle. */
static uint32_t lack_for(const struct weir_cluster *cluster, uint32_t node,
                         const struct weir_shape *bundle, const struct weir_group_demand *demand)
{
    const uint32_t reason = weir_label_reason(cluster, node, bundle);

    return reason != WEIR_REASON_NONE ? reason : lack_of(cluster, node, demand);
}

static weir_status check_bundles(const struct weir_group_query *query,
                                 struct weir_group_answer *answer, struct weir_error *error)
{
    const struct weir_cluster *const cluster = query->scratch;

    for (uint32_t i = 0; i < query->bundle_count; i++) {
        char text[128];
        if (weir_cluster_room(cluster, &query->bundles[i], 1) > 0)
            continue;
        uint32_t counts[WEIR_REASON_COUNT] = { 0 };
        const struct weir_group_demand demand = weir_group_demand(&query->bundles[i]);
        for (uint32_t n = 0; n < cluster->node_count; n++)
            counts[lack_for(cluster, n, &query->bundles[i], &demand)]++;
        counts[WEIR_REASON_NONE] = 0;
        answer->bundle = i;
        answer->reason = most_frequent(counts);
        if (answer->reason == WEIR_REASON_NONE)
            answer->reason = lack_of_kind(&query->bundles[i]);
        (void)weir_shape_print(&query->bundles[i], text, sizeof text);
        return weir_fail(error, WEIR_EINFEASIBLE, "bundle %u (%s) fits no node, even an empty one",
                         i, text);
    }
    return WEIR_OK;
}

static weir_status check_sum(const struct weir_group_query *query, struct weir_group_answer *answer,
                             struct weir_error *error)
{
    const struct weir_group_demand sum = weir_group_demand_sum(query);
    uint32_t counts[WEIR_REASON_COUNT] = { 0 };

    for (uint32_t n = 0; n < query->scratch->node_count; n++) {
        const uint32_t labels = weir_group_label_reason(query, n);
        const uint32_t reason =
            labels != WEIR_REASON_NONE ? labels : lack_of(query->scratch, n, &sum);
        if (reason == WEIR_REASON_NONE)
            return WEIR_OK;
        counts[reason]++;
    }
    answer->reason = most_frequent(counts);
    if (answer->reason == WEIR_REASON_LABEL || answer->reason == WEIR_REASON_KEPT)
        return weir_fail(error, WEIR_EINFEASIBLE, "no node takes all bundles: %s",
                         weir_reason_text(answer->reason));
    return weir_fail(error, WEIR_EINFEASIBLE,
                     "no node has the sum of the bundles (%.10g CPUs, %.10g GPUs)",
                     weir_units_amount(sum.cpu_units), weir_units_amount(sum.gpu_units));
}

static bool is_used(const struct weir_group_query *query, uint32_t node)
{
    for (uint32_t u = 0; u < query->used_count; u++) {
        if (query->used_nodes[u] == node)
            return true;
    }
    return false;
}

/* One of the bundles may go there. */
static bool takes_any(const struct weir_group_query *query, uint32_t node)
{
    for (uint32_t i = 0; i < query->bundle_count; i++) {
        if (weir_node_takes(query->scratch, node, &query->bundles[i]))
            return true;
    }
    return false;
}

static weir_status check_nodes(const struct weir_group_query *query, struct weir_error *error)
{
    uint32_t nodes = 0;

    for (uint32_t n = 0; n < query->scratch->node_count; n++)
        nodes += query->scratch->nodes[n].flags == WEIR_NODE_UP && !is_used(query, n) &&
                         takes_any(query, n)
                     ? 1
                     : 0;
    if (query->bundle_count <= nodes)
        return WEIR_OK;
    return weir_fail(error, WEIR_EINFEASIBLE, "%u bundles need as many nodes, there are %u",
                     query->bundle_count, nodes);
}

weir_status weir_group_check_room(const struct weir_group_query *query,
                                  struct weir_group_answer *answer, struct weir_error *error)
{
    if (query->report == WEIR_GROUP_REPORT_ALL)
        WEIR_TRY(check_bundles(query, answer, error));
    if (query->strategy == WEIR_GROUP_STRICT_PACK)
        return check_sum(query, answer, error);
    if (query->strategy == WEIR_GROUP_STRICT_SPREAD)
        return check_nodes(query, error);
    return WEIR_OK;
}
