/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs in the order of their arrival; see the header. */
#include "sim/scenario/workload/job_stream.h"

#include "sim/engine/law.h"
#include "sim/engine/time.h"
#include "sim/scenario/workload/trace_rows.h"

#include <math.h>
#include <stdlib.h>

struct counted {
    uint32_t spec;
    uint64_t given;
};

struct sim_job_stream {
    const struct sim_workload *workload;
    struct sim_random random;
    struct sim_random *class_random; /* by spec; NULL = the jobs are rows of a trace */
    uint64_t given;
    /* rows of a trace, by submission */
    struct sim_trace_row *rows;
    size_t row_count, row;
    /* classes with a count */
    struct counted *counted;
    size_t counted_count;
    /* the process: it stands where the instant before was, or where its rate changed */
    struct sim_arrival_process process;
    double *shares; /* of the specs, cumulative */
    double factor;  /* of its rate */
    double held_s;  /* due time of an instant held back by a rate of 0; < 0: none */
    double process_s;
    int64_t process_ns;    /* the next instant: process_s; SIM_TIME_MAX: none */
    uint64_t process_left; /* of the batch then */
    uint64_t process_given;
    bool is_spent; /* that batch is given: the next instant is to be found */
};

/* ---- making ---- */

static weir_status take_rows(struct sim_job_stream *stream)
{
    return sim_trace_rows_make(stream->workload, &stream->random, &stream->rows,
                               &stream->row_count);
}

static weir_status take_counted(struct sim_job_stream *stream)
{
    const struct sim_workload *workload = stream->workload;
    stream->counted = calloc(workload->jobs_count + 1, sizeof(*stream->counted));
    if (stream->counted == NULL)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].count != UINT64_MAX)
            stream->counted[stream->counted_count++].spec = (uint32_t)i;
    return WEIR_OK;
}

static weir_status name_classes(struct sim_job_stream *stream)
{
    const struct sim_workload *workload = stream->workload;
    stream->class_random = calloc(workload->jobs_count + 1, sizeof(*stream->class_random));
    if (stream->class_random == NULL)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < workload->jobs_count; i++)
        stream->class_random[i] = sim_random_of(&stream->random, SIM_NAME_CLASS,
                                                workload->labels[workload->jobs[i].label]);
    return WEIR_OK;
}

bool sim_workload_draws_spec(const struct sim_workload *workload, const struct sim_job_spec *job)
{
    if (job->count != UINT64_MAX)
        return false;
    return workload->mode == SIM_WORKLOAD_STATIC || job->service != NULL ||
           (job->run_ns != WEIR_UNKNOWN_TIME && !job->is_endless);
}

bool sim_workload_draws(const struct sim_workload *workload)
{
    if (workload->kind != SIM_WORKLOAD_GENERATED && workload->arrivals.kind == SIM_ARRIVALS_TRACE)
        return false;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (sim_workload_draws_spec(workload, &workload->jobs[i]) && workload->jobs[i].weight > 0)
            return true;
    return false;
}

/* What the counted classes leave of the jobs that arrive at most. */
static uint64_t uncounted(const struct sim_job_stream *stream)
{
    uint64_t left = stream->workload->jobs_limit;
    for (size_t i = 0; i < stream->counted_count; i++) {
        const uint64_t count = stream->workload->jobs[stream->counted[i].spec].count;
        left -= count < left ? count : left;
    }
    return left;
}

/* The next instant is after so much due time, at the rate that holds from now on. */
static void await(struct sim_job_stream *stream, double due_s)
{
    stream->held_s = -1;
    stream->process_ns = SIM_TIME_MAX;
    if (!(stream->factor > 0)) {
        stream->held_s = due_s;
        return;
    }
    stream->process_s =
        stream->process.time_s + sim_arrival_process_lasts(&stream->process, due_s, stream->factor);
    stream->process_ns = sim_time_from_s(stream->process_s);
}

/* Finds the instant after one whose batch is given. A static workload has no time: its jobs come
 * one by one at 0, so that classes with a count that are given a later time follow them. */
