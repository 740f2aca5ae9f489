/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies: the operations a policy offers, and the registries of the built-in ones.
 *
 * Each kind of policy has its own small table of operations. `size` and `abi` come first, tables
 * only grow at the end, and a NULL operation means the documented default. One static descriptor =
 * one policy; a built-in is one file plus one line in its registry, a plug-in exports one symbol.
 *
 * A policy sees a view and the inventory as a scratch, which is rolled back afterwards; it never
 * keeps pointers into either after its call. It draws random numbers only from the seed in the
 * view.
 */
#ifndef WEIR_POLICY_H
#define WEIR_POLICY_H

#include "weir/plan.h"

WEIR_BEGIN_DECLS

enum weir_param_kind {
    WEIR_PARAM_NUMBER,   /* double within [min, max] */
    WEIR_PARAM_COUNT,    /* whole number within [min, max] */
    WEIR_PARAM_DURATION, /* seconds within [min, max]; files may use units */
    WEIR_PARAM_FLAG,     /* 0 or 1; files say true or false */
    WEIR_PARAM_CHOICE,   /* index into the words of `choices`, separated by '|' */
    /* From 2.3 on: the value says how many numbers there are, within [min, max]; the numbers
     * themselves follow the values of the whole table, list after list in its order. */
    WEIR_PARAM_LIST,
    WEIR_PARAM_TEXT /* a list of characters; bytes of UTF-8 */
};

struct weir_param {
    const char *name;
    const char *unit; /* "" for none */
    uint32_t kind;
    uint32_t reserved;
    double min, max, initial;
    const char *choices; /* CHOICE only, else NULL */
    const char *help;
};

/* Values of a policy's parameters, in the order of its table, then the numbers of its lists;
 * complete and in range. Frozen. */
struct weir_params {
    const double *values;
    uint32_t count;
    uint32_t reserved;
};

/* ---- placement: which node, which devices; whom to remove --------------------------------- */

/* Score of one candidate, smaller is better, NAN = not acceptable. */
struct weir_score {
    double primary;
    double secondary;
};

/* How likely each pool's shape is to be asked for next: frequencies sum to 1 (or are all 0).
 * Frozen. */
struct weir_mix {
    const struct weir_shape *shapes;
    const double *frequencies;
    uint32_t count;
    uint32_t reserved;
};

/* Workers stopped in a plan by number and node; known inside libweir only. */
struct weir_stopped;

/* A question: where to put one worker of `shape`? The scratch cluster must not be changed. */
struct weir_place_query {
    uint32_t size;           /* sizeof */
    uint32_t reusable_count; /* workers of the owner stopped earlier in this plan */
    const struct weir_cluster *cluster;
    const struct weir_mix *mix;
    const struct weir_shape *shape;
    struct weir_owner owner;
    const struct weir_worker *reusable; /* in the order they were stopped */
    uint64_t seed;                      /* for random choice; changes with every query */
    const struct weir_stopped *stopped; /* libweir's own: replaces `reusable` when not NULL */
    /* Workers of one job that are placed together, this one and those after it, when it is one of
     * several (0 or 1 = the last, or alone): those before it are on the cluster. From 2.2 on. */
    uint32_t together;
    uint32_t reserved;
    struct weir_traffic traffic;  /* of the worker, where it is known. From 2.3 on */
    const struct weir_jobs *jobs; /* libweir's own: see weir_place_traffic, weir_place_job */
};
/* What whoever owns a worker takes, as far as it was told; zeros when it is not known. */
WEIR_API struct weir_traffic weir_place_traffic(const struct weir_place_query *query,
                                                const struct weir_owner *owner);
/* The job that owns a worker, or that a place is asked for; job->size is set by the caller. False
 * when no job that the host knows does. O(1). From 2.3 on. */
WEIR_API bool weir_place_job(const struct weir_place_query *query, const struct weir_owner *owner,
                             struct weir_job *job);
/* When whoever owns it is over if its estimate holds (weir_job_end_ns; one that waits as if it
 * began now). INT64_MAX = not known, or not a job. O(1). From 2.3 on. */
