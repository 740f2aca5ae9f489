/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speed of recorder and meter: CPU time, best of several repetitions.
 *
 * Recorder: sample rows of each kind into a database on disk, from open to close, indexes included
 * and excluded (rows per second of CPU; the goal is a million without indexes). The file must hold
 * exactly the rows written, or the program exits with 1.
 *
 * Meter: the calls one item of a one-stage pipeline makes, each alone and all together. The books
 * must balance at the end, or the program exits with 1.
 *
 *     recorder [--format table|json] [--quick]
 */
#include "sim/record/record.h"
#include "tests/support/clock.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 16, NODES = 16 };

struct row {
    const char *name;
    double ns; /* per row or call */
};

struct report {
    struct row rows[ROWS_MAX];
    size_t count;
};

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "recorder: %s\n", what);
    exit(EXIT_FAILURE);
}

static void add_row(struct report *report, const char *name, double ns)
{
    require(report->count < ROWS_MAX, "too many rows");
    report->rows[report->count++] = (struct row){ name, ns };
}

/* --- recorder ----------------------------------------------------------------------------- */

static const char *const tables[] = { "cluster_sample", "node_sample", "stage_sample" };
static const size_t columns[] = { 24, 8, 11 };

struct cost {
    double insert_ns, total_ns; /* per row; total with close and indexes */
};