static void find_instant(struct sim_job_stream *stream)
{
    if (!stream->is_spent)
        return;
    stream->is_spent = false;
    if (stream->workload->mode == SIM_WORKLOAD_STATIC) {
        stream->process_ns = SIM_TIME_MAX;
        return;
    }
    sim_arrival_process_move(&stream->process, stream->process_s);
    await(stream, sim_arrival_process_draw(&stream->process));
    stream->process_left = sim_arrival_process_batch(&stream->process);
}

static weir_status begin_process(struct sim_job_stream *stream)
{
    const struct sim_workload *workload = stream->workload;
    double sum = 0;
    stream->shares = calloc(workload->jobs_count + 1, sizeof(*stream->shares));
    if (stream->shares == NULL)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        sum += sim_workload_draws_spec(workload, &workload->jobs[i]) ? workload->jobs[i].weight : 0;
        stream->shares[i] = sum;
    }
    if (!(sum > 0))
        return WEIR_OK;
    if (workload->mode == SIM_WORKLOAD_STATIC) {
        stream->process_left = uncounted(stream);
        stream->process_ns = stream->process_left > 0 ? 0 : SIM_TIME_MAX;
    } else if (workload->arrivals.kind != SIM_ARRIVALS_TRACE) {
        sim_arrival_process_open(&stream->process, &workload->arrivals, &stream->random,
                                 SIM_DRAW_JOB_ARRIVAL);
        stream->is_spent = true;
    }
    return WEIR_OK;
}

static weir_status fill(struct sim_job_stream *stream)
{
    const struct sim_workload *workload = stream->workload;
    const bool is_generated = workload->kind == SIM_WORKLOAD_GENERATED;
    if (is_generated) {
        WEIR_TRY(name_classes(stream));
        WEIR_TRY(take_counted(stream));
    } else if (workload->arrivals.kind == SIM_ARRIVALS_TRACE) {
        return take_rows(stream);
    }
    return begin_process(stream);
}

weir_status sim_job_stream_create(const struct sim_workload *workload,
                                  const struct sim_random *random, struct sim_job_stream **stream)
{
    struct sim_job_stream *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->workload = workload;
    made->random = *random;
    made->process_ns = SIM_TIME_MAX;
    made->factor = 1;
    made->held_s = -1;
    const weir_status status = fill(made);
    if (status != WEIR_OK) {
        sim_job_stream_destroy(made);
        return status;
    }
    *stream = made;
    return WEIR_OK;
}

void sim_job_stream_destroy(struct sim_job_stream *stream)
{
    if (stream == NULL)
        return;
    free(stream->class_random);
    free(stream->rows);
    free(stream->counted);
    free(stream->shares);
    free(stream);
}

/* ---- what a job is ---- */

const struct sim_random *sim_job_stream_random(const struct sim_job_stream *stream, uint32_t spec)
{
    return stream->class_random == NULL ? &stream->random : &stream->class_random[spec];
}

static double draw(const struct sim_job_stream *stream, enum sim_purpose purpose, uint32_t spec,
                   uint64_t key)
{
    const struct sim_job_spec *job = &stream->workload->jobs[spec];
    return sim_law_draw_of(purpose == SIM_DRAW_SERVICE ? job->service : job->patience,
                           sim_job_stream_random(stream, spec), purpose,
                           (struct sim_stream_key){ .item = key });
}

/* The same for all jobs of a class. */
static double mean_factor(const struct sim_job_stream *stream, uint32_t spec)
{
    const struct sim_job_spec *job = &stream->workload->jobs[spec];
    return sim_mean_factor(job->measurements == 0 ? 0 : sim_law_cv(job->service), job->measurements,
                           sim_job_stream_random(stream, spec),
                           (struct sim_stream_key){ .stage = spec + 1 });
}

