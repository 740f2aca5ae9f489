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

#include "sim/engine/digest.h"
#include "sim/engine/time.h"
#include "sim/port/module.h"
#include "weir/host.h"

#include <malloc.h>
#include <string.h>
#include <time.h>

enum { JOBS = 2000, GROWTH_JOBS = 100000, TIMED_JOBS = 500, LATER = 3, GPU_TYPES = 3 };
enum { HOSTS = 20, PASSES = 40, NODES = 8, NODE_GPUS = 8, NEW_JOBS = 6, ENDING = 32 };

struct queueing_trial {
    const struct weir_queueing_ops *ops;
    const struct sim_trial_sheet *sheet;
};

/* A policy and the jobs it is asked about. */
struct asking {
    struct weir_ranker *ranker;
    uint64_t random;
    int64_t now_ns;
    struct weir_job job;
    struct weir_rank_group group;
    double throughput[GPU_TYPES];
};

static uint64_t draw(struct asking *asking, uint64_t below)
{
    asking->random = sim_digest_word(asking->random, 0x5bd1e995);
    return (asking->random >> 16) % below;
}

static int64_t draw_ns(struct asking *asking, uint64_t below_s)
{
    return (int64_t)draw(asking, below_s) * SIM_NS_PER_S;
}

static bool is_known(struct asking *asking)
{
    return draw(asking, 3) != 0;
}

/* The next job, and the time at which it is looked at. */
static weir_status next_job(struct asking *asking, struct weir_error *error)
{
    static const struct weir_request requests[] = { { .cpus = 1 },
                                                    { .cpus = 1, .gpus = 0.25 },
                                                    { .cpus = 8, .gpus = 1 },
                                                    { .cpus = 64, .gpus = 8 } };
    struct weir_job *job = &asking->job;
    const uint64_t id = job->id + 1;
    const uint32_t ranks = 1 + (uint32_t)draw(asking, 64);
    *job = (struct weir_job){ .size = sizeof *job,
                              .id = id,
                              .groups = &asking->group,
                              .group_count = 1,
                              .ranks = ranks,
                              .tenant = (uint32_t)draw(asking, 5),
                              .priority = (int32_t)draw(asking, 21) - 10,
                              .attempts = (uint32_t)draw(asking, 3),
                              .estimate_ns = WEIR_UNKNOWN_TIME };
    asking->group.ranks = ranks;
    asking->group.ranks_min = ranks;
    asking->group.ranks_max = is_known(asking) ? ranks : ranks * 2;
    asking->now_ns += draw_ns(asking, 100);
    job->submit_ns = asking->now_ns;
    job->queued_ns = job->submit_ns + (job->attempts > 0 ? draw_ns(asking, 86400) : 0);
    if (is_known(asking))
        job->estimate_ns = draw_ns(asking, 1000000);
    job->attained_ns = job->attempts > 0 ? draw_ns(asking, 1000000) : 0;
    job->restart_cost_ns = is_known(asking) ? draw_ns(asking, 600) : 0;
    job->round_share = is_known(asking) ? 0 : (double)draw(asking, 1000) / 1000;
    for (uint32_t i = 0; i < GPU_TYPES; i++)
        asking->throughput[i] = 1 + (double)draw(asking, 4);
    job->throughput_count = is_known(asking) ? GPU_TYPES : 0;
    job->throughput = job->throughput_count > 0 ? asking->throughput : NULL;
    return weir_shape_from_request(&requests[draw(asking, 4)], WEIR_QUANTUM_EXACT,
                                   &asking->group.shape, error);
}

static weir_status begin(const struct queueing_trial *trial, const struct weir_allocator *allocator,
                         struct asking *asking, struct weir_error *error)
{
    *asking = (struct asking){ .random = sim_digest_word(SIM_DIGEST_START, 1) };
    return weir_ranker_create(trial->ops, NULL, allocator, &asking->ranker, error);
}

