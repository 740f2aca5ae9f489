/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir decide --serve: a session. Each line that comes in is answered by one line, in order.
 *
 * A whole document begins a session: its host stays. A document of the command `next` says what
 * happened since, and asks that host again, whose policies remember. A line that is wrong is
 * answered by what is wrong with it; nothing of it is told to the host but what its answer counts.
 */
#ifndef SIM_CLI_DECIDE_SERVE_H
#define SIM_CLI_DECIDE_SERVE_H

#include <stdio.h>

/* Until the input is at its end; an exit code. `policies` are those of plug-ins. */
struct sim_policies;
int decide_serve(const struct sim_policies *policies, FILE *in, FILE *out);

#endif
