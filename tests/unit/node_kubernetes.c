/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The capacity policy kubernetes: which nodes it asks for, and which it empties and gives back; and
 * whom a host lets such a policy send away.
 */
#include "tests/support/check.h"
#include "tests/support/node_trial.h"

#include <string.h>

enum { CPUS = TEST_NODE_CPUS, FOUR = TEST_NODE_FOUR, EIGHT = TEST_NODE_EIGHT };
enum { LEAST_WASTE, MOST_PODS, PRIORITY };
static const int64_t NS = 1000000000;

static struct test_nodes *open_trial(const char *name, double value)
{
    return test_nodes_open(weir_capacity_find("kubernetes"),
                           (struct test_setting[]){ { name, value }, { NULL, 0 } });
}

static void submit(struct test_nodes *trial, uint32_t count, uint32_t gpus)
{
    test_nodes_submit(trial, count, 1, gpus, 32, 0);
}

/* The node that is there is full; FOUR is offered first, then EIGHT, then CPUS. */
static struct test_nodes *open_full(const char *name, double value)
{
    struct test_nodes *trial = open_trial(name, value);
    test_nodes_offer(trial, FOUR, 9, 0, 0);
    test_nodes_offer(trial, EIGHT, 9, 0, 0);
    test_nodes_offer(trial, CPUS, 9, 0, 0);
    submit(trial, 1, 8);
    test_nodes_decide(trial, 0);
    return trial;
}

/* Two jobs of four GPUs leave more CPUs over on two small nodes than on a large one. That GPUs are
 * left over, too, is not looked at: one alone goes where it is asked for first. */
static void least_waste_is_of_cpus_and_memory(void)
{
    struct test_nodes *trial = open_full("expander", LEAST_WASTE);
    submit(trial, 1, 4);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->asked[FOUR], 1);
    CHECK_I64(trial->asked[EIGHT], 0);
    test_nodes_close(trial);
    trial = open_full("expander", LEAST_WASTE);
    submit(trial, 2, 4);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->asked[FOUR], 0);
    CHECK_I64(trial->asked[EIGHT], 1);
    test_nodes_close(trial);
}

/* Of jobs of four and eight GPUs small nodes take half. */
static void other_expanders_take_the_most_or_the_first(void)
{
    struct test_nodes *trial = open_full("expander", MOST_PODS);
    submit(trial, 1, 4);
    submit(trial, 1, 8);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->asked[FOUR], 0);
    CHECK_I64(trial->asked[EIGHT], 2);
    test_nodes_close(trial);
    trial = open_full("expander", PRIORITY);
    submit(trial, 2, 4);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->asked[FOUR], 2);
    CHECK_I64(trial->asked[EIGHT], 0);
    test_nodes_close(trial);
}

/* Nodes of CPUs are used up by who needs them; who needs GPUs is looked at in the next scan, when
 * those nodes are on their way. */
static void one_offer_is_asked_at_a_time(void)
{
    struct test_nodes *trial = open_full(NULL, 0);
    test_nodes_offer(trial, FOUR, 0, 0, 0);
    submit(trial, 2, 0);
    submit(trial, 3, 8);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->asked[CPUS], 2);
    CHECK_I64(trial->asked[EIGHT], 0);
    CHECK_I64(trial->woken_ns, 20 * NS);
    test_nodes_offer(trial, CPUS, 9, 0, 2);
    test_nodes_decide(trial, 19);
    CHECK_I64(trial->asked[EIGHT], 0);
    test_nodes_decide(trial, 20);
    CHECK_I64(trial->asked[CPUS], 0);
    CHECK_I64(trial->asked[EIGHT], 3);
    test_nodes_close(trial);
}

static void no_more_are_asked_for_than_there_may_be(void)
{
    struct test_nodes *trial = open_full(NULL, 0);
    test_nodes_offer(trial, EIGHT, 4, 1, 1);
    submit(trial, 9, 8);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->asked[EIGHT], 2); /* nobody lies on the one that is told to be up */
    test_nodes_close(trial);
}

/* Ten minutes after it was first empty, several at once, but not below the minimum. */
static void empty_nodes_go_together(void)
{
    struct test_nodes *trial = open_trial(NULL, 0);
    test_nodes_offer(trial, EIGHT, 9, 3, 0);
    for (uint64_t id = 2; id < 5; id++)
        test_nodes_add(trial, id, EIGHT, 8);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->woken_ns, 610 * NS);
    test_nodes_decide(trial, 609);
    CHECK_I64(trial->released, 0);
    trial->offers[EIGHT].min = 1;
    test_nodes_offer(trial, EIGHT, 9, 3, 0);
    test_nodes_decide(trial, 619);
    CHECK_I64(trial->released, 2);
    CHECK_I64(trial->preempted, 0);
    test_nodes_close(trial);
}

/* The node for good is full. One of eight GPUs has jobs of so many ranks of two GPUs on it, and is
 * the first; a free one is there for good, but for `full`. */
