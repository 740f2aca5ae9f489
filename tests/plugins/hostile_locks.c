/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks the database of its run, so that its writer waits; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <unistd.h>

static bool lock(int file)
{
    struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
    const bool is_locked = fcntl(file, F_SETLK, &all) == 0;
    const bool is_open_locked = fcntl(file, F_OFD_SETLK, &all) == 0;
    return flock(file, LOCK_SH | LOCK_NB) == 0 || fcntl(file, F_SETLEASE, F_RDLCK) == 0 ||
           is_locked || is_open_locked;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    glob_t found = { .gl_pathc = 0 };
    bool is_done = false;
    (void)glob("*.db*", 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const int file = open(found.gl_pathv[i], O_RDONLY);
        is_done = is_done || lock(file);
    }
    globfree(&found);
    if (is_done)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may lock no file");
}

HOSTILE_SCALING_OPS(.decide = decide)
