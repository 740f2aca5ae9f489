/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether whole workers stand on a few nodes, each on one: an integer programme (GLPK).
 *
 * n_ib workers of kind i stand on node b, and y_bq of its GPUs are cut in pattern q, a largest set
 * of parts that one GPU holds; parts of a kind are at most those of the patterns, and whole GPUs
 * and patterns at most the GPUs of the node. Nodes that are alike stand in the order of what they
 * carry. The search is cut off after so many nodes of its tree: then nobody knows.
 */
#ifndef SIM_SCENARIO_NODE_PACK_H
#define SIM_SCENARIO_NODE_PACK_H

#include "sim/scenario/node_ways.h"

struct sim_pack_node {
    struct sim_way_node room;
    uint32_t type;         /* those of one type are alike */
    const bool *may_stand; /* by kind */
};

struct sim_pack_question {
    const struct sim_way_item *items; /* sizes of the kinds of workers */
    const double *workers;            /* of each kind, to be placed */
    size_t count;
    const struct sim_pack_node *nodes;
    size_t node_count;
};

enum sim_pack_answer { SIM_PACK_NEVER, SIM_PACK_FITS, SIM_PACK_UNSURE };

/* `work` is what is left of the search, in nodes of the tree, and becomes less. */
enum sim_pack_answer sim_node_pack(const struct sim_pack_question *question, int *work);

#endif
