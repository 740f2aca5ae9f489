/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The host: lying policies, the fallback, outcomes, hot swap, memory that runs out or must not
 * grow, and the flight recorder.
 */
#include "weir/host.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"
#include "weir/capacity.h"

#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct test_stage two_stages[] = {
    { .name = "infer", .cpus = 1, .gpus = 1, .speed_per_s = 1 },
    { .name = "load", .cpus = 1, .speed_per_s = 4 },
};

static const struct test_pipeline two = {
    .nodes = 2, .gpus = 2, .nvdecs = 2, .cpus = 8, .stages = two_stages, .stage_count = 2
};

/* ---- policies that lie ---- */

static weir_status lie_about_a_gpu(void *state, const struct weir_view *view,
                                   struct weir_placer *placer, struct weir_plan *plan,
                                   struct weir_error *error)
{
    const struct weir_alloc alloc = { .device_count = 1,
                                      .cpu_units = WEIR_ONE,
                                      .devices = { { .units = WEIR_ONE } } };

    (void)state, (void)view, (void)placer, (void)error;
    WEIR_TRY(weir_plan_start(plan, weir_pool_owner(0), weir_plan_new_worker(plan), &alloc, NULL));
    return weir_plan_start(plan, weir_pool_owner(0), weir_plan_new_worker(plan), &alloc, NULL);
}

static weir_status stop_a_ghost(void *state, const struct weir_view *view,
                                struct weir_placer *placer, struct weir_plan *plan,
                                struct weir_error *error)
{
    (void)state, (void)view, (void)placer, (void)error;
    return weir_plan_stop(plan, weir_pool_owner(0), 4711);
}

/* Works in the scratch cluster and leaves it in disorder, marks included. */
static weir_status wreck_the_scratch(void *state, const struct weir_view *view,
                                     struct weir_placer *placer, struct weir_plan *plan,
                                     struct weir_error *error)
{
    struct weir_cluster *const scratch = weir_placer_scratch(placer);
    uint64_t id;

    (void)state, (void)plan, (void)view;
    for (uint32_t i = 0; i < 3; i++)
        WEIR_TRY(weir_placer_start(placer, 1, error));
    weir_cluster_release(scratch);
    while (weir_cluster_pool_worker_id(scratch, 1, 0, &id))
        WEIR_TRY(weir_cluster_remove_worker(scratch, id, error));
    return WEIR_OK;
}

static struct weir_scaling_ops liar(weir_status (*decide)(void *, const struct weir_view *,
                                                          struct weir_placer *, struct weir_plan *,
                                                          struct weir_error *))
{
    return (struct weir_scaling_ops){ .size = sizeof(struct weir_scaling_ops),
                                      .abi = WEIR_ABI_MAJOR,
                                      .name = "liar",
                                      .summary = "breaks its contract",
                                      .decide = decide };
}

static weir_status place_on_taken_gpu(void *state, const struct weir_place_query *query,
                                      struct weir_place_answer *answer, struct weir_error *error)
{
    (void)state, (void)error;
    memset(answer, 0, sizeof *answer);
    answer->reused = WEIR_NO_INDEX;
    answer->alloc = (struct weir_alloc){ .device_count = 1,
                                         .cpu_units = query->shape->cpu_units,
                                         .devices = { { .units = WEIR_ONE } } };
    return WEIR_OK;
}

/* One that was stopped in this plan; there is none. */
static weir_status reuse_nobody(void *state, const struct weir_place_query *query,
                                struct weir_place_answer *answer, struct weir_error *error)
{
    (void)state, (void)query, (void)error;
    memset(answer, 0, sizeof *answer);
    answer->reused = 7;
    return WEIR_OK;
}

static const struct weir_placement_ops lying_placement = { .size = sizeof lying_placement,
                                                           .abi = WEIR_ABI_MAJOR,
                                                           .name = "blind",
                                                           .summary = "always GPU 0",
                                                           .place = place_on_taken_gpu };

