/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments; see the header. */
#include "analysis/moment.h"

#include "analysis/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double day_s = 86400.0;

/* "01:20:00" or "1:20"; false when it is no clock time. */
static bool parse_clock(const char *text, double *seconds)
{
    double total = 0.0;
    int parts = 0;
    const char *rest = text;
    for (; parts < 3; parts++) {
        char *end = NULL;
        if (!isdigit((unsigned char)rest[0]))
            return false;
        const double part = strtod(rest, &end);
        total = total * 60.0 + part;
        rest = end;
        if (*rest != ':')
            break;
        rest++;
    }
    if (parts == 0 || *rest != '\0')
        return false;
    /* Two parts are hours and minutes. */
    *seconds = parts == 1 ? total * 60.0 : total;
    return true;
}

static double unit_seconds(const char *unit, size_t *length)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "ms", 0.001 }, { "min", 60.0 }, { "s", 1.0 },
                  { "m", 60.0 },   { "h", 3600.0 }, { "d", 86400.0 } };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        *length = strlen(units[i].name);
        if (strncmp(unit, units[i].name, *length) == 0)
            return units[i].seconds;
    }
    *length = 0;
    return 0.0;
}

/* "1h30m", "30 min"; the last part may lack its unit only when it is the only one: "90" is seconds.
 */
static bool parse_elapsed(const char *text, double *seconds)
{
    double total = 0.0;
    const char *rest = text;
    do {
        char *end = NULL;
        if (!isdigit((unsigned char)rest[0]) && rest[0] != '.')
            return false;
        const double value = strtod(rest, &end);
        size_t length = 0;
        end += end[0] == ' ' && end[1] != '\0' ? 1 : 0;
        double unit = unit_seconds(end, &length);
        if (length == 0 && rest == text && *end == '\0')
            unit = 1.0;
        if (!(unit > 0.0))
            return false;
        total += value * unit;
        rest = end + length;
        rest += rest[0] == ' ' && rest[1] != '\0' ? 1 : 0;
    } while (*rest != '\0');
    *seconds = total;
    return true;
}

/* "Z", "+01:00" or nothing: seconds east of UTC. */
static bool parse_zone(const char *text, double *seconds)
{
    const double sign = text[0] == '-' ? -1.0 : 1.0;
    *seconds = 0.0;
    if (strcmp(text, "") == 0 || strcmp(text, "Z") == 0)
        return true;
    if ((text[0] != '+' && text[0] != '-') || strlen(text) != strlen("+01:00") || text[3] != ':' ||
        strspn(text + 1, "0123456789") != 2 || strspn(text + 4, "0123456789") != 2)
        return false;
    *seconds = sign * (strtod(text + 1, NULL) * 3600.0 + strtod(text + 4, NULL) * 60.0);
    return true;
}

/* "2026-03-01T14:05:00Z"; a blank for the T will do, a fraction of a second and another zone too.
 * Without a zone it is UTC. */
static bool parse_stamp(const char *text, double *seconds)
{
    struct tm parts = { 0 };
    double fraction = 0.0;
    double east = 0.0;
    const char *rest = strptime(text, "%Y-%m-%d", &parts);
    if (rest == NULL || (*rest != 'T' && *rest != ' '))
        return false;
    const char *time_of_day = rest + 1;
    rest = strptime(time_of_day, "%H:%M:%S", &parts);
    if (rest != NULL && *rest == '.') {
        char *end = NULL;
        fraction = strtod(rest, &end);
        rest = end;
    }
    if (rest == NULL)
        rest = strptime(time_of_day, "%H:%M", &parts);
    if (rest == NULL || !parse_zone(rest, &east))
        return false;
    *seconds = (double)timegm(&parts) + fraction - east;
    return true;
}

bool an_moment_parse(const char *text, struct an_moment *moment)
{
    if (parse_clock(text, &moment->seconds))
        moment->kind = AN_MOMENT_CLOCK;
    else if (parse_elapsed(text, &moment->seconds))
        moment->kind = AN_MOMENT_ELAPSED;
    else if (parse_stamp(text, &moment->seconds))
        moment->kind = AN_MOMENT_STAMP;
    else
        return false;
    return true;
}

weir_status an_moment_since(const struct an_moment *moment, int64_t start_unix_s, double *at_s,
                            struct weir_error *error)
{
    double at = moment->seconds;
    if (moment->kind == AN_MOMENT_STAMP && start_unix_s == 0)
        return weir_fail(error, WEIR_EINVAL,
                         "the run has no start time (start_time), so that no stamp can be found in "
                         "it; say when since the start, as 1h30m");
    if (moment->kind == AN_MOMENT_STAMP)
        at -= (double)start_unix_s;
    if (moment->kind == AN_MOMENT_CLOCK && start_unix_s != 0) {
        at -= fmod((double)start_unix_s, day_s);
        at += at < 0.0 ? day_s : 0.0; /* the next day */
    }
    *at_s = at;
    return WEIR_OK;
}

weir_status an_moment_in(const struct an_moment *moment, int64_t start_unix_s, double end_s,
                         double *at_s, struct weir_error *error)
{
    double at = 0.0;
    if (moment->kind == AN_MOMENT_NONE)
        return WEIR_OK;
    WEIR_TRY(an_moment_since(moment, start_unix_s, &at, error));
    if (at < 0.0 || at > end_s)
        return weir_fail(
            error, WEIR_EINVAL,
            "%s after the start lies outside the run, which is from %s to %s (%s long)",
            an_word_duration(at).text, an_word_clock(start_unix_s, 0.0).text,
            an_word_clock(start_unix_s, end_s).text, an_word_duration(end_s).text);
    *at_s = at;
    return WEIR_OK;
}
