/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What many runs of a wide pipeline take of memory, as the command runs them.
 */
#ifndef TESTS_SUPPORT_MANY_RUNS_H
#define TESTS_SUPPORT_MANY_RUNS_H

/* Runs `weir run` on a pipeline of so many stages, `runs` times with the keys `sets`
 * ("path=value"), into DATABASE, and returns the peak of resident memory in KiB over the program
 * and all processes it starts; -1 when it failed. */
long test_many_runs_kib(unsigned stages, unsigned runs, const char *sets, const char *database);

#endif
