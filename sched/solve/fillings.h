/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether so many workers of each kind can stand on nodes of some types at all: a configuration
 * linear programme (Gilmore and Gomory, Operations Research 9, 1961).
 *
 * For counts x it is max lambda: sum_p n_ip y_p >= lambda x_i, sum of y over a type <= its nodes,
 * n_ip = workers of kind i in way p to fill a node. Its dual is min sum_t N_t m_t over prices
 * v >= 0 with x v >= 1 and, for every way p of type t, sum_i n_ip v_i <= m_t. Ways are found as
 * they are needed: the most valuable one under the prices is a knapsack, solved exactly. lambda < 1
 * says that x does not fit; any prices show it as soon as sum_t N_t (best way of t) < 1.
 *
 * It is a bound: nodes may be filled by parts of ways, and where the programme is unsure the counts
 * pass. Cost: O(nodes' CPUs x GPUs x kinds) a way, whatever the number of nodes; ways found for
 * some counts serve the next ones.
 */
#ifndef SCHED_SOLVE_FILLINGS_H
#define SCHED_SOLVE_FILLINGS_H

#include "sched/solve/program.h"

#include <stdbool.h>

/* One kind of worker, in whole steps. At most one of `part` and `gpus` is not 0. */
struct weir_filling_item {
    uint32_t cpus; /* steps of CPUs */
    uint32_t part; /* steps of one GPU */
    uint32_t gpus; /* whole ones */
};

/* One type of node. */
struct weir_filling_node {
    uint32_t cpus; /* steps of CPUs */
    uint32_t gpus;
    double count;
};

struct weir_filling_question {
    const struct weir_filling_item *items;
    const struct weir_filling_node *nodes;
    const bool *may_stand; /* node_count x item_count: a worker of the kind on such a node */
    uint32_t item_count, node_count;
    uint32_t steps; /* of one GPU */
};

struct weir_filling_cell;

struct weir_fillings {
    struct weir_program program;
    struct weir_filling_question question;
    struct weir_filling_cell *plain, *parts, *whole; /* tables of the knapsack, see fillings.c */
    uint32_t *rises;
    double *ways; /* way_count x item_count: workers */
    uint32_t *way_nodes;
    uint32_t row, rise_count, way_count;
    uint32_t plain_capacity, parts_capacity, whole_capacity, rise_capacity, way_capacity,
        way_node_capacity;
};

void weir_fillings_open(struct weir_fillings *fillings, const struct weir_allocator *allocator);
void weir_fillings_close(struct weir_fillings *fillings);
/* Forgets the ways of the question before. What `question` points to is kept by the caller until
 * the last answer. WEIR_ENOMEM. */
weir_status weir_fillings_begin(struct weir_fillings *fillings,
                                const struct weir_filling_question *question);
/* Whether `counts` workers, by kind, pass. WEIR_ENOMEM. */
weir_status weir_fillings_pass(struct weir_fillings *fillings, const double *counts, bool *passes);

#endif
