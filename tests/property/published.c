/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queueing policies against the published rules written down plainly, on random jobs: queues of
 * attained service with and without promotion, and jobs that stay chosen as RLScheduler has them.
 * WEIR_SLOW=1 runs 10^4 cases of each.
 */
#include "tests/support/check.h"
#include "tests/support/few_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = FEW_JOBS_MOST, GPUS = FEW_JOBS_GPUS, QUICK = 400, ALL = 10000, QUEUES = 3 };

static const int64_t second_ns = INT64_C(1000000000);

static uint64_t cases(void)
{
    return test_is_slow() ? ALL : QUICK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- queues of attained service ---- */

enum life { AWAY, WAITS, RUNS, OVER };

struct served {
    enum life life;
    int queue, gpus;
    int64_t left_ns, had_ns; /* had: of time, since it was new */
    int64_t since_ns;        /* it waits, or runs */
    int64_t had_before_ns;   /* when it began to run */
};

struct queues {
    struct served job[MOST];
    size_t order[QUEUES][MOST], length[QUEUES], jobs;
    int limit_s[QUEUES - 1]; /* GPU seconds */
    double promote;          /* 0 = nobody is */
    int64_t now_ns;
};

static void leave(struct queues *queues, size_t job)
{
    const int q = queues->job[job].queue;
    size_t kept = 0;

    for (size_t i = 0; i < queues->length[q]; i++)
        if (queues->order[q][i] != job)
            queues->order[q][kept++] = queues->order[q][i];
    queues->length[q] = kept;
}

static void join_tail(struct queues *queues, size_t job, int queue)
{
    queues->job[job].queue = queue;
    queues->order[queue][queues->length[queue]++] = job;
}

static int queue_after(const struct queues *queues, const struct served *job)
{
    int queue = job->queue;

    while (queue < QUEUES - 1 && job->had_ns * job->gpus >= queues->limit_s[queue] * second_ns)
        queue++;
    return queue;
}

/* When it goes to the next queue, at a whole second of its run. */
static int64_t demoted_at(const struct queues *queues, const struct served *job)
{
    if (job->queue == QUEUES - 1)
        return INT64_MAX;
    const int64_t left = queues->limit_s[job->queue] * second_ns - job->had_before_ns * job->gpus;
    const int64_t each = job->gpus * second_ns;
    return job->since_ns + (left + each - 1) / each * second_ns;
}

static int64_t promoted_at(const struct queues *queues, const struct served *job)
{
    return queues->promote > 0 && job->queue > 0 && job->had_ns > 0
               ? job->since_ns + (int64_t)ceil(queues->promote * (double)job->had_ns)
               : INT64_MAX;
}

static int64_t next_ns(const struct queues *queues, const struct few_jobs *jobs)
{
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < queues->jobs; i++) {
        const struct served *const job = &queues->job[i];
        if (job->life == AWAY)
            next = least(next, jobs->job[i].submit * second_ns);
        if (job->life == WAITS)
            next = least(next, promoted_at(queues, job));
        if (job->life == RUNS)
            next = least(next, least(queues->now_ns + job->left_ns, demoted_at(queues, job)));
    }
    return next;
}

static bool is_any(const struct queues *queues, enum life life)
{
    for (size_t i = 0; i < queues->jobs; i++)
        if (queues->job[i].life == life)
            return true;
    return false;
}

/* Ends, then arrivals. */
static void see_what_happened(struct queues *queues, struct few_jobs *jobs, int64_t now_ns)
{
    for (size_t i = 0; i < queues->jobs; i++) {
        struct served *const job = &queues->job[i];
        const int64_t ran_ns = job->life == RUNS ? now_ns - queues->now_ns : 0;
        job->had_ns += ran_ns;
        job->left_ns -= ran_ns;
        if (job->life != RUNS || job->left_ns > 0)
            continue;
        job->life = OVER;
        jobs->job[i].end_ns = now_ns;
        leave(queues, i);
    }
    queues->now_ns = now_ns;
    for (size_t i = 0; i < queues->jobs; i++) {
        if (queues->job[i].life != AWAY || jobs->job[i].submit * second_ns > now_ns)
            continue;
        queues->job[i].life = WAITS;
        join_tail(queues, i, 0);
    }
}

