/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `weir`: finds the subcommand and hands over. Results go to standard output, the rest to error. */
#include "analysis/text.h"
#include "sim/cli/build_info.h"
#include "sim/cli/commands.h"
#include "sim/cli/options.h"
#include "sim/scenario/read/diagnostic.h"
#include "weir/version.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(FILE *out)
{
    (void)fprintf(out, "Usage: weir COMMAND [OPTION...] [FILE]\n\n"
                       "Discrete-event simulator and benchmark harness for GPU-cluster schedulers."
                       "\n");
    for (size_t i = 0; i < sim_commands_count; i++) {
        const struct sim_command *command = &sim_commands[i];
        const char *heading = sim_command_heading(command->group);
        if (heading == NULL)
            continue;
        if (i == 0 || command->group != sim_commands[i - 1].group)
            (void)fprintf(out, "\n%s\n", heading);
        (void)fprintf(out, "  %-8s %s\n", command->name, command->summary);
    }
    (void)fprintf(out, "\n`weir help WORD` says more of a command, a key, a metric, a policy. "
                       "First step: weir new pipeline my.yaml\n");
}

static int print_version(void)
{
    printf("weir %s (%s%s, %s)\ninterface %d.%d\n", sim_build_version(), sim_build_commit(),
           sim_build_dirty() ? ", changed" : "", sim_build_compiler(), WEIR_ABI_MAJOR,
           WEIR_ABI_MINOR);
    return SIM_EXIT_OK;
}

/* What a command of before is called today, where the first word behind it (NULL = any) says which
 * part of it is meant. Others are called by the summary of the command. */
static const struct {
    const char *command, *word, *today;
} parts[] = {
    { "fit", NULL, "weir import" },
    { "trace", "info", "weir show FILE" },
    { "trace", "formats", "weir list traces" },
    { "schema", NULL, "weir list keys" },
};

static const char *name_today(const struct sim_command *command, int argc, char **argv)
{
    const char *const word = argc > 2 ? argv[2] : "";
    /* A JSON Schema has no other command. */
    const bool is_program = strcmp(argv[1], "schema") == 0 && argc > 2;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !is_program; i++)
        if (strcmp(argv[1], parts[i].command) == 0 &&
            (parts[i].word == NULL || strcmp(word, parts[i].word) == 0))
            return parts[i].today;
    return command != NULL && command->group == SIM_COMMAND_HIDDEN ? command->summary : NULL;
}

/* People are told, programs are not. */
static const struct sim_command *find(int argc, char **argv)
{
    const char *const word = argv[1];
    const bool is_fit = strcmp(word, "fit") == 0;
    const struct sim_command *command = sim_command_find(is_fit ? "import" : word);
    const char *today = name_today(command, argc, argv);
    if (today != NULL && isatty(STDERR_FILENO))
        (void)fprintf(stderr, "weir: %s%s%s is called %s today\n", word,
                      strcmp(word, "trace") == 0 ? " " : "",
                      strcmp(word, "trace") == 0 ? argv[2] : "", today);
    return command;
}

static int unknown(const char *word)
{
    const char *near = word[0] != '-'
                           ? sim_command_near(word)
                           : sim_near_name(word, (const char *const[]){ "--help", "--version" }, 2);
    (void)fprintf(stderr, "weir: there is no command '%s'%s%s%s\n", word,
                  near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                  near == NULL ? "" : "'?");
    (void)fprintf(
        stderr, word[0] == '-' ? "Try 'weir --help'.\n" : "Try 'weir --help', or 'weir help %s'.\n",
        word);
    return SIM_EXIT_USAGE;
}

/* Words are said again: on terminals, in results and on pages. None may steer them. */
static bool are_seen(int argc, char **argv)
{
    bool is_seen = true;
    for (int i = 1; i < argc && is_seen; i++) {
        char *shown = strdup(argv[i]); /* memory.c ends who gets none */
        an_clean(shown);
        is_seen = strcmp(shown, argv[i]) == 0;
        if (!is_seen)
            (void)fprintf(stderr,
                          "weir: word %d of the command line has characters that are not seen, or "
                          "are no UTF-8; with ? in their place: %s\n",
                          i, shown);
        free(shown);
    }
    return is_seen;
}

/* However the program ends by itself: what could not be printed is an error. */
static void close_output(void)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return;
    (void)fprintf(stderr, "weir: cannot write all of the output\n");
    _exit(SIM_EXIT_INPUT);
}

int main(int argc, char **argv)
{
    /* Who ignores it bequeaths that, and no process could be waited for. */
    (void)signal(SIGCHLD, SIG_DFL);
    (void)atexit(close_output);
    if (argc < 2) {
        print_help(stderr);
        return SIM_EXIT_USAGE;
    }
    if (!are_seen(argc, argv))
        return SIM_EXIT_USAGE;
    if (strcmp(argv[1], "--help") == 0 || (argc == 2 && strcmp(argv[1], "help") == 0)) {
        print_help(stdout);
        return SIM_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0)
        return print_version();
    const struct sim_command *command = find(argc, argv);
    return command == NULL ? unknown(argv[1]) : command->run(argc - 1, argv + 1);
}
