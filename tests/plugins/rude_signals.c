/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes every signal, and has one sent to itself all the time, which interrupts every wait. */
#define _GNU_SOURCE
#include "hostile.h"
#include <signal.h>
#include <sys/time.h>

static void take(int number)
{
    (void)number;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct sigaction action = { .sa_handler = take }; /* no call is begun again */
    const struct itimerval often = { { 0, 100 }, { 0, 100 } };
    for (int number = 1; number < SIGRTMAX; number++)
        (void)sigaction(number, &action, NULL);
    (void)setitimer(ITIMER_REAL, &often, NULL);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
