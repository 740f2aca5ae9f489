/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removes memory, semaphores and queues of others; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <errno.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct shmid_ds seen;
    struct msqid_ds queue;
    const bool is_done = shmctl(0, IPC_STAT, &seen) == 0 || errno != EACCES ||
                         semctl(0, 0, GETVAL) == 0 || errno != EACCES ||
                         msgctl(0, IPC_STAT, &queue) == 0 || errno != EACCES ||
                         shmat(0, NULL, SHM_RDONLY) != (void *)-1 || errno != EACCES;
    if (is_done)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may not touch what others share");
}

HOSTILE_SCALING_OPS(.decide = decide)
