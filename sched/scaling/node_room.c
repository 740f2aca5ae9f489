/* SPDX-License-Identifier: Apache-2.0 */
/* What the nodes have room for at all; see the header. */
#include "sched/scaling/node_room.h"

#include "sched/internal/alloc.h"

#include <math.h>

enum { MOST_TYPES = 8, MOST_CPUS = 256, MOST_GPUS = 64, MOST_STEPS = 64, MOST_PER_CPU = 8 };

static const double EXACT = 1e-3; /* relative */

/* What makes nodes alike. */
struct weir_node_kind {
    int64_t cpu_units;
    uint64_t gpu_types; /* a bit each */
    uint32_t gpus;
    uint32_t count;
};

void weir_node_room_open(struct weir_node_room *room, const struct weir_allocator *allocator)
{
    *room = (struct weir_node_room){ .is_said = false };
    weir_fillings_open(&room->fillings, allocator);
}

void weir_node_room_close(struct weir_node_room *room)
{
    const struct weir_allocator *const memory = &room->fillings.program.allocator;

    weir_free(memory, room->items);
    weir_free(memory, room->nodes);
    weir_free(memory, room->kinds);
    weir_free(memory, room->may_stand);
    weir_free(memory, room->counts);
    weir_fillings_close(&room->fillings);
}

/* ---- nodes ---- */

static struct weir_node_kind kind_of(const struct weir_cluster *cluster, uint32_t index)
{
    const struct weir_node *const node = weir_cluster_node(cluster, index);
    struct weir_node_kind kind = { .cpu_units = node->cpu_total, .gpus = node->gpu_count };

    for (uint32_t g = 0; g < node->gpu_count; g++)
        kind.gpu_types |= UINT64_C(1) << (weir_cluster_gpu(cluster, index, g)->type & 63);
    return kind;
}

static bool is_kind(const struct weir_node_kind *a, const struct weir_node_kind *b)
{
    return a->cpu_units == b->cpu_units && a->gpu_types == b->gpu_types && a->gpus == b->gpus;
}

/* Workers stand, or may come to stand, on it. */
static bool counts(const struct weir_cluster *cluster, uint32_t node)
{
    uint64_t id;

    return weir_cluster_node(cluster, node)->flags == WEIR_NODE_UP ||
           weir_cluster_node_worker_id(cluster, node, &id);
}

/* Types of the nodes that count. *count = MOST_TYPES + 1 when there are more. */
static void list_kinds(struct weir_node_room *room, const struct weir_cluster *cluster,
                       uint32_t *count)
{
    uint32_t last = 0; /* neighbours are often alike */

    *count = 0;
    for (uint32_t n = 0; n < weir_cluster_node_count(cluster); n++) {
        if (!counts(cluster, n))
            continue;
        const struct weir_node_kind kind = kind_of(cluster, n);
        if (!(last < *count && is_kind(&room->kinds[last], &kind)))
            for (last = 0; last < *count && !is_kind(&room->kinds[last], &kind);)
                last++;
        if (last == *count) {
            if (++*count > MOST_TYPES)
                return;
            room->kinds[last] = kind;
        }
        room->kinds[last].count++;
    }
}

static bool may_stand(const struct weir_shape *shape, const struct weir_node_kind *kind)
{
    if (shape->kind == WEIR_SHAPE_CPU)
        return true;
    for (uint32_t type = 0; type < 64; type++)
        if (((kind->gpu_types >> type) & 1) != 0 &&
            (weir_shape_takes_type(shape, type) || type >= WEIR_GPU_TYPE_SET_MOST))
            return true;
    return false;
}

/* ---- sizes in whole steps ---- */

static const struct weir_shape *shape_of(const struct weir_run *run, uint32_t pool)
{
    return &weir_view_pool(run->view, pool)->shape;
}

static bool is_part(const struct weir_shape *shape)
{
    return shape->gpu_count > 0 && shape->gpu_units > 0 && shape->gpu_units < WEIR_ONE;
}

/* Steps of a GPU in which every part is a whole number of them, or many. */
static uint32_t steps_of_gpus(const struct weir_run *run)
{
    for (uint32_t steps = 1; steps < MOST_STEPS; steps++) {
        bool fits = true;
        for (uint32_t i = 0; i < run->count && fits; i++)
            fits =
                !is_part(shape_of(run, i)) || shape_of(run, i)->gpu_units * steps % WEIR_ONE == 0;
        if (fits)
            return steps;
    }
    return MOST_STEPS;
}

