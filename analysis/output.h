/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that are written: pages, pictures, scripts and their data. Each is open for writing until
 * an_output_close(), which says what any write before it has met: WEIR_ENOMEM when the disk is at
 * its end, else WEIR_EIO.
 */
#ifndef ANALYSIS_OUTPUT_H
#define ANALYSIS_OUTPUT_H

#include "weir/status.h"

#include <stdio.h>

/* Of an errno. */
weir_status an_output_status(int reason);
weir_status an_output_open(const char *path, FILE **file, struct weir_error *error);
/* "folder/name.end". */
weir_status an_output_open_in(const char *folder, const char *name, const char *end, FILE **file,
                              struct weir_error *error);
/* `where` is named when it could not be written; `status` is that of its writer, given back when it
 * could. */
weir_status an_output_close(FILE *file, const char *where, weir_status status,
                            struct weir_error *error);

#endif
