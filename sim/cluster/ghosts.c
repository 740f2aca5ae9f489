/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of GPUs that killed processes leave behind; see the header. */
#include "sim/cluster/ghosts.h"

#include "sim/engine/room.h"

#include <stdlib.h>

struct ghost {
    int64_t until_ns, bytes;
    uint32_t node, gpu; /* gpu: of the cluster */
};

/* In the order of their times. */
struct sim_ghosts {
    struct ghost *all;
    size_t first, count, capacity;
};

static weir_status add(struct sim_ghosts *ghosts, struct ghost ghost)
{
    if (ghosts->first == ghosts->count)
        ghosts->first = ghosts->count = 0;
    SIM_ROOM(ghosts->all, ghosts->capacity, ghosts->count + 1);
    ghosts->all[ghosts->count++] = ghost;
    return WEIR_OK;
}

weir_status sim_ghosts_leave(struct sim_cluster *cluster, const struct sim_lease *lease,
                             int64_t bytes, int64_t until_ns, bool *is_left)
{
    *is_left = false;
    if (cluster->ghosts == NULL)
        cluster->ghosts = calloc(1, sizeof *cluster->ghosts);
    if (cluster->ghosts == NULL)
        return WEIR_ENOMEM;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_use *use = &lease->claim->parts[u].use;
        const struct ghost ghost = { .until_ns = until_ns,
                                     .bytes = use->mem_bytes + bytes,
                                     .node = lease->node,
                                     .gpu = cluster->nodes[lease->node].gpu_first + use->gpu };
        if (use->slice != NULL || ghost.bytes == 0)
            continue;
        WEIR_TRY(add(cluster->ghosts, ghost));
        cluster->gpus[ghost.gpu].mem_used_bytes += ghost.bytes;
        *is_left = true;
    }
    return WEIR_OK;
}

static void free_ghost(struct sim_cluster *cluster, struct ghost *ghost)
{
    cluster->gpus[ghost->gpu].mem_used_bytes -= ghost->bytes;
    ghost->bytes = 0;
}

void sim_ghosts_reap(struct sim_cluster *cluster, int64_t now_ns)
{
    struct sim_ghosts *ghosts = cluster->ghosts;
    while (ghosts != NULL && ghosts->first < ghosts->count &&
           ghosts->all[ghosts->first].until_ns <= now_ns)
        free_ghost(cluster, &ghosts->all[ghosts->first++]);
}

void sim_ghosts_forget(struct sim_cluster *cluster, uint32_t node, uint32_t gpu)
{
    struct sim_ghosts *ghosts = cluster->ghosts;
    for (size_t i = ghosts == NULL ? 0 : ghosts->first; ghosts != NULL && i < ghosts->count; i++)
        if (ghosts->all[i].node == node &&
            (gpu == WEIR_NO_INDEX || ghosts->all[i].gpu == cluster->nodes[node].gpu_first + gpu))
            free_ghost(cluster, &ghosts->all[i]);
}

void sim_ghosts_destroy(struct sim_cluster *cluster)
{
    if (cluster->ghosts != NULL)
        free(cluster->ghosts->all);
    free(cluster->ghosts);
    cluster->ghosts = NULL;
}
