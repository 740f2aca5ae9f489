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
struct gpus_find {
    int64_t lost_units;
    uint32_t obstacles;
};

static struct gpus_find find_gpus(const struct weir_node *host, const struct weir_gpu *gpus,
                                  const struct weir_shape *shape)
{
    const struct weir_frag_find find = weir_frag_find(host, gpus, shape, WEIR_FRAG_DEVICES);
    return (struct gpus_find){ find.lost_units, find.obstacles };
}

double sim_target_buckets(const struct sim_target *target, const struct sim_cluster *cluster,
                          uint32_t node, struct sim_buckets *buckets)
{
    const double unit = (double)WEIR_ONE / 1000;
    struct weir_gpu gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node host = sim_cluster_free(cluster, node, gpus);
    const int64_t cpu_free = host.cpu_free;
    struct gpus_find finds[SIM_TARGET_ALIKE] = { { 0 } };
    struct sim_buckets sums = { { 0 } };
    double all = 0;
    int64_t free_units = 0;
    for (uint32_t g = 0; g < host.gpu_count; g++)
        free_units += gpus[g].units_free;
    host.cpu_free = INT64_MAX; /* what GPUs are to a kind is asked without its CPUs */
    for (uint32_t i = 0; i < target->count && free_units > 0; i++) {
        const uint32_t alike = target->alike == NULL ? i : target->alike[i];
        struct gpus_find find =
            alike < i ? finds[alike] : find_gpus(&host, gpus, &target->shapes[i]);
        if (i < SIM_TARGET_ALIKE)
            finds[i] = find;
        if (cpu_free < target->shapes[i].cpu_units) {
            find.obstacles |= WEIR_FRAG_NO_CPUS;
            find.lost_units = free_units;
        }
        if (find.lost_units > 0)
            sums.milli[bucket_of(find.obstacles)] +=
                target->frequencies[i] * ((double)find.lost_units / unit);
        if (find.lost_units == free_units)
            continue;
        const double satisfied =
            target->frequencies[i] * ((double)(free_units - find.lost_units) / unit);
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
