/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller in about 100 lines: schedules jobs of tenants through libweir alone (docs/embed.md).
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
#include <string.h>

enum { MOST_JOBS = 100000 };

static struct job {
    int64_t submit_ns, run_ns, estimate_ns, end_ns; /* end: INT64_MAX = it does not run */
    uint64_t first_worker;
    uint32_t tenant, ranks, cpus, gpus;
} jobs[MOST_JOBS];

static void must(weir_status status, const struct weir_error *error)
{
    if (status == WEIR_OK)
        return;
    fprintf(stderr, "%s: %s\n", weir_status_text(status), error->text);
    exit(1);
}

static void add_node(struct weir_host *host, uint32_t cpus, uint32_t gpus)
{
    static uint64_t next_id;
    struct weir_gpu_spec specs[WEIR_MAX_NODE_GPUS] = { { 0 } };
    struct weir_error error = { .phase = -1 };
    for (uint32_t i = 0; i < gpus && i < WEIR_MAX_NODE_GPUS; i++)
        specs[i] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    const struct weir_node_spec node = { .size = sizeof node,
                                         .id = next_id++,
                                         .gpu_count = gpus,
                                         .gpus = specs,
                                         .cpu_units = cpus * WEIR_ONE };
    must(weir_host_add_node(host, &node, NULL, &error), &error);
}

static void add_tenant(struct weir_host *host, const char *name, int64_t gpus)
{
    struct weir_tenant_spec tenant = weir_tenant_default();
    struct weir_error error = { .phase = -1 };
    tenant.name = name;
    if (gpus >= 0)
        tenant.hard.gpu_units = gpus * WEIR_ONE;
    must(weir_host_add_tenant(host, &tenant, NULL, &error), &error);
}

static void submit(struct weir_host *host, uint64_t id)
{
    const struct job *job = &jobs[id];
    struct weir_error error = { .phase = -1 };
    const struct weir_rank_group group = { .ranks = job->ranks,
                                           .ranks_min = job->ranks,
                                           .ranks_max = job->ranks,
                                           .shape = { .kind = job->gpus > 0 ? WEIR_SHAPE_WHOLE
                                                                            : WEIR_SHAPE_CPU,
                                                      .gpu_count = job->gpus,
                                                      .gpu_units = job->gpus > 0 ? WEIR_ONE : 0,
                                                      .cpu_units = job->cpus * WEIR_ONE } };
    const struct weir_job_spec spec = { .size = sizeof spec,
                                        .id = id,
                                        .groups = &group,
                                        .group_count = 1,
                                        .tenant = job->tenant,
                                        .submit_ns = job->submit_ns,
                                        .queued_ns = job->submit_ns,
                                        .estimate_ns = job->estimate_ns,
                                        .deadline_ns = WEIR_UNKNOWN_TIME };
    must(weir_host_submit(host, &spec, &error), &error);
}

/* The job is over: each rank is gone, then all of it. */
static void end(struct weir_host *host, uint64_t id, int64_t now_ns)
{
    struct weir_error error = { .phase = -1 };
    for (uint32_t r = 0; r < jobs[id].ranks; r++) {
        const struct weir_outcome gone = { .size = sizeof gone,
                                           .kind = WEIR_OUTCOME_STOPPED,
                                           .owner = weir_job_owner(0, id),
                                           .worker = jobs[id].first_worker + r,
                                           .time_ns = now_ns };
        must(weir_host_outcome(host, &gone, NULL, &error), &error);
    }
    must(weir_host_ended(host, 0, id, &error), &error);
    jobs[id].end_ns = INT64_MAX;
}

/* Here processes would be started; what comes of it is told. */
static void start(struct weir_host *host, const struct weir_action *action, int64_t now_ns)
{
    struct job *job = &jobs[action->owner.id];
    struct weir_error error = { .phase = -1 };
    const struct weir_outcome started = { .size = sizeof started,
                                          .kind = WEIR_OUTCOME_STARTED,
                                          .owner = action->owner,
                                          .node = action->alloc.node,
                                          .worker = action->worker,
                                          .time_ns = now_ns };
    printf("%" PRId64 " %" PRIu64 " %" PRIu32 " %" PRIu32 "\n", now_ns, action->owner.id,
           action->rank, action->alloc.node);
    if (action->rank == 0) {
        job->first_worker = action->worker;
        job->end_ns = now_ns + job->run_ns;
    }
    must(weir_host_outcome(host, &started, &action->alloc, &error), &error);
}

static void decide(struct weir_host *host, int64_t now_ns)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error = { .phase = -1 };
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_JOBS,
                                    .now_ns = now_ns };
    must(weir_host_decide(host, &call, &plan, &error), &error);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        if (weir_plan_action(plan, i)->verb == WEIR_VERB_START)
            start(host, weir_plan_action(plan, i), now_ns);
}

/* From one instant at which something happens to the next: ends, submissions, then one decision. */
static void play(struct weir_host *host, uint64_t count)
{
    uint64_t next = 0;
    for (;;) {
        int64_t now_ns = next < count ? jobs[next].submit_ns : INT64_MAX;
        for (uint64_t i = 0; i < next; i++)
            now_ns = jobs[i].end_ns < now_ns ? jobs[i].end_ns : now_ns;
        if (now_ns == INT64_MAX)
            return;
        for (uint64_t i = 0; i < next; i++)
            if (jobs[i].end_ns == now_ns)
                end(host, i, now_ns);
        while (next < count && jobs[next].submit_ns == now_ns)
            submit(host, next++);
        decide(host, now_ns);
    }
}

int main(int argc, char **argv)
{
    struct weir_host *host = NULL;
    struct weir_error error = { .phase = -1 };
    struct weir_host_config config = { .size = sizeof config };
    char line[256];
    char name[64];
    uint64_t count = 0;
    if (argc != 3)
        return fprintf(stderr, "usage: controller QUEUEING PLACEMENT < day.txt\n"), 2;
    config.queueing = weir_queueing_find(argv[1]);
    config.placement = weir_placement_find(argv[2]);
    config.scaling = weir_scaling_find("fixed");
    if (config.queueing == NULL || config.placement == NULL)
        return fprintf(stderr, "there is no policy '%s' or '%s'\n", argv[1], argv[2]), 2;
    must(weir_host_create(&config, &host, &error), &error);
    must(weir_host_add_workload(host, "day", NULL, &error), &error);
    while (fgets(line, sizeof line, stdin) != NULL && count < MOST_JOBS) {
        struct job job = { .end_ns = INT64_MAX };
        uint32_t cpus = 0;
        uint32_t gpus = 0;
        int64_t most = 0;
        if (sscanf(line, "node %" SCNu32 " %" SCNu32, &cpus, &gpus) == 2)
            add_node(host, cpus, gpus);
        else if (sscanf(line, "tenant %63s %" SCNd64, name, &most) == 2)
            add_tenant(host, name, most);
        else if (sscanf(line,
                        "job %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu32 " %" SCNu32 " %" SCNu32
                        " %" SCNu32,
                        &job.submit_ns, &job.run_ns, &job.estimate_ns, &job.tenant, &job.ranks,
                        &job.cpus, &job.gpus) == 7)
            jobs[count++] = job;
        else
            return fprintf(stderr, "no line of a day: %s", line), 2;
    }
    play(host, count);
    weir_host_destroy(host);
    return 0;
}
