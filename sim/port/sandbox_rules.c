/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules as a filter of the kernel (seccomp, classic BPF): one block a system call, each "not this
 * call: go on behind me". Pointers cannot be looked behind, so that calls that take their flags by
 * one (clone3, openat2) are said not to exist; C libraries then use those whose flags are numbers.
 */
#include "sim/port/sandbox_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Modules keep the right to read files, nothing else that a superuser has. */
static void drop_powers(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    struct __user_cap_data_struct had[2];
    if (syscall(SYS_capget, &header, had) != 0)
        return;
    data[0].permitted = had[0].permitted & (1U << CAP_DAC_READ_SEARCH);
    data[0].effective = data[0].permitted;
    (void)syscall(SYS_capset, &header, data);
}

#ifdef ARCHITECTURE
/* Calls that are younger than these rules can do what nobody thought of here (fchmodat2 was one of
 * them); their numbers are the same on all machines. */
enum { MOST_RULES = 480, ALL_CALLS = 0x40000000, LAST_KNOWN = 450, VICTIMS = 7 };

struct filter {
    struct sock_filter code[MOST_RULES];
    unsigned short count;
};

static void add(struct filter *filter, struct sock_filter line)
{
    if (filter->count < MOST_RULES)
        filter->code[filter->count++] = line;
}

static void load(struct filter *filter, size_t offset)
{
    add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct filter *filter, uint32_t verdict)
{
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* The next `length` lines are for this call alone. */
static void only_for(struct filter *filter, long call, uint8_t length)
{
    load(filter, offsetof(struct seccomp_data, nr));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, length));
}

static void load_argument(struct filter *filter, uint32_t index)
{
    load(filter, offsetof(struct seccomp_data, args) + (size_t)index * sizeof(uint64_t));
}

static void forbid(struct filter *filter, long call)
{
    only_for(filter, call, 1);
    answer(filter, SECCOMP_RET_KILL_PROCESS);
}

/* Unless its argument is this process, or what it is a part of. */
static void only_itself(struct filter *filter, long call, uint32_t verdict)
{
    only_for(filter, call, 4);
    load_argument(filter, 0);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 2, 0));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    answer(filter, verdict);
}

/* When the argument names one of weir's. */
static void protect(struct filter *filter, long call, uint32_t argument,
                    const struct sim_sandbox_rules *rules)
{
    const pid_t victims[VICTIMS] = { rules->weir,   rules->parent, rules->keeper,
                                     -rules->weir,  -rules->group, -1,
                                     -rules->keeper };
    only_for(filter, call, 1 + 2 * VICTIMS);
    load_argument(filter, argument);
    for (int i = 0; i < VICTIMS; i++) {
        add(filter,
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)victims[i], 0, 1));
        answer(filter, SECCOMP_RET_KILL_PROCESS);
    }
}

#define REFUSED (SECCOMP_RET_ERRNO | EACCES)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)

/* When the argument is one of those. */
static void refuse_any(struct filter *filter, long call, uint32_t argument, const uint32_t *those,
                       size_t count)
{
    only_for(filter, call, (uint8_t)(1 + 2 * count));
    load_argument(filter, argument);
    for (size_t i = 0; i < count; i++) {
        add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, those[i], 0, 1));
        answer(filter, REFUSED);
    }
}

/* A process may be signalled by what stands open in its folder of /proc, and by a file that has
 * something to tell its owner. */
static void rule_program(struct filter *filter, const struct sim_sandbox_rules *rules)
{
    static const uint32_t owners[] = { F_SETOWN, F_SETOWN_EX };
    static const uint32_t owners_of_sockets[] = { FIOSETOWN, SIOCSPGRP };
    only_for(filter, SYS_pidfd_send_signal, 1);
    answer(filter, UNKNOWN);
    refuse_any(filter, SYS_fcntl, 1, owners, 2);
    refuse_any(filter, SYS_ioctl, 1, owners_of_sockets, 2);
    protect(filter, SYS_rt_tgsigqueueinfo, 0, rules);
    protect(filter, SYS_kill, 0, rules);
    protect(filter, SYS_tkill, 0, rules);
    protect(filter, SYS_tgkill, 0, rules);
    protect(filter, SYS_rt_sigqueueinfo, 0, rules);
    protect(filter, SYS_pidfd_open, 0, rules);
    protect(filter, SYS_process_vm_writev, 0, rules);
    protect(filter, SYS_ptrace, 1, rules);
}

/* ---- what a module is refused: it may go on ---- */

/* What makes, changes or removes a file by its name, and what stays behind or reaches out: sockets,
 * memory with a name or a file, queues, namespaces, the memory and the processor of others. A file
 * that is open for reading has a mode, an owner and locks, too. */
