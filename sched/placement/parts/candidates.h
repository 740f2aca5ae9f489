/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where on one node a worker of a shape can go: every allocation that fits, in a fixed order.
 *
 *   CPU         one candidate.
 *   CODEC       every split of the NVDECs over GPUs (GPUs ascending, counts ascending), for each
 *               every split of the NVENCs; or one per GPU that has all of them (codec_same_gpu).
 *   FRACTIONAL  one per usable GPU, ascending.
 *   WHOLE, ENTIRE  all combinations of usable GPUs, lexicographic; on a node with islands or
 *               sockets those that are near together (near.h), the tightest island first.
 *   SLICE       per cut GPU, ascending: one per free instance that will do, small profiles first,
 *               each from the highest slot downward, for there it leaves most to larger ones. On
 *               demand only the smallest profile that has enough.
 *   SPMD_SMALL  one: the first that WHOLE would have. SPMD_MULTI (one node of the group) one: all
 * GPUs, of a node with exactly that many.
 *
 * Engines are the lowest free ones. (The reference takes the lowest ids of all for WHOLE, free or
 * not; that is mended.) Nodes that are not up, or cordoned, have no candidates.
 */
#ifndef SCHED_PLACEMENT_CANDIDATES_H
#define SCHED_PLACEMENT_CANDIDATES_H

#include "sched/internal/bits.h"
#include "weir/policy.h"

#include <stddef.h>
#include <string.h>

/* A place for a SLICE worker on one GPU. */
struct weir_slice_place {
    uint32_t profile;
    uint32_t start;
};

/* Fills the free places of a SLICE shape on one GPU, in the order above, or with the slots of each
 * profile upward; returns how many. */
uint32_t weir_slice_places(const struct weir_gpu *gpu, const struct weir_shape *shape,
                           bool low_slots, struct weir_slice_place places[WEIR_MIG_SLOTS]);

/* Whether a GPU that is cut, or a shape that wants an instance, find each other. */
bool weir_slice_usable(const struct weir_gpu *gpu, const struct weir_shape *shape);

/* Whether the compute, memory, type and engines of one GPU suffice for one device of the shape.
 * CODEC: for all its engines together. */
static inline bool weir_gpu_usable(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    if (gpu->units_free < shape->gpu_units || gpu->mem_free_bytes < shape->gpu_mem_bytes)
        return false;
    if (!weir_shape_takes_type(shape, gpu->type))
        return false;
    if (gpu->mig != NULL || shape->kind == WEIR_SHAPE_SLICE)
        return weir_slice_usable(gpu, shape);
    if (shape->kind == WEIR_SHAPE_ENTIRE)
        return gpu->nvdec_free == gpu->nvdec_all && gpu->nvenc_free == gpu->nvenc_all &&
               gpu->mem_free_bytes == gpu->mem_total_bytes;
    return (shape->nvdecs == 0 || weir_bit_count(gpu->nvdec_free) >= shape->nvdecs) &&
           (shape->nvencs == 0 || weir_bit_count(gpu->nvenc_free) >= shape->nvencs);
}

enum weir_candidate_mode {
    WEIR_CANDIDATES_ALL,
    WEIR_CANDIDATES_DISTINCT /* only the first of those that differ by GPUs in the same state */
};

/* For each GPU of a node: the nearest earlier GPU in the same state, or WEIR_NO_TWIN. */
enum { WEIR_NO_TWIN = 255 };
struct weir_twins {
    uint8_t previous[WEIR_MAX_NODE_GPUS];
};
void weir_twins_find(const struct weir_cluster *cluster, uint32_t node, struct weir_twins *twins);

/* Called for each candidate in order; the candidate is valid during the call. False stops. */
typedef bool (*weir_candidate_visit)(void *state, const struct weir_alloc *candidate);

struct weir_candidate_query {
    const struct weir_cluster *cluster;
    const struct weir_shape *shape;
    const struct weir_twins *twins; /* NULL = all candidates */
    uint32_t node;
    bool low_slots;                       /* SLICE: from the lowest slot upward instead */
    const struct weir_place_query *asked; /* for whom; NULL = somebody on his own */
};

/* Combinations explode on nodes with many GPUs in different states: only so many are visited. */
enum { WEIR_CANDIDATES_MOST = 65536 };

/* Visits the candidates of one node; returns how many were visited. */
uint32_t weir_candidates_visit(const struct weir_candidate_query *query, weir_candidate_visit visit,
                               void *state);

/* Why the node has no candidate (enum weir_reason), or WEIR_REASON_NONE when it has one. O(GPUs).
 * With several lacks the first of: labels, node, CPU, memory, GPU present, type, MIG instance,
 * compute, GPU memory, NVDEC, NVENC; each test looks only at GPUs that passed the ones before. */
uint32_t weir_candidates_reason(const struct weir_cluster *cluster, const struct weir_shape *shape,
                                uint32_t node);

/* What labels have against it: WEIR_REASON_LABEL, KEPT or NONE. */
uint32_t weir_label_reason(const struct weir_cluster *cluster, uint32_t node,
                           const struct weir_shape *shape);

/* A place with the devices it has; those behind them stay as they are. */
static inline void weir_place_copy(struct weir_alloc *to, const struct weir_alloc *from)
{
    memcpy(to, from, offsetof(struct weir_alloc, devices));
    memcpy(to->devices, from->devices, from->device_count * sizeof from->devices[0]);
}

#endif
