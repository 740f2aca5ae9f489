/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times as traces write them, read exactly: numbers with a unit, and dates with a zone.
 *
 * A number never passes through a double unless it has an exponent: 1508223715.123456789 s keeps
 * its nanoseconds. A date is YYYY-MM-DD or YYYY/MM/DD, then a blank or T, HH:MM with optional :SS
 * and fraction, then optionally Z or +HH:MM; a date alone is its midnight; years are 1970 to 2200.
 * A zone of its own wins over the one given.
 *
 * A zone is an offset, "+01:00", "Z", and optionally a rule for summer time behind a blank:
 * "-08:00 us" (since 2007: second Sunday of March to first Sunday of November, at 2:00) or
 * "+01:00 eu" (since 1996: last Sunday of March to last Sunday of October, at 1:00 UTC). The hour
 * that autumn repeats counts as summer, the hour that spring leaves out likewise.
 */
#ifndef WORKLOADS_TIMESTAMP_H
#define WORKLOADS_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

enum wl_summer { WL_SUMMER_NONE, WL_SUMMER_US, WL_SUMMER_EU };

struct wl_zone {
    int32_t offset_s; /* east of UTC, in winter */
    enum wl_summer summer;
};

enum { WL_TIMESTAMP_TEXT = 40 };

/* All false when the text is something else, or outside what int64 nanoseconds hold; the value is
 * then untouched. */
bool wl_zone_scan(const char *text, struct wl_zone *zone);
bool wl_time_scan(const char *text, int64_t unit_ns, int64_t *time_ns);
bool wl_date_scan(const char *text, const struct wl_zone *zone, int64_t *unix_ns);

/* "2017-10-09T07:01:55Z". Returns `text`. */
const char *wl_date_text(int64_t unix_ns, char text[WL_TIMESTAMP_TEXT]);

#endif
