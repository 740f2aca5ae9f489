/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading whole files of moderate size: the scenario and what it names; what larger ones are.
 */
#ifndef SIM_SCENARIO_INPUT_FILE_H
#define SIM_SCENARIO_INPUT_FILE_H

#include "sim/scenario/arena.h"
#include "weir/status.h"

/* `path` relative to `folder` (NULL = the working directory), "-" = standard input. The text ends
 * with a NUL behind `length` bytes. NULL on error: WEIR_EIO, or larger than
 * it may be (workloads/limits.h). */
char *sim_input_file_read(struct sim_arena *arena, const char *folder, const char *path,
                          size_t *length, struct weir_error *error);

/* The same, not in a folder, of fewer than so many MiB. */
char *sim_input_file_read_most(struct sim_arena *arena, const char *path, uint64_t most_mib,
                               size_t *length, struct weir_error *error);

/* Size and fingerprint of a file of any size. WEIR_ENOTFOUND when it is not there, WEIR_EIO when it
 * cannot be read. */
weir_status sim_input_file_digest(const char *path, int64_t *bytes, uint64_t *digest,
                                  struct weir_error *error);

/* The folder part of a path; NULL when it has none. */
char *sim_input_file_folder(struct sim_arena *arena, const char *path);
/* As it is opened: joined with the folder unless absolute. */
char *sim_input_file_path(struct sim_arena *arena, const char *folder, const char *path);

#endif