/* Units of one step of CPUs. */
static int64_t units_of_cpus(const struct weir_node_room *room, uint32_t kinds,
                             const struct weir_run *run)
{
    int64_t largest = WEIR_ONE;

    for (uint32_t t = 0; t < kinds; t++)
        largest = room->kinds[t].cpu_units > largest ? room->kinds[t].cpu_units : largest;
    const int64_t least = (largest + MOST_CPUS - 1) / MOST_CPUS;
    for (int64_t per_cpu = 1; per_cpu <= MOST_PER_CPU && WEIR_ONE / per_cpu >= least; per_cpu++) {
        const int64_t units = WEIR_ONE / per_cpu;
        bool fits = WEIR_ONE % per_cpu == 0;
        for (uint32_t i = 0; i < run->count && fits; i++)
            fits = shape_of(run, i)->cpu_units % units == 0;
        if (fits)
            return units;
    }
    return least;
}

/* ---- the question ---- */

static bool can_be_said(const struct weir_node_room *room, uint32_t kinds,
                        const struct weir_run *run)
{
    if (kinds == 0 || kinds > MOST_TYPES)
        return false;
    for (uint32_t t = 0; t < kinds; t++)
        if (room->kinds[t].gpus > MOST_GPUS)
            return false;
    for (uint32_t i = 0; i < run->count; i++)
        if (shape_of(run, i)->kind == WEIR_SHAPE_SPMD_MULTI ||
            shape_of(run, i)->kind == WEIR_SHAPE_SLICE)
            return false;
    return true;
}

weir_status weir_node_room_begin(struct weir_node_room *room, const struct weir_run *run)
{
    const struct weir_allocator *const memory = &room->fillings.program.allocator;
    uint32_t kinds;

    WEIR_ROOM(memory, room->kinds, room->kind_capacity, MOST_TYPES);
    WEIR_ROOM(memory, room->nodes, room->node_capacity, MOST_TYPES);
    WEIR_ROOM(memory, room->items, room->item_capacity, run->count);
    WEIR_ROOM(memory, room->counts, room->count_capacity, run->count);
    WEIR_ROOM(memory, room->may_stand, room->may_capacity, MOST_TYPES * run->count);
    list_kinds(room, run->view->cluster, &kinds);
    room->is_said = can_be_said(room, kinds, run);
    if (!room->is_said)
        return WEIR_OK;
    const uint32_t steps = steps_of_gpus(run);
    const int64_t units = units_of_cpus(room, kinds, run);
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_shape *const shape = shape_of(run, i);
        room->items[i] = (struct weir_filling_item){
            .cpus = (uint32_t)(shape->cpu_units / units),
            .part = is_part(shape) ? (uint32_t)(shape->gpu_units * steps / WEIR_ONE) : 0,
            .gpus = !is_part(shape) && shape->gpu_units > 0 ? shape->gpu_count : 0,
        };
        for (uint32_t t = 0; t < kinds; t++)
            room->may_stand[t * run->count + i] = may_stand(shape, &room->kinds[t]);
    }
    for (uint32_t t = 0; t < kinds; t++)
        room->nodes[t] = (struct weir_filling_node){
            .cpus = (uint32_t)((room->kinds[t].cpu_units + units - 1) / units),
            .gpus = room->kinds[t].gpus,
            .count = room->kinds[t].count,
        };
    const struct weir_filling_question question = { .items = room->items,
                                                    .nodes = room->nodes,
                                                    .may_stand = room->may_stand,
                                                    .item_count = run->count,
                                                    .node_count = kinds,
                                                    .steps = steps };
    return weir_fillings_begin(&room->fillings, &question);
}

static weir_status passes(struct weir_node_room *room, const struct weir_run *run, double z_per_s,
                          bool *does)
{
    for (uint32_t i = 0; i < run->count; i++)
        room->counts[i] = weir_run_is_free(&run->pools[i])
                              ? fmax(1, ceil(z_per_s / run->pools[i].rate_per_s - 1e-9))
                              : run->pools[i].workers;
    return weir_fillings_pass(&room->fillings, room->counts, does);
}

weir_status weir_node_room_most(struct weir_node_room *room, const struct weir_run *run,
                                double low_per_s, double high_per_s, double *most_per_s)
{
    double z_per_s = low_per_s * (1 + EXACT);

    *most_per_s = high_per_s;
    if (!room->is_said)
        return WEIR_OK;
    while (*most_per_s > low_per_s * (1 + EXACT)) {
        bool does = true;
        WEIR_TRY(passes(room, run, z_per_s, &does));
        *(does ? &low_per_s : most_per_s) = z_per_s;
        z_per_s = (low_per_s + *most_per_s) / 2;
    }
    return WEIR_OK;
}
