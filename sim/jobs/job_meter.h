/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is measured of jobs in time: exact integrals of what is held and of who waits, distributions
 * of waiting and of time in the system, counts, all by label and in all.
 *
 * Integrals count from the end of the warm-up. A job counts (arrived, refused, wait ...) when it
 * was submitted after it.
 */
#ifndef SIM_JOBS_JOB_METER_H
#define SIM_JOBS_JOB_METER_H

#include "sim/record/gauge.h"
#include "sim/record/percentiles.h"

struct sim_recorder;

enum sim_job_count {
    SIM_JOBS_ARRIVED,
    SIM_JOBS_STARTED, /* for the first time */
    SIM_JOBS_DONE,
    SIM_JOBS_REFUSED,    /* for good */
    SIM_JOBS_LEFT,       /* lost patience */
    SIM_JOBS_RETRIED,    /* came again after a refusal */
    SIM_JOBS_RESTARTED,  /* lost their node and began anew */
    SIM_JOBS_DELAYED,    /* did not start at the instant they came */
    SIM_JOBS_INFEASIBLE, /* would not fit an empty cluster; refused too */
    SIM_JOBS_LATE,       /* ended after their deadline */
    SIM_JOBS_COUNTS
};

enum sim_job_gauge {
    SIM_JOBS_WAITING,
    SIM_JOBS_RUNNING,
    SIM_JOBS_GPUS, /* held */
    SIM_JOBS_CPUS,
    SIM_JOBS_RAM, /* bytes */
    SIM_JOBS_GAUGES
};

/* Of one label, or of all jobs. */
struct sim_job_meter_row {
    struct sim_gauge gauges[SIM_JOBS_GAUGES];
    double warm[SIM_JOBS_GAUGES]; /* integrals at the end of the warm-up */
    double last[SIM_JOBS_GAUGES]; /* at the latest sample */
    uint64_t counts[SIM_JOBS_COUNTS];
    uint64_t seen[SIM_JOBS_COUNTS]; /* since the start, whether they count or not */
    uint64_t sampled[SIM_JOBS_COUNTS];
    uint64_t done_since; /* jobs that ended after the warm-up */
    double waiting_max;
    struct sim_percentiles wait, time, slowdown; /* slowdown in 1e-9 */
    struct sim_percentiles restart;              /* from a loss to the next start */
};

struct sim_job_meter {
    struct sim_job_meter_row *rows; /* one a label, then all */
    size_t labels;
    int64_t warmup_ns, sampled_ns;
};

weir_status sim_job_meter_open(struct sim_job_meter *meter, size_t labels, int64_t warmup_ns);
void sim_job_meter_close(struct sim_job_meter *meter);

/* One more of something; `is_counted` = the job was submitted after the warm-up. */
void sim_job_meter_count(struct sim_job_meter *meter, uint32_t label, enum sim_job_count what,
                         bool is_counted);
void sim_job_meter_change(struct sim_job_meter *meter, int64_t now_ns, uint32_t label,
                          enum sim_job_gauge what, double change);
/* A job started for the first time, or ended after `run_ns` of work. */
void sim_job_meter_wait(struct sim_job_meter *meter, uint32_t label, int64_t wait_ns);
void sim_job_meter_done(struct sim_job_meter *meter, uint32_t label, int64_t time_ns,
                        int64_t run_ns);
/* A job that lost a rank runs again, so long after. */
void sim_job_meter_restart(struct sim_job_meter *meter, uint32_t label, int64_t after_ns);

void sim_job_meter_warm(struct sim_job_meter *meter, int64_t now_ns);
/* Rows of its classes since the latest sample; `label_first` = the number of the first one. */
weir_status sim_job_meter_sample(struct sim_job_meter *meter, int64_t now_ns, uint32_t label_first,
                                 struct sim_recorder *recorder, struct weir_error *error);

#endif
