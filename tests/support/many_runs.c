/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of many runs (see many_runs.h). */
#include "tests/support/many_runs.h"

#include "sim/cli/commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_scenario(const char *path, unsigned stages)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return -1;
    (void)fprintf(out,
                  "schema: 2\nname: wide\nhorizon: 5 s\nseed: 1\n"
                  "cluster: {nodes: [{name: n, cpus: %u, count: 1}]}\n"
                  "sched: {scaling: {policy: fixed, interval: 1 h}}\n"
                  "pipelines:\n  - name: p\n    input: {items: 0, arrivals: exp(1)}\n"
                  "    stages:\n",
                  stages);
    for (unsigned s = 0; s < stages; s++)
        (void)fprintf(out, "      - {name: s%u, cpus: 1, workers: 1, service: exp(0.1)}\n", s);
    return fclose(out);
}

long test_many_runs_kib(unsigned stages, unsigned runs, const char *sets, const char *database)
{
    char path[512];
    struct rusage usage;
    int state = 0;
    (void)snprintf(path, sizeof path, "%s.yaml", database);
    if (write_scenario(path, stages) != 0)
        return -1;
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)setenv("WEIR_CHECK_INVARIANTS", "0", 1); /* it is memory that is measured */
        char line[1024];
        char *argv[16] = { NULL };
        char *rest = line;
        int argc = 0;
        (void)snprintf(line, sizeof line, "weir run;%s;--quiet;--force;-j;2;-n;%u;-o;%s;--set;%s",
                       path, runs, database, sets);
        while (rest != NULL)
            argv[argc++] = strsep(&rest, ";");
        _exit(sim_cmd_run(argc, argv));
    }
    const bool is_over = pid > 0 && wait4(pid, &state, 0, &usage) == pid;
    (void)unlink(path);
    return is_over && WIFEXITED(state) && WEXITSTATUS(state) == 0 ? usage.ru_maxrss : -1;
}