static int64_t count_rows(const char *path, const char *table)
{
    char sql[64];
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t count = -1;
    if (sqlite3_open(path, &database) == SQLITE_OK &&
        sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(database);
    return count;
}

static struct cost measure_samples(enum sim_sample_kind kind, int64_t rows)
{
    char path[] = "/tmp/weir-bench-XXXXXX";
    const int file = mkstemp(path);
    require(file >= 0 && close(file) == 0, "no temporary file");
    struct sim_recorder *recorder = NULL;
    const struct sim_run_row run = { .run_id = 1, .experiment_id = 1, .horizon_ns = -1 };
    require(sim_recorder_open(path, true, &recorder, NULL) == WEIR_OK, "cannot open the file");
    require(sim_recorder_run(recorder, &run, NULL) == WEIR_OK, "cannot write the run");
    double values[24];
    for (size_t i = 0; i < 24; i++)
        values[i] = (double)i + 0.37;
    const double start = test_cpu_ns();
    for (int64_t r = 0; r < rows; r++) {
        values[r % 7] += 0.125;
        require(sim_recorder_sample(recorder, kind, (uint32_t)(r % NODES), (double)(r / NODES), 1.0,
                                    values, columns[kind], NULL) == WEIR_OK,
                "cannot write a sample");
    }
    const struct sim_run_end end = { .status = "complete" };
    require(sim_recorder_end_run(recorder, &end, NULL) == WEIR_OK, "cannot end the run");
    const double inserted = test_cpu_ns();
    require(sim_recorder_close(recorder, NULL) == WEIR_OK, "cannot close the file");
    const double closed = test_cpu_ns();
    require(count_rows(path, tables[kind]) == rows, "rows are missing");
    (void)unlink(path);
    return (struct cost){ (inserted - start) / (double)rows, (closed - start) / (double)rows };
}

static void measure_recorder(struct report *report, int64_t rows, int repetitions)
{
    static const char *const names[][2] = {
        { "cluster sample, 24 values", "cluster sample, with indexes" },
        { "node sample, 8 values", "node sample, with indexes" },
        { "stage sample, 11 values", "stage sample, with indexes" },
    };
    double insert_ns[3];
    for (int kind = 0; kind < 3; kind++) {
        struct cost best = { HUGE_VAL, HUGE_VAL };
        for (int i = 0; i < repetitions; i++) {
            const struct cost cost = measure_samples((enum sim_sample_kind)kind, rows);
            best.insert_ns = fmin(best.insert_ns, cost.insert_ns);
            best.total_ns = fmin(best.total_ns, cost.total_ns);
        }
        add_row(report, names[kind][0], best.insert_ns);
        add_row(report, names[kind][1], best.total_ns);
        insert_ns[kind] = best.insert_ns;
    }
    /* Every sample of the reference pipelines: one cluster, 2 nodes, 14 stages. */
    add_row(report, "row of the reference run (1:2:14)",
            (insert_ns[0] + 2 * insert_ns[1] + 14 * insert_ns[2]) / 17);
}

/* --- meter -------------------------------------------------------------------------------- */

static struct sim_meter *open_meter(void)
{
    const struct sim_meter_amounts node = {
        { [SIM_RESOURCE_CPU] = 8.0, [SIM_RESOURCE_GPU] = 2.0 }
    };
    struct sim_meter_stage_info stage = {
        .is_first = true, .is_last = true, .mix = 1.0, .samples_per_source = 1.0, .batch = 1
    };
    stage.shape.cpu_units = WEIR_ONE;
    const struct sim_meter_config config = { .node_count = 1,
                                             .node_capacity = &node,
                                             .stage_count = 1,
                                             .stages = &stage,
                                             .pipeline_count = 1 };
    struct sim_meter *meter = NULL;
    require(sim_meter_create(&config, &meter) == WEIR_OK, "no meter");
    return meter;
}

static const struct sim_meter_amounts one_cpu = { { 1.0 } };
static const struct sim_meter_worker cpu_worker = { .holds = &one_cpu, .uses = &one_cpu };

/* Everything an item reports on its way: arrival, in and out of the queue, wait, task, departure.
 */
static double measure_item(int64_t items)
{
    struct sim_meter *meter = open_meter();
    sim_meter_worker_state(meter, 0, &cpu_worker, SIM_METER_GONE, SIM_METER_IDLE);
    int64_t now = 0;
    const double start = test_cpu_ns();
    for (int64_t i = 0; i < items; i++) {
        now += 500;
        sim_meter_item_arrived(meter, now, 0);
        sim_meter_queue(meter, now, 0, 1, 100.0);
        sim_meter_wait(meter, now + 100, 0, 100);
        sim_meter_queue(meter, now + 100, 0, 0, 0.0);
        sim_meter_worker_state(meter, now + 100, &cpu_worker, SIM_METER_IDLE, SIM_METER_BUSY);
        sim_meter_task_done(meter, now + 400, 0, 300);
        sim_meter_worker_state(meter, now + 400, &cpu_worker, SIM_METER_BUSY, SIM_METER_IDLE);
        sim_meter_item_done(meter, now + 400, 0, 400, 300, false);
    }
    const double spent = test_cpu_ns() - start;
    require(sim_meter_check(meter, now + 400, 0, NULL) == WEIR_OK, "the books do not balance");
    sim_meter_destroy(meter);
    return spent / (double)items;
}

static double measure_state(int64_t calls)
{
    struct sim_meter *meter = open_meter();
    sim_meter_worker_state(meter, 0, &cpu_worker, SIM_METER_GONE, SIM_METER_IDLE);
    const double start = test_cpu_ns();
    for (int64_t i = 0; i < calls / 2; i++) {
        sim_meter_worker_state(meter, 2000 * i, &cpu_worker, SIM_METER_IDLE, SIM_METER_BUSY);
        sim_meter_worker_state(meter, 2000 * i + 1000, &cpu_worker, SIM_METER_BUSY, SIM_METER_IDLE);
    }
    const double spent = test_cpu_ns() - start;
    sim_meter_destroy(meter);
    return spent / (double)calls;
}

static double measure_queue(int64_t calls)
{
    struct sim_meter *meter = open_meter();
    const double start = test_cpu_ns();
    for (int64_t i = 0; i < calls; i++)
        sim_meter_queue(meter, 1000 * i, 0, (uint64_t)(i % 3), (double)(i % 3) * 100.0);
    const double spent = test_cpu_ns() - start;
    sim_meter_destroy(meter);
    return spent / (double)calls;
}

static double measure_wait(int64_t calls)
{
    struct sim_meter *meter = open_meter();
    const double start = test_cpu_ns();
    for (int64_t i = 0; i < calls; i++)
        sim_meter_wait(meter, 1000 * i, 0, 7 * i);
    const double spent = test_cpu_ns() - start;
    sim_meter_destroy(meter);
    return spent / (double)calls;
}

static double measure_task(int64_t calls)
{
    struct sim_meter *meter = open_meter();
    const double start = test_cpu_ns();
    for (int64_t i = 0; i < calls; i++)
        sim_meter_task_done(meter, 1000 * i, 0, 700);
    const double spent = test_cpu_ns() - start;
    sim_meter_destroy(meter);
    return spent / (double)calls;
}

/* Arrival and departure of an item. */
static double measure_flow(int64_t items)
{
    struct sim_meter *meter = open_meter();
    const double start = test_cpu_ns();
    for (int64_t i = 0; i < items; i++) {
        sim_meter_item_arrived(meter, 1000 * i, 0);
        sim_meter_item_done(meter, 1000 * i + 500, 0, 500, 300, false);
    }
    const double spent = test_cpu_ns() - start;
    sim_meter_destroy(meter);
    return spent / (double)items;
}

static void measure_meter(struct report *report, int64_t calls, int repetitions)
{
    static const struct {
        const char *name;
        double (*measure)(int64_t calls);
    } rows[] = {
        { "meter, worker_state", measure_state },
        { "meter, queue", measure_queue },
        { "meter, wait", measure_wait },
        { "meter, task_done", measure_task },
        { "meter, item_arrived and item_done", measure_flow },
        { "meter, all calls of one item", measure_item },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double best = HUGE_VAL;
        for (int r = 0; r < repetitions; r++)
            best = fmin(best, rows[i].measure(calls));
        add_row(report, rows[i].name, best);
    }
}

/* --- report ------------------------------------------------------------------------------- */

static void print_table(const struct report *report)
{
    (void)printf("%-34s %8s %12s\n", "what", "ns", "per s");
    for (size_t i = 0; i < report->count; i++)
        (void)printf("%-34s %8.1f %12.0f\n", report->rows[i].name, report->rows[i].ns,
                     1e9 / report->rows[i].ns);
}

static void print_json(const struct report *report)
{
    (void)printf("{\"schema\": 1, \"benchmark\": \"recorder\", \"rows\": [");
    for (size_t i = 0; i < report->count; i++)
        (void)printf("%s\n  {\"name\": \"%s\", \"ns\": %.2f, \"per_s\": %.0f}", i ? "," : "",
                     report->rows[i].name, report->rows[i].ns, 1e9 / report->rows[i].ns);
    (void)printf("\n]}\n");
}

int main(int count, char **arguments)
{
    bool is_json = false;
    bool is_quick = false;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--quick") == 0) {
            is_quick = true;
        } else if (strcmp(arguments[i], "--format") == 0 && i + 1 < count) {
            is_json = strcmp(arguments[++i], "json") == 0;
        } else {
            (void)fprintf(stderr, "usage: %s [--format table|json] [--quick]\n", arguments[0]);
            return 2;
        }
    }
    struct report report = { .count = 0 };
    measure_recorder(&report, is_quick ? 50000 : 500000, is_quick ? 1 : 3);
    measure_meter(&report, is_quick ? 500000 : 10000000, is_quick ? 1 : 3);
    if (is_json)
        print_json(&report);
    else
        print_table(&report);
    return EXIT_SUCCESS;
}
