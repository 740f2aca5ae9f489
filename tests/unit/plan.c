/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan as a list: order, take-backs, what is kept at each explain level.
 */
#include "weir/plan.h"
#include "sched/internal/plan_state.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <string.h>

static struct weir_plan *make(uint32_t explain)
{
    struct weir_plan *plan = NULL;

    CHECK(weir_plan_create(NULL, &plan) == WEIR_OK);
    weir_plan_reset(plan, 10, explain);
    return plan;
}

static const struct weir_alloc one_cpu = { .cpu_units = WEIR_ONE };

enum { MIXED_ACTIONS = 4000, MANY_CHOICES = 2000 };

static void an_empty_plan_has_nothing(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_FULL);

    CHECK_I64(weir_plan_count(plan), 0);
    CHECK(weir_plan_action(plan, 0) == NULL);
    CHECK(weir_plan_choice(plan, 0) == NULL);
    CHECK(weir_plan_pool_note(plan, 0) == NULL);
    CHECK(weir_plan_step_at(plan, 0) == NULL);
    CHECK(!weir_plan_unstop(plan, 3));
    weir_plan_destroy(plan);
}

static void ids_count_on_from_the_reset(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_OFF);

    CHECK_I64(weir_plan_new_worker(plan), 10);
    CHECK_I64(weir_plan_new_worker(plan), 11);
    CHECK_I64(weir_plan_next_worker(plan), 12);
    weir_plan_destroy(plan);
}

static void actions_keep_their_order_and_phase(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_OFF);

    weir_plan_set_phase(plan, 2);
    CHECK(weir_plan_start(plan, weir_pool_owner(1), 10, &one_cpu, NULL) == WEIR_OK);
    weir_plan_set_phase(plan, 3);
    CHECK(weir_plan_stop(plan, weir_pool_owner(0), 4) == WEIR_OK);
    CHECK(weir_plan_set_slots(plan, 1, 7) == WEIR_OK);
    CHECK(weir_plan_wake(plan, 99) == WEIR_OK);
    CHECK_I64(weir_plan_count(plan), 4);
    CHECK_I64(weir_plan_action(plan, 0)->verb, WEIR_VERB_START);
    CHECK_I64(weir_plan_action(plan, 0)->phase, 2);
    CHECK_I64(weir_plan_action(plan, 0)->alloc.cpu_units, WEIR_ONE);
    CHECK_I64(weir_plan_action(plan, 1)->worker, 4);
    CHECK_I64(weir_plan_action(plan, 1)->phase, 3);
    CHECK_I64(weir_plan_action(plan, 2)->value, 7);
    CHECK_I64(weir_plan_action(plan, 3)->value, 99);
    weir_plan_destroy(plan);
}

/* What was started meanwhile may stand on what a later stop frees, so stops come first then. */
static void a_stop_taken_back_leaves_the_other_stops_in_front(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_OFF);

    CHECK(weir_plan_stop(plan, weir_pool_owner(0), 1) == WEIR_OK);
    CHECK(weir_plan_start(plan, weir_pool_owner(1), 10, &one_cpu, NULL) == WEIR_OK);
    CHECK(weir_plan_stop(plan, weir_pool_owner(0), 2) == WEIR_OK);
    CHECK_I64(weir_plan_count(plan), 3);
    CHECK(weir_plan_unstop(plan, 1));
    CHECK(!weir_plan_unstop(plan, 1));
    CHECK_I64(weir_plan_count(plan), 2);
    CHECK_I64(weir_plan_action(plan, 0)->worker, 2);
    CHECK_I64(weir_plan_action(plan, 1)->worker, 10);
    CHECK(weir_plan_stop(plan, weir_pool_owner(0), 1) == WEIR_OK);
    CHECK_I64(weir_plan_action(plan, 1)->worker, 1);
    CHECK_I64(weir_plan_action(plan, 2)->worker, 10);
    weir_plan_destroy(plan);
}

static void choices_are_kept_unless_off(void)
{
    const struct weir_choice choice = { .nodes_seen = 3 };

    for (uint32_t explain = WEIR_EXPLAIN_OFF; explain <= WEIR_EXPLAIN_FULL; explain++) {
        struct weir_plan *const plan = make(explain);
        CHECK(weir_plan_deny(plan, weir_pool_owner(0), WEIR_REASON_CPU, &choice) == WEIR_OK);
        const uint32_t index = weir_plan_action(plan, 0)->choice;
        CHECK((index == WEIR_NO_INDEX) == (explain == WEIR_EXPLAIN_OFF));
        CHECK(index == WEIR_NO_INDEX || weir_plan_choice(plan, index)->nodes_seen == 3);
        weir_plan_destroy(plan);
    }
}

