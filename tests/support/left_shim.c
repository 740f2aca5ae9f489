/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who takes gives back: a library for LD_PRELOAD that counts what a program took of memory and of
 * files and did not give back when it ends.
 *
 *   WEIR_LEFT=FILE   gets a line for each thing left, and is not made when there is none
 *
 * Only the first process counts, of the program weir; one that is forked or executed ends as it
 * likes. The C library gives back what
 * it holds for itself when it is told to, as valgrind tells it: who took a block, valgrind says.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

enum { BLOCKS = 1 << 22, FILES = 1024 };

/* By address, open addressing; one that was given back keeps its place. */
struct block {
    uintptr_t at;
    size_t size; /* and one; 0 = given back */
};
static struct block blocks[BLOCKS];
static bool is_over;
static bool was_open[FILES];
static pid_t first;

static struct block *find(uintptr_t at, bool is_new)
{
    size_t slot = (at >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 42;
    while (blocks[slot].at != at && blocks[slot].at != 0)
        slot = (slot + 1) % BLOCKS;
    if (blocks[slot].at == 0 && is_new)
        blocks[slot].at = at;
    return blocks[slot].at == at ? &blocks[slot] : NULL;
}

static void *taken(void *block, size_t size)
{
    if (block != NULL && !is_over)
        find((uintptr_t)block, true)->size = size + 1;
    return block;
}

static void given_back(void *block)
{
    struct block *found = block == NULL ? NULL : find((uintptr_t)block, false);
    if (found != NULL)
        found->size = 0;
}

void *malloc(size_t size)
{
    return taken(__libc_malloc(size), size);
}

void *calloc(size_t count, size_t size)
{
    return taken(__libc_calloc(count, size), count * size);
}

void *realloc(void *old, size_t size)
{
    void *block = __libc_realloc(old, size);
    if (block != NULL)
        given_back(old);
    return taken(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return taken(__libc_memalign(alignment, size), size);
}

void free(void *block)
{
    given_back(block);
    __libc_free(block);
}

/* What a descriptor is open on, or false. */
static bool is_open(int file, char *target, size_t capacity)
{
    char name[40];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(name, target, capacity - 1);
    target[length < 0 ? 0 : length] = '\0';
    return length >= 0;
}

__attribute__((constructor)) static void begin(void)
{
    char target[256] = "";
    const ssize_t length = readlink("/proc/self/exe", target, sizeof target - 1);
    first = length >= 5 && strncmp(target + length - 5, "/weir", 5) == 0 ? getpid() : 0;
    for (int file = 0; file < FILES; file++)
        was_open[file] = is_open(file, target, sizeof target);
}

__attribute__((destructor)) static void end(void)
{
    char target[256];
    const char *path = getenv("WEIR_LEFT");
    void (*const give_back)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "__libc_freeres");
    FILE *out = NULL;
    if (getpid() != first || path == NULL || give_back == NULL)
        return;
    give_back();
    is_over = true;
    for (int file = 0; file < FILES; file++)
        if (!was_open[file] && is_open(file, target, sizeof target)) {
            out = out == NULL ? fopen(path, "a") : out;
            (void)fprintf(out, "file %d: %s\n", file, target);
        }
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i].size != 0) {
            out = out == NULL ? fopen(path, "a") : out;
            (void)fprintf(out, "%zu bytes\n", blocks[i].size - 1);
        }
    if (out != NULL)
        (void)fclose(out);
}
