/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a job is with so many ranks, over what it is with one: what a policy that chooses the
 * number of ranks knows of a job beside its estimate. From 2.3 on.
 *
 *   AMDAHL    s                 1 / (s + (1 - s) / n)
 *   TABLE     P(1), P(2), ...   as measured; more ranks than numbers are as fast as the last
 *   STEP      a, b, c           a step takes a/n + b + c n (Optimus, EuroSys 2018)
 *   GOODPUT   see below         useful examples a second at the best batch (Pollux, OSDI 2021)
 *
 * The 13 numbers of GOODPUT: time to compute a gradient of a batch m, ac + bc m; time to exchange
 * it, over nodes an + bn max(n - 2, 0), on one ar + br max(n - 2, 0); how they overlap, gamma; of
 * the gradient its squared norm and its variance, at the batch for which the job was tuned; that
 * batch; the largest for all ranks; the smallest and largest of one rank.
 */
#ifndef WEIR_SPEEDUP_H
#define WEIR_SPEEDUP_H

#include "weir/status.h"

WEIR_BEGIN_DECLS

enum weir_speedup_law {
    WEIR_SPEEDUP_AMDAHL,
    WEIR_SPEEDUP_TABLE,
    WEIR_SPEEDUP_STEP,
    WEIR_SPEEDUP_GOODPUT
};

enum weir_goodput_number {
    WEIR_GOODPUT_COMPUTE,       /* ac, s */
    WEIR_GOODPUT_COMPUTE_BATCH, /* bc, s an example */
    WEIR_GOODPUT_NODES,         /* an, s */
    WEIR_GOODPUT_NODES_RANK,    /* bn, s a rank */
    WEIR_GOODPUT_NODE,          /* ar, s */
    WEIR_GOODPUT_NODE_RANK,     /* br, s a rank */
    WEIR_GOODPUT_OVERLAP,       /* gamma, from 1 = none */
    WEIR_GOODPUT_NORM,
    WEIR_GOODPUT_VARIANCE,
    WEIR_GOODPUT_BATCH,
    WEIR_GOODPUT_BATCH_MOST,
    WEIR_GOODPUT_RANK_LEAST,
    WEIR_GOODPUT_RANK_MOST,
    WEIR_GOODPUT_COUNT
};

struct weir_speedup {
    uint32_t size;        /* sizeof */
    uint32_t law;         /* enum weir_speedup_law */
    uint32_t least, most; /* ranks of its first group that a policy may choose from */
    uint32_t usual;       /* ranks that the estimate is of */
    uint32_t count;
    const double *numbers; /* must stay valid while the job is known */
};

/* WEIR_EINVAL with a sentence: limits that are none, numbers that lack, or of which no speed can be
 * worked out. */
WEIR_API weir_status weir_speedup_check(const struct weir_speedup *speedup,
                                        struct weir_error *error);
/* Over that of one rank. `nodes` that they are on counts for GOODPUT alone. 0 for no ranks. */
WEIR_API double weir_speedup_at(const struct weir_speedup *speedup, uint32_t ranks, uint32_t nodes);
/* Strong scaling: its speed over that of as many single ranks. */
WEIR_API double weir_speedup_efficiency(const struct weir_speedup *speedup, uint32_t ranks,
                                        uint32_t nodes);
/* Of GOODPUT: useful examples a second with so many ranks on so many nodes, and the batch of all
 * ranks at which; `batch` may be NULL. */
WEIR_API double weir_speedup_goodput(const struct weir_speedup *speedup, uint32_t ranks,
                                     uint32_t nodes, double *batch);

WEIR_END_DECLS

#endif