static void a_lying_scaling_policy_is_rejected_with_a_sentence(void)
{
    static const char *const sentences[] = { "scaling policy liar: action 1 (start of worker 2, "
                                             "stage infer): GPU 0 of node 0: needs 1 GPU, 0 free",
                                             "scaling policy liar: action 0 (stop of worker 4711" };
    const struct weir_scaling_ops liars[] = { liar(lie_about_a_gpu), liar(stop_a_ghost) };

    for (size_t i = 0; i < 2; i++) {
        struct weir_host_config config = test_config("fgd_xenna", "xenna");
        struct weir_error error = { 0 };
        config.scaling = &liars[i];
        struct weir_host *const host = test_host(&config, &two);
        CHECK_I64(test_step(host, &error), WEIR_EPOLICY);
        if (!CHECK(strstr(error.text, sentences[i]) != NULL))
            CHECK_STR(error.text, sentences[i]);
        CHECK_I64(weir_host_stats(host).rejected, 1);
        CHECK_I64(weir_cluster_worker_count(weir_host_cluster(host)), 0);
        weir_host_destroy(host);
    }
}

static void a_lying_placement_policy_is_rejected_with_a_sentence(void)
{
    static const char *const sentences[] = {
        "placement policy blind: worker ", "placement policy blind reuses worker 7 of 0 stopped"
    };
    struct weir_placement_ops liars[] = { lying_placement, lying_placement };

    liars[1].place = reuse_nobody;
    for (size_t i = 0; i < 2; i++) {
        struct weir_host_config config = test_config("fgd_xenna", "xenna");
        struct weir_error error = { 0 };
        config.placement = &liars[i];
        struct weir_host *const host = test_host(&config, &two);
        CHECK_I64(test_step(host, &error), WEIR_EPOLICY);
        if (!CHECK(strstr(error.text, sentences[i]) != NULL))
            CHECK_STR(error.text, sentences[i]);
        weir_host_destroy(host);
    }
}

static void the_fallback_takes_over_for_a_rejected_plan(void)
{
    const struct weir_scaling_ops lie = liar(lie_about_a_gpu);
    struct weir_host_config config = test_config("fgd_xenna", "xenna");

    config.placement = &lying_placement;
    config.scaling = &lie;
    config.fallback = weir_scaling_find("xenna");
    struct weir_host *const host = test_host(&config, &two);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "4,1");
    CHECK_I64(weir_host_stats(host).rejected, 1);
    CHECK_I64(weir_host_stats(host).fallbacks, 1);
    weir_host_destroy(host);
}

static void a_wrecked_scratch_hurts_only_its_own_decision(void)
{
    const struct weir_scaling_ops wrecker = liar(wreck_the_scratch);
    struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &two);

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "4,1");
    config.scaling = &wrecker;
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "4,4");
    config.scaling = weir_scaling_find("xenna");
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "4,2");
    CHECK_I64(weir_cluster_check(weir_host_cluster(host), NULL), WEIR_OK);
    weir_host_destroy(host);
}

/* ---- what happened is what counts ---- */

static void only_outcomes_change_the_inventory(void)
{
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &two);
    const struct weir_plan *plan;

    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    const uint32_t actions = weir_plan_count(plan);
    CHECK_I64(weir_cluster_worker_count(weir_host_cluster(host)), 0);
    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    CHECK_I64(weir_plan_count(plan), actions); /* nothing was carried out: the same again */
    const struct weir_outcome refused = { .size = sizeof(struct weir_outcome),
                                          .kind = WEIR_OUTCOME_REFUSED,
                                          .worker = 99 };
    CHECK_I64(weir_host_outcome(host, &refused, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_stats(host).refused, 1);
    CHECK_I64(weir_cluster_worker_count(weir_host_cluster(host)), 0);
    weir_host_destroy(host);
}

static void ids_are_never_used_twice(void)
{
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &two);
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };
    const struct weir_plan *plan;

    CHECK_I64(weir_host_adopt_worker(host, 41, weir_pool_owner(1), &alloc, NULL), WEIR_OK);
    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    CHECK_I64(weir_plan_action(plan, 0)->worker, 42);
    CHECK_I64(weir_host_adopt_worker(host, 41, weir_pool_owner(1), &alloc, NULL), WEIR_EDUPLICATE);
    weir_host_destroy(host);
}

static void a_node_that_goes_down_loses_its_workers(void)
{
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &two);

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(weir_host_set_node(host, 0, 0, 5), WEIR_OK);
    CHECK_I64(weir_cluster_pool_workers(weir_host_cluster(host), 0), 2);
    CHECK(weir_host_stats(host).lost >= 2);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "2,1");
    CHECK_I64(weir_host_set_node(host, 0, WEIR_NODE_UP, 6), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "4,1");
    CHECK_I64(weir_cluster_check(weir_host_cluster(host), NULL), WEIR_OK);
    weir_host_destroy(host);
}

