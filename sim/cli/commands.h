/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The subcommands: one file each, one line in the table
 * below, whose order is that of the help. Each takes its own argc and argv
 * (argv[0] = its name) and returns an exit code.
 */
#ifndef SIM_CLI_COMMANDS_H
#define SIM_CLI_COMMANDS_H

#include <stddef.h>

/* Name and summary. */
#define SIM_COMMANDS(X)                                                                            \
    X(run, "simulate a scenario, write a result database, print a summary")                        \
    X(compare, "run the variants of a scenario, or compare those of a database")                   \
    X(search, "the smallest or largest value of a path that meets a target")                       \
    X(merge, "put the parts of an experiment together")                                            \
    X(report, "turn a database into one HTML page with charts")                                    \
    X(plot, "draw one chart of a database")                                                        \
    X(explain, "say why a worker is where it is, or why a stage got none")                         \
    X(diff, "where two stored runs first part")                                                    \
    X(rerun, "repeat stored runs and compare their digests")                                       \
    X(snapshot, "the state of a stored run at one moment, to go on from")                          \
    X(show, "cluster, throughput bounds and what would raise them; no simulation")                 \
    X(check, "is it right: scenario, policy module, database; no file: this machine")              \
    X(validate, "check scenario files")                                                            \
    X(trace, "job traces: formats, what is in one, converting")                                    \
    X(new, "a small file to start from: pipeline, jobs, incident, policy")                         \
    X(import, "logs of production in, a scenario that runs comes out")                             \
    X(decide, "one scheduler decision from a JSON document")                                       \
    X(policies, "list policies and their parameters")                                              \
    X(doctor, "what this machine offers to the program")                                           \
    X(schema, "the reference of all scenario keys")                                                \
    X(completion, "completion of commands and options for bash")                                   \
    X(upgrade, "say of which version files are, and whether that is today's")

struct sim_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};
extern const struct sim_command sim_commands[];
extern const size_t sim_commands_count;

#define SIM_COMMAND_DECLARE(name, summary) int sim_cmd_##name(int argc, char **argv);
SIM_COMMANDS(SIM_COMMAND_DECLARE)
#undef SIM_COMMAND_DECLARE

#endif
