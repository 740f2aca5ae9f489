/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Life of a worker (see worker.h). Where its places are found is hold.c. */
#include "sim/worker/worker.h"

#include "sim/cluster/cluster.h"
#include "sim/cluster/extents.h"
#include "sim/cluster/ghosts.h"
#include "sim/cluster/sharing.h"
#include "sim/engine/apart.h"
#include "sim/engine/room.h"
#include "sim/record/meter/meter_physics.h"
#include "sim/record/record.h"
#include "sim/worker/hold.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- the set ---- */

weir_status sim_workers_create(struct sim_context *context, struct sim_workers **workers)
{
    struct sim_workers *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->context = context;
    made->records.size = sizeof(struct worker_record);
    made->fresh.parts = made->parts;
    made->node_count = context->cluster->node_count;
    made->on_node = calloc((size_t)made->node_count + 1, sizeof(*made->on_node));
    if (made->on_node == NULL) {
        free(made);
        return WEIR_ENOMEM;
    }
    *workers = made;
    return WEIR_OK;
}

/* Nothing knows it any more. */
static void drop_hold(struct sim_workers *workers, struct sim_hold *hold)
{
    sim_hold_leave(workers, hold);
    sim_claim_let_go(workers, hold->lease.claim);
    if (hold != sim_first_hold(hold->worker))
        free(hold);
}

void sim_workers_destroy(struct sim_workers *workers)
{
    if (workers == NULL)
        return;
    for (uint32_t n = 0; n < workers->node_count; n++)
        while (workers->on_node[n].first != NULL)
            drop_hold(workers, workers->on_node[n].first);
    free(workers->holds.slots);
    free(workers->claims.slots);
    for (uint32_t i = 0; i < workers->stand_ins.capacity; i++)
        free(workers->stand_ins.slots[i].thing); /* of who still worked */
    free(workers->stand_ins.slots);
    sim_workers_clear_loads(workers);
    sim_slab_clear(&workers->records);
    free(workers->on_node);
    free(workers);
}

uint64_t sim_worker_id(const struct sim_worker *worker)
{
    return sim_first_of(worker)->id;
}

uint32_t sim_workers_alive(const struct sim_workers *workers)
{
    return workers->alive;
}

struct sim_worker *sim_workers_find(const struct sim_workers *workers, uint64_t id)
{
    const struct sim_hold *hold = sim_key_find(&workers->holds, id);
    return hold == NULL ? NULL : hold->worker;
}

void sim_workers_foresee_node(const struct sim_workers *workers, uint32_t node)
{
    sim_cluster_foresee(workers->context->cluster, node);
    sim_meter_foresee(workers->context->meter, node);
}

void sim_workers_foresee(const struct sim_workers *workers, uint64_t id, uint32_t node)
{
    const char *worker = (const char *)sim_workers_find(workers, id);
    if (worker == NULL)
        return;
    for (size_t i = 0; i < sizeof(struct worker_record); i += SIM_LINE)
        __builtin_prefetch(worker + i, 1);
    sim_workers_foresee_node(workers, node);
}

struct sim_worker *sim_workers_of_event(const struct sim_workers *workers,
                                        const struct sim_event *event)
{
    if (event->target >= workers->records.used)
        return NULL;
    struct sim_worker *worker = sim_slab_at(&workers->records, event->target);
    return sim_worker_id(worker) == event->argument && worker->state != SIM_WORKER_GONE ? worker
                                                                                        : NULL;
}

weir_status sim_workers_each(const struct sim_workers *workers,
                             weir_status (*visit)(void *state, struct sim_worker *worker),
                             void *state)
{
    for (uint32_t i = 0; i < workers->records.used; i++) {
        struct sim_worker *worker = sim_slab_at(&workers->records, i);
        if (worker->state != SIM_WORKER_GONE)
            WEIR_TRY(visit(state, worker));
    }
    return WEIR_OK;
}

