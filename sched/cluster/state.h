/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inventory's insides, for the files of this folder and for placement, which reads them.
 *
 * Nodes and GPUs are two flat arrays. Workers live in slots that are reused; a slot keeps the
 * worker's first device, the others lie in blocks by size. A worker's `sequence` is its
 * rank in insertion order: pool lists are sorted by it, so a position is found by bisection and a
 * worker that comes back by roll-back finds its old place. Workers of a node, and those of a node
 * and pool or workload (peers), form lists without an order.
 *
 * Caches follow changes in two ways: `node.version` is a fingerprint of the node's state, and the
 * last changes are kept in a ring with a running stamp (weir_cluster_changes).
 */
#ifndef SCHED_CLUSTER_STATE_H
#define SCHED_CLUSTER_STATE_H

#include "sched/cluster/id_table.h"
#include "sched/cluster/pool_list.h"
#include "weir/cluster.h"

struct weir_worker_slot {
    uint64_t id;
    uint64_t sequence;
    int64_t since_ns;
    int64_t cpu_units;
    int64_t ram_bytes;
    struct weir_owner owner;
    uint32_t state;
    uint32_t node;
    uint32_t device_count;
    uint32_t more;          /* block for devices 1.., or WEIR_NO_INDEX */
    uint32_t node_next;     /* slots of the same node; of free slots: the next free one */
    uint32_t node_previous; /* WEIR_NO_INDEX = first */
    uint32_t peer_next;     /* slots of the same node and pool or workload */
    uint32_t peer_previous;
    struct weir_device first;
};

/* Workers of one node, and a hash of the node's whole history: who came and went, when, with what.
 * Equal stamps mean equal workers, so what depends on them can be kept until the stamp changes. */
struct weir_node_list {
    uint64_t stamp;
    uint64_t likeness; /* as node.version, but the same wherever on the node GPUs of a state are */
    uint32_t first;    /* slot, or WEIR_NO_INDEX */
    uint32_t gpu_room; /* records of GPUs from gpu_first on; a removed node keeps them */
};

/* Blocks of 1 .. WEIR_MAX_DEVICES - 1 devices; free blocks are chained by size through `gpu`. */
struct weir_device_blocks {
    struct weir_device *devices;
    uint32_t count;
    uint32_t capacity;
    uint32_t free_first[WEIR_MAX_DEVICES];
};

/* The state of a slot that nobody is in, or whose worker could only come back. */
#define WEIR_SLOT_FREE UINT32_MAX

enum weir_undo_kind { WEIR_UNDO_ADD, WEIR_UNDO_REMOVE, WEIR_UNDO_STATE, WEIR_UNDO_FLAGS };

struct weir_undo {
    uint32_t kind;
    uint32_t place;  /* a slot; FLAGS: a node */
    uint32_t before; /* REMOVE, STATE: the state; FLAGS: the flags */
    uint32_t reserved;
    int64_t since_ns; /* STATE */
};

enum { WEIR_CHANGE_RING = 256, WEIR_MAX_POOLS = 1 << 20 };

struct weir_change {
    uint64_t stamp; /* after the change: a hash of the whole history */
    uint32_t node;
    uint32_t pool; /* whose worker came or went; WEIR_NO_INDEX = nobody's, or a job's */
    uint32_t gone; /* the slot of the one that went; WEIR_NO_INDEX = nobody did */
    uint32_t reserved;
};

/* Nodes in the order in which they changed, for answers that are kept of them (placement/rooms.h).
 * The latest one is not noted again before somebody has read it. */
struct weir_change_log {
    uint32_t *nodes; /* change n at n % capacity, which is a power of two; 0 = nobody follows */
    uint64_t count;  /* of changes */
    uint64_t read;   /* by whoever has followed furthest */
    uint32_t capacity;
    struct weir_rooms *rooms; /* NULL = nobody has asked yet */
};

struct weir_cluster {
    struct weir_allocator allocator;

    struct weir_node *nodes;
    struct weir_node_list *lists; /* per node */
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t list_capacity;
    uint32_t removed_count;           /* of nodes: empty records */
    struct weir_topology *topologies; /* of the first nodes; of the others nothing is known */
    uint32_t topology_count, topology_capacity;
    bool keeps_nodes; /* a node was told that is kept for some */
    uint32_t broken;  /* invariants that did not hold; 0 */
    struct weir_gpu *gpus;
    uint32_t gpu_count;
    uint32_t gpu_capacity;
    struct weir_id_table node_ids;
    struct weir_amounts whole; /* CPUs and memory of all nodes; countable, so every sum is */
    struct weir_amounts total; /* over nodes that are up */
    struct weir_amounts free;

