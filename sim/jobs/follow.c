/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that come because others are over: rows of a trace that name one before them, classes after
 * a class, users who submit again when they have thought, the next jobs of an array. So a closed
 * loop stays closed: where jobs take longer, the next ones come later.
 *
 *   submission --> job --> over --+--> submissions of those that follow, each after its think time
 *        |                  ^     +--> the next of its user
 *        +--> array: so many jobs at a time, over with the last
 *
 * A submission has a key, which names what is drawn for it: of a row its index, of a class after a
 * class that of the submission it follows, of user u the u-th, then the one `users` later. Job t of
 * an array has the key (key x array + t). So nothing that is drawn depends on who is over first.
 */
#include "sim/jobs/jobs.h"

#include <stdlib.h>

/* Jobs of one submission. */
struct array {
    uint32_t slot;
    uint32_t spec;
    uint64_t key;
    uint32_t given, brought, over; /* given: those that are on their way too */
    bool is_refused;               /* one of them */
};

static void plan(struct sim_jobs_run *run, int64_t at_ns, enum sim_jobs_event kind, uint32_t target,
                 uint64_t argument)
{
    const struct sim_event event = { .time_ns = at_ns,
                                     .target = target,
                                     .argument = argument,
                                     .kind = sim_driver_kind(run->config.index, (uint8_t)kind),
                                     .phase = SIM_PHASE_ARRIVAL };
    run->coming++;
    (void)sim_engine_schedule(run->context->engine, &event);
}

weir_status sim_jobs_open_followers(struct sim_jobs_run *run)
{
    const struct sim_workload *workload = run->workload;
    const size_t count = workload->jobs_count + 1;
    run->arrays.size = sizeof(struct array);
    bool is_needed = false;
    for (size_t i = 0; i < workload->jobs_count; i++)
        is_needed = is_needed || workload->jobs[i].after != 0;
    if (!is_needed)
        return WEIR_OK;
    run->followers = calloc(count, sizeof(*run->followers));
    run->next_follower = calloc(count, sizeof(*run->next_follower));
    if (run->followers == NULL || run->next_follower == NULL)
        return WEIR_ENOMEM;
    for (size_t i = workload->jobs_count; i-- > 0;) { /* the first is asked first */
        const uint32_t after = workload->jobs[i].after;
        if (after == 0)
            continue;
        run->next_follower[i] = run->followers[after - 1];
        run->followers[after - 1] = (uint32_t)i + 1;
    }
    return WEIR_OK;
}

void sim_jobs_close_followers(struct sim_jobs_run *run)
{
    free(run->followers);
    free(run->next_follower);
    sim_slab_clear(&run->arrays);
}

void sim_jobs_begin_users(struct sim_jobs_run *run)
{
    for (uint32_t i = 0; i < run->workload->jobs_count; i++) {
        const struct sim_job_spec *spec = &run->workload->jobs[i];
        for (uint32_t user = 0; user < spec->users && user < spec->limit; user++)
            plan(run, spec->submit_ns + user * spec->every_ns, SIM_JOBS_SUBMIT, i, user);
    }
}

/* ---- submissions ---- */

static weir_status bring(struct sim_jobs_run *run, uint32_t array, uint64_t key)
{
    struct array *of = sim_slab_at(&run->arrays, array);
    struct sim_job_arrival arrival = { .at_ns = sim_jobs_now(run) };
    const uint64_t task = key * run->workload->jobs[of->spec].array + of->brought++;
    sim_job_stream_describe(run->stream, of->spec, task, &arrival);
    return sim_jobs_bring(run, &arrival, array + 1);
}

