/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What links, memory and GPUs gave over time: samples of a run add up to its totals, never exceed
 * what there is, and are there only where the scenario has such a thing.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct ran {
    char path[32];
    struct sim_run_summary *summary;
};

static struct ran run(const char *text, const char *sets)
{
    struct ran ran = { "/tmp/weir-series-XXXXXX", test_summary() };
    struct sim_scenario *scenario = test_scenario(text, sets);
    struct sim_run_options options = { .seed = 42,
                                       .variant = "test",
                                       .experiment_id = 1,
                                       .run_id = 1,
                                       .check_always = true,
                                       .export_at_s = (double)NAN,
                                       .listen = test_listen,
                                       .listener = ran.summary };
    (void)close(mkstemp(ran.path)); /* an empty file may be taken over */
    CHECK_I64(sim_recorder_open(ran.path, false, &options.recorder, NULL), WEIR_OK);
    CHECK(scenario != NULL);
    if (scenario != NULL)
        CHECK_I64(sim_run(scenario, &options, ran.summary), WEIR_OK);
    CHECK_I64(sim_recorder_close(options.recorder, NULL), WEIR_OK);
    sim_scenario_destroy(scenario);
    return ran;
}

static void finish(struct ran *ran)
{
    (void)unlink(ran->path);
    free(ran->summary);
}

/* The number that a query gives; NAN = it gives none. */
static double ask(const struct ran *ran, const char *sql)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *row = NULL;
    double value = (double)NAN;
    if (sqlite3_open(ran->path, &database) == SQLITE_OK &&
        sqlite3_prepare_v2(database, sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW && sqlite3_column_type(row, 0) != SQLITE_NULL)
        value = sqlite3_column_double(row, 0);
    else
        printf("    %s: %s\n", sql, sqlite3_errmsg(database));
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(database);
    return value;
}

static double result(const struct ran *ran, const char *metric, const char *label)
{
    return test_value(ran->summary, metric, label);
}

/* ---- links ---- */

/* 10 items of 1 GB are read from a store, handed on to another rack, and written to the store. */
static const char TWO_RACKS[] =
    "schema: 2\nname: t\nmetrics: {sample: 3 s}\n"
    "cluster:\n"
    "  nodes:\n"
    "    - {name: a, cpus: 1, nic: 500 MB/s}\n"
    "    - {name: b, cpus: 1, gpus: {h100: 1}, nic: 2 GB/s}\n"
    "  racks: {nodes: 1, uplink: 400 MB/s}\n"
    "  stores: {s: {bandwidth: 1 GB/s}}\n"
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
    "pipelines:\n"
    "  - name: p\n    semantics: event\n    backpressure: none\n"
    "    input: {items: 10, bytes_per_item: 1 GB, store: s}\n"
    "    stages:\n"
    "      - {name: x, cpus: 1, workers: 1, service: 1 s, bytes_out: 1 GB}\n"
    "      - {name: y, gpus: 1, workers: 1, service: 1 s}\n";

static void what_links_delivered_adds_up_to_the_bytes_that_moved(void)
{
    struct ran ran = run(TWO_RACKS, NULL);
    const double read = result(&ran, "store.read_bytes", "");
    const double between = result(&ran, "net.bytes", "");
    CHECK_NEAR(read, 10e9, 0);
    CHECK_NEAR(between, 10e9, 0);
    static const char *const names[] = { "s",         "a in",       "a out",    "b in",
                                         "rack 0 in", "rack 0 out", "rack 1 in" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char sql[200];
        (void)snprintf(sql, sizeof sql,
                       "SELECT sum(delivered_bytes_per_s * dt_s) FROM v_link WHERE link_name = "
                       "'%s'",
                       names[i]);
        CHECK_NEAR(ask(&ran, sql), 10e9, 10);
    }
    CHECK_NEAR(ask(&ran, "SELECT count(DISTINCT link_name) FROM v_link"), 7, 0);
    CHECK(ask(&ran, "SELECT max(use) FROM v_link") <= 1 + 1e-9);
    /* The same bytes, over 400 MB/s and 1 GB/s. */
    CHECK_NEAR(ask(&ran, "SELECT max(a.use / b.use) FROM v_link a JOIN v_link b USING (t_s) WHERE "
                         "a.link_name = 'rack 0 in' AND b.link_name = 's' AND b.use > 0"),
               2.5, 1e-6);
    CHECK_NEAR(ask(&ran, "SELECT capacity_bytes_per_s FROM v_link WHERE link_name = 'a out'"),
               500e6, 1);
    finish(&ran);
}

