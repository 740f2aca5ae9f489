/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hardware of a scenario: types of GPUs and nodes, what GPUs are shared by, stores and racks,
 * power and heat, failures, memory, drift.
 */
#ifndef SIM_SCENARIO_HARDWARE_H
#define SIM_SCENARIO_HARDWARE_H

#include "sim/engine/law.h"
#include "sim/scenario/speed.h"
#include "sim/scenario/step.h"
#include "weir/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_gpu_type {
    char *name;
    int64_t mem_bytes;
    uint32_t nvdecs;
    uint32_t nvencs;
    double speed; /* as the scenario gives it, NAN = by the catalogue */
    double idle_w;
    double limit_w;
    double price;               /* an hour of one GPU */
    const struct weir_mig *mig; /* how it can be cut, NULL = not at all */
    char *codecs;               /* the built-in type whose codec engines it has */
    uint32_t
        nvenc_sessions; /* encode sessions of all such GPUs of a node; UINT32_MAX = any number */
};

/* How workers share the GPUs of a node. */
enum sim_sharing {
    SIM_SHARING_FRACTION,  /* by parts; compute is slowed down when more is asked for than there is
                            */
    SIM_SHARING_MIG,       /* by instances of GPUs that are cut */
    SIM_SHARING_TIMESLICE, /* in turn: each has all of the GPU for a while */
    SIM_SHARING_EXCLUSIVE, /* not at all: who asks for a part takes the whole */
    SIM_SHARING_MPS,       /* by parts that nobody exceeds, at a price while several are there */
};

/* How long work takes on devices that others use too. */
/* What jobs that exchange over the way out of one node do to one another (sim/cluster/exchanges.h).
 */
enum sim_exchange_of_jobs { SIM_EXCHANGE_ALONE, SIM_EXCHANGE_ALIGNED, SIM_EXCHANGE_CLASHING };

enum sim_contention {
    SIM_CONTENTION_SHARED,  /* its rate follows what happens there while it runs */
    SIM_CONTENTION_AT_START /* as its start finds them, to its end */
};

/* Turns on one GPU. A switch saves and restores what is resident. */
struct sim_timeslice {
    int64_t quantum_ns;
    int64_t switch_ns;        /* with nothing resident */
    int64_t switch_memory_ns; /* more, with all memory resident */
};

struct sim_gpu_count {
    uint32_t type; /* index into gpu_types */
    uint32_t count;
};

/* Heat of the GPUs of a node: the power drawn decides where a temperature goes, tau how fast. */
struct sim_thermal {
    double ambient_c;
    double rise_c;  /* above it at the power limit, in the long run */
    double limit_c; /* a GPU as hot as this is throttled so that it stays there */
    int64_t tau_ns; /* 0 = temperatures are not modelled */
};

/* What is near what inside a node: CPUs and GPUs are divided over sockets, GPUs over islands,
 * evenly and in order. */
enum { SIM_MAX_SOCKETS = 8 };
struct sim_topology {
    uint32_t sockets;     /* 0 = one */
    uint32_t island_gpus; /* of an NVLink island; 0 = all of the node are one */
    double
        numa_penalty; /* who has CPUs on another socket than its GPUs takes so many times longer */
};

struct sim_node_type {
    char *name;
    double cpus;
    int64_t ram_bytes;
    double nic_per_s; /* bytes, in and out each; 0 = not modelled */
    struct sim_fabric fabric;
    struct sim_gpu_count *gpus;
    size_t gpus_count;
    uint32_t share;                 /* enum sim_sharing */
    weir_mig_layout *cuts;          /* MIG: by entry of `gpus`, NULL = instances on demand */
    struct sim_timeslice timeslice; /* TIMESLICE */
    double mps_overhead;            /* MPS: work takes so many times as long beside others */
    double power_cap_w;             /* of its GPUs together, 0 = none */
    struct sim_thermal thermal;
    struct sim_topology topology;
};

/* Nodes that their owner takes back (sim/world/spot.c). */
struct sim_spot {
    double hazard_per_s; /* 0 = never */
    double pressure;     /* the hazard goes with the price to this power */
    double volatility;   /* sd of the logarithm of the price */
    double correlation;  /* of neighbouring steps */
    int64_t step_ns;
    double price; /* part of that of the GPU types */
    int64_t notice_ns; /* so long before a node goes its owner says so */
};

/* Nodes of a group that come and go: the group has as many as there may be. */
struct sim_supply {
    uint32_t min, max;     /* max 0 = all are there for good */
    uint32_t initial;      /* that are there at the start, the first ones */
    struct sim_law *boot;  /* from a request until the node is there, NULL = at once */
    double launch_failure; /* probability that it does not come */
    struct sim_spot spot;
};

