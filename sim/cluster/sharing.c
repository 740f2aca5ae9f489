/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instances and turns; see the header. */
#include "sim/cluster/sharing.h"

#include <math.h>

/* ---- instances ---- */

static uint32_t slots_of(const struct weir_mig_profile *profile, uint32_t start)
{
    return ((UINT32_C(1) << profile->slots) - 1) << start;
}

const struct weir_mig_profile *sim_slice_profile(const struct sim_gpu *gpu,
                                                 const struct weir_device *device)
{
    if (gpu->mig == NULL || device->mig == 0 ||
        weir_device_profile(device) >= gpu->mig->profile_count)
        return NULL;
    return &gpu->mig->profiles[weir_device_profile(device)];
}

static uint32_t held_count(const struct sim_gpu *gpu, uint32_t profile)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < gpu->mig->slots; s++)
        count += weir_mig_at(gpu->mig_held, s) == (int)profile;
    return count;
}

uint32_t sim_slice_refusal(const struct sim_gpu *gpu, const struct weir_device *device)
{
    const struct weir_mig_profile *profile = sim_slice_profile(gpu, device);
    const uint32_t start = weir_device_start(device);
    if (gpu->mig == NULL && device->mig == 0)
        return WEIR_REASON_NONE;
    if (profile == NULL || start >= gpu->mig->slots || ((profile->starts >> start) & 1) == 0)
        return WEIR_REASON_MIG;
    if ((gpu->mig_slots & slots_of(profile, start)) != 0)
        return WEIR_REASON_MIG;
    if (gpu->mig_cut != 0 && weir_mig_at(gpu->mig_cut, start) != (int)weir_device_profile(device))
        return WEIR_REASON_MIG;
    return held_count(gpu, weir_device_profile(device)) < profile->max_count ? WEIR_REASON_NONE
                                                                             : WEIR_REASON_MIG;
}

uint32_t sim_slice_use_refusal(const struct sim_use *use)
{
    if (use->slice == NULL)
        return WEIR_REASON_NONE;
    if (use->mem_bytes > use->slice->mem_bytes)
        return WEIR_REASON_GPU_MEM;
    if (use->nvdecs > 0 && use->slice->nvdecs == 0)
        return WEIR_REASON_NVDEC;
    return use->nvencs > 0 ? WEIR_REASON_NVENC : WEIR_REASON_NONE;
}

void sim_slice_book(struct sim_gpu *gpu, const struct weir_device *device, int64_t sign)
{
    const struct weir_mig_profile *profile = sim_slice_profile(gpu, device);
    if (profile == NULL)
        return;
    const uint32_t start = weir_device_start(device);
    const weir_mig_layout instance = weir_mig_instance(weir_device_profile(device), start);
    if (sign > 0) {
        gpu->mig_slots |= slots_of(profile, start);
        gpu->mig_held |= instance;
    } else {
        gpu->mig_slots &= ~slots_of(profile, start);
        gpu->mig_held &= ~instance;
    }
}

weir_status sim_cluster_cut(struct sim_cluster *cluster, uint32_t node, uint32_t gpu,
                            weir_mig_layout cut, struct weir_error *error)
{
    struct sim_gpu *books = &cluster->gpus[cluster->nodes[node].gpu_first + gpu];
    if (books->mig == NULL || books->mig_slots != 0)
        return weir_fail(error, WEIR_EINVARIANT, "node %u GPU %u is cut while slots %x are in use",
                         node, gpu, books->mig_slots);
    books->mig_cut = cut;
    return WEIR_OK;
}

bool sim_slice_is_sound(const struct sim_gpu *gpu)
{
    uint32_t slots = 0;
    for (uint32_t s = 0; gpu->mig != NULL && s < gpu->mig->slots; s++) {
        const int profile = weir_mig_at(gpu->mig_held, s);
        if (profile < 0)
            continue;
        const uint32_t taken = slots_of(&gpu->mig->profiles[profile], s);
        const bool is_cut = gpu->mig_cut == 0 || weir_mig_at(gpu->mig_cut, s) == profile;
        if ((slots & taken) != 0 || !is_cut)
            return false;
        slots |= taken;
    }
    return slots == gpu->mig_slots;
}

double sim_slice_slowdown(const struct sim_use *use)
{
    const double compute = use->gpu_share / use->slice_share;
    const double decoders = use->nvdecs > 0 ? use->nvdecs / (double)use->slice->nvdecs : 0;
    return fmax(1, fmax(compute, decoders));
}

/* ---- turns ---- */

double sim_turns_switch_ns(const struct sim_timeslice *turns, double resident_frac)
{
    return (double)turns->switch_ns + resident_frac * (double)turns->switch_memory_ns;
}

double sim_turns_slowdown(const struct sim_timeslice *turns, uint32_t running, double resident_frac)
{
    const double switch_ns = sim_turns_switch_ns(turns, resident_frac);
    const double quantum_ns = (double)turns->quantum_ns;
    return running < 2 ? 1 : running * (quantum_ns + switch_ns) / quantum_ns;
}

double sim_turns_rate(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    double per_s = 0;
    for (uint32_t g = 0; host->turns != NULL && g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        const double memory = (double)gpu->mem_total_bytes;
        const double switch_ns =
            sim_turns_switch_ns(host->turns, memory > 0 ? (double)gpu->mem_used_bytes / memory : 0);
        if (gpu->running > 1)
            per_s += 1e9 / ((double)host->turns->quantum_ns + switch_ns);
    }
    return per_s;
}

/* ---- dead slices ---- */

uint32_t sim_cluster_dead_slices(const struct sim_cluster *cluster, uint32_t node,
                                 const struct weir_mix *mix)
{
    const struct sim_node *host = &cluster->nodes[node];
    uint32_t dead = 0;
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        const struct weir_mig_state state = { gpu->mig_held, gpu->mig_cut };
        uint32_t wanted = 0;
        if (gpu->mig == NULL)
            continue;
        for (uint32_t i = 0; i < mix->count; i++)
            if (mix->frequencies[i] > 0)
                wanted |= weir_shape_profiles(&mix->shapes[i], gpu->mig, gpu->mig_cut != 0);
        dead += weir_mig_dead(gpu->mig, state, wanted);
    }
    return dead;
}

bool sim_cluster_is_cut(const struct sim_cluster *cluster)
{
    for (uint32_t g = 0; g < cluster->gpu_count; g++)
        if (cluster->gpus[g].mig != NULL)
            return true;
    return false;
}

/* ---- MPS ---- */

void sim_mps_limit(struct sim_claim *claim)
{
    for (uint32_t u = 0; u < claim->use_count && u < claim->device_count; u++) {
        struct sim_use *use = &claim->parts[u].use;
        const double has = weir_units_amount(claim->parts[u].device.units);
        if (use->slice != NULL || !(has > 0) || use->gpu_share <= has)
            continue;
        claim->over = fmax(claim->over, use->gpu_share / has);
        use->gpu_share = has;
    }
}

bool sim_mps_crowd(const struct sim_node *node, struct sim_gpu *gpu)
{
    const double before = gpu->crowding;
    gpu->crowding = node->mps_overhead > 0 && gpu->running > 1 ? node->mps_overhead : 1;
    return islessgreater(before, gpu->crowding);
}
