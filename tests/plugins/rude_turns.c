/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread of it writes over what it shares with others all the time. */
#define _GNU_SOURCE
#include "hostile.h"
#include "pages.h"

#include <pthread.h>
#include <unistd.h>

static void disturb(void *page, size_t size)
{
    static uint32_t random = 12345;
    for (int i = 0; i < 64; i++) {
        random = random * 1664525 + 1013904223;
        ((volatile uint32_t *)page)[(random >> 8) % (size / 4)] = random % 4;
        ((volatile uint32_t *)page)[(random >> 8) % 256] = random % 4;
    }
}

static void *go_on(void *state)
{
    for (;;) {
        hostile_pages(disturb);
        (void)usleep(50);
    }
    return state;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    pthread_t thread;
    if (view->decision == 0)
        (void)pthread_create(&thread, NULL, go_on, NULL);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