WEIR_API int64_t weir_place_end_ns(const struct weir_place_query *query,
                                   const struct weir_owner *owner);
/* When the question is asked; WEIR_UNKNOWN_TIME when there is no host behind it. From 2.3 on. */
WEIR_API int64_t weir_place_now_ns(const struct weir_place_query *query);

struct weir_place_answer {
    struct weir_alloc alloc;
    uint32_t reused; /* index into reusable (or a number in stopped), WEIR_NO_INDEX = fresh */
    uint32_t reserved;
    struct weir_choice choice;
};

/* A question: which worker of a pool to remove? */
struct weir_evict_query {
    uint32_t size;            /* sizeof */
    uint32_t candidate_count; /* 0 = all workers of the pool, in insertion order */
    const struct weir_cluster *cluster;
    const struct weir_mix *mix;
    struct weir_owner owner;
    const uint64_t *candidates; /* worker ids */
    uint64_t seed;
};

enum weir_placement_flag {
    WEIR_PLACEMENT_FOLLOWS_STOPPED = 1, /* built-in policies only: reads `stopped` of a query */
    WEIR_PLACEMENT_WITHOUT_MIX = 2,     /* never reads `mix` of a query: it may be empty */
    WEIR_PLACEMENT_REPEATS = 4 /* the same query has the same answer, whatever came before */
};

struct weir_placement_ops {
    uint32_t size, abi;
    const char *name;
    const char *summary;
    const struct weir_param *params;
    uint32_t param_count;
    uint32_t flags; /* enum weir_placement_flag */
    /* NULL = stateless. */
    weir_status (*create)(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error);
    void (*destroy)(void *state);
    /* Scores one candidate place; the default `place` takes the first best over all of them (of
     * places that differ only by GPUs in the same state it offers the first alone). Needed when
     * `place` is NULL. */
    struct weir_score (*score)(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate);
    /* WEIR_EBUSY (with answer->choice filled) when nothing fits now. NULL = scan with `score`. */
    weir_status (*place)(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error);
    /* WEIR_ENOTFOUND when there is no candidate. NULL = the youngest. */
    weir_status (*evict)(void *state, const struct weir_evict_query *query, uint64_t *worker,
                         struct weir_error *error);
    uint32_t (*save)(const void *state, double *numbers, uint32_t capacity); /* as of scaling */
    weir_status (*restore)(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error);
};

/* ---- scaling: how many workers each pool gets --------------------------------------------- */

/* A placement policy bound to the scratch of one decision: the inventory under a mark that only the
 * host takes back. Its calls change the scratch and
 * append to the plan, so a scaling policy only says *what*; the placer finds *where*. */
struct weir_placer;

/* The frequencies used from now on (by FGD); copied. */
WEIR_API weir_status weir_placer_set_mix(struct weir_placer *placer, const double *frequencies,
                                         uint32_t pool_count);
/* Starts one worker of `pool`. WEIR_EBUSY when nothing fits (a DENY is kept with the counts). */
WEIR_API weir_status weir_placer_start(struct weir_placer *placer, uint32_t pool,
                                       struct weir_error *error);
/* Stops one worker of `pool`. */
WEIR_API weir_status weir_placer_stop(struct weir_placer *placer, uint32_t pool,
                                      struct weir_error *error);
/* Workers of a pool in the scratch cluster. */
WEIR_API uint32_t weir_placer_workers(const struct weir_placer *placer, uint32_t pool);
/* The scratch cluster itself, for policies that place on their own with marks and roll-back. */
WEIR_API struct weir_cluster *weir_placer_scratch(struct weir_placer *placer);

enum weir_scaling_flag {
    /* Plans by the inventory and, of every pool, by its pipeline, shape, batch_size, slots,
     * requested_workers, finished, over_provision, speed_hint_per_s and measured rates alone, not
     * by the time, queues, seed or what came before. Where this is as it was when a plan came to
     * nothing, and the placement policy repeats itself, too, it is not asked again. From 2.3 on. */
    WEIR_SCALING_REPEATS = 1
};

