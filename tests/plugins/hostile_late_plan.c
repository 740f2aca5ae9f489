/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the plan of its first call, and a thread of it goes on planning after the answer: what does
 * not fit. */
#define _GNU_SOURCE
#include "hostile.h"
#include <pthread.h>
#include <unistd.h>

static struct weir_plan *kept;
static struct weir_alloc wrong;

static void *go_on(void *state)
{
    for (;;) {
        (void)weir_plan_start(kept, weir_pool_owner(0), 1, &wrong, NULL);
        (void)usleep(1);
    }
    return state;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    pthread_t thread;
    if (view->decision == 0) {
        kept = plan;
        wrong = hostile_alloc(view);
        wrong.cpu_units *= 1000;
        (void)pthread_create(&thread, NULL, go_on, NULL);
    }
    (void)usleep(2000);
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
