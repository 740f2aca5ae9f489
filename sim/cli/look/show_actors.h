/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actors in a result database, as `ray status` and `ray list actors` tell of them: what of each
 * resource is in use at the end and what is available, who is where, and who waits for what. In csv
 * and json a row an actor.
 */
#ifndef SIM_CLI_LOOK_SHOW_ACTORS_H
#define SIM_CLI_LOOK_SHOW_ACTORS_H

#include "analysis/analysis.h"
#include "sim/cli/table.h"

/* *has_any: the runs are of actors, and were shown. */
weir_status sim_show_actors(struct an_db *db, enum sim_format format, bool *has_any,
                            struct weir_error *error);

#endif
