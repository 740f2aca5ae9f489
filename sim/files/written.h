/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that are written: pages, pictures, scripts and their data, scenarios, traces, logs.
 *
 * What stands under the name is what was there before, or all of the new file: until
 * written_close() its bytes belong to a file without a name, which the system takes back however
 * the program ends. What is no regular file (a pipe, /dev/full), has a second name, or lies where
 * the system has no files without names, is written where it is.
 *
 * Errors are WEIR_ENOMEM when the disk is at its end, else WEIR_EIO. Below every other room: it
 * includes nothing but the status of libweir.
 */
#ifndef FILES_WRITTEN_H
#define FILES_WRITTEN_H

#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a page or a chart of weir says of itself at its head. */
#define WRITTEN_MARK "Made by weir"

struct written {
    FILE *out;   /* for its writer, who need not check what it says */
    char *path;  /* behind links */
    int file;    /* the one without a name; -1 = `out` goes to where it belongs */
    bool is_new; /* nothing may stand under its name */
};

/* A name with something before this ending, as ".gz". */
bool written_ends(const char *path, const char *ending);
/* Of an errno. */
weir_status written_status(int reason);
/* A name that ends in .gz compresses. Text is replaced with the mode and the owner it has. */
weir_status written_open(const char *path, struct written *made, struct weir_error *error);
/* "folder/name.end". */
weir_status written_open_in(const char *folder, const char *name, const char *end,
                            struct written *made, struct weir_error *error);
/* Refused when something has that name. */
weir_status written_open_new(const char *path, struct written *made, struct weir_error *error);
/* `status` is that of its writer, given back when all was written. When either failed the file is
 * not there, or it is the old one. */
weir_status written_close(struct written *made, weir_status status, struct weir_error *error);
/* The head of the file has the mark. */
bool written_is_marked(const char *path);
/* Makes an empty file of this process alone, in TMPDIR when its name fits, else in /tmp. */
weir_status written_temporary(char *path, size_t capacity, struct weir_error *error);

#endif
