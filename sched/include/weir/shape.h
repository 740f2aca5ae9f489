/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and shapes.
 *
 * A request is what a user writes for one worker ("1 CPU, 0.25 GPU, 1 NVDEC"). A shape is what the
 * core plans with: the request classified into one of eight kinds, in units. The conversion follows
 * the xenna scheduler (codec version), with its slips mended: `entire_gpu` really needs whole GPUs
 * above 0, and near-whole counts round to the nearest instead of truncating.
 *
 *   CPU         CPUs only; never touches a GPU.
 *   CODEC       codec engines (and CPUs), no GPU compute.
 *   FRACTIONAL  0 < gpus < 1: a share of one GPU; codecs come from the same GPU.
 *   WHOLE       n GPUs whose compute is entirely free; codecs are *per GPU*, those of the rest stay
 *               available to others.
 *   ENTIRE      n GPUs with nothing on them at all; takes all their codec engines.
 *   SPMD_SMALL  one process a GPU on part of one node: the first free GPUs.
 *   SPMD_MULTI  one process a GPU on all GPUs of several nodes. One worker is a group of node_count
 *               allocations, each with an id of its own; the amounts below are those of one node.
 *   SLICE       one instance of a GPU that is cut (weir/mig.h): of a profile by name, or of the
 *               smallest that has enough slices, memory and NVDECs. It holds all of the instance.
 */
#ifndef WEIR_SHAPE_H
#define WEIR_SHAPE_H

#include "weir/mig.h"
#include "weir/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

WEIR_BEGIN_DECLS

#define WEIR_SHAPE_KINDS(X)                                                                        \
    X(WEIR_SHAPE_CPU, "cpu_only")                                                                  \
    X(WEIR_SHAPE_CODEC, "codec")                                                                   \
    X(WEIR_SHAPE_FRACTIONAL, "fractional_gpu")                                                     \
    X(WEIR_SHAPE_WHOLE, "whole_gpu")                                                               \
    X(WEIR_SHAPE_ENTIRE, "entire_gpu")                                                             \
    X(WEIR_SHAPE_SPMD_SMALL, "spmd_small")                                                         \
    X(WEIR_SHAPE_SPMD_MULTI, "spmd_multi")                                                         \
    X(WEIR_SHAPE_SLICE, "mig_slice")

#define WEIR_SHAPE_ENUM(name, text) name,
enum weir_shape_kind { WEIR_SHAPE_KINDS(WEIR_SHAPE_ENUM) WEIR_SHAPE_KIND_COUNT };
#undef WEIR_SHAPE_ENUM

/* As a user writes it, for one worker. Frozen. */
struct weir_request {
    double cpus;
    double gpus;
    int64_t nvdecs; /* of the worker; per GPU when gpus >= 1 */
    int64_t nvencs;
    int64_t ram_bytes;
    int64_t gpu_mem_bytes; /* per GPU the worker uses */
    bool entire_gpu;
    bool codec_same_gpu; /* CODEC: all engines on one GPU; false = may spread over GPUs */
    bool cpus_per_gpu;   /* gpus >= 1: `cpus` is for each GPU, not for the worker */
    bool spmd;           /* one process a GPU; `cpus` is for each process */
    uint32_t node_gpus;  /* spmd: GPUs of a usual node, see weir_cluster_usual_gpus */
    /* A part of a cut GPU; then gpus is 0. */
    uint32_t mig_slices;             /* compute slices it needs, 0 = no MIG instance */
    uint32_t mig_slices_all;         /* that such a GPU has; for sums alone */
    char mig_profile[WEIR_MIG_NAME]; /* by name, "" = the smallest that has enough */
};

/* As the core plans it. Frozen: it stands in arrays and inside other structs. Invariant
 * (weir_shape_check): amounts >= 0; FRACTIONAL 0 < gpu_units < WEIR_ONE and gpu_count 1; WHOLE and
 * ENTIRE gpu_units == WEIR_ONE and gpu_count >= 1; CPU and CODEC gpu_units 0 and gpu_count 0; CODEC
 * has at least one engine; the SPMD kinds as WHOLE without engines, MULTI with node_count >= 1;
 * SLICE gpu_count 1, 0 < gpu_units <= WEIR_ONE and mig_slices
 * >= 1, without NVENCs. */
struct weir_shape {
    uint32_t kind;      /* enum weir_shape_kind */
    uint32_t gpu_count; /* GPUs of one worker */
    int64_t cpu_units;  /* of one worker */
    int64_t gpu_units;  /* on each of its GPUs */
    uint32_t nvdecs; /* of one worker for CODEC and FRACTIONAL, per GPU for WHOLE, 0 for ENTIRE */
    uint32_t nvencs;
    int64_t ram_bytes;
    int64_t gpu_mem_bytes; /* on each of its GPUs */
    uint32_t gpu_type;     /* a GPU type index + 1, 0 for any, or a set (WEIR_GPU_TYPE_SET) */
    uint32_t codec_same_gpu;
    uint32_t node_count; /* SPMD_MULTI: nodes of one worker; else 0 */
    uint32_t node_gpus;  /* SPMD: GPUs of a usual node; else 0 */
    uint32_t mig_slices; /* SLICE: compute slices it needs; else 0 */
    uint32_t labels;     /* of nodes: it goes where all of these are (weir_shape_takes_labels) */
    char mig_profile[WEIR_MIG_NAME]; /* SLICE: this profile alone, "" = any that has enough */
};