struct weir_scaling_ops {
    uint32_t size, abi;
    const char *name;
    const char *summary;
    const struct weir_param *params;
    uint32_t param_count;
    uint32_t flags; /* enum weir_scaling_flag */
    weir_status (*create)(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error);
    void (*destroy)(void *state);
    /* One decision. On error the plan is dropped whole. */
    weir_status (*decide)(void *state, const struct weir_view *view, struct weir_placer *placer,
                          struct weir_plan *plan, struct weir_error *error);
    /* One measurement, as it arrives. NULL = not interested (the host keeps the estimators). */
    weir_status (*measured)(void *state, const struct weir_measurement *task);
    /* What became of an action. NULL = not interested. */
    weir_status (*outcome)(void *state, const struct weir_outcome *outcome);
    /* Take over a cluster that already runs workers. NULL = nothing to learn. */
    weir_status (*adopt)(void *state, const struct weir_view *view, struct weir_error *error);
    /* What it remembers from one decision to the next, as numbers (NAN = unknown), of which at most
     * `capacity` are written; the answer is how many there are. NULL = nothing: what can be worked
     * out again from a view need not be kept. */
    uint32_t (*save)(const void *state, double *numbers, uint32_t capacity);
    /* Goes on from what another one with the same parameters saved, before its first decision. The
     * view has the nodes and pools of that one, and those that came since its latest decision. NAN
     * and infinite numbers come back as such. WEIR_EFORMAT when the numbers cannot be those. */
    weir_status (*restore)(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error);
};

/* ---- registries ----------------------------------------------------------------------------- */

WEIR_API uint32_t weir_placement_count(void);
WEIR_API const struct weir_placement_ops *weir_placement_at(uint32_t index);
WEIR_API const struct weir_placement_ops *weir_placement_find(const char *name); /* NULL = none */
WEIR_API uint32_t weir_scaling_count(void);
WEIR_API const struct weir_scaling_ops *weir_scaling_at(uint32_t index);
WEIR_API const struct weir_scaling_ops *weir_scaling_find(const char *name);

/* The first place on one node where a worker of `shape` fits, lowest GPUs and engines first.
 * WEIR_EBUSY when there is none. For controllers that adopt or restore workers. */
WEIR_API weir_status weir_place_first(const struct weir_cluster *cluster, uint32_t node,
                                      const struct weir_shape *shape, struct weir_alloc *alloc);

/* One placement policy by itself, with its state: for hosts that place jobs one by one. */
struct weir_chooser;

/* `params` NULL or empty = defaults; values are copied. */
WEIR_API weir_status weir_chooser_create(const struct weir_placement_ops *ops,
                                         const struct weir_params *params,
                                         const struct weir_allocator *allocator,
                                         struct weir_chooser **chooser, struct weir_error *error);
WEIR_API void weir_chooser_destroy(struct weir_chooser *chooser);
/* Where to put one worker. WEIR_EBUSY (with answer->choice filled) when it fits nowhere now,
 * WEIR_EPOLICY when the policy chose a place that is not free. */
WEIR_API weir_status weir_chooser_place(struct weir_chooser *chooser,
                                        const struct weir_place_query *query,
                                        struct weir_place_answer *answer, struct weir_error *error);

/* Which worker to remove. WEIR_ENOTFOUND when there is no candidate. */
WEIR_API weir_status weir_chooser_evict(struct weir_chooser *chooser,
                                        const struct weir_evict_query *query, uint64_t *worker,
                                        struct weir_error *error);

/* A question: where to put all members of a gang, every one of the same shape? */
struct weir_members_query {
    uint32_t size; /* sizeof */
    uint32_t count;
    struct weir_cluster *scratch; /* changed during the call, exactly as it was after it */
    const struct weir_mix *mix;
    const struct weir_shape *shape; /* of one member */
    uint64_t seed;
    struct weir_owner owner; /* whose members they are, for policies that look */
};

/* Asks the policy for one member after the other, each seeing those before it, and takes everything
 * back again: the caller applies the answers. All members or none. `answers` has room for `count`.
 * `placed` says how many found a place: all on WEIR_OK; on WEIR_EBUSY answers[*placed].choice says
 * why the next one did not (those before it are then worthless). Meanwhile worker ids from
 * UINT64_MAX downwards are in use in `scratch`; a mark of it is set. Cost: that of `count`
 * questions.
 */