/* One worker on a node, for sorting. */
struct found {
    const struct sim_worker *worker;
    uint32_t age; /* its place in the list of the node */
};

static int compare_found(const void *left, const void *right)
{
    const struct found *a = left;
    const struct found *b = right;
    const struct weir_owner *x = &a->worker->owner;
    const struct weir_owner *y = &b->worker->owner;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return a->age < b->age ? -1 : 1;
}

/* It holds some of the GPU, or works there. */
static bool touches(const struct sim_hold *hold, uint32_t gpu)
{
    const struct sim_claim *claim = hold->lease.claim;
    bool does = gpu == WEIR_NO_INDEX;
    for (uint32_t d = 0; d < claim->device_count; d++)
        does = does || claim->parts[d].device.gpu == gpu;
    for (uint32_t u = 0; u < claim->use_count; u++)
        does = does || claim->parts[u].use.gpu == gpu;
    return does;
}

weir_status sim_workers_on_node(const struct sim_workers *workers, uint32_t node, uint32_t gpu,
                                uint64_t **ids, uint32_t *count)
{
    const struct sim_hold *first = workers->on_node[node].first;
    uint32_t holds = 0;
    uint32_t filled = 0;
    for (const struct sim_hold *hold = first; hold != NULL; hold = hold->after)
        holds++;
    struct found *found = calloc((size_t)holds + 1, sizeof(*found));
    uint64_t *list = calloc((size_t)holds + 1, sizeof(*list));
    if (found == NULL || list == NULL) {
        free(found);
        free(list);
        return WEIR_ENOMEM;
    }
    for (const struct sim_hold *hold = first; hold != NULL; hold = hold->after)
        if (touches(hold, gpu) && (filled == 0 || found[filled - 1].worker != hold->worker)) {
            found[filled] = (struct found){ hold->worker, filled };
            filled++;
        }
    qsort(found, filled, sizeof(*found), compare_found);
    for (uint32_t i = 0; i < filled; i++)
        list[i] = sim_worker_id(found[i].worker);
    free(found);
    *ids = list;
    *count = filled;
    return WEIR_OK;
}

/* ---- places ---- */

/* A rank of a job belongs to no pool. */
static uint32_t pool_of(const struct sim_worker *worker)
{
    return worker->owner.kind == WEIR_OWNER_POOL ? worker->owner.index : WEIR_NO_INDEX;
}

/* Adds to zeros. An instance has the memory that it truly has, whatever it was taken for. */
static void add_held(const struct sim_cluster *cluster, const struct sim_lease *lease,
                     struct sim_meter_amounts *held)
{
    const struct sim_gpu *gpus = &cluster->gpus[cluster->nodes[lease->node].gpu_first];
    const struct sim_claim *claim = lease->claim;
    held->amount[SIM_RESOURCE_CPU] = weir_units_amount(claim->cpu_units);
    held->amount[SIM_RESOURCE_RAM] = (double)claim->ram_bytes;
    for (uint32_t d = 0; d < claim->device_count; d++) {
        const struct weir_device *device = &claim->parts[d].device;
        const struct weir_mig_profile *slice = sim_slice_profile(&gpus[device->gpu], device);
        held->amount[SIM_RESOURCE_GPU] += weir_units_amount(device->units);
        held->amount[SIM_RESOURCE_NVDEC] += sim_mask_count(device->nvdec_mask);
        held->amount[SIM_RESOURCE_NVENC] += sim_mask_count(device->nvenc_mask);
        held->amount[SIM_RESOURCE_GPU_MEM] +=
            (double)(slice != NULL ? slice->mem_bytes : device->mem_bytes);
    }
}

/* The compute that a lease uses, but for what is a resource: that is metered by GPU. */
SIM_APART static double gpus_used(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    const struct sim_gpu *gpus = &cluster->gpus[cluster->nodes[lease->node].gpu_first];
    double used = 0;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_use *use = &lease->claim->parts[u].use;
        if (use->slice != NULL || gpus[use->gpu].compute == WEIR_NO_INDEX)
            used += use->gpu_share;
    }
    return used;
}

