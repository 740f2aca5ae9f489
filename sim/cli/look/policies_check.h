/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modules of one's own: their trial (weir policies check FILE) and their beginning (weir policies
 * new NAME).
 */
#ifndef SIM_CLI_POLICIES_CHECK_H
#define SIM_CLI_POLICIES_CHECK_H

#include "sim/cli/table.h"

/* Prints one row a policy and check. Exit code: 4 when the module cannot be loaded or a check
 * failed. */
int sim_policies_check(const char *path, enum sim_format format);

/* new.c: writes NAME.c and prints how to build, check and run it. An existing file is left
 * alone (code 3). */
int sim_policies_new(const char *name);

#endif