static void every_link_has_all_of_the_run_and_its_use_is_the_mean(void)
{
    struct ran ran = run(TWO_RACKS, NULL);
    const double end_s = ask(&ran, "SELECT end_s FROM run");
    CHECK_NEAR(ask(&ran, "SELECT max(abs(x)) FROM (SELECT sum(dt_s) - (SELECT end_s FROM run) AS x "
                         "FROM link_sample GROUP BY link)"),
               0, 1e-9);
    /* Nothing leaves the first node before its first task ends: one row for all before. */
    CHECK_NEAR(ask(&ran, "SELECT min(delivered_bytes_per_s) FROM v_link WHERE link_name = 'b in'"
                         " AND t_s = 0 AND dt_s >= 3"),
               0, 0);
    CHECK(end_s > 20);
    CHECK_NEAR(ask(&ran, "SELECT count(*) FROM result x WHERE metric = 'link.use' AND abs(value - "
                         "(SELECT sum(use * dt_s) / sum(dt_s) FROM v_link WHERE link_name = "
                         "x.label)) < 1e-9"),
               7, 0);
    CHECK_NEAR(result(&ran, "store.use", "s"), result(&ran, "link.use", "s"), 0);
    finish(&ran);
}

/* A store at a quarter for two of three seconds, an interface that is out for one of three. */
static void what_a_link_could_give_is_less_while_it_is_slow_or_out(void)
{
    char text[1200];
    (void)snprintf(text, sizeof text,
                   "%stimeline:\n"
                   "  - {at: 4 s, action: store_slow, store: s, factor: 4, for: 2 s}\n"
                   "  - {at: 7 s, action: nic_down, node: a, for: 1 s}\n",
                   TWO_RACKS);
    struct ran ran = run(text, NULL);
    static const struct {
        const char *sql;
        double bytes_per_s;
    } cases[] = { { "link_name = 's' AND t_s = 0", 1e9 },
                  { "link_name = 's' AND t_s = 3", 0.5e9 },
                  { "link_name = 's' AND t_s = 6", 1e9 },
                  { "link_name = 'a in' AND t_s = 3", 500e6 },
                  { "link_name = 'a in' AND t_s = 6", 1e9 / 3 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sql[200];
        (void)snprintf(sql, sizeof sql, "SELECT capacity_bytes_per_s FROM v_link WHERE %s",
                       cases[i].sql);
        CHECK_NEAR(ask(&ran, sql), cases[i].bytes_per_s, 1);
    }
    CHECK(ask(&ran, "SELECT max(use) FROM v_link") <= 1 + 1e-9);
    finish(&ran);
}

static void what_a_scenario_has_not_has_no_rows(void)
{
    struct ran ran =
        run("schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 4, ram: 8 GB, gpus: "
            "{h100: 1}}]}\njobs: [{name: w, run_time: 100 s, classes: [{name: a, "
            "count: 1, request: {gpus: 1}}]}]\n",
            NULL);
    CHECK_NEAR(ask(&ran,
                   "SELECT (SELECT count(*) FROM link) + (SELECT count(*) FROM link_sample) + "
                   "(SELECT count(*) FROM memory_sample) + (SELECT count(*) FROM "
                   "power_sample)"),
               0, 0);
    CHECK(ask(&ran, "SELECT count(*) FROM v_node") > 10);
    finish(&ran);
}

/* ---- memory ---- */

static void memory_in_use_adds_up_and_keeps_the_limit(void)
{
    struct ran ran = run("scenarios/physics/memory.yaml",
                         "pipelines[1].backpressure=none pipelines[0].stages[0].ram=4GB "
                         "pipelines[0].stages[0].workers=22 horizon=20min");
    CHECK(result(&ran, "oom.host.count", "") > 0);
    CHECK(result(&ran, "store.spill_bytes", "") > 0);
    CHECK_NEAR(ask(&ran, "SELECT sum(spilled_bytes) FROM memory_sample"),
               result(&ran, "store.spill_bytes", ""), 1);
    CHECK_NEAR(ask(&ran, "SELECT sum(in_use_bytes * dt_s) / 1200 FROM memory_sample"),
               result(&ran, "mem.ram.mean", ""), 1);
    CHECK_NEAR(
        ask(&ran, "SELECT sum(in_use_bytes * dt_s) / 1200 FROM memory_sample WHERE node = 1"),
        result(&ran, "mem.ram.mean", "n-1"), 1);
    CHECK_NEAR(ask(&ran, "SELECT max(in_use_max_bytes) FROM memory_sample"),
               result(&ran, "mem.ram.max", ""), 0);
    CHECK_NEAR(ask(&ran, "SELECT max(in_use_max_bytes) FROM memory_sample WHERE node = 1"),
               result(&ran, "mem.ram.max", "n-1"), 0);
    CHECK_NEAR(ask(&ran, "SELECT min(ram_limit_bytes) FROM v_node"), 64e9, 0);
    /* Who goes beyond the limit dies in the same event: that lasts for no time. */
    CHECK_NEAR(ask(&ran, "SELECT count(*) FROM v_node WHERE ram_in_use_max_bytes > ram_limit_bytes"
                         " OR ram_in_use_bytes > ram_in_use_max_bytes + 1"),
               0, 0);
    finish(&ran);
}

/* ---- GPUs ---- */

/* 8 x 405 s of compute, 4 kW from 100 s to 402.5 s (see scenarios/physics/power.yaml). */
static void power_and_compute_of_gpus_add_up(void)
{
    struct ran ran = run("scenarios/physics/power.yaml",
                         "timeline=[{\"at\":100s,\"action\":power_cap,\"node\":dgx,\"cap\":4kW,"
                         "\"for\":302.5s}]");
    CHECK_NEAR(ask(&ran, "SELECT sum(gpu_power_w * dt_s) / 3.6e6 FROM power_sample"),
               result(&ran, "energy.gpu_kwh", ""), 1e-9);
    CHECK_NEAR(ask(&ran, "SELECT sum(gpu_delivered * dt_s) FROM power_sample"), 8 * 405, 1e-6);
    CHECK_NEAR(ask(&ran, "SELECT sum(gpu_computing * dt_s) FROM power_sample"), 8 * 505, 1e-6);
    CHECK_NEAR(result(&ran, "gpu.throttle", ""), 405.0 / 505, 1e-9);
    /* Active is time, not clock cycles: throttled to 0.67 all eight are active to the end. */
    CHECK_NEAR(result(&ran, "util.gpu.active", ""), 1, 1e-9);
    CHECK_NEAR(result(&ran, "makespan", ""), 505, 1e-6);
    CHECK_NEAR(ask(&ran, "SELECT max(abs(p.gpu_computing - n.gpu_active)) FROM power_sample p JOIN "
                         "node_sample n USING (run_id, node, t_s)"),
               0, 1e-9);
    /* In force in whole intervals between its ends, named in those that it touches. */
    CHECK_NEAR(ask(&ran,
                   "SELECT max(gpu_power_w) FROM power_sample WHERE t_s >= 100 AND t_s + dt_s "
                   "<= 402.5"),
               4000, 1e-6);
    CHECK_NEAR(ask(&ran, "SELECT sum(t_s + dt_s > 100 AND t_s < 402.5) - count(cap_w) FROM "
                         "power_sample"),
               0, 0);
    CHECK_NEAR(ask(&ran, "SELECT min(gpu_throttle) FROM v_node"), 405.0 / 605, 1e-9);
    CHECK_NEAR(ask(&ran, "SELECT max(gpu_throttle) FROM v_node"), 1, 0);
    finish(&ran);
}

/* 700 W go to 75 degrees: T = 75 - 38.893 exp(-t / 60) from 36.107, where idle 95 W keep it. */
static void temperatures_are_the_highest_of_their_interval(void)
{
    struct ran ran = run("scenarios/physics/power.yaml",
                         "cluster.nodes.dgx.thermal={\"ambient\":30,\"rise\":45,\"limit\":90,"
                         "\"tau\":60s} metrics.sample=100s");
    const double from_c = 30 + 45.0 * 95 / 700;
    CHECK_NEAR(ask(&ran, "SELECT temperature_max_c FROM power_sample WHERE t_s = 0"),
               75 - (75 - from_c) * exp(-100.0 / 60), 1e-9);
    CHECK_NEAR(ask(&ran, "SELECT max(temperature_max_c) FROM power_sample"),
               result(&ran, "gpu.temperature.max", ""), 0);
    CHECK_NEAR(result(&ran, "gpu.temperature.max", ""), 75 - (75 - from_c) * exp(-405.0 / 60),
               1e-6);
    finish(&ran);
}

/* covers: S1.67 */
/* 60 s of compute in turns of 100 ms are 600 turns: two such jobs switch 1 200 times. A third
 * alone on its GPU never switches. Beside a longer job 600 of each until the short one has ended.
 */
static void turns_are_switched_as_often_as_they_are_had(void)
{
    static const char form[] =
        "schema: 2\nname: t\n"
        "cluster: {nodes: [{name: n, cpus: 16, gpus: {h100: %d}, share: timeslice, timeslice: "
        "{quantum: 100 ms, switch: 5 ms}}]}\n"
        "jobs:\n  - name: w\n    classes:\n"
        "      - {name: a, count: 1, run_time: 60 s, request: {cpus: 1, gpus: 0.5}}\n"
        "      - {name: b, count: 1, run_time: %d s, request: {cpus: 1, gpus: 0.5}}\n";
    static const struct {
        int gpus, other_s;
        const char *sets;
        double switches;
    } cases[] = { { 1, 60, NULL, 1200 },
                  { 1, 200, NULL, 1200 },
                  { 1, 30, NULL, 600 },
                  { 2, 60, "sched.placement=worst_fit", 0 },
                  { 1, 60, "cluster.nodes.n.timeslice.quantum=200ms", 600 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        (void)snprintf(text, sizeof text, form, cases[i].gpus, cases[i].other_s);
        struct ran ran = run(text, cases[i].sets);
        CHECK_NEAR(result(&ran, "timeslice.switches", ""), cases[i].switches, 1e-3);
        finish(&ran);
    }
}

/* Items that come and go at the very instants of samples: as with windows the later interval has
 * them, but for what happens when the run is over. */
static void what_ends_when_a_sample_is_due_is_of_the_next(void)
{
    static const char text[] = "schema: 2\nname: t\nmetrics: {sample: 10 s}\n"
                               "cluster: {nodes: [{name: n, cpus: 4}]}\n"
                               "pipelines: [{name: p, input: {items: 8, arrivals: const(10 s)},"
                               " stages: [{name: a, cpus: 1, workers: 1, service: const(10 s)}]}]\n"
                               "windows: {early: '0 s..40 s'}\n";
    struct ran ran = run(text, NULL);
    CHECK_NEAR(ask(&ran, "SELECT total(items_arrived) FROM cluster_sample"), 8, 1e-9);
    CHECK_NEAR(ask(&ran, "SELECT total(items_done) FROM cluster_sample"), 8, 1e-9);
    CHECK_NEAR(ask(&ran, "SELECT total(tasks_done) FROM stage_sample"), 8, 1e-9);
    CHECK_NEAR(ask(&ran, "SELECT total(items_done) FROM cluster_sample WHERE t_s < 40 - 1e-6"),
               40 * result(&ran, "thr.pipeline@early", ""), 1e-9);
    CHECK_NEAR(ask(&ran, "SELECT total(tasks_done) FROM stage_sample WHERE t_s < 40 - 1e-6"),
               40 * result(&ran, "thr.pipeline@early", ""), 1e-9);
    CHECK_NEAR(ask(&ran, "SELECT max(items_done) FROM cluster_sample WHERE t_s < 15"), 0, 1e-9);
    finish(&ran);
}

static const struct test tests[] = {
    { "what ends when a sample is due is of the next",
      what_ends_when_a_sample_is_due_is_of_the_next },
    { "what links delivered adds up to the bytes that moved",
      what_links_delivered_adds_up_to_the_bytes_that_moved },
    { "every link has all of the run, and its use is the mean",
      every_link_has_all_of_the_run_and_its_use_is_the_mean },
    { "what a link could give is less while it is slow or out",
      what_a_link_could_give_is_less_while_it_is_slow_or_out },
    { "what a scenario has not has no rows", what_a_scenario_has_not_has_no_rows },
    { "memory in use adds up and keeps the limit", memory_in_use_adds_up_and_keeps_the_limit },
    { "power and compute of GPUs add up", power_and_compute_of_gpus_add_up },
    { "temperatures are the highest of their interval",
      temperatures_are_the_highest_of_their_interval },
    { "turns are switched as often as they are had", turns_are_switched_as_often_as_they_are_had },
};
TEST_MAIN(tests)
