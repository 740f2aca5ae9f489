/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One experiment from the first arrival to its rows. Simulated time does not pass; what is measured
 * is the time that the placements and the questions took here.
 */
#include "sim/lab/result_rows.h"
#include "sim/record/run_summary.h"

#include "sim/lab/lab_state.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

static double wall_s(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : 0.0;
}

/* Arrivals, and what they were. */
static weir_status place_all(struct sim_lab *lab, struct sim_run_summary *summary,
                             struct sim_lab_rows *rows)
{
    const struct sim_lab_counts *counts = sim_lab_counts(lab);
    const double start_s = wall_s();
    const weir_status status = sim_lab_arrive(lab, rows->out.error);
    if (status != WEIR_OK && status != WEIR_EINTERRUPTED)
        return status;
    (void)snprintf(summary->outcome, sizeof(summary->outcome), "%s",
                   status == WEIR_OK ? "complete" : "interrupted");
    summary->digest = summary->result_digest = sim_lab_digest(lab);
    summary->events = counts->arrived;
    summary->items_done = counts->arrived - counts->failed;
    sim_results_add(&rows->out, &(struct sim_result_row){ .metric = "sched.cpu_ms.mean",
                                                          .label = "",
                                                          .unit = "ms",
                                                          .value = 1e3 * (wall_s() - start_s) /
                                                                   fmax((double)counts->arrived, 1),
                                                          .is_wall = true });
    return WEIR_OK;
}

weir_status sim_lab_run(struct sim_lab *lab, struct sim_run_summary *summary,
                        const struct sim_results *out)
{
    struct sim_lab_rows rows = { .out = *out };
    WEIR_TRY(place_all(lab, summary, &rows));
    rows.arrived = sim_lab_counts(lab)->arrived;
    const double asked_s = wall_s();
    sim_lab_results(lab, &rows);
    sim_lab_defrag_results(lab, &rows);
    sim_results_add(&rows.out, &(struct sim_result_row){ .metric = "bound.wall_s",
                                                         .label = "",
                                                         .unit = "s",
                                                         .value = wall_s() - asked_s,
                                                         .is_wall = true });
    return rows.out.status;
}
