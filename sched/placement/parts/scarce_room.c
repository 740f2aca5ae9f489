/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for claims, by node and in all; see scarce.h. A node is counted again when it changed, a
 * claim when what it asks for did.
 */
#include "sched/placement/parts/scarce_state.h"

#include "sched/internal/alloc.h"
#include "sched/placement/parts/candidates.h"

#include <string.h>

/* ---- one node ---- */

static bool takes(const struct weir_claim *claim, uint32_t type)
{
    const struct weir_shape shape = { .gpu_type = claim->types };

    return claim->types == 0 || weir_shape_takes_type(&shape, type);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t room_for_jobs(const struct weir_claim *claim, const struct weir_outlook *node,
                             int64_t ram_free_bytes)
{
    uint32_t whole = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        whole += node->left[g] == WEIR_ONE && takes(claim, node->types[g]) ? 1 : 0;
    int64_t jobs = whole / claim->gpu_count;
    if (jobs > 0 && claim->cpu_units > 0)
        jobs = least(jobs, node->cpu_free / claim->cpu_units);
    if (jobs > 0 && claim->ram_bytes > 0)
        jobs = least(jobs, ram_free_bytes / claim->ram_bytes);
    return jobs > 0 ? jobs * claim->gpu_count * 1000 : 0;
}

static int64_t room_for_amounts(const struct weir_claim *claim, const struct weir_outlook *node)
{
    int64_t units = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        if (node->left[g] >= claim->need_units && takes(claim, node->types[g]))
            units += node->left[g];
    const int64_t room = units / (WEIR_ONE / 1000);
    if (room == 0 || claim->cpu_units == 0)
        return room;
    const double by_cpus = (double)node->cpu_free * 1000 / (double)claim->cpu_units;
    return by_cpus < (double)room ? (int64_t)(by_cpus > 0 ? by_cpus : 0) : room;
}

int64_t weir_claim_room(const struct weir_claim *claim, const struct weir_outlook *node,
                        int64_t ram_free_bytes)
{
    return claim->gpu_count > 0 ? room_for_jobs(claim, node, ram_free_bytes)
                                : room_for_amounts(claim, node);
}

/* ---- all nodes ---- */

void weir_scarce_forget_rooms(struct weir_scarce *scarce)
{
    weir_free(&scarce->allocator, scarce->versions);
    weir_free(&scarce->allocator, scarce->rooms);
    scarce->versions = NULL;
    scarce->rooms = NULL;
    scarce->node_count = 0;
    scarce->mark = (struct weir_change_mark){ .count = 0 };
    for (uint32_t k = 0; k < scarce->count; k++)
        scarce->claims[k].room = -1;
}

static weir_status restart(struct weir_scarce *scarce, uint32_t nodes)
{
    weir_scarce_forget_rooms(scarce);
    scarce->versions = weir_alloc(&scarce->allocator, nodes, sizeof *scarce->versions);
    scarce->rooms =
        weir_alloc(&scarce->allocator, (size_t)nodes * WEIR_CLAIMS_MOST, sizeof *scarce->rooms);
    if (scarce->versions == NULL || scarce->rooms == NULL) {
        weir_scarce_forget_rooms(scarce);
        return WEIR_ENOMEM;
    }
    scarce->node_count = nodes;
    return WEIR_OK;
}

/* Counts a node for the claims that are kept (or for those that are to be counted anew). */
static void count_node(struct weir_scarce *scarce, const struct weir_cluster *cluster,
                       uint32_t node, bool anew)
{
    const struct weir_node *const books = &cluster->nodes[node];
    int32_t *const rooms = &scarce->rooms[(size_t)node * WEIR_CLAIMS_MOST];
    struct weir_outlook outlook;

    weir_outlook_load(cluster, node, &outlook);
    for (uint32_t k = 0; k < scarce->count; k++) {
        struct weir_claim *const claim = &scarce->claims[k];
        if ((scarce->stale >> k & 1) != (anew ? 1 : 0))
            continue;
        const int64_t room = books->flags == WEIR_NODE_UP
                                 ? weir_claim_room(claim, &outlook, books->ram_free_bytes)
                                 : 0;
        claim->room += room - (anew ? 0 : rooms[k]);
        rooms[k] = (int32_t)room;
    }
    scarce->versions[node] = books->version;
}

static void follow_node(struct weir_scarce *scarce, const struct weir_cluster *cluster,
                        uint32_t node)
{
    if (scarce->versions[node] != cluster->nodes[node].version)
        count_node(scarce, cluster, node, false);
}

weir_status weir_scarce_count_rooms(struct weir_scarce *scarce, const struct weir_cluster *cluster)
{
    const uint32_t changes = weir_cluster_changes(cluster, &scarce->mark);

    if (scarce->node_count != cluster->node_count || scarce->rooms == NULL)
        WEIR_TRY(restart(scarce, cluster->node_count));
    scarce->stale = 0;
    for (uint32_t k = 0; k < scarce->count; k++) {
        if (scarce->claims[k].room >= 0)
            continue;
        scarce->claims[k].room = 0;
        scarce->stale |= UINT64_C(1) << k;
    }
    if (changes == WEIR_NO_INDEX)
        for (uint32_t n = 0; n < cluster->node_count; n++)
            follow_node(scarce, cluster, n);
    else
        for (uint32_t back = 0; back < changes; back++)
            follow_node(scarce, cluster, weir_cluster_change_node(cluster, back));
    for (uint32_t n = 0; n < cluster->node_count && scarce->stale != 0; n++)
        count_node(scarce, cluster, n, true);
    scarce->mark = weir_cluster_change_mark(cluster);
    return WEIR_OK;
}

/* ---- a placement ---- */

static void take(const struct weir_grade_site *site, uint32_t gpu, struct weir_outlook *node)
{
    const struct weir_shape *const shape = site->shape;
    const struct weir_gpu *const gpus =
        site->cluster->gpus + site->cluster->nodes[site->node].gpu_first;
    uint32_t missing = shape->gpu_count;

    node->cpu_free -= shape->cpu_units;
    if (weir_shape_is_share(shape)) {
        node->left[gpu] -= shape->gpu_units;
        return;
    }
    for (uint32_t g = 0; g < node->gpu_count && missing > 0; g++) {
        if (!weir_gpu_usable(&gpus[g], shape))
            continue;
        node->left[g] -= shape->gpu_units;
        missing--;
    }
}

/* What the job itself claims is no loss to the claim, wherever it goes. */
static int64_t own_part(const struct weir_claim *claim, const struct weir_shape *shape)
{
    const bool is_one = claim->gpu_count > 0 ? shape->gpu_count >= claim->gpu_count &&
                                                   shape->cpu_units >= claim->cpu_units &&
                                                   shape->ram_bytes >= claim->ram_bytes
                                             : shape->gpu_units > 0;

    if (!is_one || !weir_types_within(shape->gpu_type, claim->types))
        return 0;
    if (claim->gpu_count > 0)
        return (int64_t)(shape->gpu_count / claim->gpu_count * claim->gpu_count) * 1000;
    return shape->gpu_units * shape->gpu_count / (WEIR_ONE / 1000);
}

double weir_scarce_cost(const struct weir_scarce *scarce, const struct weir_grade_site *site,
                        uint32_t gpu)
{
    const int32_t *const rooms = &scarce->rooms[(size_t)site->node * WEIR_CLAIMS_MOST];
    const int64_t ram_left =
        site->cluster->nodes[site->node].ram_free_bytes - site->shape->ram_bytes;
    struct weir_outlook after;
    bool is_taken = false;
    double most = 0;

    for (uint32_t k = 0; k < scarce->count; k++) {
        const struct weir_claim *const claim = &scarce->claims[k];
        if (!(claim->price > 0) || rooms[k] == 0 || claim->price * rooms[k] <= most * 1000)
            continue;
        if (!is_taken) {
            weir_outlook_load(site->cluster, site->node, &after);
            take(site, gpu, &after);
            is_taken = true;
        }
        const int64_t lost =
            rooms[k] - weir_claim_room(claim, &after, ram_left) - own_part(claim, site->shape);
        if (claim->price * (double)lost > most * 1000)
            most = claim->price * (double)lost / 1000;
    }
    return most;
}
