/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host with a capacity policy; see the header. */
#include "tests/support/node_trial.h"

#include "sched/internal/alloc.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"
#include "weir/job.h"

#include <stdlib.h>

enum { VALUES = 64 };
static const int64_t NS = 1000000000;

struct test_nodes *test_nodes_open(const struct weir_capacity_ops *ops,
                                   const struct test_setting *set)
{
    struct weir_host_config config = test_config("first_fit", "fixed");
    struct test_nodes *nodes = calloc(1, sizeof *nodes);
    double values[VALUES];
    uint32_t workload = 0;
    if (nodes == NULL || ops == NULL || ops->param_count > VALUES)
        exit(2);
    for (uint32_t i = 0; i < ops->param_count; i++)
        values[i] = ops->params[i].initial;
    for (; set != NULL && set->name != NULL; set++)
        values[weir_param_find(ops->params, ops->param_count, set->name)] = set->value;
    config.capacity = ops;
    config.capacity_params = (struct weir_params){ values, ops->param_count, 0 };
    config.queueing = weir_queueing_find("first_fit");
    CHECK_I64(weir_host_create(&config, &nodes->host, NULL), WEIR_OK);
    test_nodes_add(nodes, 1, 0, 8);
    CHECK_I64(weir_host_add_workload(nodes->host, "w", &workload, NULL), WEIR_OK);
    return nodes;
}

void test_nodes_close(struct test_nodes *nodes)
{
    weir_host_destroy(nodes->host);
    free(nodes);
}

void test_nodes_offer(struct test_nodes *nodes, uint32_t type, uint32_t max, uint32_t up,
                      uint32_t coming)
{
    static const int64_t gpus[] = { [TEST_NODE_FOUR] = 4, [TEST_NODE_EIGHT] = 8 };
    struct weir_node_offer *offer = &nodes->offers[type];
    *offer = (struct weir_node_offer){ .size = sizeof *offer,
                                       .type = type,
                                       .min = offer->min,
                                       .max = max,
                                       .up = up,
                                       .coming = coming,
                                       .holds = { .cpu_units = 32 * WEIR_ONE,
                                                  .gpu_units = gpus[type] * WEIR_ONE,
                                                  .ram_bytes = INT64_C(64) << 30 } };
    CHECK_I64(weir_host_offer_nodes(nodes->host, offer, NULL), WEIR_OK);
}

void test_nodes_add(struct test_nodes *nodes, uint64_t id, uint32_t type, uint32_t gpus)
{
    struct weir_gpu_spec specs[8];
    for (int g = 0; g < 8; g++)
        specs[g] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    const struct weir_node_spec node = { .size = sizeof node,
                                         .id = id,
                                         .type = type,
                                         .gpu_count = gpus,
                                         .cpu_units = 32 * WEIR_ONE,
                                         .ram_bytes = INT64_C(64) << 30,
                                         .gpus = specs };
    CHECK_I64(weir_host_add_node(nodes->host, &node, NULL, NULL), WEIR_OK);
}

void test_nodes_submit(struct test_nodes *nodes, uint32_t count, uint32_t ranks, uint32_t gpus,
                       uint32_t cpus, uint32_t strategy)
{
    struct weir_rank_group group = { .ranks = ranks, .ranks_min = ranks, .ranks_max = ranks };
    group.shape = gpus > 0
                      ? (struct weir_shape){ .kind = WEIR_SHAPE_WHOLE,
                                             .cpu_units = WEIR_ONE,
                                             .gpu_count = gpus,
                                             .gpu_units = WEIR_ONE }
                      : (struct weir_shape){ .kind = WEIR_SHAPE_CPU, .cpu_units = cpus * WEIR_ONE };
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_job_spec job = { .size = sizeof job,
                                           .id = ++nodes->jobs,
                                           .groups = &group,
                                           .group_count = 1,
                                           .strategy = strategy,
                                           .estimate_ns = 1000 * NS,
                                           .deadline_ns = WEIR_UNKNOWN_TIME };
        CHECK_I64(weir_host_submit(nodes->host, &job, NULL), WEIR_OK);
    }
}

static void note(struct test_nodes *nodes, const struct weir_action *action)
{
    if (action->verb == WEIR_VERB_REQUEST_NODE)
        nodes->asked[action->value]++;
    if (action->verb == WEIR_VERB_RELEASE_NODE) {
        nodes->released++;
        nodes->released_node = action->node;
    }
    nodes->preempted += action->verb == WEIR_VERB_PREEMPT;
    nodes->stopped += action->verb == WEIR_VERB_STOP;
    if (action->verb == WEIR_VERB_WAKE)
        nodes->woken_ns = action->value;
}

weir_status test_nodes_ask(struct test_nodes *nodes, int64_t at_s, const struct weir_plan **plan,
                           struct weir_error *error)
{
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_JOBS | WEIR_CAUSE_CAPACITY,
                                    .now_ns = at_s * NS };
    return weir_host_decide(nodes->host, &call, plan, error);
}

void test_nodes_decide(struct test_nodes *nodes, int64_t at_s)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error = { 0 };
    if (!CHECK_I64(test_nodes_ask(nodes, at_s, &plan, &error), WEIR_OK))
        return;
    nodes->released = nodes->preempted = nodes->stopped = 0;
    for (uint32_t t = 0; t < TEST_NODE_TYPES; t++)
        nodes->asked[t] = 0;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        note(nodes, weir_plan_action(plan, i));
    CHECK_I64(test_carry_out(nodes->host, plan), WEIR_OK);
}

void test_nodes_hear(struct test_nodes *nodes, enum weir_outcome_kind kind, uint32_t node,
                     int64_t at_s)
{
    const struct weir_outcome outcome = { .size = sizeof outcome,
                                          .kind = kind,
                                          .node = node,
                                          .owner = weir_pool_owner(WEIR_NO_INDEX),
                                          .time_ns = at_s * NS };
    CHECK_I64(weir_host_outcome(nodes->host, &outcome, NULL, NULL), WEIR_OK);
}
