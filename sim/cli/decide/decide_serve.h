/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir decide --serve: each line that comes in is answered by one line, in order. */
#ifndef SIM_CLI_DECIDE_SERVE_H
#define SIM_CLI_DECIDE_SERVE_H

#include <stdio.h>

/* A session (decide_session.h) until the input is at its end; an exit code. A line of more bytes
 * than `most` is passed over, and answered by that. */
struct sim_policies;
int decide_serve(const struct sim_policies *policies, size_t most, FILE *in, FILE *out);

#endif
