/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes for code of strangers (see isolate.h). */
#include "sim/cli/isolate.h"

#include "sim/cli/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void on_tick(int signal_number, siginfo_t *info, void *context)
{
    struct sim_watchdog *watchdog = info->si_value.sival_ptr;
    const uint64_t *counter = *watchdog->counter;
    const uint64_t now = counter == NULL ? UINT64_MAX : *(const volatile uint64_t *)counter;
    (void)signal_number;
    (void)context;
    watchdog->ticks = now == watchdog->seen ? watchdog->ticks + 1 : 0;
    watchdog->seen = now;
    if (watchdog->ticks >= watchdog->timeout_s)
        watchdog->expired(watchdog->state);
}

bool sim_watchdog_start(struct sim_watchdog *watchdog)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    const struct itimerspec each_second = { { 1, 0 }, { 1, 0 } };
    timer_t timer;
    action.sa_sigaction = on_tick;
    event.sigev_value.sival_ptr = watchdog;
    watchdog->ticks = 0;
    watchdog->seen = 0;
    return sigaction(SIGALRM, &action, NULL) == 0 &&
           timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
           timer_settime(timer, 0, &each_second, NULL) == 0;
}

/* What a call says, where its code cannot say it by ending the process. */
struct answer {
    int (*call)(void *state);
    void *state;
    volatile int code; /* of the call + 1; 0 = it did not return */
};

static int answer_main(void *state)
{
    struct answer *answer = state;
    answer->code = answer->call(answer->state) + 1;
    (void)fflush(NULL);
    return 0;
}

static struct answer *open_answer(int (*call)(void *state), void *state,
                                  char message[SIM_SANDBOX_TEXT])
{
    struct answer *answer =
        mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED) {
        (void)snprintf(message, SIM_SANDBOX_TEXT, "no memory for a process");
        return NULL;
    }
    *answer = (struct answer){ .call = call, .state = state };
    return answer;
}

static int close_answer(struct answer *answer)
{
    const int code = answer->code - 1;
    (void)munmap(answer, sizeof *answer);
    return code;
}

int sim_isolate_call(int (*call)(void *state), void *state, char message[SIM_SANDBOX_TEXT])
{
    int wait_state = 0;
    struct answer *answer = open_answer(call, state, message);
    if (answer == NULL)
        return -1;
    (void)fflush(NULL);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        sim_stop_end_with(parent);
        sim_sandbox_limit(0);
        _exit(answer_main(answer));
    }
    if (pid < 0)
        (void)snprintf(message, SIM_SANDBOX_TEXT, "cannot start a process: %s", strerror(errno));
    while (pid > 0 && waitpid(pid, &wait_state, 0) < 0 && errno == EINTR) {
    }
    if (pid > 0 && (answer->code == 0 || WIFSIGNALED(wait_state))) {
        sim_sandbox_sentence(wait_state, message);
        answer->code = 0;
    }
    return close_answer(answer);
}

int sim_isolate_module(const struct sim_isolated_call *call, char message[SIM_SANDBOX_TEXT])
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_sandbox sandbox;
    struct answer *answer = open_answer(call->call, call->state, message);
    if (answer == NULL)
        return -1;
    const struct sim_sandbox_task task = { .main = answer_main,
                                           .state = answer,
                                           .kept = { -1, -1 },
                                           .pages = { answer, call->page },
                                           .keeps_output = call->keeps_output,
                                           .is_module = true };
    if (sim_sandbox_start(&task, &sandbox, &error) != WEIR_OK) {
        (void)snprintf(message, SIM_SANDBOX_TEXT, "%.200s", error.text);
        return close_answer(answer);
    }
    const bool is_over = sim_sandbox_await(&sandbox, (int64_t)call->timeout_s * 1000);
    const int wait_state = sim_sandbox_stop(&sandbox, 0);
    if (!is_over)
        (void)snprintf(message, SIM_SANDBOX_TEXT, "it did not return within %u s", call->timeout_s);
    else if (answer->code == 0 || WIFSIGNALED(wait_state))
        sim_sandbox_sentence(wait_state, message);
    if (message[0] != '\0')
        answer->code = 0;
    return close_answer(answer);
}
