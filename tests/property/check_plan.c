/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The check of a plan against an oracle: random plans, some right and some wrong, must pass exactly
 * when an inventory takes their actions one by one.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 20000, MOST_ACTIONS = 6, MOST_WORKERS = 5 };

static const struct test_stage stages[] = {
    { .name = "cpu", .cpus = 1 },
    { .name = "share", .cpus = 1, .gpus = 0.5 },
    { .name = "codec", .cpus = 1, .nvdecs = 1 },
};

static const struct test_pipeline pipeline = {
    .nodes = 2, .gpus = 2, .nvdecs = 2, .cpus = 4, .stages = stages, .stage_count = 3
};

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* An allocation that covers the stage's shape, on a node and GPU that mostly exist. */
static struct weir_alloc random_alloc(uint64_t *state, uint32_t stage)
{
    struct weir_alloc alloc = { .node = draw(state, 40) == 0 ? 2 : draw(state, 2),
                                .cpu_units = WEIR_ONE * (1 + draw(state, 2) / 2) };
    struct weir_device *const device = &alloc.devices[0];

    if (stage == 0)
        return alloc;
    alloc.device_count = 1;
    device->gpu = draw(state, 40) == 0 ? 2 : draw(state, 2);
    if (stage == 1)
        device->units = WEIR_ONE / 2 + (int64_t)draw(state, 2) * draw(state, 3);
    else
        device->nvdec_mask = UINT32_C(1) << draw(state, 3) % 3;
    return alloc;
}

/* One action into plan and oracle; false when the oracle does not take it. */
static bool random_action(uint64_t *state, struct weir_plan *plan, struct weir_cluster *oracle)
{
    const uint32_t stage = draw(state, 3);
    const uint64_t worker = 1 + draw(state, MOST_WORKERS);
    struct weir_worker held;

    if (draw(state, 3) == 0) {
        const bool is_known = weir_cluster_worker(oracle, worker, &held);
        const uint32_t named = is_known && draw(state, 20) > 0 ? held.stage : stage;
        CHECK_I64(weir_plan_stop(plan, named, worker), WEIR_OK);
        if (!is_known || held.stage != named)
            return false;
        return weir_cluster_remove_worker(oracle, worker, NULL) == WEIR_OK;
    }
    const uint64_t fresh = weir_plan_new_worker(plan);
    const bool is_known = draw(state, 30) == 0;
    const struct weir_alloc alloc = random_alloc(state, stage);
    const uint64_t id = is_known ? worker : fresh;
    CHECK_I64(weir_plan_start(plan, stage, id, &alloc, NULL), WEIR_OK);
    if (is_known)
        return false; /* see below: a known id is only right when it was stopped in this plan */
    return weir_cluster_add_worker(oracle, id, stage, &alloc, NULL) == WEIR_OK;
}

static void fill(uint64_t *state, struct weir_host *host)
{
    for (uint64_t id = 1; id <= MOST_WORKERS; id++) {
        const uint32_t stage = draw(state, 3);
        const struct weir_alloc alloc = random_alloc(state, stage);
        (void)weir_host_adopt_worker(host, id, stage, &alloc, NULL);
    }
}

/* One random state and plan. Returns whether the plan was right. */
static bool play(uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
    const struct weir_host_config config = test_config("first_fit", "fixed");
    struct weir_host *const host = test_host(&config, &pipeline);
    struct weir_error error = { 0 };
    struct weir_plan *plan = NULL;
    struct weir_cluster *oracle = NULL;
    bool is_right = true;

    fill(&state, host);
    CHECK_I64(weir_plan_create(NULL, &plan), WEIR_OK);
    CHECK_I64(weir_cluster_copy(weir_host_cluster(host), &oracle), WEIR_OK);
    weir_plan_reset(plan, 1000, WEIR_EXPLAIN_OFF);
    const uint32_t count = 1 + draw(&state, MOST_ACTIONS);
    for (uint32_t i = 0; i < count && is_right; i++)
        is_right = random_action(&state, plan, oracle);
    const struct weir_action *const last = weir_plan_action(plan, weir_plan_count(plan) - 1);
    const weir_status status = weir_plan_check(plan, weir_host_view(host, 0), &error);
    /* The oracle says nothing about starting a known id again: both answers occur. */
    if (last->verb != WEIR_VERB_START || last->worker >= 1000) {
        if (!CHECK((status == WEIR_OK) == is_right))
            fprintf(stderr, "seed %llu: oracle %d, check: %s\n", (unsigned long long)seed, is_right,
                    error.text);
    }
    weir_plan_destroy(plan);
    weir_cluster_destroy(oracle);
    weir_host_destroy(host);
    return status == WEIR_OK;
}

static void the_check_agrees_with_the_inventory(void)
{
    uint32_t right = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        right += play(seed);
    CHECK(right > ROUNDS / 20 && right < ROUNDS * 19 / 20);
}

static const struct test tests[] = {
    { "random plans pass exactly when the inventory takes them",
      the_check_agrees_with_the_inventory },
};

TEST_MAIN(tests)
