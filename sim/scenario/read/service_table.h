/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measured service times from a CSV file: columns gpu_type, batch, size, seconds, found by their
 * heading. gpu_type may be missing or empty (any), batch and size default to 1.
 */
#ifndef SIM_SCENARIO_SERVICE_TABLE_H
#define SIM_SCENARIO_SERVICE_TABLE_H

#include "sim/scenario/resolve/resolve.h"

/* Fills service->table, ordered as in the file; mistakes are reported at `at` with their line. */
void sim_service_table_read(struct sim_resolver *resolver, const struct sim_yaml *at,
                            const char *path, struct sim_service *service);

#endif