static uint32_t first_gpu_type(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    if (lease->claim->use_count == 0)
        return WEIR_NO_INDEX;
    const struct sim_node *node = &cluster->nodes[lease->node];
    return cluster->gpus[node->gpu_first + lease->claim->parts[0].use.gpu].type;
}

static void meter_node(const struct sim_workers *workers, uint32_t node)
{
    const struct sim_context *context = workers->context;
    sim_cluster_meter(context->cluster, context->meter, sim_engine_now(context->engine), node);
}

/* A lease on the truth for a hold of `worker`; without one there is a reason why not. */
static weir_status take(struct sim_workers *workers, const struct sim_worker_start *start,
                        const struct sim_place *place, struct sim_hold *hold, uint32_t *reason)
{
    struct sim_context *context = workers->context;
    if (sim_key_find(&workers->holds, place->id) != NULL)
        return weir_fail(context->error, WEIR_EDUPLICATE, "worker %llu is running already",
                         (unsigned long long)place->id);
    WEIR_TRY(sim_key_reserve(&workers->holds));
    hold->id = place->id;
    hold->lease = sim_lease_fill(&workers->fresh, context->cluster, &place->alloc, start->uses);
    workers->fresh.traffic = start->traffic;
    workers->fresh.tenant = start->tenant;
    hold->lease.is_apart = start->is_apart || start->places.count > 1;
    WEIR_TRY(sim_extents_reserve(context->cluster, &hold->lease));
    *reason = sim_cluster_acquire(context->cluster, &hold->lease);
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    const struct sim_claim *kept = sim_claim_share(workers);
    if (kept == NULL) {
        sim_cluster_release(context->cluster, &hold->lease);
        return WEIR_ENOMEM;
    }
    hold->lease.claim = kept;
    sim_hold_enter(workers, hold);
    meter_node(workers, place->alloc.node);
    return WEIR_OK;
}

static void give_back(struct sim_workers *workers, struct sim_worker *worker)
{
    if (worker->gpu_bytes != 0)
        sim_worker_give_gpu_bytes(workers, worker, worker->gpu_bytes);
    struct sim_hold *hold = sim_first_hold(worker);
    const uint32_t places = worker->places;
    for (uint32_t i = 0; i < places; i++) {
        struct sim_hold *next = hold->next;
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a claim is there as long as it has users */
        sim_cluster_release(workers->context->cluster, &hold->lease);
        meter_node(workers, hold->lease.node);
        drop_hold(workers, hold);
        hold = next;
    }
}

static const struct sim_hold *hold_at(const struct sim_worker *worker, uint32_t index)
{
    const struct sim_hold *hold = sim_first_of(worker);
    assert(index < worker->places);
    while (index-- > 0)
        hold = hold->next;
    return hold;
}

uint64_t sim_worker_place_id(const struct sim_worker *worker, uint32_t index)
{
    return hold_at(worker, index)->id;
}

struct sim_place sim_worker_place(const struct sim_worker *worker, uint32_t index)
{
    const struct sim_hold *hold = hold_at(worker, index);
    return (struct sim_place){ hold->id, sim_lease_alloc(&hold->lease) };
}

/* ---- begin and end of a life ---- */

/* The places and the slot are free again; what is in the slot stays readable until it is taken. */
static void free_slot(struct sim_workers *workers, struct sim_worker *worker)
{
    give_back(workers, worker);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): its first hold is in it and is not freed */
    sim_slab_give(&workers->records, worker);
    workers->alive--;
}

