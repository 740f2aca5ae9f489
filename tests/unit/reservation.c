/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The budget of memory by operators, with sums by hand. 40 GB of memory, half of it object store,
 * half of that the budget: 10 GB. With two stages each has 2.5 GB reserved, 1.25 GB of it for tasks
 * and 1.25 GB for outputs; 5 GB are shared, half of what is left of them for each.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdlib.h>

/* Half a gigabyte a second is read, and hardly any of it is taken. */
static const char flood[] =
    "schema: 1\nname: r\nhorizon: 500 s\ncluster:\n  nodes:\n"
    "    - {name: n, cpus: 16, ram: 40 GB, gpus: {l4: 1}}\n"
    "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 1000}\n"
    "    backpressure: {rule: raydata, store: 50 %, ratio: 1000000}\n    stages:\n"
    "      - {name: read, cpus: 1, workers: 1, service: 1 s, bytes_out: 0.5 GB}\n"
    "      - {name: train, cpus: 1, gpus: 1, workers: 1, service: 1000 s}\n";

static double most_bytes_between(const char *text, const char *sets)
{
    struct sim_run_summary *summary = test_run_text(text, sets);
    const double bytes = test_value(summary, "materialised.bytes", "");
    free(summary);
    return bytes;
}

/* A task of 0.5 GB starts while half of what is left of the shared 5 GB is as much: up to 4 GB of
 * them taken, 6.5 GB of output in all. So 7 GB are made; train has 0.5 GB in hand. What runs counts
 * as what is made, so more readers change nothing. */
/* covers: S2.1 */
static void a_stage_makes_no_more_than_its_part_of_the_budget(void)
{
    CHECK_NEAR(most_bytes_between(flood, NULL), 6.5e9, 1);
    CHECK_NEAR(most_bytes_between(flood, "pipelines.p.stages.read.workers=4"), 6.5e9, 1);
    /* Nothing shared: 5 GB are reserved for read, and a task needs 0.5 GB of them. */
    CHECK_NEAR(most_bytes_between(flood, "pipelines.p.backpressure.reserved=1"), 4.5e9, 1);
    /* All shared: half of what is left must be 0.5 GB, so 9 GB may be out when a task starts. */
    CHECK_NEAR(most_bytes_between(flood, "pipelines.p.backpressure.reserved=0"), 9e9, 1);
}

/* One reader: it starts while at most ratio x 0.5 GB wait. Of four that are over at once, at ratio
 * 2, the first feeds train and goes on, and two more find 0.5 and 1 GB waiting; a second later
 * their three outputs come on top of three. */
/* covers: S2.1 */
static void a_stage_stops_when_the_next_one_has_work_for_long(void)
{
    static const char two[] = "pipelines.p.backpressure.ratio=2";
    static const char ten[] = "pipelines.p.backpressure.ratio=10";
    static const char four[] = "pipelines.p.backpressure.ratio=2 pipelines.p.stages.read.workers=4";
    CHECK_NEAR(most_bytes_between(flood, two), 1.5e9, 1);
    CHECK_NEAR(most_bytes_between(flood, ten), 5.5e9, 1);
    CHECK_NEAR(most_bytes_between(flood, four), 3e9, 1);
}

/* An output of 20 GB never fits: read waits until train is through, 3 x (1 + 2) s. */
static void a_task_larger_than_the_budget_runs_alone(void)
{
    static const char sets[] = "pipelines.p.input.items=3 pipelines.p.stages.read.bytes_out=20GB "
                               "pipelines.p.stages.train.service=2s";
    struct sim_run_summary *summary = test_run_text(flood, sets);
    CHECK_I64(summary->items_done, 3);
    CHECK_NEAR(summary->completion_s, 9, 1e-9);
    free(summary);
}

/* Outputs of 20 GB behind two stages: whenever nothing runs, reading on and cutting what was read
 * are both possible, and nothing waits behind cut. So items go through one by one, 3 x (1 + 2 + 4)
 * s, with one output in the store; reading first would put two there. */
