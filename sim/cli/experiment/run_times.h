/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long runs take: of a variant that was run, as long as it took; of another one, by what its
 * scenario says beside those that were. Times are of the clock, one run by itself.
 */
#ifndef SIM_CLI_RUN_TIMES_H
#define SIM_CLI_RUN_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_run_times {
    double *prior; /* by variant, in no unit; what is never set counts as 1 */
    double *sum_s; /* of the runs that are over */
    uint32_t *runs;
    double all_s, all_prior; /* over all that is over */
    double s_per_prior;      /* of those that go on, while none is over; 0 = nobody knows */
};

bool sim_run_times_begin(struct sim_run_times *times, size_t variants);
void sim_run_times_end(struct sim_run_times *times);
/* A run is over. */
void sim_run_times_measured(struct sim_run_times *times, size_t variant, double took_s);
/* A run goes on for so long, and so far. */
void sim_run_times_running(struct sim_run_times *times, size_t variant, double fraction,
                           double so_far_s);
/* What a run of the variant takes. */
double sim_run_times_s(const struct sim_run_times *times, size_t variant);

#endif
