/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lock of a result file (see result_lock.h).
 *
 * A file that was locked and one that has the name may be two when a holder let go in between; then
 * it is tried again. Where the holder is dead, what it started ends in an instant: that is waited
 * for.
 */
#include "sim/cli/experiment/result_lock.h"

#include "sim/files/written.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 250, PAUSE_US = 20000, HOLDER_TEXT = 256 };

/* What the holder wrote: its process, a space, its command. */
struct holder {
    long pid; /* 0 = it has not said yet */
    char command[HOLDER_TEXT];
};

static struct holder read_holder(int file)
{
    char text[HOLDER_TEXT] = "";
    struct holder holder = { 0 };
    char *end = NULL;
    (void)!pread(file, text, sizeof(text) - 1, 0); /* nothing yet: process 0 */
    text[strcspn(text, "\n")] = '\0';
    holder.pid = strtol(text, &end, 10);
    (void)snprintf(holder.command, sizeof(holder.command), "%s", *end == ' ' ? end + 1 : end);
    return holder;
}

static void write_holder(int file, const char *command_line)
{
    char text[HOLDER_TEXT];
    const int length = snprintf(text, sizeof(text) - 1, "%ld %s", (long)getpid(), command_line);
    const size_t used = length < (int)sizeof(text) - 1 ? (size_t)length : sizeof(text) - 2;
    text[used] = '\n';
    /* Without the words the lock holds all the same. */
    if (ftruncate(file, 0) == 0)
        (void)!pwrite(file, text, used + 1, 0);
}

static bool has_name(int file, const char *path)
{
    struct stat held;
    struct stat named;
    return fstat(file, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

/* One try: WEIR_OK, WEIR_EBUSY when another has it (or had, and let go), else an error. */
static weir_status try_once(struct sim_result_lock *lock, struct holder *holder,
                            struct weir_error *error)
{
    lock->file = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (lock->file < 0)
        return weir_fail(error, written_status(errno),
                         "%s: cannot create the lock of the results: %s", lock->path,
                         errno == ENOENT ? "its folder does not exist; mkdir -p makes it"
                                         : strerror(errno));
    *holder = (struct holder){ 0 };
    if (flock(lock->file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return weir_fail(error, WEIR_EIO, "%s: cannot lock it: %s", lock->path,
                             strerror(errno));
        *holder = read_holder(lock->file);
    } else if (has_name(lock->file, lock->path)) {
        return WEIR_OK;
    }
    (void)close(lock->file);
    lock->file = -1;
    return WEIR_EBUSY;
}

/* Whether a line of /proc/PID/status, or the lack of it, says that the process does not go on. */
static bool says_end(const char *line)
{
    if (strncmp(line, "State:", 6) == 0)
        return line[6 + strspn(line + 6, " \t")] == 'Z' || line[6 + strspn(line + 6, " \t")] == 'X';
    if (strncmp(line, "SigPnd:", 7) == 0 || strncmp(line, "ShdPnd:", 7) == 0)
        return (strtoull(line + 7, NULL, 16) >> (SIGKILL - 1) & 1) != 0;
    return false;
}

/*
 * A process that was killed has its number until it is waited for, and its locks until the system
 * has taken it apart: it is told by its state, by the signal it has not taken yet, and by its
 * memory, which goes first. Without /proc it counts as alive.
 */
static bool is_ending(pid_t pid)
{
    char path[64];
    char line[256];
    bool has_memory = false;
    bool is_over = false;
    (void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    while (fgets(line, sizeof(line), file) != NULL) {
        has_memory = has_memory || strncmp(line, "VmSize:", 7) == 0;
        is_over = is_over || says_end(line);
    }
    const bool is_read = ferror(file) == 0;
    (void)fclose(file);
    return is_over || (is_read && !has_memory);
}

static bool is_alive(const struct holder *holder)
{
    const pid_t pid = (pid_t)holder->pid;
    return holder->pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) && !is_ending(pid);
}

static weir_status refuse(const char *database, const struct holder *holder,
                          struct weir_error *error)
{
    if (!is_alive(holder))
        return weir_fail(error, WEIR_EIO,
                         "%s: what process %ld (%s) has started is writing it and does not end, "
                         "though that process has; end it, or name another file with -o",
                         database, holder->pid, holder->command);
    return weir_fail(error, WEIR_EIO,
                     "%s: process %ld is writing it (%s); wait for it, or name another file with "
                     "-o",
                     database, holder->pid, holder->command);
}

weir_status sim_result_lock(const char *database, const char *command_line,
                            struct sim_result_lock *lock, struct weir_error *error)
{
    struct holder holder = { 0 };
    weir_status status = WEIR_EBUSY;
    *lock = (struct sim_result_lock){ .file = -1 };
    if (asprintf(&lock->path, "%s.lock", database) < 0) {
        lock->path = NULL;
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    for (int i = 0; i < TRIES && status == WEIR_EBUSY && !is_alive(&holder); i++) {
        if (i > 0)
            (void)usleep(PAUSE_US);
        status = try_once(lock, &holder, error);
    }
    if (status == WEIR_OK)
        write_holder(lock->file, command_line);
    return status == WEIR_EBUSY ? refuse(database, &holder, error) : status;
}

void sim_result_unlock(struct sim_result_lock *lock)
{
    if (lock->file >= 0 && lock->path != NULL) {
        (void)unlink(lock->path);
        (void)close(lock->file);
    }
    free(lock->path);
    *lock = (struct sim_result_lock){ .file = -1 };
}