static void the_stage_with_the_least_output_waiting_goes_first(void)
{
    static const char three[] =
        "schema: 1\nname: r\nhorizon: 500 s\ncluster:\n  nodes:\n"
        "    - {name: n, cpus: 16, ram: 40 GB}\n"
        "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 3}\n"
        "    backpressure: raydata\n    stages:\n"
        "      - {name: read, cpus: 1, workers: 1, service: 1 s, bytes_out: 20 GB}\n"
        "      - {name: cut, cpus: 1, workers: 1, service: 2 s, bytes_out: 20 GB}\n"
        "      - {name: write, cpus: 1, workers: 1, service: 4 s}\n";
    struct sim_run_summary *summary = test_run_text(three, NULL);
    CHECK_NEAR(summary->completion_s, 21, 1e-9);
    CHECK_NEAR(test_value(summary, "materialised.bytes", ""), 20e9, 1);
    free(summary);
}

/* Half of the memory goes after 4.5 s. With 5 GB of budget a task starts up to 2.75 GB of output,
 * 3 GB are made in all; noticed at 10 s only, when 5 GB are there. */
static void the_budget_follows_lost_nodes_late(void)
{
    static const char lost[] =
        "schema: 1\nname: r\nhorizon: 100 s\ncluster:\n  nodes:\n"
        "    - {name: n, cpus: 16, ram: 20 GB, gpus: {l4: 2}}\n"
        "    - {name: store, cpus: 1, ram: 20 GB}\n"
        "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 1000}\n"
        "    backpressure: {rule: reservation, store: 50 %, ratio: 1000000}\n    stages:\n"
        "      - {name: read, cpus: 1, gpus: 1, workers: 1, service: 1 s, bytes_out: 0.5 GB}\n"
        "      - {name: train, cpus: 1, gpus: 1, workers: 1, service: 1000 s}\n"
        "timeline:\n  - {at: 4500 ms, action: node_down, node: store}\n";
    CHECK_NEAR(most_bytes_between(lost, NULL), 4.5e9, 1);
    CHECK_NEAR(most_bytes_between(lost, "pipelines.p.backpressure.refresh=0"), 2.5e9, 1);
}

/* train is as fast as read, so that nothing ever waits: then the budget costs no time. */
static void a_balanced_line_runs_as_fast_as_without_a_budget(void)
{
    static const char sets[] = "pipelines.p.input.items=50 pipelines.p.stages.train.service=1s";
    struct sim_run_summary *bounded = test_run_text(flood, sets);
    CHECK_NEAR(bounded->completion_s, 51, 1e-9);
    free(bounded);
}

/* Three stages, 10 GB of budget: each has 5/6 GB for tasks and 5/6 GB for outputs of its own, 5 GB
 * are shared. Of what is left of them a third is for train, half of the rest for cut, the other
 * half for read: a third each. A task of 0.5 GB starts while the third is as much, with 5 GB out;
 * cut has 0.5 of 5.5 GB in hand. */
static void what_is_left_is_shared_from_the_last_stage_on(void)
{
    static const char three[] =
        "schema: 1\nname: r\nhorizon: 500 s\ncluster:\n  nodes:\n"
        "    - {name: n, cpus: 16, ram: 40 GB}\n"
        "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 1000}\n"
        "    backpressure: {rule: raydata, store: 50 %, ratio: 1000000}\n    stages:\n"
        "      - {name: read, cpus: 1, workers: 1, service: 1 s, bytes_out: 0.5 GB}\n"
        "      - {name: cut, cpus: 1, workers: 1, service: 1000 s}\n"
        "      - {name: train, cpus: 1, workers: 1, service: 1 s}\n";
    CHECK_NEAR(most_bytes_between(three, NULL), 5e9, 1);
}

static const struct test tests[] = {
    { "a stage makes no more than its part of the budget",
      a_stage_makes_no_more_than_its_part_of_the_budget },
    { "a stage stops when the next one has work for long",
      a_stage_stops_when_the_next_one_has_work_for_long },
    { "a task larger than the budget runs alone", a_task_larger_than_the_budget_runs_alone },
    { "the stage with the least output waiting goes first",
      the_stage_with_the_least_output_waiting_goes_first },
    { "the budget follows lost nodes late", the_budget_follows_lost_nodes_late },
    { "a balanced line runs as fast as without a budget",
      a_balanced_line_runs_as_fast_as_without_a_budget },
    { "what is left is shared from the last stage on",
      what_is_left_is_shared_from_the_last_stage_on },
};
TEST_MAIN(tests)
