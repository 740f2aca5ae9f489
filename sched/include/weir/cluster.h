/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inventory: nodes, GPUs, codec engines, and the workers that hold them.
 *
 * It is what the scheduler believes. The host keeps one, policies read it, and a decision tries
 * things on it under marks and rolls them back. Nodes, GPUs of a node and workers have fixed orders
 * (insertion), which decide all ties.
 *
 * A GPU with a MIG table is cut (weir/mig.h): workers hold instances of it, one each, and nothing
 * else of it. The cut is fixed, or instances are made when they are asked for.
 *
 * Nodes come, change and go; GPUs fall ill and recover. An index names a node for good: what is
 * removed leaves an empty record that holds nothing, is never chosen and is in no sum.
 *
 * Invariant (weir_cluster_check): for every device, free + sum of what its workers hold = total,
 * and 0 <= free <= total, but an unhealthy GPU has nothing free; every codec engine and every
 * memory slot is held by at most one worker; on a cut GPU every device is an instance, elsewhere
 * none is. Totals of the cluster count of an unhealthy GPU what is held.
 *
 * Cost: add and remove O(devices of the worker); copy O(nodes + GPUs + workers).
 */
#ifndef WEIR_CLUSTER_H
#define WEIR_CLUSTER_H

#include "weir/shape.h"

#include <stdbool.h>
#include <stddef.h>

WEIR_BEGIN_DECLS

enum {
    WEIR_MAX_DEVICES = 16,   /* GPUs one allocation may touch */
    WEIR_MAX_NODE_GPUS = 64, /* GPUs of one node */
    WEIR_MAX_ENGINES = 32    /* codec engines of one kind on one GPU */
};

#define WEIR_NO_INDEX UINT32_MAX

/* Where memory comes from. A NULL pointer to it means malloc and free. `resize` follows realloc;
 * size 0 frees and returns NULL. */
struct weir_allocator {
    void *(*resize)(void *state, void *block, size_t size);
    void *state;
};

/* Frozen: it stands in arrays and has no size. */
struct weir_gpu_spec {
    uint32_t type; /* index into the caller's catalogue of GPU types */
    uint32_t nvdecs;
    uint32_t nvencs;
    uint16_t idle_w; /* power without work and at its limit, in W; 0 = not known */
    uint16_t full_w;
    int64_t units; /* WEIR_ONE, or less when something else holds a part */
    int64_t mem_bytes;
    const struct weir_mig *mig; /* NULL = not cut; else units is WEIR_ONE, and memory and engines
                                   are the table's (weir_mig_memory, weir_mig_nvdecs) */
    weir_mig_layout mig_cut;    /* instances there are, 0 = made on demand */
};

/* What a node is near to, 0 = not known, and its labels. Islands and sockets divide the GPUs of a
 * node evenly and in order; a node of which nothing is known has one of each. Frozen. */
struct weir_topology {
    uint32_t sockets;     /* with memory of their own */
    uint32_t island_gpus; /* GPUs of one island of fast links (NVLink) */
    uint32_t rack;        /* the caller's name for it: nodes of one rack stand together */
    uint32_t labels;      /* that shapes may ask for, and WEIR_LABEL_KEPT; from 2.3 on */
};

struct weir_node_spec {
    uint32_t size; /* sizeof */
    uint32_t type;
    uint64_t id; /* the caller's name for it */
    uint32_t gpu_count;
    uint32_t reserved;
    int64_t cpu_units;
    int64_t ram_bytes;
    const struct weir_gpu_spec *gpus;
    struct weir_topology topology; /* from 2.2 on */
};

/* A part of one GPU held by one worker. Engine sets are bit masks of engine indices. Frozen. */
struct weir_device {
    uint32_t gpu; /* index within its node */
    uint32_t nvdec_mask;
    uint32_t nvenc_mask;
    uint32_t mig; /* of a cut GPU: weir_device_instance; else 0 */
    int64_t units;
    int64_t mem_bytes;
};

