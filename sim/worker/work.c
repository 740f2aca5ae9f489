/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker at work: one activity, on the compute of its GPU where that may be scarce
 * (sim/cluster/compute.h), else alone at the rate that its devices let it have.
 *
 * Work that goes on in several places, or in several workers, is on nobody's GPU. So that the
 * others there notice it, each place stands on its GPUs as an activity without end: a stand-in,
 * kept by the id of the place while the worker is BUSY.
 */
#include "sim/cluster/compute.h"
#include "sim/cluster/topology.h"
#include "sim/worker/hold.h"

#include <stdlib.h>

static bool has_resource(const struct sim_cluster *cluster, const struct sim_lease *lease,
                         const struct sim_use *use)
{
    const struct sim_node *node = &cluster->nodes[lease->node];
    return use->slice == NULL && use->gpu_share > 0 &&
           cluster->gpus[node->gpu_first + use->gpu].compute != WEIR_NO_INDEX;
}

/* What its work uses of a resource, NULL = its work is on none. */
static const struct sim_use *compute_of(const struct sim_workers *workers,
                                        const struct sim_worker *worker)
{
    const struct sim_lease *lease = &sim_first_of(worker)->lease;
    if (!workers->context->cluster->has_compute)
        return NULL;
    const struct sim_use *use = sim_lease_compute(lease);
    return use != NULL && has_resource(workers->context->cluster, lease, use) ? use : NULL;
}

/* Its activity there; what holds it up elsewhere is asked for anew, `share` is of the meter. */
static struct sim_activity_spec spec_on(const struct sim_workers *workers,
                                        const struct sim_worker *worker, const struct sim_use *use)
{
    const struct sim_cluster *cluster = workers->context->cluster;
    const struct sim_lease *lease = &sim_first_of(worker)->lease;
    const double share = worker->share < 1 ? 1 / sim_cluster_contention(cluster, lease) : 1;
    return sim_compute_spec(cluster, worker->node, use, share);
}

weir_status sim_worker_begin(struct sim_workers *workers, const struct sim_worker *worker,
                             int64_t alone_ns, double speed, uint64_t owner, sim_handle *work)
{
    const struct sim_context *context = workers->context;
    const struct sim_use *use = compute_of(workers, worker);
    if (use == NULL) {
        const double slowdown = sim_worker_slowdown(workers, worker);
        const struct sim_activity_spec alone = { .work = sim_work_of_ns(alone_ns, SIM_DEVICE_QPNS),
                                                 .cap_qpns = sim_rate_at(speed / slowdown),
                                                 .owner = owner };
        WEIR_TRY(sim_worker_stand_in(workers, worker));
        return sim_activity_start(context->activities, &alone, work, context->error);
    }
    const double here =
        speed / sim_lease_own_slowness(context->cluster, &sim_first_of(worker)->lease);
    const int64_t here_ns =
        islessgreater(here, 1.0) ? sim_time_from_s(sim_time_s(alone_ns) / here) : alone_ns;
    struct sim_activity_spec spec = spec_on(workers, worker, use);
    spec.work = sim_work_of_ns(here_ns, sim_compute_rate(context->cluster, worker->node, use));
    spec.owner = owner;
    return sim_activity_start(context->activities, &spec, work, context->error);
}

weir_status sim_worker_pace(const struct sim_workers *workers, const struct sim_worker *worker,
                            sim_handle work, double speed)
{
    const struct sim_context *context = workers->context;
    const struct sim_use *use = compute_of(workers, worker);
    if (use == NULL)
        return sim_activity_set(context->activities, work, 1,
                                sim_rate_at(speed / sim_worker_slowdown(workers, worker)));
    const struct sim_activity_spec spec = spec_on(workers, worker, use);
    return sim_activity_set(context->activities, work, spec.weight, speed > 0 ? spec.cap_qpns : 0);
}

/* ---- stand-ins ---- */

struct stand_ins {
    uint64_t place; /* first: its key */
    uint32_t count;
    sim_handle works[];
};

static weir_status stand_at(struct sim_workers *workers, const struct sim_hold *hold)
{
    const struct sim_context *context = workers->context;
    const struct sim_claim *claim = hold->lease.claim;
    struct stand_ins *made = NULL;
    if (sim_key_find(&workers->stand_ins, hold->id) != NULL)
        return WEIR_OK; /* it goes on after a pause */
    for (uint32_t u = 0; u < claim->use_count; u++) {
        const struct sim_use *use = &claim->parts[u].use;
        if (!has_resource(context->cluster, &hold->lease, use))
            continue;
        if (made == NULL) {
            made = malloc(sizeof(*made) + claim->use_count * sizeof(made->works[0]));
            if (made == NULL || sim_key_reserve(&workers->stand_ins) != WEIR_OK) {
                free(made);
                return WEIR_ENOMEM;
            }
            *made = (struct stand_ins){ .place = hold->id };
            sim_key_add(&workers->stand_ins, &made->place);
        }
        const struct sim_activity_spec spec =
            sim_compute_spec(context->cluster, hold->lease.node, use, 1);
        WEIR_TRY(sim_activity_start(context->activities, &spec, &made->works[made->count],
                                    context->error));
        made->count++;
    }
    return WEIR_OK;
}

weir_status sim_worker_stand_in(struct sim_workers *workers, const struct sim_worker *worker)
{
    if (!workers->context->cluster->has_compute)
        return WEIR_OK;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next)
        WEIR_TRY(stand_at(workers, hold));
    return WEIR_OK;
}

void sim_hold_stand_no_more(struct sim_workers *workers, const struct sim_hold *hold)
{
    struct stand_ins *gone =
        workers->stand_ins.count == 0 ? NULL : sim_key_find(&workers->stand_ins, hold->id);
    if (gone == NULL)
        return;
    for (uint32_t i = 0; i < gone->count; i++)
        (void)sim_activity_stop(workers->context->activities, gone->works[i], NULL);
    sim_key_remove(&workers->stand_ins, hold->id);
    free(gone);
}
