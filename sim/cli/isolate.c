/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes for code of strangers (see isolate.h). */
#include "sim/cli/isolate.h"

#include "sim/cli/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWERED = 101 }; /* added to what a call returns, so that exit(0) is told apart */

void sim_isolate_limit(uint64_t memory_mib)
{
    const struct rlimit no_core = { 0, 0 };
    (void)setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__ /* its shadow takes terabytes of address space */
    const uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
    const uint64_t machine = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    const rlim_t bytes = memory_mib > 0 ? memory_mib << 20 : machine / 4 * 3;
    const struct rlimit memory = { bytes, bytes };
    (void)setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory_mib;
#endif
}

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

void sim_isolate_sentence(int wait_state, char message[SIM_ISOLATE_MESSAGE])
{
    message[0] = '\0';
    if (WIFSIGNALED(wait_state))
        (void)snprintf(message, SIM_ISOLATE_MESSAGE, "it was killed by signal %d (%s)",
                       WTERMSIG(wait_state), strsignal(WTERMSIG(wait_state)));
}

int sim_isolate_call(int (*call)(void *state), void *state, uint32_t timeout_s,
                     char message[SIM_ISOLATE_MESSAGE])
{
    int wait_state = 0;
    (void)fflush(NULL);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        sim_stop_end_with(parent);
        sim_isolate_limit(0);
        (void)alarm(timeout_s);
        _exit(ANSWERED + call(state));
    }
    if (pid < 0) {
        (void)snprintf(message, SIM_ISOLATE_MESSAGE, "cannot start a process: %s", strerror(errno));
        return -1;
    }
    while (waitpid(pid, &wait_state, 0) < 0 && errno == EINTR) {
    }
    sim_isolate_sentence(wait_state, message);
    if (WIFSIGNALED(wait_state) && WTERMSIG(wait_state) == SIGALRM)
        (void)snprintf(message, SIM_ISOLATE_MESSAGE, "it did not return within %u s", timeout_s);
    if (message[0] == '\0' && WEXITSTATUS(wait_state) < ANSWERED)
        (void)snprintf(message, SIM_ISOLATE_MESSAGE, "it ended the process with exit code %d",
                       WEXITSTATUS(wait_state));
    return message[0] != '\0' ? -1 : WEXITSTATUS(wait_state) - ANSWERED;
}