static int64_t run_time(const struct sim_job_stream *stream, uint32_t spec, uint64_t key)
{
    const struct sim_job_spec *job = &stream->workload->jobs[spec];
    const int64_t limit_ns = stream->workload->service_limit_ns;
    int64_t run_ns = job->is_endless ? INT64_MAX : job->run_ns;
    if (job->service != NULL)
        run_ns =
            sim_time_from_s(draw(stream, SIM_DRAW_SERVICE, spec, key) * mean_factor(stream, spec));
    return run_ns < limit_ns ? run_ns : limit_ns;
}

static int64_t patience(const struct sim_job_stream *stream, uint32_t spec, uint64_t key)
{
    const struct sim_job_spec *job = &stream->workload->jobs[spec];
    if (job->patience != NULL)
        return sim_time_from_s(draw(stream, SIM_DRAW_PATIENCE, spec, key));
    return job->patience_ns == WEIR_UNKNOWN_TIME ? INT64_MAX : job->patience_ns;
}

/* Of the time of a job that ends, by the law of the workload. */
static int64_t drawn_estimate(const struct sim_job_stream *stream, uint32_t spec, uint64_t key,
                              int64_t run_ns)
{
    const double factor =
        sim_law_draw_of(stream->workload->estimate, sim_job_stream_random(stream, spec),
                        SIM_DRAW_ESTIMATE, (struct sim_stream_key){ .item = key });
    if (run_ns == INT64_MAX || !(factor > 0))
        return WEIR_UNKNOWN_TIME;
    return factor >= 1 && factor <= 1 ? run_ns : sim_time_from_s(sim_time_s(run_ns) * factor);
}

static int64_t estimate(const struct sim_job_stream *stream, uint32_t spec, uint64_t key,
                        int64_t run_ns)
{
    const struct sim_job_spec *job = &stream->workload->jobs[spec];
    if (stream->workload->estimate != NULL)
        return drawn_estimate(stream, spec, key, run_ns);
    if (job->estimate_ns != WEIR_UNKNOWN_TIME)
        return job->estimate_ns;
    if (run_ns == INT64_MAX || !(job->estimate_factor > 0))
        return WEIR_UNKNOWN_TIME;
    return sim_time_from_s(sim_time_s(run_ns) * job->estimate_factor);
}

int64_t sim_job_stream_think_ns(const struct sim_job_stream *stream, uint32_t spec, uint64_t key)
{
    const struct sim_job_spec *job = &stream->workload->jobs[spec];
    if (job->think == NULL)
        return 0;
    const int64_t think_ns =
        sim_time_from_s(sim_law_draw_of(job->think, sim_job_stream_random(stream, spec),
                                        SIM_DRAW_THINK, (struct sim_stream_key){ .item = key }));
    return think_ns > 0 ? think_ns : 0;
}

void sim_job_stream_describe(const struct sim_job_stream *stream, uint32_t spec, uint64_t key,
                             struct sim_job_arrival *job)
{
    job->spec = spec;
    job->key = key;
    job->run_ns = run_time(stream, spec, key);
    job->patience_ns = patience(stream, spec, key);
    job->estimate_ns = estimate(stream, spec, key, job->run_ns);
}

/* ---- the merge ---- */

static int64_t counted_at(const struct sim_job_stream *stream, const struct counted *counted)
{
    const struct sim_job_spec *job = &stream->workload->jobs[counted->spec];
    if (counted->given >= job->count)
        return SIM_TIME_MAX;
    return job->submit_ns + (int64_t)counted->given * job->every_ns;
}

int64_t sim_job_stream_row_ns(const struct sim_job_stream *stream, uint32_t spec)
{
    return sim_trace_row_ns(stream->workload, spec);
}

/* Copies of a row have keys behind those of all rows. */
static bool next_row(struct sim_job_stream *stream, struct sim_job_arrival *job)
{
    if (stream->row == stream->row_count)
        return false;
    const struct sim_trace_row *row = &stream->rows[stream->row++];
    job->at_ns = row->at_ns;
    sim_job_stream_describe(stream, row->spec,
                            row->spec + (uint64_t)row->copy * stream->workload->jobs_count, job);
    return true;
}

