/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modules: shared objects with policies.
 *
 * What a module offers is read in a process of its own. Here stand descriptors in for its policies:
 * with their names, parameters and flags, and with operations that are never called. The process
 * that is to run a policy asks for the one behind a stand-in; then, and there, the file is loaded.
 */
#ifndef SIM_PORT_MODULE_H
#define SIM_PORT_MODULE_H

#include "weir/capacity.h"
#include "weir/job.h"

/* Loads the file into this process, where it stays. Errors are WEIR_EIO, WEIR_EABI and those of
 * weir_module_check. */
weir_status sim_module_load(const char *path, const struct weir_module **module,
                            struct weir_error *error);

/* A module with stand-ins for its policies. WEIR_EPOLICY with what it did when it does not even
 * load. */
struct sim_module;
weir_status sim_module_describe(const char *path, struct sim_module **module,
                                struct weir_error *error);
void sim_module_destroy(struct sim_module *module);
const struct weir_module *sim_module_policies(const struct sim_module *module);

/* Whether it stands in for another one. */
bool sim_placement_is_stand_in(const struct weir_placement_ops *ops);
bool sim_scaling_is_stand_in(const struct weir_scaling_ops *ops);
bool sim_queueing_is_stand_in(const struct weir_queueing_ops *ops);
bool sim_capacity_is_stand_in(const struct weir_capacity_ops *ops);

/* Puts the policy itself in the place of a stand-in; loads its module first. Others stay, NULL too.
 */
weir_status sim_placement_load(const struct weir_placement_ops **ops, struct weir_error *error);
weir_status sim_scaling_load(const struct weir_scaling_ops **ops, struct weir_error *error);
weir_status sim_queueing_load(const struct weir_queueing_ops **ops, struct weir_error *error);
weir_status sim_capacity_load(const struct weir_capacity_ops **ops, struct weir_error *error);

#endif
