/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes, changes and removes files of the user, in every way; says so when it may none. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const int ways[] = { open("new", O_WRONLY | O_CREAT, 0644),
                         creat("made", 0644),
                         openat(AT_FDCWD, "two.yaml", O_RDWR),
                         open("two.yaml", O_RDONLY | O_TRUNC),
                         open(".", O_TMPFILE | O_RDWR, 0600),
                         truncate("two.yaml", 0),
                         mkdir("folder", 0755),
                         mkfifo("pipe", 0644),
                         rename("two.yaml", "three.yaml"),
                         unlink("two.yaml"),
                         link("two.yaml", "other.yaml"),
                         symlink("two.yaml", "link.yaml"),
                         chmod("two.yaml", 0666) };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (ways[i] >= 0)
            return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may not write in any way");
}

HOSTILE_SCALING_OPS(.decide = decide)
