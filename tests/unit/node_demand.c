/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The capacity policy demand: which nodes it asks for, how many at once, and when it gives them
 * back. A host with a small node that is full, and offers of nodes with CPUs, four or eight GPUs.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"
#include "weir/capacity.h"
#include "weir/group.h"
#include "weir/host.h"
#include "weir/job.h"

#include <stdlib.h>

enum { CPUS = 1, FOUR, EIGHT, TYPES };
static const int64_t NS = 1000000000;

struct trial {
    struct weir_host *host;
    struct weir_node_offer offers[TYPES];
    uint64_t jobs;
    uint32_t asked[TYPES], released; /* by the latest decision */
    int64_t woken_ns;
};

static void offer(struct trial *trial, uint32_t type, uint32_t max, uint32_t up, uint32_t coming)
{
    static const int64_t gpus[] = { [FOUR] = 4, [EIGHT] = 8 };
    trial->offers[type] = (struct weir_node_offer){ .size = sizeof trial->offers[type],
                                                    .type = type,
                                                    .max = max,
                                                    .up = up,
                                                    .coming = coming,
                                                    .holds = { .cpu_units = 32 * WEIR_ONE,
                                                               .gpu_units = gpus[type] * WEIR_ONE,
                                                               .ram_bytes = INT64_C(64) << 30 } };
    CHECK_I64(weir_host_offer_nodes(trial->host, &trial->offers[type], NULL), WEIR_OK);
}

static void add_node(struct trial *trial, uint64_t id, uint32_t type, uint32_t gpus)
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
    CHECK_I64(weir_host_add_node(trial->host, &node, NULL, NULL), WEIR_OK);
}

/* With one node of eight GPUs that is there for good. */
static struct trial *open_trial(const char *name, double value)
{
    struct weir_host_config config = test_config("first_fit", "fixed");
    const struct weir_capacity_ops *ops = weir_capacity_find("demand");
    struct trial *trial = calloc(1, sizeof *trial);
    double values[8];
    uint32_t workload = 0;
    if (trial == NULL)
        exit(2);
    for (uint32_t i = 0; i < ops->param_count; i++)
        values[i] = ops->params[i].initial;
    if (name != NULL)
        values[weir_param_find(ops->params, ops->param_count, name)] = value;
    config.capacity = ops;
    config.capacity_params = (struct weir_params){ values, ops->param_count, 0 };
    config.queueing = weir_queueing_find("first_fit");
    CHECK_I64(weir_host_create(&config, &trial->host, NULL), WEIR_OK);
    add_node(trial, 1, 0, 8);
    CHECK_I64(weir_host_add_workload(trial->host, "w", &workload, NULL), WEIR_OK);
    return trial;
}

static void close_trial(struct trial *trial)
{
    weir_host_destroy(trial->host);
    free(trial);
}

/* Jobs of so many ranks with so many GPUs or, with none, CPUs each. */
static void submit_ranks(struct trial *trial, uint32_t count, uint32_t ranks, uint32_t gpus,
                         uint32_t strategy)
{
    struct weir_rank_group group = { .ranks = ranks, .ranks_min = ranks, .ranks_max = ranks };
    group.shape = gpus > 0
                      ? (struct weir_shape){ .kind = WEIR_SHAPE_WHOLE,
                                             .cpu_units = WEIR_ONE,
                                             .gpu_count = gpus,
                                             .gpu_units = WEIR_ONE }
                      : (struct weir_shape){ .kind = WEIR_SHAPE_CPU, .cpu_units = 32 * WEIR_ONE };
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_job_spec job = { .size = sizeof job,
                                           .id = ++trial->jobs,
                                           .groups = &group,
                                           .group_count = 1,
                                           .strategy = strategy,
                                           .estimate_ns = 1000 * NS,
                                           .deadline_ns = WEIR_UNKNOWN_TIME };
        CHECK_I64(weir_host_submit(trial->host, &job, NULL), WEIR_OK);
    }
}

static void submit(struct trial *trial, uint32_t count, uint32_t gpus)
{
    submit_ranks(trial, count, 1, gpus, 0);
}

/* What starts has started; nodes are not there yet. */
static void decide(struct trial *trial, int64_t at_s)
{
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_JOBS | WEIR_CAUSE_CAPACITY,
                                    .now_ns = at_s * NS };
    const struct weir_plan *plan = NULL;
    CHECK_I64(weir_host_decide(trial->host, &call, &plan, NULL), WEIR_OK);
    trial->released = 0;
    for (uint32_t t = 0; t < TYPES; t++)
        trial->asked[t] = 0;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_REQUEST_NODE)
            trial->asked[action->value]++;
        trial->released += action->verb == WEIR_VERB_RELEASE_NODE;
        if (action->verb == WEIR_VERB_WAKE)
            trial->woken_ns = action->value;
    }
    CHECK_I64(test_carry_out(trial->host, plan), WEIR_OK);
}

/* Two of three GPUs to a node: what waits of nine jobs, two on the node that is there. */
static void what_waits_is_laid_on_nodes_first_fit(void)
{
    struct trial *trial = open_trial(NULL, 0);
    offer(trial, EIGHT, 40, 0, 0);
    submit(trial, 9, 3);
    decide(trial, 0);
    CHECK_I64(trial->asked[EIGHT], 4);
    offer(trial, EIGHT, 40, 0, 3);
    decide(trial, 1);
    CHECK_I64(trial->asked[EIGHT], 1); /* three are on their way */
    offer(trial, EIGHT, 3, 0, 3);
    decide(trial, 2);
    CHECK_I64(trial->asked[EIGHT], 0); /* no more may be */
    close_trial(trial);
}