/* The key of the next job when it has waited for `waited_ns`. */
static weir_status next_key(struct asking *asking, int64_t waited_ns, double *key,
                            struct weir_error *error)
{
    WEIR_TRY(next_job(asking, error));
    return weir_ranker_key(asking->ranker, &asking->job, asking->job.queued_ns + waited_ns, key,
                           error);
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
        status = next_key(&asking, draw_ns(&asking, 100000), &key, &error);
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
        const struct weir_job *job = &pair[1].job;
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
        int64_t at_ns = asking.job.queued_ns;
        for (uint32_t k = 0; k < LATER && status == WEIR_OK; k++) {
            at_ns += SIM_NS_PER_S + draw_ns(&asking, 100000);
            status = weir_ranker_key(asking.ranker, &asking.job, at_ns, &later, &error);
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
    int64_t half[2] = { 0, 0 };
    double key = 0;
    const struct weir_allocator allocator = { sim_trial_resize, &live };
    weir_status status = begin(trial, &allocator, &asking, &error);
    for (uint32_t i = 0; i < GROWTH_JOBS && status == WEIR_OK; i++) {
        if (i == GROWTH_JOBS / 2) {
            half[0] = live;
            half[1] = (int64_t)mallinfo2().uordblks;
        }
        status = next_key(&asking, 0, &key, &error);
    }
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    const int64_t growth[2] = { live - half[0], (int64_t)mallinfo2().uordblks - half[1] };
    (void)snprintf(trial->sheet->note, SIM_TRIAL_NOTE,
                   "%lld bytes of its allocator and %lld of the process in the last %d calls",
                   (long long)growth[0], (long long)growth[1], GROWTH_JOBS / 2);
    weir_ranker_destroy(asking.ranker);
    return growth[0] > GROWTH_JOBS / 2 || growth[1] > GROWTH_JOBS / 2 ? 1 : 0;
}

static int check_sizes(void *state)
{
    const struct queueing_trial *trial = state;
    static const uint32_t sizes[] = { 0, 4, UINT32_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct weir_queueing_ops ops = *trial->ops;
        const struct weir_queueing_ops *const queueings[] = { &ops, NULL };
        const struct weir_module module = { .size = sizeof module,
                                            .abi_major = WEIR_ABI_MAJOR,
                                            .name = "trial",
                                            .queueings = queueings };
        ops.size = sizes[i];
        const bool is_taken = weir_module_check(&module, NULL) == WEIR_OK;
        if (is_taken != (sizes[i] == UINT32_MAX))
            return sim_trial_fail(trial->sheet, "a table of a wrong size",
                                  is_taken ? "was taken" : "was refused");
    }
    return 0;
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
        struct timespec from;
        struct timespec to;
        status = next_job(&asking, &error);
        (void)clock_gettime(CLOCK_MONOTONIC, &from);
        if (status == WEIR_OK)
            status = weir_ranker_key(asking.ranker, &asking.job, asking.now_ns, &key, &error);
        (void)clock_gettime(CLOCK_MONOTONIC, &to);
        times_us[i] =
            (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) * 1e-3;
    }
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    sim_trial_note_times(trial->sheet, times_us, TIMED_JOBS, "key");
    weir_ranker_destroy(asking.ranker);
    return 0;
}

/* ---- passes: a host to which jobs come, and from which they go ---- */

struct passing {
    struct asking asking; /* it asks nobody: the host does */
    struct weir_host *host;
    uint64_t digest; /* of all plans */
    uint64_t started;
};

static weir_status open_host(const struct queueing_trial *trial, uint64_t seed,
                             struct passing *passing, struct weir_error *error)
{
    const struct weir_host_config config = { .size = sizeof config,
                                             .placement = weir_placement_find("best_fit"),
                                             .scaling = weir_scaling_find("fixed"),
                                             .queueing = trial->ops,
                                             .seed = seed };
    struct weir_gpu_spec gpus[NODE_GPUS];
    for (uint32_t i = 0; i < NODE_GPUS; i++)
        gpus[i] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    *passing = (struct passing){ .asking.random = sim_digest_word(SIM_DIGEST_START, seed) };
    WEIR_TRY(weir_host_create(&config, &passing->host, error));
    for (uint32_t i = 0; i < NODES; i++) {
        const struct weir_node_spec node = { .size = sizeof node,
                                             .id = i,
                                             .gpu_count = NODE_GPUS,
                                             .cpu_units = 64 * WEIR_ONE,
                                             .gpus = gpus };
        WEIR_TRY(weir_host_add_node(passing->host, &node, NULL, error));
    }
    return weir_host_add_workload(passing->host, "jobs", NULL, error);
}

static weir_status submit(struct passing *passing, struct weir_error *error)
{
    static const double throughput[GPU_TYPES] = { 1, 2, 4 };
    WEIR_TRY(next_job(&passing->asking, error));
    const struct weir_job *job = &passing->asking.job;
    const struct weir_job_spec spec = { .size = sizeof spec,
                                        .id = job->id,
                                        .groups = job->groups,
                                        .group_count = job->group_count,
                                        .tenant = job->tenant,
                                        .priority = job->priority,
                                        .attempts = job->attempts,
                                        .throughput_count = job->throughput_count,
                                        .submit_ns = job->submit_ns,
                                        .queued_ns = job->submit_ns,
                                        .estimate_ns = job->estimate_ns,
                                        .deadline_ns = WEIR_UNKNOWN_TIME,
                                        .attained_ns = job->attained_ns,
                                        .restart_cost_ns = job->restart_cost_ns,
                                        .round_share = job->round_share,
                                        .throughput =
                                            job->throughput_count > 0 ? throughput : NULL };
    const weir_status status = weir_host_submit(passing->host, &spec, error);
    return status == WEIR_EINFEASIBLE ? WEIR_OK : status;
}

