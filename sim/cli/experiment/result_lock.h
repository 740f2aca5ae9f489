/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One writer a result file: a lock that is gone with its holder, however that ends.
 *
 * It is an flock() on PATH.lock, which says who holds it and is removed with the lock. Processes
 * that the holder starts hold it too until they end, so a second writer never meets those of a
 * killed first one.
 */
#ifndef SIM_CLI_RESULT_LOCK_H
#define SIM_CLI_RESULT_LOCK_H

#include "weir/status.h"

struct sim_result_lock {
    char *path; /* NULL = nothing is locked */
    int file;
};

/* WEIR_EIO with a sentence that names process and command of the holder. `lock` is to be released
 * in any case. */
weir_status sim_result_lock(const char *database, const char *command_line,
                            struct sim_result_lock *lock, struct weir_error *error);
void sim_result_unlock(struct sim_result_lock *lock);

#endif