/* A MIG instance as one number > 0, and back. */
static inline uint32_t weir_device_instance(uint32_t profile, uint32_t start)
{
    return (profile + 1) | start << 8;
}
static inline uint32_t weir_device_profile(const struct weir_device *device)
{
    return (device->mig & 0xff) - 1;
}
static inline uint32_t weir_device_start(const struct weir_device *device)
{
    return device->mig >> 8;
}

/* Everything one worker holds, on one node; devices ascending by GPU. Frozen. */
struct weir_alloc {
    uint32_t node; /* index */
    uint32_t device_count;
    int64_t cpu_units;
    int64_t ram_bytes;
    struct weir_device devices[WEIR_MAX_DEVICES];
};

/* Frozen, as weir_node is: weir_frag_find takes an array of them. */
struct weir_gpu {
    uint32_t type;
    uint32_t nvdec_free; /* masks */
    uint32_t nvenc_free;
    uint32_t nvdec_all;
    uint32_t nvenc_all;
    uint16_t idle_w; /* 0 = not known */
    uint16_t full_w;
    int64_t units_free;
    int64_t units_total;
    int64_t mem_free_bytes;
    int64_t mem_total_bytes;
    const struct weir_mig *mig; /* NULL = not cut */
    struct weir_mig_state mig_state;
    uint32_t is_closed; /* enum weir_gpu_closed; not 0 = gives out nothing more */
    uint32_t reserved;
};

/* Why a GPU gives out nothing; bits. What it has given out stays. */
enum weir_gpu_closed {
    WEIR_GPU_DRAINED = 1,  /* it is to be cut anew */
    WEIR_GPU_UNHEALTHY = 2 /* its free amounts read 0, whatever workers give back */
};

enum weir_node_flag {
    WEIR_NODE_UP = 1,       /* may receive workers */
    WEIR_NODE_CORDONED = 2, /* keeps its workers, receives none */
    WEIR_NODE_REMOVED = 4   /* an empty record: the node is gone for good. Never set by callers */
};

struct weir_node {
    uint64_t id;
    uint32_t type;
    uint32_t flags;
    uint32_t gpu_first; /* index into the cluster's GPUs */
    uint32_t gpu_count;
    int64_t cpu_free;
    int64_t cpu_total;
    int64_t ram_free_bytes;
    int64_t ram_total_bytes;
    uint64_t version; /* fingerprint of the node's state, for caches: equal states, equal value */
};

/* Whose a worker is. Append-only. */
enum weir_owner_kind {
    WEIR_OWNER_POOL, /* index: the pool; id 0. A pool is a set of equal workers whose number
                        somebody chooses: a stage, the replicas of a service, a role of actors. */
    WEIR_OWNER_JOB   /* index: the workload; id: the job within it */
};
struct weir_owner {
    uint32_t kind; /* enum weir_owner_kind */
    uint32_t index;
    uint64_t id;
};
static inline struct weir_owner weir_pool_owner(uint32_t pool)
{
    const struct weir_owner owner = { WEIR_OWNER_POOL, pool, 0 };
    return owner;
}
static inline struct weir_owner weir_job_owner(uint32_t workload, uint64_t job)
{
    const struct weir_owner owner = { WEIR_OWNER_JOB, workload, job };
    return owner;
}
static inline bool weir_owner_is(const struct weir_owner *a, const struct weir_owner *b)
{
    return a->kind == b->kind && a->index == b->index && a->id == b->id;
}

enum weir_worker_state {
    WEIR_WORKER_STARTING = 0,
    WEIR_WORKER_READY = 1,
    WEIR_WORKER_STOPPING = 2
};

struct weir_worker {
    uint64_t id; /* unique for ever within one inventory */
    struct weir_owner owner;
    uint32_t state; /* enum weir_worker_state, as far as the scheduler knows */
    uint32_t reserved;
    int64_t since_ns; /* when it entered the state */
    struct weir_alloc alloc;
};

struct weir_cluster;

WEIR_API weir_status weir_cluster_create(const struct weir_allocator *allocator,
                                         struct weir_cluster **cluster);
WEIR_API void weir_cluster_destroy(struct weir_cluster *cluster);

/* A deep copy for trial decisions, without marks. */
WEIR_API weir_status weir_cluster_copy(const struct weir_cluster *source,
                                       struct weir_cluster **copy);
