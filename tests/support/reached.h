/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far the inputs of a fuzz target come. A target says it of every input that got to what it is
 * for (a file that opens, a scenario that runs, a plan that is taken): a corpus of which none does
 * guards nothing, and its replay fails.
 */
#ifndef TESTS_SUPPORT_REACHED_H
#define TESTS_SUPPORT_REACHED_H

#include <stddef.h>

void fuzz_reached(void);
size_t fuzz_reached_count(void);

#endif
