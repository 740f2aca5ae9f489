/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checkpoints of jobs: how often (see the header), whose turn it is to write, and where the bytes
 * go.
 *
 * Turns: at most `writers` jobs write at a time. Who is due and finds no turn goes on working and
 * gets one in the order of asking; who breaks off gives his back. The first checkpoints of jobs lie
 * at T (1 - v), v the van der Corput sequence of their starts: 0, 1/2, 1/4, 3/4, ..., so that any
 * number of them is spread over the interval T.
 */
#include "sim/jobs/checkpoint.h"

#include "sim/jobs/jobs.h"

#include <gsl/gsl_sf_lambert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how often ---- */

double sim_checkpoint_interval_s(enum sim_checkpoint_rule rule, double cost_s, double restart_s,
                                 double mtbf_s)
{
    const double young_s = sqrt(2 * cost_s * mtbf_s);
    const double part = cost_s / (2 * mtbf_s);
    switch (rule) {
    case SIM_CHECKPOINT_DALY:
        return part < 1 ? young_s * (1 + sqrt(part) / 3 + part / 9) - cost_s : mtbf_s;
    case SIM_CHECKPOINT_SAXENA:
        return cost_s + sqrt(2 * (mtbf_s + restart_s) * cost_s + cost_s * cost_s);
    case SIM_CHECKPOINT_OPTIMUM: /* where the derivative of the expected time vanishes */
        return mtbf_s * (1 + gsl_sf_lambert_W0(-exp(-1 - cost_s / mtbf_s)));
    case SIM_CHECKPOINT_FIXED:
    case SIM_CHECKPOINT_YOUNG:
        break;
    }
    return young_s;
}

static double failures_per_s(const struct sim_failures *failures, enum sim_fault kind)
{
    const struct sim_law *between = failures->of[kind].between;
    return between == NULL ? 0 : 1 / sim_law_mean(between);
}

/* Of all that the job stands on. Ranks of one node follow one another. */
static double mtbf_s(const struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_failures *failures = &run->config.scenario->failures;
    const struct sim_job_life *life = sim_job_life(run, job);
    uint32_t last[3] = { WEIR_NO_INDEX, WEIR_NO_INDEX, WEIR_NO_INDEX };
    const uint32_t together[3] = { 1, failures->switch_nodes, failures->rack_nodes };
    double count[3] = { 0, 0, 0 }; /* nodes, switches, racks */
    for (uint32_t i = 0; i < life->workers; i++) {
        const uint32_t node =
            sim_workers_find(run->config.workers, sim_job_worker_id(life, i))->node;
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t group = together[k] > 0 ? node / together[k] : 0;
            count[k] += group != last[k];
            last[k] = group;
        }
    }
    double gpus = 0;
    for (uint32_t i = 0; i < life->workers; i++)
        gpus += sim_job_shape(sim_job_spec(run, job), i)->gpu_count;
    return 1 / (count[0] * failures_per_s(failures, SIM_FAULT_NODE) +
                count[1] * failures_per_s(failures, SIM_FAULT_SWITCH) +
                count[2] * failures_per_s(failures, SIM_FAULT_RACK) +
                gpus * failures_per_s(failures, SIM_FAULT_GPU));
}

int64_t sim_jobs_interval_ns(const struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_checkpoint *checkpoint = &run->workload->checkpoint;
    double cost_s = sim_time_s(checkpoint->cost_ns);
    if (!checkpoint->is_made || checkpoint->rule == SIM_CHECKPOINT_FIXED)
        return checkpoint->interval_ns;
    if (checkpoint->bytes > 0)
        cost_s += checkpoint->bytes / run->config.scenario->stores[checkpoint->store].bytes_per_s;
    const double between_s =
        checkpoint->mtbf_ns > 0 ? sim_time_s(checkpoint->mtbf_ns) : mtbf_s(run, job);
    const double interval_s =
        sim_checkpoint_interval_s((enum sim_checkpoint_rule)checkpoint->rule, cost_s,
                                  sim_time_s(checkpoint->restart_ns), between_s);
    return sim_time_from_s(fmin(fmax(interval_s, 1e-3), 9e9));
}

