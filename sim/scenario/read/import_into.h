/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was measured goes into the text of a scenario, whose cluster, requests, layout and comments
 * stay: the laws of its stages by their names, what arrives, the start of the clock, a file of
 * events.
 *
 * A stage of the log that the pipeline has not is a mistake; one of the pipeline that the log has
 * not keeps what it has. What cannot take a law (a service of frames or of a table) stays, with a
 * remark.
 */
#ifndef SIM_SCENARIO_IMPORT_INTO_H
#define SIM_SCENARIO_IMPORT_INTO_H

#include "sim/scenario/report.h"
#include "workloads/spans/span_model.h"

struct sim_import {
    const char *path; /* of the scenario, for messages */
    const char *text;
    const struct wl_model *model; /* NULL = laws stay */
    const char *pipeline;         /* NULL = the only one */
    const char *samples;          /* files of samples lie beside this path */
    bool names_folders;           /* laws name samples with their folder */
    const char *events;           /* as the scenario is to call it; NULL = the timeline stays */
    const char *note;             /* a comment for the head of the file; NULL = none */
};

/* The text as it is afterwards, in the arena; NULL when there is an error among the diagnostics, or
 * `error` says why a sample could not be written. */
char *sim_import_into(struct sim_arena *arena, const struct sim_import *import,
                      struct sim_diagnostics *said, struct weir_error *error);

/* The pipeline that takes the laws: its name, or NULL. */
const char *sim_import_pipeline(struct sim_arena *arena, const struct sim_import *import);

#endif
