/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragmentation: how much free GPU compute of a node the next worker of a shape cannot use.
 *
 * F(node, shape) in units: all that is free when the shape takes no GPU compute (CPU, CODEC) or
 * does not fit the node; else what is free on GPUs that cannot host one of its devices (Weng et
 * al., ATC 2023). On a GPU that is cut (MIG) a free place for an instance decides, and what is free
 * is still lost in part: the compute slices that no such place covers. F against a mix is the sum
 * of frequency * F(node, shape), F of a cluster the sum over its nodes.
 *
 * There is one F. What differs between those who publish values of it is what they look at beside
 * compute, the number of GPUs and CPUs: the bits below. An instance is always looked at whole,
 * since memory and engines come with it.
 *
 * The answer is in integers, so that sums of it do not depend on the order of the GPUs. The state
 * may be an inventory's or the truth's: node and GPUs are plain data.
 */
#ifndef WEIR_FRAG_H
#define WEIR_FRAG_H

#include "weir/cluster.h"

WEIR_BEGIN_DECLS

enum weir_frag_look {
    WEIR_FRAG_TYPES = 1,   /* GPU types the shape accepts */
    WEIR_FRAG_GPU_MEM = 2, /* memory of each GPU */
    WEIR_FRAG_ENGINES = 4, /* decoders and encoders */
    WEIR_FRAG_RAM = 8,     /* memory of the node */
    WEIR_FRAG_DEVICES = WEIR_FRAG_TYPES | WEIR_FRAG_GPU_MEM | WEIR_FRAG_ENGINES,
    WEIR_FRAG_EVERYTHING = WEIR_FRAG_DEVICES | WEIR_FRAG_RAM
};

/* Why a shape does not fit a node, as far as one looks. */
enum weir_frag_obstacle {
    WEIR_FRAG_NO_DEMAND = 1,  /* it takes no GPU compute */
    WEIR_FRAG_NO_TYPE = 2,    /* no GPU of a type it accepts */
    WEIR_FRAG_NO_GPUS = 4,    /* too few GPUs that can host one of its devices */
    WEIR_FRAG_NO_ENGINES = 8, /* with NO_GPUS: enough of them if engines did not count */
    WEIR_FRAG_NO_CPUS = 16,
    WEIR_FRAG_NO_RAM = 32
};

/* What one shape finds on one node. */
struct weir_frag_find {
    int64_t free_units;         /* on all GPUs */
    int64_t lost_units;         /* F(node, shape) */
    int64_t engines_lost_units; /* of lost, when it fits: on GPUs only their engines rule out */
    uint64_t usable;            /* bit g: GPU g can host one of its devices */
    uint32_t obstacles;         /* bits; 0 = it fits */
    uint32_t reserved;
};

/* Reads cpu_free, ram_free_bytes and gpu_count of the node, and that many GPUs from `gpus` on;
 * `looks` are bits of enum weir_frag_look. O(GPUs). */
WEIR_API struct weir_frag_find weir_frag_find(const struct weir_node *node,
                                              const struct weir_gpu *gpus,
                                              const struct weir_shape *shape, uint32_t looks);

WEIR_END_DECLS

#endif
