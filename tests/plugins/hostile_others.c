/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves memory behind, and takes files, processors and signals from who started it; says so
 * when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct rlimit none = { 0, 0 };
    const struct sched_param idle = { .sched_priority = 0 };
    char byte;
    struct iovec here = { &byte, 1 };
    struct iovec there = { (void *)plan, 1 };
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    const pid_t parent = getppid();
    const bool is_done =
        prlimit(parent, RLIMIT_FSIZE, &none, NULL) == 0 ||
        sched_setaffinity(parent, sizeof set, &set) == 0 ||
        sched_setscheduler(parent, SCHED_IDLE, &idle) == 0 ||
        setpriority(PRIO_PROCESS, (id_t)parent, 19) == 0 ||
        fcntl(STDOUT_FILENO, F_SETOWN, parent) == 0 || prctl(PR_SET_PDEATHSIG, 0) == 0 ||
        process_vm_readv(parent, &here, 1, &there, 1, 0) == 1 ||
        syscall(SYS_pidfd_open, parent, 0) >= 0 || shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0;
    if (is_done)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may do nothing to others");
}

HOSTILE_SCALING_OPS(.decide = decide)
