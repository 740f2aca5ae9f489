/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir completion SHELL: a script that completes commands and options, made from the table of
 * commands and each command's own option tables. To be sourced: source <(weir completion bash),
 * source <(weir completion zsh), weir completion fish | source
 */
#include "sim/cli/commands.h"
#include "sim/cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct arguments {
    uint32_t shell;
};

enum { BASH, ZSH, FISH };

static const struct sim_option command_rows[] = {
    { .argument = "SHELL",
      SIM_OPTION(CHOICE, arguments, shell),
      SIM_OPTION_WORDS_OF("bash", "zsh", "fish"),
      .missing = "for which shell? bash, zsh or fish",
      .one = "one shell at a time" },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows), .usage = "bash|zsh|fish",
    .help = "Print a script that completes commands and options.\v"
            "Use it: source <(weir completion bash), source <(weir completion zsh), "
            "weir completion fish | source"
};

/* ---- the options of a command ---- */

/* A command knows its options only while it parses, and then the program ends: hence the child,
 * which prints them into a pipe. */
static pid_t start(const struct sim_command *command, int out)
{
    char *name = strdup(command->name);
    char option[] = SIM_OPTIONS_LIST;
    char *words[] = { name, option, NULL };
    (void)fflush(stdout);
    const pid_t child = name == NULL ? -1 : fork();
    if (child == 0) {
        if (dup2(out, STDOUT_FILENO) < 0)
            _exit(SIM_EXIT_RESOURCE);
        exit(command->run(2, words));
    }
    free(name);
    return child;
}

static bool has_ended_well(pid_t child)
{
    int state = 0;
    pid_t gone = -1;
    do
        gone = child > 0 ? waitpid(child, &state, 0) : -1;
    while (child > 0 && gone < 0 && errno == EINTR);
    return gone > 0 && WIFEXITED(state) && WEXITSTATUS(state) == SIM_EXIT_OK;
}

/* One a line; NULL = it cannot be told. The caller's to free. */
static char *options_of(const struct sim_command *command)
{
    int ends[2];
    char *text = NULL;
    size_t length = 0;
    if (pipe(ends) != 0) {
        (void)fprintf(stderr, "weir completion: no pipe for the options of %s\n", command->name);
        return NULL;
    }
    const pid_t child = start(command, ends[1]);
    (void)close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    FILE *out = open_memstream(&text, &length);
    for (int c; in != NULL && out != NULL && (c = fgetc(in)) != EOF;)
        (void)fputc(c, out);
    bool is_whole = in != NULL && out != NULL && ferror(in) == 0;
    is_whole &= out == NULL || fclose(out) == 0;
    if (in == NULL)
        (void)close(ends[0]);
    else
        (void)fclose(in);
    is_whole &= has_ended_well(child);
    if (is_whole)
        return text;
    (void)fprintf(stderr, "weir completion: no process for the options of %s\n", command->name);
    free(text);
    return NULL;
}

/* ---- scripts ---- */

static bool is_shown(const struct sim_command *command)
{
    return command->group != SIM_COMMAND_HIDDEN;
}

static void put_commands(void)
{
    for (size_t i = 0; i < sim_commands_count; i++)
        if (is_shown(&sim_commands[i]))
            printf(" %s", sim_commands[i].name);
}

/* "  run) NAME=SIGN--a --bSIGN ;;" for every command. */
static bool put_cases(const char *begin, const char *end)
{
    bool is_whole = true;
    for (size_t i = 0; i < sim_commands_count; i++) {
        char *options = is_shown(&sim_commands[i]) ? options_of(&sim_commands[i]) : NULL;
        is_whole &= options != NULL || !is_shown(&sim_commands[i]);
        if (options != NULL)
            printf("        %s) words=%s%s%s ;;\n", sim_commands[i].name, begin, options, end);
        free(options);
    }
    return is_whole;
}

static bool put_bash(void)
{
    fputs("_weir() {\n    local current=${COMP_WORDS[COMP_CWORD]} words=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='--help --version",
          stdout);
    put_commands();
    fputs("'\n    else\n        case ${COMP_WORDS[1]} in\n", stdout);
    const bool is_whole = put_cases("'", "'");
    fputs("        esac\n        case $current in -*) ;; *) words= ;; esac\n    fi\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
          "complete -o default -F _weir weir\n",
          stdout);
    return is_whole;
}

static bool put_zsh(void)
{
    fputs("#compdef weir\n_weir() {\n    local command=$words[2]\n"
          "    if (( CURRENT == 2 )); then\n        compadd -- --help --version",
          stdout);
    put_commands();
    fputs("\n        return\n    fi\n    local words\n    case $command in\n", stdout);
    const bool is_whole = put_cases("'", "'");
    fputs("    esac\n    if [[ $PREFIX == -* ]]; then\n"
          "        compadd -- ${(f)words}\n    else\n        _files\n    fi\n}\n"
          "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u; }\n"
          "compdef _weir weir\n",
          stdout);
    return is_whole;
}

static bool put_fish(void)
{
    bool is_whole = true;
    for (size_t i = 0; i < sim_commands_count; i++) {
        const struct sim_command *command = &sim_commands[i];
        char *options = is_shown(command) ? options_of(command) : NULL;
        char *rest = NULL;
        is_whole &= options != NULL || !is_shown(command);
        if (options == NULL)
            continue;
        printf("complete -c weir -n __fish_use_subcommand -f -a %s -d \"%s\"\n", command->name,
               command->summary);
        for (char *one = strtok_r(options, "\n", &rest); one != NULL;
             one = strtok_r(NULL, "\n", &rest))
            printf("complete -c weir -n '__fish_seen_subcommand_from %s' -l %s\n", command->name,
                   one + 2);
        free(options);
    }
    return is_whole;
}

int sim_cmd_completion(int argc, char **argv)
{
    static bool (*const put[])(void) = { [BASH] = put_bash, [ZSH] = put_zsh, [FISH] = put_fish };
    struct arguments arguments = { .shell = BASH };
    sim_options_parse(&command_options, argc, argv, &arguments);
    const bool is_whole = put[arguments.shell]();
    return is_whole && fflush(stdout) == 0 ? SIM_EXIT_OK : SIM_EXIT_RESOURCE;
}
