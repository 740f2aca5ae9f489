/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See tenants.h. */
#include "tests/support/tenants.h"

#include "tests/support/check.h"

#include <string.h>

static const int64_t NS_PER_S = 1000000000;

struct weir_host *test_tenants_open(const struct weir_host_config *config,
                                    const struct test_node *node)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_host *host = NULL;

    memset(gpus, 0, sizeof gpus);
    for (uint32_t g = 0; g < node->gpus; g++) {
        gpus[g].mem_bytes = INT64_C(80000000000);
        gpus[g].units = WEIR_ONE;
    }
    CHECK_I64(weir_host_create(config, &host, NULL), WEIR_OK);
    for (uint32_t n = 0; n < node->nodes; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = node->gpus,
                                             .cpu_units = (int64_t)(node->cpus * WEIR_ONE),
                                             .ram_bytes = (int64_t)node->ram,
                                             .gpus = gpus };
        CHECK_I64(weir_host_add_node(host, &spec, NULL, NULL), WEIR_OK);
    }
    CHECK_I64(weir_host_add_workload(host, "trace", NULL, NULL), WEIR_OK);
    return host;
}

struct weir_host *test_tenants_host(const char *queueing, const struct test_node *node)
{
    return test_tenants_host_with(queueing, node, NULL, 0);
}

struct weir_host *test_tenants_host_with(const char *queueing, const struct test_node *node,
                                         const double *values, uint32_t count)
{
    struct weir_host_config config = test_jobs_config(queueing);
    double all[32];

    CHECK(config.queueing != NULL);
    for (uint32_t i = 0; i < config.queueing->param_count; i++)
        all[i] = i < count ? values[i] : config.queueing->params[i].initial;
    config.queueing_params = (struct weir_params){ all, config.queueing->param_count, 0 };
    return test_tenants_open(&config, node);
}

uint32_t test_tenant(struct weir_host *host, struct weir_tenant_spec spec)
{
    const char name[2] = { (char)('A' + (int)host->jobs.tenants.count - 1), '\0' };
    uint32_t number = 0;

    spec.name = name;
    CHECK_I64(weir_host_add_tenant(host, &spec, &number, NULL), WEIR_OK);
    return number;
}

uint32_t test_tenant_of_weight(struct weir_host *host, double weight)
{
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.weight = weight;
    return test_tenant(host, spec);
}

struct weir_quota test_gpus(double gpus)
{
    return (struct weir_quota){ (int64_t)(gpus * WEIR_ONE), WEIR_NO_QUOTA, WEIR_NO_QUOTA };
}

void test_ask(struct weir_host *host, struct test_ask ask)
{
    const struct weir_request request = { .cpus = ask.cpus,
                                          .gpus = ask.gpus,
                                          .ram_bytes = (int64_t)ask.ram };
    const uint32_t ranks = ask.ranks == 0 ? 1 : ask.ranks;
    struct weir_rank_group group = { .ranks = ranks, .ranks_min = ranks, .ranks_max = ranks };

    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &group.shape, NULL), WEIR_OK);
    for (uint32_t i = 0; i < ask.count; i++) {
        struct weir_job_spec spec = test_job_spec(
            host->jobs.tenants.turn * 100000 + weir_view_jobs(weir_host_view(host, 0)), &group, 1);
        while (weir_view_job(weir_host_view(host, 0), 0, spec.id, NULL))
            spec.id++;
        spec.tenant = ask.tenant;
        spec.priority = ask.priority;
        spec.traffic = ask.traffic;
        spec.exchange = ask.exchange;
        spec.submit_ns = spec.queued_ns = ask.at_s * NS_PER_S;
        spec.estimate_ns = ask.seconds == 0 ? WEIR_UNKNOWN_TIME : ask.seconds * NS_PER_S;
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    }
}

struct test_text test_round(struct weir_host *host, double at_s)
{
    const struct weir_plan *const plan =
        test_decide(host, WEIR_CAUSE_JOBS, (int64_t)(at_s * (double)NS_PER_S));
    struct test_text text = { "" };
    size_t used = 0;

    for (uint32_t i = 0; plan != NULL && i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        struct weir_job job = { .size = sizeof job };
        if (action->verb != WEIR_VERB_START || action->rank != 0 || used + 1 >= sizeof text.text ||
            !weir_view_job(weir_host_view(host, 0), 0, action->owner.id, &job))
            continue;
        text.text[used++] = job.tenant == 0 ? '-' : (char)('A' + (int)job.tenant - 1);
    }
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    test_jobs_check(host);
    return text;
}

void test_end_some(struct weir_host *host, uint32_t tenant, uint32_t count)
{
    for (uint32_t i = 0; i < host->jobs.record_count && count > 0; i++) {
        const struct weir_job_record *const job = &host->jobs.records[i];
        if (job->is_used == 0 || job->state == WEIR_JOB_WAITING || job->tenant != tenant)
            continue;
        test_end_job(host, job->id);
        count--;
    }
    CHECK_I64(count, 0);
}

struct weir_tenant test_tenant_now(struct weir_host *host, uint32_t number, double at_s)
{
    struct weir_tenant tenant = { .size = sizeof tenant };

    (void)test_decide(host, WEIR_CAUSE_TIMER, (int64_t)(at_s * (double)NS_PER_S));
    CHECK(weir_view_tenant(weir_host_view(host, 0), number, &tenant));
    return tenant;
}

double test_gpus_of(struct weir_host *host, uint32_t number)
{
    return weir_units_amount(host->jobs.tenants.all[number].used.gpu_units);
}
