/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of the memory of GPUs; see the header. */
#include "sim/cluster/extents.h"

#include "sim/record/meter/meter_physics.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct extent {
    int64_t at, bytes;
    struct sim_extent_owner owner;
    bool is_settled; /* taken anew, this time */
};

/* Of a GPU, by address. */
struct addresses {
    struct extent *extents;
    uint32_t count, capacity;
    double scattered; /* 1 - largest hole / free */
};

struct sim_extents {
    struct addresses *on_gpu;
    double scattered; /* over all GPUs */
    uint32_t gpus;    /* that are kept here */
};

static bool is_kept(const struct sim_cluster *cluster, const struct sim_gpu *gpu)
{
    return cluster->extents != NULL && gpu->mig == NULL && gpu->mem_total_bytes > 0;
}

static struct addresses *addresses_of(const struct sim_cluster *cluster, const struct sim_gpu *gpu)
{
    return &cluster->extents->on_gpu[gpu - cluster->gpus];
}

weir_status sim_extents_open(struct sim_cluster *cluster)
{
    if (cluster->scenario->gpu_addresses == SIM_ADDRESSES_PAGED)
        return WEIR_OK;
    cluster->extents = calloc(1, sizeof(*cluster->extents));
    if (cluster->extents == NULL)
        return WEIR_ENOMEM;
    cluster->extents->on_gpu =
        calloc((size_t)cluster->gpu_count + 1, sizeof(*cluster->extents->on_gpu));
    if (cluster->extents->on_gpu == NULL)
        return WEIR_ENOMEM;
    for (uint32_t g = 0; g < cluster->gpu_count; g++)
        cluster->extents->gpus += is_kept(cluster, &cluster->gpus[g]) ? 1 : 0;
    return WEIR_OK;
}

void sim_extents_close(struct sim_cluster *cluster)
{
    if (cluster->extents == NULL)
        return;
    for (uint32_t g = 0; cluster->extents->on_gpu != NULL && g < cluster->gpu_count; g++)
        free(cluster->extents->on_gpu[g].extents);
    free(cluster->extents->on_gpu);
    free(cluster->extents);
}

static weir_status reserve_one(struct addresses *addresses)
{
    if (addresses->count < addresses->capacity)
        return WEIR_OK;
    const uint32_t capacity = addresses->capacity < 8 ? 8 : 2 * addresses->capacity;
    struct extent *grown = realloc(addresses->extents, capacity * sizeof(*grown));
    if (grown == NULL)
        return WEIR_ENOMEM;
    addresses->extents = grown;
    addresses->capacity = capacity;
    return WEIR_OK;
}

weir_status sim_extents_reserve(struct sim_cluster *cluster, const struct sim_lease *lease)
{
    if (cluster->extents == NULL || lease->node >= cluster->node_count)
        return WEIR_OK;
    const struct sim_node *node = &cluster->nodes[lease->node];
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const uint32_t gpu = lease->claim->parts[u].use.gpu;
        if (gpu < node->gpu_count)
            WEIR_TRY(reserve_one(&cluster->extents->on_gpu[node->gpu_first + gpu]));
    }
    return WEIR_OK;
}

/* ---- holes ---- */

/* Hole i lies in front of extent i, the last one behind them all. */
static int64_t hole_begin(const struct addresses *addresses, uint32_t i)
{
    return i == 0 ? 0 : addresses->extents[i - 1].at + addresses->extents[i - 1].bytes;
}

static int64_t hole_bytes(const struct addresses *addresses, const struct sim_gpu *gpu, uint32_t i)
{
    const int64_t end = i < addresses->count ? addresses->extents[i].at : gpu->mem_total_bytes;
    return end - hole_begin(addresses, i);
}

static int64_t largest_hole(const struct addresses *addresses, const struct sim_gpu *gpu)
{
    int64_t most = 0;
    for (uint32_t i = 0; i <= addresses->count; i++) {
        const int64_t bytes = hole_bytes(addresses, gpu, i);
        most = bytes > most ? bytes : most;
    }
    return most;
}

bool sim_extents_fit(const struct sim_cluster *cluster, const struct sim_gpu *gpu, int64_t bytes)
{
    return !is_kept(cluster, gpu) || bytes <= largest_hole(addresses_of(cluster, gpu), gpu);
}

/* Where the rule puts so many bytes that fit. */
static uint32_t choose_hole(const struct sim_cluster *cluster, const struct addresses *addresses,
                            const struct sim_gpu *gpu, int64_t bytes)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i <= addresses->count; i++) {
        const int64_t hole = hole_bytes(addresses, gpu, i);
        if (hole < bytes)
            continue;
        if (cluster->scenario->gpu_addresses == SIM_ADDRESSES_FIRST_FIT)
            return i;
        if (best == UINT32_MAX || hole < hole_bytes(addresses, gpu, best))
            best = i;
    }
    assert(best != UINT32_MAX);
    return best;
}

/* ---- changes ---- */