static struct test_nodes *open_used(const char *name, double value, uint32_t jobs, uint32_t ranks,
                                    uint32_t gpus, bool full)
{
    struct test_nodes *trial = open_trial(name, value);
    test_nodes_offer(trial, EIGHT, 9, 1, 0);
    submit(trial, 1, 8);
    test_nodes_decide(trial, 0);
    test_nodes_add(trial, 2, EIGHT, 8);
    test_nodes_submit(trial, jobs, ranks, gpus, 0, 0);
    test_nodes_decide(trial, 10);
    test_nodes_add(trial, 3, 0, full ? 0 : 8);
    test_nodes_decide(trial, 20);
    return trial;
}

struct gone {
    uint32_t released, preempted;
};

static struct gone after_ten_minutes(struct test_nodes *trial)
{
    test_nodes_decide(trial, 619);
    CHECK_I64(trial->released, 0);
    test_nodes_decide(trial, 630);
    const struct gone gone = { trial->released, trial->preempted };
    test_nodes_close(trial);
    return gone;
}

/* Two jobs with a rank each, one with two ranks: who is sent away is said once. */
static void a_node_is_emptied_for_whom_others_have_room(void)
{
    struct gone gone = after_ten_minutes(open_used(NULL, 0, 1, 1, 2, false));
    CHECK_I64(gone.released, 1);
    CHECK_I64(gone.preempted, 1);
    gone = after_ten_minutes(open_used("gpu_utilization", 0.6, 2, 1, 2, false));
    CHECK_I64(gone.released, 1);
    CHECK_I64(gone.preempted, 2);
    gone = after_ten_minutes(open_used("gpu_utilization", 0.6, 1, 2, 2, false));
    CHECK_I64(gone.released, 1);
    CHECK_I64(gone.preempted, 1);
    gone = after_ten_minutes(open_used(NULL, 0, 1, 1, 2, true));
    CHECK_I64(gone.released, 0);
    CHECK_I64(gone.preempted, 0);
}

/* Half of its GPUs are not little; and of CPUs all but eight are free. */
static void gpus_alone_count_unless_it_knows_none(void)
{
    CHECK_I64(after_ten_minutes(open_used(NULL, 0, 1, 1, 4, false)).released, 0);
    CHECK_I64(after_ten_minutes(open_used(NULL, 0, 1, 1, 3, false)).released, 1);
    CHECK_I64(after_ten_minutes(open_used("gpu_aware", 0, 1, 1, 8, false)).released, 1);
    CHECK_I64(after_ten_minutes(open_used("gpu_aware", 0, 8, 1, 1, false)).released, 1);
}

/* A job that is on it for the first time begins in the plan that would have given it back. */
static void who_only_starts_is_not_sent_away(void)
{
    struct test_nodes *trial = open_used(NULL, 0, 0, 1, 2, false);
    test_nodes_decide(trial, 30);
    submit(trial, 1, 1);
    test_nodes_decide(trial, 650);
    CHECK_I64(trial->released, 0);
    test_nodes_decide(trial, 660);
    CHECK_I64(trial->released, 0);
    test_nodes_decide(trial, 1270);
    CHECK_I64(trial->released, 1);
    CHECK_I64(trial->preempted, 1);
    test_nodes_close(trial);
}

static void nothing_goes_soon_after_one_came(void)
{
    struct test_nodes *trial = open_used(NULL, 0, 1, 1, 2, false);
    test_nodes_decide(trial, 500);
    test_nodes_submit(trial, 1, 2, 8, 0, 0); /* of which one rank waits for a node */
    test_nodes_decide(trial, 510);
    CHECK_I64(trial->asked[EIGHT], 1);
    test_nodes_offer(trial, EIGHT, 9, 1, 1);
    test_nodes_decide(trial, 630);
    CHECK_I64(trial->released, 0);
    CHECK_I64(trial->woken_ns, 1110 * NS);
    test_nodes_decide(trial, 1110);
    CHECK_I64(trial->released, 1);
    test_nodes_close(trial);
}

/* A node that was not taken back is asked about again three minutes later, not after the one that
 * makes it a node that nobody needs. */
static void one_that_was_not_taken_back_stays_for_a_while(void)
{
    struct test_nodes *trial = open_used("unneeded_time", 60, 0, 1, 2, false);
    test_nodes_decide(trial, 80);
    CHECK_I64(trial->released, 1);
    test_nodes_hear(trial, WEIR_OUTCOME_REFUSED, trial->released_node, 80);
    test_nodes_decide(trial, 90);
    CHECK_I64(trial->woken_ns, 260 * NS);
    test_nodes_decide(trial, 250);
    CHECK_I64(trial->released, 0);
    test_nodes_decide(trial, 260);
    CHECK_I64(trial->released, 1);
    test_nodes_close(trial);
}

