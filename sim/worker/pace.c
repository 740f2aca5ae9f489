/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose work goes faster or slower because of what others do (see worker.h).
 *
 * A device that is asked for more than it has, or is shared in turns, is noted by node when
 * somebody on it begins, ends, comes or goes, whoever owns him, and so are nodes that became slow.
 * What those on it get is found anew after the event, once for all its changes.
 */
#include "sim/worker/hold.h"

#include <math.h>

void sim_workers_watch_pace(struct sim_workers *workers)
{
    workers->is_watched = true;
}

void sim_workers_note_pace(struct sim_workers *workers, uint32_t node, uint64_t gpus)
{
    struct node_holds *list = &workers->on_node[node];
    if (gpus == 0 || !workers->is_watched)
        return;
    if (list->changed_gpus == 0) {
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

void sim_hold_note_life(struct sim_workers *workers, const struct sim_hold *hold)
{
    if (workers->context->cluster->nodes[hold->lease.node].turns != NULL)
        sim_workers_note_pace(workers, hold->lease.node, gpus_of(&hold->lease));
}

void sim_workers_node_paced(struct sim_workers *workers, uint32_t node)
{
    sim_workers_note_pace(workers, node, SIM_NODE_GPUS);
}

bool sim_workers_are_paced(const struct sim_workers *workers)
{
    return workers->first_changed != 0;
}

weir_status sim_workers_each_paced(struct sim_workers *workers,
                                   weir_status (*visit)(void *state, struct sim_worker *worker),
                                   void *state)
{
    while (workers->first_changed != 0) {
        struct node_holds *list = &workers->on_node[workers->first_changed - 1];
        const uint64_t gpus = list->changed_gpus;
        workers->first_changed = list->next_changed;
        list->changed_gpus = 0;
        for (struct sim_hold *hold = list->first; hold != NULL; hold = hold->after) {
            struct sim_worker *worker = hold->worker;
            if (worker->state != SIM_WORKER_BUSY || worker->rests ||
                (gpus != SIM_NODE_GPUS && (gpus & gpus_of(&hold->lease)) == 0))
                continue;
            sim_worker_find_share(workers, worker);
            WEIR_TRY(visit(state, worker));
        }
    }
    return WEIR_OK;
}

/* ---- checks ---- */

struct delivered {
    double gpu, nvdecs, nvencs;
};

static weir_status check_gpu(const struct sim_gpu *gpu, const struct delivered *sum, uint32_t node,
                             uint32_t index, struct weir_error *error)
{
    const double slack = 1e-5; /* of shares in single precision */
    if (sum->gpu <= 1 + slack && sum->nvdecs <= gpu->nvdecs + slack &&
        sum->nvencs <= gpu->nvencs + slack)
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVARIANT,
                     "node %u GPU %u gives %g of its compute, %g of %u decoders, %g of %u encoders",
                     node, index, sum->gpu, sum->nvdecs, gpu->nvdecs, sum->nvencs, gpu->nvencs);
}

static weir_status check_node(const struct sim_workers *workers, uint32_t index,
                              struct weir_error *error)
{
    const struct sim_cluster *cluster = workers->context->cluster;
    const struct sim_node *node = &cluster->nodes[index];
    struct delivered sums[WEIR_MAX_NODE_GPUS] = { { 0 } };
    double cpus = 0;
    for (const struct sim_hold *hold = workers->on_node[index].first; hold != NULL;
         hold = hold->after) {
        const struct sim_claim *claim = hold->lease.claim;
        const double share = hold->worker->state == SIM_WORKER_BUSY && !hold->worker->rests
                                 ? (double)hold->worker->share
                                 : 0;
        cpus += share * claim->cpus_used;
        for (uint32_t u = 0; u < claim->use_count; u++) {
            const struct sim_use *use = &claim->parts[u].use;
            if (use->slice != NULL ||
                cluster->gpus[node->gpu_first + use->gpu].compute == WEIR_NO_INDEX)
                sums[use->gpu].gpu += share * use->gpu_share;
            sums[use->gpu].nvdecs += share * use->nvdecs;
            sums[use->gpu].nvencs += share * use->nvencs;
        }
    }
    if (cpus > weir_units_amount(node->cpu_total) * (1 + 1e-5))
        return weir_fail(error, WEIR_EINVARIANT, "node %u gives %g of %g CPUs", index, cpus,
                         weir_units_amount(node->cpu_total));
    for (uint32_t g = 0; g < node->gpu_count; g++)
        WEIR_TRY(check_gpu(&cluster->gpus[node->gpu_first + g], &sums[g], index, g, error));
    return WEIR_OK;
}

struct books {
    int64_t units;
    uint32_t nvdecs, nvencs, users;
};

static bool is_kept(const struct sim_gpu *gpu, const struct books *sum)
{
    return gpu->units_held == sum->units && gpu->nvdec_held == sum->nvdecs &&
           gpu->nvenc_held == sum->nvencs && gpu->users == sum->users;
}

/* What a node gave away is what its workers have of it. Nobody is asked whether anything is scarce
 * where all take at most what they hold: those who may not are counted. */
static weir_status check_held(const struct sim_workers *workers, uint32_t index,
                              struct weir_error *error)
{
    const struct sim_cluster *cluster = workers->context->cluster;
    const struct sim_node *node = &cluster->nodes[index];
    struct books sums[WEIR_MAX_NODE_GPUS] = { { 0 } };
    int64_t cpu_units = 0;
    int64_t ram_bytes = 0;
    uint32_t beyond = 0;
    for (const struct sim_hold *hold = workers->on_node[index].first; hold != NULL;
         hold = hold->after) {
        const struct sim_claim *claim = hold->lease.claim;
        cpu_units += claim->cpu_units;
        ram_bytes += claim->ram_used_bytes;
        beyond += sim_claim_is_beyond(claim);
        for (uint32_t d = 0; d < claim->device_count; d++) {
            const struct weir_device *device = &claim->parts[d].device;
            sums[device->gpu].units += device->units;
            sums[device->gpu].nvdecs ^= device->nvdec_mask;
            sums[device->gpu].nvencs ^= device->nvenc_mask;
        }
        for (uint32_t u = 0; u < claim->use_count; u++)
            sums[claim->parts[u].use.gpu].users++;
    }
    bool is_sound = cpu_units == node->cpu_held && ram_bytes == node->ram_used_bytes;
    for (uint32_t g = 0; g < node->gpu_count; g++)
        is_sound = is_sound && is_kept(&cluster->gpus[node->gpu_first + g], &sums[g]);
    if (is_sound && beyond == node->beyond)
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVARIANT,
                     "node %u: what its workers hold is not what it gave away (%u of them may take "
                     "more than they hold, it says %u)",
                     index, beyond, node->beyond);
}

weir_status sim_workers_check(const struct sim_workers *workers, struct weir_error *error)
{
    for (uint32_t n = 0; n < workers->node_count; n++)
        WEIR_TRY(check_held(workers, n, error));
    for (uint32_t n = 0; workers->is_watched && n < workers->node_count; n++)
        WEIR_TRY(check_node(workers, n, error));
    return WEIR_OK;
}
