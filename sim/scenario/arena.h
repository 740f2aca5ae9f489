/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that is freed all at once: everything a scenario consists of.
 *
 * A scenario file is at most 8 MiB and is read before anything runs, so running out of memory here
 * ends the program (abort) instead of burdening every line of the reader. Laws that come from the
 * law parser are handed over and destroyed with the rest.
 */
#ifndef SIM_SCENARIO_ARENA_H
#define SIM_SCENARIO_ARENA_H

#include "sim/engine/law.h"

#include <stdarg.h>
#include <stddef.h>

struct sim_arena_block;
struct sim_arena_law;

/* A zeroed one is valid and empty. */
struct sim_arena {
    struct sim_arena_block *blocks;
    struct sim_arena_law *laws;
};

/* Zeroed memory for `count` items of `size` bytes, aligned for anything; never NULL. */
void *sim_arena_alloc(struct sim_arena *arena, size_t count, size_t size);
/* An array that has grown this way from NULL on, with room for one more: itself, or a copy twice as
 * long, zeroed behind the old items, when their count is a power of two. */
void *sim_arena_grow(struct sim_arena *arena, void *items, size_t count, size_t size);
char *sim_arena_text(struct sim_arena *arena, const char *text, size_t length);
char *sim_arena_copy(struct sim_arena *arena, const char *text); /* NULL stays NULL */
char *sim_arena_printf(struct sim_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *sim_arena_vprintf(struct sim_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Takes ownership. */
void sim_arena_keep_law(struct sim_arena *arena, struct sim_law *law);
void sim_arena_clear(struct sim_arena *arena);

#endif
