/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the port share: its state, telling the host, and applying a plan. What changes
 * the host goes through told.h; reading it is open to all.
 */
#ifndef SIM_PORT_PORT_STATE_H
#define SIM_PORT_PORT_STATE_H

#include "sim/port/command_policy.h"
#include "sim/port/port.h"
#include "sim/port/told.h"
#include "weir/forecast.h"
#include "weir/plan.h"

struct port_pool {
    struct sim_pool pool;
    struct sim_pool_state seen; /* as old as the view */
};

struct port_workload {
    uint32_t driver, classes;
    struct weir_mix mix;
    int64_t reserved_units; /* of GPUs, by the latest plan */
};

/* A GPU that is away while it is cut. */
struct port_cut {
    uint32_t node, gpu;
    weir_mig_layout layout;
};

/* Something the scheduler hears of; see late.c. */
enum port_news_kind {
    PORT_NEWS_TASK,
    PORT_NEWS_SUBMITTED,
    PORT_NEWS_WITHDRAWN, /* index: workload, id: job */
    PORT_NEWS_ENDED,     /* the same */
    PORT_NEWS_RANK,      /* it is gone */
    PORT_NEWS_RESIZED,   /* index: workload, id: job */
    PORT_NEWS_NODE,      /* index: node, id: whether it is up */
    PORT_NEWS_GPU        /* index: node, id: GPU << 1 | whether it is healthy */
};
struct port_news {
    uint32_t kind; /* enum port_news_kind */
    uint32_t index;
    int64_t at_ns;
    uint64_t id;
    struct weir_rank_group *groups; /* of the job, while it is kept */
    union {
        struct weir_measurement task;
        struct weir_job_spec job;
        struct weir_outcome rank;
        struct sim_ranks_lost lost;
    };
};
struct port_log {
    struct port_news *news; /* from `first` to `end`, oldest first: not told yet */
    size_t first, end, of_jobs;
    uint32_t capacity;
    sim_handle timer;
};

/* Which decisions are timed; port.c. */
struct sim_port_clock {
    uint64_t begun;
    bool is_open; /* its end is not read yet */
};

struct sim_port {
    struct sim_port_reserved *reserved; /* by reservation, as the meter was told; NULL = nothing */
    struct port_workload *workloads;
    uint32_t workload_count;
    struct port_cut *cuts;
    uint32_t cut_count, cut_capacity;
    uint64_t cuts_done, passes;
    uint32_t causes;  /* of a decision that is due */
    uint32_t looks;   /* wakes and late views on their way */
    int64_t asked_ns; /* when one was scheduled last */
    struct sim_port_config config;
    struct port_pool *pools;
    uint32_t pool_count, pool_capacity;
    const struct sim_sched *sched; /* in force */
    struct weir_host *host;
    struct sim_policy_process process; /* of a module; its line is cut when there is none */
    struct sim_told_lists *lists;      /* memory for the plans that come from there */
    bool is_isolated;                  /* decisions are made there */
    bool is_lost;                      /* something told did not get through */
    uint64_t decisions;
    uint32_t *outcomes; /* by action of the present plan */
    uint32_t *kinds;    /* of the jobs they are about */
    uint32_t outcome_capacity, kind_capacity;
    uint64_t next_initial;           /* id of the next worker placed before the first decision */
    const struct weir_plan *pending; /* decided, not applied yet; the host's */
    const struct sim_sched *pending_sched;
    int64_t pending_ns, pending_wall_ns; /* wall: negative = not timed */
    uint32_t pending_causes;
    bool has_offers;
    double forecast_error; /* as the process of a module said last */
    struct weir_feature_past feature_past;
    struct sim_port_clock clock;
    bool has_seen;
    struct port_log log;
    bool is_enough;               /* the witness says */
    struct sim_commands commands; /* for the policies `command` */
    struct weir_allocator memory;
};

/* Of the scheduler in force. */
struct weir_host_config sim_port_host_config(struct sim_port *port);
/* How past use of tenants is counted. */
weir_status sim_port_set_usage(const struct sim_port *port, struct weir_host *host);
/* A host with all that it is told before the first decision, wherever it lives. */
weir_status sim_port_open_host(const struct sim_port *port, const struct weir_host_config *config,
                               struct weir_host **host, struct weir_error *error);

/* Tells the host that workers started there, or with a reason that the truth refused them. */
weir_status sim_port_tell_places(struct sim_port *port, const struct sim_start *start,
                                 uint32_t reason);

/* late.c: tells the host, now or when it is as old as the view. WEIR_EINFEASIBLE of a job that is
 * told now: it can never start. */
weir_status sim_port_news(struct sim_port *port, const struct port_news *news);
/* Now, whatever is on its way. */
weir_status sim_port_news_now(struct sim_port *port, const struct port_news *news);
/* However young they are. */
weir_status sim_port_tell_all(struct sim_port *port);
void sim_port_forget_news(struct port_log *log);

/* port_jobs.c */
weir_status sim_port_apply_cut(struct sim_port *port, const struct weir_action *action);
/* The plan reserves something; all its actions are applied. No device is taken: that nobody else
 * gets it is libweir's doing. */
void sim_port_apply_reserve(struct sim_port *port, const struct weir_action *action);
void sim_port_count_reserved(struct sim_port *port);
/* What it asks for, as libweir numbers it; WEIR_NO_INDEX = no such job. */
uint32_t sim_port_job_kind(struct sim_port *port, uint32_t workload, uint64_t id);
/* Devices were given back, or a node came: jobs that wait may start, and workers come back. */
void sim_port_room_made(struct sim_port *port);

static inline const struct sim_driver *sim_port_driver(const struct sim_port *port,
                                                       struct weir_owner owner)
{
    const uint32_t driver = owner.kind == WEIR_OWNER_JOB ? port->workloads[owner.index].driver
                                                         : port->pools[owner.index].pool.driver;
    return &port->config.drivers[driver];
}

/* Applies a plan to the truth: stops, then slots and the rest, then starts, each in the plan's
 * order. Fills `outcomes` and adds the actions that were refused. */
weir_status sim_port_apply_plan(struct sim_port *port, const struct weir_plan *plan,
                                uint32_t *refused);
/* Starts that the plan wanted and the cluster could not give; after the plan was applied. */
uint32_t sim_port_count_refused(const struct sim_port *port, const struct weir_plan *plan);

/* port_jobs.c: tells the host of licences. */
weir_status sim_port_add_licences(const struct sim_port *port, struct weir_host *host,
                                  struct weir_error *error);
/* port_reserved.c: tells the host of reservations in advance; tells the meter which of them last,
 * and with which nodes. */
weir_status sim_port_add_reservations(const struct sim_port *port, struct weir_host *host,
                                      struct weir_error *error);
weir_status sim_port_note_reservations(struct sim_port *port);
void sim_port_forget_reservations(struct sim_port *port);

/* Schedules a wake or a late view. */
void sim_port_plan_look(struct sim_port *port, const struct sim_event *event);

#endif
