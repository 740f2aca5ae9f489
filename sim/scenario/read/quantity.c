/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers with units: see the header. strtod only ever sees text that was checked letter by letter,
 * so that "nan", "0x10", "inf" and "1e" cannot slip through.
 */
#include "sim/scenario/read/quantity.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit_word {
    const char *word;
    enum sim_unit unit;
    double scale;
};

static const struct unit_word unit_words[] = {
    { "ns", SIM_UNIT_TIME, 1e-9 },
    { "us", SIM_UNIT_TIME, 1e-6 },
    { "µs", SIM_UNIT_TIME, 1e-6 },
    { "ms", SIM_UNIT_TIME, 1e-3 },
    { "s", SIM_UNIT_TIME, 1 },
    { "m", SIM_UNIT_TIME, 60 },
    { "min", SIM_UNIT_TIME, 60 },
    { "h", SIM_UNIT_TIME, 3600 },
    { "d", SIM_UNIT_TIME, 86400 },
    { "B", SIM_UNIT_BYTES, 1 },
    { "KB", SIM_UNIT_BYTES, 1e3 },
    { "kB", SIM_UNIT_BYTES, 1e3 },
    { "MB", SIM_UNIT_BYTES, 1e6 },
    { "GB", SIM_UNIT_BYTES, 1e9 },
    { "TB", SIM_UNIT_BYTES, 1e12 },
    { "PB", SIM_UNIT_BYTES, 1e15 },
    { "KiB", SIM_UNIT_BYTES, 1024.0 },
    { "MiB", SIM_UNIT_BYTES, 1048576.0 },
    { "GiB", SIM_UNIT_BYTES, 1073741824.0 },
    { "TiB", SIM_UNIT_BYTES, 1099511627776.0 },
    { "PiB", SIM_UNIT_BYTES, 1125899906842624.0 },
    { "W", SIM_UNIT_POWER, 1 },
    { "kW", SIM_UNIT_POWER, 1e3 },
    { "MW", SIM_UNIT_POWER, 1e6 },
    { "%", SIM_UNIT_FRACTION, 0.01 },
    { "B/s", SIM_UNIT_BANDWIDTH, 1 },
    { "KB/s", SIM_UNIT_BANDWIDTH, 1e3 },
    { "MB/s", SIM_UNIT_BANDWIDTH, 1e6 },
    { "GB/s", SIM_UNIT_BANDWIDTH, 1e9 },
    { "TB/s", SIM_UNIT_BANDWIDTH, 1e12 },
    { "Mb/s", SIM_UNIT_BANDWIDTH, 1e6 / 8 },
    { "Gb/s", SIM_UNIT_BANDWIDTH, 1e9 / 8 },
    { "Tb/s", SIM_UNIT_BANDWIDTH, 1e12 / 8 },
    { "/s", SIM_UNIT_RATE, 1 },
    { "/min", SIM_UNIT_RATE, 1.0 / 60 },
    { "/h", SIM_UNIT_RATE, 1.0 / 3600 },
};

static const char *const unit_help[] = {
    [SIM_UNIT_NONE] = "no unit belongs here",
    [SIM_UNIT_TIME] = "use ns, us, ms, s, m, min, h or d",
    [SIM_UNIT_BYTES] = "use B, KB, MB, GB, TB, PB or KiB, MiB, GiB, TiB, PiB",
    [SIM_UNIT_POWER] = "use W, kW or MW",
    [SIM_UNIT_FRACTION] = "use % or a bare number",
    [SIM_UNIT_RATE] = "use /s, /min or /h",
    [SIM_UNIT_BANDWIDTH] = "use B/s, KB/s, MB/s, GB/s, TB/s, or Mb/s, Gb/s, Tb/s (bits)",
    [SIM_UNIT_ANY] = "use a unit of time, bytes, power, % or a rate",
};

static const char *const unit_names[] = {
    [SIM_UNIT_NONE] = "number", [SIM_UNIT_TIME] = "time",           [SIM_UNIT_BYTES] = "byte",
    [SIM_UNIT_POWER] = "power", [SIM_UNIT_FRACTION] = "percentage", [SIM_UNIT_RATE] = "rate",
    [SIM_UNIT_ANY] = "kind of", [SIM_UNIT_BANDWIDTH] = "bandwidth",
};

/* Length of a decimal number at the start: [+-]digits[.digits][e[+-]digits]; 0 = none. */
static size_t number_length(const char *text)
{
    size_t at = text[0] == '+' || text[0] == '-' ? 1 : 0;
    const size_t whole = strspn(text + at, "0123456789");
    at += whole;
    size_t fraction = 0;
    if (text[at] == '.') {
        fraction = strspn(text + at + 1, "0123456789");
        at += fraction + 1;
    }
    if (whole + fraction == 0)
        return 0;
    if (text[at] == 'e' || text[at] == 'E') {
        const size_t sign = text[at + 1] == '+' || text[at + 1] == '-' ? 1 : 0;
        const size_t digits = strspn(text + at + 1 + sign, "0123456789");
        if (digits > 0)
            at += 1 + sign + digits;
    }
    return at;
}

