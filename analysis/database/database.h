/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Result databases as files: the one way in which every command opens one that it did not just
 * write.
 *
 * A file is looked over before anything of it is used: it is of weir and of a version that is
 * known, no page is damaged, its tables are those of the schema, every number is finite and within
 * what a run can give, and whatever counts nodes, stages, links, workloads, labels or runs names
 * one that is there. What comes out of it can be used without a second look. Triggers are refused
 * and views taken from the schema of this program: a file brings data, and no statements.
 */
#ifndef ANALYSIS_DATABASE_H
#define ANALYSIS_DATABASE_H

#include "weir/status.h"

#include <stdint.h>

struct sqlite3;

enum { AN_DATABASE_VERSION = 10 }; /* the newest that is read */

enum an_access { AN_TO_READ, AN_TO_WRITE };

/* What the head of the file says. WEIR_EIO: it cannot be read, or is no result database. */
weir_status an_database_version(const char *path, int64_t *version, struct weir_error *error);

/* WEIR_EIO with a sentence that begins with the path; `db` is left alone then. Reads all of the
 * file once or twice. */
weir_status an_database_open(const char *path, enum an_access access, struct sqlite3 **db,
                             struct weir_error *error);

/* ---- between database.c and database_check.c ---- */

/* Whether the tables of `file`, of that version, are those that `known` has, with values that a run
 * can give. Sentences without the path. */
weir_status an_database_check(struct sqlite3 *file, struct sqlite3 *known, int64_t version,
                              struct weir_error *error);

#endif
