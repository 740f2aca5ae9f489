/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a call ends that finds no memory (see decide_memory.h). */
#include "sim/cli/decide/decide_memory.h"

#include <jansson.h>
#include <setjmp.h>

/* Of the call that this thread is in; NULL = of none. */
static _Thread_local jmp_buf *landing;

/* What jansson took memory by before this library was loaded, and takes it by still. */
static json_malloc_t malloc_before;
static json_free_t free_before;

void decide_memory_check(bool is_given)
{
    if (!is_given && landing != NULL)
        longjmp(*landing, 1);
}

bool decide_memory_try(void (*call)(void *state), void *state)
{
    jmp_buf here;

    if (setjmp(here) == 0) {
        landing = &here;
        call(state);
        landing = NULL;
        return true;
    }
    landing = NULL;
    return false;
}

static void *malloc_for_jansson(size_t size)
{
    return decide_given(malloc_before(size));
}

__attribute__((constructor)) static void begin(void)
{
    json_get_alloc_funcs(&malloc_before, &free_before);
    json_set_alloc_funcs(malloc_for_jansson, free_before);
}

__attribute__((destructor)) static void end(void)
{
    json_malloc_t now = NULL;
    json_free_t then = NULL;
    json_get_alloc_funcs(&now, &then);
    if (now == malloc_for_jansson)
        json_set_alloc_funcs(malloc_before, free_before);
}
