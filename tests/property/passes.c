/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole decisions: xenna in its three versions with the fgd of each, against the same with
 * placement that keeps nothing (tests/support/oracle_fgd.h). Random clusters and pipelines live
 * through passes in which speeds, requested counts and nodes change; both hosts are told the same,
 * and their plans must be equal, action by action; also where memory ran out, and it was asked
 * again.
 *
 * 3 000 passes; 100 000 with WEIR_SLOW set. And a saturated loop of decisions asks for no memory.
 */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/oracle_fgd.h"
#include "tests/support/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES_MOST = 6, PASSES_A_LIFE = 8, FAILS_MOST = 24 };

static const struct version {
    const char *placement, *scaling;
    const struct weir_placement_ops *oracle;
} versions[] = {
    { "fgd_xenna", "xenna", &oracle_fgd_xenna },
    { "fgd_n", "xenna_n", &oracle_fgd_n },
    { "fgd_c", "xenna_c", &oracle_fgd_c },
};
enum { VERSIONS = sizeof versions / sizeof versions[0] };

static struct test_stage draw_stage(struct draws *draws, uint32_t index)
{
    static const double gpus[] = { 0, 0, 0, 0.1, 0.25, 0.5, 0.6, 1, 1, 2 };
    static const char *const names[STAGES_MOST] = { "a", "b", "c", "d", "e", "f" };
    struct test_stage stage = { .name = names[index],
                                .cpus = 0.5 * (double)(1 + draws_below(draws, 6)),
                                .gpus = gpus[draws_below(draws, 10)],
                                .speed_per_s = 0.1 * (double)(1 + draws_below(draws, 50)) };

    if (stage.gpus < 1 && draws_one_in(draws, 3))
        stage.nvdecs = 1 + (int)draws_below(draws, 2);
    if (draws_one_in(draws, 12))
        stage.requested = 1 + (int)draws_below(draws, 3);
    return stage;
}

/* The same cluster and pipeline for both. */
static struct test_pipeline draw_pipeline(struct draws *draws, struct test_stage *stages)
{
    const struct test_pipeline pipeline = { .nodes = 1 + (uint32_t)draws_below(draws, 5),
                                            .gpus = (uint32_t)draws_below(draws, 9),
                                            .nvdecs = (uint32_t)draws_below(draws, 4),
                                            .cpus = 8 * (double)(1 + draws_below(draws, 4)),
                                            .stages = stages,
                                            .stage_count =
                                                1 + (uint32_t)draws_below(draws, STAGES_MOST) };

    for (uint32_t i = 0; i < pipeline.stage_count; i++)
        stages[i] = draw_stage(draws, i);
    return pipeline;
}

/* What happens to both hosts between two decisions. */
struct happening {
    struct weir_estimate estimates[STAGES_MOST];
    uint32_t node, flags;
};

static struct happening draw_happening(struct draws *draws, const struct test_pipeline *pipeline)
{
    struct happening happening = { .node = (uint32_t)draws_below(draws, pipeline->nodes),
                                   .flags = draws_one_in(draws, 5)
                                                ? WEIR_NODE_UP | WEIR_NODE_CORDONED
                                                : WEIR_NODE_UP };

    for (uint32_t i = 0; i < pipeline->stage_count; i++)
        happening.estimates[i] =
            (struct weir_estimate){ .batches_per_s = 0.1 * (double)(1 + draws_below(draws, 50)),
                                    .returns_per_batch = 1,
                                    .points = 5 };
    return happening;
}

static void tell(struct weir_host *host, const struct test_pipeline *pipeline,
                 const struct happening *happening)
{
    for (uint32_t i = 0; i < pipeline->stage_count; i++)
        CHECK_I64(weir_host_set_estimate(host, i, happening->estimates[i]), WEIR_OK);
    CHECK_I64(weir_host_set_node(host, happening->node, happening->flags, 0), WEIR_OK);
}

