/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a careless caller does to libweir: nothing at all where something is needed, structs of
 * another size, time that runs backwards. Each gets a status, nothing crashes, nothing changes.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"
#include "weir/group.h"
#include "weir/host.h"
#include "weir/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 } };
static const struct test_pipeline one_stage = {
    .nodes = 2, .gpus = 2, .cpus = 8, .stages = stages, .stage_count = 1
};

static struct weir_host *open_host(void)
{
    const struct weir_host_config config = test_config("fgd", "xenna");

    return test_host(&config, &one_stage);
}

static void nothing_in_place_of_a_host_is_a_status(void)
{
    const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec) };
    const struct weir_outcome outcome = { .size = sizeof(struct weir_outcome) };
    const struct weir_call call = { .size = sizeof(struct weir_call),
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = 0 };
    const struct weir_host_config config = test_config("fgd", "xenna");
    const struct weir_measurement task = { .size = sizeof(struct weir_measurement) };
    const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update) };
    const struct weir_mix mix = { .count = 0 };
    const struct weir_plan *plan = NULL;
    struct weir_error error;

    CHECK_I64(weir_host_create(&config, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_create(NULL, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_replace(NULL, &config, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_add_node(NULL, &node, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_set_node(NULL, 0, WEIR_NODE_UP, 0), WEIR_EINVAL);
    CHECK_I64(weir_host_remove_node(NULL, 0, 0), WEIR_EINVAL);
    CHECK_I64(weir_host_change_node(NULL, 0, 0, 0, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_set_gpu_health(NULL, 0, 0, false), WEIR_EINVAL);
    CHECK_I64(weir_host_add_pool(NULL, NULL, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_change_pool(NULL, 0, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_remove_pool(NULL, 0, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_update_pool(NULL, 0, &update), WEIR_EINVAL);
    CHECK_I64(weir_host_set_estimate(NULL, 0, (struct weir_estimate){ .points = 0 }), WEIR_EINVAL);
    CHECK_I64(weir_host_measure(NULL, &task), WEIR_EINVAL);
    CHECK_I64(weir_host_outcome(NULL, &outcome, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_set_worker_state(NULL, 1, WEIR_WORKER_READY, 0), WEIR_EINVAL);
    CHECK_I64(weir_host_adopt_worker(NULL, 1, weir_pool_owner(0), NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_submit(NULL, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_withdraw(NULL, 0, 0), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_ended(NULL, 0, 0, &error), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_set_mix(NULL, &mix), WEIR_EINVAL);
    CHECK_I64(weir_host_add_workload(NULL, "w", NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_decide(NULL, &call, &plan, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_export(NULL, 0, NULL), WEIR_EINVAL);
    CHECK(weir_host_view(NULL, 0) == NULL);
    CHECK(weir_host_cluster(NULL) == NULL);
    CHECK_I64(weir_host_stats(NULL).decisions, 0);
    weir_host_destroy(NULL);
}

static void nothing_in_place_of_a_plan_is_a_status(void)
{
    const struct weir_call call = { .size = sizeof(struct weir_call),
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = 0 };
    struct weir_host *const host = open_host();
    struct weir_error error;

    CHECK_I64(weir_host_decide(host, &call, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_decide(host, NULL, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_decide(host, &call, NULL, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_stats(host).decisions, 0);
    CHECK_I64(weir_plan_count(NULL), 0);
    CHECK(weir_plan_action(NULL, 0) == NULL);
    CHECK(weir_plan_choice(NULL, 0) == NULL);
    CHECK(weir_plan_pool_note(NULL, 0) == NULL);
    CHECK_I64(weir_plan_append(NULL, NULL), WEIR_EINVAL);
    CHECK_I64(weir_plan_check(NULL, NULL, &error), WEIR_EINVAL);
    weir_plan_destroy(NULL);
    weir_host_destroy(host);
}

static void lists_that_are_missing_are_a_status(void)
{
    const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                         .id = 77,
                                         .gpu_count = 8 };
    const struct weir_job_spec job = { .size = sizeof(struct weir_job_spec), .group_count = 2 };
    const struct weir_mix mix = { .count = 3 };
    const struct weir_shape shape = { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };
    const struct weir_mix half = { .shapes = &shape, .count = 1 };
    const struct weir_outcome started = { .size = sizeof(struct weir_outcome),
                                          .kind = WEIR_OUTCOME_STARTED,
                                          .worker = 1 };
    struct weir_host *const host = open_host();
    struct weir_error error = { .phase = 0 };

    CHECK_I64(weir_host_add_node(host, &node, NULL, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "node 77: 8 GPUs and no list of them");
    CHECK_I64(weir_cluster_find_node(weir_host_cluster(host), 77), WEIR_NO_INDEX);
    CHECK_I64(weir_host_set_mix(host, &mix), WEIR_EINVAL);
    CHECK_I64(weir_host_set_mix(host, &half), WEIR_EINVAL);
    CHECK_I64(weir_host_add_workload(host, "w", NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_submit(host, &job, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_outcome(host, &started, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_add_node(host, NULL, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_outcome(host, NULL, NULL, &error), WEIR_EINVAL);
    CHECK_I64(weir_host_measure(host, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_update_pool(host, 0, NULL), WEIR_EINVAL);
    CHECK_I64(weir_cluster_check(weir_host_cluster(host), NULL), WEIR_OK);
    weir_host_destroy(host);
}

static void what_is_not_there_is_not_found(void)
{
    const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update) };
    struct weir_host *const host = open_host();

    CHECK_I64(weir_host_set_node(host, 9, WEIR_NODE_UP, 0), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_remove_node(host, 9, 0), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_change_node(host, 9, WEIR_ONE, 1, NULL), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_set_gpu_health(host, 9, 0, false), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_set_gpu_health(host, 0, 9, false), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_update_pool(host, 9, &update), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_remove_pool(host, 9, NULL), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_set_worker_state(host, 9, WEIR_WORKER_READY, 0), WEIR_ENOTFOUND);
    weir_host_destroy(host);
}

/* Questions to a chooser. */
static weir_status ask_with_size(uint32_t kind, uint32_t size)
{
    struct weir_place_answer answer;
    struct weir_chooser *chooser = NULL;
    uint64_t worker = 0;
    uint32_t placed = 0;
    weir_status status =
        weir_chooser_create(weir_placement_find("fgd"), NULL, NULL, &chooser, NULL);

    if (kind == 0)
        status =
            weir_chooser_place(chooser, &(struct weir_place_query){ .size = size }, &answer, NULL);
    else if (kind == 1)
        status = weir_chooser_place_members(chooser, &(struct weir_members_query){ .size = size },
                                            &answer, &placed, NULL);
    else if (kind == 2)
        status =
            weir_chooser_evict(chooser, &(struct weir_evict_query){ .size = size }, &worker, NULL);
    else
        status = weir_group_place(chooser, &(struct weir_group_query){ .size = size }, NULL,
                                  &(struct weir_group_answer){ .placed = 0 }, NULL);
    weir_chooser_destroy(chooser);
    return status;
}

/* What a host is told and asked; any other kind is a question to a chooser. */
static weir_status with_size(uint32_t kind, uint32_t size, struct weir_host *host)
{
    const struct weir_plan *plan = NULL;
    struct weir_host *other = NULL;
    struct weir_partition_cut cut;

    switch (kind) {
    case 0:
        return weir_host_add_node(host, &(struct weir_node_spec){ .size = size }, NULL, NULL);
    case 1:
        return weir_host_add_pool(host, &(struct weir_pool_spec){ .size = size }, NULL, NULL);
    case 2:
        return weir_host_update_pool(host, 0, &(struct weir_pool_update){ .size = size });
    case 3:
        return weir_host_outcome(host, &(struct weir_outcome){ .size = size }, NULL, NULL);
    case 4:
        return weir_partition_decide(&(struct weir_partition_query){ .size = size }, &cut, NULL);
    case 5:
        return weir_host_decide(
            host, &(struct weir_call){ .size = size, .causes = WEIR_CAUSE_TIMER }, &plan, NULL);
    case 6:
        return weir_host_create(&(struct weir_host_config){ .size = size }, &other, NULL);
    case 7:
        return weir_host_submit(host, &(struct weir_job_spec){ .size = size }, NULL);
    case 8:
        return weir_host_measure(host, &(struct weir_measurement){ .size = size });
    default:
        return ask_with_size(kind - 9, size);
    }
}

/* A size that was never set, and one that is too small, of every struct the caller fills. */
static void structs_of_another_size_are_refused(void)
{
    struct weir_host *const host = open_host();
    struct weir_plan *plan = NULL;
    struct weir_error error = { .phase = 0 };

    for (uint32_t kind = 0; kind < 13; kind++) {
        CHECK_I64(with_size(kind, 0, host), WEIR_EABI);
        CHECK_I64(with_size(kind, 4, host), WEIR_EABI);
    }
    CHECK_I64(weir_plan_create(NULL, &plan), WEIR_OK);
    CHECK_I64(weir_plan_append(plan, &(struct weir_action){ .verb = WEIR_VERB_WAKE }), WEIR_EABI);
    CHECK_I64(weir_plan_append(plan, &(struct weir_action){ .size = sizeof(struct weir_action),
                                                            .verb = UINT32_MAX }),
              WEIR_ERANGE);
    CHECK_I64(weir_plan_count(plan), 0);
    CHECK_I64(weir_host_add_node(host, &(struct weir_node_spec){ .size = 8 }, NULL, &error),
              WEIR_EABI);
    CHECK_STR(error.text, "the node has 8 bytes, needed are 48: set `size`, and build with the "
                          "headers of this interface version (2)");
    weir_plan_destroy(plan);
    weir_host_destroy(host);
}

/* A struct of a later interface is larger; what lies beyond what this library knows is not read. */
static void a_larger_struct_is_taken(void)
{
    struct {
        struct weir_pool_update known;
        uint64_t later;
    } update = { .known = { .size = sizeof update, .slots = 3, .requested_workers = -1 } };
    struct weir_host *const host = open_host();

    CHECK_I64(weir_host_update_pool(host, 0, &update.known), WEIR_OK);
    CHECK_I64(weir_view_pool(weir_host_view(host, 0), 0)->slots, 3);
    weir_host_destroy(host);
}

static void time_that_runs_backwards_is_a_status(void)
{
    struct weir_call call = { .size = sizeof(struct weir_call),
                              .causes = WEIR_CAUSE_TIMER,
                              .now_ns = 1000 };
    struct weir_host *const host = open_host();
    const struct weir_plan *plan = NULL;
    struct weir_error error = { .phase = 0 };

    CHECK_I64(weir_host_decide(host, &call, &plan, &error), WEIR_OK);
    call.now_ns = 999;
    CHECK_I64(weir_host_decide(host, &call, &plan, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "time runs backwards: 999 ns after 1000 ns");
    call.now_ns = 1000;
    CHECK_I64(weir_host_decide(host, &call, &plan, &error), WEIR_OK);
    weir_host_destroy(host);
}

static void the_library_says_which_one_it_is(void)
{
    uint32_t major = 0;
    uint32_t minor = 99;

    weir_abi(&major, &minor);
    CHECK_I64(major, WEIR_ABI_MAJOR);
    CHECK_I64(minor, WEIR_ABI_MINOR);
    weir_abi(NULL, NULL);
    CHECK_STR(weir_version(), WEIR_VERSION);
}

static const struct test tests[] = {
    { "nothing in place of a host is a status", nothing_in_place_of_a_host_is_a_status },
    { "nothing in place of a plan is a status", nothing_in_place_of_a_plan_is_a_status },
    { "lists that are missing are a status", lists_that_are_missing_are_a_status },
    { "what is not there is not found", what_is_not_there_is_not_found },
    { "structs of another size are refused", structs_of_another_size_are_refused },
    { "a larger struct is taken", a_larger_struct_is_taken },
    { "time that runs backwards is a status", time_that_runs_backwards_is_a_status },
    { "the library says which one it is", the_library_says_which_one_it_is },
};
TEST_MAIN(tests)