    struct weir_worker_slot *slots;
    uint32_t slot_count; /* used and free ones */
    uint32_t slot_capacity;
    uint32_t slot_free; /* first free slot, or WEIR_NO_INDEX */
    uint32_t worker_count;
    struct weir_id_table worker_ids;
    struct weir_id_table peers; /* node and peer list to its first slot */
    uint64_t next_sequence;
    uint64_t begun, ended; /* workers that came and went, what was only tried left aside */
    struct weir_device_blocks more;

    /* Workers of jobs are on no such list: there are many, and nobody asks for them in their order.
     */
    struct weir_pool_list *pools;
    uint32_t pool_count;
    uint32_t pool_capacity;

    struct weir_undo *journal;
    uint32_t journal_count;
    uint32_t journal_capacity;
    uint32_t *marks; /* journal_count at each mark */
    uint32_t mark_count;
    uint32_t lent;      /* marks that only the owner takes back: 1 while it is lent, else 0 */
    uint64_t flags_sum; /* hash of the flags of all nodes, and what it was when it was lent */
    uint64_t flags_before;
    uint32_t mark_capacity;

    uint64_t change_count;
    uint64_t stamp;
    struct weir_change changes[WEIR_CHANGE_RING]; /* change n at n % WEIR_CHANGE_RING */
    struct weir_change_log
        *log; /* no part of what the inventory says: it is kept while others look */
};

static inline void weir_cluster_note_change(struct weir_change_log *log, uint32_t node)
{
    const uint64_t mask = (uint64_t)log->capacity - 1;

    if (log->capacity == 0 ||
        (log->count > log->read && log->nodes[(log->count - 1) & mask] == node))
        return;
    log->nodes[log->count++ & mask] = node;
}

/* placement/rooms.c: nothing is kept any more. */
void weir_rooms_forget(struct weir_cluster *cluster);

/* What a cache remembers about the last inventory it followed; zeroed = nothing. */
struct weir_change_mark {
    uint64_t count;
    uint64_t stamp;
};

/* Invariants that did not hold so far, those of the tables included; 0 in a sound library. */
uint32_t weir_cluster_broken(const struct weir_cluster *cluster);

/* How many of the latest changes lead from `mark` to now, or WEIR_NO_INDEX when this cannot be told
 * (another inventory, too long ago): then every node's version must be looked at. Change number
 * `i` back from the latest (0 = latest) touched weir_cluster_change_node(cluster, i). */
uint32_t weir_cluster_changes(const struct weir_cluster *cluster,
                              const struct weir_change_mark *mark);

static inline uint32_t weir_cluster_change_node(const struct weir_cluster *cluster, uint32_t back)
{
    return cluster->changes[(cluster->change_count - 1 - back) % WEIR_CHANGE_RING].node;
}
/* And who it was. */
static inline const struct weir_change *weir_cluster_change(const struct weir_cluster *cluster,
                                                            uint32_t back)
{
    return &cluster->changes[(cluster->change_count - 1 - back) % WEIR_CHANGE_RING];
}

static inline struct weir_change_mark weir_cluster_change_mark(const struct weir_cluster *cluster)
{
    return (struct weir_change_mark){ .count = cluster->change_count, .stamp = cluster->stamp };
}

/* Peers: workers of the same pool, or of jobs of the same workload. */
static inline uint64_t weir_peer_key(uint32_t node, const struct weir_owner *owner)
{
    return (uint64_t)node << 32 | (uint64_t)(owner->kind == WEIR_OWNER_JOB) << 31 | owner->index;
}
/* The first peer of `owner` on `node`, or WEIR_NO_INDEX; the others follow by peer_next. */
static inline uint32_t weir_first_peer(const struct weir_cluster *cluster, uint32_t node,
                                       const struct weir_owner *owner)
{
    return weir_id_table_find(&cluster->peers, weir_peer_key(node, owner));
}

static inline const struct weir_topology *weir_topology_of(const struct weir_cluster *cluster,
                                                           uint32_t node)
{
    static const struct weir_topology nothing;

    return node < cluster->topology_count ? &cluster->topologies[node] : &nothing;
}

/* Whether labels let a shape use a node. Most shapes ask for none, of nodes that have none. */
static inline bool weir_node_takes(const struct weir_cluster *cluster, uint32_t node,
                                   const struct weir_shape *shape)
{
    if (shape->labels == 0 && !cluster->keeps_nodes)
        return true;
    return weir_shape_takes_labels(shape, weir_topology_of(cluster, node)->labels);
}

/* Devices 1.. of a worker. */
static inline const struct weir_device *weir_slot_more(const struct weir_cluster *cluster,
                                                       const struct weir_worker_slot *slot)
{
    return slot->more == WEIR_NO_INDEX ? NULL : cluster->more.devices + slot->more;
}