/* Between the whole seconds of its run nobody looks what a job has had while nobody waits. */
static void move_on(struct queues *queues)
{
    const bool is_looked_at = is_any(queues, WAITS);

    for (size_t i = 0; i < queues->jobs; i++) {
        struct served *const job = &queues->job[i];
        const bool is_promoted = job->life == WAITS && promoted_at(queues, job) <= queues->now_ns;
        const bool is_seen =
            job->life == RUNS && (is_looked_at || demoted_at(queues, job) <= queues->now_ns);
        const int queue = is_promoted ? 0 : queue_after(queues, job);
        if ((!is_promoted && !is_seen) || queue == job->queue)
            continue;
        leave(queues, i);
        join_tail(queues, i, queue);
        job->had_ns = is_promoted ? 0 : job->had_ns;
    }
}

/* Then those that run are the first of their queue. */
static void settle(struct queues *queues, int q)
{
    size_t before[MOST];
    size_t kept = 0;

    memcpy(before, queues->order[q], sizeof before);
    for (int life = RUNS; life >= WAITS; life--)
        for (size_t i = 0; i < queues->length[q]; i++)
            if ((int)queues->job[before[i]].life == life)
                queues->order[q][kept++] = before[i];
}

static void serve(struct queues *queues)
{
    int free = GPUS;

    for (int q = 0; q < QUEUES; q++) {
        for (size_t i = 0; i < queues->length[q]; i++) {
            struct served *const job = &queues->job[queues->order[q][i]];
            const enum life life = job->gpus <= free ? RUNS : WAITS;
            free -= life == RUNS ? job->gpus : 0;
            if (life == job->life)
                continue;
            job->life = life;
            job->since_ns = queues->now_ns;
            job->had_before_ns = job->had_ns;
        }
        settle(queues, q);
    }
}

static void run_queues(struct few_jobs *jobs, int first_s, int second_s, double promote)
{
    struct queues queues = { .jobs = jobs->count,
                             .limit_s = { first_s, second_s },
                             .promote = promote };

    for (size_t i = 0; i < jobs->count; i++)
        queues.job[i] =
            (struct served){ .gpus = jobs->job[i].gpus, .left_ns = jobs->job[i].run * second_ns };
    for (int64_t at_ns = next_ns(&queues, jobs); at_ns != INT64_MAX;
         at_ns = next_ns(&queues, jobs)) {
        see_what_happened(&queues, jobs, at_ns);
        move_on(&queues);
        serve(&queues);
    }
}

static void least_attained_service_is_served(void)
{
    static const int limits[][2] = { { 4, 12 }, { 8, 24 }, { 8, 40 }, { 16, 48 } };
    static const double promotes[] = { 0, 0.5, 0.875, 1, 2, 3 };

    for (uint64_t seed = 1; seed <= cases(); seed++) {
        const int *const limit = limits[seed % 4];
        const double promote = promotes[seed / 4 % 6];
        struct few_jobs plain;
        char policy[128];
        few_jobs_draw(seed, true, &plain);
        struct few_jobs product = plain;
        (void)snprintf(policy, sizeof policy, "{policy: las_2d, limit_1: %d, limit_2: %d}",
                       limit[0], limit[1]);
        if (promote > 0)
            (void)snprintf(policy, sizeof policy,
                           "{policy: las_promoted, limit_1: %d, limit_2: %d, promote: %g}",
                           limit[0], limit[1], promote);
        run_queues(&plain, limit[0], limit[1], promote);
        few_jobs_run(&product, policy);
        for (size_t i = 0; i < plain.count; i++)
            if (!CHECK_I64(product.job[i].end_ns, plain.job[i].end_ns))
                printf("case %" PRIu64 ", job %zu, %s\n", seed, i, policy);
    }
}

/* ---- chosen jobs stay chosen ---- */

/* The published loop: what waits and what runs are lists that are sorted again and again, so those
 * that are equal stay as the sort before left them. */
struct loop {
    struct few_jobs *jobs;
    double (*score)(const struct few_job *job);
    size_t waiting[MOST], running[MOST], waiting_count, running_count, next;
    int now, free;
    bool backfills;
};

static double by_submission(const struct few_job *job)
{
    return job->submit;
}

static double by_estimate(const struct few_job *job)
{
    return job->estimate;
}

static double by_wfp3(const struct few_job *job)
{
    return pow((1 + (double)job->submit) / job->estimate, 3) * job->gpus;
}

static double by_unicef(const struct few_job *job)
{
    return (1 + (double)job->submit) / (log2(job->gpus + 1e-15) * job->estimate);
}

static double by_f1(const struct few_job *job)
{
    return log10(job->estimate) * job->gpus + 870 * log10(job->submit > 0 ? job->submit : 0.1);
}

static double by_end(const struct few_job *job)
{
    return job->start + job->run;
}

static double by_expected_end(const struct few_job *job)
{
    return job->start + job->estimate;
}