static void measurements_replace_a_given_estimate(void)
{
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &two);
    const struct weir_measurement task = {
        .size = sizeof task, .pool = 1, .end_ns = 2000000000, .returns = 3
    };

    CHECK_NEAR(weir_view_pool(weir_host_view(host, 0), 1)->estimate.batches_per_s, 4, 0);
    CHECK_I64(weir_host_measure(host, &task), WEIR_OK);
    CHECK_NEAR(weir_view_pool(weir_host_view(host, 0), 1)->estimate.batches_per_s, 0.5, 0);
    CHECK_NEAR(weir_view_pool(weir_host_view(host, 0), 1)->estimate.returns_per_batch, 3, 0);
    weir_host_destroy(host);
}

static void wrong_stages_are_refused(void)
{
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &two);
    struct weir_error error = { 0 };
    struct weir_pool_spec stage = test_pool_spec(weir_view_pool(weir_host_view(host, 0), 0));

    CHECK_I64(weir_host_add_pool(host, &stage, NULL, &error), WEIR_EDUPLICATE);
    CHECK_STR(error.text, "stage infer exists already");
    stage.name = "x";
    stage.batch_size = 0;
    CHECK_I64(weir_host_add_pool(host, &stage, NULL, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "stage x: batch_size must be >= 1, got 0");
    weir_host_destroy(host);
}

static void wrong_configurations_are_refused(void)
{
    struct weir_host_config config = test_config("fgd_xenna", "xenna");
    const double values[] = { 1, 2, 1, 0, 0, 0, 0.5, 0 };
    struct weir_error error = { 0 };
    struct weir_host *host = NULL;

    config.scaling_params = (struct weir_params){ .values = values, .count = 8 };
    CHECK_I64(weir_host_create(&config, &host, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "scaling policy xenna: parameter overallocation must be within "
                          "[1, 100], got 0.5");
    config.scaling_params.count = 1;
    CHECK_I64(weir_host_create(&config, &host, &error), WEIR_EINVAL);
    config.scaling = NULL;
    CHECK_I64(weir_host_create(&config, &host, &error), WEIR_EINVAL);
    config.size = 8;
    CHECK_I64(weir_host_create(&config, &host, &error), WEIR_EABI);
    CHECK(host == NULL);
}

/* It ends before `capacity`: what lies there is not the caller's. */
static void a_configuration_of_version_2_0_is_taken(void)
{
    struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *host = NULL;

    config.size = offsetof(struct weir_host_config, capacity);
    memset(&config.capacity, 0xEE, sizeof config - config.size);
    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_OK);
    config.size--;
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_EABI);
    weir_host_destroy(host);
}

/* ---- what a policy remembers ---- */

static weir_status keep_text(void *state, const char *text, size_t length)
{
    char *const kept = state;
    const size_t used = strlen(kept);
    if (used + length < 6000)
        memcpy(kept + used, text, length);
    return WEIR_OK;
}

/* The first three numbers of conservative: when it woke, whether all is to be looked at, how many
 * ends were early. Then who was promised what: who is not there any more is none, and all is to be
 * looked at. */
static void what_a_policy_remembers_is_kept(void)
{
    static const double numbers[][6] = {
        { 0, 0, 5 }, { 7, 1, 2 }, { 9, 0, 0 }, { 9, 0, 4, 0, 77, 1e9 }
    };
    static const char *const texts[] = { "[0,0,5]", "[7,1,2]", "[9,0,0]", "[9,1,4]" };
    for (size_t i = 0; i < 4; i++) {
        struct weir_host_config config = test_config("first_fit", "fixed");
        struct weir_host *host = NULL;
        char text[6000] = "";
        char *to = text;
        const struct weir_sink sink = { .write = keep_text, .state = text };
        config.queueing = weir_queueing_find("conservative");
        CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
        CHECK_I64(
            weir_host_restore_policy(host, WEIR_POLICY_QUEUEING, numbers[i], i == 3 ? 6 : 3, NULL),
            WEIR_OK);
        CHECK_I64(weir_host_export(host, 10, &sink), WEIR_OK);
        for (const char *from = text; *from != '\0'; from++)
            if (strchr(" \n", *from) == NULL)
                *to++ = *from;
        *to = '\0';
        const char *const memory = strstr(text, "\"queueing_memory\":");
        if (CHECK(memory != NULL))
            CHECK(strncmp(strchr(memory, '['), texts[i], strlen(texts[i])) == 0);
        weir_host_destroy(host);
    }
}

