/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of subcommands, as commands.h lists them. */
#include "sim/cli/commands.h"

#include "sim/scenario/read/diagnostic.h"

#include <string.h>

#define COMMAND_ROW(group, name, summary) { SIM_COMMAND_##group, #name, sim_cmd_##name, summary },
const struct sim_command sim_commands[] = { SIM_COMMANDS(COMMAND_ROW) };
const size_t sim_commands_count = sizeof(sim_commands) / sizeof(sim_commands[0]);

const struct sim_command *sim_command_find(const char *name)
{
    for (size_t i = 0; i < sim_commands_count; i++)
        if (strcmp(name, sim_commands[i].name) == 0)
            return &sim_commands[i];
    return NULL;
}

const char *sim_command_heading(uint32_t group)
{
#define HEADING(group, heading) heading,
    static const char *const headings[] = { SIM_COMMAND_GROUPS(HEADING) };
#undef HEADING
    return headings[group];
}

const char *sim_command_near(const char *word)
{
    const char *names[sizeof(sim_commands) / sizeof(sim_commands[0])];
    size_t count = 0;
    for (size_t i = 0; i < sim_commands_count; i++)
        if (sim_commands[i].group != SIM_COMMAND_HIDDEN)
            names[count++] = sim_commands[i].name;
    return sim_near_name(word, names, count);
}