static void sort(const struct few_jobs *jobs, size_t *list, size_t count,
                 double (*score)(const struct few_job *job))
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && score(&jobs->job[list[k - 1]]) > score(&jobs->job[list[k]]);
             k--) {
            const size_t moved = list[k];
            list[k] = list[k - 1];
            list[k - 1] = moved;
        }
}

static void take_off(size_t *list, size_t *count, size_t index)
{
    memmove(&list[index], &list[index + 1], (--*count - index) * sizeof *list);
}

static void start(struct loop *loop, size_t index)
{
    struct few_job *const job = &loop->jobs->job[loop->waiting[index]];

    job->start = loop->now;
    loop->free -= job->gpus;
    loop->running[loop->running_count++] = loop->waiting[index];
    take_off(loop->waiting, &loop->waiting_count, index);
}

/* The next arrival, or the next end; of one instant the arrival. */
static void step(struct loop *loop)
{
    const struct few_job *const all = loop->jobs->job;

    sort(loop->jobs, loop->running, loop->running_count, by_end);
    const int end = loop->running_count == 0 ? INT32_MAX : (int)by_end(&all[loop->running[0]]);
    if (loop->next < loop->jobs->count && all[loop->next].submit <= end) {
        loop->now = all[loop->next].submit > loop->now ? all[loop->next].submit : loop->now;
        loop->waiting[loop->waiting_count++] = loop->next++;
        return;
    }
    loop->now = end > loop->now ? end : loop->now;
    loop->free += all[loop->running[0]].gpus;
    take_off(loop->running, &loop->running_count, 0);
}

/* The chosen one, when it does not fit: when it is expected to. */
static int expected_start(struct loop *loop, const struct few_job *job)
{
    int free = loop->free;
    int at = loop->now;

    sort(loop->jobs, loop->running, loop->running_count, by_expected_end);
    for (size_t i = 0; i < loop->running_count && free < job->gpus; i++) {
        free += loop->jobs->job[loop->running[i]].gpus;
        at = (int)by_expected_end(&loop->jobs->job[loop->running[i]]);
    }
    return at;
}

static void start_brief_ones(struct loop *loop, int shadow)
{
    sort(loop->jobs, loop->waiting, loop->waiting_count, by_submission);
    for (size_t i = 0; i < loop->waiting_count;) {
        const struct few_job *const job = &loop->jobs->job[loop->waiting[i]];
        if (job->gpus <= loop->free && loop->now + job->estimate < shadow)
            start(loop, i);
        else
            i++;
    }
}

static void run_loop(struct loop *loop)
{
    for (;;) {
        while (loop->waiting_count == 0 && loop->next < loop->jobs->count)
            step(loop);
        if (loop->waiting_count == 0)
            return;
        sort(loop->jobs, loop->waiting, loop->waiting_count, loop->score);
        const size_t chosen = loop->waiting[0];
        const struct few_job *const job = &loop->jobs->job[chosen];
        const int shadow = job->gpus > loop->free ? expected_start(loop, job) : 0;
        size_t index = 0;
        while (job->gpus > loop->free) {
            if (loop->backfills)
                start_brief_ones(loop, shadow);
            step(loop);
        }
        while (loop->waiting[index] != chosen)
            index++;
        start(loop, index);
    }
}

static void chosen_jobs_stay_chosen(void)
{
    static const struct {
        const char *name;
        double (*score)(const struct few_job *job);
    } orders[] = { { "fcfs", by_submission },
                   { "sjf", by_estimate },
                   { "wfp3", by_wfp3 },
                   { "uni", by_unicef },
                   { "f1", by_f1 } };

    for (uint64_t seed = 1; seed <= cases(); seed++) {
        struct few_jobs plain;
        char policy[128];
        few_jobs_draw(seed, seed % 3 == 0, &plain);
        struct few_jobs product = plain;
        struct loop loop = { .jobs = &plain,
                             .score = orders[seed % 5].score,
                             .free = GPUS,
                             .backfills = seed / 5 % 3 > 0 };
        (void)snprintf(policy, sizeof policy, "{policy: committed, by: %s, backfill: %s}",
                       orders[seed % 5].name, loop.backfills ? "true" : "false");
        run_loop(&loop);
        few_jobs_run(&product, policy);
        for (size_t i = 0; i < plain.count; i++)
            if (!CHECK_I64(product.job[i].start, plain.job[i].start))
                printf("case %" PRIu64 ", job %zu, %s\n", seed, i, policy);
    }
}

static const struct test tests[] = {
    { "least attained service is served", least_attained_service_is_served },
    { "chosen jobs stay chosen", chosen_jobs_stay_chosen },
};
TEST_MAIN(tests)
