/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `weir`: finds the subcommand and hands over. Results go to standard output, the rest to error. */
#include "sim/cli/build_info.h"
#include "sim/cli/commands.h"
#include "sim/cli/options.h"
#include "sim/scenario/diagnostic.h"
#include "weir/version.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

static const struct command commands[] = {
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
    { "fit", sim_cmd_fit, "turn a log of spans into a scenario" },
    { "decide", sim_cmd_decide, "one scheduler decision from a JSON document" },
    { "policies", sim_cmd_policies, "list policies and their parameters" },
    { "doctor", sim_cmd_doctor, "what this machine offers to the program" },
    { "schema", sim_cmd_schema, "the reference of all scenario keys" },
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *out)
{
    (void)fprintf(out, "Usage: weir COMMAND [OPTION...] [FILE]\n\n"
                       "Discrete-event simulator and benchmark harness for GPU-cluster schedulers."
                       "\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        (void)fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    (void)fprintf(out, "\n`weir COMMAND --help` says more. First steps: weir run "
                       "scenarios/examples/video_pipeline.yaml\n");
}

static int print_version(void)
{
    printf("weir %s (%s%s, %s)\ninterface %d.%d\n", sim_build_version(), sim_build_commit(),
           sim_build_dirty() ? ", changed" : "", sim_build_compiler(), WEIR_ABI_MAJOR,
           WEIR_ABI_MINOR);
    return SIM_EXIT_OK;
}

static int unknown(const char *word)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    const char *near = sim_near_name(word, names, COMMAND_COUNT);
    (void)fprintf(stderr, "weir: there is no command '%s'%s%s%s\n", word,
                  near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                  near == NULL ? "" : "'?");
    (void)fprintf(stderr, "Try 'weir --help'.\n");
    return SIM_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return SIM_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return SIM_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0)
        return print_version();
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return unknown(argv[1]);
}
