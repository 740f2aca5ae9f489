/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and dates; see the header. Days are counted in the proleptic Gregorian calendar. */
#include "workloads/timestamp.h"

#include "sim/engine/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

static const int64_t day_s = 86400;
static const int64_t hour_s = 3600;

/* ---- numbers ---- */

/* The digits of a whole number; false when it is too large. */
static bool scan_whole(const char *digits, size_t count, int64_t *value)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digits[i] - '0', &sum))
            return false;
    *value = sum;
    return true;
}

/* ".123" of a unit, to the nearest nanosecond. Below 1 a double has digits to spare. */
static int64_t fraction_ns(const char *digits, size_t count, int64_t unit_ns)
{
    double fraction = 0.0;
    double weight = 1.0;
    for (size_t i = 0; i < count && i < 15; i++) {
        fraction = 10.0 * fraction + (double)(digits[i] - '0');
        weight *= 10.0;
    }
    return llround(fraction * (double)unit_ns / weight);
}

static bool scan_exponent(const char *text, int64_t unit_ns, int64_t *time_ns)
{
    double value = 0.0;
    if (sim_number_scan(text, &value) != strlen(text) || text[0] == '\0')
        return false;
    value *= (double)unit_ns;
    if (!(fabs(value) < 9.2e18))
        return false;
    *time_ns = llround(value);
    return true;
}

bool wl_time_scan(const char *text, int64_t unit_ns, int64_t *time_ns)
{
    const char *at = text + (text[0] == '-' || text[0] == '+' ? 1 : 0);
    const size_t whole = strspn(at, "0123456789");
    const char *behind = at + whole;
    const size_t digits = *behind == '.' ? strspn(behind + 1, "0123456789") : 0;
    int64_t value = 0;
    if (behind[*behind == '.' ? 1 + digits : 0] != '\0')
        return scan_exponent(text, unit_ns, time_ns);
    if (whole + digits == 0 || !scan_whole(at, whole, &value) ||
        __builtin_mul_overflow(value, unit_ns, &value) ||
        __builtin_add_overflow(value, fraction_ns(behind + 1, digits, unit_ns), &value))
        return false;
    *time_ns = text[0] == '-' ? -value : value;
    return true;
}

/* ---- calendar ---- */

/* Days since 1970-01-01 (H. Hinnant, "chrono-compatible low-level date algorithms"). */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2 ? 1 : 0;
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t year_of_era = year - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static int64_t days_in(int64_t year, int64_t month)
{
    return days_of(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) -
           days_of(year, month, 1);
}