/* Makes `target` such a copy and reuses its memory (and keeps its allocator). After WEIR_ENOMEM
 * `target` holds nothing certain and may only be assigned again or destroyed. WEIR_EINVAL: both are
 * one, or the target is the scratch of a decision. */
WEIR_API weir_status weir_cluster_assign(struct weir_cluster *target,
                                         const struct weir_cluster *source);

/* Adds a node that is up; `index` may be NULL. It gets the next index, or, when a node of this id
 * with as many GPUs was removed, that one's: what is still on its way to the old index then means
 * the same machine. Errors: duplicate id, too many GPUs or engines, negative amounts, GPUs that
 * islands or sockets do not divide evenly. */
WEIR_API weir_status weir_cluster_add_node(struct weir_cluster *cluster,
                                           const struct weir_node_spec *spec, uint32_t *index,
                                           struct weir_error *error);
WEIR_API weir_status weir_cluster_set_node_flags(struct weir_cluster *cluster, uint32_t node,
                                                 uint32_t flags);

/* The node is gone for good, or until its id comes again. Its index names an empty record from now
 * on: flags WEIR_NODE_REMOVED, no GPUs, no amounts. Errors: WEIR_ENOTFOUND, WEIR_EBUSY while a
 * worker is on it, WEIR_EINVAL under a mark. O(its GPUs). */
WEIR_API weir_status weir_cluster_remove_node(struct weir_cluster *cluster, uint32_t node,
                                              struct weir_error *error);
/* Other amounts of CPUs and memory. Errors (nothing changes): WEIR_ENOTFOUND, WEIR_EINVAL (negative
 * amounts, or under a mark), WEIR_EOVERCOMMIT when its workers hold more. O(its GPUs). */
WEIR_API weir_status weir_cluster_resize_node(struct weir_cluster *cluster, uint32_t node,
                                              int64_t cpu_units, int64_t ram_bytes,
                                              struct weir_error *error);
/* A GPU, cut or not, that is unhealthy gives out nothing more; what runs on it stays, and what is
 * told to have started there is believed. Healthy again it has free what nobody holds. Errors:
 * WEIR_ENOTFOUND, WEIR_EINVAL under a mark. O(workers of the node). */
WEIR_API weir_status weir_cluster_set_gpu_health(struct weir_cluster *cluster, uint32_t node,
                                                 uint32_t gpu, bool is_healthy);

/* A cut GPU stops (or begins again) to give out instances; those in use stay. Errors:
 * WEIR_ENOTFOUND, WEIR_EINVAL (not cut, or under a mark). */
WEIR_API weir_status weir_cluster_close_gpu(struct weir_cluster *cluster, uint32_t node,
                                            uint32_t gpu, bool is_closed);
/* Cuts it anew; 0 = instances are made on demand. Errors: as above, WEIR_EBUSY while an instance is
 * in use, WEIR_EINVAL for a layout that its table does not allow. */
WEIR_API weir_status weir_cluster_cut_gpu(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                                          weir_mig_layout cut, struct weir_error *error);

WEIR_API uint32_t weir_cluster_node_count(const struct weir_cluster *cluster);
WEIR_API const struct weir_node *weir_cluster_node(const struct weir_cluster *cluster,
                                                   uint32_t node);
/* GPU `gpu` (index within the node). */
WEIR_API const struct weir_gpu *weir_cluster_gpu(const struct weir_cluster *cluster, uint32_t node,
                                                 uint32_t gpu);
/* As it was told; zeros when there is no such node. */
WEIR_API struct weir_topology weir_cluster_topology(const struct weir_cluster *cluster,
                                                    uint32_t node);
/* Index of the node with this id, or WEIR_NO_INDEX. */
WEIR_API uint32_t weir_cluster_find_node(const struct weir_cluster *cluster, uint64_t id);

/* The most frequent GPU count of nodes that have GPUs, the larger of two; 0 when none has. */
WEIR_API uint32_t weir_cluster_usual_gpus(const struct weir_cluster *cluster);

