/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A decision that came to nothing is not made again until something changes that it looked at.
 */
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"
#include "tests/support/pipeline.h"

#include <math.h>

static uint32_t asked;

static weir_status plan_nothing(void *state, const struct weir_view *view,
                                struct weir_placer *placer, struct weir_plan *plan,
                                struct weir_error *error)
{
    (void)state, (void)view, (void)placer, (void)plan, (void)error;
    asked++;
    return WEIR_OK;
}

static const struct weir_scaling_ops counts_calls = { .size = sizeof counts_calls,
                                                      .abi = WEIR_ABI_MAJOR,
                                                      .name = "test",
                                                      .summary = "of a test",
                                                      .flags = WEIR_SCALING_REPEATS,
                                                      .decide = plan_nothing };

static const struct test_stage stages[] = {
    { .name = "read", .cpus = 1, .speed_per_s = 4 },
    { .name = "infer", .cpus = 1, .gpus = 1, .speed_per_s = 1 },
};
static const struct test_pipeline line = {
    .nodes = 2, .gpus = 2, .cpus = 8, .stages = stages, .stage_count = 2
};

static const struct weir_plan *decide(struct weir_host *host)
{
    const struct weir_plan *plan = NULL;

    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    return plan;
}

/* ---- everything that such a policy may look at ---- */

static struct weir_estimate estimate_of(struct weir_host *host)
{
    return weir_view_pool(weir_host_view(host, 0), 1)->estimate;
}

static void other_speed(struct weir_host *host)
{
    struct weir_estimate estimate = estimate_of(host);
    estimate.batches_per_s *= 2;
    CHECK_I64(weir_host_set_estimate(host, 1, estimate), WEIR_OK);
}

static void other_returns(struct weir_host *host)
{
    struct weir_estimate estimate = estimate_of(host);
    estimate.returns_per_batch = 3;
    CHECK_I64(weir_host_set_estimate(host, 1, estimate), WEIR_OK);
}

static struct weir_pool_spec spec_of(struct weir_host *host)
{
    return test_pool_spec(weir_view_pool(weir_host_view(host, 0), 1));
}

static void another_pool(struct weir_host *host)
{
    struct weir_pool_spec spec = spec_of(host);
    spec.name = "write";
    CHECK_I64(weir_host_add_pool(host, &spec, NULL, NULL), WEIR_OK);
}

static void a_node_goes(struct weir_host *host)
{
    CHECK_I64(weir_host_remove_node(host, 1, 0), WEIR_OK);
}

static void a_gpu_falls_ill(struct weir_host *host)
{
    CHECK_I64(weir_host_set_gpu_health(host, 0, 1, false), WEIR_OK);
}

static void a_worker_comes(struct weir_host *host)
{
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };
    const struct weir_outcome came = { .size = sizeof came,
                                       .kind = WEIR_OUTCOME_STARTED,
                                       .owner = weir_pool_owner(0),
                                       .worker = 900 };
    CHECK_I64(weir_host_outcome(host, &came, &alloc, NULL), WEIR_OK);
}

static void the_plan_is_cancelled(struct weir_host *host)
{
    CHECK_I64(weir_host_cancel(host, NULL), WEIR_OK);
}

static void policies_are_replaced(struct weir_host *host)
{
    struct weir_host_config config = test_config("fgd_xenna", "fixed");
    config.scaling = &counts_calls;
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_OK);
}

/* Change number `number` is noticed once; NULL = the pool is changed to `spec`. */
static void check_change(uint32_t number, void (*change)(struct weir_host *),
                         void (*edit)(struct weir_pool_spec *))
{
    struct weir_host_config config = test_config("fgd_xenna", "fixed");

    config.scaling = &counts_calls;
    struct weir_host *const host = test_host(&config, &line);
    asked = 0;
    (void)decide(host);
    (void)decide(host);
    CHECK_I64(asked, 1);
    if (change != NULL) {
        change(host);
    } else {
        struct weir_pool_spec spec = spec_of(host);
        edit(&spec);
        CHECK_I64(weir_host_change_pool(host, 1, &spec, NULL), WEIR_OK);
    }
    (void)decide(host);
    (void)decide(host);
    CHECK_I64(number * 100 + asked, number * 100 + 2);
    weir_host_destroy(host);
}