void sim_job_stream_draw(struct sim_job_stream *stream, int64_t at_ns, struct sim_job_arrival *job)
{
    *job = (struct sim_job_arrival){ .at_ns = at_ns };
    const uint64_t key = stream->process_given++;
    const size_t count = stream->workload->jobs_count;
    struct sim_stream numbers;
    sim_stream_open(&numbers, &stream->random, SIM_DRAW_JOB_CLASS,
                    (struct sim_stream_key){ .item = key });
    const double point = sim_stream_uniform(&numbers) * stream->shares[count - 1];
    size_t low = 0; /* the first share above the point */
    size_t high = count - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (stream->shares[middle] > point)
            high = middle;
        else
            low = middle + 1;
    }
    sim_job_stream_describe(stream, (uint32_t)low, key, job);
}

static bool next_generated(struct sim_job_stream *stream, struct sim_job_arrival *job)
{
    struct counted *first = NULL;
    int64_t first_ns = SIM_TIME_MAX;
    find_instant(stream);
    for (size_t i = 0; i < stream->counted_count; i++) {
        const int64_t at_ns = counted_at(stream, &stream->counted[i]);
        if (at_ns < first_ns) {
            first = &stream->counted[i];
            first_ns = at_ns;
        }
    }
    if (first != NULL && first_ns <= stream->process_ns) {
        job->at_ns = first_ns;
        sim_job_stream_describe(stream, first->spec, first->given++, job);
        return true;
    }
    if (stream->process_ns == SIM_TIME_MAX)
        return false;
    sim_job_stream_draw(stream, stream->process_ns, job);
    stream->is_spent = --stream->process_left == 0;
    return true;
}

bool sim_job_stream_next(struct sim_job_stream *stream, struct sim_job_arrival *job)
{
    *job = (struct sim_job_arrival){ .spec = 0 };
    if (stream->given == stream->workload->jobs_limit)
        return false;
    const bool is_next = stream->rows != NULL ? next_row(stream, job) : next_generated(stream, job);
    stream->given += is_next ? 1 : 0;
    return is_next;
}

/* ---- where the rate is changed from outside ---- */

void sim_job_stream_put_back(struct sim_job_stream *stream, const struct sim_job_arrival *job)
{
    stream->given--;
    for (size_t i = 0; i < stream->counted_count; i++) {
        if (stream->counted[i].spec == job->spec) {
            stream->counted[i].given--;
            return;
        }
    }
    stream->process_given--;
    stream->process_left++;
    stream->is_spent = false;
}

void sim_job_stream_set_factor(struct sim_job_stream *stream, int64_t now_ns, double factor)
{
    const double now_s = sim_time_s(now_ns);
    const double old = stream->factor;
    if (stream->process.spec == NULL)
        return;
    find_instant(stream);
    stream->factor = factor;
    sim_arrival_process_move(&stream->process, now_s);
    if (stream->held_s >= 0)
        await(stream, stream->held_s);
    else if (stream->process_ns < SIM_TIME_MAX)
        await(stream, old * sim_arrival_process_takes(&stream->process,
                                                      fmax(stream->process_s - now_s, 0)));
    if (stream->process_ns < now_ns) /* by the last bit */
        stream->process_ns = now_ns;
}

bool sim_job_stream_is_held(const struct sim_job_stream *stream)
{
    return stream->held_s >= 0 && stream->given < stream->workload->jobs_limit;
}

/* ---- all of them ---- */

static bool process_goes_on(const struct sim_job_stream *stream)
{
    if (stream->is_spent)
        return stream->workload->mode != SIM_WORKLOAD_STATIC;
    return stream->process_ns != SIM_TIME_MAX || stream->held_s >= 0;
}

uint64_t sim_job_stream_total(const struct sim_job_stream *stream)
{
    uint64_t total = stream->row_count;
    for (size_t i = 0; i < stream->counted_count; i++)
        total += stream->workload->jobs[stream->counted[i].spec].count;
    if (process_goes_on(stream))
        total = UINT64_MAX;
    return total < stream->workload->jobs_limit ? total : stream->workload->jobs_limit;
}
