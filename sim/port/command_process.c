/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program behind a policy `command`: its life and the exchange of lines; see the header. */
#include "sim/port/command_process.h"

#include "sim/engine/time.h"
#include "sim/port/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST_ANSWER = 64 * 1024 * 1024, BLOCK = 65536, LAST_WAIT_MS = 500 };

struct sim_command {
    struct sim_command_setup *setup;
    double timeout_s;
    struct sim_sandbox sandbox;
    int *mistake; /* why it could not be started, as errno says; 0 = it was */
    int to, from;
    int in, out; /* its ends of them */
    const char *question;
    size_t question_length;
    char *line;
    size_t length, capacity;
};

void sim_command_text(const struct sim_command_setup *setup, char text[SIM_COMMAND_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; setup->argv[i] != NULL && used < SIM_COMMAND_TEXT; i++) {
        const int length = snprintf(text + used, SIM_COMMAND_TEXT - used, "%s%s", i == 0 ? "" : " ",
                                    setup->argv[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* ---- the child ---- */

static int64_t clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static weir_status ended(struct sim_command *command, struct weir_error *error)
{
    const int state = sim_sandbox_stop(&command->sandbox, LAST_WAIT_MS);
    if (*command->mistake != 0)
        return weir_fail(error, WEIR_EPOLICY, "cannot be started: %s", strerror(*command->mistake));
    if (WIFSIGNALED(state))
        return weir_fail(
            error, WEIR_EPOLICY, "ended by signal %d instead of answering%s", WTERMSIG(state),
            WTERMSIG(state) == SIGSYS ? ": it wanted to signal weir or everybody" : "");
    return weir_fail(error, WEIR_EPOLICY, "ended with code %d instead of answering",
                     WEXITSTATUS(state));
}

/* In its process. */
static int become(void *state)
{
    const struct sim_command *command = state;
    const char *folder = command->setup->folder;
    char *const *argv = NULL;
    memcpy(&argv, &command->setup->argv, sizeof argv); /* its texts are not written to */
    if (dup2(command->in, STDIN_FILENO) >= 0 && dup2(command->out, STDOUT_FILENO) >= 0 &&
        (folder == NULL || chdir(folder) == 0))
        (void)execvp(argv[0], argv);
    *command->mistake = errno;
    return 1;
}

static weir_status start(struct sim_command *command, struct weir_error *error)
{
    int input[2];
    int output[2];
    /* A socket, because a write to a program that is gone can then fail without a signal. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0)
        return weir_fail(error, WEIR_EPOLICY, "socketpair: %s", strerror(errno));
    if (pipe2(output, O_CLOEXEC) != 0) {
        (void)close(input[0]);
        (void)close(input[1]);
        return weir_fail(error, WEIR_EPOLICY, "pipe: %s", strerror(errno));
    }
    command->to = input[0];
    command->from = output[0];
    command->in = input[1];
    command->out = output[1];
    const struct sim_sandbox_task task = { .main = become,
                                           .state = command,
                                           .kept = { command->in, command->out },
                                           .pages = { command->mistake } };
    const weir_status status = sim_sandbox_start(&task, &command->sandbox, error);
    (void)close(command->in);
    (void)close(command->out);
    return status;
}

/* ---- the exchange ---- */

static weir_status receive(struct sim_command *command, bool *is_whole, struct weir_error *error)
{
    if (command->length + BLOCK > command->capacity) {
        char *grown = realloc(command->line, command->capacity * 2 + BLOCK);
        if (grown == NULL)
            return WEIR_ENOMEM;
        command->line = grown;
        command->capacity = command->capacity * 2 + BLOCK;
    }
    const ssize_t got = read(command->from, command->line + command->length, BLOCK);
    if (got == 0)
        return ended(command, error);
    if (got < 0)
        return errno == EINTR
                   ? WEIR_OK
                   : weir_fail(error, WEIR_EPOLICY, "cannot be read from: %s", strerror(errno));
    const char *end = memchr(command->line + command->length, '\n', (size_t)got);
    command->length += (size_t)got;
    if (command->length > LARGEST_ANSWER)
        return weir_fail(error, WEIR_EPOLICY, "its answer is larger than 64 MiB");
    if (end == NULL)
        return WEIR_OK;
    *is_whole = true;
    return end + 1 == command->line + command->length
               ? WEIR_OK
               : weir_fail(error, WEIR_EPOLICY, "answered with more than one line");
}

static weir_status transmit(struct sim_command *command, size_t *sent, struct weir_error *error)
{
    const ssize_t put = send(command->to, command->question + *sent,
                             command->question_length - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0)
        *sent += (size_t)put;
    else if (errno != EAGAIN && errno != EINTR)
        return ended(command, error);
    return WEIR_OK;
}

static weir_status exchange(struct sim_command *command, struct weir_error *error)
{
    const size_t length = command->question_length;
    const int64_t until_ms = clock_ms() + (int64_t)(command->timeout_s * 1e3) + 1;
    bool is_whole = false;
    size_t sent = 0;
    command->length = 0;
    if (command->sandbox.keeper == 0 || command->question == NULL)
        return weir_fail(error, WEIR_EPOLICY, "has ended");
    struct pollfd early = { .fd = command->from, .events = POLLIN };
    if (poll(&early, 1, 0) > 0) { /* a second line after the last answer, or its end */
        WEIR_TRY(receive(command, &is_whole, error));
        return weir_fail(error, WEIR_EPOLICY, "wrote without being asked");
    }
    while (!is_whole) {
        struct pollfd ends[2] = { { .fd = command->from, .events = POLLIN },
                                  { .fd = sent < length ? command->to : -1, .events = POLLOUT } };
        const int64_t left_ms = until_ms - clock_ms();
        if (left_ms <= 0)
            return weir_fail(error, WEIR_EPOLICY, "gave no answer within %.9g s",
                             command->timeout_s);
        if (poll(ends, 2, (int)left_ms) <= 0)
            continue;
        if (ends[0].revents != 0)
            WEIR_TRY(receive(command, &is_whole, error));
        else if (ends[1].revents != 0)
            WEIR_TRY(transmit(command, &sent, error));
    }
    return WEIR_OK;
}

/* ---- for its policy ---- */

weir_status sim_command_ask(struct sim_command *command, struct sim_command_line question,
                            struct sim_command_line *answer, struct weir_error *error)
{
    command->question = question.text;
    command->question_length = question.length;
    const weir_status status = exchange(command, error);
    command->question = NULL;
    command->setup->is_blamed |= status == WEIR_EPOLICY;
    if (status == WEIR_OK)
        *answer = (struct sim_command_line){ command->line, command->length };
    return status;
}

void sim_command_blame(struct sim_command *command)
{
    command->setup->is_blamed = true;
}

weir_status sim_command_ask_written(struct sim_command *command,
                                    weir_status (*write)(void *state, FILE *out), void *state,
                                    struct sim_command_line *answer, struct weir_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return WEIR_ENOMEM;
    weir_status status = write(state, out);
    if (fclose(out) != 0 && status == WEIR_OK)
        status = WEIR_ENOMEM;
    if (status == WEIR_OK)
        status = sim_command_ask(command, (struct sim_command_line){ text, length }, answer, error);
    free(text);
    return status;
}

void sim_command_end(struct sim_command *command)
{
    if (command == NULL)
        return;
    if (command->to >= 0)
        (void)close(command->to); /* the end of its input is its sign to leave */
    if (command->from >= 0)
        (void)close(command->from);
    if (command->sandbox.keeper != 0)
        (void)sim_sandbox_stop(&command->sandbox, LAST_WAIT_MS);
    if (command->mistake != NULL)
        (void)munmap(command->mistake, sizeof *command->mistake);
    free(command->line);
    free(command);
}

weir_status sim_command_start(struct sim_command_setup *setup, double timeout_s,
                              struct sim_command **made, struct weir_error *error)
{
    if (setup == NULL || setup->argv == NULL)
        return weir_fail(error, WEIR_EUNSUPPORTED, "runs in simulations of a scenario alone");
    struct sim_command *command = calloc(1, sizeof *command);
    if (command == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    void *page = mmap(NULL, sizeof *command->mistake, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *command = (struct sim_command){ .setup = setup,
                                     .timeout_s = timeout_s,
                                     .mistake = page == MAP_FAILED ? NULL : page,
                                     .to = -1,
                                     .from = -1 };
    const weir_status status =
        page == MAP_FAILED ? weir_fail(error, WEIR_ENOMEM, "out of memory") : start(command, error);
    setup->is_blamed |= status == WEIR_EPOLICY;
    if (status != WEIR_OK)
        sim_command_end(command);
    else
        *made = command;
    return status;
}