static weir_status end_job(struct passing *passing, uint64_t id, struct weir_error *error)
{
    const struct weir_cluster *cluster = weir_host_cluster(passing->host);
    for (uint32_t node = 0; node < NODES; node++) {
        struct weir_worker worker;
        uint32_t cursor = 0;
        while (weir_cluster_node_worker(cluster, node, &cursor, &worker)) {
            const struct weir_outcome outcome = { .size = sizeof outcome,
                                                  .kind = WEIR_OUTCOME_STOPPED,
                                                  .owner = worker.owner,
                                                  .node = node,
                                                  .worker = worker.id,
                                                  .time_ns = passing->asking.now_ns };
            if (worker.owner.id != id)
                continue;
            WEIR_TRY(weir_host_outcome(passing->host, &outcome, NULL, error));
            cursor = 0;
        }
    }
    return weir_host_ended(passing->host, 0, id, error);
}

/* One of four that run is over. */
static weir_status end_some(struct passing *passing, struct weir_error *error)
{
    const struct weir_view *view = weir_host_view(passing->host, passing->asking.now_ns);
    struct weir_job job = { .size = sizeof job };
    uint64_t ids[ENDING];
    uint32_t count = 0;
    uint32_t cursor = 0;
    while (count < ENDING && weir_view_next_job(view, &cursor, &job))
        if (job.state == WEIR_JOB_RUNNING && draw(&passing->asking, 4) == 0)
            ids[count++] = job.id;
    for (uint32_t i = 0; i < count; i++)
        WEIR_TRY(end_job(passing, ids[i], error));
    return WEIR_OK;
}

/* Who is preempted makes room before anybody starts. */
static weir_status carry_out(struct passing *passing, const struct weir_plan *plan,
                             struct weir_error *error)
{
    for (int starts = 0; starts < 2; starts++) {
        for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
            const struct weir_action *action = weir_plan_action(plan, i);
            const struct weir_outcome outcome = { .size = sizeof outcome,
                                                  .kind = WEIR_OUTCOME_STARTED,
                                                  .owner = action->owner,
                                                  .node = action->alloc.node,
                                                  .worker = action->worker,
                                                  .time_ns = passing->asking.now_ns };
            if (starts == 0)
                passing->digest = sim_trial_digest(passing->digest, action);
            if (starts == 0 && action->verb == WEIR_VERB_PREEMPT)
                WEIR_TRY(end_job(passing, action->owner.id, error));
            if (starts == 0 || action->verb != WEIR_VERB_START)
                continue;
            passing->started++;
            WEIR_TRY(weir_host_outcome(passing->host, &outcome, &action->alloc, error));
        }
    }
    return WEIR_OK;
}

static weir_status pass(const struct queueing_trial *trial, uint64_t seed, struct passing *passing,
                        struct weir_error *error)
{
    WEIR_TRY(open_host(trial, seed, passing, error));
    for (uint32_t i = 0; i < PASSES; i++) {
        const struct weir_plan *plan = NULL;
        WEIR_TRY(end_some(passing, error));
        for (uint32_t k = 0; k < NEW_JOBS; k++)
            WEIR_TRY(submit(passing, error));
        const struct weir_call call = { .size = sizeof call,
                                        .causes = WEIR_CAUSE_JOBS,
                                        .now_ns = passing->asking.now_ns };
        WEIR_TRY(weir_host_decide(passing->host, &call, &plan, error));
        WEIR_TRY(carry_out(passing, plan, error));
    }
    return weir_cluster_check(weir_host_cluster(passing->host), error);
}

static int check_passes(void *state)
{
    const struct queueing_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    uint64_t started = 0;
    for (uint32_t seed = 1; seed <= HOSTS; seed++) {
        uint64_t digests[2];
        for (int i = 0; i < 2; i++) {
            struct passing passing;
            const weir_status status = pass(trial, seed, &passing, &error);
            weir_host_destroy(passing.host);
            if (status != WEIR_OK)
                return failed(trial, status, &error);
            digests[i] = passing.digest;
            started += passing.started;
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