/* All places or none. */
static weir_status take_places(struct sim_workers *workers, struct sim_worker *worker,
                               const struct sim_worker_start *start, uint32_t *reason)
{
    struct sim_hold *hold = sim_first_hold(worker);
    struct sim_hold **last = &hold;
    for (uint32_t i = 0; i < start->places.count; i++) {
        if (i > 0)
            hold = calloc(1, sizeof(*hold));
        const weir_status status =
            hold == NULL ? WEIR_ENOMEM
                         : take(workers, start, &start->places.items[i], hold, reason);
        if (status != WEIR_OK || *reason != WEIR_REASON_NONE) {
            if (i > 0)
                free(hold);
            return status;
        }
        hold->worker = worker;
        *last = hold;
        last = &hold->next;
        worker->places++;
    }
    return WEIR_OK;
}

weir_status sim_worker_start(struct sim_workers *workers, const struct sim_worker_start *start,
                             struct sim_worker **worker, uint32_t *reason)
{
    const struct sim_context *context = workers->context;
    void *record = NULL;
    assert(start->places.count > 0);
    *worker = NULL;
    *reason = WEIR_REASON_NONE;
    WEIR_TRY(sim_slab_take(&workers->records, &record));
    struct sim_worker *made = record;
    *made = (struct sim_worker){ .owner = start->owner,
                                 .slot = made->slot,
                                 .driver = (uint16_t)start->driver,
                                 .job_class = start->job_class,
                                 .gpu_type = WEIR_NO_INDEX,
                                 .node = start->places.items[0].alloc.node,
                                 .created_ns = sim_engine_now(context->engine),
                                 .since_ns = sim_engine_now(context->engine),
                                 .ready_ns = -1 };
    workers->alive++;
    const weir_status status = take_places(workers, made, start, reason);
    if (status != WEIR_OK || *reason != WEIR_REASON_NONE) {
        free_slot(workers, made);
        return status;
    }
    made->gpu_type = first_gpu_type(context->cluster, &sim_first_hold(made)->lease);
    *worker = made;
    return WEIR_OK;
}

struct sim_gpu_part sim_worker_part(const struct sim_workers *workers,
                                    const struct sim_worker *worker)
{
    const struct sim_cluster *cluster = workers->context->cluster;
    const struct sim_lease *lease = &sim_first_of(worker)->lease;
    const struct sim_use *use = &lease->claim->parts[0].use;
    if (lease->claim->use_count == 0 || use->slice == NULL)
        return (struct sim_gpu_part){ 1, 1 };
    const struct sim_node *node = &cluster->nodes[lease->node];
    return sim_gpu_part(cluster->gpus[node->gpu_first + use->gpu].mig, use->slice);
}

void sim_worker_withdraw(struct sim_workers *workers, struct sim_worker *worker)
{
    assert(worker->state == SIM_WORKER_GONE && worker->places > 0);
    free_slot(workers, worker);
}

static bool is_edge(uint32_t from, uint32_t to)
{
    static const uint8_t edges[] = {
        [SIM_WORKER_GONE] = 1 << SIM_WORKER_SETUP,
        [SIM_WORKER_SETUP] = 1 << SIM_WORKER_IDLE | 1 << SIM_WORKER_GONE,
        [SIM_WORKER_IDLE] = 1 << SIM_WORKER_BUSY | 1 << SIM_WORKER_BLOCKED | 1 << SIM_WORKER_GONE,
        [SIM_WORKER_BUSY] = 1 << SIM_WORKER_IDLE | 1 << SIM_WORKER_BLOCKED | 1 << SIM_WORKER_GONE,
        [SIM_WORKER_BLOCKED] = 1 << SIM_WORKER_IDLE | 1 << SIM_WORKER_BUSY | 1 << SIM_WORKER_GONE
    };
    return (edges[from] >> to & 1) != 0;
}

