/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that is freed all at once: see the header. Blocks are chained, newest first; a request
 * larger than a block gets a block of its own.
 */
#include "sim/scenario/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 32768 };

struct sim_arena_block {
    struct sim_arena_block *next;
    size_t used;
    size_t size;
    _Alignas(max_align_t) unsigned char bytes[];
};

struct sim_arena_law {
    struct sim_arena_law *next;
    struct sim_law *law;
};

static void add_block(struct sim_arena *arena, size_t need)
{
    const size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
    struct sim_arena_block *block = calloc(1, sizeof *block + size);
    if (block == NULL)
        abort();
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
}

void *sim_arena_alloc(struct sim_arena *arena, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        abort();
    const size_t align = _Alignof(max_align_t);
    bytes = (bytes + align - 1) / align * align;
    if (arena->blocks == NULL || arena->blocks->size - arena->blocks->used < bytes)
        add_block(arena, bytes);
    struct sim_arena_block *block = arena->blocks;
    void *result = block->bytes + block->used;
    block->used += bytes;
    return result;
}

void *sim_arena_grow(struct sim_arena *arena, void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return items;
    unsigned char *grown = sim_arena_alloc(arena, count == 0 ? 1 : 2 * count, size);
    if (count > 0)
        memcpy(grown, items, count * size);
    return grown;
}

char *sim_arena_text(struct sim_arena *arena, const char *text, size_t length)
{
    char *copy = sim_arena_alloc(arena, length + 1, 1);
    if (length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *sim_arena_copy(struct sim_arena *arena, const char *text)
{
    return text == NULL ? NULL : sim_arena_text(arena, text, strlen(text));
}

char *sim_arena_vprintf(struct sim_arena *arena, const char *format, va_list arguments)
{
    char *text = NULL;
    const int length = vasprintf(&text, format, arguments);
    if (length < 0)
        abort();
    char *copy = sim_arena_text(arena, text, (size_t)length);
    free(text);
    return copy;
}

char *sim_arena_printf(struct sim_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = sim_arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

void sim_arena_keep_law(struct sim_arena *arena, struct sim_law *law)
{
    struct sim_arena_law *entry = sim_arena_alloc(arena, 1, sizeof *entry);
    *entry = (struct sim_arena_law){ .next = arena->laws, .law = law };
    arena->laws = entry;
}

void sim_arena_clear(struct sim_arena *arena)
{
    for (struct sim_arena_law *entry = arena->laws; entry != NULL; entry = entry->next)
        sim_law_destroy(entry->law);
    struct sim_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct sim_arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = (struct sim_arena){ .blocks = NULL };
}
