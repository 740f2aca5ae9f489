/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options of the commands that read result databases; see the header.
 */
#include "sim/cli/analysis_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_VARIANT = 0x300, KEY_REPLICATION };

static const struct argp_option choice_options[] = {
    { "variant", KEY_VARIANT, "LABEL", 0, "Variant of the run (default: the baseline)", 0 },
    { "replication", KEY_REPLICATION, "N", 0, "Replication of the run (default: 0)", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static error_t choice_parse(int key, char *argument, struct argp_state *state)
{
    struct sim_run_choice *choice = state->input;
    if (key == KEY_VARIANT) {
        choice->variant = argument;
        return 0;
    }
    if (key != KEY_REPLICATION)
        return ARGP_ERR_UNKNOWN;
    char *end = NULL;
    const unsigned long value = strtoul(argument, &end, 10);
    if (!isdigit((unsigned char)argument[0]) || *end != '\0' || value > UINT32_MAX)
        argp_error(state, "--replication: expected a number from 0, found '%s'", argument);
    choice->replication = (uint32_t)value;
    return 0;
}

const struct argp sim_run_choice_argp = { .options = choice_options, .parser = choice_parse };

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

/* "1h30m"; the last part may lack its unit only when it is the only one: "90" is seconds. */
static bool parse_duration(const char *text, double *seconds)
{
    double total = 0.0;
    const char *rest = text;
    do {
        char *end = NULL;
        if (!isdigit((unsigned char)rest[0]) && rest[0] != '.')
            return false;
        const double value = strtod(rest, &end);
        size_t length = 0;
        double unit = unit_seconds(end, &length);
        if (length == 0 && rest == text && *end == '\0')
            unit = 1.0;
        if (!(unit > 0.0))
            return false;
        total += value * unit;
        rest = end + length;
    } while (*rest != '\0');
    *seconds = total;
    return true;
}

double sim_time_option(const char *text, const struct argp_state *state, const char *option)
{
    double seconds = 0.0;
    if (!parse_clock(text, &seconds) && !parse_duration(text, &seconds))
        argp_error(state, "%s: expected a time as 90, 15m, 1h30m or 01:30:00, found '%s'", option,
                   text);
    return seconds;
}

int sim_analysis_exit(weir_status status, const struct weir_error *error)
{
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    (void)fprintf(stderr, "weir: %s\n", error->text);
    if (status == WEIR_EINTERRUPTED)
        return SIM_EXIT_INTERRUPTED;
    const bool is_usage = status == WEIR_ENOTFOUND || status == WEIR_EINVAL;
    return is_usage ? SIM_EXIT_USAGE : SIM_EXIT_INPUT;
}
