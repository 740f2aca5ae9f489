/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of subcommands, as commands.h lists them. */
#include "sim/cli/commands.h"

#define COMMAND_ROW(name, summary) { #name, sim_cmd_##name, summary },
const struct sim_command sim_commands[] = { SIM_COMMANDS(COMMAND_ROW) };
const size_t sim_commands_count = sizeof(sim_commands) / sizeof(sim_commands[0]);