/* A leading zero would be octal elsewhere; better refused than guessed. */
static bool has_leading_zero(const char *text)
{
    const char *digits = text[0] == '+' || text[0] == '-' ? text + 1 : text;
    return digits[0] == '0' && isdigit((unsigned char)digits[1]);
}

static const struct unit_word *find_unit(const char *word, size_t length, enum sim_unit unit)
{
    for (size_t i = 0; i < sizeof unit_words / sizeof unit_words[0]; i++) {
        const struct unit_word *entry = &unit_words[i];
        if ((unit == SIM_UNIT_ANY || entry->unit == unit) && strlen(entry->word) == length &&
            strncmp(entry->word, word, length) == 0)
            return entry;
    }
    return NULL;
}

struct cursor {
    const char *text;
    const char *at;
    enum sim_unit unit;
    double sum;
    int parts;
    bool had_unit;
};

/* One number with its unit; moves on. */
static weir_status read_part(struct cursor *cursor, struct weir_error *error)
{
    const size_t digits = number_length(cursor->at);
    if (digits == 0)
        return weir_fail(error, WEIR_EFORMAT, "expected %s, found '%s'",
                         cursor->unit == SIM_UNIT_NONE ? "a number"
                                                       : "a number, with or without a unit",
                         cursor->text);
    if (has_leading_zero(cursor->at))
        return weir_fail(error, WEIR_EFORMAT, "leading zeros are not allowed, found '%s'",
                         cursor->text);
    const double number = strtod(cursor->at, NULL);
    const char *word = cursor->at + digits;
    word += strspn(word, " ");
    const size_t length = strcspn(word, " 0123456789+-.");
    const struct unit_word *unit = length == 0 ? NULL : find_unit(word, length, cursor->unit);
    if (length > 0 && unit == NULL)
        return weir_fail(error, WEIR_EFORMAT, "unknown %s unit '%.*s' in '%s' (%s)",
                         unit_names[cursor->unit], (int)length, word, cursor->text,
                         unit_help[cursor->unit]);
    cursor->sum += unit == NULL ? number : number * unit->scale;
    cursor->had_unit = unit != NULL;
    cursor->parts++;
    cursor->at = word + length;
    cursor->at += strspn(cursor->at, " ");
    return WEIR_OK;
}

weir_status sim_quantity_parse(const char *text, enum sim_unit unit, double *value,
                               struct weir_error *error)
{
    struct cursor cursor = { .text = text, .at = text + strspn(text, " "), .unit = unit };
    do {
        WEIR_TRY(read_part(&cursor, error));
    } while (unit == SIM_UNIT_TIME && cursor.had_unit && *cursor.at != '\0');
    if (*cursor.at != '\0')
        return weir_fail(error, WEIR_EFORMAT, "expected one number, found '%s'", text);
    if (cursor.parts > 1 && !cursor.had_unit)
        return weir_fail(error, WEIR_EFORMAT, "the last part of '%s' has no unit", text);
    if (!isfinite(cursor.sum))
        return weir_fail(error, WEIR_EFORMAT, "expected a finite number, found '%s'", text);
    *value = cursor.sum;
    return WEIR_OK;
}

/* ---- canonical texts ---- */

char *sim_quantity_number(struct sim_arena *arena, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (!(back < value) && !(back > value))
            break;
    }
    return sim_arena_copy(arena, text);
}

char *sim_quantity_time(struct sim_arena *arena, int64_t time_ns)
{
    const int64_t second = INT64_C(1000000000);
    const uint64_t size = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
    char text[64];
    int length = snprintf(text, sizeof text, "%s%llu", time_ns < 0 ? "-" : "",
                          (unsigned long long)(size / (uint64_t)second));
    const unsigned long long rest = size % (uint64_t)second;
    if (rest > 0) {
        length += snprintf(text + length, sizeof text - (size_t)length, ".%09llu", rest);
        while (text[length - 1] == '0')
            text[--length] = '\0';
    }
    return sim_arena_printf(arena, "%s s", text);
}

char *sim_quantity_bytes(struct sim_arena *arena, int64_t bytes)
{
    static const char *const order[] = { "PB",  "TB",  "GB",  "MB",  "KB",
                                         "PiB", "TiB", "GiB", "MiB", "KiB" };
    for (size_t i = 0; i < sizeof order / sizeof order[0] && bytes != 0; i++) {
        const struct unit_word *unit = find_unit(order[i], strlen(order[i]), SIM_UNIT_BYTES);
        assert(unit != NULL);
        const int64_t scale = (int64_t)unit->scale;
        if (bytes % scale == 0)
            return sim_arena_printf(arena, "%lld %s", (long long)(bytes / scale), order[i]);
    }
    return sim_arena_printf(arena, "%lld B", (long long)bytes);
}

char *sim_quantity_power(struct sim_arena *arena, double watts)
{
    return sim_arena_printf(arena, "%s W", sim_quantity_number(arena, watts));
}

