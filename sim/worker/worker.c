/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers and their pool (see worker.h). */
#include "sim/worker/worker.h"

#include "sim/queue/item.h"
#include "sim/record/record.h"
#include "weir/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

weir_status sim_worker_pool_create(struct sim_worker_pool **pool)
{
    *pool = calloc(1, sizeof(**pool));
    return *pool == NULL ? WEIR_ENOMEM : WEIR_OK;
}

void sim_worker_pool_destroy(struct sim_worker_pool *pool)
{
    if (pool == NULL)
        return;
    for (uint32_t i = 0; i < pool->used; i++) {
        free(pool->slots[i]->others);
        free(pool->slots[i]);
    }
    free(pool->slots);
    free(pool->free_slots);
    free(pool->slot_of_id);
    free(pool);
}

struct sim_worker *sim_worker_find(const struct sim_worker_pool *pool, uint64_t id)
{
    if (id >= pool->id_capacity || pool->slot_of_id[id] == UINT32_MAX)
        return NULL;
    return pool->slots[pool->slot_of_id[id]];
}

static weir_status grow_slots(struct sim_worker_pool *pool)
{
    const uint32_t capacity = pool->capacity == 0 ? 64 : pool->capacity * 2;
    struct sim_worker **slots = realloc(pool->slots, capacity * sizeof(struct sim_worker *));
    if (slots == NULL)
        return WEIR_ENOMEM;
    pool->slots = slots;
    uint32_t *free_slots = realloc(pool->free_slots, capacity * sizeof(*free_slots));
    if (free_slots == NULL)
        return WEIR_ENOMEM;
    pool->free_slots = free_slots;
    pool->capacity = capacity;
    return WEIR_OK;
}

static weir_status take_slot(struct sim_worker_pool *pool, uint32_t *slot)
{
    if (pool->free_count > 0) {
        *slot = pool->free_slots[--pool->free_count];
        return WEIR_OK;
    }
    if (pool->used == pool->capacity)
        WEIR_TRY(grow_slots(pool));
    pool->slots[pool->used] = calloc(1, sizeof(struct sim_worker));
    if (pool->slots[pool->used] == NULL)
        return WEIR_ENOMEM;
    *slot = pool->used++;
    return WEIR_OK;
}

/* Ids are dense counters of the plan, so an array finds them. */
static weir_status reserve_id(struct sim_worker_pool *pool, uint64_t id)
{
    if (id < pool->id_capacity)
        return WEIR_OK;
    if (id >= UINT32_MAX)
        return WEIR_ERANGE;
    uint64_t capacity = pool->id_capacity == 0 ? 256 : pool->id_capacity;
    while (capacity <= id)
        capacity *= 2;
    uint32_t *slot_of_id = realloc(pool->slot_of_id, capacity * sizeof(*slot_of_id));
    if (slot_of_id == NULL)
        return WEIR_ENOMEM;
    memset(slot_of_id + pool->id_capacity, 0xff,
           (capacity - pool->id_capacity) * sizeof(*slot_of_id));
    pool->slot_of_id = slot_of_id;
    pool->id_capacity = capacity;
    return WEIR_OK;
}

static struct sim_meter_worker meter_view(const struct sim_lease *lease, uint32_t stage)
{
    const struct weir_alloc *alloc = &lease->alloc;
    struct sim_meter_worker meter = { .node = alloc->node, .stage = stage };
    meter.holds.amount[SIM_RESOURCE_CPU] = weir_units_amount(alloc->cpu_units);
    meter.holds.amount[SIM_RESOURCE_RAM] = (double)alloc->ram_bytes;
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *device = &alloc->devices[d];
        meter.holds.amount[SIM_RESOURCE_GPU] += weir_units_amount(device->units);
        meter.holds.amount[SIM_RESOURCE_NVDEC] += __builtin_popcount(device->nvdec_mask);
        meter.holds.amount[SIM_RESOURCE_NVENC] += __builtin_popcount(device->nvenc_mask);
        meter.holds.amount[SIM_RESOURCE_GPU_MEM] += (double)device->mem_bytes;
    }
    meter.uses.amount[SIM_RESOURCE_CPU] = lease->cpus_used;
    meter.uses.amount[SIM_RESOURCE_RAM] = (double)lease->ram_used_bytes;
    for (uint32_t u = 0; u < lease->use_count; u++) {
        meter.uses.amount[SIM_RESOURCE_GPU] += lease->uses[u].gpu_share;
        meter.uses.amount[SIM_RESOURCE_NVDEC] += lease->uses[u].nvdecs;
        meter.uses.amount[SIM_RESOURCE_NVENC] += lease->uses[u].nvencs;
        meter.uses.amount[SIM_RESOURCE_GPU_MEM] += (double)lease->uses[u].mem_bytes;
    }
    return meter;
}

