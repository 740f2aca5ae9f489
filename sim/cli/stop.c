/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals that stop a program (see stop.h). */
#include "sim/cli/stop.h"

#include "sim/cli/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The one mutable variable of the program: a signal handler has nowhere else to write. */
static volatile sig_atomic_t stop_count;

static void on_stop(int signal_number)
{
    (void)signal_number;
    if (++stop_count > 1)
        _exit(SIM_EXIT_INTERRUPTED);
}

static void on_stop_again(int signal_number)
{
    (void)signal_number;
    stop_count = 1;
}

static void catch_all(void (*handler)(int))
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
    const struct sigaction action = { .sa_handler = handler };
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction before = { .sa_handler = SIG_DFL };
        const bool may_be_ignored = signals[i] == SIGHUP || signals[i] == SIGPIPE; /* nohup */
        (void)sigaction(signals[i], NULL, &before);
        if (!may_be_ignored || before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
}

void sim_stop_catch(void)
{
    catch_all(on_stop);
}

const volatile sig_atomic_t *sim_stop_count(void)
{
    return &stop_count;
}

void sim_stop_follow(pid_t parent)
{
    catch_all(on_stop_again);
    sim_stop_end_with(parent);
}

void sim_stop_end_with(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it ended before it could be asked for */
        _exit(SIM_EXIT_INTERRUPTED);
}

void sim_stop_release_pipe(void)
{
    (void)signal(SIGPIPE, SIG_DFL);
}
