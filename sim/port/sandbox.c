/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keeper, and what it keeps (see sandbox.h). The rules on system calls are in sandbox_rules.c.
 */
#include "sim/port/sandbox.h"

#include "sim/port/sandbox_rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OUTPUT_BYTES = 16 * 1024 * 1024, /* of the output of a module */
    MODULE_FILES = 64,               /* open at once */
    MODULE_CPU_S = 24 * 3600,
    SHOWN_BYTES = 64 * 1024, /* of its output */
    LAST_WAIT_MS = 10000,    /* for what is killed to be gone */
    STEP_NS = 500000
};

/* Shared by weir's process and the keeper. */
struct sim_sandbox_end {
    _Atomic int is_over;
    _Atomic pid_t code; /* -1 = not known yet */
    int wait_state;
};

static int64_t clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_shortly(void)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
}

static void limit_memory(rlim_t bytes)
{
    const struct rlimit no_core = { 0, 0 };
    (void)setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__ /* its shadow takes terabytes of address space */
    const struct rlimit memory = { bytes, bytes };
    (void)setrlimit(RLIMIT_AS, &memory);
#else
    (void)bytes;
#endif
}

static void limit_cpu(rlim_t cpu_s)
{
    const struct rlimit cpu = { cpu_s, cpu_s + 1 }; /* SIGXCPU, then SIGKILL */
    (void)setrlimit(RLIMIT_CPU, &cpu);
}

void sim_sandbox_limit(uint64_t memory_mib)
{
    const uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
    const uint64_t machine = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    limit_memory(memory_mib > 0 ? memory_mib << 20 : machine / 4 * 3);
}

void sim_sandbox_limit_run(uint64_t memory_mib, uint64_t cpu_s)
{
    if (memory_mib > 0)
        limit_memory(memory_mib << 20);
    if (cpu_s > 0)
        limit_cpu(cpu_s);
}

/* ---- in the process of the code ---- */

/* Where the system does not know ranges, one by one. */
static void close_all(int from, int to)
{
    const long most = sysconf(_SC_OPEN_MAX);
    if (close_range((unsigned)from, (unsigned)to, 0) == 0)
        return;
    for (int i = from; i <= to && i < most; i++)
        (void)close(i);
}

/* All but the standard ones and those that are kept. */
static void close_others(const int kept[2])
{
    const int low = kept[0] < kept[1] ? kept[0] : kept[1];
    const int high = kept[0] < kept[1] ? kept[1] : kept[0];
    int from = STDERR_FILENO + 1;
    for (int i = 0; i < 2; i++) {
        const int next = i == 0 ? low : high;
        if (next < from)
            continue;
        if (next > from)
            close_all(from, next - 1);
        from = next + 1;
    }
    close_all(from, INT_MAX);
}

static void drop_page(const struct sim_sandbox_task *task, const char *line)
{
    char *at = NULL; /* "begin-end rwxs ..." */
    const unsigned long begin = strtoul(line, &at, 16);
    const unsigned long end = *at == '-' ? strtoul(at + 1, &at, 16) : 0;
    if (end > begin && strnlen(at, 5) == 5 && at[4] == 's' &&
        begin != (unsigned long)task->pages[0] && begin != (unsigned long)task->pages[1])
        (void)munmap((void *)begin, end - begin); // NOLINT(performance-no-int-to-ptr)
}

/* Shared memory of weir: progress, summaries, the index of a result database. False: some of it may
 * still be there. It takes no memory: without any the policy would be blamed. */
static bool drop_pages(const struct sim_sandbox_task *task)
{
    char text[PATH_MAX + 512];
    size_t held = 0;
    ssize_t got = 0;
    const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (maps >= 0 && (got = read(maps, text + held, sizeof text - 1 - held)) > 0) {
        char *line = text;
        text[held + (size_t)got] = '\0';
        for (char *end = NULL; (end = strchr(line, '\n')) != NULL; line = end + 1)
            drop_page(task, line);
        held = strlen(line);
        memmove(text, line, held + 1);
    }
    if (maps >= 0)
        (void)close(maps);
    return maps >= 0 && got == 0 && held == 0;
}