/* Every policy writes as many numbers as it says, none beyond what there is room for, and takes
 * them over. */
static void every_policy_says_what_it_remembers(void)
{
    struct test_memory kept = { 0 };
    const struct weir_allocator memory = test_allocator(&kept);
    for (uint32_t p = 0; p < weir_queueing_count(); p++) {
        const struct weir_queueing_ops *const ops = weir_queueing_at(p);
        struct weir_host_config config = test_config("first_fit", "fixed");
        struct weir_host *host = NULL;
        void *state = NULL;
        double numbers[64];
        double again[64];
        config.queueing = ops;
        if (ops->save == NULL || weir_host_create(&config, &host, NULL) != WEIR_OK)
            continue;
        CHECK_I64(ops->create(NULL, &memory, &state, NULL), WEIR_OK);
        for (int i = 0; i < 64; i++)
            numbers[i] = again[i] = -12345;
        const uint32_t count = ops->save(state, NULL, 0);
        CHECK(count < 64);
        CHECK_I64(ops->save(state, numbers, 64), count);
        for (uint32_t i = 0; i < 64; i++)
            if (!CHECK((numbers[i] > -12345 || numbers[i] < -12345 || isnan(numbers[i])) ==
                       (i < count)))
                printf("%s, number %u of %u\n", ops->name, i, count);
        CHECK_I64(ops->restore(state, weir_host_view(host, 0), numbers, count, NULL), WEIR_OK);
        CHECK_I64(ops->save(state, again, 64), count);
        for (uint32_t i = 0; i < count; i++)
            CHECK(memcmp(&numbers[i], &again[i], sizeof again[i]) == 0);
        ops->destroy(state);
        weir_host_destroy(host);
    }
    CHECK_I64(kept.blocks, 0);
}

/* ---- memory ---- */

/* Host, stages, two decisions: everything that asks for memory. */
static weir_status live(const struct weir_allocator *allocator, const char *placement,
                        const char *scaling)
{
    const struct test_pipeline pipeline = test_reference(2, true);
    struct weir_host_config config = test_config(placement, scaling);
    struct weir_host *host = NULL;

    config.allocator = allocator;
    config.explain = WEIR_EXPLAIN_FULL;
    config.fallback = weir_scaling_find("fixed");
    WEIR_TRY(weir_host_create(&config, &host, NULL));
    weir_status status = test_fill_host(host, &pipeline, NULL);
    for (uint32_t i = 0; status == WEIR_OK && i < 2; i++)
        status = test_step(host, NULL);
    weir_host_destroy(host);
    return status;
}

/* Who finds no memory says so: nothing goes on without. */
static void run_out(const char *placement, const char *scaling)
{
    struct test_memory memory = { .has_failed = true };
    const struct weir_allocator allocator = test_allocator(&memory);
    uint64_t unsaid = 0;

    for (uint64_t at = 1; memory.has_failed; at++) {
        memory = (struct test_memory){ .fail_at = at };
        const weir_status status = live(&allocator, placement, scaling);
        unsaid += memory.has_failed && status != WEIR_ENOMEM;
        CHECK(status == WEIR_OK || status == WEIR_ENOMEM);
        CHECK_I64(memory.blocks, 0);
    }
    if (!CHECK_I64(unsaid, 0))
        printf("    %s, %s\n", placement, scaling);
}

static void memory_may_run_out_anywhere(void)
{
    for (uint32_t s = 0; s < weir_scaling_count(); s++)
        run_out("fgd_xenna", weir_scaling_at(s)->name);
    for (uint32_t p = 0; p < weir_placement_count(); p++)
        run_out(weir_placement_at(p)->name, "xenna");
}

