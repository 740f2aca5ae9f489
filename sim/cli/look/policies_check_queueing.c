/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trial of a queueing policy: keys of random jobs, many of which leave things unknown, and the
 * decisions of hosts to which such jobs come.
 *
 * A key has to be a number, the same for the same job at the same time, and without the flag
 * WEIR_QUEUEING_AGES the same at every later time: the simulator then asks only once. All jobs are
 * drawn from fixed seeds. Its passes, or those of the host by its keys, give plans that fit, and
 * equal ones to hosts that were told the same.
 */
#include "sim/cli/look/policies_trial.h"
#include "sim/cli/look/policies_trial_jobs.h"

#include "sim/engine/digest.h"
#include "sim/engine/time.h"
#include "sim/port/module.h"
#include "weir/host.h"

#include <string.h>

enum { JOBS = 2000, GROWTH_JOBS = 100000, TIMED_JOBS = 500, LATER = 3 };
enum { HOSTS = 20, PASSES = 40, NODES = 8, NEW_JOBS = 6 };

struct queueing_trial {
    const struct weir_queueing_ops *ops;
    const struct sim_trial_sheet *sheet;
};

/* A policy and the jobs it is asked about. */
struct asking {
    struct weir_ranker *ranker;
    struct sim_trial_jobs jobs;
};

static weir_status begin(const struct queueing_trial *trial, const struct weir_allocator *allocator,
                         struct asking *asking, struct weir_error *error)
{
    *asking = (struct asking){ .jobs.random = sim_digest_word(SIM_DIGEST_START, 1) };
    return weir_ranker_create(trial->ops, NULL, allocator, &asking->ranker, error);
}

/* The key of the next job when it has waited for `waited_ns`. */
static weir_status next_key(struct asking *asking, int64_t waited_ns, double *key,
                            struct weir_error *error)
{
    WEIR_TRY(sim_trial_next_job(&asking->jobs, error));
    return weir_ranker_key(asking->ranker, &asking->jobs.job,
                           asking->jobs.job.queued_ns + waited_ns, key, error);
}

static int failed(const struct queueing_trial *trial, weir_status status,
                  const struct weir_error *error)
{
    return sim_trial_fail(trial->sheet, weir_status_text(status), error->text);
}

/* ---- the checks: 0 = kept, 1 = broken, with a note ---- */

static int check_numbers(void *state)
{
    const struct queueing_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct asking asking;
    double key = 0;
    weir_status status = begin(trial, NULL, &asking, &error);
    for (uint32_t i = 0; i < JOBS && status == WEIR_OK; i++)
        status = next_key(&asking, sim_trial_draw_ns(&asking.jobs, 100000), &key, &error);
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    (void)snprintf(trial->sheet->note, SIM_TRIAL_NOTE, "%d jobs", JOBS);
    weir_ranker_destroy(asking.ranker);
    return 0;
}

