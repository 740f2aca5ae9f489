/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a place leaves behind, as shares: the measure of best_fit and worst_fit.
 *
 * Device: mean over the GPUs whose compute is taken of free compute after / 1 GPU; 0 when none is.
 * Node: mean of free after / total over what the node has of CPUs and GPU compute.
 * Both are within [0, 1]. Neither looks at codecs or memory.
 */
#ifndef SCHED_PLACEMENT_LEFTOVER_H
#define SCHED_PLACEMENT_LEFTOVER_H

#include "sched/internal/params.h"

enum weir_leftover_measure { WEIR_LEFTOVER_SHARES, WEIR_LEFTOVER_AMOUNTS };
#define WEIR_LEFTOVER_MEASURE_PARAM                                                                \
    WEIR_CHOICE(                                                                                   \
        "measure", "shares|amounts", 1, WEIR_LEFTOVER_SHARES,                                      \
        "what is left: shares of GPU, then node; or amounts on a scale common to all nodes")

struct weir_score weir_leftover(const struct weir_cluster *cluster, const struct weir_alloc *alloc);

#endif
