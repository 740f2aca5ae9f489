/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs from one replication to the next: which random draws a scenario asks for at all. An
 * interval over replications speaks of these and of nothing else, so its reader has to know them.
 */
#ifndef SIM_SCENARIO_VARIES_H
#define SIM_SCENARIO_VARIES_H

#include "sim/scenario/scenario.h"

/* "arrivals, service times and order of nodes" for several scenarios, the variants of a comparison,
 * together; false and "only the policies' own draws" when they ask for no draw themselves. Laws
 * that always give the same value do not count. Writes at most `capacity` bytes. */
bool sim_scenario_varies(struct sim_scenario *const *scenarios, size_t count, char *text,
                         size_t capacity);

#endif
