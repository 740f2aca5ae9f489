/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host that follows the plans of another one: it knows the same afterwards, and believes nothing
 * that its own books contradict.
 */
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

/* A plan as lists that a test may change. */
struct copy {
    struct weir_plan_lists lists;
    struct weir_action actions[MOST];
    struct weir_choice choices[MOST];
    struct weir_candidate candidates[MOST];
    struct weir_holder holders[MOST];
    struct weir_pool_note notes[MOST];
    uint32_t noted[MOST];
};

static void copy_plan(struct copy *copy, const struct weir_plan *plan)
{
    memset(copy, 0, sizeof *copy);
    copy->lists = (struct weir_plan_lists){ .size = sizeof copy->lists,
                                            .action_count = weir_plan_count(plan),
                                            .next_worker = weir_plan_next_worker(plan),
                                            .actions = copy->actions,
                                            .choices = copy->choices,
                                            .candidates = copy->candidates,
                                            .holders = copy->holders,
                                            .notes = copy->notes,
                                            .noted = copy->noted };
    for (uint32_t i = 0; i < copy->lists.action_count; i++)
        copy->actions[i] = *weir_plan_action(plan, i);
    for (; weir_plan_choice(plan, copy->lists.choice_count) != NULL; copy->lists.choice_count++)
        copy->choices[copy->lists.choice_count] = *weir_plan_choice(plan, copy->lists.choice_count);
}

/* Two hosts that were told the same. */
struct pair {
    struct weir_host *leader, *follower;
    struct copy *copy; /* of the leader's latest plan */
};

static struct pair open_pair(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    return (struct pair){ test_jobs_open(&config, 2, 4), test_jobs_open(&config, 2, 4),
                          calloc(1, sizeof(struct copy)) };
}

static void close_pair(struct pair *pair)
{
    test_jobs_check(pair->follower);
    weir_host_destroy(pair->leader);
    weir_host_destroy(pair->follower);
    free(pair->copy);
}

static void submit_both(struct pair *pair, uint64_t id, uint32_t ranks, double gpus)
{
    CHECK_I64(test_submit(pair->leader, id, ranks, gpus), WEIR_OK);
    CHECK_I64(test_submit(pair->follower, id, ranks, gpus), WEIR_OK);
}

static const struct weir_call call = { .size = sizeof call,
                                       .causes = WEIR_CAUSE_JOBS,
                                       .now_ns = 10 };

static void lead(struct pair *pair)
{
    const struct weir_plan *plan = NULL;
    CHECK_I64(weir_host_decide(pair->leader, &call, &plan, NULL), WEIR_OK);
    copy_plan(pair->copy, plan);
}

static void a_follower_knows_what_the_leader_knows(void)
{
    struct pair pair = open_pair();
    const struct weir_plan *plan = NULL;

    CHECK_I64(weir_host_set_queue_limit(pair.leader, 0, 1), WEIR_OK);
    CHECK_I64(weir_host_set_queue_limit(pair.follower, 0, 1), WEIR_OK);
    submit_both(&pair, 1, 3, 2);
    submit_both(&pair, 2, 2, 1);
    for (uint64_t id = 3; id < 6; id++)
        submit_both(&pair, id, 4, 1);
    lead(&pair);
    CHECK_I64(weir_host_follow(pair.follower, &call, &pair.copy->lists, &plan, NULL), WEIR_OK);
    CHECK_I64(weir_plan_count(plan), pair.copy->lists.action_count);
    CHECK(pair.copy->lists.action_count > 5);
    for (uint32_t i = 0; i < pair.copy->lists.action_count; i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        CHECK_I64(action->verb, pair.copy->actions[i].verb);
        CHECK_I64(action->worker, pair.copy->actions[i].worker);
        CHECK_I64(action->owner.id, pair.copy->actions[i].owner.id);
        CHECK_I64(action->group, pair.copy->actions[i].group);
    }
    for (uint64_t id = 1; id < 6; id++) {
        struct weir_job job[2] = { { .size = sizeof job[0] }, { .size = sizeof job[1] } };
        const bool is_known = weir_view_job(weir_host_view(pair.leader, 10), 0, id, &job[0]);
        CHECK_I64(weir_view_job(weir_host_view(pair.follower, 10), 0, id, &job[1]), is_known);
        CHECK_I64(job[1].state, job[0].state);
    }
    CHECK_I64(weir_host_stats(pair.follower).denied, weir_host_stats(pair.leader).denied);
    CHECK_I64(pair.follower->next_worker, pair.leader->next_worker);
    CHECK_I64(pair.follower->is_dirty, pair.leader->is_dirty); /* whether more may start */
    close_pair(&pair);
}