/* What it uses of its devices counts in part: it gets `share` of it. Memory is used whole. */
static struct sim_meter_amounts used_of(const struct sim_workers *workers,
                                        const struct sim_hold *hold, double share)
{
    struct sim_meter_amounts used = hold->lease.claim->used;
    if (workers->context->cluster->has_compute)
        used.amount[SIM_RESOURCE_GPU] = gpus_used(workers->context->cluster, &hold->lease);
    if (!(share < 1))
        return used;
    used.amount[SIM_RESOURCE_CPU] *= share;
    used.amount[SIM_RESOURCE_GPU] *= share;
    used.amount[SIM_RESOURCE_NVDEC] *= share;
    used.amount[SIM_RESOURCE_NVENC] *= share;
    return used;
}

/* Compute of its GPUs that is delivered, of those where it is a resource. */
static double compute_used(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    const struct sim_node *node = &cluster->nodes[lease->node];
    double used = 0;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_use *use = &lease->claim->parts[u].use;
        const struct sim_gpu *gpu = &cluster->gpus[node->gpu_first + use->gpu];
        if (use->slice == NULL && gpu->compute != WEIR_NO_INDEX)
            used += sim_gpu_used(node, gpu);
    }
    return used;
}

static void meter_compute(const struct sim_workers *workers, const struct sim_hold *hold,
                          double before)
{
    const struct sim_context *context = workers->context;
    const double after = compute_used(context->cluster, &hold->lease);
    if (!islessgreater(before, after))
        return;
    struct sim_meter_amounts was = { { 0 } };
    struct sim_meter_amounts is = { { 0 } };
    was.amount[SIM_RESOURCE_GPU] = before;
    is.amount[SIM_RESOURCE_GPU] = after;
    sim_meter_node_used(context->meter, sim_engine_now(context->engine), hold->lease.node, &was,
                        &is);
}

/* From now on it gets this share of what it uses, where compute resources do not decide. */
static void set_share(struct sim_workers *workers, struct sim_worker *worker, float share)
{
    struct sim_cluster *cluster = workers->context->cluster;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        const double before = compute_used(cluster, &hold->lease);
        sim_cluster_slow_use(cluster, &hold->lease, (double)share - (double)worker->share);
        meter_compute(workers, hold, before);
    }
    worker->share = share;
}

static float share_of(const struct sim_workers *workers, const struct sim_worker *worker)
{
    const struct sim_cluster *cluster = workers->context->cluster;
    double worst = 1;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next)
        worst = fmax(worst, sim_cluster_contention(cluster, &hold->lease));
    return (float)(1 / worst);
}

void sim_worker_find_share(struct sim_workers *workers, struct sim_worker *worker)
{
    const struct sim_context *context = workers->context;
    const double had = (double)worker->share;
    const float share = share_of(workers, worker);
    assert(worker->state == SIM_WORKER_BUSY);
    if (!islessgreater(share, worker->share))
        return;
    set_share(workers, worker, share);
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        const struct sim_meter_amounts before = used_of(workers, hold, had);
        const struct sim_meter_amounts after = used_of(workers, hold, (double)share);
        sim_meter_node_used(context->meter, sim_engine_now(context->engine), hold->lease.node,
                            &before, &after);
    }
}

/* The meter asks for what is held when a life begins or ends, for what is used around work. */
static void show_state(struct sim_workers *workers, const struct sim_hold *hold, uint32_t from,
                       uint32_t to)
{
    struct sim_context *context = workers->context;
    const struct sim_worker *worker = hold->worker;
    const bool is_use = from == SIM_WORKER_BUSY || to == SIM_WORKER_BUSY;
    const bool is_life = from == SIM_WORKER_GONE || to == SIM_WORKER_GONE;
    if (worker->owner.kind == WEIR_OWNER_JOB && !is_use && !is_life)
        return; /* of a rank no other state is counted */
    struct sim_meter_amounts used;
    struct sim_meter_amounts held = { { 0 } };
    struct sim_meter_worker meter = { .node = hold->lease.node,
                                      .stage = pool_of(worker),
                                      .job_class = worker->job_class,
                                      .tenant = hold->lease.claim->tenant,
                                      .since_ns = worker->created_ns,
                                      .holds = &held,
                                      .uses = &hold->lease.claim->used,
                                      .is_member = hold != sim_first_of(worker) };
    if (is_use && (worker->share < 1 || context->cluster->has_compute)) {
        used = used_of(workers, hold, (double)worker->share);
        meter.uses = &used;
    }
    if (is_life)
        add_held(context->cluster, &hold->lease, &held);
    sim_meter_worker_state(context->meter, sim_engine_now(context->engine), &meter,
                           (enum sim_meter_state)from, (enum sim_meter_state)to);
}