WEIR_API weir_status weir_chooser_place_members(struct weir_chooser *chooser,
                                                const struct weir_members_query *query,
                                                struct weir_place_answer *answers, uint32_t *placed,
                                                struct weir_error *error);

/* How many workers of `shape` the cluster could hold at most if all its nodes were up, healthy and
 * empty; it stops counting at `most`. 0 = such a worker can never be placed (infeasible, not busy).
 * Exact but for engines that may be split over GPUs (CODEC), of which it may count one a node too
 * many. */
WEIR_API uint64_t weir_cluster_room(const struct weir_cluster *cluster,
                                    const struct weir_shape *shape, uint64_t most);

/* Index of a parameter in a table, or WEIR_NO_INDEX. */
WEIR_API uint32_t weir_param_find(const struct weir_param *params, uint32_t count,
                                  const char *name);
/* The numbers of the list or text at `index` of a table of `count`: how many, *numbers the first.
 * `given` is complete. From 2.3 on. */
WEIR_API uint32_t weir_params_list(const struct weir_param *params, uint32_t count,
                                   const struct weir_params *given, uint32_t index,
                                   const double **numbers);

/* ---- plug-ins -------------------------------------------------------------------------------- */

struct weir_queueing_ops;
struct weir_capacity_ops;

/* What a plug-in's one exported symbol returns; any pointer may be NULL. */
struct weir_module {
    uint32_t size, abi_major, abi_minor, reserved;
    const char *name;
    const char *version;
    const char *licence;
    const struct weir_placement_ops *const *placements; /* NULL-terminated */
    const struct weir_scaling_ops *const *scalings;     /* NULL-terminated */
    const struct weir_queueing_ops *const *queueings;   /* NULL-terminated; see weir/job.h */
    const struct weir_capacity_ops *const *capacities;  /* NULL-terminated; see weir/capacity.h */
};

/* The entry of a module with one policy: WEIR_MODULE_OF_ONE(placement, "name", policy); or scaling,
 * queueing, capacity. */
/* clang-format off */
/* NOLINTBEGIN(readability-identifier-naming): a kind is a part of the name */
#define WEIR_MODULE_LIST_placement placements
#define WEIR_MODULE_LIST_scaling   scalings
#define WEIR_MODULE_LIST_queueing  queueings
#define WEIR_MODULE_LIST_capacity  capacities
/* NOLINTEND(readability-identifier-naming) */
#define WEIR_MODULE_OF_ONE(kind, its_name, policy)                                                 \
    static const struct weir_##kind##_ops *const weir_policies_of_module[] = { &(policy), NULL };  \
    static const struct weir_module weir_module_of_one = {                                         \
        .size = sizeof(struct weir_module), .abi_major = WEIR_ABI_MAJOR,                           \
        .abi_minor = WEIR_ABI_MINOR, .name = (its_name), .version = "1", .licence = "",            \
        .WEIR_MODULE_LIST_##kind = weir_policies_of_module };                                      \
    WEIR_API const struct weir_module *weir_policy_module_v2(void);                                \
    const struct weir_module *weir_policy_module_v2(void)                                          \
    {                                                                                              \
        return &weir_module_of_one;                                                                \
    }
/* clang-format on */

typedef const struct weir_module *(*weir_module_entry)(void);
#define WEIR_MODULE_SYMBOL    "weir_policy_module_v2"
#define WEIR_MODULE_SYMBOL_V1 "weir_policy_module_v1" /* of interface 1: to say what is wrong */

/* The module's policies of that kind, or NULL: those built before there were any have no such
 * member. */
WEIR_API const struct weir_queueing_ops *const *weir_module_queueings(
    const struct weir_module *module);
WEIR_API const struct weir_capacity_ops *const *weir_module_capacities(
    const struct weir_module *module); /* from 2.3 on */
/* Refuses another major version, missing operations and broken parameter tables. */
WEIR_API weir_status weir_module_check(const struct weir_module *module, struct weir_error *error);

WEIR_END_DECLS

#endif