/* `changes`: speeds, and with them the mix that fgd prepares for, differ in every decision. */
static void decide_often(struct weir_host *host, uint32_t count, bool changes)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_estimate estimate = { .batches_per_s = changes ? i % 3 + 1 : 1,
                                                .returns_per_batch = 1 };
        (void)weir_host_set_estimate(host, 0, estimate);
        if (test_step(host, NULL) != WEIR_OK)
            CHECK(false);
    }
}

static void a_hundred_thousand_decisions_do_not_grow(void)
{
    struct test_memory memory = { 0 };
    const struct weir_allocator allocator = test_allocator(&memory);
    struct weir_host_config config = test_config("fgd_xenna", "xenna");

    config.allocator = &allocator;
    struct weir_host *const host = test_host(&config, &two);
    decide_often(host, 1000, true);
    const uint64_t blocks = memory.blocks;
    decide_often(host, 50000, true);
    CHECK_I64(memory.blocks, blocks);
    decide_often(host, 10, false);
    const uint64_t calls = memory.calls;
    decide_often(host, 50000, false);
    CHECK_I64(memory.calls, calls);
    weir_host_destroy(host);
    CHECK_I64(memory.blocks, 0);
}

/* ---- explain levels ---- */

/* Candidates of the first choice of a first decision; `choice` gets its counts. */
static uint32_t candidates_kept(uint32_t level, struct weir_choice *choice, uint32_t *chosen)
{
    struct weir_host_config config = test_config("fgd_xenna", "xenna");
    const struct weir_plan *plan = NULL;
    struct test_pipeline pipeline = two;
    uint32_t kept = 0;

    config.explain = level;
    pipeline.nodes = 3;
    struct weir_host *const host = test_host(&config, &pipeline);
    CHECK_I64(test_decide_at(host, 0, &plan), WEIR_OK);
    if (weir_plan_choice(plan, 0) != NULL)
        *choice = *weir_plan_choice(plan, 0);
    for (uint32_t i = 0; i < weir_plan_candidate_count(plan); i++) {
        const struct weir_candidate *const candidate = weir_plan_candidate_at(plan, i);
        if (candidate->choice > 0)
            continue;
        kept++;
        *chosen += candidate->is_chosen;
        CHECK(candidate->primary > choice->primary - 1e-12); /* nobody is better than the best */
    }
    weir_host_destroy(host);
    return kept;
}

static void explain_levels_keep_what_they_say(void)
{
    struct weir_choice choice = { .candidates = 0 };
    uint32_t chosen = 0;

    CHECK_I64(candidates_kept(WEIR_EXPLAIN_OFF, &choice, &chosen), 0);
    CHECK_I64(choice.candidates, 0);
    CHECK_I64(candidates_kept(WEIR_EXPLAIN_COUNTS, &choice, &chosen), 0);
    CHECK(choice.candidates > 2);
    CHECK_I64(candidates_kept(WEIR_EXPLAIN_TOP, &choice, &chosen), 2);
    CHECK_I64(chosen, 1);
    CHECK_I64(candidates_kept(WEIR_EXPLAIN_FULL, &choice, &chosen), choice.candidates);
    CHECK_I64(chosen, 2);
}

/* ---- hot swap and the flight recorder ---- */

static weir_status count_adoptions(void *state, const struct weir_view *view,
                                   struct weir_error *error)
{
    (void)state;
    if (weir_cluster_worker_count(view->cluster) != 5)
        return weir_fail(error, WEIR_EPOLICY, "5 workers run, not %u",
                         weir_cluster_worker_count(view->cluster));
    return WEIR_OK;
}

static void a_new_policy_adopts_what_runs(void)
{
    struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_scaling_ops adopting = *weir_scaling_find("fixed");
    struct weir_host *const host = test_host(&config, &two);
    struct weir_error error = { 0 };

    adopting.adopt = count_adoptions;
    config.scaling = &adopting;
    CHECK_I64(weir_host_replace(host, &config, &error), WEIR_EPOLICY);
    CHECK_STR(error.text, "scaling policy fixed: adopt: 5 workers run, not 0");
    CHECK_I64(test_step(host, NULL), WEIR_OK); /* the old one goes on */
    CHECK_STR(test_workers(host).text, "4,1");
    CHECK_I64(weir_host_replace(host, &config, &error), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "1,1");
    weir_host_destroy(host);
}

struct page {
    char text[65536];
    size_t length;
    size_t limit;
};