/* Four of seven jobs have places and one may wait: the plan that is not cut short turns two away,
 * in both. */
static void a_follower_turns_away_whom_the_leader_does(void)
{
    struct pair pair = open_pair();
    const struct weir_call few = {
        .size = sizeof few, .causes = WEIR_CAUSE_JOBS, .now_ns = 10, .max_actions = 2
    };
    const struct weir_plan *plan = NULL;

    CHECK_I64(weir_host_set_queue_limit(pair.leader, 0, 1), WEIR_OK);
    CHECK_I64(weir_host_set_queue_limit(pair.follower, 0, 1), WEIR_OK);
    for (uint64_t id = 1; id < 8; id++)
        submit_both(&pair, id, 1, 2);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_I64(weir_host_decide(pair.leader, &few, &plan, NULL), WEIR_OK);
        copy_plan(pair.copy, plan);
        CHECK_I64(weir_host_follow(pair.follower, &few, &pair.copy->lists, &plan, NULL), WEIR_OK);
        CHECK_I64(weir_plan_count(plan), pair.copy->lists.action_count);
        CHECK_I64(test_carry_out(pair.leader, plan), WEIR_OK);
        CHECK_I64(test_carry_out(pair.follower, plan), WEIR_OK);
        CHECK_I64(weir_view_jobs(weir_host_view(pair.leader, 10)), i == 0 ? 7 : 5);
        CHECK_I64(weir_view_jobs(weir_host_view(pair.follower, 10)), i == 0 ? 7 : 5);
        CHECK_I64(pair.follower->fresh_count, pair.leader->fresh_count);
    }
    close_pair(&pair);
}

/* Each makes one lie of a plan that starts job 1 (three ranks) and job 2 (one). */
static void starts_a_stranger(struct copy *copy)
{
    copy->actions[3].owner.id = 77;
}
static void starts_twice(struct copy *copy)
{
    copy->actions[3].owner.id = 1;
}
static void gives_too_much(struct copy *copy)
{
    copy->actions[0].alloc.devices[0].units = 3 * WEIR_ONE;
}
static void is_on_no_node(struct copy *copy)
{
    copy->actions[3].alloc.node = 99;
}
static void names_no_choice(struct copy *copy)
{
    copy->actions[3].choice = copy->lists.choice_count;
}
static void has_a_candidate_of_nothing(struct copy *copy)
{
    copy->lists.candidate_count = 1;
    copy->candidates[0].choice = copy->lists.choice_count;
}
static void was_near_on_no_node(struct copy *copy)
{
    copy->choices[0].runner_up_node = 2;
}
static void has_no_score(struct copy *copy)
{
    copy->choices[0].primary = (double)NAN;
}
static void looked_at_no_node(struct copy *copy)
{
    copy->candidates[0] = (struct weir_candidate){ .node = 2 };
    copy->lists.candidate_count = 1;
}
static void is_held_on_no_node(struct copy *copy)
{
    copy->holders[0] = (struct weir_holder){ .node = 2 };
    copy->lists.holder_count = 1;
}
static void notes_no_speed(struct copy *copy)
{
    copy->notes[0].speed_per_s = (double)INFINITY;
    copy->noted[0] = 1;
    copy->lists.note_count = 1;
}
static void goes_back(struct copy *copy)
{
    copy->lists.next_worker = 0;
}
static void stops_a_ghost(struct copy *copy)
{
    copy->actions[3].verb = WEIR_VERB_STOP;
    copy->actions[3].worker = 4711;
}
static void says_what_is_no_verb(struct copy *copy)
{
    copy->actions[3].verb = 1000;
}

