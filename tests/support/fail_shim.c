/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine at its end: a library for LD_PRELOAD that lets the n-th allocation, the n-th call that
 * writes a file, the n-th that reads one and so on fail in the program weir and the processes it
 * forks (not those it executes).
 *
 *   WEIR_FAIL=KIND:N:HOW   KIND of the calls, see below; N counts from 1 over all processes, 0 =
 *                          none fails; HOW once, or on (that one and every later one), and but for
 *                          alloc also an error by its name (eio, enospc, eintr, emfile, eacces,
 *                          eagain, enomem), or short: with "on" every one is short or interrupted
 *                          once; or kill: the process ends there, as by SIGKILL, and every
 *                          other one at its next such call
 *
 *   alloc   memory; lines: memory alone that begins where a line of the cache does; map: pages of
 * the system, what is shared with other processes write   also what makes, names, shortens, removes
 * and waits for files read    what is in a file; open: a file for reading, a folder; close: of any
 * file, which is closed all the same; look: what is said of a file, and its locks start processes,
 * and what they talk through; wait: for a process
 *
 *   WEIR_FAIL_COUNT=FILE   gets the number of calls when the first process ends; with N = 0 also
 * the number of the first call from each place and what stands for it: a stack of up to 16 callers,
 * the same in every run of the program when addresses are not drawn (setarch -R)
 *   WEIR_FAIL_TRACE=1      the stack of the first failure, on standard error
 *
 * Example: WEIR_FAIL=write:12:once:enospc. Calls that the C library makes itself, as stdio does, do
 * not go through names that a library could define again: so the functions of the C library begin
 * with a jump to ours, which call the kernel. Machine code of x86-64; elsewhere it is not built.
 * What is written to standard error always arrives: somewhere it must be said.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum kind { NOTHING, ALLOC, LINES, MAP, WRITE, READ, OPEN, CLOSE, LOOK, START, WAIT };
enum { SHORT = -1, KILL = -2 }; /* in place of an error */

enum { PLACES = 1 << 16, FRAMES = 16 };

/* Shared with the processes that are forked. */
struct seen {
    long count;
    long place_count;
    long first[PLACES / 2]; /* the call that found each place */
    uint64_t stacks[PLACES / 2];
    uint64_t places[PLACES]; /* open addressing, by stack; 0 = none */
};

static struct {
    enum kind kind;
    int how; /* the error, SHORT or KILL */
    bool goes_on;
    long at;
    struct seen *seen;
    pid_t first;
} plan;

static void print_stack(void)
{
    void *frames[40];
    if (getenv("WEIR_FAIL_TRACE") != NULL)
        backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
}

/* Two processes that find one at the same time may note it twice. */
static void note_place(long now)
{
    void *frames[FRAMES];
    const enum kind kind = plan.kind;
    plan.kind = NOTHING;
    const int depth = backtrace(frames, FRAMES);
    plan.kind = kind;
    uint64_t stack = 1;
    for (int i = 0; i < depth; i++)
        stack = (stack ^ (uint64_t)(uintptr_t)frames[i]) * 0x9e3779b97f4a7c15U;
    uint64_t *slot = &plan.seen->places[stack >> 48];
    while (*slot != 0 && *slot != stack)
        slot = slot + 1 == plan.seen->places + PLACES ? plan.seen->places : slot + 1;
    if (*slot == stack || plan.seen->place_count == PLACES / 2)
        return;
    *slot = stack;
    plan.seen->stacks[plan.seen->place_count] = stack;
    plan.seen->first[plan.seen->place_count++] = now;
}

/* Whether this call is to fail. */
static bool fails(enum kind kind)
{
    if (plan.kind != kind)
        return false;
    const long now = __atomic_add_fetch(&plan.seen->count, 1, __ATOMIC_RELAXED);
    if (plan.at == 0)
        note_place(now);
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
    static const char *const kinds[] = { "",     "alloc", "lines", "map",   "write", "read",
                                         "open", "close", "look",  "start", "wait" };
    static const struct {
        const char *name;
        int error;
    } hows[] = { { ":eio", EIO },       { ":enospc", ENOSPC }, { ":short", SHORT },
                 { ":eintr", EINTR },   { ":emfile", EMFILE }, { ":eacces", EACCES },
                 { ":eagain", EAGAIN }, { ":enomem", ENOMEM }, { ":kill", KILL } };
    const char *number = strchr(text, ':');
    if (number == NULL)
        return;
    plan.at = strtol(number + 1, NULL, 10);
    plan.goes_on = strstr(text, ":once") == NULL || strstr(text, ":kill") != NULL;
    plan.how = EIO;
    for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
        if (strstr(number, hows[i].name) != NULL)
            plan.how = hows[i].error;
    for (size_t i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0 && text[strlen(kinds[i])] == ':')
            plan.kind = (enum kind)i;
}

