/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Peak resident memory of `weir run` with 200 and with 2000 replications of a pipeline of 200
 * stages: of the program and of every process it starts. Some minutes; the results fill a gigabyte
 * in the present folder, for as long as it runs.
 */
#include "tests/support/many_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STAGES = 200 };

int main(void)
{
    static const char database[] = "many_runs.db";
    static const unsigned runs[] = { 200, 2000 };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const long kib = test_many_runs_kib(STAGES, runs[i], "metrics.keep=results", database);
        printf("%-34s %8.1f MiB\n", i == 0 ? "200 runs of 200 stages" : "2000 runs of 200 stages",
               (double)kib / 1024);
        (void)fflush(stdout);
        (void)unlink(database);
        if (kib < 0)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