/* The nth Sunday of a month, from 1; 0 = the last. */
static int64_t sunday_of(int64_t year, int64_t month, int64_t nth)
{
    const int64_t from = days_of(year, month, nth == 0 ? days_in(year, month) - 6 : 1);
    const int64_t weekday = ((from + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
    return from + (7 - weekday) % 7 + (nth == 0 ? 0 : 7 * (nth - 1));
}

/* Whether clocks show summer time when they show `local_s`. */
static bool is_summer(const struct wl_zone *zone, int64_t year, int64_t local_s)
{
    if (zone->summer == WL_SUMMER_US)
        return local_s >= sunday_of(year, 3, 2) * day_s + 2 * hour_s &&
               local_s < sunday_of(year, 11, 1) * day_s + 2 * hour_s;
    const int64_t change_s = hour_s + zone->offset_s;
    return zone->summer == WL_SUMMER_EU && local_s >= sunday_of(year, 3, 0) * day_s + change_s &&
           local_s < sunday_of(year, 10, 0) * day_s + change_s + hour_s;
}

/* ---- dates ---- */

/* Reads exactly `count` digits and moves behind them. */
static bool take(const char **text, size_t count, int64_t *value)
{
    if (strspn(*text, "0123456789") < count)
        return false;
    *text += count;
    return scan_whole(*text - count, count, value);
}

static bool take_sign(const char **text, const char *signs)
{
    if (**text == '\0' || strchr(signs, **text) == NULL)
        return false;
    (*text)++;
    return true;
}

/* "Z" or "+01:00", "+0100", "+01". */
static bool take_offset(const char **text, int32_t *offset_s)
{
    int64_t hours = 0;
    int64_t minutes = 0;
    const bool is_west = **text == '-';
    if (take_sign(text, "Zz")) {
        *offset_s = 0;
        return true;
    }
    if (!take_sign(text, "+-") || !take(text, 2, &hours))
        return false;
    const bool has_minutes = take_sign(text, ":") || isdigit((unsigned char)**text);
    if ((has_minutes && !take(text, 2, &minutes)) || hours > 15 || minutes > 59)
        return false;
    const int32_t east_s = (int32_t)(hours * hour_s + minutes * 60);
    *offset_s = is_west ? -east_s : east_s;
    return true;
}

bool wl_zone_scan(const char *text, struct wl_zone *zone)
{
    struct wl_zone read = { 0, WL_SUMMER_NONE };
    if (!take_offset(&text, &read.offset_s))
        return false;
    if (strcmp(text, " us") == 0)
        read.summer = WL_SUMMER_US;
    else if (strcmp(text, " eu") == 0)
        read.summer = WL_SUMMER_EU;
    else if (*text != '\0')
        return false;
    *zone = read;
    return true;
}

struct clock {
    int64_t hour, minute, second, fraction_ns;
};

static bool take_clock(const char **text, struct clock *clock)
{
    if (!take(text, 2, &clock->hour) || !take_sign(text, ":") || !take(text, 2, &clock->minute))
        return false;
    if (take_sign(text, ":") && !take(text, 2, &clock->second))
        return false;
    if (take_sign(text, ".,")) {
        const size_t digits = strspn(*text, "0123456789");
        clock->fraction_ns = fraction_ns(*text, digits, NS_PER_S);
        *text += digits;
        if (digits == 0)
            return false;
    }
    return clock->hour < 24 && clock->minute < 60 && clock->second <= 60;
}

bool wl_date_scan(const char *text, const struct wl_zone *zone, int64_t *unix_ns)
{
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;
    int64_t whole_ns = 0;
    struct clock clock = { 0 };
    struct wl_zone own = *zone;
    if (!take(&text, 4, &year) || !take_sign(&text, "-/") || !take(&text, 2, &month) ||
        !take_sign(&text, "-/") || !take(&text, 2, &day))
        return false;
    if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 ||
        day > days_in(year, month))
        return false;
    if (take_sign(&text, " T") && !take_clock(&text, &clock))
        return false;
    const bool has_zone = *text != '\0';
    if (has_zone && (!take_offset(&text, &own.offset_s) || *text != '\0'))
        return false;
    own.summer = has_zone ? WL_SUMMER_NONE : own.summer;
    int64_t time_s =
        days_of(year, month, day) * day_s + clock.hour * hour_s + clock.minute * 60 + clock.second;
    time_s -= own.offset_s + (is_summer(&own, year, time_s) ? hour_s : 0);
    if (__builtin_mul_overflow(time_s, NS_PER_S, &whole_ns))
        return false;
    *unix_ns = whole_ns + clock.fraction_ns;
    return true;
}

const char *wl_date_text(int64_t unix_ns, char text[WL_TIMESTAMP_TEXT])
{
    const int64_t time_s = unix_ns / NS_PER_S - (unix_ns % NS_PER_S < 0 ? 1 : 0);
    int64_t days = time_s / day_s - (time_s % day_s < 0 ? 1 : 0);
    const int64_t second = time_s - days * day_s;
    /* The inverse of days_of(). */
    days += 719468;
    const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const int64_t day_of_era = days - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted = (5 * day_of_year + 2) / 153;
    const int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
    (void)snprintf(text, WL_TIMESTAMP_TEXT, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)year, (int)month,
                   (int)(day_of_year - (153 * shifted + 2) / 5 + 1), (int)(second / hour_s),
                   (int)(second / 60 % 60), (int)(second % 60));
    return text;
}
