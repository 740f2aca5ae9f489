/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random problems of scaling: a pipeline of 4 to 14 stages whose speeds are known, on a cluster of
 * 1 to 50 nodes, and what a policy makes of it in libweir alone. Every third cluster has nodes of
 * two shapes. Every problem has room for one worker of each stage.
 *
 * scaling_families.c draws harder ones, each family in its own way.
 */
#ifndef TESTS_SUPPORT_SCALING_PROBLEMS_H
#define TESTS_SUPPORT_SCALING_PROBLEMS_H

#include "weir/host.h"

enum { SCALING_STAGES = 40, SCALING_NODE_TYPES = 4 };

struct scaling_node_type {
    uint32_t count, gpus, nvdecs, nvencs, gpu_type;
    int64_t cpus, ram_bytes;
    int64_t gpu_mem_bytes; /* of each GPU */
};

struct scaling_problem {
    uint64_t seed;
    uint32_t stages, types;
    struct scaling_node_type nodes[SCALING_NODE_TYPES];
    struct weir_shape shapes[SCALING_STAGES];
    double speeds_per_s[SCALING_STAGES];
    int32_t fixed[SCALING_STAGES]; /* workers, negative = the policy's choice */
};

/* The same for the same seed. */
struct scaling_problem scaling_problem_draw(uint64_t seed);

/* Of groups over several nodes, fixed counts, codecs, memory, types of GPUs; of many stages, of
 * large clusters and of tiny ones with awkward sizes. No room for one worker of each stage and the
 * fixed counts is shown to be wanting, which is less than that there is room. */
enum scaling_family {
    SCALING_MANY,
    SCALING_CODECS,
    SCALING_GROUPS,
    SCALING_FIXED,
    SCALING_MEMORY,
    SCALING_TYPED,
    SCALING_LARGE,
    SCALING_TINY,
    SCALING_FAMILIES
};
const char *scaling_family_name(enum scaling_family family);
struct scaling_problem scaling_family_draw(enum scaling_family family, uint64_t seed);

/* The generator's numbers. */
uint32_t scaling_draw(uint64_t *state, uint32_t below);
double scaling_unit(uint64_t *state); /* in [0, 1) */

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

/* Of a stage; a group counts as one. */
uint32_t scaling_workers(const struct weir_host *host, const struct scaling_problem *problem,
                         uint32_t stage);
/* Whether a stage has no worker, or less than its fixed count. */
bool scaling_is_short(const struct weir_host *host, const struct scaling_problem *problem);
/* Of the slowest stage whose count is free, in items a second. */
double scaling_throughput(const struct weir_host *host, const struct scaling_problem *problem);
/* No plan gives more: the largest rate whose counts pass the configuration LP (scaling_bound.c). 0
 * when one worker of each stage and the fixed counts do not pass. */
double scaling_bound(const struct scaling_problem *problem);
/* The same if all nodes were one. */
double scaling_pool_bound(const struct scaling_problem *problem);
/* Workers of a stage at a rate. */
double scaling_wanted(const struct scaling_problem *problem, uint32_t stage, double z_per_s);

#endif
