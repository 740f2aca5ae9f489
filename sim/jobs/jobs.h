/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs as a kind of work: they arrive, wait, are started by a plan, run and end.
 *
 *            +---------------- turned away, retries left: comes again ------------+
 *            v                                                                    |
 *   arrives -+-> WAITING -- a plan started all ranks --> RUNNING -- work over: done
 *                  |  |                                    |                      |
 *                  |  +-- patience over: left              +-- a rank lost, or pre-empted: WAITING
 * again
 *                  +-- no room to wait ----------------> AWAY --------------------+
 *                                                          no retry left: refused
 *
 * A rank is a worker; the run of a job is one activity, as fast as its slowest rank. The driver
 * knows when a job comes, how much work it is and how long it waits for a start; who starts, where
 * and in what order is libweir's. When a rank is lost the others go too, and the job goes on
 * from its last checkpoint, or from its beginning.
 *
 * Invariant (check): arrived = done + refused + left + waiting + running + away; a running job has
 * as many workers as ranks, no other has any.
 */
#ifndef SIM_JOBS_JOBS_H
#define SIM_JOBS_JOBS_H

#include "sim/jobs/slots.h"
#include "sim/record/meter/meter_jobs.h"
#include "sim/scenario/workload/job_stream.h"
#include "sim/scenario/workload/target.h"
#include "sim/worker/move.h"
#include "sim/world/driver.h"

enum sim_jobs_event {
    SIM_JOBS_ARRIVE = 1,
    SIM_JOBS_LEAVE,  /* target: slot, argument: job */
    SIM_JOBS_RETRY,  /* target: slot, argument: job */
    SIM_JOBS_SAVE,   /* target: slot, argument: job */
    SIM_JOBS_KILL,   /* target: slot, argument: job */
    SIM_JOBS_SUBMIT, /* target: spec, argument: key of the submission */
    SIM_JOBS_NEXT,   /* target: slot of the array */
    SIM_JOBS_LIMIT,  /* target: slot, argument: job */
    SIM_JOBS_CALL    /* target: slot, argument: job */
};

enum sim_job_state { SIM_JOB_GONE, SIM_JOB_WAITING, SIM_JOB_RUNNING, SIM_JOB_AWAY };

/* Kept small: many may wait. What belongs to its spec and key is drawn when it is needed. */
struct sim_job {
    uint32_t slot;
    uint32_t spec; /* of the workload */
    uint64_t id;   /* in the order of arrival within the workload */
    uint64_t key;  /* names its random streams */
    int64_t at_ns;
    sim_handle timer; /* patience or retry */
    uint32_t kind;    /* jobs of one ask for the same; WEIR_NO_INDEX = not known */
    uint32_t life;    /* slot + 1; 0 = no start was tried yet */
    uint32_t retries;
    uint32_t array; /* slot + 1; 0 = it is a submission by itself */
    uint8_t state;  /* enum sim_job_state */
    bool is_counted;
    bool is_refused;  /* it did not run: turned away, or out of patience */
    bool is_held;     /* AWAY until a service that it calls is back */
    bool was_unheard; /* the head was down when it came, and nobody refused it since */
};

/* What a running job is at. One activity each, whose end is the edge:
 *
 *   STARTING -- latency and restart over --> READING -- bytes here --> WORKING -- done --> (job
 * done) |     ^ interval over, its turn: SAVING -- cost over --> WRITING -+-----+ bytes there: what
 *                                                                              is done is kept
 */
enum sim_job_phase {
    SIM_JOB_STARTING,
    SIM_JOB_READING,
    SIM_JOB_WORKING,
    SIM_JOB_SAVING,
    SIM_JOB_WRITING,
    SIM_JOB_RESIZING /* between two stretches of work */
};

/* How a job in steps goes now; shares are of the time of its ranks. */
struct sim_job_pace {
    double rate;  /* of its work, 1 = that of the reference device alone */
    float luck;   /* of its slowest ranks: what they take over what they take on average */
    float sync;   /* share that they exchange */
    float wait;   /* share that they wait for the slowest of them */
    float bubble; /* share in which their pipeline is not full */
};

/* The mean of the slowest of so many equal ranks. */
struct sim_slowest_kept {
    uint32_t ranks; /* 0 = nothing is kept */
    double spread, mean;
};

/* Of all jobs of a class, or of the workload: time of ranks in steps, in ns. */
struct sim_jobs_steps {
    double ranks_ns, sync_ns, wait_ns, bubble_ns;
    double steps, steps_ns; /* of jobs: how many, and how long they took */
    double alone_ns;        /* and would have on one reference device each */
};

