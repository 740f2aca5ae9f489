/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in steps: their ranks compute, wait for the slowest of them, exchange, and go on.
 *
 *   step = time x E[slowest rank] x luck + all-reduce at their places + memory that is given back
 *
 * Steps are not events of their own: between two changes of speed all steps of a job are alike but
 * for chance, so that its work has a rate, time / step. Chance is drawn once a job (slowest.h):
 * what its slowest ranks take over what they take on average, `luck`, belongs to the job whatever
 * happens to it, and its mean is 1.
 *
 * Speeds of GPU types, slow nodes, neighbours make computing longer, not the exchange.
 */
#include "sim/jobs/jobs.h"
#include "sim/jobs/slowest.h"
#include "sim/record/record.h"
#include "sim/worker/exchange.h"

#include <math.h>
#include <stdlib.h>

static const struct sim_step *step_of(const struct sim_jobs_run *run, const struct sim_job *job)
{
    return sim_job_spec(run, job)->step;
}

weir_status sim_jobs_open_steps(struct sim_jobs_run *run)
{
    const struct sim_workload *workload = run->workload;
    size_t first = 0;
    while (first < workload->jobs_count && workload->jobs[first].step == NULL)
        first++;
    if (first == workload->jobs_count)
        return WEIR_OK;
    run->steps = calloc(workload->labels_count + 1, sizeof(*run->steps));
    return run->steps == NULL ? WEIR_ENOMEM : WEIR_OK;
}

/* Of ranks that are all alike: kept, as it is asked for at every start. */
static double equal_mean(struct sim_jobs_run *run, uint32_t ranks, double spread)
{
    const uint32_t hash = ranks * UINT32_C(2654435761) >> 28; /* Knuth, TAOCP 3, 6.4 */
    struct sim_slowest_kept *kept = &run->slowest[hash];
    if (kept->ranks != ranks || islessgreater(kept->spread, spread)) {
        const struct sim_equal_ranks all = { ranks, 1 };
        *kept = (struct sim_slowest_kept){ ranks, spread, sim_slowest_mean(&all, 1, spread) };
    }
    return kept->mean;
}

void sim_jobs_draw_steps(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_step *step = step_of(run, job);
    struct sim_job_life *life = sim_job_life(run, job);
    struct sim_stream stream;
    life->pace.luck = 1;
    if (step == NULL || !(step->spread > 0))
        return;
    sim_stream_open(&stream, sim_job_stream_random(run->stream, job->spec), SIM_DRAW_JOB_STEP,
                    (struct sim_stream_key){ .item = job->key });
    const uint32_t ranks = sim_job_ranks(sim_job_spec(run, job));
    life->pace.luck =
        (float)sim_slowest_luck(&stream, ranks, step->spread, equal_mean(run, ranks, step->spread),
                                (double)life->run_ns / (double)step->time_ns);
}

/* ---- pace ---- */

/* How slow ranks are, 1 = the reference device alone. */
struct slowness {
    double most, mean;
    struct sim_equal_ranks groups[64];
    uint32_t count;
};

static double slow_of(const struct sim_jobs_run *run, const struct sim_job_life *life, uint32_t i)
{
    const struct sim_workers *workers = run->config.workers;
    const struct sim_worker *worker = sim_workers_find(workers, sim_job_worker_id(life, i));
    return sim_worker_slowdown(workers, worker) / sim_jobs_rank_speed(run, worker);
}

/* Ranks by how much faster they are than the slowest, a quarter of a deviation a group: one more
 * than sixteen deviations faster never is the slowest. The mean of logarithms stands for a group.
 */
