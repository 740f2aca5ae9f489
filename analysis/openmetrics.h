/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run as OpenMetrics: its samples under the names that production uses, so that the boards drawn
 * for a cluster show a simulation of it.
 *
 * One table says which name is made of what, and where the name comes from (docs/export.md). A
 * sample stands at the beginning of the interval whose mean it is, in seconds since 1970; without
 * `start_time` in the scenario time 0 is 1970.
 */
#ifndef ANALYSIS_OPENMETRICS_H
#define ANALYSIS_OPENMETRICS_H

#include "analysis/database/query.h"

#include <stdio.h>

struct an_open_metric {
    const char *name;
    const char *help;
    const char *source; /* who calls it so */
    const char *sql;    /* the labels under their names, then time and value, of :run */
};
extern const struct an_open_metric an_open_metrics[];
extern const size_t an_open_metrics_count;

/* All of one run. */
weir_status an_openmetrics_write(struct an_db *db, const struct an_run *run, FILE *out,
                                 struct weir_error *error);

#endif