static uint32_t first_gpu_type(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    if (lease->use_count == 0)
        return WEIR_NO_INDEX;
    const struct sim_node *node = &cluster->nodes[lease->alloc.node];
    return cluster->gpus[node->gpu_first + lease->uses[0].gpu].type;
}

weir_status sim_worker_place(struct sim_worker_pool *pool, struct sim_context *context, uint64_t id,
                             uint32_t stage, const struct weir_alloc *alloc,
                             const struct weir_shape *uses, struct sim_worker **worker,
                             uint32_t *reason)
{
    struct sim_lease lease = { 0 };
    uint32_t slot = 0;
    *worker = NULL;
    if (sim_worker_find(pool, id) != NULL)
        return weir_fail(context->error, WEIR_EDUPLICATE, "worker %llu is running already",
                         (unsigned long long)id);
    WEIR_TRY(reserve_id(pool, id));
    WEIR_TRY(take_slot(pool, &slot));
    sim_lease_fill(&lease, context->cluster, alloc, uses);
    *reason = sim_cluster_acquire(context->cluster, &lease);
    if (*reason != WEIR_REASON_NONE) {
        pool->free_slots[pool->free_count++] = slot;
        return WEIR_OK;
    }
    struct sim_worker *made = pool->slots[slot];
    free(made->others);
    *made = (struct sim_worker){ .id = id,
                                 .slot = slot,
                                 .stage = stage,
                                 .task_head = SIM_NO_ITEM,
                                 .held = SIM_QUEUE_EMPTY,
                                 .created_ns = sim_engine_now(context->engine),
                                 .ready_ns = -1,
                                 .lease = lease };
    made->gpu_type = first_gpu_type(context->cluster, &lease);
    made->meter = meter_view(&made->lease, stage);
    pool->slot_of_id[id] = slot;
    pool->alive++;
    sim_cluster_meter(context->cluster, context->meter, made->created_ns, alloc->node);
    *worker = made;
    return WEIR_OK;
}

weir_status sim_worker_join(struct sim_worker_pool *pool, struct sim_context *context,
                            struct sim_worker *worker, const struct sim_place *place,
                            uint32_t *reason)
{
    const struct sim_stage *stage = sim_scenario_stage(context->scenario, worker->stage);
    struct sim_lease lease = { 0 };
    if (sim_worker_find(pool, place->id) != NULL)
        return weir_fail(context->error, WEIR_EDUPLICATE, "worker %llu is running already",
                         (unsigned long long)place->id);
    WEIR_TRY(reserve_id(pool, place->id));
    struct sim_member *others =
        realloc(worker->others, (worker->other_count + 1) * sizeof(*worker->others));
    if (others == NULL)
        return WEIR_ENOMEM;
    worker->others = others;
    sim_lease_fill(&lease, context->cluster, &place->alloc, &stage->uses_shape);
    *reason = sim_cluster_acquire(context->cluster, &lease);
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    struct sim_member *member = &others[worker->other_count++];
    *member = (struct sim_member){ .id = place->id, .lease = lease };
    member->meter = meter_view(&lease, worker->stage);
    member->meter.is_member = true;
    pool->slot_of_id[place->id] = worker->slot;
    sim_cluster_meter(context->cluster, context->meter, worker->created_ns, place->alloc.node);
    return WEIR_OK;
}

static void give_back(struct sim_context *context, struct sim_lease *lease)
{
    sim_cluster_release(context->cluster, lease);
    sim_cluster_meter(context->cluster, context->meter, sim_engine_now(context->engine),
                      lease->alloc.node);
}

/* The places and the slot are free again; what is in the slot stays readable until it is taken. */
static void free_places(struct sim_worker_pool *pool, struct sim_context *context,
                        struct sim_worker *worker)
{
    give_back(context, &worker->lease);
    pool->slot_of_id[worker->id] = UINT32_MAX;
    for (uint32_t i = 0; i < worker->other_count; i++) {
        give_back(context, &worker->others[i].lease);
        pool->slot_of_id[worker->others[i].id] = UINT32_MAX;
    }
    pool->free_slots[pool->free_count++] = worker->slot;
    pool->alive--;
}

void sim_worker_withdraw(struct sim_worker_pool *pool, struct sim_context *context,
                         struct sim_worker *worker)
{
    assert(worker->state == SIM_WORKER_GONE);
    free_places(pool, context, worker);
}

