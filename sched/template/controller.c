/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller in 146 lines of code: schedules jobs of tenants through libweir alone
 * (docs/embed.md). 92 lines are what any controller has, up to decide(); the rest plays a day.
 *
 *     cc controller.c $(pkg-config --cflags --libs weir) -o controller
 *     ./controller easy first_fit < day.txt
 *
 * Reads a day, in order of submission, and plays it: a real controller hears of jobs and ends from
 * elsewhere and starts real processes where this one remembers when they end. Lines:
 *
 *     node CPUS GPUS
 *     tenant NAME GPUS                             hard limit; -1 = none. Numbered from 1
 *     job SUBMIT_NS RUN_NS ESTIMATE_NS TENANT RANKS CPUS GPUS     of one rank. Numbered from 0
 *
 * Writes what every plan starts, a line a rank: TIME_NS JOB RANK NODE.
 */
#include "weir/host.h"
#include "weir/tenant.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct job {
    int64_t submit_ns, run_ns, estimate_ns, end_ns; /* end: INT64_MAX = it does not run */
    uint64_t first_worker;
    unsigned tenant, ranks, cpus, gpus;
} jobs[100000];
static uint64_t job_count, submitted;
static struct weir_host *host;
static struct weir_error error = { .phase = -1 };

static void must(weir_status status)
{
    if (status == WEIR_OK)
        return;
    fprintf(stderr, "%s: %s\n", weir_status_text(status), error.text);
    exit(1);
}

static void add_node(unsigned cpus, unsigned gpus)
{
    static uint64_t next_id;
    struct weir_gpu_spec whole[WEIR_MAX_NODE_GPUS];
    for (unsigned i = 0; i < WEIR_MAX_NODE_GPUS; i++)
        whole[i] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    const struct weir_node_spec node = { sizeof node, .id = next_id++, .gpu_count = gpus,
                                         .gpus = whole, .cpu_units = cpus * WEIR_ONE };
    must(weir_host_add_node(host, &node, NULL, &error));
}

static void add_tenant(const char *name, int64_t gpus)
{
    struct weir_tenant_spec tenant = weir_tenant_default();
    tenant.name = name;
    if (gpus >= 0)
        tenant.hard.gpu_units = gpus * WEIR_ONE;
    must(weir_host_add_tenant(host, &tenant, NULL, &error));
}

static void submit(uint64_t id)
{
    const struct job *job = &jobs[id];
    const struct weir_shape rank = { .kind = job->gpus > 0 ? WEIR_SHAPE_WHOLE : WEIR_SHAPE_CPU,
                                     .gpu_count = job->gpus,
                                     .gpu_units = job->gpus > 0 ? WEIR_ONE : 0,
                                     .cpu_units = job->cpus * WEIR_ONE };
    const struct weir_rank_group group = {
        .ranks = job->ranks, .ranks_min = job->ranks, .ranks_max = job->ranks, .shape = rank
    };
    const struct weir_job_spec spec = { sizeof spec,
                                        .id = id,
                                        .groups = &group,
                                        .group_count = 1,
                                        .tenant = job->tenant,
                                        .submit_ns = job->submit_ns,
                                        .queued_ns = job->submit_ns,
                                        .estimate_ns = job->estimate_ns,
                                        .deadline_ns = WEIR_UNKNOWN_TIME };
    must(weir_host_submit(host, &spec, &error));
}

/* The job is over: each rank is gone, then all of it. */
static void end(uint64_t id, int64_t now_ns)
{
    for (unsigned r = 0; r < jobs[id].ranks; r++) {
        const struct weir_outcome gone = { sizeof gone, .kind = WEIR_OUTCOME_STOPPED,
                                           .owner = weir_job_owner(0, id), .time_ns = now_ns,
                                           .worker = jobs[id].first_worker + r };
        must(weir_host_outcome(host, &gone, NULL, &error));
    }
    must(weir_host_ended(host, 0, id, &error));
    jobs[id].end_ns = INT64_MAX;
}

/* Here processes would be started; what comes of it is told. */
static void start(const struct weir_action *action, int64_t now_ns)
{
    struct job *job = &jobs[action->owner.id];
    const struct weir_outcome started = { sizeof started,           .kind = WEIR_OUTCOME_STARTED,
                                          .owner = action->owner,   .node = action->alloc.node,
                                          .worker = action->worker, .time_ns = now_ns };
    printf("%" PRId64 " %" PRIu64 " %u %u\n", now_ns, action->owner.id, action->rank,
           action->alloc.node);
    if (action->rank == 0)
        job->first_worker = action->worker;
    job->end_ns = now_ns + job->run_ns;
    must(weir_host_outcome(host, &started, &action->alloc, &error));
}

static void decide(int64_t now_ns)
{
    const struct weir_plan *plan = NULL;
    const struct weir_call call = { sizeof call, .causes = WEIR_CAUSE_JOBS, .now_ns = now_ns };
    must(weir_host_decide(host, &call, &plan, &error));
    for (unsigned i = 0; i < weir_plan_count(plan); i++)
        if (weir_plan_action(plan, i)->verb == WEIR_VERB_START)
            start(weir_plan_action(plan, i), now_ns);
}

/* The next instant at which something happens: ends, submissions, then one decision. */
static int play_next(void)
{
    int64_t now_ns = submitted < job_count ? jobs[submitted].submit_ns : INT64_MAX;
    for (uint64_t i = 0; i < submitted; i++)
        now_ns = jobs[i].end_ns < now_ns ? jobs[i].end_ns : now_ns;
    if (now_ns == INT64_MAX)
        return 0;
    for (uint64_t i = 0; i < submitted; i++)
        if (jobs[i].end_ns == now_ns)
            end(i, now_ns);
    while (submitted < job_count && jobs[submitted].submit_ns == now_ns)
        submit(submitted++);
    decide(now_ns);
    return 1;
}

/* 0 = it says something else. */
static int read_line(const char *line)
{
    struct job job = { .end_ns = INT64_MAX };
    char name[64];
    unsigned cpus, gpus;
    int64_t most;
    if (sscanf(line, "node %u %u", &cpus, &gpus) == 2)
        add_node(cpus, gpus);
    else if (sscanf(line, "tenant %63s %" SCNd64, name, &most) == 2)
        add_tenant(name, most);
    else if (sscanf(line, "job %" SCNd64 " %" SCNd64 " %" SCNd64 " %u %u %u %u", &job.submit_ns,
                    &job.run_ns, &job.estimate_ns, &job.tenant, &job.ranks, &job.cpus,
                    &job.gpus) == 7 &&
             job_count < sizeof jobs / sizeof jobs[0])
        jobs[job_count++] = job;
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    struct weir_host_config config = { sizeof config, .scaling = weir_scaling_find("fixed") };
    char line[256];
    if (argc != 3)
        return (void)fprintf(stderr, "usage: controller QUEUEING PLACEMENT < day.txt\n"), 2;
    config.queueing = weir_queueing_find(argv[1]);
    config.placement = weir_placement_find(argv[2]);
    if (config.queueing == NULL || config.placement == NULL)
        return (void)fprintf(stderr, "there is no policy '%s' or '%s'\n", argv[1], argv[2]), 2;
    must(weir_host_create(&config, &host, &error));
    must(weir_host_add_workload(host, "day", NULL, &error));
    while (fgets(line, sizeof line, stdin) != NULL)
        if (!read_line(line))
            return (void)fprintf(stderr, "no line of a day: %s", line), 2;
    while (play_next())
        ;
    weir_host_destroy(host);
    return 0;
}
