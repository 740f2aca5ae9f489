/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The physical truth: what there is, who holds it, who runs on it right now.
 *
 * Admission follows the *request* (the allocation the scheduler chose), physics follows the *uses*:
 * memory that is really taken must exist, and compute or codec engines that are asked for beyond
 * what there is slow everybody on the device down. The scheduler's inventory is another thing; it
 * may believe in decoders that do not exist, and then its plan is refused here.
 *
 * Invariants (sim_cluster_check): 0 <= held <= total for every device; every codec engine and every
 * slot of a cut GPU is held at most once; loads are >= 0; CPUs held by socket are those of the
 * node.
 */
#ifndef SIM_CLUSTER_CLUSTER_H
#define SIM_CLUSTER_CLUSTER_H

#include "sim/engine/activity.h"
#include "sim/engine/room.h"
#include "sim/record/meter/meter.h"
#include "sim/scenario/scenario.h"

#include <assert.h>

/* What one worker really takes from one device while it works. */
struct sim_use {
    uint32_t gpu; /* index within the node */
    uint32_t reserved;
    double gpu_share;
    double nvdecs;
    double nvencs;
    int64_t mem_bytes;
    const struct weir_mig_profile *slice; /* the instance it is on, NULL = none */
    double slice_share;                   /* of the GPU's SMs */
};

/* One device of a lease: what is set aside there, and what is really used. */
struct sim_part {
    struct weir_device device;
    struct sim_use use;
};

/* What one worker takes of a node, whichever it is: the allocation (admission) and the use
 * (physics). Parts are as many as the allocation has devices and at least one. */
struct sim_claim {
    uint32_t device_count; /* parts that hold */
    uint32_t use_count;    /* parts that use; none, as many, or one hidden one without a device */
    uint32_t tenant;       /* whose rank it is, counted from 1; 0 = nobody's */
    uint32_t reserved;
    int64_t cpu_units;
    int64_t ram_bytes;
    double cpus_used;
    int64_t ram_used_bytes;
    const struct sim_memory_traffic *traffic; /* on each GPU it uses; NULL = none */
    int64_t cpu_on[SIM_MAX_SOCKETS]; /* of cpu_units; zeros where nobody counts by socket */
    struct sim_part *parts;          /* the caller's memory */
    /* What follows from this. */
    struct sim_meter_amounts used; /* while it works, with all its compute */
    bool is_within;                /* it never takes more than it holds, traffic aside */
    double over;                   /* MPS: what it wants of a GPU over what it has, at least 1 */
};
static inline uint32_t sim_claim_parts(const struct sim_claim *claim)
{
    return claim->device_count > 0 ? claim->device_count : 1;
}

/* Whether it may take more than it holds: something may be scarce where it is. */
static inline bool sim_claim_is_beyond(const struct sim_claim *claim)
{
    return !claim->is_within || claim->traffic != NULL;
}

/* Whether it is on an instance of a GPU that is cut: it is slowed down by its own size. */
static inline bool sim_claim_is_sliced(const struct sim_claim *claim)
{
    return claim->use_count > 0 && claim->parts[0].use.slice != NULL;
}

/* One worker's hold on a node. Workers that take the same of their nodes may share a claim. */
struct sim_lease {
    const struct sim_claim *claim;
    uint32_t node;
    bool is_running;
    bool is_apart; /* its work goes on in several places together */
};

/* What running work asks of the memory system of a GPU, outside instances. */
struct sim_gpu_traffic {
    double bandwidth, reserved; /* bandwidth: beyond what is set aside */
    double cache, pinned;       /* cache: that is not pinned */
};