/* A GPU once a device is given out (direction 1) or taken back (-1). */
static inline void weir_gpu_move(struct weir_gpu *gpu, const struct weir_device *device,
                                 int64_t direction)
{
    gpu->units_free -= direction * device->units;
    gpu->mem_free_bytes -= direction * device->mem_bytes;
    gpu->nvdec_free ^= device->nvdec_mask;
    gpu->nvenc_free ^= device->nvenc_mask;
    if (device->mig != 0)
        gpu->mig_state.held ^=
            weir_mig_instance(weir_device_profile(device), weir_device_start(device));
}

/* The allocation of a slot; only devices in use are written. */
void weir_slot_alloc(const struct weir_cluster *cluster, const struct weir_worker_slot *slot,
                     struct weir_alloc *alloc);

/* ledger.c: what nodes hold. Whether and why an allocation is malformed or too large. */
weir_status weir_ledger_check(const struct weir_cluster *cluster, const struct weir_alloc *alloc,
                              struct weir_error *error);
/* Takes (direction 1) or gives back (-1) what `worker` holds; must have been checked. Records a
 * change. */
void weir_ledger_apply(struct weir_cluster *cluster, const struct weir_alloc *alloc,
                       int64_t direction, const struct weir_worker_slot *worker);
/* The same for the flags of a node. */
void weir_ledger_set_flags(struct weir_cluster *cluster, uint32_t node, uint32_t flags);
/* The same for the cut of a GPU, and whether it gives out instances. */
void weir_ledger_set_cut(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                         weir_mig_layout cut);
void weir_ledger_set_closed(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                            bool is_closed);
/* Whether a device names an instance exactly when its GPU is cut, and then holds exactly what the
 * instance has and the instance is free. */
bool weir_ledger_instance_fits(const struct weir_gpu *gpu, const struct weir_device *device);
/* cluster.c: so much more is to be there; WEIR_ERANGE when the sums could not be counted. */
weir_status weir_cluster_grow(struct weir_cluster *cluster, uint64_t id,
                              const struct weir_amounts *more, struct weir_error *error);
/* Starts the books of a node that was just added, and ends those of an empty one. */
void weir_ledger_open(struct weir_cluster *cluster, uint32_t node);
void weir_ledger_close(struct weir_cluster *cluster, uint32_t node);
/* Other totals; what is held must fit them. */
void weir_ledger_resize(struct weir_cluster *cluster, uint32_t node, int64_t cpu_units,
                        int64_t ram_bytes);
void weir_ledger_set_health(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                            bool is_healthy);
/* So much more of a GPU's free memory is nobody's to take; a negative number gives it back. It is
 * no change that a mark knows of. */
void weir_ledger_keep_memory(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                             int64_t bytes);
/* The fingerprint of a node, recomputed; the same with GPUs in any order. */
uint64_t weir_ledger_version(const struct weir_cluster *cluster, uint32_t node);
uint64_t weir_ledger_likeness(const struct weir_cluster *cluster, uint32_t node);
/* That of one GPU: how many engines are free counts, not which. A GPU that is cut is like none
 * elsewhere on the node. */
uint64_t weir_gpu_likeness(const struct weir_gpu *gpu, uint32_t index);

/* roster.c: the slots, lists and tables of workers, without the books. Insertion of a slot that
 * was taken out before (roll-back) cannot fail. */
weir_status weir_roster_reserve(struct weir_cluster *cluster, const struct weir_owner *owner,
                                uint32_t device_count);
uint32_t weir_roster_insert(struct weir_cluster *cluster, const struct weir_worker_slot *worker);
/* A worker that was taken out comes back into its slot, and is in this state. */
void weir_roster_return(struct weir_cluster *cluster, uint32_t slot, uint32_t state);
/* Takes a worker out; its slot and its block of devices stay its own until they are given back. */
void weir_roster_extract(struct weir_cluster *cluster, uint32_t slot);
void weir_roster_give_slot(struct weir_cluster *cluster, uint32_t slot);
uint32_t weir_roster_take_block(struct weir_cluster *cluster, uint32_t device_count);

/* journal.c: room for one entry when a mark is set; then the entry, of a slot whose worker was
 * added or is as it shall be again, or of the flags of a node. False when there is no mark. */
weir_status weir_journal_reserve(struct weir_cluster *cluster);
bool weir_journal_write(struct weir_cluster *cluster, enum weir_undo_kind kind, uint32_t slot);
void weir_journal_write_flags(struct weir_cluster *cluster, uint32_t node);
/* Lends an inventory without marks to policies, to try things on: under a mark that they can
 * neither release nor roll back. Taken back it is as it was; false when they had left other flags
 * of nodes, which are none of their business. */
weir_status weir_cluster_lend(struct weir_cluster *cluster);
bool weir_cluster_take_back(struct weir_cluster *cluster);
/* Forgets everything recorded, giving slots of removed workers back. */
void weir_journal_clear(struct weir_cluster *cluster);

#endif
