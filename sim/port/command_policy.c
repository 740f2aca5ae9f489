/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program behind the policy `command`: its life and the exchange of lines. */
#include "sim/port/command_policy.h"

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

struct command {
    const struct sim_command_setup *setup;
    double timeout_s;
    struct sim_sandbox sandbox;
    int *mistake; /* why it could not be started, as errno says; 0 = it was */
    int to, from;
    int in, out; /* its ends of them */
    char *line;
    size_t length, capacity;
};

/* ---- setup ---- */

static void *resize(void *state, void *block, size_t size)
{
    (void)state; /* carries the setup, see the header */
    if (size > 0)
        return realloc(block, size);
    free(block);
    return NULL;
}

struct weir_allocator sim_command_allocator(struct sim_command_setup *setup)
{
    return (struct weir_allocator){ .resize = resize, .state = setup };
}

void sim_command_clear(struct sim_command_setup *setup)
{
    free(setup->question);
    setup->question = NULL;
    setup->question_length = 0;
}

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

/* Line breaks of the document are between its values only: texts have theirs escaped. */
static void flatten(char *text)
{
    char *kept = text;
    for (; *text != '\0'; text++)
        if (*text != '\n')
            *kept++ = *text;
    *kept = '\0';
}

weir_status sim_command_prepare(struct sim_command_setup *setup, const char *text, const char *word)
{
    static const char usual[] = "\"autoscale\""; /* the first value of the document */
    const char *value = strstr(text, usual);
    sim_command_clear(setup);
    if (value == NULL)
        return WEIR_EINVARIANT;
    if (asprintf(&setup->question, "%.*s\"%s\"%s", (int)(value - text), text, word,
                 value + sizeof usual - 1) < 0) {
        setup->question = NULL;
        return WEIR_ENOMEM;
    }
    flatten(setup->question);
    setup->question_length = strlen(setup->question);
    setup->question[setup->question_length++] = '\n'; /* the document had one at its end */
    return WEIR_OK;
}

/* ---- the child ---- */

static int64_t clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static weir_status ended(struct command *command, struct weir_error *error)
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
    const struct command *command = state;
    const char *folder = command->setup->folder;
    char *const *argv = NULL;
    memcpy(&argv, &command->setup->argv, sizeof argv); /* its texts are not written to */
    if (dup2(command->in, STDIN_FILENO) >= 0 && dup2(command->out, STDOUT_FILENO) >= 0 &&
        (folder == NULL || chdir(folder) == 0))
        (void)execvp(argv[0], argv);
    *command->mistake = errno;
    return 1;
}

static weir_status start(struct command *command, struct weir_error *error)
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

static weir_status receive(struct command *command, bool *is_whole, struct weir_error *error)
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

static weir_status transmit(struct command *command, size_t *sent, struct weir_error *error)
{
    const struct sim_command_setup *setup = command->setup;
    const ssize_t put = send(command->to, setup->question + *sent, setup->question_length - *sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0)
        *sent += (size_t)put;
    else if (errno != EAGAIN && errno != EINTR)
        return ended(command, error);
    return WEIR_OK;
}

static weir_status exchange(struct command *command, struct weir_error *error)
{
    const size_t length = command->setup->question_length;
    const int64_t until_ms = clock_ms() + (int64_t)(command->timeout_s * 1e3) + 1;
    bool is_whole = false;
    size_t sent = 0;
    command->length = 0;
    if (command->sandbox.keeper == 0 || command->setup->question == NULL)
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

/* ---- the policy ---- */

static void destroy(void *state)
{
    struct command *command = state;
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

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    const struct sim_command_setup *setup = allocator->state;
    if (allocator->resize != resize || setup->argv == NULL)
        return weir_fail(error, WEIR_EUNSUPPORTED, "runs in simulations of a scenario alone");
    struct command *command = calloc(1, sizeof *command);
    if (command == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    void *page = mmap(NULL, sizeof *command->mistake, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *command = (struct command){ .setup = setup,
                                 .timeout_s = params->values[0],
                                 .mistake = page == MAP_FAILED ? NULL : page,
                                 .to = -1,
                                 .from = -1 };
    const weir_status status =
        page == MAP_FAILED ? weir_fail(error, WEIR_ENOMEM, "out of memory") : start(command, error);
    if (status != WEIR_OK)
        destroy(command);
    else
        *state = command;
    return status;
}

static weir_status decide(void *state, const struct weir_view *view, struct weir_placer *placer,
                          struct weir_plan *plan, struct weir_error *error)
{
    struct command *command = state;
    (void)placer; /* the program chooses the places too */
    WEIR_TRY(exchange(command, error));
    return sim_command_plan(command->line, command->length, view, plan, error);
}

static weir_status adopt(void *state, const struct weir_view *view, struct weir_error *error)
{
    struct command *command = state;
    (void)view; /* it is in the question */
    WEIR_TRY(exchange(command, error));
    return sim_command_accepted(command->line, command->length, error);
}

static const struct weir_param params[] = {
    { .name = "timeout",
      .unit = "s",
      .kind = WEIR_PARAM_DURATION,
      .min = 1e-3,
      .max = 3600,
      .initial = 5,
      .help = "time the program has for an answer" },
};

const struct weir_scaling_ops sim_command_scaling = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "command",
    .summary = "a program in any language (argv), one line of JSON a decision",
    .params = params,
    .param_count = 1,
    .create = create,
    .destroy = destroy,
    .decide = decide,
    .adopt = adopt,
};
