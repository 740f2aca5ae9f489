/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts threads that never rest, and waits for them. */
#define _GNU_SOURCE
#include "hostile.h"
#include <pthread.h>

static void *spin(void *nothing)
{
    volatile const char *at = nothing;
    while (at != NULL)
        continue;
    return NULL;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    pthread_t threads[32];
    char flag = 1;
    for (size_t i = 0; i < 32; i++)
        (void)pthread_create(&threads[i], NULL, spin, &flag);
    (void)pthread_join(threads[0], NULL);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
