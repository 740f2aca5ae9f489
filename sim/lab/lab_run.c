/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One experiment from the first arrival to its rows. Simulated time does not pass; what is measured
 * is the time that the placements and the questions took here.
 */
#include "sim/lab/result_rows.h"

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
                             struct weir_error *error)
{
    const struct sim_lab_counts *counts = sim_lab_counts(lab);
    const double start_s = wall_s();
    const weir_status status = sim_lab_arrive(lab, error);
    if (status != WEIR_OK && status != WEIR_EINTERRUPTED)
        return status;
    (void)snprintf(summary->outcome, sizeof(summary->outcome), "%s",
                   status == WEIR_OK ? "complete" : "interrupted");
    summary->digest = summary->result_digest = sim_lab_digest(lab);
    summary->events = counts->arrived;
    summary->items_done = counts->arrived - counts->failed;
    summary->decision_mean_ms = 1e3 * (wall_s() - start_s) / fmax((double)counts->arrived, 1);
    return WEIR_OK;
}

weir_status sim_lab_run(struct sim_lab *lab, struct sim_run_summary *summary,
                        struct weir_error *error)
{
    WEIR_TRY(place_all(lab, summary, error));
    struct sim_lab_rows rows = { .recorder = lab->options->recorder,
                                 .summary = summary,
                                 .error = error,
                                 .arrived = sim_lab_counts(lab)->arrived };
    const double asked_s = wall_s();
    sim_lab_results(lab, &rows);
    sim_lab_defrag_results(lab, &rows);
    summary->asked_s = wall_s() - asked_s;
    return rows.status;
}
