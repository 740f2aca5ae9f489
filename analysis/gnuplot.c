/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gnuplot as a child process; see the header. Scripts come as files, because on standard input
 * gnuplot carries on after errors; its messages go to a file next to them, so that no pipe can
 * fill.
 */
#include "analysis/gnuplot.h"
#include "sim/files/written.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SCRIPTS = 64, EXIT_NO_PROGRAM = 127, EXIT_NO_FOLDER = 126, EXIT_NO_ROOM = 125 };

static const char messages_name[] = "gnuplot.log";

/* In the child: only calls that are safe after fork. */
static void child_exec(const char *folder, char *const *arguments)
{
    if (chdir(folder) != 0)
        _exit(EXIT_NO_FOLDER);
    const int input = open("/dev/null", O_RDONLY);
    const int output = open(messages_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (input < 0 || output < 0)
        _exit(written_status(errno) == WEIR_ENOMEM ? EXIT_NO_ROOM : EXIT_NO_FOLDER);
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0)
        _exit(EXIT_NO_FOLDER);
    execvp(arguments[0], arguments);
    _exit(EXIT_NO_PROGRAM);
}

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

/* The first line of gnuplot's messages that says something. */
static void first_message(const char *folder, char *text, size_t capacity)
{
    char path[1200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, messages_name);
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

static weir_status judge_end(const char *folder, int state, struct weir_error *error)
{
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) {
        char path[1200];
        (void)snprintf(path, sizeof path, "%s/%s", folder, messages_name);
        (void)unlink(path);
        return WEIR_OK;
    }
    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_NO_PROGRAM)
        return weir_fail(error, WEIR_EIO,
                         "gnuplot cannot be started: install the package gnuplot-nox");
    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_NO_FOLDER)
        return weir_fail(error, WEIR_EIO, "%s: cannot be written to", folder);
    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_NO_ROOM)
        return weir_fail(error, WEIR_ENOMEM, "%s: cannot be written to: the disk is full", folder);
    char text[300];
    first_message(folder, text, sizeof text);
    return weir_fail(error, WEIR_EIO, "gnuplot failed: %s", text[0] == '\0' ? "no message" : text);
}

weir_status an_gnuplot_run(const char *folder, const char *const *scripts, double timeout_s,
                           struct weir_error *error)
{
    /* execvp takes mutable strings for historical reasons; it does not change them. */
    union {
        const char *const_text;
        char *text;
    } words[MAX_SCRIPTS + 2] = { { .const_text = "gnuplot" } };
    char *arguments[MAX_SCRIPTS + 2] = { words[0].text };
    size_t count = 1;
    for (; scripts[count - 1] != NULL; count++) {
        if (count > MAX_SCRIPTS)
            return weir_fail(error, WEIR_EINVAL, "more than %d charts at once", MAX_SCRIPTS);
        words[count].const_text = scripts[count - 1];
        arguments[count] = words[count].text;
    }
    const pid_t child = fork();
    if (child < 0)
        return weir_fail(error, WEIR_EIO, "gnuplot cannot be started: %s", strerror(errno));
    if (child == 0)
        child_exec(folder, arguments);
    int state = 0;
    if (!wait_limited(child, timeout_s, &state)) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, &state, 0);
        if (an_signals_pending())
            return WEIR_EINTERRUPTED;
        return weir_fail(error, WEIR_EIO, "gnuplot took longer than %.0f s", timeout_s);
    }
    return judge_end(folder, state, error);
}

/* ---- texts ---- */

/* Control characters would end the line of the script, and a doubled quote at its beginning the
 * text (gnuplot 5.4): a quote becomes an apostrophe. Its pictures escape < and &, but not the > of
 * what ends a section of XML. */
static void write_plain(FILE *out, const char *text, const char *c)
{
    if (*c == '\'')
        (void)fputs("\xE2\x80\x99", out);
    else if (*c == '>' && c - text >= 2 && c[-1] == ']' && c[-2] == ']')
        (void)fputs("\xE2\x80\xBA", out);
    else
        (void)fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
}

void an_gnuplot_quote(FILE *out, const char *text)
{
    (void)fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++)
        write_plain(out, text, c);
    (void)fputc('\'', out);
}

void an_gnuplot_quote_bold(FILE *out, const char *text)
{
    (void)fputs("'{/:Bold ", out);
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("_^{}@&~\\", *c) != NULL)
            (void)fputc('\\', out);
        write_plain(out, text, c);
    }
    (void)fputs("}'", out);
}
