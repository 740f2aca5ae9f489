/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batching: which requests that wait for a model are worked on together, and when.
 *
 * A batcher holds the requests of one model and answers one question: an instance is free; send a
 * batch, and of which requests, or wait, and until when? It keeps them by level (1 is the most
 * urgent), first come first served inside a level, and takes those out whose time is over. A
 * batching policy says how requests wait (levels, limits, time-outs) and how many of those in front
 * go together. Nothing here knows a clock: the time is an argument, and never goes backwards.
 *
 * From 2.3 on.
 */
#ifndef WEIR_BATCHING_H
#define WEIR_BATCHING_H

#include "weir/policy.h"

WEIR_BEGIN_DECLS

/* A request that waits; the caller's struct may grow at its end. */
struct weir_batch_request {
    uint32_t size;     /* sizeof */
    uint32_t items;    /* that it counts for in a batch, at least 1 */
    uint64_t id;       /* the caller's, of those that wait at once each another */
    uint64_t shape;    /* only requests of one shape go together */
    int64_t queued_ns; /* since when it waits */
    int64_t
        timeout_ns;   /* how long it may wait, where that is less than the policy says; 0 = that */
    int32_t priority; /* 0 to 100, the most urgent last; below 0 = not said */
    uint32_t is_back; /* 1 = it was let in before: however many wait, it is not turned away */
};

/* How requests wait: what a policy says once. */
struct weir_batch_rules {
    uint32_t size;
    uint32_t levels;        /* at least 1 */
    uint32_t most_items;    /* of a batch; a request of more is refused */
    uint32_t most_waiting;  /* requests of a level that may wait; 0 = any number */
    int64_t timeout_ns;     /* 0 = none */
    uint32_t keeps_expired; /* 1 = those whose time is over wait on, behind all others of their
                               level; 0 = they are turned away */
    uint32_t reserved;
    int64_t ageing_ns; /* a request counts as one level higher for each time it has waited so long;
                          0 = never */
};

/* What a policy sees when an instance is free: the front of the queue, level after level, as far as
 * a batch goes and one request further. */
struct weir_batch_view {
    uint32_t size;
    uint32_t count;                            /* at least 1 */
    const struct weir_batch_request *requests; /* in the order of service */
    int64_t now_ns;
    uint32_t is_last; /* nothing will come any more */
    uint32_t reserved;
};

/* What it says: the first `take` of them go now, or, with 0, ask again at `wake_ns` at the latest
 * (INT64_MAX = when something comes). */
struct weir_batch_answer {
    uint32_t take;
    uint32_t reserved;
    int64_t wake_ns;
};

enum { WEIR_BATCH_LEVELS = 64 }; /* at most */

struct weir_batching_ops {
    uint32_t size, abi;
    const char *name;
    const char *summary;
    const struct weir_param *params;
    uint32_t param_count;
    uint32_t flags; /* none yet */
    weir_status (*create)(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error);
    void (*destroy)(void *state);
    /* Asked once. */
    void (*rules)(const void *state, struct weir_batch_rules *rules);
    /* The level of a request, 1 to rules.levels. NULL = 1. */
    uint32_t (*level)(const void *state, const struct weir_batch_request *request);
    void (*form)(const void *state, const struct weir_batch_view *view,
                 struct weir_batch_answer *answer);
};

WEIR_API uint32_t weir_batching_count(void);
WEIR_API const struct weir_batching_ops *weir_batching_at(uint32_t index);
WEIR_API const struct weir_batching_ops *weir_batching_find(const char *name); /* NULL = none */

struct weir_batcher;

/* `params` NULL or empty = defaults. Errors: WEIR_ENOMEM, WEIR_EINVAL (a value, with its name),
 * WEIR_EPOLICY (rules that cannot be). */
WEIR_API weir_status weir_batcher_create(const struct weir_batching_ops *ops,
                                         const struct weir_params *params,
                                         const struct weir_allocator *allocator,
                                         struct weir_batcher **batcher, struct weir_error *error);
WEIR_API void weir_batcher_destroy(struct weir_batcher *batcher);
WEIR_API const struct weir_batch_rules *weir_batcher_rules(const struct weir_batcher *batcher);

/* A request comes, or comes back (it then stands by its queued_ns, before those that came later).
 * WEIR_EBUSY: so many wait at its level that it is turned away. WEIR_EINVAL: it counts for nothing,
 * or for more than a batch takes. O(1), but for one that comes back. */
WEIR_API weir_status weir_batcher_add(struct weir_batcher *batcher,
                                      const struct weir_batch_request *request,
                                      struct weir_error *error);
/* Its caller does not want it any more. WEIR_ENOTFOUND when it does not wait. O(waiting). */
WEIR_API weir_status weir_batcher_remove(struct weir_batcher *batcher, uint64_t id);
WEIR_API uint32_t weir_batcher_waiting(const struct weir_batcher *batcher);
/* The ids of all that wait, level after level; room for weir_batcher_waiting. */
WEIR_API void weir_batcher_list(const struct weir_batcher *batcher, uint64_t *ids);

struct weir_batch_query {
    uint32_t size;
    uint32_t has_instance; /* one is free */
    uint32_t is_last;      /* nothing will come any more */
    uint32_t reserved;
    int64_t now_ns;
};

/* Lists belong to the batcher and hold until its next call. */
struct weir_batch {
    uint32_t count;         /* requests that go now, 0 = none do; they wait no more */
    uint32_t expired_count; /* requests whose time is over; they wait no more */
    const uint64_t *ids, *expired;
    uint64_t items;  /* of those that go */
    int64_t wake_ns; /* without a batch: when to ask again at the latest, INT64_MAX = never */
};

/* What happens now. A request whose time is over at this very moment does not go any more. With a
 * batch, ask again: there may be another free instance. Cost: O(a batch), O(waiting) at a moment at
 * which the time of some is over. Errors: WEIR_EPOLICY. */
WEIR_API weir_status weir_batcher_next(struct weir_batcher *batcher,
                                       const struct weir_batch_query *query,
                                       struct weir_batch *batch, struct weir_error *error);

WEIR_END_DECLS

#endif