/* Of a job from the first time that it is to start. Work is in ns on the reference device. */
struct sim_job_life {
    /* What every job goes through: two lines of a cache. */
    uint32_t slot;
    uint32_t attempts;
    sim_handle run;        /* the activity, while it runs */
    uint64_t first_worker; /* of its ranks, whose ids follow one another ... */
    uint64_t *ids;         /* ... unless some went or came: here they are; NULL = none did */
    uint32_t workers;      /* ranks that live */
    uint32_t members;      /* of them, those that divide the work */
    uint32_t node;         /* of its first rank */
    uint8_t phase;         /* enum sim_job_phase, while it runs */
    bool will_end;         /* it counts among those that will */
    bool is_paced;         /* in the list */
    bool is_lost;          /* a rank went while it ran */
    bool is_preempted;     /* and that was a plan's doing */
    bool is_warned;        /* it is to give way */
    bool has_turn;         /* it may write, or writes */
    bool is_changed;       /* members went or came: it is to go on as it is now */
    bool is_overrun;       /* it ends at its estimate */
    bool is_short;         /* it ends: memory of a GPU that it takes is not there */
    uint32_t lost;         /* of the members, since it last went on with fewer */
    int64_t run_ns;
    int64_t left_ns;                  /* when its present stretch of work began */
    sim_quanta stretch;               /* left_ns as the activity counts it */
    int64_t saved_ns;                 /* work left after the last checkpoint */
    int64_t worked_since_ns;          /* clock: begin of the stretch */
    int64_t first_start_ns, start_ns; /* of the first attempt and the present one */
    int64_t ran_ns;                   /* of the runs before this one, their time */
    int64_t interval_ns;              /* between two checkpoints, in this run; 0 = none are made */
    /* Checkpoints, losses and steps. */
    sim_handle save;  /* the next checkpoint */
    sim_handle kill;  /* the end of its grace */
    sim_handle limit; /* the end of its estimate */
    sim_handle call;  /* when its calls have failed; SIM_NO_HANDLE = they are answered */
    int64_t estimate_ns;
    int64_t save_at_ns;             /* clock: when the next checkpoint is due */
    int64_t resize_from_ns;         /* clock: when it stopped for a change of its ranks ... */
    int64_t save_in_ns;             /* ... and when the next checkpoint is due after; 0 = none */
    int64_t saving_ns;              /* time worked that is being saved */
    struct sim_move move;           /* READING, WRITING: its bytes */
    int64_t kept_ns;                /* clock: end of the last checkpoint, or start */
    int64_t lost_ns;                /* when it lost a rank last */
    uint32_t next_lost, next_paced; /* slot of the job + 1 */
    double sync_s;                  /* of a step: what its all-reduce takes at this place, alone */
    uint32_t meets;                 /* whose exchange it meets there (sim/cluster/exchanges.h) */
    int64_t counted_ns;             /* clock: up to when its steps were counted */
    double step_at;                 /* how far it was then, in steps */
    struct sim_job_pace pace;       /* of its steps; progress.c, step.c */
};

/* Who waits to write a checkpoint, and who does (checkpoint.c). */
struct sim_jobs_turn {
    uint32_t slot, attempt;
    uint64_t id;
};
struct sim_jobs_writers {
    struct sim_jobs_turn *queue;
    uint32_t first, count, capacity;
    uint32_t writing;
    uint64_t starts; /* of all jobs */
};

struct sim_jobs_run {
    struct sim_driver_config config;
    const struct sim_workload *workload;
    struct sim_context *context;
    struct sim_job_stream *stream;
    struct sim_target target;
    struct weir_mix mix;       /* the target, and every MIG instance that may be asked for */
    struct weir_shape *shapes; /* its arrays */
    double *frequencies;
    struct sim_job_arrival next;
    struct sim_job_arrival brought; /* the last one: it often starts at once */
    sim_handle arrival;             /* the event of `next` */
    bool has_next;
    uint32_t index;       /* of the workload, as owners and the scheduler know it */
    uint32_t class_first; /* of its classes among those of all workloads */
    char **labels;        /* of its results; NULL = those of the workload, which is the only one */
    struct sim_job_slots slots;
    int64_t *alone_ns; /* by slot: what its tenant alone would need for it; NULL = no tenants */
    uint32_t alone_capacity; /* of those */
    struct sim_slab lives;
    struct weir_rank_group *groups; /* of the job that is told */
    uint32_t *followers;            /* by spec: the first that follows it, + 1; NULL = none does */
    uint32_t *next_follower;        /* by spec: another of the same, + 1 */
    struct sim_slab arrays;         /* that are not over */
    uint64_t coming;                /* submissions that an end has brought about */
    uint64_t arrived;
    int64_t first_submit_ns, last_done_ns;
    uint64_t waiting, running, away, ending; /* ending: running jobs that will end */
    uint64_t patient;                        /* waiting jobs that may leave */
    uint32_t unreachable;                    /* depth of outages of the service that they call */
    uint32_t first_lost, first_paced;        /* slot + 1 */
    uint64_t refused_by_truth;
    struct sim_slowest_kept slowest[16]; /* by a hash of the ranks */
    struct sim_jobs_steps *steps;        /* by class, then all; NULL = no job goes in steps */
    double held_ns, kept_ns, lost_ns;    /* of runs: time, work that was kept, work thrown away */
    uint64_t saves;
    double intervals_s; /* their sum over all starts */
    uint64_t intervals;
    struct sim_jobs_writers writers;
};