static void group_ranks(const struct sim_jobs_run *run, const struct sim_job_life *life,
                        double spread, struct slowness *slow)
{
    enum { GROUPS = sizeof slow->groups / sizeof slow->groups[0] };
    struct {
        uint32_t count;
        double sum;
    } found[GROUPS] = { { 0 } };
    for (uint32_t i = 0; i < life->members; i++) {
        const double faster = log(slow->most / slow_of(run, life, i));
        const uint32_t at = (uint32_t)fmin(4 * faster / spread, GROUPS - 1);
        found[at].count++;
        found[at].sum += faster;
    }
    for (uint32_t g = 0; g < GROUPS; g++)
        if (found[g].count > 0)
            slow->groups[slow->count++] =
                (struct sim_equal_ranks){ found[g].count,
                                          slow->most * exp(-found[g].sum / found[g].count) };
}

static void find_slowness(const struct sim_jobs_run *run, const struct sim_job *job,
                          struct slowness *slow)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const struct sim_job_life *life = sim_job_life(run, job);
    const uint32_t ranks = sim_job_ranks(spec) / spec->members;
    *slow = (struct slowness){ .most = 0 };
    for (uint32_t i = 0; i < life->members; i++) {
        const double one = slow_of(run, life, i);
        slow->most = fmax(slow->most, one);
        slow->mean += one / life->members;
    }
    if (!(spec->step->spread > 0) || isinf(slow->most))
        return;
    group_ranks(run, life, spec->step->spread, slow);
    for (uint32_t g = 0; g < slow->count; g++)
        slow->groups[g].count *= ranks;
}

/* ---- the exchange ---- */

double sim_jobs_exchange_share(const struct sim_jobs_run *run, const struct sim_job_spec *spec)
{
    if (spec->step == NULL || spec->step->sync_bytes == 0 || spec->members < 2)
        return 0;
    const double exchange_s =
        sim_exchange_apart_s(run->context->scenario, spec->members, (double)spec->step->sync_bytes);
    return exchange_s / (sim_time_s(spec->step->time_ns) + exchange_s);
}

/* What it takes with those that it meets. */
static double exchange_s(const struct sim_jobs_run *run, const struct sim_job_life *life)
{
    return life->meets == 0 ? life->sync_s : sim_workers_met_s(run->config.workers, life->meets);
}

static weir_status meet_others(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    struct slowness slow;
    if (run->context->scenario->exchange == SIM_EXCHANGE_ALONE)
        return WEIR_OK;
    find_slowness(run, job, &slow);
    const double compute_s = sim_time_s(step_of(run, job)->time_ns) * slow.most;
    const struct sim_exchanging alone = { compute_s + life->sync_s, life->sync_s };
    for (uint32_t i = 0; i < life->workers; i++)
        WEIR_TRY(sim_workers_meet(run->config.workers, sim_job_worker_id(life, i), &alone,
                                  &life->meets));
    return WEIR_OK;
}

weir_status sim_jobs_place_steps(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_step *step = step_of(run, job);
    struct sim_job_life *life = sim_job_life(run, job);
    struct sim_exchange exchange;
    life->sync_s = 0;
    if (step == NULL || step->sync_bytes == 0)
        return WEIR_OK;
    WEIR_TRY(sim_workers_all_reduce(run->config.workers, life->first_worker, life->members,
                                    (double)step->sync_bytes, &exchange));
    const double latency_s = step->latency_ns == SIM_LATENCY_BY_PLACE
                                 ? exchange.latency_s
                                 : sim_time_s(step->latency_ns);
    if (exchange.ranks > 1)
        life->sync_s = exchange.bytes_s + latency_s;
    return exchange.nodes > 1 ? meet_others(run, job) : WEIR_OK;
}

void sim_jobs_part(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    if (life->meets != 0)
        sim_workers_part(run->config.workers, &life->meets);
}

/* ---- the rate ---- */

/* What the bubble of its pipeline adds, over its computing. */
static double job_bubble(const struct sim_jobs_run *run, const struct sim_job *job)
{
    const double bubble = sim_job_spec(run, job)->bubble;
    return bubble / (1 - bubble);
}