static void limit_module(const struct sim_sandbox_task *task)
{
    const struct rlimit output = { OUTPUT_BYTES, OUTPUT_BYTES };
    sim_sandbox_limit(task->memory_mib);
    const rlim_t most = task->files > 0 ? task->files : MODULE_FILES;
    const struct rlimit files = { most, most };
    limit_cpu(task->cpu_s > 0 ? task->cpu_s : MODULE_CPU_S);
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (!task->keeps_output)
        (void)setrlimit(RLIMIT_FSIZE, &output);
}

static void forget_signals(void)
{
    sigset_t none;
    for (int number = 1; number < SIGRTMAX; number++)
        (void)signal(number, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What a module reads and prints; no file of weir's stays in its place. */
static bool take_ends(int output, bool keeps_output)
{
    const int nothing = open("/dev/null", O_RDWR);
    return nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
           (keeps_output || (dup2(output, STDERR_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0));
}

static _Noreturn void become(const struct sim_sandbox_task *task, int output,
                             const struct sim_sandbox_rules *rules)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != rules->keeper)
        _exit(1);
    (void)setsid();
    forget_signals();
    if (task->is_module && !take_ends(output, task->keeps_output)) {
        (void)fputs("weir: no files can be had for a policy: nothing is started\n", stderr);
        _exit(1);
    }
    close_others(task->kept);
    if (!drop_pages(task)) {
        (void)fputs("weir: /proc/self/maps cannot be read: nothing is started\n", stderr);
        _exit(1);
    }
    if (task->is_module)
        limit_module(task);
    if (!task->keeps_output)
        (void)setvbuf(stdout, NULL, _IONBF, 0); /* what crashes has said what it said */
    if (!sim_sandbox_rule(rules))
        (void)fputs("weir: the system cannot limit what this policy asks of it\n", stderr);
    _exit(task->main(task->state));
}

/* ---- the keeper ---- */

struct kin {
    pid_t pid, parent;
    bool is_ours;
};

/* The keeper has its memory from the beginning: a machine without any does not keep it from its
 * duty. */
struct keeper_room {
    struct kin kin[65536];
    char text[SHOWN_BYTES] __attribute__((aligned(8))); /* a folder, or what was printed */
};

static struct keeper_room *take_room(void)
{
    void *room = mmap(NULL, sizeof(struct keeper_room), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

static bool read_kin(const char *name, struct kin *kin)
{
    char path[64];
    char text[512];
    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        (void)close(file);
    if (got <= 0)
        return false;
    text[got] = '\0';
    const char *after = strrchr(text, ')');     /* a name may hold anything */
    if (after == NULL || strnlen(after, 5) < 5) /* ") S 12 " */
        return false;
    *kin = (struct kin){ .pid = (pid_t)strtol(name, NULL, 10),
                         .parent = (pid_t)strtol(after + 4, NULL, 10) };
    return true;
}

static size_t list_kin(struct keeper_room *room)
{
    const size_t capacity = sizeof room->kin / sizeof room->kin[0];
    const int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = 0;
    ssize_t got = 0;
    while (folder >= 0 && (got = getdents64(folder, room->text, sizeof room->text)) > 0)
        for (ssize_t at = 0; at < got && count < capacity;) {
            const struct dirent64 *entry = (const void *)(room->text + at);
            if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
                count += read_kin(entry->d_name, &room->kin[count]) ? 1 : 0;
            at += entry->d_reclen;
        }
    if (folder >= 0)
        (void)close(folder);
    return count;
}

/* Whoever descends from this process. Who lost its parents descends from the keeper directly. */
static void kill_kin(struct kin *kin, size_t count)
{
    const pid_t self = getpid();
    bool is_new = true;
    while (is_new) {
        is_new = false;
        for (size_t i = 0; i < count; i++) {
            bool is_child = kin[i].parent == self;
            for (size_t k = 0; k < count && !is_child && !kin[i].is_ours; k++)
                is_child = kin[k].is_ours && kin[k].pid == kin[i].parent;
            if (!is_child || kin[i].is_ours)
                continue;
            kin[i].is_ours = is_new = true;
            (void)kill(kin[i].pid, SIGKILL);
        }
    }
}

/* Until there is no child left: nothing of the code is. */
static void clear(pid_t code, struct keeper_room *room, struct sim_sandbox_end *end)
{
    const int64_t until_ms = clock_ms() + LAST_WAIT_MS;
    while (clock_ms() < until_ms) {
        int state = 0;
        pid_t gone = 0;
        if (room != NULL)
            kill_kin(room->kin, list_kin(room));
        if (code > 0) /* also where no list can be had; -1 would be everybody */
            (void)kill(code, SIGKILL);
        while ((gone = waitpid(-1, &state, WNOHANG)) > 0)
            if (gone == code) {
                end->wait_state = state;
                code = 0; /* its number may be another's now */
            }
        if (gone < 0 && errno == ECHILD)
            break;
        pause_shortly();
    }
}

/* What a module printed, without what steers a terminal. */
static void show_output(int output, char text[SHOWN_BYTES])
{
    ssize_t got = pread(output, text, SHOWN_BYTES - 1, 0);
    if (got > 0 && text[got - 1] != '\n')
        text[got++] = '\n';
    for (ssize_t i = 0; i < got; i++)
        if ((text[i] >= 0 && text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
            text[i] = '?';
    if (got > 0)
        (void)!write(STDERR_FILENO, text, (size_t)got);
}

/* Until the code ends or nobody wants it any more. */
static void watch(pid_t code, int life, int signals, struct sim_sandbox_end *end)
{
    for (;;) {
        struct pollfd ends[2] = { { .fd = life, .events = POLLIN },
                                  { .fd = signals, .events = POLLIN } };
        struct signalfd_siginfo said;
        int state = 0;
        pid_t gone = 0;
        if (poll(ends, 2, -1) <= 0)
            continue;
        if (ends[1].revents != 0)
            (void)!read(signals, &said, sizeof said);
        while ((gone = waitpid(-1, &state, WNOHANG)) > 0) {
            if (gone != code)
                continue;
            end->wait_state = state;
            atomic_store(&end->is_over, 1);
            return;
        }
        if (ends[0].revents != 0)
            return;
    }
}

static _Noreturn void keep(const struct sim_sandbox_task *task, const struct sim_sandbox *sandbox,
                           int life, struct sim_sandbox_rules *rules)
{
    sigset_t chld;
    (void)setsid();
    forget_signals();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)sigemptyset(&chld);
    (void)sigaddset(&chld, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &chld, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    rules->keeper = getpid();
    struct keeper_room *room = take_room();
    const pid_t code = room == NULL ? -1 : fork();
    if (code == 0)
        become(task, sandbox->output, rules);
    atomic_store(&sandbox->end->code, code);
    const int kept[2] = { life, sandbox->output };
    const int nothing = open("/dev/null", O_RDWR);
    (void)dup2(nothing, STDIN_FILENO); /* it never reads nor prints */
    (void)dup2(nothing, STDOUT_FILENO);
    close_others(kept);
    const int signals = signalfd(-1, &chld, SFD_CLOEXEC);
    if (code > 0 && signals >= 0)
        watch(code, life, signals, sandbox->end);
    else
        (void)fputs("weir: no process can be had for a policy, or none that is watched\n", stderr);
    clear(atomic_load(&sandbox->end->is_over) != 0 ? 0 : code, room, sandbox->end);
    if (task->is_module && room != NULL)
        show_output(sandbox->output, room->text);
    atomic_store(&sandbox->end->is_over, 1);
    _exit(0);
}

/* ---- in weir's process ---- */

static weir_status no_process(struct weir_error *error)
{
    return weir_fail(error, WEIR_EPOLICY, "no process can be had for it: %s", strerror(errno));
}

weir_status sim_sandbox_start(const struct sim_sandbox_task *task, struct sim_sandbox *sandbox,
                              struct weir_error *error)
{
    struct sim_sandbox_rules rules = {
        .is_module = task->is_module, .weir = getpid(), .parent = getppid(), .group = getpgrp()
    };
    int life[2] = { -1, -1 };
    void *end =
        mmap(NULL, sizeof *sandbox->end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *sandbox = (struct sim_sandbox){ .life = -1, .output = -1 };
    if (end == MAP_FAILED)
        return no_process(error);
    sandbox->end = end;
    atomic_store(&sandbox->end->code, -1);
    sandbox->end->wait_state = SIGKILL; /* unless it is seen to end otherwise */
    if (task->is_module)
        sandbox->output = memfd_create("output", MFD_CLOEXEC);
    (void)fflush(NULL);
    const bool has_output = !task->is_module || sandbox->output >= 0;
    if (has_output && pipe2(life, O_CLOEXEC) == 0)
        sandbox->keeper = fork();
    if (sandbox->keeper == 0 && life[0] >= 0) {
        (void)close(life[1]);
        keep(task, sandbox, life[0], &rules);
    }
    const int reason = errno;
    if (life[0] >= 0)
        (void)close(life[0]);
    sandbox->life = life[1];
    if (life[0] >= 0 && sandbox->keeper > 0)
        return WEIR_OK;
    sandbox->keeper = 0;
    (void)sim_sandbox_stop(sandbox, 0);
    errno = reason;
    return no_process(error);
}

pid_t sim_sandbox_code(const struct sim_sandbox *sandbox)
{
    while (!sim_sandbox_is_over(sandbox) && atomic_load(&sandbox->end->code) < 0)
        pause_shortly();
    return sim_sandbox_is_over(sandbox) ? 0 : atomic_load(&sandbox->end->code);
}

/* By somebody else; the system then kills the code, too. It stays to be waited for. */
static bool keeper_is_gone(const struct sim_sandbox *sandbox)
{
    siginfo_t seen = { .si_pid = 0 };
    return waitid(P_PID, (id_t)sandbox->keeper, &seen, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           seen.si_pid != 0;
}

bool sim_sandbox_is_over(const struct sim_sandbox *sandbox)
{
    return sandbox->keeper == 0 || atomic_load(&sandbox->end->is_over) != 0 ||
           keeper_is_gone(sandbox);
}

bool sim_sandbox_await(const struct sim_sandbox *sandbox, int64_t patience_ms)
{
    const int64_t until_ms = clock_ms() + patience_ms;
    while (!sim_sandbox_is_over(sandbox) && clock_ms() < until_ms)
        pause_shortly();
    return sim_sandbox_is_over(sandbox);
}

int sim_sandbox_stop(struct sim_sandbox *sandbox, int64_t patience_ms)
{
    (void)sim_sandbox_await(sandbox, patience_ms);
    if (sandbox->end != NULL && sandbox->life >= 0)
        (void)close(sandbox->life);
    while (sandbox->keeper > 0 && waitpid(sandbox->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (sandbox->end != NULL && sandbox->output >= 0)
        (void)close(sandbox->output);
    const int state = sandbox->end == NULL ? 0 : sandbox->end->wait_state;
    if (sandbox->end != NULL)
        (void)munmap(sandbox->end, sizeof *sandbox->end);
    *sandbox = (struct sim_sandbox){ .life = -1, .output = -1 };
    return state;
}

static const char *signal_cause(int number)
{
    switch (number) {
    case SIGSYS:
        return ": it wanted to start, signal or trace a process, which no policy may";
    case SIGXFSZ:
        return ": it printed more than 16 MiB";
    case SIGXCPU:
        return ": it took more time on the processor than --limit policy_cpu allows";
    default:
        return "";
    }
}

void sim_sandbox_sentence(int wait_state, char text[SIM_SANDBOX_TEXT])
{
    if (WIFSIGNALED(wait_state))
        (void)snprintf(text, SIM_SANDBOX_TEXT, "it was killed by signal %d (%s)%s",
                       WTERMSIG(wait_state), strsignal(WTERMSIG(wait_state)),
                       signal_cause(WTERMSIG(wait_state)));
    else
        (void)snprintf(text, SIM_SANDBOX_TEXT, "it ended with exit code %d",
                       WEXITSTATUS(wait_state));
}
