/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of subcommands, in the order of the help. */
#include "sim/cli/commands.h"

const struct sim_command sim_commands[] = {
    { "run", sim_cmd_run, "simulate a scenario, write a result database, print a summary" },
    { "compare", sim_cmd_compare,
      "run the variants of a scenario, or compare those of a database" },
    { "report", sim_cmd_report, "turn a database into one HTML page with charts" },
    { "plot", sim_cmd_plot, "draw one chart of a database" },
    { "explain", sim_cmd_explain, "say why a worker is where it is, or why a stage got none" },
    { "diff", sim_cmd_diff, "where two stored runs first part" },
    { "rerun", sim_cmd_rerun, "repeat stored runs and compare their digests" },
    { "snapshot", sim_cmd_snapshot, "the state of a stored run at one moment, to go on from" },
    { "show", sim_cmd_show, "cluster, throughput bounds and what would raise them; no simulation" },
    { "validate", sim_cmd_validate, "check scenario files" },
    { "trace", sim_cmd_trace, "job traces: formats, what is in one, converting" },
    { "fit", sim_cmd_fit, "turn a log of spans into a scenario" },
    { "decide", sim_cmd_decide, "one scheduler decision from a JSON document" },
    { "policies", sim_cmd_policies, "list policies and their parameters" },
    { "doctor", sim_cmd_doctor, "what this machine offers to the program" },
    { "schema", sim_cmd_schema, "the reference of all scenario keys" },
    { "completion", sim_cmd_completion, "completion of commands and options for bash" },
    { "upgrade", sim_cmd_upgrade, "say of which version files are, and whether that is today's" },
};
const size_t sim_commands_count = sizeof(sim_commands) / sizeof(sim_commands[0]);
