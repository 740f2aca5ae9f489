/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs of unequal ranks that are placed as a group, and jobs that no nodes there are can hold.
 */
#include "sched/internal/plan_state.h"
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"
#include "weir/group.h"

#include <stdio.h>
#include <string.h>

/* A trainer of 4 CPUs and a GPU, and two actors of a CPU. */
static struct weir_job_spec trainer_and_actors(struct weir_rank_group groups[2], uint64_t id)
{
    groups[0] = test_rank_group(1, 4, 1);
    groups[1] = test_rank_group(2, 1, 0);
    struct weir_job_spec spec = test_job_spec(id, groups, 2);
    spec.strategy = WEIR_GROUP_STRICT_PACK + 1;
    return spec;
}

/* Nodes of a GPU, and as many CPUs as are listed. */
static struct weir_host *open_nodes(const char *queueing, uint32_t count, const int64_t *cpus)
{
    const struct weir_host_config config = test_jobs_config(queueing);
    struct weir_host *const host = test_jobs_open(&config, count, 1);

    for (uint32_t n = 0; n < count; n++)
        CHECK_I64(weir_host_change_node(host, n, cpus[n] * WEIR_ONE, 0, NULL), WEIR_OK);
    return host;
}

/* The reason with which the plan denies a job. */
static uint32_t denied(const struct weir_plan *plan, uint64_t id)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_DENY && action->owner.id == id)
            return action->reason;
    }
    return WEIR_REASON_NONE;
}

/* covers: S4.35 */
static void a_trainer_and_its_actors_are_created_on_a_node_that_has_room_for_all(void)
{
    struct weir_rank_group groups[2];
    struct weir_host *const host = open_nodes("fcfs", 1, (const int64_t[]){ 6 });
    const struct weir_job_spec spec = trainer_and_actors(groups, 1);

    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    test_starts_are(host, "1.0@0 1.1@0 1.2@0");
    CHECK_I64(weir_cluster_free(weir_host_cluster(host)).cpu_units, 0);
    weir_host_destroy(host);
}

/* Two nodes that have enough together: refused, or kept when that is asked for, and nothing of it
 * is reserved. A node that is large enough comes, and it starts.
 * covers: S4.35 */
static void on_two_smaller_nodes_it_stays_pending_and_nothing_is_reserved(void)
{
    struct weir_rank_group groups[2];
    struct weir_host *const host = open_nodes("fcfs", 2, (const int64_t[]){ 4, 4 });
    const struct weir_job_spec spec = trainer_and_actors(groups, 1);
    const struct weir_amounts whole = weir_cluster_free(weir_host_cluster(host));

    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_EINFEASIBLE);
    CHECK_I64(weir_host_keep_infeasible(NULL, true), WEIR_EINVAL);
    CHECK_I64(weir_host_keep_infeasible(host, true), WEIR_OK);
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    const struct weir_plan *const plan = test_pass(host);
    CHECK_I64(weir_plan_count(plan), 1);
    CHECK_I64(denied(plan, 1), WEIR_REASON_INFEASIBLE);
    CHECK_I64(weir_plan_holder_count(plan), 0);
    CHECK_I64(weir_cluster_free(weir_host_cluster(host)).gpu_units, whole.gpu_units);
    CHECK_I64(weir_cluster_free(weir_host_cluster(host)).cpu_units, whole.cpu_units);
    CHECK_I64(weir_host_change_node(host, 1, 6 * WEIR_ONE, 0, NULL), WEIR_OK);
    test_starts_are(host, "1.0@1 1.1@1 1.2@1");
    weir_host_destroy(host);
}

/* What starts of job 2, which fills the cluster; job 1, which came before it, is one rank too
 * large. */
static struct test_text starts_beside(const struct weir_host_config *config, bool is_beside)
{
    struct weir_host *const host = test_jobs_open(config, 2, 4);

    CHECK_I64(weir_host_keep_infeasible(host, true), WEIR_OK);
    if (is_beside)
        CHECK_I64(test_submit(host, 1, 9, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 2, 8, 1), WEIR_OK);
    const struct weir_plan *const plan = test_pass(host);
    const struct test_text starts = test_starts(plan);
    CHECK_I64(denied(plan, 1), is_beside ? WEIR_REASON_INFEASIBLE : WEIR_REASON_NONE);
    weir_host_destroy(host);
    return starts;
}

/* Whatever the order, and though it came first; also where gangs hold what they find. */
static void who_fits_nowhere_is_in_nobodys_way(void)
{
    for (uint32_t q = 0; q < weir_queueing_count(); q++) {
        for (uint32_t hold = WEIR_HOLD_NONE; hold <= WEIR_HOLD_MEMBERS; hold++) {
            struct weir_host_config config = test_jobs_config(weir_queueing_at(q)->name);
            config.hold_mode = hold;
            const struct test_text alone = starts_beside(&config, false);
            const struct test_text beside = starts_beside(&config, true);
            if (!CHECK_STR(beside.text, alone.text))
                printf("%s, hold mode %u\n", config.queueing->name, hold);
        }
    }
}