/* `count` equal nodes, named NAME-0, NAME-1 ... (NAME alone when count is 1 and a name is given).
 */
struct sim_node_group {
    char *name;
    uint32_t type;
    uint32_t first; /* node; those of a group follow each other */
    uint32_t count;
    const char *labels; /* words, "a|b"; NULL = none */
    bool is_kept;       /* for who asks for it */
    struct sim_supply supply;
};

/* A class of what is read and written. */
struct sim_traffic {
    char *name;
    double guarantee;   /* share of the bandwidth when all want more than there is */
    double limit_per_s; /* bytes, of all of the class; 0 = none */
};

/* A store outside the nodes. */
struct sim_store {
    char *name;
    double bytes_per_s; /* read and written */
    int64_t latency_ns;
    int64_t per_item_ns;
    int64_t window_bytes;        /* of one transfer on their way at once, 0 = any number */
    struct sim_traffic *traffic; /* the first: what has no class; NULL = no classes */
    size_t traffic_count;
};

/* Equal racks of nodes in their order. */
struct sim_racks {
    uint32_t nodes;      /* 0 = the network between nodes is never scarce */
    double uplink_per_s; /* bytes, in and out each */
};

/* What a GPU draws between its idle power and its limit. */
enum sim_gpu_power {
    SIM_GPU_POWER_ALLOCATED, /* the limit, once something lies on it (published, PWR) */
    SIM_GPU_POWER_USED       /* in proportion to the compute that is used */
};

/* Electric power of CPUs, and how that of GPUs, whose watts are in their types, follows from what
 * they do. */
struct sim_power {
    uint32_t gpu;         /* enum sim_gpu_power */
    int64_t control_ns;   /* throttles change at multiples of it; 0 = at once */
    double cpus_per_core; /* CPUs of a node are hardware threads */
    double cores_per_socket;
    double socket_idle_w;
    double socket_full_w;
};

/* What fails by itself. Nodes first: they keep the streams they always had. */
enum sim_fault {
    SIM_FAULT_NODE,
    SIM_FAULT_GPU,    /* one GPU; the rest of its node goes on */
    SIM_FAULT_SWITCH, /* all nodes behind it, for as long as it is away */
    SIM_FAULT_RACK,   /* all nodes in it: power, cooling */
    SIM_FAULT_SLOW,   /* a node that becomes slow for a while */
    SIM_FAULT_LINK,   /* the interface of a node; the node goes on */
    SIM_FAULT_STORE,  /* a store outside the nodes */
    SIM_FAULT_GPU_SLOW,
    SIM_FAULTS
};

struct sim_failure_law {
    struct sim_law *between; /* time from the beginning or a repair, NULL = never fails */
    struct sim_law *repair;  /* NULL = at once */
};

/* Nodes that stand together are `switch_nodes` and `rack_nodes` neighbours in the cluster's order.
 */
struct sim_failures {
    struct sim_failure_law of[SIM_FAULTS];
    uint32_t switch_nodes, rack_nodes;
    struct sim_law *slow_factor;
    struct sim_law *detection; /* until the scheduler hears of a loss, NULL = at once */
};

/* Memory of nodes in time (sim/cluster/memory.h). */
/* How free memory of a GPU is found (sim/cluster/extents.h). */
enum sim_addresses { SIM_ADDRESSES_PAGED, SIM_ADDRESSES_FIRST_FIT, SIM_ADDRESSES_BEST_FIT };

enum sim_memory_rule {
    SIM_MEMORY_ADMIT,      /* a worker's own must be free when it starts */
    SIM_MEMORY_OOM_KILLER, /* the process with most memory dies */
    SIM_MEMORY_MONITOR     /* as Ray: retriable first, newest first */
};
struct sim_memory {
    uint32_t rule;    /* enum sim_memory_rule */
    double threshold; /* MONITOR: above max(threshold x all, all - min_free) */
    int64_t min_free_bytes;
    int64_t refresh_ns; /* MONITOR: one dies at each look */
    double store_frac;  /* of a node's memory, for outputs that wait */
};

/* Service times wander; see sim/world/drift.c. */
enum sim_drift_of { SIM_DRIFT_NODE, SIM_DRIFT_CLUSTER };
struct sim_drift {
    uint32_t of; /* enum sim_drift_of: who has a factor of his own */
    int64_t step_ns;
    double cv;
    double correlation; /* of the logarithms of neighbouring steps */
};

#endif