struct sim_place sim_worker_member(const struct sim_worker *worker, uint32_t index)
{
    assert(index <= worker->other_count);
    if (index == 0)
        return (struct sim_place){ worker->id, worker->lease.alloc };
    return (struct sim_place){ worker->others[index - 1].id,
                               worker->others[index - 1].lease.alloc };
}

bool sim_worker_is_on(const struct sim_worker *worker, uint32_t node)
{
    bool is_there = worker->meter.node == node;
    for (uint32_t i = 0; i < worker->other_count; i++)
        is_there = is_there || worker->others[i].meter.node == node;
    return is_there;
}

static bool is_edge(uint32_t from, uint32_t to)
{
    static const uint8_t edges[] = {
        [SIM_WORKER_GONE] = 1 << SIM_WORKER_SETUP | 1 << SIM_WORKER_IDLE,
        [SIM_WORKER_SETUP] = 1 << SIM_WORKER_IDLE | 1 << SIM_WORKER_GONE,
        [SIM_WORKER_IDLE] = 1 << SIM_WORKER_BUSY | 1 << SIM_WORKER_GONE,
        [SIM_WORKER_BUSY] = 1 << SIM_WORKER_IDLE | 1 << SIM_WORKER_BLOCKED | 1 << SIM_WORKER_GONE,
        [SIM_WORKER_BLOCKED] = 1 << SIM_WORKER_IDLE | 1 << SIM_WORKER_GONE
    };
    return (edges[from] >> to & 1) != 0;
}

static void show_state(struct sim_context *context, const struct sim_meter_worker *meter,
                       struct sim_lease *lease, uint32_t from, uint32_t to)
{
    sim_meter_worker_state(context->meter, sim_engine_now(context->engine), meter,
                           (enum sim_meter_state)from, (enum sim_meter_state)to);
    if (from == SIM_WORKER_BUSY || to == SIM_WORKER_BUSY)
        sim_cluster_run(context->cluster, lease, to == SIM_WORKER_BUSY);
}

void sim_worker_set_state(struct sim_worker *worker, struct sim_context *context,
                          enum sim_worker_state state)
{
    const int64_t now_ns = sim_engine_now(context->engine);
    const uint32_t from = worker->state;
    assert(is_edge(from, state));
    worker->state = (uint16_t)state;
    show_state(context, &worker->meter, &worker->lease, from, state);
    for (uint32_t i = 0; i < worker->other_count; i++)
        show_state(context, &worker->others[i].meter, &worker->others[i].lease, from, state);
    if (state == SIM_WORKER_IDLE)
        worker->idle_ns = now_ns;
    if (state == SIM_WORKER_IDLE && worker->ready_ns < 0)
        worker->ready_ns = now_ns;
    if (from != SIM_WORKER_BUSY && state != SIM_WORKER_BUSY)
        sim_context_digest(context, 0x100 + (uint64_t)state, worker->id, now_ns);
}

weir_status sim_worker_record(const struct sim_worker *worker, struct sim_context *context,
                              int64_t ended_ns, const char *reason)
{
    for (uint32_t i = 0; i <= worker->other_count; i++) {
        const struct sim_place place = sim_worker_member(worker, i);
        const struct sim_worker_row row = { .worker = place.id,
                                            .stage = worker->stage,
                                            .node = place.alloc.node,
                                            .alloc = &place.alloc,
                                            .created_ns = worker->created_ns,
                                            .ready_ns = worker->ready_ns,
                                            .ended_ns = ended_ns,
                                            .end_reason = reason,
                                            .tasks = i == 0 ? worker->tasks : 0,
                                            .busy_ns = worker->busy_ns };
        WEIR_TRY(sim_recorder_worker(context->recorder, &row, context->error));
    }
    return WEIR_OK;
}

weir_status sim_worker_release(struct sim_worker_pool *pool, struct sim_context *context,
                               struct sim_worker *worker, const char *reason)
{
    const int64_t now_ns = sim_engine_now(context->engine);
    assert(worker->task_count == 0 && worker->held.count == 0);
    if (worker->timer != SIM_NO_HANDLE)
        (void)sim_engine_cancel(context->engine, worker->timer);
    if (worker->crash != SIM_NO_HANDLE)
        (void)sim_engine_cancel(context->engine, worker->crash);
    if (worker->tasks == 0)
        sim_meter_setup_wasted(context->meter, (worker->ready_ns < 0 ? now_ns : worker->ready_ns) -
                                                   worker->created_ns);
    sim_worker_set_state(worker, context, SIM_WORKER_GONE);
    free_places(pool, context, worker);
    return sim_worker_record(worker, context, now_ns, reason);
}