/* ---- memory ---- */

static bool no_memory(enum kind kind)
{
    if (!fails(kind))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return no_memory(ALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return no_memory(ALLOC) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return no_memory(ALLOC) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return no_memory(ALLOC) || no_memory(LINES) ? NULL : __libc_memalign(alignment, size);
}

/* The process of a module gives up what it shares: nothing fails there any more. */
int munmap(void *at, size_t size)
{
    if (at == plan.seen)
        plan.kind = NOTHING;
    return (int)syscall(SYS_munmap, at, size);
}

/* ---- files ---- */

/* Whether a call that moves `size` bytes is to fail; a short one goes on with fewer. */
static bool no_call(enum kind kind, size_t *size)
{
    if (!fails(kind))
        return false;
    if (plan.how == KILL)
        (void)kill(getpid(), SIGKILL);
    if (plan.how == SHORT && *size > 1) {
        *size /= 2;
        plan.goes_on = false;
        return false;
    }
    if (plan.how == EINTR)
        plan.goes_on = false;
    errno = plan.how == SHORT ? EIO : plan.how;
    return true;
}

static bool no_such_call(enum kind kind)
{
    size_t size = 0;
    return no_call(kind, &size);
}

static bool no_change(void)
{
    return no_such_call(WRITE);
}

static ssize_t our_write(int file, const void *bytes, size_t size)
{
    const bool is_counted = file != STDERR_FILENO;
    return is_counted && no_call(WRITE, &size) ? -1 : syscall(SYS_write, file, bytes, size);
}

static ssize_t our_pwrite(int file, const void *bytes, size_t size, off_t at)
{
    return no_call(WRITE, &size) ? -1 : syscall(SYS_pwrite64, file, bytes, size, at);
}

static ssize_t our_read(int file, void *bytes, size_t size)
{
    return no_call(READ, &size) ? -1 : syscall(SYS_read, file, bytes, size);
}

static ssize_t our_pread(int file, void *bytes, size_t size, off_t at)
{
    return no_call(READ, &size) ? -1 : syscall(SYS_pread64, file, bytes, size, at);
}

static int our_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    const bool is_null = strcmp(path, "/dev/null") == 0;
    const bool is_counted = (flags & O_ACCMODE) != O_RDONLY && !is_null;
    /* A full disk opens what is there. */
    const bool takes_room = (flags & (O_CREAT | O_TMPFILE)) != 0 || plan.how != ENOSPC;
    if (!is_counted && !is_null && no_such_call(OPEN))
        return -1;
    return is_counted && no_change() && takes_room ? -1 : (int)syscall(SYS_open, path, flags, mode);
}

static int our_fsync(int file)
{
    return no_change() ? -1 : (int)syscall(SYS_fsync, file);
}

static int our_fdatasync(int file)
{
    return no_change() ? -1 : (int)syscall(SYS_fdatasync, file);
}

static int our_ftruncate(int file, off_t length)
{
    return no_change() ? -1 : (int)syscall(SYS_ftruncate, file, length);
}

static int our_rename(const char *from, const char *to)
{
    return no_change() ? -1 : (int)syscall(SYS_rename, from, to);
}

static int our_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return no_change() ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

static int our_unlink(const char *path)
{
    return no_change() && plan.how != ENOSPC ? -1 : (int)syscall(SYS_unlink, path);
}

