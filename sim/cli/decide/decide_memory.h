/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of memory in libweir-json: every file of it is compiled with this one at its head.
 *
 * In the program an allocation that fails ends the process (sim/cli/memory.c), and what is shared
 * with it knows no other end. In the process of a controller it ends the call: whoever takes memory
 * below decide_memory_try(), jansson too, is left where it stands, with all that it holds.
 */
#ifndef SIM_DECIDE_MEMORY_H
#define SIM_DECIDE_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False = there was no memory, and `call` came to no end. */
bool decide_memory_try(void (*call)(void *state), void *state);
void decide_memory_check(bool is_given);

static inline void *decide_given(void *block)
{
    decide_memory_check(block != NULL);
    return block;
}

static inline int decide_printed(int length)
{
    decide_memory_check(length >= 0);
    return length;
}

/* What the files use of the C library; a name within its own macro is the function's.
 * NOLINTBEGIN(readability-identifier-naming): they stand in for functions. */
#define malloc(size)                    decide_given(malloc(size))
#define calloc(count, size)             decide_given(calloc(count, size))
#define realloc(old, size)              decide_given(realloc(old, size))
#define reallocarray(old, count, size)  decide_given(reallocarray(old, count, size))
#define strdup(text)                    decide_given(strdup(text))
#define strndup(text, length)           decide_given(strndup(text, length))
#define vasprintf(text, format, values) decide_printed(vasprintf(text, format, values))
/* NOLINTEND(readability-identifier-naming) */

#endif