static weir_status write_page(void *state, const char *text, size_t length)
{
    struct page *const page = state;

    if (page->length + length > page->limit)
        return WEIR_EIO;
    memcpy(page->text + page->length, text, length);
    page->length += length;
    return WEIR_OK;
}

static void the_export_names_everything(void)
{
    static const char *const parts[] = {
        "\"command\": \"autoscale\"",   "\"time_ns\": 7000000000,", "\"next_worker\": \"6\"",
        "\"name\": \"infer\"",          "\"type\": \"whole_gpu\"",  "\"batches_per_s\": 4",
        "\"placement\": \"fgd_xenna\"", "\"scaling\": \"xenna\"",   "\"version\": \"P\"",
        "\"overallocation\": 1.5",      "\"slots\": [2, 2]",
    };
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &two);
    struct page *const page = calloc(1, sizeof *page);
    const struct weir_sink sink = { .write = write_page, .state = page };

    page->limit = sizeof page->text - 1;
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(weir_host_export(host, 7000000000, &sink), WEIR_OK);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!CHECK(strstr(page->text, parts[i]) != NULL))
            CHECK_STR(page->text, parts[i]);
    page->length = 0;
    page->limit = 100;
    CHECK_I64(weir_host_export(host, 0, &sink), WEIR_EIO);
    free(page);
    weir_host_destroy(host);
}

static void the_export_names_sets_of_gpu_types(void)
{
    static const uint32_t types[] = { 0, 3, WEIR_GPU_TYPE_SET | 5 };
    static const char *const texts[] = { "\"gpu_type\": null", "\"gpu_type\": 2",
                                         "\"gpu_type\": [0, 2]" };
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *host = NULL;
    struct page *const page = calloc(1, sizeof *page);
    const struct weir_sink sink = { .write = write_page, .state = page };

    page->limit = sizeof page->text - 1;
    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        const char name[] = { (char)('a' + i), '\0' };
        const struct weir_pool_spec stage = { .size = sizeof(struct weir_pool_spec),
                                              .name = name,
                                              .requested_workers = -1,
                                              .batch_size = 1,
                                              .slots = 2,
                                              .speed_hint_per_s = (double)NAN,
                                              .shape = { .kind = WEIR_SHAPE_WHOLE,
                                                         .gpu_count = 1,
                                                         .gpu_units = WEIR_ONE,
                                                         .gpu_type = types[i] } };
        CHECK_I64(weir_host_add_pool(host, &stage, NULL, NULL), WEIR_OK);
    }
    CHECK_I64(weir_host_export(host, 0, &sink), WEIR_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK(strstr(page->text, texts[i]) != NULL);
    free(page);
    weir_host_destroy(host);
}

/* ---- plug-ins ---- */

static void modules_are_checked_before_use(void)
{
    const struct weir_scaling_ops lie = liar(NULL);
    const struct weir_scaling_ops *const scalings[] = { &lie, NULL };
    struct weir_module module = {
        .size = sizeof module, .abi_major = WEIR_ABI_MAJOR, .name = "m", .scalings = scalings
    };
    struct weir_error error = { 0 };

    CHECK_I64(weir_module_check(&module, &error), WEIR_EPOLICY);
    CHECK_STR(error.text, "module m: scaling policy 0: it has no decide");
    module.abi_major = 99;
    CHECK_I64(weir_module_check(&module, &error), WEIR_EABI);
    module.abi_major = WEIR_ABI_MAJOR;
    module.abi_minor = WEIR_ABI_MINOR + 1;
    CHECK_I64(weir_module_check(&module, &error), WEIR_EABI);
    module.abi_minor = 0;
    module.scalings = NULL;
    CHECK_I64(weir_module_check(&module, &error), WEIR_EPOLICY);
    CHECK_STR(error.text, "module m offers no policy");
    struct weir_scaling_ops older = *weir_scaling_find("saturation_aware");
    const struct weir_scaling_ops *const olds[] = { &older, NULL };
    module.scalings = olds;
    older.size = offsetof(struct weir_scaling_ops, save); /* as of 2.0 */
    CHECK_I64(weir_module_check(&module, &error), WEIR_OK);
    older.size--;
    CHECK_I64(weir_module_check(&module, &error), WEIR_EABI);
    CHECK_I64(weir_module_check(NULL, &error), WEIR_EINVAL);
}

