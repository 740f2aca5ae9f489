/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers with units, read strictly: the whole text, base 10, finite, with or without a blank
 * before the unit. A bare number is in the base unit. Times may be put together: "1h30m".
 *
 * Canonical text is the shortest that reads back to the same value.
 */
#ifndef SIM_SCENARIO_QUANTITY_H
#define SIM_SCENARIO_QUANTITY_H

#include "sim/scenario/arena.h"
#include "weir/status.h"

#include <stdint.h>

enum sim_unit {
    SIM_UNIT_NONE,
    SIM_UNIT_TIME,      /* seconds: ns us ms s m min h d */
    SIM_UNIT_BYTES,     /* bytes: B KB MB GB TB PB KiB MiB GiB TiB PiB */
    SIM_UNIT_POWER,     /* watts: W kW MW */
    SIM_UNIT_FRACTION,  /* 1: % */
    SIM_UNIT_RATE,      /* per second: /s /min /h */
    SIM_UNIT_BANDWIDTH, /* bytes per second: B/s KB/s MB/s GB/s TB/s, of bits Mb/s Gb/s Tb/s */
    SIM_UNIT_ANY        /* any of them */
};

/* Errors: WEIR_EFORMAT with what was expected and what was found. */
weir_status sim_quantity_parse(const char *text, enum sim_unit unit, double *value,
                               struct weir_error *error);

/* Growth of the work, "3%/month" (also a day, week, year), as a fraction a month of 30 days. */
weir_status sim_growth_parse(const char *text, double *per_month, struct weir_error *error);

/* Canonical texts in the arena. */
char *sim_quantity_number(struct sim_arena *arena, double value);
char *sim_quantity_time(struct sim_arena *arena, int64_t time_ns); /* "180 s" */
char *sim_quantity_bytes(struct sim_arena *arena, int64_t bytes);  /* "80 GB" */
char *sim_quantity_power(struct sim_arena *arena, double watts);   /* "95 W" */

/* Replaces every amount with a byte unit in a law's text by a bare number: "lognormal(2 MB, 0.5)"
 * to "lognormal(2000000, 0.5)". */
char *sim_quantity_bare_bytes(struct sim_arena *arena, const char *text);

/* "2026-03-01T12:00:00Z" or with an offset "+01:00", to seconds since 1970. */
weir_status sim_timestamp_parse(const char *text, int64_t *unix_s, struct weir_error *error);
char *sim_timestamp_text(struct sim_arena *arena, int64_t unix_s);

#endif
