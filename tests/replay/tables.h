/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of small functions of version P: one object whose keys are lists of rows. */
#ifndef TESTS_REPLAY_TABLES_H
#define TESTS_REPLAY_TABLES_H

#include "tests/replay/compare.h"

bool replay_is_tables(const json_t *document);
/* Judges every row; a list of another kind is WEIR_EFORMAT. */
weir_status replay_check_tables(struct replay_comparison *comparison, const json_t *tables,
                                struct weir_error *error);

#endif
