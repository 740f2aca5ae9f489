/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One result; see the header. */
#include "sim/lab/result_rows.h"

void sim_lab_row(struct sim_lab_rows *results, const char *metric, const char *label,
                 const char *unit, double value)
{
    sim_results_add(&results->out, &(struct sim_result_row){ .metric = metric,
                                                             .label = label,
                                                             .unit = unit,
                                                             .value = value,
                                                             .n = results->arrived });
}
