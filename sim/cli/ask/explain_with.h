/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir explain --at T --with POLICY,...: what other policies would have decided. The run is
 * repeated up to its first decision at or after T; the state there, as `--decide` writes it, is put
 * before each policy by what answers `weir decide`. Nothing goes on from there: a plan, not its
 * effect.
 */
#ifndef SIM_CLI_EXPLAIN_WITH_H
#define SIM_CLI_EXPLAIN_WITH_H

#include "sim/cli/ask/explain_decide.h"

/* `with`: names of policies, split by commas; placement+scaling of one plan by a +. Another policy
 * starts without a memory of its own. Returns an exit code. */
int sim_explain_with(const struct sim_decide_question *question, const char *with, bool as_json,
                     const struct sim_options *options);

#endif