weir_status sim_jobs_submission(struct sim_jobs_run *run, const struct sim_job_arrival *arrival)
{
    const struct sim_job_spec *spec = &run->workload->jobs[arrival->spec];
    void *record = NULL;
    if (spec->array == 1)
        return sim_jobs_bring(run, arrival, 0);
    WEIR_TRY(sim_slab_take(&run->arrays, &record));
    struct array *array = record;
    array->spec = arrival->spec;
    array->key = arrival->key;
    const uint32_t slot = array->slot;
    array->given = spec->array_limit < spec->array ? spec->array_limit : spec->array;
    const uint32_t first = array->given;
    for (uint32_t i = 0; i < first; i++)
        WEIR_TRY(bring(run, slot, arrival->key));
    return WEIR_OK;
}

weir_status sim_jobs_submit(struct sim_jobs_run *run, uint32_t spec, uint64_t key)
{
    struct sim_job_arrival arrival = { .at_ns = sim_jobs_now(run) };
    run->coming--;
    sim_job_stream_describe(run->stream, spec, key, &arrival);
    return sim_jobs_submission(run, &arrival);
}

weir_status sim_jobs_next_of_array(struct sim_jobs_run *run, uint32_t slot)
{
    const struct array *array = sim_slab_at(&run->arrays, slot);
    run->coming--;
    return bring(run, slot, array->key);
}

/* ---- ends ---- */

static int64_t comes_ns(const struct sim_jobs_run *run, uint32_t spec, uint64_t key)
{
    const struct sim_workload *workload = run->workload;
    const struct sim_job_spec *job = &workload->jobs[spec];
    const int64_t now_ns = sim_jobs_now(run);
    if (workload->kind == SIM_WORKLOAD_GENERATED)
        return sim_jobs_later(now_ns, sim_job_stream_think_ns(run->stream, spec, key));
    if (job->think_ns != WEIR_UNKNOWN_TIME)
        return sim_jobs_later(now_ns, job->think_ns);
    const int64_t own_ns = sim_job_stream_row_ns(run->stream, spec);
    return own_ns > now_ns ? own_ns : now_ns;
}

/* Who submitted this one of a class with users thinks, and submits the next. */
static void next_of_user(struct sim_jobs_run *run, uint32_t spec, uint64_t key, bool is_refused)
{
    const struct sim_job_spec *job = &run->workload->jobs[spec];
    if (key + job->users >= job->limit)
        return;
    /* Who is turned away does not come again at the same instant for ever. */
    const int64_t least_ns = sim_jobs_later(sim_jobs_now(run), is_refused ? SIM_NS_PER_S : 0);
    const int64_t at_ns = comes_ns(run, spec, key + job->users);
    plan(run, at_ns > least_ns ? at_ns : least_ns, SIM_JOBS_SUBMIT, spec, key + job->users);
}

static void submission_over(struct sim_jobs_run *run, uint32_t spec, uint64_t key, bool is_refused)
{
    const uint32_t frees = run->workload->jobs[spec].frees;
    const bool is_row = run->workload->kind != SIM_WORKLOAD_GENERATED;
    uint32_t next = run->followers == NULL ? 0 : run->followers[spec];
    for (; next != 0; next = run->next_follower[next - 1]) {
        const uint64_t of = is_row ? next - 1 : key;
        plan(run, comes_ns(run, next - 1, of), SIM_JOBS_SUBMIT, next - 1, of);
    }
    if (frees != 0)
        next_of_user(run, frees - 1, key, is_refused);
}

void sim_jobs_over(struct sim_jobs_run *run, const struct sim_job *job)
{
    if (job->array == 0) {
        submission_over(run, job->spec, job->key, job->is_refused);
        return;
    }
    struct array *array = sim_slab_at(&run->arrays, job->array - 1);
    const uint32_t size = run->workload->jobs[array->spec].array;
    array->is_refused = array->is_refused || job->is_refused;
    if (array->given < size) {
        array->given++;
        plan(run, sim_jobs_now(run), SIM_JOBS_NEXT, array->slot, 0);
    }
    if (++array->over < size)
        return;
    submission_over(run, array->spec, array->key, array->is_refused);
    sim_slab_give(&run->arrays, array);
}