static bool same_alloc(const struct weir_alloc *a, const struct weir_alloc *b)
{
    return a->node == b->node && a->device_count == b->device_count &&
           a->cpu_units == b->cpu_units && a->ram_bytes == b->ram_bytes &&
           memcmp(a->devices, b->devices, a->device_count * sizeof a->devices[0]) == 0;
}

static bool same_plan(const struct weir_plan *a, const struct weir_plan *b)
{
    bool is_same = weir_plan_count(a) == weir_plan_count(b);

    for (uint32_t i = 0; is_same && i < weir_plan_count(a); i++) {
        const struct weir_action *const one = weir_plan_action(a, i);
        const struct weir_action *const other = weir_plan_action(b, i);
        is_same = one->verb == other->verb && one->owner.index == other->owner.index &&
                  one->worker == other->worker && one->value == other->value &&
                  one->reason == other->reason &&
                  (one->verb != WEIR_VERB_START || same_alloc(&one->alloc, &other->alloc));
    }
    return is_same;
}

struct tally {
    uint64_t passes, moved, differing, broken, repeated;
};

/* Decides; what ran out of memory is asked again, and nothing of it is left. `fails_at`: which
 * request for memory, 0 = none. */
static weir_status decide_at_last(struct weir_host *host, struct test_memory *memory,
                                  uint64_t fails_at, const struct weir_plan **plan,
                                  struct tally *tally)
{
    memory->calls = 0;
    memory->fail_at = fails_at;
    weir_status status = test_decide_at(host, 0, plan);
    memory->fail_at = 0;
    if (status == WEIR_ENOMEM) {
        tally->repeated++;
        status = test_decide_at(host, 0, plan);
    }
    return status;
}

/* One decision of both; false when they differ. `ended` when neither can go on. */
static bool pass(struct weir_host *fast, struct test_memory *memory, uint64_t fails_at,
                 struct weir_host *plain, bool *ended, struct tally *tally)
{
    const struct weir_plan *fast_plan = NULL;
    const struct weir_plan *plain_plan = NULL;
    const weir_status status = decide_at_last(fast, memory, fails_at, &fast_plan, tally);

    if (test_decide_at(plain, 0, &plain_plan) != status)
        return false;
    *ended = status != WEIR_OK;
    if (*ended)
        return true;
    return same_plan(fast_plan, plain_plan) && test_carry_out(fast, fast_plan) == WEIR_OK &&
           test_carry_out(plain, plain_plan) == WEIR_OK;
}

/* A cluster and its pipeline through several passes, which may run out of memory. */
static void live(uint64_t seed, bool fails, struct tally *tally)
{
    struct test_memory memory = { .blocks = 0 };
    const struct weir_allocator allocator = test_allocator(&memory);
    struct draws draws = draws_seeded(seed);
    const struct version *const version = &versions[seed % VERSIONS];
    struct test_stage stages[STAGES_MOST];
    const struct test_pipeline pipeline = draw_pipeline(&draws, stages);
    struct weir_host_config config = test_config(version->placement, version->scaling);
    config.allocator = &allocator;
    struct weir_host *const fast = test_host(&config, &pipeline);
    config.allocator = NULL;
    config.placement = version->oracle;
    struct weir_host *const plain = test_host(&config, &pipeline);
    bool ended = fast == NULL || plain == NULL;

    tally->broken += ended;
    for (int i = 0; i < PASSES_A_LIFE && !ended; i++) {
        tally->passes++;
        const uint64_t fails_at = fails ? draws_below(&draws, FAILS_MOST) : 0;
        if (!pass(fast, &memory, fails_at, plain, &ended, tally)) {
            printf("  plans differ: seed %llu, pass %d, %s\n", (unsigned long long)seed, i,
                   version->placement);
            tally->differing++;
            break;
        }
        const struct happening happening = draw_happening(&draws, &pipeline);
        tell(fast, &pipeline, &happening);
        tell(plain, &pipeline, &happening);
    }
    if (fast != NULL)
        tally->moved += weir_host_stats(fast).stopped;
    weir_host_destroy(fast);
    weir_host_destroy(plain);
}

