/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose work goes faster or slower because of what others do (see worker.h): devices that are
 * shared in turns are noted by node when somebody on them begins, ends, comes or goes, whoever owns
 * him, and so are nodes that became slow.
 */
#include "sim/worker/hold.h"

void sim_workers_watch_pace(struct sim_workers *workers)
{
    workers->is_watched = true;
}

static void note(struct sim_workers *workers, uint32_t node, uint64_t gpus)
{
    struct node_holds *list = &workers->on_node[node];
    if (list->changed_gpus == 0 && gpus != 0) {
        list->next_changed = workers->first_changed;
        workers->first_changed = node + 1;
    }
    list->changed_gpus |= gpus;
}

static uint64_t gpus_of(const struct sim_lease *lease)
{
    uint64_t gpus = 0;
    for (uint32_t u = 0; u < lease->claim->use_count; u++)
        if (lease->claim->parts[u].use.slice == NULL) /* an instance is its own */
            gpus |= UINT64_C(1) << lease->claim->parts[u].use.gpu;
    return gpus;
}

void sim_hold_note_pace(struct sim_workers *workers, const struct sim_hold *hold)
{
    if (workers->is_watched && workers->context->cluster->nodes[hold->lease.node].turns != NULL)
        note(workers, hold->lease.node, gpus_of(&hold->lease));
}

void sim_workers_node_paced(struct sim_workers *workers, uint32_t node)
{
    note(workers, node, UINT64_MAX);
}

bool sim_workers_each_paced(struct sim_workers *workers,
                            void (*visit)(void *state, struct sim_worker *worker), void *state)
{
    const bool is_any = workers->first_changed != 0;
    while (workers->first_changed != 0) {
        struct node_holds *list = &workers->on_node[workers->first_changed - 1];
        const uint64_t gpus = list->changed_gpus;
        workers->first_changed = list->next_changed;
        list->changed_gpus = 0;
        for (struct sim_hold *hold = list->first; hold != NULL; hold = hold->after)
            if (gpus == UINT64_MAX || (gpus & gpus_of(&hold->lease)) != 0)
                visit(state, hold->worker);
    }
    return is_any;
}
