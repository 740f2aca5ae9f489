/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fragmentation against the target workload; see the header. */
#include "sim/cluster/target_frag.h"

struct free_amounts {
    const struct sim_gpu *gpus;
    uint32_t gpu_count;
    int64_t cpus;
    int64_t ram_bytes; /* INT64_MAX where memory is not modelled */
    int64_t all;       /* GPU compute */
};

static int64_t gpu_left(const struct sim_gpu *gpu)
{
    return WEIR_ONE - gpu->units_held;
}

/* Whether one GPU can host one device: a cut one has or can make an instance. What of its free
 * compute the kind cannot use. */
static bool has_room(const struct sim_gpu *gpu, const struct weir_shape *shape, int64_t *lost)
{
    const struct weir_mig_state state = { gpu->mig_held, gpu->mig_cut };
    const uint32_t profiles =
        gpu->mig == NULL ? 0 : weir_shape_profiles(shape, gpu->mig, gpu->mig_cut != 0);
    const bool has_room =
        gpu->mig != NULL ? weir_mig_any_free(gpu->mig, state, profiles)
                         : shape->kind != WEIR_SHAPE_SLICE && gpu_left(gpu) >= shape->gpu_units;
    *lost = gpu_left(gpu);
    if (has_room)
        *lost = gpu->mig == NULL ? 0 : weir_shape_dead_units(shape, gpu->mig, state);
    return has_room;
}

/* What of the node's free GPU the kind cannot use, and as what that counts. */
static int64_t unusable(const struct free_amounts *free, const struct weir_shape *shape,
                        enum sim_bucket *bucket)
{
    const bool has_cpus = free->cpus >= shape->cpu_units;
    int64_t too_small = 0;
    uint32_t fitting = 0;
    bool has_model = false;
    *bucket = has_cpus ? SIM_BUCKET_XL : SIM_BUCKET_XR;
    if (shape->gpu_count == 0)
        return free->all;
    for (uint32_t g = 0; g < free->gpu_count; g++) {
        const bool is_model = weir_shape_takes_type(shape, free->gpus[g].type);
        int64_t lost = gpu_left(&free->gpus[g]);
        has_model |= is_model;
        fitting += is_model && has_room(&free->gpus[g], shape, &lost);
        too_small += lost;
    }
    const bool has_gpus = fitting >= shape->gpu_count;
    *bucket = !has_model ? SIM_BUCKET_NA
              : has_gpus ? (has_cpus ? SIM_BUCKET_Q2 : SIM_BUCKET_Q4)
                         : (has_cpus ? SIM_BUCKET_Q2 : SIM_BUCKET_Q1);
    return has_model && has_gpus && has_cpus ? too_small : free->all;
}

static struct free_amounts amounts_of(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    struct free_amounts amounts = { .gpus = cluster->gpus + host->gpu_first,
                                    .gpu_count = host->gpu_count,
                                    .cpus = host->cpu_total - host->cpu_held,
                                    .ram_bytes = INT64_MAX };
    if (host->ram_total_bytes > 0)
        amounts.ram_bytes = host->ram_total_bytes - host->ram_used_bytes;
    for (uint32_t g = 0; g < host->gpu_count; g++)
        amounts.all += gpu_left(&amounts.gpus[g]);
    return amounts;
}

double sim_target_buckets(const struct sim_target *target, const struct sim_cluster *cluster,
                          uint32_t node, struct sim_buckets *buckets)
{
    const struct free_amounts amounts = amounts_of(cluster, node);
    const double unit = (double)WEIR_ONE / 1000;
    struct sim_buckets sums = { { 0 } };
    double all = 0;
    for (uint32_t i = 0; i < target->count; i++) {
        enum sim_bucket bucket = SIM_BUCKET_Q1;
        const int64_t units = unusable(&amounts, &target->shapes[i], &bucket);
        const double satisfied = target->frequencies[i] * ((double)(amounts.all - units) / unit);
        sums.milli[bucket] += target->frequencies[i] * ((double)units / unit);
        sums.milli[SIM_BUCKET_Q3] += satisfied;
        if (target->ram_bytes != NULL && target->ram_bytes[i] > amounts.ram_bytes)
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