/* ---- what a plan may not do ---- */

/* A plan that starts the ranks of job 1 on these nodes. */
static weir_status check_on(struct weir_host *host, const uint32_t *nodes, struct weir_error *error)
{
    struct weir_plan *plan = NULL;
    struct weir_alloc alloc;

    CHECK_I64(weir_plan_create(NULL, &plan), WEIR_OK);
    weir_plan_reset(plan, 10, WEIR_EXPLAIN_OFF);
    weir_plan_set_group(plan, 7);
    for (uint32_t rank = 0; rank < 3; rank++) {
        const struct weir_owner owner = weir_job_owner(0, 1);
        const struct weir_shape *const shape =
            weir_view_rank_shape(weir_host_view(host, 0), &owner, rank);
        CHECK_I64(weir_place_first(weir_host_cluster(host), nodes[rank], shape, &alloc), WEIR_OK);
        weir_plan_set_rank(plan, rank);
        CHECK_I64(weir_plan_start(plan, owner, 10 + rank, &alloc, NULL), WEIR_OK);
    }
    const weir_status status = weir_plan_check(plan, weir_host_view(host, 0), error);
    weir_plan_destroy(plan);
    return status;
}

static void a_plan_that_breaks_the_strategy_is_refused(void)
{
    static const struct {
        uint32_t strategy, nodes[3];
        weir_status status;
    } plans[] = {
        { WEIR_GROUP_STRICT_PACK, { 1, 1, 1 }, WEIR_OK },
        { WEIR_GROUP_STRICT_PACK, { 1, 1, 2 }, WEIR_EPOLICY },
        { WEIR_GROUP_STRICT_SPREAD, { 0, 2, 1 }, WEIR_OK },
        { WEIR_GROUP_STRICT_SPREAD, { 0, 1, 0 }, WEIR_EPOLICY },
        { WEIR_GROUP_PACK, { 0, 1, 0 }, WEIR_OK },
        { WEIR_GROUP_SPREAD, { 2, 2, 2 }, WEIR_OK },
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        struct weir_rank_group groups[2];
        struct weir_error error = { .phase = -1 };
        struct weir_host *const host = open_nodes("fcfs", 3, (const int64_t[]){ 8, 8, 8 });
        struct weir_job_spec spec = trainer_and_actors(groups, 1);
        spec.strategy = plans[i].strategy + 1;
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
        if (!CHECK_I64(check_on(host, plans[i].nodes, &error), plans[i].status))
            printf("plan %zu: %s\n", i, error.text);
        if (plans[i].strategy == WEIR_GROUP_STRICT_PACK && plans[i].status != WEIR_OK)
            CHECK(strstr(error.text, "is not that of rank 0: its placement group is strict_pack"));
        weir_host_destroy(host);
    }
}

/* A placement policy that gives every bundle the first GPU of the first node, whatever is there. */
static weir_status same_place(void *state, const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error)
{
    (void)state;
    (void)error;
    answer->alloc = (struct weir_alloc){ .node = 0,
                                         .device_count = query->shape->gpu_count,
                                         .cpu_units = query->shape->cpu_units,
                                         .devices = { { .units = WEIR_ONE } } };
    return WEIR_OK;
}

static void a_placement_that_takes_what_is_not_there_starts_nothing(void)
{
    static const struct weir_placement_ops hostile = { .size = sizeof hostile,
                                                       .abi = WEIR_ABI_MAJOR,
                                                       .name = "hostile",
                                                       .summary = "takes the same GPU",
                                                       .place = same_place };
    struct weir_rank_group groups[2] = { test_rank_group(1, 4, 1), test_rank_group(2, 1, 1) };
    struct weir_job_spec spec = test_job_spec(1, groups, 2);
    struct weir_host_config config = test_jobs_config("fcfs");
    const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS };
    const struct weir_plan *plan = NULL;

    spec.strategy = WEIR_GROUP_SPREAD + 1;
    config.placement = &hostile;
    config.group_by_policy = 1;
    struct weir_host *const host = test_jobs_open(&config, 2, 4);
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_EPOLICY);
    CHECK_I64(weir_cluster_worker_count(weir_host_cluster(host)), 0);
    CHECK_I64(test_job_state(host, 1), WEIR_JOB_WAITING);
    test_jobs_check(host);
    weir_host_destroy(host);
}

/* ---- groups that have amounts of GPUs ---- */

