/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A whole CSV file in memory, for tests that look up known answers by heading.
 */
#ifndef TESTS_SUPPORT_TABLE_H
#define TESTS_SUPPORT_TABLE_H

#include "weir/status.h"

#include <stddef.h>

struct test_table {
    char **cells; /* row after row, the heading first; "" = empty */
    size_t columns, rows, capacity;
};

weir_status test_table_read(const char *path, struct test_table *table, struct weir_error *error);
void test_table_clear(struct test_table *table);

/* The cell of a row (from 0) below a heading; "" when there is no such column. */
const char *test_table_cell(const struct test_table *table, size_t row, const char *column);

#endif