struct sim_gpu {
    /* What is free of it, looked at on all GPUs of a node whenever somebody comes or goes: 64
     * bytes. */
    uint32_t type;
    uint32_t nvdec_held, nvenc_held; /* masks */
    uint8_t nvdecs, nvencs;          /* engines there are */
    bool is_lost;                    /* it gives out nothing until it is repaired */
    bool is_scarce : 1;              /* who works on it has to be told of changes */
    bool counts_sessions : 1;        /* its encoders are under a limit of the node */
    int64_t units_held;
    int64_t mem_total_bytes, mem_used_bytes;
    const struct weir_mig *mig; /* NULL = not cut */
    weir_mig_layout mig_cut, mig_held;
    /* What runs on it. */
    double load, nvdec_load, nvenc_load; /* asked for by running tasks outside instances */
    double slow;                         /* what runs there takes so many times as long */
    double crowding;    /* MPS: what runs there takes so many times as long; else 1 */
    double throttle;    /* of its speed, by power and heat; 1 = none (power.h) */
    uint32_t running;   /* leases with compute that run */
    uint32_t users;     /* leases that use it, whether they run or not */
    uint32_t apart;     /* of them, those whose work is not on `compute` */
    uint32_t compute;   /* its resource; WEIR_NO_INDEX = it is never scarce */
    uint32_t loss;      /* the number of its present loss, on its node */
    uint32_t mig_slots; /* taken; only when cut */
    struct sim_gpu_traffic traffic;
    double slice_load; /* share of its SMs that runs in instances */
    double draw_w;     /* with gpu: used */
    double heat_c;     /* temperature when its node was looked at last */
};
static_assert(sizeof(struct sim_gpu) % SIM_LINE == 0, "the first line of each is one of a cache");

/* Codec engines of a mask: mostly none, and to count is a call. */
static inline double sim_mask_count(uint32_t mask)
{
    return mask == 0 ? 0 : (double)__builtin_popcount(mask);
}

/* Of what it would be: throttled, slow by itself, and because others are there. */
static inline double sim_gpu_speed(const struct sim_gpu *gpu)
{
    return gpu->throttle / (gpu->slow * gpu->crowding);
}

struct sim_node {
    bool is_up;
    uint32_t type;
    uint32_t gpu_first, gpu_count;
    int64_t cpu_total, cpu_held; /* units */
    int64_t ram_total_bytes, ram_used_bytes;
    int64_t work_bytes, store_bytes; /* in time: input in hand, outputs that wait (memory.h) */
    uint32_t next_grown;             /* node + 1, in the list of those where these grew */
    bool has_grown;                  /* it is in that list */
    bool is_watched;                 /* a look of the memory monitor is to come */
    uint32_t sessions_held, sessions_most; /* of encoders, on GPUs that have a limit */
    double cpu_load;                       /* CPUs asked for by running tasks */
    double slow; /* services that start now take this much longer; 1 = normal */
    const struct sim_timeslice *turns;   /* NULL = workers do not take turns */
    double mps_overhead;                 /* 0 = no MPS */
    uint32_t turn_steps;                 /* units of a quantum, in which a switch counts */
    double power_cap_w;                  /* of its GPUs together, 0 = none */
    const struct sim_thermal *thermal;   /* NULL = temperatures are not modelled */
    int64_t heated_ns;                   /* when heat_c of its GPUs was right */
    uint32_t next_drawing;               /* node + 1, in the list of those that draw other power */
    bool is_drawing;                     /* it is in that list */
    uint32_t loss;                       /* the number of its present loss */
    const struct sim_topology *topology; /* sockets and islands (topology.h) */
    const struct sim_fabric *fabric;     /* what ranks exchange over (collective.h) */
    int64_t *cpu_held_on;                /* by socket; NULL = one socket, or nobody counts */
    uint32_t beyond;                     /* leases that may take more than they hold */
};

