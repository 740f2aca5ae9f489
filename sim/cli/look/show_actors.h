/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actors: of a scenario what each role asks for; in a result database, as `ray status` and `ray
 * list actors` tell of them: what of each resource is in use at the end and what is available, who
 * is where, and who waits for what. In csv and json a row an actor.
 */
#ifndef SIM_CLI_LOOK_SHOW_ACTORS_H
#define SIM_CLI_LOOK_SHOW_ACTORS_H

#include "analysis/analysis.h"
#include "sim/cli/table.h"
#include "sim/scenario/scenario.h"

/* What a scenario's actors ask for, a row a role or group; NULL = it has none. */
struct sim_table *sim_show_roles(const struct sim_scenario *scenario, enum sim_format format);
/* *has_any: the runs are of actors, and were shown. */
weir_status sim_show_actors(struct an_db *db, enum sim_format format, bool *has_any,
                            struct weir_error *error);

#endif
