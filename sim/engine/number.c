/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strict decimal numbers. The syntax is checked here byte by byte; strtod only converts what is
 * known to be a plain decimal, so its hexadecimal, inf and nan forms cannot slip in.
 */
#include "sim/engine/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A division is exact where a product with 1e-3 is not: 3 us = 3 / 1e6. */
struct unit {
    const char *name;
    double times, over;
};

static const struct unit UNITS[] = {
    { "ns", 1, 1e9 }, { "us", 1, 1e6 }, { "ms", 1, 1e3 }, { "s", 1, 1 },
    { "m", 60, 1 },   { "min", 60, 1 }, { "h", 3600, 1 }, { "d", 86400, 1 },
};

static size_t scan_digits(const char *text)
{
    size_t count = 0;
    while (text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* Bytes of "e-3"; 0 when the exponent has no digits, as in "3 em". */
static size_t scan_exponent(const char *text)
{
    if (text[0] != 'e' && text[0] != 'E')
        return 0;
    const size_t sign = text[1] == '+' || text[1] == '-' ? 1 : 0;
    const size_t digits = scan_digits(text + 1 + sign);
    return digits > 0 ? 1 + sign + digits : 0;
}

size_t sim_number_scan(const char *text, double *value)
{
    size_t at = text[0] == '+' || text[0] == '-' ? 1 : 0;
    const size_t whole = scan_digits(text + at);
    at += whole;
    size_t fraction = 0;
    if (text[at] == '.') {
        fraction = scan_digits(text + at + 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0)
        return 0;
    at += scan_exponent(text + at);
    /* strtod would go on at the x of "0x10"; that is no number here. */
    char *end = NULL;
    const double read = strtod(text, &end);
    if (end != text + at || !isfinite(read))
        return 0;
    *value = read;
    return at;
}

bool sim_number_seconds(double value, const char *unit, size_t length, double *seconds)
{
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        if (strlen(UNITS[i].name) == length && memcmp(UNITS[i].name, unit, length) == 0) {
            *seconds = value * UNITS[i].times / UNITS[i].over;
            return true;
        }
    }
    return false;
}

const char *sim_number_text(double value, char text[SIM_NUMBER_TEXT])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, SIM_NUMBER_TEXT, "%.*g", digits, value);
        const double read = strtod(text, NULL);
        if (!(read < value) && !(read > value))
            break;
    }
    return text;
}
