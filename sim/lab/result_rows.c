/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One result; see the header. */
#include "sim/lab/result_rows.h"

#include <stdio.h>

void sim_lab_row(struct sim_lab_rows *results, const char *metric, const char *label,
                 const char *unit, double value)
{
    struct sim_run_summary *summary = results->summary;
    const struct sim_result_row row = {
        .metric = metric, .label = label, .unit = unit, .value = value, .n = results->arrived
    };
    if (results->status == WEIR_OK)
        results->status = sim_recorder_result(results->recorder, &row, results->error);
    if (summary->value_count == SIM_RUN_RESULTS)
        return;
    struct sim_run_value *kept = &summary->values[summary->value_count++];
    (void)snprintf(kept->metric, sizeof(kept->metric), "%s", metric);
    (void)snprintf(kept->label, sizeof(kept->label), "%s", label);
    kept->value = value;
}