static void insert(const struct sim_cluster *cluster, struct addresses *addresses,
                   const struct sim_gpu *gpu, struct sim_extent_owner owner, int64_t bytes)
{
    const uint32_t i = choose_hole(cluster, addresses, gpu, bytes);
    const struct extent extent = { hole_begin(addresses, i), bytes, owner, true };
    assert(addresses->count < addresses->capacity);
    memmove(&addresses->extents[i + 1], &addresses->extents[i],
            (addresses->count - i) * sizeof(extent));
    addresses->extents[i] = extent;
    addresses->count++;
}

static void take_out(struct addresses *addresses, uint32_t i)
{
    addresses->count--;
    memmove(&addresses->extents[i], &addresses->extents[i + 1],
            (addresses->count - i) * sizeof(*addresses->extents));
}

static bool is_of(const struct extent *extent, struct sim_extent_owner owner)
{
    return extent->owner.lease == owner.lease && extent->owner.is_work == owner.is_work;
}

static void give_back(struct addresses *addresses, struct sim_extent_owner owner, int64_t bytes)
{
    for (uint32_t i = 0; i < addresses->count; i++)
        if (is_of(&addresses->extents[i], owner) && addresses->extents[i].bytes == bytes) {
            take_out(addresses, i);
            return;
        }
    int64_t left = bytes; /* of several tasks at once */
    for (uint32_t i = addresses->count; i-- > 0;)
        if (is_of(&addresses->extents[i], owner)) {
            left -= addresses->extents[i].bytes;
            take_out(addresses, i);
        }
    assert(left == 0);
    (void)left;
}

static uint32_t first_unsettled(const struct addresses *addresses)
{
    uint32_t i = 0;
    while (i < addresses->count && addresses->extents[i].is_settled)
        i++;
    return i;
}

/* Those that are taken anew at every step, from the lowest on. The hole that one leaves holds it.
 */
static void take_anew(const struct sim_cluster *cluster, struct addresses *addresses,
                      const struct sim_gpu *gpu)
{
    for (uint32_t i = 0; i < addresses->count; i++)
        addresses->extents[i].is_settled = !addresses->extents[i].owner.is_anew;
    for (uint32_t i = first_unsettled(addresses); i < addresses->count;
         i = first_unsettled(addresses)) {
        const struct extent old = addresses->extents[i];
        take_out(addresses, i);
        insert(cluster, addresses, gpu, old.owner, old.bytes);
    }
}

static double scattered(const struct addresses *addresses, const struct sim_gpu *gpu)
{
    int64_t free_bytes = gpu->mem_total_bytes;
    for (uint32_t i = 0; i < addresses->count; i++)
        free_bytes -= addresses->extents[i].bytes;
    return free_bytes == 0 ? 0 : 1 - (double)largest_hole(addresses, gpu) / (double)free_bytes;
}

void sim_extents_book(struct sim_cluster *cluster, const struct sim_gpu *gpu,
                      struct sim_extent_owner owner, int64_t bytes)
{
    if (!is_kept(cluster, gpu) || bytes == 0)
        return;
    struct addresses *addresses = addresses_of(cluster, gpu);
    if (bytes > 0)
        insert(cluster, addresses, gpu, owner, bytes);
    else
        give_back(addresses, owner, -bytes);
    take_anew(cluster, addresses, gpu);
    cluster->extents->scattered -= addresses->scattered;
    addresses->scattered = scattered(addresses, gpu);
    cluster->extents->scattered += addresses->scattered;
}

void sim_extents_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns)
{
    if (cluster->extents != NULL && cluster->extents->gpus > 0)
        sim_meter_scattered(meter, now_ns, cluster->extents->scattered / cluster->extents->gpus);
}

static weir_status check_gpu(const struct sim_cluster *cluster, uint32_t g,
                             struct weir_error *error)
{
    const struct sim_gpu *gpu = &cluster->gpus[g];
    const struct addresses *addresses = addresses_of(cluster, gpu);
    int64_t used = 0;
    for (uint32_t i = 0; i <= addresses->count; i++) {
        if (hole_bytes(addresses, gpu, i) < 0)
            return weir_fail(error, WEIR_EINVARIANT,
                             "GPU %u: extents of its memory overlap or lie outside", g);
        used += i < addresses->count ? addresses->extents[i].bytes : 0;
    }
    return used == gpu->mem_used_bytes
               ? WEIR_OK
               : weir_fail(error, WEIR_EINVARIANT,
                           "GPU %u: extents have %lld bytes, all workers %lld", g, (long long)used,
                           (long long)gpu->mem_used_bytes);
}

weir_status sim_extents_check(const struct sim_cluster *cluster, struct weir_error *error)
{
    for (uint32_t g = 0; cluster->extents != NULL && g < cluster->gpu_count; g++)
        if (is_kept(cluster, &cluster->gpus[g]))
            WEIR_TRY(check_gpu(cluster, g, error));
    return WEIR_OK;
}
