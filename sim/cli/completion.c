/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir completion bash: a script that completes commands and options, made from the table of
 * commands and each command's own option tables. To be sourced: source <(weir completion bash)
 */
#include "sim/cli/commands.h"
#include "sim/cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct arguments {
    const char *shell;
};

static const struct sim_option command_rows[] = {
    { .argument = "bash",
      SIM_OPTION(TEXT, arguments, shell),
      SIM_OPTION_WORDS_OF("bash"),
      .missing = "for which shell? bash",
      .one = "the one shell there is completion for is bash" },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows), .usage = "bash",
    .help = "Print a script that completes commands and options.\v"
            "Use it: source <(weir completion bash)"
};

/* A command knows its options only while it parses, and then the program ends: hence the child. */
static bool print_options(const struct sim_command *command)
{
    char *name = strdup(command->name);
    char option[] = SIM_OPTIONS_LIST;
    char *words[] = { name, option, NULL };
    int state = 0;
    pid_t gone = -1;
    (void)fflush(stdout);
    const pid_t child = name == NULL ? -1 : fork();
    if (child == 0)
        exit(command->run(2, words));
    free(name);
    do
        gone = child > 0 ? waitpid(child, &state, 0) : -1;
    while (child > 0 && gone < 0 && errno == EINTR);
    if (gone > 0 && WIFEXITED(state) && WEXITSTATUS(state) == SIM_EXIT_OK)
        return true;
    (void)fprintf(stderr, "weir completion: no process for the options of %s: %s\n", command->name,
                  gone > 0 ? "it did not end well" : strerror(errno));
    return false;
}

int sim_cmd_completion(int argc, char **argv)
{
    struct arguments arguments = { .shell = NULL };
    bool is_whole = true;
    sim_options_parse(&command_options, argc, argv, &arguments);
    fputs("_weir() {\n    local current=${COMP_WORDS[COMP_CWORD]} words=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='--help --version",
          stdout);
    for (size_t i = 0; i < sim_commands_count; i++)
        printf(" %s", sim_commands[i].name);
    fputs("'\n    else\n        case ${COMP_WORDS[1]} in\n", stdout);
    for (size_t i = 0; i < sim_commands_count; i++) {
        printf("        %s) words='", sim_commands[i].name);
        is_whole &= print_options(&sim_commands[i]);
        fputs("' ;;\n", stdout);
    }
    fputs("        esac\n        case $current in -*) ;; *) words= ;; esac\n    fi\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
          "complete -o default -F _weir weir\n",
          stdout);
    return is_whole && fflush(stdout) == 0 ? SIM_EXIT_OK : SIM_EXIT_RESOURCE;
}
