/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks and ignores every signal, and waits for one. */
#define _GNU_SOURCE
#include "hostile.h"
#include <signal.h>
#include <time.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_IGN);
    while (sigwaitinfo(&all, NULL) != 0)
        continue;
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
