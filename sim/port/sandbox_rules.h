/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which system calls the code in a sandbox may not make: the kernel kills who tries.
 *
 * Of programs: signals and traces that aim at weir's processes or at everybody. Of modules: at
 * anybody but itself, and every new process or program; threads are allowed. What a module might
 * want to do by mistake is refused instead, as if it had no right to it: to write, make, lock or
 * remove files, to use the network, memory and queues with names, to steer devices and to set
 * limits of others; calls that are younger than the rules do not exist. On machines other than
 * x86-64 and arm64 there are no such rules; limits, sessions and the keeper hold there too.
 */
#ifndef SIM_PORT_SANDBOX_RULES_H
#define SIM_PORT_SANDBOX_RULES_H

#include <stdbool.h>
#include <sys/types.h>

struct sim_sandbox_rules {
    bool is_module;
    pid_t weir, parent, group, keeper;
};

/* From now on, in this process and those it starts. False: the system knows no such rules. */
bool sim_sandbox_rule(const struct sim_sandbox_rules *rules);

#endif