static void each_change_is_a_new_question(void)
{
    static void (*const changes[])(struct weir_host *) = {
        other_speed,     other_returns,  another_pool,          a_node_goes,
        a_gpu_falls_ill, a_worker_comes, the_plan_is_cancelled, policies_are_replaced,
    };

    for (uint32_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        check_change(i, changes[i], NULL);
}

static void other_count(struct weir_pool_spec *spec)
{
    spec->requested_workers = 1;
}

static void other_hint(struct weir_pool_spec *spec)
{
    spec->speed_hint_per_s = 9;
}

static void other_over_provision(struct weir_pool_spec *spec)
{
    spec->over_provision = 2;
}

static void other_batch(struct weir_pool_spec *spec)
{
    spec->batch_size = 7;
}

static void other_slots(struct weir_pool_spec *spec)
{
    spec->slots = 9;
}

static void other_shape(struct weir_pool_spec *spec)
{
    spec->shape = test_rank_group(1, 1, 0.5).shape;
}

static void each_field_of_a_pool_is_looked_at(void)
{
    static void (*const edits[])(struct weir_pool_spec *) = {
        other_count, other_hint, other_over_provision, other_batch, other_slots, other_shape,
    };

    for (uint32_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
        check_change(i, NULL, edits[i]);
}

/* ---- who is asked every time ---- */

static void one_that_does_not_say_so_is_asked_again(void)
{
    struct weir_scaling_ops quiet = counts_calls;
    struct weir_host_config config = test_config("fgd_xenna", "fixed");

    quiet.flags = 0;
    config.scaling = &quiet;
    struct weir_host *const host = test_host(&config, &line);
    asked = 0;
    (void)decide(host);
    (void)decide(host);
    CHECK_I64(asked, 2);
    weir_host_destroy(host);
}

static void placement_that_learns_is_asked_again(void)
{
    struct weir_host_config config = test_config("weir", "fixed");

    config.scaling = &counts_calls;
    struct weir_host *const host = test_host(&config, &line);
    asked = 0;
    (void)decide(host);
    (void)decide(host);
    CHECK_I64(asked, 2);
    weir_host_destroy(host);
}

/* ---- what is said the second time ---- */

static uint32_t count_verb(const struct weir_plan *plan, uint32_t verb)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        count += weir_plan_action(plan, i)->verb == verb;
    return count;
}

/* A full cluster: nothing starts, and it is said again who gets no more and why. */
static void denials_and_notes_stand(void)
{
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &line);

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    const struct weir_plan *plan = decide(host);
    const struct weir_host_stats before = weir_host_stats(host);
    const uint32_t denied = count_verb(plan, WEIR_VERB_DENY);
    const uint32_t slots = count_verb(plan, WEIR_VERB_SET_SLOTS);
    CHECK_I64(count_verb(plan, WEIR_VERB_START), 0);
    CHECK(denied > 0);
    plan = decide(host);
    CHECK_I64(count_verb(plan, WEIR_VERB_DENY), denied);
    CHECK_I64(count_verb(plan, WEIR_VERB_SET_SLOTS), slots);
    CHECK(weir_plan_pool_note(plan, 1) != NULL);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_DENY)
            CHECK(weir_plan_choice(plan, action->choice) != NULL);
    }
    CHECK_I64(weir_host_stats(host).denied, before.denied + denied);
    CHECK_I64(weir_host_stats(host).decisions, before.decisions + 1);
    CHECK_I64(weir_host_stats(host).placements_tried, before.placements_tried);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "each change is a new question", each_change_is_a_new_question },
    { "each field of a pool is looked at", each_field_of_a_pool_is_looked_at },
    { "one that does not say so is asked again", one_that_does_not_say_so_is_asked_again },
    { "with a placement that learns it is asked again", placement_that_learns_is_asked_again },
    { "denials and notes stand", denials_and_notes_stand },
};

TEST_MAIN(tests)