/* A node of as many GPUs, and a group of these ranks; what the first decision plans. */
static const struct weir_plan *plan_group(struct weir_host **host, uint32_t devices, uint32_t gpus,
                                          const struct weir_rank_group *groups, uint32_t count)
{
    struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_job_spec spec = test_job_spec(1, groups, count);

    spec.strategy = WEIR_GROUP_PACK + 1;
    config.group_devices = devices;
    *host = test_jobs_open(&config, 1, gpus);
    CHECK_I64(weir_host_submit(*host, &spec, NULL), WEIR_OK);
    CHECK_I64(test_submit(*host, 2, 1, 0.5), WEIR_OK);
    return test_pass(*host);
}

/* Units of GPUs that the plan keeps for a job that waits. */
static int64_t kept_units(const struct weir_plan *plan, uint64_t id)
{
    int64_t units = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        for (uint32_t d = 0; action->verb == WEIR_VERB_RESERVE && action->owner.id == id &&
                             d < action->alloc.device_count;
             d++)
            units += action->alloc.devices[d].units;
    }
    return units;
}

/* 0.9 + 0.1 on the first GPU and 0.9 on the second: 0.1, which starts first, breaks the second. */
static void a_group_of_amounts_is_created_and_one_of_its_members_finds_no_gpu(void)
{
    const struct weir_rank_group groups[] = { test_rank_group(1, 1, 0.1),
                                              test_rank_group(2, 1, 0.9) };
    struct weir_host *host;
    const struct weir_plan *plan = plan_group(&host, WEIR_GROUP_DEVICES_GROUP, 2, groups, 2);

    for (uint32_t again = 0; again < 2; again++) {
        CHECK_I64(denied(plan, 1), again == 0 ? WEIR_REASON_GROUP : WEIR_REASON_NONE);
        CHECK_I64(denied(plan, 2), again == 0 ? WEIR_REASON_GPU_FREE : WEIR_REASON_NONE);
        CHECK_I64(kept_units(plan, 1), 19 * (int64_t)WEIR_ONE / 10);
        CHECK_STR(test_starts(plan).text, "");
        plan = test_pass(host);
    }
    CHECK_I64(weir_cluster_free(weir_host_cluster(host)).gpu_units, 2 * WEIR_ONE);
    test_jobs_check(host);
    weir_host_destroy(host);
}

static void members_that_find_the_least_that_is_enough_start(void)
{
    static const struct {
        uint32_t devices, first, second, gpus;
        double of_first, of_second;
        const char *starts;
    } cases[] = {
        { WEIR_GROUP_DEVICES_BUNDLE, 1, 2, 2, 0.1, 0.9, "1.0@0 1.1@0 1.2@0" },
        { WEIR_GROUP_DEVICES_GROUP, 2, 1, 2, 0.9, 0.1, "1.0@0 1.1@0 1.2@0" },
        { WEIR_GROUP_DEVICES_GROUP, 1, 2, 1, 0.5, 0.25, "1.0@0 1.1@0 1.2@0" },
        { WEIR_GROUP_DEVICES_GROUP, 1, 2, 3, 2, 0.5, "1.0@0 1.1@0 1.2@0" },
        { WEIR_GROUP_DEVICES_GROUP, 1, 2, 3, 0.5, 1, "1.0@0 1.1@0 1.2@0 2.0@0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct weir_rank_group groups[] = {
            test_rank_group(cases[i].first, 1, cases[i].of_first),
            test_rank_group(cases[i].second, 1, cases[i].of_second)
        };
        struct weir_host *host;
        const struct weir_plan *const plan =
            plan_group(&host, cases[i].devices, cases[i].gpus, groups, 2);
        if (!CHECK_STR(test_starts(plan).text, cases[i].starts))
            printf("case %zu\n", i);
        CHECK_I64(kept_units(plan, 1), 0);
        weir_host_destroy(host);
    }
}

static void whose_the_gpus_of_a_group_are_is_known(void)
{
    struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *host = NULL;

    config.group_devices = WEIR_GROUP_DEVICES_GROUP + 1;
    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_EINVAL);
}

static const struct test tests[] = {
    { "a trainer and its actors are created on a node that has room for all",
      a_trainer_and_its_actors_are_created_on_a_node_that_has_room_for_all },
    { "on two smaller nodes it stays pending and nothing is reserved",
      on_two_smaller_nodes_it_stays_pending_and_nothing_is_reserved },
    { "who fits nowhere is in nobody's way", who_fits_nowhere_is_in_nobodys_way },
    { "a plan that breaks the strategy is refused", a_plan_that_breaks_the_strategy_is_refused },
    { "a placement that takes what is not there starts nothing",
      a_placement_that_takes_what_is_not_there_starts_nothing },
    { "a group of amounts is created and one of its members finds no GPU",
      a_group_of_amounts_is_created_and_one_of_its_members_finds_no_gpu },
    { "members that find the least that is enough start",
      members_that_find_the_least_that_is_enough_start },
    { "whose the GPUs of a group are is known", whose_the_gpus_of_a_group_are_is_known },
};

TEST_MAIN(tests)
