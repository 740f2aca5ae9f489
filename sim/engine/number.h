/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers as people write them in a scenario: decimal, finite, with a time unit where one belongs.
 *
 * "3", "0.5", ".5", "1e-3", "2 min", "90s". No hexadecimal, no octal, no inf or nan, no thousands
 * separators. The reader never depends on the locale as long as nobody calls setlocale.
 */
#ifndef SIM_ENGINE_NUMBER_H
#define SIM_ENGINE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum { SIM_NUMBER_TEXT = 32 };

/* Reads the decimal number that `text` starts with and returns how many bytes it has; 0 when there
 * is none or it is too large for a double (`value` is then untouched). */
size_t sim_number_scan(const char *text, double *value);

/* `value` in the unit of `length` bytes (ns us ms s m min h d) as seconds; false for an unknown
 * unit (`seconds` is then untouched). */
bool sim_number_seconds(double value, const char *unit, size_t length, double *seconds);

/* The shortest decimal text that reads back as the same double. */
const char *sim_number_text(double value, char text[SIM_NUMBER_TEXT]);

#endif
