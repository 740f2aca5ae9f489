/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that change and go, GPUs that fall ill and recover.
 *
 * None of this is journalled: it is news from outside, and a decision under a mark never makes it.
 */
#include "sched/cluster/state.h"

/* The node if there is one and news of it may be taken now. */
static weir_status find_node(const struct weir_cluster *cluster, uint32_t node,
                             struct weir_error *error)
{
    if (node >= cluster->node_count || cluster->nodes[node].flags == WEIR_NODE_REMOVED)
        return weir_fail(error, WEIR_ENOTFOUND, "node index %u: there is no such node", node);
    if (cluster->mark_count > 0)
        return weir_fail(error, WEIR_EINVAL, "node index %u: cannot change under a mark", node);
    return WEIR_OK;
}

weir_status weir_cluster_remove_node(struct weir_cluster *cluster, uint32_t node,
                                     struct weir_error *error)
{
    WEIR_TRY(find_node(cluster, node, error));
    const struct weir_node *const books = &cluster->nodes[node];
    const uint32_t slot = cluster->lists[node].first;
    if (slot != WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EBUSY, "node %llu: worker %llu is still on it",
                         (unsigned long long)books->id,
                         (unsigned long long)cluster->slots[slot].id);
    weir_id_table_remove(&cluster->node_ids, books->id);
    weir_ledger_close(cluster, node);
    cluster->removed_count++;
    return WEIR_OK;
}

weir_status weir_cluster_resize_node(struct weir_cluster *cluster, uint32_t node, int64_t cpu_units,
                                     int64_t ram_bytes, struct weir_error *error)
{
    WEIR_TRY(find_node(cluster, node, error));
    const struct weir_node *const books = &cluster->nodes[node];
    const unsigned long long id = books->id;
    const int64_t cpu_held = books->cpu_total - books->cpu_free;
    const int64_t ram_held = books->ram_total_bytes - books->ram_free_bytes;
    if (cpu_units < 0 || ram_bytes < 0)
        return weir_fail(error, WEIR_EINVAL,
                         "node %llu: amounts must be >= 0, got %.10g CPUs and %lld bytes", id,
                         weir_units_amount(cpu_units), (long long)ram_bytes);
    if (cpu_units < cpu_held)
        return weir_fail(error, WEIR_EOVERCOMMIT,
                         "node %llu: its workers hold %.10g CPUs, %.10g are too few", id,
                         weir_units_amount(cpu_held), weir_units_amount(cpu_units));
    if (ram_bytes < ram_held)
        return weir_fail(error, WEIR_EOVERCOMMIT,
                         "node %llu: its workers hold %lld bytes of memory, %lld are too few", id,
                         (long long)ram_held, (long long)ram_bytes);
    const struct weir_amounts more = { .cpu_units = cpu_units - books->cpu_total,
                                       .ram_bytes = ram_bytes - books->ram_total_bytes };
    WEIR_TRY(weir_cluster_grow(cluster, books->id, &more, error));
    weir_ledger_resize(cluster, node, cpu_units, ram_bytes);
    return WEIR_OK;
}

weir_status weir_cluster_set_gpu_health(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                                        bool is_healthy)
{
    WEIR_TRY(find_node(cluster, node, NULL));
    if (gpu >= cluster->nodes[node].gpu_count)
        return WEIR_ENOTFOUND;
    weir_ledger_set_health(cluster, node, gpu, is_healthy);
    return WEIR_OK;
}