static void says_what_was_taken_back(struct copy *copy)
{
    copy->actions[3].verb = UINT32_MAX; /* of actions that a plan counts no more */
}
static void turns_away_before_it_starts(struct copy *copy)
{
    copy->actions[4] = copy->actions[3];
    copy->actions[3] = (struct weir_action){ .size = sizeof(struct weir_action),
                                             .verb = WEIR_VERB_DENY,
                                             .reason = WEIR_REASON_QUEUE_FULL,
                                             .owner = weir_job_owner(0, 2),
                                             .choice = WEIR_NO_INDEX };
    copy->lists.action_count = 5;
}
static void leaves_a_rank_out(struct copy *copy)
{
    copy->actions[2] = copy->actions[3];
    copy->lists.action_count = 3;
}

static void what_the_books_contradict_is_refused_whole(void)
{
    static void (*const lies[])(struct copy *) = { was_near_on_no_node,
                                                   has_no_score,
                                                   looked_at_no_node,
                                                   is_held_on_no_node,
                                                   notes_no_speed,
                                                   starts_a_stranger,
                                                   starts_twice,
                                                   gives_too_much,
                                                   is_on_no_node,
                                                   names_no_choice,
                                                   has_a_candidate_of_nothing,
                                                   goes_back,
                                                   stops_a_ghost,
                                                   says_what_is_no_verb,
                                                   says_what_was_taken_back,
                                                   turns_away_before_it_starts,
                                                   leaves_a_rank_out };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct pair pair = open_pair();
        struct weir_error error = { .phase = -1, .pool = -1 };
        const struct weir_plan *plan = NULL;
        submit_both(&pair, 1, 3, 1);
        submit_both(&pair, 2, 1, 1);
        lead(&pair);
        CHECK_I64(pair.copy->lists.action_count, 4);
        lies[i](pair.copy);
        if (!CHECK_I64(weir_host_follow(pair.follower, &call, &pair.copy->lists, &plan, &error),
                       WEIR_EPOLICY) ||
            !CHECK(strstr(error.text, "queueing policy first_fit") != NULL))
            printf("lie %zu: %s\n", i, error.text);
        CHECK(plan == NULL);
        CHECK_I64(test_job_state(pair.follower, 1), WEIR_JOB_WAITING);
        CHECK_I64(test_job_state(pair.follower, 2), WEIR_JOB_WAITING);
        close_pair(&pair);
    }
}

/* It is worked out and not believed. */
static void nobody_is_turned_away_by_a_claim(void)
{
    struct pair pair = open_pair();
    const struct weir_plan *plan = NULL;

    submit_both(&pair, 1, 1, 1);
    lead(&pair);
    pair.copy->actions[0].verb = WEIR_VERB_DENY;
    pair.copy->actions[0].reason = WEIR_REASON_QUEUE_FULL;
    CHECK_I64(weir_host_follow(pair.follower, &call, &pair.copy->lists, &plan, NULL), WEIR_OK);
    CHECK_I64(weir_plan_count(plan), 0);
    CHECK_I64(test_job_state(pair.follower, 1), WEIR_JOB_WAITING);
    close_pair(&pair);
}

static void a_call_without_a_plan_is_counted(void)
{
    struct pair pair = open_pair();
    const struct weir_plan *plan = NULL;
    const struct weir_call earlier = { .size = sizeof call,
                                       .causes = WEIR_CAUSE_JOBS,
                                       .now_ns = 9 };
    const struct weir_plan_lists small = { .size = 4 };

    CHECK_I64(weir_host_follow(pair.follower, &call, NULL, &plan, NULL), WEIR_OK);
    CHECK(plan == NULL);
    CHECK_I64(weir_host_stats(pair.follower).decisions, 1);
    CHECK_I64(weir_host_follow(pair.follower, &earlier, NULL, &plan, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_follow(pair.follower, &call, &small, &plan, NULL), WEIR_EABI);
    CHECK_I64(weir_host_follow(NULL, &call, NULL, &plan, NULL), WEIR_EINVAL);
    close_pair(&pair);
}

static const struct test tests[] = {
    { "a follower knows what the leader knows", a_follower_knows_what_the_leader_knows },
    { "a follower turns away whom the leader does", a_follower_turns_away_whom_the_leader_does },
    { "what the books contradict is refused whole", what_the_books_contradict_is_refused_whole },
    { "nobody is turned away by a claim", nobody_is_turned_away_by_a_claim },
    { "a call without a plan is counted", a_call_without_a_plan_is_counted },
};
TEST_MAIN(tests)
