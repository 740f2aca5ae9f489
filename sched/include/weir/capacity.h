/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capacity policies: which nodes are asked for, and which are given back.
 *
 * A controller that can have more nodes offers them by type (weir_host_offer_nodes): what a node
 * of it holds, how many there may be, how many there are and are on their way. The policy is asked
 * last, when queueing and scaling have planned: the view's cluster is the scratch with what they
 * planned, so what waits still found no room. It appends REQUEST_NODE, RELEASE_NODE and WAKE, and
 * to empty a node PREEMPT and STOP, with the node named, of jobs and workers that are there; any
 * other verb is WEIR_EPOLICY. The controller carries them out and says what became of each: a node
 * that came (WEIR_OUTCOME_CAME), a request that came to nothing (WEIR_OUTCOME_FAILED, or REFUSED at
 * once), one given back (GONE).
 *
 * Without an offer nobody is asked. From 2.3 on.
 */
#ifndef WEIR_CAPACITY_H
#define WEIR_CAPACITY_H

#include "weir/policy.h"

WEIR_BEGIN_DECLS

/* Nodes of one type that may be asked for. */
struct weir_node_offer {
    uint32_t size;             /* sizeof; set by the caller of an accessor, too */
    uint32_t type;             /* what REQUEST_NODE names, and weir_node.type of those that come */
    uint32_t min;              /* policies keep at least so many ... */
    uint32_t max;              /* ... and the controller refuses more than so many */
    uint32_t up;               /* that are there */
    uint32_t coming;           /* that were asked for and are on their way */
    struct weir_amounts holds; /* of one node */
    int64_t boot_ns;           /* from the request until it is there, on average; 0 = not known */
    double price;              /* of a node for an hour; 0 = not known */
};

/* Offers in the order in which they were first made. */
WEIR_API uint32_t weir_view_offers(const struct weir_view *view);
/* False when there is none at this index. O(1). */
WEIR_API bool weir_view_offer(const struct weir_view *view, uint32_t index,
                              struct weir_node_offer *offer);

struct weir_host; /* weir/host.h */

struct weir_capacity_ops {
    uint32_t size, abi;
    const char *name;
    const char *summary;
    const struct weir_param *params;
    uint32_t param_count;
    uint32_t flags; /* 0 */
    /* NULL = stateless. */
    weir_status (*create)(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error);
    void (*destroy)(void *state);
    /* Whatever the cause of the decision is; a WAKE of it comes back as WEIR_CAUSE_CAPACITY, for
     * which no other kind is asked. NULL = it asks for nothing. On error the plan is dropped. */
    weir_status (*decide)(void *state, const struct weir_view *view, struct weir_plan *plan,
                          struct weir_error *error);
    /* What became of a request or a release. NULL = not interested. */
    weir_status (*outcome)(void *state, const struct weir_outcome *outcome);
    uint32_t (*save)(const void *state, double *numbers, uint32_t capacity); /* as of scaling */
    weir_status (*restore)(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error);
    /* Mean part by which its forecasts were wrong so far; NAN = none yet. NULL = it makes none. */
    double (*forecast_error)(const void *state);
};

/* Of the policy of a host; NAN when it makes none. */
WEIR_API double weir_host_forecast_error(const struct weir_host *host);

WEIR_API uint32_t weir_capacity_count(void);
WEIR_API const struct weir_capacity_ops *weir_capacity_at(uint32_t index);
WEIR_API const struct weir_capacity_ops *weir_capacity_find(const char *name); /* NULL = none */

/* Verbs for such policies. They fail with WEIR_ENOMEM. */
WEIR_API weir_status weir_plan_request_node(struct weir_plan *plan, uint32_t type);
WEIR_API weir_status weir_plan_release_node(struct weir_plan *plan, uint32_t node);

/* Whether whoever is on a node may be sent away: nobody starts there by this plan, and no job there
 * was preempted before. O(workers there). */
WEIR_API bool weir_plan_may_empty(const struct weir_plan *plan, const struct weir_view *view,
                                  uint32_t node);
/* Sends them away from a node that is given back then: PREEMPT of each job, at once, STOP of each
 * worker of a pool. WEIR_EBUSY, and nothing is appended, when they may not be. */
WEIR_API weir_status weir_plan_empty_node(struct weir_plan *plan, const struct weir_view *view,
                                          uint32_t node);

WEIR_END_DECLS

#endif