static const long refused[] = {
    SYS_mkdirat,      SYS_mknodat,
    SYS_renameat2,    SYS_unlinkat,
    SYS_linkat,       SYS_symlinkat,
    SYS_truncate,     SYS_fchmodat,
    SYS_fchmod,       SYS_fchownat,
    SYS_fchown,       SYS_flock,
    SYS_utimensat,    SYS_setxattr,
    SYS_lsetxattr,    SYS_fsetxattr,
    SYS_removexattr,  SYS_lremovexattr,
    SYS_fremovexattr, SYS_open_by_handle_at,
    SYS_socket,       SYS_socketpair,
    SYS_shmget,       SYS_shmat,
    SYS_shmctl,       SYS_semget,
    SYS_semop,        SYS_semtimedop,
    SYS_semctl,       SYS_msgget,
    SYS_msgsnd,       SYS_msgrcv,
    SYS_msgctl,       SYS_mq_open,
    SYS_mq_unlink,    SYS_pidfd_open,
    SYS_pidfd_getfd,  SYS_process_vm_readv,
    SYS_kcmp,         SYS_setpriority,
    SYS_ioprio_set,   SYS_migrate_pages,
    SYS_move_pages,   SYS_unshare,
    SYS_setns,        SYS_mount,
    SYS_bpf,          SYS_perf_event_open,
    SYS_userfaultfd,  SYS_add_key,
    SYS_request_key,  SYS_keyctl,
    SYS_memfd_create, SYS_memfd_secret,
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_open /* older names of them */
    SYS_creat,        SYS_mkdir,
    SYS_mknod,        SYS_rename,
    SYS_unlink,       SYS_rmdir,
    SYS_link,         SYS_symlink,
    SYS_chmod,        SYS_chown,
    SYS_lchown,       SYS_utime,
    SYS_utimes,       SYS_futimesat,
#endif
};

/* How the rest can be had by another way, whose arguments cannot be looked at. */
static const long unknown[] = { SYS_clone3, SYS_openat2, SYS_io_uring_setup };

/* Files are opened for reading alone. */
static void refuse_writing(struct filter *filter, long call, uint32_t flags)
{
    only_for(filter, call, 3);
    load_argument(filter, flags);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
                                             O_ACCMODE | O_CREAT | O_TRUNC, 0, 1));
    answer(filter, REFUSED);
}

/* Of a device a module may ask what the C library asks. */
static void refuse_devices(struct filter *filter)
{
    static const uint32_t asked[] = { TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX };
    enum { ASKED = sizeof asked / sizeof asked[0] };
    only_for(filter, SYS_ioctl, 2 + ASKED);
    load_argument(filter, 1);
    for (size_t i = 0; i < ASKED; i++)
        add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, asked[i],
                                                 (uint8_t)(ASKED - i), 0));
    answer(filter, REFUSED);
}

/* Each of these calls, whatever its arguments. */
static void answer_all(struct filter *filter, const long *calls, size_t count, uint32_t verdict)
{
    load(filter, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        add(filter,
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1));
        answer(filter, verdict);
    }
}

static void refuse_module(struct filter *filter)
{
    static const long of_others[] = { SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler,
                                      SYS_sched_setparam, SYS_sched_setattr };
    /* Who gets signals of a file, and who may write to it meanwhile. */
    static const uint32_t commands[] = { F_SETOWN,    F_SETOWN_EX,  F_SETSIG,   F_SETLK, F_SETLKW,
                                         F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY };
    static const uint32_t deaths[2] = { PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER };
    answer_all(filter, refused, sizeof refused / sizeof refused[0], REFUSED);
    answer_all(filter, unknown, sizeof unknown / sizeof unknown[0], UNKNOWN);
    for (size_t i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
        only_itself(filter, of_others[i], REFUSED);
    refuse_any(filter, SYS_fcntl, 1, commands, sizeof commands / sizeof commands[0]);
    refuse_any(filter, SYS_prctl, 0, deaths, 2); /* it ends with its keeper */
    refuse_devices(filter);
    load(filter, offsetof(struct seccomp_data, nr));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1));
    answer(filter, UNKNOWN);
    refuse_writing(filter, SYS_openat, 2);
#ifdef SYS_open
    refuse_writing(filter, SYS_open, 1);
#endif
}

static void rule_module(struct filter *filter)
{
    static const long never[] = { SYS_execve,
                                  SYS_execveat,
                                  SYS_ptrace,
                                  SYS_tkill,
                                  SYS_process_vm_writev,
                                  SYS_pidfd_send_signal,
                                  SYS_rt_sigqueueinfo,
                                  SYS_rt_tgsigqueueinfo
#ifdef SYS_fork
                                  ,
                                  SYS_fork,
                                  SYS_vfork
#endif
    };
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        forbid(filter, never[i]);
    only_itself(filter, SYS_kill, SECCOMP_RET_KILL_PROCESS);
    only_itself(filter, SYS_tgkill, SECCOMP_RET_KILL_PROCESS);
    only_for(filter, SYS_clone, 3);
    load_argument(filter, 0);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    refuse_module(filter);
}

static bool set_filter(const struct sim_sandbox_rules *rules)
{
    struct filter filter = { .count = 0 };
    load(&filter, offsetof(struct seccomp_data, arch));
    add(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    answer(&filter, SECCOMP_RET_KILL_PROCESS);
    load(&filter, offsetof(struct seccomp_data, nr)); /* the same calls under other numbers */
    add(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ALL_CALLS, 0, 1));
    answer(&filter, SECCOMP_RET_KILL_PROCESS);
    if (rules->is_module)
        rule_module(&filter);
    else
        rule_program(&filter, rules);
    answer(&filter, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = { .len = filter.count, .filter = filter.code };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool set_filter(const struct sim_sandbox_rules *rules)
{
    (void)rules;
    return true; /* which docs/reliability.md says */
}
#endif

bool sim_sandbox_rule(const struct sim_sandbox_rules *rules)
{
    if (rules->is_module)
        drop_powers();
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return set_filter(rules);
}