static struct tally live_often(uint64_t passes, bool fails)
{
    struct tally tally = { .passes = 0 };

    for (uint64_t seed = 1; tally.passes < passes && tally.differing + tally.broken < 5; seed++)
        live(seed, fails, &tally);
    printf("%llu passes, %llu workers stopped in them, %llu asked again\n",
           (unsigned long long)tally.passes, (unsigned long long)tally.moved,
           (unsigned long long)tally.repeated);
    CHECK_I64(tally.differing, 0);
    CHECK_I64(tally.broken, 0);
    CHECK(tally.moved > tally.passes / 4);
    return tally;
}

/* covers: S0.25 S0.28 */
static void plans_equal_those_of_the_plain_versions(void)
{
    CHECK_I64(live_often(test_is_slow() ? 100000 : 3000, false).repeated, 0);
}

static void what_runs_out_of_memory_leaves_nothing(void)
{
    const struct tally tally = live_often(test_is_slow() ? 100000 : 3000, true);

    CHECK(tally.repeated > tally.passes / 8);
}

/* ---- memory of a saturated loop ---- */

/* Speeds tilt one way and the other, so workers move in every decision. */
static weir_status tilt(struct weir_host *host, const struct test_pipeline *pipeline, bool is_up)
{
    for (uint32_t i = 0; i < pipeline->stage_count; i++) {
        const double factor = (i % 2 == 0) == is_up ? 1.2 : 1 / 1.2;
        const struct weir_estimate estimate = { .batches_per_s =
                                                    factor * pipeline->stages[i].speed_per_s,
                                                .returns_per_batch = 1,
                                                .points = 5 };
        WEIR_TRY(weir_host_set_estimate(host, i, estimate));
    }
    return WEIR_OK;
}

static uint64_t calls_after(struct weir_host *host, const struct test_pipeline *pipeline,
                            uint32_t decisions, const struct test_memory *memory)
{
    struct weir_error error = { 0 };

    for (uint32_t i = 0; i < decisions; i++) {
        if (!CHECK_I64(tilt(host, pipeline, i % 2 == 0), WEIR_OK) ||
            !CHECK_I64(test_step(host, &error), WEIR_OK))
            break;
    }
    return memory->calls;
}

/* covers: S0.28 */
static void a_saturated_loop_asks_for_no_memory(void)
{
    static const struct test_stage stages[] = {
        { .name = "read", .cpus = 1, .speed_per_s = 2 },
        { .name = "decode", .cpus = 1, .nvdecs = 1, .speed_per_s = 1 },
        { .name = "embed", .cpus = 1, .gpus = 0.5, .speed_per_s = 1.5 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 1, .gpus = 2, .nvdecs = 3, .cpus = 10, .stages = stages, .stage_count = 3
    };
    const uint32_t decisions = 100000;

    for (size_t v = 0; v < VERSIONS; v++) {
        struct test_memory memory = { .blocks = 0 };
        const struct weir_allocator allocator = test_allocator(&memory);
        struct weir_host_config config = test_config(versions[v].placement, versions[v].scaling);
        config.allocator = &allocator;
        struct weir_host *const host = test_host(&config, &pipeline);
        const uint64_t warm = calls_after(host, &pipeline, 200, &memory);
        const uint64_t blocks = memory.blocks;
        CHECK_I64(calls_after(host, &pipeline, decisions / VERSIONS, &memory), warm);
        CHECK_I64(memory.blocks, blocks);
        CHECK(weir_host_stats(host).stopped > decisions / VERSIONS);
        weir_host_destroy(host);
        CHECK_I64(memory.blocks, 0);
    }
}

static const struct test tests[] = {
    { "plans of xenna equal those with plain placement", plans_equal_those_of_the_plain_versions },
    { "what runs out of memory is decided as ever", what_runs_out_of_memory_leaves_nothing },
    { "10^5 decisions of a full cluster ask for no memory", a_saturated_loop_asks_for_no_memory },
};
TEST_MAIN(tests)
