/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts threads by the thousand, which sleep and never end. */
#define _GNU_SOURCE
#include "hostile.h"
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

enum { CROWD = 3000 };

static void *rest(void *state)
{
    for (;;)
        (void)pause();
    return state;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    pthread_t thread;
    pthread_attr_t small;
    if (view->decision == 0 && pthread_attr_init(&small) == 0 &&
        pthread_attr_setstacksize(&small, 64 * 1024) == 0)
        for (int i = 0; i < CROWD && pthread_create(&thread, &small, rest, NULL) == 0; i++)
            continue;
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