static void meter_turns(const struct sim_workers *workers, uint32_t node)
{
    const struct sim_context *context = workers->context;
    if (context->cluster->nodes[node].turns != NULL)
        sim_meter_turns(context->meter, sim_engine_now(context->engine), node,
                        sim_turns_rate(context->cluster, node));
}

/* One place begins to work, or no longer does, where compute is a resource. */
SIM_APART static uint64_t run_metered(struct sim_workers *workers, struct sim_hold *hold,
                                      bool is_running)
{
    struct sim_cluster *cluster = workers->context->cluster;
    const double before = compute_used(cluster, &hold->lease);
    const uint64_t changed = sim_cluster_run(cluster, &hold->lease, is_running);
    meter_compute(workers, hold, before);
    meter_turns(workers, hold->lease.node);
    if (!is_running)
        sim_hold_stand_no_more(workers, hold);
    return changed;
}

/* It begins to work, or no longer does: others there notice. True when there were or are any, on a
 * device that is scarce, and so what it gets has to be found. */
static bool run(struct sim_workers *workers, struct sim_worker *worker, bool is_running)
{
    struct sim_cluster *cluster = workers->context->cluster;
    bool is_scarce = false;
    for (struct sim_hold *hold = sim_first_hold(worker); hold != NULL; hold = hold->next) {
        const uint64_t changed = cluster->has_compute
                                     ? run_metered(workers, hold, is_running)
                                     : sim_cluster_run(cluster, &hold->lease, is_running);
        if (changed != 0)
            sim_workers_note_pace(workers, hold->lease.node, changed);
        is_scarce = is_scarce || changed != 0 || sim_claim_is_sliced(hold->lease.claim);
    }
    return is_scarce;
}

/* The share it has counts from the moment it works. */
static void begin_work(struct sim_workers *workers, struct sim_worker *worker)
{
    worker->share = 1;
    if (!run(workers, worker, true))
        return;
    const float share = share_of(workers, worker);
    if (share < 1)
        set_share(workers, worker, share);
}

/* What it had is still told after this. */
static void end_work(struct sim_workers *workers, struct sim_worker *worker)
{
    const float share = worker->share;
    if (share < 1)
        set_share(workers, worker, 1);
    (void)run(workers, worker, false);
    worker->share = share;
}

/* What the meter is told of its devices when it rests and when it goes on. */
static void show_use(const struct sim_workers *workers, const struct sim_worker *worker,
                     bool is_used)
{
    const struct sim_context *context = workers->context;
    const struct sim_meter_amounts none = { { 0 } };
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        const struct sim_meter_amounts used = used_of(workers, hold, (double)worker->share);
        sim_meter_node_used(context->meter, sim_engine_now(context->engine), hold->lease.node,
                            is_used ? &none : &used, is_used ? &used : &none);
    }
}

void sim_worker_rest(struct sim_workers *workers, struct sim_worker *worker, bool rests)
{
    assert(worker->state == SIM_WORKER_BUSY);
    if (worker->rests == rests)
        return;
    worker->rests = rests;
    if (rests) {
        show_use(workers, worker, false);
        end_work(workers, worker);
    } else {
        begin_work(workers, worker);
        show_use(workers, worker, true);
    }
}