static inline struct sim_job *sim_job_at(const struct sim_jobs_run *run, uint32_t slot)
{
    return sim_slab_at(&run->slots.jobs, slot);
}
/* Of a job that was to start. */
static inline struct sim_job_life *sim_job_life(const struct sim_jobs_run *run,
                                                const struct sim_job *job)
{
    return sim_slab_at(&run->lives, job->life - 1);
}
static inline uint32_t sim_job_attempts(const struct sim_jobs_run *run, const struct sim_job *job)
{
    return job->life == 0 ? 0 : sim_job_life(run, job)->attempts;
}
static inline const struct sim_job_spec *sim_job_spec(const struct sim_jobs_run *run,
                                                      const struct sim_job *job)
{
    return &run->workload->jobs[job->spec];
}
/* Its rank of that number, among those that live. */
static inline uint64_t sim_job_worker_id(const struct sim_job_life *life, uint32_t rank)
{
    return life->ids != NULL ? life->ids[rank] : life->first_worker + rank;
}
/* Its class, as the meter and the database know it. */
static inline uint32_t sim_job_class(const struct sim_jobs_run *run, const struct sim_job *job)
{
    return run->class_first + sim_job_spec(run, job)->label;
}
static inline int64_t sim_jobs_now(const struct sim_jobs_run *run)
{
    return sim_engine_now(run->context->engine);
}

/* `delay_ns` after `now_ns`, or never. */
static inline int64_t sim_jobs_later(int64_t now_ns, int64_t delay_ns)
{
    return delay_ns >= SIM_TIME_MAX - now_ns ? SIM_TIME_MAX : now_ns + delay_ns;
}

/* life.c: transitions. */
weir_status sim_jobs_done(struct sim_jobs_run *run, uint32_t slot);
/* It was stopped before it was done, and does not come again: at its estimate, short of memory, or
 * with its last run. */
weir_status sim_jobs_give_up(struct sim_jobs_run *run, uint32_t slot, enum sim_job_count why);
/* Schedules the next arrival, when there is one. */
void sim_jobs_expect(struct sim_jobs_run *run);
weir_status sim_jobs_arrive(struct sim_jobs_run *run);
/* One job comes; `array`: of which, slot + 1, or 0. */
weir_status sim_jobs_bring(struct sim_jobs_run *run, const struct sim_job_arrival *arrival,
                           uint32_t array);

/* follow.c: jobs that come because others are over. */
weir_status sim_jobs_open_followers(struct sim_jobs_run *run);
void sim_jobs_close_followers(struct sim_jobs_run *run);
void sim_jobs_begin_users(struct sim_jobs_run *run);
/* What a submission brings at once. */
weir_status sim_jobs_submission(struct sim_jobs_run *run, const struct sim_job_arrival *arrival);
weir_status sim_jobs_submit(struct sim_jobs_run *run, uint32_t spec, uint64_t key);
weir_status sim_jobs_next_of_array(struct sim_jobs_run *run, uint32_t slot);
/* It is gone, however it ended. */
void sim_jobs_over(struct sim_jobs_run *run, const struct sim_job *job);

