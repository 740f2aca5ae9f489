/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See host_jobs.h. */
#include "tests/support/host_jobs.h"

#include "tests/support/check.h"

#include <stdio.h>

struct weir_host *test_jobs_open(const struct weir_host_config *config, uint32_t nodes,
                                 uint32_t gpus)
{
    const struct test_pipeline cluster = { .nodes = nodes, .gpus = gpus, .cpus = 16 };
    struct weir_host *const host = test_host(config, &cluster);

    if (host != NULL)
        CHECK_I64(weir_host_add_workload(host, "trace", NULL, NULL), WEIR_OK);
    return host;
}

struct weir_host_config test_jobs_config(const char *queueing)
{
    struct weir_host_config config = test_config("first_fit", "fixed");

    config.queueing = weir_queueing_find(queueing);
    return config;
}

struct weir_rank_group test_rank_group(uint32_t ranks, double cpus, double gpus)
{
    const struct weir_request request = { .cpus = cpus, .gpus = gpus };
    struct weir_rank_group group = { .ranks = ranks, .ranks_min = ranks, .ranks_max = ranks };

    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &group.shape, NULL), WEIR_OK);
    return group;
}

struct weir_job_spec test_job_spec(uint64_t id, const struct weir_rank_group *groups,
                                   uint32_t count)
{
    return (struct weir_job_spec){ .size = sizeof(struct weir_job_spec),
                                   .id = id,
                                   .groups = groups,
                                   .group_count = count,
                                   .submit_ns = (int64_t)id,
                                   .queued_ns = (int64_t)id,
                                   .estimate_ns = WEIR_UNKNOWN_TIME,
                                   .deadline_ns = WEIR_UNKNOWN_TIME };
}

weir_status test_submit(struct weir_host *host, uint64_t id, uint32_t ranks, double gpus)
{
    const struct weir_rank_group group = test_rank_group(ranks, 1, gpus);
    const struct weir_job_spec spec = test_job_spec(id, &group, 1);

    return weir_host_submit(host, &spec, NULL);
}

void test_jobs_check(struct weir_host *host)
{
    struct weir_error error = { .phase = -1 };

    if (!CHECK(weir_jobs_check(&host->jobs, &error) == WEIR_OK) ||
        !CHECK(weir_cluster_check(host->inventory, &error) == WEIR_OK))
        printf("%s\n", error.text);
}

const struct weir_plan *test_decide(struct weir_host *host, uint32_t causes, int64_t now_ns)
{
    const struct weir_call call = { .size = sizeof call, .causes = causes, .now_ns = now_ns };
    struct weir_error error = { .phase = -1 };
    const struct weir_plan *plan = NULL;

    if (!CHECK(weir_host_decide(host, &call, &plan, &error) == WEIR_OK))
        printf("%s\n", error.text);
    test_jobs_check(host);
    return plan;
}

const struct weir_plan *test_pass(struct weir_host *host)
{
    return test_decide(host, WEIR_CAUSE_JOBS, host->now_ns < 0 ? 0 : host->now_ns);
}

struct test_text test_starts(const struct weir_plan *plan)
{
    struct test_text text = { "" };
    size_t used = 0;

    for (uint32_t i = 0; plan != NULL && i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb != WEIR_VERB_START || action->owner.kind != WEIR_OWNER_JOB)
            continue;
        used += (size_t)snprintf(text.text + used, sizeof text.text - used, "%s%llu.%u@%u",
                                 used > 0 ? " " : "", (unsigned long long)action->owner.id,
                                 action->rank, action->alloc.node);
    }
    return text;
}

void test_starts_are(struct weir_host *host, const char *expected)
{
    const struct weir_plan *const plan = test_pass(host);
    const struct test_text starts = test_starts(plan);

    CHECK_STR(starts.text, expected);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    test_jobs_check(host);
}

uint32_t test_job_state(struct weir_host *host, uint64_t id)
{
    struct weir_job job = { .size = sizeof job, .state = 99 };

    (void)weir_view_job(weir_host_view(host, 0), 0, id, &job);
    return job.state;
}

void test_tell_job(struct weir_host *host, uint64_t id, uint32_t kind)
{
    struct weir_worker worker;

    for (uint32_t n = 0; n < weir_cluster_node_count(host->inventory); n++) {
        uint32_t cursor = 0;
        while (weir_cluster_node_worker(host->inventory, n, &cursor, &worker)) {
            const struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                                  .kind = kind,
                                                  .owner = worker.owner,
                                                  .node = n,
                                                  .worker = worker.id };
            if (worker.owner.kind != WEIR_OWNER_JOB || worker.owner.id != id)
                continue;
            CHECK_I64(weir_host_outcome(host, &outcome, NULL, NULL), WEIR_OK);
            cursor = 0;
        }
    }
}

void test_end_job(struct weir_host *host, uint64_t id)
{
    test_tell_job(host, id, WEIR_OUTCOME_STOPPED);
    CHECK_I64(weir_host_ended(host, 0, id, NULL), WEIR_OK);
    test_jobs_check(host);
}
