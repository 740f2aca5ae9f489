/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The check of a plan against its view: every kind of contradiction, one test each.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"
#include "weir/host.h"

#include <string.h>

/* One node with 4 CPUs and 2 GPUs of 2 NVDECs; worker 1 of stage 0 holds GPU 0 and 1 CPU. */
struct bench {
    struct weir_host *host;
    struct weir_plan *plan;
    struct weir_error error;
};

static const struct test_stage stages[] = {
    { .name = "infer", .cpus = 1, .gpus = 1 },
    { .name = "decode", .cpus = 1, .nvdecs = 1 },
    { .name = "load", .cpus = 1 },
};

static struct weir_alloc gpu_alloc(uint32_t gpu)
{
    return (struct weir_alloc){ .device_count = 1,
                                .cpu_units = WEIR_ONE,
                                .devices = { { .gpu = gpu, .units = WEIR_ONE } } };
}

static struct weir_alloc nvdec_alloc(uint32_t gpu, uint32_t mask)
{
    return (struct weir_alloc){ .device_count = 1,
                                .cpu_units = WEIR_ONE,
                                .devices = { { .gpu = gpu, .nvdec_mask = mask } } };
}

static struct bench open_bench(void)
{
    const struct test_pipeline pipeline = {
        .nodes = 1, .gpus = 2, .nvdecs = 2, .cpus = 4, .stages = stages, .stage_count = 3
    };
    const struct weir_host_config config = test_config("first_fit", "fixed");
    const struct weir_alloc held = gpu_alloc(0);
    struct bench bench = { .host = test_host(&config, &pipeline) };

    CHECK(weir_host_adopt_worker(bench.host, 1, weir_pool_owner(0), &held, NULL) == WEIR_OK);
    CHECK(weir_plan_create(NULL, &bench.plan) == WEIR_OK);
    weir_plan_reset(bench.plan, 10, WEIR_EXPLAIN_COUNTS);
    return bench;
}

static weir_status close_bench(struct bench *bench)
{
    const weir_status status =
        weir_plan_check(bench->plan, weir_host_view(bench->host, 0), &bench->error);

    weir_plan_destroy(bench->plan);
    weir_host_destroy(bench->host);
    return status;
}

/* Closes the bench; the plan must be rejected with `words` in the sentence. */
static void expect_rejected(struct bench *bench, const char *words)
{
    CHECK_I64(close_bench(bench), WEIR_EPOLICY);
    if (!CHECK(strstr(bench->error.text, words) != NULL))
        CHECK_STR(bench->error.text, words);
}

static void a_plan_that_fits_passes(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc second = gpu_alloc(1);
    const struct weir_alloc first = gpu_alloc(0);

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 10, &second, NULL) == WEIR_OK);
    CHECK(weir_plan_stop(bench.plan, weir_pool_owner(0), 1) == WEIR_OK);
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 11, &first, NULL) == WEIR_OK);
    CHECK(weir_plan_set_slots(bench.plan, 0, 1) == WEIR_OK);
    CHECK(weir_plan_deny(bench.plan, weir_pool_owner(0), WEIR_REASON_GPU_WHOLE, NULL) == WEIR_OK);
    CHECK_I64(close_bench(&bench), WEIR_OK);
}

static void a_gpu_given_twice_is_rejected(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = gpu_alloc(0);

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "action 0 (start of worker 10, stage infer): GPU 0 of node 0: needs 1 "
                            "GPU, 0 free, 1 too much");
}

static void cpus_beyond_the_node_are_rejected(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = { .cpu_units = 3 * WEIR_ONE + 1 };

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(2), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "node 0: needs 3 CPU, 3 free, 2.44141e-08 too much");
}

static void order_counts(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = gpu_alloc(0);

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 10, &alloc, NULL) == WEIR_OK);
    CHECK(weir_plan_stop(bench.plan, weir_pool_owner(0), 1) == WEIR_OK);
    expect_rejected(&bench, "action 0");
}

static void an_engine_given_twice_is_rejected(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = nvdec_alloc(1, 2);

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(1), 10, &alloc, NULL) == WEIR_OK);
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(1), 11, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "action 1 (start of worker 11, stage decode): GPU 1 of node 0: takes "
                            "NVDEC 1, which is held");
}

static void an_engine_that_does_not_exist_is_rejected(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = nvdec_alloc(1, 4);

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(1), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "takes NVDEC 2");
}

static void a_worker_cheated_of_its_needs_is_rejected(void)
{
    struct bench bench = open_bench();
    struct weir_alloc alloc = gpu_alloc(1);

    alloc.devices[0].units = WEIR_ONE / 2;
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "gives less than");
}

static void a_running_id_cannot_start(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = gpu_alloc(1);

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 1, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "runs already");
}

static void an_id_cannot_start_twice(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(2), 10, &alloc, NULL) == WEIR_OK);
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(2), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "action 1 (start of worker 10, stage load): this worker runs already");
}

static void a_stopped_worker_may_be_kept_after_all(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = gpu_alloc(0);

    CHECK(weir_plan_stop(bench.plan, weir_pool_owner(0), 1) == WEIR_OK);
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 1, &alloc, NULL) == WEIR_OK);
    CHECK_I64(weir_plan_action(bench.plan, 1)->reused, 1);
    CHECK_I64(close_bench(&bench), WEIR_OK);
}

