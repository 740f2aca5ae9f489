/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of which versions a result database is: of its form, and of the model that computed it; and what
 * later versions have that it has not.
 */
#ifndef SIM_CLI_FILE_VERSION_H
#define SIM_CLI_FILE_VERSION_H

#include "sim/scenario/arena.h"
#include "weir/status.h"

#include <stdint.h>

/* By its head; -1 = the file is no result database. */
int64_t sim_file_database(const char *path);
/* Looks over all of the file: WEIR_EIO when it is damaged, or newer. 0 = it may be of any model up
 * to the one with which databases began to say so. */
weir_status sim_file_model(const char *path, int64_t *model, struct weir_error *error);

/* What came with the versions after `version`, up to today's. */
const char *sim_file_database_news(int64_t version, struct sim_arena *arena);
/* What models up to `model` computed otherwise than the next one, a sentence each; NULL = no more
 * of them. */
const char *sim_file_model_news(int64_t model, size_t index);

#endif
