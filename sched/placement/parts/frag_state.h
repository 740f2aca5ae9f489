/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragmentation inside libweir: F of weir/frag.h over an inventory and against a mix, its change by
 * an allocation, and the same values from sums kept per node.
 *
 * Metric XENNA looks at everything, PAPER (FGD, ATC 2023) at types beside compute and CPUs.
 *
 * Units are integers, so changes of F on equal nodes are equal doubles whatever the order of GPUs:
 * a change is sum of frequency * (units after - units before), never a difference of two sums.
 */
#ifndef SCHED_PLACEMENT_FRAG_STATE_H
#define SCHED_PLACEMENT_FRAG_STATE_H

#include "sched/placement/parts/candidates.h"
#include "weir/frag.h"
#include "weir/policy.h"

enum weir_frag_metric { WEIR_FRAG_XENNA, WEIR_FRAG_PAPER };

/* ---- plain: everything recomputed, nothing kept ---- */

/* F(node, shape) in units. */
int64_t weir_frag_units(const struct weir_cluster *cluster, uint32_t node,
                        const struct weir_shape *shape, uint32_t metric);
/* F(node) and F(cluster) in GPUs. */
double weir_frag_node(const struct weir_cluster *cluster, uint32_t node, const struct weir_mix *mix,
                      uint32_t metric);
double weir_frag_cluster(const struct weir_cluster *cluster, const struct weir_mix *mix,
                         uint32_t metric);
/* Change of F, in GPUs, when its node gives out (direction 1) or takes back (-1) `alloc`. */
double weir_frag_change(const struct weir_cluster *cluster, const struct weir_mix *mix,
                        uint32_t metric, const struct weir_alloc *alloc, int64_t direction);

/* F(node), in GPUs, once `alloc` is given out (direction 1) or taken back (-1), NULL = as it is;
 * summed in single precision in the order of the mix, as the later reference does. */
float weir_frag_single(const struct weir_cluster *cluster, const struct weir_mix *mix,
                       uint32_t node, const struct weir_alloc *alloc, int64_t direction);

/* F(node of `alloc`), in GPUs, once `alloc` is given out (1) or taken back (-1), when so much is
 * free on its GPUs after that: summed as the first reference does, remains of rounding included. */
double weir_frag_reference(const struct weir_cluster *cluster, const struct weir_mix *mix,
                           const struct weir_alloc *alloc, int64_t direction, const double *free);

/* CPUs + GPU compute + engines, one engine counting as one whole unit, in units: what ties are
 * decided by. Free on a node, in all on a node, and held by an allocation. */
int64_t weir_stock_free(const struct weir_cluster *cluster, uint32_t node);
int64_t weir_stock_total(const struct weir_cluster *cluster, uint32_t node);
int64_t weir_stock_alloc(const struct weir_alloc *alloc);

/* ---- prepared: the same values with sums kept per node ---- */

/* A mix with equal shapes merged. */
struct weir_frag {
    uint32_t metric;
    uint32_t count;         /* entries of the mix */
    uint32_t distinct;      /* different shapes that take GPU compute, as the metric sees them */
    uint32_t capacity;      /* entries the arrays have room for */
    double *frequencies;    /* of the mix */
    struct weir_shape *raw; /* shapes of the mix */
    uint32_t *which;        /* per entry: index into `shapes`, or WEIR_NO_INDEX */
    struct weir_shape *shapes;
    int64_t *units, *changes; /* scratch, per distinct shape */
};

/* What is kept of one node; valid while `version` is the node's. */
struct weir_frag_book {
    uint64_t version;
    int64_t gpu_free;
    int64_t stock_free;
    int64_t stock_total;
    struct weir_twins twins;
};

/* Per node and distinct shape. */
struct weir_frag_count {
    int64_t unusable_units; /* free on GPUs that cannot host a device */
    int64_t usable;         /* GPUs that can */
};

/* Takes a mix over; `changed` says whether it differs from the one before. */
weir_status weir_frag_prepare(struct weir_frag *frag, const struct weir_allocator *allocator,
                              const struct weir_mix *mix, bool *changed);
void weir_frag_free(struct weir_frag *frag, const struct weir_allocator *allocator);

/* Fills a book and `frag->distinct` counts. */
void weir_frag_survey(const struct weir_frag *frag, const struct weir_cluster *cluster,
                      uint32_t node, struct weir_frag_book *book, struct weir_frag_count *counts);

/* A node with its book. */
struct weir_frag_site {
    const struct weir_frag *frag;
    const struct weir_cluster *cluster;
    const struct weir_frag_book *book;
    const struct weir_frag_count *counts;
};

/* Same value as weir_frag_change, O(devices * distinct + entries). */
double weir_frag_site_change(const struct weir_frag_site *site, const struct weir_alloc *alloc,
                             int64_t direction);

/* Same values as two of weir_frag_single, as it is and once the change has happened; same cost. */
struct weir_frag_singles {
    float before, after;
};
struct weir_frag_singles weir_frag_site_singles(const struct weir_frag_site *site,
                                                const struct weir_alloc *alloc, int64_t direction);

#endif