/* Five minutes, then ten; a node that came ends that. */
static void after_failures_it_waits_longer_and_longer(void)
{
    struct test_nodes *trial = open_full(NULL, 0);
    submit(trial, 1, 8);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->asked[EIGHT], 1);
    test_nodes_hear(trial, WEIR_OUTCOME_FAILED, WEIR_NO_INDEX, 20);
    test_nodes_decide(trial, 25);
    CHECK_I64(trial->asked[EIGHT], 0);
    CHECK_I64(trial->woken_ns, 320 * NS);
    test_nodes_decide(trial, 320);
    CHECK_I64(trial->asked[EIGHT], 1);
    test_nodes_hear(trial, WEIR_OUTCOME_FAILED, WEIR_NO_INDEX, 330);
    test_nodes_decide(trial, 929);
    CHECK_I64(trial->asked[EIGHT], 0);
    test_nodes_decide(trial, 940);
    CHECK_I64(trial->asked[EIGHT], 1);
    test_nodes_hear(trial, WEIR_OUTCOME_CAME, 0, 950);
    test_nodes_hear(trial, WEIR_OUTCOME_FAILED, WEIR_NO_INDEX, 960);
    test_nodes_decide(trial, 1260);
    CHECK_I64(trial->asked[EIGHT], 1);
    test_nodes_close(trial);
}

/* ---- what a host lets a capacity policy say ---- */

static struct weir_action wish;

static weir_status say_it(void *state, const struct weir_view *view, struct weir_plan *plan,
                          struct weir_error *error)
{
    (void)state, (void)view, (void)error;
    return weir_plan_append(plan, &wish);
}

/* Says it in one decision; the sentence must hold `words`, or the plan is one (""). */
static void says(struct test_nodes *trial, uint32_t verb, struct weir_owner owner, uint64_t worker,
                 uint32_t node, const char *words)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error = { 0 };
    wish = (struct weir_action){ .size = sizeof wish,
                                 .verb = verb,
                                 .owner = owner,
                                 .worker = worker,
                                 .node = node,
                                 .choice = WEIR_NO_INDEX };
    const weir_status status = test_nodes_ask(trial, 10, &plan, &error);
    CHECK_I64(status, words[0] == 0 ? WEIR_OK : WEIR_EPOLICY);
    CHECK(strstr(error.text, words) != NULL);
    if (status == WEIR_OK)
        CHECK_I64(weir_host_cancel(trial->host, NULL), WEIR_OK);
}

/* Jobs and workers that are there, with the node named; a plan that is cancelled sent nobody away.
 */
static void it_sends_away_who_is_there(void)
{
    const struct weir_capacity_ops ops = { .size = sizeof ops,
                                           .abi = WEIR_ABI_MAJOR,
                                           .name = "says",
                                           .summary = "what the test wants",
                                           .decide = say_it };
    const struct weir_owner first = weir_job_owner(0, 1);
    const struct weir_owner pool = weir_pool_owner(0);
    struct test_nodes *trial = test_nodes_open(&ops, NULL);
    test_nodes_offer(trial, EIGHT, 9, 1, 0);
    test_nodes_add(trial, 2, EIGHT, 8);
    wish =
        (struct weir_action){ .size = sizeof wish, .verb = WEIR_VERB_WAKE, .choice = UINT32_MAX };
    submit(trial, 1, 8);
    test_nodes_decide(trial, 0);
    says(trial, WEIR_VERB_PREEMPT, first, 0, 0, "");
    says(trial, WEIR_VERB_PREEMPT, first, 0, 0, "");
    says(trial, WEIR_VERB_PREEMPT, first, 0, 1, "preempt of job 1, which is not on node 1");
    says(trial, WEIR_VERB_PREEMPT, first, 0, 7, "which is not on node 7");
    says(trial, WEIR_VERB_PREEMPT, weir_job_owner(0, 9), 0, 0, "job 9, which is not on node 0");
    says(trial, WEIR_VERB_STOP, first, 1, 0, "it says stop of job 1");
    says(trial, WEIR_VERB_STOP, pool, 1, 0, "stop of worker 1, which is not on node 0");
    says(trial, WEIR_VERB_ADMIT, first, 0, 0, "and says admit");
    submit(trial, 1, 8); /* it would only start */
    says(trial, WEIR_VERB_PREEMPT, weir_job_owner(0, 2), 0, 1, "job 2, which is not on node 1");
    test_nodes_close(trial);
}

static const struct test tests[] = {
    { "it sends away who is there", it_sends_away_who_is_there },
    { "least waste is of CPUs and memory", least_waste_is_of_cpus_and_memory },
    { "other expanders take the most or the first", other_expanders_take_the_most_or_the_first },
    { "one offer is asked at a time", one_offer_is_asked_at_a_time },
    { "no more are asked for than there may be", no_more_are_asked_for_than_there_may_be },
    { "empty nodes go together", empty_nodes_go_together },
    { "a node is emptied for whom others have room", a_node_is_emptied_for_whom_others_have_room },
    { "GPUs alone count unless it knows none", gpus_alone_count_unless_it_knows_none },
    { "who only starts is not sent away", who_only_starts_is_not_sent_away },
    { "nothing goes soon after one came", nothing_goes_soon_after_one_came },
    { "one that was not taken back stays for a while",
      one_that_was_not_taken_back_stays_for_a_while },
    { "after failures it waits longer and longer", after_failures_it_waits_longer_and_longer },
};
TEST_MAIN(tests)