/* They lie in several blocks. */
static void choices_stay_where_they_are(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_COUNTS);
    static const struct weir_choice *before[MANY_CHOICES];

    for (uint32_t i = 0; i < MANY_CHOICES; i++) {
        const struct weir_choice choice = { .nodes_seen = i };
        CHECK(weir_plan_deny(plan, weir_pool_owner(0), WEIR_REASON_CPU, &choice) == WEIR_OK);
        before[i] = weir_plan_choice(plan, i);
    }
    for (uint32_t i = 0; i < MANY_CHOICES; i++) {
        CHECK(weir_plan_choice(plan, i) == before[i]);
        CHECK_I64(before[i]->nodes_seen, i);
    }
    weir_plan_destroy(plan);
}

static void steps_are_kept_at_full_alone(void)
{
    const struct weir_step step = { .pool = 1, .placed = 1, .worker = 10 };

    for (uint32_t explain = WEIR_EXPLAIN_OFF; explain <= WEIR_EXPLAIN_FULL; explain++) {
        struct weir_plan *const plan = make(explain);
        weir_plan_set_phase(plan, 4);
        CHECK(weir_plan_step(plan, &step) == WEIR_OK);
        CHECK_I64(weir_plan_step_count(plan), explain == WEIR_EXPLAIN_FULL ? 1 : 0);
        CHECK(explain != WEIR_EXPLAIN_FULL || weir_plan_step_at(plan, 0)->phase == 4);
        weir_plan_destroy(plan);
    }
}

static void notes_belong_to_their_stage(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_OFF);
    const struct weir_pool_note note = { .workers_after = 5 };

    CHECK(weir_plan_note(plan, 4, &note) == WEIR_OK);
    CHECK(weir_plan_pool_note(plan, 3) == NULL);
    CHECK_I64(weir_plan_pool_note(plan, 4)->workers_after, 5);
    weir_plan_reset(plan, 0, WEIR_EXPLAIN_OFF);
    CHECK(weir_plan_note(plan, 6, &note) == WEIR_OK);
    CHECK(weir_plan_pool_note(plan, 4) == NULL);
    weir_plan_destroy(plan);
}

static void a_reset_plan_asks_for_no_memory(void)
{
    struct test_memory memory = { 0 };
    const struct weir_allocator allocator = test_allocator(&memory);
    struct weir_plan *plan = NULL;

    CHECK(weir_plan_create(&allocator, &plan) == WEIR_OK);
    for (uint64_t round = 0; round < 50; round++) {
        const uint64_t before = memory.calls;
        weir_plan_reset(plan, 0, WEIR_EXPLAIN_FULL);
        for (uint32_t i = 0; i < 100; i++) {
            CHECK(weir_plan_stop(plan, weir_pool_owner(0), i) == WEIR_OK);
            CHECK(weir_plan_start(plan, weir_pool_owner(0), 1000 + i, &one_cpu, NULL) == WEIR_OK);
        }
        CHECK(weir_plan_unstop(plan, 50));
        CHECK_I64(weir_plan_count(plan), 199);
        CHECK(round == 0 || memory.calls == before);
    }
    weir_plan_destroy(plan);
    CHECK_I64(memory.blocks, 0);
}

/* Whatever stands before it in the plan. */
static void the_shortage_is_the_first_denial(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_OFF);

    CHECK(weir_plan_stop(plan, weir_pool_owner(0), 4) == WEIR_OK);
    CHECK(weir_plan_start(plan, weir_pool_owner(1), 10, &one_cpu, NULL) == WEIR_OK);
    CHECK(weir_plan_set_slots(plan, 1, 7) == WEIR_OK);
    CHECK(weir_plan_wake(plan, 99) == WEIR_OK);
    CHECK(weir_plan_shortage(plan) == NULL);
    CHECK(weir_plan_deny(plan, weir_pool_owner(2), WEIR_REASON_RAM, NULL) == WEIR_OK);
    CHECK(weir_plan_deny(plan, weir_pool_owner(3), WEIR_REASON_CPU, NULL) == WEIR_OK);
    const struct weir_action *const shortage = weir_plan_shortage(plan);
    CHECK(shortage != NULL && shortage->reason == WEIR_REASON_RAM && shortage->owner.index == 2);
    weir_plan_destroy(plan);
}

static void verbs_and_reasons_have_names(void)
{
    for (uint32_t i = 0; i < WEIR_VERB_COUNT; i++)
        CHECK(strlen(weir_verb_name(i)) > 1);
    for (uint32_t i = 0; i < WEIR_REASON_COUNT; i++)
        CHECK(strlen(weir_reason_text(i)) > 1);
    CHECK_STR(weir_verb_name(WEIR_VERB_COUNT), "?");
    CHECK_STR(weir_reason_text(UINT32_MAX), "?");
}