/* From now on jobs arrive at `factor` times their rate. */
void sim_jobs_set_factor(struct sim_jobs_run *run, double factor);
/* So many come at once, beyond those that arrive. */
weir_status sim_jobs_burst(struct sim_jobs_run *run, uint64_t count);
/* Whether any are still to come by themselves. */
bool sim_jobs_come(const struct sim_jobs_run *run);
weir_status sim_jobs_come_again(struct sim_jobs_run *run, uint32_t slot);
weir_status sim_jobs_leave(struct sim_jobs_run *run, uint32_t slot);
/* It is not let wait: comes again later, or never; for good: it fits nowhere. */
weir_status sim_jobs_turn_away(struct sim_jobs_run *run, uint32_t slot, bool is_for_good);
/* Those that lost a rank give the others up and wait again. */
weir_status sim_jobs_settle(struct sim_jobs_run *run);
/* Tells observer and recorder what became of it. */
weir_status sim_jobs_tell_row(struct sim_jobs_run *run, const struct sim_job *job,
                              const char *outcome);
/* Counts one more of something for its class and all jobs. */
void sim_jobs_count(const struct sim_jobs_run *run, const struct sim_job *job,
                    enum sim_job_count what);
/* One mixed word per transition. */
enum sim_jobs_digest {
    DIGEST_START = 1,
    DIGEST_DONE,
    DIGEST_REFUSED,
    DIGEST_LEFT,
    DIGEST_LOST,
    DIGEST_PREEMPTED,
    DIGEST_OVERRUN,
    DIGEST_RESIZED,
    DIGEST_OOM,
    DIGEST_EXHAUSTED
};
void sim_jobs_digest(struct sim_jobs_run *run, enum sim_jobs_digest what,
                     const struct sim_job *job);

/* wait.c: in the queue of the scheduler and out of it. */
weir_status sim_jobs_enqueue(struct sim_jobs_run *run, struct sim_job *job,
                             const struct sim_job_arrival *arrival);
/* Once more, when what it is has been forgotten. */
weir_status sim_jobs_enqueue_again(struct sim_jobs_run *run, struct sim_job *job);
void sim_jobs_dequeue(struct sim_jobs_run *run, uint32_t slot);

/* ranks.c: the workers of a job. */
weir_status sim_jobs_start(struct sim_jobs_run *run, const struct sim_start *start,
                           uint32_t *reason);
weir_status sim_jobs_ended(struct sim_jobs_run *run, uint32_t slot, sim_handle work);
weir_status sim_jobs_rank_stops(struct sim_jobs_run *run, struct sim_worker *worker,
                                enum sim_stop why);
/* Ends the ranks that are left. */
weir_status sim_jobs_drop_ranks(struct sim_jobs_run *run, struct sim_job *job, enum sim_stop why,
                                const char *text);

/* The truth gives all places to workers of it, or none. */
weir_status sim_jobs_start_ranks(struct sim_jobs_run *run, struct sim_job *job,
                                 const struct sim_start *start, uint32_t *reason);
/* Memory of its GPUs for its work, when it begins; without it the job is to end, now. */
weir_status sim_jobs_take_memory(struct sim_jobs_run *run, const struct sim_job *job);
/* It ran as long as its submitter said, or its memory is not there. */
weir_status sim_jobs_overrun(struct sim_jobs_run *run, uint32_t slot);

/* resize.c: how fast its members are, over as many as it says. */
double sim_jobs_elastic_speed(const struct sim_jobs_run *run, const struct sim_job *job);
/* A rank lives no more. */
weir_status sim_jobs_rank_gone(const struct sim_jobs_run *run, const struct sim_job *job,
                               uint64_t worker, bool *is_member);
/* Whether those that are left go on, after a member went. */
bool sim_jobs_goes_on(const struct sim_jobs_run *run, const struct sim_job *job, enum sim_stop why);
weir_status sim_jobs_shrink(struct sim_jobs_run *run, struct sim_job *job);
/* Members come to a job that runs. */
weir_status sim_jobs_grow(struct sim_jobs_run *run, struct sim_job *job,
                          const struct sim_start *start, uint32_t *reason);
void sim_jobs_forget_ranks(struct sim_job_life *life);

/* progress.c: its ranks are other ones; these of them are new. */
weir_status sim_jobs_go_on_resized(struct sim_jobs_run *run, struct sim_job *job);
void sim_jobs_set_up(struct sim_jobs_run *run, const struct sim_job *job, uint32_t first,
                     uint32_t count);

/* progress.c: what a job does while it runs. Its ranks live: they start, then work. */
weir_status sim_jobs_begin(struct sim_jobs_run *run, struct sim_job *job);
/* How long it may run in one go, its start included; INT64_MAX = without end. */
int64_t sim_jobs_limit_ns(const struct sim_jobs_run *run, const struct sim_job_life *life);
/* Its activity ended; *is_over: so is its work. */
weir_status sim_jobs_next_phase(struct sim_jobs_run *run, struct sim_job *job, bool *is_over);
/* An interval of work is over. */
weir_status sim_jobs_save(struct sim_jobs_run *run, uint32_t slot);
/* It runs no more: done, or a rank is lost. */
weir_status sim_jobs_break_off(struct sim_jobs_run *run, struct sim_job *job, const char *cause);

