/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a run of jobs in time; for the job_*.c files alone. */
#ifndef SIM_JOBS_JOB_STATE_H
#define SIM_JOBS_JOB_STATE_H

#include "sim/engine/digest.h"
#include "sim/engine/engine.h"
#include "sim/engine/time.h"
#include "sim/jobs/job_meter.h"
#include "sim/jobs/job_partition.h"
#include "sim/jobs/job_run.h"
#include "sim/jobs/wait_queue.h"
#include "sim/lab/job_placer.h"
#include "sim/scenario/workload/job_stream.h"
#include "sim/scenario/workload/target.h"
#include "weir/job.h"

enum sim_job_event {
    SIM_JOB_END = 1, /* target: slot, argument: job */
    SIM_JOB_ARRIVE,
    SIM_JOB_LEAVE, /* target: slot, argument: job */
    SIM_JOB_RETRY, /* target: slot, argument: job */
    SIM_JOB_PASS,
    SIM_JOB_SAMPLE,
    SIM_JOB_WARM,
    SIM_JOB_NODE_FAIL,   /* target: node */
    SIM_JOB_NODE_REPAIR, /* target: node */
    SIM_JOB_CUT          /* target: node, argument: GPU */
};

enum sim_job_state { SIM_JOB_GONE, SIM_JOB_WAITING, SIM_JOB_RUNNING, SIM_JOB_AWAY };

struct sim_job {
    uint64_t id; /* in the order of arrival */
    struct sim_job_arrival arrival;
    int64_t queued_ns, start_ns;
    uint64_t first_worker; /* of its members, whose numbers follow one another */
    sim_handle timer;      /* end, patience or retry */
    uint32_t state;        /* enum sim_job_state */
    uint32_t retries, attempts;
    uint32_t node;     /* of its first member */
    int64_t gpu_units; /* that its members hold: an instance may be larger than what it asks for */
    bool is_counted;
    bool is_new; /* came at this instant */
};

struct sim_job_run {
    const struct sim_scenario *scenario;
    const struct sim_run_options *options;
    const struct sim_workload *workload;
    const struct sim_job_observer *observer;
    struct weir_error *error;
    struct sim_random random;
    struct sim_engine *engine;
    struct sim_cluster *truth;
    struct weir_cluster *belief;
    struct sim_job_placer *placer;
    struct weir_ranker *ranker;
    struct sim_job_stream *stream;
    struct sim_job_arrival next;
    bool has_next, has_pass, is_interrupted, is_over;

    struct sim_target target;
    int64_t *frag; /* by node, in 2^-20 of a GPU */
    int64_t frag_sum;

    uint32_t *kind_of; /* by spec */
    bool *is_feasible; /* by kind */
    struct sim_wait_queue queue;

    struct sim_job *jobs; /* slots */
    uint32_t *free_slots;
    uint32_t slot_count, slot_capacity, free_count;
    uint32_t *fresh; /* slots of jobs that came at this instant */
    uint32_t fresh_count, fresh_capacity;

    uint64_t arrived;
    uint64_t waiting, running, away, ending; /* ending: running jobs that will end */
    uint64_t patient;                        /* waiting jobs that may leave */
    uint32_t *node_failures;
    uint32_t nodes_down;
    uint64_t workers; /* numbers given so far */
    uint64_t refused_by_truth;

    struct sim_job_cuts cuts;
    struct sim_job_meter meter;
    int64_t sample_ns, end_ns;
    uint64_t samples, handled, passes;
    uint64_t result_digest;
    struct sim_lease lease; /* of the member at hand */
    struct sim_part parts[WEIR_MAX_DEVICES];
};

/* What a place in the result digest stands for. */
enum { DIGEST_START = 1, DIGEST_DONE, DIGEST_REFUSED, DIGEST_LEFT, DIGEST_LOST };
void sim_job_digest(struct sim_job_run *run, uint64_t what, const struct sim_job *job);

static inline const struct sim_job_spec *sim_job_spec(const struct sim_job_run *run,
                                                      const struct sim_job *job)
{
    return &run->workload->jobs[job->arrival.spec];
}

/* Schedules an event and returns its handle. */
sim_handle sim_job_schedule(struct sim_job_run *run, int64_t at_ns, uint16_t kind, uint16_t phase,
                            uint32_t slot);

/* job_life.c: transitions. */
weir_status sim_job_arrive(struct sim_job_run *run);
/* Tells observer and recorder what became of it. */
weir_status sim_job_tell(struct sim_job_run *run, const struct sim_job *job, const char *outcome);
/* What the queueing policy says of it now. */
weir_status sim_job_key(struct sim_job_run *run, const struct sim_job *job, double *key);
weir_status sim_job_enqueue(struct sim_job_run *run, uint32_t slot);
void sim_job_dequeue(struct sim_job_run *run, uint32_t slot);
weir_status sim_job_begin(struct sim_job_run *run, uint32_t slot);
weir_status sim_job_finish(struct sim_job_run *run, uint32_t slot);
weir_status sim_job_leave(struct sim_job_run *run, uint32_t slot);
weir_status sim_job_refuse(struct sim_job_run *run, uint32_t slot);
weir_status sim_job_come_again(struct sim_job_run *run, uint32_t slot);
weir_status sim_job_lose(struct sim_job_run *run, uint32_t slot);
void sim_job_want_pass(struct sim_job_run *run);

/* job_place.c: what jobs hold. */
weir_status sim_job_place(struct sim_job_run *run, struct sim_job *job, bool *is_placed);
weir_status sim_job_give_back(struct sim_job_run *run, const struct sim_job *job);
weir_status sim_job_judge_kinds(struct sim_job_run *run);
void sim_job_refresh_frag(struct sim_job_run *run, uint32_t node);
/* The slot of the job that a worker belongs to. */
uint32_t sim_job_of_worker(uint64_t worker);

/* job_pass.c */
weir_status sim_job_pass(struct sim_job_run *run);

/* job_faults.c */
weir_status sim_job_faults_begin(struct sim_job_run *run);
weir_status sim_job_node_fail(struct sim_job_run *run, uint32_t node);
weir_status sim_job_node_repair(struct sim_job_run *run, uint32_t node);

#endif
