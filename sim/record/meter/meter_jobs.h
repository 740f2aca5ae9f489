/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The jobs of the meter: who waits and runs, what is held, counts and times, by class of jobs and
 * by workload.
 *
 * What their ranks hold comes from the workers, as for stages (sim_meter_worker.job_class).
 * Integrals count from the end of the warm-up. A job counts (arrived, refused, wait ...) when it
 * was submitted after it.
 */
#ifndef SIM_RECORD_METER_JOBS_H
#define SIM_RECORD_METER_JOBS_H

#include "sim/record/meter/meter.h"
#include "sim/record/meter/percentiles.h"

enum sim_job_count {
    SIM_JOBS_ARRIVED,
    SIM_JOBS_STARTED, /* for the first time */
    SIM_JOBS_DONE,
    SIM_JOBS_REFUSED,       /* for good */
    SIM_JOBS_LEFT,          /* lost patience */
    SIM_JOBS_RETRIED,       /* came again after a refusal */
    SIM_JOBS_RESTARTED,     /* lost their node and began anew */
    SIM_JOBS_DELAYED,       /* did not start at the instant they came */
    SIM_JOBS_INFEASIBLE,    /* would not fit an empty cluster; refused too */
    SIM_JOBS_STARVED,       /* waited longer than `starved_after`, and began or left */
    SIM_JOBS_LATE,          /* ended after their deadline */
    SIM_JOBS_DUE,           /* are beyond their deadline and not done, or never will be */
    SIM_JOBS_PREEMPTED,     /* gave their place up for others; each time */
    SIM_JOBS_KILLED,        /* of these, those whose grace was over before they had saved */
    SIM_JOBS_OVERRUN,       /* were stopped at their estimate; not done */
    SIM_JOBS_EXHAUSTED,     /* lost the last run that they may have; not done */
    SIM_JOBS_OOM,           /* failed, as memory of a GPU was not there; not done */
    SIM_JOBS_SHRUNK,        /* went on with fewer members; each time */
    SIM_JOBS_GROWN,         /* got members; each time */
    SIM_JOBS_WISHED,        /* started, and would rather be on few nodes, or on many; each time */
    SIM_JOBS_SCATTERED,     /* of these, those that are not on one node, or not each on another */
    SIM_JOBS_REFUSED_AGAIN, /* the head was down, and when it was back the queue was full; once each
                             */
    SIM_JOBS_COUNTS
};

enum sim_job_gauge {
    SIM_JOBS_WAITING,
    SIM_JOBS_RUNNING,
    SIM_JOBS_GPUS,     /* held */
    SIM_JOBS_RESERVED, /* GPUs, by those that wait; of workloads only */
    SIM_JOBS_GAUGES
};

/* Of one class, of all jobs of a workload, or of a band of priority. */
struct sim_job_meter {
    uint32_t workload;
    uint32_t band; /* of a class, WEIR_NO_INDEX = none */
    struct sim_gauge gauges[SIM_JOBS_GAUGES];
    double warm[SIM_JOBS_GAUGES]; /* integrals at the end of the warm-up */
    double last[SIM_JOBS_GAUGES]; /* at the latest sample */
    uint64_t counts[SIM_JOBS_COUNTS];
    uint64_t seen[SIM_JOBS_COUNTS]; /* since the start, whether they count or not */
    uint64_t sampled[SIM_JOBS_COUNTS];
    uint64_t done_since; /* jobs that ended after the warm-up */
    double waiting_max;
    double gpu_s_asked, gpu_s_refused;           /* GPUs x run time of the jobs that count */
    double late_cost;                            /* of jobs that ended after their deadline */
    struct sim_percentiles wait, time, slowdown; /* slowdown in 1e-9 */
    struct sim_percentiles restart;              /* from a loss to the next start */
    struct sim_ages waiting, left; /* at the end: that never began, that are not over */
};

/* One more of something; `is_counted` = the job was submitted after the warm-up. */
void sim_meter_job(struct sim_meter *meter, uint32_t job_class, enum sim_job_count what,
                   bool is_counted);
/* A job that counts came, or was refused for good, and would hold GPUs so long. */
void sim_meter_job_asked(struct sim_meter *meter, uint32_t job_class, double gpu_s);
void sim_meter_job_denied(struct sim_meter *meter, uint32_t job_class, double gpu_s);
/* A job ended so much money too late; of all jobs, warm-up or not. */
void sim_meter_job_late(struct sim_meter *meter, uint32_t job_class, double money);
/* What its jobs have cost from the start to now; NAN when nothing is reckoned in money. */
double sim_meter_job_cost(const struct sim_meter *meter, uint32_t job_class, int64_t now_ns);
/* So many more wait or run. */
void sim_meter_jobs(struct sim_meter *meter, int64_t now_ns, uint32_t job_class,
                    enum sim_job_gauge what, double change);
/* Jobs of a workload that wait have so many GPUs reserved. */
void sim_meter_jobs_reserved(struct sim_meter *meter, int64_t now_ns, uint32_t workload,
                             double gpus);
/* A job started for the first time. */
void sim_meter_job_wait(struct sim_meter *meter, int64_t now_ns, uint32_t job_class,
                        int64_t wait_ns);
/* A job that lost a rank runs again, so long after. */
void sim_meter_job_restart(struct sim_meter *meter, uint32_t job_class, int64_t after_ns);
/* A job is done, `time_ns` after it came and after `run_ns` of work. */
void sim_meter_job_done(struct sim_meter *meter, int64_t now_ns, uint32_t job_class,
                        bool is_counted, int64_t time_ns, int64_t run_ns);

/* At the end, before the results are asked for: a job that counts is not over, `age_ns` after it
 * came; `is_waiting`: it never began. Percentiles that reach into these are lower bounds. */
weir_status sim_meter_job_left(struct sim_meter *meter, int64_t now_ns, uint32_t job_class,
                               uint32_t tenant, int64_t age_ns, bool is_waiting);

/* ---- reading ---- */

struct sim_job_meter *sim_meter_class(struct sim_meter *meter, uint32_t job_class);
struct sim_job_meter *sim_meter_workload(struct sim_meter *meter, uint32_t workload);
struct sim_job_meter *sim_meter_band(struct sim_meter *meter, uint32_t band);
/* Of all jobs; of one workload it is that of the workload. */
struct sim_job_meter *sim_meter_all_jobs(struct sim_meter *meter);

#endif
