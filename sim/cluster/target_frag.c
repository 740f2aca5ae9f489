/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fragmentation against the target workload; see the header. */
#include "sim/cluster/target_frag.h"

#include "weir/frag.h"

static enum sim_bucket bucket_of(uint32_t obstacles)
{
    const bool has_cpus = (obstacles & WEIR_FRAG_NO_CPUS) == 0;
    if ((obstacles & WEIR_FRAG_NO_DEMAND) != 0)
        return has_cpus ? SIM_BUCKET_XL : SIM_BUCKET_XR;
    if ((obstacles & WEIR_FRAG_NO_TYPE) != 0)
        return SIM_BUCKET_NA;
    if (has_cpus)
        return SIM_BUCKET_Q2;
    return (obstacles & WEIR_FRAG_NO_GPUS) != 0 ? SIM_BUCKET_Q1 : SIM_BUCKET_Q4;
}

/* What the GPUs of a node are to all kinds that differ in CPUs alone. */
static struct weir_frag_find find_gpus(const struct weir_node *host, const struct weir_gpu *gpus,
                                       const struct weir_shape *shape)
{
    struct weir_shape bare = *shape;
    bare.cpu_units = 0;
    return weir_frag_find(host, gpus, &bare, WEIR_FRAG_DEVICES);
}

double sim_target_buckets(const struct sim_target *target, const struct sim_cluster *cluster,
                          uint32_t node, struct sim_buckets *buckets)
{
    const double unit = (double)WEIR_ONE / 1000;
    struct weir_gpu gpus[WEIR_MAX_NODE_GPUS];
    const struct weir_node host = sim_cluster_free(cluster, node, gpus);
    struct sim_buckets sums = { { 0 } };
    double all = 0;
    struct weir_frag_find finds[SIM_TARGET_ALIKE];
    for (uint32_t i = 0; i < target->count; i++) {
        const uint32_t alike = target->alike == NULL ? i : target->alike[i];
        struct weir_frag_find find =
            alike < i ? finds[alike] : find_gpus(&host, gpus, &target->shapes[i]);
        if (i < SIM_TARGET_ALIKE)
            finds[i] = find;
        if (host.cpu_free < target->shapes[i].cpu_units) {
            find.obstacles |= WEIR_FRAG_NO_CPUS;
            find.lost_units = find.free_units;
        }
        const double satisfied =
            target->frequencies[i] * ((double)(find.free_units - find.lost_units) / unit);
        sums.milli[bucket_of(find.obstacles)] +=
            target->frequencies[i] * ((double)find.lost_units / unit);
        sums.milli[SIM_BUCKET_Q3] += satisfied;
        if (target->ram_bytes != NULL && target->ram_bytes[i] > host.ram_free_bytes)
            sums.milli[SIM_BUCKET_MEMORY] += satisfied;
    }
    for (int i = 0; i < SIM_BUCKET_Q3; i++)
        all += sums.milli[i];
    *buckets = sums;
    return all;
}

double sim_target_frag_milli(const struct sim_target *target, const struct sim_cluster *cluster,
                             uint32_t node)
{
    struct sim_buckets buckets;
    return sim_target_buckets(target, cluster, node, &buckets);
}