/* Lists that came later are not read of a module that is too short for them. */
static void lists_of_a_module_are_told_by_its_size(void)
{
    struct weir_capacity_ops grows = *weir_capacity_find("threshold");
    const struct weir_capacity_ops *const capacities[] = { &grows, NULL };
    struct weir_module module = {
        .size = sizeof module, .abi_major = WEIR_ABI_MAJOR, .name = "m", .capacities = capacities
    };
    struct weir_error error = { 0 };

    CHECK_I64(weir_module_check(&module, &error), WEIR_OK);
    CHECK(weir_module_capacities(&module) == capacities);
    grows.flags = 1;
    CHECK_I64(weir_module_check(&module, &error), WEIR_EPOLICY);
    CHECK_STR(error.text, "module m: capacity policy 0: its flags must be 0, got 1");
    module.size = offsetof(struct weir_module, capacities);
    CHECK(weir_module_capacities(&module) == NULL);
    CHECK(weir_module_queueings(&module) == NULL);
    CHECK_I64(weir_module_check(&module, &error), WEIR_EPOLICY);
    CHECK_STR(error.text, "module m offers no policy");
}

/* The template is a module built from the public headers alone; WEIR_PLUGINS is its folder. */
static void the_template_policies_run(void)
{
    const char *const folder = getenv("WEIR_PLUGINS");
    union {
        void *symbol;
        weir_module_entry call;
    } entry = { 0 };
    char path[1024];

    snprintf(path, sizeof path, "%s/template.so", folder != NULL ? folder : "plugins");
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        test_skip("the template module is not built");
        return;
    }
    entry.symbol = dlsym(library, WEIR_MODULE_SYMBOL);
    CHECK(entry.symbol != NULL);
    const struct weir_module *const module = entry.call();
    CHECK_I64(weir_module_check(module, NULL), WEIR_OK);
    struct weir_host_config config = test_config("fgd_xenna", "xenna");
    config.placement = module->placements[0];
    config.scaling = module->scalings[0];
    struct weir_host *const host = test_host(&config, &two);
    struct weir_pool_update update = { .size = sizeof(struct weir_pool_update),
                                       .slots = 2,
                                       .queued_items = 9,
                                       .requested_workers = -1 };
    CHECK_I64(weir_host_update_pool(host, 1, &update), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_STR(test_workers(host).text, "1,2");
    weir_host_destroy(host);
    dlclose(library);
}

static const struct test tests[] = {
    { "every policy says what it remembers", every_policy_says_what_it_remembers },
    { "what a policy remembers is kept", what_a_policy_remembers_is_kept },
    { "a lying scaling policy is rejected with a sentence",
      a_lying_scaling_policy_is_rejected_with_a_sentence },
    { "a lying placement policy is rejected with a sentence",
      a_lying_placement_policy_is_rejected_with_a_sentence },
    { "the fallback takes over for a rejected plan", the_fallback_takes_over_for_a_rejected_plan },
    { "a policy that wrecks the scratch hurts only its own decision",
      a_wrecked_scratch_hurts_only_its_own_decision },
    { "only outcomes change the inventory", only_outcomes_change_the_inventory },
    { "worker ids are never used twice", ids_are_never_used_twice },
    { "a node that goes down loses its workers", a_node_that_goes_down_loses_its_workers },
    { "measurements replace a given estimate", measurements_replace_a_given_estimate },
    { "stages that are wrong are refused with a sentence", wrong_stages_are_refused },
    { "configurations that are wrong are refused", wrong_configurations_are_refused },
    { "a configuration of version 2.0 is taken", a_configuration_of_version_2_0_is_taken },
    { "memory may run out anywhere without a leak", memory_may_run_out_anywhere },
    { "100 000 decisions do not grow", a_hundred_thousand_decisions_do_not_grow },
    { "a new policy adopts what runs", a_new_policy_adopts_what_runs },
    { "the export names everything", the_export_names_everything },
    { "explain levels keep what they say", explain_levels_keep_what_they_say },
    { "the export names sets of GPU types", the_export_names_sets_of_gpu_types },
    { "modules are checked before use", modules_are_checked_before_use },
    { "lists of a module are told by its size", lists_of_a_module_are_told_by_its_size },
    { "the template policies run from a module", the_template_policies_run },
};

TEST_MAIN(tests)
