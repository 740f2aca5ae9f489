/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a point of an experiment costs beyond its simulation: CPU time of the program and of all its
 * processes, without what the runs report of themselves, between 20 and 220 short runs, so that
 * what comes once is left out. Of the pool alone (`weir run -n`), and with the table of each point
 * (`weir compare --axis`). The least of five times. Fails when the pool takes 5 ms of a point.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW = 20, MANY = 220, TIMES = 5, MOST_MS = 5 };

static const char scenario[] = "points.yaml";
static const char database[] = "points.db";

static void require(int holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "points: %s\n", what);
    exit(EXIT_FAILURE);
}

static void write_scenario(void)
{
    FILE *out = fopen(scenario, "w");
    require(out != NULL, "cannot write its scenario");
    (void)fputs("schema: 2\nname: points\nhorizon: 1 h\nmetrics: {keep: results}\n"
                "cluster: {nodes: [{name: n, count: 2, cpus: 2, gpus: {h100: 1}}]}\n"
                "jobs:\n  - name: work\n    arrivals: {process: poisson, rate: 0.3/min}\n"
                "    classes:\n      - {name: one, run_time: exp(20 min), request: {cpus: 1}}\n",
                out);
    require(fclose(out) == 0, "cannot write its scenario");
}

/* What all its runs took, as they say. */
static double simulated_s(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    require(sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(db, "SELECT sum(cpu_s) FROM run_wall", -1, &row, NULL) ==
                    SQLITE_OK &&
                sqlite3_step(row) == SQLITE_ROW,
            "cannot read its results");
    const double cpu_s = sqlite3_column_double(row, 0);
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return cpu_s;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double overhead_s(const char *program, const char *verb, const char *option,
                         const char *points)
{
    struct rusage usage;
    int state = 0;
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        require(freopen("/dev/null", "w", stdout) != NULL, "cannot be silent");
        (void)execl(program, program, verb, scenario, "--quiet", "--force", "-j", "1", "-o",
                    database, option, points, (char *)NULL);
        _exit(127);
    }
    require(pid > 0 && wait4(pid, &state, 0, &usage) == pid && state == 0, "weir failed");
    return seconds(usage.ru_utime) + seconds(usage.ru_stime) - simulated_s();
}

static double point_ms(const char *program, const char *verb, const char *option,
                       const char *values)
{
    double least = HUGE_VAL;
    for (int i = 0; i < TIMES; i++) {
        double took_s[2];
        for (int k = 0; k < 2; k++) {
            char points[64];
            (void)snprintf(points, sizeof points, "%s%d", values, k == 0 ? FEW : MANY);
            took_s[k] = overhead_s(program, verb, option, points);
        }
        least = fmin(least, (took_s[1] - took_s[0]) / (MANY - FEW) * 1e3);
    }
    return least;
}

int main(void)
{
    const char *program = getenv("WEIR_BIN");
    require(program != NULL, "WEIR_BIN names no program; run it by ./dev bench");
    write_scenario();
    const double pool_ms = point_ms(program, "run", "-n", "");
    printf("%-34s %8.2f ms of CPU, at most %d\n", "a point beyond its simulation", pool_ms,
           MOST_MS);
    printf("%-34s %8.2f ms of CPU\n", "with a table of it",
           point_ms(program, "compare", "--axis", "cluster.nodes.n.count=1.."));
    (void)unlink(scenario);
    (void)unlink(database);
    return pool_ms < MOST_MS ? EXIT_SUCCESS : EXIT_FAILURE;
}
