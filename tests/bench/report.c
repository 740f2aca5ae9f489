/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a report costs: of 30 simulated days of two nodes and 14 stages, 2 s at most, and of four
 * minutes of 10 000 nodes, 3 s. CPU time of the program and of gnuplot, the best of three, because
 * who else is on the machine only adds; beside it the wall time and the size of the page.
 */
#include "tests/support/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3, PATH_BYTES = 4096 };

struct load {
    const char *name;
    const char *sets[3]; /* of the scenario; NULL = none */
    double most_s;
    const char *scenario; /* NULL = the reference pipeline */
};

static const struct load loads[] = {
    { "30 days of 2 nodes x 14 stages",
      { "pipelines.curation.input.items=2700000", "horizon=30 d", NULL },
      2.0,
      NULL },
    { "4 minutes of 10 000 nodes",
      { "pipelines.curation.input.items=20000000", "horizon=4 min",
        "cluster.nodes[0].count=10000" },
      3.0,
      NULL },
    { "29 days of 30 000 jobs of tenants",
      { "jobs.w.classes.single.count=30000", "horizon=700 h", "sched.queueing=fcfs" },
      4.0,
      "training/wfq" },
};

struct cost {
    double cpu_s, wall_s;
};

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* Runs weir with these words, silently; false when it fails. */
static bool run(const char *const *words, struct cost *cost)
{
    struct rusage before;
    struct rusage after;
    int state = 0;
    (void)getrusage(RUSAGE_CHILDREN, &before);
    const double start_s = test_wall_s();
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL)
            (void)execv(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &state, 0) != child)
        return false;
    (void)getrusage(RUSAGE_CHILDREN, &after);
    *cost = (struct cost){ .cpu_s = seconds(after.ru_utime) + seconds(after.ru_stime) -
                                    seconds(before.ru_utime) - seconds(before.ru_stime),
                           .wall_s = test_wall_s() - start_s };
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

static bool simulate(const char *program, const struct load *load, const char *database)
{
    char scenario[PATH_BYTES];
    const char *source = getenv("WEIR_SOURCE_DIR");
    const char *words[16] = { program, "run", "-q", "-o", database };
    size_t count = 5;
    struct cost cost;
    (void)snprintf(scenario, sizeof scenario, "%s/scenarios/%s.yaml", source == NULL ? "." : source,
                   load->scenario == NULL ? "reference/xenna_plain_n2" : load->scenario);
    for (size_t i = 0; i < 3 && load->sets[i] != NULL; i++) {
        words[count++] = "--set";
        words[count++] = load->sets[i];
    }
    words[count] = scenario;
    return run(words, &cost);
}

static bool report(const char *program, const struct load *load, const char *database,
                   const char *page)
{
    const char *const words[] = { program, "report", database, "-o", page, NULL };
    struct cost best = { (double)INFINITY, (double)INFINITY };
    struct stat file = { 0 };
    for (size_t round = 0; round < ROUNDS; round++) {
        struct cost cost;
        if (!run(words, &cost))
            return false;
        if (cost.cpu_s < best.cpu_s)
            best = cost;
    }
    (void)stat(page, &file);
    (void)printf("%-32s %6.2f s CPU %6.2f s wall %6.2f MB   %s\n", load->name, best.cpu_s,
                 best.wall_s, 1e-6 * (double)file.st_size,
                 best.cpu_s <= load->most_s ? "" : "MORE THAN ALLOWED");
    return true;
}

int main(void)
{
    const char *program = getenv("WEIR_BIN");
    char folder[] = "/tmp/weir-report-XXXXXX";
    bool is_well = program != NULL && mkdtemp(folder) != NULL;
    char database[64];
    char page[64];
    if (program == NULL)
        (void)fprintf(stderr, "bench_report: WEIR_BIN names no program; run it by ./dev bench\n");
    (void)snprintf(database, sizeof database, "%s/run.db", folder);
    (void)snprintf(page, sizeof page, "%s/run.html", folder);
    for (size_t i = 0; is_well && i < sizeof loads / sizeof loads[0]; i++) {
        is_well =
            simulate(program, &loads[i], database) && report(program, &loads[i], database, page);
        (void)fflush(stdout);
        (void)unlink(database);
        (void)unlink(page);
    }
    (void)rmdir(folder);
    return is_well ? EXIT_SUCCESS : EXIT_FAILURE;
}