/* Totals and free amounts over all nodes that are up; O(1). */
WEIR_API struct weir_amounts weir_cluster_total(const struct weir_cluster *cluster);
WEIR_API struct weir_amounts weir_cluster_free(const struct weir_cluster *cluster);

/* Gives `alloc` to a new worker of `owner` (its index is a small number: lists are kept for all
 * pools below it). Nothing changes on error: WEIR_EDUPLICATE, WEIR_ENOTFOUND (node, GPU),
 * WEIR_EINVAL (negative amounts, devices not ascending), WEIR_EOVERCOMMIT (names the device and by
 * how much). Flags of the node are not looked at: what runs there runs there. */
WEIR_API weir_status weir_cluster_add_worker(struct weir_cluster *cluster, uint64_t id,
                                             struct weir_owner owner,
                                             const struct weir_alloc *alloc,
                                             struct weir_error *error);
/* Takes everything back. Errors: WEIR_ENOTFOUND. */
WEIR_API weir_status weir_cluster_remove_worker(struct weir_cluster *cluster, uint64_t id,
                                                struct weir_error *error);
/* Errors: WEIR_ENOTFOUND; WEIR_ERANGE, `state` is UINT32_MAX, which is no state. */
WEIR_API weir_status weir_cluster_set_worker_state(struct weir_cluster *cluster, uint64_t id,
                                                   uint32_t state, int64_t since_ns);

/* Whether `alloc` fits what is free (capacities, engines, node up). O(devices). */
WEIR_API bool weir_cluster_fits(const struct weir_cluster *cluster, const struct weir_alloc *alloc);

/* Workers are kept compactly, so these fill a struct of the caller and touch only the devices that
 * are in use. False (and nothing filled) when there is none; `worker` may be NULL. O(devices). */
WEIR_API bool weir_cluster_worker(const struct weir_cluster *cluster, uint64_t id,
                                  struct weir_worker *worker);
/* Workers of a pool in insertion order: count, and the n-th one. */
WEIR_API uint32_t weir_cluster_pool_workers(const struct weir_cluster *cluster, uint32_t pool);
WEIR_API bool weir_cluster_pool_worker(const struct weir_cluster *cluster, uint32_t pool,
                                       uint32_t position, struct weir_worker *worker);
/* Its id alone. O(1). False when there is none. */
WEIR_API bool weir_cluster_pool_worker_id(const struct weir_cluster *cluster, uint32_t pool,
                                          uint32_t position, uint64_t *id);
/* Workers on a node of the same pool, or of jobs of the same workload. O(their number). */
WEIR_API uint32_t weir_cluster_peers(const struct weir_cluster *cluster, uint32_t node,
                                     struct weir_owner owner);
/* The workers of a node one after the other, without an order: `cursor` begins at 0. False at the
 * end. O(1). */
WEIR_API bool weir_cluster_node_worker(const struct weir_cluster *cluster, uint32_t node,
                                       uint32_t *cursor, struct weir_worker *worker);
/* Some worker of a node (to empty it), O(1). False when it has none. */
WEIR_API bool weir_cluster_node_worker_id(const struct weir_cluster *cluster, uint32_t node,
                                          uint64_t *id);
WEIR_API uint32_t weir_cluster_worker_count(const struct weir_cluster *cluster);

/* Undo journal: after a mark, every change of workers and node flags is recorded; roll-back
 * restores exactly the state of the mark, insertion orders included, and forgets the mark. Marks
 * nest; release forgets the latest mark but keeps the changes. The mark of a decision is the
 * host's: a policy goes back to it and never beyond. Nodes cannot be added, changed or removed
 * under a mark (WEIR_EINVAL). */
WEIR_API weir_status weir_cluster_mark(struct weir_cluster *cluster);
WEIR_API void weir_cluster_rollback(struct weir_cluster *cluster);
WEIR_API void weir_cluster_release(struct weir_cluster *cluster);

/* The invariant above, recomputed from the workers. O(everything); for tests and debug builds. */
WEIR_API weir_status weir_cluster_check(const struct weir_cluster *cluster,
                                        struct weir_error *error);

WEIR_END_DECLS

#endif