struct sim_cluster {
    const struct sim_scenario *scenario;
    struct sim_node *nodes;
    struct sim_gpu *gpus;
    uint32_t node_count;
    uint32_t gpu_count;
    uint32_t first_drawing;            /* node + 1 */
    uint32_t first_grown;              /* node + 1 */
    struct sim_activities *activities; /* NULL = no work is timed here */
    bool has_compute;                  /* some GPU has a resource of it */
    bool has_heat;                     /* temperatures of some node are modelled */
    struct sim_links *links;           /* link.h; NULL likewise */
    int64_t *cpu_held_on;              /* of all nodes (topology.h); NULL = nobody counts */
    struct sim_pool *pools;            /* memory of GPUs that tenants keep (gpu_pools.h) */
    uint32_t pool_count;
    struct sim_ghosts *ghosts;       /* ghosts.h; NULL = there never were any */
    struct sim_extents *extents;     /* extents.h; NULL = free memory of GPUs is in one piece */
    struct sim_exchanges *exchanges; /* exchanges.h; NULL = every job has its links to itself */
};

weir_status sim_cluster_create(const struct sim_scenario *scenario, struct sim_cluster **cluster);
void sim_cluster_destroy(struct sim_cluster *cluster);

/* Totals of a node, for the meter. */
struct sim_meter_amounts sim_cluster_capacity(const struct sim_cluster *cluster, uint32_t node);

/* What a worker that holds `alloc` and really is a `uses` takes where, as things are now; `parts`
 * must be there, and are filled without a gap: equal claims are equal byte by byte. */
struct sim_lease sim_lease_fill(struct sim_claim *claim, const struct sim_cluster *cluster,
                                const struct weir_alloc *alloc, const struct weir_shape *uses);

/* The allocation it was filled from. */
struct weir_alloc sim_lease_alloc(const struct sim_lease *lease);

/* Takes the lease, or says why not (enum weir_reason; WEIR_REASON_NONE = taken). */
uint32_t sim_cluster_acquire(struct sim_cluster *cluster, struct sim_lease *lease);
void sim_cluster_release(struct sim_cluster *cluster, struct sim_lease *lease);

/* A task starts or ends on the lease. Returns whose work it makes slower or faster: those on these
 * GPUs of the node, by bit; SIM_NODE_GPUS: all on the node. */
#define SIM_NODE_GPUS UINT64_MAX
uint64_t sim_cluster_run(struct sim_cluster *cluster, struct sim_lease *lease, bool is_running);
/* A running lease whose work is on a compute resource takes so much more of what it uses there
 * (less when negative), because something else holds it up less (more). */
void sim_cluster_slow_use(struct sim_cluster *cluster, const struct sim_lease *lease,
                          double change);
/* GPUs' worth of compute that are delivered. */
double sim_gpu_used(const struct sim_node *node, const struct sim_gpu *gpu);

/* Fetches what is looked at when somebody on the node goes. */
void sim_cluster_foresee(const struct sim_cluster *cluster, uint32_t node);

/* How much longer than alone a task takes on this (running) lease, as things are now, but for what
 * its compute resource tells: the most over-asked device decides. >= 1. */
double sim_cluster_contention(const struct sim_cluster *cluster, const struct sim_lease *lease);
/* How much longer it takes as long as it is there: its CPUs are far from its GPUs, or it wants more
 * of them than it may have; and because its node is slow too, its GPUs are throttled or crowded. */
double sim_lease_own_slowness(const struct sim_cluster *cluster, const struct sim_lease *lease);
double sim_cluster_slowness(const struct sim_cluster *cluster, const struct sim_lease *lease);
/* Both. */
double sim_cluster_slowdown(const struct sim_cluster *cluster, const struct sim_lease *lease);

/* What is free on a node, as libweir puts it (a node that is down has nothing): CPUs, memory
 * (INT64_MAX = not modelled), `gpu_count` of `gpus`. */
struct weir_node sim_cluster_free(const struct sim_cluster *cluster, uint32_t node,
                                  struct weir_gpu gpus[WEIR_MAX_NODE_GPUS]);
/* Reports the free amounts and the power of a node to the meter. */
void sim_cluster_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns,
                       uint32_t node);

/* No node is down and no GPU lost. */
bool sim_cluster_is_whole(const struct sim_cluster *cluster);

weir_status sim_cluster_check(const struct sim_cluster *cluster, struct weir_error *error);

#endif