/* It became ready for the first time; who watches learns of it if that took time. */
static void note_ready(struct sim_worker *worker, const struct sim_context *context)
{
    const struct sim_observer *observer = context->observer;
    const struct sim_setup_span setup = { .worker = sim_worker_id(worker),
                                          .stage = pool_of(worker),
                                          .node = worker->node,
                                          .gpu_type = worker->gpu_type,
                                          .start_ns = worker->created_ns,
                                          .end_ns = worker->since_ns };
    worker->ready_ns = worker->since_ns;
    if (observer != NULL && observer->setup != NULL && setup.end_ns > setup.start_ns)
        observer->setup(observer->state, &setup);
}

void sim_worker_set_state(struct sim_workers *workers, struct sim_worker *worker,
                          enum sim_worker_state state)
{
    struct sim_context *context = workers->context;
    const int64_t now_ns = sim_engine_now(context->engine);
    const uint32_t from = worker->state;
    assert(is_edge(from, state));
    if (worker->rests)
        sim_worker_rest(workers, worker, false);
    if (from == SIM_WORKER_BUSY)
        worker->busy_ns += now_ns - worker->since_ns;
    worker->state = (uint8_t)state;
    worker->since_ns = now_ns;
    if (state == SIM_WORKER_BUSY)
        begin_work(workers, worker);
    for (struct sim_hold *hold = sim_first_hold(worker); hold != NULL; hold = hold->next) {
        show_state(workers, hold, from, state);
        if (from == SIM_WORKER_GONE || state == SIM_WORKER_GONE)
            sim_hold_note_life(workers, hold);
    }
    if (from == SIM_WORKER_BUSY) {
        if (worker->work_bytes != 0)
            sim_worker_take_bytes(workers, worker, 0);
        end_work(workers, worker);
    }
    if (state == SIM_WORKER_IDLE && worker->ready_ns < 0)
        note_ready(worker, context);
    if (worker->owner.kind == WEIR_OWNER_JOB)
        return; /* the life of a rank is its job's, which says it itself */
    if (from != SIM_WORKER_BUSY && state != SIM_WORKER_BUSY)
        sim_context_digest(context, 0x100 + (uint64_t)state, sim_worker_id(worker), now_ns);
}

static sim_handle schedule(const struct sim_workers *workers, const struct sim_worker *worker,
                           enum sim_kind kind, int64_t delay_ns)
{
    const int64_t now_ns = sim_engine_now(workers->context->engine);
    const struct sim_event event = {
        .time_ns = delay_ns > SIM_TIME_MAX - now_ns ? SIM_TIME_MAX : now_ns + delay_ns,
        .target = worker->slot,
        .argument = sim_worker_id(worker),
        .kind = (uint16_t)kind,
        .phase = kind == SIM_KIND_SETUP_END ? SIM_PHASE_COMPLETION : SIM_PHASE_FAULT
    };
    return sim_engine_schedule(workers->context->engine, &event);
}

void sim_worker_set_up(struct sim_workers *workers, struct sim_worker *worker, int64_t delay_ns)
{
    assert(worker->state == SIM_WORKER_SETUP && worker->timer == SIM_NO_HANDLE);
    worker->timer = schedule(workers, worker, SIM_KIND_SETUP_END, delay_ns);
}

void sim_worker_arm_crash(struct sim_workers *workers, struct sim_worker *worker, int64_t delay_ns)
{
    assert(worker->crash == SIM_NO_HANDLE);
    worker->crash = schedule(workers, worker, SIM_KIND_WORKER_CRASH, delay_ns);
}

double sim_worker_slowdown(const struct sim_workers *workers, const struct sim_worker *worker)
{
    const struct sim_cluster *cluster = workers->context->cluster;
    const bool has_all = worker->state == SIM_WORKER_BUSY && !(worker->share < 1);
    double worst = 0;
    if (has_all && worker->places == 1)
        return sim_cluster_slowness(cluster, &sim_first_of(worker)->lease);
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        const double slow = has_all ? sim_cluster_slowness(cluster, &hold->lease)
                                    : sim_cluster_slowdown(cluster, &hold->lease);
        worst = slow > worst ? slow : worst;
    }
    return worst;
}

