/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The subcommands: one file each, one line in the table of
 * commands.c. Each takes its own argc and argv
 * (argv[0] = its name) and returns an exit code.
 */
#ifndef SIM_CLI_COMMANDS_H
#define SIM_CLI_COMMANDS_H

#include <stddef.h>

struct sim_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};
extern const struct sim_command sim_commands[];
extern const size_t sim_commands_count;

int sim_cmd_run(int argc, char **argv);
int sim_cmd_compare(int argc, char **argv);
int sim_cmd_validate(int argc, char **argv);
int sim_cmd_snapshot(int argc, char **argv);
int sim_cmd_show(int argc, char **argv);
int sim_cmd_report(int argc, char **argv);
int sim_cmd_plot(int argc, char **argv);
int sim_cmd_diff(int argc, char **argv);
int sim_cmd_rerun(int argc, char **argv);
int sim_cmd_doctor(int argc, char **argv);
int sim_cmd_explain(int argc, char **argv);
int sim_cmd_fit(int argc, char **argv);
int sim_cmd_trace(int argc, char **argv);
int sim_cmd_decide(int argc, char **argv);
int sim_cmd_policies(int argc, char **argv);
int sim_cmd_completion(int argc, char **argv);
int sim_cmd_upgrade(int argc, char **argv);
int sim_cmd_schema(int argc, char **argv);

#endif
