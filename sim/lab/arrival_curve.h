/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Curves over arrived demand: what is allocated and what is fragmented when the jobs that arrived
 * so far, placed or not, ask for x % of the cluster's GPUs.
 *
 * After every arrival one point is added; points of the same whole percent (half to even) are
 * averaged. Roundings are those of the FGD evaluation (Weng et al., ATC 2023), so that its
 * published tables are met digit by digit: allocation in % to 2 decimals before averaging, F in
 * thousandths of a GPU and its share of the idle GPUs to 2 decimals before averaging; sums are
 * pairwise, as numpy forms them. The values of every arrival are kept for that. Measures the paper
 * has no table of (buckets, power) are plain means.
 */
#ifndef SIM_LAB_ARRIVAL_CURVE_H
#define SIM_LAB_ARRIVAL_CURVE_H

#include "sim/lab/measures.h"

#include <stddef.h>
#include <stdint.h>

/* The state after one arrival. */
struct sim_arrival_state {
    double arrived_milli; /* GPU demand so far */
    double used_milli;    /* GPU allocated */
    double frag_milli;
    uint64_t failed;
    const struct sim_measures *measures; /* NULL = no parts */
};

enum { SIM_ARRIVAL_ALLOC, SIM_ARRIVAL_FRAG, SIM_ARRIVAL_RATIO, SIM_ARRIVAL_VALUES };

/* The arrivals of one percent: a run of neighbours. */
struct sim_arrival_point {
    size_t first, events;
    uint64_t failed;         /* so far, at the last of them */
    double parts[SIM_PARTS]; /* sums over them */
};

struct sim_arrival_curve {
    double gpus; /* of the cluster */
    struct sim_arrival_point *points;
    size_t count, capacity;             /* count = largest percent + 1 */
    double *values[SIM_ARRIVAL_VALUES]; /* per arrival */
    size_t arrivals, room;
};

/* Demand only grows, so arrivals come with growing percents. */
weir_status sim_arrival_curve_add(struct sim_arrival_curve *curve,
                                  const struct sim_arrival_state *state);
void sim_arrival_curve_clear(struct sim_arrival_curve *curve);

/* Averages at x %; a percent without events takes those of its two neighbours, and NAN when there
 * are none either. */
struct sim_arrival_values {
    uint64_t events, failed;
    double alloc_pct;     /* of the GPUs, 2 decimals */
    double frag_pct;      /* of the GPUs, 2 decimals */
    double frag_idle_pct; /* of the idle GPUs */
    double parts[SIM_PARTS];
};
struct sim_arrival_values sim_arrival_curve_at(const struct sim_arrival_curve *curve, size_t x);

#endif
