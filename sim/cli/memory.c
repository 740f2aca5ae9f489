/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Out of memory ends the program: a sentence, and a code of its own.
 *
 * Libraries that weir uses (argp, libfyaml, jansson's packing) crash without memory or go on with
 * half an answer. Finished runs are safe whenever the program ends, so it ends where the first
 * allocation fails, whoever asks. Part of the program alone: libweir, which a controller links,
 * says WEIR_ENOMEM and goes on.
 *
 * The program's functions stand in front of those of the C library, or of another allocator that is
 * preloaded. A process of a run or of a policy ends alike; its parent says whose it was.
 *
 * A heap that is larger than SMALL_HEAP lies in pages of 2 MiB beyond that, where the system has
 * them: an event of a run with many jobs visits records all over it, and to find their pages takes
 * as long as to fetch them. It grows by HEAP_STEP, because a page that was touched before it was
 * asked for stays small.
 */
#include "sim/cli/options.h"

#ifndef __SANITIZE_ADDRESS__ /* it has an allocator of its own, and says so itself */
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 1 << 21, SMALL_HEAP = 1 << 20, HEAP_STEP = 32 << 20, OWN_MAPPING = 8 << 20 };

/* Looked up at the first call and the same ever after. */
static struct {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *old, size_t size);
    void *(*aligned_alloc)(size_t alignment, size_t size);
    bool is_looking;
    char *advised; /* so far the heap has its pages; NULL = nothing was given yet */
} next;

/* Libraries find them before those of the C library. */
#define FOR_ALL __attribute__((visibility("default")))

static void look_up(void)
{
    next.is_looking = true;
    *(void **)&next.calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next.realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&next.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    *(void **)&next.malloc = dlsym(RTLD_NEXT, "malloc");
    (void)mallopt(M_TOP_PAD, HEAP_STEP);
    (void)mallopt(M_MMAP_THRESHOLD, OWN_MAPPING);
    (void)mallopt(M_TRIM_THRESHOLD, INT32_MAX); /* what is advised stays so */
    next.advised = (char *)sbrk(0) + SMALL_HEAP;
    next.is_looking = false;
}

/* Whether there is somebody to ask: not while looking for him. */
static bool is_ready(void)
{
    if (next.malloc == NULL && !next.is_looking)
        look_up();
    return next.malloc != NULL;
}

static _Noreturn void end(size_t size)
{
    char text[128];
    (void)snprintf(text, sizeof(text), "weir: out of memory: %zu bytes more were not given\n",
                   size);
    (void)!write(STDERR_FILENO, text, strlen(text));
    _exit(SIM_EXIT_RESOURCE);
}

static char *next_page(char *memory)
{
    return memory + (-(uintptr_t)memory & (PAGE - 1));
}

/* This came to lie beyond what was advised: more of the heap, or a mapping of its own. Refused =
 * the system has no such pages. */
static void advise(char *memory, size_t size)
{
    char *top = sbrk(0);
    if (memory < top) {
        char *from = next_page(next.advised);
        if (from < top)
            (void)madvise(from, (size_t)(top - from), MADV_HUGEPAGE);
        next.advised = top;
    } else if (size >= OWN_MAPPING) {
        (void)madvise(next_page(memory), size - PAGE, MADV_HUGEPAGE);
    }
}

static void *given(void *memory, size_t size)
{
    if ((char *)memory + size > next.advised)
        advise(memory, size);
    return memory;
}

FOR_ALL void *malloc(size_t size)
{
    if (!is_ready())
        return NULL;
    void *memory = next.malloc(size);
    if (memory == NULL && size > 0)
        end(size);
    return given(memory, size);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): theirs are reserved names */
FOR_ALL void *calloc(size_t count, size_t size)
{
    if (!is_ready())
        return NULL;
    void *memory = next.calloc(count, size);
    if (memory == NULL && count > 0 && size > 0)
        end(count * size);
    return given(memory, count * size);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): theirs are reserved names */
FOR_ALL void *realloc(void *old, size_t size)
{
    if (!is_ready())
        return NULL;
    void *memory = next.realloc(old, size);
    if (memory == NULL && size > 0)
        end(size);
    return given(memory, size);
}

FOR_ALL void *aligned_alloc(size_t alignment, size_t size)
{
    if (!is_ready())
        return NULL;
    void *memory = next.aligned_alloc(alignment, size);
    if (memory == NULL && size > 0)
        end(size);
    return given(memory, size);
}
#endif