static bool is_same(double a, double b)
{
    /* To the bit.
     * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Two that see the same jobs, and one that is asked twice. */
static int check_repeats(void *state)
{
    const struct queueing_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct asking pair[2];
    weir_status status = begin(trial, NULL, &pair[0], &error);
    if (status == WEIR_OK)
        status = begin(trial, NULL, &pair[1], &error);
    for (uint32_t i = 0; i < JOBS && status == WEIR_OK; i++) {
        double keys[3] = { 0, 0, 0 };
        status = next_key(&pair[0], SIM_NS_PER_S, &keys[0], &error);
        if (status == WEIR_OK)
            status = next_key(&pair[1], SIM_NS_PER_S, &keys[1], &error);
        const struct weir_job *job = &pair[1].jobs.job;
        if (status == WEIR_OK)
            status = weir_ranker_key(pair[1].ranker, job, job->queued_ns + SIM_NS_PER_S, &keys[2],
                                     &error);
        if (status == WEIR_OK && (!is_same(keys[0], keys[1]) || !is_same(keys[1], keys[2])))
            return sim_trial_fail(trial->sheet, "equal questions", "got two different keys");
    }
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    weir_ranker_destroy(pair[0].ranker);
    weir_ranker_destroy(pair[1].ranker);
    return 0;
}

static int check_ages(void *state)
{
    const struct queueing_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct asking asking;
    const bool may_age = (trial->ops->flags & WEIR_QUEUEING_AGES) != 0;
    uint32_t changed = 0;
    weir_status status = begin(trial, NULL, &asking, &error);
    for (uint32_t i = 0; i < JOBS && status == WEIR_OK; i++) {
        double first = 0;
        double later = 0;
        status = next_key(&asking, 0, &first, &error);
        int64_t at_ns = asking.jobs.job.queued_ns;
        for (uint32_t k = 0; k < LATER && status == WEIR_OK; k++) {
            at_ns += SIM_NS_PER_S + sim_trial_draw_ns(&asking.jobs, 100000);
            status = weir_ranker_key(asking.ranker, &asking.jobs.job, at_ns, &later, &error);
            changed += status == WEIR_OK && !is_same(first, later) ? 1 : 0;
        }
    }
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    weir_ranker_destroy(asking.ranker);
    if (changed > 0 && !may_age)
        return sim_trial_fail(trial->sheet, "keys change with time",
                              "that needs the flag WEIR_QUEUEING_AGES");
    (void)snprintf(trial->sheet->note, SIM_TRIAL_NOTE, "%s",
                   may_age ? "keys are asked for at every pass" : "keys do not change with time");
    return 0;
}

static int check_growth(void *state)
{
    const struct queueing_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct asking asking;
    int64_t live = 0;
    struct sim_trial_memory half = { 0, 0 };
    double key = 0;
    const struct weir_allocator allocator = { sim_trial_resize, &live };
    weir_status status = begin(trial, &allocator, &asking, &error);
    for (uint32_t i = 0; i < GROWTH_JOBS && status == WEIR_OK; i++) {
        if (i == GROWTH_JOBS / 2)
            half = sim_trial_memory(live);
        status = next_key(&asking, 0, &key, &error);
    }
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    const int result = sim_trial_note_growth(trial->sheet, half, live, GROWTH_JOBS / 2);
    weir_ranker_destroy(asking.ranker);
    return result;
}

static int check_sizes(void *state)
{
    const struct queueing_trial *trial = state;
    struct weir_queueing_ops ops = *trial->ops;
    const struct weir_queueing_ops *const queueings[] = { &ops, NULL };
    const struct weir_module module = {
        .size = sizeof module, .abi_major = WEIR_ABI_MAJOR, .name = "trial", .queueings = queueings
    };
    return sim_trial_sizes(trial->sheet, &module, &ops.size);
}

static int check_time(void *state)
{
    const struct queueing_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct asking asking;
    double key = 0;
    double times_us[TIMED_JOBS] = { 0 };
    weir_status status = begin(trial, NULL, &asking, &error);
    for (uint32_t i = 0; i < TIMED_JOBS && status == WEIR_OK; i++) {
        status = sim_trial_next_job(&asking.jobs, &error);
        const double from_us = sim_trial_us();
        if (status == WEIR_OK)
            status =
                weir_ranker_key(asking.ranker, &asking.jobs.job, asking.jobs.now_ns, &key, &error);
        times_us[i] = sim_trial_us() - from_us;
    }
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    sim_trial_note_times(trial->sheet, times_us, TIMED_JOBS, "key");
    weir_ranker_destroy(asking.ranker);
    return 0;
}

/* ---- passes: a host to which jobs come, and from which they go ---- */

static weir_status pass(const struct queueing_trial *trial, uint64_t seed,
                        struct sim_trial_queue *queue, struct weir_error *error)
{
    const struct weir_host_config config = { .size = sizeof config,
                                             .placement = weir_placement_find("best_fit"),
                                             .scaling = weir_scaling_find("fixed"),
                                             .queueing = trial->ops,
                                             .seed = seed };
    const struct weir_plan *plan = NULL;
    WEIR_TRY(sim_trial_queue_open(&config, NODES, queue, error));
    for (uint32_t i = 0; i < PASSES; i++)
        WEIR_TRY(sim_trial_queue_pass(queue, NEW_JOBS, &plan, error));
    return weir_cluster_check(weir_host_cluster(queue->host), error);
}

static int check_passes(void *state)
{
    const struct queueing_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    uint64_t started = 0;
    for (uint32_t seed = 1; seed <= HOSTS; seed++) {
        uint64_t digests[2];
        for (int i = 0; i < 2; i++) {
            struct sim_trial_queue queue;
            const weir_status status = pass(trial, seed, &queue, &error);
            weir_host_destroy(queue.host);
            if (status != WEIR_OK)
                return failed(trial, status, &error);
            digests[i] = queue.digest;
            started += queue.started;
        }
        if (digests[0] != digests[1])
            return sim_trial_fail(trial->sheet, "equal inputs", "gave two different plans");
    }
    if (started == 0)
        return sim_trial_fail(trial->sheet, "no job was started", "by any host");
    (void)snprintf(trial->sheet->note, SIM_TRIAL_NOTE, "%d hosts, %llu ranks started", 2 * HOSTS,
                   (unsigned long long)started);
    return 0;
}

static weir_status load(void *state, struct weir_error *error)
{
    struct queueing_trial *trial = state;
    return sim_queueing_load(&trial->ops, error);
}

size_t sim_trial_queueing(const struct sim_trial_sheet *all, const struct weir_queueing_ops *ops)
{
    const struct sim_trial_sheet sheet = { all->table, all->note, load };
    static const struct sim_trial_check checks[] = {
        { "keys are numbers", check_numbers },
        { "same job, same key", check_repeats },
        { "ageing is told", check_ages },
        { "plans fit", check_passes },
        { "no growth", check_growth },
        { "sizes are told", check_sizes },
        { "time", check_time },
        { NULL, NULL },
    };
    struct queueing_trial trial = { .ops = ops, .sheet = &sheet };
    return sim_trial_run(&sheet, ops->name, checks, &trial);
}
