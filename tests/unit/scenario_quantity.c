/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers with units: what is read, what is refused, and that canonical texts read back. */
#include "sim/scenario/read/quantity.h"
#include "tests/support/check.h"

#include <string.h>

struct good {
    const char *text;
    enum sim_unit unit;
    double value;
};

static void units_scale_to_the_base_unit(void)
{
    static const struct good cases[] = {
        { "3", SIM_UNIT_NONE, 3 },           { "-2.5e-3", SIM_UNIT_NONE, -2.5e-3 },
        { "0.5", SIM_UNIT_TIME, 0.5 },       { "180 s", SIM_UNIT_TIME, 180 },
        { "180s", SIM_UNIT_TIME, 180 },      { "5 ms", SIM_UNIT_TIME, 5e-3 },
        { "2 us", SIM_UNIT_TIME, 2e-6 },     { "7ns", SIM_UNIT_TIME, 7e-9 },
        { "3 m", SIM_UNIT_TIME, 180 },       { "3 min", SIM_UNIT_TIME, 180 },
        { "2 h", SIM_UNIT_TIME, 7200 },      { "30 d", SIM_UNIT_TIME, 2592000 },
        { "1h30m", SIM_UNIT_TIME, 5400 },    { "1 h 30 min 5 s", SIM_UNIT_TIME, 5405 },
        { "1 KB", SIM_UNIT_BYTES, 1e3 },     { "80 GB", SIM_UNIT_BYTES, 80e9 },
        { "1KiB", SIM_UNIT_BYTES, 1024 },    { "2 TiB", SIM_UNIT_BYTES, 2199023255552.0 },
        { "5 PB", SIM_UNIT_BYTES, 5e15 },    { "95 W", SIM_UNIT_POWER, 95 },
        { "1.5 kW", SIM_UNIT_POWER, 1500 },  { "2%", SIM_UNIT_FRACTION, 0.02 },
        { "0.02", SIM_UNIT_FRACTION, 0.02 }, { "6 /min", SIM_UNIT_RATE, 0.1 },
        { "50 GB", SIM_UNIT_ANY, 50e9 },     { "12 min", SIM_UNIT_ANY, 720 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = -1;
        CHECK_I64(sim_quantity_parse(cases[i].text, cases[i].unit, &value, NULL), WEIR_OK);
        CHECK_NEAR(value, cases[i].value, 1e-12 * (1 + cases[i].value));
    }
}

static void what_is_no_plain_decimal_number_is_refused(void)
{
    static const struct good cases[] = {
        { "", SIM_UNIT_NONE, 0 },          { "abc", SIM_UNIT_NONE, 0 },
        { "nan", SIM_UNIT_NONE, 0 },       { "inf", SIM_UNIT_NONE, 0 },
        { "0x10", SIM_UNIT_NONE, 0 },      { "042", SIM_UNIT_NONE, 0 },
        { "1e", SIM_UNIT_NONE, 0 },        { "1e999", SIM_UNIT_NONE, 0 },
        { "1 2", SIM_UNIT_NONE, 0 },       { "3 s", SIM_UNIT_NONE, 0 },
        { "3600.0abc", SIM_UNIT_TIME, 0 }, { "1 hour", SIM_UNIT_TIME, 0 },
        { "5 GB", SIM_UNIT_TIME, 0 },      { "1h30", SIM_UNIT_TIME, 0 },
        { "1 Gb", SIM_UNIT_BYTES, 0 },     { "1 s", SIM_UNIT_BYTES, 0 },
        { "5 s 2", SIM_UNIT_BYTES, 0 },    { ".", SIM_UNIT_NONE, 0 },
        { "1_000", SIM_UNIT_NONE, 0 },     { "--1", SIM_UNIT_NONE, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 77;
        struct weir_error error = { .phase = -1 };
        CHECK_I64(sim_quantity_parse(cases[i].text, cases[i].unit, &value, &error), WEIR_EFORMAT);
        CHECK_NEAR(value, 77, 0);
        CHECK(error.text[0] != '\0');
    }
}

static void canonical_texts_are_short_and_read_back(void)
{
    struct sim_arena arena = { .blocks = NULL };
    CHECK_STR(sim_quantity_time(&arena, 180000000000), "180 s");
    CHECK_STR(sim_quantity_time(&arena, 1), "0.000000001 s");
    CHECK_STR(sim_quantity_time(&arena, 100000000), "0.1 s");
    CHECK_STR(sim_quantity_bytes(&arena, 80000000000), "80 GB");
    CHECK_STR(sim_quantity_bytes(&arena, 1024), "1 KiB");
    CHECK_STR(sim_quantity_bytes(&arena, 0), "0 B");
    CHECK_STR(sim_quantity_bytes(&arena, 1001), "1001 B");
    CHECK_STR(sim_quantity_power(&arena, 95), "95 W");
    CHECK_STR(sim_quantity_number(&arena, 0.1), "0.1");
    double back = 0;
    CHECK_I64(sim_quantity_parse(sim_quantity_number(&arena, 1.0 / 3), SIM_UNIT_NONE, &back, NULL),
              WEIR_OK);
    CHECK(back >= 1.0 / 3 && back <= 1.0 / 3);
    CHECK_STR(sim_quantity_bare_bytes(&arena, "lognormal(2 MB, 0.5)"), "lognormal(2000000, 0.5)");
    CHECK_STR(sim_quantity_bare_bytes(&arena, "20MB"), "20000000");
    CHECK_STR(sim_quantity_bare_bytes(&arena, "empirical(a1 KB.csv, b2)"),
              "empirical(a1 KB.csv, b2)");
    sim_arena_clear(&arena);
}

static void time_stamps_follow_the_calendar(void)
{
    static const struct {
        const char *text;
        int64_t unix_s;
    } cases[] = {
        { "1970-01-01T00:00:00Z", 0 },
        { "2000-02-29T12:00:00Z", 951825600 },
        { "2026-03-01T13:00:00+01:00", 1772366400 },
        { "2026-12-31T23:59:59-00:30", 1798763399 },
    };
    struct sim_arena arena = { .blocks = NULL };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t unix_s = -1;
        int64_t again = -1;
        CHECK_I64(sim_timestamp_parse(cases[i].text, &unix_s, NULL), WEIR_OK);
        CHECK_I64(unix_s, cases[i].unix_s);
        CHECK_I64(sim_timestamp_parse(sim_timestamp_text(&arena, unix_s), &again, NULL), WEIR_OK);
        CHECK_I64(again, unix_s);
    }
    static const char *const bad[] = { "2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T24:00:00Z",
                                       "2026-01-01T00:00:00", "2026-13-01T00:00:00Z" };
    int64_t untouched = 5;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_I64(sim_timestamp_parse(bad[i], &untouched, NULL), WEIR_EFORMAT);
    CHECK_I64(untouched, 5);
    sim_arena_clear(&arena);
}

/* A year of 365 days and a month of 30; (1 + x)^(30 / days) - 1. */
static void growth_compounds(void)
{
    static const struct good cases[] = {
        { "3%/month", SIM_UNIT_NONE, 0.03 },         { "1%/day", SIM_UNIT_NONE, 0.34784891533 },
        { "1%/week", SIM_UNIT_NONE, 0.04356660617 }, { "12%/year", SIM_UNIT_NONE, 0.00935820317 },
        { "1000%/month", SIM_UNIT_NONE, 10 },
    };
    static const char *const bad[] = { "",         "3%",        "3/month",      "0.03/month",
                                       "0%/month", "%/month",   "1001%/month",  "-1%/month",
                                       "3%/",      "3%/month ", "3%/fortnight", "0x3%/month" };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = -1;
        CHECK_I64(sim_growth_parse(cases[i].text, &value, NULL), WEIR_OK);
        CHECK_NEAR(value, cases[i].value, 1e-9);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 77;
        CHECK_I64(sim_growth_parse(bad[i], &value, NULL), WEIR_EFORMAT);
        CHECK_NEAR(value, 77, 0);
    }
}

static const struct test tests[] = {
    { "units scale to the base unit", units_scale_to_the_base_unit },
    { "what is no plain decimal number is refused", what_is_no_plain_decimal_number_is_refused },
    { "canonical texts are short and read back", canonical_texts_are_short_and_read_back },
    { "time stamps follow the calendar", time_stamps_follow_the_calendar },
    { "growth compounds", growth_compounds },
};
TEST_MAIN(tests)
