/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine at its end: a library for LD_PRELOAD that lets the n-th allocation, or the n-th call
 * that writes a file, fail in the program weir and the processes it forks (not those it executes).
 *
 *   WEIR_FAIL=KIND:N:HOW   KIND alloc or write; N counts from 1 over all processes, 0 = none fails;
 *                          HOW once, or on (that one and every later one), and for write also
 *                          eio, enospc, short, eintr: with "on" every one is short or interrupted
 *                          once
 *   WEIR_FAIL_COUNT=FILE   gets the number of calls when the first process ends
 *   WEIR_FAIL_TRACE=1      the stack of the first failure, on standard error
 *
 * Example: WEIR_FAIL=write:12:once:enospc. What stdio writes goes past it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

enum kind { NOTHING, ALLOC, WRITE };
enum how { EIO_FAILS, ENOSPC_FAILS, SHORT, INTERRUPTED };

static struct {
    enum kind kind;
    enum how how;
    bool goes_on;
    long at;
    long *count; /* shared with the processes that are forked */
    pid_t first;
} plan;

static void print_stack(void)
{
    void *frames[40];
    if (getenv("WEIR_FAIL_TRACE") != NULL)
        backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
}

/* Whether this call is to fail. */
static bool fails(enum kind kind)
{
    if (plan.kind != kind)
        return false;
    const long now = __atomic_add_fetch(plan.count, 1, __ATOMIC_RELAXED);
    if (plan.at == 0 || now < plan.at || (now > plan.at && !plan.goes_on))
        return false;
    if (now == plan.at) {
        plan.kind = NOTHING; /* the stack may allocate */
        print_stack();
        plan.kind = kind;
    }
    return true;
}

static void read_plan(const char *text)
{
    static const char *const hows[] = { "eio", "enospc", "short", "eintr" };
    const char *number = strchr(text, ':');
    const enum kind kind = strncmp(text, "alloc:", 6) == 0   ? ALLOC
                           : strncmp(text, "write:", 6) == 0 ? WRITE
                                                             : NOTHING;
    if (kind == NOTHING || number == NULL)
        return;
    plan.at = strtol(number + 1, NULL, 10);
    plan.goes_on = strstr(text, ":on") != NULL;
    for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
        if (strstr(text, hows[i]) != NULL)
            plan.how = (enum how)i;
    plan.kind = kind;
}

__attribute__((constructor)) static void begin(void)
{
    void *frames[4];
    char program[256] = "";
    const char *text = getenv("WEIR_FAIL");
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (text == NULL || length < 5 || strncmp(program + length - 5, "/weir", 5) != 0)
        return;
    (void)backtrace(frames, 4); /* loads what it needs */
    plan.first = getpid();
    plan.count =
        mmap(NULL, sizeof(*plan.count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (plan.count != MAP_FAILED)
        read_plan(text);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("WEIR_FAIL_COUNT");
    if (plan.kind == NOTHING || path == NULL || getpid() != plan.first)
        return;
    plan.kind = NOTHING;
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        (void)dprintf(file, "%ld\n", *plan.count);
        (void)close(file);
    }
}

/* ---- memory ---- */

static bool no_memory(void)
{
    if (!fails(ALLOC))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return no_memory() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return no_memory() ? NULL : __libc_realloc(old, size);
}

/* ---- files ---- */

/* Whether a call that writes `size` bytes is to fail; a short one goes on with fewer. */
static bool no_write(size_t *size)
{
    if (!fails(WRITE))
        return false;
    if (plan.how == SHORT && *size > 1) {
        *size /= 2;
        plan.goes_on = false;
        return false;
    }
    if (plan.how == INTERRUPTED)
        plan.goes_on = false;
    errno = plan.how == ENOSPC_FAILS ? ENOSPC : plan.how == INTERRUPTED ? EINTR : EIO;
    return true;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* The same call of the C library, unless it is to fail. */
#define CALL(type, name, parameters, arguments)                                                    \
    type name parameters                                                                           \
    {                                                                                              \
        size_t size = 0;                                                                           \
        type(*real) parameters;                                                                    \
        *(void **)&real = next(#name);                                                             \
        return no_write(&size) ? -1 : real arguments;                                              \
    }
#define CALL_SIZE(type, name, parameters, arguments)                                               \
    type name parameters                                                                           \
    {                                                                                              \
        type(*real) parameters;                                                                    \
        *(void **)&real = next(#name);                                                             \
        return no_write(&size) ? -1 : real arguments;                                              \
    }

CALL_SIZE(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
CALL_SIZE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at),
          (file, bytes, size, at))
CALL_SIZE(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off_t at),
          (file, bytes, size, at))
CALL(int, fsync, (int file), (file))
CALL(int, fdatasync, (int file), (file))
CALL(int, ftruncate, (int file, off_t length), (file, length))
CALL(int, ftruncate64, (int file, off_t length), (file, length))
CALL(int, rename, (const char *from, const char *to), (from, to))
CALL(int, unlink, (const char *path), (path))
