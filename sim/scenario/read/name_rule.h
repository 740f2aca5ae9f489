/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a name may be: of scenarios, variants, pipelines, stages, jobs, nodes, stores and whatever
 * else a user calls by a name of his own.
 *
 * Names stand in tables, pages, charts, file names, paths of --set and shells. So a name has 1 to
 * SIM_NAME_MOST bytes of UTF-8 without control characters and marks of direction, none of
 * / \ ' " ` < > | $ ; and no blank at its ends, and does not begin with . - = or @.
 */
#ifndef SIM_SCENARIO_NAME_RULE_H
#define SIM_SCENARIO_NAME_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_NAME_MOST = 100, SIM_NAME_FAULT = 96 };

/* Whether it may; if not, writes what is wrong, to stand behind "a name". */
bool sim_name_is_fine(const char *name, char fault[SIM_NAME_FAULT]);

#endif