static void unknown_workers_cannot_stop(void)
{
    struct bench bench = open_bench();

    CHECK(weir_plan_stop(bench.plan, weir_pool_owner(0), 7) == WEIR_OK);
    expect_rejected(&bench, "action 0 (stop of worker 7, stage infer): no such worker runs");
}

static void a_worker_cannot_stop_twice(void)
{
    struct bench bench = open_bench();

    CHECK(weir_plan_stop(bench.plan, weir_pool_owner(0), 1) == WEIR_OK);
    CHECK(weir_plan_stop(bench.plan, weir_pool_owner(0), 1) == WEIR_OK);
    expect_rejected(&bench, "action 1");
}

static void a_stop_names_the_right_stage(void)
{
    struct bench bench = open_bench();

    CHECK(weir_plan_stop(bench.plan, weir_pool_owner(1), 1) == WEIR_OK);
    expect_rejected(&bench, "belongs to stage 0, not 1");
}

static void a_move_names_the_right_stage(void)
{
    struct bench bench = open_bench();
    const struct weir_action move = { .size = sizeof(struct weir_action),
                                      .verb = WEIR_VERB_MOVE,
                                      .owner = weir_pool_owner(2),
                                      .worker = 1,
                                      .alloc = { .cpu_units = WEIR_ONE } };

    CHECK(weir_plan_append(bench.plan, &move) == WEIR_OK);
    expect_rejected(&bench, "belongs to stage 0, not 2");
}

static void places_must_exist(void)
{
    struct weir_alloc alloc = gpu_alloc(2);
    struct bench bench = open_bench();

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "node 0 has 2 GPUs, not GPU 2");
    bench = open_bench();
    alloc.node = 1;
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "node index 1 of 1");
    bench = open_bench();
    alloc = gpu_alloc(1);
    alloc.device_count = 2;
    alloc.devices[1] = alloc.devices[0];
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "listed twice");
    bench = open_bench();
    alloc.device_count = 1000;
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(0), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "lists 1000 devices");
}

static void negative_amounts_are_rejected(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = { .cpu_units = -1 };

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(2), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "negative amount of CPU");
}

static void a_node_that_is_down_takes_nobody(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };

    CHECK(weir_host_set_node(bench.host, 0, WEIR_NODE_UP | WEIR_NODE_CORDONED, 0) == WEIR_OK);
    CHECK(weir_plan_start(bench.plan, weir_pool_owner(2), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "down or cordoned");
}

static void stages_slots_verbs_and_reasons_are_in_range(void)
{
    struct bench bench = open_bench();
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };
    const struct weir_action unknown = { .size = sizeof(struct weir_action), .verb = 77 };

    CHECK(weir_plan_start(bench.plan, weir_pool_owner(3), 10, &alloc, NULL) == WEIR_OK);
    expect_rejected(&bench, "stage 3 of 3");
    bench = open_bench();
    CHECK(weir_plan_set_slots(bench.plan, 0, 0) == WEIR_OK);
    expect_rejected(&bench, "slots must be within [1, ");
    bench = open_bench();
    CHECK(weir_plan_deny(bench.plan, weir_pool_owner(0), WEIR_REASON_COUNT, NULL) == WEIR_OK);
    expect_rejected(&bench, "unknown reason");
    bench = open_bench();
    CHECK(weir_plan_append(bench.plan, &unknown) == WEIR_OK);
    expect_rejected(&bench, "unknown verb 77");
    bench = open_bench();
    CHECK(weir_plan_wake(bench.plan, -5) == WEIR_OK);
    expect_rejected(&bench, "time must be within [0, ");
}

static const struct test tests[] = {
    { "a plan that fits passes", a_plan_that_fits_passes },
    { "a GPU given twice is rejected with device and excess", a_gpu_given_twice_is_rejected },
    { "CPUs beyond the node are rejected by one unit", cpus_beyond_the_node_are_rejected },
    { "a stop frees only what comes after it", order_counts },
    { "a codec engine given twice is rejected", an_engine_given_twice_is_rejected },
    { "a codec engine that does not exist is rejected", an_engine_that_does_not_exist_is_rejected },
    { "a worker given less than its shape is rejected", a_worker_cheated_of_its_needs_is_rejected },
    { "the id of a running worker cannot start", a_running_id_cannot_start },
    { "an id cannot start twice", an_id_cannot_start_twice },
    { "a worker stopped in the plan may be kept after all",
      a_stopped_worker_may_be_kept_after_all },
    { "an unknown worker cannot stop", unknown_workers_cannot_stop },
    { "a worker cannot stop twice", a_worker_cannot_stop_twice },
    { "a stop names the worker's own stage", a_stop_names_the_right_stage },
    { "a move names the worker's own stage", a_move_names_the_right_stage },
    { "nodes and GPUs must exist and be listed once", places_must_exist },
    { "negative amounts are rejected", negative_amounts_are_rejected },
    { "a cordoned node takes nobody", a_node_that_is_down_takes_nobody },
    { "stages, slots, verbs, reasons and times are in range",
      stages_slots_verbs_and_reasons_are_in_range },
};

TEST_MAIN(tests)
