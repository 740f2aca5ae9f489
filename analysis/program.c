/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program as a child process; see the header. Its messages go to a file in its folder, so that no
 * pipe can fill.
 */
#include "analysis/program.h"
#include "sim/files/written.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NO_PROGRAM = 127, EXIT_NO_FOLDER = 126, EXIT_NO_ROOM = 125, PATH_ROOM = 1200 };

bool an_program_find(const char *name, char *path, size_t capacity)
{
    const char *rest = getenv("PATH");
    while (rest != NULL && *rest != '\0') {
        const size_t length = strcspn(rest, ":");
        (void)snprintf(path, capacity, "%.*s/%s", (int)length, rest, name);
        if (length > 0 && access(path, X_OK) == 0)
            return true;
        rest += length + (rest[length] == ':' ? 1 : 0);
    }
    (void)snprintf(path, capacity, "not in PATH");
    return false;
}

/* ---- messages ---- */

/* "folder/gnuplot.log". */
static void messages_of(const struct an_program *program, char path[PATH_ROOM])
{
    (void)snprintf(path, PATH_ROOM, "%s/%s.log", program->folder, program->name);
}

/* The first line that says something, or the first that names a line of a script. */
static void first_message(const struct an_program *program, char *text, size_t capacity)
{
    char path[PATH_ROOM];
    messages_of(program, path);
    text[0] = '\0';
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    char line[300];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strspn(line, " \t^") == strlen(line))
            continue;
        (void)snprintf(text, capacity, "%s", line);
        if (strstr(line, "line ") != NULL)
            break;
    }
    (void)fclose(file);
}

/* ---- the child ---- */

/* Only calls that are safe after fork. */
static void child_exec(const struct an_program *program, const char *messages,
                       char *const *arguments)
{
    if (chdir(program->folder) != 0)
        _exit(EXIT_NO_FOLDER);
    const int input = open("/dev/null", O_RDONLY);
    const int output = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (input < 0 || output < 0)
        _exit(written_status(errno) == WEIR_ENOMEM ? EXIT_NO_ROOM : EXIT_NO_FOLDER);
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0)
        _exit(EXIT_NO_FOLDER);
    execvp(arguments[0], arguments);
    _exit(EXIT_NO_PROGRAM);
}

/* ---- signals ---- */

static void fill_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGHUP);
    (void)sigaddset(set, SIGTERM);
}

void an_signals_hold(struct an_held *held)
{
    sigset_t set;
    fill_signals(&set);
    (void)sigprocmask(SIG_BLOCK, &set, &held->before);
}

bool an_signals_pending(void)
{
    sigset_t set;
    return sigpending(&set) == 0 &&
           (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGHUP) == 1 ||
            sigismember(&set, SIGTERM) == 1);
}

weir_status an_signals_release(const struct an_held *held, weir_status status,
                               struct weir_error *error)
{
    const struct timespec at_once = { .tv_sec = 0 };
    sigset_t set;
    bool is_interrupted = false;
    fill_signals(&set);
    while (sigtimedwait(&set, NULL, &at_once) > 0)
        is_interrupted = true;
    (void)sigprocmask(SIG_SETMASK, &held->before, NULL);
    return is_interrupted ? weir_fail(error, WEIR_EINTERRUPTED, "interrupted") : status;
}

/* Waits in growing steps of 1 to 20 ms. False when the time is up, or a signal waits to end the
 * program. */
static bool wait_limited(pid_t child, double timeout_s, int *state)
{
    double waited_s = 0.0;
    double step_s = 0.001;
    for (;;) {
        const pid_t done = waitpid(child, state, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR))
            return true;
        if (waited_s >= timeout_s || an_signals_pending())
            return false;
        const struct timespec pause = { .tv_sec = 0, .tv_nsec = (long)(step_s * 1e9) };
        (void)nanosleep(&pause, NULL);
        waited_s += step_s;
        step_s = fmin(0.02, step_s * 1.5);
    }
}

static weir_status judge_end(const struct an_program *program, int state, struct weir_error *error)
{
    char text[300];
    char path[PATH_ROOM];
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) {
        messages_of(program, path);
        (void)unlink(path);
        return WEIR_OK;
    }
    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_NO_PROGRAM)
        return weir_fail(error, WEIR_EIO, "%s cannot be started: install the package %s",
                         program->name, program->package);
    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_NO_FOLDER)
        return weir_fail(error, WEIR_EIO, "%s: cannot be written to", program->folder);
    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_NO_ROOM)
        return weir_fail(error, WEIR_ENOMEM, "%s: cannot be written to: the disk is full",
                         program->folder);
    first_message(program, text, sizeof text);
    return weir_fail(error, WEIR_EIO, "%s failed: %s", program->name,
                     text[0] == '\0' ? "no message" : text);
}

weir_status an_program_run(const struct an_program *program, const char *const *arguments,
                           struct weir_error *error)
{
    /* execvp takes mutable strings for historical reasons; it does not change them. */
    union {
        const char *const_text;
        char *text;
    } words[AN_PROGRAM_ARGUMENTS + 2] = { { .const_text = program->name } };
    char *line[AN_PROGRAM_ARGUMENTS + 2] = { words[0].text };
    char messages[PATH_ROOM];
    (void)snprintf(messages, sizeof messages, "%s.log", program->name);
    for (size_t i = 0; arguments[i] != NULL; i++) {
        if (i == AN_PROGRAM_ARGUMENTS)
            return weir_fail(error, WEIR_EINVAL, "%s: more than %d arguments", program->name,
                             AN_PROGRAM_ARGUMENTS);
        words[i + 1].const_text = arguments[i];
        line[i + 1] = words[i + 1].text;
    }
    const pid_t child = fork();
    if (child < 0)
        return weir_fail(error, WEIR_EIO, "%s cannot be started: %s", program->name,
                         strerror(errno));
    if (child == 0)
        child_exec(program, messages, line);
    int state = 0;
    if (!wait_limited(child, program->timeout_s, &state)) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, &state, 0);
        if (an_signals_pending())
            return WEIR_EINTERRUPTED;
        return weir_fail(error, WEIR_EIO, "%s took longer than %.0f s", program->name,
                         program->timeout_s);
    }
    return judge_end(program, state, error);
}
