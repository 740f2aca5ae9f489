/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The jobs of a run in the order of their arrival.
 *
 * Three sources are merged: the rows of a trace, classes with a count of their own, and the arrival
 * process, whose jobs are drawn from the rows or classes by weight. At one instant the order is
 * that of the rows, then that of the classes, then the process. All draws belong to the job: what a
 * job asks for, how long it runs and how patient it is depends on no policy. A generated job is
 * named by its class and its number there (that of the process, or of the class that has a count),
 * so that a class more or less leaves the jobs of the others as they are.
 */
#ifndef SIM_SCENARIO_WORKLOAD_JOB_STREAM_H
#define SIM_SCENARIO_WORKLOAD_JOB_STREAM_H

#include "sim/scenario/workload/arrival_process.h"

struct sim_job_arrival {
    uint64_t key; /* names its random streams, within its class when it has one */
    uint32_t spec;
    uint32_t reserved;
    int64_t at_ns;
    int64_t run_ns;      /* INT64_MAX = it never ends */
    int64_t patience_ns; /* INT64_MAX = waits for ever */
    int64_t estimate_ns;
};

struct sim_job_stream;

/* Whether it has rows or classes that a process or a burst draws jobs from. */
bool sim_workload_draws(const struct sim_workload *workload);
/* Whether this one is among them. Rows without a run time are not: nobody knows how long they would
 * run. */
bool sim_workload_draws_spec(const struct sim_workload *workload, const struct sim_job_spec *job);

/* `random`: the streams of the workload. */
weir_status sim_job_stream_create(const struct sim_workload *workload,
                                  const struct sim_random *random, struct sim_job_stream **stream);
void sim_job_stream_destroy(struct sim_job_stream *stream);

/* The streams of jobs of this spec, which the workload or the class owns. */
const struct sim_random *sim_job_stream_random(const struct sim_job_stream *stream, uint32_t spec);

/* What belongs to a job of this spec and key, whenever it is asked for; `at_ns` is left alone. */
void sim_job_stream_describe(const struct sim_job_stream *stream, uint32_t spec, uint64_t key,
                             struct sim_job_arrival *job);

/* What passes before the submission of this key of a class, see sim_job_spec.think. */
int64_t sim_job_stream_think_ns(const struct sim_job_stream *stream, uint32_t spec, uint64_t key);

/* When a row of a trace comes by its own time. */
int64_t sim_job_stream_row_ns(const struct sim_job_stream *stream, uint32_t spec);

/* The next job, or false when no more come. */
bool sim_job_stream_next(struct sim_job_stream *stream, struct sim_job_arrival *job);
/* ---- where the rate of the process is changed from outside ---- */

/* Takes back the latest of sim_job_stream_next, whose time has not come. */
void sim_job_stream_put_back(struct sim_job_stream *stream, const struct sim_job_arrival *job);
/* From now on the rate is so many times its own; 0 holds the process. All that was taken has come.
 */
void sim_job_stream_set_factor(struct sim_job_stream *stream, int64_t now_ns, double factor);
/* Whether jobs come that a rate of 0 holds back. */
bool sim_job_stream_is_held(const struct sim_job_stream *stream);
/* One more of the process, beyond those that its rate and the limit give. There must be something
 * to draw from (sim_workload_draws). */
void sim_job_stream_draw(struct sim_job_stream *stream, int64_t at_ns, struct sim_job_arrival *job);

/* How many come in all; UINT64_MAX = not known. */
uint64_t sim_job_stream_total(const struct sim_job_stream *stream);

#endif
