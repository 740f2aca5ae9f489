/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of the oracle of jobs in time; see oracle.h. */
#ifndef TESTS_JOB_ORACLE_STATE_H
#define TESTS_JOB_ORACLE_STATE_H

#include "sim/cluster/cluster.h"
#include "sim/engine/engine.h"
#include "sim/engine/time.h"
#include "sim/lab/job_placer.h"
#include "sim/record/record.h"
#include "sim/scenario/workload/job_stream.h"
#include "sim/scenario/workload/target.h"
#include "tests/support/job_oracle/partition.h"
#include "tests/support/job_oracle/wait_queue.h"
#include "tests/support/job_rows.h"
#include "weir/job.h"

enum oracle_job_event {
    ORACLE_JOB_END = 1, /* target: slot, argument: job */
    ORACLE_JOB_ARRIVE,
    ORACLE_JOB_LEAVE, /* target: slot, argument: job */
    ORACLE_JOB_RETRY, /* target: slot, argument: job */
    ORACLE_JOB_PASS,
    ORACLE_JOB_NODE_FAIL,   /* target: node */
    ORACLE_JOB_NODE_REPAIR, /* target: node */
    ORACLE_JOB_CUT          /* target: node, argument: GPU */
};

enum oracle_job_state { ORACLE_JOB_GONE, ORACLE_JOB_WAITING, ORACLE_JOB_RUNNING, ORACLE_JOB_AWAY };

struct oracle_job {
    uint64_t id; /* in the order of arrival */
    struct sim_job_arrival arrival;
    int64_t queued_ns, start_ns;
    uint64_t first_worker; /* of its members, whose numbers follow one another */
    sim_handle timer;      /* end, patience or retry */
    uint32_t state;        /* enum oracle_job_state */
    uint32_t retries, attempts;
    bool is_new; /* came at this instant */
};

struct oracle_run {
    const struct sim_scenario *scenario;
    const struct sim_workload *workload;
    struct weir_error *error;
    struct sim_random random;
    struct sim_engine *engine;
    struct sim_cluster *truth;
    struct weir_cluster *belief;
    struct sim_job_placer *placer;
    struct weir_ranker *ranker;
    struct sim_job_stream *stream;
    struct sim_job_arrival next;
    bool has_next, has_pass;
    struct test_job_rows *rows;

    struct sim_target target;

    uint32_t *kind_of; /* by spec */
    bool *is_feasible; /* by kind */
    struct oracle_wait_queue queue;

    struct oracle_job *jobs; /* slots */
    uint32_t *free_slots;
    uint32_t slot_count, slot_capacity, free_count;
    uint32_t *fresh; /* slots of jobs that came at this instant */
    uint32_t fresh_count, fresh_capacity;

    uint64_t arrived, gone;
    uint64_t waiting, running, away, ending; /* ending: running jobs that will end */
    uint64_t patient;                        /* waiting jobs that may leave */
    uint32_t *node_failures;
    uint32_t nodes_down;
    uint64_t workers; /* numbers given so far */

    struct oracle_job_cuts cuts;
    struct sim_lease lease; /* of the member at hand */
    struct sim_claim claim;
    struct sim_part parts[WEIR_MAX_DEVICES];
};

static inline const struct sim_job_spec *oracle_job_spec(const struct oracle_run *run,
                                                         const struct oracle_job *job)
{
    return &run->workload->jobs[job->arrival.spec];
}

/* Schedules an event and returns its handle. */
sim_handle oracle_job_schedule(struct oracle_run *run, int64_t at_ns, uint16_t kind, uint16_t phase,
                               uint32_t slot);

/* job_life.c: transitions. */
weir_status oracle_job_arrive(struct oracle_run *run);
/* Its row. */
void oracle_job_tell(struct oracle_run *run, const struct oracle_job *job, const char *outcome);
/* What the queueing policy says of it now. */
weir_status oracle_job_key(struct oracle_run *run, const struct oracle_job *job, double *key);
weir_status oracle_job_enqueue(struct oracle_run *run, uint32_t slot);
void oracle_job_dequeue(struct oracle_run *run, uint32_t slot);
weir_status oracle_job_begin(struct oracle_run *run, uint32_t slot);
weir_status oracle_job_finish(struct oracle_run *run, uint32_t slot);
weir_status oracle_job_leave(struct oracle_run *run, uint32_t slot);
weir_status oracle_job_refuse(struct oracle_run *run, uint32_t slot);
weir_status oracle_job_come_again(struct oracle_run *run, uint32_t slot);
weir_status oracle_job_lose(struct oracle_run *run, uint32_t slot);
void oracle_job_want_pass(struct oracle_run *run);

/* job_place.c: what jobs hold. */
weir_status oracle_job_place(struct oracle_run *run, struct oracle_job *job, bool *is_placed);
weir_status oracle_job_give_back(struct oracle_run *run, const struct oracle_job *job);
weir_status oracle_job_judge_kinds(struct oracle_run *run);
/* The slot of the job that a worker belongs to. */
uint32_t oracle_job_of_worker(uint64_t worker);

/* job_pass.c */
weir_status oracle_job_pass(struct oracle_run *run);

/* job_faults.c */
weir_status oracle_job_faults_begin(struct oracle_run *run);
weir_status oracle_job_node_fail(struct oracle_run *run, uint32_t node);
weir_status oracle_job_node_repair(struct oracle_run *run, uint32_t node);

#endif
