/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actor systems as resolved: sets of equal processes, who calls whom, and the training loop.
 *
 * A role that stands alone is a set; roles that share a process are one set together. A set is a
 * pool to the scheduler, behind the stages of all pipelines.
 */
#ifndef SIM_SCENARIO_ACTORS_H
#define SIM_SCENARIO_ACTORS_H

#include "sim/engine/law.h"
#include "sim/engine/token_bucket.h"
#include "weir/shape.h"

#define SIM_ACTORS_NOBODY UINT32_MAX /* a role that a system does not have */

/* Words in the values of variables that every process fills in (sim/actors/environment.c). */
#define SIM_ENVIRONMENT_RANK       "{rank}"
#define SIM_ENVIRONMENT_LOCAL_RANK "{local_rank}"
#define SIM_ENVIRONMENT_SIZE       "{size}"
#define SIM_ENVIRONMENT_NODE       "{node}"

struct sim_variable {
    const char *name, *value;
};

/* Equal processes: what each asks for, and how many calls it has in service at once. */
struct sim_actor_set {
    const char *name; /* of the role, or of the group */
    struct weir_shape shape;
    uint32_t soft_labels;
    uint32_t node;          /* the only one it may be on, by name; SIM_ACTORS_NOBODY = any */
    struct weir_shape uses; /* of one that computes */
    uint32_t sees;          /* GPUs, of those that it holds */
    int64_t model_bytes;    /* on each GPU that it works on, else in the memory of its node */
    int64_t context_bytes;  /* of each GPU that it sees */
    int64_t leak_bytes;     /* that every call leaves behind */
    struct sim_variable *variables; /* of its environment */
    size_t variables_count;
    const char *missing; /* one that it needs and is not there; NULL = none */
    int32_t count;       /* -1 = the scaling policy chooses */
    uint32_t concurrency;
    struct sim_token_rule rate_limit; /* calls that one takes in */
    bool is_group;
};

struct sim_role {
    const char *name;
    uint32_t set;
    struct sim_law *creation; /* of a process of this role; of a group those of all its roles */
};

/* Every process of `from` goes round: it waits, computes, calls one of `to` and waits for it. */
struct sim_role_calls {
    uint32_t from, to;             /* roles */
    struct sim_law *think, *work;  /* of the caller; NULL = 0 */
    struct sim_law *service, *cpu; /* of the one that is called: it waits, it computes; NULL = 0 */
    int64_t limit_ns;              /* a call that takes longer has failed; INT64_MAX = none */
};

enum sim_train_ready { SIM_READY_DRAINED, SIM_READY_BATCH, SIM_READY_BOTH };
enum sim_train_sync { SIM_SYNC_ALWAYS, SIM_SYNC_THRESHOLD, SIM_SYNC_NEVER };

/* The roles of a training loop by what they are for. */
enum sim_train_role {
    SIM_TRAIN_ROLLOUT,
    SIM_TRAIN_TRAINER,
    SIM_TRAIN_POOL,
    SIM_TRAIN_SYNC,
    SIM_TRAIN_LOADER,
    SIM_TRAIN_VALIDATOR,
    SIM_TRAIN_ROLES
};

struct sim_training {
    bool is_there;
    uint32_t roles[SIM_TRAIN_ROLES]; /* SIM_ACTORS_NOBODY: that takes no call */
    uint64_t steps;                  /* UINT64_MAX = no end */
    uint32_t batch, repeat;          /* prompts of a batch, rollouts of a prompt */
    bool keeps_order;                /* the next batch comes when the loop unlocks it */
    struct sim_law *rollout, *rollout_cpu, *get, *put;
    int64_t poll_ns;
    int64_t trajectory_bytes;
    uint32_t pool_limit;  /* trajectories there and on their way; UINT32_MAX = any */
    uint32_t ready;       /* enum sim_train_ready */
    uint32_t ready_count; /* trajectories that are enough */
    struct sim_law *step;
    int64_t activation_bytes; /* that a process takes from its first step on */
    double recomputing;       /* a step takes so many times longer */
    double without_gpu; /* a step on a trainer that works on no GPU takes so many times longer */
    uint32_t sync;      /* enum sim_train_sync */
    uint32_t threshold;
    struct sim_law *transfer;
    uint32_t validate_every; /* 0 = never */
    struct sim_law *validation;
    int64_t turn_ns;             /* the loop looks so often */
    int64_t call_limit_ns;       /* of calls inside the system */
    int64_t client_limit_ns;     /* of a rollout that waits for weights */
    int64_t health_ns, probe_ns; /* 0 = no health check */
    uint32_t probes;             /* of one process */
    bool probes_at_once;
};

struct sim_actor_system {
    const char *name;
    struct sim_role *roles;
    size_t roles_count;
    struct sim_actor_set *sets;
    size_t sets_count;
    size_t set_first; /* pool of its first set */
    struct sim_role_calls *calls;
    size_t calls_count;
    struct sim_training training;
    bool ends_on_loss;         /* where a process is lost */
    int64_t environment_bytes; /* that every process is given beside its variables */
    double creation_per_s;     /* bytes of environments that go out, one process after the other */
    int64_t ready_limit_ns;    /* of processes of one role */
    int64_t group_limit_ns;    /* of shared ones; INT64_MAX = they may take any time */
};

#endif