static uint32_t asked_of(uint32_t up, const char *name, double value)
{
    struct trial *trial = open_trial(name, value);
    offer(trial, EIGHT, 1000, up, 0);
    submit(trial, 200, 8);
    decide(trial, 0);
    const uint32_t asked = trial->asked[EIGHT];
    offer(trial, EIGHT, 1000, up, asked);
    decide(trial, 1);
    CHECK_I64(trial->asked[EIGHT], 0);
    close_trial(trial);
    return asked;
}

/* Of 20 nodes 20 more may be on their way, of two five; and what the parameters make of it. */
static void so_many_are_on_their_way_at_once(void)
{
    CHECK_I64(asked_of(20, NULL, 0), 20);
    CHECK_I64(asked_of(2, NULL, 0), 5);
    CHECK_I64(asked_of(20, "upscaling_speed", 0.5), 10);
    CHECK_I64(asked_of(2, "at_once", 7), 7);
}

/* The one that is used best: four GPUs of four and not of eight, and no GPUs for jobs without.
 * Where the best have run out, the next. */
static void the_node_that_is_used_best_is_asked_for(void)
{
    struct trial *trial = open_trial(NULL, 0);
    submit(trial, 1, 8); /* fills the node that is there */
    decide(trial, 0);
    offer(trial, EIGHT, 9, 0, 0);
    offer(trial, FOUR, 1, 0, 0);
    offer(trial, CPUS, 9, 0, 0);
    submit(trial, 1, 4);
    decide(trial, 1);
    CHECK_I64(trial->asked[FOUR], 1);
    CHECK_I64(trial->asked[EIGHT], 0);
    submit(trial, 2, 4);
    decide(trial, 2);
    CHECK_I64(trial->asked[FOUR], 1);
    CHECK_I64(trial->asked[EIGHT], 1);
    CHECK_I64(trial->asked[CPUS], 0);
    close_trial(trial);
    trial = open_trial(NULL, 0);
    offer(trial, EIGHT, 9, 0, 0);
    offer(trial, CPUS, 9, 0, 0);
    submit(trial, 3, 0);
    decide(trial, 0);
    CHECK_I64(trial->asked[EIGHT], 0);
    CHECK_I64(trial->asked[CPUS], 2);
    trial->offers[CPUS].holds.cpu_units = 256 * WEIR_ONE; /* of which little would be used */
    CHECK_I64(weir_host_offer_nodes(trial->host, &trial->offers[CPUS], NULL), WEIR_OK);
    decide(trial, 1);
    CHECK_I64(trial->asked[EIGHT], 0);
    CHECK_I64(trial->asked[CPUS], 1);
    close_trial(trial);
}

/* Four bundles of two GPUs: on one node together, on four apart, or wherever they fit. */
static void groups_are_one_demand_or_several(void)
{
    static const struct {
        uint32_t strategy, nodes;
    } rows[] = { { 0, 1 }, { WEIR_GROUP_STRICT_PACK + 1, 1 }, { WEIR_GROUP_STRICT_SPREAD + 1, 4 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trial *trial = open_trial(NULL, 0);
        for (uint64_t n = 0; n < 3; n++)
            add_node(trial, 2 + n, 0, 4);
        submit(trial, 1, 8);
        submit(trial, 3, 4);
        decide(trial, 0);
        offer(trial, EIGHT, 9, 0, 0);
        submit_ranks(trial, 1, 4, 2, rows[i].strategy);
        decide(trial, 1);
        CHECK_I64(trial->asked[EIGHT], rows[i].nodes);
        close_trial(trial);
    }
}

/* Five minutes after it was first idle, but not below the minimum. */
static void nodes_that_idle_are_given_back(void)
{
    struct trial *trial = open_trial(NULL, 0);
    offer(trial, EIGHT, 9, 2, 0);
    add_node(trial, 2, EIGHT, 8);
    add_node(trial, 3, EIGHT, 8);
    decide(trial, 10);
    CHECK_I64(trial->released, 0);
    CHECK_I64(trial->woken_ns, 310 * NS);
    decide(trial, 309);
    CHECK_I64(trial->released, 0);
    trial->offers[EIGHT].min = 1;
    CHECK_I64(weir_host_offer_nodes(trial->host, &trial->offers[EIGHT], NULL), WEIR_OK);
    decide(trial, 310);
    CHECK_I64(trial->released, 1);
    close_trial(trial);
}

static void after_a_failure_it_waits(void)
{
    struct trial *trial = open_trial(NULL, 0);
    const struct weir_outcome failed = { .size = sizeof failed,
                                         .kind = WEIR_OUTCOME_FAILED,
                                         .node = WEIR_NO_INDEX,
                                         .owner = weir_pool_owner(WEIR_NO_INDEX),
                                         .time_ns = 5 * NS };
    offer(trial, EIGHT, 9, 0, 0);
    submit(trial, 2, 8);
    decide(trial, 0);
    CHECK_I64(trial->asked[EIGHT], 1);
    CHECK_I64(weir_host_outcome(trial->host, &failed, NULL, NULL), WEIR_OK);
    decide(trial, 64);
    CHECK_I64(trial->asked[EIGHT], 0);
    CHECK_I64(trial->woken_ns, 65 * NS);
    decide(trial, 65);
    CHECK_I64(trial->asked[EIGHT], 1);
    close_trial(trial);
}

static const struct test tests[] = {
    { "what waits is laid on nodes first fit", what_waits_is_laid_on_nodes_first_fit },
    { "so many are on their way at once", so_many_are_on_their_way_at_once },
    { "the node that is used best is asked for", the_node_that_is_used_best_is_asked_for },
    { "groups are one demand or several", groups_are_one_demand_or_several },
    { "nodes that idle are given back", nodes_that_idle_are_given_back },
    { "after a failure it waits", after_a_failure_it_waits },
};
TEST_MAIN(tests)