/* The job saves its work after so much more time at work. */
void sim_jobs_plan_save(struct sim_jobs_run *run, const struct sim_job *job, int64_t in_ns);

/* checkpoint.c: the time between two checkpoints where its ranks are, and until the first. */
int64_t sim_jobs_interval_ns(const struct sim_jobs_run *run, const struct sim_job *job);
int64_t sim_jobs_first_interval_ns(struct sim_jobs_run *run, int64_t interval_ns);
/* Whether it has or gets a turn to write; it asks for one; it gives back the one it may have. */
bool sim_jobs_may_write(struct sim_jobs_run *run, struct sim_job_life *life);
weir_status sim_jobs_ask_turn(struct sim_jobs_run *run, const struct sim_job *job);
void sim_jobs_give_turn(struct sim_jobs_run *run, struct sim_job_life *life);
/* Reads its checkpoint, or writes one: life->run is SIM_NO_HANDLE when that is over at once. */
weir_status sim_jobs_move_state(struct sim_jobs_run *run, const struct sim_job *job, bool is_read);

/* At the rate that its ranks have now. */
weir_status sim_jobs_go_at(struct sim_jobs_run *run, const struct sim_job *job);

/* calls.c: the service that they call is out of reach from now on, or was until now. */
weir_status sim_jobs_calls_reach(struct sim_jobs_run *run, bool is_lost);
/* It works, and stands still if its calls are not answered; these have failed; it stops. */
weir_status sim_jobs_calls_hang(struct sim_jobs_run *run, const struct sim_job *job);
weir_status sim_jobs_calls_fail(struct sim_jobs_run *run, uint32_t slot);
void sim_jobs_calls_end(const struct sim_jobs_run *run, struct sim_job_life *life);
/* Whether a job that would wait is held back until the service is there. */
bool sim_jobs_calls_hold(struct sim_jobs_run *run, struct sim_job *job);

/* preempt.c: a plan takes its place; it has saved its work and gives way; its grace is over. */
weir_status sim_jobs_preempt(struct sim_jobs_run *run, uint64_t id, int64_t grace_ns);
weir_status sim_jobs_give_way(struct sim_jobs_run *run, struct sim_job *job);
weir_status sim_jobs_kill(struct sim_jobs_run *run, uint32_t slot);

/* step.c: jobs in steps. */
weir_status sim_jobs_open_steps(struct sim_jobs_run *run);
/* How lucky it is, at its first start; where its ranks are, at each. */
void sim_jobs_draw_steps(struct sim_jobs_run *run, const struct sim_job *job);
/* What part of a step its exchange is, by its spec: a member a node, over the interfaces of the
 * first nodes. What the scheduler is told. */
double sim_jobs_exchange_share(const struct sim_jobs_run *run, const struct sim_job_spec *spec);
weir_status sim_jobs_place_steps(struct sim_jobs_run *run, const struct sim_job *job);
/* It exchanges there no more. */
void sim_jobs_part(struct sim_jobs_run *run, const struct sim_job *job);
/* How fast it goes as things are now, in quanta a nanosecond. */
uint64_t sim_jobs_step_rate(struct sim_jobs_run *run, const struct sim_job *job);
/* Counts the steps up to now, at the pace it had. */
weir_status sim_jobs_count_steps(struct sim_jobs_run *run, const struct sim_job *job);

/* progress.c: how fast a worker computes where it is, with nothing that slows it down. */
double sim_jobs_rank_speed(const struct sim_jobs_run *run, const struct sim_worker *rank);

/* Forgets what is known of its starts; its ranks are gone. */
void sim_jobs_forget_life(struct sim_jobs_run *run, struct sim_job *job);
/* The devices of a rank became faster or slower; then, once, all whose ranks did go on. */
void sim_jobs_rank_paced(struct sim_jobs_run *run, const struct sim_worker *worker);
weir_status sim_jobs_go_on(struct sim_jobs_run *run);

/* results.c */
/* Tells the meter of the jobs that are not over. */
weir_status sim_jobs_left(const struct sim_jobs_run *run, int64_t now_ns);
weir_status sim_jobs_results(struct sim_jobs_run *run, int64_t now_ns, struct sim_results *out);

extern const struct sim_driver_ops sim_jobs_driver;

#endif