int64_t sim_jobs_first_interval_ns(struct sim_jobs_run *run, int64_t interval_ns)
{
    double part = 1;
    if (run->workload->checkpoint.writers == 0)
        return interval_ns;
    uint64_t bits = run->writers.starts++;
    for (uint32_t place = 1; bits > 0; bits >>= 1, place++)
        part -= ldexp((double)(bits & 1), -(int)place);
    return (int64_t)((double)interval_ns * part);
}

/* ---- turns ---- */

bool sim_jobs_may_write(struct sim_jobs_run *run, struct sim_job_life *life)
{
    struct sim_jobs_writers *writers = &run->writers;
    if (run->workload->checkpoint.writers == 0 || life->has_turn)
        return true;
    life->has_turn = writers->writing < run->workload->checkpoint.writers;
    writers->writing += life->has_turn;
    return life->has_turn;
}

weir_status sim_jobs_ask_turn(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_jobs_writers *writers = &run->writers;
    if (writers->first > writers->capacity / 2) { /* half of it is history */
        writers->count -= writers->first;
        memmove(writers->queue, writers->queue + writers->first,
                writers->count * sizeof *writers->queue);
        writers->first = 0;
    }
    if (writers->count == writers->capacity) {
        const uint32_t capacity = writers->capacity == 0 ? 16 : 2 * writers->capacity;
        struct sim_jobs_turn *queue = realloc(writers->queue, capacity * sizeof *queue);
        if (queue == NULL)
            return weir_fail(run->context->error, WEIR_ENOMEM, "out of memory");
        writers->queue = queue;
        writers->capacity = capacity;
    }
    writers->queue[writers->count++] =
        (struct sim_jobs_turn){ job->slot, sim_job_attempts(run, job), job->id };
    return WEIR_OK;
}

/* Whether it still waits for it: it may be gone, or be in another run. */
static struct sim_job *asking(const struct sim_jobs_run *run, const struct sim_jobs_turn *turn)
{
    struct sim_job *job = sim_job_at(run, turn->slot);
    if (job->state != SIM_JOB_RUNNING || job->id != turn->id ||
        sim_job_attempts(run, job) != turn->attempt)
        return NULL;
    const struct sim_job_life *life = sim_job_life(run, job);
    return !life->is_lost && life->phase == SIM_JOB_WORKING ? job : NULL;
}

void sim_jobs_give_turn(struct sim_jobs_run *run, struct sim_job_life *life)
{
    struct sim_jobs_writers *writers = &run->writers;
    if (!life->has_turn)
        return;
    life->has_turn = false;
    writers->writing--;
    while (writers->first < writers->count) {
        struct sim_job *next = asking(run, &writers->queue[writers->first++]);
        if (next == NULL)
            continue;
        sim_job_life(run, next)->has_turn = true;
        writers->writing++;
        sim_jobs_plan_save(run, next, 0);
        return;
    }
}

/* ---- bytes ---- */

weir_status sim_jobs_move_state(struct sim_jobs_run *run, const struct sim_job *job, bool is_read)
{
    const struct sim_checkpoint *checkpoint = &run->workload->checkpoint;
    struct sim_job_life *life = sim_job_life(run, job);
    life->move = (struct sim_move){ .from = is_read ? WEIR_NO_INDEX : life->node,
                                    .to = is_read ? life->node : WEIR_NO_INDEX,
                                    .store = checkpoint->store,
                                    .traffic = checkpoint->traffic,
                                    .bytes = checkpoint->bytes,
                                    .items = 1,
                                    .owner = sim_work_owner(run->config.index, job->slot) };
    life->phase = is_read ? SIM_JOB_READING : SIM_JOB_WRITING;
    WEIR_TRY(sim_move_begin(run->context, &life->move));
    life->run = life->move.work;
    return WEIR_OK;
}
