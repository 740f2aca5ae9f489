/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts and checkpoints of jobs by hand: when a job works, saves, is lost and goes on. A node of
 * four GPUs is away for 10 s from 100 s on, and from 210 s on, and so forth.
 */
#include "sim/jobs/checkpoint.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct life {
    double start_s, end_s;
};

static void see_job(void *state, const struct sim_job_row *row)
{
    struct life *life = state;
    *life = (struct life){ sim_time_s(row->start_ns), sim_time_s(row->end_ns) };
}

static struct sim_run_summary *run(const char *cluster, const char *jobs, const char *job,
                                   struct life *life)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 2000 s\n"
                   "cluster:\n  nodes:\n    - {name: n, cpus: 64, gpus: {h100: 4}}\n%s"
                   "jobs:\n  - name: w\n%s    classes: [{name: a, count: 1, %s}]\n",
                   cluster, jobs, job);
    *life = (struct life){ (double)NAN, (double)NAN };
    const struct sim_observer observer = { .job = see_job, .state = life };
    return test_watch_text(text, &observer);
}

#define FAILING "  failures: {node_between: const(100 s), node_repair: const(10 s)}\n"

/* One GPU; several of one place; several places: what a run is made of differs. */
static const char *const shapes[] = { "request: {gpus: 1}", "request: {gpus: 4}",
                                      "members: 4, request: {gpus: 1}" };
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void job_text(char text[200], const char *run_time, size_t shape)
{
    (void)snprintf(text, 200, "run_time: %s, %s", run_time, shapes[shape]);
}

static void a_job_holds_its_devices_before_it_works(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct life life;
        char job[200];
        job_text(job, "40 s", i);
        struct sim_run_summary *summary = run("", "    start_latency: 15 s\n", job, &life);
        CHECK_NEAR(life.start_s, 0, 0);
        CHECK_NEAR(life.end_s, 55, 0);
        CHECK_NEAR(test_value(summary, "goodput.frac", ""), 40.0 / 55, 1e-12);
        free(summary);
    }
}

/* 95 s of work, saved after 30, 60 and 90 s of it for 2 s each. */
static void every_interval_of_work_costs_a_checkpoint(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct life life;
        char job[200];
        job_text(job, "95 s", i);
        struct sim_run_summary *summary =
            run("", "    checkpoint: {interval: 30 s, cost: 2 s}\n", job, &life);
        CHECK_NEAR(life.end_s, 95 + 3 * 2, 0);
        CHECK_NEAR(test_value(summary, "jobs.saves", ""), 3, 0);
        free(summary);
    }
}

/* 90 s saved at 96 s, 4 s lost at 100 s; from 110 s on 5 s to restart, then the other 60 s with two
 * more checkpoints, of which the second would come with the end. */
static void a_lost_job_goes_on_from_its_last_checkpoint(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct life life;
        char job[200];
        job_text(job, "150 s", i);
        struct sim_run_summary *summary =
            run(FAILING, "    checkpoint: {interval: 30 s, cost: 2 s, restart: 5 s}\n", job, &life);
        CHECK_NEAR(life.start_s, 110, 0);
        CHECK_NEAR(life.end_s, 110 + 5 + 60 + 2, 0);
        CHECK_NEAR(test_value(summary, "jobs.lost_s", ""), 4, 1e-9);
        CHECK_NEAR(test_value(summary, "goodput.frac", ""), 150.0 / (100 + 67), 1e-9);
        free(summary);
    }
}

/* 31 s of each interval: at 100 s the fourth checkpoint is being written, which began at 99 s; its
 * 31 s are lost with it, as are the 6 s after one. */
static void a_checkpoint_that_is_not_written_is_none(void)
{
    struct life life;
    struct sim_run_summary *summary = run(FAILING, "    checkpoint: {interval: 31 s, cost: 3 s}\n",
                                          "run_time: 100 s, request: {gpus: 1}", &life);
    /* 31, 65 and 99 s: two are kept, 62 s. From 110 s on 38 s are left, and one is written. */
    CHECK_NEAR(life.end_s, 110 + 38 + 3, 0);
    CHECK_NEAR(test_value(summary, "jobs.lost_s", ""), 31, 1e-9);
    free(summary);
}

static void without_checkpoints_a_lost_job_begins_anew(void)
{
    struct life life;
    free(run(FAILING, "", "run_time: 95 s, at: 20 s, request: {gpus: 1}", &life));
    CHECK_NEAR(life.end_s, 110 + 95, 0);
}

