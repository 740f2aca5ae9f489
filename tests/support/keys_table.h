/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small scenarios of each kind of work, and sets that change them: tests/property/keys.table, which
 * has one for every key that acts. For the test of single keys and that of many together.
 *
 * A line is `key; kinds; given; change`, and what it is refused with where it is about that. Sets
 * of a part are separated by " | "; a given of " is that of the line above.
 */
#ifndef TESTS_SUPPORT_KEYS_TABLE_H
#define TESTS_SUPPORT_KEYS_TABLE_H

#include "sim/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

enum { TEST_KEYS_LINE = 1024, TEST_KEYS_LINES = 1600, TEST_KEYS_SETS = 16 };

/* Pipelines, jobs in time, a fill and actors are kinds of work, in the order of enum sim_acts; the
 * last base has two pipelines and workloads whose jobs come at the same instants. */
enum { TEST_KEYS_KINDS = 4, TEST_KEYS_TOGETHER = 4, TEST_KEYS_BASES };

/* The letter of a base. */
static const char test_keys_letters[] = "PJFAT";

struct test_keys_line {
    char text[TEST_KEYS_LINE];
    char *key, *kind, *given, *change, *refusal;
    bool is_used; /* the caller's */
};

struct test_keys {
    struct test_keys_line lines[TEST_KEYS_LINES];
    size_t count;
};

/* NULL, and a failed case, when it cannot be read; free. */
struct test_keys *test_keys_read(void);
/* Takes the next part off a line. */
char *test_keys_part(char **rest);
/* Cuts `text` into at most TEST_KEYS_SETS sets; how many there are. */
size_t test_keys_split(char *text, const char **sets);
/* Whether a line is for a base: all of pipelines and of jobs are for them together. */
bool test_keys_is_for(const struct test_keys_line *line, int base);
/* The scenario of a base with these sets (`text` instead of it, unless NULL). NULL with what was
 * said, which is the caller's to clear. */
struct sim_scenario *test_keys_load(int base, const char *text, const char *const *sets,
                                    size_t count, struct sim_diagnostics *said);

#endif