char *sim_quantity_bare_bytes(struct sim_arena *arena, const char *text)
{
    const char *result = "";
    const char *at = text;
    while (*at != '\0') {
        const size_t other = strcspn(at, "0123456789");
        const bool in_word = other > 0 && (isalpha((unsigned char)at[other - 1]) ||
                                           at[other - 1] == '_' || at[other - 1] == '.');
        const size_t digits = number_length(at + other);
        const char *word = at + other + digits;
        word += strspn(word, " ");
        const size_t length = strspn(word, "BKMGTPik");
        const struct unit_word *unit = find_unit(word, length, SIM_UNIT_BYTES);
        if (in_word || digits == 0 || unit == NULL) {
            result = sim_arena_printf(arena, "%s%.*s", result, (int)(other + digits), at);
            at += other + digits;
            continue;
        }
        const double bytes = strtod(at + other, NULL) * unit->scale;
        result = sim_arena_printf(arena, "%s%.*s%s", result, (int)other, at,
                                  sim_quantity_number(arena, bytes));
        at = word + length;
    }
    return sim_arena_copy(arena, result);
}

/* ---- time stamps ---- */

/* Days from 1970-01-01 in the proleptic Gregorian calendar (Howard Hinnant, days_from_civil). */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    const int64_t shifted = month <= 2 ? year - 1 : year;
    const int64_t era = shifted / 400;
    const int64_t year_of_era = shifted - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static bool has_form(const char *text, const char *form)
{
    for (; *form != '\0'; form++, text++)
        if (*form == '0' ? !isdigit((unsigned char)*text) : *text != *form)
            return false;
    return true;
}

static int64_t digits_at(const char *text, int count)
{
    int64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value * 10 + (text[i] - '0');
    return value;
}

static int days_in_month(int64_t year, int64_t month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

/* The offset behind the seconds: "Z", "+hh:mm" or "-hh:mm". */
static bool read_offset(const char *text, int64_t *offset_s)
{
    if (strcmp(text, "Z") == 0) {
        *offset_s = 0;
        return true;
    }
    if (strlen(text) != 6 || (text[0] != '+' && text[0] != '-') || !has_form(text + 1, "00:00"))
        return false;
    const int64_t size = digits_at(text + 1, 2) * 3600 + digits_at(text + 4, 2) * 60;
    *offset_s = text[0] == '-' ? -size : size;
    return digits_at(text + 1, 2) < 24 && digits_at(text + 4, 2) < 60;
}

/* Growth compounds: 12 %/year are 0.94 %/month. */
weir_status sim_growth_parse(const char *text, double *per_month, struct weir_error *error)
{
    static const struct span {
        const char *name;
        double days;
    } spans[] = { { "day", 1 }, { "week", 7 }, { "month", 30 }, { "year", 365 } };
    const size_t length = strcspn(text, "/");
    char part[32];
    double growth = 0;
    (void)snprintf(part, sizeof part, "%.*s", (int)length, text);
    const bool is_percent = length > 0 && text[length - 1] == '%' && text[length] == '/' &&
                            sim_quantity_parse(part, SIM_UNIT_FRACTION, &growth, NULL) == WEIR_OK;
    for (size_t i = 0; is_percent && i < sizeof spans / sizeof spans[0]; i++)
        if (strcmp(text + length + 1, spans[i].name) == 0 && growth > 0 && growth <= 10) {
            *per_month = expm1(log1p(growth) * 30 / spans[i].days);
            return WEIR_OK;
        }
    return weir_fail(error, WEIR_EFORMAT,
                     "expected growth above 0%% and at most 1000%% a day, week, month or year, as "
                     "3%%/month, found '%s'",
                     text);
}

weir_status sim_timestamp_parse(const char *text, int64_t *unix_s, struct weir_error *error)
{
    int64_t offset_s = 0;
    if (strlen(text) < 20 || !has_form(text, "0000-00-00T00:00:00") ||
        !read_offset(text + 19, &offset_s))
        return weir_fail(error, WEIR_EFORMAT,
                         "expected a time like 2026-03-01T12:00:00Z (RFC 3339), found '%s'", text);
    const int64_t year = digits_at(text, 4);
    const int64_t month = digits_at(text + 5, 2);
    const int64_t day = digits_at(text + 8, 2);
    const int64_t hour = digits_at(text + 11, 2);
    const int64_t minute = digits_at(text + 14, 2);
    const int64_t second = digits_at(text + 17, 2);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) ||
        hour > 23 || minute > 59 || second > 59)
        return weir_fail(error, WEIR_EFORMAT, "'%s' is no date and time since 1970", text);
    *unix_s =
        days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset_s;
    return WEIR_OK;
}

char *sim_timestamp_text(struct sim_arena *arena, int64_t unix_s)
{
    int64_t year = 1970 + unix_s / 31622400;
    while (days_from_civil(year + 1, 1, 1) * 86400 <= unix_s)
        year++;
    int64_t month = 12;
    while (days_from_civil(year, month, 1) * 86400 > unix_s)
        month--;
    const long long rest = unix_s - days_from_civil(year, month, 1) * 86400;
    return sim_arena_printf(arena, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lldZ", (long long)year,
                            (long long)month, rest / 86400 + 1, rest / 3600 % 24, rest / 60 % 60,
                            rest % 60);
}
