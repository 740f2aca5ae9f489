/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a decision and a sample look like in the database.
 */
#include "sim/engine/time.h"
#include "sim/record/meter/sampling.h"
#include "sim/record/record.h"
#include "tests/support/check.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct database {
    char path[64];
    struct sim_recorder *recorder;
};

static struct database open_database(void)
{
    struct database database = { "/tmp/weir-decision-XXXXXX", NULL };
    const int file = mkstemp(database.path); /* an empty file may be taken over */
    CHECK(file >= 0);
    (void)close(file);
    const struct sim_run_row run = { .run_id = 3, .experiment_id = 1, .horizon_ns = -1 };
    CHECK_I64(sim_recorder_open(database.path, false, &database.recorder, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_run(database.recorder, &run, NULL), WEIR_OK);
    return database;
}

static void check_row(const struct database *database, const char *sql, const char *expected)
{
    sqlite3 *connection = NULL;
    sqlite3_stmt *statement = NULL;
    const char *text = "(error)";
    if (sqlite3_open(database->path, &connection) == SQLITE_OK &&
        sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(statement, 0);
    CHECK_STR(text ? text : "(null)", expected);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(connection);
}

static void close_database(const struct database *database)
{
    (void)unlink(database->path);
}

static struct weir_plan *make_plan(void)
{
    struct weir_plan *plan = NULL;
    CHECK_I64(weir_plan_create(NULL, &plan), WEIR_OK);
    weir_plan_reset(plan, 100, WEIR_EXPLAIN_TOP);
    struct weir_choice choice = { .nodes_seen = 4,
                                  .candidates = 2,
                                  .ties = 1,
                                  .primary = 0.5,
                                  .secondary = 1.5,
                                  .runner_up_node = 2,
                                  .runner_up_primary = 0.75 };
    choice.rejected[WEIR_REASON_CPU] = 1;
    choice.rejected[WEIR_REASON_NVDEC] = 2;
    const struct weir_alloc alloc = { .node = 3 };
    const struct weir_pool_note note = { .workers_before = 1,
                                         .workers_after = 2,
                                         .started = 1,
                                         .binding = WEIR_REASON_BUDGET,
                                         .speed_per_s = (double)NAN };
    CHECK_I64(
        weir_plan_start(plan, weir_pool_owner(0), weir_plan_new_worker(plan), &alloc, &choice),
        WEIR_OK);
    CHECK_I64(weir_plan_start(plan, weir_pool_owner(0), weir_plan_new_worker(plan), &alloc, NULL),
              WEIR_OK);
    CHECK_I64(weir_plan_stop(plan, weir_pool_owner(1), 7), WEIR_OK);
    CHECK_I64(weir_plan_set_slots(plan, 0, 3), WEIR_OK);
    CHECK_I64(weir_plan_deny(plan, weir_pool_owner(1), WEIR_REASON_NVDEC, NULL), WEIR_OK);
    CHECK_I64(weir_plan_note(plan, 0, &note), WEIR_OK);
    return plan;
}

static void a_decision_keeps_its_actions_with_outcomes_and_reasons(void)
{
    struct database database = open_database();
    struct weir_plan *plan = make_plan();
    const uint32_t outcomes[] = { 0, WEIR_REASON_GPU_FREE, 0, 0, 0 };
    const struct sim_decision_row row = { .decision = 5,
                                          .t_ns = 180 * SIM_NS_PER_S,
                                          .placement = "fgd",
                                          .scaling = "xenna",
                                          .status = "ok",
                                          .refused = 1,
                                          .wall_ns = 2500000,
                                          .plan = plan,
                                          .outcomes = outcomes };
    CHECK_I64(sim_recorder_decision(database.recorder, &row, 2, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(database.recorder, NULL), WEIR_OK);
    check_row(&database,
              "SELECT t_s || ' ' || started || ' ' || stopped || ' ' || denied || ' ' "
              "|| refused FROM decision",
              "180.0 1 1 1 1");
    check_row(&database, "SELECT cpu_ms FROM decision_wall WHERE run_id = 3 AND decision = 5",
              "2.5");
    check_row(&database,
              "SELECT count(*) || ' ' || max(slots) || ' ' || max(binding) || ' ' || "
              "(max(speed_per_s) IS NULL) FROM decision_stage",
              "1 3 share of the pool is used up 1");
    check_row(&database,
              "SELECT group_concat(verb || ':' || outcome) FROM (SELECT * FROM action "
              "ORDER BY seq)",
              "start:applied,start:refused: too little free on a GPU,stop:applied,"
              "set_slots:applied,deny:denied: no free NVDEC");
    check_row(&database,
              "SELECT worker || ' ' || node || ' ' || nodes_seen || ' ' || candidates "
              "|| ' ' || score || ' ' || score2 || ' ' || runner_up_node || ' ' || "
              "runner_up_score || ' ' || reasons FROM action WHERE seq = 0",
              "100 3 4 2 0.5 1.5 2 0.75 {\"too few CPUs\":1,\"no free NVDEC\":2}");
    check_row(&database,
              "SELECT reasons || (score IS NULL) || (runner_up_node IS NULL) FROM "
              "action WHERE seq = 1",
              "{}11");
    check_row(&database, "SELECT value || ' ' || (worker IS NULL) FROM action WHERE seq = 3",
              "3 1");
    weir_plan_destroy(plan);
    close_database(&database);
}

/* Job 7 is denied, with a worker of stage 1 in its way; then again; then one of its kind starts,
 * and it is denied once more. Stage 0 is denied every time. */
static void a_job_is_denied_once_until_one_of_its_kind_starts(void)
{
    struct database database = open_database();
    const struct weir_owner job = weir_job_owner(0, 7);
    const struct weir_alloc alloc = { .node = 0 };
    const uint32_t outcomes[] = { 0, 0, 0 };
    const uint32_t kinds[] = { WEIR_NO_INDEX, 1000, 1000 };
    struct weir_plan *plan = NULL;
    CHECK_I64(weir_plan_create(NULL, &plan), WEIR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        const struct sim_decision_row row = {
            .decision = i, .status = "ok", .plan = plan, .outcomes = outcomes, .kinds = kinds
        };
        const struct weir_holder holder = {
            .denied = job, .owner = weir_pool_owner(1), .worker = 41, .node = 5, .gpu = 2
        };
        weir_plan_reset(plan, 100, WEIR_EXPLAIN_COUNTS);
        CHECK_I64(weir_plan_deny(plan, weir_pool_owner(0), WEIR_REASON_CPU, NULL), WEIR_OK);
        if (i == 2)
            CHECK_I64(weir_plan_start(plan, weir_job_owner(0, 6), 100, &alloc, NULL), WEIR_OK);
        CHECK_I64(weir_plan_deny(plan, job, WEIR_REASON_GPU_FREE, NULL), WEIR_OK);
        CHECK_I64(weir_plan_holder(plan, &holder), WEIR_OK);
        CHECK_I64(sim_recorder_decision(database.recorder, &row, 2, NULL), WEIR_OK);
    }
    CHECK_I64(sim_recorder_close(database.recorder, NULL), WEIR_OK);
    check_row(&database,
              "SELECT group_concat(decision || ' ' || node || ' ' || holders, ';') FROM action "
              "WHERE verb = 'deny' AND job = 7",
              "0 5 {\"gpu\":2,\"workers\":[41]};2 5 {\"gpu\":2,\"workers\":[41]}");
    check_row(&database,
              "SELECT group_concat(decision) FROM action WHERE verb = 'deny' AND stage = 0",
              "0,1,2,3");
    check_row(&database, "SELECT sum(denied) FROM decision", "8");
    weir_plan_destroy(plan);
    close_database(&database);
}

static void a_decision_without_a_plan_is_one_row(void)
{
    struct database database = open_database();
    const struct sim_decision_row row = { .decision = 1, .status = "failed", .message = "why" };
    CHECK_I64(sim_recorder_decision(database.recorder, &row, 2, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(database.recorder, NULL), WEIR_OK);
    check_row(&database, "SELECT count(*) || message FROM decision", "1why");
    check_row(&database, "SELECT count(*) FROM action", "0");
    close_database(&database);
}

static struct sim_meter *make_meter(uint32_t node_every)
{
    const struct sim_meter_amounts node = {
        { [SIM_RESOURCE_CPU] = 4.0, [SIM_RESOURCE_GPU] = 2.0 }
    };
    struct sim_meter_stage_info stage = { .mix = 1.0, .samples_per_source = 1.0, .batch = 1 };
    stage.shape.cpu_units = WEIR_ONE;
    const struct sim_meter_config config = { .node_count = 1,
                                             .node_every = node_every,
                                             .node_capacity = &node,
                                             .stage_count = 1,
                                             .stages = &stage,
                                             .pipeline_count = 1 };
    struct sim_meter *meter = NULL;
    CHECK_I64(sim_meter_create(&config, &meter), WEIR_OK);
    return meter;
}

/* One CPU worker: set-up 0-1, busy 1-3, blocked 3-4, idle from 4 on; two items wait 2-6. */
static void samples_are_exact_means_and_add_up_to_the_result(void)
{
    struct database database = open_database();
    struct sim_meter *meter = make_meter(0);
    const struct weir_node node = { .gpu_count = 2, .cpu_free = WEIR_ONE };
    const struct weir_gpu gpus[2] = { { .units_free = WEIR_ONE }, { .units_free = WEIR_ONE / 2 } };
    const struct sim_meter_amounts one_cpu = { { 1.0 } };
    const struct sim_meter_worker worker = { .holds = &one_cpu, .uses = &one_cpu };
    sim_meter_node_free(meter, 0, 0, &node, gpus);
    sim_meter_worker_state(meter, 0, &worker, SIM_METER_GONE, SIM_METER_SETUP);
    sim_meter_worker_state(meter, SIM_NS_PER_S, &worker, SIM_METER_SETUP, SIM_METER_BUSY);
    sim_meter_item_arrived(meter, SIM_NS_PER_S, 0);
    CHECK_I64(sim_meter_sample(meter, 2 * SIM_NS_PER_S, database.recorder, NULL), WEIR_OK);
    CHECK_I64(sim_meter_sample(meter, 2 * SIM_NS_PER_S, database.recorder, NULL), WEIR_OK);
    sim_meter_queue(meter, 2 * SIM_NS_PER_S, 0, 2, 10.0);
    sim_meter_task_done(meter, 3 * SIM_NS_PER_S, 0, 2 * SIM_NS_PER_S);
    sim_meter_worker_state(meter, 3 * SIM_NS_PER_S, &worker, SIM_METER_BUSY, SIM_METER_BLOCKED);
    sim_meter_worker_state(meter, 4 * SIM_NS_PER_S, &worker, SIM_METER_BLOCKED, SIM_METER_IDLE);
    sim_meter_item_done(meter, 4 * SIM_NS_PER_S, 0, 3 * SIM_NS_PER_S, 2 * SIM_NS_PER_S, false);
    sim_meter_queue(meter, 6 * SIM_NS_PER_S, 0, 0, 0.0);
    const struct sim_meter_end end = { .end_ns = 10 * SIM_NS_PER_S, .is_complete = true };
    CHECK_I64(sim_meter_sample(meter, end.end_ns, database.recorder, NULL), WEIR_OK);
    struct sim_results out = { .recorder = database.recorder };
    CHECK_I64(sim_meter_results(meter, &end, &out), WEIR_OK);
    CHECK_I64(sim_recorder_close(database.recorder, NULL), WEIR_OK);

    check_row(&database, "SELECT group_concat(t_s || '+' || dt_s) FROM cluster_sample",
              "0.0+2.0,2.0+8.0");
    check_row(&database,
              "SELECT group_concat(cpu_active || '/' || cpu_assigned || '/' || "
              "cpu_capacity || '/' || items_arrived || '/' || items_done) FROM "
              "cluster_sample",
              "0.5/1.0/4.0/1.0/0.0,0.125/1.0/4.0/0.0/1.0");
    check_row(&database,
              "SELECT max(frag_gpu) || ' ' || max(frag_no_gpu_demand) || ' ' || "
              "max(whole_free_gpu) FROM cluster_sample",
              "1.5 1.5 1.0");
    check_row(&database, "SELECT group_concat(queue_items || '/' || queue_bytes) FROM stage_sample",
              "0.0/0.0,1.0/5.0");
    check_row(&database,
              "SELECT group_concat(workers || '=' || setup || '+' || idle || '+' || busy "
              "|| '+' || blocked || ':' || starved || ':' || tasks_done, ' ') FROM "
              "stage_sample",
              "1.0=0.5+0.0+0.5+0.0:0.0:0.0 1.0=0.0+0.75+0.125+0.125:0.5:1.0");
    check_row(&database, "SELECT group_concat(up || '/' || cpu_active) FROM node_sample",
              "1.0/0.5,1.0/0.125");
    check_row(&database,
              "SELECT abs(r.value - s.mean) < 1e-12 FROM result r, (SELECT sum(dt_s * "
              "cpu_active) / sum(dt_s * cpu_capacity) AS mean FROM cluster_sample) s "
              "WHERE r.metric = 'util.cpu.active'",
              "1");
    check_row(&database, "SELECT value FROM result WHERE metric = 'samples.count'", "2.0");
    check_row(&database, "SELECT count(*) FROM result WHERE metric LIKE 'sched.cpu%'", "0");
    check_row(&database,
              "SELECT sum(count) || ' ' || (min(low) <= 3.0 AND max(low) * 1.01 > 3.0) "
              "FROM histogram WHERE metric = 'lat.e2e'",
              "1 1");
    sim_meter_destroy(meter);
    close_database(&database);
}

/* Busy from 1 s on, five samples of a second each, three of them to a row: [0, 3) and [3, 5). */
static void of_many_nodes_samples_are_joined_as_they_come(void)
{
    struct database database = open_database();
    struct sim_meter *meter = make_meter(3);
    const struct sim_meter_amounts one_cpu = { { 1.0 } };
    const struct sim_meter_worker worker = { .holds = &one_cpu, .uses = &one_cpu };
    sim_meter_worker_state(meter, SIM_NS_PER_S, &worker, SIM_METER_GONE, SIM_METER_BUSY);
    for (int64_t t = 1; t <= 5; t++)
        CHECK_I64(sim_meter_sample(meter, t * SIM_NS_PER_S, database.recorder, NULL), WEIR_OK);
    for (size_t i = 0; i < 2; i++) /* the second time nothing is left */
        CHECK_I64(sim_meter_sample_rest(meter, database.recorder, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(database.recorder, NULL), WEIR_OK);
    check_row(&database, "SELECT group_concat(cpu_active) FROM cluster_sample",
              "0.0,1.0,1.0,1.0,1.0");
    check_row(&database,
              "SELECT group_concat(t_s || '+' || dt_s || ':' || round(cpu_active, 3)) FROM "
              "node_sample",
              "0.0+3.0:0.667,3.0+2.0:1.0");
    sim_meter_destroy(meter);
    close_database(&database);
    CHECK_I64(sim_sampling_node_every(0), 1);
    CHECK_I64(sim_sampling_node_every(1310), 1);
    CHECK_I64(sim_sampling_node_every(1311), 2);
    CHECK_I64(sim_sampling_node_every(10000), 8);
}

static const struct test tests[] = {
    { "a decision keeps its actions with outcomes and reasons",
      a_decision_keeps_its_actions_with_outcomes_and_reasons },
    { "a job is denied once until one of its kind starts",
      a_job_is_denied_once_until_one_of_its_kind_starts },
    { "a decision without a plan is one row", a_decision_without_a_plan_is_one_row },
    { "samples are exact means and add up to the result",
      samples_are_exact_means_and_add_up_to_the_result },
    { "of many nodes samples are joined as they come",
      of_many_nodes_samples_are_joined_as_they_come },
};
TEST_MAIN(tests)