/* Work is counted where it is done: the slow half of the node's time saves half as much. */
static void what_is_saved_is_work_and_not_time(void)
{
    struct life life;
    free(run(FAILING "timeline: [{at: 0 s, action: node_slow, node: n, factor: 2, for: 105 s}]\n",
             "    checkpoint: 80 s\n", "run_time: 100 s, request: {gpus: 1}", &life));
    CHECK_NEAR(life.end_s, 110 + 60, 1e-8); /* 40 s of work were saved at 80 s */
}

/* Values of Young's, Daly's and Saxena's rules worked out apart from the program.
 * covers: S1.109 */
static void rules_give_the_published_intervals(void)
{
    static const struct {
        double cost_s, restart_s, mtbf_s, young_s, daly_s, best_s, day_s;
    } cases[] = { { 60, 60, 86400, 3219.938, 3180.062, 3180.063, 89763.90 },
                  { 300, 300, 21600, 3600, 3402.778, 3402.840, 103991.00 },
                  { 30, 60, 3600, 464.758, 444.973, 444.977, 100242.51 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_NEAR(sim_checkpoint_interval_s(SIM_CHECKPOINT_YOUNG, cases[i].cost_s,
                                             cases[i].restart_s, cases[i].mtbf_s),
                   cases[i].young_s, 5e-4);
        CHECK_NEAR(sim_checkpoint_interval_s(SIM_CHECKPOINT_DALY, cases[i].cost_s,
                                             cases[i].restart_s, cases[i].mtbf_s),
                   cases[i].daly_s, 5e-4);
        const double best_s = sim_checkpoint_interval_s(SIM_CHECKPOINT_OPTIMUM, cases[i].cost_s,
                                                        cases[i].restart_s, cases[i].mtbf_s);
        CHECK_NEAR(best_s, cases[i].best_s, 5e-4);
        /* and so long does a day of work take then */
        CHECK_NEAR(cases[i].mtbf_s * exp(cases[i].restart_s / cases[i].mtbf_s) *
                       expm1((best_s + cases[i].cost_s) / cases[i].mtbf_s) * 86400 / best_s,
                   cases[i].day_s, 5e-3);
    }
    CHECK_NEAR(sim_checkpoint_interval_s(SIM_CHECKPOINT_YOUNG, 30, 600, 11135), 817.37, 0.01);
    CHECK_NEAR(sim_checkpoint_interval_s(SIM_CHECKPOINT_SAXENA, 30, 600, 11135), 869.64, 0.01);
    /* failures come faster than checkpoints */
    CHECK_NEAR(sim_checkpoint_interval_s(SIM_CHECKPOINT_DALY, 100, 0, 40), 40, 0);
}

static double interval_s(const char *cluster, const char *checkpoint, const char *job)
{
    struct life life;
    char text[300];
    (void)snprintf(text, sizeof text, "    checkpoint: {%s}\n", checkpoint);
    struct sim_run_summary *summary = run(cluster, text, job, &life);
    const double found_s = test_value(summary, "jobs.save_interval", "");
    free(summary);
    return found_s;
}

/* sqrt(2 x 2 s x M): M of the job by hand, of one node, of its GPUs, of two nodes with half the
 * time each; the interval of half the time is 1 / sqrt(2) of it.
 * covers: S1.105 */
static void the_interval_follows_what_the_job_stands_on(void)
{
    static const char one[] = "run_time: 10 s, request: {gpus: 4}";
    static const char young[] = "rule: young, cost: 2 s";
    const double whole_s = interval_s("  failures: {node_between: exp(5000 s)}\n", young, one);
    CHECK_NEAR(interval_s("", "rule: young, cost: 2 s, mtbf: 2500 s", one), 100, 1e-9);
    CHECK_NEAR(whole_s, sqrt(20000), 1e-9);
    CHECK_NEAR(interval_s("  failures: {node_between: exp(2500 s)}\n", young, one) / whole_s,
               sqrt(0.5), 1e-9);
    CHECK_NEAR(interval_s("  failures: {gpu_between: exp(10000 s)}\n", young, one), 100, 1e-9);
    CHECK_NEAR(interval_s("    - {name: m, cpus: 64, gpus: {h100: 4}}\n"
                          "  failures: {node_between: exp(5000 s), gpu_between: exp(40000 s)}\n",
                          young, "members: 2, run_time: 10 s, request: {gpus: 4}"),
               sqrt(4 / (2 / 5000.0 + 8 / 40000.0)), 1e-9);
}

#define STORE "  stores: {ps: {bandwidth: 20 GB/s}}\n"

/* 200 GB take 10 s at 20 GB/s, on top of 2 s; the cost of the rule is both. Lost at 100 s, it reads
 * them again. */
static void bytes_of_a_checkpoint_go_to_a_store_and_come_back(void)
{
    struct life life;
    free(run(STORE, "    checkpoint: {interval: 30 s, cost: 2 s, bytes: 200 GB, store: ps}\n",
             "run_time: 95 s, request: {gpus: 4}", &life));
    CHECK_NEAR(life.end_s, 95 + 3 * 12, 1e-6);
    struct sim_run_summary *summary =
        run(STORE FAILING,
            "    checkpoint: {interval: 30 s, cost: 2 s, restart: 5 s, bytes: 200 GB, store: ps}\n",
            "run_time: 95 s, request: {gpus: 4}", &life);
    /* kept at 42 and 84 s: 60 s; from 110 s on 5 s, 10 s to read, 35 s and one checkpoint */
    CHECK_NEAR(life.end_s, 110 + 5 + 10 + 35 + 12, 1e-6);
    CHECK_NEAR(test_value(summary, "jobs.lost_s", ""), 16, 1e-6);
    CHECK_NEAR(test_value(summary, "store.write_bytes", ""), 3 * 200e9, 1);
    CHECK_NEAR(test_value(summary, "store.read_bytes", ""), 200e9, 1);
    free(summary);
    CHECK_NEAR(interval_s(STORE, "rule: young, mtbf: 500 s, bytes: 200 GB, store: ps",
                          "run_time: 10 s, request: {gpus: 4}"),
               100, 1e-9);
}

struct ends {
    double first_s, last_s, sum_s;
    uint32_t count;
};

static void see_end(void *state, const struct sim_job_row *row)
{
    struct ends *ends = state;
    const double end_s = sim_time_s(row->end_ns);
    if (row->end_ns < 0)
        return; /* it still runs or waits */
    ends->first_s = ends->count == 0 ? end_s : fmin(ends->first_s, end_s);
    ends->last_s = fmax(ends->last_s, end_s);
    ends->sum_s += end_s;
    ends->count++;
}

/* Sixteen jobs of one GPU, each with one checkpoint of 200 GB in its 5 400 s of work. */
static struct ends sixteen(const char *node, const char *more)
{
    char text[1000];
    struct ends ends = { 0 };
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\nhorizon: 30000 s\n"
                   "cluster:\n  nodes: [{name: n, count: 16, cpus: 8, gpus: {h100: 1}%s}]\n" STORE
                   "jobs:\n  - name: w\n"
                   "    checkpoint: {interval: 3600 s, bytes: 200 GB, store: ps%s}\n"
                   "    classes: [{name: a, count: 16, run_time: 5400 s, request: {gpus: 1}}]\n",
                   node, more);
    const struct sim_observer observer = { .job = see_end, .state = &ends };
    free(test_watch_text(text, &observer));
    return ends;
}

