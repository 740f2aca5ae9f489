/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement groups: a list of bundles placed together, all or none, as Ray has them.
 *
 * A bundle is a shape and fits one node. Bundles are placed in the order of GPUs, then memory, then
 * CPUs, larger ones first, equal ones as listed. A scorer says which node is best for a bundle:
 *
 *   Ray's own  the largest sum over requested CPUs, GPUs and memory of (free - request) / free: the
 *              emptiest node (worst fit); of equals the first.
 *   a policy   any placement policy by its chooser.
 *
 *   PACK           the best node for the first bundle, then every other bundle that fits there;
 *                  then the best of the other nodes for the first bundle that is left, and so on.
 *   SPREAD         the best node not used yet for each bundle; when none of these fits, the best of
 *                  those used.
 *   STRICT_PACK    all on one node. Ray's scorer judges nodes by the sum of the bundles. Where the
 *                  bundles, one after the other, do not fit a node that has their sum, every way to
 *                  put them on its devices is tried: a group of a few bundles that fits is placed.
 *   STRICT_SPREAD  as SPREAD, never two on one node.
 *
 * Shares of GPUs are counted by the device, never by the sum of a node. On a given node a share
 * goes to the GPU with least free, whole GPUs are the lowest. The result is one of
 *
 *   WEIR_OK           placed;
 *   WEIR_EBUSY        failed: does not fit now, to be tried again;
 *   WEIR_EINFEASIBLE  cannot fit this cluster even if all its nodes were up and empty: a bundle
 * that no node can hold, STRICT_PACK whose sum no node has, STRICT_SPREAD with more bundles than
 * nodes that are up and free of the group.
 *
 * Ray looks for the infeasible only under the strict strategies, so that a PACK or SPREAD group
 * with a bundle too large for any node waits for ever; WEIR_GROUP_REPORT_STRICT repeats that.
 */
#ifndef WEIR_GROUP_H
#define WEIR_GROUP_H

#include "weir/policy.h"

WEIR_BEGIN_DECLS

#define WEIR_GROUP_STRATEGIES(X)                                                                   \
    X(WEIR_GROUP_PACK, "pack")                                                                     \
    X(WEIR_GROUP_SPREAD, "spread")                                                                 \
    X(WEIR_GROUP_STRICT_PACK, "strict_pack")                                                       \
    X(WEIR_GROUP_STRICT_SPREAD, "strict_spread")

#define WEIR_GROUP_ENUM(name, text) name,
enum weir_group_strategy { WEIR_GROUP_STRATEGIES(WEIR_GROUP_ENUM) WEIR_GROUP_STRATEGY_COUNT };
#undef WEIR_GROUP_ENUM
/* "?" for an unknown one. */
WEIR_API const char *weir_group_strategy_name(uint32_t strategy);

/* Whose the GPUs of a group are. Bundle: each has its own from the start, as Ray's documentation
 * has it. Group: as Ray's raylet does it, the group has amounts of them, and its members, one after
 * the other as listed, take the least amount on their node that is enough. When one finds none the
 * group waits, and keeps all its bundles from whoever is asked after it (WEIR_REASON_GROUP). */
enum weir_group_devices { WEIR_GROUP_DEVICES_BUNDLE, WEIR_GROUP_DEVICES_GROUP };

enum weir_group_report { WEIR_GROUP_REPORT_ALL, WEIR_GROUP_REPORT_STRICT };

struct weir_group_query {
    uint32_t size;                /* sizeof */
    uint32_t strategy;            /* enum weir_group_strategy */
    struct weir_cluster *scratch; /* changed during the call, exactly as it was after it */
    const struct weir_mix *mix;   /* for a policy */
    const struct weir_shape *bundles;
    uint32_t bundle_count;
    uint32_t report;         /* enum weir_group_report: when infeasible groups are told apart */
    struct weir_owner owner; /* whose bundles they are */
    uint64_t seed;
    /* Nodes that hold other bundles of the same group, when lost ones are placed again:
     * STRICT_SPREAD leaves them out. */
    const uint32_t *used_nodes;
    uint32_t used_count;
    uint32_t reserved;
    const struct weir_jobs *jobs; /* libweir's own: whose workers a policy sees. From 2.3 on */
};

struct weir_group_answer {
    uint32_t placed; /* bundles that found a place; all on WEIR_OK */
    uint32_t bundle; /* the first that did not (index), WEIR_NO_INDEX = none or all together */
    uint32_t reason; /* enum weir_reason: what most nodes lack for it */
    uint32_t reserved;
};

/* Places a group. `allocs` has room for every bundle, in their listed order, and is worth something
 * only on WEIR_OK; the caller applies it. `scorer` NULL = Ray's own. Meanwhile worker ids from
 * UINT64_MAX downwards are in use in `scratch`, a mark of it is set, and nodes may be cordoned.
 * WEIR_EINVAL for an unknown strategy and bundles of several nodes (SPMD_MULTI).
 * Cost: O(bundles * (bundles + nodes * GPUs)), with a policy that of `bundles` questions; of
 * STRICT_PACK at most 4096 tries for each node that has the sum and no room in this order. */
WEIR_API weir_status weir_group_place(struct weir_chooser *scorer,
                                      const struct weir_group_query *query,
                                      struct weir_alloc *allocs, struct weir_group_answer *answer,
                                      struct weir_error *error);

WEIR_END_DECLS

#endif
