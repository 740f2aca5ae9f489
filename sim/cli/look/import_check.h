/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is what was imported true? The laws are fitted again, to the first part of the log alone, and a
 * run with them is laid beside the rest, stage by stage: throughput, queue and busy share, measured
 * by the same code in the log and in the spans of the run.
 */
#ifndef SIM_CLI_IMPORT_CHECK_H
#define SIM_CLI_IMPORT_CHECK_H

#include "sim/cli/table.h"
#include "sim/scenario/read/import_into.h"

struct sim_import_check {
    const struct sim_import *import; /* with the model of the whole log */
    const struct wl_model_options *fit;
    double held_out; /* share of the time of the log */
    enum sim_format format;
    FILE *out;
    bool skips_run;
};

/* Prints the laws, the check and what it means: a log that arrivals limit is no model of capacity,
 * however well the throughput agrees. */
weir_status sim_import_check_print(const struct sim_import_check *check, struct weir_error *error);

#endif