/* Together each takes 160 s. In turns, and spread over the hour, each takes 10 s: those before
 * 1 800 s of work fit a second one.
 * covers: S1.121 */
static void jobs_that_take_turns_do_not_wait_for_the_store(void)
{
    const struct ends together = sixteen("", "");
    const struct ends staggered = sixteen("", ", writers: 1");
    CHECK_I64(together.count, 16);
    CHECK_NEAR(together.first_s, 5400 + 160, 1e-5);
    CHECK_NEAR(together.last_s, 5400 + 160, 1e-5);
    CHECK_I64(staggered.count, 16);
    CHECK_NEAR(staggered.first_s, 5400 + 10, 1e-5);
    CHECK_NEAR(staggered.last_s, 5400 + 20, 1e-5);
    CHECK_NEAR(staggered.sum_s, 16 * 5400 + (9 + 7 * 2) * 10, 1e-4);
}

/* No node sends more than 5 GB/s, so that four write at a time: together it takes 160 s as before,
 * in turns each has the whole of its link, 40 s. Phases are 225 s apart. */
static void four_that_are_held_up_by_their_links_write_at_a_time(void)
{
    const struct ends together = sixteen(", nic: 5 GB/s", "");
    const struct ends staggered = sixteen(", nic: 5 GB/s", ", writers: 4");
    CHECK_I64(together.count, 16);
    CHECK_NEAR(together.first_s, 5400 + 160, 1e-5);
    CHECK_NEAR(together.last_s, 5400 + 160, 1e-5);
    CHECK_I64(staggered.count, 16);
    CHECK_NEAR(staggered.first_s, 5400 + 40, 1e-5);
    CHECK_NEAR(staggered.last_s, 5400 + 80, 1e-5);
    CHECK_NEAR(staggered.sum_s, 16 * 5400 + (9 + 7 * 2) * 40, 1e-4);
}