/* In `gpu_type`: a set of accepted types, bit i for type i, for the first 31 types. */
#define WEIR_GPU_TYPE_SET      UINT32_C(0x80000000)
#define WEIR_GPU_TYPE_SET_MOST 31

/* Whether a GPU of this type (an index) is accepted. */
static inline bool weir_shape_takes_type(const struct weir_shape *shape, uint32_t type)
{
    if ((shape->gpu_type & WEIR_GPU_TYPE_SET) != 0)
        return type < WEIR_GPU_TYPE_SET_MOST && ((shape->gpu_type >> type) & 1) != 0;
    return shape->gpu_type == 0 || shape->gpu_type == type + 1;
}

/* Labels of nodes, bits whose meaning is the caller's; all but the last. */
#define WEIR_LABELS_MOST 31
/* With a node's labels: it is kept for those who ask for one of its labels (a taint, in
 * Kubernetes). With a shape's: it may also go to nodes that are kept for others, where no other has
 * room. */
#define WEIR_LABEL_KEPT  UINT32_C(0x80000000)

/* Whether a node with these labels (weir_topology) may be used: it has all that are asked for, and
 * is not kept for others. */
static inline bool weir_shape_takes_labels(const struct weir_shape *shape, uint32_t labels)
{
    if ((shape->labels & ~labels & ~WEIR_LABEL_KEPT) != 0)
        return false;
    return (labels & WEIR_LABEL_KEPT) == 0 || shape->labels != 0;
}

/* Whether a worker is on one GPU and leaves the rest of it to others. */
static inline bool weir_shape_is_share(const struct weir_shape *shape)
{
    return shape->kind == WEIR_SHAPE_FRACTIONAL || shape->kind == WEIR_SHAPE_SLICE;
}

/* SLICE: whether an instance of this profile will do. */
static inline bool weir_shape_takes_profile(const struct weir_shape *shape,
                                            const struct weir_mig_profile *profile)
{
    if (shape->mig_profile[0] != '\0' &&
        memcmp(shape->mig_profile, profile->name, WEIR_MIG_NAME) != 0)
        return false;
    return profile->slices >= shape->mig_slices && profile->nvdecs >= shape->nvdecs &&
           profile->mem_bytes >= shape->gpu_mem_bytes;
}

/* SLICE: bits of the profiles that will do on a GPU of this table. Where instances are made on
 * demand (not `is_cut`) that is the smallest alone. */
WEIR_API uint32_t weir_shape_profiles(const struct weir_shape *shape, const struct weir_mig *table,
                                      bool is_cut);

/* SLICE: free compute of a GPU that is cut which no free place for the shape covers, in units. */
WEIR_API int64_t weir_shape_dead_units(const struct weir_shape *shape, const struct weir_mig *table,
                                       struct weir_mig_state state);

/* Allocations that make up one worker. */
static inline uint32_t weir_shape_members(const struct weir_shape *shape)
{
    return shape->node_count > 1 ? shape->node_count : 1;
}

/* Totals over any set of devices. ENTIRE counts its codecs by the cluster's engines per GPU. */
struct weir_amounts {
    int64_t cpu_units;
    int64_t gpu_units;
    int64_t nvdecs;
    int64_t nvencs;
    int64_t ram_bytes;
    int64_t gpu_mem_bytes;
};

/* The name used in files and messages ("whole_gpu"); "?" for an unknown kind. */
WEIR_API const char *weir_shape_kind_name(uint32_t kind);

/* Classifies a request, CPUs and GPUs rounded to `quantum`. Errors: WEIR_EINVAL with the rule that
 * was broken (negative amount, nothing requested, GPU count >= 1 that is not whole, entire_gpu with
 * codecs, an amount that rounds to zero). */
WEIR_API weir_status weir_shape_from_request(const struct weir_request *request,
                                             struct weir_quantum quantum, struct weir_shape *shape,
                                             struct weir_error *error);

/* The invariant above. */
WEIR_API weir_status weir_shape_check(const struct weir_shape *shape, struct weir_error *error);

/* What one worker of this shape takes from a pool whose GPUs have `nvdecs_per_gpu` and
 * `nvencs_per_gpu` engines (used by ENTIRE alone). */
WEIR_API struct weir_amounts weir_shape_amounts(const struct weir_shape *shape,
                                                int64_t nvdecs_per_gpu, int64_t nvencs_per_gpu);

/* Writes "1 CPU + 0.25 GPU + 1 NVDEC" into `text`; returns the length needed. A group shows what it
 * takes of all its nodes together. */
WEIR_API size_t weir_shape_print(const struct weir_shape *shape, char *text, size_t capacity);

WEIR_END_DECLS

#endif