/* Rows, one a place; `ended_ns` -1 = it lives. */
static weir_status record(const struct sim_workers *workers, const struct sim_worker *worker,
                          int64_t ended_ns, const char *text)
{
    const struct sim_context *context = workers->context;
    const int64_t in_hand_ns =
        worker->state == SIM_WORKER_BUSY ? sim_engine_now(context->engine) - worker->since_ns : 0;
    if (!sim_recorder_keeps(context->recorder, SIM_KEEP_JOBS))
        return WEIR_OK;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        const struct weir_alloc alloc = sim_lease_alloc(&hold->lease);
        const struct sim_worker_row row = { .worker = hold->id,
                                            .owner = worker->owner,
                                            .node = alloc.node,
                                            .alloc = &alloc,
                                            .created_ns = worker->created_ns,
                                            .ready_ns = worker->ready_ns,
                                            .ended_ns = ended_ns,
                                            .end_reason = text,
                                            .tasks =
                                                hold == sim_first_of(worker) ? worker->tasks : 0,
                                            .busy_ns = worker->busy_ns + in_hand_ns };
        WEIR_TRY(sim_recorder_worker(context->recorder, &row, context->error));
    }
    return WEIR_OK;
}

weir_status sim_worker_record(const struct sim_workers *workers, const struct sim_worker *worker)
{
    return record(workers, worker, -1, "");
}

/* What a killed process has on its GPUs is in use until it is reaped. */
static weir_status leave_ghosts(const struct sim_workers *workers, const struct sim_worker *worker)
{
    const struct sim_context *context = workers->context;
    const struct sim_event reap = { .time_ns = sim_engine_now(context->engine) +
                                               context->scenario->gpu_reap_ns,
                                    .kind = SIM_KIND_REAP,
                                    .phase = SIM_PHASE_FAULT };
    bool is_any = false;
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next) {
        bool is_left = false;
        if (context->cluster->nodes[hold->lease.node].is_up)
            WEIR_TRY(sim_ghosts_leave(context->cluster, &hold->lease, worker->gpu_bytes,
                                      reap.time_ns, &is_left));
        is_any = is_any || is_left;
    }
    if (is_any)
        (void)sim_engine_schedule(context->engine, &reap);
    return WEIR_OK;
}

weir_status sim_worker_release(struct sim_workers *workers, struct sim_worker *worker,
                               const char *text)
{
    const struct sim_context *context = workers->context;
    const int64_t now_ns = sim_engine_now(context->engine);
    if (worker->timer != SIM_NO_HANDLE)
        (void)sim_engine_cancel(context->engine, worker->timer);
    if (worker->crash != SIM_NO_HANDLE)
        (void)sim_engine_cancel(context->engine, worker->crash);
    if (worker->tasks == 0)
        sim_meter_setup_wasted(context->meter, now_ns, worker->created_ns,
                               worker->ready_ns < 0 ? now_ns : worker->ready_ns);
    WEIR_TRY(sim_worker_drop_loads(workers, worker));
    if (worker->is_killed && context->scenario->gpu_reap_ns > 0)
        WEIR_TRY(leave_ghosts(workers, worker));
    sim_worker_set_state(workers, worker, SIM_WORKER_GONE);
    const weir_status status = record(workers, worker, now_ns, text);
    free_slot(workers, worker);
    return status;
}

weir_status sim_workers_cut(struct sim_workers *workers, uint32_t node, uint32_t gpu,
                            weir_mig_layout layout)
{
    struct sim_context *context = workers->context;
    WEIR_TRY(sim_cluster_cut(context->cluster, node, gpu, layout, context->error));
    sim_cluster_meter(context->cluster, context->meter, sim_engine_now(context->engine), node);
    return WEIR_OK;
}