/* Two jobs that are due together: the second works on until the first has written, so that it has
 * 10 s less to do afterwards and both end at the same time; with two turns they share the store. */
static void who_has_no_turn_works_on(void)
{
    static const char text[] =
        "schema: 2\nname: t\nhorizon: 2000 s\n"
        "cluster:\n  nodes: [{name: n, count: 3, cpus: 8, gpus: {h100: 1}}]\n" STORE
        "jobs:\n  - name: w\n    checkpoint: {interval: 100 s, bytes: 200 GB, store: ps, writers: "
        "%d}\n"
        "    classes:\n"
        "      - {name: a, count: 1, run_time: 195 s, request: {gpus: 1}}\n"
        "      - {name: b, count: 1, at: 50 s, run_time: 145 s, request: {gpus: 1}}\n";
    for (int writers = 1; writers <= 2; writers++) {
        char filled[1000];
        struct ends ends = { 0 };
        const struct sim_observer observer = { .job = see_end, .state = &ends };
        (void)snprintf(filled, sizeof filled, text, writers);
        free(test_watch_text(filled, &observer));
        /* due at 100 s: a after 100 s of work, b, the second start, after 50 s */
        CHECK_I64(ends.count, 2);
        CHECK_NEAR(ends.first_s, writers == 1 ? 205 : 215, 1e-6);
        CHECK_NEAR(ends.last_s, writers == 1 ? 205 : 215, 1e-6);
    }
}

/* The node of the first, which writes from 100 to 110 s, is lost at 105 s: the second, due since
 * 100 s, has the turn from then on. */
static void who_is_lost_gives_back_his_turn(void)
{
    struct ends ends = { 0 };
    const struct sim_observer observer = { .job = see_end, .state = &ends };
    free(test_watch_text(
        "schema: 2\nname: t\nhorizon: 300 s\n"
        "cluster:\n  nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 1}}]\n" STORE
        "timeline: [{at: 105 s, action: node_down, node: n-0}]\n"
        "jobs:\n  - name: w\n    checkpoint: {interval: 100 s, bytes: 200 GB, store: ps, writers: "
        "1}\n"
        "    classes:\n"
        "      - {name: a, count: 1, run_time: 195 s, request: {gpus: 1}}\n"
        "      - {name: b, count: 1, at: 50 s, run_time: 145 s, request: {gpus: 1}}\n",
        &observer));
    CHECK_I64(ends.count, 1);
    CHECK_NEAR(ends.first_s, 205, 1e-6);
}

static const struct test tests[] = {
    { "who is lost gives back his turn", who_is_lost_gives_back_his_turn },
    { "rules give the published intervals", rules_give_the_published_intervals },
    { "the interval follows what the job stands on", the_interval_follows_what_the_job_stands_on },
    { "bytes of a checkpoint go to a store and come back",
      bytes_of_a_checkpoint_go_to_a_store_and_come_back },
    { "jobs that take turns do not wait for the store",
      jobs_that_take_turns_do_not_wait_for_the_store },
    { "four that are held up by their links write at a time",
      four_that_are_held_up_by_their_links_write_at_a_time },
    { "who has no turn works on", who_has_no_turn_works_on },
    { "a job holds its devices before it works", a_job_holds_its_devices_before_it_works },
    { "every interval of work costs a checkpoint", every_interval_of_work_costs_a_checkpoint },
    { "a lost job goes on from its last checkpoint", a_lost_job_goes_on_from_its_last_checkpoint },
    { "a checkpoint that is not written is none", a_checkpoint_that_is_not_written_is_none },
    { "without checkpoints a lost job begins anew", without_checkpoints_a_lost_job_begins_anew },
    { "what is saved is work and not time", what_is_saved_is_work_and_not_time },
};
TEST_MAIN(tests)
