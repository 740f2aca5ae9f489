/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The subcommands: one file each, one line in the table below, whose order is that of the help.
 * Each takes its own argc and argv (argv[0] = its name) and returns an exit code.
 *
 * People know eleven of them in three groups and five under them. What was a command before goes on
 * working and is not in the help: its summary is what it is called today, NULL = it is for
 * programs.
 */
#ifndef SIM_CLI_COMMANDS_H
#define SIM_CLI_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

/* Name and heading. */
#define SIM_COMMAND_GROUPS(X)                                                                      \
    X(LOOK, "look")                                                                                \
    X(ASK, "ask")                                                                                  \
    X(TELL, "tell")                                                                                \
    X(UNDER, "and under them")                                                                     \
    X(HIDDEN, NULL)

/* Group, name and summary. */
#define SIM_COMMANDS(X)                                                                            \
    X(LOOK, show, "what is in it: scenario (what limits it, what would help), trace, database")    \
    X(LOOK, check, "is it right: scenario, policy module, database; no file: this machine")        \
    X(LOOK, new, "a small file to start from: pipeline, jobs, incident, policy")                   \
    X(LOOK, import, "logs of production in, a scenario that runs comes out")                       \
    X(ASK, run, "simulate a scenario; of a database: repeat it and compare digests")               \
    X(ASK, compare, "which variant is better, by how much, how sure")                              \
    X(ASK, search, "the smallest, cheapest or best that meets a target")                           \
    X(ASK, explain, "why: a worker, a job, a stage, a moment, all that waits")                     \
    X(TELL, report, "the page: one HTML file with findings, tables and charts")                    \
    X(TELL, plot, "one chart")                                                                     \
    X(TELL, export, "for other tools: csv, perfetto, openmetrics, state, decision")                \
    X(UNDER, decide, "one scheduler decision from a JSON document")                                \
    X(UNDER, merge, "put the parts of an experiment together")                                     \
    X(UNDER, diff, "where two stored runs first part")                                             \
    X(UNDER, list, "what there is: policies, metrics, charts, keys, traces, commands")             \
    X(UNDER, help, "about any word: command, key, metric, policy, chart")                          \
    X(HIDDEN, validate, "weir check FILE")                                                         \
    X(HIDDEN, doctor, "weir check")                                                                \
    X(HIDDEN, upgrade, "weir check [--write] FILE")                                                \
    X(HIDDEN, policies, "weir list policies, weir help NAME, weir check FILE.so, weir new policy") \
    X(HIDDEN, rerun, "weir run DB")                                                                \
    X(HIDDEN, trace, NULL)                                                                         \
    X(HIDDEN, snapshot, "weir export DB --to state")                                               \
    X(HIDDEN, schema, NULL)                                                                        \
    X(HIDDEN, completion, NULL)

enum sim_command_group {
#define SIM_COMMAND_GROUP(group, heading) SIM_COMMAND_##group,
    SIM_COMMAND_GROUPS(SIM_COMMAND_GROUP)
#undef SIM_COMMAND_GROUP
};

struct sim_command {
    uint32_t group; /* enum sim_command_group */
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};
extern const struct sim_command sim_commands[];
extern const size_t sim_commands_count;

/* NULL when there is none of that name. */
const struct sim_command *sim_command_find(const char *name);
/* The heading of a group, NULL = what is in it is not shown. */
const char *sim_command_heading(uint32_t group);
/* The nearest name of those that are shown, or NULL. */
const char *sim_command_near(const char *word);

#define SIM_COMMAND_DECLARE(group, name, summary) int sim_cmd_##name(int argc, char **argv);
SIM_COMMANDS(SIM_COMMAND_DECLARE)
#undef SIM_COMMAND_DECLARE

#endif