/* What was planned since a mark is given up with all that was kept of it. */
static void a_plan_goes_back_to_its_mark(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_FULL);
    const struct weir_choice choice = { .candidates = 1 };
    const struct weir_candidate seen = { .node = 4 };

    CHECK(weir_plan_start(plan, weir_pool_owner(0), 10, &one_cpu, &choice) == WEIR_OK);
    CHECK(weir_plan_candidate(plan, &seen) == WEIR_OK);
    const struct weir_plan_mark before = weir_plan_mark(plan);
    CHECK(weir_plan_start(plan, weir_pool_owner(0), weir_plan_new_worker(plan), &one_cpu,
                          &choice) == WEIR_OK);
    CHECK(weir_plan_candidate(plan, &seen) == WEIR_OK);
    weir_plan_rewind(plan, &before);
    const struct weir_plan_mark after = weir_plan_mark(plan);
    CHECK_I64(weir_plan_count(plan), 1);
    CHECK_I64(before.candidate_count, 1);
    CHECK_I64(after.candidate_count, before.candidate_count);
    CHECK_I64(after.choice_count, before.choice_count);
    CHECK_I64(after.next_worker, before.next_worker);
    weir_plan_destroy(plan);
}

/* One of so many devices, every field of it different from those of the others. */
static struct weir_action mixed_action(uint32_t number, uint32_t devices)
{
    struct weir_action action = { .size = sizeof action, .verb = WEIR_VERB_START };

    action.worker = number;
    action.owner = weir_pool_owner(number % 7);
    action.group = 1000 + number;
    action.alloc.cpu_units = number * WEIR_ONE;
    action.alloc.device_count = devices;
    for (uint32_t d = 0; d < devices; d++)
        action.alloc.devices[d] = (struct weir_device){ .gpu = d, .units = number * 16 + d + 1 };
    return action;
}

static bool is_mixed_action(const struct weir_action *action, const struct weir_action *made)
{
    return action->worker == made->worker && action->group == made->group &&
           action->owner.index == made->owner.index &&
           memcmp(&action->alloc, &made->alloc,
                  offsetof(struct weir_alloc, devices) +
                      made->alloc.device_count * sizeof made->alloc.devices[0]) == 0;
}

/* Actions of no, one and many devices lie in one another: none overwrites another one, also when
 * some were given up and others came into their place. */
static void actions_of_all_sizes_stay_as_they_were_made(void)
{
    struct weir_plan *const plan = make(WEIR_EXPLAIN_OFF);
    static uint32_t sizes[MIXED_ACTIONS];
    uint32_t count = 0;
    uint32_t draw = 1;
    struct weir_plan_mark mark = weir_plan_mark(plan);

    for (uint32_t step = 0; step < 4 * MIXED_ACTIONS && count < MIXED_ACTIONS; step++) {
        draw = draw * 1664525 + 1013904223;
        const uint32_t devices = draw >> 31 != 0 ? 0 : (draw >> 27) % 16 > 11 ? draw >> 28 : 1;
        const struct weir_action made = mixed_action(step, devices);
        if ((draw >> 20) % 16 == 0) {
            mark = weir_plan_mark(plan);
        } else if ((draw >> 20) % 16 == 1) {
            weir_plan_rewind(plan, &mark);
            count = mark.action_count;
        }
        CHECK(weir_plan_append(plan, &made) == WEIR_OK);
        sizes[count++] = step * 32 + devices;
    }
    CHECK_I64(count, MIXED_ACTIONS);
    CHECK_I64(weir_plan_count(plan), count);
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action made = mixed_action(sizes[i] / 32, sizes[i] % 32);
        CHECK(is_mixed_action(weir_plan_action(plan, i), &made));
    }
    weir_plan_destroy(plan);
}

static const struct test tests[] = {
    { "actions of all sizes stay as they were made", actions_of_all_sizes_stay_as_they_were_made },
    { "a plan goes back to its mark", a_plan_goes_back_to_its_mark },
    { "an empty plan has nothing", an_empty_plan_has_nothing },
    { "ids count on from the reset", ids_count_on_from_the_reset },
    { "actions keep their order and phase", actions_keep_their_order_and_phase },
    { "a stop taken back leaves the other stops in front",
      a_stop_taken_back_leaves_the_other_stops_in_front },
    { "choices are kept unless explain is off", choices_are_kept_unless_off },
    { "choices stay where they are while more come", choices_stay_where_they_are },
    { "steps are kept at level full alone", steps_are_kept_at_full_alone },
    { "notes belong to their stage and to one decision", notes_belong_to_their_stage },
    { "a plan that is reset asks for no memory again", a_reset_plan_asks_for_no_memory },
    { "the shortage is the first denial", the_shortage_is_the_first_denial },
    { "verbs and reasons have names", verbs_and_reasons_have_names },
};

TEST_MAIN(tests)