/* The device stands still when memory that a step took goes back to it. */
static int64_t free_ns(const struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    return spec->activation_bytes == 0 || spec->tenant_number == 0
               ? 0
               : run->context->scenario->tenants[spec->tenant_number - 1].free_ns;
}

uint64_t sim_jobs_step_rate(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_step *step = step_of(run, job);
    struct sim_job_life *life = sim_job_life(run, job);
    struct sim_job_pace *pace = &life->pace;
    struct slowness slow;
    find_slowness(run, job, &slow);
    const double slowest =
        slow.count == 0 ? slow.most
        : slow.count == 1
            ? slow.groups[0].slow * equal_mean(run, slow.groups[0].count, step->spread)
            : sim_slowest_mean(slow.groups, slow.count, step->spread);
    const double luck = (double)pace->luck;
    const double sync = exchange_s(run, life) / sim_time_s(step->time_ns);
    const double bubble = luck * slowest * job_bubble(run, job);
    const double freeing = sim_time_s(free_ns(run, job)) / sim_time_s(step->time_ns);
    const double length = luck * slowest + bubble + sync + freeing;
    pace->rate = isinf(length) ? 0 : 1 / length;
    pace->sync = (float)(sync * pace->rate);
    pace->bubble = isinf(length) ? 0 : (float)(bubble * pace->rate);
    pace->wait = isinf(length) ? 1 : (float)(luck * (slowest - slow.mean) * pace->rate);
    return sim_rate_at(pace->rate);
}

/* ---- counts ---- */

static void add(struct sim_jobs_steps *sum, const struct sim_jobs_steps *more)
{
    sum->ranks_ns += more->ranks_ns;
    sum->sync_ns += more->sync_ns;
    sum->wait_ns += more->wait_ns;
    sum->bubble_ns += more->bubble_ns;
    sum->alone_ns += more->alone_ns;
    sum->steps += more->steps;
    sum->steps_ns += more->steps_ns;
}

static weir_status keep_pace(const struct sim_jobs_run *run, const struct sim_job *job,
                             double steps)
{
    const struct sim_job_life *life = sim_job_life(run, job);
    const struct sim_job_pace_row row = { .workload = run->config.instance,
                                          .job = job->id,
                                          .attempt = life->attempts,
                                          .from_ns = life->counted_ns,
                                          .to_ns = sim_jobs_now(run),
                                          .first_step = life->step_at,
                                          .steps = steps,
                                          .sync = (double)life->pace.sync,
                                          .wait = (double)life->pace.wait,
                                          .bubble = (double)life->pace.bubble };
    return sim_recorder_job_pace(run->context->recorder, &row, run->context->error);
}

weir_status sim_jobs_count_steps(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    struct sim_job_life *life = sim_job_life(run, job);
    const struct sim_job_pace *pace = &life->pace;
    const int64_t now_ns = sim_jobs_now(run);
    if (spec->step == NULL || life->phase != SIM_JOB_WORKING)
        return WEIR_OK;
    const double took_ns = (double)(now_ns - life->counted_ns);
    const double ranks_ns = took_ns * sim_job_ranks(spec);
    const struct sim_jobs_steps more = { .ranks_ns = ranks_ns,
                                         .sync_ns = ranks_ns * (double)pace->sync,
                                         .wait_ns = ranks_ns * (double)pace->wait,
                                         .bubble_ns = ranks_ns * (double)pace->bubble,
                                         .alone_ns = took_ns * pace->rate,
                                         .steps =
                                             took_ns * pace->rate / (double)spec->step->time_ns,
                                         .steps_ns = took_ns };
    const weir_status status = took_ns > 0 ? keep_pace(run, job, more.steps) : WEIR_OK;
    life->counted_ns = now_ns;
    life->step_at += more.steps;
    add(&run->steps[spec->label], &more);
    add(&run->steps[run->workload->labels_count], &more);
    return status;
}