static int our_mkdir(const char *path, mode_t mode)
{
    return no_change() ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

/* As on Linux, a file is closed whatever is said of it. */
static int our_close(int file)
{
    const bool is_counted = file > STDERR_FILENO;
    const int closed = (int)syscall(SYS_close, file);
    return is_counted && no_such_call(CLOSE) ? -1 : closed;
}

static void *our_mmap(void *at, size_t size, int rights, int flags, int file, off_t from)
{
    if (!no_such_call(MAP))
        return (void *)syscall(SYS_mmap, at, size, rights, flags, file, from);
    return MAP_FAILED;
}

static int our_fstat(int file, struct stat *said)
{
    return no_such_call(LOOK) ? -1 : (int)syscall(SYS_fstat, file, said);
}

static int our_stat(const char *path, struct stat *said)
{
    return no_such_call(LOOK) ? -1 : (int)syscall(SYS_stat, path, said);
}

static int our_lstat(const char *path, struct stat *said)
{
    return no_such_call(LOOK) ? -1 : (int)syscall(SYS_lstat, path, said);
}

static int our_flock(int file, int operation)
{
    return no_such_call(LOOK) ? -1 : (int)syscall(SYS_flock, file, operation);
}

static off_t our_lseek(int file, off_t to, int whence)
{
    return no_such_call(LOOK) ? -1 : syscall(SYS_lseek, file, to, whence);
}

static int our_pipe2(int ends[2], int flags)
{
    return no_such_call(START) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

static int our_pipe(int ends[2])
{
    return our_pipe2(ends, 0);
}

static int our_socketpair(int domain, int type, int protocol, int ends[2])
{
    return no_such_call(START) ? -1 : (int)syscall(SYS_socketpair, domain, type, protocol, ends);
}

static int our_memfd_create(const char *name, unsigned flags)
{
    return no_such_call(START) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

static int our_dup2(int from, int to)
{
    return no_such_call(START) ? -1 : (int)syscall(SYS_dup2, from, to);
}

static pid_t our_waitpid(pid_t pid, int *state, int options)
{
    return no_such_call(WAIT) ? -1 : (pid_t)syscall(SYS_wait4, pid, state, options, NULL);
}

/* The library has work of its own to do around it: it is called.
 */
pid_t fork(void)
{
    static pid_t (*of_library)(void);
    if (of_library == NULL)
        of_library = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    return no_such_call(START) ? -1 : of_library();
}

/* The function of that name begins with: jmp *0(%rip), and the address it goes to. */
static bool divert(const char *name, uintptr_t target)
{
    unsigned char jump[6 + sizeof(target)] = { 0xff, 0x25, 0, 0, 0, 0 };
    memcpy(jump + 6, &target, sizeof(target));
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char *code = dlsym(RTLD_NEXT, name);
    const uintptr_t begin = (uintptr_t)code / page * page;
    const size_t size = (uintptr_t)code + sizeof(jump) - begin;
    if (code == NULL)
        return false;
    if (mprotect((void *)begin, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    memcpy(code, jump, sizeof(jump));
    return mprotect((void *)begin, size, PROT_READ | PROT_EXEC) == 0;
}

static bool divert_files(void)
{
    return divert("write", (uintptr_t)our_write) && divert("pwrite64", (uintptr_t)our_pwrite) &&
           divert("read", (uintptr_t)our_read) && divert("pread64", (uintptr_t)our_pread) &&
           divert("open64", (uintptr_t)our_open) && divert("fsync", (uintptr_t)our_fsync) &&
           divert("fdatasync", (uintptr_t)our_fdatasync) &&
           divert("ftruncate64", (uintptr_t)our_ftruncate) &&
           divert("rename", (uintptr_t)our_rename) && divert("linkat", (uintptr_t)our_linkat) &&
           divert("unlink", (uintptr_t)our_unlink) && divert("mkdir", (uintptr_t)our_mkdir);
}

static bool divert_all(void)
{
    switch (plan.kind) {
    case WRITE:
    case READ:
    case OPEN:
        return divert_files();
    /* stdio closes by the second name */
    case CLOSE:
        return divert("close", (uintptr_t)our_close) &&
               divert("__close_nocancel", (uintptr_t)our_close);
    case MAP:
        return divert("mmap64", (uintptr_t)our_mmap);
    case LOOK:
        return divert("fstat64", (uintptr_t)our_fstat) && divert("stat64", (uintptr_t)our_stat) &&
               divert("lstat64", (uintptr_t)our_lstat) && divert("flock", (uintptr_t)our_flock) &&
               divert("lseek64", (uintptr_t)our_lseek);
    case START:
        return divert("pipe", (uintptr_t)our_pipe) && divert("pipe2", (uintptr_t)our_pipe2) &&
               divert("socketpair", (uintptr_t)our_socketpair) &&
               divert("memfd_create", (uintptr_t)our_memfd_create) &&
               divert("dup2", (uintptr_t)our_dup2);
    case WAIT:
        return divert("waitpid", (uintptr_t)our_waitpid);
    case ALLOC:
    case LINES:
    case NOTHING:
        break;
    }
    return true;
}

/* ---- the program ---- */

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
    plan.seen =
        mmap(NULL, sizeof(*plan.seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (plan.seen != MAP_FAILED)
        read_plan(text);
    if (!divert_all()) {
        (void)fputs("fail_shim: the functions of the C library cannot be changed\n", stderr);
        _exit(99);
    }
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("WEIR_FAIL_COUNT");
    if (plan.kind == NOTHING || path == NULL || getpid() != plan.first)
        return;
    plan.kind = NOTHING;
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        (void)dprintf(file, "%ld\n", plan.seen->count);
        for (long i = 0; i < plan.seen->place_count; i++)
            (void)dprintf(file, "%ld %lx\n", plan.seen->first[i], plan.seen->stacks[i]);
        (void)close(file);
    }
}
