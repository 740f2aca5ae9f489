/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random problems of scaling: a pipeline of 4 to 14 stages whose speeds are known, on a cluster of
 * 1 to 50 nodes, and what a policy makes of it in libweir alone. Every third cluster has nodes of
 * two shapes. Every problem has room for one worker of each stage.
 */
#ifndef TESTS_SUPPORT_SCALING_PROBLEMS_H
#define TESTS_SUPPORT_SCALING_PROBLEMS_H

#include "weir/host.h"

enum { SCALING_STAGES = 14, SCALING_NODE_TYPES = 2 };

struct scaling_node_type {
    uint32_t count, gpus, nvdecs;
    int64_t cpus;
};

struct scaling_problem {
    uint64_t seed;
    uint32_t stages, types;
    struct scaling_node_type nodes[SCALING_NODE_TYPES];
    struct weir_shape shapes[SCALING_STAGES];
    double speeds_per_s[SCALING_STAGES];
};

/* The same for the same seed. */
struct scaling_problem scaling_problem_draw(uint64_t seed);

/* A host with the problem's nodes and stages; the caller destroys it. NULL = failure. */
struct weir_host *scaling_host(const struct scaling_problem *problem, const char *scaling,
                               const char *placement);
/* Speeds times a factor of each stage between 1 / most and most, drawn; 1 = as they are. */
void scaling_set_speeds(struct weir_host *host, const struct scaling_problem *problem, double most);

struct scaling_pass {
    uint32_t started, stopped;
    uint32_t replaced; /* stopped, and one of the same stage started at the same place */
    double cpu_s;
};
/* One decision, carried out. False when it fails. */
bool scaling_decide(struct weir_host *host, struct scaling_pass *pass);

/* Of the slowest stage, in items a second. */
double scaling_throughput(const struct weir_host *host, const struct scaling_problem *problem);
/* No plan gives more: the largest rate whose counts pass the configuration LP (scaling_bound.c). */
double scaling_bound(const struct scaling_problem *problem);
/* The same if all nodes were one. */
double scaling_pool_bound(const struct scaling_problem *problem);

#endif
